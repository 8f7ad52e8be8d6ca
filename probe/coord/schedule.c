/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns of schedules, and their text form. A pattern proposes the pairs of each step, and
 * schedule_add() keeps those that are allowed. After the last step schedule_make_rest() pairs each
 * port that has not had both roles. A file is checked when it is opened, and read line by line.
 */
#include "probe/coord/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERMUTATIONS_DEFAULT 16
#define UNKNOWN_SPEED_MBPS   1000u /* where nobody says how fast the link is */
#define NAME_TEXT	     128   /* longer than any name of an inventory */

enum schedule_role {
	SERVES = 1,
	SENDS = 2,
	BOTH = 3,
};

/* A text that is read. */
struct schedule_file {
	char *text; /* owned; ends with NUL, and can hold others */
	const char *path, *at, *end;
	unsigned int line;
	const struct schedule_port **index; /* owned; ports by name */
	int failed;			    /* and e, as long as the file is checked */
	struct err *e;
};

/* Arrays have a place for each port. */
struct schedule_work {
	struct schedule_pair *pair; /* of the current round */
	/* One allocation: the order of the ports in the pattern; the first of each block in it,
	 * and the end; how many clients a server of this round has. */
	unsigned int *order, *block, *clients;
	unsigned int block_count;
	uint8_t *now, *ever; /* roles in this round, and in those before */
	unsigned int widest; /* most ports of one host */
	unsigned int step;   /* of the pattern */
	unsigned int made;   /* rounds so far */
	struct schedule_file file;
};

/* Ports with the same key are a block: a rail, else all. */
static unsigned int schedule_key(const struct schedule_spec *spec, unsigned int port)
{
	bool rails = spec->pattern == SCHEDULE_RAIL || spec->pattern == SCHEDULE_CROSS_RAIL;

	return rails ? spec->port[port].rail : 0;
}

static bool schedule_allows(const struct schedule *s, unsigned int a, unsigned int b)
{
	const struct schedule_spec *spec = &s->spec;
	bool across = spec->pattern == SCHEDULE_CROSS_RAIL;

	return spec->port[a].host != spec->port[b].host &&
	       (schedule_key(spec, a) != schedule_key(spec, b)) == across;
}

static void schedule_add(struct schedule *s, unsigned int server, unsigned int client)
{
	struct schedule_work *w = s->work;

	if (!schedule_allows(s, server, client))
		return;
	w->pair[s->pair_count++] = (struct schedule_pair){server, client};
	w->now[server] |= SERVES;
	w->now[client] |= SENDS;
}

static int schedule_compare_keys(const void *a, const void *b, void *spec)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;
	unsigned int left = schedule_key(spec, x), right = schedule_key(spec, y);

	return left != right ? (left > right) - (left < right) : (x > y) - (x < y);
}

static void schedule_order(struct schedule *s)
{
	struct schedule_work *w = s->work;
	unsigned int n = s->spec.n;

	for (unsigned int i = 0; i < n; i++)
		w->order[i] = i;
	qsort_r(w->order, n, sizeof(*w->order), schedule_compare_keys, &s->spec);
	w->block_count = 0;
	for (unsigned int i = 0; i < n; i++)
		if (!i ||
		    schedule_key(&s->spec, w->order[i]) != schedule_key(&s->spec, w->order[i - 1]))
			w->block[w->block_count++] = i;
	w->block[w->block_count] = n;
}

/* Returns the port at a place of the circle in a step; place 0 never moves. */
static unsigned int schedule_circle(unsigned int place, unsigned int step, unsigned int seats)
{
	return place ? 1 + (place - 1 + step) % (seats - 1) : 0;
}

/* Circle method: one port of a block (for an odd number an empty place) stays, the others rotate;
 * each step pairs opposite places. */
static bool schedule_make_tournament(struct schedule *s, unsigned int step)
{
	const struct schedule_work *w = s->work;
	bool any = false;

	for (unsigned int i = 0; i < w->block_count; i++) {
		unsigned int n = w->block[i + 1] - w->block[i], seats = n + n % 2;
		const unsigned int *port = &w->order[w->block[i]];

		if (step + 1 >= seats)
			continue;
		any = true;
		for (unsigned int place = 0; place < seats / 2; place++) {
			unsigned int a = schedule_circle(place, step, seats);
			unsigned int b = schedule_circle(seats - 1 - place, step, seats);

			if (a < n && b < n)
				schedule_add(s, port[b], port[a]);
		}
	}
	return any;
}

