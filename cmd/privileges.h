/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Giving up what a capture does not need: all but CAP_NET_RAW before the interface is opened, and
 * that too before the first frame is looked at.
 */
#ifndef CMD_PRIVILEGES_H
#define CMD_PRIVILEGES_H

#include "profiles/base.h"

/* Keeps CAP_NET_RAW alone, if it is there. Root becomes the owner of the directory of `path`, so
 * that what is written there is his, and written with his rights. No program that is started gains
 * anything any more. -errno and e: the process shall end. */
int privileges_keep_raw(const char *path, struct err *e);

/* Keeps nothing. */
int privileges_drop(struct err *e);

#endif
