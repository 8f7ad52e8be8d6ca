/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing and reading journals: every line is one write(2) and one fsync(2), and directories are
 * synced when names appear in them. The file is ours, but the process that wrote it may have died
 * in the middle of a line, and a disk may have lost its end: a line without its newline does not
 * count, and a line that does not parse makes the journal unusable rather than half believed.
 */
#include "dcb/apply/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "profiles/base/json.h"
#include "profiles/base/process.h"
#include "profiles/base/small_file.h"

#define ID_TRIES  100
#define PORTS_MAX 256
#define BYTES_MAX (16 << 20) /* 256 ports with all they can have are 2 MiB */

static const char *const state_words[] = {
	[TX_EMPTY] = "empty",	[TX_RUNNING] = "interrupted", [TX_DONE] = "done",
	[TX_UNDONE] = "undone", [TX_LOST] = "lost",
};

const char *tx_state_word(enum tx_state state)
{
	return state_words[state];
}

void tx_clear(struct tx *tx)
{
	free(tx->port);
	free(tx->step);
	memset(tx, 0, sizeof(*tx));
}

struct dcb_port tx_port_names(const struct tx_port *p)
{
	return (struct dcb_port){p->ifname, p->ibdev, p->ib_port, p->lldp_agent};
}

uint64_t tx_planned(const struct tx *tx, unsigned int port)
{
	uint64_t fields = 0;

	for (unsigned int i = 0; i < tx->step_count; i++)
		if (tx->step[i].port == port)
			fields |= tx->step[i].fields;
	return fields;
}

bool tx_stands(const struct tx *tx)
{
	return tx->state == TX_DONE && (!tx->confirm_within_s || tx->confirmed);
}

unsigned int tx_settings(const struct tx *tx)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < tx->port_count; i++)
		n += (unsigned int)__builtin_popcountll(tx_planned(tx, i));
	return n;
}

bool tx_waits(const struct tx *tx)
{
	return tx->state == TX_DONE && tx->confirm_within_s && !tx->confirmed && !tx->other_boot;
}

void journal_boot_id(char boot[JOURNAL_BOOT_MAX])
{
	small_file_line(boot, JOURNAL_BOOT_MAX, "/proc", "sys/kernel/random/boot_id");
}

/* An id is one path element of digits and dashes. */
static bool journal_id_valid(const char *id)
{
	size_t n = strspn(id, "0123456789-");

	return n && n < JOURNAL_ID_MAX && !id[n];
}

/* Writing. */

/* Takes away what an append left that failed: its caller acts as if the line were not there, and so
 * must those who read it. Not where somebody else has appended behind it. */
static void journal_truncate(int fd, off_t begin, size_t done)
{
	struct stat st;

	if (!done || begin < 0 || fstat(fd, &st) || st.st_size != begin + (off_t)done)
		return;
	if (!ftruncate(fd, begin))
		(void)fsync(fd); /* the disk that failed may fail again */
}

static int journal_write_line(int fd, const char *line, size_t size, size_t *done)
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
static int journal_append_line(int fd, const char *id, json_t *line, struct err *e)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
	int err = text ? 0 : -ENOMEM;
	off_t begin = lseek(fd, 0, SEEK_END);
	size_t size = 0, done = 0;

	json_decref(line);
	if (text) {
		size = strlen(text);
		text[size++] = '\n'; /* in the place of the terminator: text is not read on */
		err = journal_write_line(fd, text, size, &done);
	}
	if (err)
		journal_truncate(fd, begin, done);
	free(text);
	return err ? err_sys(e, err, "journal of transaction %s", id) : 0;
}

/* The first line: the ports as they were, and what will be written. */

static json_t *journal_port_to_json(const struct tx_port *p)
{
	json_t *j = json_pack("{s:s, s:s, s:i, s:s, s:o}", "netdev", p->ifname, "ibdev", p->ibdev,
			      "ib_port", (int)p->ib_port, "driver", p->driver, "before",
			      qos_to_json(&p->before));

	if (j && p->cm_dir_made && json_object_set_new(j, "revealed", json_true())) {
		json_decref(j);
		return NULL;
	}
	if (!j || p->lldp_agent == LLDP_AGENT_NONE)
		return j;
	if (!json_object_set_new(j, "agent", json_string(lldp_agent_word(p->lldp_agent))) &&
	    !json_object_set_new(j, "live", qos_to_json(&p->live)))
		return j;
	json_decref(j);
	return NULL;
}

