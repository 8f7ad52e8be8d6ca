/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flow control of a port: sent when a priority's ingress bytes pass xoff and repeated before it
 * runs out, obeyed by priority (PFC) or for the whole link (802.3x), as the port is configured.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <string.h>

#define QUANTA_MAX 0xffff

/* PFC of a priority would have done something, and did not, because of a fault. */
static void missed(struct lab *lab, const struct port *p, unsigned int prio)
{
	fault_hit(lab, p, p->fault_pfc_off >> prio & 1 ? FAULT_PFC_OFF : FAULT_PFC_AUTO,
		  1u << prio);
}

static void end_pause(struct lab *lab, struct port *p, unsigned int prio)
{
	uint64_t end = p->pause_end_ns[prio] < lab->now_ns ? p->pause_end_ns[prio] : lab->now_ns;

	if (!(p->paused >> prio & 1))
		return;
	if (end > p->pause_begin_ns[prio])
		p->stats[prio].paused_ns += end - p->pause_begin_ns[prio];
	p->paused &= ~(1u << prio);
}

static void begin_pause(struct lab *lab, struct port *p, unsigned int prio, uint16_t quanta)
{
	if (p->paused >> prio & 1 && p->pause_end_ns[prio] <= lab->now_ns)
		end_pause(lab, p, prio);
	if (!(p->paused >> prio & 1))
		p->pause_begin_ns[prio] = lab->now_ns;
	p->paused |= 1u << prio;
	p->pause_end_ns[prio] = lab->now_ns + pfc_quanta_ns(quanta, lab_rate_bytes(p));
}

static void pause(struct lab *lab, struct port *p, unsigned int prio, uint16_t quanta)
{
	if (quanta) {
		begin_pause(lab, p, prio, quanta);
	} else {
		p->pause_end_ns[prio] = lab->now_ns;
		end_pause(lab, p, prio);
	}
}

static void receive_link_pause(struct lab *lab, struct port *p, uint16_t quanta)
{
	p->pause_received++;
	p->pause_ignored += !p->config.pause.rx;
	for (unsigned int prio = 0; p->config.pause.rx && prio < QOS_PRIOS; prio++)
		pause(lab, p, prio, quanta);
}

static void receive_pfc(struct lab *lab, struct port *p, uint8_t enable, const uint16_t *quanta)
{
	uint8_t obeyed = pfc_enabled(p), missing = pfc_missing(p);

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!(enable >> prio & 1))
			continue;
		p->stats[prio].pfc_received++;
		if (obeyed >> prio & 1) {
			pause(lab, p, prio, quanta[prio]);
			continue;
		}
		p->stats[prio].pfc_ignored++;
		if (missing >> prio & 1)
			missed(lab, p, prio);
	}
}

void pfc_receive(struct lab *lab, struct port *p, const struct frame *f)
{
	uint16_t quanta[QOS_PRIOS];
	int enable = pfc_frame_read(f->data, f->len, quanta);
	int link = pause_frame_read(f->data, f->len);

	if (enable >= 0)
		receive_pfc(lab, p, enable, quanta);
	else if (link >= 0)
		receive_link_pause(lab, p, link);
}

/* Sends what stops or starts these priorities, or the whole link. 0 or -errno. */
static int send_state(struct lab *lab, struct port *p, uint8_t prios, uint8_t stopped)
{
	uint16_t quanta[QOS_PRIOS] = {0};
	uint8_t buf[PFC_FRAME_LEN];
	int err;

	if (p->config.pause.tx) {
		pause_frame_make(p->mac, stopped ? QUANTA_MAX : 0, buf);
		err = port_send_own(lab, p, buf, sizeof(buf));
		p->pause_sent += !err;
		return err;
	}
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		quanta[prio] = stopped >> prio & 1 ? QUANTA_MAX : 0;
	pfc_frame_make(p->mac, prios, quanta, buf);
	err = port_send_own(lab, p, buf, sizeof(buf));
	for (unsigned int prio = 0; !err && prio < QOS_PRIOS; prio++) {
		p->stats[prio].pfc_xoff_sent += prios >> prio & stopped >> prio & 1;
		p->stats[prio].pfc_xon_sent += prios >> prio & ~stopped >> prio & 1;
	}
	return err;
}

