/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the marking echo of a probe found, for people. Source ports on which all arrived as it was
 * sent are counted; the others are named, each one.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/probe/probe_text.h"

static void print_findings(const struct echo_findings *found, enum echo_way way, FILE *out)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < found->count; i++) {
		const struct echo_finding *f = &found->finding[i];
		char text[320];

		if (f->way != way)
			continue;
		echo_finding_text(f, text, sizeof(text));
		fprintf(out, "  %s\n", text);
		count++;
	}
	if (!count)
		fprintf(out, "  %s: all arrived as it was sent\n", echo_way_word(way));
}

static void print_sweep(const struct echo_ends *ends, enum echo_way way, FILE *out)
{
	unsigned int good = 0, sweep = ends->spec[SIDE_CLIENT]->sweep;

	for (unsigned int i = 0; i < sweep; i++) {
		struct echo_port p;

		echo_port(ends, way, i, &p);
		good += !strcmp(echo_port_word(&p), "arrived");
	}
	fprintf(out, "sweep    %s: %u of %u source ports arrived\n", echo_way_word(way), good,
		sweep);
	for (unsigned int i = 0; i < sweep && good < sweep; i++) {
		struct echo_port p;

		echo_port(ends, way, i, &p);
		if (strcmp(echo_port_word(&p), "arrived"))
			fprintf(out,
				"  0x%04x  %s: %" PRIu32 " of %" PRIu32 " arrived, %" PRIu32
				" marked otherwise\n",
				p.port, echo_port_word(&p), p.arrived, p.sent, p.marked);
	}
}

static void print_mtu(const struct echo_ends *ends, enum echo_way way, FILE *out)
{
	uint32_t bytes = echo_path_mtu(ends, way);
	const struct echo_result *const *r = ends->result;

	fprintf(out, "path MTU %s: ", echo_way_word(way));
	if (bytes)
		fprintf(out, "datagrams of %" PRIu32 " bytes arrive", bytes);
	else
		fprintf(out, "not measured");
	if (r[SIDE_CLIENT] && r[SIDE_SERVER])
		fprintf(out, "; the ports have %" PRIu32 " and %" PRIu32, r[SIDE_CLIENT]->mtu,
			r[SIDE_SERVER]->mtu);
	fputc('\n', out);
}

void probe_print_marking(const struct two_ended_echo *x, FILE *out)
{
	struct echo_findings found;
	struct echo_ends ends;
	struct err e = {0};

	if (!x)
		return;
	two_ended_echo_ends(x, &ends);
	fprintf(out, "marking  %u class%s, %u UDP source ports, %u datagrams of each\n",
		x->spec[0].class_count, x->spec[0].class_count == 1 ? "" : "es",
		echo_paths(&x->spec[0]), x->spec[0].count);
	if (x->why[0])
		fprintf(out, "  not done to its end: %s\n", x->why);
	if (!x->has_result[SIDE_CLIENT])
		return;
	if (echo_judge(&ends, &found, &e)) {
		fprintf(out, "  %s\n", e.text);
		return;
	}
	for (unsigned int way = 0; way < ECHO_WAYS; way++)
		print_findings(&found, (enum echo_way)way, out);
	for (unsigned int way = 0; way < ECHO_WAYS; way++)
		print_mtu(&ends, (enum echo_way)way, out);
	for (unsigned int way = 0; way < ECHO_WAYS && x->spec[0].sweep; way++)
		print_sweep(&ends, (enum echo_way)way, out);
}
