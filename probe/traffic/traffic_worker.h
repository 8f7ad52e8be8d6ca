/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of struct traffic, one endpoint. For traffic*.c only.
 *
 * A flow is one queue pair of a class on this host. Its requester fills slot n % slots with message
 * n and posts it; its responder has separate slots, in which message n arrives. A worker is a
 * thread with its flows, one CQ, one memory region, and one RC control queue pair: each host writes
 * a table with one credit slot per flow into the peer's memory (WRITE with immediate, for a
 * completion). A credit slot holds the messages that the responder credited (arrived, checked,
 * receive reposted), those that the requester completed (so that a plain WRITE can be checked), and
 * end flags. A slot is reused only after its credit: a check never races with the next message, and
 * a receive is always posted.
 *
 * Workers share no data while they run, except the first failure (written once), flags, and the
 * throttle of paced traffic (under its lock).
 */
#ifndef PROBE_TRAFFIC_WORKER_H
#define PROBE_TRAFFIC_WORKER_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>

#include "probe/traffic/traffic.h"
#include "probe/traffic/traffic_throttle.h"

#define TRAFFIC_GRACE_MS      9000u    /* deadline of the run, after duration_ms */
#define TRAFFIC_SILENCE_MS    5000u    /* a peer that is silent this long is gone */
#define TRAFFIC_STALL_RATE    4000000u /* bytes/s: slowest expected rate of outstanding bytes */
#define TRAFFIC_POST_LIST_MAX 16u      /* messages of a post list; the last is signaled */
#define TRAFFIC_GRH_BYTES     40u      /* before the payload of a UD receive */
#define TRAFFIC_SEEN_BITS     (2 * TRAFFIC_WINDOW_MAX)
#define TRAFFIC_RETRY_COUNT   6u  /* of ACK timeouts, and of RNR NAKs */
#define TRAFFIC_MIN_RNR_TIMER 12u /* 0.64 ms */
#define NS_PER_MS	      UINT64_C(1000000)

enum credit_flag {
	CREDIT_ENDED = 1,   /* the requester's `completed` is final */
	CREDIT_SEEN = 2,    /* the responder has received all messages */
	CREDIT_STOP = 4,    /* this host was stopped: the peer must stop too */
	CREDIT_FAILED = 8,  /* this host aborts */
	CREDIT_RESET = 16,  /* strict mode, requester: reset your queue pair to `psn` */
	CREDIT_RESUME = 32, /* responder: queue pair is reset */
};

/* State of a flow that one host sends to the other, little endian. The peer's values are hostile
 * input: each is range-checked. */
struct credit_slot {
	uint64_t credited;
	uint64_t completed;
	uint64_t mismatches;
	uint32_t flags;
	uint32_t epoch; /* of resets */
	uint32_t psn;
	uint32_t unused[7];
};
_Static_assert(sizeof(struct credit_slot) == 64, "a credit slot is a cache line");

enum qp_flow_state {
	QP_FLOW_LIVE,
	QP_FLOW_DRAINING, /* strict mode: waits for flushed work requests of the failed queue pair
			   */
	QP_FLOW_WAITING,  /* waits for the peer's queue pair */
};

struct tcp_load;
struct traffic_cm;
struct worker;

struct qp_requester {
	bool on;
	uint8_t *slot;
	struct ibv_send_wr *wr; /* `window` of them, linked in a ring when lists are posted */
	struct ibv_sge *sge;
	uint64_t *posted_ns; /* of each unit */
	uint64_t posted, completed, credited;
	uint64_t limit;	    /* messages to post, UINT64_MAX = until the time is over */
	bool ended;	    /* all posted and completed, and the peer is notified */
	bool seen;	    /* the peer has received all */
	uint32_t post_list; /* messages of a post list */
	uint32_t
		flight; /* limit of outstanding messages; the rest of the window waits for credit */
	bool prefilled; /* polled or paced: message `posted` is already in its slot */
	bool needs_credit;	    /* `credited` limits posting */
	bool stall_reported;	    /* the peer knows that all was sent and no credit arrived */
	struct pace pace;	    /* schedule of this queue pair within its class */
	uint64_t flight_was;	    /* bytes in flight last passed to the throttle */
	uint64_t progress_ns;	    /* time of the last completion, or of the first post after it */
	uint64_t progress_awake_ns; /* the same in the worker's awake time */
	uint64_t first_post_ns; /* strict probe: first post of the lost message; 0 = none lost */
	uint64_t returned;	/* atomics: the last returned value + 1 */
	struct ibv_ah *ah;
};

