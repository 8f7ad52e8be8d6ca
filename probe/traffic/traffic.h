/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA traffic between two hosts, in classes: each has a marking, a transport, a verb, a number of
 * queue pairs, a rate and a way to check what arrived. One struct traffic is one end; what the two
 * ends need from each other (struct traffic_endpoint) is carried by somebody else. Both ends are
 * opened with the same spec but for role, device, port, GID index, and marking. Host memory only.
 */
#ifndef PROBE_TRAFFIC_H
#define PROBE_TRAFFIC_H

#include <jansson.h>
#include <stdatomic.h>

#include "probe/traffic/histogram.h"
#include "probe/traffic/rate_series.h"
#include "profiles/base/base.h"

#define TRAFFIC_CLASSES_MAX	16u
#define TRAFFIC_QPS_MAX		256u /* of all classes */
#define TRAFFIC_THREADS_MAX	32u
#define TRAFFIC_FAILURES_MAX	16u
#define TRAFFIC_STALLS_MAX	16u
#define TRAFFIC_MESSAGE_MIN	2u
#define TRAFFIC_CHECKED_MIN	64u /* a smaller one has no room for what is checked */
#define TRAFFIC_MESSAGE_MAX	(8u << 20)
#define TRAFFIC_WINDOW_MAX	4096u
#define TRAFFIC_DURATION_MAX_MS (24u * 3600 * 1000)
/* Under way towards one receiver at a rate, at most: over all senders, their classes and queue
 * pairs. What a switch port has to take when none of it is drained. */
#define TRAFFIC_FLIGHT_BYTES (256u << 10)
#define TRAFFIC_SENDERS_MAX  1024u
#define TRAFFIC_RATE_MAX     (UINT64_C(1) << 40) /* bytes/s */
#define TRAFFIC_TCP_MAX	     4u
#define TRAFFIC_STREAMS_MAX  64u /* of each of them */

/* Which operation the requester posts. An atomic is FETCH_ADD of 8 bytes. */
enum traffic_verb {
	TRAFFIC_WRITE,
	TRAFFIC_SEND,
	TRAFFIC_WRITE_IMM,
	TRAFFIC_READ,
	TRAFFIC_SEND_IMM,
	TRAFFIC_ATOMIC,
	TRAFFIC_VERBS,
};

enum traffic_transport {
	TRAFFIC_RC,
	TRAFFIC_UC,  /* no READ, no atomics */
	TRAFFIC_UD,  /* SEND of one packet alone */
	TRAFFIC_XRC, /* as RC; not every device has it */
	TRAFFIC_TRANSPORTS,
};

enum traffic_role {
	TRAFFIC_CLIENT, /* what forward starts from */
	TRAFFIC_SERVER,
};

enum traffic_direction {
	TRAFFIC_FORWARD,  /* the client is the requester */
	TRAFFIC_BACKWARD, /* the server is */
	TRAFFIC_BOTH,	  /* both are, on each queue pair */
};

enum traffic_mode {
	TRAFFIC_OBSERVE, /* RC as in production: loss is repaired and shows in counters */
	TRAFFIC_STRICT,	 /* RC that never repeats: a lost packet is an event with its time */
	TRAFFIC_COUNT,	 /* UC and UD: gaps in the sequence are counted */
};

enum traffic_check {
	TRAFFIC_CHECK_NONE,    /* bytes are not looked at */
	TRAFFIC_CHECK_SAMPLED, /* the header of each message, every byte of each 16th */
	TRAFFIC_CHECK_EVERY,   /* every byte */
};

enum traffic_bringup {
	TRAFFIC_RAW, /* queue pair data goes through struct traffic_endpoint */
	TRAFFIC_CM,  /* rdma_cm */
};

/* Why a run ended early. Kept apart because each has another next step. */
enum traffic_cause {
	CAUSE_NONE,
	CAUSE_RETRY_EXCEEDED, /* no answer: loss, wrong path, peer gone */
	CAUSE_RNR,	      /* receiver posted nothing: host, not fabric */
	CAUSE_REMOTE,	      /* remote access or operation error */
	CAUSE_LOCAL,	      /* local QP, memory or length error */
	CAUSE_PORT_DOWN,
	CAUSE_REMOTE_GONE, /* the other end vanished */
	CAUSE_DATA,	   /* delivered bytes are wrong */
	CAUSE_TIMEOUT,	   /* our own deadline passed */
	CAUSE_UNFINISHED,  /* stopped, and what was under way did not come to its end */
	CAUSE_COUNT,
};

