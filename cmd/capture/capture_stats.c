/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture stats: prints totals and flows of a capture file, and the limits of these
 * numbers: packets that the capture dropped, and frames that it cannot see.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/flow/breakdown.h"
#include "capture/reader.h"
#include "cmd/capture/capture_file.h"
#include "cmd/capture/capture_filter.h"
#include "cmd/cmd.h"

/* Sums of RoCE packets by opcode, DSCP, sending host or time. Starts with `by` alone. */
struct stats_by {
	const char *by; /* a word of stats_by_words */
	struct breakdown breakdown;
	struct breakdown_hosts hosts;
	struct breakdown_row no_bth; /* RoCE that is truncated or malformed before it */
};

static const char *const stats_by_words[] = {"opcode", "dscp", "host", "time", NULL};

/* Target of the rows: a JSON list, or stdout. */
struct table {
	json_t *rows; /* NULL: text */
	bool failed;
};

static void stats_add_row(struct table *t, const char *key, const struct breakdown_row *r)
{
	if (!r->packets || t->failed)
		return;
	if (!t->rows) {
		printf("%-39s %10" PRIu64 " %14" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
		       key, r->packets, r->bytes, r->ce, r->cnp, r->retransmitted);
		return;
	}
	if (json_array_append_new(t->rows,
				  json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "key", key, "packets",
					    (json_int_t)r->packets, "bytes", (json_int_t)r->bytes,
					    "ce", (json_int_t)r->ce, "cnp", (json_int_t)r->cnp,
					    "duplicates", (json_int_t)r->retransmitted)) < 0)
		t->failed = true;
}

static void stats_add_opcodes(struct table *t, struct stats_by *b)
{
	char buf[64];

	for (unsigned int i = 0; i < 256; i++)
		stats_add_row(t, opcode_name((uint8_t)i, buf, sizeof(buf)),
			      &b->breakdown.opcode[i]);
}

static void stats_add_dscps(struct table *t, struct stats_by *b)
{
	char key[8];

	for (unsigned int i = 0; i < 64; i++) {
		snprintf(key, sizeof(key), "%u", i);
		stats_add_row(t, key, &b->breakdown.dscp[i]);
	}
}

static void stats_add_times(struct table *t, struct stats_by *b)
{
	const double slot_s = (double)b->breakdown.slot_ns / 1e9;
	char key[64];

	for (unsigned int i = 0; i < BREAKDOWN_SLOTS; i++) {
		snprintf(key, sizeof(key), "%.3f-%.3f s", i * slot_s, (i + 1) * slot_s);
		stats_add_row(t, key, &b->breakdown.slot[i]);
	}
}

static void stats_add_hosts(struct table *t, struct stats_by *b)
{
	char key[INET6_ADDRSTRLEN];

	breakdown_hosts_sort(&b->hosts);
	for (unsigned int i = 0; i < b->hosts.count; i++) {
		packet_addr_text(b->hosts.host[i].address, key, sizeof(key));
		stats_add_row(t, key, &b->hosts.host[i].row);
	}
	stats_add_row(t, "others", &b->hosts.others);
}

static const struct {
	const char *by;
	void (*put)(struct table *t, struct stats_by *b);
} tables[] = {
	{"opcode", stats_add_opcodes},
	{"dscp", stats_add_dscps},
	{"host", stats_add_hosts},
	{"time", stats_add_times},
};

/* Counts a packet, if it is RoCE. -ENOMEM. */
static int stats_by_add(struct stats_by *b, const struct packet *p, struct flow_events ev)
{
	if (p->kind == PACKET_ROCE && !p->bth)
		breakdown_row_add(&b->no_bth, p, ev);
	if (!strcmp(b->by, "host"))
		return breakdown_hosts_add(&b->hosts, p, ev);
	breakdown_add(&b->breakdown, p, ev);
	return 0;
}