/* What an agent sets, and what was in the kernel meanwhile. */
static int journal_parse_lldp_agent(const json_t *j, struct tx_port *p)
{
	const json_t *agent = json_object_get(j, "agent");

	if (!agent)
		return 0;
	if (!json_is_string(agent) ||
	    strcmp(json_string_value(agent), lldp_agent_word(LLDP_AGENT_LLDPAD)))
		return -EBADMSG;
	p->lldp_agent = LLDP_AGENT_LLDPAD;
	return qos_from_json(json_object_get(j, "live"), &p->live, NULL) ? -EBADMSG : 0;
}

static int journal_port_from_json(const json_t *j, struct tx_port *p, struct err *e)
{
	uint64_t ib_port;

	(void)e; /* a line that cannot be used is not told why */
	if (json_get_string(j, "netdev", p->ifname, sizeof(p->ifname), NULL) ||
	    json_get_string(j, "ibdev", p->ibdev, sizeof(p->ibdev), NULL) ||
	    json_get_string(j, "driver", p->driver, sizeof(p->driver), NULL) ||
	    json_get_uint_or(j, "ib_port", 0, 0, UINT8_MAX, &ib_port, NULL))
		return -EBADMSG;
	p->ib_port = ib_port;
	p->cm_dir_made = json_is_true(json_object_get(j, "revealed"));
	if (journal_parse_lldp_agent(j, p))
		return -EBADMSG;
	return qos_from_json(json_object_get(j, "before"), &p->before, NULL) ? -EBADMSG : 0;
}

JSON_FUNCTIONS(journal_port)
JSON_FUNCTIONS(qos)

static const struct json_row step_rows[] = {
	JSON_ROW(struct tx_step, port, .kind = JSON_NUMBER, .max = PORTS_MAX - 1),
	JSON_ROW(struct tx_step, to, .kind = JSON_STRUCT, JSON_BY(qos)),
};

static const struct json_row header_rows[] = {
	JSON_ROW_AS("confirm_within", struct tx, confirm_within_s, .kind = JSON_NUMBER,
		    .max = INT_MAX),
	JSON_ROW_AS("deadline", struct tx, deadline_ms, .kind = JSON_NUMBER, .max = LLONG_MAX),
	JSON_ALLOCATED_OF("ports", struct tx, port, PORTS_MAX, JSON_BY(journal_port)),
	JSON_ALLOCATED_OF("plan", struct tx, step, JOURNAL_STEPS_MAX, JSON_ITEM(step_rows)),
};

static json_t *journal_header_json(const struct tx *tx)
{
	char boot[JOURNAL_BOOT_MAX];
	json_t *j;

	journal_boot_id(boot);
	j = json_pack("{s:s, s:s, s:s, s:s}", "schema", JOURNAL_SCHEMA, "id", tx->id, "time",
		      tx->time, "boot", boot);
	if (!json_rows_write(j, JSON_ROWS(header_rows), tx))
		return j;
	json_decref(j);
	return NULL;
}

static json_t *journal_result_json(const struct tx *tx)
{
	json_t *line = json_pack("{s:s}", "state", tx_state_word(tx->state)), *after;
	int err;

	if (tx->state != TX_DONE)
		return line;
	after = json_array();
	for (unsigned int i = 0; i < tx->port_count; i++)
		after = json_list_add(after, qos_to_json(&tx->port[i].after));
	err = json_object_set_new(line, "after", after);
	if (!err && tx->confirm_within_s)
		err = json_object_set_new(line, "confirm_by",
					  json_integer((json_int_t)tx->confirm_by_ms));
	if (!err && tx->confirmed)
		err = json_object_set_new(line, "confirmed", json_true());
	if (!err)
		return line;
	json_decref(line);
	return NULL;
}

/* The newest id begins with when it was made. */
static time_t journal_newest_time(const struct state *s)
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
static int journal_make_folder(const struct state *s, struct tx *tx, struct folder *folder,
			       struct err *e)
{
	time_t now = time(NULL), newest = journal_newest_time(s);
	int err = -EEXIST, n;
	struct tm tm;

