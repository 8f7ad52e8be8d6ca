/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Table of metrics, and of the counters of each driver family for each metric. Names come from
 * driver sources of Linux 6.12 or from a run (column `seen`). "a+b" is a sum: a must exist, b is
 * optional. The first row of a metric that exists on a port is used.
 *
 * Not used: link statistics that many drivers never fill (rx_missed_errors, rx_crc_errors), because
 * their zero proves nothing.
 */
#include "probe/host/counters.h"

#include <string.h>

#define PRIO true
#define PORT false

/* clang-format off */
const struct metric_info metric_table[METRIC_COUNT] = {
	[METRIC_PFC_RX_FRAMES] = {"pfc_rx_frames", PRIO, CLASS_PAUSE, "frames",
		"PFC pause frames received"},
	[METRIC_PFC_TX_FRAMES] = {"pfc_tx_frames", PRIO, CLASS_PAUSE, "frames",
		"PFC pause frames sent"},
	[METRIC_PFC_RX_PAUSE_US] = {"pfc_rx_pause_us", PRIO, CLASS_PAUSE, "us",
		"time this port was paused"},
	[METRIC_PFC_TX_PAUSE_US] = {"pfc_tx_pause_us", PRIO, CLASS_PAUSE, "us",
		"time this port paused the peer"},
	[METRIC_PRIO_RX_BYTES] = {"prio_rx_bytes", PRIO, CLASS_VOLUME, "bytes", "bytes received"},
	[METRIC_PRIO_TX_BYTES] = {"prio_tx_bytes", PRIO, CLASS_VOLUME, "bytes", "bytes sent"},
	[METRIC_PRIO_RX_PACKETS] = {"prio_rx_packets", PRIO, CLASS_VOLUME, "packets",
		"packets received"},
	[METRIC_PRIO_TX_PACKETS] = {"prio_tx_packets", PRIO, CLASS_VOLUME, "packets",
		"packets sent"},
	[METRIC_PRIO_RX_DISCARDS] = {"prio_rx_discards", PRIO, CLASS_HOST_DISCARD, "packets",
		"dropped by this host"},
	[METRIC_RX_BYTES] = {"rx_bytes", PORT, CLASS_VOLUME, "bytes",
		"bytes received, all priorities"},
	[METRIC_TX_BYTES] = {"tx_bytes", PORT, CLASS_VOLUME, "bytes", "bytes sent, all priorities"},
	[METRIC_RX_DISCARDS] = {"rx_discards", PORT, CLASS_HOST_DISCARD, "packets",
		"dropped by this host"},
	[METRIC_RX_CRC_ERRORS] = {"rx_crc_errors", PORT, CLASS_CORRUPTION, "packets",
		"frames with a bad FCS"},
	[METRIC_GLOBAL_PAUSE_RX] = {"global_pause_rx", PORT, CLASS_PAUSE, "frames",
		"link pause received"},
	[METRIC_GLOBAL_PAUSE_TX] = {"global_pause_tx", PORT, CLASS_PAUSE, "frames",
		"link pause sent"},
	[METRIC_PAUSE_STORM] = {"pause_storm", PORT, CLASS_STORM, "events",
		"pause storms detected by the NIC"},
	[METRIC_LINK_DOWN] = {"link_down", PORT, CLASS_LINK, "events", "link losses"},
	[METRIC_RDMA_RX_PACKETS] = {"rdma_rx_packets", PORT, CLASS_VOLUME, "packets",
		"RDMA packets received"},
	[METRIC_RDMA_TX_PACKETS] = {"rdma_tx_packets", PORT, CLASS_VOLUME, "packets",
		"RDMA packets sent"},
	[METRIC_OUT_OF_SEQUENCE] = {"out_of_sequence", PORT, CLASS_LOSS_REQUEST, "events",
		"PSN gaps at the responder"},
	[METRIC_SEQ_NAK_RX] = {"seq_nak_rx", PORT, CLASS_LOSS_REQUEST, "events",
		"PSN sequence NAKs received"},
	[METRIC_RETRANSMITS] = {"retransmits", PORT, CLASS_RETRANSMIT, "events",
		"times a requester restarted"},
	[METRIC_ACK_TIMEOUT] = {"ack_timeout", PORT, CLASS_TIMEOUT, "events",
		"ACK timeouts"},
	[METRIC_DUPLICATE_REQUEST] = {"duplicate_request", PORT, CLASS_RETRANSMIT, "events",
		"duplicate requests received"},
	[METRIC_RNR_NAK_RX] = {"rnr_nak_rx", PORT, CLASS_RNR, "events",
		"receiver-not-ready NAKs received"},
	[METRIC_RNR_NAK_TX] = {"rnr_nak_tx", PORT, CLASS_RNR, "events",
		"receiver-not-ready NAKs sent"},
	[METRIC_RETRY_EXCEEDED] = {"retry_exceeded", PORT, CLASS_DEAD, "events",
		"QPs that exceeded the retry count"},
	[METRIC_OUT_OF_BUFFER] = {"out_of_buffer", PORT, CLASS_RNR, "packets",
		"no receive WQE posted"},
	[METRIC_ICRC_ERRORS] = {"icrc_errors", PORT, CLASS_CORRUPTION, "packets",
		"bad invariant CRC"},
	[METRIC_SEND_ERRORS] = {"send_errors", PORT, CLASS_HOST_SEND, "packets",
		"this host could not send"},
	[METRIC_ECN_MARKED_RX] = {"ecn_marked_rx", PORT, CLASS_CE, "packets",
		"CE-marked packets received"},
	[METRIC_CNP_TX] = {"cnp_tx", PORT, CLASS_CNP, "packets", "congestion notifications sent"},
	[METRIC_CNP_RX] = {"cnp_rx", PORT, CLASS_CNP, "packets", "congestion notifications handled"},
	[METRIC_CNP_IGNORED] = {"cnp_ignored", PORT, CLASS_CNP, "packets",
		"congestion notifications ignored"},
	[METRIC_RESPONSE_LOST] = {"response_lost", PORT, CLASS_LOSS_RESPONSE, "events",
		"missing responses"},
	[METRIC_RNR_EXCEEDED] = {"rnr_exceeded", PORT, CLASS_RNR, "events",
		"QPs that exceeded the RNR retry count"},
	[METRIC_ADAPTIVE_RETRANSMITS] = {"adaptive_retransmits", PORT, CLASS_RETRANSMIT, "events",
		"retransmissions by lossy-RoCE acceleration"},
	[METRIC_REFUSED_REQUESTS] = {"refused_requests", PORT, CLASS_REFUSED, "events",
		"access and operation errors"},
	[METRIC_RDMA_RX_DISCARDS] = {"rdma_rx_discards", PORT, CLASS_HOST_DISCARD, "packets",
		"RoCE packets dropped by this host"},
	[METRIC_RDMA_RX_ERRORS] = {"rdma_rx_errors", PORT, CLASS_CORRUPTION, "packets",
		"RoCE packets discarded as invalid"},
	[METRIC_RDMA_RX_BYTES] = {"rdma_rx_bytes", PORT, CLASS_VOLUME, "bytes",
		"RDMA bytes received"},
	[METRIC_RDMA_TX_BYTES] = {"rdma_tx_bytes", PORT, CLASS_VOLUME, "bytes", "RDMA bytes sent"},
	[METRIC_TX_DISCARDS] = {"tx_discards", PORT, CLASS_HOST_SEND, "packets",
		"dropped before sending"},
	[METRIC_SYMBOL_ERRORS] = {"symbol_errors", PORT, CLASS_CORRUPTION, "events",
		"symbol errors on the wire"},
	[METRIC_BUFFER_HIGH] = {"buffer_high", PORT, CLASS_HOST_PRESSURE, "events",
		"receive buffer nearly full"},
	[METRIC_PCI_STALLS] = {"pci_stalls", PORT, CLASS_HOST_PRESSURE, "events",
		"memory writes delayed by PCIe"},
	[METRIC_PRIO_RX_CONGESTED] = {"prio_rx_congested", PRIO, CLASS_HOST_DISCARD, "packets",
		"dropped because this host was congested"},
	[METRIC_PRIO_HOST_MARKED] = {"prio_host_marked", PRIO, CLASS_CE, "packets",
		"marked CE by this host"},
	[METRIC_PFC_RX_TIMES] = {"pfc_rx_times", PRIO, CLASS_PAUSE, "events",
		"times this port was paused"},
	[METRIC_HOST_CE_RX] = {"host_ce_rx", PORT, CLASS_CE, "packets",
		"CE-marked IP packets into this host, all ports"},
	[METRIC_HOST_ECT0_RX] = {"host_ect0_rx", PORT, CLASS_VOLUME, "packets",
		"ECT(0) IP packets into this host, all ports"},
	[METRIC_HOST_ECT1_RX] = {"host_ect1_rx", PORT, CLASS_VOLUME, "packets",
		"ECT(1) IP packets into this host, all ports"},
};
/* clang-format on */

