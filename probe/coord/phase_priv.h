/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coordinator of a fabric run and its phases, for run_*.c. A phase sends requests to all hosts at
 * once and waits; a host that fails is marked in the run and skipped from then on.
 */
#ifndef PROBE_PHASE_PRIV_H
#define PROBE_PHASE_PRIV_H

#include "probe/coord/load.h"
#include "probe/coord/schedule.h"
#include "profiles/base/file.h"

#define PHASE_FETCH_GRACE_MS 60000

struct coordinator {
	struct session s;
	const struct fabric *f;
	const struct folder *dir; /* of the run, NULL = do not store the run */
	struct folder captures;	  /* below dir; path is NULL until it is created */
	int (*capture)[64];	  /* handle of each host's port, -1 = none */
	unsigned int stages;	  /* 1 << enum run_stage: to run */
	struct run *earlier;	  /* that this one continues; NULL = none */
	bool save_failed;	  /* reported: the folder is full */
	unsigned int interval_ms; /* survey: between its two readings; 0 = a fabric run */
	char *const *job;	  /* command of a run around a job, ends with NULL; else NULL */
	uint64_t fetch_grace_ms;  /* time limit of a recording, plus FETCH_PIECE_MS per piece */
};

/* Returns port p of a host in its snapshot, or NULL. Borrowed. */
const struct port *phase_port(const struct coordinator *c, unsigned int host, unsigned int p);

/* Ports of the run for a schedule: port list[i] is port[i] of host list[i].host. */
struct phase_ports {
	struct schedule_port *list; /* owned, as the next */
	unsigned int *port;
	unsigned int count;
};

/* Finds the ports of a rail, or with -1 of all rails. -ENOMEM; after success the caller calls
 * phase_ports_clear(). Names in it are borrowed from the run. */
int phase_ports_find(const struct coordinator *c, int64_t rail, struct phase_ports *out);
void phase_ports_clear(struct phase_ports *ports);

/* Remove old recordings and schedules with the file names of this run. */
int phase_capture_remove(struct coordinator *c, struct err *e);
int phase_traffic_remove(const struct coordinator *c, struct err *e);

void phase_capture_start(struct coordinator *c);
/* Stops the captures, stores their summaries, fetches the recordings into dir/captures. */
void phase_capture_stop(struct coordinator *c);

/* Reads the counters of all hosts into this reading. */
void phase_read_counters(struct coordinator *c, enum run_reading reading);

#define PHASE_ROUND_PAUSE_S 1.0 /* to open, connect and close the flows of a round */

/* A phase: -errno from run() if it cannot start. estimate() adds to the sum; its bytes are those of
 * all links. */
struct phase {
	const char *claim;
	bool maintenance;	   /* needs priorities of --maintenance, and ends at the breaker */
	unsigned int link_percent; /* share of a link that it fills; 0 = load_percent */
	enum run_reading before;   /* its readings: this and the next; READ_COUNT = none */
	unsigned int pairs;	   /* its pairs: 1 << enum run_phase */
	int (*estimate)(const struct coordinator *c, enum run_stage stage,
			struct schedule_estimate *sum, struct err *e);
	int (*run)(struct coordinator *c, enum run_stage stage, struct err *e);
};

extern const struct phase phases[STAGES];

/* Writes "pairs: about 48 s, 1.2 GB, 5 % of a link (delivery between all pairs)". Pure. */
void phase_plan_text(enum run_stage stage, const struct schedule_estimate *sum,
		     unsigned int load_percent, char *buf, size_t size);

/* Size of a marking test. */
struct marking_plan {
	uint16_t sweep, count; /* UDP source ports, and datagrams of each */
	uint16_t size_ports;   /* source ports with datagrams of the MTU sizes */
	uint8_t pass;	       /* 2: the second pass */
};

/* The first test: 4 UDP source ports with 64 datagrams each at level quick, 16 with 32 above. */
struct marking_plan phase_marking_plan(const struct fabric *f);

/* Returns the test of a pair of a schedule, before it ran. */
struct run_marking phase_marking_pair(const struct phase_ports *ports,
				      const struct schedule_pair *pair);

/* Appends tests to the run and runs them at once; a port is in each direction of one of them.
 * -ENOMEM. */
int phase_mark_round(struct coordinator *c, const struct marking_plan *plan,
		     const struct run_marking *list, unsigned int count);