	utc_text(now, tx->time);
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

/* What is read back makes the same line. */
static int journal_verify(const struct state *s, const struct tx *tx, struct err *e)
{
	struct tx read = {0};
	json_t *want = journal_header_json(tx), *got = NULL;
	int err = want ? journal_read(s, tx->id, &read, e) : err_sys(e, -ENOMEM, "journal");

	if (!err) {
		got = journal_header_json(&read);
		if (!json_equal(want, got))
			err = err_set(e, -EIO,
				      "transaction %s: its journal does not hold the former values",
				      tx->id);
	}
	json_decref(want);
	json_decref(got);
	tx_clear(&read);
	return err;
}

/* The first line in a new file, or once more in an open one. */
static int journal_append_header(const struct state *s, const struct folder *folder, int flags,
				 const struct tx *tx, struct err *e)
{
	int fd, err = file_descriptor(folder, JOURNAL_FILE, flags | O_RDWR | O_APPEND, 0600, &fd,
				      e);

	if (err)
		return err;
	err = journal_append_line(fd, tx->id, journal_header_json(tx), e);
	if (!err)
		err = folder_flush(folder, e);
	if (!err)
		err = journal_verify(s, tx, e);
	close(fd);
	return err;
}

int journal_make(const struct state *s, struct tx *tx, struct err *e)
{
	struct folder folder;
	int err = journal_make_folder(s, tx, &folder, e);

	if (err)
		return err;
	err = journal_append_header(s, &folder, O_CREAT | O_EXCL, tx, e);
	if (err) {
		/* A full disk must not leave an empty one to be listed; one that stays is harmless.
		 */
		(void)file_remove(&folder, JOURNAL_FILE, NULL);
		(void)folder_remove(&s->tx, tx->id, NULL);
		tx->id[0] = '\0';
	} else {
		tx->state = TX_RUNNING;
	}
	folder_close(&folder);
	return err;
}

/* Takes a last line away that its writer did not finish, so that the next one starts a line. */
static int journal_drop_torn_line(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char c;

	off_t whole = end;

	if (end < 0)
		return -errno;
	for (; whole > 0; whole--) {
		if (pread(fd, &c, 1, whole - 1) != 1)
			return -EIO;
		if (c == '\n')
			break;
	}
	/* Nothing is torn: what another process appends meanwhile stays. */
	if (whole == end)
		return 0;
	return ftruncate(fd, whole) < 0 ? -errno : 0;
}

static int journal_find_folder(const struct state *s, const char *id, struct folder *folder,
			       struct err *e)
{
	int err = journal_id_valid(id) && s->tx.path ? folder_find(&s->tx, id, folder, e) : -ENOENT;

