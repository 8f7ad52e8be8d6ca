/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sweep of message sizes of a pair.
 */
#include "probe/coord/pair_sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/pair_priv.h"
#include "profiles/base/json.h"

unsigned int pair_sizes_list(uint32_t from, uint32_t to, uint32_t bytes[SIZES_MAX])
{
	unsigned int n = 0;

	for (uint64_t size = from; size < to && n + 1 < SIZES_MAX;) {
		uint64_t power = TRAFFIC_MESSAGE_MIN;

		bytes[n++] = (uint32_t)size;
		while (power <= size)
			power *= 2;
		size = power;
	}
	bytes[n++] = to;
	return n;
}

void pair_size_class(struct traffic_class *class, uint32_t bytes)
{
	class->message_bytes = bytes;
	if (bytes < TRAFFIC_CHECKED_MIN)
		class->check = TRAFFIC_CHECK_NONE;
}

/* What a packet carries where each message is one, else no bound. */
static uint32_t size_most_bytes(const struct pair_session *d)
{
	const struct traffic_spec *s = &d->w->spec;
	uint32_t mtu = s->mtu_bytes ? s->mtu_bytes : 4096;

	if (s->mode != TRAFFIC_COUNT && s->class[0].transport != TRAFFIC_UD)
		return TRAFFIC_MESSAGE_MAX;
	for (unsigned int i = 0; i < SIDES; i++)
		if (d->t->ends.port[i]->active_mtu && d->t->ends.port[i]->active_mtu < mtu)
			mtu = d->t->ends.port[i]->active_mtu;
	return mtu;
}

static void size_keep(struct pair_session *d, uint32_t bytes, bool partial)
{
	struct pair *t = d->t;
	struct pair_size *s = &t->size[t->size_count++];

	s->bytes = bytes;
	s->stopped = t->stopped;
	s->partial = partial;
	for (unsigned int i = 0; i < SIDES; i++) {
		s->spec[i] = t->spec[i];
		s->seen[i] = t->seen[i];
		s->has_report[i] = t->has_report[i];
		s->report[i] = t->report[i];
		t->has_report[i] = false;
		memset(&t->report[i], 0, sizeof(t->report[i]));
	}
}

static bool size_moved(const struct pair_size *s)
{
	struct pair_size_sum sum;

	pair_size_sum(s, &sum);
	return sum.messages || sum.gaps;
}

/* A reading that does not come is missing then, not that of the load before. */
static void size_forget_load(struct pair *t)
{
	unsigned int load = 1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER;

	for (unsigned int i = 0; i < SIDES; i++) {
		t->seen[i].has &= ~load;
		t->run.host[i].port[0].has &= ~load;
	}
}

/* A size that moves nothing ends the sweep: each of the others would take its time to do the same.
 */
static void size_run(struct pairs *x, uint32_t bytes)
{
	struct pair_session *d = &x->one[0];
	struct pair *t = d->t;
	bool ran = t->ran;
	struct err e;

	for (unsigned int i = 0; i < SIDES; i++) {
		t->spec[i].class[0] = d->w->spec.class[0];
		pair_size_class(&t->spec[i].class[0], bytes);
	}
	session_report(&d->s, "messages of %u bytes", bytes);
	t->ran = false;
	size_forget_load(t);
	pairs_load(x);
	if (t->ran)
		size_keep(d, bytes, d->err);
	if (!d->err && !size_moved(&t->size[t->size_count - 1])) {
		err_set(&e, -ENODATA, "no message of %u bytes was transferred: stopping the sweep",
			bytes);
		pair_fail(d, &e);
	}
	t->ran |= ran;
}

void pairs_sizes(struct pairs *x)
{
	struct pair_session *d = &x->one[0];
	uint32_t most = size_most_bytes(d), to = d->w->size_to < most ? d->w->size_to : most;
	uint32_t from = d->w->size_from < to ? d->w->size_from : to;
	uint32_t bytes[SIZES_MAX];
	unsigned int count = pair_sizes_list(from, to, bytes);
	struct err e;

	d->t->size = calloc(count, sizeof(*d->t->size));
	for (unsigned int i = 0; d->t->size && i < count && !d->err; i++) {
		d->s.stop = d->w->stop;
		pairs_check(x);
		if (!d->err)
			size_run(x, bytes[i]);
	}
	if (!d->t->size || pair_sizes_gather(d->t)) {
		err_sys(&e, -ENOMEM, "probe");
		pair_fail(d, &e);
	}
}

void pair_to_run(const struct traffic_spec spec[SIDES], const bool has_report[SIDES],
		 const struct traffic_report report[SIDES], struct run_pair *pair)
{
	const struct traffic_spec *client = &spec[SIDE_CLIENT];

	*pair = (struct run_pair){
		.client_host = SIDE_CLIENT,
		.server_host = SIDE_SERVER,
		.verb = client->class[0].verb,
		.message_bytes = client->class_count == 1 ? client->class[0].message_bytes : 0,
		.client_tos = client->class[0].tos,
		.server_tos = spec[SIDE_SERVER].class[0].tos,
		.ran = has_report[SIDE_CLIENT] && has_report[SIDE_SERVER],
		.client = report[SIDE_CLIENT].total,
		.server = report[SIDE_SERVER].total,
	};
	for (unsigned int i = 0; i < client->class_count; i++)
		pair->asked_bytes_per_s += client->class[i].rate_bytes_per_s;
}

