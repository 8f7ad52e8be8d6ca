/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of writers, and saving a report.
 */
#include "reports/write/writer.h"

#include <errno.h>
#include <string.h>

#include "profiles/base/file.h"

const struct writer writers[] = {
	{.name = "text", .file = "report.txt", .write = write_text},
	{.name = "json", .file = "report.json", .write = write_json},
	{.name = "junit", .file = "junit.xml", .write = write_junit},
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

bool report_claim(const struct report *r, struct claim *claim)
{
	if (r->alone || r->capture || r->load)
		return false;
	claim_make(r->run, r->findings, claim);
	return true;
}

int writer_emit(FILE *out, const char *document, size_t size, struct err *e)
{
	if (fwrite(document, 1, size, out) != size || fflush(out))
		return err_sys(e, errno ? -errno : -EIO, "report");
	return 0;
}

static int writer_write_report(const struct report *r, const struct writer *w, struct file *f,
			       struct err *e)
{
	int err = w->write(r, f->stream, e);

	if (!err)
		return file_close(f, true, e);
	err_prefix(e, "%s", f->path);
	(void)file_close(f, false, NULL); /* nothing is kept */
	return err;
}

int report_save(const struct report *r, const struct writer *w, const char *path, struct err *e)
{
	struct file f;
	int err = file_open(path, 0, &f, e);

	return err ? err : writer_write_report(r, w, &f, e);
}

int report_save_in(const struct report *r, const struct writer *w, const struct folder *folder,
		   struct err *e)
{
	struct file f;
	int err = file_open_in(folder, w->file, 0, &f, e);

	return err ? err : writer_write_report(r, w, &f, e);
}
