/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the table of ports of the text report: checks by verdict, and the worst verdict. Rows that
 * are equal but for their names are one row of node sets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/text.h"
#include "reports/engine/findings.h"
#include "reports/write/text_priv.h"

#define ROWS_MAX 24 /* of one verdict */

/* Findings of one row by verdict, and those that make the report INCOMPLETE. */
struct tally {
	size_t by[VERDICT_FAIL + 1];
	size_t blocking;
	const struct finding *root; /* root cause of a FAIL */
	bool own;		    /* a FAIL has its root cause on this host */
};

static void ports_tally_add(const struct page *p, const struct finding *f, struct tally *t)
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
static struct tally ports_tally(const struct page *p, const char *host, const char *port,
				bool with_host)
{
	struct tally t = {.blocking = 0};
	size_t end, at = finding_order_host(&p->hosts, p->f, host, &end);

	for (; at < end; at++) {
		const struct finding *f = &p->f->list[p->hosts.at[at]];

		if (f->port[0] ? !strcmp(f->port, port) : with_host)
			ports_tally_add(p, f, &t);
	}
	return t;
}

static enum verdict ports_worst_verdict(const struct tally *t)
{
	if (t->by[VERDICT_FAIL])
		return VERDICT_FAIL;
	if (t->blocking)
		return VERDICT_INCONCLUSIVE;
	return t->by[VERDICT_WARN] ? VERDICT_WARN : VERDICT_PASS;
}

enum { COLUMN_HOST, COLUMN_PORT, COLUMN_DEVICE, COLUMNS };

/* A row of the table of ports. */
struct port_row {
	const char *name[COLUMNS]; /* borrowed; "-" without one */
	char *place;		   /* owned: port and device */
	char *rest;		   /* owned: the columns behind them */
	enum verdict worst;
};

/* All rows, in the order of the run. */
struct port_table {
	struct port_row *row;  /* owned, as the next */
	struct fold_row *fold; /* of these rows; with -v each for itself */
	size_t count;
};

static bool ports_tally_is_empty(const struct tally *t)
{
	return !(t->by[VERDICT_PASS] + t->by[VERDICT_WARN] + t->by[VERDICT_FAIL] +
		 t->by[VERDICT_INCONCLUSIVE]);
}

static void write_row_end(const struct page *p, const struct port *read, const struct tally *t)
{
	enum verdict worst = ports_worst_verdict(t);
	char mtu[16] = "-";

	if (read && read->active_mtu)
		snprintf(mtu, sizeof(mtu), "%u", read->active_mtu);
	fprintf(p->out, "%6s %5zu %5zu %5zu %7zu  ", mtu, t->by[VERDICT_PASS], t->by[VERDICT_WARN],
		t->by[VERDICT_FAIL], t->by[VERDICT_INCONCLUSIVE]);
	if (ports_tally_is_empty(t)) {
		fputs("not checked", p->out);
		return;
	}
	write_coloured(p, worst, text_verdict_word(worst));
	if (worst == VERDICT_FAIL && !t->own && t->root->host[0]) {
		fputs(", caused by ", p->out);
		text_print(p->out, t->root->host, TEXT_FIELD);
	}
}

static void ports_add(const struct page *p, struct port_table *table, const char *host,
		      const char *port, const struct port *read, const struct tally *t)
{
	struct port_row *row = &table->row[table->count];
	struct page end = *p;
	size_t size;
	bool failed;

	*row = (struct port_row){
		.name = {host, port[0] ? port : "-", read && read->ibdev[0] ? read->ibdev : "-"},
		.worst = ports_worst_verdict(t),
	};
	end.out = open_memstream(&row->rest, &size);
	if (!end.out) {
		*p->err = -ENOMEM;
		return;
	}
	write_row_end(&end, read, t);
	failed = ferror(end.out);
	if (fclose(end.out) || failed ||
	    asprintf(&row->place, "%s\n%s", row->name[COLUMN_PORT], row->name[COLUMN_DEVICE]) < 0) {
		row->place = NULL;
		*p->err = -ENOMEM;
	}
	table->fold[table->count] = (struct fold_row){.key = row->rest,
						      .host = host,
						      .port = row->place,
						      .index = table->count,
						      .fold = table->count};
	table->count++;
}

/* Adds a row per port. A host of several ports has a row for the checks that belong to none of
 * them. */
static void ports_add_host(const struct page *p, struct port_table *table, const struct run_host *h)
{
	unsigned int ports = h->port_count ? h->port_count : h->before.port_count;
	struct tally t;

	for (unsigned int i = 0; i < ports; i++) {
		const char *name = h->port_count ? h->port[i].netdev : h->before.port[i].netdev;

		t = ports_tally(p, h->name, name, ports == 1);
		ports_add(p, table, h->name, name,
			  h->has_before && name[0] ? snapshot_port(&h->before, name) : NULL, &t);
	}
	if (ports == 1)
		return;
	t = ports_tally(p, h->name, "", true);
	ports_add(p, table, h->name, ports ? "(host)" : "", NULL, &t);
}

