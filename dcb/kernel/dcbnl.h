/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dcbnl: the state of one netdev as the kernel gives it (IEEE_GET), as plain structs and as struct
 * qos, and the sets. Trust has no attribute: it follows from the APP table. At least one DSCP entry
 * is DSCP trust, none is PCP trust; that is how mlx5, bnxt, ice and hns3 decide (their sources).
 */
#ifndef DCB_DCBNL_H
#define DCB_DCBNL_H

#include <linux/dcbnl.h>

#include "dcb/kernel/nl.h"
#include "profiles/qos.h"

/* Newer than the headers of Debian 12; linux 6.3 uapi/linux/dcbnl.h. */
#define DCBNL_ATTR_TRUST 11 /* DCB_ATTR_DCB_APP_TRUST_TABLE: a u8 each */
#define DCBNL_ATTR_REWR	 12 /* DCB_ATTR_DCB_REWR_TABLE: a dcb_app each */
#define DCBNL_ATTR_PCP	 2  /* DCB_ATTR_DCB_APP, beside DCB_ATTR_IEEE_APP: selector 255 */

#define DCBNL_APPS_MAX 1024 /* more than one message of the kernel holds */

/* One answer to IEEE_GET. A member means something only when its has_ is set. */
struct dcbnl_state {
	bool has_ets, has_pfc, has_app, has_maxrate, has_buffer, has_dcbx, has_trust, has_rewr;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buffer;
	uint8_t dcbx;
	unsigned int app_count;
	struct dcb_app app[DCBNL_APPS_MAX];
	uint8_t trust[QOS_SELECTORS]; /* 0: no more */
	unsigned int rewr_count;
	struct dcb_app rewr[2 * QOS_DSCPS]; /* protocol: the value that priority leaves with */
};

/* Decodes what follows the nlmsghdr. Attributes that are too short count as absent; -EBADMSG when
 * it is no dcbnl message at all, -EMSGSIZE when the APP table is larger than DCBNL_APPS_MAX. */
int dcbnl_decode(const uint8_t *payload, size_t size, struct dcbnl_state *s);

/* Adds the fields that s has to *q. Values out of range (a TC of 9) leave their field unknown. Of
 * several priorities for one DSCP the highest counts, as in dcb_ieee_getapp_dscp_prio_mask_map().
 */
void dcbnl_to_qos(const struct dcbnl_state *s, struct qos *q);

/* The u8 of a reply to a set: an errno cut to 8 bits. 0 for 0 and for positive driver values, which
 * are no errors (ice: 1 unchanged, 2 changed). -EOPNOTSUPP for 12: the kernel's ENOTSUPP (524) cut.
 */
int dcbnl_errno(uint8_t code);

/* Puts the fields of mask that are members of ets, pfc, maxrate and buffer into them: what is sent
 * is what the device has, but for those. */
void dcbnl_fill(struct dcbnl_state *s, const struct qos *q, uint64_t mask);

/* A change of the APP table. */
struct app_change {
	bool add; /* else delete */
	struct dcb_app app;
};

/* What a driver does by itself as entries come and go: bits of habits. */
enum app_quirk {
	APP_REPLACES = 1,    /* the old entry of the same key goes */
	APP_LAST_RESETS = 2, /* with the last DSCP entry other settings go */
};

/*
 * The changes, in order, that make the entries of mask (QOS_TRUST, QOS_DSCP_PRIO, QOS_APP) what q
 * says: first what is new, then what gets another priority (old entry deleted, new one added; on
 * drivers that replace by themselves only added), then what goes. So the last DSCP entry, with
 * which trust and on ice all of ETS and PFC would go, is not deleted while others come; where it is
 * the only one and gets another priority, APP_LAST_RESETS puts a guard beside it for that time: an
 * entry of a DSCP that has none. Returns the number, -ENOSPC.
 */
int dcbnl_app_changes(const struct dcbnl_state *have, const struct qos *q, uint64_t mask,
		      unsigned int quirks, struct app_change *out, unsigned int max);

/* -ENOTUNIQ with the DSCP in e when one has several priorities. */
int dcbnl_app_unique(const struct dcbnl_state *s, struct err *e);

/* The kernel. -EOPNOTSUPP from dcbnl_get(): the netdev has no dcbnl. */
int dcbnl_get(struct nl *nl, const char *ifname, struct dcbnl_state *s, struct err *e);
int dcbnl_set_object(struct nl *nl, const char *ifname, uint16_t attr, const void *data,
		     size_t size, struct err *e);
int dcbnl_set_dcbx(struct nl *nl, const char *ifname, uint8_t mode, struct err *e);
/* All of them, those of one kind that follow each other in one message. 1: a driver has said
 * something that is no error but ends the message (ice), or an entry was there or gone by itself:
 * what is left is to be read and sent again. */
int dcbnl_change_apps(struct nl *nl, const char *ifname, const struct app_change *change,
		      unsigned int n, struct err *e);
/* Pure. Puts the first change that is not there, which was the one refused, before the error. */
void dcbnl_app_error(const struct dcbnl_state *now, const struct app_change *change, unsigned int n,
		     struct err *e);
int dcbnl_change_rewr(struct nl *nl, const char *ifname, const struct app_change *change,
		      struct err *e);
int dcbnl_set_trust(struct nl *nl, const char *ifname, const uint8_t trust[QOS_SELECTORS],
		    struct err *e);

/*
 * The changes that make the rewriting of mask (QOS_REWRITE_DSCP, QOS_REWRITE_PCP) what q says: what
 * goes first. Returns the number; out has room for 2 * QOS_DSCPS + 2 * QOS_PRIOS.
 */
unsigned int dcbnl_rewr_changes(const struct dcbnl_state *have, const struct qos *q, uint64_t mask,
				struct app_change *out);

#endif
