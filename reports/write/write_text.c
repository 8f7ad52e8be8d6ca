/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the report for people: verdict and scope, root causes with evidence and consequences, a
 * table of ports, checks without a verdict and their reasons, totals and a legend. Colour only
 * repeats words.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/record/run_tcp.h"
#include "profiles/base/text.h"
#include "reports/engine/finding_sort.h"
#include "reports/engine/findings.h"
#include "reports/rules/app_env.h"
#include "reports/write/writer.h"

#define SUBJECTS_SHOWN	   6 /* ports named in one line */
#define RULES_A_LINE	   7
#define CONSEQUENCES_SHOWN 8 /* of one root cause */

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

/* The TCP background of all pairs, added up. */
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
		fprintf(p->out, "      TCP background, %u pair%s: %s\n", pairs, plural(pairs),
			text);
	}
}

/* Ends the headline with the limits of the verdict: a run without traffic, and for a PASS the rules
 * that lacked evidence, each once. */
static void write_untested(const struct page *p)
{
	const char *separator = p->r->run->traffic ? "; not tested: " : "; no traffic was tested";

	if (!p->r->run->traffic) {
		fputs(separator, p->out);
		separator = "; no evidence for ";
	}
	for (size_t i = 0; !p->r->exit_code && i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];
		size_t k = i;

		while (k > 0 && p->f->list[p->order.at[k - 1]].rule != f->rule)
			k--;
		if (f->verdict != VERDICT_INCONCLUSIVE || k > 0)
			continue;
		fprintf(p->out, "%s%s", separator, f->rule->id);
		separator = ", ";
	}
}

static unsigned int text_port_count(const struct run *run)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < run->host_count; i++)
		n += run->host[i].port_count ? run->host[i].port_count
					     : run->host[i].before.port_count;
	return n;
}

static void write_run(const struct page *p)
{
	unsigned int ports = text_port_count(p->r->run);
	const struct profile *profile = &p->r->fabric->profile;

	text_print(p->out, p->r->fabric->name[0] ? p->r->fabric->name : "fabric", TEXT_FIELD);
	fputs(", profile ", p->out);
	text_print(p->out, profile->name, TEXT_FIELD);
	fprintf(p->out, " (%s), %u host%s, %u port%s, run ", profile_intent_word(profile->intent),
		p->r->run->host_count, plural(p->r->run->host_count), ports, plural(ports));
	text_print(p->out, p->r->run->id, TEXT_FIELD);
	write_untested(p);
	fputc('\n', p->out);
	write_tcp(p);
}

static void write_host(const struct page *p)
{
	const struct profile *profile = &p->r->fabric->profile;
	const struct snapshot *s = &p->r->run->host[0].before;
	unsigned int ports = text_port_count(p->r->run);

	text_print(p->out, s->host, TEXT_FIELD);
	fprintf(p->out, ", %u port%s, kernel ", ports, plural(ports));
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
		write_capture(p->r, p->out);
	} else if (p->r->alone) {
		write_host(p);
	} else {
		write_run(p);
	}
}

static void write_evidence(const struct page *p, const struct finding *f)
{
	for (unsigned int i = 0; i < f->evidence_count; i++) {
		fprintf(p->out, "      [%c] ", f->evidence[i].kind);
		text_print(p->out, f->evidence[i].text, TEXT_FIELD);
		fputc('\n', p->out);
	}
}

/* A missing host or port is a FAIL of its rule, and makes the report INCOMPLETE. */
static enum verdict text_verdict(const struct finding *f)
{
	return finding_is_incomplete(f) ? VERDICT_INCONCLUSIVE : f->verdict;
}

static const char *text_verdict_word(enum verdict v)
{
	return v == VERDICT_INCONCLUSIVE ? "INCOMPLETE" : verdict_word(v);
}

static void write_heading(const struct page *p, const struct finding *f)
{
	char prios[64];

	write_coloured(p, text_verdict(f), text_verdict_word(text_verdict(f)));
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

/* The kinds of evidence of a finding, each once: "[HK]". */
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

/* The consequences of the root cause at this place; they follow it in the order. */
static void write_consequences(const struct page *p, size_t place)
{
	size_t root = p->order.at[place], n = 0, i;

	for (i = place + 1; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->caused_by < 0 || (size_t)f->caused_by != root)
			break;
		if (n++ >= CONSEQUENCES_SHOWN)
			continue;
		fprintf(p->out, "      -> %s %s (", f->rule->id, f->rule->title);
		write_host_port(p, f);
		fputs("): ", p->out);
		text_print(p->out, f->text, TEXT_FIELD);
		write_evidence_kinds(p, f);
		fputc('\n', p->out);
	}
	if (n > CONSEQUENCES_SHOWN)
		fprintf(p->out, "      -> and %zu more\n", n - CONSEQUENCES_SHOWN);
}

/* The advice, with the real names for IFACE and PROFILE where they are known. */
static void write_advice(const struct page *p, const struct finding *f)
{
	static const char builtin[] = "builtin:";
	const char *profile = p->r->fabric->profile.path, *c = f->rule->advice;

	if (!strncmp(profile, builtin, strlen(builtin)))
		profile += strlen(builtin);
	fputs("      advice       ", p->out);
	while (*c) {
		bool iface = f->port[0] && !strncmp(c, "IFACE", strlen("IFACE"));

		if (iface || (profile[0] && !strncmp(c, "PROFILE", strlen("PROFILE")))) {
			text_print(p->out, iface ? f->port : profile, TEXT_FIELD);
			c += iface ? strlen("IFACE") : strlen("PROFILE");
		} else {
			fputc(*c++, p->out);
		}
	}
	fputc('\n', p->out);
}

