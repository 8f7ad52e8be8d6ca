/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches the text of enabled units for QoS tools. Disabled units are no conflict, and rocecheck's
 * own units name none of the tools. A timer or path unit starts another unit, which names the tool.
 * Scripts, hooks and cron jobs are not read.
 */
#include "dcb/drift/boot_config.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dcb/drift/owner.h"
#include "profiles/base/boot_unit.h"
#include "profiles/base/small_file.h"

static const char *const tools[] = {
	"mlnx_qos",	 "cma_roce_tos", "cma_roce_mode", "lldptool", "dcbtool",
	"dcb",		 "niccli",	 "bnxtqos",	  "nicctl",   "bnxt_setupcc.sh",
	"show_gids_qos", "tc_wrap.py",
};

/* Units that start another one, by default the one of the same name. */
static const char *const starters[] = {".timer", ".path"};

struct walk {
	int root;
	struct owner *found;
	unsigned int count, max;
};

static bool boot_is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool boot_names_tool(const char *text, const char *tool)
{
	size_t length = strlen(tool);

	for (const char *at = text; (at = strstr(at, tool)); at++)
		if ((at == text || !boot_is_word_char(at[-1])) && !boot_is_word_char(at[length]))
			return true;
	return false;
}

/* Cuts a comment: a line that begins with '#' or ';', or the text after " #". */
static void boot_cut_comment(char *line)
{
	char *begin = line + strspn(line, " \t"), *end = strstr(line, " #");

	if (*begin == '#' || *begin == ';')
		*begin = '\0';
	else if (end)
		*end = '\0';
}

const char *boot_config_tool(const char *text)
{
	char line[512];

	while (*text) {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		boot_cut_comment(line);
		for (unsigned int i = 0; i < ARRAY_SIZE(tools); i++)
			if (boot_names_tool(line, tools[i]))
				return tools[i];
		text += length + (text[length] == '\n');
	}
	return NULL;
}

/* Reads a regular file; NULs become ends of lines. */
static bool boot_read_file(int root, const char *path, char text[TEXT_FILE_MAX + 1])
{
	unsigned int n = text_file_read(root, path, text);

	for (unsigned int i = 0; i < n; i++)
		if (!text[i])
			text[i] = '\n';
	return n;
}

/* Reads the name of the unit that a timer or path unit starts. */
static bool boot_started_unit(const char *name, const char *text, char unit[256])
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

/* Checks an enabled unit, or the one that it starts. */
static bool boot_check_unit(const char *link, const char *name, const char *file, void *arg)
{
	char text[TEXT_FILE_MAX + 1], unit[256], other[PATH_MAX] = "";
	struct walk *w = arg;
	const char *tool;

	if (!boot_read_file(w->root, file, text))
		return false;
	tool = boot_config_tool(text);
	if (!tool && boot_started_unit(name, text, unit) && boot_unit_file(w->root, unit, other) &&
	    boot_read_file(w->root, other, text))
		tool = boot_config_tool(text);
	if (tool) {
		struct owner *found = &w->found[w->count++];

		snprintf(found->path, sizeof(found->path), "%.255s", link);
		snprintf(found->via, sizeof(found->via), "%s%.254s", other[0] ? "/" : "", other);
		snprintf(found->name, sizeof(found->name), "%s", tool);
	}
	return w->count == w->max;
}

unsigned int boot_config_find(const char *root, struct owner *found, unsigned int max)
{
	struct walk w = {.found = found, .max = max};

	w.root = max ? open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (w.root < 0)
		return 0;
	boot_unit_each(w.root, boot_check_unit, &w);
	close(w.root);
	return w.count;
}
