/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading journals. The file is ours, but the process that wrote it may have died in the middle of
 * a line, and a disk may have lost its end: a line without its newline does not count, and a line
 * that does not parse makes the journal unusable rather than half believed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/apply/journal_in.h"

#define PORTS_MAX  256
#define OVERDUE_MS 60000      /* for a busy host, besides all that a dead-man waits for */
#define BYTES_MAX  (16 << 20) /* 256 ports with all they can have are 2 MiB */

static const char *const state_words[] = {
	[TX_EMPTY] = "empty", [TX_PREPARED] = "prepared", [TX_RUNNING] = "interrupted",
	[TX_DONE] = "done",   [TX_UNDONE] = "undone",	  [TX_LOST] = "lost",
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

int tx_copy(const struct tx *from, struct tx *to)
{
	struct tx made = *from;

	made.port = calloc(from->port_count ? from->port_count : 1, sizeof(*made.port));
	made.step = calloc(JOURNAL_STEPS_MAX, sizeof(*made.step));
	if (!made.port || !made.step) {
		tx_clear(&made);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < from->port_count; i++)
		made.port[i] = from->port[i];
	for (unsigned int i = 0; i < from->step_count; i++)
		made.step[i] = from->step[i];
	*to = made;
	return 0;
}

static int copy_string(const json_t *object, const char *key, char *to, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || strlen(text) >= size)
		return -EBADMSG;
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

/* What an agent sets, and what was in the kernel meanwhile. */
static int take_agent(const json_t *j, struct tx_port *p)
{
	const json_t *agent = json_object_get(j, "agent");

	if (!agent)
		return 0;
	if (!json_is_string(agent) ||
	    strcmp(json_string_value(agent), dcb_agent_word(DCB_AGENT_LLDPAD)))
		return -EBADMSG;
	p->agent = DCB_AGENT_LLDPAD;
	return qos_from_json(json_object_get(j, "live"), &p->live, NULL) ? -EBADMSG : 0;
}

static int take_port(const json_t *j, struct tx_port *p)
{
	json_int_t ib_port = json_integer_value(json_object_get(j, "ib_port"));

	if (copy_string(j, "netdev", p->ifname, sizeof(p->ifname)) ||
	    copy_string(j, "ibdev", p->ibdev, sizeof(p->ibdev)) ||
	    copy_string(j, "driver", p->driver, sizeof(p->driver)) || ib_port < 0 || ib_port > 255)
		return -EBADMSG;
	p->ib_port = ib_port;
	if (take_agent(j, p))
		return -EBADMSG;
	return qos_from_json(json_object_get(j, "before"), &p->before, NULL) ? -EBADMSG : 0;
}

void journal_boot_id(char boot[JOURNAL_BOOT_MAX])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	boot[0] = '\0';
	if (f && fgets(boot, JOURNAL_BOOT_MAX, f))
		boot[strcspn(boot, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* A header of an older version names no boot: such a transaction is of no boot that is known. */
static bool is_other_boot(const char *boot)
{
	char now[JOURNAL_BOOT_MAX];

	journal_boot_id(now);
	return !boot || strcmp(boot, now) != 0;
}

static int take_header(const json_t *j, struct tx *tx)
{
	const json_t *ports = json_object_get(j, "ports");
	const char *schema = json_string_value(json_object_get(j, "schema"));
	size_t n = json_array_size(ports);
	int err = 0;

	if (!schema || strcmp(schema, JOURNAL_SCHEMA) || !n || n > PORTS_MAX)
		return -EBADMSG;
	if (copy_string(j, "time", tx->time, sizeof(tx->time)))
		return -EBADMSG;
	tx->port = calloc(n, sizeof(*tx->port));
	tx->step = calloc(JOURNAL_STEPS_MAX, sizeof(*tx->step));
	if (!tx->port || !tx->step)
		return -ENOMEM;
	tx->port_count = n;
	for (size_t i = 0; !err && i < n; i++)
		err = take_port(json_array_get(ports, i), &tx->port[i]);
	tx->other_boot = is_other_boot(json_string_value(json_object_get(j, "boot")));
	if (!err)
		tx->state = TX_PREPARED;
	return err;
}

static int port_index(const struct tx *tx, const json_t *value, unsigned int *port)
{
	json_int_t i = json_integer_value(value);

	if (!json_is_integer(value) || i < 0 || i >= tx->port_count)
		return -EBADMSG;
	*port = i;
	return 0;
}

static int take_reveal(const json_t *line, const json_t *value, struct tx *tx)
{
	unsigned int port;
	int err = port_index(tx, value, &port);

	(void)line;
	if (err)
		return err;
	tx->port[port].revealed = true;
	/* From here on the machine is not what it was. */
	tx->state = TX_RUNNING;
	return 0;
}

static int take_before(const json_t *line, const json_t *value, struct tx *tx)
{
	unsigned int port;
	int err = port_index(tx, value, &port);

	if (err)
		return err;
	if (qos_from_json(json_object_get(line, "qos"), &tx->port[port].before, NULL))
		return -EBADMSG;
	return 0;
}

static int take_step(const json_t *line, const json_t *value, struct tx *tx)
{
	const json_t *fields = json_object_get(line, "fields");
	struct tx_step s = {0};
	int err = port_index(tx, value, &s.port);

	for (size_t i = 0; !err && i < json_array_size(fields); i++) {
		const char *key = json_string_value(json_array_get(fields, i));
		int id = key ? qos_field_find(key) : -EBADMSG;

		if (id < 0)
			err = -EBADMSG;
		else
			s.fields |= QOS_BIT(id);
	}
	if (!err && tx->step_count == JOURNAL_STEPS_MAX)
		err = -EBADMSG;
	if (err)
		return err;
	tx->step[tx->step_count++] = s;
	tx->state = TX_RUNNING;
	return 0;
}

bool tx_waits(const struct tx *tx)
{
	return tx->state == TX_DONE && tx->confirm_within_s && !tx->confirmed && !tx->other_boot;
}

uint64_t tx_lock_ms(const struct tx *tx)
{
	return (uint64_t)tx->port_count * JOURNAL_WAIT_S * 1000 + STATE_LOCK_MS;
}

bool tx_overdue(const struct tx *tx, uint64_t now_ms)
{
	return tx_waits(tx) && now_ms > tx->confirm_by_ms + tx_lock_ms(tx) + OVERDUE_MS;
}

int journal_overdue(const struct tx *tx, struct err *e)
{
	err_set(e, -EBUSY, "transaction %s was not confirmed in time, and its dead-man has gone",
		tx->id);
	err_hint(e, "run 'rocecheck rollback %s'", tx->id);
	return -EBUSY;
}

static int take_guard(const json_t *line, const json_t *value, struct tx *tx)
{
	json_int_t seconds = json_integer_value(value);

	(void)line;
	if (!json_is_integer(value) || seconds <= 0 || seconds > INT_MAX)
		return -EBADMSG;
	tx->confirm_within_s = seconds;
	return 0;
}

static int take_confirmed(const json_t *line, const json_t *value, struct tx *tx)
{
	(void)line;
	tx->confirmed = json_is_true(value);
	return 0;
}

static int take_deadline(const json_t *line, struct tx *tx)
{
	const json_t *by = json_object_get(line, "confirm_by");
	const char *boot = json_string_value(json_object_get(line, "boot"));

	if (!by)
		return 0;
	if (!json_is_integer(by) || json_integer_value(by) < 0 || !boot)
		return -EBADMSG;
	tx->confirm_by_ms = json_integer_value(by);
	tx->other_boot = is_other_boot(boot);
	return 0;
}

static int take_state(const json_t *line, const json_t *value, struct tx *tx)
{
	const json_t *after = json_object_get(line, "after");
	const char *word = json_string_value(value);
	unsigned int state = 0;

	while (word && state < ARRAY_SIZE(state_words) && strcmp(state_words[state], word))
		state++;
	if (!word || state == ARRAY_SIZE(state_words))
		return -EBADMSG;
	for (unsigned int i = 0; i < tx->port_count && i < json_array_size(after); i++) {
		struct tx_port *p = &tx->port[i];

		if (qos_from_json(json_array_get(after, i), &p->after, NULL))
			return -EBADMSG;
		p->has_after = true;
	}
	tx->state = state;
	return take_deadline(line, tx);
}

/* The key that says what a line is. */
static const struct line_row {
	const char *key;
	int (*take)(const json_t *line, const json_t *value, struct tx *tx);
} line_rows[] = {
	{"reveal", take_reveal}, {"before", take_before}, {"step", take_step},
	{"guard", take_guard},	 {"state", take_state},	  {"confirmed", take_confirmed},
};

static int take_line(const char *text, size_t size, struct tx *tx)
{
	json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	int err = line ? 0 : -EBADMSG;

	if (!err && !tx->port)
		err = take_header(line, tx);
	else
		for (unsigned int i = 0; !err && i < ARRAY_SIZE(line_rows); i++) {
			const json_t *value = json_object_get(line, line_rows[i].key);

			if (value)
				err = line_rows[i].take(line, value, tx);
		}
	json_decref(line);
	return err;
}

/* What a power loss leaves of a file: NULs, in which nothing that was announced can be found. A
 * last line that is torn behind a header announces nothing. */
static bool is_blank(const char *text, size_t size, const struct tx *tx)
{
	return !tx->port && memchr(text, 0, size);
}

static int take_file(FILE *file, struct tx *tx)
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
			err = is_blank(text, n, tx) ? -EBADMSG : 0;
			break;
		}
		err = take_line(text, n, tx);
	}
	if (!err && ferror(file))
		err = -EIO;
	free(text);
	return err;
}

