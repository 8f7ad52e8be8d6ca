/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses, by sender and priority. A quantum is 512 bit times: 51.2 ns at 10 Gbit/s, which is
 * assumed where the speed of the link is not known; after that a pause that was not renewed is over
 * on every faster one, too.
 */
#include "capture/flow/pause.h"

#include <string.h>

#define QUANTUM_BITS   512
#define SENT_BEFORE_NS 100000 /* a flow that was quiet for longer was not held, but idle */

static uint64_t quanta_ns(const struct pause_totals *sum, uint16_t quanta)
{
	uint64_t mbps = sum->link_mbps ? sum->link_mbps : PAUSE_LINK_MBPS;

	return quanta * UINT64_C(1000) * QUANTUM_BITS / mbps;
}

static struct pause_sender *sender_of(struct pause_track *t, const uint8_t smac[6])
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

static void account_time(struct pause_sender *s, unsigned int prio, const struct packet *p,
			 struct pause_totals *sum)
{
	uint64_t ns = p->time_ns - s->told_ns[prio], whole_ns = p->time_ns - s->since_ns[prio];

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

/* What passed of a pause since its last frame. */
static void account(struct pause_sender *s, unsigned int prio, const struct packet *p,
		    struct pause_totals *sum)
{
	if (!s->paused[prio])
		return;
	if (p->time_ns <= s->until_ns[prio]) {
		if (p->time_ns > s->told_ns[prio])
			account_time(s, prio, p, sum);
		return;
	}
	if (!sum->ran_out[prio]++) {
		sum->out[prio].first_frame = s->told_frame[prio];
		sum->out[prio].last_frame = p->frame;
	}
	s->paused[prio] = false;
}

static void end_pause(struct pause_track *t, struct pause_sender *s, unsigned int prio,
		      uint64_t now_ns)
{
	if (!s->paused[prio])
		return;
	s->paused[prio] = false;
	memcpy(t->ended[prio].smac, s->smac, 6);
	t->ended[prio].since_ns = s->since_ns[prio] < now_ns ? s->since_ns[prio] : now_ns;
	t->ended[prio].end_ns = now_ns;
}

static void hold(struct pause_sender *s, unsigned int prio, const struct packet *p,
		 struct pause_totals *sum)
{
	if (!s->paused[prio]) {
		sum->pauses[prio]++;
		s->since_frame[prio] = p->frame;
	}
	/* A file's times may go back. */
	if (!s->paused[prio] || p->time_ns < s->since_ns[prio])
		s->since_ns[prio] = p->time_ns;
	s->paused[prio] = true;
	s->told_ns[prio] = p->time_ns;
	s->told_frame[prio] = p->frame;
	s->until_ns[prio] = p->time_ns + quanta_ns(sum, p->pfc_quanta[prio]);
}

void pause_take(struct pause_track *t, const struct packet *p, struct pause_totals *sum)
{
	struct pause_sender *s = sender_of(t, p->smac);

	if (!t->begun || p->time_ns < sum->first_ns)
		sum->first_ns = p->time_ns;
	if (p->time_ns > sum->last_ns)
		sum->last_ns = p->time_ns;
	t->begun = true;
	for (unsigned int prio = 0; prio < PAUSE_PRIOS; prio++) {
		if (!(p->pfc_enable >> prio & 1))
			continue;
		account(s, prio, p, sum);
		if (p->pfc_quanta[prio])
			hold(s, prio, p, sum);
		else
			end_pause(t, s, prio, p->time_ns);
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
	/* Who stops others goes on sending. */
	return memcmp(t->ended[prio].smac, p->smac, 6) ? end_ns - since_ns : 0;
}
