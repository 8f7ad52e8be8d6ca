/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the result of a probe for people, and the plan for `probe client --explain`.
 */
#include "cmd/probe/probe_text.h"

#include <inttypes.h>
#include <string.h>

#include "capture/decode/packet.h"
#include "cmd/glossary.h"
#include "probe/coord/pair_sizes.h"
#include "probe/record/run_port.h"
#include "probe/traffic/traffic_words.h"
#include "reports/traffic/probe_verdict.h"
#include "reports/traffic/traffic_verdict.h"

void probe_bytes_text(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	double value = (double)bytes;
	size_t i = 0;

	while (value >= 1000 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		i++;
	}
	snprintf(buf, size, i ? "%.2f %s" : "%.0f %s", value, units[i]);
}

/* "64 KiB": binary units, for message sizes. */
static void probe_size_text(uint64_t bytes, char *buf, size_t size)
{
	if (bytes && !(bytes % (1u << 20)))
		snprintf(buf, size, "%" PRIu64 " MiB", bytes >> 20);
	else if (bytes && !(bytes % 1024))
		snprintf(buf, size, "%" PRIu64 " KiB", bytes >> 10);
	else
		snprintf(buf, size, "%" PRIu64 " B", bytes);
}

/* "12.3 us" */
static void probe_time_text(uint64_t ns, char *buf, size_t size)
{
	if (ns < 10000000)
		snprintf(buf, size, "%.1f us", (double)ns / 1e3);
	else if (ns < UINT64_C(10000000000))
		snprintf(buf, size, "%.1f ms", (double)ns / 1e6);
	else
		snprintf(buf, size, "%.1f s", (double)ns / 1e9);
}

static void probe_upper_text(const char *word, char *buf, size_t size)
{
	size_t i;

	for (i = 0; word[i] && i < size - 1; i++)
		buf[i] = word[i] == '_' ? ' ' : word[i] & ~0x20;
	buf[i] = '\0';
}

void probe_class_text(const struct traffic_class *c, char *buf, size_t size)
{
	char transport[16], verb[16], bytes[32], rate[48] = "no rate limit", direction[24] = "",
						 count[40] = "";

	probe_upper_text(traffic_transport_word(c->transport), transport, sizeof(transport));
	probe_upper_text(traffic_verb_word(c->verb), verb, sizeof(verb));
	probe_size_text(c->message_bytes, bytes, sizeof(bytes));
	if (c->rate_bytes_per_s)
		traffic_rate_text((double)c->rate_bytes_per_s, rate, sizeof(rate));
	if (c->direction != TRAFFIC_FORWARD)
		snprintf(direction, sizeof(direction), ", %s",
			 c->direction == TRAFFIC_BOTH ? "both directions" : "backward");
	if (c->count)
		snprintf(count, sizeof(count), ", %" PRIu64 " messages per QP", c->count);
	snprintf(buf, size, "%s%s %s, %u QP%s, %s%s%s, %s, ToS %u (DSCP %u), check: %s",
		 c->probe ? "latency, " : "", transport, verb, c->qps, plural(c->qps), bytes, count,
		 direction, c->probe ? "one at a time" : rate, c->tos, c->tos >> 2,
		 traffic_check_word(c->check));
}

static void probe_print_side(const struct pair *t, enum run_side side, FILE *out)
{
	const struct run_host *h = &t->run.host[side];
	const struct port *p = t->ends.port[side];
	char gid[64];

	packet_addr_text(t->ends.gid[side]->raw, gid, sizeof(gid));
	fprintf(out, "%s  %s: %s port %u on %s, %s at GID %u, MTU %u, %s%s%s, Linux %s\n",
		run_side_word(side), h->name, p->ibdev, p->ib_port, p->netdev, gid,
		t->ends.gid[side]->index, p->active_mtu, p->rdma_driver, *p->firmware ? " " : "",
		p->firmware, h->before.kernel);
}

/* Columns: bytes, bytes per second, bits per second. */
#define MOVED_TEXT 112
static void probe_moved_text(uint64_t bytes, uint64_t ns, char buf[MOVED_TEXT])
{
	uint64_t per_s = rate_per_s(bytes, ns);
	char sum[32], rate[32], bits[32];

	probe_bytes_text(bytes, sum, sizeof(sum));
	probe_bytes_text(per_s, rate, sizeof(rate));
	traffic_rate_text((double)per_s, bits, sizeof(bits));
	snprintf(buf, MOVED_TEXT, "%12s  %12s/s  %12s", sum, rate, bits);
}

