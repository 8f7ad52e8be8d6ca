/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sweep of message sizes of a pair.
 */
#include "probe/coord/pair_sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/pair_priv.h"
#include "probe/record/run_port.h"
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

/* Keeps the readings around the load of this size with it. */
static int size_keep(struct pair_session *d, bool partial)
{
	struct pair *t = d->t;
	struct run_ends *ends = t->run.pair[t->size_count++].ends;

	ends->partial = partial;
	for (unsigned int i = 0; i < SIDES; i++) {
		ends->side[i].port = malloc(sizeof(*ends->side[i].port));
		if (!ends->side[i].port)
			return -ENOMEM;
		*ends->side[i].port = t->run.host[i].port[0];
	}
	return 0;
}

static bool size_moved(const struct run_pair *p)
{
	struct pair_size_sum sum;

	pair_size_sum(p, &sum);
	return sum.messages || sum.gaps;
}

/* A reading that does not come is missing then, not that of the load before. */
static void size_forget_load(struct pair *t)
{
	for (unsigned int i = 0; i < SIDES; i++)
		t->run.host[i].port[0].has &= ~(1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER);
}

/* Makes the pair of this size: that of the size before has its specs. */
static int size_add(struct pair_session *d, uint32_t bytes)
{
	struct run *r = &d->t->run;

	if (d->t->size_count && pair_add(r))
		return -ENOMEM;
	for (unsigned int i = 0; i < SIDES; i++) {
		struct run_end *end = pair_end(d->t, i);

		if (d->t->size_count)
			end->spec = r->pair[d->t->size_count - 1].ends->side[i].spec;
		end->spec.class[0] = d->w->spec.class[0];
		pair_size_class(&end->spec.class[0], bytes);
	}
	return 0;
}

/* A size that moves nothing ends the sweep: each of the others would take its time to do the same.
 */
static void size_run(struct pairs *x, uint32_t bytes)
{
	struct pair_session *d = &x->one[0];
	struct pair *t = d->t;
	bool ran = t->ran;
	struct err e;

	session_report(&d->s, "messages of %u bytes", bytes);
	t->ran = false;
	size_forget_load(t);
	if (size_add(d, bytes)) {
		err_sys(&e, -ENOMEM, "probe");
		pair_fail(d, &e);
	} else {
		pairs_load(x);
	}
	if (t->ran && size_keep(d, d->err)) {
		err_sys(&e, -ENOMEM, "probe");
		pair_fail(d, &e);
	}
	if (!d->err && !size_moved(&t->run.pair[t->size_count - 1])) {
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

	d->t->sweep = true;
	for (unsigned int i = 0; i < count && !d->err; i++) {
		d->s.stop = d->w->stop;
		pairs_check(x);
		if (!d->err)
			size_run(x, bytes[i]);
	}
	pair_sizes_span(d->t);
}

/* Sets a reading to that of this size; missing there, missing here. */
static void size_span(struct pair *t, unsigned int side, enum run_reading which,
		      const struct run_pair *of)
{
	struct run_port *port = &t->run.host[side].port[0];
	const struct run_port *from = of->ends->side[side].port;

	port->has &= ~(1u << which);
	if (from && from->has & 1u << which)
		run_port_set_reading(port, which, &from->reading[which]);
}

void pair_sizes_span(struct pair *t)
{
	struct run *r = &t->run;

	while (r->pair_count > 1 && r->pair_count > t->size_count)
		run_pair_clear(&r->pair[--r->pair_count]);
	for (unsigned int i = 0; t->size_count && i < SIDES; i++) {
		size_span(t, i, READ_LOAD_BEFORE, &r->pair[0]);
		size_span(t, i, READ_LOAD_AFTER, &r->pair[t->size_count - 1]);
	}
}

/* Peers tell up to 63 bits each. */
static void size_add_saturated(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void size_add_report(struct pair_size_sum *sum, const struct traffic_report *r,
			    bool requester)
{
	for (unsigned int i = 0; i < r->class_count; i++) {
		const struct traffic_class_result *c = &r->class[i];

		size_add_saturated(&sum->checked_bytes, c->checked_bytes);
		size_add_saturated(&sum->mismatches, c->mismatches);
		size_add_saturated(&sum->gaps, c->gaps);
		size_add_saturated(&sum->losses, c->losses);
		if (!requester)
			continue;
		size_add_saturated(&sum->messages, c->messages);
		size_add_saturated(&sum->bytes, c->bytes);
		histogram_merge(&sum->latency, &c->latency);
	}
	if (r->total.duration_ns > sum->duration_ns)
		sum->duration_ns = r->total.duration_ns;
}

void pair_size_sum(const struct run_pair *p, struct pair_size_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < SIDES; i++) {
		const struct run_end *end = &p->ends->side[i];

		if (end->has_report)
			size_add_report(sum, &end->report,
					!end->spec.class[0].probe || i != SIDE_SERVER);
	}
	sum->bytes_per_s = rate_per_s(sum->bytes, sum->duration_ns);
}

const struct traffic_memory *pair_memory(const struct pair *t, enum run_side side)
{
	const struct run_end *end = t->run.pair_count ? &t->run.pair[0].ends->side[side] : NULL;

	return end && end->has_report && end->report.memory.bytes ? &end->report.memory : NULL;
}

static json_t *size_ends_to_json(const struct pair *t, const struct run_pair *p)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < SIDES; i++) {
		const struct run_end *end = &p->ends->side[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o, s:o}", "role", run_side_word((enum run_side)i),
				  "spec", traffic_spec_to_json(&end->spec), "growth",
				  run_port_growth_to_json(pair_port(t, p, i)), "report",
				  end->has_report ? traffic_report_to_json(&end->report)
						  : json_null()));
	}
	return list;
}

static json_t *size_to_json(const struct pair *t, const struct run_pair *p)
{
	const struct traffic_class *class = &p->ends->side[SIDE_CLIENT].spec.class[0];
	struct pair_size_sum sum;
	json_t *latency;

	pair_size_sum(p, &sum);
	latency = histogram_to_json(&sum.latency);
	json_object_del(latency, "buckets"); /* they are in the reports */
	return json_pack("{s:o, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "message_bytes", json_uint(class->message_bytes), "partial",
			 p->ends->partial, "check", traffic_check_word(class->check), "messages",
			 json_uint(sum.messages), "bytes", json_uint(sum.bytes), "duration_ns",
			 json_uint(sum.duration_ns), "goodput_bytes_per_s",
			 json_uint(sum.bytes_per_s), "checked_bytes", json_uint(sum.checked_bytes),
			 "mismatches", json_uint(sum.mismatches), "gaps", json_uint(sum.gaps),
			 "losses", json_uint(sum.losses), "latency", latency, "ends",
			 size_ends_to_json(t, p));
}

json_t *pair_sizes_to_json(const struct pair *t)
{
	json_t *list;

	if (!t->sweep)
		return json_null();
	list = json_array();
	for (unsigned int i = 0; i < t->size_count; i++)
		if (json_array_append_new(list, size_to_json(t, &t->run.pair[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}
