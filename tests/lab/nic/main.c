/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Module and netdev of the lab NIC. Each NIC is a platform device, so that sysfs, ethtool -i and
 * the RDMA device above agree about a driver and a bus address, as they do on hardware. A module
 * makes as many as it is given lower netdevs; its other parameters are of all of them.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/rtnetlink.h>

#include "personality.h"

#define NICS 4

static char *lower[NICS] = {"eth0"};
static int lowers = 1;
module_param_array(lower, charp, &lowers, 0444);
MODULE_PARM_DESC(lower, "netdevs that carry the frames, one for each NIC");

static char *name[NICS] = {"roce0", "roce1", "roce2", "roce3"};
static int names;
module_param_array(name, charp, &names, 0444);
MODULE_PARM_DESC(name, "names of the NICs' netdevs, as many");

static unsigned int rate = 25;
module_param(rate, uint, 0644);
MODULE_PARM_DESC(rate, "link rate, MB/s");

static unsigned int drain;
module_param(drain, uint, 0644);
MODULE_PARM_DESC(drain, "rate at which the host empties the receive buffer, MB/s (0: no limit)");

static char *personality = "generic";
module_param(personality, charp, 0444);
MODULE_PARM_DESC(personality, "whose DCB and statistics it has: generic, mlx4, mlx5, bnxt, ice");

static bool fw_dcbx;
module_param(fw_dcbx, bool, 0444);
MODULE_PARM_DESC(fw_dcbx, "the firmware's DCBX agent owns DCB (not generic)");

static bool np = true;
module_param(np, bool, 0444);
MODULE_PARM_DESC(np, "the notification point is on at first (not ice)");

static bool rp = true;
module_param(rp, bool, 0444);
MODULE_PARM_DESC(rp, "the reaction point is on at first (not ice)");

static bool roce = true;
module_param(roce, bool, 0444);
MODULE_PARM_DESC(roce, "devlink's enable_roce at first (mlx5, bnxt, ice)");

static int refuse;
module_param(refuse, int, 0644);
MODULE_PARM_DESC(refuse,
		 "the setting that is refused as busy, counted from 1 on (0: none; generic)");

/* How long a link takes that goes down and up. */
#define FLAP_MS 50

static const struct labnic_personality *const personalities[] = {
	&labnic_generic,
	&labnic_mlx4,
	&labnic_mlx5,
	&labnic_bnxt,
	&labnic_ice,
};

bool labnic_firmware_dcbx(void)
{
	return fw_dcbx;
}

/* Whoever asks for it sets one thing after the other. */
bool labnic_refused(void)
{
	return refuse > 0 && !--refuse;
}

u32 labnic_rate(void)
{
	return clamp_t(u32, READ_ONCE(rate), 1, 12500);
}

u32 labnic_drain_rate(void)
{
	return min_t(u32, READ_ONCE(drain), 12500);
}

static int labnic_change_mtu(struct net_device *dev, int mtu)
{
	if (labnic_refused())
		return -EBUSY;
	WRITE_ONCE(dev->mtu, mtu);
	return 0;
}

static u16 labnic_select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb)
{
	return labnic_tx_prio(netdev_priv(dev), skb);
}

static void labnic_carrier(struct labnic *nic)
{
	struct net_device *low = rtnl_dereference(nic->low);

	if (low && netif_running(low) && netif_carrier_ok(low) && !nic->flapping)
		netif_carrier_on(nic->dev);
	else
		netif_carrier_off(nic->dev);
}

static void labnic_flap_end(struct work_struct *work)
{
	struct labnic *nic = container_of(work, struct labnic, flap_end.work);

	rtnl_lock();
	nic->flapping = false;
	if (rtnl_dereference(nic->low) && netif_running(nic->dev))
		labnic_carrier(nic);
	rtnl_unlock();
}

void labnic_flap(struct labnic *nic)
{
	if (!netif_running(nic->dev))
		return;
	nic->flapping = true;
	netif_carrier_off(nic->dev);
	mod_delayed_work(system_wq, &nic->flap_end, msecs_to_jiffies(FLAP_MS));
}

static int labnic_open(struct net_device *dev)
{
	struct labnic *nic = netdev_priv(dev);
	struct net_device *low = rtnl_dereference(nic->low);
	int err;

	if (!low)
		return -ENODEV;
	err = dev_set_promiscuity(low, 1);
	if (err)
		return err;
	labnic_link_start(nic);
	labnic_drain_start(nic);
	labnic_carrier(nic);
	return 0;
}

