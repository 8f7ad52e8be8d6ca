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
#include "profiles/base/nodeset.h"
#include "profiles/base/text.h"
#include "reports/engine/allow.h"
#include "reports/engine/finding_sort.h"
#include "reports/engine/findings.h"
#include "reports/engine/fold.h"
#include "reports/write/text_priv.h"
#include "reports/write/writer.h"

#define COLUMNS_MAX	   100
#define GAP_COLUMN_MAX	   24 /* of the gap that ends a label, "advice       " */
#define SUBJECTS_SHOWN	   6  /* node sets in one line */
#define SET_LENGTH_MAX	   300
#define RULES_A_LINE	   7
#define CONSEQUENCES_SHOWN 8  /* of one root cause */
#define TEXTS_MAX	   12 /* of one rule; of more, TEXTS_SHOWN are printed */
#define TEXTS_SHOWN	   3

static const char *text_colour_of(enum verdict v)
{
	static const char *const colours[] = {
		[VERDICT_PASS] = TEXT_GREEN,	    [VERDICT_SKIP] = TEXT_DIM,
		[VERDICT_INCONCLUSIVE] = TEXT_CYAN, [VERDICT_WARN] = TEXT_YELLOW,
		[VERDICT_FAIL] = TEXT_RED,
	};

	return colours[v];
}

void write_coloured(const struct page *p, enum verdict v, const char *word)
{
	if (p->r->colour)
		fprintf(p->out, "%s%s" TEXT_RESET, text_colour_of(v), word);
	else
		fputs(word, p->out);
}

static int text_compare_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

size_t text_unique_names(const char **names, size_t count)
{
	size_t kept = 0;

	qsort(names, count, sizeof(*names), text_compare_names);
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(names[kept - 1], names[i]))
			names[kept++] = names[i];
	return kept;
}

char *text_node_set(const struct page *p, const char *const *names, size_t count)
{
	char *set = NULL, *more;
	size_t shown = count;

	for (;; shown /= 2) {
		if (nodeset_fold(names, shown, &set)) {
			*p->err = -ENOMEM;
			return NULL;
		}
		if (p->r->verbose || shown == 1 || strlen(set) <= SET_LENGTH_MAX)
			break;
		free(set);
	}
	*p->sets |= shown > 1 && strchr(set, '[');
	if (shown == count)
		return set;
	if (asprintf(&more, "%s and %zu more", set, count - shown) < 0) {
		*p->err = -ENOMEM;
		more = NULL;
	}
	free(set);
	return more;
}

/* Hosts or ports of a fold, each once. Returns an array that the caller frees; on NULL the page has
 * its error. */
static const char **text_fold_names(const struct page *p, const struct finding_fold *fold,
				    bool ports, size_t *count)
{
	const char **names = calloc(fold->count + 1, sizeof(*names));

	if (!names) {
		*p->err = -ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < fold->count; i++)
		names[i] = ports ? p->f->list[fold->member[i]].port
				 : p->f->list[fold->member[i]].host;
	*count = text_unique_names(names, fold->count);
	return names;
}

static void write_names(const struct page *p, const struct finding_fold *fold, bool ports)
{
	size_t count;
	const char **names = text_fold_names(p, fold, ports, &count);
	char *set = names ? text_node_set(p, names, count) : NULL;

	if (set)
		text_print(p->out, set, TEXT_FIELD);
	free(set);
	free(names);
}

