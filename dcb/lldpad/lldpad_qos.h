/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DCB configuration of a port in lldpad's words and as struct qos. Pure. Words and defaults:
 * openlldp lldp_8021qaz.c read_cfg_file(), lldp_8021qaz_cmds.c, lldp_mand_cmds.c.
 */
#ifndef DCB_LLDPAD_QOS_H
#define DCB_LLDPAD_QOS_H

#include "dcb/lldpad/lldpad.h"
#include "profiles/qos.h"

#define LLDPAD_APPS_MAX 32

/* The fields that lldpad has of a port. */
uint64_t lldpad_fields(void);

/* What lldpad does with a port of which its file says nothing: willing, all strict in TC 0, no PFC,
 * no APP entry, ETS configuration and PFC sent. */
void lldpad_defaults(struct qos *q);

/* Takes one argument out of the file, by its name there (APP entries: APP0 to APP31). Arguments of
 * other features are ignored. -EBADMSG, named in e, for a value that cannot be. */
int lldpad_take(struct qos *q, enum lldpad_tlv tlv, const struct lldpad_arg *arg, struct err *e);

/* After the last: shares of what is not ETS mean nothing and become 0, trust follows from the DSCP
 * entries as in the kernel. */
void lldpad_finish(struct qos *q);

/* The arguments of a TLV that state the fields of mask; APP entries are not among them. */
unsigned int lldpad_args(const struct qos *q, uint64_t mask, enum lldpad_tlv tlv,
			 struct lldpad_arg arg[LLDPAD_ARGS_MAX]);

/* APP entries, those of DSCPs included, as arguments "APP" of a set: what `from` has and `to` has
 * not. At most max, of QOS_DSCPS + QOS_APPS_MAX that there can be. */
unsigned int lldpad_apps(const struct qos *from, const struct qos *to, struct lldpad_arg *arg,
			 unsigned int max);

/* APP entries, those of DSCPs included. */
unsigned int lldpad_app_count(const struct qos *q);

#endif
