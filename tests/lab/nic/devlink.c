/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devlink's enable_roce as drivers keep it: mlx5 until it is loaded anew, which is a new netdev;
 * ice at once; bnxt until the device is reset (linux 6.1, mlx5/core/devlink.c, ice_devlink.c,
 * bnxt_devlink.c). What the value says has no other effect here.
 */
#include <linux/platform_device.h>
#include <net/devlink.h>

#include "personality.h"

struct labnic_devlink {
	struct platform_device *pdev;
	const struct devlink_param *param;
	bool on;
};

static int roce_get(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
{
	struct labnic_devlink *d = devlink_priv(devlink);

	ctx->val.vbool = d->on;
	return 0;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
static int roce_set(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,
		    struct netlink_ext_ack *extack)
#else
static int roce_set(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
#endif
{
	struct labnic_devlink *d = devlink_priv(devlink);

	d->on = ctx->val.vbool;
	return 0;
}

static int labnic_reload_down(struct devlink *devlink, bool netns_change,
			      enum devlink_reload_action action, enum devlink_reload_limit limit,
			      struct netlink_ext_ack *extack)
{
	struct labnic_devlink *d = devlink_priv(devlink);

	labnic_unmake(d->pdev);
	return 0;
}

static int labnic_reload_up(struct devlink *devlink, enum devlink_reload_action action,
			    enum devlink_reload_limit limit, u32 *actions_performed,
			    struct netlink_ext_ack *extack)
{
	struct labnic_devlink *d = devlink_priv(devlink);

	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	return labnic_make(d->pdev);
}

static const struct devlink_ops reloads = {
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = labnic_reload_down,
	.reload_up = labnic_reload_up,
};

static const struct devlink_ops no_reload;

static const struct devlink_param at_load[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT), NULL, NULL, NULL),
};

static const struct devlink_param at_once[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_RUNTIME), roce_get, roce_set,
			      NULL),
};

static const struct devlink_param at_reset[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_PERMANENT), roce_get, roce_set,
			      NULL),
};

static const struct {
	const struct devlink_param *param;
	const struct devlink_ops *ops;
} modes[] = {
	[LABNIC_ROCE_AT_LOAD] = {at_load, &reloads},
	[LABNIC_ROCE_AT_ONCE] = {at_once, &no_reload},
	[LABNIC_ROCE_AT_RESET] = {at_reset, &no_reload},
};

static void set_initial(struct devlink *devlink, bool on)
{
	const union devlink_param_value value = {.vbool = on};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	devl_lock(devlink);
	devl_param_driverinit_value_set(devlink, DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE, value);
	devl_unlock(devlink);
#else
	(void)devlink_param_driverinit_value_set(devlink, DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE,
						 value); /* it is registered */
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
#endif
}

static void labnic_devlink_remove(void *data)
{
	struct devlink *devlink = data;
	struct labnic_devlink *d = devlink_priv(devlink);

	devlink_unregister(devlink);
	devlink_params_unregister(devlink, d->param, 1);
	devlink_free(devlink);
}

int labnic_devlink_add(struct platform_device *pdev, enum labnic_roce_mode mode, bool on)
{
	struct labnic_devlink *d;
	struct devlink *devlink;
	int err;

	if (!mode)
		return 0;
	devlink = devlink_alloc(modes[mode].ops, sizeof(*d), &pdev->dev);
	if (!devlink)
		return -ENOMEM;
	d = devlink_priv(devlink);
	d->pdev = pdev;
	d->param = modes[mode].param;
	d->on = on;
	err = devlink_params_register(devlink, d->param, 1);
	if (err) {
		devlink_free(devlink);
		return err;
	}
	if (mode == LABNIC_ROCE_AT_LOAD)
		set_initial(devlink, on);
	devlink_register(devlink);
	return devm_add_action_or_reset(&pdev->dev, labnic_devlink_remove, devlink);
}
