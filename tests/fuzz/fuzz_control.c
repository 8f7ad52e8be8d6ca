/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one end of a probe hears of the other. An input is
 *
 *   | kind 8 | bytes of the connection |
 *
 * kind & 1: they come to a client that asks an agent, hello, answers, progress and the rest. Else
 * they are lines, each taken as the greeting and proof of either end, and as spec, peer, counters
 * and result of traffic and of a marking echo; what could be read is then judged. kind >> 1: bytes
 * of each piece in which they come, 0 = all at once.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "probe/coord/agent_conn.h"
#include "probe/io/handshake.h"
#include "probe/io/line_buffer.h"
#include "reports/traffic/probe_verdict.h"
#include "tests/fuzz/mutate.h"

#define TOKEN	  "0123456789abcdef0123456789abcdef"
#define LINE_MOST 65536
#define QUESTIONS 4u
#define WAIT_MS	  60000u /* never reached: the connection ends */

static void check_error(int got, const struct err *e)
{
	HOLDS(got < 0 && *e->text && memchr(e->text, 0, sizeof(e->text)) &&
	      memchr(e->hint, 0, sizeof(e->hint)));
}

/* What can be read from a document, and told again. */
union thing {
	struct traffic_spec spec;
	struct traffic_endpoint peer;
	struct traffic_result sums;
	struct traffic_report report;
	struct marking_spec echo;
	struct marking_result marking;
	struct counters reading;
};

#define READER(name, member)                                                                       \
	static int member##_take(const json_t *json, union thing *t, struct err *e)                \
	{                                                                                          \
		return name##_from_json(json, &t->member, e);                                      \
	}                                                                                          \
	static json_t *member##_tell(const union thing *t)                                         \
	{                                                                                          \
		return name##_to_json(&t->member);                                                 \
	}

READER(traffic_spec, spec)
READER(traffic_endpoint, peer)
READER(traffic_result, sums)
READER(traffic_report, report)
READER(marking_spec, echo)
READER(marking_result, marking)
READER(counters, reading)

/* A probe of which these documents tell. */
struct scene {
	struct pair t;
	struct pair_marking echo;
	struct run_host host[SIDES];
	struct run_port run_port[SIDES];
	struct run_pair pair;
	struct run_ends ends;
	struct port port[SIDES];
	struct gid gid;
	unsigned int reports, markings, readings;
};

static void keep_spec(struct scene *s, union thing *v)
{
	for (unsigned int i = 0; i < SIDES; i++) {
		s->ends.side[i].spec = v->spec;
		s->ends.side[i].spec.role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
	}
}

static void keep_report(struct scene *s, union thing *v)
{
	struct run_end *end = &s->ends.side[s->reports++ % SIDES];

	traffic_report_clear(&end->report);
	end->report = v->report;
	end->has_report = true;
	memset(v, 0, sizeof(v->report)); /* it is the scene's */
}

static void keep_echo(struct scene *s, union thing *v)
{
	for (unsigned int i = 0; i < SIDES; i++) {
		s->echo.spec[i] = v->echo;
		s->echo.spec[i].role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
	}
	s->t.echo = &s->echo;
}

static void keep_marking(struct scene *s, union thing *v)
{
	unsigned int side = s->markings++ % SIDES;

	s->echo.result[side] = v->marking;
	s->echo.has_result[side] = true;
}

static void keep_counters(struct scene *s, union thing *v)
{
	unsigned int n = s->readings++;

	run_port_set_reading(&s->run_port[n % SIDES], (enum run_reading)(n / SIDES % READ_COUNT),
			     &v->reading);
}

static void clear_report(union thing *v)
{
	traffic_report_clear(&v->report);
}

static const struct reader {
	size_t size;
	int (*take)(const json_t *json, union thing *v, struct err *e);
	json_t *(*tell)(const union thing *v);
	void (*keep)(struct scene *s, union thing *v);
	void (*clear)(union thing *v);
} readers[] = {
	{sizeof(struct traffic_spec), spec_take, spec_tell, keep_spec, NULL},
	{sizeof(struct traffic_endpoint), peer_take, peer_tell, NULL, NULL},
	{sizeof(struct traffic_result), sums_take, sums_tell, NULL, NULL},
	{sizeof(struct traffic_report), report_take, report_tell, keep_report, clear_report},
	{sizeof(struct marking_spec), echo_take, echo_tell, keep_echo, NULL},
	{sizeof(struct marking_result), marking_take, marking_tell, keep_marking, NULL},
	{sizeof(struct counters), reading_take, reading_tell, keep_counters, NULL},
};

