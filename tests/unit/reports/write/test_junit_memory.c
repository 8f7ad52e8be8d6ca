/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JUnit on a machine short of memory: each allocation of libxml2 fails in turn, those of its first
 * use included. The document is whole or -ENOMEM, and libxml2 says nothing itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <libxml/parser.h>

#include "tests/unit/fixture/fabric_run.h"
#include "reports/engine/findings.h"
#include "reports/write/writer.h"

/* Memory that fails once. What libxml2 leaves behind then is freed between the rounds. */
static struct {
	long spare; /* allocations before the one that fails; below 0: it has */
	unsigned int said;
	size_t count;
	void *block[1024];
} scarce;

/* Index of a block, or of the next free row. */
static size_t scarce_find(const void *block)
{
	size_t i = 0;

	while (i < scarce.count && scarce.block[i] != block)
		i++;
	assert_true(i < ARRAY_SIZE(scarce.block));
	return i;
}

static void scarce_free(void *block)
{
	size_t i = scarce_find(block);

	if (i < scarce.count)
		scarce.block[i] = scarce.block[--scarce.count];
	free(block);
}

static void *scarce_realloc(void *block, size_t size)
{
	size_t i = scarce_find(block);
	void *got = scarce.spare-- ? realloc(block, size) : NULL;

	if (!got)
		return NULL;
	scarce.block[i] = got;
	scarce.count += i == scarce.count;
	return got;
}

static void *scarce_malloc(size_t size)
{
	return scarce_realloc(NULL, size);
}

static char *scarce_strdup(const char *text)
{
	char *copy = scarce_malloc(strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

/* Everything libxml2 keeps: its next use is a first one. What was never set up it does not clean.
 */
static void forget_all(void)
{
	xmlInitParser();
	xmlCleanupParser();
	while (scarce.count)
		scarce_free(scarce.block[0]);
}

static void count_said(void *context, const char *format, ...)
{
	(void)context;
	(void)format;
	scarce.said++;
}

static int junit_of(const struct report *r, char **document)
{
	struct err e = {0};
	size_t size = 0;
	FILE *out = open_memstream(document, &size);
	int err = writer_find("junit")->write(r, out, &e);

	fclose(out);
	assert_int_equal(e.code, err);
	return err;
}

/* Fails the n-th allocation; whether there were as many. */
static bool junit_survives(const struct report *r, long n, const char *whole)
{
	char *document = NULL;
	int err;

	scarce.spare = n;
	err = junit_of(r, &document);
	n = scarce.spare;
	scarce.spare = -1;
	assert_ptr_equal(xmlGenericError, count_said);
	assert_ptr_equal(xmlGenericErrorContext, &scarce);
	if (err)
		assert_int_equal(err, -ENOMEM);
	assert_string_equal(document, err ? "" : whole);
	free(document);
	forget_all();
	return n < 0;
}

static void test_junit_memory(void **state)
{
	static struct fabric_run f;
	static struct findings findings;
	struct report r = {.fabric = &f.fabric, .run = &f.run, .findings = &findings};
	char *whole;
	long n = 0;

	(void)state;
	good_run(&f);
	f.before[1].qos.pfc_enabled = 0;
	f.after[1].qos.pfc_enabled = 0;
	snprintf(f.fabric.name, sizeof(f.fabric.name), "gr\xc3\xbc\xc3\x9f");
	snprintf(f.host[0].error, sizeof(f.host[0].error), "<a b=\"c'&amp;]]>");
	assert_int_equal(rules_run(&f.fabric, &f.run, &findings), 0);
	scarce.spare = -1;
	assert_int_equal(xmlMemSetup(scarce_free, scarce_malloc, scarce_realloc, scarce_strdup), 0);
	xmlSetGenericErrorFunc(&scarce, count_said);
	assert_int_equal(junit_of(&r, &whole), 0);
	assert_non_null(strstr(whole, "name=\"gr\xc3\xbc\xc3\x9f\""));
	assert_non_null(strstr(whole, "&lt;a b=&quot;c'&amp;amp;]]&gt;"));
	forget_all();
	while (junit_survives(&r, n, whole))
		n++;
	assert_true(n > 100);
	assert_int_equal(scarce.said, 0);
	free(whole);
	findings_clear(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_junit_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
