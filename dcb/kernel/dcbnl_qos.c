/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts between the kernel's dcbnl structs and struct qos, and makes the changes of the APP
 * table. Pure. ieee_ets and ieee_pfc have more members than struct qos (recommendations, MBC,
 * counters): a set sends them back as they were read.
 */
#include "dcb/kernel/dcbnl.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Members of dcbnl's structs, with the same size as in struct qos. */
static const struct member {
	enum qos_field_id field;
	uint16_t has, offset, size; /* in struct dcbnl_state */
} members[] = {
#define MEMBER(id, flag, member)                                                                   \
	{                                                                                          \
		id, offsetof(struct dcbnl_state, flag), offsetof(struct dcbnl_state, member),      \
			sizeof(((struct dcbnl_state *)0)->member)                                  \
	}
	MEMBER(QOS_ETS_WILLING, has_ets, ets.willing),
	MEMBER(QOS_ETS_CAP, has_ets, ets.ets_cap),
	MEMBER(QOS_PRIO_TC, has_ets, ets.prio_tc),
	MEMBER(QOS_TC_TSA, has_ets, ets.tc_tsa),
	MEMBER(QOS_TC_TX_BW, has_ets, ets.tc_tx_bw),
	MEMBER(QOS_PFC_CAP, has_pfc, pfc.pfc_cap),
	MEMBER(QOS_PFC_ENABLED, has_pfc, pfc.pfc_en),
	MEMBER(QOS_PFC_DELAY, has_pfc, pfc.delay),
	MEMBER(QOS_TC_MAXRATE, has_maxrate, maxrate.tc_maxrate),
	MEMBER(QOS_PRIO_BUFFER, has_buffer, buffer.prio2buffer),
	MEMBER(QOS_BUFFER_SIZE, has_buffer, buffer.buffer_size),
};

/* Returns true when each byte of a member is in the field's range; other kinds have no range. */
static bool dcbnl_in_range(const struct qos_field *f, const uint8_t *v, size_t size)
{
	bool number = f->kind == QOS_KIND_U8 || f->kind == QOS_KIND_PRIO_U8 ||
		      f->kind == QOS_KIND_TC_U8;

	for (size_t i = 0; i < size; i++)
		if ((number && v[i] > f->max) ||
		    (f->kind == QOS_KIND_TC_WORD && !qos_word_text(f->words, v[i])))
			return false;
	return true;
}

static void member_to_qos(const struct dcbnl_state *s, const struct member *m, struct qos *q)
{
	const struct qos_field *f = &qos_fields[m->field];
	const uint8_t *v = (const uint8_t *)s + m->offset;

	if (!*((const bool *)s + m->has) || !dcbnl_in_range(f, v, m->size))
		return;
	memcpy(qos_slot(q, f), v, m->size);
	q->has |= QOS_BIT(m->field);
}

static void dscp_to_qos(const struct dcb_app *app, struct qos *q)
{
	uint8_t *prio;

	if (app->protocol >= QOS_DSCPS || app->priority >= QOS_PRIOS)
		return;
	prio = &q->dscp_prio[app->protocol];
	if (*prio == QOS_UNMAPPED || *prio < app->priority)
		*prio = app->priority;
	q->trust = QOS_TRUST_DSCP;
}

static void apps_to_qos(const struct dcbnl_state *s, struct qos *q)
{
	bool whole = true;

	memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->trust = QOS_TRUST_PCP;
	q->app_count = 0;
	q->has |= QOS_BIT(QOS_APP) | QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_TRUST);
	for (unsigned int i = 0; i < s->app_count; i++) {
		const struct dcb_app *a = &s->app[i];
		struct qos_app app = {a->selector, a->priority, a->protocol};

		if (a->selector == QOS_APP_DSCP)
			dscp_to_qos(a, q);
		else if (qos_app_add(q, app) == -ENOSPC)
			whole = false;
	}
	if (!whole)
		q->has &= ~QOS_BIT(QOS_APP);
}

/* The maps of a rewrite table, by selector. */
static const struct {
	uint8_t selector;
	uint8_t field; /* enum qos_field_id */
} rewrites[] = {
	{QOS_APP_DSCP, QOS_REWRITE_DSCP},
	{QOS_APP_PCP, QOS_REWRITE_PCP},
};

