/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labnic: the lab's RoCE NIC. A netdev above a virtio one, with what real RoCE NICs have and
 * software ones lack: DCB operations, a transmit queue a priority, PFC and link pause that are
 * obeyed and generated, a link rate with a scheduler, a receive buffer, and the statistics of
 * the driver whose personality it has.
 */
#ifndef LABNIC_H
#define LABNIC_H

#include <linux/atomic.h>
#include <linux/dcbnl.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <net/dcbnl.h>

#include "congestion.h"

#define LABNIC_PRIOS	8
#define LABNIC_DSCPS	64
#define LABNIC_VERSION	"1.0"
#define LABNIC_FIRMWARE "1.0.0 (LAB0000000001)"

/* MAC control, 802.3 annex 31B (pause) and 802.1Q clause 36 (PFC). */
#define LABNIC_OP_PAUSE 0x0001
#define LABNIC_OP_PFC	0x0101
/* Drop eligible indication and PCP of a tag as DCB's tables number them: DEI * 8 + PCP. */
#define LABNIC_PCPS 16
/* DCB_APP_SEL_PCP, which the headers have since linux 6.2. */
#define LABNIC_SEL_PCP 255
/* One quantum is 512 bit times. */
#define LABNIC_QUANTUM_BYTES 64

/* Counters of a priority; ethtool.c has their names. */
enum labnic_counter {
	LABNIC_RX_BYTES,
	LABNIC_RX_PACKETS,
	LABNIC_RX_DISCARDS,
	LABNIC_TX_BYTES,
	LABNIC_TX_PACKETS,
	LABNIC_COUNTERS,
};

/* Counters of the port. */
enum labnic_cc_counter {
	LABNIC_CE_RECEIVED,
	LABNIC_CNP_SENT,
	LABNIC_CNP_HANDLED,
	LABNIC_CNP_IGNORED,
	LABNIC_CC_COUNTERS,
};

/* One direction of pause of one class: how often, how long, and until when. */
struct labnic_pause {
	u64 frames;
	u64 resumes;	 /* of the frames, those that ended it */
	u64 transitions; /* how often it began or ended */
	u64 past_ns;
	ktime_t since;
	ktime_t until;
	bool on;
};

/* The order in which classes are served (sched.c). */
enum labnic_level {
	LABNIC_LEVEL_VENDOR,
	LABNIC_LEVEL_STRICT,
	LABNIC_LEVEL_ETS,
	LABNIC_LEVEL_REST,
	LABNIC_LEVELS,
};

/* What the scheduler needs of ETS and rate limits. */
struct labnic_plan {
	u8 prio_tc[LABNIC_PRIOS];
	u8 tsa[LABNIC_PRIOS];
	u8 weight[LABNIC_PRIOS];
	u64 maxrate_kbps[LABNIC_PRIOS];
};

/* Frames that wait for the link. */
struct labnic_queue {
	struct sk_buff_head skbs;
	u32 bytes;
};

/* A traffic class: the priority served last, what round robin owes it, when its rate allows more.
 */
struct labnic_tc {
	u8 prio;
	u32 deficit;
	ktime_t free_at;
};

/* Which field of a frame decides about its priority (classify.c). */
struct labnic_trust {
	int count;
	u8 selectors[2];
};

/* A pause class: a priority, or the whole link. */
#define LABNIC_LINK    LABNIC_PRIOS
#define LABNIC_CLASSES (LABNIC_PRIOS + 1)

struct labnic_personality;

struct labnic {
	struct net_device *dev;
	struct net_device __rcu *low;
	struct notifier_block netdev_event;
	const struct labnic_personality *personality;

	/* What DCB and ethtool set; under rtnl. */
	struct ieee_ets ets;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buffer;
	u8 dcbx;
	u8 pfc_mbc;
	u16 pfc_delay;
	u16 storm_ms; /* pfc-prevention-tout, 0: off */
	bool ets_set;
	bool pfc_set;
	bool buffers_set;
	u8 lossless_tcs;
	struct ieee_ets wanted; /* ETS as it was asked for, refused or not */
	DECLARE_BITMAP(dscp_mapped, LABNIC_DSCPS);
	bool flapping;
	struct delayed_work flap_end;

	/* What the data path reads of that, without a lock. */
	u8 pfc_enabled;
	bool rx_pause;
	bool tx_pause;
	bool trust_dscp;
	u8 dscp_prio[LABNIC_DSCPS];
	u8 pcp_prio[LABNIC_PCPS];
	/* An order of trust that was asked for; NULL: as trust_dscp says. */
	const struct labnic_trust *trust;
	/* What a frame of a priority is marked with, + 1; 0: as it is. */
	u8 rewrite_dscp[LABNIC_PRIOS];
	u8 rewrite_pcp[LABNIC_PRIOS];

