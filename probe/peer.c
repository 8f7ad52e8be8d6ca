/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listens for LLDP on several ports at once, each in its own packet socket, in slices short enough
 * that many ports do not wait for each other. Frames that do not decode are left out: another will
 * come.
 */
#include "probe/peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "capture/lldp.h"
#include "capture/source.h"
#include "dcb/agent.h"

#define SLICE_MS       20
#define TLVS_MAX       2048
#define FRAMES_A_SLICE 16

struct listener {
	struct source *source; /* NULL: the port has no netdev */
	struct lldp_peer peer;
};

void peer_join(struct port *p, const struct lldp_peer *peer)
{
	if (!peer->seen)
		return;
	p->peer = peer->qos;
	snprintf(p->peer_name, sizeof(p->peer_name), "%s",
		 peer->system[0] ? peer->system : peer->chassis);
	snprintf(p->peer_port, sizeof(p->peer_port), "%s", peer->port);
	snprintf(p->peer_dialect, sizeof(p->peer_dialect), "%s", peer->dialect);
}

/* A packet socket hears what the host's own LLDP agent sends, too. */
static bool is_own(const struct port *p, const uint8_t *frame, uint32_t len)
{
	char mac[18];

	if (len < 12)
		return false;
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", frame[6], frame[7], frame[8],
		 frame[9], frame[10], frame[11]);
	return !strcasecmp(mac, p->mac);
}

/* One slice of one port. */
static int listen_slice(const struct port *p, struct listener *l, struct err *e)
{
	uint32_t cap_len, wire_len;
	const uint8_t *data;
	uint64_t time_ns;

	for (unsigned int i = 0; i < FRAMES_A_SLICE; i++) {
		int got = source_next(l->source, i ? 0 : SLICE_MS, &data, &cap_len, &wire_len,
				      &time_ns, e);

		if (got <= 0)
			return got;
		if (!is_own(p, data, cap_len))
			(void)lldp_decode(data, cap_len, &l->peer, NULL);
	}
	return 0;
}

static int open_all(const struct snapshot *s, struct listener *l, struct err *e)
{
	for (unsigned int i = 0; i < s->port_count; i++) {
		int err;

		if (!s->port[i].netdev[0])
			continue;
		err = source_open_live(s->port[i].netdev, source_filter("lldp"), 0, &l[i].source,
				       e);
		if (err)
			return err;
	}
	return 0;
}

/* Listens to all once; *waiting says whether a port has heard nothing yet. */
static int listen_once(const struct snapshot *s, struct listener *l, bool *waiting, struct err *e)
{
	*waiting = false;
	for (unsigned int i = 0; i < s->port_count; i++) {
		int err;

		if (!l[i].source || l[i].peer.seen)
			continue;
		err = listen_slice(&s->port[i], &l[i], e);
		if (err < 0)
			return err_prefix(e, "%s", s->port[i].netdev);
		*waiting |= !l[i].peer.seen;
	}
	return 0;
}

/* A running lldpad has heard them already, and may keep what it hears from nobody else. */
static void ask_agent(const struct snapshot *s, struct listener *l)
{
	for (unsigned int i = 0; i < s->port_count; i++) {
		uint8_t tlvs[TLVS_MAX];
		size_t len;

		if (s->port[i].netdev[0] &&
		    !agent_neighbour(s->port[i].netdev, tlvs, sizeof(tlvs), &len, NULL) && len)
			(void)lldp_decode_tlvs(tlvs, (uint32_t)len, &l[i].peer, NULL);
	}
}

int peer_listen(struct snapshot *s, unsigned int timeout_ms, struct err *e)
{
	struct listener *l = calloc(s->port_count ? s->port_count : 1, sizeof(*l));
	uint64_t end = monotonic_ms() + timeout_ms;
	bool waiting = true;
	int err;

	if (!l)
		return err_set(e, -ENOMEM, "LLDP: out of memory");
	err = open_all(s, l, e);
	if (!err)
		ask_agent(s, l);
	while (!err && waiting && monotonic_ms() < end)
		err = listen_once(s, l, &waiting, e);
	for (unsigned int i = 0; i < s->port_count; i++) {
		if (!err)
			peer_join(&s->port[i], &l[i].peer);
		source_close(l[i].source);
	}
	free(l);
	return err;
}
