/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters as metrics that are independent of the driver. A row of the counter table maps a counter
 * of one driver family to a metric; the first row whose source exists on a port is used. `top`,
 * `validate` and the rules use metrics only. A missing counter has no bit in `has`; it is not 0.
 *
 * To add a driver's counter, add a row in counters_table.c. To add a metric, add an enum value and
 * its row in metric_table[].
 */
#ifndef PROBE_COUNTERS_H
#define PROBE_COUNTERS_H

#include <jansson.h>

#include "profiles/base/base.h"
#include "profiles/qos.h"

enum metric {
	/* by priority */
	METRIC_PFC_RX_FRAMES,	/* pause frames received for the priority (dcbnl indications) */
	METRIC_PFC_TX_FRAMES,	/* pause frames sent for the priority (dcbnl requests) */
	METRIC_PFC_RX_PAUSE_US, /* time this port was paused, microseconds */
	METRIC_PFC_TX_PAUSE_US,
	METRIC_PRIO_RX_BYTES,
	METRIC_PRIO_TX_BYTES,
	METRIC_PRIO_RX_PACKETS,
	METRIC_PRIO_TX_PACKETS,
	METRIC_PRIO_RX_DISCARDS, /* dropped by the receiving host, this priority */
	/* by port */
	METRIC_RX_BYTES,
	METRIC_TX_BYTES,
	METRIC_RX_DISCARDS, /* dropped by the receiving host, any priority */
	METRIC_RX_CRC_ERRORS,
	METRIC_GLOBAL_PAUSE_RX,
	METRIC_GLOBAL_PAUSE_TX,
	METRIC_PAUSE_STORM, /* the NIC's own storm warnings and errors */
	METRIC_LINK_DOWN,
	/* RDMA device */
	METRIC_RDMA_RX_PACKETS,
	METRIC_RDMA_TX_PACKETS,
	METRIC_OUT_OF_SEQUENCE, /* responder saw a PSN gap */
	METRIC_SEQ_NAK_RX,	/* requester got a NAK: PSN sequence error */
	METRIC_RETRANSMITS,	/* requester restarted (on rxe also without loss) */
	METRIC_ACK_TIMEOUT,
	METRIC_DUPLICATE_REQUEST,
	METRIC_RNR_NAK_RX,
	METRIC_RNR_NAK_TX,
	METRIC_RETRY_EXCEEDED, /* a QP failed: transport or RNR retries used up */
	METRIC_OUT_OF_BUFFER,  /* no receive WQE */
	METRIC_ICRC_ERRORS,
	METRIC_SEND_ERRORS,   /* this host could not send (qdisc, link, MTU) */
	METRIC_ECN_MARKED_RX, /* CE packets seen by the notification point */
	METRIC_CNP_TX,
	METRIC_CNP_RX, /* handled by the reaction point */
	METRIC_CNP_IGNORED,
	METRIC_RESPONSE_LOST,	     /* requester missed a response: READ, atomic */
	METRIC_RNR_EXCEEDED,	     /* the part of METRIC_RETRY_EXCEEDED due to RNR NAKs */
	METRIC_ADAPTIVE_RETRANSMITS, /* retransmissions by lossy-RoCE acceleration */
	METRIC_REFUSED_REQUESTS,     /* access, operation and length errors */
	METRIC_RDMA_RX_DISCARDS,     /* RoCE packets that the receiving NIC dropped */
	METRIC_RDMA_RX_ERRORS,	     /* RoCE packets that it discarded as invalid */
	METRIC_RDMA_RX_BYTES,
	METRIC_RDMA_TX_BYTES,
	METRIC_TX_DISCARDS,   /* dropped by the sending host */
	METRIC_SYMBOL_ERRORS, /* of the physical coding */
	METRIC_BUFFER_HIGH,   /* the receive buffer was nearly full */
	METRIC_PCI_STALLS,
	METRIC_PRIO_RX_CONGESTED, /* by priority: dropped because this host was congested */
	METRIC_PRIO_HOST_MARKED,  /* by priority: marked CE by this host's own NIC */
	METRIC_PFC_RX_TIMES,	  /* by priority: number of pauses */
	/* Counters of the host's IP stack, all ports and protocols. They include every Soft-RoCE
	 * packet (equal to its rcvd_pkts, Linux 6.1 and 6.12), and no packet of a RoCE NIC. */
	METRIC_HOST_CE_RX,
	METRIC_HOST_ECT0_RX,
	METRIC_HOST_ECT1_RX,
	METRIC_COUNT,
};

