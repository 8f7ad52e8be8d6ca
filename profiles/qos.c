/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies, compares and diffs struct qos by the field table (qos_fields.c). Values as text are in
 * qos_text.c, as JSON in qos_json.c, from profiles in profile_qos.c; each walks a value by the
 * shape of its kind.
 */
#include "profiles/qos.h"

#include <errno.h>
#include <string.h>

const struct qos_shape qos_shapes[QOS_KIND_COUNT] = {
	[QOS_KIND_U32] = {QOS_FORM_ONE, 4, 1, 0},
	[QOS_KIND_U16] = {QOS_FORM_ONE, 2, 1, 0},
	[QOS_KIND_U8] = {QOS_FORM_ONE, 1, 1, 0},
	[QOS_KIND_BOOL] = {QOS_FORM_ONE, 1, 1, 0},
	[QOS_KIND_WORD] = {QOS_FORM_ONE, 1, 1, 0},
	[QOS_KIND_FLAGS] = {QOS_FORM_FLAGS, 1, 1, 0},
	[QOS_KIND_PRIO_SET] = {QOS_FORM_BITS, 1, 1, 0},
	[QOS_KIND_PRIO_U8] = {QOS_FORM_ARRAY, 1, QOS_PRIOS, 0},
	[QOS_KIND_TC_WORD] = {QOS_FORM_ARRAY, 1, QOS_TCS, 0},
	[QOS_KIND_TC_U8] = {QOS_FORM_ARRAY, 1, QOS_TCS, 0},
	[QOS_KIND_TC_U32] = {QOS_FORM_ARRAY, 4, QOS_TCS, 0},
	[QOS_KIND_TC_U64] = {QOS_FORM_ARRAY, 8, QOS_TCS, 0},
	[QOS_KIND_DSCP_MAP] = {QOS_FORM_MAP, 1, QOS_DSCPS, QOS_UNMAPPED},
	[QOS_KIND_APP] = {QOS_FORM_OWN, 0, 0, 0},
	[QOS_KIND_TOS] = {QOS_FORM_OWN, 1, 1, 0},
	[QOS_KIND_MS] = {QOS_FORM_ONE, 2, 1, 0},
	[QOS_KIND_SELECTORS] = {QOS_FORM_LIST, 1, QOS_SELECTORS, 0},
	[QOS_KIND_PRIO_MAP] = {QOS_FORM_MAP, 1, QOS_PRIOS, QOS_UNMAPPED},
	[QOS_KIND_SKB_MAP] = {QOS_FORM_MAP, 1, QOS_SKB_PRIOS, 0},
	[QOS_KIND_PARAMS] = {QOS_FORM_OWN, sizeof(struct qos_params), 1, 0},
};

uint64_t qos_element(const struct qos_field *f, const void *member, unsigned int i)
{
	size_t width = qos_shapes[f->kind].width;

	return uint_get((const char *)member + i * width, width);
}

void qos_element_set(const struct qos_field *f, void *member, unsigned int i, uint64_t value)
{
	size_t width = qos_shapes[f->kind].width;

	uint_set((char *)member + i * width, width, value);
}

const char *qos_element_word(const struct qos_field *f, uint64_t value)
{
	return f->words && value <= UINT16_MAX ? qos_word_text(f->words, value) : NULL;
}

/* Bytes of the member; QOS_KIND_APP is variable and handled by its own functions. */
static size_t qos_member_size(const struct qos_field *f)
{
	return (size_t)qos_shapes[f->kind].width * qos_shapes[f->kind].count;
}

int qos_field_find(const char *key)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (!strcmp(qos_fields[id].key, key))
			return id;
	return -ENOENT;
}

bool qos_has(const struct qos *q, enum qos_field_id id)
{
	return q->has & QOS_BIT(id);
}

const void *qos_member(const struct qos *q, const struct qos_field *f)
{
	return (const char *)q + f->offset;
}

void *qos_slot(struct qos *q, const struct qos_field *f)
{
	return (char *)q + f->offset;
}

static int qos_app_compare(const struct qos_app *a, const struct qos_app *b)
{
	if (a->selector != b->selector)
		return a->selector - b->selector;
	if (a->protocol != b->protocol)
		return a->protocol - b->protocol;
	return a->prio - b->prio;
}

int qos_app_add(struct qos *q, struct qos_app app)
{
	unsigned int count = qos_has(q, QOS_APP) ? q->app_count : 0;
	unsigned int at = 0;

	if (!qos_word_text(qos_app_words, app.selector) || app.prio >= QOS_PRIOS)
		return -EINVAL;
	while (at < count && qos_app_compare(&q->app[at], &app) < 0)
		at++;
	if (at < count && !qos_app_compare(&q->app[at], &app))
		return -EEXIST;
	if (count >= QOS_APPS_MAX)
		return -ENOSPC;
	memmove(&q->app[at + 1], &q->app[at], (count - at) * sizeof(q->app[0]));
	q->app[at] = app;
	q->app_count = count + 1;
	q->has |= QOS_BIT(QOS_APP);
	return 0;
}

void qos_copy_field(struct qos *dst, const struct qos *src, enum qos_field_id id)
{
	const struct qos_field *f = &qos_fields[id];

	if (!qos_has(src, id)) {
		dst->has &= ~QOS_BIT(id);
		return;
	}
	dst->has |= QOS_BIT(id);
	if (f->kind == QOS_KIND_APP) {
		dst->app_count = src->app_count;
		memcpy(dst->app, src->app, sizeof(dst->app));
		return;
	}
	memcpy(qos_slot(dst, f), qos_member(src, f), qos_member_size(f));
}

