/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/base.c: errors keep their code, grow to the front, and are cut rather than overrun.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "profiles/base/base.h"

static void test_set(void **state)
{
	struct err e = {.hint = "old"};

	(void)state;
	assert_int_equal(err_set(&e, -EINVAL, "%s: %d", "roce0", 7), -EINVAL);
	assert_int_equal(e.code, -EINVAL);
	assert_string_equal(e.text, "roce0: 7");
	assert_string_equal(e.hint, "");
	/* What it says already may be part of what it is to say. */
	err_set(&e, -EIO, "%.20s; and %s", e.text, "more");
	assert_string_equal(e.text, "roce0: 7; and more");
}

static void test_sys(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_sys(&e, -EPERM, "%s: PFC", "roce0"), -EPERM);
	assert_string_equal(e.text, "roce0: PFC: Operation not permitted");
}

static void test_prefix_and_hint(void **state)
{
	struct err e;

	(void)state;
	err_set(&e, -ENOENT, "no such port");
	err_hint(&e, "run '%s'", "rocecheck doctor");
	err_prefix(&e, "host %s", "h1");
	err_prefix(&e, "run");
	assert_int_equal(e.code, -ENOENT);
	assert_string_equal(e.text, "run: host h1: no such port");
	assert_string_equal(e.hint, "run 'rocecheck doctor'");
}

static void test_null(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(err_sys(NULL, -EIO, "x"), -EIO);
	err_prefix(NULL, "x");
	err_hint(NULL, "x");
}

/* "return err_hint(...)" must not compile: where no text is wanted it would report success. */
#define ADDS_TO_AN_ERROR(f)                                                                        \
	_Generic(&(f), void (*)(struct err *, const char *, ...) : 1, default : 0)
_Static_assert(ADDS_TO_AN_ERROR(err_prefix), "err_prefix() knows no code to return");
_Static_assert(ADDS_TO_AN_ERROR(err_hint), "err_hint() knows no code to return");

static void test_long_texts_are_cut(void **state)
{
	char text[2 * ERR_TEXT_MAX];
	struct err e;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, -EIO, "%s", text);
	assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
	err_prefix(&e, "roce0");
	assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
	assert_memory_equal(e.text, "roce0: aaa", 10);
	err_prefix(&e, "%s", text);
	err_sys(&e, -EIO, "%s", text);
	err_hint(&e, "%s", text);
	assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
	assert_int_equal(strlen(e.hint), ERR_HINT_MAX - 1);
}

#define HOSTILE "\xc2\x9b\x32J\033[8m\x9bH\xe2\x80\xae\n\t"
#define CLEAN	"?2J?[8m?H???"

/* Errors quote names, peers, ssh and JSON: none of it drives the terminal that shows them. */
static void test_foreign_text_is_cleaned(void **state)
{
	char text[ERR_TEXT_MAX + 1];
	struct err e;

	(void)state;
	err_set(&e, -EIO, "%s", HOSTILE);
	assert_string_equal(e.text, CLEAN);
	err_hint(&e, "%s", HOSTILE);
	assert_string_equal(e.hint, CLEAN);
	err_prefix(&e, "%s", HOSTILE);
	assert_string_equal(e.text, CLEAN ": " CLEAN);
	err_sys(&e, -EIO, "%s", HOSTILE);
	assert_string_equal(e.text, CLEAN ": Input/output error");
	/* Cut inside a character, which is two bytes here. */
	memset(text, 'a', sizeof(text));
	strcpy(text + ERR_TEXT_MAX - 2, "\xc3\xbc");
	err_set(&e, -EIO, "%s", text);
	assert_int_equal(e.text[ERR_TEXT_MAX - 2], '?');
}

/* Vectors of draft-eastlake-fnv, appendix C. */
static void test_arithmetic(void **state)
{
	static const uint64_t value[4] = {9, 3, 9, 5}, zero[4];

	(void)state;
	assert_int_equal(saturating_sub(5, 3), 2);
	assert_int_equal(saturating_sub(3, 5), 0);
	assert_int_equal(saturating_sub(UINT64_MAX, 0), UINT64_MAX);
	assert_int_equal(index_of_largest(value, 4, 4), 0);
	assert_int_equal(index_of_largest(value, 4, 0), 2);
	assert_int_equal(index_of_largest(value, 2, 0), 1);
	assert_int_equal(index_of_largest(zero, 4, 0), 1);
	assert_int_equal(index_of_largest(zero, 4, 1), 0);
	assert_string_equal(plural(0), "s");
	assert_string_equal(plural(1), "");
}

static void test_fnv1a(void **state)
{
	(void)state;
	assert_true(fnv1a(FNV1A_START, "", 0) == FNV1A_START);
	assert_true(fnv1a(FNV1A_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(fnv1a(FNV1A_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	assert_true(fnv1a(fnv1a(FNV1A_START, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8));
}

/* A hop that drops every 40th packet of 128 rounds of 64 hits nearly all 64, as chance would. */
static void test_shuffle(void **state)
{
	unsigned int hits[64] = {0}, sent = 0, hit = 0;

	(void)state;
	for (unsigned int round = 0; round < 128; round++) {
		unsigned int list[64], seen[64] = {0};

		for (unsigned int i = 0; i < 64; i++)
			list[i] = i;
		shuffle(list, 64, 5 + round);
		for (unsigned int i = 0; i < 64; i++) {
			assert_int_equal(seen[list[i]]++, 0);
			hits[list[i]] += ++sent % 40 == 0;
		}
	}
	for (unsigned int i = 0; i < 64; i++)
		hit += hits[i] > 0;
	assert_true(hit >= 55); /* 61 on average */
	shuffle(hits, 0, 1);
}

static void test_utc_text(void **state)
{
	static const struct {
		time_t when;
		const char *want;
	} cases[] = {
		{0, "1970-01-01T00:00:00Z"},
		{1136214245, "2006-01-02T15:04:05Z"},
		{INT64_MAX, ""}, /* its year is no int */
	};
	char text[UTC_TEXT_MAX];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		utc_text(cases[i].when, text);
		assert_string_equal(text, cases[i].want);
	}
}

static void test_clocks(void **state)
{
	uint64_t ms = monotonic_ms(), ns = monotonic_ns(), boot = boottime_ms();
	int64_t now = unix_ns() / 1000000000;

	(void)state;
	assert_true(ns / 1000000 >= ms && monotonic_ms() >= ns / 1000000);
	assert_true(boot >= ms); /* the same clock, and the time of suspend */
	assert_in_range(time(NULL) - now, 0, 60);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_sys),
		cmocka_unit_test(test_prefix_and_hint),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_foreign_text_is_cleaned),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_fnv1a),
		cmocka_unit_test(test_shuffle),
		cmocka_unit_test(test_utc_text),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
