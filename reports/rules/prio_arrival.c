/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the traffic of each priority, the largest first: in its own counter, or when that is too
 * small in the other counter that fits best. ACKs and credits are subtracted with it, so that a
 * small class is not found in the ACKs of a large one. A swap of two priorities with equal volumes
 * cannot be detected, and the text says so.
 */
#include "reports/rules/prio_arrival.h"

#include <stdio.h>
#include <string.h>

#define MISSING_PC 1u /* of a class may be missing: counters are read before the last packet */
#define ALIKE_PC   5u /* smaller differences count as equal */

uint64_t prio_packets(uint64_t messages, uint32_t message_bytes, uint32_t mtu)
{
	uint64_t each = mtu ? (message_bytes + (uint64_t)mtu - 1) / mtu : 1;

	return messages * (each ? each : 1);
}

/* Chooses the metric: packets if counted, which need no estimate of headers, else bytes. */
static enum metric arrival_metric(const struct counters *growth, bool rx, struct prio_arrival *a)
{
	enum metric packets = rx ? METRIC_PRIO_RX_PACKETS : METRIC_PRIO_TX_PACKETS;
	enum metric bytes = rx ? METRIC_PRIO_RX_BYTES : METRIC_PRIO_TX_BYTES;

	a->packets = growth->has[packets] != 0;
	return a->packets ? packets : bytes;
}

static bool arrival_is_enough(uint64_t there, uint64_t wanted)
{
	return there >= wanted - wanted / 100 * MISSING_PC;
}

/* Returns the other priority that fits the volume best; -1: none. */
static int arrival_closest_prio(const uint64_t left[QOS_PRIOS], unsigned int own, uint64_t wanted)
{
	int best = -1;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (prio == own || !arrival_is_enough(left[prio], wanted))
			continue;
		if (best < 0 || left[prio] < left[best])
			best = (int)prio;
	}
	return best;
}

/* Returns the largest priority not yet placed; -1 after the last. */
static int arrival_next_largest(const uint64_t wanted[QOS_PRIOS], uint8_t placed)
{
	int best = -1;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!wanted[prio] || placed & 1u << prio)
			continue;
		if (best < 0 || wanted[prio] > wanted[best])
			best = (int)prio;
	}
	return best;
}

/* A priority that is too small only without the baseline counts as complete: a short baseline is a
 * rough estimate of a longer load. Then most of it must be missing, and be found elsewhere. */
static int arrival_find(const uint64_t left[QOS_PRIOS], uint64_t whole, unsigned int prio,
			uint64_t wanted)
{
	int found;

	if (arrival_is_enough(left[prio], wanted))
		return (int)prio;
	found = arrival_closest_prio(left, prio, wanted);
	if (arrival_is_enough(whole, wanted) && (found < 0 || left[prio] >= wanted / 2))
		return (int)prio;
	return found;
}

/* Sets at[] to the priority that counted each priority's traffic, or -1. */
static void arrival_place(const struct prio_arrival *a, const uint64_t beside[QOS_PRIOS],
			  int at[QOS_PRIOS])
{
	uint64_t left[QOS_PRIOS], whole[QOS_PRIOS];
	uint8_t placed = 0;
	int prio;

	memcpy(left, a->net, sizeof(left));
	memcpy(whole, a->whole, sizeof(whole));
	while ((prio = arrival_next_largest(a->wanted, placed)) >= 0) {
		placed |= (uint8_t)(1u << prio);
		at[prio] = arrival_find(left, whole[prio], (unsigned int)prio, a->wanted[prio]);
		if (at[prio] < 0)
			continue;
		left[at[prio]] = saturating_sub(left[at[prio]], a->wanted[prio] + beside[prio]);
		whole[at[prio]] = saturating_sub(whole[at[prio]], a->wanted[prio] + beside[prio]);
	}
}

/* True when the counters have less than half of the traffic: then they do not count RDMA. */
static bool arrival_uncounted(const struct prio_arrival *a)
{
	uint64_t there = 0, wanted = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		there += a->net[prio];
		wanted += a->wanted[prio];
	}
	return there < wanted / 2;
}

static void arrival_find_swap(const struct prio_arrival *a, const int at[QOS_PRIOS], int swapped[2])
{
	for (int p = 0; p < QOS_PRIOS; p++) {
		for (int q = p + 1; q < QOS_PRIOS; q++) {
			if (!a->wanted[p] || !a->wanted[q] || at[p] != q || at[q] != p)
				continue;
			swapped[0] = p;
			swapped[1] = q;
			return;
		}
	}
}

