/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of a marking echo as lines for people and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/marking/echo_judge.h"
#include "profiles/base/json_take.h"
#include "profiles/base/text.h"

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

static void what_text(const struct echo_finding *f, char *buf, size_t size)
{
	switch (f->kind) {
	case ECHO_DSCP:
		snprintf(buf, size, "DSCP %u arrives as %u", f->from, f->to);
		return;
	case ECHO_ECT_CLEARED:
	case ECHO_CE:
	case ECHO_ECN:
		snprintf(buf, size, "%s arrives as %s", ecn_words[f->from & 3],
			 ecn_words[f->to & 3]);
		return;
	case ECHO_LOST:
		snprintf(buf, size, "datagrams are lost");
		return;
	case ECHO_DEAF:
		snprintf(buf, size, "nothing arrives");
		return;
	case ECHO_WRONG:
		snprintf(buf, size, "bytes arrive that are not those that were sent");
		return;
	case ECHO_UNREAD:
		snprintf(buf, size, "the device hands out no IP header");
		return;
	default:
		snprintf(buf, size, "%s", "?");
	}
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
	what_text(f, what, sizeof(what));
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
