/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders as rows. A unit counts when a .wants folder links to it, so that what is installed and
 * not enabled is no conflict; rocecheck's own units name none of the tools. Mostly the tool is not
 * named by the unit that is enabled: a timer starts a service, and that executes a script.
 */
#include "dcb/drift/reapply.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/folder.h"
#include "profiles/base/text_file.h"

#define FILES_MAX 2048 /* in all */

static const char *const tools[] = {
	"mlnx_qos",	 "cma_roce_tos", "cma_roce_mode", "lldptool", "dcbtool",
	"dcb",		 "niccli",	 "bnxtqos",	  "nicctl",   "bnxt_setupcc.sh",
	"show_gids_qos", "tc_wrap.py",
};

static const struct {
	const char *folder;  /* below the root */
	const char *pattern; /* of folders in it that are looked into; NULL: the files themselves */
} places[] = {
	{"etc/systemd/system", "*.wants"},
	{"lib/systemd/system", "*.wants"},
	{"etc/NetworkManager/dispatcher.d", NULL},
	{"etc/networkd-dispatcher/routable.d", NULL},
	{"etc/network/if-up.d", NULL},
	{"etc/cron.d", NULL},
	{"etc/crontab", NULL},
	{"etc/cron.hourly", NULL},
	{"etc/cron.daily", NULL},
	{"var/spool/cron/crontabs", NULL},
	{"etc/rc.local", NULL},
};

/* Where the unit of a name is. */
static const char *const unit_folders[] = {
	"etc/systemd/system", "run/systemd/system",	"usr/local/lib/systemd/system",
	"lib/systemd/system", "usr/lib/systemd/system",
};

/* Units that start another one, of their name unless they say which. */
static const char *const starters[] = {".timer", ".path"};

struct walk {
	int root;
	struct reapply *found;
	unsigned int count, max, files;
};

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool names_tool(const char *text, const char *tool)
{
	size_t length = strlen(tool);

	for (const char *at = text; (at = strstr(at, tool)); at++)
		if ((at == text || !is_word_char(at[-1])) && !is_word_char(at[length]))
			return true;
	return false;
}

/* A comment says what a file does not do: a line that begins with '#' or ';', or what is behind "
 * #". */
static void cut_comment(char *line)
{
	char *begin = line + strspn(line, " \t"), *end = strstr(line, " #");

	if (*begin == '#' || *begin == ';')
		*begin = '\0';
	else if (end)
		*end = '\0';
}

const char *reapply_tool(const char *text)
{
	char line[512];

	while (*text) {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		cut_comment(line);
		for (unsigned int i = 0; i < ARRAY_SIZE(tools); i++)
			if (names_tool(line, tools[i]))
				return tools[i];
		text += length + (text[length] == '\n');
	}
	return NULL;
}

/* What a file that is a script begins with. */
static const char script_magic[] = "#!";

/* The text of a regular file, NULs as ends of lines. False: none, no more may be read, or it is
 * asked for a script and the file is none. */
static bool read_file(struct walk *w, const char *path, bool script, char text[TEXT_FILE_MAX + 1])
{
	const char *magic = script ? script_magic : NULL;
	unsigned int n = w->files++ < FILES_MAX ? text_file_read(w->root, path, magic, text) : 0;

	for (unsigned int i = 0; i < n; i++)
		if (!text[i])
			text[i] = '\n';
	return n;
}

static void add(struct walk *w, const char *path, const char *via, const char *tool)
{
	struct reapply *found = &w->found[w->count++];

	snprintf(found->path, sizeof(found->path), "/%s", path);
	snprintf(found->via, sizeof(found->via), "%s%s", via ? "/" : "", via ? via : "");
	snprintf(found->tool, sizeof(found->tool), "%s", tool);
}

/* The tool that a script names; programs are not looked into. */
static const char *script_tool(struct walk *w, const char *path)
{
	char text[TEXT_FILE_MAX + 1];

	return read_file(w, path, true, text) ? reapply_tool(text) : NULL;
}

/* Of the scripts in the Exec lines of a unit, the first that names a tool. */
static const char *exec_tool(struct walk *w, const char *unit, char script[256])
{
	for (const char *line = unit; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t end = strcspn(line, "\n");

		if (strncmp(line, "Exec", 4))
			continue;
		for (size_t at = 4; at < end; at++) {
			size_t length = strcspn(line + at, " \t\n\"';");
			const char *tool;

			if (line[at] != '/' || !strchr("=-@:+! \t\"'", line[at - 1]))
				continue;
			if (length > 255)
				continue;
			snprintf(script, 256, "%.*s", (int)length - 1, line + at + 1);
			tool = script_tool(w, script);
			if (tool)
				return tool;
			at += length - 1;
		}
	}
	return NULL;
}

