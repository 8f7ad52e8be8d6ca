/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the journal: every line is one write(2) and one fsync(2), and directories are synced when
 * names appear in them. Reading is in journal_read.c, undoing in rollback.c.
 */
#include "dcb/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dcb/folder.h"

#define ID_TRIES 100

struct journal {
	int fd;
	unsigned int guard_s; /* to be confirmed within */
	char id[JOURNAL_ID_MAX];
};

static int make_dir(const char *path, struct err *e)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_sys(e, -errno, "%s", path);
	return 0;
}

static int make_state_dir(const char *state_dir, struct err *e)
{
	char tx[PATH_MAX];
	int err = make_dir(state_dir, e);

	if (err)
		return err;
	if (snprintf(tx, sizeof(tx), "%s/tx", state_dir) >= (int)sizeof(tx))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	err = make_dir(tx, e);
	if (!err && folder_sync(state_dir))
		err = err_sys(e, -EIO, "%s", state_dir);
	return err;
}

int journal_lock(const char *state_dir, int *fd, struct err *e)
{
	char path[PATH_MAX];
	int err = make_state_dir(state_dir, e), lock;

	if (err)
		return err;
	if (snprintf(path, sizeof(path), "%s/lock", state_dir) >= (int)sizeof(path))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (lock < 0) {
		err = err_sys(e, -errno, "%s", path);
		if (err == -EACCES || err == -EPERM)
			err_hint(e, "run as root");
		return err;
	}
	if (!flock(lock, LOCK_EX | LOCK_NB)) {
		*fd = lock;
		return 0;
	}
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(lock);
	if (err == -EBUSY)
		return err_set(e, err, "%s: another apply or rollback is running", path);
	return err_sys(e, err, "%s", path);
}

/* Appends one line and waits until it is on disk. Takes the reference; NULL is -ENOMEM. A part of a
 * line is taken away again: what is appended later must start a line. */
static int append(struct journal *j, json_t *line, struct err *e)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
	int err = text ? 0 : -ENOMEM;
	off_t begin = lseek(j->fd, 0, SEEK_END);
	size_t size = 0, done = 0;

	json_decref(line);
	if (text) {
		size = strlen(text);
		text[size++] = '\n'; /* in the place of the terminator: text is not read on */
	}
	while (!err && done < size) {
		ssize_t n = write(j->fd, text + done, size - done);

		if (n < 0 && errno != EINTR)
			err = -errno;
		else if (n > 0)
			done += n;
	}
	if (err && done && begin >= 0 && ftruncate(j->fd, begin) < 0)
		err = -errno;
	if (!err && fsync(j->fd) < 0)
		err = -errno;
	free(text);
	return err ? err_sys(e, err, "journal of transaction %s", j->id) : 0;
}

static json_t *port_to_json(const struct tx_port *p)
{
	json_t *j = json_pack("{s:s, s:s, s:i, s:s, s:o}", "netdev", p->ifname, "ibdev", p->ibdev,
			      "ib_port", (int)p->ib_port, "driver", p->driver, "before",
			      qos_to_json(&p->before));

	if (!j || p->agent == DCB_AGENT_NONE)
		return j;
	if (!json_object_set_new(j, "agent", json_string(dcb_agent_word(p->agent))) &&
	    !json_object_set_new(j, "live", qos_to_json(&p->live)))
		return j;
	json_decref(j);
	return NULL;
}

static json_t *header_to_json(const struct tx *tx)
{
	json_t *ports = json_array();
	int err = ports ? 0 : -1;

	for (unsigned int i = 0; !err && i < tx->port_count; i++)
		err = json_array_append_new(ports, port_to_json(&tx->port[i]));
	if (!err)
		return json_pack("{s:s, s:s, s:s, s:o}", "schema", JOURNAL_SCHEMA, "id", tx->id,
				 "time", tx->time, "ports", ports);
	json_decref(ports);
	return NULL;
}