/* Traffic of one kind. Zero is RC WRITE forward, flat out, unchecked; qps and size are needed. */
struct traffic_class {
	uint8_t tos; /* traffic class byte of this end's QPs: DSCP << 2 | ECN */
	uint8_t sl;  /* service level: the priority, for NICs that trust PCP */
	enum traffic_transport transport;
	enum traffic_verb verb;
	enum traffic_direction direction;
	enum traffic_check check;
	bool probe; /* latency: one message under way, which the other end sends back */
	uint32_t qps;
	uint32_t message_bytes;	   /* an atomic: 8 of them are used */
	uint32_t window;	   /* messages under way on a QP, a power of two; 0 = chosen */
	uint64_t rate_bytes_per_s; /* of the class in one direction; 0 = as fast as it goes */
	uint64_t count;		   /* messages of each QP; 0 = by time */
	/* Of a class with a rate: under way at one sender, at most; traffic_spec_bound() makes it.
	 * 0 = no bound: flat out. */
	uint32_t flight_bytes;
};

/* TCP beside it, through the same ports: the background of a port that all share. */
struct traffic_tcp {
	uint8_t tos; /* of both ends: DSCP << 2; the ECN bits are TCP's own */
	enum traffic_direction direction;
	uint32_t streams;
	uint64_t rate_bytes_per_s; /* of all streams in one direction; 0 = as fast as it goes */
};

struct traffic_spec {
	enum traffic_role role;
	enum traffic_mode mode;
	enum traffic_bringup bringup;
	char ibdev[64];
	uint8_t ib_port;
	uint16_t gid_index;
	uint32_t
		duration_ms; /* at the latest; 0 = until stopped, or all classes have their count */
	uint64_t seed;	     /* of the pattern; the same on both ends */
	uint16_t mtu_bytes;  /* RDMA MTU of the queue pairs at most; 0 = what both ends have */
	uint8_t timeout;     /* ACK timeout code, 4.096 us * 2^t; 0 = by mode and driver */
	uint8_t threads;     /* that move data; QP n belongs to thread n % threads */
	bool pin;	     /* each thread to a core of the NIC's NUMA node */
	bool huge_pages;     /* where the system has some free */
	uint16_t senders;    /* towards the same receiver at the same time; 0 = 1, this one */
	unsigned int class_count;
	struct traffic_class class[TRAFFIC_CLASSES_MAX];
	unsigned int tcp_count; /* mostly none */
	struct traffic_tcp tcp[TRAFFIC_TCP_MAX];
};

/* One queue pair, and the memory behind it. Of XRC there is one that sends and one that receives: 0
 * where the end does not. */
struct traffic_qp {
	uint32_t qpn, psn;
	uint64_t addr; /* of the slots, for WRITE, READ and atomics; 0 = none */
	uint32_t rkey;
	uint32_t target_qpn; /* XRC: receives */
	uint32_t srqn;	     /* XRC: the receive queue that each request names */
};

/* What one end tells the other: queue pairs of the classes in their order, then one of each thread
 * for credits, whose memory is the table that the peer writes. */
struct traffic_endpoint {
	uint8_t gid[16];
	uint32_t mtu;			    /* IB MTU of the end, bytes; the smaller one is used */
	uint16_t cm_port;		    /* the server of rdma_cm listens on it; 0 = none */
	uint16_t tcp_port[TRAFFIC_TCP_MAX]; /* likewise that of each TCP background */
	unsigned int qp_count;
	struct traffic_qp qp[TRAFFIC_QPS_MAX + TRAFFIC_THREADS_MAX];
};

/* The memory that traffic is in: host memory, in ordinary or huge pages. Memory of a GPU is not
 * tested, and why is said: what the RDMA device offers, and whether there is a GPU to take it from.
 * Of one end. Zero: nothing is known, as of an end that gave no result. */
struct traffic_memory {
	uint64_t bytes;		  /* registered, all threads */
	uint64_t huge_bytes;	  /* of them in huge pages that were reserved */
	uint64_t registration_ns; /* what registering took */
	bool dmabuf;		  /* the device registers memory of a dma-buf */
	char gpu[64];		  /* "amdgpu 0000:03:00.0", whose driver exports dma-buf; or "" */
};

/* The sums of all classes. */
struct traffic_result {
	uint64_t messages; /* completed here as requester, and arrived here as responder */
	uint64_t bytes;
	uint64_t duration_ns;	/* first post or arrival to last completion */
	uint64_t checked_bytes; /* of them compared */
	uint64_t mismatches;	/* messages with a wrong byte, sequence or slot */
	/* Credits and signs of life that this end sent beside them; in no sum of the above. */
	uint64_t control_messages, control_bytes;
	uint32_t mtu; /* IB MTU in use */
	enum traffic_cause cause;
	char detail[160]; /* "RETRY_EXC_ERR after 1.2 s, message 381"; empty when cause is none */
};

