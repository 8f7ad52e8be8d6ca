/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes wrong with ports on purpose. Which faults are active is looked at on a tick; the code
 * that a fault bends asks the port, and reports when it did something else because of it.
 */
#include "tests/lab/switch/switch.h"

#include <string.h>

#define BIT(n) (1u << (n))

static void apply_to_port(const struct fault *fault, struct port *p)
{
	uint8_t prios = fault->prios ? fault->prios : 0xff;

	switch (fault->kind) {
	case FAULT_PFC_OFF:
		p->fault_pfc_off |= prios;
		break;
	case FAULT_PFC_AUTO:
		p->fault_pfc_auto |= prios;
		break;
	case FAULT_HEADROOM_ZERO:
		p->fault_headroom |= prios;
		break;
	case FAULT_PAUSE_STORM:
		p->fault_storm |= prios;
		break;
	case FAULT_LLDP_ABSENT:
		p->fault_tlv_absent |= fault->tlvs ? fault->tlvs : BIT(TLV_FRAME);
		break;
	case FAULT_LLDP_WRONG:
		p->fault_tlv_wrong |= fault->tlvs ? fault->tlvs : BIT(TLV_PFC);
		break;
	case FAULT_LLDP_SECOND:
		p->fault_lldp_second = true;
		break;
	}
}

static bool active_at(const struct lab *lab, const struct fault *fault, const struct port *p)
{
	return fault_active(fault, lab->now_ns - lab->start_ns) &&
	       config_fault_at(fault, p->config.name, lab->box[p->owner].config->name);
}

/* What a neighbour should not have to wait for. */
static unsigned int lldp_state(const struct port *p)
{
	return p->fault_tlv_absent | p->fault_tlv_wrong << 8 | p->fault_lldp_second << 16;
}

static void judge_port(struct lab *lab, struct port *p)
{
	unsigned int before = lldp_state(p);

	p->fault_pfc_off = p->fault_pfc_auto = p->fault_headroom = p->fault_storm = 0;
	p->fault_tlv_absent = p->fault_tlv_wrong = 0;
	p->fault_lldp_second = false;
	for (unsigned int i = 0; i < lab->config.fault_count; i++) {
		const struct fault *fault = &lab->config.fault[i];

		if (!fault_of_frames(fault) && active_at(lab, fault, p))
			apply_to_port(fault, p);
	}
	if (before != lldp_state(p)) {
		p->cee_seq++;
		p->lldp_next_ns = lab->now_ns;
	}
}

void fault_tick(struct lab *lab)
{
	for (unsigned int n = 0; n < lab->port_count; n++)
		judge_port(lab, &lab->port[n]);
	for (unsigned int i = 0; i < lab->config.fault_count; i++)
		if (lab->held[i].frame &&
		    (lab->held[i].until_ns <= lab->now_ns ||
		     !fault_active(&lab->config.fault[i], lab->now_ns - lab->start_ns)))
			fault_let_go(lab, i);
}

void fault_hit(struct lab *lab, const struct port *p, enum fault_kind kind, uint8_t prios)
{
	for (unsigned int i = 0; i < lab->config.fault_count; i++) {
		struct fault *fault = &lab->config.fault[i];

		if (fault->kind != kind || !active_at(lab, fault, p) ||
		    (fault->prios && !(fault->prios & prios)))
			continue;
		fault->seen++;
		fault->hits++;
	}
}
