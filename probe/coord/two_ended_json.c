/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a two-ended probe as a document for programs.
 */
#include <string.h>

#include "capture/decode/packet.h"
#include "probe/coord/two_ended_sizes.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

static json_t *text_or_null(const char *text)
{
	return text[0] ? text_to_json(text) : json_null();
}

static json_t *facts(const struct two_ended *t, enum run_side side)
{
	const struct port *p = t->ends.port[side];
	const struct gid *g = t->ends.gid[side];
	char gid[64];

	if (!t->chosen)
		return json_null();
	packet_addr_text(g->raw, gid, sizeof(gid));
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:I, s:I, s:i, s:s, s:s}", "device",
			 p->ibdev, "ib_port", p->ib_port, "rdma_driver",
			 text_or_null(p->rdma_driver), "netdev", text_or_null(p->netdev), "driver",
			 text_or_null(p->driver), "firmware", text_or_null(p->firmware),
			 "link_mbps", (json_int_t)p->speed_mbps, "rdma_mtu",
			 (json_int_t)p->active_mtu, "gid_index", g->index, "gid", gid, "gid_by",
			 gid_match_word(t->ends.match));
}

/* Growth under load and while idle, and the readings. */
static json_t *seen(const struct two_ended *t, enum run_side side,
		    json_t *(*make)(const struct observation *))
{
	return t->chosen ? make(&t->seen[side]) : json_null();
}

static json_t *gpu_path(const struct two_ended *t, enum run_side side)
{
	const struct traffic_memory *m = two_ended_memory(t, side);
	char text[320];

	if (!m)
		return json_null();
	traffic_memory_gpu(m, t->spec[side].ibdev, text, sizeof(text));
	return text_to_json(text);
}

static json_t *side_to_json(const struct two_ended *t, enum run_side side)
{
	const struct run_host *h = &t->run.host[side];
	const struct snapshot *s = &h->before;

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "role",
			 run_side_word(side), "host", h->name, "error", text_or_null(h->error),
			 "version", text_or_null(h->agent_version), "kernel",
			 text_or_null(h->has_before ? s->kernel : ""), "rdma_core",
			 text_or_null(h->has_before ? s->rdma_core : ""), "port", facts(t, side),
			 "spec", t->chosen ? traffic_spec_to_json(&t->spec[side]) : json_null(),
			 "growth", seen(t, side, observe_growth_to_json), "observed",
			 seen(t, side, observe_to_json), "report",
			 t->has_report[side] ? traffic_report_to_json(&t->report[side])
					     : json_null(),
			 "gpu_path", gpu_path(t, side));
}

json_t *two_ended_to_json(const struct two_ended *t)
{
	json_t *ends = json_array();

	for (unsigned int i = 0; i < t->run.host_count; i++)
		ends = json_list_add(ends, side_to_json(t, (enum run_side)i));
	return json_pack("{s:s, s:s, s:I, s:I, s:b, s:o, s:o, s:o, s:o}", "schema", PROBE_SCHEMA,
			 "id", t->run.id, "started_unix_ns", (json_int_t)t->run.started_unix_ns,
			 "ended_unix_ns", (json_int_t)t->run.ended_unix_ns, "partial", t->partial,
			 "why", text_or_null(t->why), "ends", ends, "sizes",
			 two_ended_sizes_to_json(t), "marking", two_ended_echo_to_json(t->echo));
}
