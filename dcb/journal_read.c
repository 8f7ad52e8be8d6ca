/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading journals. The file is ours, but the process that wrote it may have died in the middle of
 * a line, and a disk may have lost its end: a line without its newline does not count, and a line
 * that does not parse makes the journal unusable rather than half believed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/journal.h"

#define PORTS_MAX 256
#define BYTES_MAX (16 << 20) /* 256 ports with all they can have are 2 MiB */

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

void journal_boot_id(char boot[JOURNAL_BOOT_MAX])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	boot[0] = '\0';
	if (f && fgets(boot, JOURNAL_BOOT_MAX, f))
		boot[strcspn(boot, "\n")] = '\0';
	if (f)
		fclose(f);
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
	char now[JOURNAL_BOOT_MAX];

	if (!by)
		return 0;
	if (!json_is_integer(by) || json_integer_value(by) < 0 || !boot)
		return -EBADMSG;
	journal_boot_id(now);
	tx->confirm_by_ms = json_integer_value(by);
	tx->other_boot = strcmp(boot, now) != 0;
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
		if (text[n - 1] != '\n')
			break;
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

int journal_load(const char *state_dir, const char *id, struct tx *tx, struct err *e)
{
	char path[PATH_MAX];
	FILE *file;
	int err;

	memset(tx, 0, sizeof(*tx));
	if (!id_valid(id))
		return err_set(e, -ENOENT, "there is no transaction '%.40s'", id);
	if (snprintf(path, sizeof(path), "%s/tx/%s/journal", state_dir, id) >= (int)sizeof(path))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	snprintf(tx->id, sizeof(tx->id), "%s", id);
	file = fopen(path, "re");
	/* The folder without its journal: died in between. */
	if (!file && errno == ENOENT) {
		*strrchr(path, '/') = '\0';
		if (!access(path, F_OK))
			return 0;
		tx_clear(tx);
		return err_set(e, -ENOENT, "there is no transaction '%s' in %s", id, state_dir);
	}
	if (!file)
		return err_sys(e, -errno, "%s", path);
	err = take_file(file, tx);
	fclose(file);
	if (err) {
		tx_clear(tx);
		return err_set(e, err, "%s is not a usable journal", path);
	}
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(a, b);
}

int journal_list(const char *state_dir, char (**ids)[JOURNAL_ID_MAX], unsigned int *n,
		 struct err *e)
{
	char path[PATH_MAX], (*list)[JOURNAL_ID_MAX] = NULL, (*more)[JOURNAL_ID_MAX];
	unsigned int count = 0;
	struct dirent *d;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/tx", state_dir) >= (int)sizeof(path))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	dir = opendir(path);
	if (!dir && errno != ENOENT)
		return err_sys(e, -errno, "%s", path);
	while (dir && (d = readdir(dir))) {
		if (!id_valid(d->d_name))
			continue;
		more = realloc(list, (count + 1) * sizeof(*list));
		if (!more) {
			free(list);
			closedir(dir);
			return err_sys(e, -ENOMEM, "%s", path);
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

int journal_newest(const char *state_dir, struct tx *tx, struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n;
	int err = journal_list(state_dir, &ids, &n, e);

	memset(tx, 0, sizeof(*tx));
	while (!err && n) {
		err = journal_load(state_dir, ids[--n], tx, e);
		if (!err &&
		    (tx->state == TX_RUNNING || tx->state == TX_DONE || tx->state == TX_LOST))
			break;
		tx_clear(tx);
	}
	if (!err && !tx->port)
		err = journal_none(state_dir, NULL, e);
	free(ids);
	return err;
}
