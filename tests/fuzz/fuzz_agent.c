/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An agent between an engine and its own processes, both of which say what they like. An input is
 *
 *   | flags 8 | then of each event: kind 8 | length 16 | that many bytes |
 *
 * flags & 1: the peer of a `probe server`; & 2: no process can be started; flags >> 2: bytes of
 * each piece in which the engine's bytes come, 0 = all at once. kind & 3: bytes of the engine, of a
 * process (kind & 4: on its stderr), the end of one (status and signal), or a timer that runs out;
 * kind >> 3 says which. The event loop is this file: nothing is started, and time does not pass.
 */
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dcb/kernel/dcb.h"
#include "probe/agent/agent_priv.h"
#include "probe/io/line_buffer.h"
#include "probe/io/loop.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/tree.h"

#define THINGS_MAX 512 /* processes, and timers, of an input */
#define HEAD_LEN   3
#define EVENTS_MAX 256

struct loop_timer {
	void (*fn)(void *arg);
	void *arg;
	bool set, closed;
};

struct loop_process {
	const struct loop_process_events *events;
	void *arg;
	struct line_buffer lines;
	bool traffic, ended, closed;
};

static struct loop_timer timers[THINGS_MAX];
static struct loop_process processes[THINGS_MAX];
static unsigned int timer_count, process_count, requests;
static bool no_processes;

int loop_open(struct loop **l, struct err *e)
{
	(void)l;
	(void)e;
	return -ENOSYS;
}

void loop_close(struct loop *l)
{
	(void)l;
}

void loop_run_until(struct loop *l, bool (*done)(void *arg), void *arg)
{
	(void)l;
	(void)done;
	(void)arg;
}

int loop_input_open(struct loop *l, int fd, const struct loop_input_events *events, void *arg,
		    struct loop_input **in, struct err *e)
{
	(void)l;
	(void)fd;
	(void)events;
	(void)arg;
	(void)in;
	(void)e;
	return -ENOSYS;
}

void loop_input_close(struct loop_input *in)
{
	(void)in;
}

int loop_timer_open(struct loop *l, void (*fn)(void *arg), void *arg, struct loop_timer **t)
{
	(void)l;
	if (timer_count == THINGS_MAX)
		return -ENOMEM;
	*t = &timers[timer_count++];
	**t = (struct loop_timer){.fn = fn, .arg = arg};
	return 0;
}

void loop_timer_set(struct loop_timer *t, uint64_t ms)
{
	HOLDS(!t->closed && ms < UINT32_MAX);
	t->set = true;
}

void loop_timer_set_awake(struct loop_timer *t, uint64_t ms)
{
	loop_timer_set(t, ms);
}

uint64_t loop_now_ms(const struct loop *l)
{
	(void)l;
	return 0;
}

void loop_timer_stop(struct loop_timer *t)
{
	HOLDS(!t->closed);
	t->set = false;
}

void loop_timer_close(struct loop_timer *t)
{
	if (t)
		t->closed = true;
}

/* No word of the engine is one of these but for the id of a transaction, which is no option. */
static void check_words(const char *const *argv)
{
	static const char good[] = "0123456789abcdefghijklmnopqrstuvwxyz-";
	static const char *const options[] = {
		"--traffic",	       "--json",	   "--quiet",  "--auto-approve", "--list",
		"--accept-disruption", "--confirm-within", "--settle", "--wait-link",	 "-"};

	HOLDS(!strcmp(argv[0], "self"));
	for (unsigned int i = 1; argv[i]; i++) {
		bool known = argv[i][0] != '-';

		HOLDS(argv[i][0] && !argv[i][strspn(argv[i], good)]);
		for (size_t k = 0; k < ARRAY_SIZE(options); k++)
			known |= !strcmp(argv[i], options[k]);
		HOLDS(known);
	}
}

int loop_spawn(struct loop *l, const char *const *argv, const struct loop_process_events *events,
	       void *arg, struct loop_process **p, struct err *e)
{
	(void)l;
	check_words(argv);
	if (no_processes || process_count == THINGS_MAX)
		return err_sys(e, -ENOENT, "%s", argv[0]);
	*p = &processes[process_count++];
	**p = (struct loop_process){
		.events = events, .arg = arg, .traffic = !strcmp(argv[1], "agent")};
	line_buffer_init(&(*p)->lines, LOOP_LINE_MAX);
	return 0;
}