/* A new folder for the transaction, named after the time; more in one second get a suffix. */
static int make_id(const char *state_dir, struct tx *tx, char *path, size_t size, struct err *e)
{
	time_t now = time(NULL);
	struct tm tm;
	int n;

	gmtime_r(&now, &tm);
	strftime(tx->time, sizeof(tx->time), "%Y-%m-%dT%H:%M:%SZ", &tm);
	for (unsigned int try = 0; try < ID_TRIES; try++) {
		n = strftime(tx->id, sizeof(tx->id), "%Y%m%d-%H%M%S", &tm);
		snprintf(tx->id + n, sizeof(tx->id) - n, "-%02u", try);
		if (snprintf(path, size, "%s/tx/%s", state_dir, tx->id) >= (int)size)
			return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
		if (!mkdir(path, 0755))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return err_sys(e, -errno, "%s", path);
}

static bool same_qos(const struct qos *a, const struct qos *b)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (qos_has(a, id) && !qos_field_equal(a, b, id))
			return false;
	return a->has == b->has;
}

static int same_ports(const struct tx *a, const struct tx *b)
{
	if (a->port_count != b->port_count)
		return -EIO;
	for (unsigned int i = 0; i < a->port_count; i++) {
		const struct tx_port *p = &a->port[i], *q = &b->port[i];

		if (strcmp(p->ifname, q->ifname) || p->agent != q->agent ||
		    !same_qos(&p->before, &q->before) || !same_qos(&p->live, &q->live))
			return -EIO;
	}
	return 0;
}

static int verify(const char *state_dir, const struct tx *tx, struct err *e)
{
	struct tx read = {0};
	int err = journal_load(state_dir, tx->id, &read, e);

	if (!err) {
		err = same_ports(tx, &read);
		if (err)
			err_set(e, err,
				"transaction %s: its journal does not hold the former values",
				tx->id);
	}
	tx_clear(&read);
	return err;
}

static int open_at(const char *dir, int flags, const char *id, struct journal **j, struct err *e)
{
	struct journal *n = calloc(1, sizeof(*n));
	char path[PATH_MAX + 16];
	int err;

	if (!n)
		return err_sys(e, -ENOMEM, "journal");
	snprintf(n->id, sizeof(n->id), "%s", id);
	snprintf(path, sizeof(path), "%s/journal", dir);
	n->fd = open(path, flags | O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (n->fd < 0) {
		err = err_sys(e, -errno, "%s", path);
		free(n);
		return err;
	}
	*j = n;
	return 0;
}

/* Of a transaction that never began: a full disk must not leave an empty one to be listed. */
static void journal_remove(const char *dir)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/journal", dir);
	(void)unlink(path); /* what stays is listed as empty, and harmless */
	(void)rmdir(dir);
}

int journal_create(const char *state_dir, struct tx *tx, struct journal **j, struct err *e)
{
	struct journal *n;
	char dir[PATH_MAX], parent[PATH_MAX];
	int err = make_id(state_dir, tx, dir, sizeof(dir), e);

	if (err)
		return err;
	err = open_at(dir, O_CREAT | O_EXCL, tx->id, &n, e);
	if (err) {
		journal_remove(dir);
		return err;
	}
	err = append(n, header_to_json(tx), e);
	snprintf(parent, sizeof(parent), "%s/tx", state_dir);
	if (!err && (folder_sync(dir) || folder_sync(parent)))
		err = err_sys(e, -EIO, "%s", dir);
	if (!err)
		err = verify(state_dir, tx, e);
	if (err) {
		journal_close(n);
		journal_remove(dir);
		return err;
	}
	tx->state = TX_PREPARED;
	*j = n;
	return 0;
}

/* Takes a last line away that its writer did not finish, so that the next one starts a line. */
static int drop_torn_line(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char c;

	if (end < 0)
		return -errno;
	for (; end > 0; end--) {
		if (pread(fd, &c, 1, end - 1) != 1)
			return -EIO;
		if (c == '\n')
			break;
	}
	return ftruncate(fd, end) < 0 ? -errno : 0;
}

