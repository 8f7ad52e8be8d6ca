/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the load of a probe: a pure function over the request, the reports of both ends of each
 * pair, and the counters of the ports. Writes findings of the rule table; causes with different
 * next steps are separate rules or have their own advice. Missing evidence is never a pass.
 *
 * Adding a reason: a value, its row in traffic_verdict.c, and a rule where none says the same.
 */
#ifndef REPORTS_TRAFFIC_VERDICT_H
#define REPORTS_TRAFFIC_VERDICT_H

#include "probe/marking/marking_findings.h"
#include "probe/record/run_port.h"
#include "probe/traffic/traffic.h"
#include "reports/engine/rule.h"
#include "reports/rules/prio_arrival.h"

#define VERDICT_ENDS_MAX 64
#define VERDICT_NOWHERE	 (-1)

enum reason_kind {
	REASON_NONE,
	/* lost, wrong, or dead */
	REASON_WRONG_DATA,
	REASON_LOST,	       /* on the fabric, for all that can be told */
	REASON_LOST_IN_SENDER, /* lost while the sending host itself failed to send */
	REASON_HOST_DISCARD,   /* crossed the fabric, dropped by the receiving host */
	REASON_CORRUPTION,     /* bad ICRC or FCS */
	REASON_QP_FAILED,      /* local or remote error of a queue pair */
	REASON_LINK_DOWN,
	REASON_WRONG_PRIORITY, /* arrived in another priority than it was sent for */
	REASON_RNR_DIED,       /* a queue pair gave up on a receiver that was not ready */
	REASON_STALLED,	       /* our own deadline passed */
	REASON_NOT_MARKED,     /* rdma_cm gave the queue pair another ToS than was asked for */
	REASON_REMARKED,       /* DSCP or ECN bits were changed on the way */
	REASON_DATAGRAMS_LOST, /* datagrams of the marking echo did not come */
	REASON_PATH_MTU,       /* the way has a smaller MTU than both ports */
	/* worth a look */
	REASON_RNR,	       /* the receiver was not ready */
	REASON_SPURIOUS_PAUSE, /* retries while the port was paused, nothing out of sequence */
	REASON_SPURIOUS,       /* retries of Soft-RoCE's own timer */
	REASON_TIMEOUTS,       /* retries without a gap: tail, ACK, or a long wait */
	REASON_ACKS_LOST,      /* fewer packets came than were sent, and nobody retransmitted */
	REASON_REORDERED,
	REASON_SEND_ERRORS,   /* the host itself could not send at once */
	REASON_PORT_DISCARDS, /* dropped by the host, of any protocol */
	REASON_BAD_PACKETS,   /* packets or symbols of no use */
	REASON_LONG_PAUSE,
	REASON_STORM,
	REASON_CNP_IGNORED,
	REASON_REFUSED,
	REASON_IDLE_LOSS, /* the same counters grew before our traffic */
	REASON_UNSTEADY,
	REASON_TAIL,
	REASON_SLOW,	 /* unpaced, below the link's speed */
	REASON_CE_IDLE,	 /* marked CE while nothing of ours was loading the way */
	REASON_PRESSURE, /* receive buffers or PCIe were nearly full */
	/* cannot be told */
	REASON_NO_COUNTERS,
	REASON_RESET,
	REASON_FOREIGN,
	REASON_NOT_STRESSED,
	REASON_ALIKE, /* classes moved as much as each other: a swap would not show */
	REASON_PACE,
	REASON_NOTHING,	    /* no byte moved */
	REASON_BACKGROUND,  /* the TCP that was wished beside it was not there */
	REASON_UNACCOUNTED, /* an end tells of less than was asked for, or sent */
	REASON_REMOTE_GONE,
	REASON_ABORTED,
	REASON_UNSEEN, /* the marking as it arrived could not be read */
	/* said, and no more */
	REASON_ACCOUNTED, /* retries, but every packet sent is known to have come */
	REASON_USERS,	  /* others used the port */
	REASON_COUNT,
};

struct reason_info {
	const char *word;     /* "lost": JSON, stable for ever */
	const char *cause;    /* "fabric-loss": the group that shares a next step */
	enum verdict verdict; /* of the reason in JSON, and of the whole */
	const char *rule;     /* "RC-TRN-001" */
	const char *advice;   /* NULL: that of the rule */
	/* Evidence that is missing by this reason: its rule is a warning, and RC-TRN-001 of the
	 * port is INCONCLUSIVE with this text. */
	const char *weakens;
	unsigned int classes; /* 1 << enum metric_class: counters that are its evidence */
};
extern const struct reason_info reason_table[REASON_COUNT];

struct traffic_verdict {
	enum verdict verdict; /* FAIL, then INCONCLUSIVE, WARN, PASS */
	struct findings findings;
};

/* One flow of classes between two ports. Reports may be NULL: that end did not answer. */
struct verdict_pair {
	const struct traffic_spec *spec;
	unsigned int client, server; /* indices of ends */
	const struct traffic_report *client_report, *server_report;
	const struct run_marking *echo; /* NULL: no marking echo, or none to judge */
	const char *echo_failed;	/* why it was not done; NULL = it was, or not wished */
};

/* A port of a load, with its readings. */
struct verdict_end {
	const char *host;
	const struct run_port *port;
};

/* Borrowed for the call. */
struct verdict_input {
	const struct verdict_end *end;
	unsigned int end_count; /* at most VERDICT_ENDS_MAX */
	/* By end: where the classes arrived (prio_arrival_check()). NULL, or entries are: not
	 * looked at. */
	const struct prio_arrival *const *arrival;
	const struct verdict_pair *pair;
	unsigned int pair_count;
	uint8_t lossless; /* priorities that must not lose; 0: all of them */
	uint8_t tcp;	  /* priorities that TCP backgrounds went in too: what is dropped there is
			   * not known to be RoCE */
	bool incast;	  /* congestion was meant: without any sign of it nothing was tested */
	bool aborted;	  /* stopped before its time */
	/* The last reading was taken while all queue pairs were still there, and nobody else sends
	 * RoCE to these ports: then Soft-RoCE's packets sent and received must be equal. */
	bool accountable;
};

/* Fills *v, which the caller clears. Causes are not linked yet. -EINVAL for indices out of range,
 * -ENOMEM. */
int traffic_verdict_make(const struct verdict_input *in, struct traffic_verdict *v, struct err *e);
void traffic_verdict_clear(struct traffic_verdict *v);

/* The graver one: FAIL, then INCONCLUSIVE, WARN, PASS. */
enum verdict traffic_verdict_graver(enum verdict a, enum verdict b);

/* Verdict of a finding's reason: INCONCLUSIVE also where the finding is a warning about evidence.
 */
enum verdict traffic_reason_verdict(const struct finding *f);

bool traffic_verdict_has(const struct traffic_verdict *v, enum reason_kind kind);

/* The reasons, the gravest first: {"verdict": "FAIL", "reasons": [{"reason", "cause", "verdict",
 * "rule", "host", "port", "class", "text", "advice"}, ..], "more": 0}. NULL on -ENOMEM. */
json_t *traffic_verdict_to_json(const struct traffic_verdict *v);

#endif
