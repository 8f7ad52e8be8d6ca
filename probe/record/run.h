/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct run: all data of one validation, from all hosts: snapshots, counters before and after the
 * idle time and the load, captures, traffic results. Rules read only this. Stored as run.json
 * (rocecheck.run/1) and read back by `validate --from`.
 */
#ifndef PROBE_RUN_H
#define PROBE_RUN_H

#include <stdatomic.h>

#include "capture/flow/summary.h"
#include "probe/host/snapshot.h"
#include "probe/marking/marking_findings.h"
#include "probe/traffic/traffic.h"
#include "profiles/fabric.h"

#define RUN_SCHEMA "rocecheck.run/1"

struct folder;

/* The ends of a pair. */
enum run_side {
	SIDE_CLIENT,
	SIDE_SERVER,
	SIDES,
};

/* "client" and "server". */
const char *run_side_word(enum run_side side);

/* Counter readings of one port; the bits of `has` mark those that exist. */
enum run_reading {
	READ_QUIET_BEFORE,
	READ_QUIET_AFTER,
	READ_LOAD_BEFORE,
	READ_LOAD_AFTER,
	READ_INCAST_BEFORE,
	READ_INCAST_AFTER,
	READ_CONTROL_BEFORE,
	READ_CONTROL_AFTER,
	READ_COUNT,
};

/* The phases of a run with traffic, in their order; users name them. */
enum run_stage {
	STAGE_QUIET,
	STAGE_MARKING,
	STAGE_PAIRS,
	STAGE_INCAST,
	STAGE_CONTROL,
	STAGE_SHARES,
	STAGES,
};

#define STAGES_ALL ((1u << STAGES) - 1)

/* "quiet", "marking", "pairs", "incast", "control", "shares" */
extern const struct qos_word run_stage_words[];

/* What a pair is part of. */
enum run_phase {
	PHASE_LOAD,	     /* every pair of ports, a few percent of the link */
	PHASE_INCAST,	     /* several senders to one port, unpaced, on a lossless priority */
	PHASE_CONTROL,	     /* the same on a lossy priority: it has to lose, or to be marked */
	PHASE_CANARY,	     /* latency of a flow on another priority than the incast's, alone */
	PHASE_CANARY_BESIDE, /* the same beside the incast */
	PHASE_SHARES,	     /* an incast as the first, with TCP on a lossy priority beside it */
};

/* "load", "incast", "control", "canary", "canary_beside", "shares" */
extern const struct qos_word run_phase_words[];

#define RUN_USERS_MAX 8

/* What a sender of incasts counted in the second half of each load. */
struct run_late {
	bool known;	 /* it counts both */
	uint64_t pauses; /* received on the priority of the incast */
	uint64_t cnps;	 /* received */
};

struct run_port {
	char netdev[16];
	char ibdev[64]; /* once the host was collected; not stored, as the next three */
	uint8_t ib_port;
	bool soft;	     /* Soft-RoCE */
	uint32_t speed_mbps; /* 0 = unknown */
	unsigned int rail;
	unsigned int has; /* 1 << enum run_reading */
	struct counters reading[READ_COUNT];
	bool has_capture;
	struct capture_summary capture; /* of the load phases, owned */
	char capture_file[128];		/* relative to the run folder, empty = none */
	char capture_error[160];	/* why capture or recording is missing */
	char breaker[120]; /* harm at this port, which took no part: it ended an incast */
	struct run_late late;
	/* Processes and kernel modules with queue pairs, for people: those of others before the
	 * traffic of a probe (not stored), or all that were seen while a job ran. */
	unsigned int user_count, users_left; /* left: those without room in the list */
	char user[RUN_USERS_MAX][160];
};

struct run_host {
	char name[FABRIC_NAME_MAX];
	bool reached;
	char error[640]; /* why it was not reached, or lost during the run */
	char agent_version[32];
	char boot_id[40]; /* "" = unknown */
	bool has_before, has_after;
	struct snapshot before, after; /* owned */
	struct run_port *port;	       /* owned; the ports of the inventory, in its order */
	unsigned int port_count;
};

/* TCP streams in parallel to a pair: the request, and the result of each host. */
struct run_tcp {
	struct traffic_tcp asked;
	struct traffic_tcp_result client, server;
};

/* One end of a pair of a probe: its request and its report. */
struct run_end {
	struct traffic_spec spec;
	bool has_report;
	struct traffic_report report; /* owned */
	/* Owned: the port with the readings around this load, where others went before or after it;
	 * NULL = those of the host's port. */
	struct run_port *port;
};

struct run_ends {
	struct run_end side[SIDES];
	bool stopped; /* by the user, also when that was to end it */
	bool partial; /* it ended before its time: stopped, or an end was lost */
};

