/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Baselines out of journals. A repair's transaction may leave drift that it must not touch, so its
 * folder holds a file "repair" and it is passed over; what it put back is in an older one.
 */
#include "dcb/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int tx_path(const char *state_dir, const char *id, const char *file, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/tx/%s/%s", state_dir, id, file);

	return n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static bool is_repair(const char *state_dir, const char *id)
{
	char path[PATH_MAX];

	return !tx_path(state_dir, id, "repair", path) && !access(path, F_OK);
}

static const struct tx_port *port_of(const struct tx *tx, const char *ifname)
{
	for (unsigned int i = 0; i < tx->port_count; i++)
		if (tx->port[i].has_after && !strcmp(tx->port[i].ifname, ifname))
			return &tx->port[i];
	return NULL;
}

/* What has to be confirmed and was not may be gone at any moment. */
static bool stands(const struct tx *tx)
{
	return !tx->confirm_within_s || tx->confirmed;
}

int baseline_find(const char *state_dir, const char *ifname, struct qos *q, char id[JOURNAL_ID_MAX],
		  struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	const struct tx_port *p = NULL;
	unsigned int n;
	int err = journal_list(state_dir, &ids, &n, e);

	while (!err && !p && n) {
		struct tx tx;

		if (is_repair(state_dir, ids[--n]))
			continue;
		/* One that cannot be read says nothing of the others. */
		if (journal_load(state_dir, ids[n], &tx, NULL))
			continue;
		p = tx.state == TX_DONE && stands(&tx) ? port_of(&tx, ifname) : NULL;
		if (p) {
			*q = p->after;
			memcpy(id, tx.id, JOURNAL_ID_MAX);
		}
		tx_clear(&tx);
	}
	free(ids);
	if (!err && !p)
		err = err_set(e, -ENOENT, "%s: no confirmed transaction in %s", ifname, state_dir);
	return err;
}

uint64_t baseline_stamp(const char *state_dir)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL, path[PATH_MAX];
	uint64_t hash = FNV1A_START;
	unsigned int n = 0, i;
	struct stat st;

	if (journal_list(state_dir, &ids, &n, NULL))
		return 0;
	for (i = 0; i < n; i++) {
		if (tx_path(state_dir, ids[i], "journal", path) || stat(path, &st))
			continue;
		hash = fnv1a(hash, ids[i], strlen(ids[i]));
		hash = fnv1a(hash, &st.st_size, sizeof(st.st_size));
		hash = fnv1a(hash, &st.st_mtim, sizeof(st.st_mtim));
	}
	free(ids);
	return n ? hash : 0;
}

/*
 * 1: FLOCK  ADVISORY  WRITE 812 fe:01:1835 0 EOF
 * Device numbers are hexadecimal, the inode is decimal.
 */
static pid_t holder(const char *line, const struct stat *st)
{
	unsigned int major_no, minor_no;
	unsigned long long inode;
	int pid;

	if (sscanf(line, "%*[^:]: FLOCK %*s WRITE %d %x:%x:%llu", &pid, &major_no, &minor_no,
		   &inode) != 4)
		return 0;
	if (major_no != major(st->st_dev) || minor_no != minor(st->st_dev) || inode != st->st_ino)
		return 0;
	return pid;
}

pid_t baseline_busy(const char *proc, const char *state_dir)
{
	char path[PATH_MAX], line[256];
	struct stat st;
	pid_t pid = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/lock", state_dir) >= (int)sizeof(path) ||
	    stat(path, &st))
		return 0;
	snprintf(path, sizeof(path), "%s/locks", proc ? proc : "/proc");
	f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		pid = holder(line, &st);
	if (f)
		fclose(f);
	return pid;
}

int baseline_mark_repair(const char *state_dir, const char *id, struct err *e)
{
	char path[PATH_MAX];
	int fd, err = tx_path(state_dir, id, "repair", path);

	if (err)
		return err_sys(e, err, "%s", state_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	if (fsync(fd) < 0)
		err = err_sys(e, -errno, "%s", path);
	close(fd);
	return err;
}
