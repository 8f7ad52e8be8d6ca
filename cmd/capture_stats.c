/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture stats: totals of a capture file, its flows, and how far they can be believed:
 * what the capture itself dropped, and what cannot be seen in it at all.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture/reader.h"
#include "cmd/capture_by.h"
#include "cmd/capture_file.h"
#include "cmd/capture_filter.h"
#include "cmd/cmd.h"

#define CAPTURE_SCHEMA "rocecheck.capture/1"

static const char *by;
static struct capture_filter_words words;

static const struct opt stats_opts[] = {
	{"by", 0, OPT_STRING, &by, .arg = "WHAT",
	 .help = "one table instead: by opcode, dscp, host or time", .words = capture_by_words},
	CAPTURE_FILTER_OPTS(words),
	CAPTURE_MAX_FLOWS_OPT,
	CAPTURE_JOBS_OPT,
	{.name = NULL},
};

static void print_prios(const struct capture_totals *t)
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

static void print_totals(const struct capture_totals *t)
{
	printf("frames       %" PRIu64 "\n", t->frames);
	printf("RoCE         %" PRIu64 "\n", t->roce);
	printf("CNP          %" PRIu64 "\n", t->cnp);
	printf("PFC          %" PRIu64, t->pfc_frames);
	print_prios(t);
	printf("PAUSE        %" PRIu64 "\n", t->pause_frames);
	printf("LLDP         %" PRIu64 "\n", t->lldp);
	printf("others       %" PRIu64 "\n", t->other);
	printf("truncated    %" PRIu64 "\n", t->truncated);
	printf("malformed    %" PRIu64 "\n", t->malformed);
}

/* "26,48" */
static void dscp_text(const struct flow *f, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < ARRAY_SIZE(f->dscp) && used < size; i++)
		if (f->dscp[i])
			used += (size_t)snprintf(buf + used, size - used, "%s%u", used ? "," : "",
						 i);
}

static void print_flow(const struct flow *f)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], dscp[256], icrc[80];

	packet_addr_text(f->src, src, sizeof(src));
	packet_addr_text(f->dst, dst, sizeof(dst));
	dscp_text(f, dscp, sizeof(dscp));
	snprintf(icrc, sizeof(icrc), "%" PRIu64 "/%" PRIu64 "/%" PRIu64, f->icrc_good, f->icrc_bad,
		 f->icrc_unverifiable);
	printf("%-15s %-15s 0x%06x %9" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64
	       " %6" PRIu64 " %7" PRIu64 " %7" PRIu64 " %-15s %s\n",
	       src, dst, f->dest_qpn, f->packets, f->naks_seq + f->naks_other, f->rnr, f->cnp,
	       f->ecn[3], f->psn_gaps, f->psn_missing, f->duplicates, icrc, dscp);
}

static void print_flows(const struct capture_summary *s)
{
	if (!s->flow_count)
		return;
	printf("\n%-15s %-15s %-8s %9s %6s %6s %6s %6s %6s %7s %7s %-15s %s\n", "src", "dst", "qpn",
	       "packets", "NAK", "RNR", "CNP", "CE", "gaps", "missing", "retrans", "icrc ok/bad/?",
	       "dscp");
	for (unsigned int i = 0; i < s->flow_count; i++)
		print_flow(&s->flow[i]);
}

static void print_peer(const struct lldp_peer *p)
{
	char prios[32] = "not said";

	if (!p->seen)
		return;
	if (qos_has(&p->qos, QOS_PFC_ENABLED))
		qos_prio_set_text(p->qos.pfc_enabled, prios, sizeof(prios));
	printf("\nneighbour    %s %s (%s), DCBX %s, PFC %s%s\n", p->system, p->port, p->chassis,
	       p->dialect[0] ? p->dialect : "none", prios,
	       p->neighbours > 1 ? "; more than one neighbour is heard" : "");
}