/* Prints the table as text or JSON, without empty rows. Returns an exit code. */
static int stats_by_print(struct stats_by *b)
{
	struct table t = {.rows = globals->json ? json_array() : NULL};
	struct err e = {0};

	t.failed = globals->json && !t.rows;
	if (!globals->json)
		printf("%-39s %10s %14s %8s %8s %8s\n", b->by, "packets", "wire bytes", "CE", "CNP",
		       "retrans");
	for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].by, b->by))
			tables[i].put(&t, b);
	stats_add_row(&t, "no BTH", &b->no_bth);
	if (t.failed) {
		json_decref(t.rows);
		err_set(&e, -1, "out of memory");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (!globals->json)
		return EXIT_OK;
	return cmd_print_json(json_pack("{s:s, s:s, s:s, s:o}", "schema", "rocecheck.stats/1", "by",
					b->by, "bytes_of", "wire", "rows", t.rows));
}

#define CAPTURE_SCHEMA "rocecheck.capture/1"

static const char *by;
static struct capture_filter_words words;

static const struct opt stats_opts[] = {
	{"by", 0, OPT_STRING, &by, .arg = "WHAT",
	 .help = "print one table by opcode, dscp, host or time instead", .words = stats_by_words},
	CAPTURE_FILTER_OPTS(words),
	CAPTURE_MAX_FLOWS_OPT,
	CAPTURE_LINK_OPT,
	CAPTURE_SANDBOX_OPT,
	{.name = NULL},
};

static void stats_print_prios(const struct capture_totals *t)
{
	const char *between = " (prio";

	for (unsigned int i = 0; i < ARRAY_SIZE(t->pfc_by_prio); i++) {
		if (!t->pfc_by_prio[i])
			continue;
		printf("%s %u: %" PRIu64, between, i, t->pfc_by_prio[i]);
		between = ",";
	}
	puts(between[0] == ',' ? ")" : "");
}

static void stats_print_totals(const struct capture_totals *t)
{
	printf("frames       %" PRIu64 "\n", t->frames);
	printf("RoCE         %" PRIu64 "\n", t->roce);
	printf("CNP          %" PRIu64 "\n", t->cnp);
	printf("PFC          %" PRIu64, t->pfc_frames);
	stats_print_prios(t);
	printf("PAUSE        %" PRIu64 "\n", t->pause_frames);
	printf("LLDP         %" PRIu64 "\n", t->lldp);
	printf("others       %" PRIu64 "\n", t->other);
	printf("truncated    %" PRIu64 "\n", t->truncated);
	printf("malformed    %" PRIu64 "\n", t->malformed);
}

#define LINE_MAX_BYTES 1024 /* more than the longest */
#define COLUMN_MAX     16

/* Lines built without printf(), which takes most of the time with many flows. */
struct text_buffer {
	size_t len;
	char text[64 << 10];
};

/* The buffer always has room: see LINE_MAX_BYTES. */
static void stats_append_spaces(struct text_buffer *l, size_t count)
{
	memset(l->text + l->len, ' ', COLUMN_MAX);
	l->len += count;
}

static void stats_append_char(struct text_buffer *l, char c)
{
	l->text[l->len++] = c;
}

static void stats_append_addr(struct text_buffer *l, const uint8_t gid[16])
{
	size_t len = packet_addr_text(gid, l->text + l->len, INET6_ADDRSTRLEN);

	l->len += len;
	stats_append_spaces(l, len < 15 ? 15 - len + 1 : 1);
}

/* Right-aligned. */
static void stats_append_number(struct text_buffer *l, uint64_t value, size_t width)
{
	size_t digits = 1;

	if (value < 10) { /* most are */
		stats_append_spaces(l, width ? width - 1 : 0);
		stats_append_char(l, (char)('0' + value));
		return;
	}
	for (uint64_t rest = value / 10; rest; rest /= 10)
		digits++;
	stats_append_spaces(l, saturating_sub(width, digits));
	l->len += digits;
	for (char *d = l->text + l->len; digits--; value /= 10)
		*--d = (char)('0' + value % 10);
}

static void stats_append_qpn(struct text_buffer *l, uint32_t qpn)
{
	stats_append_char(l, '0');
	stats_append_char(l, 'x');
	for (int shift = 20; shift >= 0; shift -= 4)
		stats_append_char(l, "0123456789abcdef"[qpn >> shift & 0xf]);
}

/* "1/0/7" */
static void stats_append_icrc(struct text_buffer *l, const struct flow *f)
{
	size_t begin = l->len;

	stats_append_number(l, f->icrc_good, 0);
	stats_append_char(l, '/');
	stats_append_number(l, f->icrc_bad, 0);
	stats_append_char(l, '/');
	stats_append_number(l, f->icrc_unverifiable, 0);
	stats_append_spaces(l, saturating_sub(begin + 15, l->len));
}