/* Cause that an increase of a metric indicates; each has its own next step. */
enum metric_class {
	CLASS_VOLUME,
	CLASS_PAUSE,
	CLASS_STORM,
	CLASS_LOSS_REQUEST,  /* request lost or reordered on the path to the responder */
	CLASS_LOSS_RESPONSE, /* response lost on the path to the requester */
	CLASS_RETRANSMIT,    /* retransmission, any reason */
	CLASS_TIMEOUT,	     /* ACK timeout: tail or ACK lost, or a long pause */
	CLASS_RNR,	     /* receiver not ready */
	CLASS_DEAD,	     /* a queue pair failed */
	CLASS_REFUSED,	     /* refused by the responder */
	CLASS_HOST_DISCARD,  /* crossed the fabric, dropped by the receiving host */
	CLASS_HOST_SEND,     /* not sent by the host */
	CLASS_HOST_PRESSURE, /* close to a drop in the receiving host */
	CLASS_CORRUPTION,
	CLASS_LINK,
	CLASS_CE,
	CLASS_CNP,
	CLASS_COUNT,
};

struct metric_info {
	const char *name; /* "pfc_rx_frames": JSON key, --batch, stable for ever */
	bool by_prio;
	enum metric_class class;
	const char *unit; /* "frames", "bytes", "us", "packets", "events" */
	const char *help;
};
extern const struct metric_info metric_table[METRIC_COUNT];

const char *metric_class_word(enum metric_class class); /* "loss-request" */

/* Evidence for a row of the counter table; part of a verdict. */
enum counter_tier {
	TIER_SOURCE,   /* read in the driver's source code */
	TIER_RECORDED, /* seen in a recording of a real host */
	TIER_HARDWARE, /* seen in a run on the device */
};

enum counter_source {
	COUNTER_DCBNL,	 /* IEEE_PFC requests[] and indications[] */
	COUNTER_ETHTOOL, /* ethtool -S string */
	COUNTER_RDMA,	 /* rdma netlink STAT_GET (hw_counters) */
	COUNTER_NETDEV,	 /* file under /sys/class/net/IF: statistics/rx_bytes */
	COUNTER_IP,	 /* host-wide: IpExt of /proc/net/netstat, and /proc/net/snmp6 */
	COUNTER_SOURCES,
};

struct counter_def {
	enum metric metric;
	enum counter_source source;
	const char *name;    /* "%u" is the priority; "a+b" is a sum, where a must exist */
	uint32_t multiplier; /* to the metric's unit, mostly 1 */
	enum counter_tier tier;
	const char *seen; /* driver and version of the evidence */
};
extern const struct counter_def counter_defs[];
extern const unsigned int counter_def_count;

#define COUNTER_NONE 0xffff

/* One reading of one port. No pointers. Port metrics use index 0 of the second dimension. */
struct counters {
	uint64_t when_ns;	    /* monotonic_ns() of that host */
	uint8_t has[METRIC_COUNT];  /* bit by priority; bit 0 for port metrics */
	uint16_t def[METRIC_COUNT]; /* row of counter_defs in use, or COUNTER_NONE */
	uint64_t value[METRIC_COUNT][QOS_PRIOS];
};

struct dcb; /* dcb/kernel/dcb.h */

/* Makes a reading without any metric. */
void counters_clear(struct counters *c);

/* Reads all metrics that ifname (empty: no netdev) and its RDMA device (ibdev may be NULL or empty)
 * offer. Missing sources are not errors; -ENODEV when the netdev is gone. */
int counters_read(struct dcb *dcb, const char *ifname, const char *ibdev, unsigned int ib_port,
		  struct counters *c, struct err *e);

/* Settle time of unknown sources: that of the slowest known driver. */
#define COUNTERS_SETTLE_MS 2200

/* Returns the settle time in ms, from the last packet until the counters are complete: twice the
 * longest refresh interval of the sources in c. */
unsigned int counters_settle_ms(const struct counters *c);

bool counters_has(const struct counters *c, enum metric m, unsigned int prio);

/* Computes after - before. A metric that is absent in one reading, or was read from two different
 * sources, is absent. A counter that went backwards is absent in *delta and its bit is set in
 * reset[] (may be NULL). delta->when_ns is the interval. */
void counters_delta(const struct counters *before, const struct counters *after,
		    struct counters *delta, uint8_t reset[METRIC_COUNT]);

/* Writes source and kernel name of a metric, e.g. "ethtool rx_prio3_pause", for evidence. */
void counters_source_text(const struct counters *c, enum metric m, unsigned int prio, char *buf,
			  size_t size);

/* {"when_ns":..., "pfc_rx_frames":[..8 numbers or null..], "rx_bytes":n, ..., "sources":{...}}; a
 * metric without any value is null. New reference, NULL on -ENOMEM. from_json: -EINVAL with the key
 * in e, *c is untouched on failure. */
json_t *counters_to_json(const struct counters *c);
int counters_from_json(const json_t *json, struct counters *c, struct err *e);

#endif
