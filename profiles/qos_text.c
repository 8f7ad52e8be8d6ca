/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of struct qos as one line of profile syntax: what these functions print, the profile
 * loader reads back to the same value. Priority and DSCP maps print what differs from the value
 * that unlisted entries have.
 */
#include "profiles/qos.h"

#include <stdarg.h>
#include <stdio.h>

/* Grows like snprintf: used counts on past size, the buffer stays terminated. */
struct text {
	char *buf;
	size_t size;
	size_t used;
};

static void put(struct text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void put(struct text *t, const char *fmt, ...)
{
	size_t left = t->used < t->size ? t->size - t->used : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(left ? t->buf + t->used : NULL, left, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->used += n;
}

/* A value without a word (a newer kernel's) prints as its number. */
static void put_word(struct text *t, const struct qos_word *words, uint8_t value)
{
	const char *word = qos_word_text(words, value);

	if (word)
		put(t, "%s", word);
	else
		put(t, "%u", value);
}

static void put_u32(struct text *t, const struct qos_field *f, const void *member)
{
	(void)f;
	put(t, "%u", *(const uint32_t *)member);
}

static void put_u16(struct text *t, const struct qos_field *f, const void *member)
{
	(void)f;
	put(t, "%u", *(const uint16_t *)member);
}

static void put_u8(struct text *t, const struct qos_field *f, const void *member)
{
	(void)f;
	put(t, "%u", *(const uint8_t *)member);
}

static void put_bool(struct text *t, const struct qos_field *f, const void *member)
{
	(void)f;
	put(t, "%s", *(const uint8_t *)member ? "on" : "off");
}

static void put_one_word(struct text *t, const struct qos_field *f, const void *member)
{
	put_word(t, f->words, *(const uint8_t *)member);
}

static void put_flags(struct text *t, const struct qos_field *f, const void *member)
{
	uint8_t left = *(const uint8_t *)member;
	const char *comma = "";

	put(t, "[");
	for (const struct qos_word *w = f->words; w->word; w++) {
		if (!(left & w->value))
			continue;
		put(t, "%s%s", comma, w->word);
		comma = ", ";
		left &= ~w->value;
	}
	if (left)
		put(t, "%s%u", comma, left);
	put(t, "]");
}

static void put_prio_set(struct text *t, const struct qos_field *f, const void *member)
{
	uint8_t set = *(const uint8_t *)member;
	const char *comma = "";

	(void)f;
	put(t, "[");
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!(set & (1u << prio)))
			continue;
		put(t, "%s%u", comma, prio);
		comma = ", ";
	}
	put(t, "]");
}

static void put_prio_u8(struct text *t, const struct qos_field *f, const void *member)
{
	const uint8_t *value = member;

	(void)f;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		put(t, "%s%u", prio ? ", " : "[", value[prio]);
	put(t, "]");
}

static void put_tc_word(struct text *t, const struct qos_field *f, const void *member)
{
	const uint8_t *value = member;
	const char *comma = "";

	put(t, "{");
	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		if (value[tc] == QOS_TSA_STRICT)
			continue;
		put(t, "%s%u: ", comma, tc);
		put_word(t, f->words, value[tc]);
		comma = ", ";
	}
	put(t, "}");
}

static uint64_t tc_value(enum qos_kind kind, const void *member, unsigned int tc)
{
	switch (kind) {
	case QOS_KIND_TC_U64:
		return ((const uint64_t *)member)[tc];
	case QOS_KIND_TC_U32:
		return ((const uint32_t *)member)[tc];
	default:
		return ((const uint8_t *)member)[tc];
	}
}

static void put_tc_number(struct text *t, const struct qos_field *f, const void *member)
{
	const char *comma = "";

	put(t, "{");
	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		uint64_t value = tc_value(f->kind, member, tc);

		if (!value)
			continue;
		put(t, "%s%u: %llu", comma, tc, (unsigned long long)value);
		comma = ", ";
	}
	put(t, "}");
}

static void put_dscp_map(struct text *t, const struct qos_field *f, const void *member)
{
	const uint8_t *prio = member;
	const char *comma = "";

	(void)f;
	put(t, "{");
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++) {
		if (prio[dscp] == QOS_UNMAPPED)
			continue;
		put(t, "%s%u: %u", comma, dscp, prio[dscp]);
		comma = ", ";
	}
	put(t, "}");
}

static void put_tos(struct text *t, const struct qos_field *f, const void *member)
{
	uint8_t tos = *(const uint8_t *)member;

	put(t, "{dscp: %u, ecn: ", tos >> 2);
	put_word(t, f->words, tos & 3);
	put(t, "}");
}

static void put_ms(struct text *t, const struct qos_field *f, const void *member)
{
	uint16_t value = *(const uint16_t *)member;
	const char *word = qos_word_text(f->words, value);

	if (word)
		put(t, "%s", word);
	else
		put(t, "%u", value);
}

