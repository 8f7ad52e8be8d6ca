/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct run: everything one validation gathered, from all hosts: snapshots, counters around the
 * quiet baseline and around the load, captures, traffic results. Rules read it and nothing else. It
 * is stored as run.json (rocecheck.run/1) and read back for `validate --from`.
 */
#ifndef PROBE_RUN_H
#define PROBE_RUN_H

#include <stdatomic.h>

#include "capture/flow/summary.h"
#include "probe/host/snapshot.h"
#include "probe/traffic/traffic.h"
#include "profiles/fabric.h"

#define RUN_SCHEMA "rocecheck.run/1"

struct folder;

/* Readings of one port around the phases; a bit of `has` says which were taken. */
enum run_reading {
	READ_QUIET_BEFORE,
	READ_QUIET_AFTER,
	READ_LOAD_BEFORE,
	READ_LOAD_AFTER,
	READ_COUNT,
};

struct run_port {
	char netdev[16];
	unsigned int rail;
	unsigned int has; /* 1 << enum run_reading */
	struct counters reading[READ_COUNT];
	bool has_capture;
	struct capture_summary capture; /* of the load phases, owned */
	char capture_file[128];		/* relative to the run folder, empty = none */
	char capture_error[160];	/* why there is none */
};

struct run_host {
	char name[FABRIC_NAME_MAX];
	bool reached;
	char error[640]; /* why not reached, or why it was lost in mid-run */
	char agent_version[32];
	bool has_before, has_after;
	struct snapshot before, after; /* owned */
	struct run_port *port;	       /* owned; the ports of the inventory, in its order */
	unsigned int port_count;
};

/* A TCP background of a pair: what was asked, and what each end tells. */
struct run_tcp {
	struct traffic_tcp asked;
	struct traffic_tcp_result client, server;
};

/* One direction of traffic between two ports. */
struct run_pair {
	unsigned int client_host, client_port; /* indices into run.host[].port[] */
	unsigned int server_host, server_port;
	enum traffic_verb verb;
	uint32_t message_bytes;		/* 0 = not told */
	uint64_t asked_bytes_per_s;	/* 0 = flat out */
	uint8_t client_tos, server_tos; /* what each end's QP was given */
	bool ran;
	struct traffic_result client, server;
	unsigned int tcp_count; /* mostly none; in no figure of the RDMA */
	struct run_tcp *tcp;	/* owned */
	char error[256];	/* why it did not run */
};

struct run {
	char id[40]; /* UTC time and 4 random hex digits */
	char fabric_name[FABRIC_NAME_MAX];
	char fabric_path[256];
	int64_t started_unix_ns, ended_unix_ns;
	bool traffic; /* false: configuration alone (offline) */
	unsigned int load_percent;
	struct run_host *host; /* owned */
	unsigned int host_count;
	struct run_pair *pair; /* owned */
	unsigned int pair_count;
	/* Read back: hosts that the inventory does not name, and the first of them. Not stored. */
	unsigned int unlisted_count;
	char unlisted[FABRIC_NAME_MAX];
};

/* An empty run for the hosts and ports of an inventory. -ENOMEM. */
int run_init(struct run *r, const struct fabric *f);
void run_clear(struct run *r);

/*
 * Offline: reads `dir`: run.json when there is one, else every *.json snapshot in dir or
 * dir/snapshots. f: the inventory, or NULL: then every host and RoCE port found counts.
 */
int run_load(const char *dir, const struct fabric *f, struct run *r, struct err *e);

/* The inventory a run without one implies: its hosts and ports, and this profile. -ENOMEM. The
 * caller calls fabric_clear(). */
int run_make_fabric(const struct run *r, const struct profile *profile, struct fabric *f);

/* Whether it can be a host's name in a run: it becomes part of file names. */
bool run_host_name_ok(const char *name);

/* Frees the TCP backgrounds of a pair; it has none then. */
void run_pair_clear(struct run_pair *p);

json_t *run_to_json(const struct run *r);
int run_from_json(const json_t *json, struct run *r, struct err *e);

/* Writes run.json and snapshots/HOST.json below an open folder, each whole or not at all. A full
 * disk is -ENOSPC with the file. */
int run_save(const struct run *r, const struct folder *folder, struct err *e);

/* Called with one line of progress for people ("h1: 312 MB captured"). May be NULL. */
typedef void run_progress(const char *line, void *arg);

/*
 * The fabric run: fills *r (which need not be initialised; the caller clears it in any case):
 * connects every host through the fabric's engine and gathers all phases. traffic_s == 0:
 * configuration alone, no load. Hosts that do not answer are in r with their error, the run goes on
 * without them. dir is open and receives captures and the schedule; NULL = they are not kept.
 * Returns 0 when the run went through, whatever it found; -errno when there was nothing to run (no
 * engine, all hosts lost: r is still filled); -EINTR when it was stopped, with what had been
 * gathered in r.
 */
int run_fabric(const struct fabric *f, const struct folder *dir, const atomic_int *stop,
	       run_progress *progress, void *arg, struct run *r, struct err *e);

/* Ports of a run by host and netdev, sorted once: a document may name millions of pairs, and each
 * has two ends to be found among as many ports. */

struct run_index_port {
	const char *host, *netdev;     /* of the run */
	unsigned int host_at, port_at; /* run.host[host_at].port[port_at] */
};

struct run_index {
	struct run_index_port *port; /* owned, sorted */
	size_t count;
};

/* The run's hosts and ports must stay as they are while the index is used. -ENOMEM. The caller
 * calls run_index_clear(). */
int run_index_make(const struct run *r, struct run_index *index);
void run_index_clear(struct run_index *index);

/* Where the port is; the first of equal ones. -ENOENT. */
int run_index_find(const struct run_index *index, const char *host, const char *netdev,
		   unsigned int *host_at, unsigned int *port_at);

#endif
