/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulated switch: one process plays every switch of a topology. Ports are unix datagram
 * sockets (one datagram a frame, as QEMU's -netdev dgram sends them) or links inside the process.
 * Buffers follow 802.1Q clause 36 (PFC) and 37 (ETS), marking RFC 3168. Occupancy is exact to the
 * frame: every byte that is held is accounted to the port and priority it came in by.
 */
#ifndef TESTS_LAB_SWITCH_SWITCH_H
#define TESTS_LAB_SWITCH_SWITCH_H

#include <jansson.h>
#include <sys/socket.h>

#include "capture/flow/summary.h"
#include "tests/lab/switch/config.h"
#include "tests/lab/switch/queue.h"

#define NS_PER_MS   UINT64_C(1000000)
#define NS_PER_S    UINT64_C(1000000000)
#define NEVER	    UINT64_MAX
#define BURST_NS    NS_PER_MS /* how far a port may catch up with its rate */
#define BATCH	    64	      /* datagrams of one system call */
#define FDB_BUCKETS 1024
#define FDB_WAYS    4
#define CLIENTS_MAX 8

enum drop_reason {
	DROP_STATIC,   /* the queue's own limit */
	DROP_DYNAMIC,  /* the queue's share of what is free */
	DROP_HEADROOM, /* lossless, and its headroom is full */
	DROP_FRAMES,   /* no frame left */
	DROP_RED,      /* not ECN capable, and RED chose it */
	DROP_MTU,
	DROP_LINK, /* nobody is at the other end */
	DROP_MALFORMED,
	DROP_FAULT, /* on purpose */
	DROP_REASONS,
};

/* What one port did for one priority. */
struct prio_stats {
	uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes;
	uint64_t drops[DROP_REASONS];
	uint64_t ecn_marked;
	uint64_t pfc_xoff_sent, pfc_xon_sent; /* refreshes count as XOFF */
	uint64_t pfc_received, pfc_ignored;
	uint64_t paused_ns; /* ended pauses of the sender we are */
};

/* Bytes by the port and priority they came in by. */
struct ingress {
	uint64_t shared_bytes, headroom_bytes, max_bytes;
	bool xoff;	     /* the peer was told to stop */
	bool withheld;	     /* it would have been, but for a fault */
	uint64_t refresh_ns; /* when to tell it again */
};

struct pool {
	uint64_t shared_bytes, headroom_bytes, max_bytes;
};

/* What a neighbour says in CEE (DCBX 1.01). */
struct cee_peer {
	uint32_t seq; /* 0: none heard */
	bool pfc_seen, pfc_willing;
	uint8_t pfc_prios;
};

struct port {
	struct port_config config;
	unsigned int owner; /* index of its switch */
	int peer;	    /* index of the port at the other end; -1: a socket */
	unsigned int group; /* equal ways to one place, by number within the switch */
	uint8_t mac[6];
	uint8_t pfc_on, pfc_auto; /* bitmaps of the configuration */
	int rx_fd, tx_fd;	  /* -1: none */
	bool linked, blocked;	  /* somebody is there; its socket is full */
	uint64_t retry_ns;	  /* when to look for the peer again */
	uint64_t next_ns;	  /* when the port's rate allows the next frame */
	struct sched sched;
	struct queue stage; /* taken from the queues, not yet in the peer's socket */
	struct ingress in[QOS_PRIOS];
	uint64_t pause_end_ns[QOS_PRIOS], pause_begin_ns[QOS_PRIOS];
	uint8_t paused; /* bitmap: priorities the peer stopped */
	uint8_t due;	/* bitmap: xoff or xon to be told to the peer */
	struct prio_stats stats[QOS_PRIOS];
	uint64_t backpressure; /* times the peer's socket was full */
	uint64_t lldp_sent, lldp_received, lldp_malformed, lldp_next_ns, neighbour_until_ns;
	uint32_t cee_seq;
	struct lldp_peer neighbour;
	uint8_t neighbour_mac[6];
	struct cee_peer cee;
	uint64_t pause_sent, pause_received, pause_ignored; /* of the whole link */
	/* What faults make of the port at the moment; bitmaps by priority. */
	uint8_t fault_pfc_off, fault_pfc_auto, fault_headroom, fault_storm;
	uint8_t fault_tlv_absent, fault_tlv_wrong; /* bitmaps of enum tlv_kind */
	bool fault_lldp_second;
	uint64_t storm_next_ns;
};

struct fdb_entry {
	uint64_t mac; /* 0: free */
	uint64_t seen_ns;
	uint16_t group;
};

struct box {
	const struct switch_config *config;
	unsigned int first_port, port_count, group_count;
	struct pool pool;
	struct fdb_entry (*fdb)[FDB_WAYS]; /* FDB_BUCKETS, owned */
};

/* What a fault with a window holds back until so many others have passed. */
struct held {
	struct frame *frame; /* NULL: none */
	struct port *port;
	uint8_t direction;
	unsigned int passed;
	uint64_t until_ns; /* at the latest */
};

struct mirror;
struct control;

struct lab {
	struct lab_config config;
	struct box box[SWITCHES_MAX];
	struct port port[PORTS_MAX];
	unsigned int port_count;
	/* Frames: all of them, those that are free, and those that are late on purpose, as a heap.
	 */
	struct frame *frames;
	size_t frames_size;
	struct frame *free_list;
	unsigned int frame_count, free_count;
	struct frame **late;
	unsigned int late_count;
	uint64_t late_seq;
	struct held held[FAULTS_MAX]; /* by number of the fault */
	struct frame *rx[BATCH];      /* where the next datagrams go */
	struct mmsghdr rx_msg[BATCH];
	struct iovec rx_iov[BATCH];
	int epoll_fd, timer_fd;
	uint64_t now_ns, start_ns, tick_ns;
	uint32_t random;
	struct mirror *mirror;	 /* owned, NULL: none */
	struct control *control; /* owned, NULL: none */
	bool quit;
};

/* lab.c: storage is the caller's. lab_init() copies the configuration. Errors in e. */
int lab_init(struct lab *lab, const struct lab_config *config, struct err *e);
void lab_clear(struct lab *lab);
/* Until {"op":"quit"}, SIGTERM or SIGINT. */
int lab_run(struct lab *lab, struct err *e);
/* One round: what came in, what is due, what may go out. Waits at most until wait_ns. */
int lab_step(struct lab *lab, uint64_t wait_ns, struct err *e);
int lab_watch(struct lab *lab, int fd, unsigned int events, uint64_t tag, bool add);
uint32_t lab_random(struct lab *lab);
uint64_t lab_rate_bytes(const struct port *p);
unsigned int lab_port_index(const struct lab *lab, const struct port *p);
struct frame *frame_take(struct lab *lab);
struct frame *frame_copy(struct lab *lab, const struct frame *f);
void frame_free(struct lab *lab, struct frame *f);

/* What an epoll event belongs to: kind in the upper half, number in the lower. */
enum watch_kind { WATCH_RX, WATCH_TX, WATCH_TIMER, WATCH_LISTEN, WATCH_CLIENT, WATCH_SIGNAL };
#define WATCH_TAG(kind, number) ((uint64_t)(kind) << 32 | (number))

/* port.c */
/* Hands the configuration to the scheduler and to PFC, after every change of it. */
void port_configure(struct port *p);
int port_open(struct lab *lab, struct port *p, struct err *e);
void port_close(struct lab *lab, struct port *p);
void port_read(struct lab *lab, struct port *p);
/* Sends what queues, rates and pauses allow at lab->now_ns. */
void port_send(struct lab *lab, struct port *p);
/* A frame of our own (PFC, LLDP), past the queues. -EAGAIN, -ENOTCONN. */
int port_send_own(struct lab *lab, struct port *p, const uint8_t *data, uint32_t len);
/* When the port wants to send next, NEVER. */
uint64_t port_next_ns(const struct lab *lab, const struct port *p);
void port_drop(struct lab *lab, struct port *p, struct frame *f, enum drop_reason why);
/* What leaves: after outgoing faults, and after the time on the wire. */
void port_put(struct lab *lab, struct port *p, struct frame *f);
void port_deliver(struct lab *lab, struct port *p, struct frame *f);
/* Looks for somebody at the other end of a socket. */
void port_connect(struct lab *lab, struct port *p);

/* Takes the link down or up as the configuration of its end or ends now has it. */
void port_follow_shut(struct lab *lab, struct port *p);
void port_unblock(struct lab *lab, struct port *p);

/* classify.c: reads the headers once; false when even Ethernet is not there. */
bool frame_parse(struct frame *f);
uint8_t frame_prio(const struct frame *f, const struct port_config *c);
/* Adds or strips the tag of VLAN 0 as the port does with what leaves; false when it grows too long.
 */
bool frame_retag(struct frame *f, const struct port_config *c);
/* Sets DSCP and ECN and corrects the header checksum (RFC 1624). */
void frame_set_tos(struct frame *f, uint8_t tos);

/* buffer.c: accounts a frame that came in by `in` and waits at `out`; 0 or the reason to drop. */
int buffer_admit(struct lab *lab, struct port *in, struct port *out, struct frame *f,
		 enum drop_reason *why);
void buffer_release(struct lab *lab, struct frame *f);
/* Whether queues, pool and ingress agree to the byte. */
bool buffer_exact(const struct lab *lab, unsigned int box);
uint64_t ingress_bytes(const struct ingress *in);

/* pfc_frame.c: what stops and starts; buf of PFC_FRAME_LEN. */
#define PFC_FRAME_LEN 60
uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t rate_bytes);
uint32_t pfc_frame_make(const uint8_t mac[6], uint8_t enable, const uint16_t quanta[QOS_PRIOS],
			uint8_t *buf);
