/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A survey as text and as JSON (rocecheck.survey/1).
 */
#ifndef CMD_SURVEY_PRINT_H
#define CMD_SURVEY_PRINT_H

#include "reports/engine/survey_compare.h"

/* Prints the report on stdout. -ENOMEM. */
int survey_print_text(const struct survey *s);

/* New reference, NULL on -ENOMEM. */
json_t *survey_json(const struct survey *s, int code);

#endif