/* The second pass: repeats marking tests where packets were lost or changed in the marking tests or
 * the load, and tests suspect ports with good ports. Does nothing if nothing failed. -ENOMEM. */
int phase_isolate(struct coordinator *c, struct err *e);

/* Reads the file of a schedule; *text is the caller's. -errno, -EISDIR, -EINVAL if not regular. */
int phase_schedule_read(const char *path, char **text, size_t *size);

/* Returns true if one schedule has the ports of all rails. */
bool phase_schedule_whole(const struct fabric *f);

/* Run the marking test between all ports of each rail, and the traffic of all pairs. */
int phase_marking(struct coordinator *c, enum run_stage stage, struct err *e);
int phase_traffic(struct coordinator *c, struct err *e);
int phase_traffic_estimate(const struct coordinator *c, enum run_stage stage,
			   struct schedule_estimate *sum, struct err *e);

/* Runs incasts on each priority of the inventory's `maintenance`, with a canary on another one; or
 * as STAGE_CONTROL the same on a lossy priority, as negative control; or as STAGE_SHARES with TCP
 * on a lossy priority beside it: how they share full links. Reads the counters before and after. */
int phase_incast(struct coordinator *c, enum run_stage stage, struct err *e);
int phase_incast_estimate(const struct coordinator *c, enum run_stage stage,
			  struct schedule_estimate *sum, struct err *e);

/* Stores the digests of what a run depends on. -ENOMEM. */
int resume_set_sums(struct run *r, const struct fabric *f);

/* The run becomes c->earlier, without its data. */
void resume_begin(struct coordinator *c);

/* After the snapshots: moves the data of complete phases of c->earlier into the run, or drops it
 * when a host is no longer the same, and reports that. What is left of c->stages has to run. */
void resume_check_same(struct coordinator *c);

/* Moves the remaining data of c->earlier into the run: complete phases, if this run was stopped
 * before it collected its hosts, and snapshots of hosts that did not answer this time. */
void resume_end(struct coordinator *c);

/* The breaker ended an incast of this run. */
bool phase_was_broken(const struct run *r);

/* Runs the job between two counter readings. -errno if it cannot start. */
int phase_job(struct coordinator *c, struct err *e);

/* The rail in use after `last`, or -1; the first one for -1. */
int64_t phase_next_rail(const struct run *r, int64_t last);

/* Makes the specs of both ends of a pair with the class of RoCE, for f->traffic_s / 2; a flow that
 * cannot run fails. */
void phase_prepare_specs(struct coordinator *c, const struct run_pair *p,
			 struct destinations place[SIDES], struct load_flow *f,
			 struct traffic_spec spec[SIDES]);

/* One round: pairs whose queue pairs are prepared together, and which run wave by wave. */
struct phase_round {
	struct load load;
	struct destinations (*place)[SIDES]; /* owned; of each flow, as the next */
	unsigned int *pair;		     /* owned; index in run.pair[] */
	struct traffic_spec spec[SIDES];     /* of a pair while it is prepared */
};

/* How a phase loads the pairs of a round. */
struct phase_load {
	/* Changes the specs of phase_prepare_specs(). */
	void (*adjust)(struct coordinator *c, struct run_pair *p, struct traffic_spec spec[SIDES]);
	void (*run)(struct coordinator *c, struct phase_round *r, unsigned int wave);
	/* Reads more of the client's class. NULL = no more. */
	void (*read)(struct run_pair *p, const struct traffic_class_result *class);
	void (*report)(struct coordinator *c, const struct run_pair *p);
};

/* Room for so many flows. -ENOMEM. The caller calls phase_round_free() in any case. */
int phase_round_open(struct coordinator *c, unsigned int most, struct phase_round *r);
void phase_round_free(struct phase_round *r);

/* Appends a pair to the run and to a wave of the round, the last one or a later one: *p between the
 * ports of a pair of the schedule. -ENOMEM. */
int phase_round_add(struct coordinator *c, struct phase_round *r, unsigned int wave,
		    const struct phase_ports *ports, const struct schedule_pair *at,
		    const struct run_pair *p);

/* The pair of a flow, until the next is added. */
struct run_pair *phase_round_pair(const struct coordinator *c, const struct phase_round *r,
				  unsigned int flow);

/* Runs the pairs of the round, stores and reports their results, and empties it. */
void phase_round_run(struct coordinator *c, struct phase_round *r, const struct phase_load *kind);

#endif
