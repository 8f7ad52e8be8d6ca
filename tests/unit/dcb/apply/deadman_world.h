/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transactions to be confirmed over a machine in memory that the test shares with its children and
 * with the dead-men they start.
 */
#ifndef TESTS_UNIT_DEADMAN_WORLD_H
#define TESTS_UNIT_DEADMAN_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/apply/plan_apply.h"
#include "tests/unit/fixture/fake_machine.h"
#include "tests/unit/fixture/journal_scene.h"

#define END_TIMEOUT_MS 30000

/* The one machine of this process and of the dead-men it starts. */
extern struct fake_machine *machine;

extern char home[32];

int open_fake(struct dcb **dcb, struct err *e);
int set_up(void **state);

/* deadman: NULL, or for the one that asks the dead-man later. */
int apply_guarded(unsigned int seconds, char id[JOURNAL_ID_MAX],
		  int (*open)(struct dcb **dcb, struct err *e), struct deadman **deadman,
		  struct err *e);
int apply_within(unsigned int seconds, char id[JOURNAL_ID_MAX],
		 int (*open)(struct dcb **dcb, struct err *e), struct err *e);
enum tx_state state_of(const char *id);

/* The journal says so, within what is patience on a busy machine. */
bool becomes(const char *id, enum tx_state state);

/* The machine is as before, whatever the journal says. */
bool comes_back(void);
void journal_of(const char *id, char path[160]);

/* The dead-men of this test: they have its folder open. */
unsigned int signal_deadmen(int number);
int tear_down(void **state);

#endif
