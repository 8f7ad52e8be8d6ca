/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marking, loss and MTU of the way, from what both ends of a marking echo tell.
 */
#include "probe/marking/echo_judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define ECN_MASK 3u
#define ECN_CE	 3u

const struct echo_kind_row echo_kind_table[ECHO_KINDS] = {
	[ECHO_DSCP] = {"dscp-rewritten", true,
		       "make the hops of this way trust DSCP, and rewrite none"},
	[ECHO_ECT_CLEARED] = {"ect-cleared", true,
			      "let the hops keep the ECN bits: what is not ECN capable is dropped "
			      "where it should be marked"},
	[ECHO_CE] = {"ce-marked", false,
		     "no load of ours was there: look for other traffic, or a hop that marks too "
		     "early"},
	[ECHO_ECN] = {"ecn-changed", true, "let the hops keep the ECN bits"},
	[ECHO_LOST] = {"lost", true,
		       "find the hop that drops: when always the same source ports lose, it is a "
		       "member of a link or path group",
		       "datagrams are lost"},
	[ECHO_DEAF] = {"nothing-arrives", true,
		       "check the way of this class: filters, routes, and the GIDs of both ends",
		       "nothing arrives"},
	[ECHO_WRONG] = {"wrong-bytes", true, "suspect memory, PCIe or the NIC of the two hosts",
			"bytes arrive that are not those that were sent"},
	[ECHO_UNREAD] = {"header-unseen", false,
			 "this device does not hand out IP headers: capture instead",
			 "the device hands out no IP header"},
	[ECHO_MTU] = {"path-mtu", true,
		      "raise the MTU of every hop, or lower that of both ports to what arrives"},
};

const char *echo_way_word(enum echo_way way)
{
	return way == ECHO_FORTH ? "client to server" : "server to client";
}

/* One flow, one way. */
struct lane {
	const struct echo_flow *flow;
	uint8_t tos;	 /* as sent */
	bool sent_known; /* the receiver counted, too: losses can be told */
	uint32_t sent;
	uint16_t port;
	const struct echo_record *record; /* NULL: nothing is known of what came */
};

static unsigned int sender_of(enum echo_way way)
{
	return way == ECHO_FORTH ? TRAFFIC_CLIENT : TRAFFIC_SERVER;
}

static void find_lane(const struct echo_ends *ends, enum echo_way way, unsigned int i,
		      const struct echo_flow *flow, struct lane *l)
{
	const struct echo_result *from = ends->result[sender_of(way)];
	const struct echo_result *to = ends->result[!sender_of(way)];

	*l = (struct lane){
		.flow = flow,
		.tos = ends->spec[sender_of(way)]->class[flow->class].tos,
		.sent_known = from && to,
		.sent = from ? from->flow[i].sent : 0,
		.port = from ? from->port[flow->path] : 0,
	};
	if (to)
		l->record = &to->flow[i].here;
	else if (from && way == ECHO_FORTH)
		l->record = &from->flow[i].there;
}

/* How many of a lane are of the kind of f, and how many of them there could be. */
static void lane_count(const struct lane *l, const struct echo_finding *f, uint32_t *count,
		       uint32_t *of)
{
	const struct echo_record *r = l->record;

	switch (f->kind) {
	case ECHO_LOST:
		*of = l->sent_known ? l->sent : 0;
		*count = *of > r->arrived + r->wrong ? *of - r->arrived - r->wrong : 0;
		return;
	case ECHO_WRONG:
		*of = r->wrong + r->arrived;
		*count = r->wrong;
		return;
	case ECHO_UNREAD:
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

		if ((f->kind == ECHO_DSCP ? tos >> 2 : tos & ECN_MASK) == f->to)
			*count += r->seen[i].count;
	}
}

struct sight {
	const struct echo_ends *ends;
	struct echo_flow flow[ECHO_FLOWS_MAX];
	unsigned int flow_count;
	struct echo_findings *out;
};