/* Bitmap of enabled priorities, or -EINVAL. */
int pfc_frame_read(const uint8_t *data, uint32_t len, uint16_t quanta[QOS_PRIOS]);
/* The same of a pause of the whole link: 802.3 annex 31B. Quanta, or -EINVAL. */
uint32_t pause_frame_make(const uint8_t mac[6], uint16_t quanta, uint8_t *buf);
int pause_frame_read(const uint8_t *data, uint32_t len);

/* pfc_mode.c: priorities with PFC, by configuration, peer and faults; and those that are lossless
 * by that or by pauses of the whole link. */
uint8_t pfc_enabled(const struct port *p);
uint8_t pfc_lossless(const struct port *p);
/* Those that would have PFC but for a fault. */
uint8_t pfc_missing(const struct port *p);

/* pfc.c */
void pfc_receive(struct lab *lab, struct port *p, const struct frame *f);
/* After a change of occupancy. over: a frame did not fit below xoff, whether it was kept or not. */
void pfc_judge(struct lab *lab, struct port *in, uint8_t prio, bool over);
void pfc_tick(struct lab *lab, struct port *p); /* refreshes, ends of pauses */
uint64_t pfc_next_ns(const struct port *p);

/* forward.c */
/* Makes the groups of a switch from its ports, and forgets all addresses. */
void forward_groups(struct lab *lab, unsigned int box);
/* How many ports lead to where p does, itself among them. */
unsigned int forward_ways(const struct lab *lab, const struct port *p);
/* A frame that arrived at p, faults applied: consumed or queued. */
void forward_frame(struct lab *lab, struct port *p, struct frame *f);
/* The same from the wire: counters, mirror, faults first. */
void forward_arrival(struct lab *lab, struct port *p, struct frame *f);