static void probe_print_rate(const char *what, uint64_t messages, uint64_t bytes, uint64_t ns,
			     FILE *out)
{
	double seconds = ns ? (double)ns / 1e9 : 1; /* without a time there is no rate */
	char moved[MOVED_TEXT];

	probe_moved_text(bytes, ns, moved);
	fprintf(out, "    %-9s %12" PRIu64 " messages  %s  %9.0f messages/s\n", what, messages,
		moved, ns ? (double)messages / seconds : 0);
}

static void probe_print_latency(const struct histogram *h, bool probe, FILE *out)
{
	static const struct {
		const char *name;
		unsigned int p;
	} ranks[] = {
		{"p50", HISTOGRAM_P50},	    {"p90", HISTOGRAM_P90}, {"p99", HISTOGRAM_P99},
		{"p99.9", HISTOGRAM_P99_9}, {"max", 10000},
	};
	char text[32];

	if (!h->count)
		return;
	probe_time_text(h->min_ns, text, sizeof(text));
	fprintf(out, "    %-9s min %s", probe ? "RTT" : "latency", text);
	for (size_t i = 0; i < ARRAY_SIZE(ranks); i++) {
		probe_time_text(histogram_percentile(h, ranks[i].p), text, sizeof(text));
		fprintf(out, ", %s %s", ranks[i].name, text);
	}
	fprintf(out, " (%" PRIu64 " samples)\n", h->count);
}

static void probe_print_goodput(const struct rate_series *v, FILE *out)
{
	char least[32], median[32], most[32];
	struct rate_series_stats s;

	if (!v->width_ns || !v->slots)
		return;
	rate_series_stats(v, &s);
	probe_bytes_text(s.min, least, sizeof(least));
	probe_bytes_text(s.median, median, sizeof(median));
	probe_bytes_text(s.max, most, sizeof(most));
	fprintf(out, "    %-9s min %s/s (at %.1f s), median %s/s, max %s/s, per %.1f s interval\n",
		"goodput", least, (double)s.min_at_ns / 1e9, median, most,
		(double)s.width_ns / 1e9);
}

static void probe_print_class_side(const struct pair *t, enum run_side side, unsigned int i,
				   FILE *out)
{
	const struct run_end *end = pair_end(t, side);
	const struct traffic_report *r = &end->report;
	const struct traffic_class_result *c = i < r->class_count ? &r->class[i] : NULL;
	uint64_t ns = r->total.duration_ns;

	if (!end->has_report || !c) {
		fprintf(out, "  %s: no report\n", run_side_word(side));
		return;
	}
	fprintf(out, "  %s\n", run_side_word(side));
	if (c->messages)
		probe_print_rate("sent", c->messages, c->bytes, ns, out);
	if (c->arrived)
		probe_print_rate("arrived", c->arrived, c->arrived_bytes, ns, out);
	if (c->checked_bytes || c->mismatches || c->gaps || c->reordered || c->losses) {
		char sum[32];

		probe_bytes_text(c->checked_bytes, sum, sizeof(sum));
		fprintf(out,
			"    checked   %s, %" PRIu64 " wrong, %" PRIu64 " missing, %" PRIu64
			" out of order, %" PRIu64 " losses\n",
			sum, c->mismatches, c->gaps, c->reordered, c->losses);
	}
	if (c->tos_other)
		fprintf(out,
			"    ToS       %" PRIu64 ", not as requested, on %" PRIu64 " of %" PRIu64
			" queue pairs\n",
			c->tos_found, c->tos_other, c->tos_read);
	else if (c->tos_read)
		fprintf(out, "    ToS       as requested on %" PRIu64 " queue pairs\n",
			c->tos_read);
	if (!end->spec.class[i].probe && c->messages + c->arrived)
		probe_print_goodput(&c->goodput, out);
	probe_print_latency(&c->latency, end->spec.class[i].probe, out);
}

