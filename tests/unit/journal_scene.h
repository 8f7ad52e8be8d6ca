/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Journals of a test, in a state folder that is its run folder, too.
 */
#ifndef TESTS_UNIT_JOURNAL_SCENE_H
#define TESTS_UNIT_JOURNAL_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/apply/journal.h"

#define AT(dir) (&(const struct state_at){(dir), (dir)})

static inline int load_tx(const char *dir, const char *id, struct tx *tx, struct err *e)
{
	struct state s;
	int err = state_open(AT(dir), &s, e);

	memset(tx, 0, sizeof(*tx));
	if (err)
		return err;
	err = journal_read(&s, id, tx, e);
	state_close(&s);
	return err;
}

static inline int newest_tx(const char *dir, struct tx *tx, struct err *e)
{
	struct state s;
	int err = state_open(AT(dir), &s, e);

	memset(tx, 0, sizeof(*tx));
	if (err)
		return err;
	err = journal_newest(&s, tx, e);
	state_close(&s);
	return err;
}

static inline int list_txs(const char *dir, char (**ids)[JOURNAL_ID_MAX], unsigned int *n,
			   struct err *e)
{
	struct state s;
	int err = state_open(AT(dir), &s, e);

	if (err)
		return err;
	err = journal_ids(&s, ids, n, e);
	state_close(&s);
	return err;
}

/* The id of the only transaction. */
static inline void only_tx(const char *dir, char id[JOURNAL_ID_MAX])
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n;

	assert_int_equal(list_txs(dir, &ids, &n, NULL), 0);
	assert_int_equal(n, 1);
	memcpy(id, ids[0], JOURNAL_ID_MAX);
	free(ids);
}

/* Records a transaction with its ports, which writes their MTU, and how it ended. */
static inline void record_tx(const char *dir, struct tx *tx, enum tx_state end)
{
	struct tx_step step = {.fields = QOS_BIT(QOS_MTU),
			       .to = {.has = QOS_BIT(QOS_MTU), .mtu = 9000}};
	struct state s;

	tx->step = &step;
	tx->step_count = 1;
	assert_int_equal(state_make(AT(dir), &s, NULL), 0);
	assert_int_equal(journal_make(&s, tx, NULL), 0);
	tx->state = end;
	if (end != TX_RUNNING)
		assert_int_equal(journal_append(&s, tx, NULL), 0);
	state_close(&s);
}

static inline void end_tx(const char *dir, const char *id, enum tx_state end)
{
	struct state s;
	struct tx tx;

	assert_int_equal(state_open(AT(dir), &s, NULL), 0);
	assert_int_equal(journal_read(&s, id, &tx, NULL), 0);
	tx.state = end;
	assert_int_equal(journal_append(&s, &tx, NULL), 0);
	tx_clear(&tx);
	state_close(&s);
}

static inline int lock_host(const char *dir, int *lock, struct err *e)
{
	return state_lock(AT(dir), STATE_LOCK, 0, lock, e);
}

#endif
