/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping the last profile: a JSON document a port (rocecheck.last/1). It is ours, but an older or
 * newer version may have written it, or a disk may have lost its end: every member is checked.
 */
#include "cmd/last.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/profile_doc.h"
#include "dcb/folder.h"
#include "dcb/journal.h"
#include "probe/outfile.h"

#define STAGED	  "last-"
#define SUFFIX	  ".json"
#define BYTES_MAX 65536

static json_t *last_json(const struct last *l)
{
	return json_pack("{s:s, s:s, s:b, s:b, s:b, s:s, s:o}", "schema", LAST_SCHEMA, "netdev",
			 l->ifname, "rdma", l->rdma, "unproven", l->unproven, "persist", l->persist,
			 "tx", l->tx, "profile", profile_doc(&l->profile));
}

static int take_text(const json_t *o, const char *key, char *to, size_t size, struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (!text || strlen(text) >= size)
		return err_set(e, -EBADMSG, "%s is missing or no text", key);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int take_bool(const json_t *o, const char *key, bool *to, struct err *e)
{
	const json_t *value = json_object_get(o, key);

	if (!json_is_boolean(value))
		return err_set(e, -EBADMSG, "%s is missing or neither true nor false", key);
	*to = json_is_true(value);
	return 0;
}

static int take_last(const json_t *o, const char *ifname, struct last *l, struct err *e)
{
	char schema[32];
	int err = take_text(o, "schema", schema, sizeof(schema), e);

	if (!err && strcmp(schema, LAST_SCHEMA))
		err = err_set(e, -EBADMSG, "schema is '%s', not " LAST_SCHEMA, schema);
	if (!err)
		err = take_text(o, "netdev", l->ifname, sizeof(l->ifname), e);
	if (!err && strcmp(l->ifname, ifname))
		err = err_set(e, -EBADMSG, "it is of port '%s'", l->ifname);
	if (!err)
		err = take_bool(o, "rdma", &l->rdma, e);
	if (!err)
		err = take_bool(o, "unproven", &l->unproven, e);
	if (!err)
		err = take_bool(o, "persist", &l->persist, e);
	if (!err)
		err = take_text(o, "tx", l->tx, sizeof(l->tx), e);
	if (!err)
		err = profile_take(json_object_get(o, "profile"), &l->profile, e);
	l->profile.persist = l->persist;
	/* It was confirmed once, and the file it came from may be another by now. */
	l->profile.confirm_within_s = 0;
	memset(l->profile.line, 0, sizeof(l->profile.line));
	return err;
}

static int path_of(char path[PATH_MAX], const char *fmt, ...) PRINTF_LIKE(2, 3);

static int path_of(char path[PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, PATH_MAX, fmt, ap);
	va_end(ap);
	return n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int write_file(const char *path, const struct last *l, struct err *e)
{
	json_t *o = last_json(l);
	struct outfile out;
	int err = o ? outfile_open(path, &out, e) : err_sys(e, -ENOMEM, "%s", path);

	if (err) {
		json_decref(o);
		return err;
	}
	if (json_dumpf(o, out.stream, JSON_INDENT(2)) || fputc('\n', out.stream) == EOF)
		clearerr(out.stream), err = -EIO;
	json_decref(o);
	if (err) {
		(void)outfile_close(&out, false, NULL);
		return err_sys(e, err, "%s", path);
	}
	return outfile_close(&out, true, e);
}

static int make_dir(const char *state_dir, char dir[PATH_MAX], struct err *e)
{
	if (path_of(dir, "%s/last", state_dir))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	/* The state's own folder is not there where there was nothing to change yet. */
	if ((mkdir(state_dir, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(dir, 0755) < 0 && errno != EEXIST))
		return err_sys(e, -errno, "%s", dir);
	return 0;
}

int last_stage(const char *state_dir, const char *tx_id, const struct profile *profile,
	       const struct plan *plans, unsigned int n, bool unproven, struct err *e)
{
	char dir[PATH_MAX], path[PATH_MAX];
	struct last *l = calloc(1, sizeof(*l));
	int err = l ? make_dir(state_dir, dir, e) : err_sys(e, -ENOMEM, "last profile");

	for (unsigned int i = 0; !err && i < n; i++) {
		*l = (struct last){.rdma = plans[i].ibdev[0],
				   .unproven = unproven,
				   .persist = profile->persist,
				   .profile = *profile};
		memcpy(l->ifname, plans[i].ifname, sizeof(l->ifname));
		snprintf(l->tx, sizeof(l->tx), "%s", tx_id);
		if (tx_id[0])
			err = path_of(path, "%s/tx/%s/" STAGED "%s" SUFFIX, state_dir, tx_id,
				      l->ifname);
		else
			err = path_of(path, "%s/%s" SUFFIX, dir, l->ifname);
		err = err ? err_sys(e, err, "%s", state_dir) : write_file(path, l, e);
	}
	free(l);
	return err;
}

/* The kept one becomes the one before, unless it is of the same transaction. */
static int keep(const char *staged, const char *dir, const char *name, struct err *e)
{
	char path[PATH_MAX], before[PATH_MAX];

	if (path_of(path, "%s/%s", dir, name) || path_of(before, "%s~", path))
		return err_sys(e, -ENAMETOOLONG, "%s", dir);
	if (rename(path, before) < 0 && errno != ENOENT)
		return err_sys(e, -errno, "%s", path);
	if (rename(staged, path) < 0)
		return err_sys(e, -errno, "%s", path);
	return 0;
}

int last_commit(const char *state_dir, const char *tx_id, struct err *e)
{
	char dir[PATH_MAX], from[PATH_MAX], staged[PATH_MAX];
	struct dirent *d;
	int err = make_dir(state_dir, dir, e);
	DIR *tx;

	if (err || !tx_id[0])
		return err;
	if (path_of(from, "%s/tx/%s", state_dir, tx_id))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	tx = opendir(from);
	if (!tx)
		return errno == ENOENT ? 0 : err_sys(e, -errno, "%s", from);
	while (!err && (d = readdir(tx))) {
		if (strncmp(d->d_name, STAGED, strlen(STAGED)))
			continue;
		err = path_of(staged, "%s/%s", from, d->d_name);
		err = err ? err_sys(e, err, "%s", from)
			  : keep(staged, dir, d->d_name + strlen(STAGED), e);
	}
	closedir(tx);
	if (!err && folder_sync(dir))
		err = err_sys(e, -EIO, "%s", dir);
	return err;
}

static bool is_undone(const char *state_dir, const char *id)
{
	struct tx tx;
	bool undone;

	/* A transaction that is no longer listed was not undone by us. */
	if (!id[0] || journal_load(state_dir, id, &tx, NULL))
		return false;
	undone = tx.state == TX_UNDONE;
	tx_clear(&tx);
	return undone;
}

static int load_file(const char *path, const char *ifname, struct last *l, struct err *e)
{
	json_error_t bad;
	struct stat st;
	json_t *o;
	int err;

	if (stat(path, &st) < 0)
		return err_sys(e, -errno, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_size > BYTES_MAX)
		return err_set(e, -EBADMSG, "%s: not a kept profile", path);
	o = json_load_file(path, JSON_REJECT_DUPLICATES, &bad);
	if (!o)
		return err_set(e, -EBADMSG, "%s:%d: %s", path, bad.line, bad.text);
	memset(l, 0, sizeof(*l));
	err = take_last(o, ifname, l, e);
	if (err)
		err_prefix(e, "%s", path);
	json_decref(o);
	return err;
}

int last_load(const char *state_dir, const char *ifname, struct last *last, struct err *e)
{
	static const char *const ends[] = {"", "~"};
	struct last *l = malloc(sizeof(*l));
	int err = l ? -ENOENT : err_sys(e, -ENOMEM, "last profile");
	char path[PATH_MAX];

	for (unsigned int i = 0; l && err == -ENOENT && i < ARRAY_SIZE(ends); i++) {
		err = path_of(path, "%s/last/%s" SUFFIX "%s", state_dir, ifname, ends[i]);
		err = err ? err_sys(e, err, "%s", state_dir) : load_file(path, ifname, l, e);
		if (!err && is_undone(state_dir, l->tx))
			err = -ENOENT;
		else if (!err)
			*last = *l;
	}
	free(l);
	if (err == -ENOENT)
		err_set(e, err, "%s: no confirmed profile is kept in %s/last", ifname, state_dir);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The port of a file's name, -ENOENT for other files. */
static int take_name(const char *file, char name[16])
{
	size_t size = strlen(file), end = strlen(SUFFIX);

	if (size <= end || size - end >= 16 || strcmp(file + size - end, SUFFIX))
		return -ENOENT;
	memcpy(name, file, size - end);
	name[size - end] = '\0';
	return 0;
}

int last_list(const char *state_dir, char (**ifnames)[16], unsigned int *n, struct err *e)
{
	char dir[PATH_MAX], (*list)[16] = NULL, (*more)[16], name[16];
	unsigned int count = 0;
	struct dirent *d;
	DIR *folder;

	if (path_of(dir, "%s/last", state_dir))
		return err_sys(e, -ENAMETOOLONG, "%s", state_dir);
	folder = opendir(dir);
	if (!folder && errno != ENOENT)
		return err_sys(e, -errno, "%s", dir);
	while (folder && (d = readdir(folder))) {
		if (take_name(d->d_name, name))
			continue;
		more = realloc(list, (count + 1) * sizeof(*list));
		if (!more) {
			free(list);
			closedir(folder);
			return err_sys(e, -ENOMEM, "%s", dir);
		}
		list = more;
		memcpy(list[count++], name, sizeof(name));
	}
	if (folder)
		closedir(folder);
	if (count)
		qsort(list, count, sizeof(*list), compare_names);
	*ifnames = list;
	*n = count;
	return 0;
}

int last_lock(const char *state_dir, struct err *e)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int fd, err = make_dir(state_dir, dir, e);

	if (err)
		return err;
	if (path_of(path, "%s/lock", dir))
		return err_sys(e, -ENAMETOOLONG, "%s", dir);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			err = err_sys(e, -errno, "%s", path);
			close(fd);
			return err;
		}
	return fd;
}
