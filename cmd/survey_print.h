/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A survey as text and as JSON (rocecheck.survey/1).
 */
#ifndef CMD_SURVEY_PRINT_H
#define CMD_SURVEY_PRINT_H

#include "reports/engine/survey_compare.h"

/* A survey, and the hosts of its parts as node sets. */
struct survey_view {
	const struct run *r; /* borrowed */
	struct survey s;
	unsigned int interval_ms;
	unsigned int groups;				      /* of SURVEY_SPEED */
	char **outlier_hosts, **unknown_hosts, **group_hosts; /* owned, with their texts */
};

/* Compares the hosts of a run, which must outlive the view. -ENOMEM. The caller calls
 * survey_view_clear() in any case. */
int survey_view_make(const struct run *r, unsigned int interval_ms, struct survey_view *v);
void survey_view_clear(struct survey_view *v);

/* Prints the report on stdout. -ENOMEM. */
int survey_print_text(const struct survey_view *v);

/* New reference, NULL on -ENOMEM. */
json_t *survey_json(const struct survey_view *v, int code);

#endif
