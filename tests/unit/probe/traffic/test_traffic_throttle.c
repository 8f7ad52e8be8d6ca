/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paced traffic on the branch that hardware takes: the worker polls, stands still at random times
 * for up to 100 ms, and gets its completions late and together. Whatever happens, no millisecond
 * has more than its share and one message, and no receiver more than its bytes under way.
 */
#include <inttypes.h>

#include "probe/traffic/traffic_worker.h"
#include "tests/unit/probe/traffic/traffic_pair.h"

#define WINDOW_NS   UINT64_C(1000000)
#define FLIGHT_MOST (256u << 10)
#define RUN_MS	    400u
#define POSTS_MAX   (1u << 18)

struct post {
	uint64_t when_ns;
	uint32_t bytes;
};

/* Towards one end. Its windows are of each sender: the peer, and itself by READ. */
struct receiver {
	uint64_t under_way, most;
	uint64_t share[2]; /* bytes of any millisecond */
	struct post *post[2];
	unsigned int count[2];
};

/* By the number of a queue pair. */
struct input {
	bool known;
	unsigned int receiver;
	bool reads;
	uint32_t bytes;
};

static struct receiver receivers[2];
static struct input sources[FAKE_QPS];
static _Thread_local unsigned int dice;
static _Atomic unsigned int stalls;
static unsigned int stall_every; /* of so many chances one is taken */

static struct input *source_of(uint32_t qpn)
{
	struct input *s = &sources[qpn - FAKE_FIRST_QPN];

	return s->known ? s : NULL;
}

static void on_post(const struct ibv_send_wr *wr, uint32_t qpn)
{
	struct input *s = source_of(qpn);
	struct receiver *r;
	unsigned int n;

	(void)wr;
	if (!s)
		return;
	r = &receivers[s->receiver];
	n = r->count[s->reads];
	if (n < POSTS_MAX)
		r->post[s->reads][r->count[s->reads]++] = (struct post){fake_now_ns(), s->bytes};
	r->under_way += s->bytes;
	if (r->under_way > r->most)
		r->most = r->under_way;
}

static void on_poll(const struct ibv_wc *wc)
{
	struct input *s = source_of(wc->qp_num);

	if (s && !(wc->opcode & IBV_WC_RECV) && wc->wr_id >> 32 != UINT32_MAX)
		receivers[s->receiver].under_way -= s->bytes;
}

/* A thread stands still as long as it likes, wherever it is. */
static void on_pause(void)
{
	static const unsigned int ms[] = {1, 2, 5, 5, 20, 1, 2, 5, 5, 100};

	dice = dice * 1103515245u + 12345u;
	if ((dice >> 8) % stall_every)
		return;
	usleep(1000 * ms[stalls++ % ARRAY_SIZE(ms)]);
}

static void know_end(const struct end *end, unsigned int receiver)
{
	const struct traffic_spec *spec = &end->traffic->spec;

	for (unsigned int i = 0; i < traffic_spec_qps(spec); i++) {
		const struct qp_flow *f = traffic_qp_flow(end->traffic, i);
		bool reads = f->class->verb == TRAFFIC_READ;

		if (!f->tx.on)
			continue;
		sources[f->qp->qp_num - FAKE_FIRST_QPN] = (struct input){
			true, reads ? !receiver : receiver, reads, class_bytes(f->class)};
		if (!f->number)
			receivers[reads ? !receiver : receiver].share[reads] +=
				f->class->rate_bytes_per_s / 1000;
	}
}

static void watch_pair(struct pair *p)
{
	memset(sources, 0, sizeof(sources));
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < 2; k++) {
			free(receivers[i].post[k]);
			receivers[i].post[k] = NULL;
		}
	memset(receivers, 0, sizeof(receivers));
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < 2; k++) {
			receivers[i].post[k] = calloc(POSTS_MAX, sizeof(struct post));
			assert_non_null(receivers[i].post[k]);
		}
	know_end(&p->client, 1);
	know_end(&p->server, 0);
	stalls = 0;
	fake.on_post = on_post;
	fake.on_poll = on_poll;
	fake.on_pause = on_pause;
}

