/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writers: documents are well formed whatever hosts and files said, and a stream that cannot be
 * written is an error with its errno.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/fixture/fabric_run.h"
#include "profiles/base/text.h"
#include "reports/engine/findings.h"
#include "reports/write/writer.h"

/* Markup, quotes, a CDATA end, a terminal escape, a NUL-like control, broken UTF-8, U+FFFF. */
#define HOSTILE "<a b=\"c'&amp;]]>\033[31m\001\x80\xc3\xff\xef\xbf\xbf\r\n\tend"

/* A run with every verdict, one lead with consequences, and hostile texts. */
struct sample {
	struct fabric_run f;
	struct findings findings;
	struct report report;
};

static void sample_make(struct sample *s, bool hostile)
{
	static const char *const allow[] = {"RC-PFC-004"};

	good_run(&s->f);
	s->f.before[1].qos.pfc_enabled = 0;
	s->f.after[1].qos.pfc_enabled = 0;
	if (hostile) {
		snprintf(s->f.host[1].name, sizeof(s->f.host[1].name), "%s", HOSTILE);
		snprintf(s->f.port[1].netdev, sizeof(s->f.port[1].netdev), "a\"<\033\x80");
		snprintf(s->f.before[1].netdev, sizeof(s->f.before[1].netdev), "a\"<\033\x80");
		snprintf(s->f.after[1].netdev, sizeof(s->f.after[1].netdev), "a\"<\033\x80");
		snprintf(s->f.host[0].error, sizeof(s->f.host[0].error), "%s", HOSTILE);
		snprintf(s->f.run.id, sizeof(s->f.run.id), "%s", HOSTILE);
		snprintf(s->f.fabric.name, sizeof(s->f.fabric.name), "%s", HOSTILE);
		snprintf(s->f.fabric.profile.path, sizeof(s->f.fabric.profile.path), "%s", HOSTILE);
	}
	assert_int_equal(rules_run(&s->f.fabric, &s->f.run, &s->findings), 0);
	s->report = (struct report){.fabric = &s->f.fabric,
				    .run = &s->f.run,
				    .findings = &s->findings,
				    .exit_code = 1,
				    .verbose = true,
				    .allow = allow,
				    .allow_count = 1};
}

static char *document_of(const struct report *r, const char *name)
{
	char *document = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&document, &size);
	struct err e = {0};

	assert_int_equal(writer_find(name)->write(r, out, &e), 0);
	fclose(out);
	assert_int_equal(strlen(document), size);
	return document;
}

static void check_finding_json(const json_t *findings, const json_t *one, size_t *first_lead,
			       size_t i)
{
	const json_t *caused = json_object_get(one, "caused_by");
	const char *verdict = json_string_value(json_object_get(one, "verdict"));

	assert_non_null(rule_find(json_string_value(json_object_get(one, "rule"))));
	assert_true(json_is_string(json_object_get(one, "text")));
	assert_true(json_is_array(json_object_get(one, "prio")));
	if (!strcmp(verdict, "PASS"))
		assert_true(json_array_size(json_object_get(one, "evidence")) > 0);
	if (json_is_integer(caused)) {
		const json_t *lead = json_array_get(findings, (size_t)json_integer_value(caused));

		assert_true(json_is_null(json_object_get(lead, "caused_by")));
		assert_true((size_t)json_integer_value(caused) < i);
	} else {
		assert_true(json_is_null(caused));
		if (*first_lead > i && (!strcmp(verdict, "FAIL") || !strcmp(verdict, "WARN")))
			*first_lead = i;
	}
}

static json_t *json_of(const struct report *r)
{
	char *document = document_of(r, "json");
	json_t *json = json_loads(document, 0, NULL);

	free(document);
	assert_non_null(json);
	return json;
}

static void test_json(void **state)
{
	static struct sample s;
	size_t lead = SIZE_MAX, i;
	const json_t *findings, *one;
	json_t *json;

	(void)state;
	sample_make(&s, false);
	json = json_of(&s.report);
	findings = json_object_get(json, "findings");
	assert_string_equal(json_string_value(json_object_get(json, "schema")),
			    "rocecheck.report/1");
	assert_string_equal(json_string_value(json_object_get(json, "verdict")), "FAIL");
	assert_int_equal(json_array_size(findings), s.findings.count);
	json_array_foreach (findings, i, one)
		check_finding_json(findings, one, &lead, i);
	assert_int_equal(lead, 0);
	one = json_array_get(findings, 0);
	assert_string_equal(json_string_value(json_object_get(one, "rule")), "RC-PFC-001");
	assert_string_equal(json_string_value(json_object_get(one, "host")), "h2");
	assert_int_equal(json_integer_value(json_array_get(json_object_get(one, "prio"), 0)), 3);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(json, "counts"), "leading")), 1);
	json_decref(json);
	findings_clear(&s.findings);
}