/* From this reading of the first size, or to that of the last one: missing there, missing here. */
static void size_span(struct pair *t, unsigned int side, enum run_reading which,
		      const struct pair_size *of)
{
	struct run_port *port = &t->run.host[side].port[0];
	struct observation *seen = &t->seen[side];
	unsigned int bit = 1u << which;

	seen->has &= ~bit;
	port->has &= ~bit;
	if (!(of->seen[side].has & bit))
		return;
	seen->reading[which] = port->reading[which] = of->seen[side].reading[which];
	seen->has |= bit;
	port->has |= bit;
}

int pair_sizes_gather(struct pair *t)
{
	struct run_pair *pair;

	if (!t->size_count)
		return 0;
	pair = realloc(t->run.pair, t->size_count * sizeof(*pair));
	if (!pair)
		return -ENOMEM;
	t->run.pair = pair;
	t->run.pair_count = t->size_count;
	for (unsigned int i = 0; i < t->size_count; i++)
		pair_to_run(t->size[i].spec, t->size[i].has_report, t->size[i].report, &pair[i]);
	for (unsigned int i = 0; i < SIDES; i++) {
		size_span(t, i, READ_LOAD_BEFORE, &t->size[0]);
		size_span(t, i, READ_LOAD_AFTER, &t->size[t->size_count - 1]);
	}
	return 0;
}

/* Peers tell up to 63 bits each. */
static void size_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void size_add_report(struct pair_size_sum *sum, const struct traffic_report *r,
			    bool requester)
{
	for (unsigned int i = 0; i < r->class_count; i++) {
		const struct traffic_class_result *c = &r->class[i];

		size_add(&sum->checked_bytes, c->checked_bytes);
		size_add(&sum->mismatches, c->mismatches);
		size_add(&sum->gaps, c->gaps);
		size_add(&sum->losses, c->losses);
		if (!requester)
			continue;
		size_add(&sum->messages, c->messages);
		size_add(&sum->bytes, c->bytes);
		histogram_merge(&sum->latency, &c->latency);
	}
	if (r->total.duration_ns > sum->duration_ns)
		sum->duration_ns = r->total.duration_ns;
}

void pair_size_sum(const struct pair_size *s, struct pair_size_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < SIDES; i++) {
		bool answers = s->spec[i].class[0].probe && i == SIDE_SERVER;

		if (s->has_report[i])
			size_add_report(sum, &s->report[i], !answers);
	}
	sum->bytes_per_s = rate_per_s(sum->bytes, sum->duration_ns);
}

void pair_size_view(const struct pair *t, unsigned int i, struct pair *view)
{
	const struct pair_size *s = &t->size[i];

	*view = *t;
	view->size = NULL;
	view->size_count = 0;
	view->ran = true;
	view->stopped = s->stopped;
	view->partial = s->partial;
	for (unsigned int k = 0; k < SIDES; k++) {
		view->spec[k] = s->spec[k];
		view->seen[k] = s->seen[k];
		view->has_report[k] = s->has_report[k];
		view->report[k] = s->report[k];
	}
	if (i + 1 < t->size_count)
		view->echo = NULL;
}

const struct traffic_memory *pair_memory(const struct pair *t, enum run_side side)
{
	const struct traffic_report *r = NULL;

	if (t->has_report[side])
		r = &t->report[side];
	else if (t->size && t->size->has_report[side])
		r = &t->size->report[side];
	return r && r->memory.bytes ? &r->memory : NULL;
}

void pair_sizes_clear(struct pair *t)
{
	for (unsigned int i = 0; i < t->size_count; i++)
		for (unsigned int k = 0; k < SIDES; k++)
			traffic_report_clear(&t->size[i].report[k]);
	free(t->size);
	t->size = NULL;
	t->size_count = 0;
}

static json_t *size_ends_to_json(const struct pair_size *s)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < SIDES; i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o, s:o}", "role", run_side_word((enum run_side)i),
				  "spec", traffic_spec_to_json(&s->spec[i]), "growth",
				  observe_growth_to_json(&s->seen[i]), "report",
				  s->has_report[i] ? traffic_report_to_json(&s->report[i])
						   : json_null()));
	return list;
}

static json_t *size_to_json(const struct pair_size *s)
{
	struct pair_size_sum sum;
	json_t *latency;

	pair_size_sum(s, &sum);
	latency = histogram_to_json(&sum.latency);
	json_object_del(latency, "buckets"); /* they are in the reports */
	return json_pack("{s:o, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "message_bytes", json_uint(s->bytes), "partial", s->partial, "check",
			 traffic_check_word(s->spec[SIDE_CLIENT].class[0].check), "messages",
			 json_uint(sum.messages), "bytes", json_uint(sum.bytes), "duration_ns",
			 json_uint(sum.duration_ns), "goodput_bytes_per_s",
			 json_uint(sum.bytes_per_s), "checked_bytes", json_uint(sum.checked_bytes),
			 "mismatches", json_uint(sum.mismatches), "gaps", json_uint(sum.gaps),
			 "losses", json_uint(sum.losses), "latency", latency, "ends",
			 size_ends_to_json(s));
}

json_t *pair_sizes_to_json(const struct pair *t)
{
	json_t *list;

	if (!t->size)
		return json_null();
	list = json_array();
	for (unsigned int i = 0; i < t->size_count; i++)
		if (json_array_append_new(list, size_to_json(&t->size[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}
