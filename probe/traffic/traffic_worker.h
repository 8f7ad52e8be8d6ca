/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of struct traffic: one end. For traffic*.c only.
 *
 * A flow is one queue pair of a class at this end. Its requester half fills slot n % slots with
 * message n and posts it; its responder half has slots of its own, in which message n arrives. A
 * worker is a thread with the flows that are its own, one CQ, one memory region, and one RC queue
 * pair for control: each end writes a table of cells, one a flow, into the other's memory (WRITE
 * with immediate, so that it is noticed). A cell says how many messages the responder granted
 * (arrived, checked, and received for again), how many the requester completed (so that a plain
 * WRITE can be checked), and whether it has ended. A slot is used again only after it was granted:
 * a check never races with the next message, and a receive is always there.
 *
 * A worker touches nothing of another one while it runs; what they share is written once (the first
 * failure), read as a flag, or behind the lock of the throttle, which holds paced traffic.
 */
#ifndef PROBE_TRAFFIC_WORKER_H
#define PROBE_TRAFFIC_WORKER_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>

#include "probe/traffic/traffic.h"
#include "probe/traffic/traffic_throttle.h"

#define TRAFFIC_GRACE_MS      9000u    /* after duration_ms: our own deadline */
#define TRAFFIC_SILENCE_MS    5000u    /* nothing from the peer for so long: it is gone */
#define TRAFFIC_STALL_RATE    4000000u /* bytes/s: what is under way comes at least so fast */
#define TRAFFIC_POST_LIST_MAX 16u      /* messages of a post list; the last is signaled */
#define TRAFFIC_GRH_BYTES     40u      /* ahead of what UD receives */
#define TRAFFIC_SEEN_BITS     (2 * TRAFFIC_WINDOW_MAX)
#define NS_PER_MS	      UINT64_C(1000000)

enum credit_flag {
	CREDIT_ENDED = 1,   /* the requester's `completed` is final */
	CREDIT_SEEN = 2,    /* the responder has all of it */
	CREDIT_STOP = 4,    /* this end was told to stop: end your half too */
	CREDIT_FAILED = 8,  /* this end gives up */
	CREDIT_RESET = 16,  /* strict mode, requester: take your queue pair to `psn` */
	CREDIT_RESUME = 32, /* responder: it is there */
};

/* What one end tells of a flow, in host order of little endian machines as in the memory of both.
 * The peer's is hostile: each number is compared with what it can be. */
struct credit_slot {
	uint64_t credited;
	uint64_t completed;
	uint64_t mismatches;
	uint32_t flags;
	uint32_t epoch; /* of resets */
	uint32_t psn;
	uint32_t unused[7];
};
_Static_assert(sizeof(struct credit_slot) == 64, "a cell is a cache line");

enum qp_flow_state {
	QP_FLOW_LIVE,
	QP_FLOW_DRAINING, /* strict mode: waits for what the dead queue pair gives back */
	QP_FLOW_WAITING,  /* for the peer's queue pair */
};

struct tcp_load;
struct traffic_cm;
struct worker;

/* The requester half. */
struct qp_requester {
	bool on;
	uint8_t *slot;
	struct ibv_send_wr *wr; /* `window` of them, linked in a ring when lists are posted */
	struct ibv_sge *sge;
	uint64_t *posted_ns; /* of each unit */
	uint64_t posted, completed, credited;
	uint64_t limit;	    /* messages to post, UINT64_MAX = by time */
	bool ended;	    /* nothing more is posted, all is complete, the peer was told */
	bool seen;	    /* the peer has it all */
	uint32_t post_list; /* messages of a post list */
	uint32_t flight; /* messages under way, at most; the rest of the window waits for grants */
	bool prefilled;	 /* polled or paced: message `posted` lies in its slot */
	bool needs_credit;	    /* `granted` limits what is posted */
	bool stall_reported;	    /* the peer knows that all was sent and nothing is granted */
	struct pace pace;	    /* of a class of many queue pairs: each has its turn */
	uint64_t flight_was;	    /* bytes under way, as the throttle was told */
	uint64_t progress_ns;	    /* of the last completion, or the first post after it */
	uint64_t progress_awake_ns; /* the same, by the worker's waking time */
	uint64_t first_post_ns; /* strict probe: when it first posted what was lost; 0 = nothing was
				 */
	uint64_t returned;	/* atomics: the number that came back last, + 1 */
	struct ibv_ah *ah;
};

