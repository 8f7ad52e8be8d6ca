/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report for people: the verdict, what leads with its evidence and what it caused,
 * a table of ports, and everything that was not judged with its reason. Colour repeats what words
 * say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/record/run_tcp.h"
#include "profiles/base/text.h"
#include "reports/engine/finding_sort.h"
#include "reports/rules/app_env.h"
#include "reports/write/writer.h"

#define SUBJECTS_SHOWN 6 /* ports named in a line that many share */
#define SKIPPED_A_LINE 7 /* rules */
#define CAUSED_SHOWN   8 /* consequences of one cause that are told */

/* One document being written. */
struct page {
	const struct report *r;
	const struct findings *f;
	struct finding_order order, hosts;
	FILE *out;
};

static const char *text_colour_of(enum verdict v)
{
	static const char *const colours[] = {
		[VERDICT_PASS] = TEXT_GREEN,	    [VERDICT_SKIP] = TEXT_DIM,
		[VERDICT_INCONCLUSIVE] = TEXT_CYAN, [VERDICT_WARN] = TEXT_YELLOW,
		[VERDICT_FAIL] = TEXT_RED,
	};

	return colours[v];
}

static void write_coloured(const struct page *p, enum verdict v, const char *word)
{
	if (p->r->colour)
		fprintf(p->out, "%s%s" TEXT_RESET, text_colour_of(v), word);
	else
		fputs(word, p->out);
}

static void write_host_port(const struct page *p, const struct finding *f)
{
	text_print(p->out, f->host[0] ? f->host : "fabric", TEXT_FIELD);
	if (f->port[0])
		fputc(' ', p->out);
	text_print(p->out, f->port, TEXT_FIELD);
}

/* What went beside the RDMA of all pairs, added up. */
static void write_tcp(const struct page *p)
{
	const struct run *run = p->r->run;

	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX; i++) {
		struct run_tcp all = {.asked = {.streams = 0}};
		unsigned int pairs = 0;
		char text[200];

		for (unsigned int k = 0; k < run->pair_count; k++)
			if (i < run->pair[k].tcp_count && run->pair[k].ran) {
				run_tcp_add(&all, &run->pair[k].tcp[i]);
				pairs++;
			}
		if (!pairs)
			continue;
		run_tcp_text(&all, i, text, sizeof(text));
		fprintf(p->out, "      beside RDMA, in %u pair%s: %s\n", pairs,
			pairs == 1 ? "" : "s", text);
	}
}

static void write_run(const struct page *p)
{
	const struct profile *profile = &p->r->fabric->profile;

	text_print(p->out, p->r->fabric->name[0] ? p->r->fabric->name : "fabric", TEXT_FIELD);
	fputs(", profile ", p->out);
	text_print(p->out, profile->name, TEXT_FIELD);
	fprintf(p->out, " (%s), %u hosts, run ", profile_intent_word(profile->intent),
		p->r->run->host_count);
	text_print(p->out, p->r->run->id, TEXT_FIELD);
	fputc('\n', p->out);
	if (!p->r->run->traffic)
		fputs("      configuration alone: no traffic was run\n", p->out);
	write_tcp(p);
}

static void write_host(const struct page *p)
{
	const struct profile *profile = &p->r->fabric->profile;
	const struct snapshot *s = &p->r->run->host[0].before;

	text_print(p->out, s->host, TEXT_FIELD);
	fputs(", kernel ", p->out);
	text_print(p->out, s->kernel[0] ? s->kernel : "unknown", TEXT_FIELD);
	fputs(", rdma-core ", p->out);
	text_print(p->out, s->rdma_core[0] ? s->rdma_core : "unknown", TEXT_FIELD);
	fputs(profile->name[0] ? ", profile " : ", no profile", p->out);
	text_print(p->out, profile->name, TEXT_FIELD);
	if (profile->name[0])
		fprintf(p->out, " (%s)", profile_intent_word(profile->intent));
	fputc('\n', p->out);
}

