/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel backend of struct dcb: a table of objects (fields that are written together) with
 * their writers. A set is a read-modify-write of the whole object. An object that the device does
 * not show is never written: the kernel would return success and do nothing.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/congestion.h"
#include "dcb/kernel/configfs.h"
#include "dcb/kernel/dcbnl.h"
#include "dcb/kernel/devlink.h"
#include "dcb/kernel/driver.h"
#include "dcb/kernel/ethtool.h"
#include "dcb/kernel/netdev.h"
#include "profiles/qos.h"

#define BIT(id)	      QOS_BIT(QOS_##id)
#define ETS_FIELDS    (BIT(ETS_WILLING) | BIT(PRIO_TC) | BIT(TC_TSA) | BIT(TC_TX_BW))
#define PFC_FIELDS    (BIT(PFC_ENABLED) | BIT(PFC_DELAY))
#define BUFFER_FIELDS (BIT(PRIO_BUFFER) | BIT(BUFFER_SIZE))
#define PAUSE_FIELDS  (BIT(PAUSE_AUTONEG) | BIT(PAUSE_RX) | BIT(PAUSE_TX))
#define CM_FIELDS     (BIT(ROCE_VERSION) | BIT(CM_TOS))
#define FLAG_FIELDS   (BIT(FIRMWARE_AGENT) | BIT(PFC_STORM))
#define LINK_FIELDS   BIT(MTU)
#define CC_FIELDS                                                                                  \
	(BIT(NP_ENABLE) | BIT(RP_ENABLE) | BIT(CNP_DSCP) | BIT(CNP_PRIO) | BIT(CNP_INTERVAL) |     \
	 BIT(CC_PARAMS) | BIT(CC_ALGORITHM) | BIT(VERBS_TOS))
/* Fields outside dcbnl. */
#define OTHER_FIELDS                                                                               \
	(LINK_FIELDS | PAUSE_FIELDS | CM_FIELDS | FLAG_FIELDS | BIT(VLAN_PRIO) |                   \
	 BIT(ROCE_ENABLE) | CC_FIELDS)

static const struct driver_quirk *kernel_port_quirk(struct dcb *dcb, const struct dcb_port *port)
{
	struct dcb_driver_info info;

	return driver_quirk_find(dcb_driver(dcb, port->ifname, &info, NULL) ? "" : info.driver);
}

static bool kernel_has_ibdev(const struct dcb_port *port)
{
	return port->ibdev && port->ibdev[0];
}

static int kernel_read_dcbnl(struct dcb *dcb, const struct dcb_port *port, struct qos *q,
			     bool *has_dcb, struct err *e)
{
	struct dcbnl_state s;
	int err = dcbnl_get(dcb->route, port->ifname, &s, e);

	*has_dcb = !err;
	if (err == -EOPNOTSUPP)
		return 0;
	if (err)
		return err;
	dcbnl_to_qos(&s, q);
	driver_forget_zeros(kernel_port_quirk(dcb, port), q);
	return 0;
}

/* Asks only drivers that have the parameter, to save a request. */
static void kernel_read_roce(struct dcb *dcb, const struct dcb_port *port, struct qos *q)
{
	struct devlink_roce roce;

	if (!kernel_port_quirk(dcb, port)->has_enable_roce ||
	    devlink_roce_read(dcb, port->ifname, &roce, NULL))
		return;
	q->roce_enable = roce.on;
	q->has |= BIT(ROCE_ENABLE);
}

struct congestion_port dcb_congestion_port(struct dcb *dcb, const struct dcb_port *port)
{
	struct congestion_port files = {
		.sysfs = dcb->sysfs_fd,
		.debugfs = dcb->debugfs_fd,
		.configfs = dcb->configfs_fd,
		.ifname = port->ifname,
		.ibdev = port->ibdev ? port->ibdev : "",
		.ib_port = port->ib_port,
	};
	struct dcb_driver_info info;

	if (!dcb_driver(dcb, port->ifname, &info, NULL))
		snprintf(files.bus, sizeof(files.bus), "%s", info.bus);
	return files;
}

/* Adds at least these fields: each kernel interface is read as a whole. The link comes first: it
 * shows that the netdev exists. */
static int kernel_read_some(struct dcb *dcb, const struct dcb_port *port, uint64_t fields,
			    struct qos *q, bool *has_dcb, struct err *e)
{
	struct congestion_port files;
	int err = 0;

