/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks pauses by sender and priority. A quantum is 512 bit times: 51.2 ns at 10 Gbit/s, the
 * default for an unknown link speed. A pause without renewal is over after that time on any faster
 * link, too.
 */
#include "capture/flow/pause.h"

#include <string.h>

#define QUANTUM_BITS   512
#define SENT_BEFORE_NS 100000 /* a flow with a longer silence before was idle, not held */

static uint64_t pause_quanta_ns(const struct pause_totals *sum, uint16_t quanta)
{
	uint64_t mbps = sum->link_mbps ? sum->link_mbps : PAUSE_DEFAULT_MBPS;

	return quanta * UINT64_C(1000) * QUANTUM_BITS / mbps;
}

static struct pause_sender *pause_find_sender(struct pause_track *t, const uint8_t smac[6])
{
	struct pause_sender *oldest = &t->sender[0];

	for (unsigned int i = 0; i < PAUSE_SENDERS; i++) {
		struct pause_sender *s = &t->sender[i];

		if (s->last_ns && !memcmp(s->smac, smac, 6))
			return s;
		if (s->last_ns < oldest->last_ns)
			oldest = s;
	}
	memset(oldest, 0, sizeof(*oldest));
	memcpy(oldest->smac, smac, 6);
	return oldest;
}

static void pause_add_time(struct pause_sender *s, unsigned int prio, const struct packet *p,
			   struct pause_totals *sum)
{
	uint64_t ns = p->time_ns - s->refreshed_ns[prio], whole_ns = p->time_ns - s->since_ns[prio];

	sum->ns[prio] += ns;
	s->ns[prio] += ns;
	if (s->ns[prio] > sum->most_ns[prio]) {
		sum->most_ns[prio] = s->ns[prio];
		memcpy(sum->most_smac[prio], s->smac, 6);
	}
	if (whole_ns > sum->longest[prio].ns)
		sum->longest[prio] = (struct pause_extent){
			.ns = whole_ns,
			.first_frame = s->since_frame[prio],
			.last_frame = p->frame,
		};
}

/* Adds the time since the last frame of a pause. */
static void pause_account(struct pause_sender *s, unsigned int prio, const struct packet *p,
			  struct pause_totals *sum)
{
	if (!s->paused[prio])
		return;
	if (p->time_ns <= s->until_ns[prio]) {
		if (p->time_ns > s->refreshed_ns[prio])
			pause_add_time(s, prio, p, sum);
		return;
	}
	if (!sum->ran_out[prio]++) {
		sum->first_ran_out[prio].first_frame = s->refreshed_frame[prio];
		sum->first_ran_out[prio].last_frame = p->frame;
	}
	s->paused[prio] = false;
}

static void pause_release(struct pause_track *t, struct pause_sender *s, unsigned int prio,
			  uint64_t now_ns)
{
	if (!s->paused[prio])
		return;
	s->paused[prio] = false;
	memcpy(t->ended[prio].smac, s->smac, 6);
	t->ended[prio].since_ns = s->since_ns[prio] < now_ns ? s->since_ns[prio] : now_ns;
	t->ended[prio].end_ns = now_ns;
}

static void pause_hold(struct pause_sender *s, unsigned int prio, const struct packet *p,
		       struct pause_totals *sum)
{
	if (!s->paused[prio]) {
		sum->pauses[prio]++;
		s->since_frame[prio] = p->frame;
	}
	/* Timestamps of a file may go back. */
	if (!s->paused[prio] || p->time_ns < s->since_ns[prio])
		s->since_ns[prio] = p->time_ns;
	s->paused[prio] = true;
	s->refreshed_ns[prio] = p->time_ns;
	s->refreshed_frame[prio] = p->frame;
	s->until_ns[prio] = p->time_ns + pause_quanta_ns(sum, p->pfc_quanta[prio]);
}

void pause_add(struct pause_track *t, const struct packet *p, struct pause_totals *sum)
{
	struct pause_sender *s = pause_find_sender(t, p->smac);

	if (!t->begun || p->time_ns < sum->first_ns)
		sum->first_ns = p->time_ns;
	if (p->time_ns > sum->last_ns)
		sum->last_ns = p->time_ns;
	t->begun = true;
	for (unsigned int prio = 0; prio < PAUSE_PRIOS; prio++) {
		if (!(p->pfc_enable >> prio & 1))
			continue;
		pause_account(s, prio, p, sum);
		if (p->pfc_quanta[prio])
			pause_hold(s, prio, p, sum);
		else
			pause_release(t, s, prio, p->time_ns);
	}
	s->last_ns = p->time_ns;
}

uint64_t pause_held_ns(const struct pause_track *t, const struct packet *p, uint64_t last_ns)
{
	unsigned int prio = p->pcp & 7;
	uint64_t since_ns = t->ended[prio].since_ns, end_ns = t->ended[prio].end_ns;

	if (!p->vlan_count || !last_ns || !end_ns || p->time_ns < end_ns || since_ns < last_ns ||
	    since_ns - last_ns > SENT_BEFORE_NS)
		return 0;
	/* The sender of a pause does not stop itself. */
	return memcmp(t->ended[prio].smac, p->smac, 6) ? end_ns - since_ns : 0;
}