static void write_root_cause(const struct page *p, size_t place)
{
	const struct finding *f = &p->f->list[p->order.at[place]];

	fputc('\n', p->out);
	write_heading(p, f);
	fprintf(p->out, "      %s\n", f->rule->title);
	write_evidence(p, f);
	if (f->expected_path[0]) {
		fputs("      expected by  ", p->out);
		text_print(p->out, f->expected_path, TEXT_FIELD);
		fprintf(p->out, ":%d\n", f->expected_line);
	}
	write_advice(p, f);
	write_consequences(p, place);
}

/* Findings of one port by verdict, and those that make the report INCOMPLETE. */
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
		t.by[text_verdict(f)]++;
		t.blocking += finding_is_incomplete(f) ||
			      finding_blocks(f, p->r->allow, p->r->allow_count);
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
	write_coloured(p, text_worst_verdict(&t), text_verdict_word(text_worst_verdict(&t)));
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

/* One line for adjacent findings with equal text. Returns how many. */
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
		fputs(" [blocks exit 0]", p->out);
	else if (text_is_allowed(p->r, first))
		fputs(" [allowed by --allow-inconclusive]", p->out);
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

/* True when an earlier finding was a SKIP for the same reason (and by the same rule). */
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

/* The rules that were skipped for the reason of this finding, and the reason. */
static void write_skip(const struct page *p, size_t place)
{
	const char *text = p->f->list[p->order.at[place]].text;
	unsigned int n = 0;

	for (size_t i = place; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->verdict != VERDICT_SKIP || strcmp(f->text, text) ||
		    text_skipped_before(p, i, true))
			continue;
		fputs(n % RULES_A_LINE ? " " : n ? "\n  " : "  ", p->out);
		fputs(f->rule->id, p->out);
		n++;
	}
	fputs(n > 1 ? ":\n      " : "  ", p->out);
	text_print(p->out, text, TEXT_FIELD);
	fputc('\n', p->out);
}

/* Grouped by reason: on one host most skipped rules share one. */
static void write_skips(const struct page *p)
{
	bool titled = false;

	for (size_t i = 0; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (f->verdict != VERDICT_SKIP || text_skipped_before(p, i, false))
			continue;
		if (!titled)
			fputs("\nSkipped (not applicable here):\n", p->out);
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

static void write_root_cause_count(const struct page *p, enum verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < p->f->count; i++)
		n += text_verdict(&p->f->list[i]) == v && p->f->list[i].caused_by < 0;
	if (n)
		fprintf(p->out, " (%zu root cause%s)", n, plural(n));
}

static void write_totals(const struct page *p)
{
	size_t by[VERDICT_FAIL + 1] = {0};

	for (size_t i = 0; i < p->f->count; i++)
		by[text_verdict(&p->f->list[i])]++;
	fprintf(p->out, "\n%zu check%s: %zu passed, %zu failed", p->f->count, plural(p->f->count),
		by[VERDICT_PASS], by[VERDICT_FAIL]);
	write_root_cause_count(p, VERDICT_FAIL);
	fprintf(p->out, ", %zu warning%s", by[VERDICT_WARN], plural(by[VERDICT_WARN]));
	write_root_cause_count(p, VERDICT_WARN);
	fprintf(p->out, ", %zu inconclusive, %zu skipped. Exit code %d.\n",
		by[VERDICT_INCONCLUSIVE], by[VERDICT_SKIP], p->r->exit_code);
}

/* Explains the letters and signs of this report. */
static void write_legend(const struct page *p)
{
	const char *separator = "Evidence: ";
	bool shown[128] = {false}, consequence = false;

	for (size_t i = 0; i < p->f->count; i++) {
		const struct finding *f = &p->f->list[i];

		consequence = consequence || f->caused_by >= 0;
		for (unsigned int k = 0; k < f->evidence_count; k++)
			shown[f->evidence[k].kind & 127] |= p->r->verbose || finding_violated(f);
	}
	for (const struct evidence_word *w = evidence_words; w->meaning; w++) {
		if (!shown[w->kind])
			continue;
		fprintf(p->out, "%s[%c] %s", separator, w->kind, w->meaning);
		separator = ", ";
	}
	fputs(separator[0] == ',' ? ".\n" : "", p->out);
	fputs(consequence ? "->: consequence of the root cause above.\n" : "", p->out);
	fputs(p->r->capture ? "" : "OPEN: inconclusive checks of the port and its host.\n", p->out);
}

static void write_page(const struct page *p)
{
	size_t skipped = verdict_count(p->f, VERDICT_SKIP);

	write_verdict(p);
	for (size_t i = 0; i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];

		if (finding_violated(f) && f->caused_by < 0)
			write_root_cause(p, i);
	}
	if (!p->r->capture)
		write_port_table(p);
	write_list(p, VERDICT_INCONCLUSIVE, "Inconclusive (no evidence):");
	if (p->r->verbose && p->r->alone)
		write_skips(p);
	else if (p->r->verbose)
		write_list(p, VERDICT_SKIP, "Skipped (not applicable here):");
	else if (skipped)
		fprintf(p->out, "\n%zu check%s skipped: not applicable here (-v lists them).\n",
			skipped, plural(skipped));
	if (p->r->verbose) {
		fputc('\n', p->out);
		write_passes(p);
	}
	if (p->r->environment) {
		fputs("\nEnvironment for applications:\n", p->out);
		app_env_print(p->r->environment, p->out);
	}
	write_totals(p);
	write_legend(p);
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