	if (fields & LINK_FIELDS)
		err = netdev_qos_read(dcb->route, port->ifname, q, e);
	if (!err && fields & ~OTHER_FIELDS)
		err = kernel_read_dcbnl(dcb, port, q, has_dcb, e);
	if (!err && fields & PAUSE_FIELDS)
		err = ethtool_pause_read(dcb->generic, dcb->ethtool_family, port->ifname, q, e);
	if (!err && fields & CM_FIELDS && kernel_has_ibdev(port))
		err = configfs_read(dcb->configfs_fd, port->ibdev, port->ib_port, q, e);
	if (!err && fields & FLAG_FIELDS)
		err = ethtool_flags_read(dcb->ioctl_fd, port->ifname, q, e);
	if (err)
		return err;
	if (fields & BIT(VLAN_PRIO))
		vlan_read(dcb, port->ifname, q);
	if (fields & BIT(ROCE_ENABLE))
		kernel_read_roce(dcb, port, q);
	if (fields & CC_FIELDS) {
		files = dcb_congestion_port(dcb, port);
		congestion_read(&files, q);
	}
	return 0;
}

static int kernel_read(struct dcb *dcb, const struct dcb_port *port, struct qos *q, bool *has_dcb,
		       struct err *e)
{
	int err = kernel_read_some(dcb, port, ~UINT64_C(0), q, has_dcb, e);

	if (err)
		return err;
	return port->lldp_agent == LLDP_AGENT_LLDPAD && *has_dcb
		       ? dcb_lldpad.read(port->ifname, q, e)
		       : 0;
}

static int kernel_read_back(struct dcb *dcb, const struct dcb_port *port, uint64_t fields,
			    struct qos *q, struct err *e)
{
	bool has_dcb = false;

	/* The agent's configuration replaces values of a full read. */
	if (port->lldp_agent == LLDP_AGENT_LLDPAD)
		return kernel_read(dcb, port, q, &has_dcb, e);
	return kernel_read_some(dcb, port, fields, q, &has_dcb, e);
}

static int kernel_unsupported(const struct dcb_port *port, const char *what, struct err *e)
{
	return err_set(e, -EOPNOTSUPP, "%s: the driver does not support %s", port->ifname, what);
}

static int kernel_write_dcbx(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			     uint64_t mask, struct err *e)
{
	uint8_t mode = q->dcbx_mode;

	(void)mask;
	if (!(mode & QOS_DCBX_HOST) && kernel_port_quirk(dcb, port)->dcbx_zero_frees)
		mode = 0;
	return dcbnl_set_dcbx(dcb->route, port->ifname, mode, e);
}

/* Objects that are one struct in one attribute: read, changed and sent back as a whole. */
static const struct sent_struct {
	uint64_t fields;
	uint16_t attr;
	size_t has, offset, size; /* in struct dcbnl_state */
	const char *what;
} sent_structs[] = {
#define SENT(flag, member)                                                                         \
	offsetof(struct dcbnl_state, flag), offsetof(struct dcbnl_state, member),                  \
		sizeof(((struct dcbnl_state *)0)->member)
	{ETS_FIELDS, DCB_ATTR_IEEE_ETS, SENT(has_ets, ets), "ETS"},
	{PFC_FIELDS, DCB_ATTR_IEEE_PFC, SENT(has_pfc, pfc), "PFC"},
	{BIT(TC_MAXRATE), DCB_ATTR_IEEE_MAXRATE, SENT(has_maxrate, maxrate), "rate limit"},
	{BUFFER_FIELDS, DCB_ATTR_DCB_BUFFER, SENT(has_buffer, buffer), "setting receive buffers"},
};

static int kernel_write_struct(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			       uint64_t mask, struct err *e)
{
	const struct sent_struct *row = sent_structs;
	struct dcbnl_state s;
	int err = dcbnl_get(dcb->route, port->ifname, &s, e);

	if (err)
		return err;
	while (!(row->fields & mask))
		row++;
	if (!*((const bool *)&s + row->has))
		return kernel_unsupported(port, row->what, e);
	dcbnl_fill(&s, q, mask);
	return dcbnl_set_object(dcb->route, port->ifname, row->attr,
				(const uint8_t *)&s + row->offset, row->size, e);
}

/* Sends the changes of an APP table in order: consecutive ones of a kind in one message, or one by
 * one for drivers that end a message after a changed entry (ice). */
static int kernel_send_apps(struct dcb *dcb, const struct dcb_port *port,
			    const struct app_change *change, unsigned int n, bool at_once,
			    struct err *e)
{
	struct dcbnl_state now;
	int err = 0;

	if (at_once)
		err = dcbnl_change_apps(dcb->route, port->ifname, change, n, e);
	for (unsigned int i = 0; !at_once && err >= 0 && i < n; i++)
		err = dcbnl_change_apps(dcb->route, port->ifname, &change[i], 1, e);
	if (err >= 0)
		return at_once ? err : 0;
	/* The kernel stops at the refused entry. */
	if (!dcbnl_get(dcb->route, port->ifname, &now, NULL))
		dcbnl_app_error(&now, change, n, e);
	return err;
}

