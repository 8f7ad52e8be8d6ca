/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One broadcast domain. Ports that lead to the same place form a group: uplinks, parallel links to
 * one switch, ports of one bond. Addresses are learnt by group; within it the 5-tuple chooses the
 * port (ECMP), and what is flooded goes by one port of each group and never back into the group it
 * came from, so leaves and spines have no loops.
 */
#include "tests/lab/switch/switch.h"

#include <string.h>

/* The group of an earlier port that leads to where p does, or -1. */
static int same_way(const struct lab *lab, const struct box *box, const struct port *p)
{
	for (unsigned int i = 0; i < box->port_count; i++) {
		const struct port *q = &lab->port[box->first_port + i];

		if (q == p)
			return -1;
		if (p->config.lag && p->config.lag == q->config.lag)
			return (int)q->group;
		if (p->config.uplink && q->config.uplink)
			return (int)q->group;
		if (!p->config.uplink && !q->config.uplink && p->peer >= 0 && q->peer >= 0 &&
		    lab->port[p->peer].owner == lab->port[q->peer].owner)
			return (int)q->group;
	}
	return -1;
}

void forward_groups(struct lab *lab, unsigned int number)
{
	struct box *box = &lab->box[number];

	box->group_count = 0;
	memset(box->fdb, 0, FDB_BUCKETS * sizeof(*box->fdb));
	for (unsigned int i = 0; i < box->port_count; i++) {
		struct port *p = &lab->port[box->first_port + i];
		int group = same_way(lab, box, p);

		p->group = group < 0 ? box->group_count++ : (unsigned int)group;
	}
}

unsigned int forward_ways(const struct lab *lab, const struct port *p)
{
	const struct box *box = &lab->box[p->owner];
	unsigned int count = 0;

	for (unsigned int i = 0; i < box->port_count; i++)
		count += lab->port[box->first_port + i].group == p->group;
	return count;
}

/* The port of a group that a hash chooses among those with somebody at the other end. */
static struct port *choose(struct lab *lab, const struct box *box, unsigned int group,
			   uint32_t hash)
{
	struct port *member[PORTS_MAX];
	unsigned int count = 0;

	for (unsigned int i = 0; i < box->port_count; i++) {
		struct port *p = &lab->port[box->first_port + i];

		if (p->group == group && (p->linked || !count)) {
			if (count && !member[0]->linked)
				count = 0;
			member[count++] = p;
		}
	}
	return member[hash % count];
}

static uint64_t mac_key(const uint8_t *mac)
{
	uint64_t key = 0;

	memcpy(&key, mac, 6);
	return key;
}

static struct fdb_entry *fdb_set(const struct box *box, uint64_t key)
{
	return box->fdb[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 54 & (FDB_BUCKETS - 1)];
}

static bool too_old(const struct lab *lab, const struct box *box, const struct fdb_entry *entry)
{
	return lab->now_ns > entry->seen_ns + box->config->age_s * NS_PER_S;
}

static void learn(const struct lab *lab, struct box *box, const uint8_t *mac, unsigned int group)
{
	uint64_t key = mac_key(mac);
	struct fdb_entry *way = fdb_set(box, key), *slot = &way[key % FDB_WAYS];

	if (mac[0] & 1 || !key)
		return;
	for (unsigned int i = 0; i < FDB_WAYS; i++) {
		if (way[i].mac == key) {
			slot = &way[i];
			break;
		}
		if (!way[i].mac || too_old(lab, box, &way[i]))
			slot = &way[i];
	}
	*slot = (struct fdb_entry){.mac = key, .group = group, .seen_ns = lab->now_ns};
}

/* The group behind which an address is, or -1. */
static int find(const struct lab *lab, const struct box *box, const uint8_t *mac)
{
	uint64_t key = mac_key(mac);
	const struct fdb_entry *way = fdb_set(box, key);

	for (unsigned int i = 0; !(mac[0] & 1) && i < FDB_WAYS; i++)
		if (way[i].mac == key && !too_old(lab, box, &way[i]))
			return way[i].group;
	return -1;
}

