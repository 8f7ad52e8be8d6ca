/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two views of one stream: slots, merged when they are full, and running extremes of whole
 * intervals of 100 ms, which need no memory. Merging two flows has the slots alone: as long as they
 * are 100 ms wide nothing is lost.
 */
#include "probe/traffic/intervals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"

#define NS_PER_S UINT64_C(1000000000)
/* Ten years: what a clock can say of one run. */
#define RUN_NS_MAX (UINT64_C(10) * 366 * 86400 * NS_PER_S)

void intervals_begin(struct intervals *v, uint64_t start_ns)
{
	memset(v, 0, sizeof(*v));
	v->start_ns = v->end_ns = start_ns;
	v->width_ns = INTERVALS_NS;
	v->exact = true;
}

static void widen(struct intervals *v)
{
	for (unsigned int i = 0; i < INTERVALS_SLOTS / 2; i++)
		v->bytes[i] = v->bytes[2 * i] + v->bytes[2 * i + 1];
	memset(v->bytes + INTERVALS_SLOTS / 2, 0, sizeof(v->bytes) / 2);
	v->slots = (v->slots + 1) / 2;
	v->width_ns *= 2;
}

/* The interval under way is whole. The first one speaks only until there is a second. */
static void close_interval(struct intervals *v)
{
	if (v->whole <= 1 || v->under_way < v->least) {
		v->least = v->under_way;
		v->least_at = v->whole;
	}
	if (v->whole <= 1 || v->under_way > v->most)
		v->most = v->under_way;
	v->under_way = 0;
	v->whole++;
}

/* Intervals in which nothing moved at all, up to number `index`. */
static void skip_to(struct intervals *v, uint64_t index)
{
	if (v->whole >= index)
		return;
	close_interval(v);
	if (v->whole >= index)
		return;
	close_interval(v); /* one empty interval speaks for all */
	v->whole = index;
}

static uint64_t passed(const struct intervals *v, uint64_t now_ns)
{
	uint64_t ns = now_ns > v->start_ns ? now_ns - v->start_ns : 0;

	return ns < RUN_NS_MAX ? ns : RUN_NS_MAX;
}

/* The clock moves to now; slots follow. */
static void move_to(struct intervals *v, uint64_t now_ns)
{
	uint64_t ns = passed(v, now_ns);

	if (v->start_ns + ns > v->end_ns)
		v->end_ns = v->start_ns + ns;
	skip_to(v, ns / INTERVALS_NS);
}

static void begin_slot(struct intervals *v, uint64_t slot)
{
	if (slot + 1 > v->slots)
		v->slots = (uint32_t)slot + 1;
}

void intervals_add(struct intervals *v, uint64_t now_ns, uint64_t bytes)
{
	uint64_t slot;

	move_to(v, now_ns);
	v->under_way += bytes;
	while (v->whole * INTERVALS_NS / v->width_ns >= INTERVALS_SLOTS)
		widen(v);
	slot = v->whole * INTERVALS_NS / v->width_ns;
	begin_slot(v, slot);
	v->bytes[slot] += bytes;
}

void intervals_end(struct intervals *v, uint64_t now_ns)
{
	intervals_add(v, now_ns, 0);
}

static void widen_to(struct intervals *v, uint64_t width_ns)
{
	while (v->width_ns < width_ns)
		widen(v);
}

/* Slots that the end of the run does not cut. */
static uint64_t whole_slots(const struct intervals *v)
{
	uint64_t whole = (v->end_ns - v->start_ns) / v->width_ns;

	return whole < v->slots ? whole : v->slots;
}

/* Extremes from the slots: exact while they are 100 ms wide. */
static void judge_slots(struct intervals *v)
{
	v->exact = v->width_ns == INTERVALS_NS;
	v->whole = whole_slots(v);
	v->least = v->most = v->least_at = 0;
	v->under_way = v->whole < v->slots ? v->bytes[v->whole] : 0;
	for (uint64_t i = 0; i < v->whole; i++) {
		if (i <= 1 || v->bytes[i] < v->least) {
			v->least = v->bytes[i];
			v->least_at = i;
		}
		if (i <= 1 || v->bytes[i] > v->most)
			v->most = v->bytes[i];
	}
}

int intervals_merge(struct intervals *v, const struct intervals *from)
{
	struct intervals other = *from;

	if (other.start_ns != v->start_ns)
		return -EINVAL;
	widen_to(&other, v->width_ns);
	widen_to(v, other.width_ns);
	if (other.end_ns > v->end_ns)
		v->end_ns = other.end_ns;
	if (other.slots > v->slots)
		v->slots = other.slots;
	for (unsigned int i = 0; i < other.slots; i++)
		v->bytes[i] += other.bytes[i];
	judge_slots(v);
	return 0;
}

