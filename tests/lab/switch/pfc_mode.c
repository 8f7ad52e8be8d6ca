/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which priorities of a port have PFC: by configuration, by what the neighbour's DCBX says for
 * those that are "auto", and less what faults take away.
 */
#include "tests/lab/switch/switch.h"

#include <string.h>

struct peer_pfc {
	bool seen, willing;
	uint8_t prios;
};

/* Only in a dialect that the port speaks itself; IEEE goes before CEE. */
static struct peer_pfc heard_of(const struct port *p)
{
	const struct qos *q = &p->neighbour.qos;
	struct peer_pfc peer = {.seen = false};

	if (p->config.lldp.dialect != DIALECT_CEE && qos_has(q, QOS_PFC_ENABLED))
		peer = (struct peer_pfc){true, qos_has(q, QOS_PFC_WILLING) && q->pfc_willing,
					 q->pfc_enabled};
	else if (p->config.lldp.dialect != DIALECT_IEEE && p->cee.pfc_seen)
		peer = (struct peer_pfc){true, p->cee.pfc_willing, p->cee.pfc_prios};
	return peer;
}

/* 802.1Q clause 38, symmetric attributes: who is willing takes what the other has; of two that are,
 * the one with the lower MAC address keeps its own. Where nobody is, both must have it. */
static uint8_t agreed(const struct port *p)
{
	struct peer_pfc peer = heard_of(p);
	bool lower = memcmp(p->mac, p->neighbour_mac, sizeof(p->mac)) < 0;

	if (!peer.seen)
		return 0;
	if (peer.willing && (!p->config.lldp.willing || lower))
		return 0xff;
	return peer.prios;
}

/* to_auto: priorities whose "on" is an "auto". */
static uint8_t without_faults(const struct port *p, uint8_t to_auto)
{
	uint8_t automatic = p->pfc_auto | (p->pfc_on & to_auto);
	uint8_t on = p->pfc_on & ~to_auto;

	return automatic ? on | (automatic & agreed(p)) : on;
}

uint8_t pfc_enabled(const struct port *p)
{
	return without_faults(p, p->fault_pfc_auto) & ~p->fault_pfc_off;
}

uint8_t pfc_missing(const struct port *p)
{
	if (!p->fault_pfc_off && !p->fault_pfc_auto)
		return 0;
	return without_faults(p, 0) & ~pfc_enabled(p);
}

uint8_t pfc_lossless(const struct port *p)
{
	return p->config.pause.tx ? 0xff : pfc_enabled(p);
}
