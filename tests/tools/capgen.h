/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures whose truth is known: RC traffic of any number of requesters, as a capture point between
 * sender and receiver sees it, with faults of every kind put in and counted. The same seed gives
 * the same bytes. Nothing of capture/ is used: the decoder is judged by other code than itself.
 */
#ifndef TESTS_TOOLS_CAPGEN_H
#define TESTS_TOOLS_CAPGEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What happens to one burst of messages; the capture point is between the network and the receiver,
 * so that "before" is what the network lost on the way to it. */
enum capgen_fault {
	CAPGEN_LOST,	   /* requests lost before the capture: NAK, go-back-N */
	CAPGEN_LOST_AFTER, /* captured, then lost: NAK, go-back-N */
	CAPGEN_SELECTIVE,  /* lost before the capture: NAK, only the missing are sent again */
	CAPGEN_REORDERED,  /* one request is overtaken by up to three */
	CAPGEN_RNR,	   /* a SEND is refused, and sent again after the timer */
	CAPGEN_TIMEOUT,	   /* the tail is lost before the capture: no NAK, sent again from una */
	CAPGEN_ACK_LOST,   /* the ACK is lost before the capture: the same */
	CAPGEN_FATAL,	   /* NAK 1, 2 or 3; the QP number is used anew later */
	CAPGEN_BAD_ICRC,   /* captured broken, dropped by the receiver: NAK, go-back-N */
	CAPGEN_MISSED,	   /* delivered, but not captured */
	CAPGEN_READ_RETRY, /* a READ response is lost before the capture: the rest is read again */
	CAPGEN_COPIED, /* each frame of the burst is captured twice, as by a mirror of two ports */
	CAPGEN_ACK_MISSED, /* the last answers reach the requester, but are not captured */
	CAPGEN_NAK_MISSED, /* as lost, but the NAK is not captured */
	CAPGEN_UC_LOST,	   /* UC: requests lost before the capture, and nobody says a word */
	CAPGEN_UC_BROKEN,  /* UC: captured broken, dropped by the receiver, as silently */
	CAPGEN_FAULTS,
	CAPGEN_NONE = CAPGEN_FAULTS,
};

/* What a capture is mixed of. Without a transport it is RC. */
enum capgen_mix {
	CAPGEN_RC = 1 << 0,
	CAPGEN_UC = 1 << 1,
	CAPGEN_UD = 1 << 2,
	CAPGEN_XRC = 1 << 3,
	CAPGEN_OPS = 1 << 4,	/* atomics, immediate data, invalidation; ACKs for each message */
	CAPGEN_NETS = 1 << 5,	/* RoCEv1, stacked VLANs, the tunnels of mirrors, VXLAN */
	CAPGEN_CM = 1 << 6,	/* connections are made, and made anew, by the connection manager */
	CAPGEN_PAUSES = 1 << 7, /* PFC stops priority 3 now and then; priority 5, too */
	CAPGEN_MIX_ALL = (1 << 8) - 1,
};

#define CAPGEN_MIXES 8

struct capgen_options {
	uint64_t seed;
	uint32_t requesters; /* two make a connection that sends both ways */
	uint64_t frames;     /* bursts begin until so many were captured */
	uint32_t pmtu;	     /* 256 to 4096; 0 = each connection has one of its own */
	uint32_t snap;	     /* bytes kept of a frame, 0 = all, with an ICRC that is right */
	uint32_t mix;	     /* set of enum capgen_mix */
	uint32_t faults;     /* set of 1 << enum capgen_fault */
	uint32_t fault_rate; /* of 1000 bursts */
	uint32_t ce_rate;    /* of 1000 requests */
	bool wrap;	     /* PSNs begin just below 2^24 */
	bool mirror;	     /* every frame is captured twice */
	bool statistics;     /* a pcapng tells at its end how many frames the capture missed */
};

