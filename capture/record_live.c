/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both processes of a live recording. One byte is a message:
 *
 *   to the parent    MSG_NEXT     requests the next file
 *                    MSG_RESULT   and a struct outcome: the recording ended
 *   to the child     MSG_FILE     and a descriptor
 *                    MSG_REFUSED  no file; the parent has the error
 *                    MSG_STOP     write all frames so far, and end
 */
#include "capture/record_live.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_MS	       100 /* delay until a signal or the end of the duration */
#define DRAIN_MS       250 /* at least, until the kernel delivers frames from before the end */
#define DRAIN_MAX_MS   30000
#define RESULT_MS      10000
#define END_TIMEOUT_MS (DRAIN_MAX_MS + RESULT_MS)
#define NS_PER_MS      UINT64_C(1000000)

enum message {
	MSG_NEXT = 'n',
	MSG_RESULT = 'r',
	MSG_FILE = 'f',
	MSG_REFUSED = 'x',
	MSG_STOP = 's',
};

/* Result of the child. */
struct outcome {
	uint64_t frames, roce, dropped;
	int drops;	  /* enum capture_drops */
	struct err error; /* code 0: no error */
};

/* In the child. */
struct recording {
	const struct record_live *live;
	struct input *input;
	struct recorder *recorder;
	uint64_t frames, roce, last_ns, next_look_ms;
	int parent;
	bool stop, alone; /* alone: the parent is gone */
};

/* In the parent. */
struct serving {
	const struct record_live *live;
	struct confined *c;
	struct record_live_result *result;
	struct err no_file; /* a file that cannot be created ends the recording with this error */
	int last;	    /* the previous file, -1: none */
};

static int recording_open(void *arg, struct err *e)
{
	struct recording *r = arg;

	return input_open_live(r->live->interface, input_filter(r->live->filter),
			       r->live->plan.snaplen, &r->input, e);
}

/* Reads one message of the parent; *fd is -1 but with MSG_FILE. */
static int recording_receive(struct recording *r, uint8_t *message, int *fd)
{
	int err = confined_receive_fd(r->parent, message, fd);

	r->alone |= err != 0;
	r->stop |= r->alone || *message == MSG_STOP;
	return err;
}

static int recording_next(void *arg, unsigned int n, struct err *e)
{
	struct recording *r = arg;
	uint8_t message = MSG_NEXT;
	int fd = -1, err = confined_write(r->parent, &message, 1);

	(void)n; /* the parent counts, too */
	do
		err = err ? err : recording_receive(r, &message, &fd);
	while (!err && message == MSG_STOP);
	if (!err && (message != MSG_FILE || fd < 0))
		err = -EIO;
	return err ? err_sys(e, err, "%s: cannot create the next file", r->live->plan.path) : fd;
}

/* True when the parent asked for the end; checked each STEP_MS. */
static bool recording_stopped(struct recording *r, uint64_t now_ms)
{
	uint8_t message;
	int fd;

	if (now_ms >= r->next_look_ms) {
		r->next_look_ms = now_ms + STEP_MS;
		while (!r->stop && confined_stopped(r->parent))
			(void)recording_receive(r, &message, &fd);
	}
	return r->stop;
}

/* 1 after one frame, 0 without a frame within the step, or -errno. */
static int recording_step(struct recording *r, struct err *e)
{
	uint32_t cap_len, wire_len;
	const uint8_t *data;
	struct packet p;
	uint64_t ns;
	int got = input_next(r->input, STEP_MS, &data, &cap_len, &wire_len, &ns, e);

	if (got <= 0)
		return got;
	packet_decode(input_dlt(r->input), data, cap_len, wire_len, ++r->frames, ns, &p);
	r->roce += p.kind == PACKET_ROCE;
	r->last_ns = ns;
	got = recorder_add(r->recorder, &p, data, e);
	return got ? got : 1;
}

static bool recording_is_full(const struct recording *r)
{
	return r->live->limit && r->frames >= r->live->limit;
}

/*
 * Frames in the ring arrived before the end and belong to the recording, however long writing
 * takes. The maximum is for a clock that was set back: then all frames are older.
 */
static int recording_drain(struct recording *r, struct err *e)
{
	uint64_t now = monotonic_ms(), until = now + DRAIN_MS, max = now + DRAIN_MAX_MS;
	uint64_t end_ns = (uint64_t)unix_ns();
	bool older = true;
	int got = 1;

	while (got >= 0 && !recording_is_full(r) && (now < until || (got && older && now < max))) {
		got = recording_step(r, e);
		older = r->last_ns < end_ns;
		now = monotonic_ms();
	}
	return got;
}

static int recording_fill(struct recording *r, struct err *e)
{
	unsigned int duration_ms = r->live->duration_ms;
	uint64_t now = monotonic_ms(), until = duration_ms ? now + duration_ms : UINT64_MAX;
	int err = recorder_open(&r->live->plan, r->input, recording_next, r, &r->recorder, e);

	while (!err && !recording_stopped(r, now) && now < until && !recording_is_full(r)) {
		err = recording_step(r, e);
		err = err < 0 ? err : 0;
		now = monotonic_ms();
	}
	if (!err)
		err = recording_drain(r, e);
	return err < 0 ? err : 0;
}