static void probe_print_tcp_side(const struct pair *t, enum run_side side, unsigned int i,
				 FILE *out)
{
	const struct run_end *end = pair_end(t, side);
	const struct traffic_report *r = &end->report;
	const struct traffic_tcp_result *c = i < r->tcp_count ? &r->tcp[i] : NULL;
	char moved[MOVED_TEXT];

	if (!end->has_report || !c) {
		fprintf(out, "  %s: no report\n", run_side_word(side));
		return;
	}
	fprintf(out, "  %s, DSCP %u\n", run_side_word(side), c->tos_sent >> 2);
	if (c->sent_bytes || !c->arrived_bytes) {
		probe_moved_text(c->sent_bytes, c->duration_ns, moved);
		fprintf(out, "    %-9s %s  %" PRIu64 " segments retransmitted\n", "sent", moved,
			c->retransmits);
	}
	if (c->arrived_bytes) {
		probe_moved_text(c->arrived_bytes, c->duration_ns, moved);
		fprintf(out, "    %-9s %s\n", "arrived", moved);
		probe_print_goodput(&c->goodput, out);
	}
	if (c->broken)
		fprintf(out, "    failed    %u of %u streams: %s\n", c->broken,
			end->spec.tcp[i].streams, c->detail);
}

static void probe_print_tcp(const struct pair *t, FILE *out)
{
	const struct traffic_spec *spec = &pair_end(t, SIDE_CLIENT)->spec;

	for (unsigned int i = 0; i < spec->tcp_count; i++) {
		char text[200];

		traffic_tcp_text(&spec->tcp[i], text, sizeof(text));
		fprintf(out, "TCP %u    %s\n", i, text);
		for (unsigned int k = 0; t->ran && k < SIDES; k++)
			probe_print_tcp_side(t, (enum run_side)k, i, out);
	}
}

static void probe_print_failures(const struct pair *t, enum run_side side, FILE *out)
{
	const struct run_end *end = pair_end(t, side);
	const struct traffic_report *r = &end->report;

	if (!end->has_report || t->sweep)
		return;
	if (r->total.cause != CAUSE_NONE)
		fprintf(out, "%s ended by %s: %s\n", run_side_word(side),
			traffic_cause_word(r->total.cause), r->total.detail);
	for (unsigned int i = 0; i < r->failure_count && i < TRAFFIC_FAILURES_MAX; i++) {
		const struct traffic_failure *f = &r->failure[i];

		fprintf(out,
			"%s class %u QP %u: %s at %.3f s, message %" PRIu64
			" (status %u, vendor 0x%x)%s\n",
			run_side_word(side), f->class, f->qp, traffic_cause_word(f->cause),
			(double)f->when_ns / 1e9, f->sequence, f->status, f->vendor_err,
			f->recovered ? ", reconnected" : "");
	}
	for (unsigned int i = 0; i < r->stall_count; i++) {
		fprintf(out, "%s class %u QP %u ", run_side_word(side),
			(unsigned int)r->stall[i].class, (unsigned int)r->stall[i].qp);
		traffic_stall_print(&r->stall[i], out);
		fputc('\n', out);
	}
}

/* Prints a counter that changed on either host, per priority where the counter has priorities. */
static void probe_print_counter(const struct counters delta[2 * SIDES], enum metric m,
				unsigned int prio, FILE *out)
{
	const struct metric_info *info = &metric_table[m];
	bool moved = false;

	for (unsigned int i = 0; i < 2 * SIDES; i++)
		moved = moved || (counters_has(&delta[i], m, prio) && delta[i].value[m][prio]);
	if (!moved)
		return;
	fprintf(out, "  %-24s", info->name);
	fprintf(out, info->by_prio ? " %u " : "   ", prio);
	for (unsigned int i = 0; i < 2 * SIDES; i++) {
		if (counters_has(&delta[i], m, prio))
			fprintf(out, " %14" PRIu64, delta[i].value[m][prio]);
		else
			fprintf(out, " %14s", "not counted");
	}
	fputc('\n', out);
}

