/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/json.h: integers end where 63 bits do; rows of every kind and need, written, read
 * back, and refused; documents with long lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/base.h"
#include "profiles/base/json.h"
#include "profiles/base/json_file.h"

static void test_cut(void **state)
{
	static const struct {
		uint64_t in;
		json_int_t want;
	} rows[] = {
		{0, 0},
		{1, 1},
		{UINT32_MAX, UINT32_MAX},
		{INT64_MAX - 1, INT64_MAX - 1},
		{INT64_MAX, INT64_MAX},
		{(uint64_t)INT64_MAX + 1, INT64_MAX},
		{UINT64_MAX, INT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *v = json_uint(rows[i].in);

		assert_true(json_integer_value(v) == rows[i].want);
		json_decref(v);
	}
}

struct item {
	uint16_t id;
	char name[8];
};

struct pair {
	uint8_t a, b;
};

struct all {
	uint8_t small;
	uint64_t large;
	int32_t fact;
	uint8_t word;
	bool flag;
	char text[8], name[8];
	uint64_t numbers[2];
	uint32_t item_count;
	struct item item[2];
	uint8_t hex[3];
	struct item one;
	bool has_pair, has_known;
	uint8_t more_count;
	struct pair pair, known, nullable, *more;
	uint16_t sparse;
};

static const struct qos_word words[] = {{"zero", 0}, {"one", 1}, {NULL, 0}};

static const struct json_row item_rows[] = {
	JSON_ROW(struct item, id, .kind = JSON_NUMBER, .min = 1, .max = 9),
	JSON_ROW(struct item, name, .kind = JSON_NAME, .need = JSON_OPTIONAL),
};

/* An element that is no object: [a, b]. */
static json_t *pair_to_json(const struct pair *p)
{
	return json_pack("[i, i]", p->a, p->b);
}

static int pair_from_json(const json_t *json, struct pair *p, struct err *e)
{
	if (json_array_size(json) != 2)
		return err_set(e, -EINVAL, "no pair");
	p->a = (uint8_t)json_integer_value(json_array_get(json, 0));
	p->b = (uint8_t)json_integer_value(json_array_get(json, 1));
	return 0;
}

JSON_FUNCTIONS(pair)

static const struct json_row all_rows[] = {
	JSON_ROW(struct all, small, .kind = JSON_NUMBER, .min = 2, .max = 200),
	JSON_ROW_AS("big", struct all, large, .kind = JSON_NUMBER, .need = JSON_OPTIONAL,
		    .max = INT64_MAX),
	JSON_ROW(struct all, fact, .kind = JSON_NUMBER, .need = JSON_UNKNOWN, .max = INT32_MAX),
	JSON_ROW(struct all, word, .kind = JSON_WORD, .words = words),
	JSON_ROW(struct all, flag, .kind = JSON_BOOL),
	JSON_ROW(struct all, text, .kind = JSON_TEXT),
	JSON_ROW(struct all, name, .kind = JSON_NAME),
	JSON_ROW(struct all, numbers, .kind = JSON_NUMBERS),
	JSON_LIST_OF("items", struct all, item, JSON_ITEM(item_rows), .need = JSON_OPTIONAL),
	JSON_ROW(struct all, hex, .kind = JSON_HEX),
	JSON_ROW(struct all, one, .kind = JSON_STRUCT, JSON_ITEM(item_rows)),
	JSON_ROW(struct all, pair, .kind = JSON_STRUCT, JSON_BY(pair), .need = JSON_SPARSE,
		 JSON_USED(struct all, has_pair)),
	JSON_ALLOCATED_OF("more", struct all, more, 3, JSON_BY(pair), .need = JSON_SPARSE),
	JSON_ROW(struct all, sparse, .kind = JSON_NUMBER, .need = JSON_SPARSE, .max = 9),
	JSON_ROW(struct all, known, .kind = JSON_STRUCT, JSON_BY(pair), .need = JSON_UNKNOWN,
		 JSON_USED(struct all, has_known)),
	JSON_ROW(struct all, nullable, .kind = JSON_STRUCT, JSON_BY(pair), .need = JSON_UNKNOWN),
};

static struct pair two_pairs[] = {{1, 2}, {3, 4}};

static const struct all sample = {
	.small = 200,
	.large = INT64_MAX,
	.fact = -1,
	.word = 1,
	.flag = true,
	.text = "a b",
	.name = "eth0",
	.numbers = {1, INT64_MAX},
	.item_count = 1,
	.item = {{.id = 9, .name = "x"}},
	.hex = {0, 0x1f, 0xa0},
	.one = {.id = 1},
	.has_pair = true,
	.pair = {5, 6},
	.has_known = true,
	.known = {7, 8},
	.more_count = 2,
	.more = two_pairs,
	.sparse = 9,
};

static json_t *sample_json(void)
{
	json_t *o = json_object();

	assert_int_equal(json_rows_write(o, JSON_ROWS(all_rows), &sample), 0);
	return o;
}

static void test_rows(void **state)
{
	json_t *o = sample_json();
	char *text = json_dumps(o, JSON_COMPACT);
	struct all back;
	struct err e = {0};

	(void)state;
	memset(&back, 0, sizeof(back)); /* the gaps between members are compared, too */
	assert_string_equal(text,
			    "{\"small\":200,\"big\":9223372036854775807,\"fact\":null,"
			    "\"word\":\"one\",\"flag\":true,\"text\":\"a b\",\"name\":\"eth0\","
			    "\"numbers\":[1,9223372036854775807],"
			    "\"items\":[{\"id\":9,\"name\":\"x\"}],\"hex\":\"001fa0\","
			    "\"one\":{\"id\":1,\"name\":\"\"},\"pair\":[5,6],"
			    "\"more\":[[1,2],[3,4]],\"sparse\":9,"
			    "\"known\":[7,8],\"nullable\":[0,0]}");
	json_object_del(json_object_get(o, "one"), "name");
	assert_int_equal(json_rows_read(o, JSON_ROWS(all_rows), &back, &e), 0);
	assert_memory_equal(back.more, two_pairs, sizeof(two_pairs));
	free(back.more);
	back.more = two_pairs;
	assert_memory_equal(&back, &sample, sizeof(back));
	free(text);
	json_decref(o);
	assert_int_equal(json_rows_write(NULL, JSON_ROWS(all_rows), &sample), -ENOMEM);
}

/* What is empty is not written, and nothing is there when it is read back. */
static void test_sparse(void **state)
{
	struct all none = {.small = 2, .one = {.id = 1}, .name = "x"}, back = {.sparse = 7};
	json_t *o = json_rows_make(JSON_ROWS(all_rows), &none);
	struct err e = {0};

	(void)state;
	json_object_del(json_object_get(o, "one"), "name");
	assert_null(json_object_get(o, "pair"));
	assert_null(json_object_get(o, "more"));
	assert_null(json_object_get(o, "sparse"));
	assert_null(json_object_get(o, "known"));
	json_object_set_new(o, "known", json_null());
	json_object_set_new(o, "nullable", json_null());
	assert_int_equal(json_rows_read(o, JSON_ROWS(all_rows), &back, &e), 0);
	assert_false(back.has_pair);
	assert_false(back.has_known);
	assert_null(back.more);
	assert_int_equal(back.sparse, 7);
	json_decref(o);
}

/* A list that one is missing of is no list. */
static void test_list_add(void **state)
{
	json_t *list = json_list_add(json_array(), json_true());

	(void)state;
	assert_int_equal(json_array_size(list), 1);
	assert_null(json_list_add(list, NULL));
	assert_null(json_list_add(NULL, json_integer(1)));
}

/* What may be absent: the member stays as it is, but for a number that is not known then. */
static void test_absent(void **state)
{
	json_t *o = sample_json();
	struct all back = {.large = 7, .fact = 7, .item_count = 7};
	struct err e = {0};

	(void)state;
	json_object_del(o, "big");
	json_object_del(o, "fact");
	json_object_del(o, "items");
	assert_int_equal(json_rows_read(o, JSON_ROWS(all_rows), &back, &e), 0);
	assert_int_equal(back.large, 7);
	assert_int_equal(back.fact, -1);
	assert_int_equal(back.item_count, 7);
	free(back.more);
	json_decref(o);
}

/* Every row, replaced by what it refuses; NULL: taken away. */
static const struct {
	const char *key, *value;
} bad[] = {
	{"small", NULL},
	{"small", "1"},
	{"small", "201"},
	{"small", "-1"},
	{"small", "2.5"},
	{"small", "null"},
	{"big", "-1"},
	{"big", "null"},
	{"fact", "-1"},
	{"fact", "2147483648"},
	{"fact", "\"\""},
	{"word", NULL},
	{"word", "\"two\""},
	{"word", "1"},
	{"flag", "1"},
	{"text", "7"},
	{"text", "\"12345678\""},
	{"text", "\"\\u001b\""},
	{"name", "\"-x\""},
	{"name", "\"../x\""},
	{"name", "\"a b\""},
	{"numbers", "[1]"},
	{"numbers", "[1,2,3]"},
	{"numbers", "[1,-2]"},
	{"numbers", "{}"},
	{"items", "{}"},
	{"items", "[1]"},
	{"items", "[{}]"},
	{"items", "[{\"id\":10}]"},
	{"items", "[{\"id\":1},{\"id\":1},{\"id\":1}]"},
	{"hex", "\"001fa\""},
	{"hex", "\"001fAA\""},
	{"hex", "1"},
	{"one", NULL},
	{"one", "[]"},
	{"one", "{\"id\":0}"},
	{"pair", "null"},
	{"pair", "[1]"},
	{"more", "null"},
	{"more", "[[1,2],[3]]"},
	{"more", "[[1,2],[1,2],[1,2],[1,2]]"},
	{"sparse", "10"},
	{"known", "[]"},
	{"nullable", "7"},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *o = sample_json();
		struct all back = {0};
		struct err e = {0};

		if (bad[i].value)
			json_object_set_new(o, bad[i].key,
					    json_loads(bad[i].value, JSON_DECODE_ANY, NULL));
		else
			json_object_del(o, bad[i].key);
		if (json_rows_read(o, JSON_ROWS(all_rows), &back, &e) != -EINVAL ||
		    !strstr(e.text, bad[i].key))
			fail_msg("%s: %s: '%s'", bad[i].key, bad[i].value, e.text);
		free(back.more);
		json_decref(o);
	}
}