static int labnic_stop(struct net_device *dev)
{
	struct labnic *nic = netdev_priv(dev);
	struct net_device *low = rtnl_dereference(nic->low);

	labnic_link_stop(nic);
	labnic_drain_stop(nic);
	netif_carrier_off(dev);
	if (low)
		(void)dev_set_promiscuity(low, -1); /* cannot fail downwards */
	return 0;
}

static void labnic_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct labnic *nic = netdev_priv(dev);
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		atomic64_t *count = nic->count[prio];

		stats->rx_packets += atomic64_read(&count[LABNIC_RX_PACKETS]);
		stats->rx_bytes += atomic64_read(&count[LABNIC_RX_BYTES]);
		stats->rx_missed_errors += atomic64_read(&count[LABNIC_RX_DISCARDS]);
		stats->tx_packets += atomic64_read(&count[LABNIC_TX_PACKETS]);
		stats->tx_bytes += atomic64_read(&count[LABNIC_TX_BYTES]);
	}
	stats->tx_dropped = atomic64_read(&nic->tx_dropped);
}

static const struct net_device_ops labnic_netdev_ops = {
	.ndo_open = labnic_open,
	.ndo_stop = labnic_stop,
	.ndo_start_xmit = labnic_xmit,
	.ndo_change_mtu = labnic_change_mtu,
	.ndo_select_queue = labnic_select_queue,
	.ndo_get_stats64 = labnic_stats64,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void labnic_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &labnic_netdev_ops;
	dev->ethtool_ops = &labnic_ethtool_ops;
	dev->max_mtu = 9000;
	dev->features |= NETIF_F_HIGHDMA | NETIF_F_SG | NETIF_F_HW_CSUM;
	/* A transmitted skb changes its netdev; a bond changes addresses of what is up. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	dev->hw_features |= NETIF_F_SG | NETIF_F_HW_CSUM;
}

/* Under rtnl: no frame comes in any more, and the lower netdev is free to go. */
static void labnic_detach(struct labnic *nic)
{
	struct net_device *low = rtnl_dereference(nic->low);

	if (!low)
		return;
	netdev_rx_handler_unregister(low);
	if (netif_running(nic->dev))
		(void)dev_set_promiscuity(low, -1);
	RCU_INIT_POINTER(nic->low, NULL);
	synchronize_net();
	netif_carrier_off(nic->dev);
	dev_put(low);
}

static int labnic_netdev_event(struct notifier_block *block, unsigned long event, void *ptr)
{
	struct labnic *nic = container_of(block, struct labnic, netdev_event);
	struct net_device *low = rtnl_dereference(nic->low);

	if (!low || netdev_notifier_info_to_dev(ptr) != low)
		return NOTIFY_DONE;
	if (event == NETDEV_UNREGISTER)
		labnic_detach(nic);
	else if (event == NETDEV_UP || event == NETDEV_DOWN || event == NETDEV_CHANGE)
		labnic_carrier(nic);
	return NOTIFY_DONE;
}

/* The lower netdev carries whatever MTU this one is given later. */
static int labnic_attach(struct labnic *nic, struct net_device *low)
{
	int err;

	eth_hw_addr_set(nic->dev, low->dev_addr);
	nic->dev->max_mtu = min(nic->dev->max_mtu, low->max_mtu);
	err = dev_set_mtu(low, nic->dev->max_mtu);
	if (err)
		return err;
	err = register_netdevice(nic->dev);
	if (err)
		return err;
	err = netdev_rx_handler_register(low, labnic_receive, nic);
	if (err) {
		unregister_netdevice(nic->dev);
		return err;
	}
	dev_hold(low);
	rcu_assign_pointer(nic->low, low);
	netif_carrier_off(nic->dev);
	return 0;
}

static void labnic_remove(struct labnic *nic)
{
	if (nic->netdev_event.notifier_call)
		(void)unregister_netdevice_notifier(&nic->netdev_event); /* -ENOENT: never was */
	labnic_cc_hide(nic);
	rtnl_lock();
	dev_close(nic->dev);
	labnic_detach(nic);
	unregister_netdevice(nic->dev);
	rtnl_unlock();
	(void)cancel_delayed_work_sync(&nic->flap_end);
	free_netdev(nic->dev);
}

static const struct labnic_personality *find_personality(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(personalities); i++) {
		if (!strcmp(personalities[i]->name, personality))
			return personalities[i];
	}
	return NULL;
}

