/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads baselines out of journals. The transaction of a repair is skipped (its folder has a file
 * "repair"), because it may leave drift that it must not touch; an older one is the baseline.
 */
#include "dcb/drift/drift_baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/apply/journal.h"

#define REPAIR "repair"

static bool baseline_has_file(const struct state *s, const char *id, const char *file,
			      struct stat *st)
{
	struct folder folder;
	bool there;

	if (folder_find(&s->tx, id, &folder, NULL))
		return false;
	there = !fstatat(folder.fd, file, st, AT_SYMLINK_NOFOLLOW);
	folder_close(&folder);
	return there;
}

static bool baseline_is_repair(const struct state *s, const char *id)
{
	struct stat st;

	return baseline_has_file(s, id, REPAIR, &st);
}

static const struct tx_port *baseline_port_of(const struct tx *tx, const char *ifname)
{
	for (unsigned int i = 0; i < tx->port_count; i++)
		if (tx->port[i].has_after && !strcmp(tx->port[i].ifname, ifname))
			return &tx->port[i];
	return NULL;
}

/* A transaction that waits for its confirmation is no baseline: it may be undone at any moment. */
static bool baseline_tx_stands(const struct tx *tx)
{
	return !tx->confirm_within_s || tx->confirmed;
}

static const struct tx_port *baseline_find_in_tx(const struct state *s, const char *id,
						 const char *ifname, struct tx *tx)
{
	/* Skips unreadable journals. */
	if (baseline_is_repair(s, id) || journal_read(s, id, tx, NULL) || tx->state != TX_DONE ||
	    !baseline_tx_stands(tx))
		return NULL;
	return baseline_port_of(tx, ifname);
}

int baseline_find(const struct state_at *at, const char *ifname, struct qos *q,
		  char id[JOURNAL_ID_MAX], struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	const struct tx_port *p = NULL;
	unsigned int n = 0;
	struct state s = {0};
	int err = state_open(at, &s, e);

	if (!err)
		err = journal_ids(&s, &ids, &n, e);
	while (!err && !p && n) {
		struct tx tx = {0};

		p = baseline_find_in_tx(&s, ids[--n], ifname, &tx);
		if (p) {
			*q = p->after;
			memcpy(id, tx.id, JOURNAL_ID_MAX);
		}
		tx_clear(&tx);
	}
	free(ids);
	state_close(&s);
	if (err == -ENOENT || (!err && !p))
		err = err_set(e, -ENOENT, "%s: no confirmed transaction in %s", ifname, at->dir);
	return err;
}

uint64_t baseline_stamp(const struct state_at *at)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	uint64_t hash = FNV1A_START;
	unsigned int n = 0;
	struct state s;
	struct stat st;

	if (state_open(at, &s, NULL))
		return 0;
	if (journal_ids(&s, &ids, &n, NULL))
		n = 0;
	for (unsigned int i = 0; i < n; i++) {
		if (!baseline_has_file(&s, ids[i], JOURNAL_FILE, &st))
			continue;
		hash = fnv1a(hash, ids[i], strlen(ids[i]));
		hash = fnv1a(hash, &st.st_size, sizeof(st.st_size));
		hash = fnv1a(hash, &st.st_mtim, sizeof(st.st_mtim));
	}
	free(ids);
	state_close(&s);
	return n ? hash : 0;
}

int baseline_mark_repair(const struct state_at *at, const char *id, struct err *e)
{
	struct folder folder;
	struct state s;
	int err = state_open(at, &s, e);

	if (err)
		return err;
	err = s.tx.path ? folder_find(&s.tx, id, &folder, e)
			: err_sys(e, -ENOENT, "%s/tx", at->dir);
	if (!err) {
		err = file_write_in(&folder, REPAIR, FILE_PRIVATE, "", 0, e);
		folder_close(&folder);
	}
	state_close(&s);
	return err;
}