/* A map holds one value per priority: with several the field is unknown. */
static void rewr_to_qos(const struct dcbnl_state *s, struct qos *q)
{
	for (unsigned int k = 0; k < ARRAY_SIZE(rewrites); k++) {
		const struct qos_field *f = &qos_fields[rewrites[k].field];
		uint8_t *map = qos_slot(q, f);
		bool good = true;

		memset(map, QOS_UNMAPPED, QOS_PRIOS);
		for (unsigned int i = 0; i < s->rewr_count; i++) {
			const struct dcb_app *a = &s->rewr[i];

			if (a->selector != rewrites[k].selector)
				continue;
			if (a->priority >= QOS_PRIOS || a->protocol > f->max ||
			    map[a->priority] != QOS_UNMAPPED)
				good = false;
			else
				map[a->priority] = (uint8_t)a->protocol;
		}
		if (good)
			q->has |= QOS_BIT(rewrites[k].field);
	}
}

static bool dcbnl_app_same_key(const struct dcb_app *a, const struct dcb_app *b)
{
	return a->selector == b->selector && a->protocol == b->protocol;
}

static bool dcbnl_has_app(const struct dcb_app *list, unsigned int n, const struct dcb_app *a,
			  bool exact)
{
	for (unsigned int i = 0; i < n; i++)
		if (dcbnl_app_same_key(&list[i], a) && (!exact || list[i].priority == a->priority))
			return true;
	return false;
}

unsigned int dcbnl_rewr_changes(const struct dcbnl_state *have, const struct qos *q, uint64_t mask,
				struct app_change *out)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < ARRAY_SIZE(rewrites); k++) {
		const uint8_t *map = qos_member(q, &qos_fields[rewrites[k].field]);

		if (!(mask & QOS_BIT(rewrites[k].field)))
			continue;
		for (unsigned int i = 0; i < have->rewr_count; i++) {
			const struct dcb_app *a = &have->rewr[i];

			if (a->selector == rewrites[k].selector && a->priority < QOS_PRIOS &&
			    map[a->priority] != a->protocol)
				out[n++] = (struct app_change){false, *a};
		}
		for (uint8_t prio = 0; prio < QOS_PRIOS; prio++) {
			struct dcb_app a = {rewrites[k].selector, prio, map[prio]};

			if (map[prio] != QOS_UNMAPPED &&
			    !dcbnl_has_app(have->rewr, have->rewr_count, &a, true))
				out[n++] = (struct app_change){true, a};
		}
	}
	return n;
}

void dcbnl_to_qos(const struct dcbnl_state *s, struct qos *q)
{
	if (s->has_trust) {
		memcpy(q->app_trust, s->trust, sizeof(q->app_trust));
		q->has |= QOS_BIT(QOS_APP_TRUST);
	}
	/* A driver without APP trust has no rewriting: only the kernel would store it. */
	if (s->has_trust && s->has_rewr)
		rewr_to_qos(s, q);
	if (s->has_dcbx) {
		q->dcbx_mode = s->dcbx;
		q->has |= QOS_BIT(QOS_DCBX_MODE);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(members); i++)
		member_to_qos(s, &members[i], q);
	q->ets_willing = q->ets_willing != 0;
	if (s->has_app)
		apps_to_qos(s, q);
}

void dcbnl_fill(struct dcbnl_state *s, const struct qos *q, uint64_t mask)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(members); i++)
		if (mask & QOS_BIT(members[i].field))
			memcpy((uint8_t *)s + members[i].offset,
			       qos_member(q, &qos_fields[members[i].field]), members[i].size);
}

/* Returns the entries of q, of the selectors that mask covers. */
static unsigned int dcbnl_wanted_apps(const struct qos *q, uint64_t mask, struct dcb_app *out)
{
	unsigned int n = 0;

	for (unsigned int d = 0; mask & QOS_BIT(QOS_DSCP_PRIO) && d < QOS_DSCPS; d++)
		if (q->dscp_prio[d] != QOS_UNMAPPED)
			out[n++] = (struct dcb_app){QOS_APP_DSCP, q->dscp_prio[d], d};
	for (unsigned int i = 0; mask & QOS_BIT(QOS_APP) && i < q->app_count; i++)
		out[n++] = (struct dcb_app){q->app[i].selector, q->app[i].prio, q->app[i].protocol};
	return n;
}

/* Returns true when mask covers an entry of the device; others stay. */
static bool dcbnl_app_covered(const struct dcb_app *a, const struct qos *q, uint64_t mask)
{
	if (a->priority >= QOS_PRIOS)
		return false;
	if (a->selector != QOS_APP_DSCP)
		return mask & QOS_BIT(QOS_APP) && qos_word_text(qos_app_words, a->selector);
	if (a->protocol >= QOS_DSCPS)
		return false;
	if (mask & QOS_BIT(QOS_DSCP_PRIO))
		return true;
	return mask & QOS_BIT(QOS_TRUST) && q->trust == QOS_TRUST_PCP;
}

struct change_list {
	struct app_change *out;
	unsigned int count, max;
};

static int dcbnl_add_change(struct change_list *l, bool add, const struct dcb_app *a)
{
	if (l->count == l->max)
		return -ENOSPC;
	l->out[l->count++] = (struct app_change){add, *a};
	return 0;
}

