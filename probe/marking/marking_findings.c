/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Derives findings on marking, loss and path MTU from the results of both hosts.
 */
#include "probe/marking/marking_findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define ECN_MASK 3u
#define ECN_CE	 3u

const struct marking_kind_row marking_kind_table[MARKING_KINDS] = {
	[MARKING_DSCP] = {"dscp-rewritten", true,
			  "make all hops in this direction trust DSCP and keep it"},
	[MARKING_ECT_CLEARED] =
		{"ect-cleared", true,
		 "configure the hops to keep the ECN bits: a congested hop drops Not-ECT "
		 "packets instead of marking them"},
	[MARKING_CE] =
		{"ce-marked", false,
		 "the test itself sends no load: look for other traffic, or a hop that marks too "
		 "early"},
	[MARKING_ECN] = {"ecn-changed", true, "configure the hops to keep the ECN bits"},
	[MARKING_LOST] =
		{"lost", true,
		 "find the hop that drops: if always the same source ports lose, one link of a "
		 "LAG or ECMP group is faulty",
		 "datagrams are lost"},
	[MARKING_BLACKHOLE] =
		{"nothing-arrives", true,
		 "check the path of this class: filters, routes, and the GIDs of both hosts",
		 "nothing arrives"},
	[MARKING_WRONG] = {"wrong-bytes", true, "suspect memory, PCIe or the NIC of the two hosts",
			   "datagrams arrive with wrong bytes"},
	[MARKING_UNREAD] = {"header-unseen", false,
			    "this device does not deliver IP headers: use a capture instead",
			    "the device delivers no IP header"},
	[MARKING_MTU] =
		{"path-mtu", true,
		 "raise the MTU of every hop, or lower the MTU of both ports to the path MTU"},
};

const char *marking_direction_word(enum marking_direction direction)
{
	return direction == MARKING_FORWARD ? "client to server" : "server to client";
}

/* One flow in one direction. */
struct marking_lane {
	const struct marking_flow *flow;
	uint8_t tos;	 /* as sent */
	bool sent_known; /* the number sent is known, so losses can be counted */
	uint32_t sent;
	uint16_t port;
	const struct marking_record *record; /* NULL: arrivals are unknown */
};

static unsigned int marking_sender(enum marking_direction direction)
{
	return direction == MARKING_FORWARD ? TRAFFIC_CLIENT : TRAFFIC_SERVER;
}

static void marking_lane_get(const struct marking_endpoints *ends, enum marking_direction direction,
			     unsigned int i, const struct marking_flow *flow,
			     struct marking_lane *l)
{
	const struct marking_result *from = ends->result[marking_sender(direction)];
	const struct marking_result *to = ends->result[!marking_sender(direction)];

	*l = (struct marking_lane){
		.flow = flow,
		.tos = ends->spec[marking_sender(direction)]->class[flow->class].tos,
		.sent_known = from && to,
		.sent = from ? from->flow[i].sent : 0,
		.port = from ? from->port[flow->path] : 0,
	};
	if (to)
		l->record = &to->flow[i].here;
	else if (from && direction == MARKING_FORWARD)
		l->record = &from->flow[i].there;
}

/* Counts the datagrams of a flow that match the kind of f, and those that could. */
static void marking_lane_count(const struct marking_lane *l, const struct marking_finding *f,
			       uint32_t *count, uint32_t *of)
{
	const struct marking_record *r = l->record;

	switch (f->kind) {
	case MARKING_LOST:
		*of = l->sent_known ? l->sent : 0;
		*count = *of > r->arrived + r->wrong ? *of - r->arrived - r->wrong : 0;
		return;
	case MARKING_WRONG:
		*of = r->wrong + r->arrived;
		*count = r->wrong;
		return;
	case MARKING_UNREAD:
		*of = r->arrived;
		*count = r->unread;
		return;
	default: /* a change of DSCP or ECN bits */
		break;
	}
	*of = r->arrived - r->unread - r->others;
	*count = 0;
	for (unsigned int i = 0; i < r->seen_count; i++) {
		uint8_t tos = r->seen[i].tos;

		if ((f->kind == MARKING_DSCP ? tos >> 2 : tos & ECN_MASK) == f->to)
			*count += r->seen[i].count;
	}
}

