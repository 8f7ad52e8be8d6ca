/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row per program that sets DCB: its finder and its report with the remedy. Configuration is
 * read as text: NetworkManager's keyfiles (nm-settings-keyfile(5)), lldpd's
 * commands (lldpcli(8)), the links by which systemd enables units.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dcb/drift/boot_config.h"
#include "dcb/drift/owner.h"
#include "dcb/lldpad/lldpad_process.h"
#include "profiles/base/boot_unit.h"
#include "profiles/base/process.h"
#include "profiles/base/small_file.h"

#define FILES_MAX 256 /* of one folder */

struct search {
	const char *proc;
	int root;
	const char *root_path;
	const char *const *ports;
	unsigned int port_count;
};

static unsigned int owner_find_lldpad(const struct search *s, struct owner *found, unsigned int max)
{
	found->pid = lldpad_find_pid(s->proc);
	return found->pid && max;
}

static unsigned int owner_find_socket(const struct search *s, struct owner *found, unsigned int max)
{
	(void)found;
	return max && lldpad_socket_activated(s->proc);
}

static unsigned int owner_find_boot(const struct search *s, struct owner *found, unsigned int max)
{
	static const char *const units[] = {"lldpad.service", "lldpad.socket"};
	char path[PATH_MAX];

	/* Already reported. */
	if (!max || lldpad_find_pid(s->proc) || lldpad_socket_activated(s->proc))
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(units); i++)
		if (boot_unit_enabled(s->root, units[i], path)) {
			snprintf(found->path, sizeof(found->path), "%.255s", path);
			return 1;
		}
	return 0;
}

/* Calls fn for each file of a folder that matches the pattern, until it returns true. */
typedef bool look(const struct search *s, const char *path, struct owner *found);

static unsigned int owner_find_in_folder(const struct search *s, const char *folder,
					 const char *pattern, look *fn, struct owner *found,
					 unsigned int max)
{
	DIR *dir = small_file_opendir(s->root, folder);
	unsigned int count = 0, files = 0;
	struct dirent *d;
	char path[256];

	while (dir && count < max && files < FILES_MAX && (d = readdir(dir))) {
		if (fnmatch(pattern, d->d_name, FNM_PERIOD) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, d->d_name) >= (int)sizeof(path))
			continue;
		files++;
		count += fn(s, path, &found[count]);
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Reads the next word of a line, separated by commas or blanks; "" at its end. */
static const char *owner_next_word(const char **at, const char *end, char *buf, size_t size)
{
	const char *begin;

	while (*at < end && isspace((unsigned char)**at))
		++*at;
	begin = *at;
	while (*at < end && !isspace((unsigned char)**at))
		++*at;
	snprintf(buf, size, "%.*s", (int)(*at - begin), begin);
	return buf;
}

/* lldpcli accepts abbreviated commands. */
static bool owner_is_abbreviation(const char *token, const char *command)
{
	size_t length = strlen(token);

	return length >= 3 && !strncmp(command, token, length);
}

/*
 *	configure [ports eth0] lldp custom-tlv [add|replace] oui 00,80,c2 subtype 11 oui-info ...
 *
 * OUI 00-80-C2 with subtypes 9 to 12 is 802.1Qaz (802.1Q annex D), 00-1B-21 is DCBX before it.
 */
static bool owner_line_sends_dcbx(const char *line, size_t length)
{
	static const char *const ieee[] = {"9", "10", "11", "12"};
	const char *at = line, *end = line + length;
	char token[32], oui[16] = "", subtype[16] = "";
	bool custom = false;

	if (!owner_is_abbreviation(owner_next_word(&at, end, token, sizeof(token)), "configure"))
		return false;
	while (owner_next_word(&at, end, token, sizeof(token))[0]) {
		if (owner_is_abbreviation(token, "custom-tlv"))
			custom = true;
		else if (owner_is_abbreviation(token, "oui"))
			owner_next_word(&at, end, oui, sizeof(oui));
		else if (owner_is_abbreviation(token, "subtype"))
			owner_next_word(&at, end, subtype, sizeof(subtype));
	}
	if (!custom)
		return false;
	for (unsigned int i = 0; !strcasecmp(oui, "00,80,c2") && i < ARRAY_SIZE(ieee); i++)
		if (!strcmp(subtype, ieee[i]))
			return true;
	return !strcasecmp(oui, "00,1b,21");
}

static bool owner_read_lldpd_conf(const struct search *s, const char *path, struct owner *found)
{
	char text[TEXT_FILE_MAX + 1];

	if (!text_file_read(s->root, path, text))
		return false;
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (owner_line_sends_dcbx(line, strcspn(line, "\n"))) {
			snprintf(found->path, sizeof(found->path), "%s", path);
			return true;
		}
	return false;
}

static unsigned int owner_find_lldpd(const struct search *s, struct owner *found, unsigned int max)
{
	unsigned int count = max && owner_read_lldpd_conf(s, "etc/lldpd.conf", found);
	char path[PATH_MAX];

	if (max && !count)
		count = owner_find_in_folder(s, "etc/lldpd.d", "*.conf", owner_read_lldpd_conf,
					     found, 1);
	/* Searches the processes only if a configuration matches. */
	if (!count)
		return 0;
	found->pid = process_find_daemon(s->proc, "lldpd");
	return found->pid || boot_unit_enabled(s->root, "lldpd.service", path);
}

/* The connection of a keyfile. */
struct connection {
	bool dcb;
	char id[64], interface[16];
};

static bool owner_parse_value(const char *line, size_t length, const char *key, char *value,
			      size_t size)
{
	size_t at = strlen(key);

	if (length <= at || strncmp(line, key, at))
		return false;
	while (at < length && line[at] == ' ')
		at++;
	if (at == length || line[at] != '=')
		return false;
	at++;
	while (at < length && line[at] == ' ')
		at++;
	snprintf(value, size, "%.*s", (int)(length - at), line + at);
	return true;
}

static void owner_parse_keyfile(const char *text, struct connection *c)
{
	bool general = false;

	*c = (struct connection){0};
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t length = strcspn(line, "\r\n");

		if (line[0] == '[') {
			general = length == 12 && !strncmp(line, "[connection]", length);
			c->dcb |= length == 5 && !strncmp(line, "[dcb]", length);
		} else if (general) {
			(void)(owner_parse_value(line, length, "id", c->id, sizeof(c->id)) ||
			       owner_parse_value(line, length, "interface-name", c->interface,
						 sizeof(c->interface)));
		}
	}
}

