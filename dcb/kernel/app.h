/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside dcb/: the APP table of a port, written.
 */
#ifndef DCB_APP_H
#define DCB_APP_H

#include "profiles/qos.h"

struct dcb;
struct dcb_port;
struct driver_quirk;

/* Makes the entries that mask (QOS_TRUST, QOS_DSCP_PRIO, QOS_APP) covers what q says; the caller
 * reads back. -EOPNOTSUPP without an APP table; an entry that is refused is named in e. */
int app_write(struct dcb *dcb, const struct dcb_port *port, const struct driver_quirk *quirk,
	      const struct qos *q, uint64_t mask, struct err *e);

#endif
