/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connection of the coordinator to one agent: a process of a launcher, or a `probe server` behind a
 * socket. Requests are calls, any number at a time, each with a timeout. A connection that failed
 * stays lost for the run and keeps its error.
 */
#ifndef PROBE_AGENT_CONN_H
#define PROBE_AGENT_CONN_H

#include <jansson.h>
#include <stdatomic.h>

#include "probe/io/loop.h"

struct fabric;
struct launcher;

enum agent_conn_state {
	CONN_CLOSED,
	CONN_STARTING, /* waits for the hello */
	CONN_READY,
	CONN_LOST,
};

/* One request and its answer. Zeroed before its first use; at rest before it is freed. */
struct agent_call {
	const char *op;	     /* while the answer is pending; else NULL */
	uint64_t id, end_ms; /* of loop_awake_ms(): the timeout */
	unsigned int timeout_ms;
	uint64_t sent_ns, answered_ns; /* of monotonic_ns() */
	json_t *reply;		       /* owned; NULL when the request failed */
	struct err err;		       /* why it failed */
	struct agent_call *next;
};

struct agent_conn {
	struct loop *loop;
	char name[64]; /* of the host, for errors */
	enum agent_conn_state state;
	char build[32];		      /* of the agent, from its hello */
	char boot_id[40];	      /* of its host, too; "" = not stated */
	char stderr_line[512];	      /* last line of the launcher's stderr */
	struct loop_process *process; /* NULL: behind a stream */
	struct loop_stream *stream;
	struct loop_timer *timer;
	struct loop_timer *silence; /* stream: time limit of silence_ms between two lines */
	unsigned int silence_ms;
	bool silent; /* the limit has passed; pending lines are read once more */
	void (*event)(struct agent_conn *k, const json_t *doc, void *arg); /* may be NULL */
	void *event_arg;
	uint64_t id;		    /* of the last request */
	unsigned int hello_ms;	    /* timeout of the hello */
	struct agent_call *pending; /* borrowed; oldest first */
	unsigned int abandoned;	    /* answers that may still come */
	struct agent_call call;	    /* of agent_conn_ask() */
	struct err err;		    /* why the connection was lost */
};

/* Starts the agent with this command; its hello is awaited in the background. Never fails: an agent
 * that cannot be started is CONN_LOST with its error. */
void agent_conn_open(struct agent_conn *k, struct loop *loop, const char *name,
		     const char *const *argv, unsigned int timeout_ms);

/* The same for a host of an inventory, with the command of its launcher. */
void agent_conn_launch(struct agent_conn *k, struct loop *loop, const struct launcher *launcher,
		       const struct fabric *f, unsigned int host);

/* The same over a connected socket, which it owns from now on. The connection is lost after
 * silence_ms without a line. */
void agent_conn_open_stream(struct agent_conn *k, struct loop *loop, const char *name, int fd,
			    unsigned int timeout_ms, unsigned int silence_ms);

/* Writes an error with its hint in brackets. */
void agent_error_text(const struct err *e, char *buf, size_t size);

/* Ends the input of the agent and frees all but the struct. Pending calls fail. */
void agent_conn_close(struct agent_conn *k);

/* Sends a request. fields (reference stolen, NULL = none) must not have "id" and "op"; op must be a
 * literal. Fails at once unless the connection is ready; does nothing while the call is pending. */
void agent_call(struct agent_conn *k, struct agent_call *c, const char *op, json_t *fields,
		unsigned int timeout_ms);

/* Gives up a pending call; its answer is dropped when it comes. */
void agent_call_abandon(struct agent_conn *k, struct agent_call *c);

/* Returns the reply of a call; NULL with its error in e: -EPIPE when the connection is lost, -EINTR
 * when a stop ended the wait. */
const json_t *agent_call_reply(const struct agent_conn *k, const struct agent_call *c,
			       struct err *e);

/* Frees the reply of a call that is not pending. */
void agent_call_clear(struct agent_call *c);

/* The same with the connection's own call, for those that ask one thing at a time. */
void agent_conn_ask(struct agent_conn *k, const char *op, json_t *fields, unsigned int timeout_ms);

/* Sends a request beside the pending one; fields as above. The answer is dropped. */
void agent_conn_notify(struct agent_conn *k, const char *op, json_t *fields);

/* Renews the lease of the agent. */
void agent_conn_ping(struct agent_conn *k, unsigned int lease_ms);

/* Returns true while the hello or an answer is pending. */
bool agent_conn_busy(const struct agent_conn *k);

/* Runs the loop until none of n connections is busy, or *stop. */
void agent_conns_wait(struct loop *loop, struct agent_conn *k, unsigned int n,
		      const atomic_int *stop);

#endif