struct marking_scan {
	const struct marking_endpoints *ends;
	struct marking_flow flow[MARKING_FLOWS_MAX];
	unsigned int flow_count;
	struct marking_findings *out;
};

static void findings_add(struct marking_scan *s, const struct marking_finding *f)
{
	if (s->out->count == MARKING_FINDINGS_MAX)
		s->out->more++;
	else
		s->out->finding[s->out->count++] = *f;
}

/* Scans all flows of a class; makes a finding if any matches. */
static void findings_scan_lanes(struct marking_scan *s, struct marking_finding f)
{
	for (unsigned int i = 0; i < s->flow_count; i++) {
		uint32_t count, of;
		struct marking_lane l;

		if (s->flow[i].sized || s->flow[i].class != f.class)
			continue;
		marking_lane_get(s->ends, f.direction, i, &s->flow[i], &l);
		if (!l.record)
			continue;
		marking_lane_count(&l, &f, &count, &of);
		f.count += count;
		f.of += of;
		f.ports_of += of > 0;
		if (!count)
			continue;
		f.whole += count >= of;
		if (f.ports < MARKING_NAMED_MAX)
			f.named[f.ports] = l.port;
		f.ports++;
	}
	if (!f.count)
		return;
	if (f.kind == MARKING_LOST && f.count == f.of)
		f.kind = MARKING_BLACKHOLE;
	findings_add(s, &f);
}

static enum marking_kind marking_ecn_kind(uint8_t from, uint8_t to)
{
	if (to == ECN_CE)
		return MARKING_CE;
	return from && !to ? MARKING_ECT_CLEARED : MARKING_ECN;
}

static void findings_scan_class(struct marking_scan *s, enum marking_direction direction,
				unsigned int class)
{
	uint8_t tos = s->ends->spec[marking_sender(direction)]->class[class].tos;
	struct marking_finding f = {
		.direction = direction, .class = class, .kind = MARKING_DSCP, .from = tos >> 2};

	for (unsigned int to = 0; to < 64; to++) {
		f.to = (uint8_t)to;
		if (f.to != f.from)
			findings_scan_lanes(s, f);
	}
	f.from = tos & ECN_MASK;
	for (unsigned int to = 0; to <= ECN_MASK; to++) {
		f.to = (uint8_t)to;
		f.kind = marking_ecn_kind(f.from, f.to);
		if (f.to != f.from)
			findings_scan_lanes(s, f);
	}
	f = (struct marking_finding){.direction = direction,
				     .class = class,
				     .kind = MARKING_LOST,
				     .from = tos >> 2};
	findings_scan_lanes(s, f);
	f.kind = MARKING_WRONG;
	findings_scan_lanes(s, f);
	f.kind = MARKING_UNREAD;
	findings_scan_lanes(s, f);
}

/* Sizes that arrived on one source port, in one direction. */
struct path_sizes {
	uint16_t port;
	bool known; /* all its small datagrams arrived: a missing one is due to its size */
	bool sent; /* a request of the size (0 = any size) was sent: without it there is no reply */
	uint32_t most; /* largest number of bytes that arrived */
};

static void marking_sizes_get(const struct marking_endpoints *ends,
			      enum marking_direction direction, unsigned int path, uint32_t size,
			      struct path_sizes *out)
{
	struct marking_flow flow[MARKING_FLOWS_MAX];
	unsigned int count = marking_flows(ends->spec[TRAFFIC_CLIENT], flow);
	struct marking_lane l;

