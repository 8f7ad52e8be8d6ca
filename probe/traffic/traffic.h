/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA traffic between two hosts, in classes. A class has a marking, a transport, a verb, a number
 * of queue pairs, a rate and a payload check. One struct traffic is one endpoint; the caller
 * exchanges struct traffic_endpoint between both. Both use the same spec except role, device, port,
 * GID index and marking. Host memory only.
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
#define TRAFFIC_CHECKED_MIN	64u /* smallest message with room for the pattern header */
#define TRAFFIC_MESSAGE_MAX	(8u << 20)
#define TRAFFIC_WINDOW_MAX	4096u
#define TRAFFIC_DURATION_MAX_MS (24u * 3600 * 1000)
/* Limit of paced bytes in flight to one receiver, over all senders, classes and queue pairs: a
 * switch port must buffer that much if it cannot send. */
#define TRAFFIC_FLIGHT_BYTES (256u << 10)
#define TRAFFIC_SENDERS_MAX  1024u
#define TRAFFIC_RATE_MAX     (UINT64_C(1) << 40) /* bytes/s */
#define TRAFFIC_TCP_MAX	     4u
#define TRAFFIC_STREAMS_MAX  64u /* per TCP class */

/* Operation that the requester posts. An atomic is FETCH_ADD of 8 bytes. */
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
	TRAFFIC_UD,  /* only SEND of one packet */
	TRAFFIC_XRC, /* as RC; not every device supports it */
	TRAFFIC_TRANSPORTS,
};

enum traffic_role {
	TRAFFIC_CLIENT, /* requester of direction forward */
	TRAFFIC_SERVER,
};

enum traffic_direction {
	TRAFFIC_FORWARD,  /* the client is the requester */
	TRAFFIC_BACKWARD, /* the server is */
	TRAFFIC_BOTH,	  /* both are, on each queue pair */
};

enum traffic_mode {
	TRAFFIC_OBSERVE, /* RC as in production: loss is retransmitted and shows in counters */
	TRAFFIC_STRICT,	 /* RC without retransmission: a lost packet is an event with its time */
	TRAFFIC_COUNT,	 /* UC and UD: gaps in the sequence are counted */
};

enum traffic_check {
	TRAFFIC_CHECK_NONE,    /* no check */
	TRAFFIC_CHECK_SAMPLED, /* the header of each message, every byte of each 16th message */
	TRAFFIC_CHECK_EVERY,   /* every byte */
};

enum traffic_bringup {
	TRAFFIC_RAW, /* queue pair numbers are in struct traffic_endpoint */
	TRAFFIC_CM,  /* rdma_cm */
};

/* Cause of an early end; each has its own next step. */
enum traffic_cause {
	CAUSE_NONE,
	CAUSE_RETRY_EXCEEDED, /* no answer: loss, wrong path, peer gone */
	CAUSE_RNR,	      /* receiver posted no receive: host, not fabric */
	CAUSE_REMOTE,	      /* remote access or operation error */
	CAUSE_LOCAL,	      /* local QP, memory or length error */
	CAUSE_PORT_DOWN,
	CAUSE_REMOTE_GONE, /* the peer disappeared */
	CAUSE_DATA,	   /* wrong payload */
	CAUSE_TIMEOUT,	   /* deadline of this host passed */
	CAUSE_UNFINISHED,  /* stopped, and outstanding work did not complete */
	CAUSE_COUNT,
};

/* Traffic class. All zero is RC WRITE forward, unpaced, unchecked; qps and size must be set. */
struct traffic_class {
	uint8_t tos; /* ToS byte of this host's QPs: DSCP << 2 | ECN */
	uint8_t sl;  /* service level: the priority, for NICs that trust PCP */
	enum traffic_transport transport;
	enum traffic_verb verb;
	enum traffic_direction direction;
	enum traffic_check check;
	bool probe; /* latency: one outstanding message, which the peer sends back */
	uint32_t qps;
	uint32_t message_bytes;	   /* an atomic uses 8 of them */
	uint32_t window;	   /* outstanding messages per QP, a power of two; 0 = chosen */
	uint64_t rate_bytes_per_s; /* of the class in one direction; 0 = no limit */
	uint64_t count;		   /* messages per QP; 0 = by time */
	/* With a rate: limit of bytes in flight of one sender, from traffic_spec_bound(). 0 = no
	 * limit. */
	uint32_t flight_bytes;
};

