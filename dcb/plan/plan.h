/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct plan: the ordered steps from the current to the desired settings. Made by a pure function
 * and run as a transaction: journal first, undo in reverse order on failure, read back, and an
 * empty second plan as proof.
 */
#ifndef DCB_PLAN_H
#define DCB_PLAN_H

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/driver.h"
#include "profiles/profile.h"

#define PLAN_SCHEMA "rocecheck.plan/1"

/* Source of a readback. */
enum plan_readback {
	READBACK_REGISTER, /* the device */
	READBACK_CACHE,	   /* the driver's copy of the last write */
	READBACK_NONE,
};

enum plan_disruption {
	DISRUPT_NONE,
	DISRUPT_LINK_FLAP,
	DISRUPT_PORT_RESET,
};

struct plan_step {
	enum qos_field_id field;
	struct qos from, to; /* only this field is meaningful */
	enum plan_disruption disruption;
	enum plan_readback readback;
	int line;	  /* in the profile, 0 = none */
	bool cannot;	  /* not supported on the port: never run */
	bool rewrite;	  /* another step makes the driver reset it: written even if equal */
	char reason[192]; /* of cannot */
};

#define PLAN_STEPS_MAX QOS_FIELD_COUNT

/* Plan of one port. No pointers. */
struct plan {
	char ifname[16];
	char ibdev[64];
	unsigned int ib_port;
	char driver[32];
	char platform[24]; /* word of a row of dcb/plan/platform.h, "" = all fields can be set */
	enum lldp_agent lldp_agent; /* the writer of ETS, PFC and APP */
	bool beside_read_only; /* an lldpad that only listens may run: it was started with -R */
	enum plan_tier tier;
	bool firmware_owned;   /* the firmware's LLDP agent sets DCB (lld_managed) */
	uint64_t side_effects; /* fields that the plan makes the driver reset, not in the profile */
	uint8_t unmapped_dscps; /* DSCPs without an entry: the firmware decides their priority */
	unsigned int count;	/* steps, cannot ones included */
	struct plan_step step[PLAN_STEPS_MAX];
};

/*
 * Makes the steps in the driver's order; equal fields give no step. Leaves the names of the port
 * empty. step.to is complete: it includes APP entries that stay. A field that the device does not
 * show becomes a `cannot` step, except rdma_cm values while their configfs directory is missing,
 * and fields of zeros_unknown. Pure.
 */
void plan_make(const struct qos *want, const int line[QOS_FIELD_COUNT], const struct qos *have,
	       const char *driver, struct plan *plan);

/* Returns the writer of ETS, PFC and APP that the profile selects. */
enum lldp_agent plan_lldp_agent(const struct profile *profile);

/* Returns the profile fields that the kernel must show after an apply: with an LLDP agent without
 * those that only the agent holds, or that it accepts from the peer (willing). */
uint64_t plan_live_fields(const struct profile *profile);

/* plan_make() for a port of this host, with its names; `have`: its current settings, with the IB
 * MTU if known. Adds `cannot` for rdma_cm without RDMA device or configfs, and for fields that
 * cannot be set on the platform (dcb/plan/platform.h). */
int plan_port(struct dcb *dcb, const struct profile *profile, const char *ifname, const char *ibdev,
	      unsigned int ib_port, const struct qos *have, struct plan *plan, struct err *e);

/* Checks the steps against this host; driver and names of the plan are filled. */
void plan_check_host(struct dcb *dcb, const struct qos *have, struct plan *plan);

/* Marks a step as `cannot`, with the reason. */
void plan_step_refuse(struct plan_step *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Returns the number of steps to run. */
unsigned int plan_changes(const struct plan *plan);

/* Returns true if a step to run flaps or resets the port. */
bool plan_disrupts(const struct plan *plan);

/* Returns the fields of the steps to run: a bitmap of QOS_BIT(). */
uint64_t plan_fields(const struct plan *plan);

/* Fields whose former value cannot be read before apply creates their configfs directory. */
#define PLAN_RDMA_CM (QOS_BIT(QOS_ROCE_VERSION) | QOS_BIT(QOS_CM_TOS))

const char *plan_disruption_word(enum plan_disruption disruption);
const char *plan_readback_word(enum plan_readback readback);
const char *plan_tier_word(enum plan_tier tier);

/* Returns rocecheck.plan/1 of all ports: a new reference, NULL on -ENOMEM. */
json_t *plan_to_json(const struct plan *plan, unsigned int plans);

#endif
