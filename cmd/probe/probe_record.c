/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The document of a probe, printed and kept. A full disk costs the record, not the result.
 */
#include "cmd/probe/probe_record.h"

#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/probe/probe_choice.h"

json_t *probe_document(json_t *doc, json_t *verdict, int code)
{
	if (!json_object_set_new(doc, "verdict", verdict) &&
	    !json_object_set_new(doc, "exit", json_integer(code)))
		return doc;
	json_decref(doc);
	return NULL;
}

int probe_record_open(struct folder *f, struct err *e)
{
	return probe_choice.out_dir ? folder_make(probe_choice.out_dir, f, e) : 0;
}

int probe_record_tell(const struct folder *f, int code, int err, const struct err *e)
{
	if (err)
		return cmd_worse(code, cmd_fail(EXIT_ENVIRONMENT, e));
	if (!globals->quiet)
		fprintf(stderr, "rocecheck probe: record: %s\n", f->path);
	return code;
}
