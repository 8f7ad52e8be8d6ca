/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drafts of an inventory and a profile from a survey: the hosts that answered with their RoCE
 * ports, and the settings that most ports of the largest group have.
 */
#ifndef CMD_SURVEY_DRAFT_H
#define CMD_SURVEY_DRAFT_H

#include "reports/engine/survey_compare.h"

/* Writes fabric.yaml and profile.yaml below `path`, which is created. f: as the hosts were reached.
 * -ENODATA without any port that an inventory can name. */
int survey_draft_save(const char *path, const struct fabric *f, const struct survey *s,
		      struct err *e);

#endif