/* What was captured in one direction towards one QP, and what was done to the requests there. */
struct capgen_flow {
	uint8_t src[16], dst[16]; /* GID form */
	uint32_t qpn, peer_qpn;	  /* 0 = there is no way back: datagrams */
	uint8_t transport;	  /* the class of its opcodes */
	uint64_t packets, requests, responses, acks, payload_bytes;
	uint64_t naks_seq, naks_other, rnr, cnp, ce, icrc_good, icrc_bad, icrc_unverifiable;
	uint64_t fault[CAPGEN_FAULTS]; /* bursts */
	uint64_t lost_psns;	       /* before the capture, tails of timeouts included */
	uint64_t tail_psns;	       /* of them: the tails, which leave no gap to be seen */
	uint64_t lost_after_psns;
	uint64_t broken_psns; /* captured with a bad ICRC; UC too */
	uint64_t silent_psns; /* lost by UC */
	uint64_t missed_psns; /* by the capture alone */
	uint64_t resent;      /* requests sent a second time */
	uint64_t wasted;      /* PSNs sent again by go-back-N: refused to highest sent; timeouts */
	uint64_t copies, request_copies;
	uint64_t new_connections;
	/* What is to be read off the captured requests alone. */
	uint64_t gaps;	  /* jumps ahead */
	uint64_t missing; /* PSNs that were jumped over and never came */
	uint64_t again;	  /* requests captured before, copies left out */
	/* Sums: first request after the gap, where there is one to be seen, to NAK, NAK to resent
	 */
	uint64_t nak_ns, resend_ns;
	uint64_t held, held_ns; /* requests that waited for a pause to end, and for how long */
	uint64_t held_unknown;	/* untagged requests behind the first PFC frame */
	uint64_t cnp_span_ns, cnp_min_ns, cnp_last_ns;
	uint64_t cnp_close; /* less than 3 us behind another */
};

struct capgen_event {
	enum capgen_fault fault;
	uint32_t flow;	/* index */
	uint32_t psn;	/* the first that it hit */
	uint32_t count; /* requests that it hit */
	uint64_t frame; /* that shows it first, from 1 */
};

/* Of the pauses, by priority. A pause that nobody ended is seen to have run out by the next one. */
struct capgen_pauses {
	uint64_t pfc_frames, pause_frames, named[8], begun[8], ran_out[8];
	uint64_t ns[8];	     /* between frames of one pause */
	uint64_t longest[8]; /* ns, of one pause that was not left to run out */
};

/* Of the tunnels that number their packets: what the capture missed was lost by the mirror. */
struct capgen_mirrors {
	uint64_t packets, gaps, missing;
};

struct capgen_truth {
	/* Of the first `streams` flows, i ^ 1 is the way back; those behind them are to QP 1. */
	struct capgen_flow *flow;
	uint32_t flow_count, streams;
	struct capgen_pauses pauses;
	struct capgen_mirrors mirrors;
	struct capgen_event *event;
	uint32_t event_count;
	uint64_t frames;  /* all that were captured */
	uint64_t dropped; /* that the capture missed */
};

/* Takes one captured frame; not 0 ends the run with that. */
typedef int capgen_put(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		       uint64_t time_ns);

/* Makes a capture. truth is the caller's to clear, also after a failure. -ENOMEM, -EINVAL, or what
 * put() said. */
int capgen_run(const struct capgen_options *o, capgen_put *put, void *arg,
	       struct capgen_truth *truth);
void capgen_truth_clear(struct capgen_truth *truth);

/* "lost", "read_retry". */
const char *capgen_fault_name(enum capgen_fault fault);

/* "uc", "pauses", of the bit 1 << i. */
const char *capgen_mix_name(unsigned int i);

/* Makes a file, pcap or pcapng, both with nanoseconds. */
int capgen_write(const struct capgen_options *o, const char *path, bool pcapng,
		 struct capgen_truth *truth);

/* The truth as one JSON document. -ENOMEM or -EIO. */
int capgen_truth_print(const struct capgen_truth *truth, FILE *out);

#endif