/* TCP class: streams in parallel, through the same ports. */
struct traffic_tcp {
	uint8_t tos; /* on both hosts: DSCP << 2; TCP sets the ECN bits */
	enum traffic_direction direction;
	uint32_t streams;
	uint64_t rate_bytes_per_s; /* of all streams in one direction; 0 = no limit */
};

struct traffic_spec {
	enum traffic_role role;
	enum traffic_mode mode;
	enum traffic_bringup bringup;
	char ibdev[64];
	uint8_t ib_port;
	uint16_t gid_index;
	uint32_t duration_ms; /* time limit; 0 = until stopped, or all classes have their count */
	uint64_t seed;	      /* of the pattern; the same on both hosts */
	uint16_t mtu_bytes;   /* upper limit of the RDMA MTU; 0 = that of the ports */
	uint8_t timeout;      /* ACK timeout code, 4.096 us * 2^t; 0 = by mode and driver */
	uint8_t threads;      /* that move data; QP n belongs to thread n % threads */
	bool pin;	      /* each thread to a core of the NIC's NUMA node */
	bool huge_pages;      /* if the system has free ones */
	uint16_t senders;     /* concurrent senders to the same receiver; 0 = 1 */
	unsigned int class_count;
	struct traffic_class class[TRAFFIC_CLASSES_MAX];
	unsigned int tcp_count; /* mostly 0 */
	struct traffic_tcp tcp[TRAFFIC_TCP_MAX];
};

/* One queue pair and its memory. XRC has a sending and a receiving one; 0 = none. */
struct traffic_qp {
	uint32_t qpn, psn;
	uint64_t addr; /* of the slots, for WRITE, READ and atomics; 0 = none */
	uint32_t rkey;
	uint32_t target_qpn; /* XRC: receiving queue pair */
	uint32_t srqn;	     /* XRC: shared receive queue, named in each request */
};

/* Data that both endpoints exchange: queue pairs of the classes in order, then one control queue
 * pair per thread, whose memory is the credit table that the peer writes. */
struct traffic_endpoint {
	uint8_t gid[16];
	uint32_t mtu;			    /* IB MTU of the port, bytes; the smaller one is used */
	uint16_t cm_port;		    /* rdma_cm port of the server; 0 = none */
	uint16_t tcp_port[TRAFFIC_TCP_MAX]; /* likewise of each TCP class */
	unsigned int qp_count;
	struct traffic_qp qp[TRAFFIC_QPS_MAX + TRAFFIC_THREADS_MAX];
};

/* Memory of one host's traffic: host memory, in ordinary or huge pages. GPU memory is not tested;
 * dmabuf and gpu state what device and host support. All zero: unknown, the host has no result. */
struct traffic_memory {
	uint64_t bytes;		  /* registered, all threads */
	uint64_t huge_bytes;	  /* of them in huge pages that were reserved */
	uint64_t registration_ns; /* time of the registration */
	bool dmabuf;		  /* the device can register dma-buf memory */
	char gpu[64]; /* GPU whose driver exports dma-buf: "amdgpu 0000:03:00.0"; or "" */
};

/* Sums over all classes. */
struct traffic_result {
	uint64_t messages; /* completed as requester, and arrived as responder */
	uint64_t bytes;
	uint64_t duration_ns;	/* first post or arrival to last completion */
	uint64_t checked_bytes; /* bytes compared */
	uint64_t mismatches;	/* messages with a wrong byte, sequence or slot */
	/* Control messages sent by this host: credits and keepalives; not in the sums above. */
	uint64_t control_messages, control_bytes;
	uint32_t mtu; /* IB MTU in use */
	enum traffic_cause cause;
	char detail[160]; /* "RETRY_EXC_ERR after 1.2 s, message 381"; empty when cause is none */
};

