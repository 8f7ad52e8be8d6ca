/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devlink parameters (uapi/linux/devlink.h); a bool is a flag attribute. A reload may take longer
 * than the timeout of an answer, so this waits for the netdev instead.
 */
#include "dcb/kernel/devlink.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/netdev.h"
#include "dcb/kernel/sysfs.h"

#define PARAMETER "enable_roce"
#define BACK_S	  60
#define LOOK_MS	  100

struct answer {
	int err; /* of the parameter; 1 = no answer yet */
	bool on;
	uint8_t mode;
};

static bool devlink_attr_is_text(const struct nl_attr *a, const char *text)
{
	return a->size >= strlen(text) + 1 && !memcmp(a->data, text, strlen(text) + 1);
}

/* One value: its mode, and for a bool a flag. */
static int devlink_parse_value(const struct nl_attr *value, struct answer *found)
{
	struct nl_attr mode, data;

	if (!nl_attr_find(value->data, value->size, DEVLINK_ATTR_PARAM_VALUE_CMODE, &mode) ||
	    !mode.size)
		return -EBADMSG;
	if (found->err && mode.data[0] > DEVLINK_AT_RESET)
		return 0; /* a mode of a newer kernel */
	if (found->err || mode.data[0] < found->mode) {
		found->err = 0;
		found->mode = mode.data[0];
		found->on = nl_attr_find(value->data, value->size, DEVLINK_ATTR_PARAM_VALUE_DATA,
					 &data);
	}
	return 0;
}

int devlink_parse_param(const uint8_t *payload, size_t size, bool *on, uint8_t *mode)
{
	struct answer found = {.err = -ENOENT};
	struct nl_attr param, list, a;
	const uint8_t *pos;
	int err = 0;

	if (size < GENL_HDRLEN)
		return -EBADMSG;
	if (!nl_attr_find(payload + GENL_HDRLEN, size - GENL_HDRLEN, DEVLINK_ATTR_PARAM, &param))
		return -EBADMSG;
	if (!nl_attr_find(param.data, param.size, DEVLINK_ATTR_PARAM_NAME, &a) ||
	    !devlink_attr_is_text(&a, PARAMETER) ||
	    !nl_attr_find(param.data, param.size, DEVLINK_ATTR_PARAM_VALUES_LIST, &list))
		return -ENOENT;
	pos = list.data;
	while (!err && nl_attr_next(&pos, list.data + list.size, &a))
		if (a.type == DEVLINK_ATTR_PARAM_VALUE)
			err = devlink_parse_value(&a, &found);
	if (err || found.err)
		return err ? err : found.err;
	*on = found.on;
	*mode = found.mode;
	return 0;
}

static int devlink_parse_answer(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct answer *found = arg;

	(void)type;
	found->err = devlink_parse_param(payload, size, &found->on, &found->mode);
	return found->err;
}

static void devlink_request_start(struct nl_request *r, int family, uint8_t cmd,
				  const struct devlink_roce *roce)
{
	const struct genlmsghdr h = {.cmd = cmd, .version = DEVLINK_GENL_VERSION};

	nl_request_init(r, (uint16_t)family, 0);
	nl_put(r, &h, sizeof(h));
	nl_put_attr(r, DEVLINK_ATTR_BUS_NAME, roce->bus, strlen(roce->bus) + 1);
	nl_put_attr(r, DEVLINK_ATTR_DEV_NAME, roce->device, strlen(roce->device) + 1);
}

void devlink_request_set(struct nl_request *r, int family, const struct devlink_roce *roce, bool on)
{
	/* The type is a netlink attribute type. */
	const uint8_t type = 6; /* NLA_FLAG of linux/netlink.h: a bool */

	devlink_request_start(r, family, DEVLINK_CMD_PARAM_SET, roce);
	nl_put_attr(r, DEVLINK_ATTR_PARAM_NAME, PARAMETER, sizeof(PARAMETER));
	nl_put_attr(r, DEVLINK_ATTR_PARAM_TYPE, &type, sizeof(type));
	nl_put_attr(r, DEVLINK_ATTR_PARAM_VALUE_CMODE, &roce->mode, sizeof(roce->mode));
	if (on)
		nl_put_attr(r, DEVLINK_ATTR_PARAM_VALUE_DATA, NULL, 0);
}

/* Reads the devlink handle of a netdev's device: bus and address out of sysfs. */
static int devlink_find_device(struct dcb *dcb, const char *ifname, struct devlink_roce *roce)
{
	char path[96];

	if (!sysfs_is_element(ifname))
		return -ENOENT;
	snprintf(path, sizeof(path), "class/net/%.15s/device", ifname);
	if (!sysfs_link_name(dcb->sysfs_fd, path, roce->device, sizeof(roce->device)))
		return -ENOENT;
	snprintf(path, sizeof(path), "class/net/%.15s/device/subsystem", ifname);
	return sysfs_link_name(dcb->sysfs_fd, path, roce->bus, sizeof(roce->bus)) ? 0 : -ENOENT;
}

