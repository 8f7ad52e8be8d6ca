/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules: one row each, sorted by id, a file for each group. Ids never change meaning. A row
 * names the rules whose violations it explains on the same port; `rocecheck rules` and `rocecheck
 * explain` print the rows.
 */
#include "reports/rules/checks.h"

/* clang-format off */
const struct rule rule_table[] = {
#include "reports/rules/rules_cap.inc"
#include "reports/rules/rules_ecn.inc"
#include "reports/rules/rules_env.inc"
#include "reports/rules/rules_ets.inc"
#include "reports/rules/rules_gid.inc"
#include "reports/rules/rules_hst.inc"
#include "reports/rules/rules_lnk.inc"
#include "reports/rules/rules_meta.inc"
#include "reports/rules/rules_mtu.inc"
#include "reports/rules/rules_net.inc"
#include "reports/rules/rules_pci.inc"
#include "reports/rules/rules_pfc.inc"
#include "reports/rules/rules_qos.inc"
#include "reports/rules/rules_top.inc"
#include "reports/rules/rules_trn.inc"
};
/* clang-format on */
const unsigned int rule_count = ARRAY_SIZE(rule_table);