/* Returns 1 when changes are left. */
static int kernel_change_apps(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			      uint64_t mask, unsigned int quirks, bool at_once, struct err *e)
{
	struct app_change change[2 * (QOS_DSCPS + QOS_APPS_MAX)];
	struct dcbnl_state s;
	int n, err = dcbnl_get(dcb->route, port->ifname, &s, e);

	if (err)
		return err;
	if (!s.has_app)
		return kernel_unsupported(port, "APP table", e);
	n = dcbnl_app_changes(&s, q, mask, quirks, change, ARRAY_SIZE(change));
	if (n < 0)
		return err_sys(e, n, "%s: APP table", port->ifname);
	return kernel_send_apps(dcb, port, change, (unsigned int)n, at_once, e);
}

/* Writes the entries of q that mask (QOS_TRUST, QOS_DSCP_PRIO, QOS_APP) covers. -EOPNOTSUPP without
 * an APP table; a refused entry is named in e. */
static int kernel_write_apps(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			     uint64_t mask, struct err *e)
{
	const struct driver_quirk *quirk = kernel_port_quirk(dcb, port);
	unsigned int quirks = (quirk->app_replaces ? APP_REPLACES : 0) |
			      (quirk->dscp_flip_resets ? APP_LAST_RESETS : 0);
	int err = kernel_change_apps(dcb, port, q, mask, quirks, true, e);

	if (err > 0)
		err = kernel_change_apps(dcb, port, q, mask, quirks, false, e);
	/* Deletes entries that the driver did not replace. */
	if (!err && quirk->app_replaces)
		err = kernel_change_apps(dcb, port, q, mask, 0, false, e);
	return err;
}

static int kernel_write_rewrite(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
				uint64_t mask, struct err *e)
{
	struct app_change change[2 * QOS_DSCPS + 2 * QOS_PRIOS];
	struct dcbnl_state s;
	unsigned int n;
	int err = dcbnl_get(dcb->route, port->ifname, &s, e);

	if (err)
		return err;
	if (!s.has_trust || !s.has_rewr)
		return kernel_unsupported(port, "rewriting", e);
	n = dcbnl_rewr_changes(&s, q, mask, change);
	for (unsigned int i = 0; !err && i < n; i++)
		err = dcbnl_change_rewr(dcb->route, port->ifname, &change[i], e);
	return err;
}

static int kernel_write_rdma_cm(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
				uint64_t mask, struct err *e)
{
	if (!kernel_has_ibdev(port))
		return err_set(e, -EOPNOTSUPP, "%s has no RDMA device", port->ifname);
	return configfs_write(dcb->configfs_fd, port->ibdev, port->ib_port, q, mask, e);
}

static int kernel_write_congestion(struct dcb *dcb, const struct dcb_port *port,
				   const struct qos *q, uint64_t mask, struct err *e)
{
	const struct congestion_port files = dcb_congestion_port(dcb, port);

	return congestion_write(&files, q, mask, e);
}

static int kernel_write_pause(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			      uint64_t mask, struct err *e)
{
	return ethtool_pause_write(dcb->generic, dcb->ethtool_family, port->ifname, q, mask, e);
}

static int kernel_write_link(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			     uint64_t mask, struct err *e)
{
	return netdev_qos_write(dcb->route, port->ifname, q, __builtin_ctzll(mask), e);
}

/* Objects of one value. */
static int kernel_write_value(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			      uint64_t mask, struct err *e)
{
	switch (__builtin_ctzll(mask)) {
	case QOS_ROCE_ENABLE:
		return devlink_roce_write(dcb, port->ifname, q->roce_enable, e);
	case QOS_FIRMWARE_AGENT:
		return ethtool_lldp_agent_write(dcb->ioctl_fd, port->ifname, q->firmware_agent, e);
	case QOS_APP_TRUST:
		return dcbnl_set_trust(dcb->route, port->ifname, q->app_trust, e);
	case QOS_VLAN_PRIO:
		return vlan_write(dcb, port->ifname, q, e);
	case QOS_PFC_STORM:
		return ethtool_storm_write(dcb->ioctl_fd, port->ifname, q->pfc_storm_ms, e);
	default: /* no kernel interface */
		return err_set(e, -EOPNOTSUPP, "%s: only an LLDP agent can set this", port->ifname);
	}
}