/* What one class did at this end. A READ and an atomic count at the requester alone. */
struct traffic_class_result {
	uint64_t messages, bytes;	 /* as requester: completed */
	uint64_t arrived, arrived_bytes; /* as responder: seen to arrive; plain WRITE: granted */
	uint64_t checked_bytes, mismatches;
	uint64_t gaps;	    /* messages of UC and UD that never arrived */
	uint64_t reordered; /* of UC and UD: that came after a later one */
	uint64_t losses;    /* strict mode: queue pairs that lost a packet and were made anew */
	/* Of rdma_cm: queue pairs that told the ToS they have; of them with another one than was
	 * asked for, and that of the first such. */
	uint64_t tos_read, tos_other, tos_found;
	struct rate_series goodput; /* of this class at this end */
	/* A probe: round trips; else from post to completion, of one message in each list. */
	struct histogram latency;
};

/* What one TCP background did at this end. It is in no sum of the classes. */
struct traffic_tcp_result {
	uint64_t sent_bytes;  /* that the other end acknowledged */
	uint64_t wire_bytes;  /* of payload put on the wire, repeats included, before the cut */
	uint64_t retransmits; /* segments sent again (tcpi_total_retrans) */
	uint64_t arrived_bytes;
	uint64_t duration_ns;
	uint32_t broken;  /* streams that ended long before the run did */
	uint32_t mss;	  /* payload of a segment that is sent, the least of all streams; 0: none */
	uint8_t tos_sent; /* as the kernel has it */
	char detail[96];  /* of the first stream that broke: "Connection reset by peer ..." */
	struct rate_series goodput; /* of what arrived */
};

/* The first error of a queue pair, or a loss in strict mode. */
struct traffic_failure {
	unsigned int class, qp; /* the QP's number within the class */
	enum traffic_cause cause;
	uint32_t status, vendor_err; /* of the work completion */
	uint64_t sequence;
	uint64_t when_ns; /* since the start of the run */
	bool recovered;	  /* the queue pair was made anew and the run went on */
};

/* A queue pair that had not ended when its end gave up, was given up, or was stopped in vain: what
 * it waited for. Ages are since the last one, or since the start of the run. */
struct traffic_stall {
	uint64_t class, qp;	     /* the QP's number within the class */
	uint64_t posted, completed;  /* as requester: messages */
	uint64_t granted;	     /* by the responder; `completed` where none are needed */
	uint64_t arrived, announced; /* as responder; announced: completed, as the requester says */
	uint64_t control;	     /* control messages without an acknowledgement */
	uint64_t completion_age_ns, arrival_age_ns;
	uint64_t run_ns;
	uint64_t absent_ns; /* of it the thread had no processor */
};

/* The whole answer of an end. Zero is empty; traffic_report_clear() accepts it. */
struct traffic_report {
	struct traffic_result total;
	struct traffic_memory memory;
	unsigned int class_count;
	struct traffic_class_result *class; /* owned */
	unsigned int tcp_count;
	struct traffic_tcp_result *tcp; /* owned */
	unsigned int failure_count;	/* kept below; more are in the classes' numbers */
	struct traffic_failure failure[TRAFFIC_FAILURES_MAX];
	unsigned int stall_count; /* kept below */
	struct traffic_stall stall[TRAFFIC_STALLS_MAX];
};

/* While it runs. */
struct traffic_progress {
	uint64_t messages, bytes, mismatches, losses;
};

struct traffic; /* opaque */

/* Fills what both ends of one class of one QP have in common: RC, observe, one thread, every byte
 * checked. The caller sets the rest. */
void traffic_spec_simple(struct traffic_spec *spec, enum traffic_verb verb, uint32_t message_bytes,
			 uint32_t duration_ms);

/* -EINVAL: what no generator does (READ over UC, a class without QPs), with the class's number. */
int traffic_spec_check(const struct traffic_spec *spec, struct err *e);

/* Fills flight_bytes of all classes: TRAFFIC_FLIGHT_BYTES by the senders and by the paced classes
 * whose data goes to the same end. A message is never larger (traffic_spec_check). */
void traffic_spec_bound(struct traffic_spec *spec);

/* The QP type and the verbs by which a class is moved, for people: "IBV_QPT_RC; ibv_post_send of
 * IBV_WR_RDMA_WRITE, ...". */
void traffic_class_verbs(const struct traffic_class *c, char *buf, size_t size);

/* Bytes of messages of a class that are under way on one queue pair, at most. */
uint64_t traffic_class_under_way(const struct traffic_class *c);