/* The responder half. */
struct qp_responder {
	bool on;
	uint8_t *slot;
	struct ibv_recv_wr *wr; /* `receives` of them, linked in a ring; NULL: none are needed */
	struct ibv_sge *sge;
	uint32_t receives; /* a power of two, 0 = the verb consumes none */
	uint64_t received; /* completions of receives */
	uint64_t reposted; /* receives posted again */
	uint64_t arrived;  /* messages; UC and UD: different ones */
	uint64_t next;	   /* UC and UD: after the highest sequence seen */
	uint64_t checked;  /* RC: of `arrived` */
	uint64_t credited;
	const uint8_t *due;	 /* class_polls(): where the next one's stamp will be */
	uint8_t due_stamp;	 /* and which */
	uint64_t last_ns;	 /* of an arrival */
	uint64_t announced;	 /* completed there, as the peer says */
	uint64_t heard_awake_ns; /* arrival or news of it, by the worker's waking time */
	bool ended;		 /* announced is final */
	bool done;		 /* told the peer that all was seen */
	uint64_t seen[TRAFFIC_SEEN_BITS / 64]; /* UC and UD: bit n % size, of [next - size, next) */
};

struct qp_flow {
	struct worker *worker;
	const struct traffic_class *class;
	unsigned int class_index, number; /* within the class */
	uint32_t index;			  /* of all flows: in the pattern */
	uint32_t at;			  /* within the worker: in wr_id and of the cell */
	struct ibv_qp *qp;		  /* of XRC: that sends; NULL when this end does not */
	struct ibv_qp *target;		  /* XRC: that receives */
	struct ibv_srq *srq;		  /* of `target`; NULL: receives are posted to `qp` */
	struct traffic_qp self, remote;
	uint32_t slots, stride, window;
	enum qp_flow_state state;
	bool dead; /* an error that is not recovered was noted */
	uint32_t epoch;
	uint64_t since_ns; /* of a state but QP_FLOW_LIVE */
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
	unsigned int first; /* of them in the next turn: all that are late are first once */
	struct ibv_qp *control;
	struct traffic_qp control_self, control_remote;
	struct credit_slot *out, *in; /* flow_count of each: ours, and what the peer writes */
	struct ibv_mr *out_mr, *in_mr;
	uint32_t control_receives;
	unsigned int control_under_way;
	uint64_t control_messages;	     /* sent so far, each of the whole table */
	bool dirty;			     /* `out` has news */
	struct traffic_class_result *result; /* owned: of each class */
	uint64_t now_ns, heard_ns, control_sent_ns;
	uint64_t awake_ns; /* of turns, a long one, in which the host stood still, is cut */
	uint64_t next_ns;  /* when a paced flow is due */
	uint64_t first_ns, last_ns;
	uint64_t progress_ns;	    /* of a completion, or when nothing was under way */
	uint64_t progress_awake_ns; /* of a completion */
	uint64_t stopped_ns;	    /* when it was told to stop */
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
	struct tcp_load *tcp;  /* owned; NULL: without a TCP background */
	uint32_t mtu;	       /* IB MTU in use, bytes; 0 = not connected */
	bool soft;	       /* no hardware behind the device */
	long processors;       /* of the host that work now */
	struct worker *worker; /* owned: spec.threads of them */
	struct throttle throttle;
	uint64_t start_ns, end_ns, deadline_ns;
	atomic_bool stopping, failed;
	atomic_uint running;
	int wake_fd;		       /* a worker that ends writes to it */
	pthread_mutex_t lock;	       /* of what follows */
	struct traffic_report *report; /* while it runs */
};

/* Flow n of all: QP n belongs to worker n % threads, at both ends. */
struct qp_flow *traffic_qp_flow(const struct traffic *t, unsigned int index);
uint32_t traffic_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu traffic_mtu_code(uint32_t bytes);

/* The device of spec.ibdev; then its protection domain, and what memory it takes. */
int traffic_open_context(struct traffic *t, struct err *e);
int traffic_open_domain(struct traffic *t, struct err *e);
/* Both with the port and GID between; fills self.gid and self.mtu. */
int traffic_open_device(struct traffic *t, struct err *e);
/* Memory that is registered, from huge pages when wished and there. */
int traffic_map(struct traffic *t, size_t bytes, int access, uint8_t **memory, size_t *mapped,
		struct ibv_mr **mr, struct err *e);
