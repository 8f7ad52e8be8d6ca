/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies a profile to many hosts: connects to all, plans on all, then applies in the order of
 * rollout_next(). Each host runs its own transaction with a dead-man; the rollout checks the host
 * afterwards and confirms. An unreachable host rolls back by itself, and the rollout asks until it
 * knows the outcome.
 */
#ifndef PROBE_ROLLOUT_H
#define PROBE_ROLLOUT_H

#include <stdatomic.h>

#include <jansson.h>

#include "profiles/base/base.h"
#include "profiles/fabric.h"

#define ROLLOUT_GROUPS_MAX   64
#define ROLLOUT_PARALLEL_MAX 64
#define ROLLOUT_EVERY_GROUP  UINT32_MAX /* of a port whose group is unknown */

enum rollout_stage {
	ROLLOUT_STAGE_WAITING,
	ROLLOUT_STAGE_RUNNING,
	ROLLOUT_STAGE_DONE,
	ROLLOUT_STAGE_FAILED, /* failed, or never reached */
};

/* One host. */
struct rollout_entry {
	enum rollout_stage stage;
	unsigned int group_count;	    /* 0: no port is disrupted */
	uint32_t group[ROLLOUT_GROUPS_MAX]; /* failure groups of its disrupted ports */
};

struct rollout_limits {
	unsigned int canary;	 /* index; no other host starts before it is done */
	unsigned int parallel;	 /* hosts at once, 1..ROLLOUT_PARALLEL_MAX */
	unsigned int max_failed; /* with more failed hosts no new one starts */
};

/* Adds a group once; one too many becomes ROLLOUT_EVERY_GROUP. */
void rollout_add_group(struct rollout_entry *u, uint32_t group);

/* Returns the index of the host to start now: the canary first and alone, then up to `parallel`,
 * but of hosts that flap or reset a port only one per failure group. -EAGAIN: none before a running
 * one has ended; -ENOENT: none any more. Pure. */
int rollout_next(const struct rollout_entry *unit, unsigned int n, const struct rollout_limits *l);

/* Fills wave[i], from 1: the order in which hosts start if all take equally long and none fails; 0
 * for one that does not start. Returns the number of waves, -ENOMEM. */
int rollout_waves(const struct rollout_entry *unit, unsigned int n, const struct rollout_limits *l,
		  unsigned int *wave);

#define ROLLOUT_REASON_MAX  640
#define ROLLOUT_SETTLE_AUTO UINT32_MAX

enum rollout_result {
	ROLLOUT_NOT_STARTED,
	ROLLOUT_UNCHANGED, /* nothing to change */
	ROLLOUT_APPLIED,
	ROLLOUT_ROLLED_BACK,
	ROLLOUT_FAILED, /* see reached, lost and status */
	ROLLOUT_RESULT_COUNT,
};
const char *rollout_result_word(enum rollout_result result); /* "rolled back" */

/* Facts of a host's plan (rocecheck.plan/1) that decide on consent and order. */
struct rollout_facts {
	unsigned int ports, changes, cannot;
	unsigned int disrupted; /* ports that are flapped or reset */
	bool unproven;		/* changes by a driver of tier source */
	char used[200];		/* a disrupted port and its user, empty = none */
};

struct rollout_host {
	char name[FABRIC_NAME_MAX];
	json_t *profile; /* owned; the caller sets it before the plan */
	json_t *plan;	 /* owned; NULL: none */
	char *plan_text; /* owned, as the host prints it; NULL: not requested */
	char *warnings;	 /* owned, of its plan; may be NULL */
	struct rollout_facts facts;
	bool reached;
	enum rollout_result result;
	int status; /* exit code of the command that failed there, 0 = none did */
	bool lost;  /* failed, and its former settings are not restored, or that is unknown */
	char reason[ROLLOUT_REASON_MAX]; /* of a failure, or of not being started */
	char tx[32];			 /* its transaction, or "" */
	uint64_t took_ms;
};

typedef void rollout_progress(const char *line, void *arg);

struct rollout_priv;

struct rollout {
	struct rollout_host *host; /* owned */
	unsigned int host_count;
	struct rollout_entry *entry; /* owned; of each host, after the plan */
	struct rollout_priv *priv;
};

struct rollout_options {
	struct rollout_limits limits;
	unsigned int confirm_within_s; /* of the dead-men */
	unsigned int wait_link_s;
	unsigned int settle_ms; /* until the re-check; ROLLOUT_SETTLE_AUTO: each host decides */
	unsigned int margin_ms; /* maximum delay of a dead-man */
	bool disruption;	/* consent to steps that flap or reset a port */
};

/* f is borrowed until rollout_close(). *stop != 0 ends the rollout in order: running hosts finish,
 * no other host starts. progress may be NULL. */
int rollout_open(const struct fabric *f, const atomic_int *stop, rollout_progress *progress,
		 void *arg, struct rollout *r, struct err *e);
void rollout_close(struct rollout *r);

/* Connects to all hosts. Unreachable hosts become ROLLOUT_FAILED. */
void rollout_connect(struct rollout *r);

/* Reads the plan of each reached host. as_text: also as the host prints it. */
void rollout_plan(struct rollout *r, bool as_text);

/* Returns the index of the first host whose plan has changes, else of the first with a plan, else
 * host_count. */
unsigned int rollout_canary(const struct rollout *r);

/* Applies on all hosts. Returns 0, or -EINTR when *stop kept hosts from starting. */
int rollout_run(struct rollout *r, const struct rollout_options *how, struct err *e);

/* Pure functions, public for tests. */

/* Reads a plan, which is hostile input. -EBADMSG. */
int rollout_read_facts(const json_t *plan, struct rollout_facts *facts, struct err *e);

/* Reads the failure groups of the ports that the plan of host h disrupts. */
void rollout_read_groups(const json_t *plan, const struct fabric *f, unsigned int h,
			 struct rollout_entry *u);

/* Writes the last error that a command printed, with its hint, on one line; "exit STATUS" if none.
 */
void rollout_reason(const char *stderr_text, int status, char *buf, size_t size);

#endif