static void add(struct sight *s, const struct echo_finding *f)
{
	if (s->out->count == ECHO_FINDINGS_MAX)
		s->out->more++;
	else
		s->out->finding[s->out->count++] = *f;
}

/* All lanes of a class; a finding when any has it. */
static void look(struct sight *s, struct echo_finding f)
{
	for (unsigned int i = 0; i < s->flow_count; i++) {
		uint32_t count, of;
		struct lane l;

		if (s->flow[i].sized || s->flow[i].class != f.class)
			continue;
		find_lane(s->ends, f.way, i, &s->flow[i], &l);
		if (!l.record)
			continue;
		lane_count(&l, &f, &count, &of);
		f.count += count;
		f.of += of;
		f.ports_of += of > 0;
		if (!count)
			continue;
		f.whole += count >= of;
		if (f.ports < ECHO_NAMED_MAX)
			f.named[f.ports] = l.port;
		f.ports++;
	}
	if (!f.count)
		return;
	if (f.kind == ECHO_LOST && f.count == f.of)
		f.kind = ECHO_DEAF;
	add(s, &f);
}

static enum echo_kind ecn_kind(uint8_t from, uint8_t to)
{
	if (to == ECN_CE)
		return ECHO_CE;
	return from && !to ? ECHO_ECT_CLEARED : ECHO_ECN;
}

static void look_at_class(struct sight *s, enum echo_way way, unsigned int class)
{
	uint8_t tos = s->ends->spec[sender_of(way)]->class[class].tos;
	struct echo_finding f = {.way = way, .class = class, .kind = ECHO_DSCP, .from = tos >> 2};

	for (unsigned int to = 0; to < 64; to++) {
		f.to = (uint8_t)to;
		if (f.to != f.from)
			look(s, f);
	}
	f.from = tos & ECN_MASK;
	for (unsigned int to = 0; to <= ECN_MASK; to++) {
		f.to = (uint8_t)to;
		f.kind = ecn_kind(f.from, f.to);
		if (f.to != f.from)
			look(s, f);
	}
	f = (struct echo_finding){.way = way, .class = class, .kind = ECHO_LOST};
	look(s, f);
	f.kind = ECHO_WRONG;
	look(s, f);
	f.kind = ECHO_UNREAD;
	look(s, f);
}

/* What is known of the sizes of one source port, one way. */
struct path_sizes {
	uint16_t port;
	bool known;    /* its small datagrams all came: what is missing is missing for its size */
	bool sent;     /* the size in question, 0 = any, was: without a request nothing answers */
	uint32_t most; /* bytes that arrived */
};

static void find_sizes(const struct echo_ends *ends, enum echo_way way, unsigned int path,
		       uint32_t size, struct path_sizes *out)
{
	struct echo_flow flow[ECHO_FLOWS_MAX];
	unsigned int count = echo_flows(ends->spec[TRAFFIC_CLIENT], flow);
	struct lane l;

	find_lane(ends, way, path, &flow[path], &l); /* class 0 comes first */
	*out = (struct path_sizes){
		.port = l.port,
		.known = l.record && l.record->arrived &&
			 (!l.sent_known || l.record->arrived >= l.sent),
	};
	for (unsigned int i = 0; i < count; i++) {
		uint32_t bytes = flow[i].bytes[way == ECHO_BACK];
		bool came;

		if (!flow[i].sized || flow[i].path != path ||
		    flow[i].bytes[way == ECHO_FORTH] != ECHO_BYTES)
			continue;
		find_lane(ends, way, i, &flow[i], &l);
		came = l.record && l.record->arrived;
		if (came && bytes > out->most)
			out->most = bytes;
		if (!size || bytes == size)
			out->sent |= came || l.sent;
	}
}

static unsigned int size_paths(const struct echo_spec *s)
{
	if (!s->sizes)
		return 0;
	return s->paths < ECHO_SIZE_PATHS ? s->paths : ECHO_SIZE_PATHS;
}