/* The millisecond with the most. */
static uint64_t worst_window(const struct post *post, unsigned int count)
{
	uint64_t sum = 0, worst = 0;

	for (unsigned int i = 0, from = 0; i < count; i++) {
		sum += post[i].bytes;
		while (post[i].when_ns - post[from].when_ns >= WINDOW_NS)
			sum -= post[from++].bytes;
		worst = sum > worst ? sum : worst;
	}
	return worst;
}

struct scene {
	const char *name;
	unsigned int class_count, threads, senders, burst_ms;
	struct traffic_class class[3];
};

#define PACED(...)                                                                                 \
	{                                                                                          \
		.check = TRAFFIC_CHECK_SAMPLED, __VA_ARGS__                                        \
	}

static const struct scene scenes[] = {
	{"large messages",
	 1,
	 1,
	 1,
	 0,
	 {PACED(.qps = 1, .message_bytes = 65536, .rate_bytes_per_s = 40000000)}},
	{"messages larger than the share, of 4 queue pairs",
	 1,
	 1,
	 1,
	 5,
	 {PACED(.qps = 4, .message_bytes = 65536, .rate_bytes_per_s = 50000000)}},
	{"at the share of a fast link",
	 1,
	 1,
	 1,
	 0,
	 {{.qps = 1, .message_bytes = 65536, .rate_bytes_per_s = 625000000}}},
	{"small messages, 2 threads",
	 1,
	 2,
	 1,
	 5,
	 {PACED(.qps = 4, .message_bytes = 4096, .rate_bytes_per_s = 40000000)}},
	{"tiny messages",
	 1,
	 1,
	 1,
	 5,
	 {PACED(.qps = 2, .message_bytes = 64, .rate_bytes_per_s = 4000000)}},
	{"one of 4 senders",
	 1,
	 1,
	 4,
	 5,
	 {PACED(.qps = 8, .message_bytes = 16384, .rate_bytes_per_s = 80000000)}},
	{"one of 32 senders",
	 1,
	 2,
	 32,
	 5,
	 {PACED(.qps = 4, .message_bytes = 4096, .rate_bytes_per_s = 80000000)}},
	{"READ",
	 1,
	 1,
	 1,
	 20,
	 {PACED(.verb = TRAFFIC_READ, .qps = 2, .message_bytes = 32768,
		.rate_bytes_per_s = 40000000)}},
	{"SEND both ways",
	 1,
	 1,
	 1,
	 5,
	 {PACED(.verb = TRAFFIC_SEND, .direction = TRAFFIC_BOTH, .qps = 2, .message_bytes = 16384,
		.rate_bytes_per_s = 40000000)}},
	{"datagrams",
	 1,
	 1,
	 1,
	 0,
	 {PACED(.verb = TRAFFIC_SEND, .transport = TRAFFIC_UD, .qps = 3, .message_bytes = 1024,
		.rate_bytes_per_s = 10000000)}},
	{"UC, 2 threads",
	 1,
	 2,
	 2,
	 0,
	 {PACED(.verb = TRAFFIC_WRITE_IMM, .transport = TRAFFIC_UC, .qps = 4, .message_bytes = 4096,
		.rate_bytes_per_s = 40000000)}},
	{"classes to one receiver from both ends",
	 3,
	 2,
	 1,
	 5,
	 {PACED(.qps = 2, .message_bytes = 65536, .rate_bytes_per_s = 40000000),
	  PACED(.verb = TRAFFIC_READ, .direction = TRAFFIC_BACKWARD, .qps = 2,
		.message_bytes = 16384, .rate_bytes_per_s = 30000000),
	  PACED(.verb = TRAFFIC_SEND, .qps = 1, .message_bytes = 1024,
		.rate_bytes_per_s = 5000000)}},
	{"latency of 16 queue pairs",
	 1,
	 1,
	 1,
	 0,
	 {PACED(.probe = true, .qps = 16, .message_bytes = 8192, .rate_bytes_per_s = 16000000)}},
};

