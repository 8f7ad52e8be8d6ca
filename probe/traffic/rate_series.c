/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps two views of a stream: slots, merged when they are full, and running minimum and maximum of
 * complete 100 ms intervals. Merging two flows uses the slots only: exact while they are 100 ms
 * wide.
 */
#include "probe/traffic/rate_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"

#define NS_PER_S UINT64_C(1000000000)
/* Limit of the duration of a run: ten years. */
#define RUN_NS_MAX (UINT64_C(10) * 366 * 86400 * NS_PER_S)

void rate_series_init(struct rate_series *v, uint64_t start_ns)
{
	memset(v, 0, sizeof(*v));
	v->start_ns = v->end_ns = start_ns;
	v->width_ns = RATE_INTERVAL_NS;
	v->exact = true;
}

static void series_widen(struct rate_series *v)
{
	for (unsigned int i = 0; i < RATE_SERIES_SLOTS / 2; i++)
		v->bytes[i] = v->bytes[2 * i] + v->bytes[2 * i + 1];
	memset(v->bytes + RATE_SERIES_SLOTS / 2, 0, sizeof(v->bytes) / 2);
	v->slots = (v->slots + 1) / 2;
	v->width_ns *= 2;
}

/* Closes the current interval. The first one counts only until there is a second one. */
static void series_close_interval(struct rate_series *v)
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

/* Closes empty intervals up to number `index`. */
static void series_skip_to(struct rate_series *v, uint64_t index)
{
	if (v->whole >= index)
		return;
	series_close_interval(v);
	if (v->whole >= index)
		return;
	series_close_interval(v); /* one empty interval stands for all */
	v->whole = index;
}

void rate_series_add(struct rate_series *v, uint64_t now_ns, uint64_t bytes)
{
	uint64_t ns = now_ns > v->start_ns ? now_ns - v->start_ns : 0, slot;

	if (ns > RUN_NS_MAX)
		ns = RUN_NS_MAX;
	if (v->start_ns + ns > v->end_ns)
		v->end_ns = v->start_ns + ns;
	series_skip_to(v, ns / RATE_INTERVAL_NS);
	v->under_way += bytes;
	while (v->whole * RATE_INTERVAL_NS / v->width_ns >= RATE_SERIES_SLOTS)
		series_widen(v);
	slot = v->whole * RATE_INTERVAL_NS / v->width_ns;
	if (slot + 1 > v->slots)
		v->slots = (uint32_t)slot + 1;
	v->bytes[slot] += bytes;
}

void rate_series_stop(struct rate_series *v, uint64_t now_ns)
{
	rate_series_add(v, now_ns, 0);
}

static void series_widen_to(struct rate_series *v, uint64_t width_ns)
{
	while (v->width_ns < width_ns)
		series_widen(v);
}

/* Returns the number of complete slots. */
static uint64_t series_whole_slots(const struct rate_series *v)
{
	uint64_t whole = (v->end_ns - v->start_ns) / v->width_ns;

	return whole < v->slots ? whole : v->slots;
}

