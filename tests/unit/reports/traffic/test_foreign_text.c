/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of others in documents: whatever bytes they hold, and wherever they were cut, the document
 * is there, and can be read.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/pair.h"
#include "probe/coord/pair_marking.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"
#include "reports/traffic/traffic_verdict.h"

static const struct {
	const char *text, *want;
} texts[] = {
	{"", ""},
	{"rxe0: no GID", "rxe0: no GID"},
	{"Gerät", "Gerät"},
	{"Ger\xc3", "Ger?"}, /* cut inside a letter */
	{"\xa4t", "?t"},     /* its beginning is missing */
	{"\xe2\x82", "??"},
	{"\xed\xa0\x80", "???"}, /* a surrogate */
	{"a\tb\nc\x1b[2J\x7f", "a?b?c?[2J?"},
	{"\xc2\x9b", "?"}, /* a control of two bytes */
};

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		json_t *made = text_to_json(texts[i].text);
		char back[64] = "untouched";
		json_t *o = json_pack("{s:O}", "text", made);
		struct err e = {0};

		assert_string_equal(json_string_value(made), texts[i].want);
		assert_int_equal(json_get_text(o, "text", back, sizeof(back), &e), 0);
		assert_string_equal(back, texts[i].want);
		json_decref(made);
		json_decref(o);
	}
}

static json_t *of_probe(const char *text)
{
	static struct run_host host[SIDES];
	static struct pair t = {.run = {.host = host, .host_count = SIDES}};

	snprintf(t.why, sizeof(t.why), "%s", text);
	return pair_to_json(&t);
}

static json_t *of_host(const char *text)
{
	static struct run_host host[SIDES];
	static struct pair t = {.run = {.host = host, .host_count = SIDES}};

	snprintf(host[SIDE_SERVER].error, sizeof(host[0].error), "%s", text);
	snprintf(host[SIDE_CLIENT].agent_version, sizeof(host[0].agent_version), "%s", text);
	return pair_to_json(&t);
}

static json_t *of_echo(const char *text)
{
	static struct pair_marking x;

	snprintf(x.why, sizeof(x.why), "%s", text);
	return pair_marking_to_json(&x);
}

static json_t *of_echo_end(const char *text)
{
	static struct marking_result r;

	snprintf(r.detail, sizeof(r.detail), "%s", text);
	return marking_result_to_json(&r);
}

static json_t *of_traffic(const char *text)
{
	struct traffic_result r = {0};

	snprintf(r.detail, sizeof(r.detail), "%s", text);
	return traffic_result_to_json(&r);
}

static json_t *of_users(const char *text)
{
	static struct run_port p = {.user_count = 1};
	static const struct port facts;

	snprintf(p.user[0], sizeof(p.user[0]), "%s", text);
	return run_port_to_json(&p, "h1", &facts);
}

static json_t *of_run(const char *text)
{
	struct run_host host = {.name = "h1"};
	struct run r = {.host = &host, .host_count = 1};

	snprintf(host.error, sizeof(host.error), "%s", text);
	return run_to_json(&r);
}

static json_t *of_error(const char *text)
{
	struct err e = {.code = -EIO};

	snprintf(e.text, sizeof(e.text), "%s", text);
	return err_to_json(&e);
}

static json_t *of_verdict(const char *text)
{
	struct traffic_verdict v = {.verdict = VERDICT_FAIL};
	json_t *json;

	finding_begin(&v.findings, rule_find("RC-TRN-001"), "", "", 0);
	finding_set(&v.findings, VERDICT_FAIL, "%s", text);
	finding_reason(&v.findings, REASON_LOST, -1, NULL);
	json = traffic_verdict_to_json(&v);
	traffic_verdict_clear(&v);
	return json;
}

static const struct {
	const char *name;
	json_t *(*make)(const char *text);
} documents[] = {
	{"probe", of_probe},	  {"host of a probe", of_host}, {"marking echo", of_echo},
	{"its end", of_echo_end}, {"traffic", of_traffic},	{"users of a port", of_users},
	{"run", of_run},	  {"verdict", of_verdict},	{"error", of_error},
};

static void test_documents(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
		json_t *doc = documents[i].make("of a Ger\xc3");
		char *line = json_dumps(doc, JSON_COMPACT);

		if (!line || !strstr(line, "\"of a Ger?\""))
			fail_msg("%s: %s", documents[i].name, line ? line : "no document");
		free(line);
		json_decref(doc);
	}
}

/* Errors of others: whatever they say, an error it is. */
static void test_errors(void **state)
{
	static const struct {
		const char *json;
		int code;
		const char *text, *hint;
	} cases[] = {
		{"{\"code\": -19, \"text\": \"rxe0: gone\", \"hint\": \"see\"}", -ENODEV,
		 "rxe0: gone", "see"},
		{"{\"code\": -19, \"text\": \"rxe0: gone\", \"hint\": \"\"}", -ENODEV, "rxe0: gone",
		 ""},
		{"{}", -EIO, "failed", ""},
		{"[]", -EIO, "failed", ""},
		{"{\"code\": 0}", -EIO, "failed", ""},
		{"{\"code\": -5, \"text\": \"\"}", -EIO, "failed", ""},
		{"{\"text\": \"\", \"hint\": 1}", -EIO, "failed", ""},
		{"{\"code\": 5}", -EIO, "failed", ""},
		{"{\"code\": -4096}", -EIO, "failed", ""},
		{"{\"code\": \"-5\", \"text\": 7, \"hint\": []}", -EIO, "failed", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *json = json_loads(cases[i].json, 0, NULL);
		struct err e = {0}, back = {0};

		assert_non_null(json);
		err_from_json(json, "failed", &e);
		assert_int_equal(e.code, cases[i].code);
		assert_string_equal(e.text, cases[i].text);
		assert_string_equal(e.hint, cases[i].hint);
		json_decref(json);
		json = err_to_json(&e);
		err_from_json(json, "", &back);
		assert_memory_equal(&back, &e, sizeof(e));
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
