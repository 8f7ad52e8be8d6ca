/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes lldpad's libconfig file (openlldp config.c): section "lldp" with a group per
 * port, which has adminStatus and a group per TLV, "tlvid0080c209"; the group "common" has the
 * values that a port group lacks.
 */

#include "dcb/lldpad/lldpad.h"

#include <errno.h>
#include <fcntl.h>
#include <libconfig.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/file.h"

#define SECTION	     "lldp"
#define COMMON	     "common"
#define TLV_PREFIX   "tlvid"
#define READ_TRIES   20
#define READ_WAIT_US 50000

static const enum lldpad_tlv tlvs[] = {LLDPAD_ETS_CFG, LLDPAD_ETS_REC, LLDPAD_PFC, LLDPAD_APP};

static int conf_folder_exists(const char *path, struct err *e)
{
	char copy[PATH_MAX];
	int err;

	snprintf(copy, sizeof(copy), "%s", path);
	if (!access(dirname(copy), X_OK))
		return 0;
	err = err_sys(e, -errno, "%s", path);
	err_hint(e, "install lldpad, or set 'dcbx.agent: none'");
	return err;
}

/* Owned by root or this user, and not writable by others. */
static bool conf_is_trusted(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & S_IWOTH) &&
	       (!(st->st_mode & S_IWGRP) || !st->st_gid);
}

/* The command line of lldpad may name any file: does not block on a FIFO, and follows no link. */
static int conf_open(const char *path, FILE **f, struct stat *st, struct err *e)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC), err;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, st))
		err = err_sys(e, -errno, "%s", path);
	else if (!S_ISREG(st->st_mode))
		err = err_set(e, -EINVAL, "%s: not a regular file", path);
	else if (!conf_is_trusted(st))
		err = err_set(e, -EPERM,
			      "%s: not trusted: owner uid %u, mode %04o; expected owner root, "
			      "writable by root only",
			      path, (unsigned int)st->st_uid, st->st_mode & 07777);
	else
		err = (*f = fdopen(fd, "r")) ? 0 : err_sys(e, -errno, "%s", path);
	if (err && fd >= 0)
		close(fd);
	return err;
}

/* One try; *whole is false for a file that does not parse or is empty. */
static int conf_load_once(const char *path, config_t *config, bool *whole, struct stat *st,
			  struct err *e)
{
	FILE *f = NULL;
	int err = conf_open(path, &f, st, e);

	*whole = true; /* no file: all defaults */
	if (err)
		return err == -ENOENT ? conf_folder_exists(path, e) : err;
	*whole = config_read(config, f) == CONFIG_TRUE &&
		 config_setting_length(config_root_setting(config));
	fclose(f);
	return 0;
}

static bool conf_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* lldpad overwrites its file in place, so a read may see half of it: tries again. */
static int conf_load(const char *path, config_t *config, struct err *e)
{
	struct stat st = {0}, before;
	bool whole = false;
	int err = 0;

	config_init(config);
	for (unsigned int i = 0; !err && !whole && i < READ_TRIES; i++) {
		before = st;
		if (i)
			usleep(READ_WAIT_US);
		err = conf_load_once(path, config, &whole, &st, e);
		if (i && conf_unchanged(&st, &before))
			break;
	}
	if (err || whole || !st.st_size)
		return err;
	return err_set(e, -EBADMSG, "%s:%d: %s", path, config_error_line(config),
		       config_error_text(config) ? config_error_text(config) : "nothing in it");
}

static void conf_to_arg(const config_setting_t *s, struct lldpad_arg *arg)
{
	const char *text;

	*arg = (struct lldpad_arg){.type = LLDPAD_TEXT};
	snprintf(arg->name, sizeof(arg->name), "%s", config_setting_name(s));
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
		arg->type = LLDPAD_INT;
		arg->number = config_setting_get_int(s);
		break;
	case CONFIG_TYPE_BOOL:
		arg->type = LLDPAD_BOOL;
		arg->number = config_setting_get_bool(s);
		break;
	default:
		text = config_setting_get_string(s);
		snprintf(arg->text, sizeof(arg->text), "%s", text ? text : "");
	}
}