/* Result of one class on this host. READ and atomics count only at the requester. */
struct traffic_class_result {
	uint64_t messages, bytes;	 /* as requester: completed */
	uint64_t arrived, arrived_bytes; /* as responder: arrived; plain WRITE: credited */
	uint64_t checked_bytes, mismatches;
	uint64_t gaps;	    /* UC and UD: messages that never arrived */
	uint64_t reordered; /* UC and UD: messages that arrived after a later one */
	uint64_t losses;    /* strict mode: queue pairs that lost a packet and were reconnected */
	/* rdma_cm: queue pairs whose ToS was read; those with another ToS than requested; ToS of
	 * the first of these. */
	uint64_t tos_read, tos_other, tos_found;
	struct rate_series goodput; /* of this class on this host */
	/* Probe: round trips. Else: post to completion, of one message per list. */
	struct histogram latency;
};

/* Result of one TCP class on this host; not in the sums of the RDMA classes. What was sent is read
 * just before the streams are reset: on a busy host a little more leaves, and arrives. */
struct traffic_tcp_result {
	uint64_t sent_bytes;  /* acknowledged by the peer */
	uint64_t wire_bytes;  /* payload sent, with retransmissions, before segmentation */
	uint64_t retransmits; /* retransmitted segments (tcpi_total_retrans) */
	uint64_t arrived_bytes;
	uint64_t duration_ns;
	uint32_t broken;	    /* streams that ended long before the run */
	uint32_t mss;		    /* smallest segment payload of all streams; 0: none */
	uint8_t tos_sent;	    /* as read back from the kernel */
	char detail[96];	    /* of the first failed stream: "Connection reset by peer ..." */
	struct rate_series goodput; /* of arrived bytes */
};

/* The first error of a queue pair, or a loss in strict mode. */
struct traffic_failure {
	unsigned int class, qp; /* the QP's number within the class */
	enum traffic_cause cause;
	uint32_t status, vendor_err; /* of the work completion */
	uint64_t sequence;
	uint64_t when_ns; /* since the start of the run */
	bool recovered;	  /* the queue pair was reconnected and the run continued */
};

/* State of a queue pair that had not ended when the run failed or did not stop. Ages are since the
 * last event, or since the start of the run. */
struct traffic_stall {
	uint64_t class, qp;	     /* the QP's number within the class */
	uint64_t posted, completed;  /* as requester: messages */
	uint64_t granted;	     /* credited by the responder; `completed` without credits */
	uint64_t arrived, announced; /* as responder; announced: completed by the requester */
	uint64_t control;	     /* unacknowledged control messages */
	uint64_t completion_age_ns, arrival_age_ns;
	uint64_t run_ns;
	uint64_t absent_ns; /* time of the run in which the thread had no CPU */
};

/* Complete report of one host. All zero is empty; traffic_report_clear() accepts it. */
struct traffic_report {
	struct traffic_result total;
	struct traffic_memory memory;
	unsigned int class_count;
	struct traffic_class_result *class; /* owned */
	unsigned int tcp_count;
	struct traffic_tcp_result *tcp; /* owned */
	unsigned int failure_count;	/* stored below; class results count all */
	struct traffic_failure failure[TRAFFIC_FAILURES_MAX];
	unsigned int stall_count; /* stored below */
	struct traffic_stall stall[TRAFFIC_STALLS_MAX];
};

/* Progress during the run. */
struct traffic_progress {
	uint64_t messages, bytes, mismatches, losses;
};

struct traffic; /* opaque */

/* Makes a spec of one class with one QP: RC, observe, one thread, every byte checked. The caller
 * sets role, device, port, GID and seed. */
void traffic_spec_simple(struct traffic_spec *spec, enum traffic_verb verb, uint32_t message_bytes,
			 uint32_t duration_ms);

/* Checks a spec. -EINVAL, with the number of the class, for unsupported combinations (READ over UC,
 * a class without QPs). */
int traffic_spec_check(const struct traffic_spec *spec, struct err *e);

/* Sets flight_bytes of all classes: TRAFFIC_FLIGHT_BYTES, divided by the senders and by the paced
 * classes with the same receiver. traffic_spec_check() refuses larger messages. */
void traffic_spec_bound(struct traffic_spec *spec);

/* Writes QP type and verbs of a class, for people: "IBV_QPT_RC; ibv_post_send of IBV_WR_RDMA_WRITE
 * in lists of 4, ...". */
