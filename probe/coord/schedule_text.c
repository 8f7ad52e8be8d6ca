/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text form of a schedule: "server,client;server,client", one line a round. A port is HOST:NETDEV,
 * or HOST where the host has no other port.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/schedule_priv.h"

/* Reads a file: the place, and what was read so far. */
struct schedule_reader {
	struct schedule *s;
	const char *path;
	const char *at, *end, *line_start;
	unsigned int line;
	bool fan_in;
	size_t pairs, pairs_room;
	unsigned int rounds_room;
	unsigned int *served, *sent; /* last round + 1 of each port in a role */
	unsigned int *index;	     /* ports by name */
	struct err *e;
};

static void schedule_print_port(FILE *out, const struct schedule_port *p)
{
	fputs(p->host_name, out);
	if (!p->alone)
		fprintf(out, ":%s", p->netdev);
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
			schedule_print_port(out, &s->spec.port[s->pair[i].server]);
			fputc(',', out);
			schedule_print_port(out, &s->spec.port[s->pair[i].client]);
			fputc(i + 1 == s->pair_count ? '\n' : ';', out);
		}
	}
	schedule_rewind(s);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int schedule_fail(const struct schedule_reader *r, const char *at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static int schedule_fail(const struct schedule_reader *r, const char *at, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return err_set(r->e, -EINVAL, "%s:%u:%zu: %s", r->path, r->line,
		       (size_t)(at - r->line_start) + 1, text);
}

/* Compares a name with text of a file, in which any byte can be. */
static int schedule_compare_name(const char *name, const char *text, size_t len)
{
	size_t own = strlen(name);
	int order = memcmp(name, text, own < len ? own : len);

	return order ? order : (own > len) - (own < len);
}

static int schedule_compare_ports(const void *a, const void *b, void *arg)
{
	const struct schedule_port *port = arg;
	const struct schedule_port *x = &port[*(const unsigned int *)a];
	const struct schedule_port *y = &port[*(const unsigned int *)b];
	int order = strcmp(x->host_name, y->host_name);

	return order ? order : strcmp(x->netdev, y->netdev);
}

/* Returns the place of the first port of a host in the index, or n. */
static unsigned int schedule_find_host(const struct schedule_reader *r, const char *host,
				       size_t len)
{
	const struct schedule_spec *spec = &r->s->spec;
	unsigned int low = 0, high = spec->n;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (schedule_compare_name(spec->port[r->index[middle]].host_name, host, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < spec->n &&
	    schedule_compare_name(spec->port[r->index[low]].host_name, host, len) == 0)
		return low;
	return spec->n;
}

/* Reads the name of a port, up to a separator. */
static int schedule_parse_port(struct schedule_reader *r, unsigned int *port)
{
	const struct schedule_port *all = r->s->spec.port;
	const char *start = r->at, *colon;
	size_t len, host_len;
	unsigned int at;

	while (r->at < r->end && !strchr(",; \t\n#", *r->at))
		r->at++;
	len = (size_t)(r->at - start);
	if (!len)
		return schedule_fail(r, start, "expected a port: HOST or HOST:NETDEV");
	colon = memchr(start, ':', len);
	host_len = colon ? (size_t)(colon - start) : len;
	at = schedule_find_host(r, start, host_len);
	if (at == r->s->spec.n)
		return schedule_fail(r, start, "unknown host '%.*s': expected one of the inventory",
				     (int)(host_len < 64 ? host_len : 64), start);
	if (!colon && !all[r->index[at]].alone)
		return schedule_fail(r, start,
				     "host '%.*s' has several ports: expected %s:NETDEV, "
				     "for example %s:%s",
				     (int)(host_len < 64 ? host_len : 64), start,
				     all[r->index[at]].host_name, all[r->index[at]].host_name,
				     all[r->index[at]].netdev);
	for (; colon && at < r->s->spec.n; at++) {
		const struct schedule_port *p = &all[r->index[at]];

		if (schedule_compare_name(p->host_name, start, host_len))
			at = r->s->spec.n - 1;
		else if (!schedule_compare_name(p->netdev, colon + 1, len - host_len - 1))
			break;
	}
	if (at == r->s->spec.n)
		return schedule_fail(r, colon + 1, "no port '%.*s' of host '%.*s' in the inventory",
				     (int)(len - host_len - 1 < 16 ? len - host_len - 1 : 16),
				     colon + 1, (int)(host_len < 64 ? host_len : 64), start);
	*port = r->index[at];
	return 0;
}

static void schedule_skip_spaces(struct schedule_reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

static bool schedule_at_line_end(const struct schedule_reader *r)
{
	return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

static int schedule_store_pair(struct schedule_reader *r, struct schedule_pair p)
{
	struct schedule_work *w = r->s->work;

	if (r->pairs == r->pairs_room) {
		size_t room = r->pairs_room ? 2 * r->pairs_room : 64;
		struct schedule_pair *more = reallocarray(w->file, room, sizeof(*more));

		if (!more)
			return err_sys(r->e, -ENOMEM, "%s", r->path);
		w->file = more;
		r->pairs_room = room;
	}
	w->file[r->pairs++] = p;
	r->served[p.server] = r->sent[p.client] = w->round_count + 1;
	return 0;
}

static int schedule_parse_pair(struct schedule_reader *r)
{
	const struct schedule_port *port = r->s->spec.port;
	const char *server_at, *client_at;
	unsigned int now = r->s->work->round_count + 1;
	struct schedule_pair p;
	int err;

	schedule_skip_spaces(r);
	server_at = r->at;
	err = schedule_parse_port(r, &p.server);
	if (err)
		return err;
	schedule_skip_spaces(r);
	if (r->at == r->end || *r->at != ',')
		return schedule_fail(r, r->at, "expected ',' and the client of this server");
	r->at++;
	schedule_skip_spaces(r);
	client_at = r->at;
	err = schedule_parse_port(r, &p.client);
	if (err)
		return err;
	if (port[p.server].host == port[p.client].host)
		return schedule_fail(r, client_at,
				     "server and client are the same host '%s': "
				     "expected ports of two hosts",
				     port[p.client].host_name);
	if (r->served[p.server] == now && !r->fan_in)
		return schedule_fail(r, server_at,
				     "%s %s is already a server in this round: "
				     "expected each port once",
				     port[p.server].host_name, port[p.server].netdev);
	if (r->sent[p.client] == now)
		return schedule_fail(r, client_at,
				     "%s %s is already a client in this round: "
				     "expected each port once",
				     port[p.client].host_name, port[p.client].netdev);
	schedule_skip_spaces(r);
	return schedule_store_pair(r, p);
}

static int schedule_compare_pairs(const void *a, const void *b)
{
	const struct schedule_pair *x = a, *y = b;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return x->client < y->client ? -1 : x->client > y->client;
}

static int schedule_end_round(struct schedule_reader *r)
{
	struct schedule_work *w = r->s->work;
	size_t first = w->round_count ? w->round_end[w->round_count - 1] : 0;

	if (r->fan_in)
		qsort(&w->file[first], r->pairs - first, sizeof(*w->file), schedule_compare_pairs);

	if (w->round_count == r->rounds_room) {
		unsigned int room = r->rounds_room ? 2 * r->rounds_room : 64;
		size_t *more = reallocarray(w->round_end, room, sizeof(*more));

		if (!more)
			return err_sys(r->e, -ENOMEM, "%s", r->path);
		w->round_end = more;
		r->rounds_room = room;
	}
	w->round_end[w->round_count++] = r->pairs;
	return 0;
}

static int schedule_parse_line(struct schedule_reader *r)
{
	int err = 0;

	schedule_skip_spaces(r);
	if (schedule_at_line_end(r))
		return 0;
	while (!(err = schedule_parse_pair(r)) && !schedule_at_line_end(r)) {
		if (*r->at != ';')
			return schedule_fail(r, r->at,
					     "expected ';' and the next pair, or the end "
					     "of the round");
		r->at++;
	}
	return err ? err : schedule_end_round(r);
}

static int schedule_parse_lines(struct schedule_reader *r)
{
	while (r->at < r->end) {
		int err;

		r->line++;
		r->line_start = r->at;
		err = schedule_parse_line(r);
		if (err)
			return err;
		while (r->at < r->end && *r->at++ != '\n')
			;
	}
	if (r->s->work->round_count)
		return 0;
	r->line = 1;
	r->line_start = r->end;
	return schedule_fail(
		r, r->end, "no round in this file: expected lines of server,client;server,client");
}

int schedule_parse(struct schedule *s, const struct schedule_spec *spec, const char *path,
		   const char *text, size_t size, bool fan_in, struct err *e)
{
	struct schedule_spec of_file = *spec;
	struct schedule made;
	struct schedule_reader r = {.s = &made,
				    .path = path,
				    .at = text,
				    .line_start = text,
				    .end = text + size,
				    .fan_in = fan_in,
				    .e = e};
	int err;

	of_file.pattern = SCHEDULE_FILE;
	err = schedule_open(&made, &of_file, e);
	if (err)
		return err;
	r.served = calloc(spec->n + 1, sizeof(*r.served));
	r.sent = calloc(spec->n + 1, sizeof(*r.sent));
	r.index = calloc(spec->n + 1, sizeof(*r.index));
	if (r.served && r.sent && r.index) {
		for (unsigned int i = 0; i < spec->n; i++)
			r.index[i] = i;
		qsort_r(r.index, spec->n, sizeof(*r.index), schedule_compare_ports,
			(void *)spec->port);
		err = schedule_parse_lines(&r);
	} else {
		err = err_sys(e, -ENOMEM, "%s", path);
	}
	free(r.served);
	free(r.sent);
	free(r.index);
	if (err) {
		schedule_close(&made);
		return err;
	}
	made.work->steps = made.work->round_count;
	*s = made;
	return 0;
}