/* RED by the class's queue. False: the frame is gone. */
static bool mark(struct lab *lab, struct port *in, struct port *out, struct frame *f)
{
	unsigned int tc = out->sched.prio_tc[f->prio];
	const struct ecn_config *c = &out->config.tc[tc].ecn;
	enum ecn_verdict verdict;

	if (!c->on)
		return true;
	verdict = ecn_judge(c, sched_tc_bytes(&out->sched, tc), f->tos & 3, lab_random(lab));
	if (verdict == ECN_DROP) {
		port_drop(lab, in, f, DROP_RED);
		return false;
	}
	if (verdict == ECN_MARK) {
		frame_set_tos(f, f->tos | 3);
		out->stats[f->prio].ecn_marked++;
	}
	return true;
}

static void enqueue(struct lab *lab, struct port *in, struct port *out, struct frame *f)
{
	enum drop_reason why = DROP_LINK;

	if (!out->linked) {
		port_drop(lab, out, f, DROP_LINK);
		return;
	}
	/* Before anything counts its bytes. */
	if (!frame_retag(f, &out->config) || f->len > out->config.mtu + f->l3) {
		port_drop(lab, out, f, DROP_MTU);
		return;
	}
	if (!mark(lab, in, out, f))
		return;
	if (buffer_admit(lab, in, out, f, &why)) {
		port_drop(lab, in, f, why);
		return;
	}
	sched_push(&out->sched, f);
}

static void flood(struct lab *lab, struct port *in, struct frame *f)
{
	struct box *box = &lab->box[in->owner];

	for (unsigned int group = 0; group < box->group_count; group++) {
		struct port *out;
		struct frame *copy;

		if (group == in->group)
			continue;
		out = choose(lab, box, group, 0);
		if (!out->linked)
			continue;
		copy = frame_copy(lab, f);
		if (copy)
			enqueue(lab, in, out, copy);
		else
			in->stats[f->prio].drops[DROP_FRAMES]++;
	}
	frame_free(lab, f);
}

/* 802.1Q table 8-1: these addresses are never forwarded. */
static bool is_link_local(const uint8_t *mac)
{
	static const uint8_t prefix[] = {0x01, 0x80, 0xc2, 0, 0};

	return !memcmp(mac, prefix, sizeof(prefix)) && mac[5] < 0x10;
}

static void consume(struct lab *lab, struct port *p, struct frame *f)
{
	if (f->ethertype == 0x8808)
		pfc_receive(lab, p, f);
	else if (f->ethertype == 0x88cc)
		lldp_receive(lab, p, f);
	frame_free(lab, f);
}

void forward_frame(struct lab *lab, struct port *p, struct frame *f)
{
	struct box *box = &lab->box[p->owner];
	int group;

	if (is_link_local(f->data)) {
		consume(lab, p, f);
		return;
	}
	if (f->len > p->config.mtu + f->l3) {
		port_drop(lab, p, f, DROP_MTU);
		return;
	}
	learn(lab, box, f->data + 6, p->group);
	group = find(lab, box, f->data);
	if (group < 0)
		flood(lab, p, f);
	else if ((unsigned int)group == p->group)
		frame_free(lab, f); /* the segment has it already */
	else
		enqueue(lab, p, choose(lab, box, group, f->hash), f);
}

void forward_arrival(struct lab *lab, struct port *p, struct frame *f)
{
	if (!frame_parse(f)) {
		f->prio = 0;
		port_drop(lab, p, f, DROP_MALFORMED);
		return;
	}
	f->prio = frame_prio(f, &p->config);
	f->accounted = false;
	if (p->config.shut) {
		port_drop(lab, p, f, DROP_LINK);
		return;
	}
	p->stats[f->prio].rx_frames++;
	p->stats[f->prio].rx_bytes += f->len;
	if (lab->mirror && p->config.mirror)
		mirror_frame(lab->mirror, lab_port_index(lab, p), false, lab->now_ns, f);
	if (fault_apply(lab, p, FAULT_IN, f) == FAULT_PASS)
		forward_frame(lab, p, f);
}