/* Bitmap of priorities that are over xoff. */
static uint8_t stopped_prios(const struct port *p)
{
	uint8_t set = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		set |= p->in[prio].xoff << prio;
	return set;
}

/* Tells the peer what is due; when its socket is full, the next attempt says the newest state. */
static void tell(struct lab *lab, struct port *p)
{
	uint64_t lasts = pfc_quanta_ns(QUANTA_MAX, lab_rate_bytes(p));
	uint8_t due = p->due;

	if (send_state(lab, p, due, stopped_prios(p)) == -EAGAIN)
		return;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (due >> prio & 1)
			p->in[prio].refresh_ns = lab->now_ns + lasts / 2;
	p->due = 0;
}

/* Counts the XOFF that a fault keeps from being sent, once until it would have ended. */
static void judge_missing(struct lab *lab, const struct port *in, struct ingress *i, uint8_t prio)
{
	const struct prio_config *c = &in->config.prio[prio];
	uint64_t bytes = ingress_bytes(i);

	if (!i->withheld && bytes > c->xoff_bytes)
		missed(lab, in, prio);
	i->withheld = i->withheld ? bytes > c->xon_bytes : bytes > c->xoff_bytes;
}

void pfc_judge(struct lab *lab, struct port *in, uint8_t prio, bool over)
{
	const struct prio_config *c = &in->config.prio[prio];
	struct ingress *i = &in->in[prio];
	uint64_t bytes = ingress_bytes(i);
	uint8_t bit = 1u << prio;
	bool lossless = pfc_lossless(in) & bit, xoff;

	if (pfc_missing(in) & bit)
		judge_missing(lab, in, i, prio);
	if (i->xoff)
		xoff = bytes > c->xon_bytes || i->headroom_bytes;
	else
		xoff = over || bytes > c->xoff_bytes || i->headroom_bytes;
	if (i->xoff == (lossless && xoff))
		return;
	i->xoff = !i->xoff;
	in->due |= bit;
	tell(lab, in);
}

static void storm(struct lab *lab, struct port *p)
{
	p->storm_next_ns = lab->now_ns + pfc_quanta_ns(QUANTA_MAX, lab_rate_bytes(p)) / 2;
	if (!send_state(lab, p, p->fault_storm, p->fault_storm))
		fault_hit(lab, p, FAULT_PAUSE_STORM, p->fault_storm);
}

void pfc_tick(struct lab *lab, struct port *p)
{
	uint8_t obeyed = p->config.pause.rx ? 0xff : pfc_enabled(p);

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		struct ingress *i = &p->in[prio];

		/* What is no longer obeyed was turned off meanwhile. */
		if (p->paused >> prio & 1 &&
		    (!(obeyed >> prio & 1) || p->pause_end_ns[prio] <= lab->now_ns))
			end_pause(lab, p, prio);
		if (i->xoff)
			pfc_judge(lab, p, prio, false); /* PFC may have been turned off */
		if (i->xoff && i->refresh_ns <= lab->now_ns)
			p->due |= 1u << prio;
	}
	if (p->due)
		tell(lab, p);
	if (p->fault_storm && p->storm_next_ns <= lab->now_ns)
		storm(lab, p);
}

uint64_t pfc_next_ns(const struct port *p)
{
	uint64_t next = p->fault_storm ? p->storm_next_ns : NEVER;
	bool may_tell = !p->blocked; /* else unblocking is the event */

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (p->paused >> prio & 1 && p->pause_end_ns[prio] < next)
			next = p->pause_end_ns[prio];
		if (may_tell && p->in[prio].xoff && p->in[prio].refresh_ns < next)
			next = p->in[prio].refresh_ns;
	}
	return next;
}