/* Returns true if `have` contains every entry of `want`. */
static bool qos_apps_satisfied(const struct qos *want, const struct qos *have)
{
	for (unsigned int w = 0; w < want->app_count; w++) {
		unsigned int h = 0;

		while (h < have->app_count && qos_app_compare(&want->app[w], &have->app[h]))
			h++;
		if (h == have->app_count)
			return false;
	}
	return true;
}

bool qos_field_equal(const struct qos *a, const struct qos *b, enum qos_field_id id)
{
	const struct qos_field *f = &qos_fields[id];

	if (!qos_has(a, id) || !qos_has(b, id))
		return false;
	if (f->kind == QOS_KIND_APP)
		return a->app_count == b->app_count && qos_apps_satisfied(a, b);
	return !memcmp(qos_member(a, f), qos_member(b, f), qos_member_size(f));
}

uint64_t qos_unequal(const struct qos *a, const struct qos *b, uint64_t mask)
{
	uint64_t fields = 0;

	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (mask & QOS_BIT(id) && !qos_field_equal(a, b, id))
			fields |= QOS_BIT(id);
	return fields;
}

void qos_keep_differing_dscps(struct qos *a, struct qos *b)
{
	for (unsigned int d = 0; d < QOS_DSCPS; d++)
		if (a->dscp_prio[d] == b->dscp_prio[d])
			a->dscp_prio[d] = b->dscp_prio[d] = QOS_UNMAPPED;
}

unsigned int qos_dscp_count(const struct qos *q)
{
	unsigned int count = 0;

	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++)
		count += q->dscp_prio[dscp] != QOS_UNMAPPED;
	return count;
}

static bool qos_dscp_satisfied(const struct qos *want, const struct qos *have)
{
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++)
		if (want->dscp_prio[dscp] != QOS_UNMAPPED &&
		    want->dscp_prio[dscp] != have->dscp_prio[dscp])
			return false;
	return true;
}

/* `want` states which TCs are ETS; if it does not, the device does. */
static bool qos_bandwidth_satisfied(const struct qos *want, const struct qos *have)
{
	const struct qos *by = qos_has(want, QOS_TC_TSA) ? want : have;
	bool known = qos_has(by, QOS_TC_TSA);

	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		if (known && by->tc_tsa[tc] != QOS_TSA_ETS)
			continue;
		if (want->tc_tx_bw[tc] != have->tc_tx_bw[tc])
			return false;
	}
	return true;
}

static bool qos_dcbx_satisfied(const struct qos *want, const struct qos *have)
{
	uint8_t surplus = have->dcbx_mode & ~want->dcbx_mode;

	if ((have->dcbx_mode & want->dcbx_mode) != want->dcbx_mode)
		return false;
	return !(surplus & QOS_DCBX_LLD_MANAGED);
}

/* With "auto" the device decides; mlx5 uses and reports 100 ms (en_ethtool.c). */
static bool qos_storm_satisfied(const struct qos *want, const struct qos *have)
{
	return want->pfc_storm_ms == have->pfc_storm_ms ||
	       (want->pfc_storm_ms == QOS_STORM_AUTO && have->pfc_storm_ms == QOS_STORM_AUTO_MS);
}

static bool qos_ib_mtu_satisfied(const struct qos *want, const struct qos *have)
{
	return have->ib_mtu >= want->ib_mtu;
}

static bool qos_params_satisfied(const struct qos *want, const struct qos *have)
{
	const struct qos_params *w = &want->cc_params, *h = &have->cc_params;

	for (unsigned int i = 0; i < QOS_PARAM_COUNT; i++)
		if (qos_param_has(w, i) && (!qos_param_has(h, i) || w->value[i] != h->value[i]))
			return false;
	return true;
}

/* Fields that other values than the equal one satisfy; all others are compared. */
static bool (*const satisfied[QOS_FIELD_COUNT])(const struct qos *want, const struct qos *have) = {
	[QOS_DCBX_MODE] = qos_dcbx_satisfied,  [QOS_DSCP_PRIO] = qos_dscp_satisfied,
	[QOS_APP] = qos_apps_satisfied,	       [QOS_TC_TX_BW] = qos_bandwidth_satisfied,
	[QOS_IB_MTU] = qos_ib_mtu_satisfied,   [QOS_CC_PARAMS] = qos_params_satisfied,
	[QOS_PFC_STORM] = qos_storm_satisfied,
};

static bool qos_field_satisfied(const struct qos *want, const struct qos *have,
				enum qos_field_id id)
{
	if (!qos_has(have, id))
		return false;
	if (satisfied[id])
		return satisfied[id](want, have);
	return qos_field_equal(want, have, id);
}

uint64_t qos_diff(const struct qos *want, const struct qos *have)
{
	uint64_t diff = 0;

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!qos_has(want, id))
			continue;
		if (qos_fields[id].read_only && id != QOS_IB_MTU)
			continue;
		if (!qos_field_satisfied(want, have, id))
			diff |= QOS_BIT(id);
	}
	return diff;
}

int qos_dscp_to_prio(const struct qos *q, unsigned int dscp)
{
	if (dscp >= QOS_DSCPS)
		return -EINVAL;
	if (!qos_has(q, QOS_TRUST))
		return -ENODATA;
	if (q->trust != QOS_TRUST_DSCP)
		return 0;
	if (!qos_has(q, QOS_DSCP_PRIO))
		return -ENODATA;
	return q->dscp_prio[dscp] == QOS_UNMAPPED ? 0 : q->dscp_prio[dscp];
}