/* What was read is told so that it is read as the same. */
static void check_told(const struct reader *r, const union thing *v)
{
	static union thing back;
	json_t *told = r->tell(v), *again;
	struct err e = {0};

	HOLDS(told);
	if (r->take(told, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	again = r->tell(&back);
	HOLDS(json_equal(told, again));
	json_decref(told);
	json_decref(again);
	if (r->clear)
		r->clear(&back);
}

static void take_document(struct scene *s, const json_t *doc)
{
	static union thing v, before;

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		const struct reader *r = &readers[i];
		struct err e = {0};
		int got;

		memset(&v, 0x5a, r->size);
		memset(&before, 0x5a, r->size);
		got = r->take(doc, &v, &e);
		if (got) {
			check_error(got, &e);
			HOLDS(!memcmp(&v, &before, r->size));
			continue;
		}
		fuzz_reach(FUZZ_TAKEN);
		check_told(r, &v);
		if (r->keep)
			r->keep(s, &v);
		if (r->clear)
			r->clear(&v);
	}
}

/* The one talk of which a proof could be right. */
static const struct handshake gate_sample = {
	.client = "198.18.0.1 port 40000",
	.server = "198.18.0.2 port 18515",
	.greeting = {[HANDSHAKE_CLIENT] = "client\n", [HANDSHAKE_SERVER] = "server\n"},
};

/* A door opens for the one right proof alone, and a greeting is taken whole or not. */
static void check_gate(const char *line, size_t length, enum handshake_role other)
{
	char *exact = (char *)fuzz_exact((const uint8_t *)line, length), right[HANDSHAKE_LINE_MAX];
	struct handshake talk = gate_sample;
	struct err e = {0};
	int got = handshake_greeting_parse(exact, length, other, &talk, &e);

	if (got) {
		check_error(got, &e);
		HOLDS(!memcmp(&talk, &gate_sample, sizeof(talk)));
	} else {
		HOLDS(strlen(talk.greeting[other]) == length + 1 &&
		      !memcmp(talk.greeting[other], line, length));
	}
	HOLDS(!strcmp(talk.client, gate_sample.client));
	memset(&e, 0, sizeof(e));
	got = handshake_proof_check(exact, length, other, &gate_sample, TOKEN, &e);
	handshake_proof_make(&gate_sample, other, TOKEN, right);
	if (got)
		check_error(got, &e);
	else
		HOLDS(strlen(right) == length + 1 && !memcmp(right, line, length));
	free(exact);
}

static void on_line(char *line, size_t length, void *arg)
{
	json_t *doc;

	if (!line)
		return;
	HOLDS(!line[length]);
	check_gate(line, length, HANDSHAKE_CLIENT);
	check_gate(line, length, HANDSHAKE_SERVER);
	doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(doc)) {
		fuzz_reach(FUZZ_PARSED);
		take_document(arg, doc);
	}
	json_decref(doc);
}

static void open_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->t.run.host = s->host;
	s->t.run.host_count = SIDES;
	s->t.run.pair = &s->pair;
	s->t.run.pair_count = 1;
	s->pair.ends = &s->ends;
	s->pair.server_host = SIDE_SERVER;
	s->t.chosen = s->t.ran = true;
	for (unsigned int i = 0; i < SIDES; i++) {
		snprintf(s->host[i].name, sizeof(s->host[i].name), "h%u", i + 1);
		snprintf(s->port[i].netdev, sizeof(s->port[i].netdev), "roce0");
		s->port[i].kind = i ? PORT_SOFT_ROCE : PORT_ROCE_PF;
		s->t.ends.port[i] = &s->port[i];
		s->t.ends.gid[i] = &s->gid;
		s->host[i].port = &s->run_port[i];
		s->host[i].port_count = 1;
		s->host[i].before.port = &s->port[i];
		s->host[i].before.port_count = 1;
		memcpy(s->run_port[i].netdev, s->port[i].netdev, sizeof(s->run_port[i].netdev));
		run_port_set_device(&s->run_port[i], &s->port[i]);
	}
}