void traffic_class_verbs(const struct traffic_class *c, char *buf, size_t size);

/* Returns the maximum of bytes in flight of a class on one queue pair. */
uint64_t traffic_class_under_way(const struct traffic_class *c);

/* Returns the number of QPs of all classes. */
unsigned int traffic_spec_qps(const struct traffic_spec *spec);

/* Returns the ACK timeout code of the classes' queue pairs on a device that is Soft-RoCE or not; 0
 * = no timer, nothing is retransmitted by it. */
uint8_t traffic_ack_timeout(const struct traffic_spec *spec, bool soft);

/* The same for the control queue pairs, which retransmit in every mode: never 0. */
uint8_t traffic_control_timeout(const struct traffic_spec *spec, bool soft);

/* Estimates the memory of an endpoint with this spec: messages, work requests and queues. */
uint64_t traffic_spec_bytes(const struct traffic_spec *spec);

/* Opens device, PD, CQs, QPs, MRs. On failure, e names device and step. */
int traffic_open(const struct traffic_spec *spec, struct traffic **t, struct err *e);
void traffic_close(struct traffic *t);

void traffic_get_endpoint(const struct traffic *t, struct traffic_endpoint *self);

/* Connects the queue pairs to the peer: INIT -> RTR -> RTS. Posts receives before it returns. */
int traffic_connect(struct traffic *t, const struct traffic_endpoint *peer, struct err *e);

/* Values of *stop. */
enum traffic_stop {
	TRAFFIC_STOP = 1,
	TRAFFIC_HEARTBEAT_LOST, /* the requester of the run is silent: fails with peer-gone */
};

/* Runs this endpoint until duration_ms has passed and all messages completed, the peer's last
 * message has arrived, or *stop becomes nonzero. Always fills *report (the caller clears it).
 * Returns 0 also for failed traffic (report->total.cause), -errno only if it could not run at all.
 * Blocks for at most duration + 10 s. */
int traffic_run(struct traffic *t, const atomic_int *stop, struct traffic_report *report,
		struct err *e);

/* Reads the progress; any thread, during traffic_run(); zero before. */
void traffic_progress(const struct traffic *t, struct traffic_progress *p);

void traffic_report_clear(struct traffic_report *r);

/* Returns "host pages", "huge pages" or "host and huge pages". */
const char *traffic_memory_pages(const struct traffic_memory *m);

/* Writes "GPU path not tested: rxe0 cannot register dma-buf memory, ...". */
void traffic_memory_gpu(const struct traffic_memory *m, const char *device, char *buf, size_t size);

/* Cost of memory registration on this host, by kind of page. */
enum registration_pages {
	REGISTRATION_HOST,
	REGISTRATION_HUGE,
	REGISTRATION_KINDS,
};
struct registration {
	char ibdev[64];
	uint64_t ns_per_mib[REGISTRATION_KINDS]; /* 0 = not measured */
	char why[REGISTRATION_KINDS][160];	 /* why it was not measured */
	struct traffic_memory memory;		 /* support of dma-buf */
};

/* Measures registration on the device (NULL: the first one) by repeated register and release; sends
 * nothing. -ENODEV without the device; a kind that cannot be measured has its why. */
int registration_measure(const char *ibdev, struct registration *r, struct err *e);

/* Words of the enums; "?" for an invalid value. */
const char *traffic_verb_word(enum traffic_verb verb);		      /* "write_imm" */
const char *traffic_transport_word(enum traffic_transport transport); /* "rc" */
const char *traffic_direction_word(enum traffic_direction direction); /* "forward" */
const char *traffic_check_word(enum traffic_check check);	      /* "sampled" */
const char *traffic_mode_word(enum traffic_mode mode);		      /* "strict" */
const char *traffic_cause_word(enum traffic_cause cause);	      /* "retry-exceeded" */

/* Returns true for SEND with or without immediate: it consumes a posted receive. */
bool traffic_verb_sends(enum traffic_verb verb);

/* JSON. Reading checks type and range of each member and the whole (traffic_spec_check()), and
 * leaves its output untouched on failure. traffic_result_from_json() reads a result or a report. */
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
