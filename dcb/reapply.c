/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders as rows. A unit counts when a .wants folder links to it, so that what is installed and
 * not enabled is no conflict; rocecheck's own units name none of the tools.
 */
#include "dcb/reapply.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base.h"

#define FILE_MAX  65536
#define FILES_MAX 1024 /* in all */

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
	{"etc/rc.local", NULL},
};

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

static void look_into(struct walk *w, const char *path)
{
	static const char newline = '\n';
	char text[FILE_MAX + 1];
	const char *tool;
	struct stat st;
	ssize_t n;
	int fd;

	if (w->files++ >= FILES_MAX || w->count == w->max)
		return;
	fd = openat(w->root, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	n = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -1 : read(fd, text, FILE_MAX);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = newline;
	tool = reapply_tool(text);
	if (!tool)
		return;
	snprintf(w->found[w->count].path, sizeof(w->found->path), "/%s", path);
	snprintf(w->found[w->count++].tool, sizeof(w->found->tool), "%s", tool);
}

static void walk_folder(struct walk *w, const char *folder, const char *pattern)
{
	int fd = openat(w->root, folder, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char path[PATH_MAX];
	struct dirent *d;

	if (fd >= 0 && !dir) { /* rc.local is a file */
		close(fd);
		look_into(w, folder);
	}
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || (pattern && fnmatch(pattern, d->d_name, 0)) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, d->d_name) >= (int)sizeof(path))
			continue;
		if (pattern)
			walk_folder(w, path, NULL);
		else
			look_into(w, path);
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
		walk_folder(&w, places[i].folder, places[i].pattern);
	close(w.root);
	return w.count;
}