static void test_json_hostile(void **state)
{
	static struct sample s;

	(void)state;
	sample_make(&s, true);
	json_decref(json_of(&s.report));
	findings_clear(&s.findings);
}

/* Number of nodes an XPath finds. */
static int xpath_count(xmlDocPtr doc, const char *path)
{
	xmlXPathContextPtr c = xmlXPathNewContext(doc);
	xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)path, c);
	int count = found && found->nodesetval ? found->nodesetval->nodeNr : 0;

	xmlXPathFreeObject(found);
	xmlXPathFreeContext(c);
	return count;
}

static size_t gating(const struct sample *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->findings.count; i++)
		count += finding_blocks(&s->findings.list[i], s->report.allow,
					s->report.allow_count);
	return count;
}

static size_t failing(const struct sample *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->findings.count; i++)
		count += s->findings.list[i].verdict == VERDICT_FAIL;
	return count;
}

static const char *const allowed_lines[] = {
	"\n      1 finding is allowed by the inventory, listed below\n",
	"\nAllowed by the inventory (not counted):\n"
	"  RC-PFC-001  until 2026-12-31, fabric.yaml, line 40: ticket 12 <&>\n"
	"      FAIL h2 roce0: PFC is off on every priority: nothing is lossless\n"
	"  RC-PFC-007  until 2026-12-31, fabric.yaml, line 41: ticket 12 <&>\n"
	"      nothing to allow: no such finding\n\n",
	"WARN  RC-META-011  fabric: the exception for RC-PFC-008 on all hosts has expired: it "
	"ended on",
	" inconclusive, 1 allowed, ",
};

/* An exception is told in each format, and takes its findings out of the counts. */
static void test_allowed(void **state)
{
	static struct sample s;
	const json_t *findings, *one, *allow;
	size_t i, allowed = 0;
	char *document;
	xmlDocPtr doc;
	json_t *json;

	(void)state;
	sample_make(&s, false);
	findings_clear(&s.findings);
	add_exception(&s.f, "RC-PFC-001", "h2", "2026-12-31");
	add_exception(&s.f, "RC-PFC-007", "", "2026-12-31");
	add_exception(&s.f, "RC-PFC-008", "", "2026-01-31");
	assert_int_equal(rules_run(&s.f.fabric, &s.f.run, &s.findings), 0);
	json = json_of(&s.report);
	findings = json_object_get(json, "findings");
	json_array_foreach (findings, i, one) {
		const json_t *why = json_object_get(one, "allowed");

		if (!why)
			continue;
		allowed++;
		assert_string_equal(json_string_value(json_object_get(one, "rule")), "RC-PFC-001");
		assert_string_equal(json_string_value(json_object_get(one, "verdict")), "FAIL");
		assert_string_equal(json_string_value(json_object_get(why, "reason")),
				    "ticket 12 <&>");
		assert_int_equal(json_integer_value(json_object_get(why, "line")), 40);
	}
	assert_int_equal(allowed, 1);
	one = json_object_get(json, "counts");
	assert_int_equal(json_integer_value(json_object_get(one, "allowed")), 1);
	allow = json_object_get(json, "allow");
	assert_int_equal(json_array_size(allow), 3);
	one = json_array_get(allow, 0);
	assert_int_equal(json_integer_value(json_object_get(one, "findings")), 1);
	assert_true(json_is_false(json_object_get(one, "expired")));
	assert_true(json_is_true(json_object_get(json_array_get(allow, 2), "expired")));
	json_decref(json);
	document = document_of(&s.report, "text");
	for (i = 0; i < ARRAY_SIZE(allowed_lines); i++)
		if (!strstr(document, allowed_lines[i]))
			fail_msg("missing: %s\nin\n%s", allowed_lines[i], document);
	assert_null(strstr(document, "FAIL  RC-PFC-001"));
	free(document);
	document = document_of(&s.report, "junit");
	doc = xmlReadMemory(document, (int)strlen(document), "junit.xml", NULL,
			    XML_PARSE_NONET | XML_PARSE_NOERROR);
	assert_non_null(doc);
	assert_int_equal(xpath_count(doc,
				     "//testcase[@name = 'RC-PFC-001 h2 roce0']/skipped[@message "
				     "= 'allowed until 2026-12-31: ticket 12 <&>']"),
			 1);
	assert_int_equal(xpath_count(doc, "//failure"), failing(&s) - 1);
	xmlFreeDoc(doc);
	free(document);
	findings_clear(&s.findings);
}