/* "26,48" */
static void stats_append_dscp(struct text_buffer *l, const struct flow *f)
{
	uint64_t left = f->packets;

	for (unsigned int i = 0; left && i < ARRAY_SIZE(f->dscp); i++) {
		if (!f->dscp[i])
			continue;
		if (left != f->packets)
			stats_append_char(l, ',');
		stats_append_number(l, i, 0);
		left -= f->dscp[i];
	}
}

static void stats_append_flow(struct text_buffer *l, const struct flow *f)
{
	const struct {
		uint64_t value;
		size_t width;
	} counts[] = {
		{f->packets, 10},    {f->naks_seq + f->naks_other, 7},
		{f->rnr, 7},	     {f->cnp, 7},
		{f->ecn[3], 7},	     {f->psn_gaps, 7},
		{f->psn_missing, 8}, {f->duplicates, 8},
	};

	stats_append_addr(l, f->src);
	stats_append_addr(l, f->dst);
	stats_append_qpn(l, f->dest_qpn);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		stats_append_char(l, ' ');
		stats_append_number(l, counts[i].value, counts[i].width - 1);
	}
	stats_append_char(l, ' ');
	stats_append_icrc(l, f);
	stats_append_char(l, ' ');
	stats_append_dscp(l, f);
	stats_append_char(l, '\n');
}

static void stats_write_lines(struct text_buffer *l)
{
	fwrite(l->text, 1, l->len, stdout);
	l->len = 0;
}

static bool stats_is_all_bad(const struct flow *f)
{
	return f->icrc_bad > 1 && !f->icrc_good;
}

/* One at a time: copying all flows takes as long as reading the file. Returns the number of flows
 * with bad ICRCs only. */
static unsigned int stats_print_flows(const struct flow_table *t)
{
	unsigned int bad = 0;
	struct text_buffer lines;
	struct flow f;

	lines.len = 0; /* not all of it: it is long */
	if (flow_table_count(t))
		printf("\n%-15s %-15s %-8s %9s %6s %6s %6s %6s %6s %7s %7s %-15s %s\n", "src",
		       "dst", "qpn", "packets", "NAK", "RNR", "CNP", "CE", "gaps", "missing",
		       "retrans", "icrc ok/bad/?", "dscp");
	for (unsigned int i = 0; i < flow_table_count(t); i++) {
		flow_table_get(t, i, &f);
		stats_append_flow(&lines, &f);
		if (lines.len > sizeof(lines.text) - LINE_MAX_BYTES)
			stats_write_lines(&lines);
		bad += stats_is_all_bad(&f);
	}
	stats_write_lines(&lines);
	if (flow_table_count(t))
		puts("qpn: QP of the receiver. RNR: receiver not ready. CNP: congestion "
		     "notifications. CE: congestion\nmarks. gaps: PSN gaps. missing: PSNs of gaps "
		     "that never arrived. retrans: packets captured before.\nicrc: good and bad "
		     "checksums, ?: not verifiable.");
	return bad;
}

/* bad: number of such flows. */
static void stats_print_bad(const struct flow_table *t, unsigned int bad)
{
	struct flow f;

	for (unsigned int i = 0; bad && i < flow_table_count(t); i++) {
		flow_table_get(t, i, &f);
		if (!stats_is_all_bad(&f))
			continue;
		printf("note         qpn 0x%06x: every ICRC is bad: probably a rewritten header or "
		       "the "
		       "capture, not corruption\n",
		       f.dest_qpn);
		bad--;
	}
}

static void stats_print_neighbour(const struct lldp_peer *p)
{
	char text[LLDP_PEER_TEXT];

	if (!p->seen)
		return;
	lldp_peer_text(p, text, sizeof(text));
	printf("\nneighbour    %s%s\n", text,
	       p->neighbours > 1 ? "; WARNING: more than one LLDP neighbour" : "");
}

