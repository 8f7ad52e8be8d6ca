/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves the last profile of each port as JSON (rocecheck.last/1). Each member is checked when it is
 * read: another version may have written the file, or a disk may have truncated it.
 */
#include "dcb/apply/saved.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/apply/journal.h"
#include "dcb/kernel/sysfs.h"
#include "profiles/base/json.h"
#include "profiles/profile_json.h"

#define STAGED	  "last-"
#define SUFFIX	  ".json"
#define MARK	  ".undo"
#define BYTES_MAX 65536
#define LOCK_MS	  120000 /* each other process may wait 30 s for its RDMA device */

static json_t *saved_to_json(const struct saved_profile *l)
{
	return json_pack("{s:s, s:s, s:b, s:b, s:s, s:o}", "schema", SAVED_SCHEMA, "netdev",
			 l->ifname, "rdma", l->rdma, "persist", l->persist, "tx", l->tx, "profile",
			 profile_to_json(&l->profile));
}

static int saved_parse(const json_t *o, const char *ifname, struct saved_profile *l, struct err *e)
{
	char schema[32];
	int err = json_get_string(o, "schema", schema, sizeof(schema), e);

	if (!err && strcmp(schema, SAVED_SCHEMA))
		err = err_set(e, -EBADMSG, "schema is '%s', not " SAVED_SCHEMA, schema);
	if (!err)
		err = json_get_string(o, "netdev", l->ifname, sizeof(l->ifname), e);
	if (!err && strcmp(l->ifname, ifname))
		err = err_set(e, -EBADMSG, "the file is for port '%s'", l->ifname);
	if (!err)
		err = json_get_bool(o, "rdma", &l->rdma, e);
	if (!err)
		err = json_get_bool(o, "persist", &l->persist, e);
	if (!err)
		err = json_get_string(o, "tx", l->tx, sizeof(l->tx), e);
	if (!err)
		err = profile_from_json(json_object_get(o, "profile"), &l->profile, e);
	l->profile.persist = l->persist;
	/* It is already confirmed, and line numbers may be outdated. */
	l->profile.confirm_within_s = 0;
	memset(l->profile.line, 0, sizeof(l->profile.line));
	return err;
}

static int saved_write_file(const struct folder *folder, const char *name,
			    const struct saved_profile *l, struct err *e)
{
	json_t *o = saved_to_json(l);
	struct file out;
	int err = o ? file_open_in(folder, name, FILE_PRIVATE, &out, e)
		    : err_sys(e, -ENOMEM, "%s/%s", folder->path, name);

	if (!err) {
		(void)json_dumpf(o, out.stream,
				 JSON_INDENT(2)); /* file_close() checks for errors */
		(void)fputc('\n', out.stream);
		err = file_close(&out, true, e);
	}
	json_decref(o);
	return err;
}

/* Opens the folder of a transaction. -ENOENT, without a text, when there is none. */
static int saved_find_tx(const struct state *s, const char *tx_id, struct folder *tx, struct err *e)
{
	return s->tx.path ? folder_find(&s->tx, tx_id, tx, e) : -ENOENT;
}

static int saved_stage_in(const struct folder *folder, const char *prefix, struct saved_profile *l,
			  const struct plan *plans, unsigned int n, struct err *e)
{
	char name[NAME_MAX];
	int err = 0;

	for (unsigned int i = 0; !err && i < n; i++) {
		l->rdma = plans[i].ibdev[0];
		memcpy(l->ifname, plans[i].ifname, sizeof(l->ifname));
		snprintf(name, sizeof(name), "%s%s" SUFFIX, prefix, l->ifname);
		err = saved_write_file(folder, name, l, e);
	}
	return err;
}

int saved_stage(const struct state_at *at, const char *tx_id, const struct profile *profile,
		const struct plan *plans, unsigned int n, struct err *e)
{
	struct saved_profile *l = calloc(1, sizeof(*l));
	struct state s = {0};
	struct folder tx = {0};
	int err = l ? state_make(at, &s, e) : err_sys(e, -ENOMEM, "last profile");

	if (!err && tx_id[0])
		err = folder_find(&s.tx, tx_id, &tx, e);
	if (!err) {
		*l = (struct saved_profile){.persist = profile->persist, .profile = *profile};
		snprintf(l->tx, sizeof(l->tx), "%s", tx_id);
		err = saved_stage_in(tx_id[0] ? &tx : &s.saved, tx_id[0] ? STAGED : "", l, plans, n,
				     e);
	}
	folder_close(&tx);
	state_close(&s);
	free(l);
	return err;
}

/* Parses the port out of a file name, also of IFACE.json~: a crash of an older version may have
 * left only that. -ENOENT for other files. */
static int saved_parse_name(const char *file, char name[16])
{
	size_t size = strlen(file), end = strlen(SUFFIX);

	if (size && file[size - 1] == '~')
		size--;
	if (size <= end || size - end >= 16 || strncmp(file + size - end, SUFFIX, end))
		return -ENOENT;
	memcpy(name, file, size - end);
	name[size - end] = '\0';
	return 0;
}

