/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the journal: every line is one write(2) and one fsync(2), and directories are synced when
 * names appear in them. Reading is in journal_read.c, undoing in rollback.c.
 */
#include "dcb/apply/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dcb/apply/journal_in.h"

#define ID_TRIES 100

struct journal {
	int fd;
	unsigned int guard_s; /* to be confirmed within */
	uint64_t confirm_by_ms;
	char id[JOURNAL_ID_MAX];
};

int journal_lock(const char *state_dir, int *fd, struct err *e)
{
	struct state s;
	int err = state_make(state_dir, &s, e);

	if (err)
		return err;
	err = state_lock(&s.dir, 0, fd, e);
	state_close(&s);
	return err;
}

/* Takes away what an append left that failed: its caller acts as if the line were not there, and so
 * must those who read it. Not where somebody else has appended behind it. */
static void take_back(int fd, off_t begin, size_t done)
{
	struct stat st;

	if (!done || begin < 0 || fstat(fd, &st) || st.st_size != begin + (off_t)done)
		return;
	if (!ftruncate(fd, begin))
		(void)fsync(fd); /* the disk that failed may fail again */
}

static int write_line(int fd, const char *line, size_t size, size_t *done)
{
	while (*done < size) {
		ssize_t n = write(fd, line + *done, size - *done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			*done += n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* Appends one line and waits until it is on disk. Takes the reference; NULL is -ENOMEM. On failure
 * nothing of it stays. */
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
		err = write_line(j->fd, text, size, &done);
	}
	if (err)
		take_back(j->fd, begin, done);
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
	char boot[JOURNAL_BOOT_MAX];

	journal_boot_id(boot);
	for (unsigned int i = 0; !err && i < tx->port_count; i++)
		err = json_array_append_new(ports, port_to_json(&tx->port[i]));
	if (!err)
		return json_pack("{s:s, s:s, s:s, s:s, s:o}", "schema", JOURNAL_SCHEMA, "id",
				 tx->id, "time", tx->time, "boot", boot, "ports", ports);
	json_decref(ports);
	return NULL;
}

/* The newest id begins with when it was made. */
static time_t newest_time(const struct state *s)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	struct tm tm = {0};
	unsigned int n = 0;
	time_t when = 0;

	if (!journal_ids(s, &ids, &n, NULL) && n && strptime(ids[n - 1], "%Y%m%d-%H%M%S", &tm))
		when = timegm(&tm);
	free(ids);
	return when;
}

/* A new folder for the transaction, named after the time; more in one second get a suffix. The
 * newest one has the last name, also when the clock was set back. */