/* One direction of traffic between two ports: from the client to the server, and back for READ. */
struct run_pair {
	unsigned int client_host, client_port; /* indices into run.host[].port[] */
	unsigned int server_host, server_port;
	enum traffic_verb verb;
	enum run_phase phase;
	uint8_t prio;		    /* of other phases than the load: the priority of their class */
	bool strict;		    /* RC without retransmission: each loss is an event */
	uint64_t losses;	    /* of a strict pair */
	uint64_t p50_ns, p99_ns;    /* round trips of a canary */
	uint32_t message_bytes;	    /* 0 = unknown */
	uint64_t asked_bytes_per_s; /* 0 = no rate limit */
	uint8_t client_tos, server_tos; /* ToS of each host's QP */
	bool ran;
	struct traffic_result client, server;
	unsigned int tcp_count; /* mostly 0; not part of the RDMA results */
	struct run_tcp *tcp;	/* owned */
	struct run_ends *ends;	/* owned; not stored. NULL: a fabric run keeps only the results */
	char error[256];	/* why it did not run */
};

/* The marking test between two ports: how datagrams with the ToS of RoCE arrive, both ways. */
struct run_marking {
	unsigned int client_host, client_port; /* as in struct run_pair */
	unsigned int server_host, server_port;
	bool ran;		 /* both hosts have a result */
	uint8_t pass;		 /* 2: of the second pass, else 0 */
	uint8_t tos[SIDES];	 /* as each host sends them */
	uint32_t arrived[SIDES]; /* at each host, with a header that it could read */
	unsigned int finding_count;
	struct marking_finding *finding; /* owned */
	char error[256];		 /* why it did not run */
};

/* A job of the user that a run was around. */
struct run_job {
	char command[512]; /* for people, may be cut */
	uint8_t exit_code; /* as of a shell: 128 + n when signal n ended it */
	bool stopped;	   /* the user interrupted it */
};

struct run {
	char id[40]; /* UTC time and 4 random hex digits */
	char fabric_name[FABRIC_NAME_MAX];
	char fabric_path[256];
	int64_t started_unix_ns, ended_unix_ns;
	bool traffic;	/* false: configuration only (offline), or around a job */
	bool continued; /* idle hours may be between two of its phases */
	bool has_job;	/* its load is between READ_LOAD_BEFORE and READ_LOAD_AFTER */
	struct run_job job;
	enum fabric_level level;
	uint8_t maintenance; /* priorities that incast loaded */
	unsigned int load_percent;
	/* Digests of profile and thresholds; a resumed run must have the same. "" = unknown. */
	char profile_sum[20], thresholds_sum[20];
	unsigned int stages;   /* 1 << enum run_stage: those that ran to their end */
	struct run_host *host; /* owned */
	unsigned int host_count;
	struct run_pair *pair; /* owned */
	unsigned int pair_count;
	struct run_marking *marking; /* owned */
	unsigned int marking_count;
	/* After run_load(): hosts that are not in the inventory, and the first of them. Not stored.
	 */
	unsigned int unlisted_count;
	char unlisted[FABRIC_NAME_MAX];
};

/* Makes an empty run for the hosts and ports of an inventory, which starts now. -ENOMEM. */
int run_init(struct run *r, const struct fabric *f);
void run_clear(struct run *r);

/*
 * Reads a run from `dir`: run.json if it exists, else every *.json snapshot in dir or
 * dir/snapshots. f: the inventory, or NULL for every host and RoCE port found.
 */
int run_load(const char *dir, const struct fabric *f, struct run *r, struct err *e);

/* Makes an inventory from the hosts and ports of a run, with this profile. -ENOMEM. The caller
 * calls fabric_clear(). */
int run_make_fabric(const struct run *r, const struct profile *profile, struct fabric *f);

/* Fills the outcome of a marking test from the results of its ends; it ran when both are there.
 * -ENOMEM; -EPROTO when they do not belong together. */
int run_marking_fill(struct run_marking *m, const struct marking_endpoints *ends, struct err *e);

/* Returns true for a valid host name of a run, which becomes part of file names. */
bool run_host_name_ok(const char *name);

/* The result of the end at which the data of a pair arrives: the client's of READ, else the
 * server's. Borrowed. */
const struct traffic_result *run_pair_arrived(const struct run_pair *p);

/* Returns why a pair did not run, or not to its end; NULL when it did. Borrowed. */
const char *run_pair_error(const struct run_pair *p);

/* Frees what a pair owns. */
void run_pair_clear(struct run_pair *p);

/* Of run.json and of each file of lines beside it: 65536 ports of some 30 KiB. */
#define RUN_BYTES_MAX (UINT64_C(2) << 30)

json_t *run_to_json(const struct run *r);
int run_from_json(const json_t *json, struct run *r, struct err *e);

/* The same for a run.json, whose hosts, pairs and marking tests are the lines of files in dir, or
 * its own lists as of earlier versions. */
