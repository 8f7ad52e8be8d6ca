/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sweep of message sizes: which ones, the verdict of each and of all, its document and its text.
 */
#include "cmd/probe/probe_text.h"
#include "probe/coord/pair_priv.h"
#include "probe/coord/pair_sizes.h"
#include "profiles/base/json.h"
#include "reports/traffic/probe_verdict.h"
#include "tests/unit/fixture/pair_scene.h"

static void test_size_list(void **state)
{
	static const struct {
		uint32_t from, to;
		unsigned int count;
		uint32_t first, second, last;
	} cases[] = {
		{2, 8 << 20, 23, 2, 4, 8 << 20}, {3, (8 << 20) - 1, 23, 3, 4, (8 << 20) - 1},
		{64, 64, 1, 64, 0, 64},		 {64, 65, 2, 64, 65, 65},
		{96, 1024, 5, 96, 128, 1024},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t bytes[SIZES_MAX] = {0};

		assert_int_equal(pair_sizes_list(cases[i].from, cases[i].to, bytes),
				 cases[i].count);
		assert_int_equal(bytes[0], cases[i].first);
		assert_int_equal(bytes[1], cases[i].second);
		assert_int_equal(bytes[cases[i].count - 1], cases[i].last);
	}
}

static void test_size_class(void **state)
{
	struct traffic_class c = {.check = TRAFFIC_CHECK_EVERY};

	(void)state;
	pair_size_class(&c, 64);
	assert_int_equal(c.check, TRAFFIC_CHECK_EVERY);
	pair_size_class(&c, 63);
	assert_int_equal(c.message_bytes, 63);
	assert_int_equal(c.check, TRAFFIC_CHECK_NONE);
}

/* Three sizes of the scene's traffic, as pairs_sizes() leaves them. free_sizes() frees them. */
#define SIZES 3u
static const uint32_t size_bytes[SIZES] = {32, 65536, 1 << 20};

static void make_sizes(struct scene *s)
{
	struct run *r = &s->t.run;

	r->pair = calloc(SIZES, sizeof(*r->pair));
	r->pair_count = s->t.size_count = SIZES;
	s->t.sweep = true;
	for (unsigned int i = 0; i < SIZES; i++) {
		r->pair[i] = s->pair;
		r->pair[i].ends = malloc(sizeof(s->ends));
		*r->pair[i].ends = s->ends;
		for (unsigned int k = 0; k < SIDES; k++) {
			struct run_end *end = &r->pair[i].ends->side[k];

			pair_size_class(&end->spec.class[0], size_bytes[i]);
			end->port = malloc(sizeof(*end->port));
			*end->port = s->run_port[k];
		}
		r->pair[i].message_bytes = size_bytes[i];
	}
}

static struct run_port *port_of(struct scene *s, unsigned int size, enum run_side side)
{
	return s->t.run.pair[size].ends->side[side].port;
}

/* The reports are the scene's. */
static void free_sizes(struct scene *s)
{
	for (unsigned int i = 0; i < SIZES; i++) {
		for (unsigned int k = 0; k < SIDES; k++)
			free(port_of(s, i, k));
		free(s->t.run.pair[i].ends);
		free(s->t.run.pair[i].tcp);
	}
	free(s->t.run.pair);
	free(s);
}

static const struct finding *find_text(const struct findings *all, const char *start)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strncmp(all->list[i].text, start, strlen(start)))
			return &all->list[i];
	return NULL;
}

