/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics as one JSON document: switches by name, their ports by name, all eight priorities.
 * Counters only grow; *_bytes and *_frames of queues and buffers are what is held now.
 */
#include "tests/lab/switch/switch.h"

#include <stdio.h>
#include <string.h>

static const char *const reasons[DROP_REASONS] = {
	[DROP_STATIC] = "static_limit",
	[DROP_DYNAMIC] = "dynamic_limit",
	[DROP_HEADROOM] = "headroom",
	[DROP_FRAMES] = "frames",
	[DROP_RED] = "red",
	[DROP_MTU] = "mtu",
	[DROP_LINK] = "link",
	[DROP_MALFORMED] = "malformed",
	[DROP_FAULT] = "fault",
};

static void put(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer(value));
}

static json_t *drops_json(const struct prio_stats *s, uint64_t *sum)
{
	json_t *drops = json_object();

	for (unsigned int i = 0; i < DROP_REASONS; i++) {
		put(drops, reasons[i], s->drops[i]);
		*sum += s->drops[i];
	}
	return drops;
}

/* One row a counter of struct prio_stats. */
static const struct {
	const char *key;
	size_t offset;
} counters[] = {
	{"rx_frames", offsetof(struct prio_stats, rx_frames)},
	{"rx_bytes", offsetof(struct prio_stats, rx_bytes)},
	{"tx_frames", offsetof(struct prio_stats, tx_frames)},
	{"tx_bytes", offsetof(struct prio_stats, tx_bytes)},
	{"ecn_marked", offsetof(struct prio_stats, ecn_marked)},
	{"pfc_xoff_sent", offsetof(struct prio_stats, pfc_xoff_sent)},
	{"pfc_xon_sent", offsetof(struct prio_stats, pfc_xon_sent)},
	{"pfc_received", offsetof(struct prio_stats, pfc_received)},
	{"pfc_ignored", offsetof(struct prio_stats, pfc_ignored)},
};

/* Ended pauses and the one that lasts. */
static uint64_t paused_ns(const struct lab *lab, const struct port *p, unsigned int prio)
{
	uint64_t ns = p->stats[prio].paused_ns;

	if (p->paused >> prio & 1 && lab->now_ns > p->pause_begin_ns[prio])
		ns += lab->now_ns - p->pause_begin_ns[prio];
	return ns;
}

static json_t *prio_json(const struct lab *lab, const struct port *p, unsigned int prio)
{
	const struct prio_stats *s = &p->stats[prio];
	const struct ingress *in = &p->in[prio];
	const struct queue *q = &p->sched.queue[prio];
	json_t *o = json_object();
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		put(o, counters[i].key, *(const uint64_t *)((const char *)s + counters[i].offset));
	json_object_set_new(o, "drops", drops_json(s, &sum));
	put(o, "dropped", sum);
	put(o, "paused_ns", paused_ns(lab, p, prio));
	json_object_set_new(o, "paused", json_boolean(p->paused >> prio & 1));
	json_object_set_new(o, "pfc", json_boolean(pfc_enabled(p) >> prio & 1));
	json_object_set_new(o, "xoff", json_boolean(in->xoff));
	put(o, "ingress_bytes", ingress_bytes(in));
	put(o, "ingress_max_bytes", in->max_bytes);
	put(o, "headroom_bytes", in->headroom_bytes);
	put(o, "queue_frames", q->frames);
	put(o, "queue_bytes", q->bytes);
	put(o, "queue_max_bytes", q->max_bytes);
	return o;
}

static json_t *neighbour_json(const struct lldp_peer *n)
{
	json_t *o;

	if (!n->seen)
		return json_null();
	o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "chassis", n->chassis, "system", n->system,
		      "port", n->port, "dialect", n->dialect, "neighbours", (int)n->neighbours,
		      "ttl_s", (int)n->ttl_s);
	if (o) {
		json_object_set_new(o, "settings", qos_to_json(&n->qos));
		json_object_set_new(o, "recommended", qos_to_json(&n->recommended));
		put(o, "max_frame", n->max_frame);
	}
	return o;
}

static json_t *port_json(const struct lab *lab, const struct port *p)
{
	json_t *o = json_object(), *prios = json_object();
	char key[2] = "0";

	json_object_set_new(o, "link", json_string(p->linked ? "up" : "down"));
	put(o, "rate_kbps", p->config.rate_kbps);
	put(o, "backpressure", p->backpressure);
	json_object_set_new(o, "blocked", json_boolean(p->blocked));
	put(o, "staged_frames", p->stage.frames);
	put(o, "pause_sent", p->pause_sent);
	put(o, "pause_received", p->pause_received);
	put(o, "pause_ignored", p->pause_ignored);
	put(o, "lldp_sent", p->lldp_sent);
	put(o, "lldp_received", p->lldp_received);
	put(o, "lldp_malformed", p->lldp_malformed);
	json_object_set_new(o, "neighbour", neighbour_json(&p->neighbour));
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		key[0] = '0' + prio;
		json_object_set_new(prios, key, prio_json(lab, p, prio));
	}
	json_object_set_new(o, "prio", prios);
	return o;
}

static json_t *box_json(const struct lab *lab, unsigned int number)
{
	const struct box *box = &lab->box[number];
	json_t *o = json_object(), *ports = json_object();

	put(o, "buffer_bytes", box->config->buffer_bytes);
	put(o, "shared_bytes", box->pool.shared_bytes);
	put(o, "headroom_bytes", box->pool.headroom_bytes);
	put(o, "max_bytes", box->pool.max_bytes);
	json_object_set_new(o, "exact", json_boolean(buffer_exact(lab, number)));
	for (unsigned int i = 0; i < box->port_count; i++) {
		const struct port *p = &lab->port[box->first_port + i];

		json_object_set_new(ports, p->config.name, port_json(lab, p));
	}
	json_object_set_new(o, "ports", ports);
	return o;
}

static json_t *fault_json(const struct lab *lab, const struct fault *f)
{
	bool active = fault_active(f, lab->now_ns - lab->start_ns);
	json_t *o = json_pack("{s:s, s:s, s:b}", "kind", qos_word_text(fault_words, f->kind),
			      "port", f->port, "active", active);

	put(o, "seen", f->seen);
	put(o, "hits", f->hits);
	put(o, "start_ms", f->start_ms);
	put(o, "heal_ms", f->heal_ms);
	return o;
}

json_t *stats_faults_json(const struct lab *lab)
{
	json_t *faults = json_object();

	for (unsigned int i = 0; i < lab->config.fault_count; i++) {
		const struct fault *f = &lab->config.fault[i];

		json_object_set_new(faults, f->name, fault_json(lab, f));
	}
	return faults;
}

json_t *stats_json(const struct lab *lab)
{
	json_t *o = json_object(), *boxes = json_object();
	uint64_t seen, dropped;

	put(o, "time_ms", (lab->now_ns - lab->start_ns) / NS_PER_MS);
	put(o, "frames", lab->frame_count - BATCH);
	put(o, "free_frames", lab->free_count);
	for (unsigned int i = 0; i < lab->config.box_count; i++)
		json_object_set_new(boxes, lab->box[i].config->name, box_json(lab, i));
	json_object_set_new(o, "switches", boxes);
	json_object_set_new(o, "faults", stats_faults_json(lab));
	if (lab->mirror) {
		mirror_counts(lab->mirror, &seen, &dropped);
		json_object_set_new(o, "mirror",
				    json_pack("{s:I, s:I}", "written", (json_int_t)(seen - dropped),
					      "dropped", (json_int_t)dropped));
	}
	return o;
}
