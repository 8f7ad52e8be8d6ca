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
#include "reports/write/writer.h"

#define COLUMNS_MAX	   100
#define GAP_COLUMN_MAX	   24 /* of the gap that ends a label, "advice       " */
#define SUBJECTS_SHOWN	   6  /* ports named in one line */
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

/* The limits of the verdict, below the headline: for a PASS the rules that lacked evidence, for
 * INCOMPLETE those that must have it, each once. */
static void write_untested(const struct page *p)
{
	const char *separator = p->r->exit_code ? "      not PASS: evidence is missing for "
						: "      this PASS has no evidence for ";

	for (size_t i = 0; p->r->exit_code != 1 && i < p->order.count; i++) {
		const struct finding *f = &p->f->list[p->order.at[i]];
		size_t k = i;

		while (k > 0 && p->f->list[p->order.at[k - 1]].rule != f->rule)
			k--;
		if (f->verdict != VERDICT_INCONCLUSIVE || k > 0 ||
		    (p->r->exit_code && !finding_blocks(f, p->r->allow, p->r->allow_count)))
			continue;
		fprintf(p->out, "%s%s", separator, f->rule->id);
		separator = ", ";
	}
	fputs(separator[0] == ',' ? "\n" : "", p->out);
}

/* The level of the run and what it claims of losses under congestion. */
static void write_claim(const struct page *p)
{
	struct claim claim;
	char text[160], step[400];

	if (!report_claim(p->r, &claim))
		return;
	claim_text(&claim, text, sizeof(text));
	fputs("      ", p->out);
	if (p->r->run->traffic)
		fprintf(p->out, "level %s; ", fabric_level_words[p->r->run->level].word);
	fprintf(p->out, "%s\n", text);
	if (!p->r->require_lossless || claim_is_lossless(&claim))
		return;
	claim_next_step(&claim, p->r->fabric, step, sizeof(step));
	fputs("      --require lossless is not met; next step: ", p->out);
	text_print(p->out, step, TEXT_FIELD);
	fputc('\n', p->out);
}

static unsigned int text_port_count(const struct run *run)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < run->host_count; i++)
		n += run->host[i].port_count ? run->host[i].port_count
					     : run->host[i].before.port_count;
	return n;
}

static void write_profile(const struct page *p, const struct profile *profile)
{
	fputs(", profile ", p->out);
	text_print(p->out, profile->name, TEXT_FIELD);
	fprintf(p->out, " (intent: %s)", profile_intent_word(profile->intent));
}

static void write_run(const struct page *p)
{
	unsigned int ports = text_port_count(p->r->run);
	const struct profile *profile = &p->r->fabric->profile;

	fputs("fabric", p->out);
	if (p->r->fabric->name[0]) {
		fputc(' ', p->out);
		text_print(p->out, p->r->fabric->name, TEXT_FIELD);
	}
	write_profile(p, profile);
	fprintf(p->out, ", %u host%s, %u port%s, run ", p->r->run->host_count,
		plural(p->r->run->host_count), ports, plural(ports));
	text_print(p->out, p->r->run->id, TEXT_FIELD);
	fputs(p->r->run->traffic ? "\n" : "; no traffic was tested\n", p->out);
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
	if (profile->name[0])
		write_profile(p, profile);
	else
		fputs(", no profile", p->out);
	fputc('\n', p->out);
}