int journal_open(const char *state_dir, const char *id, struct journal **j, struct err *e)
{
	struct journal *n;
	char dir[PATH_MAX];
	int err;

	if (snprintf(dir, sizeof(dir), "%s/tx/%s", state_dir, id) >= (int)sizeof(dir))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	err = open_at(dir, 0, id, &n, e);
	if (err)
		return err;
	err = drop_torn_line(n->fd);
	if (err) {
		journal_close(n);
		return err_sys(e, err, "%s/journal", dir);
	}
	*j = n;
	return 0;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	close(j->fd);
	free(j);
}

int journal_reveal(struct journal *j, unsigned int port, struct err *e)
{
	return append(j, json_pack("{s:i}", "reveal", (int)port), e);
}

int journal_before(struct journal *j, unsigned int port, const struct qos *before, struct err *e)
{
	return append(j, json_pack("{s:i, s:o}", "before", (int)port, "qos", qos_to_json(before)),
		      e);
}

int journal_step(struct journal *j, unsigned int port, uint64_t fields, struct err *e)
{
	return append(
		j, json_pack("{s:i, s:o}", "step", (int)port, "fields", qos_keys_json(fields)), e);
}

int journal_guard(struct journal *j, unsigned int seconds, struct err *e)
{
	int err = append(j, json_pack("{s:i}", "guard", (int)seconds), e);

	if (!err)
		j->guard_s = seconds;
	return err;
}

uint64_t journal_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until when, on the clock of this boot. */
static int add_deadline(const struct journal *j, json_t *line)
{
	uint64_t by = journal_clock_ms() + (uint64_t)j->guard_s * 1000;
	char boot[JOURNAL_BOOT_MAX];

	journal_boot_id(boot);
	return json_object_update_new(
		line, json_pack("{s:I, s:s}", "confirm_by", (json_int_t)by, "boot", boot));
}

int journal_end(struct journal *j, enum tx_state state, const struct tx_port *port,
		unsigned int ports, struct err *e)
{
	json_t *after = json_array(), *line;
	int err = after ? 0 : -1;

	for (unsigned int i = 0; !err && i < ports; i++)
		err = json_array_append_new(after, qos_to_json(&port[i].after));
	if (err) {
		json_decref(after);
		return err_sys(e, -ENOMEM, "journal of transaction %s", j->id);
	}
	line = json_pack("{s:s, s:o}", "state", tx_state_word(state), "after", after);
	if (line && state == TX_DONE && j->guard_s && add_deadline(j, line)) {
		json_decref(line);
		line = NULL;
	}
	return append(j, line, e);
}

static int confirm(const char *state_dir, const struct tx *tx, struct err *e)
{
	struct journal *j;
	int err = journal_open(state_dir, tx->id, &j, e);

	if (err)
		return err;
	err = append(j, json_pack("{s:b}", "confirmed", 1), e);
	journal_close(j);
	return err;
}

/* Why a transaction is none to confirm. */
static int check_confirmable(const struct tx *tx, struct err *e)
{
	if (tx->state != TX_DONE)
		return err_set(e, -ECANCELED, "transaction %s is %s, there is nothing to confirm",
			       tx->id, tx_state_word(tx->state));
	if (tx->confirmed)
		return err_set(e, -EALREADY, "transaction %s was confirmed before", tx->id);
	if (!tx->confirm_within_s)
		return err_set(e, -EALREADY, "transaction %s stands without confirmation", tx->id);
	return 0;
}

static int find_waiting(const char *state_dir, const char *id, struct tx *tx, struct err *e)
{
	int err = id ? journal_load(state_dir, id, tx, e) : journal_newest(state_dir, tx, e);

	if (err != -ENOENT || id)
		return err;
	return err_set(e, -ENOENT, "no transaction waits for confirmation");
}

int journal_confirm(const char *state_dir, const char *id, struct tx *tx, struct err *e)
{
	int lock, err;

	memset(tx, 0, sizeof(*tx));
	if (access(state_dir, F_OK) && errno == ENOENT)
		return err_set(e, -ENOENT, "no transaction waits for confirmation");
	err = journal_lock(state_dir, &lock, e);
	if (err)
		return err;
	err = find_waiting(state_dir, id, tx, e);
	if (!err)
		err = check_confirmable(tx, e);
	if (!err)
		err = confirm(state_dir, tx, e);
	close(lock);
	return err;
}
