/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of findings about input files. Texts quote those files, so they are sanitized when they
 * are added: a finding is always safe to print on a terminal and to write as JSON.
 */
#include "profiles/yaml/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/text.h"

#define WORD_MAX     40 /* longer words get no suggestion */
#define DISTANCE_MAX 2

void diags_init(struct diags *d)
{
	*d = (struct diags){.list = NULL};
}

static void diag_clear(struct diag *one)
{
	free(one->path);
	free(one->text);
	free(one->source);
	free(one->note);
	free(one->suggestion);
}

void diags_clear(struct diags *d)
{
	for (size_t i = 0; i < d->count; i++)
		diag_clear(&d->list[i]);
	free(d->list);
	diags_init(d);
}

/* Copies a string or NULL; false on -ENOMEM. */
static bool diag_copy_string(char **to, const char *from)
{
	*to = from ? text_copy(from, TEXT_LINE) : NULL;
	return *to || !from;
}

static int diags_append(struct diags *d, const struct diag *one)
{
	struct diag *list = realloc(d->list, (d->count + 1) * sizeof(*list));
	struct diag *copy;
	bool good;

	if (!list)
		return -ENOMEM;
	d->list = list;
	copy = &list[d->count];
	*copy = *one;
	if (copy->width < 1)
		copy->width = 1;
	good = diag_copy_string(&copy->path, one->path ? one->path : "");
	good = diag_copy_string(&copy->text, one->text ? one->text : "") && good;
	good = diag_copy_string(&copy->source, one->source) && good;
	good = diag_copy_string(&copy->note, one->note) && good;
	good = diag_copy_string(&copy->suggestion, one->suggestion) && good;
	if (!good) {
		diag_clear(copy);
		return -ENOMEM;
	}
	d->count++;
	d->errors += one->level == DIAG_ERROR;
	return 0;
}

int diags_add(struct diags *d, const struct diag *one)
{
	static const struct diag last = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-007",
		.text = "more than 1000 findings: the others are not shown"};
	struct diag end = last;

	if (d->count > DIAGS_MAX)
		return 0;
	if (d->count == DIAGS_MAX) {
		end.path = one->path;
		one = &end;
	}
	return diags_append(d, one);
}

int diag_set_source(struct diag *one, const char *source)
{
	char *copy = text_copy(source, TEXT_LINE);

	if (!copy)
		return -ENOMEM;
	free(one->source);
	one->source = copy;
	return 0;
}

