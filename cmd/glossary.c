/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines the words of `probe`.
 */
#include "cmd/glossary.h"

#include <stddef.h>
#include <strings.h>

const struct glossary_word glossary[] = {
	{"observe",
	 "RC as applications use it: the NIC retransmits lost packets. Loss shows in the counters "
	 "of both ends (sequence gaps, NAKs, timeouts), not in the bandwidth"},
	{"strict", "RC without retransmission (retry count 0): the first lost packet ends its "
		   "queue pair, and the time is reported. Only verbs that need no receive, so that "
		   "a slow receiver cannot look like loss; a lost ACK in mid-stream is covered by "
		   "the next ACK and stays undetected"},
	{"count", "UC or UD SENDs of one packet, each with a sequence number: the receiver counts "
		  "missing and reordered packets exactly. Nothing is retransmitted"},
	{"rc",
	 "reliable connection: acknowledged, retransmitted by the NIC, one queue pair at each end"},
	{"uc", "unreliable connection: no acknowledgement, no retransmission"},
	{"ud", "unreliable datagram: a SEND of at most one MTU, to an address handle"},
	{"xrc", "extended reliable connection: RC with a queue pair for each direction, and "
		"receives in a shared receive queue whose number each request carries. Here each "
		"flow has its own receive queue, so that its order can be checked. Few devices "
		"support XRC; on others rocecheck refuses it before it creates anything. Tested "
		"against simulated verbs, not on hardware yet"},
	{"write", "RDMA WRITE: writes to the peer's memory without involving its CPU; the peer "
		  "verifies the data after a control message"},
	{"write_imm", "RDMA WRITE WITH IMMEDIATE: as WRITE, and consumes a receive of the peer, "
		      "which gets a completion"},
	{"read", "RDMA READ: the data comes in the responses; the requester detects their loss"},
	{"send", "SEND: consumes a receive of the peer; without a posted receive the peer sends an "
		 "RNR NAK, which is a fault of the host and not of the fabric"},
	{"send_imm", "SEND WITH IMMEDIATE: as SEND, with 4 more bytes in the completion"},
	{"atomic",
	 "FETCH AND ADD of 8 bytes in the peer's memory; the response carries the old value"},
	{"none",
	 "payload is neither generated nor checked: measures speed only, not data integrity"},
	{"sampled", "checks the header of each message (run, flow, slot, sequence, CRC), and every "
		    "byte of each 16th message"},
	{"every", "checks every byte of every message"},
	{"raw", "rocecheck connects the queue pairs itself and exchanges their numbers over the "
		"control connection; the ToS is that of the queue pair"},
	{"cm", "rdma_cm connects the queue pairs, as in most programs; the ToS is set through "
	       "rdma_cm, and ToS defaults in the device's configfs apply. rocecheck reads back the "
	       "ToS of each queue pair"},
	{"forward", "the client sends"},
	{"backward", "the server sends"},
	{"both", "both ends send, on each queue pair"},
	{"sizes",
	 "one run per message size, from the smallest to the largest, each with its own queue "
	 "pairs, counters and verdict; the worst verdict is that of the whole. Below 64 bytes "
	 "there is no room for a header: such messages are counted and not checked"},
	{"latency", "one message in flight, returned by the peer: the round-trip time from the "
		    "intended start, with every sample kept. A plain WRITE is detected by polling "
		    "the last byte of the memory, as in ib_write_lat, whose figure is half a round "
		    "trip; other verbs by their completions"},
	{"flat out", "at full speed: no rate limit, and no limit of the data in flight"},
	{"paced", "the class keeps its rate. In any millisecond it sends at most its share and one "
		  "message, and at most 256 KiB are in flight towards one receiver, over all "
		  "senders and paced classes. The sender does not catch up lost time; a rate that "
		  "was not reached is reported"},
	{"tcp", "TCP streams of another class run beside the RDMA classes, between the same two "
		"addresses: the test of a port that both share. A thread of its own moves them. "
		"Their bytes count neither as class traffic nor as foreign traffic, TCP drops are "
		"not RDMA loss, and TCP sets its own ECN bits"},
	{"memory",
	 "host memory, registered once before the run and released after it; figures exclude the "
	 "registration time. R_Keys are valid for the run and cover only the test buffers"},
	{"registration", "ibv_reg_mr pins the pages of a buffer and gives their addresses to the "
			 "device. The cost is per page, so huge pages of 2 MiB make it cheap; a "
			 "program that registers each buffer pays it each time"},
	{"gpu", "buffers are in host memory. GPUDirect (a dma-buf registered by ibv_reg_dmabuf_mr) "
		"uses another path through PCIe: this run does not test GPUDirect"},
	{"verbs",
	 "the libibverbs calls that move a class, by the names of the manual pages. Work requests "
	 "are created once and posted in lists; only the last one of a list is signaled"},
	{"baseline", "counters of both ends while idle, for as long as the run; any increase is "
		     "foreign traffic"},
	{"marking",
	 "UD datagrams of each class, after the traffic: the receiver's NIC delivers the IP header "
	 "as it arrived, and replies report it. DSCP rewritten, ECT cleared, CE set and loss are "
	 "reported by direction, class and UDP source port; replies take the path of ACKs"},
	{"sweep", "the marking echo of the first class from many UDP source ports: a port that "
		  "always loses packets uses a bad member of a link or path group"},
	{.word = NULL},
};

const char *glossary_meaning(const char *word)
{
	for (const struct glossary_word *w = glossary; w->word; w++)
		if (!strcasecmp(w->word, word))
			return w->meaning;
	return NULL;
}
