/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JUnit XML, as GitLab and Jenkins read it: a suite for each host (and the fabric) and rule group,
 * a case for each finding with a name of its own, for of cases with equal names only the first
 * counts there. What could not be judged is an error where it gates and skipped elsewhere.
 */
#include <errno.h>
#include <libxml/xmlwriter.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/text.h"
#include "reports/write/writer.h"

#define GROUP_MAX 8 /* "META" */

struct sheet {
	const struct report *r;
	const struct finding **sorted; /* by host, then rule and port */
	size_t count;
	xmlTextWriterPtr xml;
	int err; /* first failure of libxml2 or memory */
};

/* Between "RC-" and the next dash. */
static void group_of(const struct finding *f, char group[GROUP_MAX])
{
	const char *start = f->rule->id + strlen("RC-");
	size_t length = strcspn(start, "-");

	snprintf(group, GROUP_MAX, "%.*s", (int)length, start);
}

static int by_suite(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;
	int difference = strcmp(x->host, y->host);

	if (!difference)
		difference = strcmp(x->rule->id, y->rule->id);
	if (!difference)
		difference = strcmp(x->port, y->port);
	if (!difference)
		difference = x < y ? -1 : 1;
	return difference;
}

static bool same_suite(const struct finding *a, const struct finding *b)
{
	char x[GROUP_MAX], y[GROUP_MAX];

	group_of(a, x);
	group_of(b, y);
	return !strcmp(a->host, b->host) && !strcmp(x, y);
}

static void check(struct sheet *s, int result)
{
	if (result < 0 && !s->err)
		s->err = -ENOMEM;
}

static void raw(struct sheet *s, const char *markup)
{
	if (!s->err)
		check(s, xmlTextWriterWriteRaw(s->xml, BAD_CAST markup));
}

/* Encoded here: xmlTextWriterWriteString() leaves out what it has no memory to encode, and calls
 * that a success (libxml2 2.9.14). */
static void text(struct sheet *s, const char *value)
{
	char *copy = text_copy(value, TEXT_FIELD);
	xmlChar *encoded = copy ? xmlEncodeSpecialChars(NULL, BAD_CAST copy) : NULL;

	check(s, encoded ? 0 : -1);
	raw(s, (const char *)encoded);
	xmlFree(encoded);
	free(copy);
}

static void attribute(struct sheet *s, const char *name, const char *value)
{
	if (!s->err)
		check(s, xmlTextWriterStartAttribute(s->xml, BAD_CAST name));
	text(s, value);
	if (!s->err)
		check(s, xmlTextWriterEndAttribute(s->xml));
}

static void attribute_count(struct sheet *s, const char *name, size_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%zu", value);
	attribute(s, name, digits);
}

static void start(struct sheet *s, const char *name)
{
	if (!s->err)
		check(s, xmlTextWriterStartElement(s->xml, BAD_CAST name));
}

/* Tells as well of an element that start() could not keep: for the last one nothing is open. */
static void end(struct sheet *s)
{
	if (!s->err)
		check(s, xmlTextWriterEndElement(s->xml));
}

/* The element of a case that did not simply pass; NULL when it did. */
static const char *outcome(const struct sheet *s, const struct finding *f)
{
	if (f->verdict == VERDICT_FAIL)
		return "failure";
	if (finding_blocks(f, s->r->allow, s->r->allow_count))
		return "error";
	return f->verdict == VERDICT_PASS || f->verdict == VERDICT_WARN ? NULL : "skipped";
}

static size_t outcome_count(const struct sheet *s, size_t first, size_t end_at, const char *word)
{
	size_t count = 0;

	for (size_t i = first; i < end_at; i++) {
		const char *got = outcome(s, s->sorted[i]);

		count += got && !strcmp(got, word);
	}
	return count;
}

static void body(struct sheet *s, const struct finding *f)
{
	char kind[] = "[?] ";

	text(s, verdict_word(f->verdict));
	text(s, ": ");
	text(s, f->text);
	for (unsigned int i = 0; i < f->evidence_count; i++) {
		kind[1] = f->evidence[i].kind;
		raw(s, "\n");
		text(s, kind);
		text(s, f->evidence[i].text);
	}
	if (f->caused_by >= 0) {
		raw(s, "\ncaused by ");
		text(s, s->r->findings->list[f->caused_by].rule->id);
	}
}

