/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison of hosts with their own group, without inventory and profile: ports of the same
 * driver, kind, link speed and place in the host are a group, and the value that most of them have
 * is the norm. Counters are the difference of two snapshots. Pure.
 *
 * To compare another value of a port, add a row in survey_items[] and its case in survey_read().
 */
#ifndef REPORTS_SURVEY_COMPARE_H
#define REPORTS_SURVEY_COMPARE_H

#include "probe/record/run.h"

#define SURVEY_HOST	 ~0u /* survey_member.port: the host itself */
#define SURVEY_PORTS_MAX 64  /* of one host, as in inventories */
#define SURVEY_RATIO	 10u /* a counter is an outlier from this multiple of the median on */

/* A port of a host of the run. */
struct survey_member {
	unsigned int host, port; /* run.host[host], and its snapshot's port[port] */
};

struct survey_members {
	struct survey_member *list; /* owned; in the order of the run */
	unsigned int count;
	char *hosts; /* owned; a node set */
};

enum survey_level {
	SURVEY_HOSTS,  /* all hosts */
	SURVEY_DRIVER, /* ports of the same driver, kind and rail */
	SURVEY_SPEED,  /* these with the same link speed */
	SURVEY_LEVELS,
};

struct survey_group {
	enum survey_level level;
	const struct port *port; /* the first; borrowed from the run. NULL: SURVEY_HOSTS */
	unsigned int rail;	 /* place of the port among those of its host, by name */
	struct survey_members members;
	int tx_prio;	 /* on which most ports send most; -1 = unknown, idle or no majority */
	struct qos norm; /* of SURVEY_SPEED: settings of most ports; unknown where none leads */
};

/* Members of a group whose value is not that of most. Owns its texts. */
struct survey_outlier {
	unsigned int group;
	const char *item; /* "tx_prio", "pfc.enabled", "rx_discards" */
	int prio;	  /* of a counter by priority; -1 = none */
	bool counter;	  /* else a value that is compared as it is */
	bool tie;	  /* no value leads: each is named, and norm is NULL */
	struct survey_members members;
	char *value, *norm;
	uint64_t low, high;	 /* of a counter: the least and the most that a member counted */
	unsigned int norm_count; /* members that have the norm, or are below the limit */
};

/* A counter that grows on most ports of a group. */
struct survey_common {
	unsigned int group;
	enum metric metric;
	int prio;      /* -1 = none */
	double median; /* per second */
};

/* Items that could not be read on the same members of a group. */
struct survey_unknown {
	unsigned int group;
	struct survey_members members;
	const char **item; /* owned list of borrowed names */
	unsigned int item_count;
};

struct survey {
	const struct run *r;	    /* borrowed */
	unsigned int interval_ms;   /* between the readings; set by the caller, for its report */
	struct survey_group *group; /* owned, as all lists */
	unsigned int group_count;
	struct survey_outlier *outlier;
	unsigned int outlier_count;
	struct survey_common *common;
	unsigned int common_count;
	struct survey_unknown *unknown;
	unsigned int unknown_count;
	unsigned int answered;	   /* hosts with a snapshot */
	unsigned int lost;	   /* hosts without one of the two */
	unsigned int unprivileged; /* hosts whose agent may not read all settings */
	unsigned int port_count;
	unsigned int speed_groups; /* groups of SURVEY_SPEED */
	bool compared;		   /* some of these has two ports or more */
};

/* Compares the hosts of a run by their snapshots `after`, else `before`. The run must outlive the
 * survey, which the caller clears in any case. -ENOMEM. */
int survey_make(const struct run *r, struct survey *s);
void survey_clear(struct survey *s);

/* The snapshot of a host that is compared, NULL without one; and the port of a member. Borrowed. */
const struct snapshot *survey_snapshot(const struct run *r, unsigned int host);
const struct port *survey_port(const struct run *r, struct survey_member m);

/* Makes a list of the RoCE ports of a host, sorted by name: eth2 is before eth10. Their places are
 * their rails. At most SURVEY_PORTS_MAX. The caller frees the list. -ENOMEM. */
int survey_sort_ports(const struct snapshot *s, const struct port ***list, unsigned int *count);

/* Name of an item for people: "main priority sent" for "tx_prio". */
const char *survey_item_text(const char *item);

/* Name of a port: its netdev, without one its RDMA device. */
const char *survey_port_name(const struct port *p);

/* True when a host lacks one of its two snapshots. */
bool survey_host_lost(const struct run_host *h);

#endif
