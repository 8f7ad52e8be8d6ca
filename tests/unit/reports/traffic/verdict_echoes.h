/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the marking echo beside a traffic run found.
 */
#ifndef TESTS_UNIT_VERDICT_ECHOES_H
#define TESTS_UNIT_VERDICT_ECHOES_H

#include "tests/unit/reports/traffic/verdict_scene.h"

extern const struct fault_table echo_faults;

#endif
