/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations of the agent and their shared state, for agent*.c. To add an operation, add a function
 * and a row in agent_ops[]; test_agent_proto walks the rows.
 */
#ifndef PROBE_AGENT_PRIV_H
#define PROBE_AGENT_PRIV_H

#include <jansson.h>
#include <pthread.h>

#include "probe/agent/agent.h"

#define AGENT_TRAFFIC_MAX 64
#define AGENT_CAPTURE_MAX 16
#define AGENT_PORTS_MAX	  64
#define AGENT_LATER	  1 /* result of an operation that replies later */
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
	struct agent_command *command; /* running command, NULL = none */
	bool lease_late;	       /* expired; pending input is read once more */
	uint64_t starved_until_ms;     /* loop_now_ms(); 0: the lease is valid */
	bool stopped;
	enum agent_stop_reason stop_reason; /* valid when stopped */
	int input_err;			    /* -errno: the input could not be read */
	pthread_mutex_t output;		    /* serializes lines: a thread sends the alive events */
};

/* Returns 0 with *reply, an object to send; AGENT_LATER; or -errno with e. */
typedef int agent_op(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		     struct err *e);

enum agent_op_for {
	OP_FOR_PROBE, /* allowed in `probe server` and for a coordinator */
	OP_FOR_COORDINATOR,
	OP_FOR_CHANGES, /* changes settings: for a coordinator, not with --read-only */
};

struct agent_op_row {
	const char *name;
	agent_op *run;
	const char *help;
	enum agent_op_for allowed;
};
extern const struct agent_op_row agent_ops[];
extern const unsigned int agent_op_count;

/* Handles one request line and replies through agent_send(). line NULL: it was too long. */
void agent_handle_line(struct agent *a, const char *line, size_t length);

/* Sends reply (steals the reference) with id and "ok"; sends an error if it is NULL or too large.
 */
void agent_reply(struct agent *a, uint64_t id, json_t *reply);
void agent_reply_error(struct agent *a, uint64_t id, const struct err *e);

/* Sends a document as one line. Steals the reference. */
void agent_send(struct agent *a, json_t *doc);

/* Returns the struct dcb of this host; opens it at the first call. */
int agent_dcb(struct agent *a, struct dcb **dcb, struct err *e);

agent_op agent_traffic_open, agent_traffic_connect, agent_traffic_run, agent_traffic_close;
agent_op agent_traffic_stop, agent_echo_open;
agent_op agent_capture_start, agent_capture_stop, agent_capture_read;
agent_op agent_plan, agent_apply, agent_confirm, agent_rollback, agent_transactions;

/* Stops the agent; the first reason is kept. */
void agent_stop(struct agent *a, enum agent_stop_reason end);

/* Returns true if a traffic run has a result or is running. */
bool agent_traffic_has_run(const struct agent *a);

/* Ends running traffic after the lease expired; its answer states the reason. */
void agent_traffic_lease_expired(struct agent *a);

/* End all traffic or captures without a reply. */
void agent_traffic_stop_all(struct agent *a);
void agent_capture_stop_all(struct agent *a);

/* Lets the running command continue without the agent: an interrupted apply is worse than an
 * unobserved one, which is rolled back if nobody confirms it. */
void agent_command_detach(struct agent *a);

#endif
