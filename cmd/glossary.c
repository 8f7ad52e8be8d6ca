/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Glossary of `probe`: modes, transports, verbs, checks and measurements.
 */
#include "cmd/glossary.h"

#include <stddef.h>
#include <strings.h>

const struct glossary_word glossary[] = {
	{"observe",
	 "RC with the usual retransmission by the NIC. Packet loss shows in the counters "
	 "of both hosts (sequence gaps, NAKs, timeouts), not in the bandwidth"},
	{"strict",
	 "RC without retransmission (retry count 0). The first lost packet stops its queue "
	 "pair; the report has the time. Only for write, read and atomic: without posted receives "
	 "a slow receiver cannot look like loss. A lost ACK is unnoticed if a later ACK arrives"},
	{"count", "UC or UD SENDs of one packet with a sequence number each, without "
		  "retransmission: the receiver counts exactly the missing and the reordered "
		  "packets"},
	{"rc", "reliable connection: acknowledged, retransmitted by the NIC, one queue pair "
	       "per host"},
	{"uc", "unreliable connection: no acknowledgement, no retransmission"},
	{"ud", "unreliable datagram: a SEND of at most one MTU, to an address handle"},
	{"xrc", "extended reliable connection: RC with one queue pair per direction and a "
		"shared receive queue, whose number is in each request. Each flow has its own "
		"receive queue here, so that its order can be checked. Few devices support XRC; "
		"the others refuse it before the run starts. Tested with emulated verbs, not on "
		"hardware yet"},
	{"write", "RDMA WRITE: writes to the peer's memory without involving its CPU; the peer "
		  "verifies the data after a control message"},
	{"write_imm", "RDMA WRITE WITH IMMEDIATE: a WRITE that also consumes a posted receive and "
		      "creates a completion at the peer"},
	{"read", "RDMA READ: responses carry the data; the requester detects lost responses"},
	{"send", "SEND: consumes a posted receive of the peer. If no receive is posted, the peer "
		 "answers RNR (receiver not ready): a problem of that host, not of the fabric"},
	{"send_imm", "SEND WITH IMMEDIATE: a SEND with 4 more bytes in the completion"},
	{"atomic", "FETCH AND ADD of 8 bytes in the peer's memory; the response has the old value"},
	{"none", "payload is neither filled nor checked: measures speed only, not data integrity"},
	{"sampled", "checks the header of every message (run, flow, slot, sequence, CRC) and all "
		    "bytes of every 16th message"},
	{"every", "checks all bytes of every message"},
	{"raw", "queue pairs are connected without rdma_cm, with numbers exchanged over the "
		"control connection; the ToS is set on the queue pair"},
	{"cm", "queue pairs are connected by rdma_cm, as in most applications: "
	       "default_roce_tos of the device (configfs) can change the ToS. The run reads "
	       "the ToS of each queue pair back"},
	{"forward", "the client posts the requests"},
	{"backward", "the server posts the requests"},
	{"both", "both hosts post requests on each queue pair"},
	{"sizes", "one run per message size, from the smallest to the largest, each with its own "
		  "queue pairs, counters and verdict; the worst verdict is that of the sweep. "
		  "Messages below 64 bytes have no room for a header: they are counted, not "
		  "checked"},
	{"latency",
	 "round trip of one message at a time, measured from its intended start; no "
	 "sample is left out. The arrival of a plain WRITE is detected by polling its "
	 "last byte, as in ib_write_lat, which reports half of a round trip; other verbs "
	 "use completions"},
	{"unpaced", "no rate limit and no limit on bytes in flight, except the queue depth"},
	{"paced", "the class keeps its rate limit. In any millisecond it sends at most its share "
		  "of the rate and one message; at most 256 KiB are in flight to one receiver, "
		  "over all senders and paced classes. Time lost by the sender is not made up; a "
		  "rate that was not reached is reported"},
	{"tcp", "TCP streams in another class, in parallel to the RDMA classes and between the "
		"same two addresses, to test a shared port. A separate thread moves them. Their "
		"bytes are reported separately and are not foreign traffic; a dropped TCP "
		"segment is not RDMA loss. TCP itself sets the ECN bits"},
	{"memory", "buffers are in host memory, registered once before the run and released after "
		   "it; registration time is not part of the results. R_Keys exist during the run "
		   "and cover only the test buffers"},
	{"registration",
	 "ibv_reg_mr pins the pages of a buffer and gives their addresses to the device. "
	 "The cost is per page, so huge pages of 2 MiB make it cheap; a program that "
	 "registers every buffer pays it every time"},
	{"gpu", "this run does not test GPUDirect. Its buffers are in host memory; a dma-buf of "
		"a GPU, registered with ibv_reg_dmabuf_mr, uses another PCIe path"},
	{"verbs", "libibverbs calls that move a class, named as in their manual pages. Work "
		  "requests are built once and posted in lists; only the last one of a list is "
		  "signaled"},
	{"baseline",
	 "counters while idle, on both hosts; any increase is foreign traffic. Lasts as "
	 "long as the run by default"},
	{"marking", "UD datagrams of each class after the run; the receiver's NIC delivers the IP "
		    "header as it arrived, and the server echoes it. The report lists rewritten "
		    "DSCP, cleared ECT, CE and loss per direction, class and UDP source port. "
		    "Replies use the path of the ACKs"},
	{"sweep", "the marking test of the first class from many UDP source ports. A source port "
		  "that always loses packets uses a faulty link of a LAG or ECMP group"},
	{.word = NULL},
};

const char *glossary_meaning(const char *word)
{
	for (const struct glossary_word *w = glossary; w->word; w++)
		if (!strcasecmp(w->word, word))
			return w->meaning;
	return NULL;
}