struct qp_responder {
	bool on;
	uint8_t *slot;
	struct ibv_recv_wr *wr; /* `receives` of them, linked in a ring; NULL = none */
	struct ibv_sge *sge;
	uint32_t receives; /* a power of two, 0 = the verb consumes none */
	uint64_t received; /* completions of receives */
	uint64_t reposted; /* receives posted again */
	uint64_t arrived;  /* messages; UC and UD: without duplicates */
	uint64_t next;	   /* UC and UD: after the highest sequence seen */
	uint64_t checked;  /* RC: of `arrived` */
	uint64_t credited;
	const uint8_t *due;	 /* class_polls(): address of the next message's stamp */
	uint8_t due_stamp;	 /* its expected value */
	uint64_t last_ns;	 /* time of the last arrival */
	uint64_t announced;	 /* completed by the requester, as the peer reports */
	uint64_t heard_awake_ns; /* last arrival or report of it, in the worker's awake time */
	bool ended;		 /* announced is final */
	bool done;		 /* the peer is notified that all arrived */
	uint64_t seen[TRAFFIC_SEEN_BITS / 64]; /* UC and UD: bit n % size, of [next - size, next) */
};

struct qp_flow {
	struct worker *worker;
	const struct traffic_class *class;
	unsigned int class_index, number; /* within the class */
	uint32_t index;			  /* among all flows; in the pattern */
	uint32_t at;			  /* within the worker; in wr_id and of the credit slot */
	struct ibv_qp *qp;		  /* XRC: sending queue pair, NULL = none */
	struct ibv_qp *target;		  /* XRC: receiving queue pair */
	struct ibv_srq *srq;		  /* of `target`; NULL: receives are posted to `qp` */
	struct traffic_qp self, remote;
	uint32_t slots, stride, window;
	enum qp_flow_state state;
	bool dead; /* an unrecovered error was recorded */
	uint32_t epoch;
	uint64_t since_ns; /* start of a state other than QP_FLOW_LIVE */
	struct qp_requester tx;
	struct qp_responder rx;
	struct traffic_class_result *result; /* of the worker and class */
};

struct worker {
	struct traffic *t;
	unsigned int index;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint8_t *memory;
	size_t memory_bytes;
	struct ibv_mr *mr;
	struct qp_flow *flow; /* owned */
	unsigned int flow_count;
	unsigned int first; /* flow that is first in the next turn: rotates, for fairness */
	struct ibv_qp *control;
	struct traffic_qp control_self, control_remote;
	struct credit_slot *out, *in; /* flow_count each: own slots, and those the peer writes */
	struct ibv_mr *out_mr, *in_mr;
	uint32_t control_receives;
	unsigned int control_under_way;
	uint64_t control_messages;	     /* sent so far, each of the whole table */
	bool dirty;			     /* `out` has unsent changes */
	struct traffic_class_result *result; /* owned: of each class */
	uint64_t now_ns, heard_ns, control_sent_ns;
	uint64_t awake_ns; /* sum of turns; a long turn, without CPU, counts only in part */
	uint64_t next_ns;  /* time at which a paced flow is due */
	uint64_t first_ns, last_ns;
	uint64_t progress_ns;	    /* last completion, or last time without outstanding work */
	uint64_t progress_awake_ns; /* last completion, in awake time */
	uint64_t stopped_ns;	    /* time of the stop */
	bool ending;		    /* no more messages */
	bool armed, over;
	pthread_t thread;
	bool started;
};

struct traffic {
	struct traffic_spec spec;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd; /* NULL: no class is XRC */
	struct ibv_device_attr limits;
	struct traffic_memory memory;
	struct traffic_endpoint self;
	uint8_t remote_gid[16];
	uint16_t remote_cm_port;
	struct traffic_cm *cm; /* owned; NULL: connected by raw verbs */
	struct tcp_load *tcp;  /* owned; NULL: no TCP streams */
	uint32_t mtu;	       /* IB MTU in use, bytes; 0 = not connected */
	bool soft;	       /* Soft-RoCE */
	long processors;       /* online CPUs of the host */
	struct worker *worker; /* owned: spec.threads of them */
	struct throttle throttle;
	uint64_t start_ns, end_ns, deadline_ns;
	atomic_bool stopping, failed;
	atomic_uint running;
	int wake_fd;		       /* a worker writes to it when it ends */
	pthread_mutex_t lock;	       /* protects report */
	struct traffic_report *report; /* during the run */
};

/* Returns flow n: QP n belongs to worker n % threads on both hosts. */
struct qp_flow *traffic_qp_flow(const struct traffic *t, unsigned int index);
uint32_t traffic_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu traffic_mtu_code(uint32_t bytes);

