/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns of schedules. A pattern proposes pairs; schedule_add() keeps those that are allowed, and
 * after its rounds schedule_make_rest() pairs each port that has not had both roles.
 */
#include "probe/coord/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/schedule_priv.h"

#define SENDERS_DEFAULT	     8
#define PERMUTATIONS_DEFAULT 16
#define PARTNERS_DEFAULT     2
#define UNKNOWN_SPEED_MBPS   1000u /* where nobody says how fast the link is */

static bool schedule_allows(const struct schedule *s, unsigned int a, unsigned int b)
{
	const struct schedule_port *one = &s->spec.port[a], *two = &s->spec.port[b];

	if (one->host == two->host)
		return false;
	switch (s->spec.pattern) {
	case SCHEDULE_RAIL:
		return one->rail == two->rail;
	case SCHEDULE_CROSS_RAIL:
		return one->rail != two->rail;
	case SCHEDULE_SUSPECT:
		return one->suspect != two->suspect;
	default:
		return true;
	}
}

static void schedule_add(struct schedule *s, unsigned int server, unsigned int client)
{
	struct schedule_work *w = s->work;

	if (!schedule_allows(s, server, client))
		return;
	w->pair[s->pair_count++] = (struct schedule_pair){server, client};
	w->served[server] = w->sent[client] = true;
}

/* Makes one block of all ports. */
static void schedule_order_all(struct schedule *s)
{
	struct schedule_work *w = s->work;

	for (unsigned int i = 0; i < s->spec.n; i++)
		w->order[i] = i;
	w->block[0] = 0;
	w->block[1] = s->spec.n;
	w->block_count = 1;
}