const char *metric_class_word(enum metric_class class)
{
	static const char *const words[CLASS_COUNT] = {
		[CLASS_VOLUME] = "volume",
		[CLASS_PAUSE] = "pause",
		[CLASS_STORM] = "pause-storm",
		[CLASS_LOSS_REQUEST] = "loss-request",
		[CLASS_LOSS_RESPONSE] = "loss-response",
		[CLASS_RETRANSMIT] = "retransmit",
		[CLASS_TIMEOUT] = "timeout",
		[CLASS_RNR] = "receiver-not-ready",
		[CLASS_DEAD] = "queue-pair-died",
		[CLASS_REFUSED] = "refused",
		[CLASS_HOST_DISCARD] = "host-discard",
		[CLASS_HOST_SEND] = "host-send",
		[CLASS_HOST_PRESSURE] = "host-pressure",
		[CLASS_CORRUPTION] = "corruption",
		[CLASS_LINK] = "link",
		[CLASS_CE] = "ce",
		[CLASS_CNP] = "cnp",
	};

	return (unsigned int)class < CLASS_COUNT ? words[class] : "?";
}

#define DCBNL_DRIVERS "mlx5_core, bnxt_en, ice, hns3 of Linux 6.12"
#define MLX5	      "mlx5_core of Linux 6.12"
#define MLX5_IB	      "mlx5_ib of Linux 6.12"
#define MLX5_CNP      "name of mlx5_ib, run on a netdev that counts CNPs itself"
#define BNXT	      "bnxt_en of Linux 6.12"
#define BNXT_RE	      "bnxt_re of Linux 6.12"
#define BNXT_CNP      "name of bnxt_re, run on a netdev that counts CNPs itself"
#define ICE	      "ice of Linux 6.12"
#define IRDMA	      "irdma of Linux 6.12"
#define HNS3	      "hns3 of Linux 6.12"
#define HNS	      "hns_roce of Linux 6.12"
#define MANA	      "mana_ib of Linux 6.16"
#define IRDMA3	      "irdma of Linux 6.18, third generation"
#define IONIC	      "ionic of Linux 6.12"
#define IONIC_RE      "names that the firmware of ionic gives"
#define RXE	      "rdma_rxe, run on Linux 6.1 and 6.12"
#define CORE	      "net core, run on Linux 6.1 and 6.12"