/* Each port sends to the one d places after it. As ports of a host stand together, d at least the
 * ports of the largest host and at most n less them never pairs a host with itself. */
static bool schedule_rotate(struct schedule *s, unsigned int d)
{
	unsigned int n = s->spec.n;

	for (unsigned int i = 0; i < n; i++)
		schedule_add(s, s->work->order[(i + d % n) % n], s->work->order[i]);
	return true;
}

static bool schedule_make_ring(struct schedule *s, unsigned int step)
{
	return !step && schedule_rotate(s, s->work->widest);
}

static bool schedule_make_shift(struct schedule *s, unsigned int step)
{
	uint64_t d = (uint64_t)s->work->widest << step;

	return d < s->spec.n && schedule_rotate(s, (unsigned int)d);
}

/* One cycle through all ports in a random order. */
static bool schedule_make_permutation(struct schedule *s, unsigned int step)
{
	if (step >= (s->spec.rounds ? s->spec.rounds : PERMUTATIONS_DEFAULT))
		return false;
	schedule_order(s);
	shuffle(s->work->order, s->spec.n, s->spec.seed ^ (uint64_t)step << 32);
	return schedule_rotate(s, 1);
}

static bool schedule_make_bisection(struct schedule *s, unsigned int step)
{
	unsigned int half = s->spec.n / 2;

	for (unsigned int i = 0; !step && i < half; i++)
		schedule_add(s, i + half, i);
	return !step;
}

static int schedule_compare_pairs(const void *a, const void *b)
{
	const struct schedule_pair *x = a, *y = b;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return (x->client > y->client) - (x->client < y->client);
}

/* Returns true for a port of a host that has a server in this step. */
static bool schedule_incast_near(const struct schedule *s, unsigned int port, unsigned int steps,
				 unsigned int step)
{
	for (unsigned int server = step; server < s->spec.n; server += steps)
		if (s->spec.port[server].host == s->spec.port[port].host)
			return true;
	return false;
}

/* The servers of round r are the ports i with i % (k + 1) == r. A client gets the server on another
 * host that has the fewest clients. Ports of hosts with a server choose first: they have less
 * choice. */
static bool schedule_make_incast(struct schedule *s, unsigned int step)
{
	unsigned int n = s->spec.n, k = s->spec.senders, most;
	unsigned int *clients = s->work->clients;

	if (n < 2)
		return false;
	if (k > n - 1)
		k = n - 1;
	most = k;
	while (k < n - 1 && n < 3 * ((n + k) / (k + 1)))
		k++; /* a server would have fewer than two clients */
	if (step > k)
		return false;
	memset(clients, 0, n * sizeof(*clients));
	for (unsigned int i = 0; i < 2 * n; i++) {
		unsigned int client = i % n, best = n, least = most;

		if (client % (k + 1) == step ||
		    schedule_incast_near(s, client, k + 1, step) != (i < n))
			continue;
		for (unsigned int at = step; at < n; at += k + 1) {
			if (clients[at] >= least || !schedule_allows(s, at, client))
				continue;
			best = at;
			least = clients[at];
		}
		if (best == n)
			continue;
		clients[best]++;
		schedule_add(s, best, client);
	}
	qsort(s->work->pair, s->pair_count, sizeof(*s->pair), schedule_compare_pairs);
	return true;
}

/* The ports of each rail send to those of the rail step + 1 after it, each to the next host. */
static bool schedule_make_cross_rail(struct schedule *s, unsigned int step)
{
	const struct schedule_work *w = s->work;

	if (step + 1 >= w->block_count)
		return false;
	for (unsigned int a = 0; a < w->block_count; a++) {
		unsigned int b = (a + step + 1) % w->block_count;
		unsigned int from = w->block[a + 1] - w->block[a];
		unsigned int to = w->block[b + 1] - w->block[b];

		for (unsigned int i = 0; i < from && i < to; i++)
			schedule_add(s, w->order[w->block[b] + (i + 1) % to],
				     w->order[w->block[a] + i]);
	}
	return true;
}

