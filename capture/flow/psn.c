/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks the PSNs of requests. A READ request uses one PSN per response: ceil(length / path MTU),
 * at least one (IBTA vol 1, 9.7.3.1). The path MTU comes from full packets, else from the PSN
 * distance between READs once two agree on one value. Until then, requests after a READ are not
 * checked.
 */
#include "capture/flow/psn.h"

#include <string.h>

#define PMTU_MIN   256U
#define PMTU_MAX   4096U
#define PMTU_COUNT 5 /* powers of two */

/* A loss is shorter than this; a reused QP number starts at any PSN. */
#define JUMP_MAX       (1 << 20)
#define JUMP_IDLE_MAX  4096
#define JUMP_IDLE_NS   UINT64_C(1000000000)
#define PMTU_VOTES_MIN 2

void psn_learn_pmtu(struct psn_track *t, uint32_t payload)
{
	if (payload >= PMTU_MIN && payload <= PMTU_MAX && !(payload & (payload - 1)))
		t->pmtu = payload;
}

static uint32_t psn_read_span(uint32_t len, uint32_t pmtu)
{
	uint32_t n = len / pmtu + (len % pmtu != 0);

	return n ? n : 1;
}

/* A READ of up to 256 bytes has one response at any path MTU. */
uint32_t psn_span(const struct psn_track *t, const struct psn_request *r)
{
	if (!r->read)
		return 1;
	if (!r->read_known)
		return 0;
	if (r->read_len <= PMTU_MIN)
		return 1;
	return t->pmtu ? psn_read_span(r->read_len, t->pmtu) : 0;
}

/* The next request shows how many PSNs the READ before it used, if nothing between was lost. */
static void psn_vote_pmtu(struct psn_track *t, uint32_t span)
{
	uint8_t mask = 0;
	unsigned int i;

	for (i = 0; i < PMTU_COUNT; i++)
		if (t->read_len && psn_read_span(t->read_len, PMTU_MIN << i) == span)
			mask |= (uint8_t)(1U << i);
	if (!t->pmtu_votes || !(mask & t->pmtu_mask)) {
		t->pmtu_mask = mask;
		t->pmtu_votes = mask != 0;
		return;
	}
	t->pmtu_mask &= mask;
	if (++t->pmtu_votes < PMTU_VOTES_MIN || (t->pmtu_mask & (t->pmtu_mask - 1)))
		return;
	for (i = 0; i < PMTU_COUNT; i++)
		if (t->pmtu_mask == 1U << i)
			t->pmtu = PMTU_MIN << i;
}

static void psn_gap_drop(struct psn_gap *gap, uint32_t *count, unsigned int i)
{
	(*count)--;
	memmove(&gap[i], &gap[i + 1], (*count - i) * sizeof(gap[0]));
}

void psn_gap_open(struct psn_gap *gap, uint32_t *count, const struct psn_gap *new)
{
	if (*count == PSN_GAPS_MAX)
		psn_gap_drop(gap, count, 0);
	gap[*count] = *new;
	gap[(*count)++].start &= PSN_MASK;
}

/* Removes [lo, hi) from gap i; both sides of it stay open. */
static void psn_gap_remove(struct psn_gap *gap, uint32_t *count, unsigned int i, uint32_t lo,
			   uint32_t hi)
{
	struct psn_gap *g = &gap[i];
	struct psn_gap right = *g;

	right.start = (g->start + hi) & PSN_MASK;
	right.len = g->len - hi;
	g->len = lo;
	if (!lo && !right.len)
		psn_gap_drop(gap, count, i);
	else if (!lo)
		*g = right;
	else if (right.len && *count < PSN_GAPS_MAX)
		gap[(*count)++] = right; /* else dropped, as an old gap is */
}

uint32_t psn_gap_fill(struct psn_gap *gap, uint32_t *count, uint32_t psn, uint32_t span)
{
	uint32_t filled = 0;
	unsigned int i = 0;

	while (i < *count) {
		const struct psn_gap *g = &gap[i];
		int64_t from = psn_distance(psn, g->start), to = from + span;
		unsigned int before = *count;
		uint32_t lo, hi;

		if (!span)
			to = from >= 0 ? g->len : from;
		lo = from > 0 ? (uint32_t)from : 0;
		hi = to < 0 ? 0 : to < g->len ? (uint32_t)to : g->len;
		if (lo < hi) {
			filled += hi - lo;
			psn_gap_remove(gap, count, i, lo, hi);
		}
		if (*count >= before)
			i++;
	}
	return filled;
}

