/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a survey. Lines that differ in the rail alone are one line, and hosts are node sets: a
 * fabric of 2,000 equal hosts fits on a screen. JSON has everything.
 */
#include "cmd/survey_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "profiles/base/json.h"
#include "profiles/base/nodeset.h"
#include "profiles/base/text.h"

#define SURVEY_SCHEMA "rocecheck.survey/1"
#define HOSTS_COLUMNS 160 /* of one node set */

/* A line of the report about a group. */
struct survey_line {
	unsigned int group;
	const char *hosts; /* borrowed */
	const char *each;  /* what follows the text of several rails */
	char *text;	   /* owned; NULL: not to print */
};

/* Prints a node set; of a long one the beginning. */
static void survey_print_hosts(FILE *out, const char *set)
{
	size_t length = strlen(set);

	if (length <= HOSTS_COLUMNS)
		fputs(set, out);
	else
		fprintf(out, "%.*s... (--json: all)", HOSTS_COLUMNS, set);
}

/* Prints a folded set of numbers or netdevs: "0-7", "eth[2-9]". */
static void survey_print_fold(FILE *out, const char *const *names, unsigned int count)
{
	char *text = NULL;

	if (nodeset_fold(names, count, &text))
		return; /* short of memory: the set is missing */
	if (text[0] == '[' && strchr(text, ']') && !strchr(text, ']')[1])
		fprintf(out, "%.*s", (int)strlen(text) - 2, text + 1);
	else
		survey_print_hosts(out, text);
	free(text);
}

/* Folds the names of these hosts. NULL on -ENOMEM, else the caller's to free. */
static char *survey_fold_hosts(const struct run *r, const bool *in)
{
	const char **names = calloc(r->host_count + 1, sizeof(*names));
	unsigned int count = 0;
	char *text = NULL;

	for (unsigned int i = 0; names && i < r->host_count; i++)
		if (in[i])
			names[count++] = r->host[i].name;
	if (names && nodeset_fold(names, count, &text))
		text = NULL;
	free(names);
	return text;
}

/* Prints driver, speed and rails of groups that differ in the rail alone: "mlx5_core, 400 Gb/s,
 * rails 0-7 (eth[2-9])".
 */
static void survey_print_kind(const struct survey *s, FILE *out, const unsigned int *group,
			      unsigned int count)
{
	const struct survey_group *first = &s->group[group[0]];
	const char *rails[SURVEY_PORTS_MAX], *netdevs[SURVEY_PORTS_MAX];
	char number[SURVEY_PORTS_MAX][12];

	fputs(first->port->driver[0] ? first->port->driver : first->port->rdma_driver, out);
	if (first->port->kind == PORT_SOFT_ROCE)
		fputs(" with Soft-RoCE", out);
	if (first->level == SURVEY_SPEED && first->port->speed_mbps)
		fprintf(out, ", %g Gb/s", first->port->speed_mbps / 1e3);
	for (unsigned int i = 0; i < count; i++) {
		snprintf(number[i], sizeof(number[i]), "%u", s->group[group[i]].rail);
		rails[i] = number[i];
		netdevs[i] = survey_port_name(s->group[group[i]].port);
	}
	fprintf(out, ", rail%s ", plural(count));
	survey_print_fold(out, rails, count);
	fputs(" (", out);
	survey_print_fold(out, netdevs, count);
	fputs(")", out);
}

static void survey_print_outlier(const struct survey *s, unsigned int i, FILE *out,
				 struct survey_line *line)
{
	const struct survey_outlier *o = &s->outlier[i];

	line->group = o->group;
	line->hosts = o->members.hosts;
	line->each = o->tie ? "" : " of each rail";
	fputs(survey_item_text(o->item), out);
	if (o->prio >= 0)
		fprintf(out, ", priority %d", o->prio);
	fprintf(out, ": %s", o->value);
	if (o->counter)
		fprintf(out, " in %g s", s->interval_ms / 1e3);
	fputs(" on ", out);
	survey_print_hosts(out, o->members.hosts);
	if (o->tie)
		fputs("; no value leads", out);
	else
		fprintf(out, "; %s on %u other %s%s", o->norm, o->norm_count,
			s->group[o->group].port ? "port" : "host", plural(o->norm_count));
}

static void survey_print_unknown(const struct survey *s, unsigned int i, FILE *out,
				 struct survey_line *line)
{
	const struct survey_unknown *u = &s->unknown[i];

