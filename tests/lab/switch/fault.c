/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes wrong with frames on purpose: a table of kinds, and which frames a fault is about. Each
 * fault counts what it met (seen) and what was another or gone by it (hits).
 */
#include "tests/lab/switch/switch.h"

#include <stdio.h>
#include <string.h>

#define OPCODE_CNP	  0x81
#define OPCODE_ACK	  0x11
#define OPCODE_ATOMIC_ACK 0x12

/* One fault and the frame it has met. */
struct meeting {
	struct lab *lab;
	struct port *port;
	enum fault_direction direction;
	struct fault *fault;
	struct frame *frame;
};

static enum fault_effect drop(struct meeting *m)
{
	port_drop(m->lab, m->port, m->frame, DROP_FAULT);
	return FAULT_TAKEN;
}

static enum fault_effect rewrite(struct meeting *m, uint8_t tos)
{
	if (m->frame->tos == tos)
		return FAULT_PASS;
	frame_set_tos(m->frame, tos);
	if (m->direction == FAULT_IN)
		m->frame->prio = frame_prio(m->frame, &m->port->config);
	return FAULT_CHANGED;
}

static enum fault_effect set_dscp(struct meeting *m)
{
	return rewrite(m, (m->fault->value & 63) << 2 | (m->frame->tos & 3));
}

static enum fault_effect clear_ecn(struct meeting *m)
{
	return rewrite(m, m->frame->tos & ~3);
}

static enum fault_effect mark_ce(struct meeting *m)
{
	return rewrite(m, m->frame->tos | 3);
}

/* Behind the BTH when there is one, so that headers stay and the ICRC does not fit. */
static enum fault_effect corrupt(struct meeting *m)
{
	struct frame *f = m->frame;
	uint32_t first = f->roce ? f->l4 + 20u : f->l3;

	if (first >= f->len)
		return FAULT_PASS;
	f->data[first + (f->len - first) / 2] ^= 0x55;
	return FAULT_CHANGED;
}

static uint64_t late_ns(const struct meeting *m)
{
	return m->lab->now_ns + m->fault->delay_ms * NS_PER_MS;
}

static enum fault_effect delay(struct meeting *m)
{
	late_add(m->lab, m->port, m->direction, late_ns(m), m->frame);
	return FAULT_TAKEN;
}

/* With a window the frame waits until so many others have passed, one frame at a time. */
static enum fault_effect reorder(struct meeting *m)
{
	struct held *h = &m->lab->held[m->fault - m->lab->config.fault];

	if (!m->fault->window)
		return delay(m);
	if (h->frame)
		return FAULT_PASS;
	buffer_release(m->lab, m->frame); /* it has left the buffer, whatever becomes of it */
	*h = (struct held){m->frame, m->port, m->direction, 0, late_ns(m)};
	return FAULT_TAKEN;
}

static enum fault_effect duplicate(struct meeting *m)
{
	struct frame *copy = frame_copy(m->lab, m->frame);

	if (!copy)
		return FAULT_PASS;
	late_add(m->lab, m->port, m->direction, m->lab->now_ns, copy);
	return FAULT_CHANGED;
}

static enum fault_effect limit_mtu(struct meeting *m)
{
	return m->frame->len > m->fault->value + m->frame->l3 ? drop(m) : FAULT_PASS;
}

/* Only what a port loses that is one of several ways. */
static enum fault_effect ecmp_loss(struct meeting *m)
{
	return forward_ways(m->lab, m->port) > 1 ? drop(m) : FAULT_PASS;
}

/* One row a fault. opcodes: those it is about, 0 ends; none: all frames. */
static const struct {
	enum fault_effect (*meet)(struct meeting *m); /* NULL: changes the port, not frames */
	uint8_t opcode[2];
	bool ip_only;
} frame_faults[FAULT_KINDS] = {
	[FAULT_DROP] = {.meet = drop},
	[FAULT_DSCP] = {.meet = set_dscp, .ip_only = true},
	[FAULT_CLEAR_ECN] = {.meet = clear_ecn, .ip_only = true},
	[FAULT_MARK_CE] = {.meet = mark_ce, .ip_only = true},
	[FAULT_DROP_CNP] = {.meet = drop, .opcode = {OPCODE_CNP}},
	[FAULT_DROP_ACK] = {.meet = drop, .opcode = {OPCODE_ACK, OPCODE_ATOMIC_ACK}},
	[FAULT_CORRUPT] = {.meet = corrupt, .ip_only = true},
	[FAULT_REORDER] = {.meet = reorder},
	[FAULT_DUPLICATE] = {.meet = duplicate},
	[FAULT_DELAY] = {.meet = delay},
	[FAULT_MTU] = {.meet = limit_mtu},
	[FAULT_ECMP_LOSS] = {.meet = ecmp_loss},
};

bool fault_of_frames(const struct fault *fault)
{
	return frame_faults[fault->kind].meet;
}

bool fault_active(const struct fault *fault, uint64_t since_start_ns)
{
	uint64_t ms = since_start_ns / NS_PER_MS;

	return ms >= fault->start_ms && (!fault->heal_ms || ms < fault->heal_ms);
}

static bool kind_matches(const struct fault *fault, const struct frame *f)
{
	const uint8_t *opcode = frame_faults[fault->kind].opcode;

	if (frame_faults[fault->kind].ip_only && !f->ip_version)
		return false;
	if (!opcode[0])
		return true;
	return f->roce && (f->opcode == opcode[0] || (opcode[1] && f->opcode == opcode[1]));
}

bool fault_matches(const struct fault *fault, const char *port, const char *box,
		   enum fault_direction direction, const struct frame *f)
{
	if (!fault_of_frames(fault))
		return false;
	if (fault->direction != FAULT_BOTH && fault->direction != direction)
		return false;
	if (!config_fault_at(fault, port, box))
		return false;
	if (fault->prios && !(fault->prios >> f->prio & 1))
		return false;
	if (fault->opcode != FAULT_ANY && (!f->roce || f->opcode != fault->opcode))
		return false;
	if (fault->sport != FAULT_ANY && f->sport != fault->sport)
		return false;
	return kind_matches(fault, f);
}

void fault_let_go(struct lab *lab, unsigned int i)
{
	struct held h = lab->held[i];

	lab->held[i].frame = NULL; /* first: the frame may meet the fault again at the next port */
	if (h.frame)
		late_go_on(lab, h.port, h.direction, h.frame);
}

/* One more overtakes what is held, or is the first that does not. */
static void overtake(struct lab *lab, unsigned int i)
{
	struct held *h = &lab->held[i];

	if (h->frame && h->passed++ == lab->config.fault[i].window)
		fault_let_go(lab, i);
}

enum fault_effect fault_apply(struct lab *lab, struct port *p, enum fault_direction direction,
			      struct frame *f)
{
	struct meeting m = {.lab = lab, .port = p, .direction = direction, .frame = f};
	const char *box = lab->box[p->owner].config->name;

	for (unsigned int i = 0; i < lab->config.fault_count; i++) {
		struct fault *fault = &lab->config.fault[i];
		enum fault_effect effect;

		if (!fault_active(fault, lab->now_ns - lab->start_ns) ||
		    !fault_matches(fault, p->config.name, box, direction, f))
			continue;
		overtake(lab, i);
		if (++fault->seen % fault->every || (fault->times && fault->hits >= fault->times))
			continue;
		m.fault = fault;
		effect = frame_faults[fault->kind].meet(&m);
		fault->hits += effect != FAULT_PASS;
		if (effect == FAULT_TAKEN)
			return effect;
	}
	return FAULT_PASS;
}
