/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the traffic pattern on one core: filling and checking messages against memcpy() of the
 * same bytes, in a ring as traffic has it and in one message that stays in the cache. Processor
 * time, so that other load counts little; the median of alternated pairs. One line a figure: NAME
 * VALUE UNIT TARGET ok|short; exit 1 when one is short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/traffic/traffic_pattern.h"

#define PAIRS	      9
#define MESSAGE_BYTES 65536u
#define RING_SLOTS    64u
#define PASS_BYTES    (UINT64_C(128) << 20) /* of one side of a pair */
#define TARGET	      0.5

struct work {
	uint8_t *to, *from;
	uint32_t slots, length;
	uint64_t sequence;
	unsigned int faults;
};

static uint8_t *slot_of(uint8_t *ring, const struct work *w, uint64_t n)
{
	return ring + n % w->slots * w->length;
}

static struct pattern_id id_of(const struct work *w, uint64_t n)
{
	return (struct pattern_id){.seed = 4711,
				   .sequence = n,
				   .slot = (uint32_t)(n % w->slots),
				   .kind = PATTERN_DATA};
}

static void copy_one(struct work *w, uint64_t n)
{
	memcpy(slot_of(w->to, w, n), slot_of(w->from, w, n), w->length);
	__asm__ volatile("" ::: "memory");
}

static void fill_one(struct work *w, uint64_t n)
{
	struct pattern_id id = id_of(w, n);

	pattern_fill(slot_of(w->to, w, n), w->length, &id);
}

/* The ring holds the messages 0 .. slots - 1 and is not written. */
static void check_one(struct work *w, uint64_t n)
{
	struct pattern_id id = id_of(w, n % w->slots);
	uint64_t offset;

	w->faults += pattern_check(slot_of(w->to, w, n), w->length, &id, &offset) != PATTERN_OK;
}

static void fill_and_check_one(struct work *w, uint64_t n)
{
	fill_one(w, n % w->slots);
	check_one(w, n);
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double time_pass(struct work *w, void (*one)(struct work *w, uint64_t n))
{
	uint64_t count = PASS_BYTES / w->length;
	double start = cpu_s();

	for (uint64_t n = 0; n < count; n++)
		one(w, n);
	return cpu_s() - start;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *list)
{
	qsort(list, PAIRS, sizeof(*list), by_size);
	return list[PAIRS / 2];
}

/* Prints one figure. Returns whether it is short of its target. */
static bool measure(const char *name, struct work *w, void (*one)(struct work *w, uint64_t n))
{
	double ratio[PAIRS], speed[PAIRS], copied[PAIRS], got;

	for (uint64_t n = 0; n < w->slots; n++)
		fill_one(w, n);
	time_pass(w, one);
	for (unsigned int i = 0; i < PAIRS; i++) {
		double copy = time_pass(w, copy_one), ours;

		for (uint64_t n = 0; n < w->slots; n++)
			fill_one(w, n);
		ours = time_pass(w, one);
		ratio[i] = copy / ours;
		speed[i] = (double)PASS_BYTES / ours / 1e9;
		copied[i] = (double)PASS_BYTES / copy / 1e9;
	}
	got = median(ratio);
	printf("probe.host.%s %.2f x-memcpy >=%.1f %s (%.1f GB/s, memcpy %.1f GB/s)\n", name, got,
	       TARGET, got >= TARGET ? "ok" : "short", median(speed), median(copied));
	return got < TARGET;
}

int main(void)
{
	static const struct {
		const char *name;
		uint32_t slots;
		void (*one)(struct work *w, uint64_t n);
	} rows[] = {
		{"fill_ring", RING_SLOTS, fill_one},
		{"verify_ring", RING_SLOTS, check_one},
		{"both_ring", RING_SLOTS, fill_and_check_one},
		{"fill_hot", 1, fill_one},
		{"verify_hot", 1, check_one},
		{"both_hot", 1, fill_and_check_one},
	};
	struct work w = {.length = MESSAGE_BYTES};
	bool is_short = false;

	w.to = calloc(RING_SLOTS, MESSAGE_BYTES);
	w.from = calloc(RING_SLOTS, MESSAGE_BYTES);
	if (!w.to || !w.from) {
		perror("ring");
		return 1;
	}
	memset(w.from, 1, (size_t)RING_SLOTS * MESSAGE_BYTES);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		w.slots = rows[i].slots;
		is_short |= measure(rows[i].name, &w, rows[i].one);
	}
	if (w.faults)
		printf("%u messages were judged wrong\n", w.faults);
	free(w.to);
	free(w.from);
	return is_short || w.faults;
}