/* Reads the scalars of a group. */
static int conf_read_group(const config_setting_t *group, enum lldpad_tlv tlv, struct qos *q,
			   struct err *e)
{
	int err = 0;

	for (int i = 0; !err && i < config_setting_length(group); i++) {
		const config_setting_t *s = config_setting_get_elem(group, i);
		struct lldpad_arg arg;

		if (!s || !config_setting_name(s) || config_setting_is_group(s))
			continue;
		conf_to_arg(s, &arg);
		err = lldpad_parse_arg(q, tlv, &arg, e);
	}
	return err;
}

/* Reads the group of a port, or "common". */
static int conf_read_port(config_setting_t *port, struct qos *q, struct err *e)
{
	int err = conf_read_group(port, LLDPAD_NO_TLV, q, e);

	for (size_t i = 0; !err && i < ARRAY_SIZE(tlvs); i++) {
		config_setting_t *group;
		char name[32];

		snprintf(name, sizeof(name), TLV_PREFIX "%08x", (unsigned int)tlvs[i]);
		group = config_setting_get_member(port, name);
		if (group && config_setting_is_group(group))
			err = conf_read_group(group, tlvs[i], q, e);
	}
	return err;
}

static config_setting_t *conf_find_group(config_setting_t *in, const char *name)
{
	config_setting_t *s = config_setting_get_member(in, name);

	return s && config_setting_is_group(s) ? s : NULL;
}

int lldpad_conf_read(const char *path, const char *ifname, struct qos *q, struct err *e)
{
	const char *const names[] = {COMMON, ifname};
	config_setting_t *section, *port;
	config_t config;
	int err = conf_load(path, &config, e);

	if (!err) {
		lldpad_defaults(q);
		section = conf_find_group(config_root_setting(&config), SECTION);
		for (size_t i = 0; !err && section && i < ARRAY_SIZE(names); i++) {
			port = conf_find_group(section, names[i]);
			if (port)
				err = conf_read_port(port, q, e);
		}
		lldpad_finish(q);
		if (err)
			err_prefix(e, "%s: %s", path, ifname);
	}
	config_destroy(&config);
	return err;
}

static config_setting_t *conf_make_setting(config_setting_t *in, const char *name, int type)
{
	config_setting_t *s = config_setting_get_member(in, name);

	/* A setting keeps its type: deletes one of another type. */
	if (s && config_setting_type(s) != type) {
		config_setting_remove(in, name);
		s = NULL;
	}
	return s ? s : config_setting_add(in, name, type);
}

static bool conf_set_arg(config_setting_t *group, const struct lldpad_arg *arg)
{
	static const int types[] = {
		[LLDPAD_TEXT] = CONFIG_TYPE_STRING,
		[LLDPAD_INT] = CONFIG_TYPE_INT,
		[LLDPAD_BOOL] = CONFIG_TYPE_BOOL,
	};
	config_setting_t *s = conf_make_setting(group, arg->name, types[arg->type]);

	if (!s)
		return false;
	if (arg->type == LLDPAD_TEXT)
		return config_setting_set_string(s, arg->text) == CONFIG_TRUE;
	if (arg->type == LLDPAD_BOOL)
		return config_setting_set_bool(s, arg->number) == CONFIG_TRUE;
	return config_setting_set_int(s, arg->number) == CONFIG_TRUE;
}