/* Computes minimum and maximum from slots: exact while they are 100 ms wide. */
static void series_set_extremes(struct rate_series *v)
{
	v->exact = v->width_ns == RATE_INTERVAL_NS;
	v->whole = series_whole_slots(v);
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

int rate_series_merge(struct rate_series *v, const struct rate_series *from)
{
	struct rate_series other = *from;

	if (other.start_ns != v->start_ns)
		return -EINVAL;
	series_widen_to(&other, v->width_ns);
	series_widen_to(v, other.width_ns);
	if (other.end_ns > v->end_ns)
		v->end_ns = other.end_ns;
	if (other.slots > v->slots)
		v->slots = other.slots;
	for (unsigned int i = 0; i < other.slots; i++)
		v->bytes[i] += other.bytes[i];
	series_set_extremes(v);
	return 0;
}

uint64_t rate_per_s(uint64_t bytes, uint64_t ns)
{
	unsigned __int128 rate = ns ? (unsigned __int128)bytes * NS_PER_S / ns : 0;

	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

static int series_cmp_bytes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t series_median_bytes(const struct rate_series *v, uint64_t whole)
{
	uint64_t sorted[RATE_SERIES_SLOTS];
	uint64_t low, high;

	memcpy(sorted, v->bytes, whole * sizeof(sorted[0]));
	qsort(sorted, whole, sizeof(sorted[0]), series_cmp_bytes);
	low = sorted[(whole - 1) / 2];
	high = sorted[whole / 2];
	return low + (high - low) / 2;
}

void rate_series_stats(const struct rate_series *v, struct rate_series_stats *s)
{
	uint64_t whole = series_whole_slots(v), total = 0;

	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < v->slots; i++)
		total += v->bytes[i];
	s->duration_ns = v->end_ns - v->start_ns;
	s->mean = rate_per_s(total, s->duration_ns);
	s->whole = v->whole;
	s->width_ns = v->exact ? RATE_INTERVAL_NS : v->width_ns;
	s->median_width_ns = v->width_ns;
	if (!v->whole) {
		s->min = s->median = s->max = s->mean;
		return;
	}
	s->min = rate_per_s(v->least, s->width_ns);
	s->max = rate_per_s(v->most, s->width_ns);
	s->min_at_ns = v->least_at * s->width_ns;
	s->median = whole ? rate_per_s(series_median_bytes(v, whole), v->width_ns) : s->mean;
}

#define NUMBER(member)                                                                             \
	JSON_ROW(struct rate_series, member, .kind = JSON_NUMBER, .max = JSON_UINT_MAX)

static const struct json_row time_rows[] = {
	NUMBER(start_ns),
	NUMBER(end_ns),
	NUMBER(width_ns),
};

static const struct json_row whole_rows[] = {
	JSON_ROW(struct rate_series, exact, .kind = JSON_BOOL),
	NUMBER(whole),
	NUMBER(least),
	NUMBER(most),
	NUMBER(least_at),
};

json_t *rate_series_to_json(const struct rate_series *v)
{
	json_t *json = json_object(), *list = json_array();

	for (unsigned int i = 0; i < v->slots; i++)
		list = json_list_add(list, json_uint(v->bytes[i]));
	if (json_rows_write(json, JSON_ROWS(time_rows), v) |
	    json_object_set_new(json, "bytes", list) |
	    json_rows_write(json, JSON_ROWS(whole_rows), v)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int series_read_slots(const json_t *list, struct rate_series *v, struct err *e)
{
	uint64_t total = 0;

	v->slots = (uint32_t)json_array_size(list);
	for (unsigned int i = 0; i < v->slots; i++) {
		const json_t *slot = json_array_get(list, i);

		if (!json_is_integer(slot) || json_integer_value(slot) < 0)
			return err_set(e, -EINVAL, "'bytes' slot %u: not a valid count", i);
		v->bytes[i] = (uint64_t)json_integer_value(slot);
		if (__builtin_add_overflow(total, v->bytes[i], &total) || total > JSON_UINT_MAX)
			return err_set(e, -EINVAL, "'bytes': the sum overflows");
	}
	return 0;
}

static bool series_width_valid(uint64_t width_ns)
{
	uint64_t times = width_ns / RATE_INTERVAL_NS;

	return width_ns % RATE_INTERVAL_NS == 0 && times && !(times & (times - 1));
}

static int series_check(const struct rate_series *v, struct err *e)
{
	uint64_t width = v->exact ? RATE_INTERVAL_NS : v->width_ns;

	if (!series_width_valid(v->width_ns))
		return err_set(e, -EINVAL, "'width_ns': not a valid slot width");
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

int rate_series_from_json(const json_t *json, struct rate_series *v, struct err *e)
{
	struct rate_series got = {0};
	const json_t *list = NULL;
	int err = json_get_array(json, "bytes", RATE_SERIES_SLOTS, &list, e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(time_rows), &got, e);
	if (!err)
		err = json_rows_read(json, JSON_ROWS(whole_rows), &got, e);
	if (!err)
		err = series_read_slots(list, &got, e);
	if (!err)
		err = series_check(&got, e);
	if (err)
		return err;
	*v = got;
	return 0;
}
