/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots as files.
 */
#include "probe/host/snapshot.h"
#include "profiles/base/json_file.h"

int snapshot_load(const char *path, struct snapshot *s, struct err *e)
{
	json_t *json;
	int err = json_file_load(path, SNAPSHOT_BYTES_MAX, &json, e);

	if (err)
		return err;
	err = snapshot_from_json(json, s, e);
	json_decref(json);
	if (err)
		err_prefix(e, "%s", path);
	return err;
}

int snapshot_save(const struct snapshot *s, const char *path, struct err *e)
{
	return json_file_save(snapshot_to_json(s), path, e);
}