bool psn_is_jump(const struct psn_track *t, const struct psn_request *r)
{
	int32_t d = psn_distance(r->psn, t->expected), jump = d < 0 ? -d : d;
	bool idle = r->time_ns > t->last_ns && r->time_ns - t->last_ns >= JUMP_IDLE_NS;

	return !r->unacked && (jump > JUMP_MAX || (idle && jump > JUMP_IDLE_MAX));
}

/* The request is the newest: sets the expected PSN, or blind. */
static void psn_advance(struct psn_track *t, const struct psn_request *r)
{
	uint32_t span = psn_span(t, r);

	t->expected = (r->psn + (span ? span : 1)) & PSN_MASK;
	t->blind = !span;
	if (r->read)
		t->reads_end = t->expected;
	t->read_len = span ? 0 : r->read_known ? r->read_len : 0;
}

/* PSN at or after the expected one. */
static enum psn_verdict psn_observe_ahead(struct psn_track *t, const struct psn_request *r,
					  uint32_t d, uint32_t *count)
{
	bool blind = t->blind;

	if (blind)
		psn_vote_pmtu(t, d + 1);
	else if (d)
		psn_gap_open(t->gap, &t->gap_count, &(struct psn_gap){t->expected, d, r->time_ns});
	psn_advance(t, r);
	if (blind)
		return PSN_UNJUDGED;
	*count = d;
	return d ? PSN_GAP : PSN_IN_ORDER;
}

/* PSN before the expected one: late or retransmitted. A retransmitted READ may end after it. */
static enum psn_verdict psn_observe_behind(struct psn_track *t, const struct psn_request *r,
					   uint32_t *count)
{
	uint32_t span = psn_span(t, r);

	*count = psn_gap_fill(t->gap, &t->gap_count, r->psn, span);
	if (span && psn_distance(r->psn + span, t->expected) > 0)
		psn_advance(t, r);
	return *count ? PSN_FILLED : PSN_DUPLICATE;
}

enum psn_verdict psn_observe(struct psn_track *t, const struct psn_request *r, uint32_t *count)
{
	enum psn_verdict verdict = PSN_FIRST;
	int32_t d = 0;

	*count = 0;
	if (t->started) {
		d = psn_distance(r->psn, t->expected);
		verdict = psn_is_jump(t, r) ? PSN_NEW_CONNECTION : PSN_IN_ORDER;
	}
	if (verdict == PSN_NEW_CONNECTION)
		*t = (struct psn_track){.gap = t->gap};
	if (verdict != PSN_IN_ORDER)
		psn_advance(t, r);
	else if (d < 0)
		verdict = psn_observe_behind(t, r, count);
	else
		verdict = psn_observe_ahead(t, r, (uint32_t)d, count);
	t->started = true;
	if (r->time_ns > t->last_ns)
		t->last_ns = r->time_ns;
	return verdict;
}

const struct psn_gap *psn_gap_at(const struct psn_gap *gap, uint32_t count, uint32_t psn)
{
	for (unsigned int i = 0; i < count; i++) {
		int32_t d = psn_distance(psn, gap[i].start);

		if (d >= 0 && (uint32_t)d < gap[i].len)
			return &gap[i];
	}
	return NULL;
}

uint32_t psn_cover(struct psn_track *t, uint32_t psn)
{
	uint32_t covered = 0;
	unsigned int i = 0;

	while (i < t->gap_count) {
		int32_t d = psn_distance(psn, t->gap[i].start);
		uint32_t n = d < 0 ? 0 : (uint32_t)d + 1;
		unsigned int before = t->gap_count;

		if (n > t->gap[i].len)
			n = t->gap[i].len;
		if (n)
			psn_gap_remove(t->gap, &t->gap_count, i, 0, n);
		covered += n;
		if (t->gap_count >= before)
			i++;
	}
	return covered;
}