static int devlink_get_param(struct nl *nl, int family, struct devlink_roce *roce, struct err *e)
{
	struct answer found = {.err = 1};
	struct nl_request r;
	int err;

	devlink_request_start(&r, family, DEVLINK_CMD_PARAM_GET, roce);
	nl_put_attr(&r, DEVLINK_ATTR_PARAM_NAME, PARAMETER, sizeof(PARAMETER));
	err = nl_talk(nl, &r, devlink_parse_answer, &found, e);
	/* -ENODEV: the driver has no devlink; -EINVAL: no such parameter. */
	if (err == -ENODEV || err == -EINVAL || err == -EOPNOTSUPP || (!err && found.err))
		return -ENOENT;
	if (err)
		return err;
	roce->on = found.on;
	roce->mode = found.mode;
	return 0;
}

int devlink_roce_read(struct dcb *dcb, const char *ifname, struct devlink_roce *roce, struct err *e)
{
	struct devlink_roce found = {.on = false};
	int err = devlink_find_device(dcb, ifname, &found);

	if (err || !dcb->generic)
		return err_set(e, -ENOENT, "%s: no devlink device", ifname);
	if (!dcb->devlink_family)
		dcb->devlink_family = nl_family(dcb->generic, DEVLINK_GENL_NAME, NULL);
	if (dcb->devlink_family < 0)
		return err_set(e, -ENOENT, "%s: this kernel has no devlink", ifname);
	err = devlink_get_param(dcb->generic, dcb->devlink_family, &found, e);
	if (err == -ENOENT)
		return err_set(e, err, "%s: the driver has no devlink parameter enable_roce",
			       ifname);
	if (err) {
		err_prefix(e, "%s: enable_roce", ifname);
		return err;
	}
	*roce = found;
	return 0;
}

static int devlink_await_netdev(struct dcb *dcb, const char *ifname, struct err *e)
{
	uint64_t end_ms = monotonic_ms() + BACK_S * 1000;
	bool up;
	int err;

	do {
		err = netdev_up_read(dcb->route, ifname, &up, e);
		if (!err)
			return 0;
		(void)poll(NULL, 0, LOOK_MS);
	} while (monotonic_ms() < end_ms);
	err_set(e, -ETIMEDOUT, "%s: did not come back within %d s of the driver's reload", ifname,
		BACK_S);
	err_hint(e, "check 'ip link': the netdev may have a new name");
	return -ETIMEDOUT;
}

/* Uses a socket of its own: all devlink requests for the device wait until the reload is over. */
static int devlink_reload(struct dcb *dcb, const char *ifname, const struct devlink_roce *roce,
			  struct err *e)
{
	struct nl_request r;
	struct nl *nl;
	bool up;
	int err = netdev_up_read(dcb->route, ifname, &up, e);

	if (!err)
		err = nl_open(NETLINK_GENERIC, &nl, e);
	if (err)
		return err;
	devlink_request_start(&r, dcb->devlink_family, DEVLINK_CMD_RELOAD, roce);
	err = nl_talk(nl, &r, NULL, NULL, e);
	nl_shut(nl);
	if (err && err != -ETIMEDOUT) {
		err_prefix(e, "%s: devlink dev reload %s/%s", ifname, roce->bus, roce->device);
		return err;
	}
	err = devlink_await_netdev(dcb, ifname, e);
	/* A new netdev is down, and network configuration may only wait for a link. */
	return !err && up ? netdev_set_up(dcb->route, ifname, e) : err;
}

int devlink_roce_write(struct dcb *dcb, const char *ifname, bool on, struct err *e)
{
	struct devlink_roce roce;
	struct nl_request r;
	int err = devlink_roce_read(dcb, ifname, &roce, e);

	if (err)
		return err;
	if (roce.mode == DEVLINK_AT_RESET)
		return err_set(e, -EOPNOTSUPP,
			       "%s: enable_roce takes effect only after a device reset", ifname);
	devlink_request_set(&r, dcb->devlink_family, &roce, on);
	err = nl_talk(dcb->generic, &r, NULL, NULL, e);
	if (err) {
		err_prefix(e, "%s: enable_roce", ifname);
		return err;
	}
	return roce.mode == DEVLINK_AT_LOAD ? devlink_reload(dcb, ifname, &roce, e) : 0;
}