/* Hosts and ports of a fold: "h[1-200] roce[0-7]". */
static void write_place(const struct page *p, const struct finding_fold *fold)
{
	const struct finding *f = &p->f->list[fold->member[0]];

	if (f->host[0])
		write_names(p, fold, false);
	else
		fputs("fabric", p->out);
	if (!f->port[0])
		return;
	fputc(' ', p->out);
	write_names(p, fold, true);
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
			if (run->pair[k].phase == PHASE_LOAD && i < run->pair[k].tcp_count &&
			    run->pair[k].ran) {
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
		if (f->verdict != VERDICT_INCONCLUSIVE || f->allowed || k > 0 ||
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
	size_t allowed = allow_count(p->f, NULL);
	struct claim claim;
	char text[160], step[400];

	if (!report_claim(p->r, &claim))
		return;
	claim_text(&claim, text, sizeof(text));
	fputs("      ", p->out);
	if (p->r->run->traffic)
		fprintf(p->out, "level %s; ", fabric_level_words[p->r->run->level].word);
	fprintf(p->out, "%s\n", text);
	if (allowed)
		fprintf(p->out, "      %zu finding%s allowed by the inventory, listed below\n",
			allowed, allowed == 1 ? " is" : "s are");
	if (!p->r->require_lossless || claim_is_lossless(&claim))
		return;
	claim_next_step(&claim, p->r->fabric, step, sizeof(step));
	fputs("      --require lossless is not met; next step: ", p->out);
	text_print(p->out, step, TEXT_FIELD);
	fputc('\n', p->out);
}

unsigned int text_port_count(const struct run *run)
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
	if (p->r->run->has_job) {
		fputs("\n      around the job: ", p->out);
		text_print(p->out, p->r->run->job.command, TEXT_FIELD);
		fprintf(p->out, " (exit code %u)\n", p->r->run->job.exit_code);
	} else {
		fputs(p->r->run->traffic ? "\n" : "; no traffic was tested\n", p->out);
	}
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

/* "probe of h1 with h2, run ID" */
static void write_load(const struct page *p)
{
	const struct run *run = p->r->run;

	fprintf(p->out, "%s of ", p->r->load);
	for (unsigned int i = 0; i < run->host_count; i++) {
		fputs(i > 1 ? ", " : i ? " with " : "", p->out);
		text_print(p->out, run->host[i].name, TEXT_FIELD);
	}
	fputs(", run ", p->out);
	text_print(p->out, run->id, TEXT_FIELD);
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
	else if (p->r->load)
		write_load(p);
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

enum verdict text_verdict(const struct finding *f)
{
	if (f->allowed)
		return VERDICT_SKIP;
	return finding_is_incomplete(f) ? VERDICT_INCONCLUSIVE : f->verdict;
}

const char *text_verdict_word(enum verdict v)
{
	return v == VERDICT_INCONCLUSIVE ? "INCOMPLETE" : verdict_word(v);
}

static void write_heading(const struct page *p, const struct finding_fold *fold)
{
	const struct finding *f = &p->f->list[fold->member[0]];
	char prios[64];

	write_coloured(p, text_verdict(f), text_verdict_word(text_verdict(f)));
	fprintf(p->out, "  %s  ", f->rule->id);
	write_place(p, fold);
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

static void write_consequences(const struct page *p, const struct finding_fold *root)
{
	size_t more = 0;

	for (size_t i = 0; i < root->consequence_count; i++) {
		const struct finding_fold *fold = &p->folds.list[root->consequences + i];
		const struct finding *f = &p->f->list[fold->member[0]];

		if (i >= CONSEQUENCES_SHOWN && !p->r->verbose) {
			more += fold->count;
			continue;
		}
		fputs("      -> ", p->out);
		write_coloured(p, text_verdict(f), text_verdict_word(text_verdict(f)));
		fprintf(p->out, " %s ", f->rule->id);
		write_place(p, fold);
		fputs(": ", p->out);
		text_print(p->out, f->text, TEXT_FIELD);
		write_evidence_kinds(p, f);
		fputc('\n', p->out);
	}
	if (more)
		fprintf(p->out, "      -> and %zu more\n", more);
}

/* Returns another host of the run than that of the finding, the n-th one; empty: none. */
static const char *text_other_host(const struct page *p, const struct finding *f, unsigned int n)
{
	for (unsigned int i = 0; i < p->r->run->host_count; i++)
		if (strcmp(p->r->run->host[i].name, f->host) && !n--)
			return p->r->run->host[i].name;
	return "";
}

/* "apply lab -i roce0 -i roce1" for the ports of a fold; without -i when they do not fit. */
static void text_apply_command(const struct page *p, const struct finding_fold *fold,
			       const char *profile, char *text, size_t size)
{
	size_t count = 0, bare, used;
	const char **ports = text_fold_names(p, fold, true, &count);

	used = bare = (size_t)snprintf(text, size, "apply %s", profile[0] ? profile : "PROFILE");
	for (size_t i = 0; ports && i < count && ports[i][0] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, " -i %s", ports[i]);
	if (used >= size && bare < size)
		text[bare] = '\0';
	free(ports);
}

/* Part of an advice or next step, with real names where known, and the ports for apply. */
static void write_instruction(const struct page *p, const struct finding_fold *fold, const char *c)
{
	const struct finding *f = &p->f->list[fold->member[0]];
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

	text_apply_command(p, fold, name, apply, sizeof(apply));
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

/* The advice of a root cause, for all hosts of the fold. It names one port. */
static void write_advice(const struct page *p, const struct finding_fold *fold)
{
	const struct finding *f = &p->f->list[fold->member[0]];
	size_t count = 0;
	const char **ports = text_fold_names(p, fold, true, &count);

	fputs("      advice       ", p->out);
	if (!p->r->alone && f->host[0]) {
		fputs("on ", p->out);
		write_names(p, fold, false);
		fputs(": ", p->out);
	}
	write_instruction(p, fold, finding_advice(f));
	if (ports && count > 1 && strstr(finding_advice(f), "IFACE"))
		fprintf(p->out, " (the same for the other port%s)", plural(count - 1));
	fputc('\n', p->out);
	free(ports);
}

static bool text_same_evidence(const struct finding *a, const struct finding *b)
{
	if (a->evidence_count != b->evidence_count)
		return false;
	for (unsigned int i = 0; i < a->evidence_count; i++)
		if (a->evidence[i].kind != b->evidence[i].kind ||
		    strcmp(a->evidence[i].text, b->evidence[i].text))
			return false;
	return true;
}

/* The evidence of the first finding, and a note when that of others differs. */
static void write_fold_evidence(const struct page *p, const struct finding_fold *fold)
{
	const struct finding *first = &p->f->list[fold->member[0]];
	size_t other = 1;

	write_evidence(p, first);
	while (other < fold->count && text_same_evidence(first, &p->f->list[fold->member[other]]))
		other++;
	if (other == fold->count)
		return;
	fputs("      (evidence of ", p->out);
	write_place(p, &(struct finding_fold){.member = fold->member, .count = 1});
	fprintf(p->out, " only; -v prints that of the %zu other%s)\n", fold->count - 1,
		plural(fold->count - 1));
}

static void write_root_cause(const struct page *p, const struct finding_fold *fold)
{
	const struct finding *f = &p->f->list[fold->member[0]];
	const char *name = profile_shown_name(f->expected_path);

	fputc('\n', p->out);
	write_heading(p, fold);
	if (p->r->capture)
		fprintf(p->out, "      %s\n", f->rule->title);
	write_fold_evidence(p, fold);
	if (f->expected_path[0]) {
		fprintf(p->out, "      expected by  %s",
			name == f->expected_path ? "" : "profile ");
		text_print(p->out, name, TEXT_FIELD);
		fprintf(p->out, "%s, line %d\n", name == f->expected_path ? "" : " (shipped)",
			f->expected_line);
	}
	write_advice(p, fold);
	write_consequences(p, fold);
}

/* Place of a verdict of a rule in a table of them. */
static size_t text_rule_verdict(const struct finding *f)
{
	return (size_t)(f->rule - rule_table) * (VERDICT_FAIL + 1) + f->verdict;
}

/* The texts of one rule and verdict: how many, and how many were printed. */
struct texts {
	size_t count, printed;
	bool cut; /* the line for the others was printed */
};

/* Counts the texts by rule and verdict; folds of one text count once, allowed ones do not. NULL: no
 * memory. */
static struct texts *text_count_texts(const struct page *p)
{
	struct texts *texts = calloc((rule_count + 1) * (VERDICT_FAIL + 1), sizeof(*texts));

	if (!texts)
		*p->err = -ENOMEM;
	for (size_t i = 0; texts && i < p->folds.roots; i++) {
		const struct finding *f = &p->f->list[p->folds.list[i].member[0]];

		if (!f->allowed && (!i || p->folds.list[i].group != p->folds.list[i - 1].group))
			texts[text_rule_verdict(f)].count++;
	}
	return texts;
}

/* True when a text of this rule and verdict is printed in full. */
static bool text_is_shown(const struct page *p, struct texts *t)
{
	return p->r->verbose || p->r->alone || p->r->capture || t->count <= TEXTS_MAX ||
	       t->printed++ < TEXTS_SHOWN;
}

/* "197 more on h[4-200]: -v prints them", of the texts from this fold on that are not shown. */
static void write_more_texts(const struct page *p, size_t at)
{
	const struct finding *f = &p->f->list[p->folds.list[at].member[0]];
	size_t n = 0, size = 0;
	const char **names;
	char *set;

	for (size_t i = at; i < p->folds.roots; i++)
		size += p->folds.list[i].count;
	names = calloc(size + 1, sizeof(*names));
	if (!names) {
		*p->err = -ENOMEM;
		return;
	}
	for (size_t i = at; i < p->folds.roots; i++) {
		const struct finding_fold *fold = &p->folds.list[i];
		const struct finding *other = &p->f->list[fold->member[0]];

		if (other->allowed || text_rule_verdict(other) != text_rule_verdict(f))
			continue;
		for (size_t k = 0; k < fold->count; k++)
			names[n++] = p->f->list[fold->member[k]].host;
	}
	fprintf(p->out, "%s  %zu more on ", f->rule->id, n);
	set = text_node_set(p, names, text_unique_names(names, n));
	text_print(p->out, set && set[0] ? set : "the fabric", TEXT_FIELD);
	fputs(": -v prints them\n", p->out);
	free(set);
	free(names);
}

static void write_root_causes(const struct page *p)
{
	struct texts *texts = text_count_texts(p);

	for (size_t i = 0; texts && i < p->folds.roots; i++) {
		const struct finding_fold *fold = &p->folds.list[i];
		const struct finding *f = &p->f->list[fold->member[0]];
		struct texts *t = &texts[text_rule_verdict(f)];

		if (!finding_violated(f))
			continue;
		if (text_is_shown(p, t)) {
			write_root_cause(p, fold);
		} else if (!t->cut) {
			t->cut = true;
			fputc('\n', p->out);
			write_coloured(p, text_verdict(f), text_verdict_word(text_verdict(f)));
			fputs("  ", p->out);
			write_more_texts(p, i);
		}
	}
	free(texts);
}

/* One line for the folds with equal text from this one on. Returns how many. */
static size_t write_group(const struct page *p, size_t at)
{
	const struct finding_fold *fold = &p->folds.list[at];
	const struct finding *first = &p->f->list[fold->member[0]];
	bool blocks = finding_blocks(first, p->r->allow, p->r->allow_count);
	const char *next = first->advice ? first->advice : first->rule->obtain;
	size_t count = 0, more = 0;

	fprintf(p->out, "  %s  ", first->rule->id);
	for (; at + count < p->folds.roots && fold[count].group == fold->group; count++) {
		if (count >= SUBJECTS_SHOWN && !p->r->verbose) {
			more += fold[count].count;
			continue;
		}
		fputs(count ? ", " : "", p->out);
		write_place(p, &fold[count]);
	}
	if (more)
		fprintf(p->out, " and %zu more", more);
	fputs(": ", p->out);
	text_print(p->out, first->text, TEXT_FIELD);
	if (finding_blocks(first, NULL, 0))
		fputs(blocks ? " [required]" : " [allowed by --allow-inconclusive]", p->out);
	fputc('\n', p->out);
	if (blocks && next) {
		fputs("      next step    ", p->out);
		write_instruction(p, fold, next);
		fputc('\n', p->out);
	}
	return count;
}

static void write_list(const struct page *p, enum verdict v, const char *title)
{
	struct texts *texts = text_count_texts(p);

	if (verdict_count(p->f, v))
		fprintf(p->out, "\n%s\n", title);
	for (size_t i = 0; texts && i < p->folds.roots;) {
		const struct finding *f = &p->f->list[p->folds.list[i].member[0]];
		struct texts *t = &texts[text_rule_verdict(f)];

		if (f->verdict == v && !f->allowed && text_is_shown(p, t)) {
			i += write_group(p, i);
			continue;
		}
		if (f->verdict == v && !f->allowed && !t->cut) {
			t->cut = true;
			fputs("  ", p->out);
			write_more_texts(p, i);
		}
		i++;
	}
	free(texts);
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
		write_heading(p, &(struct finding_fold){.member = &p->order.at[i], .count = 1});
		write_evidence(p, f);
	}
}

/* Only where it differs from the number of findings. */
static void write_root_cause_count(const struct page *p, enum verdict v, size_t findings)
{
	size_t n = 0;

	for (size_t i = 0; i < p->folds.roots; i++)
		n += text_verdict(&p->f->list[p->folds.list[i].member[0]]) == v;
	if (n && n < findings)
		fprintf(p->out, " (%zu root cause%s)", n, plural(n));
}

static void write_totals(const struct page *p)
{
	size_t by[VERDICT_FAIL + 1] = {0}, allowed = allow_count(p->f, NULL);
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
	fprintf(p->out, ", %zu inconclusive", by[VERDICT_INCONCLUSIVE]);
	if (allowed)
		fprintf(p->out, ", %zu allowed", allowed);
	fprintf(p->out, ", %zu skipped.", by[VERDICT_SKIP] - allowed);
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
	fputs(*p->sets ? "h[1-3]: h1, h2 and h3.\n" : "", p->out);
	fputs(consequence ? "->: consequence of the root cause above.\n" : "", p->out);
	if (!p->r->capture && verdict_count(p->f, VERDICT_INCONCLUSIVE))
		fputs("INCONCL: inconclusive checks, their evidence is missing.\n", p->out);
	if (needed)
		fputs("[required]: without this evidence the exit code is 4, or 1 if another check "
		      "failed.\n",
		      p->out);
}

/* The findings that one exception covers. */
static void write_exception(const struct page *p, const struct fabric_allow *a)
{
	size_t n = 0;

	fprintf(p->out, "  %s  until %s, ", a->rule, a->until);
	text_print(p->out, p->r->fabric->path, TEXT_FIELD);
	fprintf(p->out, ", line %d: ", a->line);
	text_print(p->out, a->reason, TEXT_FIELD);
	fputc('\n', p->out);
	for (size_t i = 0; i < p->folds.roots; i++) {
		const struct finding_fold *fold = &p->folds.list[i];
		const struct finding *f = &p->f->list[fold->member[0]];

		if (f->allowed != a || n++ >= SUBJECTS_SHOWN)
			continue;
		fprintf(p->out, "      %s ", verdict_word(f->verdict));
		write_place(p, fold);
		fputs(": ", p->out);
		text_print(p->out, f->text, TEXT_FIELD);
		fputc('\n', p->out);
	}
	if (n > SUBJECTS_SHOWN)
		fprintf(p->out, "      and %zu more\n", n - SUBJECTS_SHOWN);
	if (!n)
		fputs("      nothing to allow: no such finding\n", p->out);
}

static void write_exceptions(const struct page *p)
{
	const char *title = "\nAllowed by the inventory (not counted):\n";

	for (unsigned int i = 0; i < p->r->fabric->allow_count; i++) {
		if (allow_expired(&p->r->fabric->allow[i], p->r->run))
			continue;
		fputs(title, p->out);
		write_exception(p, &p->r->fabric->allow[i]);
		title = "";
	}
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
	write_root_causes(p);
	if (!p->r->capture)
		write_port_table(p);
	write_list(p, VERDICT_INCONCLUSIVE, "Inconclusive (no evidence):");
	write_exceptions(p);
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

/* Bytes of the line that fit into so many columns, up to a space where there is one, else behind a
 * comma. */
static size_t text_wrap_length(const char *line, size_t size, size_t columns)
{
	size_t space = 0, comma = 0, at = 0;

	for (size_t column = 0; at < size;) {
		size_t style = text_style_length(line + at, size - at);
		size_t character = text_character_length(line + at, size - at);

		if (style && style <= size - at) {
			at += style;
			continue;
		}
		if (line[at] == ' ' && at)
			space = at;
		if (++column > columns && (space || comma))
			return space ? space : comma;
		if (line[at] == ',')
			comma = at + 1;
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
		size_t skip = fits + (line[fits] == ' ');

		line += skip;
		size -= skip;
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
	bool sets = false;
	int err = 0;
	struct page page = {.r = r, .f = r->findings, .err = &err, .sets = &sets};
	char *document = NULL, *wrapped = NULL;
	size_t size = 0;

	err = findings_sort(r->findings, &page.order);
	if (!err)
		err = findings_sort_by_host(r->findings, &page.hosts);
	if (!err)
		err = findings_fold(r->findings, &page.order, r->verbose, &page.folds);
	page.out = err ? NULL : open_memstream(&document, &size);
	if (page.out) {
		write_page(&page);
		if (ferror(page.out))
			err = -ENOMEM;
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
	finding_folds_clear(&page.folds);
	return err;
}
