/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listens for LLDP on several ports in a confined process (capture/confined.h), with one packet
 * socket per port and short turns. Skips frames that cannot be decoded: LLDP repeats them.
 */
#include "probe/host/lldp_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "capture/confined.h"
#include "capture/decode/lldp.h"
#include "capture/file/input.h"
#include "dcb/lldpad/lldp_agent.h"
#include "profiles/base/text.h"

#define REPLY_MAX      (4u << 20)
#define REPLY_MS       10000 /* in addition to the listening time */
#define SLICE_MS       20
#define TLVS_MAX       2048
#define FRAMES_A_SLICE 16

struct lldp_listener {
	struct input *source; /* NULL: the port has no netdev */
	struct lldp_peer peer;
	uint8_t tlvs[TLVS_MAX]; /* as received by a running lldpad */
	size_t tlvs_len;
};

/* Job of the confined process. */
struct lldp_listen_job {
	const struct snapshot *snapshot;
	struct lldp_listener *listener; /* one per port; owned */
	unsigned int timeout_ms;
};

void lldp_peer_set_port(struct port *p, const struct lldp_peer *peer)
{
	if (!peer->seen)
		return;
	p->lldp_qos = peer->qos;
	snprintf(p->lldp_name, sizeof(p->lldp_name), "%s",
		 peer->system[0] ? peer->system : peer->chassis);
	snprintf(p->lldp_port, sizeof(p->lldp_port), "%s", peer->port);
	snprintf(p->lldp_dialect, sizeof(p->lldp_dialect), "%s", peer->dialect);
}

/* A packet socket also receives frames of the host's own LLDP agent. */
static bool lldp_is_own_frame(const struct port *p, const uint8_t *frame, uint32_t len)
{
	char mac[MAC_TEXT_MAX];

	return len >= 12 && !strcasecmp(packet_mac_text(frame + 6, mac), p->mac);
}

/* Listens on one port for one turn. */
static int lldp_listen_slice(const struct port *p, struct lldp_listener *l, struct err *e)
{
	uint32_t cap_len, wire_len;
	const uint8_t *data;
	uint64_t time_ns;

	for (unsigned int i = 0; i < FRAMES_A_SLICE; i++) {
		int got = input_next(l->source, i ? 0 : SLICE_MS, &data, &cap_len, &wire_len,
				     &time_ns, e);

		if (got <= 0)
			return got;
		if (!lldp_is_own_frame(p, data, cap_len))
			(void)lldp_decode(data, cap_len, &l->peer, NULL);
	}
	return 0;
}

static int lldp_listen_open(void *arg, struct err *e)
{
	struct lldp_listen_job *l = arg;

	for (unsigned int i = 0; i < l->snapshot->port_count; i++) {
		const char *netdev = l->snapshot->port[i].netdev;
		int err = netdev[0] ? input_open_live(netdev, input_filter("lldp"), 0,
						      &l->listener[i].source, e)
				    : 0;

		if (err)
			return err;
	}
	return 0;
}

/* Listens once on all ports; *waiting: a port has no neighbor yet. */
static int lldp_listen_once(const struct snapshot *s, struct lldp_listener *l, bool *waiting,
			    struct err *e)
{
	*waiting = false;
	for (unsigned int i = 0; i < s->port_count; i++) {
		int err;

		if (!l[i].source || l[i].peer.seen)
			continue;
		err = lldp_listen_slice(&s->port[i], &l[i], e);
		if (err < 0) {
			err_prefix(e, "%s", s->port[i].netdev);
			return err;
		}
		*waiting |= !l[i].peer.seen;
	}
	return 0;
}

/* Makes {"peers":[...], "error":"..."}, one item per port. */
static json_t *lldp_listen_reply(const struct lldp_listen_job *l, const struct err *e)
{
	json_t *peers = json_array(), *reply;

	for (unsigned int i = 0; i < l->snapshot->port_count; i++)
		(void)json_array_append_new(peers, lldp_peer_to_json(&l->listener[i].peer));
	reply = json_pack("{s:o}", "peers", peers);
	if (reply && e->code)
		(void)json_object_set_new(reply, "error", text_to_json(e->text));
	return reply;
}

