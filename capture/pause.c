/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses, by sender and priority. A quantum is 512 bit times: 51.2 ns at 10 Gbit/s, the slowest
 * link that is thought of; after that a pause that was not renewed is over on every link.
 */
#include "capture/pause.h"

#include <string.h>

#define QUANTUM_10G_NS(n) ((n)*UINT64_C(512) / 10)
#define SENT_BEFORE_NS	  100000 /* a flow that was quiet for longer was not held, but idle */

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

/* What passed of a pause since its last frame. */
static void account(struct pause_sender *s, unsigned int prio, uint64_t now_ns,
		    struct pause_totals *sum)
{
	if (!s->paused[prio])
		return;
	if (now_ns <= s->until_ns[prio]) {
		if (now_ns > s->told_ns[prio])
			sum->ns[prio] += now_ns - s->told_ns[prio];
		return;
	}
	sum->ran_out[prio]++;
	s->paused[prio] = false;
}

static void end_pause(struct pause_track *t, struct pause_sender *s, unsigned int prio,
		      uint64_t now_ns)
{
	if (!s->paused[prio])
		return;
	s->paused[prio] = false;
	memcpy(t->ended[prio].smac, s->smac, 6);
	t->ended[prio].since_ns = s->since_ns[prio];
	t->ended[prio].end_ns = now_ns;
}

static void hold(struct pause_sender *s, unsigned int prio, uint64_t now_ns, uint16_t quanta,
		 struct pause_totals *sum)
{
	if (!s->paused[prio]) {
		sum->pauses[prio]++;
		s->since_ns[prio] = now_ns;
	}
	s->paused[prio] = true;
	s->told_ns[prio] = now_ns;
	s->until_ns[prio] = now_ns + QUANTUM_10G_NS(quanta);
}

void pause_take(struct pause_track *t, const struct packet *p, struct pause_totals *sum)
{
	struct pause_sender *s = sender_of(t, p->smac);

	for (unsigned int prio = 0; prio < PAUSE_PRIOS; prio++) {
		if (!(p->pfc_enable >> prio & 1))
			continue;
		account(s, prio, p->time_ns, sum);
		if (p->pfc_quanta[prio])
			hold(s, prio, p->time_ns, p->pfc_quanta[prio], sum);
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
