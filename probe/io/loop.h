/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop of coordinator and agent: processes with pipes, sockets, line input, timers. All
 * of libuv is behind this header. Callbacks run inside loop_run_until() alone; an object is not
 * called back any more once its close function was called, and may be closed from its own callback.
 */
#ifndef PROBE_LOOP_H
#define PROBE_LOOP_H

#include "profiles/base/base.h"

#define LOOP_LINE_MAX (1u << 20) /* of any line */

struct loop;
struct loop_timer;
struct loop_input;
struct loop_process;
struct loop_stream;

/* SIGPIPE is ignored while a loop is open: a write to a dead process is an error, not our end. */
int loop_open(struct loop **l, struct err *e);
void loop_close(struct loop *l);

/* Milliseconds of a monotonic clock. */
uint64_t loop_now_ms(const struct loop *l);

/* How long the loop ran: the same without the time in which it stood still, be it that the process
 * was stopped, that its host gave it no processor, or that a callback took long. */
uint64_t loop_awake_ms(const struct loop *l);

/* Runs until done(arg) is true. It is asked after every event, at least every 100 ms. */
void loop_run_until(struct loop *l, bool (*done)(void *arg), void *arg);

int loop_timer_open(struct loop *l, void (*fn)(void *arg), void *arg, struct loop_timer **t);
/* Calls once, ms from now; a second call moves it. */
void loop_timer_set(struct loop_timer *t, uint64_t ms);
/* The same in time in which the loop ran, for who waits for others: nobody is late while it was us
 * who stood still. */
void loop_timer_set_awake(struct loop_timer *t, uint64_t ms);
void loop_timer_stop(struct loop_timer *t);
void loop_timer_close(struct loop_timer *t); /* NULL is allowed */

/* Lines of a pipe; takes over fd. line NULL: it was too long. end is called once. */
struct loop_input_events {
	void (*line)(char *line, size_t length, void *arg);
	void (*end)(void *arg);
};
int loop_input_open(struct loop *l, int fd, const struct loop_input_events *events, void *arg,
		    struct loop_input **in, struct err *e);
void loop_input_close(struct loop_input *in); /* NULL is allowed */

/* A process with pipes at stdin, stdout and stderr, in a session of its own. */
struct loop_process_events {
	void (*line)(char *line, size_t length, void *arg); /* stdout */
	void (*stderr_text)(const char *text, size_t length,
			    void *arg);			  /* stderr, any piece; may be NULL */
	void (*ended)(int status, int signal, void *arg); /* it is gone, its output read */
};
int loop_spawn(struct loop *l, const char *const *argv, const struct loop_process_events *events,
	       void *arg, struct loop_process **p, struct err *e);

/* Queues a copy for its stdin. -EPIPE when it does not read any more, -ENOMEM. */
int loop_process_write(struct loop_process *p, const char *data, size_t size);
void loop_process_end_input(struct loop_process *p);
void loop_process_kill(struct loop_process *p, int signal);

/* Closes its pipes, and kills it if it still runs. NULL is allowed. */
void loop_process_close(struct loop_process *p);

/* Closes its pipes and lets it run to its own end, which nobody hears of. NULL is allowed. */
void loop_process_leave(struct loop_process *p);

/* A connected socket whose other end speaks lines. line NULL: it was too long. */
struct loop_stream_events {
	void (*line)(char *line, size_t length, void *arg);
	void (*ended)(int err, void *arg); /* once: 0 at its end, -errno when it broke */
};
/* Takes over fd, on failure too. */
int loop_stream_open(struct loop *l, int fd, const struct loop_stream_events *events, void *arg,
		     struct loop_stream **s, struct err *e);

/* Queues a copy. -EPIPE when the other end takes nothing any more, -ENOMEM. */
int loop_stream_write(struct loop_stream *s, const char *data, size_t size);
int loop_stream_fd(const struct loop_stream *s); /* to be asked, not to be read; -1 */
void loop_stream_close(struct loop_stream *s);	 /* NULL is allowed */

#endif
