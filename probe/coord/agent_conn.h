/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coordinator's end of one agent, a process of an engine or a `probe server` behind a socket:
 * start it, ask one thing at a time, with a timer of our own for each question. A link that fails
 * once is lost for the run, and says why.
 */
#ifndef PROBE_AGENT_CONN_H
#define PROBE_AGENT_CONN_H

#include <jansson.h>
#include <stdatomic.h>

#include "probe/io/loop.h"

enum agent_conn_state {
	CONN_CLOSED,
	CONN_STARTING, /* until the hello */
	CONN_READY,
	CONN_LOST,
};

struct agent_conn {
	struct loop *loop;
	char name[64]; /* of the host, for errors */
	enum agent_conn_state state;
	char build[32];		      /* of the agent, from its hello */
	char stderr_line[512];	      /* last line of the launcher's stderr */
	struct loop_process *process; /* NULL: behind a stream */
	struct loop_stream *stream;
	struct loop_timer *timer;
	struct loop_timer *silence; /* of a stream: it says something at least every silence_ms */
	unsigned int silence_ms;
	bool silent; /* one more look before it is taken for lost */
	void (*event)(struct agent_conn *k, const json_t *doc, void *arg); /* may be NULL */
	void *event_arg;
	uint64_t id;	/* of the last question */
	const char *op; /* of the question that waits, NULL = none */
	unsigned int timeout_ms;
	json_t *reply;	/* of the last question; owned; NULL when it failed */
	struct err err; /* why */
};

/* Starts the agent with this command and waits in the background for its hello. Never fails: a link
 * that could not be started is CONN_LOST with its error. */
void agent_conn_open(struct agent_conn *k, struct loop *loop, const char *name,
		     const char *const *argv, unsigned int timeout_ms);

/* The same over a connected socket, which it takes over. The link is lost when nothing came for
 * silence_ms. */
void agent_conn_open_stream(struct agent_conn *k, struct loop *loop, const char *name, int fd,
			    unsigned int timeout_ms, unsigned int silence_ms);

/* End of input for the agent, no more answers. Frees all but the struct. */
void agent_conn_close(struct agent_conn *k);

/* Asks; fields (owned by the call, NULL = none) may hold anything but "id" and "op". Not on a link
 * that is busy. On a link that is not ready nothing happens. */
void agent_conn_ask(struct agent_conn *k, const char *op, json_t *fields, unsigned int timeout_ms);

/* Tells it something beside the question that waits; fields as above, the answer is dropped. */
void agent_conn_notify(struct agent_conn *k, const char *op, json_t *fields);

/* Tells the agent that we live. */
void agent_conn_ping(struct agent_conn *k, unsigned int lease_ms);

/* True while the hello or an answer is awaited. */
bool agent_conn_busy(const struct agent_conn *k);

/* Runs the loop until none of n links is busy, or *stop. */
void agent_conns_wait(struct loop *loop, struct agent_conn *k, unsigned int n,
		      const atomic_int *stop);

#endif