/* Open the device of spec.ibdev; then its protection domain, and check dma-buf support. */
int traffic_open_context(struct traffic *t, struct err *e);
int traffic_open_domain(struct traffic *t, struct err *e);
/* Does both, and checks port and GID in between; fills self.gid and self.mtu. */
int traffic_open_device(struct traffic *t, struct err *e);
/* Allocates and registers memory, in huge pages if requested and available. */
int traffic_map(struct traffic *t, size_t bytes, int access, uint8_t **memory, size_t *mapped,
		struct ibv_mr **mr, struct err *e);
/* Sets the error of a failed registration. */
int traffic_memory_error(const struct traffic *t, int err, size_t bytes, struct err *e);
/* Pins the calling thread to the worker's core of the NIC's NUMA node; ignores errors. */
void traffic_pin(const struct traffic *t, unsigned int worker);

uint32_t traffic_random_psn(void);
/* Returns the outstanding READs and atomics of a queue pair, within this limit of the device. */
uint8_t traffic_read_depth(int limit);
/* Moves a queue pair of t to a state; step is its name in errors. */
int traffic_set_state(struct traffic *t, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      const char *step, struct err *e);
/* Create queue pairs, and connect them to the peer's (RTS). */
int traffic_open_queues(struct worker *w, struct err *e);
int qp_flow_connect(struct qp_flow *f, struct err *e);
int traffic_connect_control(struct worker *w, struct err *e);
/* Returns the class whose marking the control queue pair uses; borrowed from the spec. */
const struct traffic_class *traffic_control_class(const struct worker *w);
int qp_flow_reset(struct qp_flow *f, struct err *e);
int qp_flow_set_error(struct qp_flow *f, struct err *e); /* to ERROR: flushes all work requests */

/* XRC: check the device, open the XRC domain, create the receiving queue pair of a flow (INIT is
 * the next state). */
int traffic_check_xrc(const struct traffic *t, struct err *e);
int traffic_open_xrcd(struct traffic *t, struct err *e);
int qp_flow_open_target(struct qp_flow *f, struct err *e);
/* Destroys the shared receive queue of a flow, after its queue pairs. */
void qp_flow_close_srq(struct qp_flow *f);
/* Checks that the peer has the XRC queue pairs and receive queues of the flow. */
int qp_flow_check_xrc(const struct qp_flow *f, struct err *e);

#define TRAFFIC_HUGE_PAGE (2u << 20)

/* Finds the first GPU or accelerator below root ("" = this host) whose driver exports dma-buf, as
 * "driver address"; else false and "". */
bool gpu_find(const char *root, char *buf, size_t size);

/* Allocates pages, huge ones if requested and reserved, else ordinary ones. NULL: errno. */
void *traffic_pages(size_t *bytes, bool huge, bool *got_huge);

/* Queue pairs connected by rdma_cm, as in applications: the ToS then comes from RDMA_OPTION_ID_TOS,
 * default_roce_tos, or, on the passive side, from the REQ. RC only. Queue pairs are created here;
 * rdma_cm supplies their attributes. The server listens on the address of its GID while the
 * endpoint is open; the private data of a connection has the number of its queue pair. */

/* Starts to listen on the server: *port is for the peer (0 on a client). */
int traffic_cm_open(struct traffic *t, uint16_t *port, struct err *e);
void traffic_cm_close(struct traffic_cm *cm);

/* Connects all flows, one after the other, within 8 s. Both hosts call it, after the control queue
 * pairs are connected. Also reads the ToS of the queue pairs (tos_read of the results). */
int traffic_cm_connect(struct traffic *t, struct err *e);

/* Returns a descriptor that is readable when rdma_cm has an event; -1 without rdma_cm. */
int traffic_cm_fd(const struct traffic *t);
void traffic_cm_read_event(struct traffic *t);

/* Layout of a class, pure. */
bool class_needs_credit(const struct traffic_class *c);	 /* its requester waits for credits */
bool class_is_unreliable(const struct traffic_class *c); /* UC or UD */
uint32_t class_bytes(const struct traffic_class *c);	 /* of a message; atomics: 8 */
uint32_t class_window(const struct traffic_class *c);	 /* messages per QP without credit */
uint32_t class_flight(const struct traffic_class *c);	 /* of these, outstanding messages */
uint32_t class_slots(const struct traffic_class *c);	 /* of requester or responder */
uint32_t class_stride(const struct traffic_class *c);	 /* bytes of a slot */
uint32_t class_post_list(const struct traffic_class *c); /* messages of a post list */
/* Returns true for a latency probe of plain WRITE, whose responder polls its memory. The last byte
 * of a message is then a stamp, which the payload check excludes. */