/* Whatever the ends say, there is a verdict, and a document of it. */
static void judge(struct scene *s)
{
	static struct probe_verdict v;
	struct err e = {0};
	json_t *doc;

	if (!s->ends.side[0].spec.class_count)
		return;
	if (s->t.echo)
		pair_marking_add(&s->t.run, s->t.echo);
	if (pair_judge(&s->t, 0, &v, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	doc = traffic_verdict_to_json(&v.v);
	HOLDS(doc);
	json_decref(doc);
	doc = pair_to_json(&s->t);
	HOLDS(doc);
	json_decref(doc);
	probe_verdict_clear(&v);
	if (s->t.run.marking)
		free(s->t.run.marking->finding);
	free(s->t.run.marking);
}

static void read_lines(const uint8_t *data, size_t size, size_t piece)
{
	static struct scene s;
	struct line_buffer l;

	open_scene(&s);
	line_buffer_init(&l, LINE_MOST);
	for (size_t n; size; data += n, size -= n) {
		uint8_t *exact;

		n = piece && piece < size ? piece : size;
		exact = fuzz_exact(data, n);
		HOLDS(!line_buffer_push(&l, (const char *)exact, n, on_line, &s));
		free(exact);
	}
	line_buffer_clear(&l);
	judge(&s);
	for (unsigned int i = 0; i < SIDES; i++)
		traffic_report_clear(&s.ends.side[i].report);
}

/* A client, and the other end of its connection. */
struct talk {
	struct agent_conn link;
	int fd;
	const uint8_t *data;
	size_t size, piece;
	unsigned int asked, events;
};

static void on_event(struct agent_conn *k, const json_t *doc, void *arg)
{
	struct talk *t = arg;

	HOLDS(k == &t->link && json_is_object(doc));
	t->events++;
}

/* Says the next piece, or line, and nothing more at the end. */
static void say_more(struct talk *t)
{
	const uint8_t *newline = memchr(t->data, '\n', t->size);
	size_t n = newline ? (size_t)(newline - t->data) + 1 : t->size;
	ssize_t sent;

	if (t->piece)
		n = t->piece < t->size ? t->piece : t->size;
	sent = n ? send(t->fd, t->data, n, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
	if (sent > 0) {
		t->data += sent;
		t->size -= (size_t)sent;
	}
	if (!t->size)
		(void)shutdown(t->fd, SHUT_WR);
}

static bool is_over(void *arg)
{
	struct talk *t = arg;

	if (t->link.state == CONN_READY && !agent_conn_busy(&t->link) && t->asked++ < QUESTIONS)
		agent_conn_ask(&t->link, "counters", NULL, WAIT_MS);
	say_more(t);
	return t->link.state == CONN_LOST;
}

static void talk(const uint8_t *data, size_t size, size_t piece)
{
	static struct loop *loop;
	struct talk t = {.data = data, .size = size, .piece = piece};
	struct err e = {0};
	int pair[2];

	if (!loop)
		HOLDS(!loop_open(&loop, &e));
	HOLDS(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	t.fd = pair[1];
	agent_conn_open_stream(&t.link, loop, "peer", pair[0], WAIT_MS, WAIT_MS);
	t.link.event = on_event;
	t.link.event_arg = &t;
	loop_run_until(loop, is_over, &t);
	/* The first line was read; and an answer was as it should be. */
	if (t.link.build[0])
		fuzz_reach(FUZZ_PARSED);
	if (t.asked > 1)
		fuzz_reach(FUZZ_TAKEN);
	HOLDS(t.link.err.code < 0 && *t.link.err.text && !t.link.call.reply && !t.link.pending);
	HOLDS(memchr(t.link.build, 0, sizeof(t.link.build)));
	agent_conn_close(&t.link);
	close(t.fd);
}

/* The kind seldom, else a line. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	if (size < 2 || max_size < 2)
		return LLVMFuzzerMutate(data, size, max_size);
	if (seed % 16 == 0)
		data[0] = (uint8_t)(seed >> 4);
	return 1 + mutate_json_lines(data + 1, size - 1, max_size - 1, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_begin();
	if (!size)
		return 0;
	(data[0] & 1 ? talk : read_lines)(data + 1, size - 1, data[0] >> 1);
	return 0;
}