/* By host and netdev; a key without netdev equals all ports of its host. */
static int schedule_compare_ports(const void *a, const void *b)
{
	const struct schedule_port *key = *(const struct schedule_port *const *)a;
	const struct schedule_port *port = *(const struct schedule_port *const *)b;
	int order = strcmp(key->host_name, port->host_name);

	return order || !key->netdev ? order : strcmp(key->netdev, port->netdev);
}

/* This and the functions below leave f->at where the error is. */
static int schedule_parse_port(struct schedule *s, unsigned int *port)
{
	struct schedule_file *f = &s->work->file;
	size_t len = strcspn(f->at, ",; \t\n#");
	char name[NAME_TEXT], *colon;
	struct schedule_port want = {.host_name = name};
	const struct schedule_port *key = &want, **hit;

	if (!len)
		return err_set(f->e, -EINVAL, "expected a port: HOST or HOST:NETDEV");
	snprintf(name, sizeof(name), "%.*s", len < sizeof(name) ? (int)len : NAME_TEXT, f->at);
	colon = strchr(name, ':');
	if (colon)
		*colon++ = '\0';
	hit = bsearch(&key, f->index, s->spec.n, sizeof(*f->index), schedule_compare_ports);
	if (!hit)
		return err_set(f->e, -EINVAL, "unknown host '%.64s': expected one of the inventory",
			       name);
	if (!colon && !(*hit)->alone) {
		while (hit > f->index && !strcmp(hit[-1]->host_name, name))
			hit--;
		return err_set(f->e, -EINVAL,
			       "host '%s' has several ports: expected %s:NETDEV, "
			       "for example %s:%s",
			       name, name, name, (*hit)->netdev);
	}
	want.netdev = colon;
	if (colon)
		hit = bsearch(&key, f->index, s->spec.n, sizeof(*f->index), schedule_compare_ports);
	if (!hit) {
		f->at += colon - name;
		return err_set(f->e, -EINVAL, "no port '%.16s' of host '%.64s' in the inventory",
			       colon, name);
	}
	*port = (unsigned int)(*hit - s->spec.port);
	f->at += len;
	return 0;
}

static int schedule_parse_pair(struct schedule *s)
{
	struct schedule_file *f = &s->work->file;
	const struct schedule_port *all = s->spec.port;
	const char *at[2], *end;
	unsigned int port[2]; /* server and client */

	if (s->pair_count && *f->at++ != ';') {
		f->at--;
		return err_set(f->e, -EINVAL,
			       "expected ';' and the next pair, or the end of the round");
	}
	for (unsigned int i = 0; i < 2; i++) {
		int err;

		f->at += strspn(f->at, " \t");
		at[i] = f->at;
		err = schedule_parse_port(s, &port[i]);
		if (err)
			return err;
		f->at += strspn(f->at, " \t");
		if (!i && *f->at != ',')
			return err_set(f->e, -EINVAL, "expected ',' and the client of this server");
		f->at += !i;
	}
	end = f->at;
	f->at = at[1];
	if (all[port[0]].host == all[port[1]].host)
		return err_set(f->e, -EINVAL,
			       "server and client are the same host '%s': "
			       "expected ports of two hosts",
			       all[port[1]].host_name);
	for (unsigned int i = 0; i < 2; i++) {
		f->at = at[i];
		if (s->work->now[port[i]] & (i ? SENDS : SERVES))
			return err_set(f->e, -EINVAL,
				       "%s %s is already a %s in this round: "
				       "expected each port once",
				       all[port[i]].host_name, all[port[i]].netdev,
				       i ? "client" : "server");
	}
	f->at = end;
	schedule_add(s, port[0], port[1]);
	return 0;
}

static bool schedule_at_line_end(const struct schedule_file *f)
{
	return f->at == f->end || *f->at == '\n' || *f->at == '#';
}

/* Reads the next line with pairs. */
static bool schedule_make_file(struct schedule *s, unsigned int step)
{
	struct schedule_file *f = &s->work->file;

	(void)step;
	while (!s->pair_count && f->at < f->end) {
		const char *line = f->at, *newline;

		f->line++;
		f->at += strspn(f->at, " \t");
		while (!f->failed && !schedule_at_line_end(f))
			f->failed = schedule_parse_pair(s);
		if (f->failed) {
			err_prefix(f->e, "%s:%u:%zu", f->path, f->line, (size_t)(f->at - line) + 1);
			s->pair_count = 0;
			return false;
		}
		newline = memchr(f->at, '\n', (size_t)(f->end - f->at));
		f->at = newline ? newline + 1 : f->end;
	}
	return s->pair_count > 0;
}

