/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JUnit XML for GitLab and Jenkins: a suite per host (and the fabric) and rule group, a case
 * per finding. Case names are unique, because both count only the first of equal names.
 * INCONCLUSIVE is an error where it makes the run incomplete, and skipped elsewhere; what the
 * inventory allows is skipped.
 */
#include <errno.h>
#include <libxml/xmlwriter.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/text.h"
#include "reports/write/writer.h"

#define GROUP_MAX 8 /* "META" */

struct junit {
	const struct report *r;
	const struct finding **sorted; /* by host, then rule and port */
	size_t count;
	xmlTextWriterPtr xml;
	int err; /* first failure of libxml2 or memory */
};

/* Between "RC-" and the next dash. */
static void junit_group(const struct finding *f, char group[GROUP_MAX])
{
	const char *start = f->rule->id + strlen("RC-");
	size_t length = strcspn(start, "-");

	snprintf(group, GROUP_MAX, "%.*s", (int)length, start);
}

static int junit_suite_compare(const void *a, const void *b)
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

static bool junit_same_suite(const struct finding *a, const struct finding *b)
{
	char x[GROUP_MAX], y[GROUP_MAX];

	junit_group(a, x);
	junit_group(b, y);
	return !strcmp(a->host, b->host) && !strcmp(x, y);
}

static void junit_check(struct junit *s, int result)
{
	if (result < 0 && !s->err)
		s->err = -ENOMEM;
}

static void junit_write_raw(struct junit *s, const char *markup)
{
	if (!s->err)
		junit_check(s, xmlTextWriterWriteRaw(s->xml, BAD_CAST markup));
}

/* Encodes itself: xmlTextWriterWriteString() omits text that it has no memory to encode, and
 * reports success (libxml2 2.9.14). */
static void junit_write_text(struct junit *s, const char *value)
{
	char *copy = text_copy(value, TEXT_FIELD);
	xmlChar *encoded = copy ? xmlEncodeSpecialChars(NULL, BAD_CAST copy) : NULL;

	junit_check(s, encoded ? 0 : -1);
	junit_write_raw(s, (const char *)encoded);
	xmlFree(encoded);
	free(copy);
}

static void junit_write_attribute(struct junit *s, const char *name, const char *value)
{
	if (!s->err)
		junit_check(s, xmlTextWriterStartAttribute(s->xml, BAD_CAST name));
	junit_write_text(s, value);
	if (!s->err)
		junit_check(s, xmlTextWriterEndAttribute(s->xml));
}

static void junit_write_count(struct junit *s, const char *name, size_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%zu", value);
	junit_write_attribute(s, name, digits);
}

static void junit_start_element(struct junit *s, const char *name)
{
	if (!s->err)
		junit_check(s, xmlTextWriterStartElement(s->xml, BAD_CAST name));
}

/* Also fails when junit_start_element() had no memory to keep the element. */
static void junit_end_element(struct junit *s)
{
	if (!s->err)
		junit_check(s, xmlTextWriterEndElement(s->xml));
}

/* Returns the element of the outcome; NULL for a pass. */
static const char *junit_outcome(const struct junit *s, const struct finding *f)
{
	if (f->allowed)
		return "skipped";
	if (f->verdict == VERDICT_FAIL)
		return "failure";
	if (finding_blocks(f, s->r->allow, s->r->allow_count))
		return "error";
	return f->verdict == VERDICT_PASS || f->verdict == VERDICT_WARN ? NULL : "skipped";
}

static size_t junit_count_outcome(const struct junit *s, size_t first, size_t end_at,
				  const char *word)
{
	size_t count = 0;

	for (size_t i = first; i < end_at; i++) {
		const char *got = junit_outcome(s, s->sorted[i]);

		count += got && !strcmp(got, word);
	}
	return count;
}

static void junit_write_body(struct junit *s, const struct finding *f)
{
	char kind[] = "[?] ";

	junit_write_text(s, verdict_word(f->verdict));
	junit_write_text(s, ": ");
	junit_write_text(s, f->text);
	for (unsigned int i = 0; i < f->evidence_count; i++) {
		kind[1] = f->evidence[i].kind;
		junit_write_raw(s, "\n");
		junit_write_text(s, kind);
		junit_write_text(s, f->evidence[i].text);
	}
	if (f->caused_by >= 0) {
		junit_write_raw(s, "\ncaused by ");
		junit_write_text(s, s->r->findings->list[f->caused_by].rule->id);
		junit_write_text(s, " ");
		junit_write_text(s, s->r->findings->list[f->caused_by].rule->title);
	}
}

/* Names the case; the n-th of one rule, host and port is numbered. */
static void junit_write_case_name(struct junit *s, size_t i)
{
	const struct finding *f = s->sorted[i];
	unsigned int number = 1;
	char name[256];

	while (i > 0 && s->sorted[i - 1]->rule == f->rule &&
	       !strcmp(s->sorted[i - 1]->host, f->host) &&
	       !strcmp(s->sorted[i - 1]->port, f->port)) {
		number++;
		i--;
	}
	snprintf(name, sizeof(name), "%s %s%s%s", f->rule->id, f->host[0] ? f->host : "fabric",
		 f->port[0] ? " " : "", f->port);
	if (number > 1)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), " #%u", number);
	junit_write_attribute(s, "name", name);
}