/* An id is one path element of digits and dashes. */
static bool id_valid(const char *id)
{
	size_t n = strspn(id, "0123456789-");

	return n && n < JOURNAL_ID_MAX && !id[n];
}

static int read_journal(const struct folder *folder, struct tx *tx, struct err *e)
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
	err = take_file(file, tx);
	fclose(file);
	if (!err)
		return 0;
	return err_set(e, err, "%s/" JOURNAL_FILE " is not a usable journal", folder->path);
}

static int no_transaction(const struct state *s, const char *id, struct err *e)
{
	return err_set(e, -ENOENT, "there is no transaction '%.40s' in %s", id, s->dir.path);
}

int journal_read(const struct state *s, const char *id, struct tx *tx, struct err *e)
{
	struct folder folder;
	int err;

	memset(tx, 0, sizeof(*tx));
	if (!id_valid(id) || !s->tx.path)
		return no_transaction(s, id, e);
	err = folder_find(&s->tx, id, &folder, e);
	if (err)
		return err == -ENOENT ? no_transaction(s, id, e) : err;
	snprintf(tx->id, sizeof(tx->id), "%s", id);
	err = read_journal(&folder, tx, e);
	folder_close(&folder);
	if (err)
		tx_clear(tx);
	return err;
}

int journal_load(const char *state_dir, const char *id, struct tx *tx, struct err *e)
{
	struct state s;
	int err = state_open(state_dir, &s, e);

	memset(tx, 0, sizeof(*tx));
	if (err)
		return err;
	err = journal_read(&s, id, tx, e);
	state_close(&s);
	return err;
}