/* For a registration that failed. */
int traffic_memory_error(const struct traffic *t, int err, size_t bytes, struct err *e);
/* The calling thread on the worker's core of the NIC's node; what cannot be is left. */
void traffic_pin(const struct traffic *t, unsigned int worker);

uint32_t traffic_random_psn(void);
/* Any queue pair of t to a state, which errors call step. */
int traffic_set_state(struct traffic *t, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      const char *step, struct err *e);
/* Queue pairs: made, and to RTS towards the peer's. */
int traffic_open_queues(struct worker *w, struct err *e);
int qp_flow_connect(struct qp_flow *f, struct err *e);
int traffic_connect_control(struct worker *w, struct err *e);
/* Whose marking the control queue pair has; borrowed from the spec. */
const struct traffic_class *traffic_control_class(const struct worker *w);
int qp_flow_reset(struct qp_flow *f, struct err *e);
int qp_flow_set_error(struct qp_flow *f, struct err *e); /* to ERROR: all comes back */

/* XRC, where a class is that: whether the device has it, the domain of its receive queues, and what
 * receives of a flow (INIT is next). */
int traffic_check_xrc(const struct traffic *t, struct err *e);
int traffic_open_xrcd(struct traffic *t, struct err *e);
int qp_flow_open_target(struct qp_flow *f, struct err *e);
/* What a flow has received with, after its queue pairs are gone. */
void qp_flow_close_srq(struct qp_flow *f);
/* The peer's queue pairs and receive queues are there. */
int qp_flow_check_xrc(const struct qp_flow *f, struct err *e);

#define TRAFFIC_HUGE_PAGE (2u << 20)

/* The first PCI device below root ("" = this host) whose driver exports dma-buf from memory of a
 * GPU or accelerator, as "driver address"; false and "": none. */
bool gpu_find(const char *root, char *buf, size_t size);

/* Pages of so many bytes, huge ones where wished and reserved, else ordinary ones. NULL: errno. */
void *traffic_pages(size_t *bytes, bool huge, bool *got_huge);

/* Queue pairs connected by rdma_cm, as applications do: the traffic class then takes another way
 * (RDMA_OPTION_ID_TOS, default_roce_tos, the REQ that the passive side inherits it from) than the
 * one of raw verbs. RC alone; the queue pairs are ours, rdma_cm says what is to be set in them. The
 * server listens on the address of its GID while the end is open; the queue pair of a connection is
 * told by number in its private data. */

/* The server begins to listen: *port is for the peer (0 at a client). */
int traffic_cm_open(struct traffic *t, uint16_t *port, struct err *e);
void traffic_cm_close(struct traffic_cm *cm);

/* All flows, one after the other; at most 8 s. Both ends call it, with the control queue pairs
 * connected: then it also asks which ToS the queue pairs have got (tos_read of the results). */
int traffic_cm_connect(struct traffic *t, struct err *e);

/* Readable when rdma_cm has something to say; -1 without it. */
int traffic_cm_fd(const struct traffic *t);
void traffic_cm_read_event(struct traffic *t);

/* Pure: how a class is laid out. */
bool class_needs_credit(const struct traffic_class *c);	 /* its requester waits for grants */
bool class_is_unreliable(const struct traffic_class *c); /* UC or UD */
uint32_t class_bytes(const struct traffic_class *c);	 /* of a message, 8 of an atomic */
uint32_t class_window(const struct traffic_class *c); /* messages of a QP that are not done with */
uint32_t class_flight(const struct traffic_class *c); /* those of them that are under way */
uint32_t class_slots(const struct traffic_class *c);  /* a half's memory, in messages */
uint32_t class_stride(const struct traffic_class *c); /* bytes of a slot */
uint32_t class_post_list(const struct traffic_class *c); /* messages of a post list */
/* A latency probe of plain WRITE: its responder looks at its memory, as nothing else tells it. The
 * last byte of a message is then a stamp, and what is checked ends before it. */
bool class_polls(const struct traffic_class *c);
uint32_t class_body(const struct traffic_class *c); /* bytes that are checked */
uint8_t class_stamp(const struct traffic_class *c, uint64_t n);
/* Every byte of message n is made and looked at; else its header alone. */
bool class_checks_whole(const struct traffic_class *c, uint64_t n);
bool class_requests(const struct traffic_class *c, enum traffic_role role);
bool class_responds(const struct traffic_class *c, enum traffic_role role);

