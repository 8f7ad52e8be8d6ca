/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the agent, for agent*.c: the operations and what they share. Adding an operation: a
 * function and a row in agent_ops[]; test_agent_proto walks the rows.
 */
#ifndef PROBE_AGENT_PRIV_H
#define PROBE_AGENT_PRIV_H

#include <jansson.h>
#include <pthread.h>

#include "probe/agent/agent.h"

#define AGENT_TRAFFIC_MAX 64
#define AGENT_CAPTURE_MAX 16
#define AGENT_PORTS_MAX	  64
#define AGENT_LATER	  1 /* an operation's result: it answers by itself */
#define AGENT_ID_MAX	  (UINT64_C(1) << 53)

struct dcb;
struct loop;
struct loop_timer;
struct agent_traffic;
struct agent_capture;
struct agent_command;

struct agent {
	const struct agent_config *config;
	struct loop *loop;
	struct loop_timer *lease;
	struct dcb *dcb;				  /* opened when first needed */
	struct agent_traffic *traffic[AGENT_TRAFFIC_MAX]; /* index = handle */
	struct agent_capture *capture[AGENT_CAPTURE_MAX];
	struct agent_command *command; /* the one that runs, NULL = none */
	bool lease_late;	       /* one more look at the input before it is taken for over */
	uint64_t starved_until_ms;     /* of the loop; 0: the lease holds */
	bool stopped;
	enum agent_stop_reason stop_reason; /* when it is over */
	pthread_mutex_t output; /* one line at a time: the one who says that we live is a thread */
};

/* 0 with *reply: an object the agent sends; AGENT_LATER; -errno with e. */
typedef int agent_op(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		     struct err *e);

enum agent_op_for {
	OP_FOR_PROBE, /* of `probe server`, and for a coordinator */
	OP_FOR_COORDINATOR,
	OP_FOR_CHANGES, /* of settings, for a coordinator; not with --read-only */
};

struct agent_op_row {
	const char *name;
	agent_op *run;
	const char *help;
	enum agent_op_for allowed;
};
extern const struct agent_op_row agent_ops[];
extern const unsigned int agent_op_count;

/* One request line; everything it causes is answered through agent_send(). NULL: it was too long.
 */
void agent_handle_line(struct agent *a, const char *line, size_t length);

/* Sends reply (owned by the call) with id and "ok", or an error when it is NULL or too large. */
void agent_reply(struct agent *a, uint64_t id, json_t *reply);
void agent_reply_error(struct agent *a, uint64_t id, const struct err *e);

/* Sends a document as a line: an event, or what is in a reply. doc is owned by the call. */
void agent_send(struct agent *a, json_t *doc);

/* The struct dcb of this host, opened once. */
int agent_dcb(struct agent *a, struct dcb **dcb, struct err *e);

agent_op agent_traffic_open, agent_traffic_connect, agent_traffic_run, agent_traffic_close;
agent_op agent_traffic_stop, agent_echo_open;
agent_op agent_capture_start, agent_capture_stop, agent_capture_read;
agent_op agent_plan, agent_apply, agent_confirm, agent_rollback, agent_transactions;

/* The first reason counts. */
void agent_stop(struct agent *a, enum agent_stop_reason end);

/* There is a result to tell, or there will be one. */
bool agent_traffic_has_run(const struct agent *a);

/* The lease ended: what runs ends with an answer that says so. */
void agent_traffic_lease_expired(struct agent *a);

/* Ends all of them, without an answer. */
void agent_traffic_stop_all(struct agent *a);
void agent_capture_stop_all(struct agent *a);

/* Lets the command that runs go on by itself: half an apply is worse than one that nobody hears of,
 * and what is not confirmed is undone. */
void agent_command_detach(struct agent *a);

#endif
