/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCB operations (802.1Q clauses 36, 37 and annex D; linux dcbnl.h), with the checks and the
 * readings of hardware drivers: ETS bandwidths sum to exactly 100, no credit-based shaper, no
 * firmware DCBX agent. The APP table, trust and rewriting are in trust.c.
 */
#include "personality.h"

#define TSA_STRICT IEEE_8021QAZ_TSA_STRICT
#define DCBX_MODE  (DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE)
/*
 * Below the 128 packets of 4 KiB that one Soft-RoCE queue pair keeps in flight, so that one can
 * overrun it, and large enough for xoff plus 10 ms at the default link rate.
 */
#define BUFFER_BYTES (384 * 1024)

int labnic_getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);

	*ets = nic->ets;
	return 0;
}

void labnic_ets_apply(struct labnic *nic, const struct ieee_ets *ets)
{
	nic->ets = *ets;
	nic->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	nic->ets.cbs = 0;
	labnic_sched_plan(nic, &nic->ets, &nic->maxrate);
}

int labnic_setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);
	int share = 0;
	bool any = false;
	int tc;

	if (labnic_refused())
		return -EBUSY;
	for (tc = 0; tc < IEEE_8021QAZ_MAX_TCS; tc++) {
		if (ets->prio_tc[tc] >= IEEE_8021QAZ_MAX_TCS)
			return -EINVAL;
		if (ets->tc_tsa[tc] == IEEE_8021QAZ_TSA_CB_SHAPER)
			return -EOPNOTSUPP;
		if (ets->tc_tsa[tc] != IEEE_8021QAZ_TSA_ETS && ets->tc_tsa[tc] != TSA_STRICT &&
		    ets->tc_tsa[tc] != IEEE_8021QAZ_TSA_VENDOR)
			return -EINVAL;
		if (ets->tc_tsa[tc] != IEEE_8021QAZ_TSA_ETS)
			continue;
		any = true;
		share += ets->tc_tx_bw[tc];
	}
	if (any && share != 100)
		return -EINVAL;
	labnic_ets_apply(nic, ets);
	return 0;
}

static u64 pfc_frames(struct labnic *nic, const struct labnic_pause *pause)
{
	struct labnic_pause read = labnic_pause_read(nic, pause);

	return nic->personality->pfc_counts_xoff ? read.frames - read.resumes : read.frames;
}

int labnic_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);
	int prio;

	pfc->pfc_cap = LABNIC_PRIOS;
	pfc->pfc_en = nic->pfc_enabled;
	pfc->mbc = nic->pfc_mbc;
	pfc->delay = nic->pfc_delay;
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		pfc->requests[prio] = pfc_frames(nic, &nic->tx[prio]);
		pfc->indications[prio] = pfc_frames(nic, &nic->rx[prio]);
	}
	return 0;
}

int labnic_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);

	if (labnic_refused())
		return -EBUSY;
	nic->pfc_mbc = pfc->mbc;
	nic->pfc_delay = pfc->delay;
	labnic_pfc_obey(nic, pfc->pfc_en);
	return 0;
}

int labnic_getmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct labnic *nic = netdev_priv(dev);

	*maxrate = nic->maxrate;
	return 0;
}

int labnic_setmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct labnic *nic = netdev_priv(dev);

	if (labnic_refused())
		return -EBUSY;
	nic->maxrate = *maxrate;
	labnic_sched_plan(nic, &nic->ets, &nic->maxrate);
	return 0;
}

int labnic_dscp_check(const struct dcb_app *app)
{
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= LABNIC_DSCPS ||
	    app->priority >= LABNIC_PRIOS)
		return -EINVAL;
	return 0;
}

u8 labnic_getcap(struct net_device *dev, int id, u8 *cap)
{
	struct labnic *nic = netdev_priv(dev);

	*cap = 0;
	if (id == DCB_CAP_ATTR_PG || id == DCB_CAP_ATTR_PFC)
		*cap = true;
	if (id == DCB_CAP_ATTR_PG_TCS || id == DCB_CAP_ATTR_PFC_TCS)
		*cap = 1 << (LABNIC_PRIOS - 1);
	if (id == DCB_CAP_ATTR_DCBX)
		*cap = nic->dcbx;
	return 0;
}

u8 labnic_getdcbx(struct net_device *dev)
{
	struct labnic *nic = netdev_priv(dev);

	return nic->dcbx;
}

/* 1 is how this operation refuses. */
static u8 labnic_setdcbx(struct net_device *dev, u8 mode)
{
	struct labnic *nic = netdev_priv(dev);

	if (mode != DCBX_MODE)
		return 1;
	nic->dcbx = mode;
	return 0;
}

int labnic_getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct labnic *nic = netdev_priv(dev);

	*buffer = nic->buffer;
	return 0;
}

void labnic_buffer_apply(struct labnic *nic, const struct dcbnl_buffer *buffer)
{
	int i;

	for (i = 0; i < LABNIC_PRIOS; i++) {
		WRITE_ONCE(nic->buffer.buffer_size[i], buffer->buffer_size[i]);
		WRITE_ONCE(nic->buffer.prio2buffer[i], buffer->prio2buffer[i]);
	}
}

int labnic_setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct labnic *nic = netdev_priv(dev);
	u64 total = 0;
	int i;

	if (labnic_refused())
		return -EBUSY;
	for (i = 0; i < LABNIC_PRIOS; i++) {
		u8 to = buffer->prio2buffer[i];

		if (to >= LABNIC_PRIOS || !buffer->buffer_size[to])
			return -EINVAL;
		total += buffer->buffer_size[i];
	}
	if (total > BUFFER_BYTES)
		return -EINVAL;
	labnic_buffer_apply(nic, buffer);
	return 0;
}

const struct dcbnl_rtnl_ops labnic_dcb_ops = {
	.ieee_getets = labnic_getets,
	.ieee_setets = labnic_setets,
	.ieee_getpfc = labnic_getpfc,
	.ieee_setpfc = labnic_setpfc,
	.ieee_getmaxrate = labnic_getmaxrate,
	.ieee_setmaxrate = labnic_setmaxrate,
	.ieee_setapp = labnic_setapp,
	.ieee_delapp = labnic_delapp,
	.getcap = labnic_getcap,
	.getdcbx = labnic_getdcbx,
	.setdcbx = labnic_setdcbx,
	.dcbnl_getbuffer = labnic_getbuffer,
	.dcbnl_setbuffer = labnic_setbuffer,
#if LABNIC_HAS_TRUST
	.dcbnl_getapptrust = labnic_getapptrust,
	.dcbnl_setapptrust = labnic_setapptrust,
	.dcbnl_setrewr = labnic_setrewr,
	.dcbnl_delrewr = labnic_delrewr,
#endif
};

/*
 * As it comes up: link pause on, everything in buffer 0, and one strict traffic class with PFC
 * off unless the personality says otherwise.
 */
void labnic_dcb_init(struct labnic *nic)
{
	nic->dcbx = DCBX_MODE;
	nic->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	nic->buffer.buffer_size[0] = BUFFER_BYTES;
	nic->buffer.total_size = BUFFER_BYTES;
	nic->rx_pause = true;
	nic->tx_pause = true;
	labnic_trust_init(nic);
	if (nic->personality->init)
		nic->personality->init(nic);
	labnic_sched_plan(nic, &nic->ets, &nic->maxrate);
}