uint32_t echo_path_mtu(const struct echo_ends *ends, enum echo_way way)
{
	uint32_t least = UINT32_MAX;

	for (unsigned int p = 0; p < size_paths(ends->spec[TRAFFIC_CLIENT]); p++) {
		struct path_sizes s;

		find_sizes(ends, way, p, 0, &s);
		if (s.known && s.sent && s.most < least)
			least = s.most;
	}
	return least == UINT32_MAX ? 0 : least;
}

static void look_at_mtu(struct sight *s, enum echo_way way)
{
	const struct echo_result *const *r = s->ends->result;
	struct echo_finding f = {.way = way, .kind = ECHO_MTU};

	if (!r[0] || !r[1])
		return;
	f.bytes = f.expected_bytes = r[0]->mtu < r[1]->mtu ? r[0]->mtu : r[1]->mtu;
	for (unsigned int p = 0; p < size_paths(s->ends->spec[TRAFFIC_CLIENT]); p++) {
		struct path_sizes path;

		find_sizes(s->ends, way, p, f.expected_bytes, &path);
		if (!path.known || !path.sent)
			continue;
		f.ports_of++;
		if (path.most >= f.expected_bytes)
			continue;
		if (path.most < f.bytes)
			f.bytes = path.most;
		f.named[f.ports++] = path.port;
		f.whole++;
	}
	if (f.ports)
		add(s, &f);
}

static int check_shape(const struct sight *s, struct err *e)
{
	const struct echo_spec *const *spec = s->ends->spec;

	for (unsigned int i = 0; i < 2; i++) {
		const struct echo_result *r = s->ends->result[i];

		if (r && (r->flow_count != s->flow_count || r->path_count != echo_paths(spec[0])))
			return err_set(e, -EPROTO,
				       "marking echo: the result of the %s has %u flows and %u "
				       "source ports, not %u and %u",
				       i ? "server" : "client", r->flow_count, r->path_count,
				       s->flow_count, echo_paths(spec[0]));
	}
	return 0;
}

int echo_judge(const struct echo_ends *ends, struct echo_findings *out, struct err *e)
{
	struct sight s = {.ends = ends, .out = out};
	int err;

	s.flow_count = echo_flows(ends->spec[TRAFFIC_CLIENT], s.flow);
	err = check_shape(&s, e);
	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	for (unsigned int way = 0; way < ECHO_WAYS; way++) {
		for (unsigned int c = 0; c < ends->spec[TRAFFIC_CLIENT]->class_count; c++)
			look_at_class(&s, (enum echo_way)way, c);
		look_at_mtu(&s, (enum echo_way)way);
	}
	return 0;
}

void echo_port(const struct echo_ends *ends, enum echo_way way, unsigned int path,
	       struct echo_port *out)
{
	const struct echo_flow flow = {.path = (uint16_t)path}; /* class 0 comes first */
	struct lane l;

	find_lane(ends, way, path, &flow, &l);
	*out = (struct echo_port){.port = l.port, .known = l.sent_known, .sent = l.sent};
	if (!l.record)
		return;
	out->arrived = l.record->arrived;
	for (unsigned int i = 0; i < l.record->seen_count; i++)
		if (l.record->seen[i].tos != l.tos)
			out->marked += l.record->seen[i].count;
}

const char *echo_port_word(const struct echo_port *p)
{
	if (!p->known || !p->sent)
		return "not known";
	if (!p->arrived)
		return "lost";
	if (p->arrived < p->sent)
		return "some lost";
	return p->marked ? "marked" : "arrived";
}

/* Findings of a marking echo as lines for people and as JSON. */

static const char *const ecn_words[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};

/* ", on all 4 source ports", ", on 2 of 64 source ports, each of their datagrams: 0xc001 0xc03e" */
static void ports_text(const struct echo_finding *f, char *buf, size_t size)
{
	size_t used;

	if (f->ports == f->ports_of) {
		snprintf(buf, size, ", on all %u source port%s", f->ports,
			 f->ports == 1 ? "" : "s");
		return;
	}
	used = (size_t)snprintf(buf, size, ", on %u of %u source ports (%.3g %%)%s:", f->ports,
				f->ports_of, 100.0 * f->ports / f->ports_of,
				f->whole == f->ports ? ", always these" : "");
	for (unsigned int i = 0; i < f->ports && i < ECHO_NAMED_MAX && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, " 0x%04x", f->named[i]);
	if (f->ports > ECHO_NAMED_MAX && used < size)
		snprintf(buf + used, size - used, " ...");
}