/* The verdict of the exit code, and the number of warnings of a PASS. */
static void write_verdict(const struct page *p)
{
	static const enum verdict as[] = {
		[0] = VERDICT_PASS, [1] = VERDICT_FAIL, [4] = VERDICT_INCONCLUSIVE};
	unsigned int code = (unsigned int)p->r->exit_code;
	size_t warnings = code ? 0 : verdict_count(p->f, VERDICT_WARN);
	char word[64];
	enum verdict v = warnings ? VERDICT_WARN : code < ARRAY_SIZE(as) ? as[code] : VERDICT_FAIL;

	snprintf(word, sizeof(word), warnings ? "%s with %zu warning%s" : "%s",
		 report_verdict(p->r), warnings, plural(warnings));
	write_coloured(p, v, word);
	fputs("  ", p->out);
	if (p->r->capture)
		write_capture(p->r, p->out);
	else if (p->r->alone)
		write_host(p);
	else
		write_run(p);
	write_claim(p);
	write_untested(p);
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

/* The kinds of evidence of a finding, each once: " [H][K]". */
static void write_evidence_kinds(const struct page *p, const struct finding *f)
{
	for (unsigned int i = 0, k; i < f->evidence_count; i++) {
		for (k = 0; f->evidence[k].kind != f->evidence[i].kind; k++)
			;
		if (k == i)
			fprintf(p->out, "%s[%c]", i ? "" : " ", f->evidence[i].kind);
	}
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
		fputs("      -> ", p->out);
		write_coloured(p, text_verdict(f), text_verdict_word(text_verdict(f)));
		fprintf(p->out, " %s ", f->rule->id);
		write_host_port(p, f);
		fputs(": ", p->out);
		text_print(p->out, f->text, TEXT_FIELD);
		write_evidence_kinds(p, f);
		fputc('\n', p->out);
	}
	if (n > CONSEQUENCES_SHOWN)
		fprintf(p->out, "      -> and %zu more\n", n - CONSEQUENCES_SHOWN);
}

/* Returns another host of the run than that of the finding, the n-th one; empty: none. */
static const char *text_other_host(const struct page *p, const struct finding *f, unsigned int n)
{
	for (unsigned int i = 0; i < p->r->run->host_count; i++)
		if (strcmp(p->r->run->host[i].name, f->host) && !n--)
			return p->r->run->host[i].name;
	return "";
}

/* Part of an advice or next step, with real names where known, and the port for apply. */
static void write_instruction(const struct page *p, const struct finding *f, const char *c)
{
	const struct profile *profile = &p->r->fabric->profile;
	const char *name = profile_shown_name(profile->path);
	int tos = profile_roce_tos(profile);
	char apply[512], tos_option[24];
	const struct {
		const char *word, *name;
	} names[] = {
		{"IFACE", f->port},
		{"apply PROFILE", apply},
		{"PROFILE", name},
		{"HOST1", text_other_host(p, f, 0)},
		{"HOST2", text_other_host(p, f, 1)},
		{"HOST", f->host},
		{"--tos 106", tos < 0 ? "" : tos_option},
	};

	snprintf(apply, sizeof(apply), f->port[0] ? "apply %s -i %s" : "apply %s",
		 name[0] ? name : "PROFILE", f->port);
	snprintf(tos_option, sizeof(tos_option), "--tos %d", tos);
	while (*c) {
		size_t i = 0;

		while (i < ARRAY_SIZE(names) && strncmp(c, names[i].word, strlen(names[i].word)))
			i++;
		if (i < ARRAY_SIZE(names)) {
			text_print(p->out, names[i].name[0] ? names[i].name : names[i].word,
				   TEXT_FIELD);
			c += strlen(names[i].word);
		} else {
			fputc(*c, p->out);
			fputs(*c++ == '\n' ? "                   " : "", p->out);
		}
	}
}

static void write_root_cause(const struct page *p, size_t place)
{
	const struct finding *f = &p->f->list[p->order.at[place]];
	const char *name = profile_shown_name(f->expected_path);

	fputc('\n', p->out);
	write_heading(p, f);
	if (p->r->capture)
		fprintf(p->out, "      %s\n", f->rule->title);
	write_evidence(p, f);
	if (f->expected_path[0]) {
		fprintf(p->out, "      expected by  %s",
			name == f->expected_path ? "" : "profile ");
		text_print(p->out, name, TEXT_FIELD);
		fprintf(p->out, "%s, line %d\n", name == f->expected_path ? "" : " (shipped)",
			f->expected_line);
	}
	fputs("      advice       ", p->out);
	write_instruction(p, f, p->r->alone || !f->host[0] ? "" : "on HOST: ");
	write_instruction(p, f, f->rule->advice);
	fputc('\n', p->out);
	write_consequences(p, place);
}

/* Findings of one row by verdict, and those that make the report INCOMPLETE. */
struct tally {
	size_t by[VERDICT_FAIL + 1];
	size_t blocking;
	const struct finding *root; /* root cause of a FAIL */
	bool own;		    /* a FAIL has its root cause on this host */
};