	marking_lane_get(ends, direction, path, &flow[path], &l); /* class 0 comes first */
	*out = (struct path_sizes){
		.port = l.port,
		.known = l.record && l.record->arrived &&
			 (!l.sent_known || l.record->arrived >= l.sent),
	};
	for (unsigned int i = 0; i < count; i++) {
		uint32_t bytes = flow[i].bytes[direction == MARKING_REVERSE];
		bool came;

		if (!flow[i].sized || flow[i].path != path ||
		    flow[i].bytes[direction == MARKING_FORWARD] != MARKING_BYTES)
			continue;
		marking_lane_get(ends, direction, i, &flow[i], &l);
		came = l.record && l.record->arrived;
		if (came && bytes > out->most)
			out->most = bytes;
		if (!size || bytes == size)
			out->sent |= came || l.sent;
	}
}

static unsigned int marking_size_paths(const struct marking_spec *s)
{
	if (!s->sizes)
		return 0;
	return s->paths < MARKING_SIZE_PATHS ? s->paths : MARKING_SIZE_PATHS;
}

uint32_t marking_path_mtu(const struct marking_endpoints *ends, enum marking_direction direction)
{
	uint32_t least = UINT32_MAX;

	for (unsigned int p = 0; p < marking_size_paths(ends->spec[TRAFFIC_CLIENT]); p++) {
		struct path_sizes s;

		marking_sizes_get(ends, direction, p, 0, &s);
		if (s.known && s.sent && s.most < least)
			least = s.most;
	}
	return least == UINT32_MAX ? 0 : least;
}

static void findings_scan_mtu(struct marking_scan *s, enum marking_direction direction)
{
	const struct marking_result *const *r = s->ends->result;
	struct marking_finding f = {.direction = direction, .kind = MARKING_MTU};

	if (!r[0] || !r[1])
		return;
	f.bytes = f.expected_bytes = r[0]->mtu < r[1]->mtu ? r[0]->mtu : r[1]->mtu;
	for (unsigned int p = 0; p < marking_size_paths(s->ends->spec[TRAFFIC_CLIENT]); p++) {
		struct path_sizes path;

		marking_sizes_get(s->ends, direction, p, f.expected_bytes, &path);
		if (!path.known || !path.sent)
			continue;
		f.ports_of++;
		if (path.most >= f.expected_bytes)
			continue;
		if (path.most < f.bytes)
			f.bytes = path.most;
		if (f.ports < MARKING_NAMED_MAX)
			f.named[f.ports] = path.port;
		f.ports++;
		f.whole++;
	}
	if (f.ports)
		findings_add(s, &f);
}

static int marking_check_counts(const struct marking_scan *s, struct err *e)
{
	const struct marking_spec *const *spec = s->ends->spec;

	for (unsigned int i = 0; i < 2; i++) {
		const struct marking_result *r = s->ends->result[i];

		if (r &&
		    (r->flow_count != s->flow_count || r->path_count != marking_paths(spec[0])))
			return err_set(e, -EPROTO,
				       "marking echo: the result of the %s has %u flows and %u "
				       "source ports, not %u and %u",
				       i ? "server" : "client", r->flow_count, r->path_count,
				       s->flow_count, marking_paths(spec[0]));
	}
	return 0;
}

int marking_findings_make(const struct marking_endpoints *ends, struct marking_findings *out,
			  struct err *e)
{
	struct marking_scan s = {.ends = ends, .out = out};
	int err;

	s.flow_count = marking_flows(ends->spec[TRAFFIC_CLIENT], s.flow);
	err = marking_check_counts(&s, e);
	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	for (unsigned int direction = 0; direction < MARKING_DIRECTIONS; direction++) {
		for (unsigned int c = 0; c < ends->spec[TRAFFIC_CLIENT]->class_count; c++)
			findings_scan_class(&s, (enum marking_direction)direction, c);
		findings_scan_mtu(&s, (enum marking_direction)direction);
	}
	return 0;
}