int labnic_make(struct platform_device *pdev)
{
	struct net_device *dev;
	struct net_device *low;
	struct labnic *nic;
	int err;

	dev = alloc_netdev_mqs(sizeof(*nic), name[pdev->id], NET_NAME_USER, labnic_setup,
			       LABNIC_PRIOS, 1);
	if (!dev)
		return -ENOMEM;
	netdev_lockdep_set_classes(dev);
	SET_NETDEV_DEV(dev, &pdev->dev);
	nic = netdev_priv(dev);
	nic->dev = dev;
	nic->personality = find_personality();
	dev->dcbnl_ops = nic->personality->dcb_ops;
	INIT_DELAYED_WORK(&nic->flap_end, labnic_flap_end);
	labnic_link_init(nic);
	labnic_drain_init(nic);
	labnic_dcb_init(nic);
	labnic_cc_init(nic, np, rp);
	rtnl_lock();
	low = __dev_get_by_name(&init_net, lower[pdev->id]);
	err = low ? labnic_attach(nic, low) : -ENODEV;
	rtnl_unlock();
	if (err) {
		dev_err(&pdev->dev, "%s above %s: error %d\n", name[pdev->id], lower[pdev->id],
			err);
		free_netdev(dev);
		return err;
	}
	nic->netdev_event.notifier_call = labnic_netdev_event;
	err = register_netdevice_notifier(&nic->netdev_event);
	if (!err)
		err = labnic_cc_show(nic);
	if (err)
		labnic_remove(nic);
	else
		platform_set_drvdata(pdev, nic);
	return err;
}

void labnic_unmake(struct platform_device *pdev)
{
	struct labnic *nic = platform_get_drvdata(pdev);

	platform_set_drvdata(pdev, NULL);
	if (nic)
		labnic_remove(nic);
}

static void labnic_drop(void *data)
{
	labnic_unmake(data);
}

static int labnic_probe(struct platform_device *pdev)
{
	int err = labnic_make(pdev);

	if (!err)
		err = devm_add_action_or_reset(&pdev->dev, labnic_drop, pdev);
	if (!err)
		err = labnic_devlink_add(pdev, find_personality()->roce, roce);
	return err;
}

static struct platform_driver labnic_driver = {
	.probe = labnic_probe,
	.driver =
		{
			.name = "labnic", /* until the personality is known */
			.probe_type = PROBE_FORCE_SYNCHRONOUS,
			.suppress_bind_attrs = true,
		},
};

static struct platform_device *labnic_devices[NICS];

static void labnic_remove_devices(void)
{
	int i;

	for (i = NICS - 1; i >= 0; i--)
		platform_device_unregister(labnic_devices[i]); /* NULL: never was */
}

/* All of them, or none; the probe has said what is wrong with one that has no driver now. */
static int labnic_add_devices(void)
{
	struct platform_device *pdev;
	int i;

	for (i = 0; i < lowers; i++) {
		pdev = platform_device_register_simple(labnic_driver.driver.name, i, NULL, 0);
		if (!IS_ERR(pdev))
			labnic_devices[i] = pdev;
		if (IS_ERR(pdev) || !platform_get_drvdata(pdev)) {
			labnic_remove_devices();
			return IS_ERR(pdev) ? PTR_ERR(pdev) : -ENODEV;
		}
	}
	return 0;
}

static int __init labnic_init(void)
{
	const struct labnic_personality *who = find_personality();
	int err;

	if (!who) {
		pr_err("labnic: no personality '%s': generic, mlx5, bnxt or ice\n", personality);
		return -EINVAL;
	}
	if (names && names != lowers) {
		pr_err("labnic: %d names for %d lower netdevs\n", names, lowers);
		return -EINVAL;
	}
	labnic_driver.driver.name = who->driver;
	err = platform_driver_register(&labnic_driver);
	if (err)
		return err;
	err = labnic_add_devices();
	if (err)
		platform_driver_unregister(&labnic_driver);
	return err;
}

static void __exit labnic_exit(void)
{
	labnic_remove_devices();
	platform_driver_unregister(&labnic_driver);
}

module_init(labnic_init);
module_exit(labnic_exit);

MODULE_AUTHOR("The rocecheck authors");
MODULE_DESCRIPTION("RoCE NIC of the rocecheck lab");
MODULE_VERSION(LABNIC_VERSION);
MODULE_LICENSE("GPL");
