/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks a plan against this host: kernel version, mounts, bond, driver files and platform.
 */
#include <errno.h>
#include <stdio.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/congestion.h"
#include "dcb/kernel/configfs.h"
#include "dcb/kernel/devlink.h"
#include "dcb/kernel/netdev.h"
#include "dcb/lldpad/lldp_agent.h"
#include "dcb/plan/plan.h"
#include "dcb/plan/platform.h"

static bool plan_has_pcp_apps(const struct qos *q)
{
	for (unsigned int i = 0; qos_has(q, QOS_APP) && i < q->app_count; i++)
		if (q->app[i].selector == QOS_APP_PCP)
			return true;
	return false;
}

/*
 * Kernels before 6.2 silently ignore PCP entries (net/dcb/dcbnl.c). A driver with an APP trust
 * order runs on a kernel with PCP entries, whatever its version is.
 */
static void plan_check_pcp_apps(const struct dcb *dcb, const struct qos *have, struct plan_step *s)
{
	unsigned int major, minor;

	if (s->cannot || !plan_has_pcp_apps(&s->to) || qos_has(have, QOS_APP_TRUST) ||
	    sscanf(dcb->release, "%u.%u", &major, &minor) != 2 || major > 6 ||
	    (major == 6 && minor >= 2))
		return;
	plan_step_refuse(s, "linux %.40s ignores PCP entries; they need 6.2 or later",
			 dcb->release);
}

/* Fields in driver files: hidden, or not writable by rocecheck. */
static void plan_check_files(struct dcb *dcb, const struct plan *plan, struct plan_step *s)
{
	const struct dcb_port names = {plan->ifname, plan->ibdev, plan->ib_port, LLDP_AGENT_NONE};
	struct congestion_port port;
	const char *why;

	if (!(congestion_fields() & QOS_BIT(s->field)))
		return;
	port = dcb_congestion_port(dcb, &names);
	if (congestion_set_elsewhere(&port, &s->to, s->field, s->reason, sizeof(s->reason))) {
		s->cannot = true;
		return;
	}
	if (!s->cannot || qos_has(&s->from, s->field))
		return;
	why = congestion_hidden_reason(&port);
	if (why[0])
		plan_step_refuse(s, "the device does not offer it, or %s", why);
}

/* Some drivers refuse every setting in a bond, with a bare -EINVAL. */
static void plan_check_bond(struct dcb *dcb, const struct plan *plan, struct plan_step *s)
{
	char path[64], text[32];

	if (s->cannot || !driver_quirk_find(plan->driver)->not_in_bond ||
	    !(dcb_dcbnl_fields() & QOS_BIT(s->field)))
		return;
	snprintf(path, sizeof(path), "class/net/%.16s/master/bonding/mode", plan->ifname);
	if (!dcb_sysfs_read(dcb, path, text, sizeof(text)))
		plan_step_refuse(s, "%s refuses DCB settings while the port is in a bond",
				 plan->driver);
}

/* A permanent devlink parameter takes effect only after a device reset. */
static void plan_check_devlink(struct dcb *dcb, const struct plan *plan, struct plan_step *s)
{
	struct devlink_roce roce;

	if (s->cannot || devlink_roce_read(dcb, plan->ifname, &roce, NULL) ||
	    roce.mode != DEVLINK_AT_RESET)
		return;
	plan_step_refuse(s,
			 "the device reads it only at startup: devlink dev param set %s/%s name "
			 "enable_roce value %s cmode permanent, then reboot",
			 roce.bus, roce.device, s->to.roce_enable ? "true" : "false");
}

static void plan_check_step(struct dcb *dcb, const struct qos *have, const struct plan *plan,
			    struct plan_step *s)
{
	if (s->field == QOS_APP)
		plan_check_pcp_apps(dcb, have, s);
	if (s->field == QOS_VLAN_PRIO && s->cannot)
		vlan_unknown_reason(dcb, plan->ifname, s->reason, sizeof(s->reason));
	if (s->field == QOS_ROCE_ENABLE)
		plan_check_devlink(dcb, plan, s);
	plan_check_files(dcb, plan, s);
	plan_check_bond(dcb, plan, s);
	if (!(PLAN_RDMA_CM & QOS_BIT(s->field)))
		return;
	if (!plan->ibdev[0])
		plan_step_refuse(s, "the port has no RDMA device");
	else if (!configfs_has_rdma_cm(dcb->configfs_fd))
		plan_step_refuse(s, "rdma_cm is not in configfs: mount configfs and load rdma_cm");
}

void plan_check_host(struct dcb *dcb, const struct qos *have, struct plan *plan)
{
	for (unsigned int i = 0; i < plan->count; i++)
		plan_check_step(dcb, have, plan, &plan->step[i]);
}

int plan_port(struct dcb *dcb, const struct profile *profile, const char *ifname, const char *ibdev,
	      unsigned int ib_port, const struct qos *have, struct plan *plan, struct err *e)
{
	struct dcb_driver_info info = {0};
	struct platform_facts facts;
	int err = dcb_driver(dcb, ifname, &info, e);

	/* A netdev without ethtool has no driver name. */
	if (err && err != -EOPNOTSUPP)
		return err;
	plan_make(&profile->qos, profile->line, have, info.driver, plan);
	plan->lldp_agent = plan_lldp_agent(profile);
	plan->beside_read_only = profile->agent == AGENT_LLDPAD_READONLY;
	snprintf(plan->ifname, sizeof(plan->ifname), "%s", ifname);
	snprintf(plan->ibdev, sizeof(plan->ibdev), "%s", ibdev ? ibdev : "");
	plan->ib_port = ib_port;
	plan_check_host(dcb, have, plan);
	platform_gather(dcb, ifname, ibdev, have->has & dcb_dcbnl_fields(), &facts);
	platform_judge(&facts, plan);
	return 0;
}