static void probe_print_counters(const struct pair *t, FILE *out)
{
	struct counters delta[2 * SIDES];

	for (unsigned int i = 0; i < SIDES; i++) {
		counters_clear(&delta[i]);
		counters_clear(&delta[SIDES + i]);
		(void)run_port_delta(&t->run.host[i].port[0], READ_LOAD_BEFORE, &delta[i], NULL);
		(void)run_port_delta(&t->run.host[i].port[0], READ_QUIET_BEFORE, &delta[SIDES + i],
				     NULL);
	}
	fprintf(out, "counter increases             %14s %14s %14s %14s\n", "client", "server",
		"idle client", "idle server");
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		for (unsigned int prio = 0; prio < (metric_table[m].by_prio ? QOS_PRIOS : 1);
		     prio++)
			probe_print_counter(delta, (enum metric)m, prio, out);
}

static void probe_print_memory(const struct pair *t, enum run_side side, FILE *out)
{
	const struct traffic_memory *m = pair_memory(t, side);
	const struct traffic_spec *spec = &pair_end(t, side)->spec;
	char text[320], bytes[32], time[32];

	if (!m)
		return;
	traffic_memory_gpu(m, spec->ibdev, text, sizeof(text));
	probe_bytes_text(m->bytes, bytes, sizeof(bytes));
	probe_time_text(m->registration_ns, time, sizeof(time));
	fprintf(out, "memory  %s: %s in %s%s, registered in %s\n        %s\n", run_side_word(side),
		bytes, traffic_memory_pages(m),
		spec->huge_pages && m->huge_bytes < m->bytes ? " (too few huge pages are free)"
							     : "",
		time, text);
}

static void probe_print_findings(const struct marking_findings *found,
				 enum marking_direction direction, FILE *out)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < found->count; i++) {
		const struct marking_finding *f = &found->finding[i];
		char text[320];

		if (f->direction != direction)
			continue;
		marking_finding_text(f, text, sizeof(text));
		fprintf(out, "  %s\n", text);
		count++;
	}
	if (!count)
		fprintf(out, "  %s: all datagrams arrived unchanged\n",
			marking_direction_word(direction));
}

/* Counts the source ports without loss or change; names each of the others. */
static void probe_print_sweep(const struct marking_endpoints *ends,
			      enum marking_direction direction, FILE *out)
{
	unsigned int good = 0, sweep = ends->spec[SIDE_CLIENT]->sweep;

	for (unsigned int i = 0; i < sweep; i++) {
		struct marking_port p;

		marking_port_make(ends, direction, i, &p);
		good += !strcmp(marking_port_word(&p), "arrived");
	}
	fprintf(out, "sweep    %s: %u of %u source ports without loss or change\n",
		marking_direction_word(direction), good, sweep);
	for (unsigned int i = 0; i < sweep && good < sweep; i++) {
		struct marking_port p;

		marking_port_make(ends, direction, i, &p);
		if (strcmp(marking_port_word(&p), "arrived"))
			fprintf(out,
				"  0x%04x  %s: %" PRIu32 " of %" PRIu32 " arrived, %" PRIu32
				" with changed marking\n",
				p.port, marking_port_word(&p), p.arrived, p.sent, p.marked);
	}
}

static void probe_print_mtu(const struct marking_endpoints *ends, enum marking_direction direction,
			    FILE *out)
{
	uint32_t bytes = marking_path_mtu(ends, direction);
	const struct marking_result *const *r = ends->result;

	fprintf(out, "path MTU %s: ", marking_direction_word(direction));
	if (bytes)
		fprintf(out, "%" PRIu32 " bytes", bytes);
	else
		fprintf(out, "not measured");
	if (r[SIDE_CLIENT] && r[SIDE_SERVER])
		fprintf(out, " (RDMA MTU: client %" PRIu32 ", server %" PRIu32 ")",
			r[SIDE_CLIENT]->mtu, r[SIDE_SERVER]->mtu);
	fputc('\n', out);
}