/* lldp.c: buf of LLDP_SIZE_MAX. */
#define LLDP_SIZE_MAX 1500
uint32_t lldp_make(const struct lab *lab, const struct port *p, bool second, uint8_t *buf);
void lldp_receive(struct lab *lab, struct port *p, const struct frame *f);
void lldp_tick(struct lab *lab, struct port *p);
void lldp_forget(struct port *p); /* what the neighbour said */

/* fault.c: what goes wrong with frames */
enum fault_effect {
	FAULT_PASS,    /* nothing came of it */
	FAULT_CHANGED, /* the frame goes on, another than it was */
	FAULT_TAKEN,   /* dropped or delayed */
};
enum fault_direction { FAULT_BOTH, FAULT_IN, FAULT_OUT };
bool fault_active(const struct fault *fault, uint64_t since_start_ns);
bool fault_of_frames(const struct fault *fault); /* else it changes what a port is */
bool fault_matches(const struct fault *fault, const char *port, const char *box,
		   enum fault_direction direction, const struct frame *f);
/* FAULT_TAKEN: the frame is gone. */
enum fault_effect fault_apply(struct lab *lab, struct port *p, enum fault_direction direction,
			      struct frame *f);
/* Sends on what fault number i holds back for reordering. */
void fault_let_go(struct lab *lab, unsigned int i);

/* fault_port.c: what goes wrong with ports */
void fault_tick(struct lab *lab); /* what faults make of the ports now */
/* Counts an effect for the active faults of this kind at p that are about one of prios. */
void fault_hit(struct lab *lab, const struct port *p, enum fault_kind kind, uint8_t prios);

/* fault_list.c: faults by name; times of `json` count from now. The name, borrowed, is NULL with
 * the reason in e. */
const char *fault_add(struct lab *lab, const json_t *json, struct err *e);
const char *fault_change(struct lab *lab, const json_t *json, struct err *e);
int fault_remove(struct lab *lab, const char *name, struct err *e); /* NULL: all */

/* late.c: keeps a frame until due_ns, then it goes on behind the faults, or (FAULT_BOTH) at the
 * peer. */
void late_add(struct lab *lab, struct port *p, enum fault_direction direction, uint64_t due_ns,
	      struct frame *f);
void late_release(struct lab *lab);
/* What happens to a frame behind the faults of a direction. */
void late_go_on(struct lab *lab, struct port *p, enum fault_direction direction, struct frame *f);

/* mirror.c: frames to a pcapng file by a thread of its own; a slow disk loses frames, counted. */
int mirror_open(const struct lab *lab, const char *path, struct mirror **mirror, struct err *e);
void mirror_close(struct mirror *m);
void mirror_frame(struct mirror *m, unsigned int port, bool out, uint64_t time_ns,
		  const struct frame *f);
void mirror_counts(const struct mirror *m, uint64_t *seen, uint64_t *dropped);

/* control.c */
int control_open(struct lab *lab, const char *path, struct err *e);
void control_close(struct lab *lab);
void control_event(struct lab *lab, enum watch_kind kind, unsigned int number);
/* The client: sends one line, prints the answer to out. */
int control_ask(const char *path, const char *line, FILE *out, struct err *e);

/* request.c: answers one line; new reference. */
json_t *control_answer(struct lab *lab, const char *line);

/* stats.c: new reference, NULL on -ENOMEM. */
json_t *stats_json(const struct lab *lab);
json_t *stats_faults_json(const struct lab *lab); /* that part of it */

#endif
