/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture flows: prints a line with a verdict for each flow (one direction to a QP), and
 * all signs of a flow that is not clean below it. Does not decide if a gap is a loss of the
 * network: `capture check` does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/capture/capture_file.h"
#include "cmd/cmd.h"
#include "reports/rules/flow_verdict.h"

#define FLOWS_SCHEMA "rocecheck.flows/1"
#define COLUMNS_MAX  100

/* Index of the DSCP or ECN codepoint with the most packets; sets `more` if there are others. */
static unsigned int flow_main_mark(const uint64_t *packets, unsigned int count, bool *more)
{
	unsigned int main_mark = index_of_largest(packets, count, count);

	*more = packets[index_of_largest(packets, count, main_mark)] != 0;
	return main_mark;
}

/* All signs below the line of the flow, wrapped between two of them. */
static void flow_print_signs(const char *text)
{
	int column = printf("   ");

	while (*text) {
		size_t length = strcspn(text, ",");

		length += text[length] == ',';
		if (column + 1 + (int)length > COLUMNS_MAX)
			column = printf("\n   ") - 1;
		column += printf(" %.*s", (int)length, text);
		text += length;
		text += *text == ' ';
	}
	putchar('\n');
}

static void flow_print_line(const struct flow *f, enum capture_drops drops)
{
	static const char *const ecn_words[] = {"none", "ECT1", "ECT0", "CE"};
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], frames[48], marks[24], text[512];
	bool dscps, ecns;
	unsigned int dscp = flow_main_mark(f->dscp, ARRAY_SIZE(f->dscp), &dscps);
	unsigned int ecn = flow_main_mark(f->ecn, ARRAY_SIZE(f->ecn), &ecns);
	const struct flow_sign *worst = flow_verdict(f);

	packet_addr_text(f->src, src, sizeof(src));
	packet_addr_text(f->dst, dst, sizeof(dst));
	snprintf(frames, sizeof(frames), "%" PRIu64 "-%" PRIu64, f->first_frame, f->last_frame);
	snprintf(marks, sizeof(marks), "%u%s", dscp, dscps ? "+" : "");
	printf("%-16s %-15s %-15s 0x%06x %7" PRIu64 " %10" PRIu64 " %-11s %4s %s%s\n",
	       worst ? worst->text : "clean", src, dst, f->dest_qpn, f->packets, f->payload_bytes,
	       frames, marks, ecn_words[ecn], ecns ? "+" : "");
	flow_verdict_text(f, drops, text, sizeof(text));
	if (worst)
		flow_print_signs(text);
}

static int flows_print_text(const struct capture_summary *s)
{
	if (!s->flow_count) {
		puts("no RoCE flow in this file");
		return EXIT_OK;
	}
	printf("%-16s %-15s %-15s %-8s %7s %10s %-11s %4s %s\n", "verdict", "sender", "receiver",
	       "QP", "packets", "bytes", "frames", "DSCP", "ECN");
	for (unsigned int i = 0; i < s->flow_count; i++)
		flow_print_line(&s->flow[i], s->drops);
	puts("\nflow: the packets from one sender to one QP of the receiver. verdict: the most "
	     "serious sign;\nthe line below has all signs. bytes: payload. frames: the first and "
	     "the last. DSCP, ECN: of most\npackets; +: other packets differ. CNP: congestion "
	     "notification. RNR: receiver not ready.\nPSN lost: captured only as a "
	     "retransmission. retransmission: a packet that was captured before.");
	if (s->totals.evicted_flows)
		printf("note: %" PRIu64 " idle flows evicted (raise --max-flows)\n",
		       s->totals.evicted_flows);
	return EXIT_OK;
}

static bool flow_add_verdict(json_t *flow, const struct flow *f, enum capture_drops drops)
{
	const struct flow_sign *worst = flow_verdict(f);
	json_t *word = json_string(worst ? worst->word : "clean");
	char text[512];

	flow_verdict_text(f, drops, text, sizeof(text));
	return json_object_set_new(flow, "verdict", word) == 0 &&
	       json_object_set_new(flow, "verdict_text", json_string(text)) == 0;
}

/* The document of `capture stats --json`, with a verdict for each flow. */
static json_t *flows_to_json(const struct capture_summary *s)
{
	json_t *summary = capture_summary_to_json(s), *flows = json_object_get(summary, "flows");
	bool ok = json_array_size(flows) == s->flow_count;
	json_t *doc;

	for (unsigned int i = 0; ok && i < s->flow_count; i++)
		ok = flow_add_verdict(json_array_get(flows, i), &s->flow[i], s->drops);
	doc = ok ? json_pack("{s:s, s:O, s:O, s:O, s:I}", "schema", FLOWS_SCHEMA, "drops",
			     json_object_get(summary, "drops"), "totals",
			     json_object_get(summary, "totals"), "flows", flows, "evicted_flows",
			     (json_int_t)s->totals.evicted_flows)
		 : NULL;
	json_decref(summary);
	return doc;
}

static int run_flows(int argc, char **argv)
{
	struct progress progress = progress_begin(PROGRESS_TOTALS, globals->quiet);
	struct capture_summary summary;
	struct err e = {0}, broken = {0};
	const struct packet *p;
	struct reader r;
	int code, got;

	if (argc != 1)
		return cmd_usage(&cmd_capture_flows, "expected one FILE (- for standard input)");
	code = capture_file_open(argv[0], &r);
	if (code)
		return code;
	while ((got = reader_next(&r, -1, &p, &broken)) > 0)
		progress_step(&progress, &r);
	progress_end(&progress);
	if (reader_summary(&r, &summary)) {
		reader_clear(&r);
		err_sys(&e, -ENOMEM, "capture");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	reader_clear(&r);
	code = globals->json ? cmd_print_json(flows_to_json(&summary)) : flows_print_text(&summary);
	capture_summary_clear(&summary);
	fflush(stdout); /* before the error on stderr; main() checks the result */
	return got < 0 ? cmd_worse(code, cmd_fail(EXIT_USAGE, &broken)) : code;
}

const struct command cmd_capture_flows = {
	.name = "capture flows",
	.args = "FILE",
	.help = "print one line with a verdict for each flow of a capture file",
	.opts = capture_file_opts,
	.run = run_flows,
};