static void recording_run(void *arg, int parent)
{
	struct recording *r = arg;
	struct outcome o = {0};
	struct err later = {0};
	uint8_t message = MSG_RESULT;

	r->parent = parent;
	o.error.code = recording_fill(r, &o.error);
	o.drops = input_drops(r->input, &o.dropped);
	if (recorder_close(r->recorder, &later) && !o.error.code) {
		o.error = later;
		o.error.code = -EIO;
	}
	o.frames = r->frames;
	o.roce = r->roce;
	if (!confined_write(parent, &message, 1))
		(void)confined_write(parent, &o, sizeof(o));
}

int record_live_start(const struct record_live *live, struct confined *c, struct err *e)
{
	struct recording r = {.live = live};
	const struct confined_job job = {
		.open = recording_open,
		.run = recording_run,
		.arg = &r,
		.file_fd = -1,
		.unfiltered = live->unfiltered,
	};

	return confined_start(&job, c, e);
}

/* In the parent: the result of the child is as hostile as the frames. */
static int record_read_outcome(struct outcome *o, struct record_live_result *result, struct err *e)
{
	result->frames = o->frames;
	result->roce = o->roce;
	result->dropped = o->dropped;
	result->drops = o->drops == DROPS_ZERO	 ? DROPS_ZERO
			: o->drops == DROPS_SOME ? DROPS_SOME
						 : DROPS_UNKNOWN;
	return o->error.code ? confined_error(&o->error, e) : 0;
}

/* A decoder writes into a file before it requests the next. Files are created as fast as
 * requested. */
static bool record_last_is_empty(const struct serving *s)
{
	struct stat st;

	return s->last >= 0 && !fstat(s->last, &st) && S_ISREG(st.st_mode) && !st.st_size;
}

static int record_create_file(struct serving *s, struct err *e)
{
	if (record_last_is_empty(s))
		return err_set(e, -EPROTO,
			       "decoder process requests new files but writes nothing into them");
	return recorder_create_file(&s->live->plan, s->result->files + 1, e);
}

static void record_serve_file(struct serving *s)
{
	uint8_t refused = MSG_REFUSED;
	int fd = record_create_file(s, &s->no_file), err;

	if (fd < 0) {
		(void)confined_write(s->c->fd, &refused, 1);
		return;
	}
	s->result->files++;
	err = confined_send_fd(s->c->fd, MSG_FILE, fd);
	if (err)
		err_sys(&s->no_file, err, "decoder process exited");
	if (s->last >= 0)
		close(s->last);
	s->last = fd;
}

/* 1: the last message. */
static int record_serve_message(struct serving *s, struct err *e)
{
	struct outcome o;
	uint8_t message;
	int err = confined_read(s->c->fd, &message, 1, RESULT_MS);

	if (!err && message == MSG_NEXT) {
		if (!s->no_file.code)
			record_serve_file(s);
		return 0;
	}
	if (!err && message == MSG_RESULT)
		err = confined_read(s->c->fd, &o, sizeof(o), RESULT_MS);
	else if (!err)
		err = -EPROTO;
	if (err)
		return err_sys(e, err, "decoder process exited");
	err = record_read_outcome(&o, s->result, e);
	return err ? err : 1;
}

/* Serves until the result or the timeout. */
static int record_serve(struct serving *s, const atomic_int *stop, struct err *e)
{
	const struct record_live *live = s->live;
	uint64_t timeout = live->end_timeout_ms ? live->end_timeout_ms : END_TIMEOUT_MS;
	uint64_t now = monotonic_ms();
	uint64_t until = live->duration_ms ? now + live->duration_ms + timeout : UINT64_MAX;
	uint8_t message = MSG_STOP;
	bool stop_sent = false;
	int err = 0;

	for (; !err && now < until; now = monotonic_ms()) {
		struct pollfd p = {.fd = s->c->fd, .events = POLLIN};

		if (*stop && !stop_sent) {
			(void)confined_write(s->c->fd, &message, 1);
			stop_sent = true;
			if (now + timeout < until)
				until = now + timeout;
		}
		if (poll(&p, 1, STEP_MS) > 0)
			err = record_serve_message(s, e);
	}
	if (err)
		return err;
	err_set(e, -ETIMEDOUT, "decoder process does not finish");
	err_hint(e, "the recording may be incomplete");
	return -ETIMEDOUT;
}

int record_live_run(const struct record_live *live, struct confined *c, const atomic_int *stop,
		    struct record_live_result *result, struct err *e)
{
	struct serving s = {.live = live, .c = c, .result = result, .last = -1};
	struct err ended = {0};
	int err;

	memset(result, 0, sizeof(*result));
	err = record_serve(&s, stop, e);
	if (s.last >= 0)
		close(s.last);
	if (confined_close(c, &ended) && err == -EPIPE)
		*e = ended; /* states why it exited */
	if (s.no_file.code) {
		*e = s.no_file;
		return s.no_file.code;
	}
	return err < 0 ? err : 0;
}