/* Limits of the numbers above. */
static void stats_print_caveats(const struct capture_totals *t, enum capture_drops drops,
				uint64_t dropped, uint32_t step_ns)
{
	switch (drops) {
	case DROPS_UNKNOWN:
		puts("\ndrops        unknown (no drop counters in this file): the capture itself "
		     "may have missed packets");
		break;
	case DROPS_ZERO:
		puts("\ndrops        0 packets lost by the capture itself");
		break;
	case DROPS_SOME:
		printf("\ndrops        %" PRIu64
		       " packets lost by the capture itself: PSN gaps prove no network loss\n",
		       dropped);
		break;
	}
	if (step_ns > 1)
		printf("clock        resolution %" PRIu32
		       " us: this file cannot show shorter times\n",
		       step_ns / 1000);
	if (!t->roce)
		puts("note         no RoCE: hardware RoCE bypasses the kernel; capture at a mirror "
		     "port");
	if (t->roce && !t->pfc_frames)
		puts("note         no PFC frames: NICs usually hide them, so PFC may still be "
		     "active");
	if (t->evicted_flows)
		printf("note         %" PRIu64 " idle flows evicted (raise --max-flows)\n",
		       t->evicted_flows);
}

static int stats_print_json(const struct capture_summary *s)
{
	json_t *o = capture_summary_to_json(s), *doc = json_object();

	if (!o || !doc || json_object_set_new(doc, "schema", json_string(CAPTURE_SCHEMA)) < 0 ||
	    json_object_update(doc, o) < 0) {
		json_decref(doc);
		doc = NULL;
	}
	json_decref(o);
	return cmd_print_json(doc);
}

static void stats_print_text(struct reader *r)
{
	uint64_t dropped = 0;
	enum capture_drops drops = input_drops(r->input, &dropped);
	unsigned int bad;

	stats_print_totals(flow_table_totals(r->flows));
	bad = stats_print_flows(r->flows);
	stats_print_neighbour(&r->lldp_peer);
	stats_print_caveats(flow_table_totals(r->flows), drops, dropped, input_step_ns(r->input));
	stats_print_bad(r->flows, bad);
}

/* Returns the last result of reader_next(). */
static int stats_read(struct reader *r, const struct capture_filter *f, struct stats_by *rows,
		      struct progress *progress, struct err *e)
{
	const struct packet *p;
	int got;

	while ((got = reader_next(r, -1, &p, e)) > 0) {
		struct flow_events ev = flow_table_events(r->flows);

		progress_step(progress, r);
		if (!rows->by)
			continue;
		if (r->frames == 1) /* as in decode, times are from the first frame on */
			breakdown_begin(&rows->breakdown, p->time_ns);
		if (capture_filter_match(f, p, ev) && stats_by_add(rows, p, ev))
			return err_sys(e, -ENOMEM, "capture");
	}
	return got;
}

static int stats_print_summary(struct reader *r)
{
	struct capture_summary summary;
	struct err e = {0};
	int code;

	if (!globals->json) {
		stats_print_text(r);
		return EXIT_OK;
	}
	if (reader_summary(r, &summary)) {
		err_set(&e, -ENOMEM, "out of memory");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	code = stats_print_json(&summary);
	capture_summary_clear(&summary);
	return code;
}

static int run_stats(int argc, char **argv)
{
	struct progress progress = progress_begin(PROGRESS_TOTALS, globals->quiet);
	struct capture_filter filter = {0};
	struct stats_by rows = {.by = by};
	struct err e = {0};
	struct reader r;
	int code, got;

	if (argc != 1)
		return cmd_usage(&cmd_capture_stats, "expected one FILE (- for standard input)");
	if (!by && capture_filter_given(&words))
		return cmd_usage(
			&cmd_capture_stats,
			"packet filters need --by: totals and flows always cover all packets");
	if (capture_filter_make(&filter, &words, &e))
		return cmd_fail(EXIT_USAGE, &e);
	code = capture_file_open(argv[0], &r);
	if (code)
		return code;
	got = stats_read(&r, &filter, &rows, &progress, &e);
	progress_end(&progress);
	code = by ? stats_by_print(&rows) : stats_print_summary(&r);
	breakdown_hosts_clear(&rows.hosts);
	reader_clear(&r);
	fflush(stdout); /* before the error on stderr; main() checks the result */
	if (got < 0)
		code = cmd_worse(code,
				 cmd_fail(got == -ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE, &e));
	return code;
}

const struct command cmd_capture_stats = {
	.name = "capture stats",
	.args = "FILE",
	.help = "print totals and flows of a capture file",
	.opts = stats_opts,
	.run = run_stats,
};
