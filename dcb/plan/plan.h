/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct plan: the ordered steps from what is to what is wanted, made by a pure function and run as
 * a transaction: journal first, undo in reverse on failure, read back, and an empty second plan as
 * proof.
 */
#ifndef DCB_PLAN_H
#define DCB_PLAN_H

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/driver.h"
#include "profiles/profile.h"

#define PLAN_SCHEMA "rocecheck.plan/1"

/* How far a readback can be trusted. */
enum plan_readback {
	READBACK_REGISTER, /* the driver reads the device */
	READBACK_CACHE,	   /* the driver repeats what it was told */
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
	int line;	  /* of the wish in the profile, 0 = none */
	bool cannot;	  /* the device does not offer the field: never run */
	bool rewrite;	  /* the plan itself makes the driver reset it: written even if equal */
	char reason[192]; /* why not, when cannot */
};

#define PLAN_STEPS_MAX QOS_FIELD_COUNT

/* Plan of one port. No pointers. */
struct plan {
	char ifname[16];
	char ibdev[64];
	unsigned int ib_port;
	char driver[32];
	char platform[24]; /* word of a row of dcb/plan/platform.h, "" = the port decides itself */
	enum lldp_agent lldp_agent; /* who writes ETS, PFC and APP */
	bool beside_read_only; /* an lldpad that only listens may run: it was started with -R */
	enum plan_tier tier;
	bool firmware_owned;	/* its LLDP agent sets DCB (lld_managed), the host cannot */
	uint64_t side_effects;	/* fields nobody asks for that the driver resets on the way */
	uint8_t unmapped_dscps; /* DSCPs without an entry whose priority the firmware alone knows */
	unsigned int count;	/* steps, cannot ones included */
	struct plan_step step[PLAN_STEPS_MAX];
};

/*
 * Pure. Steps in the driver's order; fields in which have equals want give no step. The names of
 * the port are left empty. step.to is complete: of the APP table it has the entries that stay, too.
 * What the device does not show is a cannot step, except what drivers hide although they can do it:
 * the rdma_cm values while their configfs directory is missing, and zeros_unknown.
 */
void plan_make(const struct qos *want, const int line[QOS_FIELD_COUNT], const struct qos *have,
	       const char *driver, struct plan *plan);

/* Who writes the ETS, PFC and APP of a profile. */
enum lldp_agent plan_lldp_agent(const struct profile *profile);

/* The fields of the wish that the kernel must show in the end. With an agent not what the agent
 * keeps for itself, nor what it is willing to take from the peer. */
uint64_t plan_live_fields(const struct profile *profile);

/* plan_make() for a port of this host, names filled in; `have` is what was read of it, with the IB
 * MTU if that is known. rdma_cm steps cannot run where there is no RDMA device or no configfs, and
 * no step that the platform decides elsewhere (see dcb/plan/platform.h). */
int plan_port(struct dcb *dcb, const struct profile *profile, const char *ifname, const char *ibdev,
	      unsigned int ib_port, const struct qos *have, struct plan *plan, struct err *e);

/* What of the steps only this host can tell: driver and names of the plan are filled. */
void plan_check_host(struct dcb *dcb, const struct qos *have, struct plan *plan);

/* Makes a step one that is never run, and says why. */
void plan_step_refuse(struct plan_step *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Number of steps that would be run. */
unsigned int plan_changes(const struct plan *plan);

/* Whether a step that would be run flaps or resets the port. */
bool plan_disrupts(const struct plan *plan);

/* Fields of the steps that would be run: a bitmap of QOS_BIT(). */
uint64_t plan_fields(const struct plan *plan);

/* Fields whose former value cannot be read before something is changed. */
#define PLAN_RDMA_CM (QOS_BIT(QOS_ROCE_VERSION) | QOS_BIT(QOS_CM_TOS))

const char *plan_disruption_word(enum plan_disruption disruption);
const char *plan_readback_word(enum plan_readback readback);
const char *plan_tier_word(enum plan_tier tier);

/* rocecheck.plan/1: the plans of all ports. New reference, NULL on -ENOMEM. */
json_t *plan_to_json(const struct plan *plan, unsigned int plans);

#endif
