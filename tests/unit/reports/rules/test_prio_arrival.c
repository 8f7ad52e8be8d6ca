/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Four classes at once in the counters by priority of a NIC: each in its own, one elsewhere, two
 * swapped, all in one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "reports/rules/prio_arrival.h"

/* Priorities 0, 3, 4 and 6, each with a volume of its own. */
static const struct prio_volume four[] = {
	{0, 0, 10000000, 2442, 0, 0, 0},
	{3, 26, 40000000, 9766, 1, 0, 0},
	{4, 34, 20000000, 4883, 2, 0, 0},
	{6, 48, 1000000, 1000, 3, 0, 0},
};

static void fill(struct counters *c, enum metric m, const uint64_t there[QOS_PRIOS])
{
	counters_clear(c);
	c->has[m] = 0xff;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		c->value[m][prio] = there[prio];
}

#define R ARRIVAL_RIGHT
#define W ARRIVAL_WRONG
#define U ARRIVAL_UNKNOWN

static const struct {
	const char *name;
	uint64_t there[QOS_PRIOS];
	enum arrival want[4];
	int swapped[2];
	const char *says;
} packets[] = {
	{"right", {2442, 0, 0, 9766, 4883, 0, 1000}, {R, R, R, R}, {-1, -1}, ""},
	{"right, with ACKs and others",
	 {2900, 40, 0, 9900, 5100, 2, 1100, 7},
	 {R, R, R, R},
	 {-1, -1},
	 ""},
	{"read a moment early", {2442, 0, 0, 9700, 4883, 0, 1000}, {R, R, R, R}, {-1, -1}, ""},
	{"3 and 4 swapped",
	 {2442, 0, 0, 4883, 9766, 0, 1000},
	 {R, W, W, R},
	 {3, 4},
	 "priorities 3 and 4 are swapped"},
	{"0 and 6 swapped, with ACKs",
	 {1100, 0, 0, 9800, 4900, 0, 2500},
	 {W, R, R, W},
	 {0, 6},
	 "priorities 0 and 6 are swapped"},
	{"3 in 5",
	 {2442, 0, 0, 0, 4883, 9766, 1000},
	 {R, W, R, R},
	 {-1, -1},
	 "DSCP 26 belongs to priority 3 but is counted in priority 5"},
	{"all in 0", {18091, 0, 0, 0, 0, 0, 0}, {R, W, W, W}, {-1, -1}, "is counted in priority 0"},
	{"a few packets of 3 in 0",
	 {2842, 0, 0, 9366, 4883, 0, 1000},
	 {R, W, R, R},
	 {-1, -1},
	 "counted 9366 of 9766 packets"},
	{"6 in 5, another's traffic in 1",
	 {2442, 5000, 0, 9766, 4883, 1000, 0},
	 {R, R, R, W},
	 {-1, -1},
	 "counted in priority 5"},
	{"nothing counted", {0}, {U, U, U, U}, {-1, -1}, ""},
	{"a tenth counted", {200, 0, 0, 900, 400, 0, 100}, {U, U, U, U}, {-1, -1}, ""},
	{"turned round: 0 in 3, 3 in 4, 4 in 0",
	 {4883, 0, 0, 2442, 9766, 0, 1000},
	 {W, W, W, R},
	 {-1, -1},
	 "DSCP 0 belongs to priority 0 but is counted in priority 3"},
};

static void test_packets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(packets); i++) {
		struct prio_arrival a;
		struct counters c;

		fill(&c, METRIC_PRIO_RX_PACKETS, packets[i].there);
		prio_arrival_check(&c, &c, true, four, ARRAY_SIZE(four), &a);
		assert_int_equal(a.known, packets[i].want[0] != U);
		assert_true(a.packets);
		for (unsigned int k = 0; k < ARRAY_SIZE(four); k++)
			if (a.class[k].arrival != packets[i].want[k] || a.class[k].class != k)
				fail_msg("%s: class %u is %d: %s", packets[i].name, k,
					 a.class[k].arrival, a.text);
		if (a.swapped[0] != packets[i].swapped[0] ||
		    a.swapped[1] != packets[i].swapped[1] ||
		    (packets[i].says[0] ? !strstr(a.text, packets[i].says) : a.text[0]))
			fail_msg("%s: %d %d '%s'", packets[i].name, a.swapped[0], a.swapped[1],
				 a.text);
	}
}