/* clang-format off */
#define SUM8(a, z) \
	a "0" z "+" a "1" z "+" a "2" z "+" a "3" z "+" a "4" z "+" a "5" z "+" a "6" z "+" a "7" z

#define ROW(m, source, name, tier, seen) \
	{METRIC_##m, COUNTER_##source, name, 1, TIER_##tier, seen}

const struct counter_def counter_defs[] = {
	ROW(PFC_RX_FRAMES, DCBNL, "indications", SOURCE, DCBNL_DRIVERS),
	ROW(PFC_RX_FRAMES, ETHTOOL, "rx_prio%u_pause", SOURCE, MLX5),
	ROW(PFC_RX_FRAMES, ETHTOOL, "rx_pfc_ena_frames_pri%u", SOURCE, BNXT),
	ROW(PFC_RX_FRAMES, ETHTOOL, "rx_priority_%u_xoff.nic", SOURCE, ICE),
	ROW(PFC_RX_FRAMES, ETHTOOL, "mac_rx_pfc_pri%u_pkt_num", SOURCE, HNS3),
	ROW(PFC_TX_FRAMES, DCBNL, "requests", SOURCE, DCBNL_DRIVERS),
	ROW(PFC_TX_FRAMES, ETHTOOL, "tx_prio%u_pause", SOURCE, MLX5),
	ROW(PFC_TX_FRAMES, ETHTOOL, "tx_pfc_ena_frames_pri%u", SOURCE, BNXT),
	ROW(PFC_TX_FRAMES, ETHTOOL, "tx_priority_%u_xoff.nic", SOURCE, ICE),
	ROW(PFC_TX_FRAMES, ETHTOOL, "mac_tx_pfc_pri%u_pkt_num", SOURCE, HNS3),
	ROW(PFC_RX_PAUSE_US, ETHTOOL, "rx_prio%u_pause_duration", SOURCE, MLX5),
	ROW(PFC_RX_PAUSE_US, ETHTOOL, "pfc_pri%u_rx_duration_us", SOURCE, BNXT),
	ROW(PFC_RX_PAUSE_US, ETHTOOL, "rx_pripause_%u_1us_count", SOURCE, IONIC),
	ROW(PFC_TX_PAUSE_US, ETHTOOL, "tx_prio%u_pause_duration", SOURCE, MLX5),
	ROW(PFC_TX_PAUSE_US, ETHTOOL, "pfc_pri%u_tx_duration_us", SOURCE, BNXT),
	ROW(PFC_TX_PAUSE_US, ETHTOOL, "tx_pripause_%u_1us_count", SOURCE, IONIC),
	ROW(PRIO_RX_BYTES, ETHTOOL, "rx_prio%u_bytes", SOURCE, MLX5),
	ROW(PRIO_RX_BYTES, ETHTOOL, "rx_bytes_pri%u", SOURCE, BNXT),
	ROW(PRIO_TX_BYTES, ETHTOOL, "tx_prio%u_bytes", SOURCE, MLX5),
	ROW(PRIO_TX_BYTES, ETHTOOL, "tx_bytes_pri%u", SOURCE, BNXT),
	ROW(PRIO_RX_PACKETS, ETHTOOL, "rx_prio%u_packets", SOURCE, MLX5),
	ROW(PRIO_RX_PACKETS, ETHTOOL, "rx_packets_pri%u", SOURCE, BNXT),
	ROW(PRIO_RX_PACKETS, ETHTOOL, "frames_rx_pri_%u", SOURCE, IONIC),
	ROW(PRIO_TX_PACKETS, ETHTOOL, "tx_prio%u_packets", SOURCE, MLX5),
	ROW(PRIO_TX_PACKETS, ETHTOOL, "tx_packets_pri%u", SOURCE, BNXT),
	ROW(PRIO_TX_PACKETS, ETHTOOL, "frames_tx_pri_%u", SOURCE, IONIC),
	ROW(PRIO_RX_DISCARDS, ETHTOOL, "rx_prio%u_discards", SOURCE, MLX5),

	ROW(RX_BYTES, ETHTOOL, "rx_bytes_phy", SOURCE, MLX5),
	ROW(RX_BYTES, ETHTOOL, SUM8("rx_bytes_pri", ""), SOURCE, BNXT),
	ROW(RX_BYTES, ETHTOOL, "rx_bytes.nic", SOURCE, ICE),
	ROW(RX_BYTES, ETHTOOL, "mac_rx_total_oct_num", SOURCE, HNS3),
	ROW(RX_BYTES, ETHTOOL, "octets_rx_ok", SOURCE, IONIC),
	ROW(RX_BYTES, NETDEV, "statistics/rx_bytes", HARDWARE, CORE),
	ROW(TX_BYTES, ETHTOOL, "tx_bytes_phy", SOURCE, MLX5),
	ROW(TX_BYTES, ETHTOOL, SUM8("tx_bytes_pri", ""), SOURCE, BNXT),
	ROW(TX_BYTES, ETHTOOL, "tx_bytes.nic", SOURCE, ICE),
	ROW(TX_BYTES, ETHTOOL, "mac_tx_total_oct_num", SOURCE, HNS3),
	ROW(TX_BYTES, ETHTOOL, "octets_tx_ok", SOURCE, IONIC),
	ROW(TX_BYTES, NETDEV, "statistics/tx_bytes", HARDWARE, CORE),
	ROW(RX_DISCARDS, ETHTOOL, "rx_discards_phy", SOURCE, MLX5),
	ROW(RX_DISCARDS, ETHTOOL, SUM8("rx_prio", "_discards"), SOURCE, MLX5),
	ROW(RX_DISCARDS, ETHTOOL, SUM8("rx_discard_packets_cos", ""), SOURCE, BNXT),
	ROW(RX_DISCARDS, ETHTOOL, "rx_dropped.nic", SOURCE, ICE),
	ROW(RX_DISCARDS, ETHTOOL, "frames_rx_dropped", SOURCE, IONIC),
	ROW(RX_DISCARDS, RDMA, "rx_roce_discards", SOURCE, BNXT_RE),
	ROW(RX_DISCARDS, RDMA, "ip4InDiscards+ip6InDiscards", SOURCE, IRDMA),
	ROW(RX_CRC_ERRORS, ETHTOOL, "rx_crc_errors_phy", SOURCE, MLX5),
	ROW(RX_CRC_ERRORS, ETHTOOL, "rx_fcs_err_frames", SOURCE, BNXT),
	ROW(RX_CRC_ERRORS, ETHTOOL, "rx_crc_errors.nic", SOURCE, ICE),
	ROW(RX_CRC_ERRORS, ETHTOOL, "mac_rx_fcs_err_pkt_num", SOURCE, HNS3),
	ROW(RX_CRC_ERRORS, ETHTOOL, "frames_rx_bad_fcs", SOURCE, IONIC),
	ROW(GLOBAL_PAUSE_RX, ETHTOOL, "rx_global_pause", SOURCE, MLX5),
	ROW(GLOBAL_PAUSE_RX, ETHTOOL, "rx_pause_frames", SOURCE, BNXT),
	ROW(GLOBAL_PAUSE_RX, ETHTOOL, "link_xoff_rx.nic", SOURCE, ICE),
	ROW(GLOBAL_PAUSE_RX, ETHTOOL, "mac_rx_mac_pause_num", SOURCE, HNS3),
	ROW(GLOBAL_PAUSE_RX, ETHTOOL, "frames_rx_pause", SOURCE, IONIC),
	ROW(GLOBAL_PAUSE_TX, ETHTOOL, "tx_global_pause", SOURCE, MLX5),
	ROW(GLOBAL_PAUSE_TX, ETHTOOL, "tx_pause_frames", SOURCE, BNXT),
	ROW(GLOBAL_PAUSE_TX, ETHTOOL, "link_xoff_tx.nic", SOURCE, ICE),
	ROW(GLOBAL_PAUSE_TX, ETHTOOL, "mac_tx_mac_pause_num", SOURCE, HNS3),
	ROW(GLOBAL_PAUSE_TX, ETHTOOL, "frames_tx_pause", SOURCE, IONIC),
	ROW(PAUSE_STORM, ETHTOOL, "tx_pause_storm_warning_events+tx_pause_storm_error_events",
	    SOURCE, MLX5),
	ROW(PAUSE_STORM, ETHTOOL, "continuous_pause_events+continuous_roce_pause_events", SOURCE,
	    BNXT),
	ROW(LINK_DOWN, ETHTOOL, "link_down_events_phy", SOURCE, MLX5),
	ROW(LINK_DOWN, NETDEV, "carrier_down_count", HARDWARE, CORE),

	ROW(RDMA_RX_PACKETS, RDMA, "rcvd_pkts", HARDWARE, RXE),
	ROW(RDMA_RX_PACKETS, ETHTOOL, "rx_vport_rdma_unicast_packets", SOURCE, MLX5),
	ROW(RDMA_RX_PACKETS, RDMA, "rx_roce_only_pkts", SOURCE, BNXT_RE),
	ROW(RDMA_RX_PACKETS, RDMA, "rx_pkts", SOURCE, BNXT_RE),
	ROW(RDMA_RX_PACKETS, RDMA, "RxUDP", SOURCE, IRDMA),
	ROW(RDMA_RX_PACKETS, RDMA, "rx_pkt", SOURCE, HNS),
	ROW(RDMA_RX_PACKETS, RDMA, "rx_packets", SOURCE, MANA),
	ROW(RDMA_RX_PACKETS, RDMA, "rx_rdma_ucast_pkts", SOURCE, IONIC_RE),
	ROW(RDMA_TX_PACKETS, RDMA, "sent_pkts", HARDWARE, RXE),
	ROW(RDMA_TX_PACKETS, ETHTOOL, "tx_vport_rdma_unicast_packets", SOURCE, MLX5),
	ROW(RDMA_TX_PACKETS, RDMA, "tx_pkts", SOURCE, BNXT_RE),
	ROW(RDMA_TX_PACKETS, RDMA, "TxUDP", SOURCE, IRDMA),
	ROW(RDMA_TX_PACKETS, RDMA, "tx_pkt", SOURCE, HNS),
	ROW(RDMA_TX_PACKETS, RDMA, "tx_packets", SOURCE, MANA),
	ROW(RDMA_TX_PACKETS, RDMA, "tx_rdma_ucast_pkts", SOURCE, IONIC_RE),
	ROW(OUT_OF_SEQUENCE, RDMA, "out_of_seq_request", HARDWARE, RXE),
	ROW(OUT_OF_SEQUENCE, RDMA, "out_of_sequence", SOURCE, MLX5_IB),
	ROW(OUT_OF_SEQUENCE, RDMA, "oos_drop_count", SOURCE, BNXT_RE),
	ROW(OUT_OF_SEQUENCE, RDMA, "responder_oos", SOURCE, MANA),
	ROW(OUT_OF_SEQUENCE, RDMA, "resp_rx_outouf_seq", SOURCE, IONIC_RE),
	ROW(SEQ_NAK_RX, RDMA, "rcvd_seq_err", HARDWARE, RXE),
	ROW(SEQ_NAK_RX, RDMA, "packet_seq_err", SOURCE, MLX5_IB),
	ROW(SEQ_NAK_RX, RDMA, "seq_err_naks_rcvd", SOURCE, BNXT_RE),
	ROW(SEQ_NAK_RX, RDMA, "requester_oos_nak", SOURCE, MANA),
	ROW(SEQ_NAK_RX, RDMA, "req_rx_pkt_seq_err", SOURCE, IONIC_RE),
	ROW(RETRANSMITS, RDMA, "completer_retry_err", HARDWARE, RXE),
	ROW(RETRANSMITS, RDMA, "packet_seq_err+implied_nak_seq_err+local_ack_timeout_err", SOURCE,
	    MLX5_IB),
	ROW(RETRANSMITS, RDMA, "to_retransmits+seq_err_naks_rcvd+missing_resp", SOURCE, BNXT_RE),
	ROW(RETRANSMITS, RDMA, "requester_oos_nak+requester_timeout+requester_implicit_nak", SOURCE,
	    MANA),
	ROW(RETRANSMITS, RDMA, "tx_rdma_retx_pkts", SOURCE, IONIC_RE),
	ROW(RETRANSMITS, RDMA, "RetransSegs", SOURCE, IRDMA3),
	ROW(ACK_TIMEOUT, RDMA, "local_ack_timeout_err", SOURCE, MLX5_IB),
	ROW(ACK_TIMEOUT, RDMA, "to_retransmits", SOURCE, BNXT_RE),
	ROW(ACK_TIMEOUT, RDMA, "requester_timeout", SOURCE, MANA),
	ROW(ACK_TIMEOUT, RDMA, "tx_rdma_ack_timeout", SOURCE, IONIC_RE),
	ROW(DUPLICATE_REQUEST, RDMA, "duplicate_request", HARDWARE, RXE ", " MLX5_IB),
	ROW(DUPLICATE_REQUEST, RDMA, "dup_req", SOURCE, BNXT_RE),
	ROW(DUPLICATE_REQUEST, RDMA, "responder_dup_request", SOURCE, MANA),
	ROW(DUPLICATE_REQUEST, RDMA, "resp_rx_dup_request", SOURCE, IONIC_RE),
	ROW(RNR_NAK_RX, RDMA, "rcvd_rnr_err", HARDWARE, RXE),
	ROW(RNR_NAK_RX, RDMA, "rnr_nak_retry_err", SOURCE, MLX5_IB),
	ROW(RNR_NAK_RX, RDMA, "rnr_naks_rcvd", SOURCE, BNXT_RE),
	ROW(RNR_NAK_RX, RDMA, "requester_rnr_nak", SOURCE, MANA),
	ROW(RNR_NAK_RX, RDMA, "req_rx_rnr_retry_err", SOURCE, IONIC_RE),
	ROW(RNR_NAK_TX, RDMA, "send_rnr_err", HARDWARE, RXE),
	ROW(RNR_NAK_TX, RDMA, "responder_rnr_nak", SOURCE, MANA),
	ROW(RNR_NAK_TX, RDMA, "resp_tx_rnr_retry_err", SOURCE, IONIC_RE),
	ROW(RETRY_EXCEEDED, RDMA, "retry_exceeded_err+retry_rnr_exceeded_err", HARDWARE, RXE),
	ROW(RETRY_EXCEEDED, RDMA, "req_transport_retries_exceeded+req_rnr_retries_exceeded", SOURCE,
	    MLX5_IB),
	ROW(RETRY_EXCEEDED, RDMA, "max_retry_exceeded", SOURCE, BNXT_RE),
	ROW(RETRY_EXCEEDED, RDMA, "requester_retries_exceeded+requester_rnr_nak_retries_exceeded",
	    SOURCE, MANA),
	ROW(RETRY_EXCEEDED, RDMA, "req_tx_retry_excd_err", SOURCE, IONIC_RE),
	ROW(OUT_OF_BUFFER, RDMA, "out_of_buffer", SOURCE, MLX5_IB),
	ROW(OUT_OF_BUFFER, RDMA, "rx_out_of_buffer", SOURCE, BNXT_RE),
	ROW(OUT_OF_BUFFER, RDMA, "resp_rx_outof_buf", SOURCE, IONIC_RE),
	ROW(ICRC_ERRORS, RDMA, "rx_icrc_encapsulated", SOURCE, MLX5_IB),
	ROW(SEND_ERRORS, RDMA, "send_err", HARDWARE, RXE),
	ROW(SEND_ERRORS, RDMA, "tx_roce_errors+tx_roce_discards", SOURCE, BNXT_RE),
	ROW(SEND_ERRORS, RDMA, "tx_err_pkt", SOURCE, HNS),
	ROW(ECN_MARKED_RX, RDMA, "np_ecn_marked_roce_packets", SOURCE, MLX5_IB),
	ROW(ECN_MARKED_RX, RDMA, "rx_ecn_marked_pkts", SOURCE, BNXT_RE),
	ROW(ECN_MARKED_RX, RDMA, "RxECNMrkd", SOURCE, IRDMA),
	ROW(ECN_MARKED_RX, RDMA, "received_ecns", SOURCE, MANA),
	ROW(ECN_MARKED_RX, RDMA, "rx_rdma_ecn_pkts", SOURCE, IONIC_RE),
	ROW(ECN_MARKED_RX, ETHTOOL, "np_ecn_marked_roce_packets", SOURCE, MLX5_CNP),
	ROW(ECN_MARKED_RX, ETHTOOL, "rx_ecn_marked_pkts", SOURCE, BNXT_CNP),
	ROW(CNP_TX, RDMA, "np_cnp_sent", SOURCE, MLX5_IB),
	ROW(CNP_TX, RDMA, "tx_cnp_pkts", SOURCE, BNXT_RE),
	ROW(CNP_TX, RDMA, "cnpSent", SOURCE, IRDMA),
	ROW(CNP_TX, RDMA, "tx_cnp_pkt", SOURCE, HNS),
	ROW(CNP_TX, RDMA, "sent_cnps", SOURCE, MANA),
	ROW(CNP_TX, RDMA, "tx_rdma_cnp_pkts", SOURCE, IONIC_RE),
	ROW(CNP_TX, ETHTOOL, "np_cnp_sent", SOURCE, MLX5_CNP),
	ROW(CNP_TX, ETHTOOL, "tx_cnp_pkts", SOURCE, BNXT_CNP),
	ROW(CNP_RX, RDMA, "rp_cnp_handled", SOURCE, MLX5_IB),
	ROW(CNP_RX, RDMA, "rx_cnp_pkts", SOURCE, BNXT_RE),
	ROW(CNP_RX, RDMA, "cnpHandled", SOURCE, IRDMA),
	ROW(CNP_RX, RDMA, "rx_cnp_pkt", SOURCE, HNS),
	ROW(CNP_RX, RDMA, "received_cnps", SOURCE, MANA),
	ROW(CNP_RX, RDMA, "rx_rdma_cnp_pkts", SOURCE, IONIC_RE),
	ROW(CNP_RX, ETHTOOL, "rp_cnp_handled", SOURCE, MLX5_CNP),
	ROW(CNP_RX, ETHTOOL, "rx_cnp_pkts", SOURCE, BNXT_CNP),
	ROW(CNP_IGNORED, RDMA, "rp_cnp_ignored", SOURCE, MLX5_IB),
	ROW(CNP_IGNORED, RDMA, "cnpIgnored", SOURCE, IRDMA),
	ROW(CNP_IGNORED, ETHTOOL, "rp_cnp_ignored", SOURCE, MLX5_CNP),

	ROW(RESPONSE_LOST, RDMA, "implied_nak_seq_err", SOURCE, MLX5_IB),
	ROW(RESPONSE_LOST, RDMA, "missing_resp", SOURCE, BNXT_RE),
	ROW(RESPONSE_LOST, RDMA, "requester_implicit_nak+requester_readresp_psn_mismatch", SOURCE,
	    MANA),
	ROW(RESPONSE_LOST, RDMA, "req_rx_impl_nak_seq_err", SOURCE, IONIC_RE),
	ROW(RNR_EXCEEDED, RDMA, "retry_rnr_exceeded_err", HARDWARE, RXE),
	ROW(RNR_EXCEEDED, RDMA, "req_rnr_retries_exceeded", SOURCE, MLX5_IB),
	ROW(RNR_EXCEEDED, RDMA, "requester_rnr_nak_retries_exceeded", SOURCE, MANA),
	ROW(ADAPTIVE_RETRANSMITS, RDMA, "roce_adp_retrans+roce_adp_retrans_to+roce_slow_restart",
	    SOURCE, MLX5_IB),
	ROW(REFUSED_REQUESTS, RDMA,
	    "req_remote_access_errors+req_remote_invalid_request+resp_remote_access_errors+"
	    "resp_local_length_error",
	    SOURCE, MLX5_IB),
	ROW(REFUSED_REQUESTS, RDMA,
	    "remote_access_err+remote_invalid_req_err+remote_op_err+bad_resp_err", SOURCE, BNXT_RE),
	ROW(REFUSED_REQUESTS, RDMA, "nak_access_error+nak_inv_req+nak_opp_error", SOURCE, MANA),
	ROW(REFUSED_REQUESTS, RDMA, "req_rx_rmt_acc_err+req_rx_rmt_req_err+req_rx_oper_err", SOURCE,
	    IONIC_RE),
	ROW(RDMA_RX_DISCARDS, RDMA, "rx_roce_discards", SOURCE, BNXT_RE),
	ROW(RDMA_RX_DISCARDS, RDMA, "ip4InDiscards+ip6InDiscards", SOURCE, IRDMA),
	ROW(RDMA_RX_DISCARDS, RDMA, "rx_rdma_mtu_discard_pkts", SOURCE, IONIC_RE),
	ROW(RDMA_RX_ERRORS, RDMA, "rx_roce_errors", SOURCE, BNXT_RE),
	ROW(RDMA_RX_ERRORS, RDMA, "rx_err_pkt", SOURCE, HNS),
	ROW(RDMA_RX_ERRORS, RDMA, "req_rx_inval_pkts", SOURCE, IONIC_RE),
	ROW(RDMA_RX_BYTES, ETHTOOL, "rx_vport_rdma_unicast_bytes", SOURCE, MLX5),
	ROW(RDMA_RX_BYTES, RDMA, "rx_bytes", SOURCE, BNXT_RE ", " MANA),
	ROW(RDMA_RX_BYTES, RDMA, "rx_rdma_ucast_bytes", SOURCE, IONIC_RE),
	ROW(RDMA_TX_BYTES, ETHTOOL, "tx_vport_rdma_unicast_bytes", SOURCE, MLX5),
	ROW(RDMA_TX_BYTES, RDMA, "tx_bytes", SOURCE, BNXT_RE ", " MANA),
	ROW(RDMA_TX_BYTES, RDMA, "tx_rdma_ucast_bytes", SOURCE, IONIC_RE),
	ROW(TX_DISCARDS, ETHTOOL, "tx_discards_phy", SOURCE, MLX5),
	ROW(SYMBOL_ERRORS, ETHTOOL, "rx_pcs_symbol_err_phy", SOURCE, MLX5),
	ROW(SYMBOL_ERRORS, ETHTOOL, "rx_pcs_symbol_err", SOURCE, BNXT),
	ROW(BUFFER_HIGH, ETHTOOL, "rx_buffer_passed_thres_phy", SOURCE, MLX5),
	ROW(BUFFER_HIGH, ETHTOOL, "rx_buffer_passed_threshold", SOURCE, BNXT),
	ROW(PCI_STALLS, ETHTOOL, "outbound_pci_stalled_wr", SOURCE, MLX5),
	ROW(PRIO_RX_CONGESTED, ETHTOOL, "rx_prio%u_cong_discard", SOURCE, MLX5),
	ROW(PRIO_HOST_MARKED, ETHTOOL, "rx_prio%u_marked", SOURCE, MLX5),
	ROW(PFC_RX_TIMES, ETHTOOL, "rx_prio%u_pause_transition", SOURCE, MLX5),
	ROW(PFC_RX_TIMES, ETHTOOL, "pfc_pri%u_rx_transitions", SOURCE, BNXT),

	ROW(HOST_CE_RX, IP, "InCEPkts+Ip6InCEPkts", HARDWARE, CORE),
	ROW(HOST_ECT0_RX, IP, "InECT0Pkts+Ip6InECT0Pkts", HARDWARE, CORE),
	ROW(HOST_ECT1_RX, IP, "InECT1Pkts+Ip6InECT1Pkts", HARDWARE, CORE),
};
/* clang-format on */

const unsigned int counter_def_count = ARRAY_SIZE(counter_defs);

/* Refresh interval of counters, if longer than 10 ms (RDMA_HW_STATS_DEFAULT_LIFESPAN). */
static const struct {
	const char *seen;
	unsigned int ms;
} refresh[] = {
	{BNXT, 1000}, /* the NIC writes its statistics to memory every second */
	{BNXT_RE, 1000},  {BNXT_RE ", " MANA, 1000},
	{BNXT_CNP, 1000}, {ICE, 1000}, /* its service task */
};

#define SETTLE_LEAST_MS 50

unsigned int counters_settle_ms(const struct counters *c)
{
	unsigned int longest = SETTLE_LEAST_MS;

	for (unsigned int m = 0; m < METRIC_COUNT; m++) {
		if (!c->has[m] || c->def[m] >= counter_def_count)
			continue;
		for (unsigned int i = 0; i < ARRAY_SIZE(refresh); i++)
			if (!strcmp(counter_defs[c->def[m]].seen, refresh[i].seen) &&
			    2 * refresh[i].ms + 100 > longest)
				longest = 2 * refresh[i].ms + 100;
	}
	return longest;
}