static int make_id(const struct state *s, struct tx *tx, struct folder *folder, struct err *e)
{
	time_t now = time(NULL), newest = newest_time(s);
	int err = -EEXIST, n;
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(tx->time, sizeof(tx->time), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (newest > now)
		now = newest + 1;
	gmtime_r(&now, &tm);
	for (unsigned int try = 0; err == -EEXIST && try < ID_TRIES; try++) {
		n = strftime(tx->id, sizeof(tx->id), "%Y%m%d-%H%M%S", &tm);
		snprintf(tx->id + n, sizeof(tx->id) - n, "-%02u", try);
		err = folder_below_new(&s->tx, tx->id, folder, e);
	}
	return err;
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

static int verify(const struct state *s, const struct tx *tx, struct err *e)
{
	struct tx read = {0};
	int err = journal_read(s, tx->id, &read, e);

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

static int open_in(const struct folder *folder, int flags, const char *id, struct journal **j,
		   struct err *e)
{
	struct journal *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return err_sys(e, -ENOMEM, "journal");
	snprintf(n->id, sizeof(n->id), "%s", id);
	err = file_descriptor(folder, JOURNAL_FILE, flags | O_RDWR | O_APPEND, 0600, &n->fd, e);
	if (err) {
		free(n);
		return err;
	}
	*j = n;
	return 0;
}

/* Of a transaction that never began: a full disk must not leave an empty one to be listed. */
static void journal_remove(const struct state *s, const struct folder *folder, const char *id)
{
	/* What stays is listed as empty, and harmless. */
	(void)file_remove(folder, JOURNAL_FILE, NULL);
	(void)folder_remove(&s->tx, id, NULL);
}

int journal_make(const struct state *s, struct tx *tx, struct journal **j, struct err *e)
{
	struct journal *n = NULL;
	struct folder folder;
	int err = make_id(s, tx, &folder, e);

	if (err)
		return err;
	err = open_in(&folder, O_CREAT | O_EXCL, tx->id, &n, e);
	if (!err)
		err = append(n, header_to_json(tx), e);
	if (!err)
		err = folder_flush(&folder, e);
	if (!err)
		err = verify(s, tx, e);
	if (err) {
		journal_close(n);
		journal_remove(s, &folder, tx->id);
	} else {
		tx->state = TX_PREPARED;
		*j = n;
	}
	folder_close(&folder);
	return err;
}

int journal_create(const char *state_dir, struct tx *tx, struct journal **j, struct err *e)
{
	struct state s;
	int err = state_make(state_dir, &s, e);

	if (err)
		return err;
	err = journal_make(&s, tx, j, e);
	state_close(&s);
	return err;
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

int journal_append_to(const struct state *s, const char *id, struct journal **j, struct err *e)
{
	struct folder folder;
	struct journal *n;
	int err = s->tx.path ? folder_find(&s->tx, id, &folder, e)
			     : err_sys(e, -ENOENT, "%s/tx", s->dir.path);

	if (err)
		return err;
	err = open_in(&folder, 0, id, &n, e);
	if (!err) {
		err = drop_torn_line(n->fd);
		if (err) {
			err_sys(e, err, "%s/" JOURNAL_FILE, folder.path);
			journal_close(n);
		} else {
			*j = n;
		}
	}
	folder_close(&folder);
	return err;
}

int journal_open(const char *state_dir, const char *id, struct journal **j, struct err *e)
{
	struct state s;
	int err = state_open(state_dir, &s, e);

	if (err)
		return err;
	err = journal_append_to(&s, id, j, e);
	state_close(&s);
	return err;
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
static int add_deadline(struct journal *j, json_t *line)
{
	char boot[JOURNAL_BOOT_MAX];

	j->confirm_by_ms = journal_clock_ms() + (uint64_t)j->guard_s * 1000;
	journal_boot_id(boot);
	return json_object_update_new(line, json_pack("{s:I, s:s}", "confirm_by",
						      (json_int_t)j->confirm_by_ms, "boot", boot));
}

uint64_t journal_confirm_by_ms(const struct journal *j)
{
	return j->confirm_by_ms;
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
	if (tx->other_boot)
		return err_set(e, -ECANCELED,
			       "transaction %s was not confirmed before the host was restarted",
			       tx->id);
	return 0;
}

static int find_waiting(const struct state *s, const char *id, struct tx *tx, struct err *e)
{
	int err = id ? journal_read(s, id, tx, e) : journal_read_newest(s, tx, e);

	if (err != -ENOENT || id)
		return err;
	return err_set(e, -ENOENT, "no transaction waits for confirmation");
}

/* Read once more behind the line: this process may have been stopped for so long that its lock was
 * passed over, and the transaction undone meanwhile. */
static int confirm(const struct state *s, const struct tx *tx, struct err *e)
{
	struct journal *j;
	struct tx now = {0};
	int err = journal_append_to(s, tx->id, &j, e);

	if (err)
		return err;
	err = append(j, json_pack("{s:b}", "confirmed", 1), e);
	journal_close(j);
	if (!err && !journal_read(s, tx->id, &now, NULL) && now.state != TX_DONE)
		err = check_confirmable(&now, e);
	tx_clear(&now);
	return err;
}

int journal_confirm(const char *state_dir, const char *id, struct tx *tx, struct err *e)
{
	struct state s;
	int lock, err = state_open(state_dir, &s, e);

	memset(tx, 0, sizeof(*tx));
	if (err == -ENOENT)
		return err_set(e, -ENOENT, "no transaction waits for confirmation");
	if (err)
		return err;
	err = state_lock(&s.dir, STATE_LOCK_MS, &lock, e);
	if (!err) {
		err = find_waiting(&s, id, tx, e);
		if (!err)
			err = check_confirmable(tx, e);
		if (!err)
			err = confirm(&s, tx, e);
		close(lock);
	}
	state_close(&s);
	return err;
}