static void lldp_listen_run(void *arg, int parent)
{
	struct lldp_listen_job *l = arg;
	uint64_t end = monotonic_ms() + l->timeout_ms;
	bool waiting = true;
	struct err e = {0};
	json_t *reply;
	char *text;
	int err = 0;

	for (unsigned int i = 0; i < l->snapshot->port_count; i++)
		if (l->listener[i].tlvs_len)
			(void)lldp_decode_tlvs(l->listener[i].tlvs,
					       (uint32_t)l->listener[i].tlvs_len,
					       &l->listener[i].peer, NULL);
	while (!err && waiting && monotonic_ms() < end && !confined_stopped(parent))
		err = lldp_listen_once(l->snapshot, l->listener, &waiting, &e);
	reply = lldp_listen_reply(l, &e);
	text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	if (text)
		(void)confined_write(parent, text, strlen(text));
}

/* Asks a running lldpad, which already knows the neighbors and may be the only one that receives
 * LLDP. */
static void lldp_ask_agent(struct lldp_listen_job *l)
{
	for (unsigned int i = 0; i < l->snapshot->port_count; i++) {
		struct lldp_listener *at = &l->listener[i];
		const char *netdev = l->snapshot->port[i].netdev;

		if (netdev[0] &&
		    lldp_agent_neighbour(netdev, at->tlvs, sizeof(at->tlvs), &at->tlvs_len, NULL))
			at->tlvs_len = 0;
	}
}

static int lldp_parse_reply(struct snapshot *s, const json_t *reply, struct err *e)
{
	const json_t *peers = json_object_get(reply, "peers");
	const json_t *error = json_object_get(reply, "error");
	int err = 0;

	if (json_is_string(error))
		return err_set(e, -EIO, "LLDP: %s", json_string_value(error));
	if (json_array_size(peers) != s->port_count)
		return err_set(e, -EPROTO,
			       "LLDP: the listener process did not answer for every port");
	for (unsigned int i = 0; i < s->port_count && !err; i++) {
		struct lldp_peer peer = {0};

		err = lldp_peer_from_json(json_array_get(peers, i), &peer, e);
		if (!err)
			lldp_peer_set_port(&s->port[i], &peer);
	}
	return err;
}

/* Reads the neighbors from the confined process. */
static int lldp_read_reply(struct confined *c, unsigned int timeout_ms, json_t **reply,
			   struct err *e)
{
	struct err ended = {0};
	char *text = NULL;
	int err = confined_read_text(c->fd, REPLY_MAX, (int)(timeout_ms + REPLY_MS), &text);

	if (confined_close(c, &ended) && err)
		return err_set(e, ended.code, "LLDP: %s", ended.text);
	if (err)
		return err_sys(e, err, "LLDP");
	*reply = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return *reply ? 0 : err_set(e, -EPROTO, "LLDP: invalid JSON from the listener process");
}

int lldp_peer_listen(struct snapshot *s, unsigned int timeout_ms, struct err *e)
{
	struct lldp_listen_job l = {
		.snapshot = s,
		.listener = calloc(s->port_count ? s->port_count : 1, sizeof(*l.listener)),
		.timeout_ms = timeout_ms,
	};
	const struct confined_job job = {
		.open = lldp_listen_open,
		.run = lldp_listen_run,
		.arg = &l,
		.file_fd = -1,
	};
	struct confined c;
	json_t *reply = NULL;
	int err;

	if (!l.listener)
		return err_set(e, -ENOMEM, "LLDP: out of memory");
	lldp_ask_agent(&l);
	err = confined_start(&job, &c, e);
	free(l.listener);
	if (!err)
		err = lldp_read_reply(&c, timeout_ms, &reply, e);
	if (!err)
		err = lldp_parse_reply(s, reply, e);
	json_decref(reply);
	return err;
}