/* Writes all entries, numbered from 0. */
static bool conf_set_apps(config_setting_t *group, const struct qos *q)
{
	static const struct qos none = {.dscp_prio = {[0 ... QOS_DSCPS - 1] = QOS_UNMAPPED}};
	struct lldpad_arg arg[LLDPAD_APPS_MAX];
	unsigned int n = lldpad_apps(q, &none, arg, LLDPAD_APPS_MAX);
	bool good = true;

	for (unsigned int i = 0; i < LLDPAD_APPS_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "APP%u", i);
		config_setting_remove(group, name);
	}
	for (unsigned int i = 0; good && i < n; i++) {
		snprintf(arg[i].name, sizeof(arg[i].name), "APP%u", i);
		good = conf_set_arg(group, &arg[i]);
	}
	return good;
}

static bool conf_set_tlv(config_setting_t *port, enum lldpad_tlv tlv, const struct qos *q,
			 uint64_t mask)
{
	bool apps = tlv == LLDPAD_APP && mask & LLDPAD_APP_FIELDS, good = true;
	struct lldpad_arg arg[LLDPAD_ARGS_MAX];
	unsigned int n = lldpad_args(q, mask, tlv, arg);
	config_setting_t *group = port;
	char name[32];

	if (!n && !apps)
		return true;
	snprintf(name, sizeof(name), TLV_PREFIX "%08x", (unsigned int)tlv);
	if (tlv)
		group = conf_make_setting(port, name, CONFIG_TYPE_GROUP);
	for (unsigned int i = 0; group && good && i < n; i++)
		good = conf_set_arg(group, &arg[i]);
	return group && good && (!apps || conf_set_apps(group, q));
}

static bool conf_set_port(config_t *config, const char *ifname, const struct qos *q, uint64_t mask)
{
	config_setting_t *section = conf_make_setting(config_root_setting(config), SECTION,
						      CONFIG_TYPE_GROUP);
	config_setting_t *port = section ? conf_make_setting(section, ifname, CONFIG_TYPE_GROUP)
					 : NULL;
	bool good = port && conf_set_tlv(port, LLDPAD_NO_TLV, q, mask);

	for (size_t i = 0; good && i < ARRAY_SIZE(tlvs); i++)
		good = conf_set_tlv(port, tlvs[i], q, mask);
	return good;
}

/* Formats the file and parses it again: libconfig writes values that it cannot read, e.g. infinity,
 * and lldpad would then start without its file. */
static int conf_format(const char *path, config_t *config, char **text, struct err *e)
{
	config_t again;
	size_t size;
	FILE *f = open_memstream(text, &size);
	int err = 0;

	if (!f)
		return err_sys(e, -ENOMEM, "%s", path);
	config_write(config, f);
	if (fclose(f))
		return err_sys(e, -ENOMEM, "%s", path);
	config_init(&again);
	if (config_read_string(&again, *text) != CONFIG_TRUE) {
		err = err_set(e, -EINVAL, "%s: cannot write its content back: line %d: %s", path,
			      config_error_line(&again), config_error_text(&again));
		err_hint(e, "check the file for a number that is too large");
	}
	config_destroy(&again);
	return err;
}

static int conf_store(const char *path, config_t *config, struct err *e)
{
	char *text = NULL;
	struct stat st;
	struct file f;
	int err = conf_format(path, config, &text, e);

	if (!err)
		err = file_open(path, stat(path, &st) ? FILE_PRIVATE : 0, &f, e);
	if (!err) {
		fputs(text, f.stream); /* file_close() checks for errors */
		err = file_close(&f, true, e);
	}
	free(text);
	return err;
}

int lldpad_conf_write(const char *path, const char *ifname, const struct qos *q, uint64_t mask,
		      struct err *e)
{
	config_t config;
	int err = conf_load(path, &config, e);

	/* libconfig has no name with a dot or a colon; VLANs and aliases have no DCB of their own.
	 */
	if (!err && !conf_set_port(&config, ifname, q, mask))
		err = err_set(e, -EINVAL, "%s: cannot write settings of '%s'", path, ifname);
	if (!err)
		err = conf_store(path, &config, e);
	config_destroy(&config);
	return err;
}