static void test_junit(void **state)
{
	static struct sample s;

	(void)state;
	for (int hostile = 0; hostile < 2; hostile++) {
		char *document;
		xmlDocPtr doc;

		sample_make(&s, hostile);
		document = document_of(&s.report, "junit");
		doc = xmlReadMemory(document, (int)strlen(document), "junit.xml", NULL,
				    XML_PARSE_NONET | XML_PARSE_NOERROR);
		assert_non_null(doc);
		assert_int_equal(xpath_count(doc, "/testsuites/testsuite/testcase"),
				 s.findings.count);
		assert_int_equal(xpath_count(doc, "//testcase[@name = preceding::testcase/@name]"),
				 0);
		assert_int_equal(
			xpath_count(doc, "//testsuite[@name = preceding::testsuite/@name]"), 0);
		assert_int_equal(xpath_count(doc, "//failure"), failing(&s));
		assert_int_equal(xpath_count(doc, "//error"), gating(&s));
		assert_true(gating(&s) > 0);
		xmlFreeDoc(doc);
		free(document);
		findings_clear(&s.findings);
	}
	xmlCleanupParser();
}

/* The same port twice in one rule needs two names. */
static void test_junit_twins(void **state)
{
	static struct sample s;
	char *document;
	xmlDocPtr doc;

	(void)state;
	sample_make(&s, false);
	for (int i = 0; i < 3; i++) {
		finding_begin(&s.findings, rule_find("RC-GID-006"), "h2", "roce0", 0);
		finding_set(&s.findings, VERDICT_FAIL, "twin %d", i);
	}
	document = document_of(&s.report, "junit");
	doc = xmlReadMemory(document, (int)strlen(document), "junit.xml", NULL, XML_PARSE_NONET);
	assert_non_null(doc);
	assert_int_equal(xpath_count(doc, "//testcase[@name = preceding::testcase/@name]"), 0);
	assert_int_equal(xpath_count(doc, "//testcase[@name = 'RC-GID-006 h2 roce0 #3']"), 1);
	xmlFreeDoc(doc);
	free(document);
	findings_clear(&s.findings);
}

static const char *const text_lines[] = {
	"FAIL  fabric pair, profile lab (intent: lossless), 2 hosts, 2 ports, run "
	"20261120-120000-0a1b\n",
	"\nFAIL  RC-PFC-001  h2 roce0 prio 3: PFC is off on every priority: nothing is lossless\n",
	"\n      [H] pfc.enabled is [] (dcbnl)\n",
	"\n      expected by  profiles/lab.yaml, line ",
	"\n      advice       on h2: enable PFC on the RoCE priority: rocecheck apply "
	"profiles/lab.yaml -i\n                   roce0\n",
	"\n      -> FAIL RC-PFC-002 h2 roce0: pfc.enabled is [], the profile wants [3] [H]\n"
	"      -> FAIL RC-PFC-003 h2 roce0: ",
	"\n      -> FAIL RC-QOS-005 h2 roce0: ",
	"\n  RC-PFC-004  h[1-2] roce0: no link partner was heard (LLDP) [allowed by "
	"--allow-inconclusive]\n",
	"\n  RC-PFC-010  h[1-2] roce0: nothing was lost, but no congestion was made",
	" [required]\n      next step    run 'rocecheck validate FABRIC.yaml --maintenance PRIO' "
	"while no "
	"job needs the\n                   fabric: it fills the link of each port in turn\n",
	" 0 warnings, 4 inconclusive, ",
	" skipped. Exit code 1.\n",
	"\nEvidence: [H] host settings, ",
	"\n[], {}: no entry.\n",
	"->: consequence of the root cause above.\nINCONCL: ",
	"\n[required]: without this evidence ",
};

static void test_text(void **state)
{
	static struct sample s;
	char *document;

	(void)state;
	sample_make(&s, false);
	document = document_of(&s.report, "text");
	for (size_t i = 0; i < ARRAY_SIZE(text_lines); i++)
		if (!strstr(document, text_lines[i]))
			fail_msg("missing: %s\nin\n%s", text_lines[i], document);
	assert_ptr_equal(strstr(document, text_lines[0]), document);
	for (const char *line = document; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 100);
	free(document);
	findings_clear(&s.findings);
}

