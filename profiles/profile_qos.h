/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of struct qos in profile syntax. Only the profile loader uses this.
 */
#ifndef PROFILES_PROFILE_QOS_H
#define PROFILES_PROFILE_QOS_H

#include "profiles/qos.h"
#include "profiles/yaml/yaml_schema.h"

/* Reads the value of a field and sets has. Application entries are added, others replaced. -EINVAL
 * after a report; the member is then undefined and has is unchanged. */
int profile_read_qos(struct schema_load *l, enum qos_field_id id, const struct yaml_node *node,
		     struct qos *q);

/* Adds the entries of one selector: {4791: 3}. */
int profile_read_apps(struct schema_load *l, uint8_t selector, const struct yaml_node *node,
		      struct qos *q);

/* The JSON Schema of a field's value in profile syntax; new reference, NULL on -ENOMEM. */
json_t *profile_qos_schema(const struct qos_field *f);

#endif