/* A traffic process is given one line at a time. */
int loop_process_write(struct loop_process *p, const char *data, size_t size)
{
	HOLDS(!p->closed && size);
	if (p->traffic)
		HOLDS(memchr(data, '\n', size) == data + size - 1);
	return p->ended ? -EPIPE : 0;
}

void loop_process_end_input(struct loop_process *p)
{
	HOLDS(!p->closed && !p->traffic);
}

void loop_process_kill(struct loop_process *p, int number)
{
	HOLDS(!p->closed && number == SIGKILL);
}

void loop_process_close(struct loop_process *p)
{
	if (p)
		p->closed = true;
}

void loop_process_leave(struct loop_process *p)
{
	loop_process_close(p);
}

static void on_engine_line(char *line, size_t length, void *arg)
{
	struct agent *a = arg;
	json_t *doc = line ? json_loadb(line, length, 0, NULL) : NULL;
	const char *netdev = json_string_value(json_object_get(doc, "netdev"));

	if (json_is_object(doc))
		fuzz_reach(FUZZ_PARSED);

	/* Nothing is captured here, and nobody looks for who else uses this machine's ports. */
	if (!a->stopped && !(netdev && if_nametoindex(netdev)) &&
	    !(line && strstr(line, "users"))) {
		requests++;
		agent_handle_line(a, line, length);
	}
	json_decref(doc);
}

static void on_process_line(char *line, size_t length, void *arg)
{
	struct loop_process *p = arg;

	if (!p->closed)
		p->events->line(line, length, p->arg);
}

static void end_process(struct loop_process *p, int status, int number)
{
	if (p->closed || p->ended)
		return;
	p->ended = true;
	p->events->ended(status, number, p->arg);
}

static void hear_process(struct loop_process *p, const uint8_t *data, size_t size, bool complaint)
{
	if (p->closed || p->ended || !size)
		return;
	if (!complaint)
		HOLDS(!line_buffer_push(&p->lines, (const char *)data, size, on_process_line, p));
	else if (p->events->stderr_text)
		p->events->stderr_text((const char *)data, size, p->arg);
}

static void run_out(struct loop_timer *t)
{
	bool set = t->set && !t->closed;

	t->set = false;
	if (set)
		t->fn(t->arg);
}

static void happen(struct agent *a, struct line_buffer *engine, size_t piece, uint8_t kind,
		   const uint8_t *data, size_t size)
{
	unsigned int which = kind >> 3;

	switch (kind & 3) {
	case 0:
		for (size_t n; size; data += n, size -= n) {
			n = piece && piece < size ? piece : size;
			HOLDS(!line_buffer_push(engine, (const char *)data, n, on_engine_line, a));
		}
		break;
	case 1:
		if (process_count)
			hear_process(&processes[which % process_count], data, size, kind & 4);
		break;
	case 2:
		if (process_count)
			end_process(&processes[which % process_count], size ? data[0] : 0,
				    size > 1 ? data[1] & 31 : 0);
		break;
	default:
		if (timer_count)
			run_out(&timers[which % timer_count]);
	}
}

/* Objects, one a line; an error has its code and text. */
static void on_answer(char *line, size_t length, void *arg)
{
	unsigned int *answers = arg;
	json_t *doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const json_t *error = json_object_get(doc, "error");

	HOLDS(json_is_object(doc));
	if (!json_object_get(doc, "event")) {
		HOLDS(json_is_integer(json_object_get(doc, "id")));
		HOLDS(!error == json_is_true(json_object_get(doc, "ok")));
		if (!error)
			fuzz_reach(FUZZ_TAKEN);
		HOLDS(!error || (json_integer_value(json_object_get(error, "code")) < 0 &&
				 json_string_length(json_object_get(error, "text"))));
		(*answers)++;
	}
	json_decref(doc);
}

/* Every request has one answer, once its process is gone. */
static void check_answers(int fd)
{
	off_t size = lseek(fd, 0, SEEK_CUR);
	unsigned int answers = 0;
	char *text = malloc((size_t)size + 1);
	struct line_buffer l;

	HOLDS(text && pread(fd, text, (size_t)size, 0) == size);
	line_buffer_init(&l, LOOP_LINE_MAX);
	HOLDS(!line_buffer_push(&l, text, (size_t)size, on_answer, &answers));
	HOLDS(!l.used && answers == requests);
	line_buffer_clear(&l);
	free(text);
}