/* Backgrounds added up over the pairs that ran. */
static void test_text_tcp(void **state)
{
	static const char *const lines[] = {
		"run 20261120-120000-0a1b\n      TCP background, 2 pairs: TCP 0, 4 streams, no "
		"rate "
		"limit, "
		"ToS 0 (DSCP 0): 67.0 MB arrived, 24\n          segments retransmitted\n      "
		"level maintenance;",
		"run 20261120-120000-0a1b\n      TCP background, 1 pair: TCP 0, 4 streams, no rate "
		"limit, "
		"ToS 0 (DSCP 0): 34.0 MB arrived, 12\n          segments retransmitted\n      "
		"level maintenance;",
	};
	static struct sample s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *text;

		sample_make(&s, false);
		for (unsigned int k = 0; k < 2; k++) {
			s.f.tcp[k] = (struct run_tcp){.asked = {.streams = 4}};
			s.f.tcp[k].client.retransmits = 12;
			s.f.tcp[k].server.arrived_bytes = 34000000 - k * 1000000;
			s.f.pair[k].tcp = &s.f.tcp[k];
			s.f.pair[k].tcp_count = 1;
		}
		s.f.pair[1].ran = !i;
		text = document_of(&s.report, "text");
		if (!strstr(text, lines[i]))
			fail_msg("%s", text);
		free(text);
		findings_clear(&s.findings);
	}
}

static void test_text_hostile(void **state)
{
	static struct sample s;
	char *document;

	(void)state;
	sample_make(&s, true);
	document = document_of(&s.report, "text");
	for (const char *c = document; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n');
	free(document);
	s.report.colour = true;
	document = document_of(&s.report, "text");
	assert_non_null(strstr(document, "\033[31mFAIL\033[0m"));
	free(document);
	findings_clear(&s.findings);
}

/* The time of this process, to judge and report so many hosts of eight ports whose PFC is off; of
 * three times the shortest. */
static double grown_s(unsigned int hosts)
{
	enum { PORTS = 8 };
	struct run_host *host = calloc(hosts, sizeof(*host));
	struct fabric_run f;
	struct port port[PORTS];
	struct run run = {.host = host, .host_count = hosts};
	clock_t best = LONG_MAX;

	good_run(&f);
	for (unsigned int i = 0; i < PORTS; i++) {
		port[i] = f.before[0];
		port[i].qos.pfc_enabled = 0;
		snprintf(port[i].netdev, sizeof(port[i].netdev), "roce%u", i);
	}
	for (unsigned int i = 0; i < hosts; i++) {
		snprintf(host[i].name, sizeof(host[i].name), "h%u", i);
		host[i].reached = host[i].has_before = true;
		host[i].before = f.host[0].before;
		host[i].before.port = port;
		host[i].before.port_count = PORTS;
	}
	for (unsigned int i = 0; i < 3; i++) {
		struct findings all = {0};
		struct report report = {.fabric = &f.fabric, .run = &run, .findings = &all};
		clock_t began = clock();

		assert_int_equal(rules_run(&f.fabric, &run, &all), 0);
		free(document_of(&report, "text"));
		began = clock() - began;
		best = began < best ? began : best;
		findings_clear(&all);
	}
	free(host);
	return (double)best / CLOCKS_PER_SEC;
}

/* Twice the ports take about twice the time, and never four times. */
static void test_growth(void **state)
{
	double once_s = grown_s(100), twice_s = grown_s(200);

	(void)state;
	if (twice_s > 3 * once_s)
		fail_msg("800 ports: %.3f s, 1600 ports: %.3f s", once_s, twice_s);
}

static void test_full_disk(void **state)
{
	static struct sample s;

	(void)state;
	sample_make(&s, false);
	for (unsigned int i = 0; i < writer_count; i++) {
		FILE *full = fopen("/dev/full", "w");
		struct err e = {0};

		assert_non_null(full);
		assert_int_equal(writers[i].write(&s.report, full, &e), -ENOSPC);
		assert_int_equal(e.code, -ENOSPC);
		assert_true(e.text[0]);
		fclose(full);
	}
	findings_clear(&s.findings);
}

static void test_save(void **state)
{
	char dir[] = "/tmp/test_writer.XXXXXX", path[64];
	static struct sample s;
	struct err e = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	sample_make(&s, false);
	snprintf(path, sizeof(path), "%s/report.json", dir);
	assert_int_equal(report_save(&s.report, writer_find("json"), path, &e), 0);
	assert_int_equal(access(path, R_OK), 0);
	unlink(path);
	assert_int_equal(rmdir(dir), 0); /* nothing is left beside it */
	assert_int_equal(report_save(&s.report, writer_find("json"), path, &e), -ENOENT);
	assert_non_null(strstr(e.text, path));
	assert_null(writer_find("sarif"));
	findings_clear(&s.findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),	     cmocka_unit_test(test_json_hostile),
		cmocka_unit_test(test_junit),	     cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_junit_twins),  cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_hostile), cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_save),	     cmocka_unit_test(test_text_tcp),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