static unsigned int diag_min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edit distance; swapping neighbours is one edit ("enabeld"). Both at most WORD_MAX long. */
static unsigned int diag_edit_distance(const char *a, const char *b)
{
	unsigned int row[3][WORD_MAX + 1];
	unsigned int *before = row[0], *above = row[1], *here = row[2];
	size_t width = strlen(b);

	for (unsigned int j = 0; j <= width; j++)
		above[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int *spare = before;

		here[0] = i;
		for (unsigned int j = 1; j <= width; j++) {
			unsigned int same = a[i - 1] == b[j - 1];

			here[j] = diag_min3(above[j] + 1, here[j - 1] + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				here[j] = diag_min3(here[j], before[j - 2] + 1, here[j]);
		}
		before = above;
		above = here;
		here = spare;
	}
	return above[width];
}

const char *diag_nearest(const char *got, const char *const *words)
{
	unsigned int best = DISTANCE_MAX + 1;
	const char *nearest = NULL;
	size_t length = strlen(got);

	if (length > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		unsigned int distance;

		if (strlen(*words) > WORD_MAX)
			continue;
		distance = diag_edit_distance(got, *words);
		/* At most one edit per three letters: "no" must not suggest "on". */
		if (distance < best && 3 * distance <= length) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}

/* Output for people (source line and caret), editors (one line each) and programs (JSON), sorted by
 * file and line. */

#define TAB_WIDTH 8

struct palette {
	const char *bold, *level[2], *frame, *end;
};

static const struct palette plain = {"", {"", ""}, "", ""};
static const struct palette colours = {
	.bold = TEXT_BOLD,
	.level = {TEXT_BOLD_RED, TEXT_BOLD_YELLOW},
	.frame = TEXT_BLUE,
	.end = TEXT_RESET,
};

static const char *const level_words[] = {
	[DIAG_ERROR] = "error",
	[DIAG_WARNING] = "warning",
};

/* Files in the order of their first finding. */
static size_t diag_file_index(const struct diags *d, const struct diag *one)
{
	size_t i = 0;

	while (strcmp(d->list[i].path, one->path))
		i++;
	return i;
}

struct entry {
	const struct diag *one;
	size_t file, number;
};

static int diag_entry_compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->one->line != b->one->line)
		return a->one->line - b->one->line;
	if (a->one->column != b->one->column)
		return a->one->column - b->one->column;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* All entries in file order; the caller frees. NULL on -ENOMEM. */
static struct entry *diags_sort(const struct diags *d)
{
	struct entry *entries = calloc(d->count + 1, sizeof(*entries));

	if (!entries)
		return NULL;
	for (size_t i = 0; i < d->count; i++)
		entries[i] = (struct entry){&d->list[i], diag_file_index(d, &d->list[i]), i};
	qsort(entries, d->count, sizeof(*entries), diag_entry_compare);
	return entries;
}

static bool diag_is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Prints the line with tabs as spaces; returns the cell of character `column`. */
static int diag_print_source(const char *source, int column, FILE *out)
{
	int cell = 0, at = 1, caret = 0;

	for (const char *c = source; *c; c++) {
		if (!diag_is_continuation(*c) && at++ == column)
			caret = cell;
		if (*c == '\t') {
			int stop = cell + TAB_WIDTH - cell % TAB_WIDTH;

			fprintf(out, "%*s", stop - cell, "");
			cell = stop;
			continue;
		}
		fputc(*c, out);
		cell += !diag_is_continuation(*c);
	}
	return at <= column ? cell : caret;
}

static void diag_print_excerpt(const struct diag *one, int gutter, const struct palette *p,
			       FILE *out)
{
	int caret;

	fprintf(out, "%s%*s |%s\n", p->frame, gutter, "", p->end);
	fprintf(out, "%s%*d |%s ", p->frame, gutter, one->line, p->end);
	caret = diag_print_source(one->source, one->column, out);
	fprintf(out, "\n%s%*s |%s", p->frame, gutter, "", p->end);
	if (one->column) {
		fprintf(out, " %*s%s", caret, "", p->level[one->level]);
		for (int i = 0; i < one->width; i++)
			fputc('^', out);
		if (one->suggestion)
			fprintf(out, " did you mean '%s'?", one->suggestion);
		fprintf(out, "%s", p->end);
	}
	fputc('\n', out);
}

static void diag_print_place(const struct diag *one, FILE *out)
{
	fprintf(out, "%s", one->path);
	if (one->line)
		fprintf(out, ":%d", one->line);
	if (one->line && one->column)
		fprintf(out, ":%d", one->column);
}

static void diag_print(const struct diag *one, const struct palette *p, FILE *out)
{
	int gutter = snprintf(NULL, 0, "%d", one->line);

	fprintf(out, "%s%s[%s]%s: %s%s%s\n", p->level[one->level], level_words[one->level],
		one->rule, p->end, p->bold, one->text, p->end);
	fprintf(out, "%s%*s-->%s ", p->frame, gutter, "", p->end);
	diag_print_place(one, out);
	fputc('\n', out);
	if (one->source)
		diag_print_excerpt(one, gutter, p, out);
	if (one->note)
		fprintf(out, "%s%*s =%s %s\n", p->frame, gutter, "", p->end, one->note);
	fputc('\n', out);
}

/* "2 errors, 1 warning in FILE", or "in 3 files". */
static void diags_print_total(const struct diags *d, FILE *out)
{
	size_t warnings = d->count - d->errors, files = 0;

	for (size_t i = 0; i < d->count; i++)
		files += diag_file_index(d, &d->list[i]) == i;
	if (d->errors)
		fprintf(out, "%zu error%s", d->errors, plural(d->errors));
	if (warnings)
		fprintf(out, "%s%zu warning%s", d->errors ? ", " : "", warnings, plural(warnings));
	if (files == 1)
		fprintf(out, " in %s\n", d->list[0].path);
	else
		fprintf(out, " in %zu files\n", files);
}

static int diag_stream_error(FILE *out)
{
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int diags_print(const struct diags *d, FILE *out, bool colour)
{
	struct entry *entries;

	if (!d->count)
		return 0;
	entries = diags_sort(d);
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < d->count; i++)
		diag_print(entries[i].one, colour ? &colours : &plain, out);
	free(entries);
	diags_print_total(d, out);
	return diag_stream_error(out);
}

int diags_print_gcc(const struct diags *d, FILE *out)
{
	struct entry *entries = diags_sort(d);

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < d->count; i++) {
		const struct diag *one = entries[i].one;

		diag_print_place(one, out);
		fprintf(out, ": %s: %s [%s]\n", level_words[one->level], one->text, one->rule);
	}
	free(entries);
	return diag_stream_error(out);
}

