/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints values of struct qos as one line of profile syntax, which the profile loader reads back to
 * the same value. Maps omit entries that have the value of unlisted ones.
 */
#include "profiles/qos.h"

#include <stdarg.h>
#include <stdio.h>

/* As snprintf: used grows beyond size, the buffer stays terminated. */
struct text {
	char *buf;
	size_t size;
	size_t used;
};

static void text_append(struct text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void text_append(struct text *t, const char *fmt, ...)
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

/* A value without a word (of a newer kernel) prints as a number. */
static void text_append_word(struct text *t, const struct qos_word *words, uint8_t value)
{
	const char *word = qos_word_text(words, value);

	if (word)
		text_append(t, "%s", word);
	else
		text_append(t, "%u", value);
}

static void text_append_element(struct text *t, const struct qos_field *f, const void *member,
				unsigned int i)
{
	uint64_t value = qos_element(f, member, i);
	const char *word = f->kind == QOS_KIND_BOOL ? value ? "on" : "off"
						    : qos_element_word(f, value);

	if (word)
		text_append(t, "%s", word);
	else
		text_append(t, "%llu", (unsigned long long)value);
}

/* All elements if `all`, else those before the first 0. */
static void text_append_list(struct text *t, const struct qos_field *f, const void *member,
			     bool all)
{
	text_append(t, "[");
	for (unsigned int i = 0; i < qos_shapes[f->kind].count; i++) {
		if (!all && !qos_element(f, member, i))
			break;
		text_append(t, "%s", i ? ", " : "");
		text_append_element(t, f, member, i);
	}
	text_append(t, "]");
}

/* Last index of the run of equal elements that begins at i. */
static unsigned int text_run_end(const struct qos_field *f, const void *member, unsigned int i)
{
	uint64_t value = qos_element(f, member, i);

	while (i + 1 < qos_shapes[f->kind].count && qos_element(f, member, i + 1) == value)
		i++;
	return i;
}

/* DSCP maps, of up to 64 entries, print runs as ranges: {24-31: 3, 48: 6}. */
static void text_append_map(struct text *t, const struct qos_field *f, const void *member)
{
	const char *comma = "";

	text_append(t, "{");
	for (unsigned int i = 0, last; i < qos_shapes[f->kind].count; i = last + 1) {
		last = f->kind == QOS_KIND_DSCP_MAP ? text_run_end(f, member, i) : i;
		if (qos_element(f, member, i) == qos_shapes[f->kind].unlisted)
			continue;
		text_append(t, last > i ? "%s%u-%u: " : "%s%u: ", comma, i, last);
		text_append_element(t, f, member, i);
		comma = ", ";
	}
	text_append(t, "}");
}

static void text_append_bits(struct text *t, uint8_t set)
{
	const char *comma = "";

	text_append(t, "[");
	for (unsigned int i = 0; i < 8; i++) {
		if (!(set & (1u << i)))
			continue;
		text_append(t, "%s%u", comma, i);
		comma = ", ";
	}
	text_append(t, "]");
}

static void text_append_flags(struct text *t, const struct qos_word *w, uint8_t left)
{
	const char *comma = "";

	text_append(t, "[");
	for (; w->word; w++) {
		if (!(left & w->value))
			continue;
		text_append(t, "%s%s", comma, w->word);
		comma = ", ";
		left &= ~w->value;
	}
	if (left)
		text_append(t, "%s%u", comma, left);
	text_append(t, "]");
}

static void text_append_params(struct text *t, const struct qos_params *params)
{
	const char *comma = "";

	text_append(t, "{");
	for (unsigned int i = 0; i < QOS_PARAM_COUNT; i++) {
		if (!qos_param_has(params, i))
			continue;
		text_append(t, "%s%s: %u", comma, qos_param_words[i].word, params->value[i]);
		comma = ", ";
	}
	text_append(t, "}");
}

/* Priorities of one protocol: "3", or "[3, 4]"; returns the next index. */
static unsigned int text_append_app_prios(struct text *t, const struct qos *q, unsigned int i)
{
	const struct qos_app *first = &q->app[i];
	unsigned int end = i;

	while (end < q->app_count && q->app[end].selector == first->selector &&
	       q->app[end].protocol == first->protocol)
		end++;
	if (end == i + 1) {
		text_append(t, "%u", first->prio);
		return end;
	}
	for (unsigned int at = i; at < end; at++)
		text_append(t, "%s%u", at == i ? "[" : ", ", q->app[at].prio);
	text_append(t, "]");
	return end;
}

/* {ethertype: {35093: 3}, udp: {4791: 3}}: equal keys are adjacent, as the list is sorted. */
static void text_append_apps(struct text *t, const struct qos *q)
{
	int selector = -1;
	unsigned int i = 0;

	text_append(t, "{");
	while (i < q->app_count) {
		if (q->app[i].selector == selector) {
			text_append(t, ", ");
		} else {
			text_append(t, "%s", selector < 0 ? "" : "}, ");
			selector = q->app[i].selector;
			text_append_word(t, qos_app_words, selector);
			text_append(t, ": {");
		}
		text_append(t, "%u: ", q->app[i].protocol);
		i = text_append_app_prios(t, q, i);
	}
	text_append(t, "%s", selector < 0 ? "}" : "}}");
}

static void text_append_field(struct text *t, const struct qos_field *f, const struct qos *q)
{
	const void *member = qos_member(q, f);
	uint8_t byte = *(const uint8_t *)member;

	switch (qos_shapes[f->kind].form) {
	case QOS_FORM_ONE:
		text_append_element(t, f, member, 0);
		return;
	case QOS_FORM_ARRAY:
		if (f->kind != QOS_KIND_PRIO_U8)
			text_append_map(t, f, member);
		else
			text_append_list(t, f, member, true);
		return;
	case QOS_FORM_LIST:
		text_append_list(t, f, member, false);
		return;
	case QOS_FORM_MAP:
		text_append_map(t, f, member);
		return;
	case QOS_FORM_BITS:
		text_append_bits(t, byte);
		return;
	case QOS_FORM_FLAGS:
		text_append_flags(t, f->words, byte);
		return;
	case QOS_FORM_OWN:
		break;
	}
	if (f->kind == QOS_KIND_APP) {
		text_append_apps(t, q);
	} else if (f->kind == QOS_KIND_PARAMS) {
		text_append_params(t, member);
	} else {
		text_append(t, "{dscp: %u, ecn: ", byte >> 2);
		text_append_word(t, f->words, byte & 3);
		text_append(t, "}");
	}
}

int qos_field_text(const struct qos *q, enum qos_field_id id, char *buf, size_t size)
{
	const struct qos_field *f = &qos_fields[id];
	struct text t = {.buf = buf, .size = size};

	if (size)
		buf[0] = '\0';
	if (!qos_has(q, id))
		text_append(&t, "unknown");
	else
		text_append_field(&t, f, q);
	return (int)t.used;
}

void qos_prio_set_text(uint8_t prio_set, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	if (size)
		buf[0] = '\0';
	if (!prio_set)
		text_append(&t, "none");
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (prio_set & (1u << prio))
			text_append(&t, "%s%u", t.used ? "," : "", prio);
}