static void junit_write_case(struct junit *s, size_t i)
{
	const struct finding *f = s->sorted[i];
	const char *word = junit_outcome(s, f);
	char group[GROUP_MAX], class[128], allowed[256];

	if (f->allowed)
		snprintf(allowed, sizeof(allowed), "allowed until %s: %s", f->allowed->until,
			 f->allowed->reason);
	junit_group(f, group);
	snprintf(class, sizeof(class), "rocecheck.%s.%s", group, f->host[0] ? f->host : "fabric");
	junit_start_element(s, "testcase");
	junit_write_case_name(s, i);
	junit_write_attribute(s, "classname", class);
	junit_start_element(s, word ? word : "system-out");
	if (word && strcmp(word, "skipped"))
		junit_write_attribute(s, "type", f->rule->id);
	if (word)
		junit_write_attribute(s, "message",
				      f->allowed		   ? allowed
				      : f->verdict == VERDICT_FAIL ? finding_advice(f)
								   : f->text);
	junit_write_body(s, f);
	junit_end_element(s);
	junit_end_element(s);
}

/* Writes the claim of the run, once, into the first suite. */
static void junit_write_claim(struct junit *s)
{
	struct claim claim;
	char text[160];

	if (!report_claim(s->r, &claim))
		return;
	claim_text(&claim, text, sizeof(text));
	junit_start_element(s, "properties");
	junit_start_element(s, "property");
	junit_write_attribute(s, "name", "level");
	junit_write_attribute(s, "value", fabric_level_words[s->r->run->level].word);
	junit_end_element(s);
	junit_start_element(s, "property");
	junit_write_attribute(s, "name", "claim");
	junit_write_attribute(s, "value", text);
	junit_end_element(s);
	junit_end_element(s);
}

static void junit_write_suite(struct junit *s, size_t first, size_t end_at)
{
	char group[GROUP_MAX], name[128];

	junit_group(s->sorted[first], group);
	snprintf(name, sizeof(name), "%s %s", group,
		 s->sorted[first]->host[0] ? s->sorted[first]->host : "fabric");
	junit_start_element(s, "testsuite");
	junit_write_attribute(s, "name", name);
	junit_write_count(s, "tests", end_at - first);
	junit_write_count(s, "failures", junit_count_outcome(s, first, end_at, "failure"));
	junit_write_count(s, "errors", junit_count_outcome(s, first, end_at, "error"));
	junit_write_count(s, "skipped", junit_count_outcome(s, first, end_at, "skipped"));
	if (!first)
		junit_write_claim(s);
	for (size_t i = first; i < end_at; i++)
		junit_write_case(s, i);
	junit_end_element(s);
}

static void junit_write_document(struct junit *s)
{
	junit_check(s, xmlTextWriterSetIndent(s->xml, 1));
	junit_check(s, xmlTextWriterStartDocument(s->xml, NULL, "UTF-8", NULL));
	junit_start_element(s, "testsuites");
	junit_write_attribute(s, "name", s->r->fabric->name);
	junit_write_count(s, "tests", s->count);
	junit_write_count(s, "failures", junit_count_outcome(s, 0, s->count, "failure"));
	junit_write_count(s, "errors", junit_count_outcome(s, 0, s->count, "error"));
	for (size_t i = 0; i < s->count;) {
		size_t end_at = i + 1;

		while (end_at < s->count && junit_same_suite(s->sorted[i], s->sorted[end_at]))
			end_at++;
		junit_write_suite(s, i, end_at);
		i = end_at;
	}
	junit_end_element(s);
	if (!s->err) /* returns the result of the flush */
		junit_check(s, xmlTextWriterEndDocument(s->xml));
}

/* Silences libxml2: its results report the same errors. */
static void junit_ignore_error(void *context, const char *format, ...)
{
	(void)context;
	(void)format;
}

static int junit_make(struct junit *s, xmlBufferPtr buffer)
{
	s->count = s->r->findings->count;
	s->sorted = calloc(s->count + 1, sizeof(const struct finding *));
	if (!s->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		s->sorted[i] = &s->r->findings->list[i];
	qsort(s->sorted, s->count, sizeof(const struct finding *), junit_suite_compare);
	s->xml = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	if (!s->xml)
		return -ENOMEM;
	junit_write_document(s);
	xmlFreeTextWriter(s->xml);
	return s->err;
}

int write_junit(const struct report *r, FILE *out, struct err *e)
{
	xmlGenericErrorFunc before = xmlGenericError;
	void *context = xmlGenericErrorContext;
	struct junit s = {.r = r};
	xmlBufferPtr buffer;
	int err;

	xmlSetGenericErrorFunc(NULL, junit_ignore_error);
	buffer = xmlBufferCreate();
	err = junit_make(&s, buffer);
	xmlSetGenericErrorFunc(context, before);
	if (err)
		err = err_sys(e, err, "report");
	else
		err = writer_emit(out, (const char *)xmlBufferContent(buffer),
				  (size_t)xmlBufferLength(buffer), e);
	xmlBufferFree(buffer);
	free(s.sorted);
	return err;
}