	/* The link: scheduler and pause; under link_lock, from softirq or with it off. */
	spinlock_t link_lock;
	bool running;
	bool throttled;
	ktime_t busy_until;
	struct labnic_plan plan;
	struct labnic_queue queue[LABNIC_PRIOS];
	struct labnic_tc tc[LABNIC_PRIOS];
	u8 turn[LABNIC_LEVELS];
	struct hrtimer pace_timer;
	struct hrtimer pause_timer;
	struct labnic_pause rx[LABNIC_CLASSES];
	struct labnic_pause tx[LABNIC_CLASSES];

	struct labnic_cc cc; /* under link_lock */

	/* The receive buffer, when it drains at a rate; under drain_lock, as above. */
	spinlock_t drain_lock;
	bool draining;
	struct sk_buff_head drain;
	u32 filled[LABNIC_PRIOS];
	u16 xoff_sent;
	ktime_t xoff_until;
	ktime_t drain_at;
	struct hrtimer drain_timer;

	atomic64_t count[LABNIC_PRIOS][LABNIC_COUNTERS];
	atomic64_t cc_count[LABNIC_CC_COUNTERS];
	atomic64_t tx_dropped;
};

/* main.c: link rate in bytes a microsecond (MB/s), never 0, and the drain rate (0: no limit). */
/* Whether this change of a setting is the one that the parameter refuse is about: -EBUSY. */
bool labnic_refused(void);
u32 labnic_rate(void);
u32 labnic_drain_rate(void);

/* receive.c */
rx_handler_result_t labnic_receive(struct sk_buff **pskb);
void labnic_drain_init(struct labnic *nic);
void labnic_drain_start(struct labnic *nic);
void labnic_drain_stop(struct labnic *nic);

/* link.c */
void labnic_link_init(struct labnic *nic);
void labnic_link_start(struct labnic *nic);
void labnic_link_stop(struct labnic *nic);
void labnic_control_received(struct labnic *nic, struct sk_buff *skb);
void labnic_control_sent(struct labnic *nic, struct sk_buff *skb);
/* From now on obey (and generate) PFC of these priorities, and obey link pause. */
void labnic_pfc_obey(struct labnic *nic, u8 enabled);
void labnic_pause_obey(struct labnic *nic, bool obey);
/* The books of a class as of now, the running pause included. */
struct labnic_pause labnic_pause_read(struct labnic *nic, const struct labnic_pause *pause);

/* No pause that is obeyed holds @prio back. Under link_lock. */
bool labnic_may_send(const struct labnic *nic, int prio);

/* sched.c */
void labnic_sched_init(struct labnic *nic);
void labnic_sched_stop(struct labnic *nic);
netdev_tx_t labnic_xmit(struct sk_buff *skb, struct net_device *dev);
/* Send what may go now. Under link_lock. */
void labnic_sched_run(struct labnic *nic);
/* Schedule so from now on. The values are valid: classes below 8. */
void labnic_sched_plan(struct labnic *nic, const struct ieee_ets *ets,
		       const struct ieee_maxrate *maxrate);
/* The queue of the frame's priority takes more; put a frame there; both, and send. Under link_lock.
 */
bool labnic_sched_room(const struct labnic *nic, int prio);
void labnic_sched_append(struct labnic *nic, struct sk_buff *skb);
bool labnic_sched_insert(struct labnic *nic, struct sk_buff *skb);
/* How long the link is busy with @bytes. */
u64 labnic_wire_ns(u64 bytes);

/* classify.c: the priority of a frame whose MAC header is at skb->data. */
u8 labnic_tx_prio(const struct labnic *nic, const struct sk_buff *skb);
/* The same behind eth_type_trans(), where skb->data is past the MAC header. */
u8 labnic_rx_prio(const struct labnic *nic, const struct sk_buff *skb);

/* The trust of exactly these selectors in this order; NULL: there is none. */
const struct labnic_trust *labnic_trust_find(const u8 *selectors, int count);

/* rewrite.c: mark a frame whose MAC header is at skb->data. False: no memory to do so. */
bool labnic_rewrite(const struct labnic *nic, struct sk_buff *skb, u8 prio);

/* dcb.c, ethtool.c */
extern const struct dcbnl_rtnl_ops labnic_dcb_ops;
extern const struct ethtool_ops labnic_ethtool_ops;
void labnic_dcb_init(struct labnic *nic);

static inline void labnic_add(struct labnic *nic, u8 prio, enum labnic_counter counter, u64 value)
{
	atomic64_add(value, &nic->count[prio][counter]);
}

#endif
