/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes wrong on purpose. Two tables: faults that change a frame, and faults that change what a
 * port is. Frames that come late wait in a heap ordered by time.
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

static enum fault_effect set_dscp(struct meeting *m)
{
	frame_set_tos(m->frame, (m->fault->value & 63) << 2 | (m->frame->tos & 3));
	if (m->direction == FAULT_IN)
		m->frame->prio = frame_prio(m->frame, &m->port->config);
	return FAULT_PASS;
}

static enum fault_effect clear_ecn(struct meeting *m)
{
	frame_set_tos(m->frame, m->frame->tos & ~3);
	return FAULT_PASS;
}

static enum fault_effect mark_ce(struct meeting *m)
{
	frame_set_tos(m->frame, m->frame->tos | 3);
	return FAULT_PASS;
}

/* Behind the BTH when there is one, so that headers stay and the ICRC does not fit. */
static enum fault_effect corrupt(struct meeting *m)
{
	struct frame *f = m->frame;
	uint32_t first = f->roce ? f->l4 + 20u : f->l3;

	if (first < f->len)
		f->data[first + (f->len - first) / 2] ^= 0x55;
	return FAULT_PASS;
}

static enum fault_effect delay(struct meeting *m)
{
	fault_delay(m->lab, m->port, m->direction, m->lab->now_ns + m->fault->delay_ms * NS_PER_MS,
		    m->frame);
	return FAULT_TAKEN;
}

static enum fault_effect duplicate(struct meeting *m)
{
	struct frame *copy = frame_copy(m->lab, m->frame);

	if (copy)
		fault_delay(m->lab, m->port, m->direction, m->lab->now_ns, copy);
	return FAULT_PASS;
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
	[FAULT_REORDER] = {.meet = delay},
	[FAULT_DUPLICATE] = {.meet = duplicate},
	[FAULT_DELAY] = {.meet = delay},
	[FAULT_MTU] = {.meet = limit_mtu},
	[FAULT_ECMP_LOSS] = {.meet = ecmp_loss},
};

bool fault_active(const struct fault *fault, uint64_t since_start_ns)
{
	uint64_t ms = since_start_ns / NS_PER_MS;

	return ms >= fault->start_ms && (!fault->heal_ms || ms < fault->heal_ms);
}

static bool port_matches(const struct fault *fault, const char *port, const char *box)
{
	size_t n = strlen(box);

	if (!fault->port[0] || !strcmp(fault->port, port))
		return true;
	return !strncmp(fault->port, box, n) && fault->port[n] == '/' &&
	       !strcmp(fault->port + n + 1, port);
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
	if (!frame_faults[fault->kind].meet)
		return false;
	if (fault->direction != FAULT_BOTH && fault->direction != direction)
		return false;
	if (!port_matches(fault, port, box))
		return false;
	if (fault->prios && !(fault->prios >> f->prio & 1))
		return false;
	if (fault->opcode != FAULT_ANY && (!f->roce || f->opcode != fault->opcode))
		return false;
	if (fault->sport != FAULT_ANY && f->sport != fault->sport)
		return false;
	return kind_matches(fault, f);
}

enum fault_effect fault_apply(struct lab *lab, struct port *p, enum fault_direction direction,
			      struct frame *f)
{
	struct meeting m = {.lab = lab, .port = p, .direction = direction, .frame = f};
	const char *box = lab->box[p->owner].config->name;

	for (unsigned int i = 0; i < lab->config.fault_count; i++) {
		struct fault *fault = &lab->config.fault[i];

		if (!fault_active(fault, lab->now_ns - lab->start_ns) ||
		    !fault_matches(fault, p->config.name, box, direction, f))
			continue;
		if (++fault->seen % fault->every)
			continue;
		fault->hits++;
		m.fault = fault;
		if (frame_faults[fault->kind].meet(&m) == FAULT_TAKEN)
			return FAULT_TAKEN;
	}
	return FAULT_PASS;
}

static void apply_to_port(const struct fault *fault, struct port *p)
{
	uint8_t prios = fault->prios ? fault->prios : 0xff;

	switch (fault->kind) {
	case FAULT_PFC_OFF:
		p->fault_pfc_off |= prios;
		break;
	case FAULT_HEADROOM_ZERO:
		p->fault_headroom |= prios;
		break;
	case FAULT_PAUSE_STORM:
		p->fault_storm |= prios;
		break;
	case FAULT_LLDP_ABSENT:
		p->fault_lldp_absent = true;
		break;
	case FAULT_LLDP_WRONG:
		p->fault_lldp_wrong = true;
		break;
	case FAULT_LLDP_SECOND:
		p->fault_lldp_second = true;
		break;
	}
}

static void forget(struct port *p)
{
	p->fault_pfc_off = p->fault_headroom = p->fault_storm = 0;
	p->fault_lldp_absent = p->fault_lldp_wrong = p->fault_lldp_second = false;
}

void fault_tick(struct lab *lab)
{
	for (unsigned int n = 0; n < lab->port_count; n++) {
		struct port *p = &lab->port[n];
		const char *box = lab->box[p->owner].config->name;
		bool lldp_before = p->fault_lldp_wrong || p->fault_lldp_second;

		forget(p);
		for (unsigned int i = 0; i < lab->config.fault_count; i++) {
			const struct fault *fault = &lab->config.fault[i];

			if (!frame_faults[fault->kind].meet &&
			    fault_active(fault, lab->now_ns - lab->start_ns) &&
			    port_matches(fault, p->config.name, box))
				apply_to_port(fault, p);
		}
		/* A neighbour should not have to wait for what has changed. */
		if (lldp_before != (p->fault_lldp_wrong || p->fault_lldp_second))
			p->lldp_next_ns = lab->now_ns;
	}
}

static bool earlier(const struct frame *a, const struct frame *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->seq < b->seq;
}

void fault_delay(struct lab *lab, struct port *p, enum fault_direction direction, uint64_t due_ns,
		 struct frame *f)
{
	unsigned int at = lab->late_count++;

	buffer_release(lab, f); /* it has left the buffer, whatever becomes of it */
	f->due_ns = due_ns;
	f->seq = lab->late_seq++;
	f->late_port = lab_port_index(lab, p);
	f->late_direction = direction;
	for (; at && earlier(f, lab->late[(at - 1) / 2]); at = (at - 1) / 2)
		lab->late[at] = lab->late[(at - 1) / 2];
	lab->late[at] = f;
}

static struct frame *take_earliest(struct lab *lab)
{
	struct frame *first = lab->late[0], *last = lab->late[--lab->late_count];
	unsigned int at = 0;

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= lab->late_count)
			break;
		if (child + 1 < lab->late_count && earlier(lab->late[child + 1], lab->late[child]))
			child++;
		if (!earlier(lab->late[child], last))
			break;
		lab->late[at] = lab->late[child];
		at = child;
	}
	lab->late[at] = last;
	return first;
}

void fault_release_late(struct lab *lab)
{
	uint64_t end = lab->late_seq; /* what comes in meanwhile waits for the next round */

	while (lab->late_count && lab->late[0]->due_ns <= lab->now_ns && lab->late[0]->seq < end) {
		struct frame *f = take_earliest(lab);
		struct port *p = &lab->port[f->late_port];

		if (f->late_direction == FAULT_IN)
			forward_frame(lab, p, f);
		else if (f->late_direction == FAULT_OUT)
			port_put(lab, p, f);
		else
			port_deliver(lab, p, f);
	}
}