/* The document that the long lists come from; its strings and inner members look like them. */
static json_t *make_long(bool with_items)
{
	json_t *doc = json_pack("{s:s, s:{s:[]}, s:[], s:i, s:[], s:[]}", "name",
				"\n \"items\": []", "inner", "items", "items", "number", 7, "none",
				"more");

	for (int i = 0; with_items && i < 3; i++) {
		json_array_append_new(json_object_get(doc, "items"),
				      json_pack("{s:i, s:[i, i]}", "i", i, "two\n", 1, 2));
		json_array_append_new(json_object_get(doc, "more"), json_pack("{}"));
	}
	return doc;
}

static json_t *make_item(size_t i, const void *arg)
{
	const json_t *list = arg;

	return list ? json_incref(json_array_get(list, i)) : NULL;
}

static int print_long(const json_t *whole, unsigned int indent, FILE *out)
{
	const struct json_long_list lists[] = {
		{"items", 3, make_item, json_object_get(whole, "items")},
		{"none", 0, make_item, NULL},
		{"more", 3, make_item, json_object_get(whole, "more")},
	};

	return json_print(make_long(false), lists, ARRAY_SIZE(lists), indent, out);
}

static void test_long_lists(void **state)
{
	json_t *whole = make_long(true);

	(void)state;
	for (unsigned int indent = 1; indent <= 2; indent++) {
		char *want = json_dumps(whole, JSON_INDENT(indent) | JSON_ENSURE_ASCII);
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_int_equal(print_long(whole, indent, out), 0);
		fclose(out);
		assert_int_equal(size, strlen(want) + 1);
		assert_memory_equal(text, want, size - 1);
		assert_int_equal(text[size - 1], '\n');
		free(text);
		free(want);
	}
	json_decref(whole);
}

static void test_long_lists_failing(void **state)
{
	json_t *whole = make_long(true);
	FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(full);
	assert_non_null(null);
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(print_long(whole, 1, full), -ENOSPC);
	assert_int_equal(print_long(NULL, 1, null), -ENOMEM); /* no items */
	assert_int_equal(json_print(NULL, NULL, 0, 1, null), -ENOMEM);
	fclose(full);
	fclose(null);
	json_decref(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sparse),	   cmocka_unit_test(test_list_add),
		cmocka_unit_test(test_absent),	   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long_lists), cmocka_unit_test(test_long_lists_failing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