/* How far the numbers above can be believed. */
static void print_honesty(const struct capture_summary *s)
{
	const struct capture_totals *t = &s->totals;

	switch (s->drops) {
	case DROPS_UNKNOWN:
		puts("\ndrops        not recorded in this file: a PSN gap may be a packet that the "
		     "capture missed");
		break;
	case DROPS_ZERO:
		puts("\ndrops        0, as the capture counted itself");
		break;
	case DROPS_SOME:
		printf("\ndrops        %" PRIu64
		       " lost by the capture itself: PSN gaps prove no loss in the network\n",
		       s->dropped);
		break;
	}
	if (!t->roce)
		puts("note         no RoCE: hardware RoCE bypasses the interface, capture it at a "
		     "mirror port");
	if (t->roce && !t->pfc_frames)
		puts("note         no PFC: network adapters keep PFC frames to themselves, so this "
		     "proves nothing");
	if (t->evicted_flows)
		printf("note         %" PRIu64 " idle flows were forgotten: too many at once\n",
		       t->evicted_flows);
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];

		if (f->icrc_bad > 1 && !f->icrc_good)
			printf("note         qpn 0x%06x: every ICRC is bad: the capture or a "
			       "rewritten header, rather than corruption\n",
			       f->dest_qpn);
	}
}

static int print_document(const struct capture_summary *s)
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

static int print_stats(const struct capture_summary *s)
{
	if (globals->json)
		return print_document(s);
	print_totals(&s->totals);
	print_flows(s);
	print_peer(&s->peer);
	print_honesty(s);
	return EXIT_OK;
}

/* What reader_next() said at the end. */
static int read_by(struct reader *r, const struct capture_filter *f, struct capture_by *rows,
		   struct progress *progress, struct err *e)
{
	struct packet p;
	int got;

	while ((got = reader_next(r, -1, &p, e)) > 0) {
		struct flow_events ev = flow_table_events(r->flows);

		progress_step(progress, r);
		if (r->frames == 1) /* as in decode, times are from the first frame on */
			capture_views_begin(&rows->views, p.time_ns);
		if (capture_filter_match(f, &p, ev) && capture_by_add(rows, &p, ev))
			return err_sys(e, -ENOMEM, "capture");
	}
	return got;
}

static int read_all(struct reader *r, struct progress *progress, struct err *e)
{
	struct packet p;
	int got;

	while ((got = reader_skim(r, &p, e)) > 0)
		progress_step(progress, r);
	return got;
}

static int print_summary(struct reader *r)
{
	struct capture_summary summary;
	struct err e = {0};
	int code;

	if (reader_summary(r, &summary)) {
		err_set(&e, -ENOMEM, "out of memory");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	code = print_stats(&summary);
	capture_summary_clear(&summary);
	return code;
}

static int run_stats(int argc, char **argv)
{
	struct progress progress = progress_begin(PROGRESS_TOTALS, globals->quiet);
	struct capture_filter filter = {0};
	struct capture_by rows = {.by = by};
	struct err e = {0};
	struct reader r;
	int code, got;

	if (argc != 1)
		return cmd_usage(&cmd_capture_stats, "one capture file is needed, or - for "
						     "standard input");
	if (!by && capture_filter_given(&words))
		return cmd_usage(&cmd_capture_stats,
				 "filters choose packets for --by; totals and flows are of all");
	if (capture_filter_make(&filter, &words, &e))
		return cmd_fail(EXIT_USAGE, &e);
	code = by ? capture_file_open(argv[0], &r) : capture_file_open_skim(argv[0], &r);
	if (code)
		return code;
	got = by ? read_by(&r, &filter, &rows, &progress, &e) : read_all(&r, &progress, &e);
	progress_end(&progress);
	code = by ? capture_by_print(&rows) : print_summary(&r);
	capture_by_clear(&rows);
	reader_clear(&r);
	fflush(stdout); /* an error is told behind what was counted; main() looks at the result */
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