static void probe_print_marking(const struct pair_marking *x, FILE *out)
{
	struct marking_findings found;
	struct marking_endpoints ends;
	struct err e = {0};

	pair_marking_ends(x, &ends);
	fprintf(out, "marking  %u class%s, %u UDP source ports, %u datagrams per port\n",
		x->spec[0].class_count, x->spec[0].class_count == 1 ? "" : "es",
		marking_paths(&x->spec[0]), x->spec[0].count);
	if (x->why[0])
		fprintf(out, "  incomplete: %s\n", x->why);
	if (!x->has_result[SIDE_CLIENT])
		return;
	if (marking_findings_make(&ends, &found, &e)) {
		fprintf(out, "  %s\n", e.text);
		return;
	}
	for (unsigned int i = 0; i < MARKING_DIRECTIONS; i++)
		probe_print_findings(&found, (enum marking_direction)i, out);
	for (unsigned int i = 0; i < MARKING_DIRECTIONS; i++)
		probe_print_mtu(&ends, (enum marking_direction)i, out);
	for (unsigned int i = 0; i < MARKING_DIRECTIONS && x->spec[0].sweep; i++)
		probe_print_sweep(&ends, (enum marking_direction)i, out);
}

void probe_print(const struct pair *t, FILE *out)
{
	const struct traffic_spec *spec;

	if (!t->chosen)
		return;
	spec = &pair_end(t, SIDE_CLIENT)->spec;
	for (unsigned int i = 0; i < SIDES; i++)
		probe_print_side(t, (enum run_side)i, out);
	for (unsigned int i = 0; i < SIDES; i++)
		probe_print_memory(t, (enum run_side)i, out);
	for (unsigned int i = 0; i < spec->class_count && !t->sweep; i++) {
		char text[200];

		probe_class_text(&spec->class[i], text, sizeof(text));
		fprintf(out, "class %u  %s\n", i, text);
		for (unsigned int k = 0; t->ran && k < SIDES; k++)
			probe_print_class_side(t, (enum run_side)k, i, out);
	}
	probe_print_tcp(t, out);
	for (unsigned int k = 0; k < SIDES; k++)
		probe_print_failures(t, (enum run_side)k, out);
	if (t->run.traffic)
		probe_print_counters(t, out);
	if (t->echo)
		probe_print_marking(t->echo, out);
	if (t->partial)
		fprintf(out, "partial: %s\n", t->why);
}

static void probe_print_size_row(const struct run_pair *p, const char *verdict, FILE *out)
{
	char size[32], rate[32], p50[32] = "-", p99[32] = "-", checked[32] = "none";
	struct pair_size_sum sum;

	pair_size_sum(p, &sum);
	probe_size_text(p->message_bytes, size, sizeof(size));
	probe_bytes_text(sum.bytes_per_s, rate, sizeof(rate));
	if (sum.checked_bytes)
		probe_bytes_text(sum.checked_bytes, checked, sizeof(checked));
	if (sum.latency.count) {
		probe_time_text(histogram_percentile(&sum.latency, HISTOGRAM_P50), p50,
				sizeof(p50));
		probe_time_text(histogram_percentile(&sum.latency, HISTOGRAM_P99), p99,
				sizeof(p99));
	}
	fprintf(out,
		"%11s %11" PRIu64 " %12s/s %11.0f %11s %11s %10s %7" PRIu64 " %7" PRIu64 "  %s\n",
		size, sum.messages, rate,
		sum.duration_ns ? (double)sum.messages * 1e9 / (double)sum.duration_ns : 0, p50,
		p99, checked, sum.mismatches, sum.gaps + sum.losses, verdict);
}

void probe_print_sizes(const struct pair *t, const struct size_verdicts *v, FILE *out)
{
	char text[200];

	if (!t->size_count)
		return;
	probe_class_text(&t->run.pair[0].ends->side[SIDE_CLIENT].spec.class[0], text, sizeof(text));
	fprintf(out, "class 0  %s, then larger sizes\n", text);
	fprintf(out, "%11s %11s %14s %11s %11s %11s %10s %7s %7s  %s\n", "size", "messages",
		"goodput", "messages/s", "p50", "p99", "checked", "wrong", "lost", "verdict");
	for (unsigned int i = 0; i < t->size_count; i++)
		probe_print_size_row(&t->run.pair[i],
				     v ? verdict_word(v->size[i].v.verdict) : "no verdict", out);
}

/* Terms that `probe client --explain` has printed; each is printed once. */
struct explained {
	const char *word[32];
	unsigned int count;
	FILE *out;
};

static void probe_explain_word(struct explained *t, const char *word)
{
	const char *meaning = glossary_meaning(word);

	for (unsigned int i = 0; i < t->count; i++)
		if (!strcmp(t->word[i], word))
			return;
	if (!meaning || t->count == ARRAY_SIZE(t->word))
		return;
	t->word[t->count++] = word;
	fprintf(t->out, "  %-12s %s.\n", word, meaning);
}