/* Names the case; the n-th of one rule, host and port is numbered. */
static void case_name(struct sheet *s, size_t i)
{
	const struct finding *f = s->sorted[i];
	unsigned int twin = 1;
	char name[256];

	while (i > 0 && s->sorted[i - 1]->rule == f->rule &&
	       !strcmp(s->sorted[i - 1]->host, f->host) &&
	       !strcmp(s->sorted[i - 1]->port, f->port)) {
		twin++;
		i--;
	}
	snprintf(name, sizeof(name), "%s %s%s%s", f->rule->id, f->host[0] ? f->host : "fabric",
		 f->port[0] ? " " : "", f->port);
	if (twin > 1)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), " #%u", twin);
	attribute(s, "name", name);
}

static void put_case(struct sheet *s, size_t i)
{
	const struct finding *f = s->sorted[i];
	const char *word = outcome(s, f);
	char group[GROUP_MAX], class[128];

	group_of(f, group);
	snprintf(class, sizeof(class), "rocecheck.%s.%s", group, f->host[0] ? f->host : "fabric");
	start(s, "testcase");
	case_name(s, i);
	attribute(s, "classname", class);
	start(s, word ? word : "system-out");
	if (word && strcmp(word, "skipped"))
		attribute(s, "type", f->rule->id);
	if (word)
		attribute(s, "message", f->verdict == VERDICT_FAIL ? f->rule->advice : f->text);
	body(s, f);
	end(s);
	end(s);
}

static void put_suite(struct sheet *s, size_t first, size_t end_at)
{
	char group[GROUP_MAX], name[128];

	group_of(s->sorted[first], group);
	snprintf(name, sizeof(name), "%s %s", group,
		 s->sorted[first]->host[0] ? s->sorted[first]->host : "fabric");
	start(s, "testsuite");
	attribute(s, "name", name);
	attribute_count(s, "tests", end_at - first);
	attribute_count(s, "failures", outcome_count(s, first, end_at, "failure"));
	attribute_count(s, "errors", outcome_count(s, first, end_at, "error"));
	attribute_count(s, "skipped", outcome_count(s, first, end_at, "skipped"));
	for (size_t i = first; i < end_at; i++)
		put_case(s, i);
	end(s);
}

static void put_sheet(struct sheet *s)
{
	check(s, xmlTextWriterSetIndent(s->xml, 1));
	check(s, xmlTextWriterStartDocument(s->xml, NULL, "UTF-8", NULL));
	start(s, "testsuites");
	attribute(s, "name", s->r->fabric->name);
	attribute_count(s, "tests", s->count);
	attribute_count(s, "failures", outcome_count(s, 0, s->count, "failure"));
	attribute_count(s, "errors", outcome_count(s, 0, s->count, "error"));
	for (size_t i = 0; i < s->count;) {
		size_t end_at = i + 1;

		while (end_at < s->count && same_suite(s->sorted[i], s->sorted[end_at]))
			end_at++;
		put_suite(s, i, end_at);
		i = end_at;
	}
	end(s);
	if (!s->err) /* nothing is open any more: this tells how the flush went */
		check(s, xmlTextWriterEndDocument(s->xml));
}

static int sort_findings(struct sheet *s)
{
	s->count = s->r->findings->count;
	s->sorted = calloc(s->count + 1, sizeof(const struct finding *));
	if (!s->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		s->sorted[i] = &s->r->findings->list[i];
	qsort(s->sorted, s->count, sizeof(const struct finding *), by_suite);
	return 0;
}

/* libxml2 prints on stderr what it has told by its result. */
static void say_nothing(void *context, const char *format, ...)
{
	(void)context;
	(void)format;
}

static int make_sheet(struct sheet *s, xmlBufferPtr buffer)
{
	int err = sort_findings(s);

	if (err)
		return err;
	s->xml = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	if (!s->xml)
		return -ENOMEM;
	put_sheet(s);
	xmlFreeTextWriter(s->xml);
	return s->err;
}

int write_junit(const struct report *r, FILE *out, struct err *e)
{
	xmlGenericErrorFunc say = xmlGenericError;
	void *context = xmlGenericErrorContext;
	struct sheet s = {.r = r};
	xmlBufferPtr buffer;
	int err;

	xmlSetGenericErrorFunc(NULL, say_nothing);
	buffer = xmlBufferCreate();
	err = make_sheet(&s, buffer);
	xmlSetGenericErrorFunc(context, say);
	if (err)
		err = err_sys(e, err, "report");
	else
		err = writer_put(out, (const char *)xmlBufferContent(buffer),
				 (size_t)xmlBufferLength(buffer), e);
	xmlBufferFree(buffer);
	free(s.sorted);
	return err;
}