int run_from_head(const json_t *json, const char *dir, struct run *r, struct err *e);

/* Writes hosts.jsonl, pairs.jsonl, marking.jsonl, run.json and snapshots/HOST.json below an open
 * folder, each atomically. A full disk is -ENOSPC with the file. */
int run_save(const struct run *r, const struct folder *folder, struct err *e);

/* The same without snapshots. */
int run_save_record(const struct run *r, const struct folder *folder, struct err *e);

/* Called with one line of progress for people ("h1: 312 MB captured"). May be NULL. */
typedef void run_progress(const char *line, void *arg);

/* The state of a run, for a bar of progress. */
struct run_step {
	const char *phase;	    /* "pairs" */
	unsigned int number, count; /* phase 2 of 5; 0 = not one of the phases */
	unsigned int done, of;	    /* rounds; of 0 = without rounds */
	double seconds, left_s;	    /* estimates: of the phase, and of its rest; 0 = unknown */
};

/* Writes "48 s", and long times as "12 min" or "3.2 h". */
void run_seconds_text(double seconds, char *buf, size_t size);

/* Where a run reports to; each may be NULL. */
struct run_watcher {
	run_progress *detail; /* a line for those who want each event */
	run_progress *notice; /* a line for everyone: the plan, warnings */
	/* At the begin of a phase, after each round, and twice a second. */
	void (*step)(const struct run_step *step, void *arg);
	void *arg;
};

struct run_options {
	const struct folder *dir; /* receives recordings, schedules, and run.json after each phase;
				     NULL = store nothing */
	const atomic_int *stop;	  /* NULL = cannot be stopped */
	struct run_watcher watcher;
	unsigned int stages; /* 1 << enum run_stage: the phases to run; 0 = all */
	struct run *earlier; /* to continue, from run_resume_load(); owned by the caller, but its
				data moves into the new run. NULL = none */
};

/*
 * Loads the interrupted or incomplete run of a folder, for a new run r of this inventory. -EINVAL
 * when it has other hosts, another profile, level or threshold, with the difference in e; -ENOENT.
 * The caller calls run_clear().
 */
int run_resume_load(const char *dir, const struct fabric *f, const struct run *r,
		    struct run *earlier, struct err *e);

/* Reads a list of phases, "marking,pairs". -EINVAL: an unknown one, or one that needs priorities of
 * f->maintenance where there are none. */
int run_parse_stages(const char *list, const struct fabric *f, unsigned int *stages, struct err *e);

/*
 * Runs a validation: connects to every host with the inventory's launcher and runs all phases.
 * traffic_s == 0: configuration only, no load. A host that does not answer is in r with its error;
 * the run continues without it. Fills *r, which is from run_init() and which the caller clears in
 * any case.
 *
 * With o->earlier phases that ran to their end are kept, and r is that run, continued; all run
 * again when a host has booted since, or has other settings. Returns 0 when the phases ran; -errno
 * when none could (no launcher, no host); -EINTR when it was stopped, with the data so far in r.
 */
int run_fabric(const struct fabric *f, const struct run_options *o, struct run *r, struct err *e);

/* Checks f->schedule, where it is a file, against the ports of the run: -EINVAL with
 * path:line:column and what was expected. */
int run_check_schedule(const struct fabric *f, struct run *r, struct err *e);

/* The same without traffic: reads snapshots of all RDMA ports of the hosts, which need no ports in
 * f, twice, interval_ms apart, and nothing else. */
int run_survey(const struct fabric *f, unsigned int interval_ms, const struct run_options *o,
	       struct run *r, struct err *e);

/* The same around a job of the user: starts the command with this process' standard streams, waits
 * for its end, and asks meanwhile who has queue pairs. Passes signals that ask to stop on to the
 * job. Sends no traffic. -errno also when the command cannot be started; a stopped job is r->job,
 * and no error. */
int run_around(const struct fabric *f, char *const *argv, const struct run_options *o,
	       struct run *r, struct err *e);

/* Index of a run's ports by host and netdev, sorted once: a document may have millions of pairs,
 * each with two ports to look up. */

struct run_index_port {
	const char *host, *netdev;     /* borrowed from the run */
	unsigned int host_at, port_at; /* run.host[host_at].port[port_at] */
};

struct run_index {
	struct run_index_port *port; /* owned, sorted */
	size_t count;
};

/* Makes the index; the run's hosts and ports must not change while it is used. -ENOMEM. The caller
 * calls run_index_clear(). */
int run_index_make(const struct run *r, struct run_index *index);
void run_index_clear(struct run_index *index);

/* Finds a port, the first of equal ones. -ENOENT. */
int run_index_find(const struct run_index *index, const char *host, const char *netdev,
		   unsigned int *host_at, unsigned int *port_at);

#endif
