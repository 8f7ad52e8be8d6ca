/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A clean run of traffic as a verdict is made of it, what changes in it, and what is expected of
 * the verdict then.
 */
#ifndef TESTS_UNIT_VERDICT_SCENE_H
#define TESTS_UNIT_VERDICT_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reports/traffic/traffic_verdict.h"
#include "tests/unit/fixture/reasons.h"

#define S  UINT64_C(1000000000)
#define MB UINT64_C(1000000)

/* Two hosts, one class from h1 to h2. Pointers stay inside. */
struct scene {
	struct run_port end[3];
	struct verdict_end ends[3];
	struct traffic_spec spec;
	struct traffic_report report[2];
	struct traffic_class_result result[2][2];
	struct traffic_tcp_result tcp[2];
	struct prio_arrival arrival;
	const struct prio_arrival *arrivals[3];
	struct verdict_pair pair;
	struct verdict_input in;
	struct traffic_verdict v;
};

void put_value(struct run_port *o, enum metric m, unsigned int prio, uint64_t value);

/* Growth under load. */
void grow_by(struct run_port *o, enum metric m, unsigned int prio, uint64_t by);
void make_end(struct run_port *o, bool soft);

/* 100 MB in ten seconds, steadily. */
void make_result(struct traffic_class_result *r, bool requester);
void make_scene(struct scene *s, enum traffic_mode mode, bool soft);

/* Its findings live until the next call. */
void judge(struct scene *s);
const char *all_reasons(const struct traffic_verdict *v);

/* The reason is the first of its verdict and the only one as grave. */
void expect(const char *name, const struct traffic_verdict *v, enum verdict want, int reason,
	    const char *says);

#define NO_REASON (-1)

/* What one of the ends, or the wire, does; the rest is a clean run. */
struct fault_row {
	const char *name;
	enum traffic_mode mode;
	bool soft;
	void (*change)(struct scene *s);
	enum verdict want;
	int reason;
	const char *says;
};

struct fault_table {
	const struct fault_row *row;
	size_t count;
};

#define OBSERVE TRAFFIC_OBSERVE
#define SOFT	true
#define DEVICE	false

/* Fails unless everything that expect() was given so far, its verdict and all reasons in words, is
 * what the file has. With GOLDEN_UPDATE in the environment the file is written instead. */
void expect_frozen(const char *path);

void run_fault(const struct fault_row *row, struct scene *s);

#endif