static void probe_explain_class(struct explained *t, const struct traffic_class *c)
{
	probe_explain_word(t, traffic_transport_word(c->transport));
	probe_explain_word(t, traffic_verb_word(c->verb));
	probe_explain_word(t, traffic_direction_word(c->direction));
	if (c->probe)
		probe_explain_word(t, "latency");
	else
		probe_explain_word(t, c->rate_bytes_per_s ? "paced" : "unpaced");
	probe_explain_word(t, traffic_check_word(c->check));
}

void probe_explain_registration(const struct registration *r, const struct err *why, FILE *out)
{
	static const char *const pages[REGISTRATION_KINDS] = {
		[REGISTRATION_HOST] = "host pages",
		[REGISTRATION_HUGE] = "huge pages of 2 MiB",
	};
	char text[320];

	if (why) {
		fprintf(out, "registration  not measured: %s\n", why->text);
		return;
	}
	for (unsigned int i = 0; i < REGISTRATION_KINDS; i++) {
		probe_time_text(r->ns_per_mib[i], text, sizeof(text));
		if (r->ns_per_mib[i])
			fprintf(out, "registration  %s: %s per MiB in %s\n", r->ibdev, text,
				pages[i]);
		else
			fprintf(out, "registration  %s: not measured in %s: %s\n", r->ibdev,
				pages[i], r->why[i]);
	}
	traffic_memory_gpu(&r->memory, r->ibdev, text, sizeof(text));
	fprintf(out, "%s\n", text);
}

static void probe_explain_sizes(const struct pair_request *w, FILE *out)
{
	uint32_t bytes[SIZES_MAX];
	unsigned int n = pair_sizes_list(w->size_from, w->size_to, bytes);
	char from[32], to[32];

	probe_size_text(w->size_from, from, sizeof(from));
	probe_size_text(w->size_to, to, sizeof(to));
	fprintf(out, "sizes    %s to %s: %u runs, one after another\n", from, to, n);
}

void probe_explain(const struct pair_request *w, FILE *out)
{
	struct explained t = {.out = out};

	fprintf(out, "mode %s, %s, %u thread%s per host", traffic_mode_word(w->spec.mode),
		w->spec.bringup == TRAFFIC_CM ? "rdma_cm" : "raw verbs", w->spec.threads,
		plural(w->spec.threads));
	if (w->spec.duration_ms)
		fprintf(out, ", %.1f s", w->spec.duration_ms / 1e3);
	fputc('\n', out);
	for (unsigned int i = 0; i < w->spec.class_count; i++) {
		char text[200], verbs[400];

		probe_class_text(&w->spec.class[i], text, sizeof(text));
		fprintf(out, "class %u  %s\n", i, text);
		traffic_class_verbs(&w->spec.class[i], verbs, sizeof(verbs));
		fprintf(out, "  verbs  %s\n", verbs);
	}
	for (unsigned int i = 0; i < w->spec.tcp_count; i++) {
		char text[200];

		traffic_tcp_text(&w->spec.tcp[i], text, sizeof(text));
		fprintf(out, "TCP %u    %s\n", i, text);
	}
	if (w->size_from)
		probe_explain_sizes(w, out);
	fputs("\n", out);
	probe_explain_word(&t, traffic_mode_word(w->spec.mode));
	probe_explain_word(&t, w->spec.bringup == TRAFFIC_CM ? "cm" : "raw");
	for (unsigned int i = 0; i < w->spec.class_count; i++)
		probe_explain_class(&t, &w->spec.class[i]);
	if (w->spec.tcp_count)
		probe_explain_word(&t, "tcp");
	if (w->size_from)
		probe_explain_word(&t, "sizes");
	probe_explain_word(&t, "verbs");
	probe_explain_word(&t, "memory");
	probe_explain_word(&t, "registration");
	probe_explain_word(&t, "gpu");
	if (w->idle_ms)
		probe_explain_word(&t, "baseline");
	if (w->marking || w->sweep)
		probe_explain_word(&t, "marking");
	if (w->sweep)
		probe_explain_word(&t, "sweep");
}