/* Finds two priorities in their places with equal volumes. */
static bool arrival_alike(const struct prio_arrival *a, const int at[QOS_PRIOS], int pair[2])
{
	for (int p = 0; p < QOS_PRIOS; p++) {
		for (int q = p + 1; q < QOS_PRIOS; q++) {
			uint64_t x = a->wanted[p], y = a->wanted[q], more = x > y ? x : y;

			if (!x || !y || at[p] != p || at[q] != q ||
			    (x > y ? x - y : y - x) > more / 100 * ALIKE_PC)
				continue;
			pair[0] = p;
			pair[1] = q;
			return true;
		}
	}
	return false;
}

static void arrival_judge_classes(const struct prio_volume *flow, const int at[QOS_PRIOS],
				  struct prio_arrival *a)
{
	for (unsigned int i = 0; i < a->class_count; i++) {
		struct prio_class *c = &a->class[i];
		int prio = flow[i].prio;

		c->class = flow[i].class;
		c->arrival = ARRIVAL_UNKNOWN;
		c->found = -1;
		if (prio < 0 || prio >= QOS_PRIOS || !a->wanted[prio] ||
		    !(a->packets ? flow[i].packets : flow[i].bytes))
			continue;
		c->arrival = at[prio] == prio ? ARRIVAL_RIGHT : ARRIVAL_WRONG;
		c->found = at[prio];
	}
}

static void arrival_wrong_text(const struct prio_volume *flow, struct prio_arrival *a)
{
	if (a->swapped[0] >= 0) {
		snprintf(a->text, sizeof(a->text),
			 "priorities %d and %d are swapped: each counts the other's traffic",
			 a->swapped[0], a->swapped[1]);
		return;
	}
	for (unsigned int i = 0; i < a->class_count; i++) {
		if (a->class[i].arrival != ARRIVAL_WRONG)
			continue;
		if (a->class[i].found >= 0)
			snprintf(a->text, sizeof(a->text),
				 "DSCP %u belongs to priority %d but is counted in priority %d",
				 flow[i].dscp, flow[i].prio, a->class[i].found);
		else
			snprintf(a->text, sizeof(a->text),
				 "DSCP %u belongs to priority %d, which counted %llu of %llu %s",
				 flow[i].dscp, flow[i].prio,
				 (unsigned long long)a->whole[flow[i].prio],
				 (unsigned long long)a->wanted[flow[i].prio],
				 a->packets ? "packets" : "bytes");
		return;
	}
}

void prio_arrival_check(const struct counters *growth, const struct counters *whole, bool rx,
			const struct prio_volume *flow, unsigned int count, struct prio_arrival *a)
{
	int at[QOS_PRIOS] = {-1, -1, -1, -1, -1, -1, -1, -1}, pair[2];
	uint64_t beside[QOS_PRIOS] = {0};
	enum metric m;

	memset(a, 0, sizeof(*a));
	a->swapped[0] = a->swapped[1] = -1;
	a->class_count = count < PRIO_VOLUMES_MAX ? count : PRIO_VOLUMES_MAX;
	m = arrival_metric(growth, rx, a);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!counters_has(growth, m, prio))
			continue;
		a->net[prio] = growth->value[m][prio];
		a->whole[prio] = whole->value[m][prio];
	}
	for (unsigned int i = 0; i < a->class_count; i++) {
		if (flow[i].prio < 0 || flow[i].prio >= QOS_PRIOS ||
		    !counters_has(growth, m, (unsigned int)flow[i].prio))
			continue;
		a->known = true;
		a->wanted[flow[i].prio] += a->packets ? flow[i].packets : flow[i].bytes;
		beside[flow[i].prio] += a->packets ? flow[i].beside_packets : flow[i].beside_bytes;
	}
	if (arrival_uncounted(a)) {
		a->known = false;
		memset(a->wanted, 0, sizeof(a->wanted));
	}
	arrival_place(a, beside, at);
	arrival_find_swap(a, at, a->swapped);
	arrival_judge_classes(flow, at, a);
	arrival_wrong_text(flow, a);
	if (!a->text[0] && arrival_alike(a, at, pair))
		snprintf(a->text, sizeof(a->text),
			 "priorities %d and %d carried equal amounts: a swap of the two cannot be "
			 "detected",
			 pair[0], pair[1]);
}