static bool owner_read_connection(const struct search *s, const char *path, struct owner *found)
{
	char text[TEXT_FILE_MAX + 1];
	struct connection c;
	bool ours;

	if (!text_file_read(s->root, path, text))
		return false;
	owner_parse_keyfile(text, &c);
	/* A connection without an interface name may apply to any port. */
	ours = !c.interface[0] || !s->port_count;
	for (unsigned int i = 0; i < s->port_count; i++)
		ours |= !strcmp(s->ports[i], c.interface);
	if (!c.dcb || !ours)
		return false;
	snprintf(found->path, sizeof(found->path), "%s", path);
	snprintf(found->name, sizeof(found->name), "%s", c.id);
	/* The name becomes part of a command that users paste. */
	for (char *at = found->name; *at; at++)
		if (!isprint((unsigned char)*at) || strchr("'\"\\`$", *at))
			*at = '?';
	return true;
}

static unsigned int owner_find_connections(const struct search *s, struct owner *found,
					   unsigned int max)
{
	static const char *const folders[] = {"etc/NetworkManager/system-connections",
					      "run/NetworkManager/system-connections",
					      "usr/lib/NetworkManager/system-connections"};
	unsigned int count = 0;
	char path[PATH_MAX];

	for (unsigned int i = 0; i < ARRAY_SIZE(folders) && count < max; i++)
		count += owner_find_in_folder(s, folders[i], "*", owner_read_connection,
					      found + count, max - count);
	if (!count || process_find_daemon(s->proc, "NetworkManager") ||
	    boot_unit_enabled(s->root, "NetworkManager.service", path))
		return count;
	return 0;
}

static unsigned int owner_find_boot_config(const struct search *s, struct owner *found,
					   unsigned int max)
{
	return boot_config_find(s->root_path, found, max);
}

static unsigned int owner_find_foreign(const struct search *s, struct owner *found,
				       unsigned int max)
{
	uid_t uid;

	if (!max || !lldpad_socket_foreign(s->proc, &uid))
		return 0;
	if (uid == (uid_t)-1)
		snprintf(found->name, sizeof(found->name), "uid unknown");
	else
		snprintf(found->name, sizeof(found->name), "uid %u", (unsigned int)uid);
	return 1;
}

static void owner_report_lldpad(const struct owner *o, struct err *e)
{
	err_set(e, -EBUSY,
		"lldpad (pid %d) is running: it writes its own ETS and PFC with every LLDPDU",
		(int)o->pid);
	err_hint(e, "systemctl disable --now lldpad.socket lldpad.service, or let lldpad set the "
		    "port: 'dcbx.agent: lldpad'");
}