/* Orders the ports by rail, and by host within it, as the ports are; a block is a rail. */
static int schedule_compare_rails(const void *a, const void *b, void *arg)
{
	const struct schedule_port *port = arg;
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	if (port[x].rail != port[y].rail)
		return port[x].rail < port[y].rail ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void schedule_order_rails(struct schedule *s)
{
	struct schedule_work *w = s->work;
	const struct schedule_port *port = s->spec.port;

	schedule_order_all(s);
	if (!s->spec.n)
		return;
	qsort_r(w->order, s->spec.n, sizeof(*w->order), schedule_compare_rails, (void *)port);
	w->block_count = 0;
	for (unsigned int i = 0; i < s->spec.n; i++)
		if (!i || port[w->order[i]].rail != port[w->order[i - 1]].rail)
			w->block[w->block_count++] = i;
	w->block[w->block_count] = s->spec.n;
}

/* Circle method: one port of a block (for an odd number an empty place) stays, the others rotate;
 * each step pairs opposite places. */
static unsigned int schedule_seats(const struct schedule_work *w, unsigned int block)
{
	unsigned int n = w->block[block + 1] - w->block[block];

	return n + n % 2;
}

static unsigned int schedule_tournament_count(const struct schedule *s)
{
	unsigned int most = 0;

	for (unsigned int i = 0; i < s->work->block_count; i++)
		most = (unsigned int)larger(most, schedule_seats(s->work, i));
	return most ? most - 1 : 0;
}

static unsigned int schedule_tournament_steps(struct schedule *s)
{
	schedule_order_all(s);
	return schedule_tournament_count(s);
}

static unsigned int schedule_rail_steps(struct schedule *s)
{
	schedule_order_rails(s);
	return schedule_tournament_count(s);
}

/* Returns the port at a place of the circle in a step; place 0 never moves. */
static unsigned int schedule_tournament_at(unsigned int place, unsigned int step,
					   unsigned int seats)
{
	return place ? 1 + (place - 1 + step) % (seats - 1) : 0;
}

static void schedule_tournament_make(struct schedule *s, unsigned int step)
{
	const struct schedule_work *w = s->work;

	for (unsigned int i = 0; i < w->block_count; i++) {
		unsigned int n = w->block[i + 1] - w->block[i], seats = schedule_seats(w, i);
		const unsigned int *port = &w->order[w->block[i]];

		for (unsigned int place = 0; step + 1 < seats && place < seats / 2; place++) {
			unsigned int a = schedule_tournament_at(place, step, seats);
			unsigned int b = schedule_tournament_at(seats - 1 - place, step, seats);

			if (a < n && b < n)
				schedule_add(s, port[b], port[a]);
		}
	}
}

/* Each port sends to the one d places after it. As ports of a host stand together, d at least the
 * ports of the largest host and at most n less them never pairs a host with itself. */
static void schedule_rotate(struct schedule *s, unsigned int d)
{
	unsigned int n = s->spec.n;

	for (unsigned int i = 0; i < n; i++)
		schedule_add(s, s->work->order[(i + d % n) % n], s->work->order[i]);
}

static unsigned int schedule_ring_steps(struct schedule *s)
{
	schedule_order_all(s);
	return s->spec.n > 1;
}

static void schedule_ring_make(struct schedule *s, unsigned int step)
{
	(void)step;
	schedule_rotate(s, s->spec.shift ? s->spec.shift : s->work->widest);
}

static unsigned int schedule_shift_steps(struct schedule *s)
{
	unsigned int steps = 0;

	schedule_order_all(s);
	while ((uint64_t)s->work->widest << steps < s->spec.n)
		steps++;
	return steps;
}

static void schedule_shift_make(struct schedule *s, unsigned int step)
{
	schedule_rotate(s, s->work->widest << step);
}

static uint64_t schedule_permutation_random(uint64_t *state) /* splitmix64 */
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static unsigned int schedule_permutation_steps(struct schedule *s)
{
	schedule_order_all(s);
	if (s->spec.n < 2)
		return 0;
	return s->spec.rounds ? s->spec.rounds : PERMUTATIONS_DEFAULT;
}

/* One cycle through all ports in a random order. */
static void schedule_permutation_make(struct schedule *s, unsigned int step)
{
	uint64_t state = s->spec.seed ^ (uint64_t)step << 32;
	unsigned int *order = s->work->order;

	schedule_order_all(s);
	for (unsigned int i = s->spec.n; i > 1; i--) {
		unsigned int at = (unsigned int)(schedule_permutation_random(&state) % i);
		unsigned int kept = order[at];

		order[at] = order[i - 1];
		order[i - 1] = kept;
	}
	schedule_rotate(s, 1);
}

static void schedule_bisection_make(struct schedule *s, unsigned int step)
{
	unsigned int half = s->spec.n / 2;

	(void)step;
	for (unsigned int i = 0; i < half; i++)
		schedule_add(s, s->work->order[i + half], s->work->order[i]);
}

/* Chooses the servers of round r: every port i with i % (k + 1) == r. */
static unsigned int schedule_incast_steps(struct schedule *s)
{
	struct schedule_work *w = s->work;
	unsigned int n = s->spec.n, k = s->spec.senders ? s->spec.senders : SENDERS_DEFAULT;

	schedule_order_all(s);
	if (n < 2)
		return 0;
	if (k > n - 1 || s->spec.pattern == SCHEDULE_MANY_TO_ONE)
		k = n - 1;
	w->senders = k;
	while (k < n - 1 && n < 3 * ((n + k) / (k + 1)))
		k++; /* a server would have fewer than two clients */
	return k + 1;
}

/* Returns the server for a client: the one with the fewest clients that is not on its host. The
 * queue has them in the order of their next client. */
static int schedule_incast_pick(struct schedule *s, unsigned int client, unsigned int servers,
				unsigned int head)
{
	struct schedule_work *w = s->work;

	for (unsigned int at = 0; at < servers; at++) {
		unsigned int server = w->queue[(head + at) % servers];

		if (!schedule_allows(s, server, client))
			continue;
		if (w->load[server] >= w->senders)
			return -1;
		for (; at; at--)
			w->queue[(head + at) % servers] = w->queue[(head + at - 1) % servers];
		w->queue[head] = server;
		return (int)server;
	}
	return -1;
}

/* Marks the ports of hosts that have a server in this round: those ports stand around it. */
static void schedule_incast_mark_hosts(struct schedule *s, unsigned int server)
{
	const struct schedule_port *port = s->spec.port;
	unsigned int at = server;

	while (at && port[at - 1].host == port[server].host)
		at--;
	for (; at < s->spec.n && port[at].host == port[server].host; at++)
		s->work->serves[at] = true;
}

static void schedule_incast_make(struct schedule *s, unsigned int step)
{
	struct schedule_work *w = s->work;
	unsigned int n = s->spec.n, servers = 0, head = 0, end = 0;

	memset(w->serves, 0, n);
	for (unsigned int i = step; i < n; i += w->steps) {
		w->queue[servers++] = i;
		w->load[i] = 0;
		schedule_incast_mark_hosts(s, i);
	}
	for (unsigned int i = 0; i < 2 * n; i++) { /* first those that have fewer servers */
		unsigned int at = i % n;
		int server;

		if (w->serves[at] != (i < n))
			continue;
		server = at % w->steps == step ? -1 : schedule_incast_pick(s, at, servers, head);
		w->order[at] = server < 0 ? n : (unsigned int)server;
		if (server < 0)
			continue;
		w->load[server]++;
		head = (head + 1) % servers;
	}
	for (unsigned int i = step; i < n; i += w->steps) { /* first pair of each server */
		unsigned int clients = w->load[i];

		w->load[i] = end;
		end += clients;
	}
	for (unsigned int i = 0; i < n; i++) {
		unsigned int server = w->order[i];

		if (server == n)
			continue;
		w->pair[w->load[server]++] = (struct schedule_pair){server, i};
		w->served[server] = w->sent[i] = true;
	}
	s->pair_count = end;
}

static unsigned int schedule_cross_rail_steps(struct schedule *s)
{
	schedule_order_rails(s);
	return s->work->block_count - 1;
}

/* The ports of each rail send to those of the rail step + 1 after it, each to the next host. */
static void schedule_cross_rail_make(struct schedule *s, unsigned int step)
{
	const struct schedule_work *w = s->work;

	for (unsigned int a = 0; a < w->block_count; a++) {
		unsigned int b = (a + step + 1) % w->block_count;
		unsigned int from = w->block[a + 1] - w->block[a];
		unsigned int to = w->block[b + 1] - w->block[b];

		for (unsigned int i = 0; i < from && i < to; i++)
			schedule_add(s, w->order[w->block[b] + (i + 1) % to],
				     w->order[w->block[a] + i]);
	}
}

/* Two blocks: suspects, and the others. A pass gives each suspect a partner: it takes several
 * rounds when there are more suspects than others. */
static unsigned int schedule_suspect_steps(struct schedule *s)
{
	struct schedule_work *w = s->work;
	unsigned int partners = s->spec.rounds ? s->spec.rounds : PARTNERS_DEFAULT;
	unsigned int at = 0, good;

	for (unsigned int pass = 0; pass < 2; pass++) {
		w->block[pass] = at;
		for (unsigned int i = 0; i < s->spec.n; i++)
			if (s->spec.port[i].suspect == !pass)
				w->order[at++] = i;
	}
	w->block_count = 2;
	w->block[2] = at;
	good = at - w->block[1];
	if (!good || !w->block[1])
		return 0;
	w->passes = (unsigned int)larger(1, (w->block[1] + good - 1) / good);
	return w->passes * (partners < good ? partners : good);
}

static void schedule_suspect_make(struct schedule *s, unsigned int step)
{
	const struct schedule_work *w = s->work;
	unsigned int bad = w->block[1], good = s->spec.n - bad;
	unsigned int all = (unsigned int)larger(bad, good);
	unsigned int turn = step / w->passes + step % w->passes * good;

	for (unsigned int i = 0; i < bad; i++) {
		unsigned int partner = (i + turn) % all;

		if (partner < good)
			schedule_add(s, w->order[bad + partner], w->order[i]);
	}
}

static unsigned int schedule_file_steps(struct schedule *s)
{
	return s->work->round_count;
}

static void schedule_file_make(struct schedule *s, unsigned int step)
{
	const struct schedule_work *w = s->work;

	for (size_t i = step ? w->round_end[step - 1] : 0; i < w->round_end[step]; i++)
		schedule_add(s, w->file[i].server, w->file[i].client);
}

const struct schedule_row schedule_patterns[SCHEDULE_PATTERNS] = {
	[SCHEDULE_TOURNAMENT] = {"tournament", .mirrors = true, .steps = schedule_tournament_steps,
				 .make = schedule_tournament_make},
	[SCHEDULE_RING] = {"ring", .duplex = true, .steps = schedule_ring_steps,
			   .make = schedule_ring_make},
	[SCHEDULE_SHIFT] = {"shift", .duplex = true, .steps = schedule_shift_steps,
			    .make = schedule_shift_make},
	[SCHEDULE_PERMUTATION] = {"permutation", .duplex = true,
				  .steps = schedule_permutation_steps,
				  .make = schedule_permutation_make},
	[SCHEDULE_BISECTION] = {"bisection", .mirrors = true, .steps = schedule_ring_steps,
				.make = schedule_bisection_make},
	[SCHEDULE_MANY_TO_ONE] = {"many-to-one", .whole = true, .fan_in = true,
				  .steps = schedule_incast_steps, .make = schedule_incast_make},
	[SCHEDULE_INCAST] = {"incast", .whole = true, .fan_in = true,
			     .steps = schedule_incast_steps, .make = schedule_incast_make},
	[SCHEDULE_RAIL] = {"rail", .whole = true, .mirrors = true, .steps = schedule_rail_steps,
			   .make = schedule_tournament_make},
	[SCHEDULE_CROSS_RAIL] = {"cross-rail", .whole = true, .duplex = true,
				 .steps = schedule_cross_rail_steps,
				 .make = schedule_cross_rail_make},
	[SCHEDULE_SUSPECT] = {"suspect", .whole = true, .mirrors = true,
			      .steps = schedule_suspect_steps, .make = schedule_suspect_make},
	[SCHEDULE_FILE] = {"file", .whole = true, .duplex = true, .fan_in = true,
			   .steps = schedule_file_steps, .make = schedule_file_make},
};

/* Returns true if a port is free in this round for one more pair in a role. */
static bool schedule_free(const struct schedule *s, unsigned int port, bool client)
{
	const struct schedule_work *w = s->work;

	if (schedule_patterns[s->spec.pattern].duplex)
		return client ? !w->sends[port] : !w->serves[port];
	return !w->sends[port] && !w->serves[port];
}

/* Pairs a port, as client or as server, with the first port after it that is free. */
static void schedule_pair_one(struct schedule *s, unsigned int port, bool client)
{
	struct schedule_work *w = s->work;

	if (!schedule_free(s, port, client))
		return;
	for (unsigned int i = 1; i < s->spec.n; i++) {
		unsigned int other = (port + i) % s->spec.n;

		if (!schedule_free(s, other, !client) || !schedule_allows(s, port, other))
			continue;
		w->serves[client ? other : port] = true;
		w->sends[client ? port : other] = true;
		schedule_add(s, client ? other : port, client ? port : other);
		return;
	}
}

/* Makes a round for ports that the pattern left without a role: its number of ports does not divide
 * evenly, or it proposed two ports of one host. */
static void schedule_make_rest(struct schedule *s)
{
	struct schedule_work *w = s->work;

	memset(w->serves, 0, s->spec.n);
	memset(w->sends, 0, s->spec.n);
	for (unsigned int i = 0; i < s->spec.n; i++) {
		if (s->spec.pattern == SCHEDULE_SUSPECT && !s->spec.port[i].suspect)
			continue;
		if (!w->sent[i])
			schedule_pair_one(s, i, true);
		if (!w->served[i])
			schedule_pair_one(s, i, false);
	}
}

static void schedule_mirror(struct schedule *s)
{
	struct schedule_work *w = s->work;

	for (unsigned int i = 0; i < s->pair_count; i++) {
		struct schedule_pair p = w->pair[i];

		w->pair[i] = (struct schedule_pair){p.client, p.server};
		w->served[p.client] = w->sent[p.server] = true;
	}
}

bool schedule_next(struct schedule *s)
{
	const struct schedule_row *row = &schedule_patterns[s->spec.pattern];
	struct schedule_work *w = s->work;

	if (row->mirrors && w->made % 2) {
		schedule_mirror(s);
		s->round = w->made++;
		return true;
	}
	s->pair_count = 0;
	while (!s->pair_count && w->step < w->steps)
		row->make(s, w->step++);
	if (!s->pair_count && !row->fan_in)
		schedule_make_rest(s);
	if (!s->pair_count)
		return false;
	s->round = w->made++;
	return true;
}

void schedule_rewind(struct schedule *s)
{
	struct schedule_work *w = s->work;

	w->step = w->made = 0;
	s->round = s->pair_count = 0;
	memset(w->served, 0, s->spec.n);
	memset(w->sent, 0, s->spec.n);
}

static int schedule_check(const struct schedule_spec *spec, struct err *e)
{
	if (spec->pattern == SCHEDULE_INCAST && spec->senders == 1)
		return err_set(e, -EINVAL, "an incast needs at least 2 senders");
	for (unsigned int i = 1; i < spec->n; i++)
		if (spec->port[i].host < spec->port[i - 1].host)
			return err_set(e, -EINVAL, "schedule: hosts are not in order");
	return 0;
}

static struct schedule_work *schedule_alloc(unsigned int n)
{
	struct schedule_work *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->pair = calloc(n + 1, sizeof(*w->pair));
	w->order = calloc(n + 1, sizeof(*w->order));
	w->block = calloc((size_t)n + 3, sizeof(*w->block));
	w->queue = calloc(n + 1, sizeof(*w->queue));
	w->load = calloc(n + 1, sizeof(*w->load));
	w->served = calloc(n + 1, 1);
	w->sent = calloc(n + 1, 1);
	w->serves = calloc(n + 1, 1);
	w->sends = calloc(n + 1, 1);
	return w;
}

int schedule_open(struct schedule *s, const struct schedule_spec *spec, struct err *e)
{
	struct schedule made = {.spec = *spec};
	struct schedule_work *w;
	unsigned int run = 0;
	int err = schedule_check(spec, e);

	if (err)
		return err;
	made.work = w = schedule_alloc(spec->n);
	if (!w || !w->pair || !w->order || !w->block || !w->queue || !w->load || !w->served ||
	    !w->sent || !w->serves || !w->sends) {
		schedule_close(&made);
		return err_sys(e, -ENOMEM, "schedule");
	}
	w->widest = 1;
	for (unsigned int i = 0; i < spec->n; i++) {
		run = i && spec->port[i].host == spec->port[i - 1].host ? run + 1 : 1;
		w->widest = (unsigned int)larger(w->widest, run);
	}
	w->steps = schedule_patterns[spec->pattern].steps(&made);
	made.pair = w->pair;
	*s = made;
	return 0;
}

void schedule_close(struct schedule *s)
{
	struct schedule_work *w = s->work;

	if (w) {
		free(w->pair);
		free(w->order);
		free(w->block);
		free(w->queue);
		free(w->load);
		free(w->served);
		free(w->sent);
		free(w->serves);
		free(w->sends);
		free(w->file);
		free(w->round_end);
		free(w);
	}
	memset(s, 0, sizeof(*s));
}

uint64_t schedule_rate(uint32_t a_mbps, uint32_t b_mbps, unsigned int percent)
{
	uint32_t slow = a_mbps && (!b_mbps || a_mbps < b_mbps) ? a_mbps : b_mbps;

	return (slow ? slow : UNKNOWN_SPEED_MBPS) * UINT64_C(125000) * percent / 100;
}

void schedule_estimate(struct schedule *s, unsigned int traffic_s, double pause_s,
		       unsigned int percent, struct schedule_estimate *out)
{
	struct schedule_estimate sum = {0};
	const struct schedule_port *port = s->spec.port;

	schedule_rewind(s);
	while (schedule_next(s)) {
		sum.rounds++;
		sum.pairs += s->pair_count;
		for (unsigned int i = 0; i < s->pair_count; i++)
			sum.bytes += traffic_s * schedule_rate(port[s->pair[i].server].speed_mbps,
							       port[s->pair[i].client].speed_mbps,
							       percent);
	}
	sum.seconds = sum.rounds * (traffic_s + pause_s);
	schedule_rewind(s);
	*out = sum;
}

void schedule_estimate_add(struct schedule_estimate *sum, const struct schedule_estimate *one)
{
	sum->rounds += one->rounds;
	sum->pairs += one->pairs;
	sum->bytes += one->bytes;
	sum->seconds += one->seconds;
}

int schedule_pattern_find(const char *name)
{
	for (int i = 0; i < SCHEDULE_SUSPECT; i++)
		if (!schedule_patterns[i].fan_in && !strcmp(schedule_patterns[i].name, name))
			return i;
	return -ENOENT;
}

enum schedule_pattern schedule_pattern_default(unsigned int n)
{
	return n <= SCHEDULE_TOURNAMENT_MAX ? SCHEDULE_TOURNAMENT : SCHEDULE_SHIFT;
}
