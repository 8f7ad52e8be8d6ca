/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion control of RoCEv2 (IBTA vol 1, annex A17; DCQCN of Zhu et al., SIGCOMM 2015): a
 * notification point that answers CE with CNPs (notification.c), a reaction point that slows the
 * flow a CNP names (reaction.c), and their parameters with the names that the drivers give them
 * (congestion.c). All state is under the NIC's link_lock.
 */
#ifndef LABNIC_CONGESTION_H
#define LABNIC_CONGESTION_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#define LABNIC_CNP 0x81
/* IP header, UDP, BTH, 16 reserved bytes, ICRC. */
#define LABNIC_CNP_BYTES(v6) (((v6) ? 40 : 20) + 8 + 12 + 16 + 4)

/* Rates are in Mbit/s, times in microseconds, as on mlx5. */
enum labnic_cc_param {
	LABNIC_NP_ENABLE, /* bit by priority */
	LABNIC_CNP_DSCP,
	LABNIC_CNP_PRIO,
	LABNIC_CNP_INTERVAL,
	LABNIC_RP_ENABLE, /* bit by priority */
	LABNIC_CLAMP_TARGET,
	LABNIC_CLAMP_TARGET_TIME,
	LABNIC_TIME_RESET,
	LABNIC_BYTE_RESET,
	LABNIC_THRESHOLD,
	LABNIC_MAX_RATE, /* 0: the link's */
	LABNIC_AI_RATE,
	LABNIC_HAI_RATE,
	LABNIC_GD,
	LABNIC_MIN_DEC_FAC, /* percent */
	LABNIC_MIN_RATE,
	LABNIC_FIRST_RATE, /* 0: a cut as any other */
	LABNIC_TCP_G,
	LABNIC_TCP_RTT,
	LABNIC_REDUCE_PERIOD,
	LABNIC_INITIAL_ALPHA,
	LABNIC_CC_PARAMS,
	/* Not kept: both switches at once, and a parameter that the driver does not take. */
	LABNIC_CC_ENABLE = LABNIC_CC_PARAMS,
	LABNIC_CC_FIXED,
};

/* Where the driver shows them: /sys/class/net/DEV/ecn, or debugfs. None: the NIC has no DCQCN. */
#define LABNIC_CC_OFED BIT(0)
#define LABNIC_CC_MLX5 BIT(1)
#define LABNIC_CC_BNXT BIT(2)

/* What either point needs of a RoCEv2 packet. IPv4 addresses are mapped. */
struct labnic_roce {
	struct in6_addr src;
	struct in6_addr dst;
	__be16 sport;
	u8 opcode;
	u8 ecn;
	bool v6;
	bool response; /* of RC or XRC: its PSN is one of the other direction's requests */
	u32 qpn;       /* the destination's */
	u32 psn;
	int l3;	   /* of the skb's data */
	int bytes; /* from the IP header to the ICRC's end */
};

/* Two queue pairs, as the packets of both directions show them. */
struct labnic_pair {
	struct in6_addr remote;
	u32 qpn;   /* the remote's, of what is sent; 0: this one is free */
	u32 local; /* this host's, of what is received; 0: not known yet */
	__be16 sport;
	u8 prio;
	u32 psn[2]; /* the last that was sent, of requests and of responses */
	ktime_t seen;
	ktime_t cnp_at; /* when the last CNP went there */
};

/* Pairs lie in sets, by address and port: a full set gives up its oldest. */
#define LABNIC_PAIR_WAYS 4
#define LABNIC_PAIRS	 (256 * LABNIC_PAIR_WAYS)

/* A flow that CNPs slow down. Rates in bytes a second. */
struct labnic_flow {
	struct list_head link;
	struct in6_addr remote;
	u32 qpn;
	u64 rate;
	u64 target;
	u32 alpha; /* 1024: 1 */
	u32 sent_bytes;
	u8 time_stage;
	u8 byte_stage;
	bool noticed; /* a CNP since alpha was last moved */
	ktime_t cut_at;
	ktime_t alpha_at;
	ktime_t time_at;
	ktime_t free_at;
	struct sk_buff_head held;
};

#define LABNIC_FLOWS 64

struct labnic;

struct labnic_cc_file {
	struct labnic *nic;
	u8 param;
};

struct labnic_cc {
	u32 param[LABNIC_CC_PARAMS];
	struct labnic_pair pair[LABNIC_PAIRS];
	struct labnic_flow flow[LABNIC_FLOWS];
	struct list_head slowed;
	struct list_head idle;
	struct hrtimer flow_timer;
	/* congestion.c */
	struct kobject *ecn;
	struct kobject *np;
	struct kobject *np_enable;
	struct kobject *rp;
	struct kobject *rp_enable;
	struct dentry *debugfs;
	struct labnic_cc_file file[LABNIC_CC_PARAMS];
};

/* congestion.c: before the netdev is registered; @np, @rp: whether the points start as on. */
void labnic_cc_init(struct labnic *nic, bool np, bool rp);
/* The files; after the netdev was registered and before it goes. -ENOMEM, or what sysfs says. */
int labnic_cc_show(struct labnic *nic);
void labnic_cc_hide(struct labnic *nic);

/* roce.c: false if the packet, whose type @proto stands in front of @l3, is no RoCEv2. */
bool labnic_roce_parse(const struct sk_buff *skb, int l3, __be16 proto, struct labnic_roce *roce);
/* The ICRC of @bytes from the IP header to the payload's end, which are changed by that. */
u32 labnic_icrc(u8 *packet, int bytes, bool v6);

/* notification.c: look at a frame for this host. True: it was a CNP, and is gone. */
bool labnic_cc_receive(struct labnic *nic, struct sk_buff *skb, u8 prio);
/* Learn from a packet that is sent. Under link_lock. */
void labnic_pair_learn(struct labnic *nic, const struct labnic_roce *roce, u8 prio);

/* reaction.c. True: the frame was taken, to follow when the flow's rate allows. Under link_lock. */
bool labnic_flow_hold(struct labnic *nic, struct sk_buff *skb, const struct labnic_roce *roce);
/* Move what the rates allow by now to the queues of the classes. Under link_lock. */
void labnic_flow_release(struct labnic *nic, ktime_t now);
/* A flow holds more than is good for memory: the class has to wait. Under link_lock. */
bool labnic_flow_full(const struct labnic *nic, int prio);
/* Slow @qpn of @remote down. False if that is refused: too many flows. Under link_lock. */
bool labnic_flow_cnp(struct labnic *nic, const struct in6_addr *remote, u32 qpn);
void labnic_flow_init(struct labnic *nic);
/* No limit any more; what was held goes on. Under link_lock. */
void labnic_flow_forget_all(struct labnic *nic);
/* Drop what is held, count it as dropped. The NIC does not run any more. */
void labnic_flow_stop(struct labnic *nic);

#endif
