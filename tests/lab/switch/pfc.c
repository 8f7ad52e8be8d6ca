/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Priority-based flow control, 802.1Q clause 36 and 802.3 annex 31D: sent when a priority's ingress
 * bytes pass xoff and repeated before it runs out, obeyed by priority. A quantum is 512 bit times
 * at the rate of the port.
 *
 *  | 01:80:c2:00:00:01 | source | 88 08 | 01 01 | enable vector 16 | quanta 16 x 8 | pad to 60 |
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <string.h>

#include "capture/bytes.h"

#define QUANTUM_BYTES 64 /* 512 bits */
#define QUANTA_MAX    0xffff
#define FRAME_LEN     60

uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t rate_bytes)
{
	return quanta * QUANTUM_BYTES * NS_PER_S / rate_bytes;
}

uint32_t pfc_frame_make(const uint8_t mac[6], uint8_t enable, const uint16_t quanta[QOS_PRIOS],
			uint8_t *buf)
{
	static const uint8_t head[] = {0x01, 0x80, 0xc2, 0, 0, 0x01};
	static const uint8_t type[] = {0x88, 0x08, 0x01, 0x01, 0};

	memset(buf, 0, FRAME_LEN);
	memcpy(buf, head, sizeof(head));
	memcpy(buf + 6, mac, 6);
	memcpy(buf + 12, type, sizeof(type));
	buf[17] = enable;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		buf[18 + 2 * prio] = quanta[prio] >> 8;
		buf[19 + 2 * prio] = quanta[prio];
	}
	return FRAME_LEN;
}

int pfc_frame_read(const uint8_t *data, uint32_t len, uint16_t quanta[QOS_PRIOS])
{
	if (len < 34 || be16_at(data + 12) != 0x8808 || be16_at(data + 14) != 0x0101)
		return -EINVAL;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		quanta[prio] = be16_at(data + 18 + 2 * prio);
	return data[17];
}

static bool peer_has(const struct port *p, unsigned int prio)
{
	return qos_has(&p->neighbour.qos, QOS_PFC_ENABLED) &&
	       p->neighbour.qos.pfc_enabled >> prio & 1;
}

/* What holds without faults that turn PFC off; `to_auto`: priorities whose "on" is an "auto". */
static uint8_t negotiated(const struct port *p, uint8_t to_auto)
{
	uint8_t set = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		unsigned int mode = p->config.prio[prio].pfc;

		if (mode == PFC_ON && to_auto >> prio & 1)
			mode = PFC_AUTO;
		if (mode == PFC_ON || (mode == PFC_AUTO && peer_has(p, prio)))
			set |= 1u << prio;
	}
	return set;
}

uint8_t pfc_enabled(const struct port *p)
{
	return negotiated(p, p->fault_pfc_auto) & ~p->fault_pfc_off;
}

/* PFC of a priority would have done something, and did not, because of a fault. */
static void missed(struct lab *lab, const struct port *p, unsigned int prio)
{
	fault_hit(lab, p, p->fault_pfc_off >> prio & 1 ? FAULT_PFC_OFF : FAULT_PFC_AUTO,
		  1u << prio);
}

static uint8_t missing(const struct port *p)
{
	if (!p->fault_pfc_off && !p->fault_pfc_auto)
		return 0;
	return negotiated(p, 0) & ~pfc_enabled(p);
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

static void ignore(struct lab *lab, struct port *p, unsigned int prio)
{
	p->stats[prio].pfc_ignored++;
	if (missing(p) >> prio & 1)
		missed(lab, p, prio);
}

void pfc_receive(struct lab *lab, struct port *p, const struct frame *f)
{
	uint16_t quanta[QOS_PRIOS];
	int enable = pfc_frame_read(f->data, f->len, quanta);
	uint8_t obeyed = pfc_enabled(p);

	for (unsigned int prio = 0; enable > 0 && prio < QOS_PRIOS; prio++) {
		if (!(enable >> prio & 1))
			continue;
		p->stats[prio].pfc_received++;
		if (!(obeyed >> prio & 1))
			ignore(lab, p, prio);
		else if (quanta[prio])
			begin_pause(lab, p, prio, quanta[prio]);
		else {
			p->pause_end_ns[prio] = lab->now_ns;
			end_pause(lab, p, prio);
		}
	}
}

/* Tells the peer what is due; when its socket is full, the next attempt says the newest state. */
static void tell(struct lab *lab, struct port *p)
{
	uint64_t lasts = pfc_quanta_ns(QUANTA_MAX, lab_rate_bytes(p));
	uint8_t due = p->xoff_due | p->xon_due;
	uint16_t quanta[QOS_PRIOS] = {0};
	uint8_t buf[FRAME_LEN];
	int err;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (p->xoff_due >> prio & 1)
			quanta[prio] = QUANTA_MAX;
	err = port_send_own(lab, p, buf, pfc_frame_make(p->mac, due, quanta, buf));
	if (err == -EAGAIN)
		return;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!(due >> prio & 1))
			continue;
		p->in[prio].refresh_ns = lab->now_ns + lasts / 2;
		if (err)
			continue;
		p->stats[prio].pfc_xoff_sent += quanta[prio] != 0;
		p->stats[prio].pfc_xon_sent += quanta[prio] == 0;
	}
	p->xoff_due = p->xon_due = 0;
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

	if (missing(in) & bit)
		judge_missing(lab, in, i, prio);
	if (!i->xoff) {
		if (!(pfc_enabled(in) & bit) ||
		    (!over && bytes <= c->xoff_bytes && !i->headroom_bytes))
			return;
		i->xoff = true;
		in->xoff_due |= bit;
		in->xon_due &= ~bit;
	} else {
		if (pfc_enabled(in) & bit && (bytes > c->xon_bytes || i->headroom_bytes))
			return;
		i->xoff = false;
		in->xon_due |= bit;
		in->xoff_due &= ~bit;
	}
	tell(lab, in);
}

static void storm(struct lab *lab, struct port *p)
{
	uint16_t quanta[QOS_PRIOS];
	uint8_t buf[FRAME_LEN];

	memset(quanta, 0xff, sizeof(quanta));
	p->storm_next_ns = lab->now_ns + pfc_quanta_ns(QUANTA_MAX, lab_rate_bytes(p)) / 2;
	if (port_send_own(lab, p, buf, pfc_frame_make(p->mac, p->fault_storm, quanta, buf)))
		return;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		p->stats[prio].pfc_xoff_sent += p->fault_storm >> prio & 1;
	fault_hit(lab, p, FAULT_PAUSE_STORM, p->fault_storm);
}

void pfc_tick(struct lab *lab, struct port *p)
{
	uint8_t ignored = p->paused & ~pfc_enabled(p); /* PFC was turned off meanwhile */

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		struct ingress *i = &p->in[prio];

		if (p->paused >> prio & 1 &&
		    (ignored >> prio & 1 || p->pause_end_ns[prio] <= lab->now_ns))
			end_pause(lab, p, prio);
		if (i->xoff)
			pfc_judge(lab, p, prio, false); /* PFC may have been turned off */
		if (i->xoff && i->refresh_ns <= lab->now_ns)
			p->xoff_due |= 1u << prio;
	}
	if (p->xoff_due | p->xon_due)
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
