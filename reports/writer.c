/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer table, and saving a report: a file beside the wanted one, synced, then renamed over
 * it, so that nobody ever reads half a report.
 */
#include "reports/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/writers.h"

const struct writer writers[] = {
	{.name = "text",	 .file = "report.txt",  .write = write_text },
	{.name = "json",	 .file = "report.json", .write = write_json },
	{.name = "junit", .file = "junit.xml",   .write = write_junit},
};
const unsigned int writer_count = ARRAY_SIZE(writers);

const struct writer *writer_find(const char *name)
{
	for (unsigned int i = 0; i < writer_count; i++)
		if (!strcmp(writers[i].name, name))
			return &writers[i];
	return NULL;
}

const char *report_verdict(const struct report *r)
{
	static const char *const words[] = {[0] = "PASS", [1] = "FAIL", [4] = "INCOMPLETE"};
	unsigned int code = (unsigned int)r->exit_code;

	return code < ARRAY_SIZE(words) && words[code] ? words[code] : "ERROR";
}

int writer_put(FILE *out, const char *document, size_t size, struct err *e)
{
	if (fwrite(document, 1, size, out) != size || fflush(out))
		return err_sys(e, errno ? -errno : -EIO, "report");
	return 0;
}

static int save_stream(const struct report *r, const struct writer *w, int fd, struct err *e)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		err = err_sys(e, -errno, "report");
		close(fd);
		return err;
	}
	err = w->write(r, out, e);
	if (!err && (fchmod(fd, 0644) || fsync(fd)))
		err = err_sys(e, -errno, "report");
	if (fclose(out) && !err)
		err = err_sys(e, -errno, "report");
	return err;
}

int report_save(const struct report *r, const struct writer *w, const char *path, struct err *e)
{
	char *temp = NULL;
	int fd, err;

	if (asprintf(&temp, "%s.XXXXXX", path) < 0)
		return err_sys(e, -ENOMEM, "%s", path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0) {
		err = err_sys(e, -errno, "%s", path);
		free(temp);
		return err;
	}
	err = save_stream(r, w, fd, e);
	if (err)
		err_prefix(e, "%s", path);
	else if (rename(temp, path))
		err = err_sys(e, -errno, "%s", path);
	if (err)
		(void)unlink(temp); /* the error that led here is the one to tell */
	free(temp);
	return err;
}
