/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The document of a probe, printed and kept. A full disk costs the record, not the result.
 */
#include "cmd/probe_record.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/probe_choice.h"
#include "probe/json_file.h"

json_t *probe_document(json_t *doc, json_t *verdict, int code)
{
	if (!json_object_set_new(doc, "verdict", verdict) &&
	    !json_object_set_new(doc, "exit", json_integer(code)))
		return doc;
	json_decref(doc);
	return NULL;
}

int probe_record_save(json_t *doc, const char *name, struct err *e)
{
	const char *dir = probe_choice.out_dir;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
		return json_file_save(doc, path, e);
	json_decref(doc);
	return err_sys(e, -ENAMETOOLONG, "%s", dir);
}

int probe_record_tell(int code, int err, const struct err *e)
{
	if (err)
		return cmd_worse(code, cmd_fail(EXIT_ENVIRONMENT, e));
	if (!globals->quiet)
		fprintf(stderr, "rocecheck probe: record: %s\n", probe_choice.out_dir);
	return code;
}
