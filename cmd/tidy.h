/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state folder before a command changes something: what cannot be read there is set aside and
 * named, and the boot unit that undoes what a reboot interrupts.
 */
#ifndef CMD_TIDY_H
#define CMD_TIDY_H

#include <stdbool.h>

/* Sets unreadable journals aside and warns of each. */
void cmd_tidy(const char *state_dir);

/* Whether rocecheck-apply.service is enabled below root (NULL: /), by the links that systemctl
 * enable makes, and not masked. No process is asked. */
bool cmd_boot_unit_enabled(const char *root);

#endif