void marking_port_make(const struct marking_endpoints *ends, enum marking_direction direction,
		       unsigned int path, struct marking_port *out)
{
	const struct marking_flow flow = {.path = (uint16_t)path}; /* class 0 comes first */
	struct marking_lane l;

	marking_lane_get(ends, direction, path, &flow, &l);
	*out = (struct marking_port){.port = l.port, .known = l.sent_known, .sent = l.sent};
	if (!l.record)
		return;
	out->arrived = l.record->arrived;
	for (unsigned int i = 0; i < l.record->seen_count; i++)
		if (l.record->seen[i].tos != l.tos)
			out->marked += l.record->seen[i].count;
}

uint32_t marking_arrived(const struct marking_endpoints *ends, enum marking_direction direction)
{
	struct marking_flow flow[MARKING_FLOWS_MAX];
	unsigned int count = marking_flows(ends->spec[TRAFFIC_CLIENT], flow);
	uint32_t arrived = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct marking_lane l;

		marking_lane_get(ends, direction, i, &flow[i], &l);
		if (!flow[i].sized && l.record)
			arrived += l.record->arrived - l.record->unread;
	}
	return arrived;
}

const char *marking_port_word(const struct marking_port *p)
{
	if (!p->known || !p->sent)
		return "not known";
	if (!p->arrived)
		return "lost";
	if (p->arrived < p->sent)
		return "some lost";
	return p->marked ? "marked" : "arrived";
}

static const char *const ecn_words[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};

/* Writes ", on all 4 source ports" or ", on 2 of 64 source ports (3.12 %), all their datagrams:
 * 0xc001 0xc03e". */
static void finding_ports_text(const struct marking_finding *f, char *buf, size_t size)
{
	size_t used;

	if (f->ports == f->ports_of) {
		snprintf(buf, size, ", on all %u source port%s", f->ports, plural(f->ports));
		return;
	}
	used = (size_t)snprintf(buf, size, ", on %u of %u source ports (%.3g %%)%s:", f->ports,
				f->ports_of, 100.0 * f->ports / f->ports_of,
				f->whole == f->ports ? ", all their datagrams" : "");
	for (unsigned int i = 0; i < f->ports && i < MARKING_NAMED_MAX && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, " 0x%04x", f->named[i]);
	if (f->ports > MARKING_NAMED_MAX && used < size)
		snprintf(buf + used, size - used, " ...");
}

void marking_finding_text(const struct marking_finding *f, char *buf, size_t size)
{
	char what[64], ports[160];

	finding_ports_text(f, ports, sizeof(ports));
	if (f->kind == MARKING_MTU) {
		snprintf(buf, size,
			 "%s: no datagram of %" PRIu32
			 " bytes (the RDMA MTU of both ports) arrives; path MTU is %" PRIu32
			 " bytes%s",
			 marking_direction_word(f->direction), f->expected_bytes, f->bytes, ports);
		return;
	}
	if (f->kind == MARKING_DSCP)
		snprintf(what, sizeof(what), "DSCP %u arrives as %u", f->from, f->to);
	else if (marking_kind_table[f->kind].what)
		snprintf(what, sizeof(what), "%s", marking_kind_table[f->kind].what);
	else
		snprintf(what, sizeof(what), "%s arrives as %s", ecn_words[f->from & ECN_MASK],
			 ecn_words[f->to & ECN_MASK]);
	snprintf(buf, size, "%s, class %u: %s (%" PRIu32 " of %" PRIu32 ")%s",
		 marking_direction_word(f->direction), f->class, what, f->count, f->of, ports);
}