static void text_tally_add(const struct page *p, const struct finding *f, struct tally *t)
{
	enum verdict v = text_verdict(f);
	const struct finding *root = f->caused_by < 0 ? f : &p->f->list[f->caused_by];

	t->by[v]++;
	t->blocking += finding_is_incomplete(f) ||
		       finding_blocks(f, p->r->allow, p->r->allow_count);
	if (v != VERDICT_FAIL)
		return;
	t->root = root;
	t->own = t->own || !strcmp(root->host, f->host);
}

/* Findings of a port, with those of its host if the host has no row. Without a port: those of the
 * host; without a host: those of the fabric. */
static struct tally text_tally(const struct page *p, const char *host, const char *port,
			       bool with_host)
{
	struct tally t = {.blocking = 0};
	size_t end, at = finding_order_host(&p->hosts, p->f, host, &end);

	for (; at < end; at++) {
		const struct finding *f = &p->f->list[p->hosts.at[at]];

		if (f->port[0] ? !strcmp(f->port, port) : with_host)
			text_tally_add(p, f, &t);
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

static void write_row(const struct page *p, const char *host, const char *port,
		      const struct port *read, const struct tally *t)
{
	char *h = text_copy(host, TEXT_FIELD), *n = text_copy(port, TEXT_FIELD);
	char *ibdev = text_copy(read && read->ibdev[0] ? read->ibdev : "-", TEXT_FIELD);
	enum verdict worst = text_worst_verdict(t);
	char mtu[16] = "-";

	if (read && read->active_mtu)
		snprintf(mtu, sizeof(mtu), "%u", read->active_mtu);
	fprintf(p->out, "%-16s %-15s %-12s %6s %5zu %5zu %5zu %7zu  ", h ? h : "?",
		n && n[0] ? n : "-", ibdev ? ibdev : "?", mtu, t->by[VERDICT_PASS],
		t->by[VERDICT_WARN], t->by[VERDICT_FAIL], t->by[VERDICT_INCONCLUSIVE]);
	write_coloured(p, worst, text_verdict_word(worst));
	if (worst == VERDICT_FAIL && !t->own && t->root->host[0]) {
		fputs(", caused by ", p->out);
		text_print(p->out, t->root->host, TEXT_FIELD);
	}
	fputc('\n', p->out);
	free(h);
	free(n);
	free(ibdev);
}

static void write_port_row(const struct page *p, const struct run_host *h, const char *name,
			   bool with_host)
{
	const struct port *port = h->has_before && name[0] ? snapshot_port(&h->before, name) : NULL;
	struct tally t = text_tally(p, h->name, name, with_host);

	write_row(p, h->name, name, port, &t);
}

/* A row per port. A host of several ports has a row for the checks that belong to none of them. */
static void write_host_rows(const struct page *p, const struct run_host *h)
{
	unsigned int ports = h->port_count ? h->port_count : h->before.port_count;

	for (unsigned int i = 0; i < ports; i++)
		write_port_row(p, h, h->port_count ? h->port[i].netdev : h->before.port[i].netdev,
			       ports == 1);
	if (ports != 1) {
		struct tally t = text_tally(p, h->name, "", true);

		write_row(p, h->name, ports ? "(host)" : "", NULL, &t);
	}
}

static void write_port_table(const struct page *p)
{
	struct tally fabric = text_tally(p, "", "", true);

	fprintf(p->out, "\n%-16s %-15s %-12s %6s %5s %5s %5s %7s  %s\n", "HOST", "PORT", "DEVICE",
		"IB MTU", "PASS", "WARN", "FAIL", "INCONCL", "VERDICT");
	for (unsigned int i = 0; i < p->r->run->host_count; i++)
		write_host_rows(p, &p->r->run->host[i]);
	for (int v = VERDICT_PASS; v <= VERDICT_FAIL; v++)
		if (v != VERDICT_SKIP && fabric.by[v]) {
			write_row(p, "all hosts", "", NULL, &fabric);
			return;
		}
}

static bool text_same_finding(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->verdict == b->verdict && a->text && b->text &&
	       !strcmp(a->text, b->text);
}

/* One line for adjacent findings with equal text. Returns how many. */
static size_t write_group(const struct page *p, size_t place)
{
	const struct finding *first = &p->f->list[p->order.at[place]];
	bool blocks = finding_blocks(first, p->r->allow, p->r->allow_count);
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
	if (finding_blocks(first, NULL, 0))
		fputs(blocks ? " [required]" : " [allowed by --allow-inconclusive]", p->out);
	fputc('\n', p->out);
	if (blocks && first->rule->obtain) {
		fputs("      next step    ", p->out);
		write_instruction(p, first, first->rule->obtain);
		fputc('\n', p->out);
	}
	return count ? count : 1;
}

static void write_list(const struct page *p, enum verdict v, const char *title)
{
	if (verdict_count(p->f, v))
		fprintf(p->out, "\n%s\n", title);
	for (size_t i = 0; i < p->order.count;)
		i += p->f->list[p->order.at[i]].verdict == v ? write_group(p, i) : 1;
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
	if (verdict_count(p->f, VERDICT_SKIP))
		fputs("\nSkipped (not applicable here):\n", p->out);
	for (size_t i = 0; i < p->order.count; i++)
		if (p->f->list[p->order.at[i]].verdict == VERDICT_SKIP &&
		    !text_skipped_before(p, i, false))
			write_skip(p, i);
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

/* Only where it differs from the number of findings. */
static void write_root_cause_count(const struct page *p, enum verdict v, size_t findings)
{
	size_t n = 0;

	for (size_t i = 0; i < p->f->count; i++)
		n += text_verdict(&p->f->list[i]) == v && p->f->list[i].caused_by < 0;
	if (n && n < findings)
		fprintf(p->out, " (%zu root cause%s)", n, plural(n));
}

static void write_totals(const struct page *p)
{
	size_t by[VERDICT_FAIL + 1] = {0};
	long start;

	for (size_t i = 0; i < p->f->count; i++)
		by[text_verdict(&p->f->list[i])]++;
	fputc('\n', p->out);
	start = ftell(p->out);
	fprintf(p->out, "%zu check%s: %zu passed, %zu failed", p->f->count, plural(p->f->count),
		by[VERDICT_PASS], by[VERDICT_FAIL]);
	write_root_cause_count(p, VERDICT_FAIL, by[VERDICT_FAIL]);
	fprintf(p->out, ", %zu warning%s", by[VERDICT_WARN], plural(by[VERDICT_WARN]));
	write_root_cause_count(p, VERDICT_WARN, by[VERDICT_WARN]);
	fprintf(p->out, ", %zu inconclusive, %zu skipped.", by[VERDICT_INCONCLUSIVE],
		by[VERDICT_SKIP]);
	/* Scripts look for the exit code: it is never wrapped. */
	fprintf(p->out, "%cExit code %d.\n",
		ftell(p->out) - start > COLUMNS_MAX - (long)strlen(" Exit code 0.") ? '\n' : ' ',
		p->r->exit_code);
}

/* Explains the letters and signs of this report. */
static void write_legend(const struct page *p)
{
	const char *separator = "Evidence: ";
	bool shown[128] = {false}, consequence = false, empty = false, needed = false;

	for (size_t i = 0; i < p->f->count; i++) {
		const struct finding *f = &p->f->list[i];

		consequence = consequence || f->caused_by >= 0;
		needed = needed || finding_blocks(f, p->r->allow, p->r->allow_count);
		if (!p->r->verbose && !finding_violated(f))
			continue;
		for (unsigned int k = 0; k < f->evidence_count; k++) {
			shown[f->evidence[k].kind & 127] = true;
			empty |= strstr(f->evidence[k].text, " is {}") != NULL;
			empty |= strstr(f->evidence[k].text, " is []") != NULL;
		}
	}
	for (const struct evidence_word *w = evidence_words; w->meaning; w++) {
		if (!shown[w->kind])
			continue;
		fprintf(p->out, "%s[%c] %s", separator, w->kind, w->meaning);
		separator = ", ";
	}
	fputs(separator[0] == ',' ? ".\n" : "", p->out);
	fputs(empty ? "[], {}: no entry.\n" : "", p->out);
	fputs(consequence ? "->: consequence of the root cause above.\n" : "", p->out);
	if (!p->r->capture && verdict_count(p->f, VERDICT_INCONCLUSIVE))
		fputs("INCONCL: inconclusive checks, their evidence is missing.\n", p->out);
	if (needed)
		fputs("[required]: without this evidence the exit code is 4, or 1 if another check "
		      "failed.\n",
		      p->out);
}

/* True when a check was skipped because the run does not claim what its rule needs. */
static bool text_skips_by_level(const struct page *p)
{
	for (size_t i = 0; i < p->f->count; i++)
		if (p->f->list[i].verdict == VERDICT_SKIP &&
		    p->f->list[i].rule->level > p->r->run->level)
			return !p->r->alone && !p->r->capture;
	return false;
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
		fprintf(p->out, "\n%zu check%s skipped: not applicable here%s (-v lists them).\n",
			skipped, plural(skipped),
			text_skips_by_level(p) ? ", or above the level of the run" : "");
	if (p->r->verbose) {
		fputc('\n', p->out);
		write_passes(p);
	}
	write_totals(p);
	write_legend(p);
	if (p->r->environment)
		fputs("doctor --env prints the environment variables for NCCL, UCX, NVSHMEM, "
		      "libfabric and MVAPICH.\n",
		      p->out);
}

/* Column at which a wrapped line continues: behind the gap that ends its label, else 4 columns
 * further in than the line. */
static size_t text_wrap_indent(const char *line, size_t size)
{
	size_t lead = 0;

	while (lead < size && line[lead] == ' ')
		lead++;
	for (size_t i = lead; i + 2 < size && i < GAP_COLUMN_MAX; i++) {
		if (line[i] != ' ' || line[i + 1] != ' ')
			continue;
		while (i < size && line[i] == ' ')
			i++;
		return i;
	}
	return lead + 4;
}

/* Bytes of the line that fit into so many columns, up to a space where there is one. */
static size_t text_wrap_length(const char *line, size_t size, size_t columns)
{
	size_t space = 0, at = 0;

	for (size_t column = 0; at < size;) {
		size_t style = text_style_length(line + at, size - at);
		size_t character = text_character_length(line + at, size - at);

		if (style && style <= size - at) {
			at += style;
			continue;
		}
		if (line[at] == ' ' && at)
			space = at;
		if (++column > columns && space)
			return space;
		at += character && character <= size - at ? character : 1;
	}
	return size;
}

static void text_wrap_line(const char *line, size_t size, FILE *out)
{
	size_t indent = text_wrap_indent(line, size), lead = strspn(line, " ");
	size_t fits = lead + text_wrap_length(line + lead, size - lead, COLUMNS_MAX - lead);

	fwrite(line, 1, fits, out);
	while (fits < size) {
		line += fits + 1;
		size -= fits + 1;
		fits = text_wrap_length(line, size, COLUMNS_MAX - indent);
		fprintf(out, "\n%*s", (int)indent, "");
		fwrite(line, 1, fits, out);
	}
	fputc('\n', out);
}

/* Writes the document with lines of at most COLUMNS_MAX columns. 0, or -ENOMEM. */
static int text_wrap(const char *document, char **wrapped, size_t *size)
{
	FILE *out = open_memstream(wrapped, size);
	bool failed;

	if (!out)
		return -ENOMEM;
	while (*document) {
		size_t length = strcspn(document, "\n");

		text_wrap_line(document, length, out);
		document += length + (document[length] == '\n');
	}
	failed = ferror(out);
	return fclose(out) || failed ? -ENOMEM : 0;
}

int write_text(const struct report *r, FILE *out, struct err *e)
{
	struct page page = {.r = r, .f = r->findings};
	char *document = NULL, *wrapped = NULL;
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
	if (page.out && !err)
		err = text_wrap(document, &wrapped, &size);
	if (!page.out || err)
		err = err_sys(e, -ENOMEM, "report");
	else
		err = writer_emit(out, wrapped, size, e);
	free(document);
	free(wrapped);
	finding_order_clear(&page.order);
	finding_order_clear(&page.hosts);
	return err;
}
