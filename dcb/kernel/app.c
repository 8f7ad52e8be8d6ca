/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the APP table of a port: all changes of one kind in one message, in the order in which
 * they must happen. Drivers that do not get along with that (ice ends a message behind an entry
 * that changed something) get them one by one.
 */
#include "dcb/kernel/app.h"

#include <errno.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/dcbnl.h"
#include "dcb/kernel/driver.h"

/* Sends them at once, or one by one where a driver does not go on behind its first. */
static int send_apps(struct dcb *dcb, const struct dcb_port *port, const struct app_change *change,
		     unsigned int n, bool at_once, struct err *e)
{
	struct dcbnl_state now;
	int err = 0;

	if (at_once)
		err = dcbnl_change_apps(dcb->route, port->ifname, change, n, e);
	for (unsigned int i = 0; !at_once && err >= 0 && i < n; i++)
		err = dcbnl_change_apps(dcb->route, port->ifname, &change[i], 1, e);
	if (err >= 0)
		return at_once ? err : 0;
	/* The kernel stops at the one that is refused. */
	if (!dcbnl_get(dcb->route, port->ifname, &now, NULL))
		dcbnl_app_error(&now, change, n, e);
	return err;
}

/* 1: not all of it is done. */
static int app_pass(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
		    uint64_t mask, unsigned int habits, bool at_once, struct err *e)
{
	struct app_change change[2 * (QOS_DSCPS + QOS_APPS_MAX)];
	struct dcbnl_state s;
	int n, err = dcbnl_get(dcb->route, port->ifname, &s, e);

	if (err)
		return err;
	if (!s.has_app)
		return err_set(e, -EOPNOTSUPP, "%s: the driver has no APP table", port->ifname);
	n = dcbnl_app_changes(&s, q, mask, habits, change, ARRAY_SIZE(change));
	if (n < 0)
		return err_sys(e, n, "%s: APP table", port->ifname);
	return send_apps(dcb, port, change, (unsigned int)n, at_once, e);
}

int app_write(struct dcb *dcb, const struct dcb_port *port, const struct driver_quirk *quirk,
	      const struct qos *q, uint64_t mask, struct err *e)
{
	unsigned int habits = (quirk->app_replaces ? APP_REPLACES : 0) |
			      (quirk->dscp_flip_resets ? APP_LAST_RESETS : 0);
	int err = app_pass(dcb, port, q, mask, habits, true, e);

	if (err > 0)
		err = app_pass(dcb, port, q, mask, habits, false, e);
	/* What the driver did not replace after all. */
	if (!err && quirk->app_replaces)
		err = app_pass(dcb, port, q, mask, 0, false, e);
	return err;
}
