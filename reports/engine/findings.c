/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the list of findings that checks write, and turns it into an exit code. The only rules it
 * knows are those whose failure makes a run incomplete: a missing host, and nothing to check.
 */
#include "reports/engine/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/rule.h"

static const char *const verdict_words[] = {
	[VERDICT_PASS] = "PASS", [VERDICT_SKIP] = "SKIP", [VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
	[VERDICT_WARN] = "WARN", [VERDICT_FAIL] = "FAIL",
};

static const char *const severity_words[] = {
	[SEVERITY_INFO] = "info",
	[SEVERITY_WARN] = "warn",
	[SEVERITY_ERROR] = "error",
};

const struct evidence_word evidence_words[] = {
	{EVIDENCE_HOST, "host settings"},
	{EVIDENCE_ACROSS, "hosts compared"},
	{EVIDENCE_LLDP, "LLDP of the link partner"},
	{EVIDENCE_COUNTER, "counters"},
	{EVIDENCE_CAPTURE, "captured packets"},
	{EVIDENCE_TRAFFIC, "rocecheck's own traffic"},
	{.meaning = NULL},
};

const char *verdict_word(enum verdict v)
{
	return verdict_words[v];
}

const char *severity_word(enum severity s)
{
	return severity_words[s];
}

static struct finding *finding_last(struct findings *out)
{
	return out->err || !out->count ? NULL : &out->list[out->count - 1];
}

void finding_begin(struct findings *out, const struct rule *rule, const char *host,
		   const char *port, uint8_t prio_set)
{
	struct finding *f;

	if (out->err)
		return;
	f = list_grow(out->list, out->count, sizeof(*f));
	if (!f) {
		out->err = -ENOMEM;
		return;
	}
	out->list = f;
	f += out->count++;
	memset(f, 0, sizeof(*f));
	f->rule = rule;
	f->verdict = VERDICT_INCONCLUSIVE;
	f->prio_set = prio_set;
	f->caused_by = -1;
	f->host = host;
	f->port = port;
	f->expected_path = "";
}

/* Returns a string that the caller frees; on NULL the list keeps -ENOMEM. */
static char *__attribute__((format(printf, 2, 0)))
finding_format(struct findings *out, const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) >= 0)
		return text;
	out->err = -ENOMEM;
	return NULL;
}

void finding_set(struct findings *out, enum verdict v, const char *fmt, ...)
{
	struct finding *f = finding_last(out);
	va_list args;
	char *text;

	if (!f)
		return;
	va_start(args, fmt);
	text = finding_format(out, fmt, args);
	va_end(args);
	if (!text)
		return;
	free(f->text);
	f->text = text;
	f->verdict = v;
	if (v == VERDICT_FAIL && f->rule->severity < SEVERITY_ERROR)
		f->verdict = VERDICT_WARN;
}

void finding_append(struct findings *out, const char *fmt, ...)
{
	struct finding *f = finding_last(out);
	char *more, *text = NULL;
	va_list args;

	if (!f)
		return;
	va_start(args, fmt);
	more = finding_format(out, fmt, args);
	va_end(args);
	if (!more || asprintf(&text, "%s%s", f->text ? f->text : "", more) < 0) {
		free(more);
		out->err = -ENOMEM;
		return;
	}
	free(more);
	free(f->text);
	f->text = text;
}

void finding_evidence(struct findings *out, enum evidence_kind kind, const char *fmt, ...)
{
	struct finding *f = finding_last(out);
	struct evidence_item *list;
	va_list args;
	char *text;

	if (!f)
		return;
	list = reallocarray(f->evidence, f->evidence_count + 1, sizeof(*list));
	if (!list) {
		out->err = -ENOMEM;
		return;
	}
	f->evidence = list;
	va_start(args, fmt);
	text = finding_format(out, fmt, args);
	va_end(args);
	if (!text)
		return;
	list[f->evidence_count].kind = (char)kind;
	list[f->evidence_count++].text = text;
}

void finding_expected_by(struct findings *out, const struct profile *p, enum qos_field_id id)
{
	struct finding *f = finding_last(out);

	if (!f || !p->line[id])
		return;
	f->expected_path = p->path;
	f->expected_line = p->line[id];
}

void finding_reason(struct findings *out, unsigned int reason, int class, const char *advice)
{
	struct finding *f = finding_last(out);

	if (!f)
		return;
	f->reason = reason;
	f->class = class;
	f->advice = advice;
}

void finding_advise(struct findings *out, const char *advice)
{
	struct finding *f = finding_last(out);

	if (f)
		f->advice = advice;
}

void finding_rule(struct findings *out, const struct rule *rule)
{
	struct finding *f = finding_last(out);

	if (f)
		f->rule = rule;
}

const char *finding_advice(const struct finding *f)
{
	return f->advice ? f->advice : f->rule->advice;
}

void finding_prios(struct findings *out, uint8_t prio_set)
{
	struct finding *f = finding_last(out);

	if (f)
		f->prio_set = prio_set;
}

const char *finding_rule_id(const struct findings *out)
{
	return out->err || !out->count ? "" : out->list[out->count - 1].rule->id;
}

enum verdict finding_verdict(const struct findings *out)
{
	if (out->err || !out->count)
		return VERDICT_INCONCLUSIVE;
	return out->list[out->count - 1].verdict;
}

void findings_clear(struct findings *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++) {
		for (unsigned int k = 0; k < f->list[i].evidence_count; k++)
			free(f->list[i].evidence[k].text);
		free(f->list[i].evidence);
		free(f->list[i].text);
	}
	free(f->list);
	memset(f, 0, sizeof(*f));
}

bool finding_violated(const struct finding *f)
{
	return !f->allowed && (f->verdict == VERDICT_FAIL || f->verdict == VERDICT_WARN);
}

enum severity finding_severity(const struct finding *f)
{
	if (f->verdict == VERDICT_FAIL)
		return SEVERITY_ERROR;
	return f->rule->severity < SEVERITY_WARN ? f->rule->severity : SEVERITY_WARN;
}

static bool finding_id_listed(const char *id, const char *const *list, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(id, list[i]))
			return true;
	return false;
}

bool finding_blocks(const struct finding *f, const char *const *allow, unsigned int allow_count)
{
	if (f->allowed || f->verdict != VERDICT_INCONCLUSIVE || f->rule->severity < SEVERITY_ERROR)
		return false;
	return !finding_id_listed(f->rule->id, allow, allow_count);
}

bool finding_is_incomplete(const struct finding *f)
{
	static const char *const ids[] = {"RC-META-007", "RC-META-010", "RC-META-012",
					  "RC-CAP-002"};

	return !f->allowed && f->verdict == VERDICT_FAIL &&
	       finding_id_listed(f->rule->id, ids, ARRAY_SIZE(ids));
}

int findings_exit(const struct findings *f, enum severity fail_on, const char *const *allow,
		  unsigned int allow_count)
{
	bool incomplete = false;

	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->list[i];

		if (finding_is_incomplete(one) || finding_blocks(one, allow, allow_count))
			incomplete = true;
		else if (finding_violated(one) && finding_severity(one) >= fail_on)
			return 1;
	}
	return incomplete ? 4 : 0;
}

size_t verdict_count(const struct findings *f, enum verdict v)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++)
		count += f->list[i].verdict == v && !f->list[i].allowed;
	return count;
}

size_t leading_count(const struct findings *f)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++)
		count += finding_violated(&f->list[i]) && f->list[i].caused_by < 0;
	return count;
}
