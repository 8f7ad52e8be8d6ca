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
	char name[FABRIC_NAME_MAX]; /* in reports; [A-Za-z0-9._-], does not begin with '-' */
	char target[128];	    /* argument of the engine (ssh); default: name */
	char agent[256]; /* command of the agent on this host; default: that of the fabric */
	char rack[FABRIC_NAME_MAX]; /* empty = not stated */
	struct fabric_port *port;   /* owned */
	unsigned int port_count;
	int line;
};

/* Group of ports of which apply disrupts one at a time. */
enum fabric_group {
	GROUP_FLEET, /* all of them */
	GROUP_RACK,  /* those of hosts of one rack */
	GROUP_RAIL,  /* those of one rail */
};

/* Packets that a run captures. */
enum fabric_capture {
	CAPTURE_HEADERS, /* headers only; the ICRC is checked before the payload is dropped */
	CAPTURE_FULL,
	CAPTURE_OFF,
};

/* DCBX of the switches. */
enum fabric_dcbx {
	FABRIC_DCBX_EXPECTED,
	FABRIC_DCBX_NONE, /* its absence is a warning, not missing evidence */
};

/* The claims of a run, each with those before it. */
enum fabric_level {
	LEVEL_QUICK,	   /* settings, delivery, marking, MTU and paths */
	LEVEL_STANDARD,	   /* what a few percent of a link show of ECN, shares, source ports */
	LEVEL_MAINTENANCE, /* lossless under congestion: incast on priorities that users name */
};

/* Direction of the TCP streams of a pair: from its client, to its client, or both. */
enum fabric_tcp_direction {
	FABRIC_TCP_FORWARD,
	FABRIC_TCP_BACKWARD,
	FABRIC_TCP_BOTH,
};

#define FABRIC_TCP_MAX	   4u
#define FABRIC_STREAMS_MAX 64u

/* TCP streams that run alongside the RDMA traffic of each pair, between the same addresses. */
struct fabric_tcp {
	unsigned int tos; /* DSCP << 2; TCP sets the ECN bits */
	unsigned int streams;
	unsigned int rate_kbps; /* of all streams in one direction; 0 = no limit */
	enum fabric_tcp_direction direction;
};

#define FABRIC_ALLOW_MAX 256u

/* An exception: findings of a rule that a site accepts for a time. */
struct fabric_allow {
	char rule[16];	  /* "RC-PFC-004"; the reports know which rules exist */
	char hosts[256];  /* a set of hosts of the inventory; empty = all, and the fabric */
	char reason[200]; /* printed with the findings */
	char until[11];	  /* the last day, UTC: "2026-12-31" */
	int line;	  /* in the inventory */
};

struct fabric {
	char name[FABRIC_NAME_MAX];
	char path[256];
	struct profile profile;	  /* loaded from `profile:`, a name or a path from the inventory */
	char engine[16];	  /* "ssh" or "local" */
	char launcher[256];	  /* command that starts an agent instead; empty = engine */
	char ssh_config[256];	  /* OpenSSH -F file, resolved; empty = the user's own */
	char agent[256];	  /* default "rocecheck" */
	struct fabric_host *host; /* owned */
	unsigned int host_count;
	enum fabric_capture capture;	 /* default headers */
	enum fabric_group failure_group; /* default fleet */
	enum fabric_dcbx dcbx;		 /* default expected */
	enum fabric_level level;	 /* default standard; `validate` sets it, as the next */
	uint8_t maintenance;		 /* priorities for incast, of LEVEL_MAINTENANCE */
	const char *schedule; /* borrowed: a pattern or a file; NULL = by the number of ports */
	/* thresholds and the run */
	unsigned int connect_timeout_s; /* default 10 */
	unsigned int quiet_s;		/* idle baseline, default 3 */
	unsigned int traffic_s;		/* per phase, default 3 */
	unsigned int load_percent;	/* of the link speed, default 5 */
	unsigned int message_bytes;	/* default 65536 */
	unsigned int min_load_percent;	/* of the load that must be reached, default 80 */
	unsigned int incast_senders;	/* to one port, where there are as many; default 4 */
	unsigned int foreign_percent;	/* of the link speed: more traffic while idle is foreign,
					   default 1 */
	struct fabric_tcp *tcp;		/* owned; NULL without TCP */
	unsigned int tcp_count;		/* at most FABRIC_TCP_MAX */
	struct fabric_allow *allow;	/* owned; NULL without exceptions */
	unsigned int allow_count;	/* at most FABRIC_ALLOW_MAX */
};

/* "quick", "standard", "maintenance" */
extern const struct qos_word fabric_level_words[];

/* As profile_load(): adds all findings of the inventory and of its profile to diags. After success
 * the caller calls fabric_clear(). */
int fabric_load(const char *path, struct fabric *f, struct diags *diags, struct err *e);
void fabric_clear(struct fabric *f);

/* Returns true if the key schema of the file is that of an inventory. False also if the file cannot
 * be read: loading it as a profile then reports why. */
bool fabric_is_inventory(const char *path);

/* The JSON Schema of an inventory; new reference, NULL on -ENOMEM. */
json_t *fabric_schema(void);

/* Returns true if the text is a safe host argument for an engine: letters, digits and ._-+:%@[]/ as
 * in user@host, fe80::1%eth0 or ssh://user@host:22; no part begins with '-' like an option. */
bool fabric_target_ok(const char *target);

/* Splits a launcher at its spaces into words, in which {host} becomes the host: "srun -w {host}".
 * No shell reads it, so there are no quotes. The words are in buf. Returns their number;
 * -EINVAL without a program, without {host}, or with too many or too long words. */
#define FABRIC_LAUNCHER_WORDS 24
int fabric_launcher_split(const char *launcher, const char *host, char *buf, size_t size,
			  const char *argv[FABRIC_LAUNCHER_WORDS], struct err *e);

/* Adds the hosts of a comma-separated list of names, of user@host for ssh and of node sets:
 * "gpu[01-16,20],root@login1". Their name in reports is the part after '@'. They have no ports.
 * -EINVAL for an invalid or duplicate name, -E2BIG above NODESET_MAX hosts. */
int fabric_add_hosts(struct fabric *f, const char *list, struct err *e);

/* Index of a host by name, or -ENOENT. */
int fabric_find_host(const struct fabric *f, const char *name);

#endif
