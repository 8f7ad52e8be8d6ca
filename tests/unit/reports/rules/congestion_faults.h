/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be wrong in a capture of congestion: pauses, marks and their notifications.
 */
#ifndef TESTS_UNIT_CONGESTION_FAULTS_H
#define TESTS_UNIT_CONGESTION_FAULTS_H

#include "tests/unit/reports/rules/capture_faults.h"

#define MS UINT64_C(1000000)

static void marked(struct setting *s)
{
	s->flow[0].ecn[3] = 4;
	mark(s, FLOW_CE);
}

static void marked_one_way(struct setting *s)
{
	marked(s);
	one_way(s);
}

static void notified(struct setting *s)
{
	marked(s);
	s->summary.totals.cnp = 1;
}

static void both_pauses(struct setting *s)
{
	s->summary.totals.pause_frames = 1;
}

static void cnp_dscp(struct setting *s)
{
	s->flow[1].dscp[48] = s->flow[1].cnp = 1;
}

/* 10 ms, and a pause of priority 3 in them. */
static void paused(struct setting *s, uint64_t ns)
{
	struct pause_totals *t = &s->summary.totals.pause;

	s->flow[0].first_ns = s->flow[1].first_ns = 1000 * MS;
	s->flow[0].last_ns = s->flow[1].last_ns = t->last_ns = 1000 * MS + 10 * MS;
	t->first_ns = 1001 * MS;
	t->pauses[3] = 2;
	t->ns[3] = t->most_ns[3] = t->longest[3].ns = ns;
	t->longest[3].first_frame = 3;
	t->longest[3].last_frame = 9;
}

static void paused_little(struct setting *s)
{
	paused(s, MS - 1);
}

static void paused_tenth(struct setting *s)
{
	paused(s, MS);
}

static void paused_long(struct setting *s)
{
	paused(s, MS + 1);
}

static void paused_short_capture(struct setting *s)
{
	paused(s, MS - 1);
	s->flow[0].last_ns = s->flow[1].last_ns = s->summary.totals.pause.last_ns = 1002 * MS;
}

/* 5 ms of 100, which begin with the time 0. */
static void paused_since_zero(struct setting *s)
{
	paused(s, 5 * MS);
	s->flow[0].first_ns = 0;
	s->flow[0].last_ns = 100 * MS;
	s->flow[1].first_ns = s->summary.totals.pause.first_ns = 90 * MS;
	s->flow[1].last_ns = s->summary.totals.pause.last_ns = 100 * MS;
}

static void nearly_storm(struct setting *s)
{
	paused(s, 100 * MS - 1);
}

static void storm(struct setting *s)
{
	paused(s, 100 * MS);
	s->summary.totals.pause.last_ns = 1200 * MS;
	s->flow[0].held = 1;
	s->flow[0].held_ns = 100 * MS;
}

static void ran_out(struct setting *s)
{
	paused(s, MS);
	s->summary.totals.pause.ran_out[3] = 1;
}

static void held(struct setting *s)
{
	s->flow[0].held = 2;
	s->flow[0].held_ns = 5000;
	mark(s, FLOW_HELD);
}

static void held_unknown(struct setting *s)
{
	s->flow[0].held_unknown = 1;
}

static void held_and_unknown(struct setting *s)
{
	held(s);
	held_unknown(s);
}

static void spaced(struct setting *s)
{
	s->flow[1].cnp = 2;
	s->flow[1].cnp_min_ns = 4000;
}

static void spaced_little(struct setting *s)
{
	spaced(s);
	s->flow[1].cnp_min_ns = 1000;
	s->flow[1].cnp_close = 1;
	mark(s, FLOW_CNP_CLOSE);
}

/* Of a QP that gets none, while another one does. */
static void marks_of_one(struct setting *s, uint64_t n)
{
	s->flow[0].ecn[3] = n;
	s->flow[0].peer_qpn = 0x12;
	s->summary.totals.cnp = 1;
}

static void few_unanswered(struct setting *s)
{
	marks_of_one(s, 999);
}

static void many_unanswered(struct setting *s)
{
	marks_of_one(s, 1000);
}

static void many_answered(struct setting *s)
{
	marks_of_one(s, 1000);
	s->flow[1].cnp = 1;
}

static void many_lossy(struct setting *s)
{
	marks_of_one(s, 1000);
	lossy(s);
}

static void half_marked(struct setting *s)
{
	s->flow[0].packets = 100;
	s->flow[0].ecn[3] = 50;
}

static void over_half_marked(struct setting *s)
{
	s->flow[0].packets = 100;
	s->flow[0].ecn[3] = 51;
}

static void forgotten_notified(struct setting *s)
{
	forgotten(s);
	notified(s);
}

static void forgotten_marked(struct setting *s)
{
	forgotten(s);
	marked(s);
}

static void forgotten_unanswered(struct setting *s)
{
	forgotten(s);
	marks_of_one(s, 1000);
}

static void forgotten_spaced(struct setting *s)
{
	forgotten(s);
	spaced(s);
}

static void forgotten_half_marked(struct setting *s)
{
	forgotten(s);
	half_marked(s);
}

#endif