/* A NIC that counts bytes alone, and the sending side. */
static void test_bytes_and_tx(void **state)
{
	static const uint64_t right[QOS_PRIOS] = {10500000, 0, 0, 41000000, 20500000, 0, 1050000};
	static const uint64_t swapped[QOS_PRIOS] = {10500000, 0, 0, 20500000, 41000000, 0, 1050000};
	struct prio_arrival a;
	struct counters c;

	(void)state;
	fill(&c, METRIC_PRIO_TX_BYTES, right);
	prio_arrival_check(&c, &c, false, four, ARRAY_SIZE(four), &a);
	assert_true(a.known && !a.packets);
	assert_string_equal(a.text, "");
	fill(&c, METRIC_PRIO_TX_BYTES, swapped);
	prio_arrival_check(&c, &c, false, four, ARRAY_SIZE(four), &a);
	assert_int_equal(a.swapped[0], 3);
	assert_int_equal(a.swapped[1], 4);
	/* The other side is not counted. */
	prio_arrival_check(&c, &c, true, four, ARRAY_SIZE(four), &a);
	assert_false(a.known);
	assert_int_equal(a.class[1].arrival, ARRIVAL_UNKNOWN);
	assert_string_equal(a.text, "");
}

/* Equal volumes would hide a swap: that is said. Found elsewhere they are wrong all the same. */
static void test_alike(void **state)
{
	static const struct prio_volume two[] = {{3, 26, 0, 5000, 0, 0, 0},
						 {4, 34, 0, 5100, 1, 0, 0}};
	static const uint64_t there[QOS_PRIOS] = {0, 0, 0, 5000, 5100};
	static const uint64_t elsewhere[QOS_PRIOS] = {0, 0, 0, 5000, 0, 5100};
	struct prio_arrival a;
	struct counters c;

	(void)state;
	fill(&c, METRIC_PRIO_RX_PACKETS, there);
	prio_arrival_check(&c, &c, true, two, 2, &a);
	assert_int_equal(a.class[0].arrival, ARRIVAL_RIGHT);
	assert_non_null(strstr(a.text, "cannot be detected"));
	fill(&c, METRIC_PRIO_RX_PACKETS, elsewhere);
	prio_arrival_check(&c, &c, true, two, 2, &a);
	assert_int_equal(a.class[1].arrival, ARRIVAL_WRONG);
	assert_int_equal(a.class[1].found, 5);
}

/* Classes of one priority are judged together; one whose priority is not known is not. */
static void test_together(void **state)
{
	static const struct prio_volume flows[] = {{3, 26, 0, 1000, 0, 0, 0},
						   {3, 27, 0, 3000, 1, 0, 0},
						   {-1, 8, 0, 500, 2, 0, 0},
						   {8, 8, 0, 500, 3, 0, 0},
						   {5, 40, 0, 0, 4, 0, 0}};
	static const uint64_t there[QOS_PRIOS] = {500, 0, 0, 4000};
	static const uint64_t half[QOS_PRIOS] = {1500, 0, 0, 3000};
	struct prio_arrival a;
	struct counters c;

	(void)state;
	fill(&c, METRIC_PRIO_RX_PACKETS, there);
	prio_arrival_check(&c, &c, true, flows, ARRAY_SIZE(flows), &a);
	assert_int_equal(a.class[0].arrival, ARRIVAL_RIGHT);
	assert_int_equal(a.class[1].arrival, ARRIVAL_RIGHT);
	for (unsigned int i = 2; i < 5; i++)
		assert_int_equal(a.class[i].arrival, ARRIVAL_UNKNOWN);
	fill(&c, METRIC_PRIO_RX_PACKETS, half);
	prio_arrival_check(&c, &c, true, flows, ARRAY_SIZE(flows), &a);
	assert_int_equal(a.class[0].arrival, ARRIVAL_WRONG);
}

