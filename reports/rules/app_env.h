/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment that makes applications send as the profile wants: devices, GID index, traffic
 * class and service level by the names of NCCL, UCX, NVSHMEM and the MPIs. A value that differs
 * between the devices is left out, with a note.
 */
#ifndef REPORTS_APP_ENV_H
#define REPORTS_APP_ENV_H

#include <jansson.h>
#include <stdio.h>

#include "reports/engine/rule.h"

#define APP_ENV_VARS_MAX  24
#define APP_ENV_NOTES_MAX 8

struct app_env_var {
	const char *name;
	char value[1024]; /* app_env_make() has letters, digits and "_.:,=-" alone */
};

struct app_env {
	unsigned int count, notes;
	struct app_env_var var[APP_ENV_VARS_MAX];
	char note[APP_ENV_NOTES_MAX][320]; /* one line each */
};

/* Makes it for the ports of run->host[0] that are up and run RoCE. Pure. */
void app_env_make(const struct fabric *f, const struct run *run, struct app_env *env);

/* Writes the variables of this traffic class: "NCCL_IB_TC=106, UCX_IB_TRAFFIC_CLASS=106, ...". */
void app_env_class_text(int tos, char *buf, size_t size);

/* Prints shell lines: notes as comments, then `export NAME=VALUE`, quoted unless harmless. */
void app_env_print(const struct app_env *env, FILE *out);

/* {"NAME": "VALUE"}; new reference, NULL on -ENOMEM. */
json_t *app_env_json(const struct app_env *env);

#endif
