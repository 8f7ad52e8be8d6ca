/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a good run that the rules over traffic meet alone and beside TCP.
 */
#ifndef TRAFFIC_FAULTS_H
#define TRAFFIC_FAULTS_H

#include "tests/unit/reports/rules/rule_cases.h"

void arrives_elsewhere(struct fabric_run *f);
void arrives_unseen(struct fabric_run *f);
void discards(struct fabric_run *f);

#endif
