/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture decode: prints a line or a JSON object for each RoCE, PFC, PAUSE and LLDP frame
 * of a file, and counts other frames. Of a broken file, it prints all frames before the break.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/decode/lldp.h"
#include "capture/reader.h"
#include "cmd/capture/capture_file.h"
#include "cmd/capture/capture_filter.h"
#include "cmd/cmd.h"

static unsigned int limit;
static struct capture_filter_words words;

static const struct opt decode_opts[] = {
	CAPTURE_FILTER_OPTS(words),
	{"limit", 'n', OPT_UINT, &limit, .min = 1, .max = UINT32_MAX, .arg = "COUNT",
	 .help = "stop after COUNT lines (default: no limit)"},
	CAPTURE_LINK_OPT,
	CAPTURE_SANDBOX_OPT,
	{.name = NULL},
};

/* Decodes one LLDP frame by itself; false on a malformed frame, which is reported elsewhere. */
static bool decode_read_lldp(const struct reader *r, const struct packet *p, struct lldp_peer *peer)
{
	struct err e = {0};

	if (p->kind != PACKET_LLDP || p->fault != PACKET_OK)
		return false;
	memset(peer, 0, sizeof(*peer));
	return lldp_decode_packet(p, r->data, peer, &e) >= 0 && peer->seen;
}

/* False on a failed stream or -ENOMEM: the caller reports. */
static bool decode_print_json(const struct reader *r, const struct packet *p, struct flow_events ev)
{
	struct lldp_peer peer;
	json_t *o = packet_to_json(p);
	bool ok = o && json_object_set_new(o, "events", flow_events_to_json(ev)) == 0;

	if (ok && decode_read_lldp(r, p, &peer))
		ok = json_object_set_new(o, "lldp", lldp_peer_to_json(&peer)) == 0;
	if (ok)
		ok = json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;
	json_decref(o);
	putchar('\n');
	return ok;
}

/* Times are relative to the first frame. */
static void decode_print_line(const struct reader *r, const struct packet *p, struct flow_events ev,
			      uint64_t first_ns)
{
	char line[PACKET_TEXT_MAX], events[256], lldp[LLDP_PEER_TEXT] = "";
	struct packet shown = *p;
	struct lldp_peer peer;

	shown.time_ns -= first_ns;
	packet_text(&shown, line, sizeof(line));
	/* The columns show these already. */
	ev.bits &= ~(uint32_t)(FLOW_CNP | FLOW_CE | FLOW_ICRC_BAD | FLOW_RNR | FLOW_NAK_SEQ |
			       FLOW_NAK_OTHER | FLOW_FRAGMENT);
	flow_events_text(ev, events, sizeof(events));
	if (decode_read_lldp(r, p, &peer))
		lldp_peer_text(&peer, lldp, sizeof(lldp));
	printf("%s%s%s%s%s\n", line, lldp[0] ? " " : "", lldp, events[0] ? ", " : "", events);
}

static void decode_print_summary(const struct capture_totals *t, const struct reader *r)
{
	struct flow f;
	uint64_t good = 0, bad = 0, unverifiable = 0;

	for (unsigned int i = 0; i < flow_table_count(r->flows); i++) {
		flow_table_get(r->flows, i, &f);
		good += f.icrc_good;
		bad += f.icrc_bad;
		unverifiable += f.icrc_unverifiable;
	}
	printf("\nsummary: %" PRIu64 " frame%s: %" PRIu64 " RoCE in %u flow%s (%" PRIu64
	       " CNP), %" PRIu64 " PFC, %" PRIu64 " PAUSE, %" PRIu64 " LLDP, %" PRIu64
	       " other\n         %" PRIu64 " truncated, %" PRIu64 " malformed; ICRC: %" PRIu64
	       " ok, %" PRIu64 " bad, %" PRIu64 " not verifiable\n",
	       t->frames, plural(t->frames), t->roce, flow_table_count(r->flows),
	       plural(flow_table_count(r->flows)), t->cnp, t->pfc_frames, t->pause_frames, t->lldp,
	       t->other, t->truncated, t->malformed, good, bad, unverifiable);
	puts("time: in seconds. qp: of the receiver. -: not in this packet. ICRC: checksum. PSN "
	     "gap: packets\nmissing before this one. msn: messages that the receiver completed. "
	     "BECN: request to slow down.\nva: memory address. quanta: pause time; 0 ends the "
	     "pause.");
}

/* Other frames are shown when they are malformed or when --verdict is given. */
static bool decode_is_shown(const struct packet *p, const struct capture_filter *f)
{
	return p->kind != PACKET_OTHER || p->fault == PACKET_MALFORMED || f->by_verdict;
}

/* 0, or the error of reader_next(). */
static int decode_all(struct reader *r, const struct capture_filter *f, struct err *e)
{
	struct progress progress = progress_begin(PROGRESS_LINES, globals->quiet);
	unsigned int lines = 0;
	uint64_t first_ns = 0;
	const struct packet *p;
	int got;

	while ((got = reader_next(r, -1, &p, e)) > 0) {
		struct flow_events ev = flow_table_events(r->flows);

		progress_step(&progress, r);
		if (r->frames == 1)
			first_ns = p->time_ns;
		if (!decode_is_shown(p, f) || !capture_filter_match(f, p, ev))
			continue;
		if (!globals->json)
			decode_print_line(r, p, ev, first_ns);
		else if (!decode_print_json(r, p, ev) && !ferror(stdout))
			got = err_sys(e, -ENOMEM, "JSON");
		if (got < 0 || ferror(stdout)) /* main() reports the latter */
			break;
		if (++lines == limit)
			break;
	}
	progress_end(&progress);
	return got < 0 ? got : 0;
}

static int run_decode(int argc, char **argv)
{
	struct capture_filter filter = {0};
	char columns[256];
	struct reader r;
	struct err e = {0};
	int err;

	if (argc != 1)
		return cmd_usage(&cmd_capture_decode, "expected one FILE (- for standard input)");
	if (capture_filter_make(&filter, &words, &e))
		return cmd_fail(EXIT_USAGE, &e);
	err = capture_file_open(argv[0], &r);
	if (err)
		return err;
	if (!globals->json) {
		packet_text_header(columns, sizeof(columns));
		puts(columns);
	}
	err = decode_all(&r, &filter, &e);
	if (!globals->json)
		decode_print_summary(flow_table_totals(r.flows), &r);
	reader_clear(&r);
	fflush(stdout); /* before the error on stderr; main() checks the result */
	return err ? cmd_fail(err == -ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE, &e) : EXIT_OK;
}

const struct command cmd_capture_decode = {
	.name = "capture decode",
	.args = "FILE",
	.help = "print the RoCE, PFC and LLDP frames of a capture file",
	.opts = decode_opts,
	.run = run_decode,
};
