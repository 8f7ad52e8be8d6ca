/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a setting across hosts and reports the ports that differ: from the profile while others
 * match it; else from the majority; without a majority, all. Ports are put into groups of equal
 * settings by a hash table, so the cost is linear in ports however many groups there are. Guests,
 * VFs and iWARP ports are left out: their settings are made elsewhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

#define ETS_FIELDS (QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW))

static const struct comparison {
	const char *id;		/* of the rule */
	uint64_t fields;	/* QOS_BIT()s that are compared */
	uint64_t conform;	/* fields compared with the profile */
	enum qos_field_id show; /* the field evidence shows when all agree */
	const char *noun;
} comparisons[] = {
	{"RC-PFC-003", QOS_BIT(QOS_PFC_ENABLED), QOS_BIT(QOS_PFC_ENABLED), QOS_PFC_ENABLED,
	 "the PFC mask"},
	{"RC-QOS-004", QOS_BIT(QOS_DSCP_PRIO), QOS_BIT(QOS_DSCP_PRIO), QOS_DSCP_PRIO,
	 "the DSCP map"},
	{"RC-ETS-005", ETS_FIELDS, ETS_FIELDS, QOS_PRIO_TC, "ETS"},
	{"RC-MTU-001", QOS_BIT(QOS_MTU), QOS_BIT(QOS_MTU) | QOS_BIT(QOS_IB_MTU), QOS_MTU,
	 "the MTU"},
};

struct member {
	struct port_ctx s;
	uint64_t hash; /* of the compared fields */
	size_t group;  /* index of the first member with equal settings */
	size_t size;   /* of the group, in its first member */
	bool right;    /* as the profile wants */
};

struct members {
	struct member *list;
	size_t count, wrong;
};

static bool across_equal(const struct port_ctx *a, const struct port_ctx *b, uint64_t fields)
{
	return !((qos_diff(&a->port->qos, &b->port->qos) | qos_diff(&b->port->qos, &a->port->qos)) &
		 fields);
}

static bool across_is_comparable(const struct port_ctx *s, uint64_t fields)
{
	if (!s->port || s->port->kind == PORT_ROCE_VF || s->port->kind == PORT_GUEST ||
	    s->port->kind == PORT_IWARP)
		return false;
	return (s->port->qos.has & fields) == fields;
}

/* Hash of the fields, the same for what across_equal() finds equal, which compares bandwidths of
 * ETS alone. */
static uint64_t across_hash(const struct qos *q, uint64_t fields)
{
	uint64_t hash = FNV1A_START;

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		const struct qos_field *f = &qos_fields[id];
		const struct qos_shape *shape = &qos_shapes[f->kind];

		if (fields & QOS_BIT(id) && id != QOS_TC_TX_BW)
			hash = fnv1a(hash, qos_member(q, f), (size_t)shape->width * shape->count);
	}
	for (unsigned int tc = 0; fields & QOS_BIT(QOS_TC_TX_BW) && tc < QOS_TCS; tc++)
		if (q->tc_tsa[tc] == QOS_TSA_ETS)
			hash = fnv1a(hash, &q->tc_tx_bw[tc], sizeof(q->tc_tx_bw[tc]));
	return hash;
}

/* Returns the slot of the member's group in a table of mask + 1 slots, which hold the number of the
 * first member of a group, from 1; 0 = free. */
static size_t across_find_slot(const struct members *m, const size_t *slots, size_t mask,
			       const struct member *new, uint64_t fields)
{
	size_t at = new->hash &mask;

	for (; slots[at]; at = (at + 1) & mask) {
		const struct member *first = &m->list[slots[at] - 1];

		if (first->hash == new->hash && across_equal(&first->s, &new->s, fields))
			break;
	}
	return at;
}

static int across_gather(const struct rule_context *c, const struct comparison *what,
			 struct members *m)
{
	struct port_walk walk = {.c = c};
	size_t ports = port_walk_count(c), mask = 1, *slots;
	struct port_ctx s;

	while (mask <= ports)
		mask <<= 1;
	mask = 2 * mask - 1;
	slots = calloc(mask + 1, sizeof(*slots));
	m->list = calloc(ports + 1, sizeof(*m->list));
	if (!m->list || !slots) {
		free(slots);
		return -ENOMEM;
	}
	while (port_walk_next(&walk, &s)) {
		struct member *new = &m->list[m->count];
		size_t slot;

		if (!across_is_comparable(&s, what->fields))
			continue;
		new->s = s;
		new->hash = across_hash(&s.port->qos, what->fields);
		new->right = !(qos_diff(s.want, &s.port->qos) & what->conform & s.port->qos.has);
		slot = across_find_slot(m, slots, mask, new, what->fields);
		m->wrong += !new->right;
		m->count++;
		if (!slots[slot])
			slots[slot] = m->count;
		new->group = slots[slot] - 1;
		m->list[new->group].size++;
	}
	free(slots);
	return 0;
}

/* The group most ports are in; m->count when two are equally large. */
static size_t across_majority(const struct members *m)
{
	size_t best = 0;
	bool tie = false;

	for (size_t i = 1; i < m->count; i++) {
		if (m->list[i].group != i)
			continue;
		if (m->list[i].size == m->list[best].size)
			tie = true;
		if (m->list[i].size > m->list[best].size) {
			best = i;
			tie = false;
		}
	}
	return tie ? m->count : best;
}