static bool saved_tx_is_undone(const struct state *s, const char *id)
{
	struct tx tx;
	bool undone;

	/* A transaction without a journal counts as not undone. */
	if (!id[0] || journal_read(s, id, &tx, NULL))
		return false;
	undone = tx.state == TX_UNDONE;
	tx_clear(&tx);
	return undone;
}

static int saved_load_file(const struct folder *folder, const char *file, const char *ifname,
			   struct saved_profile *l, struct err *e)
{
	json_error_t bad;
	char *text;
	size_t size;
	json_t *o;
	int err = file_read(folder, file, BYTES_MAX, &text, &size, e);

	if (err == -ENOENT)
		return err;
	if (err)
		return err_set(e, -EBADMSG, "%s/%s: not a saved profile", folder->path, file);
	o = json_loadb(text, size, JSON_REJECT_DUPLICATES, &bad);
	free(text);
	if (!o)
		return err_set(e, -EBADMSG, "%s/%s:%d: %s", folder->path, file, bad.line, bad.text);
	memset(l, 0, sizeof(*l));
	err = saved_parse(o, ifname, l, e);
	if (err) {
		err_prefix(e, "%s/%s", folder->path, file);
		err = -EBADMSG;
	}
	json_decref(o);
	return err;
}

/* Returns true for a profile that can be loaded: readable, and its transaction not undone. */
static bool saved_is_usable(const struct state *s, const char *name)
{
	struct saved_profile *l = malloc(sizeof(*l));
	char ifname[16];
	bool good = l && !saved_parse_name(name, ifname) &&
		    !saved_load_file(&s->saved, name, ifname, l, NULL) &&
		    !saved_tx_is_undone(s, l->tx);

	free(l);
	return good;
}

/* Copies the saved profile to IFACE.json~, then renames the new one over it. So a saved profile
 * exists at any moment, and an interrupted save is completed later. */
static int saved_keep(const struct state *s, const struct folder *tx, const char *staged,
		      struct err *e)
{
	const char *name = staged + strlen(STAGED);
	char before[NAME_MAX + 2], *text = NULL;
	size_t size;
	int err = 0;

	snprintf(before, sizeof(before), "%.*s~", NAME_MAX, name);
	if (saved_is_usable(s, name))
		err = file_read(&s->saved, name, BYTES_MAX, &text, &size, e);
	if (text)
		err = file_write_in(&s->saved, before, FILE_PRIVATE, text, size, e);
	free(text);
	return err ? err : file_rename(tx, staged, &s->saved, name, e);
}

/* Calls a function for each file staged for a transaction; a file may disappear meanwhile. */
static int saved_each_staged(const struct state *s, const char *tx_id,
			     int (*act)(const struct state *s, const struct folder *tx,
					const char *staged, struct err *e),
			     struct err *e)
{
	struct dirent *d;
	struct folder tx;
	int err = saved_find_tx(s, tx_id, &tx, e);
	DIR *list;

	if (err)
		return err == -ENOENT ? 0 : err;
	list = folder_list(&tx, e);
	err = list ? 0 : -EIO;
	while (!err && (d = readdir(list)))
		if (!strncmp(d->d_name, STAGED, strlen(STAGED)))
			err = act(s, &tx, d->d_name, e);
	if (list)
		closedir(list);
	folder_close(&tx);
	return err;
}

int saved_commit(const struct state_at *at, const char *tx_id, struct err *e)
{
	struct state s;
	int err;

	if (!tx_id[0])
		return 0;
	err = state_make(at, &s, e);
	if (err)
		return err;
	err = saved_each_staged(&s, tx_id, saved_keep, e);
	state_close(&s);
	return err;
}

static int saved_drop_staged(const struct state *s, const struct folder *tx, const char *staged,
			     struct err *e)
{
	(void)s;
	return file_remove(tx, staged, e);
}

int saved_drop(const struct state_at *at, const char *tx_id, struct err *e)
{
	struct state s;
	int err = state_open(at, &s, e);

	if (err)
		return err;
	err = saved_each_staged(&s, tx_id, saved_drop_staged, e);
	state_close(&s);
	return err;
}

static int saved_load_standing(const struct state *s, const char *ifname,
			       struct saved_profile *last, struct err *e)
{
	static const char *const ends[] = {"", "~"};
	struct saved_profile *l = malloc(sizeof(*l));
	int err = l ? -ENOENT : err_sys(e, -ENOMEM, "last profile");
	char name[NAME_MAX];

	for (unsigned int i = 0; s->saved.path && l && err == -ENOENT && i < ARRAY_SIZE(ends);
	     i++) {
		snprintf(name, sizeof(name), "%.20s" SUFFIX "%s", ifname, ends[i]);
		err = saved_load_file(&s->saved, name, ifname, l, e);
		if (!err && saved_tx_is_undone(s, l->tx))
			err = -ENOENT;
		else if (!err)
			*last = *l;
	}
	free(l);
	return err;
}

int saved_load(const struct state_at *at, const char *ifname, struct saved_profile *last,
	       struct err *e)
{
	struct state s;
	int err;

