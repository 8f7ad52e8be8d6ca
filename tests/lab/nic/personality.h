/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A personality: the NIC behaves towards DCB and ethtool as one real driver does, its traps
 * included. What the personalities share is in dcb.c; what each does alone in the file of its
 * name. All of it runs under rtnl.
 */
#ifndef LABNIC_PERSONALITY_H
#define LABNIC_PERSONALITY_H

#include <linux/version.h>

#include "labnic.h"

#define LABNIC_HAS_TRUST (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))

/* Where the value of a statistic comes from: a counter of labnic_counter, or pause. */
enum labnic_source {
	LABNIC_RX_PAUSE = LABNIC_COUNTERS,
	LABNIC_RX_XOFF,
	LABNIC_RX_XON,
	LABNIC_RX_PAUSE_US,
	LABNIC_TX_PAUSE,
	LABNIC_TX_XOFF,
	LABNIC_TX_XON,
	LABNIC_TX_PAUSE_US,
	LABNIC_RX_TRANSITIONS,
	LABNIC_TX_TRANSITIONS,
	LABNIC_CC, /* and on: a counter of labnic_cc_counter, of the port */
};

/* A row of ethtool -S; %d is the priority. For the link, counters are summed over priorities. */
struct labnic_stat {
	const char *format;
	int source;
};

/* When a change of devlink's enable_roce counts. */
enum labnic_roce_mode {
	LABNIC_ROCE_NONE, /* it has none */
	LABNIC_ROCE_AT_LOAD,
	LABNIC_ROCE_AT_ONCE,
	LABNIC_ROCE_AT_RESET,
};

struct labnic_personality {
	const char *name;
	const char *driver;
	const struct dcbnl_rtnl_ops *dcb_ops;
	/* DCB as the driver leaves it after its probe. */
	void (*init)(struct labnic *nic);
	const struct labnic_stat *link_stats;
	const struct labnic_stat *prio_stats;
	int link_stat_count;
	int prio_stat_count;
	/* Link pause is refused, and reads as off, while PFC is on. */
	bool pause_excludes_pfc;
	/* PFC statistics of DCB count pauses only, not the frames that end one. */
	bool pfc_counts_xoff;
	/* Where DCQCN is set (LABNIC_CC_...); 0: it has none. */
	u8 cc_files;
	enum labnic_roce_mode roce;
	/* Ends PFC that a stalled host keeps up: the tunable pfc-prevention-tout. */
	bool prevents_storms;
	/* Has the private flag fw-lldp-agent, and this changes it. */
	int (*set_agent)(struct labnic *nic, bool on);
};

extern const struct labnic_personality labnic_generic;
extern const struct labnic_personality labnic_mlx4;
extern const struct labnic_personality labnic_mlx5;
extern const struct labnic_personality labnic_bnxt;
extern const struct labnic_personality labnic_ice;

struct platform_device;

/* main.c: the netdev of a device, with everything the driver has of it. */
int labnic_make(struct platform_device *pdev);
void labnic_unmake(struct platform_device *pdev);
/* devlink.c: for as long as the driver has the device. */
int labnic_devlink_add(struct platform_device *pdev, enum labnic_roce_mode mode, bool on);
/* main.c: the parameter fw_dcbx. */
bool labnic_firmware_dcbx(void);
/* The link goes down and comes back some 50 ms later. */
void labnic_flap(struct labnic *nic);

/* dcb.c: operations without a driver's traps, and what they consist of. */
int labnic_getets(struct net_device *dev, struct ieee_ets *ets);
int labnic_setets(struct net_device *dev, struct ieee_ets *ets);
int labnic_getpfc(struct net_device *dev, struct ieee_pfc *pfc);
int labnic_setpfc(struct net_device *dev, struct ieee_pfc *pfc);
int labnic_getmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate);
int labnic_setmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate);
int labnic_getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer);
int labnic_setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer);
/* Take @buffer, whose buffers exist, as it is. */
void labnic_buffer_apply(struct labnic *nic, const struct dcbnl_buffer *buffer);
u8 labnic_getcap(struct net_device *dev, int id, u8 *cap);
u8 labnic_getdcbx(struct net_device *dev);
/* trust.c: the same of APP entries, trust and rewriting. */
void labnic_trust_init(struct labnic *nic);
int labnic_setapp(struct net_device *dev, struct dcb_app *app);
int labnic_delapp(struct net_device *dev, struct dcb_app *app);
int labnic_getapptrust(struct net_device *dev, u8 *selectors, int *count);
int labnic_setapptrust(struct net_device *dev, u8 *selectors, int count);
int labnic_setrewr(struct net_device *dev, struct dcb_app *app);
int labnic_delrewr(struct net_device *dev, struct dcb_app *app);
/* dcb.c: take @ets, which is valid, as it is. */
void labnic_ets_apply(struct labnic *nic, const struct ieee_ets *ets);
/* -EINVAL unless @app is a DSCP entry with a DSCP and a priority there are. */
int labnic_dscp_check(const struct dcb_app *app);

#endif