	line->group = u->group;
	line->hosts = u->members.hosts;
	line->each = "";
	fputs("unknown on ", out);
	survey_print_hosts(out, u->members.hosts);
	for (unsigned int k = 0; k < u->item_count; k++)
		fprintf(out, "%s %s", k ? "," : ":", survey_item_text(u->item[k]));
}

static void survey_print_group(const struct survey *s, unsigned int i, FILE *out,
			       struct survey_line *line)
{
	const struct survey_group *g = &s->group[i];
	char lossless[24];

	line->group = i;
	line->hosts = g->members.hosts;
	fputs(" on ", out);
	survey_print_hosts(out, g->members.hosts);
	if (g->members.count < 2)
		fputs("; nothing to compare it with", out);
	if (qos_has(&g->norm, QOS_PFC_ENABLED)) {
		qos_prio_set_text(g->norm.pfc_enabled, lossless, sizeof(lossless));
		fprintf(out, "; PFC on %s", lossless);
	}
	if (g->tx_prio >= 0)
		fprintf(out, "; most bytes leave on priority %d", g->tx_prio);
}

/* Returns true for lines of groups that differ in the rail alone. */
static bool survey_same_line(const struct survey *s, const struct survey_line *x,
			     const struct survey_line *y)
{
	const struct survey_group *a = &s->group[x->group], *b = &s->group[y->group];

	return !strcmp(x->text, y->text) && !strcmp(x->hosts, y->hosts) && a->level == b->level &&
	       a->port && b->port && a->port->kind == b->port->kind &&
	       !strcmp(a->port->driver, b->port->driver) &&
	       !strcmp(a->port->rdma_driver, b->port->rdma_driver) &&
	       (a->level == SURVEY_DRIVER || a->port->speed_mbps == b->port->speed_mbps);
}

/* Prints a line for itself and the same ones after it, whose texts it frees. */
static int survey_print_line(const struct survey *s, struct survey_line *line, unsigned int n,
			     bool groups)
{
	unsigned int group[SURVEY_PORTS_MAX] = {line->group}, count = 1, ports;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	for (unsigned int k = 1; k < n && count < SURVEY_PORTS_MAX; k++) {
		if (!line[k].text || !survey_same_line(s, line, &line[k]))
			continue;
		group[count++] = line[k].group;
		free(line[k].text);
		line[k].text = NULL;
	}
	if (groups) {
		ports = s->group[line->group].members.count * count;
		survey_print_kind(s, out, group, count);
		fprintf(out, ": %u port%s%s", ports, plural(ports), line->text);
	} else {
		fprintf(out, "%s%s", line->text, count > 1 ? line->each : "");
		if (s->group[line->group].port && s->speed_groups > 1) {
			fputs(" [", out);
			survey_print_kind(s, out, group, count);
			fputs("]", out);
		}
	}
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	fputs("  ", stdout);
	output_wrap(stdout, text, 2, 6, OUTPUT_COLUMNS);
	putchar('\n');
	free(text);
	return 0;
}

/* Prints n lines under a title; make() prints the text of one. */
static int survey_print_lines(const struct survey *s, const char *title, unsigned int n,
			      void (*make)(const struct survey *s, unsigned int i, FILE *out,
					   struct survey_line *line))
{
	struct survey_line *line = calloc(n + 1, sizeof(*line));
	bool groups = make == survey_print_group, titled = false;
	int err = line ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < n; i++) {
		size_t size;
		FILE *out;

		if (groups && s->group[i].level != SURVEY_SPEED)
			continue;
		out = open_memstream(&line[i].text, &size);
		if (out)
			make(s, i, out, &line[i]);
		err = out && !fclose(out) ? 0 : -ENOMEM;
	}
	for (unsigned int i = 0; !err && i < n; i++) {
		if (!line[i].text)
			continue;
		fputs(titled ? "" : title, stdout);
		titled = true;
		err = survey_print_line(s, &line[i], n - i, groups);
	}
	for (unsigned int i = 0; line && i < n; i++)
		free(line[i].text);
	free(line);
	return err;
}

