/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event loop of coordinator and agent: processes with pipes, sockets, line input, timers. Hides
 * libuv. Callbacks run only inside loop_run_until(); an object has no callbacks after its close
 * function, and may be closed from its own callback.
 */
#ifndef PROBE_LOOP_H
#define PROBE_LOOP_H

#include "profiles/base/base.h"

#define LOOP_LINE_MAX (1u << 20) /* bytes of a line */

struct loop;
struct loop_timer;
struct loop_input;
struct loop_process;
struct loop_stream;

/* Ignores SIGPIPE while a loop is open: a write to a dead process returns an error instead. */
int loop_open(struct loop **l, struct err *e);
void loop_close(struct loop *l);

/* Returns milliseconds of a monotonic clock. */
uint64_t loop_now_ms(const struct loop *l);

/* Returns the run time of the loop: loop_now_ms() without the time in which the process was
 * stopped, had no CPU, or spent in a long callback. */
uint64_t loop_awake_ms(const struct loop *l);

/* Runs until done(arg) is true; calls it after every event and at least every 100 ms. */
void loop_run_until(struct loop *l, bool (*done)(void *arg), void *arg);

int loop_timer_open(struct loop *l, void (*fn)(void *arg), void *arg, struct loop_timer **t);
/* Starts a one-shot timer, ms from now; a second call restarts it. */
void loop_timer_set(struct loop_timer *t, uint64_t ms);
/* As loop_timer_set(), but counts loop_awake_ms(): a peer is not late while this process itself had
 * no CPU. */
void loop_timer_set_awake(struct loop_timer *t, uint64_t ms);
void loop_timer_stop(struct loop_timer *t);
void loop_timer_close(struct loop_timer *t); /* NULL is allowed */

/* Reads lines from a pipe; owns fd. line NULL: a line was too long. */
struct loop_input_events {
	void (*line)(char *line, size_t length, void *arg);
	void (*end)(int err, void *arg); /* called once: 0 = end of input, else -errno */
};
int loop_input_open(struct loop *l, int fd, const struct loop_input_events *events, void *arg,
		    struct loop_input **in, struct err *e);
void loop_input_close(struct loop_input *in); /* NULL is allowed */

/* A child process in its own session. One socket is its stdin and stdout, another its stderr. */
struct loop_process_events {
	void (*line)(char *line, size_t length, void *arg); /* stdout */
	void (*stderr_text)(const char *text, size_t length,
			    void *arg); /* stderr, any piece; may be NULL */
	/* It exited and its output is read. status below 0: -errno, its output could not be read,
	 * and it was killed. */
	void (*ended)(int status, int signal, void *arg);
};
int loop_spawn(struct loop *l, const char *const *argv, const struct loop_process_events *events,
	       void *arg, struct loop_process **p, struct err *e);

/* Queues a copy for the child's stdin. -EPIPE when the child has closed it, -ENOMEM. */
int loop_process_write(struct loop_process *p, const char *data, size_t size);

/* Ends the child's stdin after the queued data; without memory for that, sends SIGTERM. */
void loop_process_end_input(struct loop_process *p);
void loop_process_kill(struct loop_process *p, int signal);

/* Closes its pipes, and kills it if it still runs. NULL is allowed. */
void loop_process_close(struct loop_process *p);

/* Closes its pipes and lets it run on; its exit is not reported. NULL is allowed. */
void loop_process_leave(struct loop_process *p);

/* A connected socket whose peer sends lines. line NULL: a line was too long. */
struct loop_stream_events {
	void (*line)(char *line, size_t length, void *arg);
	void (*ended)(int err, void *arg); /* called once: 0 = closed by the peer, else -errno */
};
/* Owns fd, even on failure. */
int loop_stream_open(struct loop *l, int fd, const struct loop_stream_events *events, void *arg,
		     struct loop_stream **s, struct err *e);

/* Queues a copy. -EPIPE when the peer has closed the connection, -ENOMEM. */
int loop_stream_write(struct loop_stream *s, const char *data, size_t size);
int loop_stream_fd(const struct loop_stream *s); /* for socket options only, not to read; or -1 */
void loop_stream_close(struct loop_stream *s);	 /* NULL is allowed */

#endif