const struct schedule_row schedule_patterns[SCHEDULE_PATTERNS] = {
	[SCHEDULE_TOURNAMENT] = {"tournament", .mirrors = true, .make = schedule_make_tournament},
	[SCHEDULE_RING] = {"ring", .duplex = true, .make = schedule_make_ring},
	[SCHEDULE_SHIFT] = {"shift", .duplex = true, .make = schedule_make_shift},
	[SCHEDULE_PERMUTATION] = {"permutation", .duplex = true, .make = schedule_make_permutation},
	[SCHEDULE_BISECTION] = {"bisection", .mirrors = true, .make = schedule_make_bisection},
	[SCHEDULE_INCAST] = {"incast", .whole = true, .fan_in = true, .make = schedule_make_incast},
	[SCHEDULE_RAIL] = {"rail", .whole = true, .mirrors = true,
			   .make = schedule_make_tournament},
	[SCHEDULE_CROSS_RAIL] = {"cross-rail", .whole = true, .duplex = true,
				 .make = schedule_make_cross_rail},
	[SCHEDULE_FILE] = {"file", .whole = true, .duplex = true, .make = schedule_make_file},
};

/* Returns true if a port cannot have one more pair in this role in this round. */
static bool schedule_busy(const struct schedule *s, unsigned int port, enum schedule_role role)
{
	return s->work->now[port] & (schedule_patterns[s->spec.pattern].duplex ? role : BOTH);
}

/* Makes a round for ports that the pattern left without a role: its number of ports does not divide
 * evenly, or it proposed two ports of one host. Each is paired with the first free port after it.
 */
static void schedule_make_rest(struct schedule *s)
{
	unsigned int n = s->spec.n;

	for (unsigned int i = 0; i < 2 * n; i++) {
		unsigned int port = i / 2;
		enum schedule_role role = i % 2 ? SERVES : SENDS;

		if (s->work->ever[port] & role)
			continue;
		for (unsigned int k = 1; k < n && !schedule_busy(s, port, role); k++) {
			unsigned int other = (port + k) % n;

			if (!schedule_busy(s, other, BOTH ^ role))
				schedule_add(s, role == SENDS ? other : port,
					     role == SENDS ? port : other);
		}
	}
}

bool schedule_next(struct schedule *s)
{
	const struct schedule_row *row = &schedule_patterns[s->spec.pattern];
	struct schedule_work *w = s->work;
	bool mirror = row->mirrors && w->made % 2;

	if (!mirror) {
		s->pair_count = 0;
		memset(w->now, 0, s->spec.n);
		while (!s->pair_count && row->make(s, w->step))
			w->step++;
		if (!s->pair_count && !row->fan_in && s->spec.pattern != SCHEDULE_FILE)
			schedule_make_rest(s);
		if (!s->pair_count)
			return false;
	}
	for (unsigned int i = 0; i < s->pair_count; i++) {
		struct schedule_pair *p = &w->pair[i];

		if (mirror)
			*p = (struct schedule_pair){p->client, p->server};
		w->ever[p->server] |= SERVES;
		w->ever[p->client] |= SENDS;
	}
	s->round = w->made++;
	return true;
}

void schedule_rewind(struct schedule *s)
{
	struct schedule_work *w = s->work;

	w->step = w->made = 0;
	s->round = s->pair_count = 0;
	memset(w->ever, 0, s->spec.n);
	w->file.at = w->file.text;
	w->file.line = 0;
}