/* Counters that grow on most ports, the highest median of all groups. */
static void survey_print_common(const struct survey *s)
{
	const char *title = "\nGrows on most ports of a group (median per port)\n";

	for (int m = 0; m < METRIC_COUNT; m++) {
		for (int prio = -1; prio < QOS_PRIOS; prio++) {
			double median = 0;

			for (unsigned int i = 0; i < s->common_count; i++)
				if (s->common[i].metric == (enum metric)m &&
				    s->common[i].prio == prio && s->common[i].median > median)
					median = s->common[i].median;
			if (median <= 0)
				continue;
			printf("%s  %s", title, metric_table[m].name);
			title = "";
			if (prio >= 0)
				printf(", priority %d", prio);
			printf(": %.3g %s/s\n", median, metric_table[m].unit);
		}
	}
}

static const char *survey_lost_reason(const struct run_host *h)
{
	if (h->error[0])
		return h->error;
	return h->has_before ? "no second reading" : "no answer";
}

/* Lost hosts, those with the same reason once. */
static int survey_print_lost(const struct survey *s, bool *in)
{
	const struct run *r = s->r;

	if (s->lost)
		puts("\nIncomplete: no answer, or only the first of two");
	for (unsigned int i = 0; i < r->host_count; i++) {
		const char *why = survey_lost_reason(&r->host[i]);
		unsigned int first = r->host_count;
		char *set;

		for (unsigned int k = r->host_count; k-- > 0;) {
			in[k] = survey_host_lost(&r->host[k]) &&
				!strcmp(why, survey_lost_reason(&r->host[k]));
			first = in[k] ? k : first;
		}
		if (i != first)
			continue;
		set = survey_fold_hosts(r, in);
		if (!set)
			return -ENOMEM;
		fputs("  ", stdout);
		survey_print_hosts(stdout, set);
		fputs(": ", stdout);
		text_print(stdout, why, TEXT_FIELD);
		putchar('\n');
		free(set);
	}
	return 0;
}

static int survey_print_headline(const struct survey *s, bool *in)
{
	const char *colour = !globals->colour_out			   ? ""
			     : s->outlier_count || s->lost || !s->compared ? TEXT_BOLD_RED
									   : TEXT_GREEN;
	char *set;

	for (unsigned int i = 0; i < s->outlier_count; i++)
		for (unsigned int m = 0; m < s->outlier[i].members.count; m++)
			in[s->outlier[i].members.list[m].host] = true;
	set = survey_fold_hosts(s->r, in);
	if (!set)
		return -ENOMEM;
	printf("%s%s", colour,
	       *set	      ? "OUTLIERS on "
	       : !s->compared ? "INCOMPLETE, NOTHING TO COMPARE"
	       : s->lost      ? "INCOMPLETE, NO OUTLIERS"
			      : "NO OUTLIERS");
	survey_print_hosts(stdout, set);
	printf("%s: %u of %u host%s answered, %u RoCE port%s, readings %g s apart\n",
	       *colour ? TEXT_RESET : "", s->answered, s->r->host_count, plural(s->r->host_count),
	       s->port_count, plural(s->port_count), s->interval_ms / 1e3);
	free(set);
	return 0;
}

int survey_print_text(const struct survey *s)
{
	bool *in = calloc(s->r->host_count + 1, sizeof(*in)); /* a set of hosts */
	int err = in ? survey_print_headline(s, in) : -ENOMEM;

	if (!err)
		err = survey_print_lost(s, in);
	free(in);
	if (!err)
		err = survey_print_lines(
			s,
			"\nOutliers: unlike most ports of the same driver, link speed and rail\n",
			s->outlier_count, survey_print_outlier);
	if (!err)
		survey_print_common(s);
	if (!err)
		err = survey_print_lines(s, "\nGroups\n", s->group_count, survey_print_group);
	if (!err)
		err = survey_print_lines(s, "\nUnknown: could not be read, and is not compared\n",
					 s->unknown_count, survey_print_unknown);
	if (!err && s->unprivileged && s->unknown_count)
		printf("  Agents without CAP_NET_ADMIN: %u. As root they read more: --launcher "
		       "'ssh {host} sudo'\n",
		       s->unprivileged);
	return err;
}

static json_t *survey_prio_json(int prio)
{
	return prio < 0 ? json_null() : json_integer(prio);
}

static json_t *survey_lost_json(const struct survey *s, unsigned int i)
{
	const struct run_host *h = &s->r->host[i];

	return json_pack("{s:s, s:o}", "host", h->name, "error",
			 text_to_json(survey_lost_reason(h)));
}