/* The whole is as bad as the worst, each size has its own, and the echo belongs to the last. */
static void test_sizes(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	struct size_verdicts *v = NULL;
	const json_t *row, *reason;
	json_t *doc, *sum;
	char *text = NULL;
	struct err e = {0};
	size_t size;
	FILE *out;

	(void)state;
	make_pair(s);
	make_sizes(s);
	assert_int_equal(size_verdicts_make(&s->t, &v, &e), 0);
	if (v->verdict != VERDICT_PASS)
		fail_msg("%s", reason_text(&v->size[0].v));
	size_verdicts_free(v);

	put_growth(port_of(s, 1, SIDE_SERVER), METRIC_OUT_OF_SEQUENCE, 0, 1);
	put_growth(port_of(s, 1, SIDE_CLIENT), METRIC_SEQ_NAK_RX, 0, 1);
	s->t.run.pair[2].ends->partial = s->t.partial = true;
	assert_int_equal(size_verdicts_make(&s->t, &v, &e), 0);
	assert_int_equal(v->verdict, VERDICT_FAIL);
	assert_int_equal(v->size[0].v.verdict, VERDICT_PASS);
	assert_int_equal(v->size[1].v.verdict, VERDICT_FAIL);
	assert_int_equal(v->size[2].v.verdict, VERDICT_INCONCLUSIVE);

	doc = pair_to_json(&s->t);
	sum = size_verdicts_to_json(v, json_object_get(doc, "sizes"));
	reason = json_array_get(json_object_get(sum, "reasons"), 0);
	assert_string_equal(json_string_value(json_object_get(sum, "verdict")), "FAIL");
	assert_int_equal(json_integer_value(json_object_get(reason, "message_bytes")), 65536);
	row = json_array_get(json_object_get(doc, "sizes"), 2);
	assert_true(json_is_true(json_object_get(row, "partial")));
	row = json_array_get(json_object_get(row, "ends"), 1);
	row = json_array_get(json_object_get(json_object_get(row, "spec"), "classes"), 0);
	assert_int_equal(json_integer_value(json_object_get(row, "message_bytes")), 1 << 20);
	row = json_array_get(json_object_get(doc, "sizes"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "check")), "none");
	assert_int_equal(json_integer_value(json_object_get(row, "messages")), 1526);
	assert_int_equal(json_integer_value(json_object_get(row, "goodput_bytes_per_s")), 10 * MB);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(row, "verdict"), "verdict")),
		"PASS");
	json_decref(sum);
	json_decref(doc);

	out = open_memstream(&text, &size);
	probe_print(&s->t, out);
	probe_print_sizes(&s->t, v, out);
	fclose(out);
	assert_non_null(strstr(text, "       32 B        1526     10.00 MB/s"));
	assert_non_null(find_text(&v->all, "messages of 65536 bytes: packets to h2 were lost"));
	assert_null(strstr(text, "no report"));
	free(text);
	size_verdicts_free(v);
	free_sizes(s);
}

/* The counter's reading before or after the load. */
static uint64_t read_of(const struct counters *c, enum metric m)
{
	return c->value[m][0];
}

/* The record for those who know no sweep: a pair a size, and counters around all of them. */
static void test_gathered(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	struct pair *t = &s->t;
	struct run back = {0};
	struct err e = {0};
	json_t *doc;

	(void)state;
	make_pair(s);
	make_sizes(s);
	for (unsigned int i = 0; i < SIDES; i++) {
		port_of(s, 0, i)->reading[READ_LOAD_BEFORE].value[METRIC_TX_BYTES][0] = 7;
		port_of(s, 2, i)->reading[READ_LOAD_AFTER].value[METRIC_TX_BYTES][0] = 99;
		s->run_port[i].has = 1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER;
	}
	t->run.pair[1].ends->side[SIDE_SERVER].has_report = false;
	port_of(s, 2, SIDE_SERVER)->has &= ~(1u << READ_LOAD_AFTER);
	for (unsigned int i = 0; i < SIZES; i++)
		pair_fill_results(&t->run.pair[i]);
	pair_sizes_span(t);
	assert_int_equal(t->run.pair_count, SIZES);

	doc = run_to_json(&t->run);
	if (run_from_json(doc, &back, &e))
		fail_msg("%s", e.text);
	json_decref(doc);
	assert_int_equal(back.pair_count, 3);
	for (unsigned int i = 0; i < back.pair_count; i++) {
		assert_int_equal(back.pair[i].message_bytes, size_bytes[i]);
		assert_int_equal(back.pair[i].ran, i != 1);
		assert_int_equal(back.pair[i].client.messages, 1526);
		assert_int_equal(back.pair[i].client_tos, 104);
		assert_int_equal(back.pair[i].server_host, SIDE_SERVER);
	}
	assert_int_equal(back.host[0].port[0].has, 1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER);
	assert_int_equal(back.host[1].port[0].has, 1u << READ_LOAD_BEFORE);
	assert_int_equal(read_of(&back.host[0].port[0].reading[READ_LOAD_BEFORE], METRIC_TX_BYTES),
			 7);
	assert_int_equal(read_of(&back.host[0].port[0].reading[READ_LOAD_AFTER], METRIC_TX_BYTES),
			 99);
	run_clear(&back);
	free_sizes(s);
}

