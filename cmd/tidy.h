/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state folder before a command changes something: what cannot be read there is set aside and
 * named.
 */
#ifndef CMD_TIDY_H
#define CMD_TIDY_H

struct state_at;

/* Sets unreadable journals aside and warns of each. */
void cmd_tidy(const struct state_at *at);

#endif