static void write_verdict(const struct page *p)
{
	static const enum verdict as[] = {
		[0] = VERDICT_PASS, [1] = VERDICT_FAIL, [4] = VERDICT_INCONCLUSIVE};
	unsigned int code = (unsigned int)p->r->exit_code;

	write_coloured(p, code < ARRAY_SIZE(as) ? as[code] : VERDICT_FAIL, report_verdict(p->r));
	fputs("  ", p->out);
	if (p->r->capture) {
		fputs("capture ", p->out);
		text_print(p->out, p->r->capture, TEXT_FIELD);
		fputc('\n', p->out);
	} else if (p->r->alone) {
		write_host(p);
	} else {
		write_run(p);
	}
}

static void write_line(const struct page *p, const char *label, const char *text)
{
	fprintf(p->out, "      %-7s ", label);
	text_print(p->out, text, TEXT_FIELD);
	fputc('\n', p->out);
}

static void write_evidence(const struct page *p, const struct finding *f)
{
	for (unsigned int i = 0; i < f->evidence_count; i++) {
		fprintf(p->out, "      [%c] ", f->evidence[i].kind);
		text_print(p->out, f->evidence[i].text, TEXT_FIELD);
		fputc('\n', p->out);
	}
}

static void write_heading(const struct page *p, const struct finding *f)
{
	char prios[64];

	write_coloured(p, f->verdict, verdict_word(f->verdict));
	fprintf(p->out, "  %s  ", f->rule->id);
	write_host_port(p, f);
	if (f->prio_set) {
		qos_prio_set_text(f->prio_set, prios, sizeof(prios));
		fprintf(p->out, " prio %s", prios);
	}
	fputs(": ", p->out);
	text_print(p->out, f->text, TEXT_FIELD);
	fputc('\n', p->out);
}

/* The kinds of evidence a finding stands on, each once: "[HK]". */
static void write_evidence_kinds(const struct page *p, const struct finding *f)
{
	char kinds[8] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < f->evidence_count && used < sizeof(kinds) - 1; i++) {
		if (strchr(kinds, f->evidence[i].kind))
			continue;
		kinds[used++] = f->evidence[i].kind;
		kinds[used] = '\0';
	}
	if (used)
		fprintf(p->out, " [%s]", kinds);
}

/* What the finding at this place of the order explains: they follow it. One line each, because they
 * are the same fault seen by other evidence. */
static void write_caused(const struct page *p, size_t place)
{
	size_t lead = p->order.at[place], n = 0, i;

	for (i = place + 1; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->caused_by < 0 || (size_t)f->caused_by != lead)
			break;
		if (n++ >= CAUSED_SHOWN)
			continue;
		fprintf(p->out, "      %-6s  %s ", n == 1 ? "caused" : "", f->rule->id);
		write_host_port(p, f);
		fputs(": ", p->out);
		text_print(p->out, f->text, TEXT_FIELD);
		write_evidence_kinds(p, f);
		fputc('\n', p->out);
	}
	if (n > CAUSED_SHOWN)
		fprintf(p->out, "              and %zu more\n", n - CAUSED_SHOWN);
}

static void write_lead(const struct page *p, size_t place)
{
	const struct finding *f = &p->f->list[p->order.at[place]];

	fputc('\n', p->out);
	write_heading(p, f);
	fprintf(p->out, "      %s\n", f->rule->title);
	write_evidence(p, f);
	if (f->expected_path[0]) {
		fputs("      wish    ", p->out);
		text_print(p->out, f->expected_path, TEXT_FIELD);
		fprintf(p->out, ":%d\n", f->expected_line);
	}
	write_line(p, "do", f->rule->advice);
	write_caused(p, place);
}

static void write_violations(const struct page *p)
{
	for (size_t i = 0; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (finding_violated(f) && f->caused_by < 0)
			write_lead(p, i);
	}
}

/* Findings of one port by verdict, and those without evidence that gate. */
struct tally {
	size_t by[VERDICT_FAIL + 1];
	size_t blocking;
};

static struct tally text_tally_port(const struct page *p, const char *host, const char *port)
{
	struct tally t = {{0}, 0};
	size_t end, at = finding_order_host(&p->hosts, p->f, host, &end);