int schedule_open(struct schedule *s, const struct schedule_spec *spec, struct err *e)
{
	struct schedule made = {.spec = *spec};
	struct schedule_work *w;
	unsigned int same = 0;

	if (spec->pattern == SCHEDULE_INCAST && spec->senders < 2)
		return err_set(e, -EINVAL, "an incast needs at least 2 senders");
	for (unsigned int i = 1; i < spec->n; i++)
		if (spec->port[i].host < spec->port[i - 1].host)
			return err_set(e, -EINVAL, "schedule: hosts are not in order");
	made.work = w = calloc(1, sizeof(*w));
	if (w) {
		w->pair = calloc(spec->n + 1, sizeof(*w->pair));
		w->order = calloc(3 * ((size_t)spec->n + 1), sizeof(*w->order));
		w->block = w->order + spec->n + 1;
		w->clients = w->block + spec->n + 1;
		w->now = calloc(spec->n + 1, 1);
		w->ever = calloc(spec->n + 1, 1);
	}
	if (!w || !w->pair || !w->order || !w->now || !w->ever) {
		schedule_close(&made);
		return err_sys(e, -ENOMEM, "schedule");
	}
	for (unsigned int i = 0; i < spec->n; i++) {
		same = i && spec->port[i].host == spec->port[i - 1].host ? same + 1 : 1;
		w->widest = (unsigned int)larger(w->widest, same);
	}
	schedule_order(&made);
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
		free(w->now);
		free(w->ever);
		free(w->file.text);
		free(w->file.index);
		free(w);
	}
	memset(s, 0, sizeof(*s));
}

int schedule_parse(struct schedule *s, const struct schedule_spec *spec, const char *path,
		   const char *text, size_t size, struct err *e)
{
	struct schedule_spec of_file = *spec;
	struct schedule_file f = {.path = path, .e = e};
	struct schedule made;
	int err;

	of_file.pattern = SCHEDULE_FILE;
	err = schedule_open(&made, &of_file, e);
	if (err)
		return err;
	f.text = calloc(1, size + 1);
	f.index = calloc(spec->n + 1, sizeof(*f.index));
	made.work->file = f;
	if (!f.text || !f.index) {
		err = err_sys(e, -ENOMEM, "%s", path);
		goto failed;
	}
	made.work->file.end = memcpy(f.text, text, size) + size;
	for (unsigned int i = 0; i < spec->n; i++)
		f.index[i] = &spec->port[i];
	qsort(f.index, spec->n, sizeof(*f.index), schedule_compare_ports);
	schedule_rewind(&made);
	while (schedule_next(&made))
		;
	err = made.work->file.failed;
	if (!err && !made.work->made)
		err = err_set(e, -EINVAL,
			      "%s:1:1: no round in this file: expected lines of "
			      "server,client;server,client",
			      path);
	if (err)
		goto failed;
	made.work->file.e = NULL;
	schedule_rewind(&made);
	*s = made;
	return 0;
failed:
	schedule_close(&made);
	return err;
}

static void schedule_print_port(FILE *out, const struct schedule_port *p, char end)
{
	fprintf(out, "%s%s%s%c", p->host_name, p->alone ? "" : ":", p->alone ? "" : p->netdev, end);
}

char *schedule_text(struct schedule *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	schedule_rewind(s);
	while (schedule_next(s)) {
		for (unsigned int i = 0; i < s->pair_count; i++) {
			schedule_print_port(out, &s->spec.port[s->pair[i].server], ',');
			schedule_print_port(out, &s->spec.port[s->pair[i].client],
					    i + 1 == s->pair_count ? '\n' : ';');
		}
	}
	schedule_rewind(s);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
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
	bool fan_in = schedule_patterns[s->spec.pattern].fan_in;

	schedule_rewind(s);
	while (schedule_next(s)) {
		sum.rounds++;
		sum.pairs += s->pair_count;
		for (unsigned int i = 0; i < s->pair_count; i++) {
			const struct schedule_pair *p = &s->pair[i];
			uint32_t mbps = port[p->server].speed_mbps;

			if (fan_in && i && p->server == p[-1].server)
				continue;
			sum.bytes += traffic_s *
				     schedule_rate(mbps, fan_in ? mbps : port[p->client].speed_mbps,
						   percent);
		}
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
	for (int i = 0; i < SCHEDULE_FILE; i++)
		if (!schedule_patterns[i].fan_in && !strcmp(schedule_patterns[i].name, name))
			return i;
	return -ENOENT;
}

enum schedule_pattern schedule_pattern_default(unsigned int n)
{
	return n <= SCHEDULE_TOURNAMENT_MAX ? SCHEDULE_TOURNAMENT : SCHEDULE_SHIFT;
}