static void across_report_same(const struct rule *rule, const struct members *m,
			       const struct comparison *what, struct findings *out)
{
	char value[512];

	qos_field_text(&m->list[0].s.port->qos, what->show, value, sizeof(value));
	finding_begin(out, rule, "", "", m->list[0].s.prio_set);
	finding_set(out, VERDICT_PASS, "%s is the same on all %zu ports", what->noun, m->count);
	finding_evidence(out, EVIDENCE_ACROSS, "%s is %s on %zu ports, %s %s among them",
			 qos_fields[what->show].key, value, m->count, m->list[0].s.host->name,
			 m->list[0].s.name);
}

/* The first compared field in which two ports differ. */
static enum qos_field_id across_differing_field(const struct member *a, const struct member *b,
						const struct comparison *what)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (what->fields & QOS_BIT(id) && !across_equal(&a->s, &b->s, QOS_BIT(id)))
			return id;
	return what->show;
}

static void across_report_odd(const struct rule *rule, const struct members *m, size_t odd,
			      size_t good, const struct comparison *what, struct findings *out)
{
	const struct member *a = &m->list[odd], *b = &m->list[good];
	enum qos_field_id show = across_differing_field(a, b, what);
	const char *key = qos_fields[show].key;
	char odd_value[512], good_value[512];
	struct qos odd_alone, good_alone;

	odd_alone = a->s.port->qos;
	good_alone = b->s.port->qos;
	if (show == QOS_DSCP_PRIO)
		qos_keep_differing_dscps(&odd_alone, &good_alone);
	qos_field_text(&odd_alone, show, odd_value, sizeof(odd_value));
	qos_field_text(&good_alone, show, good_value, sizeof(good_value));
	finding_begin(out, rule, a->s.host->name, a->s.name, a->s.prio_set);
	finding_set(out, VERDICT_FAIL, "%s differs: %s is %s here, %s on %s %s", what->noun, key,
		    odd_value, good_value, b->s.host->name, b->s.name);
	finding_expected_by(out, a->s.profile, show);
	finding_evidence(out, EVIDENCE_ACROSS, "%s is %s on %s %s", key, odd_value, a->s.host->name,
			 a->s.name);
	finding_evidence(out, EVIDENCE_ACROSS, "%s is %s on %s %s", key, good_value,
			 b->s.host->name, b->s.name);
}

/* Ports to hold against odd ones, each two of different groups, as an odd one is of one of them:
 * the first that are right by the profile or of the majority, and the last of all. */
struct counterparts {
	size_t at[4], count;
};

static void across_find_counterparts(const struct members *m, size_t best, struct counterparts *p)
{
	size_t last = 0, other = 0;

	*p = (struct counterparts){.count = 0};
	for (size_t i = 0; i < m->count; i++) {
		size_t group = m->list[i].group;

		if (p->count < 2 && (m->list[i].right || i == best) &&
		    (!p->count || group != m->list[p->at[0]].group))
			p->at[p->count++] = i;
		if (group != m->list[last].group)
			other = last;
		last = i;
	}
	p->at[p->count++] = last;
	p->at[p->count++] = other;
}

static size_t across_counterpart(const struct members *m, size_t odd, const struct counterparts *p)
{
	for (size_t k = 0; k < p->count; k++)
		if (m->list[p->at[k]].group != m->list[odd].group)
			return p->at[k];
	return odd;
}

static void across_report_groups(const struct rule *rule, const struct members *m,
				 const struct comparison *what, struct findings *out)
{
	bool by_profile = m->wrong && m->wrong < m->count;
	bool all_right = !m->wrong && (what->conform & what->fields) == what->fields;
	size_t best = across_majority(m);
	struct counterparts others;

	if (m->list[0].size == m->count || all_right) {
		across_report_same(rule, m, what, out);
		return;
	}
	across_find_counterparts(m, best, &others);
	for (size_t i = 0; i < m->count; i++)
		if (by_profile ? !m->list[i].right : m->list[i].group != best)
			across_report_odd(rule, m, i, across_counterpart(m, i, &others), what, out);
}

/* Fewer than two ports have the setting: SKIP for one host. For several hosts it is missing
 * evidence, unless the profile skips unsupported settings. */
static void across_report_alone(const struct rule *rule, const struct rule_context *c, size_t count,
				const struct comparison *what, struct findings *out)
{
	bool skip = c->run->host_count < 2 || c->fabric->profile.on_unsupported == CHOICE_SKIP;

	finding_begin(out, rule, "", "", 0);
	finding_set(out, skip ? VERDICT_SKIP : VERDICT_INCONCLUSIVE,
		    "%s was read on %zu port%s: nothing to compare", what->noun, count,
		    plural(count));
}

FABRIC_CHECK(check_across)
{
	struct comparison known = {.id = NULL};
	struct members m = {0};

	for (unsigned int i = 0; i < ARRAY_SIZE(comparisons); i++)
		if (!strcmp(comparisons[i].id, rule->id))
			known = comparisons[i];
	if (!known.id)
		return;
	known.conform &= c->fabric->profile.qos.has;
	if (across_gather(c, &known, &m)) {
		out->err = -ENOMEM;
		return;
	}
	if (m.count > 1)
		across_report_groups(rule, &m, &known, out);
	else
		across_report_alone(rule, c, m.count, &known, out);
	free(m.list);
}