/* QPs of all classes. */
unsigned int traffic_spec_qps(const struct traffic_spec *spec);

/* Memory that an end with this specification takes, about: messages, work requests and queues. */
uint64_t traffic_spec_bytes(const struct traffic_spec *spec);

/* Opens device, PD, CQs, QPs, MRs. On failure e names device and step. */
int traffic_open(const struct traffic_spec *spec, struct traffic **t, struct err *e);
void traffic_close(struct traffic *t);

void traffic_get_endpoint(const struct traffic *t, struct traffic_endpoint *self);

/* INIT -> RTR -> RTS towards the peer. Receives are posted before it returns. */
int traffic_connect(struct traffic *t, const struct traffic_endpoint *peer, struct err *e);

/* What *stop may become. */
enum traffic_stop {
	TRAFFIC_STOP = 1,
	TRAFFIC_HEARTBEAT_LOST, /* nobody is heard of who could want it: it fails, with cause
				   peer-gone */
};

/* Runs this end until duration_ms has passed and all is drained, the peer's last message has come,
 * or *stop becomes nonzero. Always fills *report (the caller clears it); returns 0 also when
 * report->total.cause says that traffic failed, -errno only when it could not run at all. Never
 * blocks longer than duration + 10 s. */
int traffic_run(struct traffic *t, const atomic_int *stop, struct traffic_report *report,
		struct err *e);

/* From any thread while traffic_run() is under way; zero before. */
void traffic_progress(const struct traffic *t, struct traffic_progress *p);

void traffic_report_clear(struct traffic_report *r);

/* "host pages", "huge pages", "host and huge pages". */
const char *traffic_memory_pages(const struct traffic_memory *m);

/* "GPU path not tested: rxe0 registers no dma-buf memory, ...". */
void traffic_memory_gpu(const struct traffic_memory *m, const char *device, char *buf, size_t size);

/* What registering costs here, in pages of each kind. */
enum registration_pages {
	REGISTRATION_HOST,
	REGISTRATION_HUGE,
	REGISTRATION_KINDS,
};
struct registration {
	char ibdev[64];
	uint64_t ns_per_mib[REGISTRATION_KINDS]; /* 0 = not measured */
	char why[REGISTRATION_KINDS][160];	 /* not */
	struct traffic_memory memory;		 /* what the device and this host offer */
};

/* Registers and releases memory of the device (NULL: the first one), again and again; nothing is
 * sent. -ENODEV when it is not there; what one kind of pages lacks is in its why. */
int registration_measure(const char *ibdev, struct registration *r, struct err *e);

/* The words of the enums, "?" for others. */
const char *traffic_verb_word(enum traffic_verb verb);		      /* "write_imm" */
const char *traffic_transport_word(enum traffic_transport transport); /* "rc" */
const char *traffic_direction_word(enum traffic_direction direction); /* "forward" */
const char *traffic_check_word(enum traffic_check check);	      /* "sampled" */
const char *traffic_mode_word(enum traffic_mode mode);		      /* "strict" */
const char *traffic_cause_word(enum traffic_cause cause);	      /* "retry-exceeded" */

/* SEND, with an immediate or without: it consumes receives and arrives where they say. */
bool traffic_verb_sends(enum traffic_verb verb);

/* JSON. Reading checks type and range of each member and of the whole (traffic_spec_check), and
 * leaves its output untouched on failure. A result is the head of a report's document: _result_
 * reads the sums of either. */
json_t *traffic_spec_to_json(const struct traffic_spec *s);
int traffic_spec_from_json(const json_t *json, struct traffic_spec *s, struct err *e);
json_t *traffic_endpoint_to_json(const struct traffic_endpoint *p);
int traffic_endpoint_from_json(const json_t *json, struct traffic_endpoint *p, struct err *e);
json_t *traffic_result_to_json(const struct traffic_result *r);
int traffic_result_from_json(const json_t *json, struct traffic_result *r, struct err *e);
json_t *traffic_report_to_json(const struct traffic_report *r);
int traffic_report_from_json(const json_t *json, struct traffic_report *r, struct err *e);
json_t *traffic_tcp_to_json(const struct traffic_tcp *tcp);
int traffic_tcp_from_json(const json_t *json, struct traffic_tcp *tcp, struct err *e);
json_t *traffic_tcp_result_to_json(const struct traffic_tcp_result *r);
int traffic_tcp_result_from_json(const json_t *json, struct traffic_tcp_result *r, struct err *e);
json_t *traffic_memory_to_json(const struct traffic_memory *m);
int traffic_memory_from_json(const json_t *json, struct traffic_memory *m, struct err *e);

#endif
