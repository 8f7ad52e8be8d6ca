/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ports under watch: found again at each poll, read again after each notice, compared with what
 * they should be. A port that went stays in the list, so that its return is judged, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/apply/watch.h"
#include "cmd/cmd.h"
#include "dcb/apply/baseline.h"
#include "dcb/lldpad/agent.h"
#include "probe/host/ports.h"

struct watched *watch_port(struct watch *w, const char *ifname)
{
	for (unsigned int i = 0; i < w->count; i++)
		if (!strcmp(w->port[i].ifname, ifname))
			return &w->port[i];
	return NULL;
}

static void tell(const struct watched *p, enum watch_event event, const char *text)
{
	const struct watch_told t = {.event = event, .port = p, .text = text};

	(void)watch_tell(&t); /* seen again, and told, at the end */
}

/* Only programs that can have set these are named. */
static void tell_fields(struct watch *w, struct watched *p, enum watch_event event,
			const struct qos *before, uint64_t fields)
{
	struct suspects named = w->suspects;
	const struct watch_told t = {
		.event = event, .port = p, .before = before, .fields = fields, .suspects = &named};

	suspects_keep(&named, fields);
	(void)watch_tell(&t);
}

/* False: it is wanted what was wanted before. */
static bool want_state(struct watch *w, struct watched *p, bool first)
{
	char since[JOURNAL_ID_MAX] = "";
	struct qos q;
	int err = baseline_find(w->at, p->ifname, &q, since, NULL);

	if (err)
		q = p->now;
	w->hidden |= err == -EACCES;
	/* What an agent was told and keeps for itself does not show in the kernel. */
	if (!qos_has(&p->now, QOS_ADMIN_STATUS))
		q.has &= ~agent_own_fields();
	if (!first && !strcmp(since, p->since))
		return false;
	p->want = (struct watch_want){.qos = q, .exact = true};
	memcpy(p->since, since, sizeof(since));
	return true;
}

static void tell_start(const struct watch *w, const struct watched *p)
{
	char text[256];

	if (w->profile)
		snprintf(text, sizeof(text), "compared with profile %.200s", w->profile->path);
	else if (p->since[0])
		snprintf(text, sizeof(text), "compared with the state after transaction %s",
			 p->since);
	else
		snprintf(text, sizeof(text), "compared with its state now: %s",
			 w->hidden ? "the transactions are readable by root alone"
				   : "there is no confirmed transaction");
	tell(p, WATCH_START, text);
}

static void judge(struct watch *w, struct watched *p, const struct qos *now)
{
	uint64_t drift = watch_drift(&p->want, now), old = p->drift, fresh;
	/* Before the first reading: what should have been there. */
	struct qos before = p->known ? p->now : p->want.qos;

	fresh = drift & (watch_changes(&before, now) | ~old);
	p->now = *now;
	p->known = true;
	p->drift = drift;
	w->drifted |= drift != 0;
	if (fresh)
		tell_fields(w, p, WATCH_DRIFT, &before, fresh);
	if (old & ~drift)
		tell_fields(w, p, WATCH_BACK, &before, old & ~drift);
	if (drift && w->repair)
		watch_repair(w, p);
	if (!drift)
		p->held[0] = '\0';
}

static void removed(struct watch *w, struct watched *p)
{
	if (!p->present)
		return;
	p->present = false;
	w->drifted = true;
	tell(p, WATCH_REMOVED, NULL);
}

/* As verbs say what netlink does not know, that is taken from the last poll. */
static int read_port(struct watch *w, const struct watched *p, struct qos *now, struct err *e)
{
	bool has_dcb;
	int err = dcb_read(w->dcb, p->ifname, p->ibdev, p->ib_port, now, &has_dcb, e);

	if (!err)
		qos_copy_field(now, &p->now, QOS_IB_MTU);
	return err;
}

static void check_one(struct watch *w, struct watched *p)
{
	struct err e = {0};
	struct qos now;
	int err;

	p->dirty = false;
	err = read_port(w, p, &now, &e);
	if (err == -ENODEV) {
		removed(w, p);
		return;
	}
	if (err) {
		(void)cmd_fail(0, &e); /* the next poll tries again */
		return;
	}
	if (!p->present) {
		p->present = true;
		tell(p, WATCH_ARRIVED, NULL);
	}
	judge(w, p, &now);
}

