/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pair of traffic ends in one process, over the verbs of fake_verbs.h.
 */
#ifndef TESTS_TRAFFIC_PAIR_H
#define TESTS_TRAFFIC_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe/traffic/traffic.h"
#include "tests/unit/fixture/fake_objects.h"

struct end {
	struct traffic_spec spec;
	struct traffic *traffic;
	struct traffic_report report;
	atomic_int stop;
	int err;
};

struct pair {
	struct end client, server;
};

/* What each tells the other goes to self; the first error, told in e. */
int open_ends(struct pair *p, struct traffic_endpoint self[2], struct err *e);

/* Opens and connects both ends by raw verbs. */
int try_pair(struct pair *p, struct err *e);
void open_pair(struct pair *p);

/* A pair that is open. */
void go_pair(struct pair *p);
void run_pair(struct pair *p);
void close_pair(struct pair *p);

/* One class on both ends, so many messages of each QP. */
struct pair pair_of(struct traffic_class class, enum traffic_mode mode);

extern const struct traffic_class base;

void expect_clean(const struct pair *p, const char *what);

/* Messages that moved forward and backward, at both ends. */
void expect_moved(const struct pair *p, const char *what);

#endif