uint64_t intervals_rate(uint64_t bytes, uint64_t ns)
{
	unsigned __int128 rate = ns ? (unsigned __int128)bytes * NS_PER_S / ns : 0;

	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median_bytes(const struct intervals *v, uint64_t whole)
{
	uint64_t sorted[INTERVALS_SLOTS];
	uint64_t low, high;

	memcpy(sorted, v->bytes, whole * sizeof(sorted[0]));
	qsort(sorted, whole, sizeof(sorted[0]), by_size);
	low = sorted[(whole - 1) / 2];
	high = sorted[whole / 2];
	return low + (high - low) / 2;
}

void intervals_stats(const struct intervals *v, struct intervals_stats *s)
{
	uint64_t whole = whole_slots(v), total = 0;

	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < v->slots; i++)
		total += v->bytes[i];
	s->duration_ns = v->end_ns - v->start_ns;
	s->mean = intervals_rate(total, s->duration_ns);
	s->whole = v->whole;
	s->width_ns = v->exact ? INTERVALS_NS : v->width_ns;
	s->median_width_ns = v->width_ns;
	if (!v->whole) {
		s->min = s->median = s->max = s->mean;
		return;
	}
	s->min = intervals_rate(v->least, s->width_ns);
	s->max = intervals_rate(v->most, s->width_ns);
	s->min_at_ns = v->least_at * s->width_ns;
	s->median = whole ? intervals_rate(median_bytes(v, whole), v->width_ns) : s->mean;
}

#define NUMBER(member) JSON_ROW(struct intervals, member, .kind = JSON_NUMBER, .max = JSON_UINT_MAX)

static const struct json_row time_rows[] = {
	NUMBER(start_ns),
	NUMBER(end_ns),
	NUMBER(width_ns),
};

static const struct json_row whole_rows[] = {
	JSON_ROW(struct intervals, exact, .kind = JSON_BOOL),
	NUMBER(whole),
	NUMBER(least),
	NUMBER(most),
	NUMBER(least_at),
};

json_t *intervals_to_json(const struct intervals *v)
{
	json_t *json = json_object(), *list = json_array();
	int err = list ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < v->slots && !err; i++)
		err = json_array_append_new(list, json_uint(v->bytes[i]));
	if (err) {
		json_decref(list);
		json_decref(json);
		return NULL;
	}
	if (json_rows_write(json, JSON_ROWS(time_rows), v) |
	    json_object_set_new(json, "bytes", list) |
	    json_rows_write(json, JSON_ROWS(whole_rows), v)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int take_slots(const json_t *list, struct intervals *v, struct err *e)
{
	uint64_t total = 0;

	v->slots = (uint32_t)json_array_size(list);
	for (unsigned int i = 0; i < v->slots; i++) {
		const json_t *slot = json_array_get(list, i);

		if (!json_is_integer(slot) || json_integer_value(slot) < 0)
			return err_set(e, -EINVAL, "'bytes' slot %u is no count", i);
		v->bytes[i] = (uint64_t)json_integer_value(slot);
		if (__builtin_add_overflow(total, v->bytes[i], &total) || total > JSON_UINT_MAX)
			return err_set(e, -EINVAL, "'bytes' adds up to more than can be");
	}
	return 0;
}

static bool width_ok(uint64_t width_ns)
{
	uint64_t times = width_ns / INTERVALS_NS;

	return width_ns % INTERVALS_NS == 0 && times && !(times & (times - 1));
}

static int check_fit(const struct intervals *v, struct err *e)
{
	uint64_t width = v->exact ? INTERVALS_NS : v->width_ns;

	if (!width_ok(v->width_ns))
		return err_set(e, -EINVAL, "'width_ns' is no slot of ours");
	if (v->end_ns < v->start_ns || v->end_ns - v->start_ns > RUN_NS_MAX)
		return err_set(e, -EINVAL, "'end_ns' does not fit 'start_ns'");
	if (v->slots && (v->end_ns - v->start_ns) / v->width_ns + 1 != v->slots)
		return err_set(e, -EINVAL, "'bytes' has %u slots, which the duration does not",
			       v->slots);
	if (v->whole > (v->end_ns - v->start_ns) / width)
		return err_set(e, -EINVAL, "'whole' is more than the duration has");
	if (v->least > v->most || (v->whole ? v->least_at >= v->whole : v->least_at != 0))
		return err_set(e, -EINVAL, "'least' does not fit 'most' and 'whole'");
	return 0;
}

int intervals_from_json(const json_t *json, struct intervals *v, struct err *e)
{
	struct intervals got = {0};
	const json_t *list = NULL;
	int err = json_take_array(json, "bytes", INTERVALS_SLOTS, &list, e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(time_rows), &got, e);
	if (!err)
		err = json_rows_read(json, JSON_ROWS(whole_rows), &got, e);
	if (!err)
		err = take_slots(list, &got, e);
	if (!err)
		err = check_fit(&got, e);
	if (err)
		return err;
	*v = got;
	return 0;
}