/* Returns the node set of one column of the rows of a fold as it is printed, the caller's. */
static char *ports_set(const struct page *p, const struct port_table *table,
		       const struct fold_row *rows, size_t count, size_t column)
{
	const char **names = calloc(count + 1, sizeof(*names));
	char *set, *shown;

	if (!names) {
		*p->err = -ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		names[i] = table->row[rows[i].index].name[column];
	set = text_node_set(p, names, text_unique_names(names, count));
	shown = text_copy(set ? set : "?", TEXT_FIELD);
	free(set);
	free(names);
	return shown;
}

/* Writes the rows of a fold as one. Node sets longer than a column have a line of their own. */
static void write_row(const struct page *p, const struct port_table *table,
		      const struct fold_row *rows, size_t count)
{
	static const int width[COLUMNS] = {16, 15, 12};
	char *shown[COLUMNS];
	bool wide = false;

	for (size_t i = 0; i < COLUMNS; i++) {
		shown[i] = ports_set(p, table, rows, count, i);
		wide |= count > 1 && shown[i] && strlen(shown[i]) > (size_t)width[i];
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		fprintf(p->out, "%s%-*s", i ? " " : "", wide ? 0 : width[i],
			shown[i] ? shown[i] : "?");
		free(shown[i]);
	}
	if (wide)
		fprintf(p->out, "\n%*s", width[0] + width[1] + width[2] + 2, "");
	fprintf(p->out, " %s\n", table->row[rows->index].rest);
}

/* "FAIL  176 more rows of h[25-200]: -v prints them" */
static void write_rows_left(const struct page *p, enum verdict v, const char **names, size_t count)
{
	size_t hosts = text_unique_names(names, count);
	char *set = text_node_set(p, names, hosts);

	write_coloured(p, v, text_verdict_word(v));
	fprintf(p->out, "  %zu more row%s of ", count, plural(count));
	text_print(p->out, set ? set : "?", TEXT_FIELD);
	fputs(": -v prints them\n", p->out);
	free(set);
}

/* Writes the first ROWS_MAX folds of each verdict, and the hosts of the others. */
static void write_folds(const struct page *p, const struct port_table *table)
{
	const struct fold_row *rows = table->fold;
	size_t printed[VERDICT_FAIL + 1] = {0}, left[VERDICT_FAIL + 1] = {0};
	const char **names = calloc((VERDICT_FAIL + 1) * table->count + 1, sizeof(*names));

	if (!names) {
		*p->err = -ENOMEM;
		return;
	}
	for (size_t i = 0, end; i < table->count; i = end) {
		enum verdict v = table->row[rows[i].index].worst;

		for (end = i + 1; end < table->count && rows[end].fold == rows[i].fold;)
			end++;
		if (p->r->verbose || printed[v]++ < ROWS_MAX)
			write_row(p, table, &rows[i], end - i);
		else
			for (size_t k = i; k < end; k++)
				names[v * table->count + left[v]++] =
					table->row[rows[k].index].name[COLUMN_HOST];
	}
	for (int v = VERDICT_PASS; v <= VERDICT_FAIL; v++)
		if (left[v])
			write_rows_left(p, (enum verdict)v, names + (size_t)v * table->count,
					left[v]);
	free(names);
}

void write_port_table(const struct page *p)
{
	struct tally fabric = ports_tally(p, "", "", true);
	struct port_table table = {.count = 0};
	const struct run *run = p->r->run;
	size_t most = text_port_count(run) + run->host_count + 1;

	fprintf(p->out, "\n%-16s %-15s %-12s %6s %5s %5s %5s %7s  %s\n", "HOST", "PORT", "DEVICE",
		"IB MTU", "PASS", "WARN", "FAIL", "INCONCL", "VERDICT");
	table.row = calloc(most, sizeof(*table.row));
	table.fold = calloc(most, sizeof(*table.fold));
	if (!table.row || !table.fold)
		*p->err = -ENOMEM;
	for (unsigned int i = 0; !*p->err && i < run->host_count; i++)
		ports_add_host(p, &table, &run->host[i]);
	if (!*p->err && !p->r->verbose)
		fold_rows(table.fold, table.count);
	if (!*p->err)
		write_folds(p, &table);
	if (!*p->err && !ports_tally_is_empty(&fabric)) {
		ports_add(p, &table, "all hosts", "", NULL, &fabric);
		if (!*p->err)
			write_row(p, &table, &table.fold[table.count - 1], 1);
	}
	for (size_t i = 0; i < table.count; i++) {
		free(table.row[i].place);
		free(table.row[i].rest);
	}
	free(table.row);
	free(table.fold);
}
