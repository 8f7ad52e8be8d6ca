/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was seen at one end of a traffic run: the port, its counters around an idle baseline and
 * around the load, and who else used it. A coordinator fills it from what an agent tells, the
 * verdict reads it; nothing here looks at the machine.
 */
#ifndef PROBE_OBSERVE_H
#define PROBE_OBSERVE_H

#include "probe/record/run.h"

#define OBSERVE_USERS_MAX 4

struct observation {
	char host[FABRIC_NAME_MAX];
	char netdev[16];
	char ibdev[64];
	uint8_t ib_port;
	char driver[32];      /* of the netdev */
	char rdma_driver[32]; /* "rxe", "mlx5_ib" */
	bool soft;	      /* Soft-RoCE: its counters have rules of their own */
	uint32_t speed_mbps;  /* 0 = unknown */
	unsigned int has;     /* 1 << enum run_reading */
	struct counters reading[READ_COUNT];
	/* Others that used the port before our traffic began, in words for people. */
	unsigned int user_count;
	char user[OBSERVE_USERS_MAX][96];
};

/* The facts of a port; readings and users stay empty. */
void observe_port(struct observation *o, const char *host, const struct port *p);

void observe_put(struct observation *o, enum run_reading which, const struct counters *c);

/* Users as port_users_to_json() lists them; more than fit are counted. -EINVAL. */
int observe_put_users(struct observation *o, const json_t *users, struct err *e);

/* Growth around the load (READ_LOAD_BEFORE) or the idle baseline (READ_QUIET_BEFORE). False when
 * one of the two readings was not taken. reset may be NULL. */
bool observe_delta(const struct observation *o, enum run_reading first, struct counters *delta,
		   uint8_t reset[METRIC_COUNT]);

/* The load's growth without what the baseline makes expect for as long a time: what can be
 * attributed to the run. Without a baseline it is the load's growth. */
bool observe_net(const struct observation *o, struct counters *net);

/* With all readings, so that a run can be judged again. NULL on -ENOMEM. */
json_t *observe_to_json(const struct observation *o);

/* The metrics that are known, with class, source, and growth while idle and under load:
 * [{"metric","class","prio","idle","load","source"}, ..] for reports. NULL on -ENOMEM. */
json_t *observe_growth_to_json(const struct observation *o);

#endif