	for (; at < end; at++) {
		const struct finding *f = &p->f->list[p->hosts.at[at]];

		if (f->port[0] && strcmp(f->port, port))
			continue;
		t.by[f->verdict]++;
		t.blocking += finding_blocks(f, p->r->allow, p->r->allow_count);
	}
	return t;
}

static enum verdict text_worst_verdict(const struct tally *t)
{
	if (t->by[VERDICT_FAIL])
		return VERDICT_FAIL;
	if (t->blocking)
		return VERDICT_INCONCLUSIVE;
	return t->by[VERDICT_WARN] ? VERDICT_WARN : VERDICT_PASS;
}

static void write_port_row(const struct page *p, const struct run_host *h, const char *name)
{
	const struct port *port = h->has_before && name[0] ? snapshot_port(&h->before, name) : NULL;
	struct tally t = text_tally_port(p, h->name, name);
	char *host = text_copy(h->name, TEXT_FIELD), *netdev = text_copy(name, TEXT_FIELD);
	char *ibdev = text_copy(port && port->ibdev[0] ? port->ibdev : "-", TEXT_FIELD);
	char mtu[16] = "-";

	if (port && port->active_mtu)
		snprintf(mtu, sizeof(mtu), "%u", port->active_mtu);
	fprintf(p->out, "%-16s %-15s %-12s %6s %5zu %5zu %5zu %5zu  ", host ? host : "?",
		netdev && netdev[0] ? netdev : "-", ibdev ? ibdev : "?", mtu, t.by[VERDICT_PASS],
		t.by[VERDICT_WARN], t.by[VERDICT_FAIL], t.by[VERDICT_INCONCLUSIVE]);
	write_coloured(p, text_worst_verdict(&t), verdict_word(text_worst_verdict(&t)));
	fputc('\n', p->out);
	free(host);
	free(netdev);
	free(ibdev);
}

static void write_port_table(const struct page *p)
{
	fprintf(p->out, "\n%-16s %-15s %-12s %6s %5s %5s %5s %5s  %s\n", "HOST", "PORT", "DEVICE",
		"IB MTU", "PASS", "WARN", "FAIL", "OPEN", "VERDICT");
	for (unsigned int i = 0; i < p->r->run->host_count; i++) {
		const struct run_host *h = &p->r->run->host[i];

		for (unsigned int k = 0; k < h->port_count; k++)
			write_port_row(p, h, h->port[k].netdev);
		for (unsigned int k = 0; !h->port_count && k < h->before.port_count; k++)
			write_port_row(p, h, h->before.port[k].netdev);
		if (!h->port_count && !h->before.port_count)
			write_port_row(p, h, "");
	}
}

static bool text_same_finding(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->verdict == b->verdict && a->text && b->text &&
	       !strcmp(a->text, b->text);
}

static bool text_is_allowed(const struct report *r, const struct finding *f)
{
	return finding_blocks(f, NULL, 0) && !finding_blocks(f, r->allow, r->allow_count);
}

/* One line for neighbours in the order that say the same. Returns how many. */
static size_t write_group(const struct page *p, size_t place)
{
	const struct finding *first = &p->f->list[p->order.at[place]];
	size_t count = 0;

	fprintf(p->out, "  %s  ", first->rule->id);
	while (place + count < p->order.count) {
		const struct finding *f = &p->f->list[p->order.at[place + count]];

		if (!text_same_finding(first, f))
			break;
		if (count < SUBJECTS_SHOWN) {
			fputs(count ? ", " : "", p->out);
			write_host_port(p, f);
		}
		count++;
	}
	if (count > SUBJECTS_SHOWN)
		fprintf(p->out, " and %zu more", count - SUBJECTS_SHOWN);
	fputs(": ", p->out);
	text_print(p->out, first->text, TEXT_FIELD);
	if (finding_blocks(first, p->r->allow, p->r->allow_count))
		fputs(" [gates]", p->out);
	else if (text_is_allowed(p->r, first))
		fputs(" [allowed]", p->out);
	fputc('\n', p->out);
	return count ? count : 1;
}

