/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verdict_echoes.h declares.
 */
#include "tests/unit/reports/traffic/verdict_echoes.h"

/* A marking echo beside it. */
static void echo_found(struct scene *s, struct marking_finding f)
{
	static struct marking_finding found;
	static struct run_marking marking = {.finding = &found, .finding_count = 1};

	found = f;
	s->pair.echo = &marking;
}

static void echo_dscp(struct scene *s)
{
	echo_found(s, (struct marking_finding){.kind = MARKING_DSCP,
					       .direction = MARKING_REVERSE,
					       .from = 26,
					       .count = 64,
					       .of = 64,
					       .ports = 4,
					       .ports_of = 4});
}

static void echo_ect(struct scene *s)
{
	echo_found(s, (struct marking_finding){
			      .kind = MARKING_ECT_CLEARED, .from = 2, .count = 1, .of = 64});
}

static void echo_ce(struct scene *s)
{
	echo_found(s, (struct marking_finding){
			      .kind = MARKING_CE, .from = 2, .to = 3, .count = 1, .of = 64});
}

static void echo_lost(struct scene *s)
{
	echo_found(s, (struct marking_finding){.kind = MARKING_LOST,
					       .count = 16,
					       .of = 64,
					       .ports = 1,
					       .ports_of = 4,
					       .whole = 1,
					       .named = {0xc03e}});
}

static void echo_deaf(struct scene *s)
{
	echo_found(s, (struct marking_finding){.kind = MARKING_BLACKHOLE, .count = 64, .of = 64});
}

static void echo_wrong(struct scene *s)
{
	echo_found(s, (struct marking_finding){.kind = MARKING_WRONG, .count = 1, .of = 64});
}

static void echo_mtu(struct scene *s)
{
	echo_found(s, (struct marking_finding){
			      .kind = MARKING_MTU, .bytes = 1024, .expected_bytes = 4096});
}

static void echo_unread(struct scene *s)
{
	echo_found(s, (struct marking_finding){.kind = MARKING_UNREAD, .count = 64, .of = 64});
}

static void echo_failed(struct scene *s)
{
	s->pair.echo_failed = "h2: lost";
}

/* clang-format off */
static const struct fault_row rows[] = {
	{"DSCP rewritten", OBSERVE, SOFT, echo_dscp, VERDICT_FAIL, REASON_REMARKED, "DSCP 26 arrives as 0"},
	{"ECT cleared", OBSERVE, SOFT, echo_ect, VERDICT_FAIL, REASON_REMARKED, "Not-ECT"},
	{"CE while idle", OBSERVE, SOFT, echo_ce, VERDICT_WARN, REASON_CE_IDLE, "as CE"},
	{"a source port loses", OBSERVE, SOFT, echo_lost, VERDICT_FAIL, REASON_DATAGRAMS_LOST, "all their datagrams: 0xc03e"},
	{"datagrams do not arrive", OBSERVE, SOFT, echo_deaf, VERDICT_FAIL, REASON_DATAGRAMS_LOST, "nothing arrives"},
	{"datagrams are wrong", OBSERVE, SOFT, echo_wrong, VERDICT_FAIL, REASON_WRONG_DATA, "1 of 64"},
	{"path MTU", OBSERVE, SOFT, echo_mtu, VERDICT_FAIL, REASON_PATH_MTU, "1024"},
	{"no IP header", OBSERVE, SOFT, echo_unread, VERDICT_INCONCLUSIVE, REASON_UNSEEN, "no IP header"},
	{"no marking echo", OBSERVE, SOFT, echo_failed, VERDICT_INCONCLUSIVE, REASON_UNSEEN, "h2: lost"},
};
/* clang-format on */

const struct fault_table echo_faults = {rows, ARRAY_SIZE(rows)};