/* Layout of a worker's flows in its memory, and their work requests. */
size_t worker_bytes(const struct worker *w);
int worker_access(const struct worker *w);
int qp_flow_prepare(struct qp_flow *f, uint8_t **memory, struct err *e);
void qp_flow_set_remote(struct qp_flow *f); /* the peer's address, before anything is posted */
void qp_flow_clear(struct qp_flow *f);

/* The requester half. */
void qp_flow_post(struct qp_flow *f);
/* class_polls(): posts the answer to what has just come, and takes the time. */
void qp_flow_answer(struct qp_flow *f);
void qp_flow_completed(struct qp_flow *f, uint32_t at);
void qp_flow_read_credit(struct qp_flow *f, const struct credit_slot *in);
void qp_flow_update_flight(struct qp_flow *f); /* what is under way has changed */
void qp_flow_finish(struct qp_flow *f); /* tells the peer what it needs to go on, and the end */

/* The responder half. */
int qp_flow_post_receives(struct qp_flow *f, struct err *e); /* the first ones */
void qp_flow_received(struct qp_flow *f, const struct ibv_wc *wc);
/* class_polls(): whether the next one is there; it is answered, then taken. */
void qp_flow_poll(struct qp_flow *f);
void qp_flow_set_due(struct qp_flow *f);      /* from now on the next one is due */
bool qp_flow_awaits(const struct qp_flow *f); /* such a flow, and one is due */
void qp_flow_read_completed(struct qp_flow *f, const struct credit_slot *in);
void qp_flow_send_credit(struct qp_flow *f);
/* The worker ends, whatever has come: what is known to be missing is counted. */
void qp_flow_count_gaps(struct qp_flow *f);

/* The same as qp_flow_poll() asks, alone: what a loop does nothing but. */
static inline bool qp_flow_has_arrived(const struct qp_flow *f)
{
	return __atomic_load_n(f->rx.due, __ATOMIC_ACQUIRE) == f->rx.due_stamp;
}

/* Strict mode: a queue pair that lost a packet is made anew. */
bool qp_flow_lost(struct qp_flow *f, const struct ibv_wc *wc);
void qp_flow_read_reset(struct qp_flow *f, const struct credit_slot *in);
void qp_flow_check_recovery(struct qp_flow *f);

/* Control. */
int control_prepare(struct worker *w, struct err *e);
int control_post_receives(struct worker *w, struct err *e);
void control_completed(struct worker *w, const struct ibv_wc *wc);
void control_flush(struct worker *w);

#define RETURNED_UNKNOWN UINT64_MAX /* atomics after a loss: it may have been done */

/* wr_id: who it is, and where in the ring. */
#define WR_CONTROL   UINT32_MAX
#define WR_ID(at, n) ((uint64_t)(at) << 32 | (uint32_t)(n))

/* Until the worker's flows have ended or the run has failed. */
void worker_run(struct worker *w);
bool worker_turn(struct worker *w); /* one round of it; false: nothing had come */
void worker_read_clock(struct worker *w);
/* For so long nothing may complete of what is under way; then the run is given up. */
uint64_t worker_stall_timeout_ns(const struct worker *w);

/* The run has a cause; the first one counts. traffic_fail() also ends it. */
void traffic_set_cause(struct traffic *t, enum traffic_cause cause, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void traffic_fail(struct traffic *t, enum traffic_cause cause, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* Message n of a flow is wrong: counted, and blamed when it is the flow's first. */
void qp_flow_mismatch(struct qp_flow *f, uint64_t n, const char *what, uint64_t offset);
/* What came as message n of a flow, at p, against its pattern: that of slot n % slots, and of READ
 * the one that stands in that slot of the other end. */
void qp_flow_check(struct qp_flow *f, uint64_t n, const uint8_t *p);
void traffic_note_failure(struct qp_flow *f, const struct ibv_wc *wc, bool recovered);
/* Of a flow that has not ended, when the worker has: kept where the run's cause does not say why.
 */
void traffic_note_stall(const struct qp_flow *f);
void traffic_completion_error(struct worker *w, struct qp_flow *f, const struct ibv_wc *wc);
void traffic_read_async_event(struct traffic *t);

#endif