	/* The name becomes a file name, and the instance of a unit may contain a '/'. */
	if (!sysfs_is_element(ifname) || strlen(ifname) >= sizeof(last->ifname))
		return err_set(e, -EINVAL, "invalid port '%s': expected the name of a netdev",
			       ifname);
	err = state_open(at, &s, e);
	if (!err) {
		err = saved_load_standing(&s, ifname, last, e);
		state_close(&s);
	}
	if (err == -ENOENT)
		err_set(e, err, "%s: no saved profile in %s/last", ifname, at->dir);
	return err;
}

/* Saves the profiles of a confirmed transaction; those of a newer one stay. */
static int saved_keep_confirmed(const struct state *s, const struct folder *tx, const char *staged,
				struct err *e)
{
	const char *id = file_name_of(tx->path);
	char ifname[16];
	struct saved_profile *l;
	bool is_old;

	if (saved_parse_name(staged + strlen(STAGED), ifname))
		return 0;
	l = malloc(sizeof(*l));
	if (!l)
		return err_sys(e, -ENOMEM, "last profile");
	is_old = !saved_load_standing(s, ifname, l, NULL) && strcmp(l->tx, id) > 0;
	free(l);
	return is_old ? saved_drop_staged(s, tx, staged, e) : saved_keep(s, tx, staged, e);
}

int saved_commit_confirmed(const struct state_at *at, struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n = 0;
	struct state s;
	int err = state_open(at, &s, e);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = s.saved.path ? journal_ids(&s, &ids, &n, e) : 0;
	for (unsigned int i = 0; !err && i < n; i++) {
		struct tx tx;

		if (journal_read(&s, ids[i], &tx, NULL))
			continue;
		if (tx_stands(&tx))
			err = saved_each_staged(&s, ids[i], saved_keep_confirmed, e);
		tx_clear(&tx);
	}
	free(ids);
	state_close(&s);
	return err;
}

static int saved_compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int saved_list_in(const struct folder *last, char (**ifnames)[16], unsigned int *n,
			 struct err *e)
{
	char(*list)[16] = NULL, (*more)[16], name[16];
	DIR *folder = folder_list(last, e);
	unsigned int count = 0, kept = 0;
	struct dirent *d;

	if (!folder)
		return -EIO;
	while ((d = readdir(folder))) {
		if (saved_parse_name(d->d_name, name))
			continue;
		more = realloc(list, (count + 1) * sizeof(*list));
		if (!more) {
			free(list);
			closedir(folder);
			return err_sys(e, -ENOMEM, "%s", last->path);
		}
		list = more;
		memcpy(list[count++], name, sizeof(name));
	}
	closedir(folder);
	if (count)
		qsort(list, count, sizeof(*list), saved_compare_names);
	for (unsigned int i = 0; i < count; i++)
		if (!kept || strcmp(list[i], list[kept - 1]))
			memmove(list[kept++], list[i], sizeof(*list));
	*ifnames = list;
	*n = kept;
	return 0;
}

int saved_list(const struct state_at *at, char (**ifnames)[16], unsigned int *n, struct err *e)
{
	struct state s;
	int err = state_open(at, &s, e);

	*ifnames = NULL;
	*n = 0;
	if (err)
		return err == -ENOENT ? 0 : err;
	err = s.saved.path ? saved_list_in(&s.saved, ifnames, n, e) : 0;
	state_close(&s);
	return err;
}

static bool saved_is_mark_of(const char *file, char (*ifnames)[16], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strncmp(file, ifnames[i], strlen(ifnames[i])) &&
		    !strcmp(file + strlen(ifnames[i]), MARK))
			return true;
	return false;
}

static int saved_remove_marks(const struct folder *last, char (*ifnames)[16], unsigned int n,
			      struct err *e)
{
	DIR *folder = folder_list(last, e);
	struct dirent *d;
	int err = folder ? 0 : -EIO;

	while (!err && (d = readdir(folder))) {
		size_t size = strlen(d->d_name), end = strlen(MARK);

		if (size > end && !strcmp(d->d_name + size - end, MARK) &&
		    !saved_is_mark_of(d->d_name, ifnames, n))
			err = file_remove(last, d->d_name, e);
	}
	if (folder)
		closedir(folder);
	return err;
}

int saved_mark_undo(const struct state_at *at, char (*ifnames)[16], unsigned int n, struct err *e)
{
	struct state s;
	int err = state_make(at, &s, e);

	if (err)
		return err;
	err = saved_remove_marks(&s.saved, ifnames, n, e);
	for (unsigned int i = 0; !err && i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s" MARK, ifnames[i]);
		if (sysfs_is_element(ifnames[i]))
			err = file_write_in(&s.saved, name, FILE_PRIVATE, "", 0, e);
	}
	state_close(&s);
	return err;
}

int saved_lock(const struct state_at *at, struct err *e)
{
	int fd, err = state_lock(at, STATE_LOCK_BOOT, LOCK_MS, &fd, e);

	return err ? err : fd;
}