static struct pair pair_of_scene(const struct scene *s)
{
	struct pair p = pair_of(s->class[0], TRAFFIC_OBSERVE);

	memcpy(p.client.spec.class, s->class, sizeof(s->class));
	p.client.spec.class_count = s->class_count;
	p.client.spec.threads = (uint8_t)s->threads;
	p.client.spec.senders = (uint16_t)s->senders;
	p.client.spec.duration_ms = RUN_MS;
	p.server.spec = p.client.spec;
	fake.burst_ms = s->burst_ms;
	return p;
}

static uint32_t largest(const struct scene *s)
{
	uint32_t bytes = 0;

	for (unsigned int i = 0; i < s->class_count; i++)
		if (s->class[i].message_bytes > bytes)
			bytes = s->class[i].message_bytes;
	return bytes;
}

static void check_scene(const struct scene *s, const struct pair *p)
{
	uint32_t message = largest(s);
	uint64_t moved = 0;

	expect_clean(p, s->name);
	for (unsigned int i = 0; i < 2; i++) {
		const struct receiver *r = &receivers[i];

		for (unsigned int k = 0; k < 2; k++) {
			uint64_t worst = worst_window(r->post[k], r->count[k]);

			if (worst > r->share[k] + message)
				fail_msg("%s: %" PRIu64 " bytes in 1 ms, at most %" PRIu64
					 " and %u: %s",
					 s->name, worst, r->share[k], message, k ? "READ" : "");
			moved += r->count[k];
		}
		if (r->most > FLIGHT_MOST / s->senders)
			fail_msg("%s: %" PRIu64 " bytes under way", s->name, r->most);
	}
	assert_true(moved > 0);
}

static void run_scene(const struct scene *s, bool soft)
{
	struct pair p = pair_of_scene(s);

	open_pair(&p);
	watch_pair(&p);
	p.client.traffic->soft = p.server.traffic->soft = soft;
	stall_every = s->class[0].message_bytes < 4096 ? 2000 : 300;
	go_pair(&p);
	check_scene(s, &p);
	close_pair(&p);
}

/* On a busy machine a run may post too little for a stall: then it is run again. */
static void run_scenes(bool soft)
{
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		run_scene(&scenes[i], soft);
		for (unsigned int again = 0; again < 9 && !stalls; again++)
			run_scene(&scenes[i], soft);
		assert_true(stalls > 0);
	}
}

/* As on hardware: the worker polls. */
static void test_polling(void **state)
{
	(void)state;
	run_scenes(false);
}

/* As on Soft-RoCE: it sleeps, and wakes late. */
static void test_sleeping(void **state)
{
	(void)state;
	run_scenes(true);
}

/* With a count all of it moves, by whatever verb, though little is under way. */
static void test_counts(void **state)
{
	static const struct traffic_class kinds[] = {
		{.verb = TRAFFIC_WRITE, .check = TRAFFIC_CHECK_EVERY},
		{.verb = TRAFFIC_WRITE_IMM},
		{.verb = TRAFFIC_READ, .check = TRAFFIC_CHECK_EVERY, .direction = TRAFFIC_BOTH},
		{.verb = TRAFFIC_SEND, .direction = TRAFFIC_BACKWARD},
		{.verb = TRAFFIC_ATOMIC},
		{.verb = TRAFFIC_WRITE, .probe = true},
		{.verb = TRAFFIC_SEND, .transport = TRAFFIC_UD},
		{.verb = TRAFFIC_WRITE_IMM, .transport = TRAFFIC_UC},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct traffic_class k = kinds[i];
		struct pair p;

		k.qps = 3;
		k.count = 100;
		k.message_bytes = 4096;
		k.rate_bytes_per_s = 10000000;
		p = pair_of(k, TRAFFIC_OBSERVE);
		p.client.spec.senders = p.server.spec.senders = 16; /* 4 messages */
		p.client.spec.threads = p.server.spec.threads = 2;
		run_pair(&p);
		expect_clean(&p, traffic_verb_word(k.verb));
		expect_moved(&p, traffic_verb_word(k.verb));
		close_pair(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_polling),
		cmocka_unit_test(test_sleeping),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