	if (err != -ENOENT)
		return err;
	return err_set(e, -ENOENT, "there is no transaction '%.40s' in %s", id, s->dir.path);
}

int journal_rewrite_header(const struct state *s, const struct tx *tx, struct err *e)
{
	struct folder folder;
	int err = journal_find_folder(s, tx->id, &folder, e);

	if (err)
		return err;
	err = journal_append_header(s, &folder, 0, tx, e);
	folder_close(&folder);
	return err;
}

int journal_append(const struct state *s, const struct tx *tx, struct err *e)
{
	struct folder folder;
	int fd, err = journal_find_folder(s, tx->id, &folder, e);

	if (err)
		return err;
	err = file_descriptor(&folder, JOURNAL_FILE, O_RDWR | O_APPEND, 0600, &fd, e);
	if (!err) {
		err = journal_drop_torn_line(fd);
		if (err)
			err_sys(e, err, "%s/" JOURNAL_FILE, folder.path);
		else
			err = journal_append_line(fd, tx->id, journal_result_json(tx), e);
		close(fd);
	}
	folder_close(&folder);
	return err;
}

/* In the child. Its exit code is the positive errno. */
static _Noreturn void journal_append_child(const struct state *s, const struct tx *tx,
					   const char *log)
{
	struct state mine = *s;
	int *const kept[] = {&mine.dir.fd, &mine.tx.fd};
	struct tx now;
	int err;

	/* One that hangs in the kernel would hold what its parent has open: sockets and the lock.
	 */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	closelog();
	(void)process_keep_fds(STDERR_FILENO + 1, kept, ARRAY_SIZE(kept));
	err = journal_append(&mine, tx, NULL);
	if (!err)
		err = journal_read(&mine, tx->id, &now, NULL);
	if (!err && (now.state != tx->state || now.confirmed != tx->confirmed))
		err = -EIO;
	if (log)
		syslog(tx->state == TX_LOST ? LOG_ERR : LOG_WARNING, "%s", log);
	_exit(err < 0 && err > -256 ? -err : 0);
}

int journal_append_within(const struct state *s, const struct tx *tx, unsigned int wait_ms,
			  const char *log, struct err *e)
{
	pid_t child = fork();
	int status, err;

	if (!child)
		journal_append_child(s, tx, log);
	if (child < 0)
		return err_sys(e, -errno, "journal of transaction %s", tx->id);
	err = process_wait(child, wait_ms, &status);
	if (err == -ETIMEDOUT)
		(void)kill(child, SIGKILL); /* what hangs in the kernel ends when that does */
	else if (!err)
		err = WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIMEDOUT;
	return err ? err_sys(e, err, "journal of transaction %s", tx->id) : 0;
}

/* Reading. */

static int journal_parse_header(const json_t *j, struct tx *tx)
{
	const char *schema = json_string_value(json_object_get(j, "schema"));
	const char *boot = json_string_value(json_object_get(j, "boot"));
	char this_boot[JOURNAL_BOOT_MAX];
	int err;

	if (!schema || strcmp(schema, JOURNAL_SCHEMA) ||
	    json_get_string(j, "time", tx->time, sizeof(tx->time), NULL))
		return -EBADMSG;
	free(tx->port); /* of the line before */
	free(tx->step);
	tx->port = NULL;
	tx->step = NULL;
	err = json_rows_read(j, JSON_ROWS(header_rows), tx, NULL);
	if (err || !tx->port_count)
		return err == -ENOMEM ? err : -EBADMSG;
	for (unsigned int i = 0; i < tx->step_count; i++) {
		if (tx->step[i].port >= tx->port_count)
			return -EBADMSG;
		tx->step[i].fields = tx->step[i].to.has;
	}
	journal_boot_id(this_boot);
	tx->other_boot = !boot || strcmp(boot, this_boot) != 0;
	tx->state = TX_RUNNING;
	return 0;
}

static int journal_parse_after(const json_t *after, struct tx *tx)
{
	if (json_array_size(after) != tx->port_count)
		return -EBADMSG;
	for (unsigned int i = 0; i < tx->port_count; i++) {
		struct tx_port *p = &tx->port[i];

		if (qos_from_json(json_array_get(after, i), &p->after, NULL))
			return -EBADMSG;
		p->has_after = true;
	}
	return 0;
}

static int journal_parse_result(const json_t *line, struct tx *tx)
{
	const json_t *value = json_object_get(line, "state");
	const char *word = json_string_value(value);
	unsigned int state = TX_DONE;
	int err;

	if (!value || tx->state == TX_UNDONE)
		return 0; /* of a newer version; of a process that came too late */
	while (word && state < ARRAY_SIZE(state_words) && strcmp(state_words[state], word))
		state++;
	if (!word || state == ARRAY_SIZE(state_words))
		return -EBADMSG;
	if (state == TX_DONE) {
		err = journal_parse_after(json_object_get(line, "after"), tx);
		if (err)
			return err;
		if (tx->confirm_within_s &&
		    json_get_uint(line, "confirm_by", 0, LLONG_MAX, &tx->confirm_by_ms, NULL))
			return -EBADMSG;
		tx->confirmed = json_is_true(json_object_get(line, "confirmed"));
	}
	tx->state = state;
	return 0;
}

static int journal_parse_line(const char *text, size_t size, struct tx *tx)
{
	json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	int err = json_is_object(line) ? 0 : -EBADMSG;

	if (!err && (!tx->port || json_object_get(line, "schema")))
		err = journal_parse_header(line, tx);
	else if (!err)
		err = journal_parse_result(line, tx);
	json_decref(line);
	return err;
}

/* What a power loss leaves of a file: NULs, in which nothing can be found. A last line
 * that is torn behind a header says nothing. */
static bool journal_is_blank(const char *text, size_t size, const struct tx *tx)
{
	return !tx->port && memchr(text, 0, size);
}

static int journal_read_lines(FILE *file, struct tx *tx)
{
	char *text = NULL;
	size_t room = 0;
	struct stat st;
	ssize_t n;
	int err = 0;

	if (fstat(fileno(file), &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > BYTES_MAX)
		return -EBADMSG;
	while (!err && (n = getline(&text, &room, file)) > 0) {
		if (text[n - 1] != '\n') {
			err = journal_is_blank(text, n, tx) ? -EBADMSG : 0;
			break;
		}
		err = journal_parse_line(text, n, tx);
	}
	if (!err && ferror(file))
		err = -EIO;
	free(text);
	return err;
}

static int journal_read_file(const struct folder *folder, struct tx *tx, struct err *e)
{
	FILE *file;
	int fd, err = file_descriptor(folder, JOURNAL_FILE, O_RDONLY, 0, &fd, e);

	/* The folder without its journal: died in between. */
	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	file = fdopen(fd, "r");
	if (!file) {
		err = err_sys(e, -errno, "%s", folder->path);
		close(fd);
		return err;
	}
	err = journal_read_lines(file, tx);
	fclose(file);
	if (!err)
		return 0;
	return err_set(e, err, "%s/" JOURNAL_FILE " is not a usable journal", folder->path);
}

int journal_read(const struct state *s, const char *id, struct tx *tx, struct err *e)
{
	struct folder folder;
	int err;

	memset(tx, 0, sizeof(*tx));
	err = journal_find_folder(s, id, &folder, e);
	if (err)
		return err;
	snprintf(tx->id, sizeof(tx->id), "%s", id);
	err = journal_read_file(&folder, tx, e);
	folder_close(&folder);
	if (err)
		tx_clear(tx);
	return err;
}

static int journal_compare_ids(const void *a, const void *b)
{
	return strcmp(a, b);
}

int journal_ids(const struct state *s, char (**ids)[JOURNAL_ID_MAX], unsigned int *n, struct err *e)
{
	char(*list)[JOURNAL_ID_MAX] = NULL, (*more)[JOURNAL_ID_MAX];
	DIR *dir = s->tx.path ? folder_list(&s->tx, e) : NULL;
	unsigned int count = 0;
	struct dirent *d;

	if (s->tx.path && !dir)
		return e ? e->code : -EIO;
	while (dir && (d = readdir(dir))) {
		if (!journal_id_valid(d->d_name))
			continue;
		more = realloc(list, (count + 1) * sizeof(*list));
		if (!more) {
			free(list);
			closedir(dir);
			return err_sys(e, -ENOMEM, "%s", s->tx.path);
		}
		list = more;
		/* journal_id_valid(): it fits. */
		memcpy(list[count++], d->d_name, strlen(d->d_name) + 1);
	}
	if (dir)
		closedir(dir);
	if (count)
		qsort(list, count, sizeof(*list), journal_compare_ids);
	*ids = list;
	*n = count;
	return 0;
}

int journal_not_found(const struct state_at *at, const char *id, struct err *e)
{
	if (!id)
		return err_set(e, -ENOENT, "no transactions in %s", at->dir);
	err_set(e, -ENOENT, "no transaction %.*s in %s", JOURNAL_ID_MAX, id, at->dir);
	err_hint(e, "to list transactions: rocecheck rollback --list");
	return -ENOENT;
}

/* Whether the journal itself is the reason, not a lack of memory, descriptors or rights here, nor a
 * disk that may be well again. */
static bool journal_is_unusable(int err)
{
	return err && err != -ENOENT && err != -ENOMEM && err != -EMFILE && err != -ENFILE &&
	       err != -EIO && err != -EACCES;
}

int journal_newest(const struct state *s, struct tx *tx, struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n = 0;
	int err = journal_ids(s, &ids, &n, e);

	memset(tx, 0, sizeof(*tx));
	while (!err && n) {
		err = journal_read(s, ids[--n], tx, e);
		if (!err &&
		    (tx->state == TX_RUNNING || tx->state == TX_DONE || tx->state == TX_LOST))
			break;
		if (journal_is_unusable(err) || err == -ENOENT)
			err = 0;
		tx_clear(tx);
	}
	if (!err && !tx->port)
		err = ids ? err_set(e, -ENOENT, "all transactions are undone or wrote nothing")
			  : journal_not_found(&(struct state_at){.dir = s->dir.path}, NULL, e);
	free(ids);
	return err;
}

/* Under the lock: no writer is in the middle of a line. */
static void journal_set_aside(const struct state *s, const char *id, journal_report *report,
			      void *arg)
{
	char aside[JOURNAL_ID_MAX + sizeof(JOURNAL_ASIDE)];
	struct err e = {0}, failed = {0};
	struct tx tx;
	int err = journal_read(s, id, &tx, &e);

	tx_clear(&tx);
	if (!journal_is_unusable(err))
		return;
	snprintf(aside, sizeof(aside), "%s" JOURNAL_ASIDE, id);
	if (file_rename(&s->tx, id, &s->tx, aside, &failed))
		err_set(&e, err, "%.480s; it cannot be set aside: %.480s", e.text, failed.text);
	else
		err_set(&e, err, "%.480s; set aside as %.400s/%s", e.text, s->tx.path, aside);
	report(&e, arg);
}

int journal_set_aside_all(const struct state_at *at, journal_report *report, void *arg,
			  struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n = 0;
	struct state s;
	int lock = -1, err = state_open(at, &s, e);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = state_lock(at, STATE_LOCK, 0, &lock, e);
	if (!err)
		err = journal_ids(&s, &ids, &n, e);
	for (unsigned int i = 0; i < n; i++)
		journal_set_aside(&s, ids[i], report, arg);
	free(ids);
	if (lock >= 0)
		close(lock);
	state_close(&s);
	/* Who holds the lock has looked, or the next one will. */
	return err == -EBUSY ? 0 : err;
}