/* Cut short between two sizes: those that ran are good, and the whole is not. */
static void test_cut(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	struct size_verdicts *v = NULL;
	const json_t *reason;
	json_t *doc, *sum;
	struct err e = {0};

	(void)state;
	make_pair(s);
	make_sizes(s);
	s->t.partial = true;
	snprintf(s->t.why, sizeof(s->t.why), "stopped");
	assert_int_equal(size_verdicts_make(&s->t, &v, &e), 0);
	assert_int_equal(v->verdict, VERDICT_INCONCLUSIVE);
	for (unsigned int i = 0; i < v->count; i++)
		assert_int_equal(v->size[i].v.verdict, VERDICT_PASS);
	doc = pair_to_json(&s->t);
	sum = size_verdicts_to_json(v, json_object_get(doc, "sizes"));
	assert_string_equal(json_string_value(json_object_get(sum, "verdict")), "INCONCLUSIVE");
	assert_int_equal(json_array_size(json_object_get(sum, "reasons")), 1);
	reason = json_array_get(json_object_get(sum, "reasons"), 0);
	assert_string_equal(json_string_value(json_object_get(reason, "reason")), "aborted");
	assert_string_equal(json_string_value(json_object_get(reason, "text")),
			    "the size sweep ended after 3 sizes: stopped");
	json_decref(sum);
	json_decref(doc);
	assert_non_null(find_text(&v->all, "the size sweep ended after 3 sizes: stopped"));
	assert_int_equal(findings_exit(&v->all, SEVERITY_ERROR, NULL, 0), 4);
	size_verdicts_free(v);

	/* Said by the size that was cut; and what is worse stays. */
	s->t.run.pair[2].ends->partial = true;
	put_growth(port_of(s, 0, SIDE_SERVER), METRIC_OUT_OF_SEQUENCE, 0, 1);
	put_growth(port_of(s, 0, SIDE_CLIENT), METRIC_SEQ_NAK_RX, 0, 1);
	assert_int_equal(size_verdicts_make(&s->t, &v, &e), 0);
	assert_int_equal(v->verdict, VERDICT_FAIL);
	assert_true(traffic_verdict_has(&v->size[2].v, REASON_ABORTED));
	assert_int_equal(v->own.findings.count, 0);
	size_verdicts_free(v);
	free_sizes(s);
}

/* The largest numbers a peer may tell: no sum turns over, and nothing is below zero. */
static void test_huge(void **state)
{
	static const char *const keys[] = {"messages", "bytes",	     "goodput_bytes_per_s",
					   "gaps",     "mismatches", "duration_ns"};
	struct scene *s = malloc(sizeof(*s));
	struct pair_size_sum sum;
	char *text = NULL;
	json_t *doc;
	size_t size;
	FILE *out;

	(void)state;
	make_pair(s);
	make_sizes(s);
	for (unsigned int i = 0; i < SIDES; i++) {
		struct traffic_class_result *c = s->result[i];

		s->t.run.pair[0].ends->side[i].report.class_count = 2;
		c[0].messages = c[0].bytes = c[0].gaps = c[0].mismatches = JSON_UINT_MAX;
		c[1] = c[0];
		s->t.run.pair[0].ends->side[i].report.total.duration_ns = 1;
	}
	pair_size_sum(&s->t.run.pair[0], &sum);
	assert_true(sum.bytes == UINT64_MAX && sum.gaps == UINT64_MAX);
	assert_true(sum.bytes_per_s == UINT64_MAX);
	doc = pair_sizes_to_json(&s->t);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_int_t v = json_integer_value(json_object_get(json_array_get(doc, 0), keys[i]));

		if (v != (strcmp(keys[i], "duration_ns") ? INT64_MAX : 1))
			fail_msg("%s: %lld", keys[i], (long long)v);
	}
	json_decref(doc);
	out = open_memstream(&text, &size);
	probe_print_sizes(&s->t, NULL, out);
	fclose(out);
	assert_non_null(strstr(text, " 18446.74 PB/s"));
	free(text);
	free_sizes(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size_list), cmocka_unit_test(test_size_class),
		cmocka_unit_test(test_sizes),	  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_gathered),  cmocka_unit_test(test_huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