json_t *marking_finding_to_json(const struct marking_finding *f)
{
	json_t *named = json_array();
	char text[320];

	for (unsigned int i = 0; i < f->ports && i < MARKING_NAMED_MAX; i++)
		json_array_append_new(named, json_integer(f->named[i]));
	marking_finding_text(f, text, sizeof(text));
	return json_pack("{s:s, s:s, s:b, s:i, s:i, s:i, s:I, s:I, s:i, s:i, s:i, s:o, s:I, s:I, "
			 "s:o, s:s}",
			 "kind", marking_kind_table[f->kind].word, "way",
			 marking_direction_word(f->direction), "fault",
			 marking_kind_table[f->kind].fault, "class", (int)f->class, "from", f->from,
			 "to", f->to, "count", (json_int_t)f->count, "of", (json_int_t)f->of,
			 "ports", (int)f->ports, "ports_of", (int)f->ports_of, "whole",
			 (int)f->whole, "named", named, "bytes", (json_int_t)f->bytes,
			 "expected_bytes", (json_int_t)f->expected_bytes, "text",
			 text_to_json(text), "advice", marking_kind_table[f->kind].advice);
}

#define FINDING_ROW(member, most)                                                                  \
	JSON_ROW(struct marking_finding, member, .kind = JSON_NUMBER, .max = most)

static const struct json_row finding_rows[] = {
	FINDING_ROW(class, MARKING_CLASSES_MAX - 1),
	FINDING_ROW(from, 63),
	FINDING_ROW(to, 63),
	FINDING_ROW(count, UINT32_MAX),
	FINDING_ROW(of, UINT32_MAX),
	FINDING_ROW(ports, MARKING_PATHS_MAX),
	FINDING_ROW(ports_of, MARKING_PATHS_MAX),
	FINDING_ROW(whole, MARKING_PATHS_MAX),
	FINDING_ROW(bytes, UINT32_MAX),
	FINDING_ROW(expected_bytes, UINT32_MAX),
};

int marking_finding_from_json(const json_t *json, struct marking_finding *f, struct err *e)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));
	const char *way = json_string_value(json_object_get(json, "way"));
	const json_t *named = json_object_get(json, "named");
	int err;

	memset(f, 0, sizeof(*f));
	while (f->kind < MARKING_KINDS && (!kind || strcmp(kind, marking_kind_table[f->kind].word)))
		f->kind++;
	while (f->direction < MARKING_DIRECTIONS &&
	       (!way || strcmp(way, marking_direction_word(f->direction))))
		f->direction++;
	if (f->kind == MARKING_KINDS || f->direction == MARKING_DIRECTIONS)
		return err_set(e, -EINVAL, "unknown 'kind' or 'way'");
	err = json_rows_read(json, JSON_ROWS(finding_rows), f, e);
	for (size_t i = 0; !err && i < MARKING_NAMED_MAX && i < json_array_size(named); i++)
		f->named[i] = (uint16_t)json_integer_value(json_array_get(named, i));
	return err;
}

static json_t *marking_ports_to_json(const struct marking_endpoints *ends,
				     enum marking_direction direction)
{
	const struct marking_spec *s = ends->spec[TRAFFIC_CLIENT];
	json_t *list = json_array();

	for (unsigned int i = 0; s->sweep && i < s->sweep; i++) {
		struct marking_port p;

		marking_port_make(ends, direction, i, &p);
		json_array_append_new(list, json_pack("{s:i, s:I, s:I, s:I, s:s}", "port", p.port,
						      "sent", (json_int_t)p.sent, "arrived",
						      (json_int_t)p.arrived, "marked",
						      (json_int_t)p.marked, "verdict",
						      marking_port_word(&p)));
	}
	return list;
}

json_t *marking_findings_to_json(const struct marking_endpoints *ends,
				 const struct marking_findings *found)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < found->count; i++)
		json_array_append_new(list, marking_finding_to_json(&found->finding[i]));
	return json_pack("{s:o, s:i, s:[I, I], s:[o, o]}", "findings", list, "more",
			 (int)found->more, "path_mtu",
			 (json_int_t)marking_path_mtu(ends, MARKING_FORWARD),
			 (json_int_t)marking_path_mtu(ends, MARKING_REVERSE), "ports",
			 marking_ports_to_json(ends, MARKING_FORWARD),
			 marking_ports_to_json(ends, MARKING_REVERSE));
}