static void owner_report_socket(const struct owner *o, struct err *e)
{
	(void)o;
	err_set(e, -EBUSY,
		"the first use of lldpad.socket starts lldpad, and lldpad then writes its own ETS "
		"and PFC");
	err_hint(e, "systemctl disable --now lldpad.socket, or let lldpad set the port: "
		    "'dcbx.agent: lldpad'");
}

static void owner_report_boot(const struct owner *o, struct err *e)
{
	err_set(e, -EBUSY,
		"lldpad is not running, but /%s starts it at boot, and lldpad then writes its own "
		"ETS and PFC",
		o->path);
	err_hint(e, "systemctl disable lldpad.socket lldpad.service, or let lldpad set the port: "
		    "'dcbx.agent: lldpad'");
}

static void owner_report_lldpd(const struct owner *o, struct err *e)
{
	err_set(e, -EBUSY,
		"lldpd sends its own DCBX TLVs (/%s): the switch sees those, not the settings of "
		"the port",
		o->path);
	err_hint(e, "remove the custom-tlv lines and restart lldpd; without them lldpd neither "
		    "sets nor sends DCB");
}

static void owner_report_connection(const struct owner *o, struct err *e)
{
	err_set(e, -EBUSY, "NetworkManager connection '%s' (/%s) sets DCB whenever it comes up",
		o->name, o->path);
	err_hint(e, "nmcli connection modify '%s' remove dcb", o->name);
}

static void owner_report_boot_config(const struct owner *o, struct err *e)
{
	if (o->via[0])
		err_set(e, -EBUSY, "/%s runs %s (in %s), which may overwrite these settings",
			o->path, o->name, o->via);
	else
		err_set(e, -EBUSY, "/%s runs %s, which may overwrite these settings", o->path,
			o->name);
	err_hint(e, "disable it, or make it run 'rocecheck apply' instead");
}

static void owner_report_foreign(const struct owner *o, struct err *e)
{
	err_set(e, -EBUSY,
		"a process that is not lldpad (%s) holds lldpad's socket name, so lldpad cannot "
		"start",
		o->name);
	err_hint(e, "find the process: ss -xlp | grep com/intel/lldpad");
}

static const struct row {
	unsigned int (*find)(const struct search *s, struct owner *found, unsigned int max);
	void (*report)(const struct owner *o, struct err *e);
} rows[OWNER_KIND_COUNT] = {
	[OWNER_LLDPAD] = {owner_find_lldpad, owner_report_lldpad},
	[OWNER_LLDPAD_SOCKET] = {owner_find_socket, owner_report_socket},
	[OWNER_LLDPAD_BOOT] = {owner_find_boot, owner_report_boot},
	[OWNER_LLDPD] = {owner_find_lldpd, owner_report_lldpd},
	[OWNER_NETWORKMANAGER] = {owner_find_connections, owner_report_connection},
	[OWNER_BOOT_CONFIG] = {owner_find_boot_config, owner_report_boot_config},
	[OWNER_FOREIGN_SOCKET] = {owner_find_foreign, owner_report_foreign},
};

unsigned int owner_find(const struct owner_roots *roots, const char *const *ports,
			unsigned int count, struct owner *found, unsigned int max)
{
	struct search s = {
		.proc = roots && roots->proc ? roots->proc : "/proc",
		.root_path = roots && roots->root ? roots->root : "/",
		.ports = ports,
		.port_count = count,
	};
	unsigned int n = 0;

	s.root = open(s.root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned int kind = 0; kind < OWNER_KIND_COUNT && n < max; kind++) {
		unsigned int more;

		memset(&found[n], 0, (max - n) * sizeof(*found));
		more = rows[kind].find(&s, &found[n], max - n);
		for (unsigned int i = 0; i < more; i++)
			found[n + i].kind = (enum owner_kind)kind;
		n += more;
	}
	if (s.root >= 0)
		close(s.root);
	return n;
}

bool owner_is_lldpad(const struct owner *owner)
{
	return owner->kind == OWNER_LLDPAD || owner->kind == OWNER_LLDPAD_SOCKET ||
	       owner->kind == OWNER_LLDPAD_BOOT;
}

bool owner_blocks(const struct owner *owner)
{
	return owner->kind != OWNER_FOREIGN_SOCKET;
}

int owner_report(const struct owner *owner, struct err *e)
{
	rows[owner->kind].report(owner, e);
	return -EBUSY;
}