/* A small class fits into the acknowledgements and credits of a large one, which has its place. */
static void test_beside(void **state)
{
	static const struct prio_volume flows[] = {{3, 26, 3014656, 736, 0, 50000, 221},
						   {0, 0, 1507328, 368, 1, 0, 0},
						   {6, 48, 786432, 192, 2, 0, 0},
						   {4, 34, 2293760, 560, 3, 0, 0}};
	static const uint64_t swapped[QOS_PRIOS] = {394, 0, 0, 192, 560, 0, 957};
	static const uint64_t right[QOS_PRIOS] = {394, 0, 0, 957, 560, 0, 192};
	/* Fewer of them than there may be: nothing is missed for it. */
	static const uint64_t few[QOS_PRIOS] = {394, 0, 0, 740, 560, 0, 192};
	struct prio_arrival a;
	struct counters c;

	(void)state;
	fill(&c, METRIC_PRIO_RX_PACKETS, swapped);
	prio_arrival_check(&c, &c, true, flows, ARRAY_SIZE(flows), &a);
	assert_string_equal(a.text,
			    "priorities 3 and 6 are swapped: each counts the other's traffic");
	fill(&c, METRIC_PRIO_RX_PACKETS, right);
	prio_arrival_check(&c, &c, true, flows, ARRAY_SIZE(flows), &a);
	assert_string_equal(a.text, "");
	fill(&c, METRIC_PRIO_RX_PACKETS, few);
	prio_arrival_check(&c, &c, true, flows, ARRAY_SIZE(flows), &a);
	assert_string_equal(a.text, "");
}

/* Priorities 0 and 3 with what the baseline makes expect taken out, and with it. */
static const struct {
	const char *name;
	uint64_t net[2], whole[2];
	enum arrival want;
	int found;
} estimates[] = {
	{"as much as expected", {479, 0}, {527, 40}, R, 0},
	{"less than expected", {473, 0}, {521, 40}, R, 0},
	{"much less, and nowhere else", {300, 0}, {500, 100}, R, 0},
	{"too little to be told", {100, 0}, {500, 100}, U, -1},
	{"short with all of it", {400, 79}, {420, 79}, W, -1},
	{"others were as many, and it is elsewhere", {20, 480}, {900, 500}, W, 3},
	{"a few missing, others elsewhere", {470, 600}, {518, 640}, R, 0},
};

static void test_estimates(void **state)
{
	static const struct prio_volume flow = {0, 0, 0, 479, 0, 0, 0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(estimates); i++) {
		const uint64_t *n = estimates[i].net, *w = estimates[i].whole;
		struct counters net, whole;
		struct prio_arrival a;

		fill(&net, METRIC_PRIO_RX_PACKETS, (uint64_t[QOS_PRIOS]){n[0], 0, 0, n[1]});
		fill(&whole, METRIC_PRIO_RX_PACKETS, (uint64_t[QOS_PRIOS]){w[0], 0, 0, w[1]});
		prio_arrival_check(&net, &whole, true, &flow, 1, &a);
		if (a.class[0].arrival != estimates[i].want ||
		    a.class[0].found != estimates[i].found)
			fail_msg("%s: %d, %d: %s", estimates[i].name, a.class[0].arrival,
				 a.class[0].found, a.text);
	}
}

static void test_count_of_packets(void **state)
{
	(void)state;
	assert_int_equal(prio_packets(10, 65536, 4096), 160);
	assert_int_equal(prio_packets(10, 65537, 4096), 170);
	assert_int_equal(prio_packets(10, 64, 4096), 10);
	assert_int_equal(prio_packets(10, 0, 4096), 10);
	assert_int_equal(prio_packets(10, 64, 0), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),		 cmocka_unit_test(test_bytes_and_tx),
		cmocka_unit_test(test_beside),		 cmocka_unit_test(test_alike),
		cmocka_unit_test(test_together),	 cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_count_of_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
