/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of `probe` and their meanings.
 */
#include "cmd/glossary.h"

#include <stddef.h>
#include <strings.h>

const struct glossary_word glossary[] = {
	{"observe",
	 "RC as applications use it: what is lost is sent again by the NIC. Loss shows in the "
	 "counters of both ends (sequence gaps, NAKs, timeouts), not in the bandwidth"},
	{"strict",
	 "RC that repeats nothing (retry count 0): the first lost packet ends its queue pair with "
	 "a time. Only verbs that need no receive, so that a slow receiver cannot look like loss; "
	 "a lost ACK in mid-stream is covered by the next one and stays unseen"},
	{"count", "UC or UD SENDs of one packet, each with a sequence number: the receiver counts "
		  "exactly what is missing and what came out of order. Nothing is repeated"},
	{"rc",
	 "reliable connection: acknowledged, repeated by the NIC, one queue pair at each end"},
	{"uc", "unreliable connection: no acknowledgement, no repetition"},
	{"ud", "unreliable datagram: a SEND of at most one MTU, to an address handle"},
	{"xrc", "extended reliable connection: RC with a queue pair of its own for each direction, "
		"and receives in a shared receive queue whose number each request carries. Here "
		"each flow has a receive queue to itself, so that its order can be checked. Few "
		"devices have it; on the others it is refused before anything is made. Tested "
		"against a stand-in of the verbs, not on hardware yet"},
	{"write", "RDMA WRITE: lands in the peer's memory, its CPU is not told. The peer reads it "
		  "after it was granted"},
	{"write_imm", "RDMA WRITE WITH IMMEDIATE: as WRITE, and a completion at the peer that "
		      "takes a receive of it"},
	{"read",
	 "RDMA READ: the data comes in the responses; loss of those is found by the requester"},
	{"send", "SEND: takes a receive of the peer; one that is not posted is an RNR, which is "
		 "the host and not the fabric"},
	{"send_imm", "SEND WITH IMMEDIATE: as SEND, with 4 bytes more in the completion"},
	{"atomic", "FETCH AND ADD of 8 bytes in the peer's memory, answered with the old value"},
	{"none",
	 "bytes are neither made nor looked at: speed alone, which says nothing of identity"},
	{"sampled", "the header of each message (run, flow, slot, sequence, CRC), and every byte "
		    "of each 16th"},
	{"every", "every byte of every message"},
	{"raw", "queue pairs are connected by hand with numbers that go over the control "
		"connection; the ToS is that of the queue pair"},
	{"cm", "queue pairs are connected by rdma_cm, as most programs do; the ToS takes another "
	       "way there, and ToS defaults of the device's configfs count. Each queue pair is "
	       "asked which ToS it has got"},
	{"forward", "the client sends"},
	{"backward", "the server sends"},
	{"both", "both send, on each queue pair"},
	{"sizes",
	 "run after run with messages from the smallest size to the largest, each with queue "
	 "pairs, counters and a verdict of its own; the whole has the worst. Below 64 bytes there "
	 "is no room for a header: such messages are counted and not checked"},
	{"latency", "one message under way, sent back by the peer: the time of the round trip, "
		    "from its intended start, no sample left out. A plain WRITE is seen by polling "
		    "the last byte of the memory, as ib_write_lat does, whose figure is half of a "
		    "round trip; others by their completions"},
	{"flat out", "as fast as it goes: no pace and no bound on what is under way"},
	{"paced", "the class keeps to its rate. Any millisecond has at most the share of it and "
		  "one message, and at most 256 KiB are under way towards one receiver, over all "
		  "senders and paced classes. Time that the sender lost is not caught up; a rate "
		  "that was not reached is reported"},
	{"tcp", "TCP streams of another class beside the RDMA classes, between the same two "
		"addresses: a port that all share is tested as it is used. A thread of its own "
		"moves them. They are in no figure of the classes, their bytes are not foreign, "
		"and what is dropped of them is no RDMA loss; ECN bits are TCP's own"},
	{"memory", "host memory, registered once before the run and released after it; the time of "
		   "registration is not in the figures. R_Keys live for the run and cover the test "
		   "buffers alone"},
	{"registration", "ibv_reg_mr pins the pages of a buffer and tells the device where they "
			 "are. It is paid for each page, so that huge pages of 2 MiB make it "
			 "cheap; a program that registers each buffer pays it each time"},
	{"gpu", "buffers are in host memory. What goes from a NIC to a GPU directly, as a dma-buf "
		"that ibv_reg_dmabuf_mr registers, takes another way through PCIe: nothing that is "
		"found here says that it works"},
	{"verbs",
	 "the calls of libibverbs that move a class, in the names of its manual pages. Work "
	 "requests are made once, and posted in lists of which the last one is signaled"},
	{"baseline", "the counters of both ends while nothing is sent, for as long as the run: "
		     "what moves then is somebody else's"},
	{"marking", "UD datagrams of each class, after the traffic: the receiver's NIC hands out "
		    "the IP header as it arrived, and answers tell it back. DSCP rewritten, ECT "
		    "cleared, CE set and loss are named by direction, class and UDP source port; "
		    "the way of answers is that of ACKs"},
	{"sweep", "the marking echo of the first class from many UDP source ports: a port that "
		  "always loses lies on a bad member of a link or path group"},
	{.word = NULL},
};

const char *glossary_meaning(const char *word)
{
	for (const struct glossary_word *w = glossary; w->word; w++)
		if (!strcasecmp(w->word, word))
			return w->meaning;
	return NULL;
}
