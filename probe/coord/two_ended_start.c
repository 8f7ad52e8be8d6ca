/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A probe that starts together with others: waiting for them, and one instant by the clocks of both
 * ends. The agent of this host has our own clock; that of the server is asked for a few times, and
 * the quickest answer counts: it is wrong by half its round trip at most.
 */
#include <errno.h>
#include <stdio.h>

#include "probe/coord/two_ended_inside.h"
#include "profiles/base/json.h"

#define CLOCK_ASKS 5
#define ANSWER_MS  5000

struct wait {
	struct duo *d;
	enum meeting_step step;
};

static bool lost(const struct duo *d)
{
	for (unsigned int i = 0; i < SIDES; i++)
		if (d->s.conn[i].state != CONN_READY)
			return true;
	return false;
}

/* When all are there or gone; before the start also when that will not be. */
static bool met(void *arg)
{
	const struct wait *w = arg;
	struct meeting *m = w->d->w->meeting;

	if (meeting_complete(m, w->step))
		return true;
	return w->step <= MEET_CONNECTED &&
	       (meeting_broken(m) || session_stopped(&w->d->s) || lost(w->d));
}

int duo_meet(struct duo *d, enum meeting_step step, struct err *e)
{
	struct meeting *m = d->w->meeting;
	struct wait w = {d, step};

	if (!m)
		return 0;
	meeting_come(m, d->w->member, step);
	loop_run_until(d->s.loop, met, &w);
	if (step > MEET_CONNECTED)
		return 0;
	if (meeting_broken(m))
		return err_set(e, -ECANCELED, "lost another server before the common start");
	return duo_check_ends(d, e);
}

int duo_one_port(struct duo *d, struct err *e)
{
	char own[MEETING_PLACE_MAX], theirs[MEETING_PLACE_MAX];
	const struct port *p = d->t->ends.port[SIDE_CLIENT];

	if (!d->w->meeting)
		return 0;
	snprintf(own, sizeof(own), "%s port %u", p->ibdev, p->ib_port);
	if (meeting_agrees(d->w->meeting, own, theirs))
		return 0;
	err_set(e, -ENOTUNIQ,
		"this server sends to %s of this host, another server to %s: no incast", own,
		theirs);
	err_hint(e, "choose one port with --ib-dev, or pass servers of one network");
	return -ENOTUNIQ;
}

/* Now by the server's clock and by ours, and how long the question took. */
static int ask_clock(struct duo *d, int64_t *ahead_ns, uint64_t *round_trip_ns, struct err *e)
{
	uint64_t theirs_ns, before_ns = monotonic_ns(), after_ns;
	const json_t *reply;

	agent_conn_ask(&d->s.conn[SIDE_SERVER], "ping",
		       json_pack("{s:i}", "lease_ms", SESSION_LEASE_MS), ANSWER_MS);
	session_wait(&d->s);
	after_ns = monotonic_ns();
	reply = duo_reply(d, SIDE_SERVER, e);
	if (!reply)
		return e->code;
	if (json_get_uint(reply, "now_ns", 0, JSON_UINT_MAX, &theirs_ns, e)) {
		err_prefix(e, "%s", d->t->run.host[SIDE_SERVER].name);
		return e->code;
	}
	*round_trip_ns = after_ns - before_ns;
	*ahead_ns = (int64_t)(theirs_ns - before_ns - *round_trip_ns / 2);
	return 0;
}

int duo_clocks(struct duo *d, struct err *e)
{
	uint64_t best_ns = UINT64_MAX;

	for (unsigned int i = 0; d->w->meeting && i < CLOCK_ASKS; i++) {
		uint64_t round_trip_ns = 0;
		int64_t ahead_ns = 0;
		int err = ask_clock(d, &ahead_ns, &round_trip_ns, e);

		if (err)
			return err;
		if (round_trip_ns >= best_ns)
			continue;
		best_ns = d->t->start.round_trip_ns = round_trip_ns;
		d->ahead_ns = ahead_ns;
	}
	return 0;
}

uint64_t duo_start_ns(struct duo *d, enum run_side side)
{
	struct two_ended_start *s = &d->t->start;

	if (!d->w->meeting)
		return 0;
	s->start_ns = meeting_start_ns(d->w->meeting);
	return side == SIDE_CLIENT ? s->start_ns : s->start_ns + (uint64_t)d->ahead_ns;
}
