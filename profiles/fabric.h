/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct fabric: the inventory (schema rocecheck.fabric/1): hosts, their ports and rails, the
 * profile they should match, how to reach them, and the thresholds of a run.
 */
#ifndef PROFILES_FABRIC_H
#define PROFILES_FABRIC_H

#include "profiles/profile.h"
#include "profiles/yaml/diag.h"

#define FABRIC_SCHEMA	"rocecheck.fabric/1"
#define FABRIC_NAME_MAX 64

struct fabric_port {
	char interface[16]; /* netdev; required */
	char rdma[64];	    /* ibdev; empty = the one that belongs to the netdev */
	char address[64];   /* IP address the port should have; empty = any */
	unsigned int rail;  /* ports of one rail talk to each other */
	int line;	    /* in the inventory */
};

struct fabric_host {
	char name[FABRIC_NAME_MAX]; /* as in reports; [A-Za-z0-9._-], never begins with '-' */
	char target[128];	    /* what the engine is given; default: name */
	char agent[256];	    /* command of the agent there; default: fabric's */
	char rack[FABRIC_NAME_MAX]; /* empty = not stated */
	struct fabric_port *port;   /* owned */
	unsigned int port_count;
	int line;
};

/* Ports of which an apply disrupts one at a time. */
enum fabric_group {
	GROUP_FLEET, /* all of them */
	GROUP_RACK,  /* those of hosts of one rack */
	GROUP_RAIL,  /* those of one rail */
};

/* Which packets the run captures. */
enum fabric_capture {
	CAPTURE_HEADERS, /* data cut at the transport headers; ICRC judged before the cut */
	CAPTURE_FULL,
	CAPTURE_OFF,
};

/* Which way a TCP background of a pair goes: from its client, to it, or both at once. */
enum fabric_tcp_direction {
	FABRIC_TCP_FORWARD,
	FABRIC_TCP_BACKWARD,
	FABRIC_TCP_BOTH,
};

#define FABRIC_TCP_MAX	   4u
#define FABRIC_STREAMS_MAX 64u

/* TCP streams beside the RDMA of each pair, between the same two addresses. */
struct fabric_tcp {
	unsigned int tos; /* DSCP << 2; the ECN bits are TCP's own */
	unsigned int streams;
	unsigned int rate_kbps; /* of all streams in one direction; 0 = as fast as it goes */
	enum fabric_tcp_direction direction;
};

struct fabric {
	char name[FABRIC_NAME_MAX];
	char path[256];
	struct profile profile;	  /* loaded from `profile:`, a name or a path from the inventory */
	char engine[16];	  /* "ssh" or "local" */
	char ssh_config[256];	  /* OpenSSH -F file, resolved; empty = the user's own */
	char agent[256];	  /* default "rocecheck" */
	struct fabric_host *host; /* owned */
	unsigned int host_count;
	enum fabric_capture capture;	 /* default headers */
	enum fabric_group failure_group; /* default fleet */
	/* thresholds and the run */
	unsigned int connect_timeout_s; /* default 10 */
	unsigned int quiet_s;		/* idle baseline, default 3 */
	unsigned int traffic_s;		/* seconds of traffic a phase, default 3 */
	unsigned int load_percent;	/* of the link's rate, default 5 (the careful level) */
	unsigned int message_bytes;	/* default 65536 */
	unsigned int min_load_percent;	/* of the asked rate that must be reached, default 80 */
	unsigned int foreign_percent;	/* of the link: more while quiet is foreign, default 1 */
	struct fabric_tcp *tcp;		/* owned; mostly none */
	unsigned int tcp_count;		/* at most FABRIC_TCP_MAX */
};

/* As profile_load(): all findings of the inventory and of its profile go to diags. The caller calls
 * fabric_clear() after success. */
int fabric_load(const char *path, struct fabric *f, struct diags *diags, struct err *e);
void fabric_clear(struct fabric *f);

/* Whether the file says that it is an inventory. False also when it cannot be read: loading it as a
 * profile then tells why. */
bool fabric_is_inventory(const char *path);

/* The JSON Schema of an inventory; new reference, NULL on -ENOMEM. */
json_t *fabric_schema(void);

/* Whether an engine may be given this text as a host: letters, digits and ._-+:%@[]/ as in
 * user@host, fe80::1%eth0 or ssh://user@host:22; no part of it begins with '-', as options do. */
bool fabric_target_ok(const char *target);

/* Index of a host by name, or -ENOENT. */
int fabric_find_host(const struct fabric *f, const char *name);

#endif