/* One row per object: the fields that are written together. */
static const struct object {
	uint64_t fields;
	int (*write)(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
		     uint64_t mask, struct err *e);
	bool dcbnl;
} objects[] = {
	{BIT(ROCE_ENABLE), kernel_write_value, false},
	{BIT(FIRMWARE_AGENT), kernel_write_value, false},
	{BIT(DCBX_MODE), kernel_write_dcbx, true},
	{BIT(ADMIN_STATUS), kernel_write_value, false},
	{BIT(ADVERTISE), kernel_write_value, false},
	{BIT(RECO_PRIO_TC) | BIT(RECO_TSA) | BIT(RECO_BW), kernel_write_value, false},
	{BIT(PFC_WILLING), kernel_write_value, false},
	{BIT(TRUST) | BIT(DSCP_PRIO), kernel_write_apps, true},
	{BIT(APP), kernel_write_apps, true},
	{BIT(APP_TRUST), kernel_write_value, true},
	{BIT(REWRITE_DSCP) | BIT(REWRITE_PCP), kernel_write_rewrite, true},
	{ETS_FIELDS, kernel_write_struct, true},
	{BIT(TC_MAXRATE), kernel_write_struct, true},
	{PFC_FIELDS, kernel_write_struct, true},
	{BUFFER_FIELDS, kernel_write_struct, true},
	{PAUSE_FIELDS, kernel_write_pause, false},
	{BIT(MTU), kernel_write_link, false},
	{BIT(VLAN_PRIO), kernel_write_value, false},
	{BIT(ROCE_VERSION), kernel_write_rdma_cm, false},
	{BIT(CM_TOS), kernel_write_rdma_cm, false},
	{BIT(PFC_STORM), kernel_write_value, false},
	{BIT(NP_ENABLE), kernel_write_congestion, false},
	{BIT(RP_ENABLE), kernel_write_congestion, false},
	{BIT(CNP_DSCP), kernel_write_congestion, false},
	{BIT(CNP_PRIO), kernel_write_congestion, false},
	{BIT(CNP_INTERVAL), kernel_write_congestion, false},
	{BIT(CC_PARAMS), kernel_write_congestion, false},
	{BIT(CC_ALGORITHM), kernel_write_congestion, false},
	{BIT(VERBS_TOS), kernel_write_congestion, false},
};

static const struct object *kernel_object_of(uint64_t fields)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(objects); i++)
		if (objects[i].fields & fields)
			return &objects[i];
	return NULL;
}

uint64_t dcb_object_fields(enum qos_field_id field)
{
	const struct object *o = kernel_object_of(QOS_BIT(field));

	return o ? o->fields : 0;
}

uint64_t dcb_dcbnl_fields(void)
{
	uint64_t fields = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(objects); i++)
		if (objects[i].dcbnl)
			fields |= objects[i].fields;
	return fields;
}

static int kernel_write(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			uint64_t mask, struct err *e)
{
	const struct object *o = kernel_object_of(mask);

	if (port->lldp_agent == LLDP_AGENT_LLDPAD && mask & dcb_lldpad.fields())
		return dcb_lldpad.write(port->ifname, q, mask & dcb_lldpad.fields(), e);
	if (o)
		return o->write(dcb, port, q, o->fields & mask, e);
	return err_set(e, -EOPNOTSUPP, "%s: the setting is read-only", port->ifname);
}

static int kernel_check(struct dcb *dcb, const struct dcb_port *port, struct err *e)
{
	struct dcbnl_state s;
	int err;

	/* Of lldpad's list all is known; in the kernel's there are the peer's entries, too. */
	if (port->lldp_agent == LLDP_AGENT_LLDPAD)
		return 0;
	err = dcbnl_get(dcb->route, port->ifname, &s, e);
	if (err == -EOPNOTSUPP)
		return 0;
	if (err)
		return err;
	err = dcbnl_app_unique(&s, e);
	if (err) {
		err_prefix(e, "%s", port->ifname);
		err_hint(e,
			 "delete one of them: dcb app show dev %s, then dcb app del dev %s "
			 "dscp-prio "
			 "DSCP:PRIO",
			 port->ifname, port->ifname);
	}
	return err;
}

static int kernel_cm_dir_create(struct dcb *dcb, const struct dcb_port *port, bool *made,
				struct err *e)
{
	return configfs_cm_dir_create(dcb->configfs_fd, port->ibdev, made, e);
}

static int kernel_cm_dir_remove(struct dcb *dcb, const struct dcb_port *port, struct err *e)
{
	return configfs_cm_dir_remove(dcb->configfs_fd, port->ibdev, e);
}

const struct dcb_backend dcb_kernel = {
	.read = kernel_read,
	.read_back = kernel_read_back,
	.write = kernel_write,
	.check = kernel_check,
	.cm_dir_create = kernel_cm_dir_create,
	.cm_dir_remove = kernel_cm_dir_remove,
};
