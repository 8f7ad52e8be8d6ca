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

/* One answer to IEEE_GET. A member is valid only when its has_ is set. */
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
	struct dcb_app rewr[2 * QOS_DSCPS]; /* protocol: the value that egress packets get */
};

/* Decodes the payload after the nlmsghdr. Attributes that are too short count as absent; -EBADMSG
 * when it is no dcbnl message at all, -EMSGSIZE when the APP table is larger than DCBNL_APPS_MAX.
 */
int dcbnl_decode(const uint8_t *payload, size_t size, struct dcbnl_state *s);

/* Adds the fields of s to *q. Values out of range (a TC of 9) leave their field unknown. Of
 * several priorities for one DSCP the highest counts, as in dcb_ieee_getapp_dscp_prio_mask_map().
 */
void dcbnl_to_qos(const struct dcbnl_state *s, struct qos *q);

/* Decodes the u8 of a reply to a set, an errno cut to 8 bits. Returns 0 for 0 and for positive
 * driver values, which are no errors (ice: 1 unchanged, 2 changed). -EOPNOTSUPP for 12: the
 * kernel's ENOTSUPP (524) cut. */
int dcbnl_errno(uint8_t code);

/* Writes the fields of mask into ets, pfc, maxrate and buffer; their other members keep the values
 * of the device. */
void dcbnl_fill(struct dcbnl_state *s, const struct qos *q, uint64_t mask);

/* A change of the APP table. */
struct app_change {
	bool add; /* else delete */
	struct dcb_app app;
};

/* Side effects of a driver when APP entries change; bits. */
enum app_quirk {
	APP_REPLACES = 1,    /* a new entry deletes the old one of the same key */
	APP_LAST_RESETS = 2, /* deleting the last DSCP entry resets other settings */
};

/*
 * Makes the changes, in order, that give the entries of mask (QOS_TRUST, QOS_DSCP_PRIO, QOS_APP)
 * the values of q: first new entries, then changed priorities (old entry deleted, new one added;
 * with APP_REPLACES only added), then deletions. So the last DSCP entry is never deleted before a
 * new one is added: deleting it ends DSCP trust, and on ice resets ETS and PFC. If the only entry
 * changes its priority, APP_LAST_RESETS adds a temporary entry of an unused DSCP. Returns the
 * number of changes, -ENOSPC.
 */
int dcbnl_app_changes(const struct dcbnl_state *have, const struct qos *q, uint64_t mask,
		      unsigned int quirks, struct app_change *out, unsigned int max);

/* -ENOTUNIQ with the DSCP in e when one has several priorities. */
int dcbnl_app_unique(const struct dcbnl_state *s, struct err *e);

/* Requests to the kernel. -EOPNOTSUPP from dcbnl_get(): the netdev has no dcbnl. */
int dcbnl_get(struct nl *nl, const char *ifname, struct dcbnl_state *s, struct err *e);
int dcbnl_set_object(struct nl *nl, const char *ifname, uint16_t attr, const void *data,
		     size_t size, struct err *e);
int dcbnl_set_dcbx(struct nl *nl, const char *ifname, uint8_t mode, struct err *e);
/* Sends all changes, consecutive ones of a kind in one message. Returns 1 when the caller has to
 * read the table and send the rest: the driver ended the message with a positive value (ice), or an
 * entry already existed or was already deleted. */
int dcbnl_change_apps(struct nl *nl, const char *ifname, const struct app_change *change,
		      unsigned int n, struct err *e);
/* Prefixes the error with the first change that is missing in `now`: the refused one. Pure. */
void dcbnl_app_error(const struct dcbnl_state *now, const struct app_change *change, unsigned int n,
		     struct err *e);
int dcbnl_change_rewr(struct nl *nl, const char *ifname, const struct app_change *change,
		      struct err *e);
int dcbnl_set_trust(struct nl *nl, const char *ifname, const uint8_t trust[QOS_SELECTORS],
		    struct err *e);

/*
 * Makes the changes that give the rewrite tables of mask (QOS_REWRITE_DSCP, QOS_REWRITE_PCP) the
 * values of q, deletions first. Returns their number; out has room for 2 * QOS_DSCPS + 2 *
 * QOS_PRIOS.
 */
unsigned int dcbnl_rewr_changes(const struct dcbnl_state *have, const struct qos *q, uint64_t mask,
				struct app_change *out);

#endif