static int compare_ids(const void *a, const void *b)
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
		if (!id_valid(d->d_name))
			continue;
		more = realloc(list, (count + 1) * sizeof(*list));
		if (!more) {
			free(list);
			closedir(dir);
			return err_sys(e, -ENOMEM, "%s", s->tx.path);
		}
		list = more;
		/* id_valid(): it fits. */
		memcpy(list[count++], d->d_name, strlen(d->d_name) + 1);
	}
	if (dir)
		closedir(dir);
	if (count)
		qsort(list, count, sizeof(*list), compare_ids);
	*ids = list;
	*n = count;
	return 0;
}

int journal_list(const char *state_dir, char (**ids)[JOURNAL_ID_MAX], unsigned int *n,
		 struct err *e)
{
	struct state s;
	int err = state_open(state_dir, &s, e);

	*ids = NULL;
	*n = 0;
	if (err)
		return err == -ENOENT ? 0 : err;
	err = journal_ids(&s, ids, n, e);
	state_close(&s);
	return err;
}

int journal_none(const char *state_dir, const char *id, struct err *e)
{
	if (id)
		err_set(e, -ENOENT, "there is no transaction %.*s in %s", JOURNAL_ID_MAX, id,
			state_dir);
	else
		err_set(e, -ENOENT, "there is no transaction to roll back in %s", state_dir);
	err_hint(e, "'rocecheck rollback --list' lists them");
	return -ENOENT;
}

/* Whether the journal itself is the reason, not a lack of memory or descriptors here. */
static bool is_unusable(int err)
{
	return err && err != -ENOENT && err != -ENOMEM && err != -EMFILE && err != -ENFILE;
}

int journal_read_newest(const struct state *s, struct tx *tx, struct err *e)
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
		if (is_unusable(err) || err == -ENOENT)
			err = 0;
		tx_clear(tx);
	}
	if (!err && !tx->port)
		err = journal_none(s->dir.path, NULL, e);
	free(ids);
	return err;
}

int journal_newest(const char *state_dir, struct tx *tx, struct err *e)
{
	struct state s;
	int err = state_open(state_dir, &s, e);

	memset(tx, 0, sizeof(*tx));
	if (err == -ENOENT)
		return journal_none(state_dir, NULL, e);
	if (err)
		return err;
	err = journal_read_newest(&s, tx, e);
	state_close(&s);
	return err;
}

/* Under the lock: no writer is in the middle of a line. */
static void set_aside(const struct state *s, const char *id, journal_report *report, void *arg)
{
	char aside[JOURNAL_ID_MAX + sizeof(JOURNAL_ASIDE)];
	struct err e = {0}, failed = {0};
	struct tx tx;
	int err = journal_read(s, id, &tx, &e);

	tx_clear(&tx);
	if (!is_unusable(err))
		return;
	snprintf(aside, sizeof(aside), "%s" JOURNAL_ASIDE, id);
	if (file_rename(&s->tx, id, &s->tx, aside, &failed))
		err_set(&e, err, "%.480s; it cannot be set aside: %.480s", e.text, failed.text);
	else
		err_set(&e, err, "%.480s; set aside as %.400s/%s", e.text, s->tx.path, aside);
	report(&e, arg);
}

int journal_tidy(const char *state_dir, journal_report *report, void *arg, struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n = 0;
	struct state s;
	int lock = -1, err = state_open(state_dir, &s, e);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = state_lock(&s.dir, 0, &lock, e);
	if (!err)
		err = journal_ids(&s, &ids, &n, e);
	for (unsigned int i = 0; i < n; i++)
		set_aside(&s, ids[i], report, arg);
	free(ids);
	if (lock >= 0)
		close(lock);
	state_close(&s);
	/* Who holds the lock has looked, or the next one will. */
	return err == -EBUSY ? 0 : err;
}