bool class_polls(const struct traffic_class *c);
uint32_t class_body(const struct traffic_class *c); /* bytes that are checked */
uint8_t class_stamp(const struct traffic_class *c, uint64_t n);
/* Returns true if every byte of message n is filled and checked, false for its header only. */
bool class_checks_whole(const struct traffic_class *c, uint64_t n);
bool class_requests(const struct traffic_class *c, enum traffic_role role);
bool class_responds(const struct traffic_class *c, enum traffic_role role);

/* Layout of a worker's flows in its memory, and their work requests. */
size_t worker_bytes(const struct worker *w);
int worker_access(const struct worker *w);
int qp_flow_prepare(struct qp_flow *f, uint8_t **memory, struct err *e);
void qp_flow_set_remote(struct qp_flow *f); /* sets the peer's address, before the first post */
void qp_flow_clear(struct qp_flow *f);

/* Requester. */
void qp_flow_post(struct qp_flow *f);
/* class_polls(): posts the reply to the message that arrived, and records the time. */
void qp_flow_answer(struct qp_flow *f);
void qp_flow_completed(struct qp_flow *f, uint32_t at);
void qp_flow_read_credit(struct qp_flow *f, const struct credit_slot *in);
void qp_flow_update_flight(struct qp_flow *f); /* passes the bytes in flight to the throttle */
void qp_flow_finish(struct qp_flow *f); /* notifies the peer of a wait for credit, and of the end */

/* Responder. */
int qp_flow_post_receives(struct qp_flow *f, struct err *e); /* the first ones */
void qp_flow_received(struct qp_flow *f, const struct ibv_wc *wc);
/* class_polls(): replies to the next message if it has arrived, then accounts it. */
void qp_flow_poll(struct qp_flow *f);
void qp_flow_set_due(struct qp_flow *f);      /* sets address and stamp of the next message */
bool qp_flow_awaits(const struct qp_flow *f); /* true if class_polls() and a message is due */
void qp_flow_read_completed(struct qp_flow *f, const struct credit_slot *in);
void qp_flow_send_credit(struct qp_flow *f);
/* Counts the messages known to be missing, when the worker ends. */
void qp_flow_count_gaps(struct qp_flow *f);

/* Returns the offset of message n in the slots: it is in slot n % slots. */
static inline size_t qp_flow_offset(const struct qp_flow *f, uint64_t n)
{
	return (size_t)(n % f->slots) * f->stride;
}

/* Returns true if the next message has arrived; for tight polling loops. */
static inline bool qp_flow_has_arrived(const struct qp_flow *f)
{
	return __atomic_load_n(f->rx.due, __ATOMIC_ACQUIRE) == f->rx.due_stamp;
}

/* Strict mode: reconnect a queue pair that lost a packet. */
bool qp_flow_lost(struct qp_flow *f, const struct ibv_wc *wc);
void qp_flow_read_reset(struct qp_flow *f, const struct credit_slot *in);
void qp_flow_check_recovery(struct qp_flow *f);

/* Control queue pair. */
int control_prepare(struct worker *w, struct err *e);
int control_post_receives(struct worker *w, struct err *e);
void control_completed(struct worker *w, const struct ibv_wc *wc);
void control_flush(struct worker *w);

#define RETURNED_UNKNOWN UINT64_MAX /* atomics after a loss: it may have been executed */

/* wr_id: flow, and index in its ring. */
#define WR_CONTROL   UINT32_MAX
#define WR_ID(at, n) ((uint64_t)(at) << 32 | (uint32_t)(n))

/* Runs until the worker's flows have ended or the run has failed. */
void worker_run(struct worker *w);
bool worker_turn(struct worker *w); /* one turn; false if nothing completed */
void worker_read_clock(struct worker *w);
/* Returns the time without a completion after which the run fails. */
uint64_t worker_stall_timeout_ns(const struct worker *w);

/* Set the cause of the run, unless it has one. traffic_fail() also ends the run. */
void traffic_set_cause(struct traffic *t, enum traffic_cause cause, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void traffic_fail(struct traffic *t, enum traffic_cause cause, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* Counts a wrong message n of a flow; the first one becomes the cause of the run. */
void qp_flow_mismatch(struct qp_flow *f, uint64_t n, const char *what, uint64_t offset);
/* Compares message n of a flow, at p, with its pattern, that of slot n % slots; READ: with the
 * pattern in that slot of the peer. */
void qp_flow_check(struct qp_flow *f, uint64_t n, const uint8_t *p);
void traffic_note_failure(struct qp_flow *f, const struct ibv_wc *wc, bool recovered);
/* Records the state of a flow that has not ended when its worker ends, if the run's cause does not
 * explain it. */
void traffic_note_stall(const struct qp_flow *f);
void traffic_completion_error(struct worker *w, struct qp_flow *f, const struct ibv_wc *wc);
void traffic_read_async_event(struct traffic *t);

#endif