/* Whether there is anything by that name; a unit that is masked is a link to /dev/null. */
static bool is_there(const struct walk *w, const char *path)
{
	struct stat st;

	return !fstatat(w->root, path, &st, 0);
}

/* The text of a unit by its name; an instance has the file of its template. The first folder that
 * has it decides, so that what is masked is not found further down. */
static bool read_unit(struct walk *w, const char *name, char path[PATH_MAX],
		      char text[TEXT_FILE_MAX + 1])
{
	const char *at = strchr(name, '@'), *dot = strrchr(name, '.');

	for (unsigned int i = 0; i < ARRAY_SIZE(unit_folders); i++) {
		if (snprintf(path, PATH_MAX, "%s/%s", unit_folders[i], name) < PATH_MAX &&
		    is_there(w, path))
			return read_file(w, path, false, text);
		if (at && dot > at &&
		    snprintf(path, PATH_MAX, "%s/%.*s@%s", unit_folders[i], (int)(at - name), name,
			     dot) < PATH_MAX &&
		    is_there(w, path))
			return read_file(w, path, false, text);
	}
	return false;
}

/* The unit that a timer or path unit starts. */
static bool started_unit(const char *name, const char *text, char unit[256])
{
	static const char key[] = "Unit=";

	for (unsigned int i = 0; i < ARRAY_SIZE(starters); i++) {
		size_t length = strlen(name), suffix = strlen(starters[i]);
		const char *line = text;

		if (length <= suffix || strcmp(name + length - suffix, starters[i]))
			continue;
		snprintf(unit, 256, "%.*s.service", (int)(length - suffix), name);
		while ((line = strstr(line, key))) {
			size_t value = strcspn(line + strlen(key), " \t\n");

			if ((line == text || line[-1] == '\n') && value && value < 256)
				snprintf(unit, 256, "%.*s", (int)value, line + strlen(key));
			line += strlen(key);
		}
		return !strchr(unit, '/');
	}
	return false;
}

/* A unit that a target wants: itself, what it starts, and the scripts of both. */
static void look_into_unit(struct walk *w, const char *path, const char *name, const char *text)
{
	char started[TEXT_FILE_MAX + 1], file[PATH_MAX], unit[256], script[256];
	const char *tool = exec_tool(w, text, script);

	if (tool) {
		add(w, path, script, tool);
		return;
	}
	if (!started_unit(name, text, unit) || !read_unit(w, unit, file, started))
		return;
	tool = reapply_tool(started);
	if (tool) {
		add(w, path, file, tool);
		return;
	}
	tool = exec_tool(w, started, script);
	if (tool)
		add(w, path, script, tool);
}

static void look_into(struct walk *w, const char *path, const char *name, bool unit)
{
	char text[TEXT_FILE_MAX + 1], file[PATH_MAX];
	const char *tool;

	if (w->count == w->max)
		return;
	/* A link may lead out of the root, and its name is that of the unit. */
	if (!read_file(w, path, false, text) && !(unit && read_unit(w, name, file, text)))
		return;
	tool = reapply_tool(text);
	if (tool)
		add(w, path, NULL, tool);
	else if (unit)
		look_into_unit(w, path, name, text);
}

static void walk_folder(struct walk *w, const char *folder, const char *pattern, bool units)
{
	DIR *dir = folder_read(w->root, folder);
	char path[PATH_MAX];
	struct dirent *d;

	if (!dir) /* rc.local is a file */
		look_into(w, folder, folder, false);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || (pattern && fnmatch(pattern, d->d_name, 0)) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, d->d_name) >= (int)sizeof(path))
			continue;
		if (pattern)
			walk_folder(w, path, NULL, true);
		else
			look_into(w, path, d->d_name, units);
	}
	if (dir)
		closedir(dir);
}

unsigned int reapply_find(const char *root, struct reapply *found, unsigned int max)
{
	struct walk w = {.found = found, .max = max};

	w.root = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w.root < 0)
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++)
		walk_folder(&w, places[i].folder, places[i].pattern, false);
	close(w.root);
	return w.count;
}