static void check_carrier(struct watched *p)
{
	if (!p->present || p->carrier == p->carrier_told)
		return;
	p->carrier_told = p->carrier;
	tell(p, WATCH_CARRIER, NULL);
}

/* A transaction came or was undone: what is wanted may be another state. What it wrote is no drift
 * then, and without any what is now there is wanted. */
static void renew_wants(struct watch *w)
{
	uint64_t stamp = w->profile ? 0 : baseline_stamp(w->at);

	if (stamp == w->stamp)
		return;
	w->stamp = stamp;
	for (unsigned int i = 0; i < w->count; i++) {
		struct watched *p = &w->port[i];
		struct qos before = p->now;

		(void)read_port(w, p, &p->now, NULL); /* a port that is gone stays as it was */
		if (want_state(w, p, false)) {
			p->drift = watch_drift(&p->want, &p->now);
			p->held[0] = '\0';
			tell_start(w, p);
		} else {
			p->now = before;
			p->dirty = true;
		}
	}
}

void watch_check(struct watch *w)
{
	renew_wants(w);
	for (unsigned int i = 0; i < w->count; i++) {
		if (w->port[i].dirty)
			check_one(w, &w->port[i]);
		check_carrier(&w->port[i]);
	}
	w->suspects.count = 0;
}

static bool read_carrier(struct watch *w, const char *ifname)
{
	char path[64], text[8];

	snprintf(path, sizeof(path), "class/net/%.20s/carrier", ifname);
	return !dcb_sysfs_read(w->dcb, path, text, sizeof(text)) && text[0] == '1';
}

static struct watched *add(struct watch *w, const struct port *found, struct err *e)
{
	struct watched *more, *p;

	if (w->count == WATCH_PORTS_MAX) {
		err_set(e, -ENOSPC, "more than %u ports", WATCH_PORTS_MAX);
		return NULL;
	}
	more = realloc(w->port, (w->count + 1) * sizeof(*more));
	if (!more) {
		err_sys(e, -ENOMEM, "watch");
		return NULL;
	}
	w->port = more;
	p = memset(&more[w->count++], 0, sizeof(*p));
	snprintf(p->ifname, sizeof(p->ifname), "%s", found->netdev);
	p->carrier = p->carrier_told = read_carrier(w, p->ifname);
	p->now = found->qos;
	if (w->profile) {
		p->want.qos = w->profile->qos;
		p->want.qos.has &= plan_live_fields(w->profile);
	} else {
		(void)want_state(w, p, true);
	}
	return p;
}

static int take_port(struct watch *w, const struct port *found, bool first, struct err *e)
{
	struct watched *p = watch_port(w, found->netdev);
	bool is_new = !p;

	if (!p)
		p = add(w, found, e);
	if (!p)
		return e->code;
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", found->ibdev);
	p->ib_port = found->ib_port;
	if (!p->present && !first)
		tell(p, WATCH_ARRIVED, NULL);
	p->present = true;
	p->dirty = false;
	if (is_new)
		tell_start(w, p);
	judge(w, p, &found->qos);
	return 0;
}

static bool is_in(const struct snapshot *s, const struct watched *p)
{
	for (unsigned int i = 0; i < s->port_count; i++)
		if (!strcmp(s->port[i].netdev, p->ifname))
			return true;
	return false;
}

int watch_refresh(struct watch *w, bool first, struct err *e)
{
	struct snapshot s = {0};
	int err = cmd_take_ports(w->dcb, w->interface, DCB_AGENT_NONE, &s, e);

	if (!first)
		renew_wants(w);
	else if (!w->profile)
		w->stamp = baseline_stamp(w->at);
	for (unsigned int i = 0; !err && i < s.port_count; i++)
		if (w->interface || !w->profile ||
		    cmd_port_selected(w->dcb, w->profile, s.port[i].netdev))
			err = take_port(w, &s.port[i], first, e);
	/* Others are gone, or have lost their RDMA device alone. */
	for (unsigned int i = 0; (!err || err == -ENODEV) && i < w->count; i++)
		if (!is_in(&s, &w->port[i])) {
			w->port[i].ibdev[0] = '\0';
			check_one(w, &w->port[i]);
		}
	snapshot_clear(&s);
	if (!err && first && !w->count)
		err = err_set(e, -ENODEV, "the profile selects none of this host's RoCE ports");
	w->suspects.count = 0;
	return err == -ENODEV && !first ? 0 : err;
}