/* Deletes other entries of the device with the key of `want` (NULL: with a key that the list has
 * not). */
static int dcbnl_add_deletes(struct change_list *l, const struct dcbnl_state *have,
			     const struct qos *q, uint64_t mask, const struct dcb_app *want,
			     const struct dcb_app *list, unsigned int n)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < have->app_count; i++) {
		const struct dcb_app *a = &have->app[i];

		if (!dcbnl_app_covered(a, q, mask) || dcbnl_has_app(list, n, a, true))
			continue;
		if (want ? dcbnl_app_same_key(want, a) : !dcbnl_has_app(list, n, a, false))
			err = dcbnl_add_change(l, false, a);
	}
	return err;
}

/* Returns the change that adds a DSCP entry right after the last one is deleted, or NULL. */
static const struct app_change *dcbnl_find_gap(const struct change_list *l,
					       const struct dcbnl_state *have)
{
	unsigned int count = 0;
	bool deleted = false;

	for (unsigned int i = 0; i < have->app_count; i++)
		count += have->app[i].selector == QOS_APP_DSCP;
	for (unsigned int i = 0; i < l->count; i++) {
		const struct app_change *change = &l->out[i];

		if (change->app.selector != QOS_APP_DSCP)
			continue;
		if (change->add && deleted && !count)
			return change;
		deleted |= !change->add;
		count += change->add ? 1 : -1;
	}
	return NULL;
}

/* Adds a temporary entry of another DSCP, so that the table never is without one. */
static int dcbnl_guard_gap(struct change_list *l, const struct dcbnl_state *have)
{
	const struct app_change *gap = dcbnl_find_gap(l, have);
	struct app_change guard = {true, {QOS_APP_DSCP, 0, 0}};

	if (!gap)
		return 0;
	if (l->max - l->count < 2)
		return -ENOSPC;
	guard.app.priority = gap->app.priority;
	guard.app.protocol = gap->app.protocol ? 0 : 1;
	memmove(&l->out[1], &l->out[0], l->count * sizeof(l->out[0]));
	l->out[0] = guard;
	l->count++;
	return dcbnl_add_change(l, false, &guard.app);
}

int dcbnl_app_changes(const struct dcbnl_state *have, const struct qos *q, uint64_t mask,
		      unsigned int quirks, struct app_change *out, unsigned int max)
{
	struct change_list l = {.out = out, .max = max};
	struct dcb_app list[QOS_DSCPS + QOS_APPS_MAX];
	unsigned int n = dcbnl_wanted_apps(q, mask, list);
	int err = 0;

	for (unsigned int i = 0; !err && i < n; i++)
		if (!dcbnl_has_app(have->app, have->app_count, &list[i], false))
			err = dcbnl_add_change(&l, true, &list[i]);
	for (unsigned int i = 0; !err && i < n; i++) {
		bool there = dcbnl_has_app(have->app, have->app_count, &list[i], true);

		if (!dcbnl_has_app(have->app, have->app_count, &list[i], false))
			continue;
		if (!(quirks & APP_REPLACES) || there)
			err = dcbnl_add_deletes(&l, have, q, mask, &list[i], list, n);
		if (!err && !there)
			err = dcbnl_add_change(&l, true, &list[i]);
	}
	if (!err)
		err = dcbnl_add_deletes(&l, have, q, mask, NULL, list, n);
	if (!err && quirks & APP_LAST_RESETS)
		err = dcbnl_guard_gap(&l, have);
	return err ? err : (int)l.count;
}

void dcbnl_app_error(const struct dcbnl_state *now, const struct app_change *change, unsigned int n,
		     struct err *e)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct dcb_app *a = &change[i].app;

		if (dcbnl_has_app(now->app, now->app_count, a, true) == change[i].add)
			continue;
		err_prefix(e, "APP entry %u:%u -> priority %u", a->selector, a->protocol,
			   a->priority);
		return;
	}
}

int dcbnl_app_unique(const struct dcbnl_state *s, struct err *e)
{
	uint8_t seen[QOS_DSCPS];

	memset(seen, QOS_UNMAPPED, sizeof(seen));
	for (unsigned int i = 0; i < s->app_count; i++) {
		const struct dcb_app *a = &s->app[i];

		if (a->selector != QOS_APP_DSCP || a->protocol >= QOS_DSCPS)
			continue;
		if (seen[a->protocol] != QOS_UNMAPPED)
			return err_set(e, -ENOTUNIQ, "APP table: DSCP %u has priorities %u and %u",
				       a->protocol, seen[a->protocol], a->priority);
		seen[a->protocol] = a->priority;
	}
	return 0;
}