static void put_selectors(struct text *t, const struct qos_field *f, const void *member)
{
	const uint8_t *selector = member;

	put(t, "[");
	for (unsigned int i = 0; i < QOS_SELECTORS && selector[i]; i++) {
		put(t, "%s", i ? ", " : "");
		put_word(t, f->words, selector[i]);
	}
	put(t, "]");
}

static void put_prio_map(struct text *t, const struct qos_field *f, const void *member)
{
	const uint8_t *value = member;
	const char *comma = "";

	(void)f;
	put(t, "{");
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (value[prio] == QOS_UNMAPPED)
			continue;
		put(t, "%s%u: %u", comma, prio, value[prio]);
		comma = ", ";
	}
	put(t, "}");
}

static void put_skb_map(struct text *t, const struct qos_field *f, const void *member)
{
	const uint8_t *value = member;
	const char *comma = "";

	(void)f;
	put(t, "{");
	for (unsigned int prio = 0; prio < QOS_SKB_PRIOS; prio++) {
		if (!value[prio])
			continue;
		put(t, "%s%u: %u", comma, prio, value[prio]);
		comma = ", ";
	}
	put(t, "}");
}

static void put_params(struct text *t, const struct qos_field *f, const void *member)
{
	const struct qos_params *params = member;
	const char *comma = "";

	(void)f;
	put(t, "{");
	for (unsigned int i = 0; i < QOS_PARAM_COUNT; i++) {
		if (!qos_param_has(params, i))
			continue;
		put(t, "%s%s: %u", comma, qos_param_words[i].word, params->value[i]);
		comma = ", ";
	}
	put(t, "}");
}

/* Priorities of one protocol: "3", or "[3, 4]"; returns the index behind them. */
static unsigned int put_app_prios(struct text *t, const struct qos *q, unsigned int i)
{
	const struct qos_app *first = &q->app[i];
	unsigned int end = i;

	while (end < q->app_count && q->app[end].selector == first->selector &&
	       q->app[end].protocol == first->protocol)
		end++;
	if (end == i + 1) {
		put(t, "%u", first->prio);
		return end;
	}
	for (unsigned int at = i; at < end; at++)
		put(t, "%s%u", at == i ? "[" : ", ", q->app[at].prio);
	put(t, "]");
	return end;
}

/* {ethertype: {35093: 3}, udp: {4791: 3}}: the list is sorted, so that equal keys are neighbours.
 */
static void put_apps(struct text *t, const struct qos *q)
{
	int selector = -1;
	unsigned int i = 0;

	put(t, "{");
	while (i < q->app_count) {
		if (q->app[i].selector == selector) {
			put(t, ", ");
		} else {
			put(t, "%s", selector < 0 ? "" : "}, ");
			selector = q->app[i].selector;
			put_word(t, qos_app_words, selector);
			put(t, ": {");
		}
		put(t, "%u: ", q->app[i].protocol);
		i = put_app_prios(t, q, i);
	}
	put(t, "%s", selector < 0 ? "}" : "}}");
}

static void (*const putters[])(struct text *t, const struct qos_field *f, const void *member) = {
	[QOS_KIND_U32] = put_u32,
	[QOS_KIND_U16] = put_u16,
	[QOS_KIND_U8] = put_u8,
	[QOS_KIND_BOOL] = put_bool,
	[QOS_KIND_WORD] = put_one_word,
	[QOS_KIND_FLAGS] = put_flags,
	[QOS_KIND_PRIO_SET] = put_prio_set,
	[QOS_KIND_PRIO_U8] = put_prio_u8,
	[QOS_KIND_TC_WORD] = put_tc_word,
	[QOS_KIND_TC_U8] = put_tc_number,
	[QOS_KIND_TC_U32] = put_tc_number,
	[QOS_KIND_TC_U64] = put_tc_number,
	[QOS_KIND_DSCP_MAP] = put_dscp_map,
	[QOS_KIND_TOS] = put_tos,
	[QOS_KIND_MS] = put_ms,
	[QOS_KIND_SELECTORS] = put_selectors,
	[QOS_KIND_PRIO_MAP] = put_prio_map,
	[QOS_KIND_SKB_MAP] = put_skb_map,
	[QOS_KIND_PARAMS] = put_params,
};

int qos_field_text(const struct qos *q, enum qos_field_id id, char *buf, size_t size)
{
	const struct qos_field *f = &qos_fields[id];
	struct text t = {.buf = buf, .size = size};

	if (size)
		buf[0] = '\0';
	if (!qos_has(q, id))
		put(&t, "?");
	else if (f->kind == QOS_KIND_APP)
		put_apps(&t, q);
	else
		putters[f->kind](&t, f, qos_member(q, f));
	return (int)t.used;
}

void qos_prio_set_text(uint8_t prio_set, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	if (size)
		buf[0] = '\0';
	if (!prio_set)
		put(&t, "none");
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (prio_set & (1u << prio))
			put(&t, "%s%u", t.used ? "," : "", prio);
}
