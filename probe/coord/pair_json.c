/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a pair as a document for programs.
 */
#include <string.h>

#include "capture/decode/packet.h"
#include "probe/coord/pair_sizes.h"
#include "probe/record/run_port.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

static json_t *pair_text_or_null(const char *text)
{
	return text[0] ? text_to_json(text) : json_null();
}

static json_t *pair_facts(const struct pair *t, enum run_side side)
{
	const struct port *p = t->ends.port[side];
	const struct gid *g = t->ends.gid[side];
	char gid[64];

	if (!t->chosen)
		return json_null();
	packet_addr_text(g->raw, gid, sizeof(gid));
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:I, s:I, s:i, s:s, s:s}", "device",
			 p->ibdev, "ib_port", p->ib_port, "rdma_driver",
			 pair_text_or_null(p->rdma_driver), "netdev", pair_text_or_null(p->netdev),
			 "driver", pair_text_or_null(p->driver), "firmware",
			 pair_text_or_null(p->firmware), "link_mbps", (json_int_t)p->speed_mbps,
			 "rdma_mtu", (json_int_t)p->active_mtu, "gid_index", g->index, "gid", gid,
			 "gid_by", gid_match_word(t->ends.match));
}

static json_t *pair_gpu_path(const struct pair *t, enum run_side side)
{
	const struct traffic_memory *m = pair_memory(t, side);
	char text[320];

	if (!m)
		return json_null();
	traffic_memory_gpu(m, pair_end(t, side)->spec.ibdev, text, sizeof(text));
	return text_to_json(text);
}

static json_t *pair_side_to_json(const struct pair *t, enum run_side side)
{
	const struct run_host *h = &t->run.host[side];
	const struct run_end *end = pair_end(t, side);
	const struct snapshot *s = &h->before;

	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "role",
		run_side_word(side), "host", h->name, "error", pair_text_or_null(h->error),
		"version", pair_text_or_null(h->agent_version), "kernel",
		pair_text_or_null(h->has_before ? s->kernel : ""), "rdma_core",
		pair_text_or_null(h->has_before ? s->rdma_core : ""), "port", pair_facts(t, side),
		"spec", end ? traffic_spec_to_json(&end->spec) : json_null(), "growth",
		end ? run_port_growth_to_json(&h->port[0]) : json_null(), "observed",
		end ? run_port_to_json(&h->port[0], h->name, t->ends.port[side]) : json_null(),
		"report",
		end && end->has_report && !t->sweep ? traffic_report_to_json(&end->report)
						    : json_null(),
		"gpu_path", pair_gpu_path(t, side));
}

json_t *pair_to_json(const struct pair *t)
{
	json_t *ends = json_array();

	for (unsigned int i = 0; i < t->run.host_count; i++)
		ends = json_list_add(ends, pair_side_to_json(t, (enum run_side)i));
	return json_pack("{s:s, s:s, s:I, s:I, s:b, s:o, s:o, s:o, s:o}", "schema", PROBE_SCHEMA,
			 "id", t->run.id, "started_unix_ns", (json_int_t)t->run.started_unix_ns,
			 "ended_unix_ns", (json_int_t)t->run.ended_unix_ns, "partial", t->partial,
			 "why", pair_text_or_null(t->why), "ends", ends, "sizes",
			 pair_sizes_to_json(t), "marking", pair_marking_to_json(t->echo));
}
