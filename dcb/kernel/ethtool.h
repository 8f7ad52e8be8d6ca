/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool: link pause by generic netlink; private flags and tunables by ioctl, which no netlink
 * message carries for all drivers. Driver information and statistics: dcb_driver() and
 * dcb_ethtool_stats().
 */
#ifndef DCB_ETHTOOL_H
#define DCB_ETHTOOL_H

#include "dcb/kernel/nl.h"
#include "profiles/qos.h"

/* Adds the pause fields; no error if the device has none. */
int ethtool_pause_read(struct nl *nl, int family, const char *ifname, struct qos *q, struct err *e);
int ethtool_pause_write(struct nl *nl, int family, const char *ifname, const struct qos *q,
			uint64_t mask, struct err *e);

/*
 * The private flag of the firmware's LLDP agent (ice: fw-lldp-agent; i40e: disable-fw-lldp,
 * inverted) and the tunable pfc-prevention-tout. Adds the ones the driver has; fd is any socket.
 * Sources: linux ice_ethtool.c, i40e_ethtool.c, uapi/linux/ethtool.h.
 */
int ethtool_flags_read(int fd, const char *ifname, struct qos *q, struct err *e);
int ethtool_lldp_agent_write(int fd, const char *ifname, bool on, struct err *e);
int ethtool_storm_write(int fd, const char *ifname, uint16_t ms, struct err *e);

#endif
