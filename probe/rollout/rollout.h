/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile on many hosts: connect to all, plan on all, then apply in the order of
 * rollout_next(). Each host runs its own transaction with a dead-man; we look at it after that from
 * here and confirm. A host we cannot reach any more undoes what it did, and we go on asking until
 * we know.
 */
#ifndef PROBE_ROLLOUT_H
#define PROBE_ROLLOUT_H

#include <stdatomic.h>

#include <jansson.h>

#include "profiles/base/base.h"
#include "profiles/fabric.h"

/* Which host of a rollout may be changed now. Pure: the canary first and alone, then as many at
 * once as allowed, but of those that flap or reset a port no two in one failure group. */

#define ROLLOUT_GROUPS_MAX   64
#define ROLLOUT_PARALLEL_MAX 64
#define ROLLOUT_EVERY_GROUP  UINT32_MAX /* of a port that belongs to nobody knows which */

enum rollout_stage {
	ROLLOUT_STAGE_WAITING,
	ROLLOUT_STAGE_RUNNING,
	ROLLOUT_STAGE_DONE,
	ROLLOUT_STAGE_FAILED, /* failed, or never reached */
};

/* One host. */
struct rollout_entry {
	enum rollout_stage stage;
	unsigned int group_count;	    /* 0: nothing is disrupted */
	uint32_t group[ROLLOUT_GROUPS_MAX]; /* of its ports that are disrupted */
};

struct rollout_limits {
	unsigned int canary;	 /* index; nothing else before it is good */
	unsigned int parallel;	 /* hosts at once, 1..ROLLOUT_PARALLEL_MAX */
	unsigned int max_failed; /* more than so many: no new ones */
};

/* Adds a group once; one too many becomes ROLLOUT_EVERY_GROUP. */
void rollout_add_group(struct rollout_entry *u, uint32_t group);

/* Index of the host to start now; -EAGAIN: none before a running one has ended; -ENOENT: no more.
 */
int rollout_next(const struct rollout_entry *unit, unsigned int n, const struct rollout_limits *l);

/* When each waiting host starts if all take equally long and none fails: wave[i] from 1, 0 for one
 * that does not start. Returns the number of waves, -ENOMEM. */
int rollout_waves(const struct rollout_entry *unit, unsigned int n, const struct rollout_limits *l,
		  unsigned int *wave);

#define ROLLOUT_REASON_MAX  640
#define ROLLOUT_SETTLE_AUTO UINT32_MAX

enum rollout_result {
	ROLLOUT_NOT_STARTED,
	ROLLOUT_UNCHANGED, /* it was as wanted */
	ROLLOUT_APPLIED,
	ROLLOUT_ROLLED_BACK,
	ROLLOUT_FAILED, /* see reached, lost and status */
	ROLLOUT_RESULT_COUNT,
};
const char *rollout_result_word(enum rollout_result result); /* "rolled back" */

/* What a plan (rocecheck.plan/1) means for the others. */
struct rollout_facts {
	unsigned int ports, changes, cannot;
	unsigned int disrupted; /* ports that are flapped or reset */
	bool unproven;		/* changes by a driver known from its source alone */
	char used[200];		/* a disrupted port and who uses it, empty = nobody */
};

struct rollout_host {
	char name[FABRIC_NAME_MAX];
	json_t *profile; /* what is asked of it, owned; the caller sets it before the plan */
	json_t *plan;	 /* owned; NULL: there is none */
	char *plan_text; /* owned, as the host prints it; NULL: not asked for */
	char *warnings;	 /* owned, of its plan; may be NULL */
	struct rollout_facts facts;
	bool reached;
	enum rollout_result result;
	int status; /* exit code of the command that failed there, 0 = none did */
	bool lost;  /* failed, and what it was before is not back, or we cannot know */
	char reason[ROLLOUT_REASON_MAX]; /* of a failure, and of not being started */
	char tx[32];			 /* its transaction, if there was one */
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

/* How it is done. */
struct rollout_options {
	struct rollout_limits limits;
	unsigned int confirm_within_s; /* of the dead-men */
	unsigned int wait_link_s;
	unsigned int settle_ms; /* until each looks again; ROLLOUT_SETTLE_AUTO: as it thinks */
	unsigned int margin_ms; /* a dead-man is late by so much at most */
	bool disruption;	/* steps that flap or reset a port were accepted */
};

/* f is borrowed until rollout_close(). *stop != 0 ends it in order: no host is begun any more,
 * those that run come to their end. progress may be NULL. */
int rollout_open(const struct fabric *f, const atomic_int *stop, rollout_progress *progress,
		 void *arg, struct rollout *r, struct err *e);
void rollout_close(struct rollout *r);

/* Hosts that are not reached are ROLLOUT_FAILED. */
void rollout_connect(struct rollout *r);

/* The plan of each host that was reached, and its unit. as_text: also as the host prints it. */
void rollout_plan(struct rollout *r, bool as_text);

/* First host whose plan changes something; if none does, the first that can be planned. Its index,
 * or host_count. */
unsigned int rollout_canary(const struct rollout *r);

/* Applies. 0, or -EINTR when it was stopped: then hosts are not started that would have been. */
int rollout_run(struct rollout *r, const struct rollout_options *how, struct err *e);

/* Parts of it, pure, for tests. */

/* plan is hostile. -EBADMSG when it is no plan. */
int rollout_read_facts(const json_t *plan, struct rollout_facts *facts, struct err *e);

/* The groups of the ports that the plan of host h disrupts. */
void rollout_read_groups(const json_t *plan, const struct fabric *f, unsigned int h,
			 struct rollout_entry *u);

/* The last error that a command printed, with its hint, in one line; "exit STATUS" without one. */
void rollout_reason(const char *stderr_text, int status, char *buf, size_t size);

#endif