static void end_all(struct agent *a)
{
	for (unsigned int i = 0; i < process_count; i++)
		end_process(&processes[i], 0, SIGKILL);
	HOLDS(!a->stopped || a->stop_reason == AGENT_QUIT);
	HOLDS(!a->command);
	agent_traffic_stop_all(a);
	agent_capture_stop_all(a);
	for (unsigned int i = 0; i < process_count; i++) {
		HOLDS(processes[i].closed);
		line_buffer_clear(&processes[i].lines);
	}
}

struct event {
	uint8_t kind;
	const uint8_t *body;
	size_t size;
};

/* An event is doubled, left out, changes places with another, or becomes one of another kind. */
static size_t change_events(struct event *event, size_t count, struct dice *d)
{
	size_t at = dice_below(d, count), other = dice_below(d, count);
	struct event one = event[at];

	switch (dice_below(d, 4)) {
	case 0:
		memmove(event + other + 1, event + other, (count - other) * sizeof(*event));
		event[other] = one;
		return count + 1;
	case 1:
		memmove(event + at, event + at + 1, (count - at - 1) * sizeof(*event));
		return count - 1;
	case 2:
		event[at] = event[other];
		event[other] = one;
		return count;
	default:
		event[at].kind = (uint8_t)dice_number(d);
		return count;
	}
}

static size_t put_events(const struct event *event, size_t count, uint8_t flags, uint8_t *data,
			 size_t size, size_t max_size)
{
	struct tree_out out = {.size = max_size};

	out.data = malloc(max_size);
	HOLDS(out.data);
	tree_put(&out, (char *)&flags, 1);
	for (size_t i = 0; i < count; i++) {
		const uint8_t head[HEAD_LEN] = {event[i].kind, (uint8_t)event[i].size,
						(uint8_t)(event[i].size >> 8)};

		tree_put(&out, (const char *)head, HEAD_LEN);
		tree_put(&out, (const char *)event[i].body, event[i].size);
	}
	if (!out.full) {
		memcpy(data, out.data, out.used);
		size = out.used;
	}
	free(out.data);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static uint8_t room[UINT16_MAX];
	struct event event[EVENTS_MAX + 1], *one;
	const uint8_t *rest = data + 1, *head, *body;
	struct dice d = dice_of(seed);
	size_t left = size - 1, count = 0, len;

	if (!size || dice_one_in(&d, 32))
		return LLVMFuzzerMutate(data, size, max_size);
	while (count < EVENTS_MAX && fuzz_record(&rest, &left, HEAD_LEN, &head, &body, &len))
		event[count++] = (struct event){head[0], body, len};
	if (!count)
		return LLVMFuzzerMutate(data, size, max_size);
	if (dice_one_in(&d, 4)) {
		count = change_events(event, count, &d);
	} else {
		one = &event[dice_below(&d, count)];
		memcpy(room, one->body, one->size);
		one->body = room;
		one->size = mutate_json_lines(room, one->size, sizeof(room),
					      (unsigned int)dice_number(&d));
	}
	return put_events(event, count, dice_one_in(&d, 16) ? (uint8_t)dice_number(&d) : data[0],
			  data, size, max_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char empty[] = "tests/fuzz"; /* no sysfs, nor any other */
	static const struct dcb_roots nothing = {empty, empty, empty, empty};
	struct agent_config config = {.build = "fuzz", .self = "self"};
	struct agent a = {.config = &config, .output = PTHREAD_MUTEX_INITIALIZER};
	const uint8_t *head, *body;
	static struct dcb *dcb;
	static int fd = -1;
	struct line_buffer engine;
	struct err e;
	size_t len;
	uint8_t flags;

	fuzz_begin();
	if (!size)
		return 0;
	if (fd < 0)
		HOLDS((fd = memfd_create("answers", MFD_CLOEXEC)) >= 0);
	if (!dcb)
		HOLDS(!dcb_open(&nothing, &dcb, &e));
	HOLDS(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	flags = *data++;
	size--;
	timer_count = process_count = requests = 0;
	no_processes = flags & 2;
	config.probe_only = flags & 1;
	config.out_fd = fd;
	a.dcb = dcb;
	line_buffer_init(&engine, LOOP_LINE_MAX);
	while (fuzz_record(&data, &size, HEAD_LEN, &head, &body, &len))
		happen(&a, &engine, flags >> 2, head[0], body, len);
	end_all(&a);
	check_answers(fd);
	line_buffer_clear(&engine);
	return 0;
}