void echo_finding_text(const struct echo_finding *f, char *buf, size_t size)
{
	char what[64], ports[160];

	ports_text(f, ports, sizeof(ports));
	if (f->kind == ECHO_MTU) {
		snprintf(buf, size,
			 "%s: no datagram of %" PRIu32
			 " bytes arrives, the RDMA MTU of both ports; "
			 "the largest that does is %" PRIu32 "%s",
			 echo_way_word(f->way), f->expected_bytes, f->bytes, ports);
		return;
	}
	if (f->kind == ECHO_DSCP)
		snprintf(what, sizeof(what), "DSCP %u arrives as %u", f->from, f->to);
	else if (echo_kind_table[f->kind].what)
		snprintf(what, sizeof(what), "%s", echo_kind_table[f->kind].what);
	else
		snprintf(what, sizeof(what), "%s arrives as %s", ecn_words[f->from & ECN_MASK],
			 ecn_words[f->to & ECN_MASK]);
	snprintf(buf, size, "%s, class %u: %s (%" PRIu32 " of %" PRIu32 ")%s",
		 echo_way_word(f->way), f->class, what, f->count, f->of, ports);
}

static json_t *finding_to_json(const struct echo_finding *f)
{
	json_t *named = json_array();
	char text[320];

	for (unsigned int i = 0; i < f->ports && i < ECHO_NAMED_MAX; i++)
		json_array_append_new(named, json_integer(f->named[i]));
	echo_finding_text(f, text, sizeof(text));
	return json_pack("{s:s, s:s, s:b, s:i, s:i, s:i, s:I, s:I, s:i, s:i, s:i, s:o, s:I, s:I, "
			 "s:o, s:s}",
			 "kind", echo_kind_table[f->kind].word, "way", echo_way_word(f->way),
			 "fault", echo_kind_table[f->kind].fault, "class", (int)f->class, "from",
			 f->from, "to", f->to, "count", (json_int_t)f->count, "of",
			 (json_int_t)f->of, "ports", (int)f->ports, "ports_of", (int)f->ports_of,
			 "whole", (int)f->whole, "named", named, "bytes", (json_int_t)f->bytes,
			 "expected_bytes", (json_int_t)f->expected_bytes, "text",
			 text_to_json(text), "advice", echo_kind_table[f->kind].advice);
}

static json_t *ports_to_json(const struct echo_ends *ends, enum echo_way way)
{
	const struct echo_spec *s = ends->spec[TRAFFIC_CLIENT];
	json_t *list = json_array();

	for (unsigned int i = 0; s->sweep && i < s->sweep; i++) {
		struct echo_port p;

		echo_port(ends, way, i, &p);
		json_array_append_new(list, json_pack("{s:i, s:I, s:I, s:I, s:s}", "port", p.port,
						      "sent", (json_int_t)p.sent, "arrived",
						      (json_int_t)p.arrived, "marked",
						      (json_int_t)p.marked, "verdict",
						      echo_port_word(&p)));
	}
	return list;
}

json_t *echo_findings_to_json(const struct echo_ends *ends, const struct echo_findings *found)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < found->count; i++)
		json_array_append_new(list, finding_to_json(&found->finding[i]));
	return json_pack("{s:o, s:i, s:[I, I], s:[o, o]}", "findings", list, "more",
			 (int)found->more, "path_mtu", (json_int_t)echo_path_mtu(ends, ECHO_FORTH),
			 (json_int_t)echo_path_mtu(ends, ECHO_BACK), "ports",
			 ports_to_json(ends, ECHO_FORTH), ports_to_json(ends, ECHO_BACK));
}
