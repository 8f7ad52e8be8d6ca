/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lldpad's own file: what it does with a port, also after a restart. It writes each change there at
 * once, so the file is read whether it runs or not; it is written only while it does not run,
 * because a running lldpad would overwrite it.
 */
#ifndef DCB_LLDPAD_CONF_H
#define DCB_LLDPAD_CONF_H

#include "profiles/qos.h"

#define LLDPAD_CONF "/var/lib/lldpad/lldpad.conf"

/* The fields of lldpad_fields(), with lldpad's defaults for what is not stated. No file: defaults,
 * if there is a folder for it; else -ENOENT (lldpad is not installed). -EBADMSG for a file that
 * does not parse, with its line. */
int lldpad_conf_read(const char *path, const char *ifname, struct qos *q, struct err *e);

/* States the fields of mask; the rest of the file stays. The new file takes the place of the old
 * one when it is on the disk whole. */
int lldpad_conf_write(const char *path, const char *ifname, const struct qos *q, uint64_t mask,
		      struct err *e);

#endif