static json_t *survey_group_json(const struct survey *s, unsigned int i)
{
	static const char *const levels[] = {
		[SURVEY_HOSTS] = "hosts", [SURVEY_DRIVER] = "driver", [SURVEY_SPEED] = "speed"};
	const struct survey_group *g = &s->group[i];
	json_t *one = json_pack("{s:s, s:s, s:i}", "level", levels[g->level], "hosts",
				g->members.hosts, "count", (int)g->members.count);
	json_t *port;

	if (!g->port)
		return one;
	port = json_pack("{s:o, s:s, s:o, s:i, s:I, s:o, s:o}", "driver",
			 text_to_json(g->port->driver), "kind", port_kind_word(g->port->kind),
			 "netdev", text_to_json(g->port->netdev), "rail", (int)g->rail,
			 "speed_mbps", (json_int_t)g->port->speed_mbps, "tx_prio",
			 survey_prio_json(g->tx_prio), "settings", qos_to_json(&g->norm));
	if (!one || !port || json_object_update(one, port)) {
		json_decref(one);
		one = NULL;
	}
	json_decref(port);
	return one;
}

static json_t *survey_outlier_json(const struct survey *s, unsigned int i)
{
	const struct survey_outlier *o = &s->outlier[i];
	json_t *ports = json_array();

	for (unsigned int m = 0; m < o->members.count; m++) {
		struct survey_member at = o->members.list[m];
		json_t *port = at.port == SURVEY_HOST
				       ? json_null()
				       : text_to_json(survey_port_name(survey_port(s->r, at)));

		ports = json_list_add(ports, json_pack("{s:s, s:o}", "host",
						       s->r->host[at.host].name, "port", port));
	}
	return json_pack("{s:i, s:s, s:o, s:b, s:o, s:o, s:i, s:s, s:o, s:o, s:o}", "group",
			 (int)o->group, "item", o->item, "prio", survey_prio_json(o->prio),
			 "counter", o->counter, "value", text_to_json(o->value), "norm",
			 o->norm ? text_to_json(o->norm) : json_null(), "norm_count",
			 (int)o->norm_count, "hosts", o->members.hosts, "ports", ports, "low",
			 o->counter ? json_uint(o->low) : json_null(), "high",
			 o->counter ? json_uint(o->high) : json_null());
}

static json_t *survey_common_json(const struct survey *s, unsigned int i)
{
	const struct survey_common *c = &s->common[i];

	return json_pack("{s:i, s:s, s:o, s:f}", "group", (int)c->group, "metric",
			 metric_table[c->metric].name, "prio", survey_prio_json(c->prio),
			 "median_per_s", c->median);
}

static json_t *survey_unknown_json(const struct survey *s, unsigned int i)
{
	const struct survey_unknown *u = &s->unknown[i];
	json_t *items = json_array();

	for (unsigned int k = 0; k < u->item_count; k++)
		items = json_list_add(items, json_string(u->item[k]));
	return json_pack("{s:i, s:s, s:o}", "group", (int)u->group, "hosts", u->members.hosts,
			 "items", items);
}

json_t *survey_json(const struct survey *s, int code)
{
	const struct {
		const char *key;
		unsigned int count;
		json_t *(*one)(const struct survey *s, unsigned int i);
	} lists[] = {
		{"lost", s->r->host_count, survey_lost_json},
		{"outliers", s->outlier_count, survey_outlier_json},
		{"common", s->common_count, survey_common_json},
		{"groups", s->group_count, survey_group_json},
		{"unknown", s->unknown_count, survey_unknown_json},
	};
	json_t *doc = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i}", "schema", SURVEY_SCHEMA,
				"exit_code", code, "hosts", (int)s->r->host_count, "answered",
				(int)s->answered, "ports", (int)s->port_count, "interval_ms",
				(int)s->interval_ms);

	for (unsigned int l = 0; doc && l < ARRAY_SIZE(lists); l++) {
		json_t *list = json_array();

		for (unsigned int i = 0; i < lists[l].count; i++)
			if (lists[l].one != survey_lost_json || survey_host_lost(&s->r->host[i]))
				list = json_list_add(list, lists[l].one(s, i));
		if (json_object_set_new(doc, lists[l].key, list)) {
			json_decref(doc);
			doc = NULL;
		}
	}
	return doc;
}