static void write_list(const struct page *p, enum verdict v, const char *title)
{
	bool titled = false;

	for (size_t i = 0; i < p->order.count;) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->verdict != v) {
			i++;
			continue;
		}
		if (!titled)
			fprintf(p->out, "\n%s\n", title);
		titled = true;
		i += write_group(p, i);
	}
}

/* Whether an earlier finding of the order was a SKIP for the same reason (and by the same rule). */
static bool text_skipped_before(const struct page *p, size_t place, bool same_rule)
{
	const struct finding *f = &p->f->list[p->order.at[place]];

	for (size_t i = 0; i < place; i++) {
		const struct finding *other = &p->f->list[p->order.at[i]];

		if (other->verdict == VERDICT_SKIP && !strcmp(other->text, f->text) &&
		    (!same_rule || other->rule == f->rule))
			return true;
	}
	return false;
}

/* The rules that are skipped for the reason of the finding at this place, and the reason. */
static void write_skip(const struct page *p, size_t place)
{
	const char *text = p->f->list[p->order.at[place]].text;
	unsigned int n = 0;

	for (size_t i = place; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->verdict != VERDICT_SKIP || strcmp(f->text, text) ||
		    text_skipped_before(p, i, true))
			continue;
		fputs(n % SKIPPED_A_LINE ? " " : n ? "\n  " : "  ", p->out);
		fputs(f->rule->id, p->out);
		n++;
	}
	fputs(n > 1 ? ":\n      " : "  ", p->out);
	text_print(p->out, text, TEXT_FIELD);
	fputc('\n', p->out);
}

/* Of one host the reasons say more than the ports: most rules that are skipped share one. */
static void write_skips(const struct page *p)
{
	bool titled = false;

	for (size_t i = 0; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->verdict != VERDICT_SKIP || text_skipped_before(p, i, false))
			continue;
		if (!titled)
			fputs("\nDoes not apply here:\n", p->out);
		titled = true;
		write_skip(p, i);
	}
}

static void write_passes(const struct page *p)
{
	for (size_t i = 0; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->verdict != VERDICT_PASS)
			continue;
		write_heading(p, f);
		write_evidence(p, f);
	}
}

static void write_totals(const struct page *p)
{
	size_t fail = verdict_count(p->f, VERDICT_FAIL), warn = verdict_count(p->f, VERDICT_WARN);

	fprintf(p->out,
		"\n%zu judgements: %zu pass, %zu fail, %zu warn (%zu of these lead), "
		"%zu inconclusive, %zu skip. exit %d\n",
		p->f->count, verdict_count(p->f, VERDICT_PASS), fail, warn, leading_count(p->f),
		verdict_count(p->f, VERDICT_INCONCLUSIVE), verdict_count(p->f, VERDICT_SKIP),
		p->r->exit_code);
}

static void write_page(const struct page *p)
{
	write_verdict(p);
	write_violations(p);
	if (!p->r->capture)
		write_port_table(p);
	write_list(p, VERDICT_INCONCLUSIVE, "Not judged, the evidence was not there:");
	if (p->r->alone)
		write_skips(p);
	else
		write_list(p, VERDICT_SKIP, "Does not apply here:");
	if (p->r->verbose) {
		fputc('\n', p->out);
		write_passes(p);
	}
	if (p->r->environment) {
		fputs("\nEnvironment for applications:\n", p->out);
		app_env_print(p->r->environment, p->out);
	}
	write_totals(p);
}

int write_text(const struct report *r, FILE *out, struct err *e)
{
	struct page page = {.r = r, .f = r->findings};
	char *document = NULL;
	size_t size = 0;
	int err = findings_sort(r->findings, &page.order);

	if (!err)
		err = findings_sort_by_host(r->findings, &page.hosts);
	page.out = err ? NULL : open_memstream(&document, &size);
	if (page.out) {
		write_page(&page);
		err = ferror(page.out) ? -ENOMEM : 0;
		if (fclose(page.out))
			err = -ENOMEM;
	}
	if (!page.out || err)
		err = err_sys(e, -ENOMEM, "report");
	else
		err = writer_emit(out, document, size, e);
	free(document);
	finding_order_clear(&page.order);
	finding_order_clear(&page.hosts);
	return err;
}