static json_t *diag_to_json(const struct diag *one)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s*, s:s*}", "rule", one->rule, "level",
			 level_words[one->level], "path", one->path, "line", one->line, "column",
			 one->column, "text", one->text, "note", one->note, "suggestion",
			 one->suggestion);
}

json_t *diags_to_json(const struct diags *d)
{
	struct entry *entries = diags_sort(d);
	json_t *findings = json_array();
	bool good = entries && findings;

	for (size_t i = 0; good && i < d->count; i++)
		good = !json_array_append_new(findings, diag_to_json(entries[i].one));
	free(entries);
	if (!good) {
		json_decref(findings);
		return NULL;
	}
	return json_pack("{s:s, s:I, s:I, s:o}", "schema", "rocecheck.lint/1", "errors",
			 (json_int_t)d->errors, "warnings", (json_int_t)(d->count - d->errors),
			 "findings", findings);
}

/* The ids of input errors. Ids are stable: old ones never change their meaning. 001 to 019 are
 * about the file, 020 and up about settings that contradict each other. */

const struct diag_rule diag_rules[] = {
	{
		.id = "RC-INP-001",
		.title = "the file is not YAML",
		.explain = "The text is not valid YAML: an unclosed bracket, a tab as "
			   "indentation, a missing ': ', text that is not UTF-8. Only the "
			   "first such error of a file is reported.",
		.unusable = true,
	},
	{
		.id = "RC-INP-002",
		.title = "unknown key",
		.explain = "The schema has no such key. Keys are exact words. An unknown key "
			   "is an error, because a setting that is silently dropped is not "
			   "applied.",
	},
	{
		.id = "RC-INP-003",
		.title = "key given twice",
		.explain = "YAML forbids duplicate keys, but many parsers silently use the "
			   "last one. Remove one of the two.",
	},
	{
		.id = "RC-INP-004",
		.title = "wrong kind of value",
		.explain = "For example, a list instead of a word, or text instead of a "
			   "number. Numbers are decimal (no 0x, no leading zero). Switches are "
			   "on or off. No value is converted.",
	},
	{
		.id = "RC-INP-005",
		.title = "value out of range",
		.explain = "Priorities and traffic classes are 0 to 7, DSCPs 0 to 63. The note "
			   "of the finding states the range of the key.",
	},
	{
		.id = "RC-INP-006",
		.title = "required key missing",
		.explain = "The key is required. 'rocecheck schema profile' and 'rocecheck "
			   "schema fabric' print all keys and the required ones.",
	},
	{
		.id = "RC-INP-007",
		.title = "unusable file",
		.explain = "The file is empty, has no keys, is larger than 16 MiB, not a regular "
			   "file, nested deeper than 32 levels, has a map of more than 256 keys or "
			   "more than 1000 findings. No profile or inventory needs that.",
		.unusable = true,
	},
	{
		.id = "RC-INP-008",
		.title = "YAML feature not supported",
		.explain = "Aliases, tags and several documents in one file are not supported: "
			   "they hide values, and a few lines of aliases can expand to "
			   "millions of values. Write the values out, or use 'extends'.",
		.unusable = true,
	},
	{
		.id = "RC-INP-009",
		.title = "unknown word",
		.explain = "The key accepts a fixed set of words. The note of the finding "
			   "lists them.",
	},
	{
		.id = "RC-INP-010",
		.title = "unknown schema",
		.explain = "The key 'schema' states the type of the file: rocecheck.profile/1 "
			   "or rocecheck.fabric/1. Another number belongs to another version "
			   "of rocecheck.",
		.unusable = true,
	},
	{
		.id = "RC-INP-011",
		.title = "profile not found",
		.explain = "A name selects a shipped profile. A path (with a '/', or ending in "
			   ".yaml or .yml) selects a file. In a profile or an inventory, the "
			   "path is relative to the folder of that file.",
	},
	{
		.id = "RC-INP-012",
		.title = "extends is nested or circular",
		.explain = "A profile can extend one other profile. The extended profile must "
			   "not extend another one.",
	},
	{
		.id = "RC-INP-013",
		.title = "invalid name",
		.explain = "Host names are arguments of other programs: they have letters, "
			   "digits, '.', '_' and '-', and do not begin with '-'. Interface "
			   "names have at most 15 characters.",
	},
	{
		.id = "RC-INP-014",
		.title = "duplicate entry",
		.explain = "Two entries name the same object: a host, a port, a DSCP, an "
			   "application entry.",
	},
	{
		.id = "RC-INP-015",
		.title = "not an IP address",
		.explain = "Expected an IPv4 or IPv6 address without prefix length, such as "
			   "198.18.0.1 or fd00::1.",
	},
	{
		.id = "RC-INP-016",
		.title = "key without effect",
		.explain = "The key is known and its value is checked, but the key has no "
			   "effect: it is reserved, or only the device reports its value. "
			   "rocecheck applies and checks nothing because of it.",
	},
	{
		.id = "RC-INP-017",
		.title = "unknown host",
		.explain = "An exception of the inventory (key 'allow') names a host that the "
			   "inventory does not have. It would allow nothing.",
	},
	{
		.id = "RC-INP-020",
		.title = "RoCE traffic would be lossy",
		.explain = "The intent is lossless, but the profile maps the DSCP of RoCE data "
			   "to a priority without PFC. Congestion then drops RoCE packets, and "
			   "each drop causes a go-back-N retransmission. Map that DSCP to a "
			   "priority of pfc.enabled, or enable PFC on its priority.",
	},
	{
		.id = "RC-INP-021",
		.title = "CNPs share the lossless priority",
		.explain = "Congestion notification packets (IBTA annex A17) slow senders "
			   "down. On a lossless priority, PFC delays the CNPs that should "
			   "prevent PFC pauses. Use another priority for CNPs.",
	},
	{
		.id = "RC-INP-022",
		.title = "lossless and lossy priorities share a traffic class",
		.explain = "PFC pauses a priority, but a queue belongs to a traffic class. In "
			   "a shared class, a pause also stops the lossy traffic, and lossy "
			   "packets can fill the buffer headroom of the lossless priority.",
	},
	{
		.id = "RC-INP-023",
		.title = "ETS shares do not sum to 100",
		.explain = "The shares of all traffic classes with tc_tsa ets must sum to "
			   "exactly 100 percent (802.1Q clause 37). mlx5 and ice refuse other "
			   "sums.",
	},
	{
		.id = "RC-INP-024",
		.title = "ETS class without a share",
		.explain = "A traffic class with tc_tsa ets and 0 percent gets no bandwidth "
			   "while other classes are busy. bnxt refuses it. Set a share, or do "
			   "not use the class.",
	},
	{
		.id = "RC-INP-025",
		.title = "trust pcp without a VLAN map",
		.explain = "With trust pcp, the VLAN tag carries the priority. The kernel "
			   "derives it from the ToS through the egress map of the VLAN device. "
			   "By default, DSCP 26 does not become priority 3. Without "
			   "vlan.egress_qos_map, untagged and unmapped traffic has priority 0.",
	},
	{
		.id = "RC-INP-026",
		.title = "RoCE marking without ECT",
		.explain = "With ECN 'none' in the default ToS, switches cannot mark RoCE "
			   "packets (RFC 3168 s5), unless the NIC sets ECT itself. Senders "
			   "never set CE; only switches do.",
	},
	{
		.id = "RC-INP-027",
		.title = "MTU too small for the RDMA MTU",
		.explain = "The kernel subtracts 96 bytes of RoCE headers from the MTU of the "
			   "network device and rounds down to 256, 512, 1024, 2048 or 4096: 4096 "
			   "needs 4192, 2048 needs 2144, 1024 needs 1120. Soft-RoCE subtracts "
			   "80; the stricter rule is used.",
	},
	{
		.id = "RC-INP-028",
		.title = "link pause together with PFC",
		.explain = "Link pause (802.3x) stops all priorities at once. Together with "
			   "PFC, it pauses the lossy traffic, too. Several drivers refuse both "
			   "together.",
	},
	{
		.id = "RC-INP-029",
		.title = "intent and PFC contradict each other",
		.explain = "intent: lossless needs a priority in pfc.enabled. With intent "
			   "lossy or sprayed, leave pfc.enabled empty.",
	},
	{
		.id = "RC-INP-030",
		.title = "lossless class outside ETS",
		.explain = "The traffic class of a lossless priority is strict: it is served "
			   "before all ETS classes and can starve them until their senders "
			   "time out. Use ets with a share, or set a rate limit in "
			   "ets.tc_maxrate_kbps.",
	},
	{
		.id = "RC-INP-031",
		.title = "share of a class that is not ETS",
		.explain = "tc_tx_bw is the share of classes with tc_tsa ets. It has no effect "
			   "on other classes. Usually tc_tsa is missing.",
	},
	{
		.id = "RC-INP-032",
		.title = "trust dscp without a DSCP map",
		.explain = "With trust dscp, all traffic has priority 0 until app.dscp or "
			   "app.dscp_default maps it.",
	},
	{.id = NULL},
};

const struct diag_rule *diag_rule_find(const char *id)
{
	for (const struct diag_rule *rule = diag_rules; rule->id; rule++)
		if (!strcmp(rule->id, id))
			return rule;
	return NULL;
}
