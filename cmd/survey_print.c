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

/* Names of the hosts of members as a node set, which the caller frees. NULL on -ENOMEM. */
static char *survey_fold(const struct run *r, const struct survey_members *m)
{
	const char **names = calloc(m->count + 1, sizeof(*names));
	char *text = NULL;

	for (unsigned int i = 0; names && i < m->count; i++)
		names[i] = r->host[m->list[i].host].name;
	if (names && nodeset_fold(names, m->count, &text))
		text = NULL;
	free(names);
	return text;
}

int survey_view_make(const struct run *r, unsigned int interval_ms, struct survey_view *v)
{
	int err;

	*v = (struct survey_view){.r = r, .interval_ms = interval_ms};
	err = survey_make(r, &v->s);
	if (err)
		return err;
	for (unsigned int i = 0; i < v->s.group_count; i++)
		v->groups += v->s.group[i].level == SURVEY_SPEED;
	v->outlier_hosts = calloc(v->s.outlier_count + 1, sizeof(char *));
	v->unknown_hosts = calloc(v->s.unknown_count + 1, sizeof(char *));
	v->group_hosts = calloc(v->s.group_count + 1, sizeof(char *));
	if (!v->outlier_hosts || !v->unknown_hosts || !v->group_hosts)
		return -ENOMEM;
	for (unsigned int i = 0; i < v->s.outlier_count; i++)
		if (!(v->outlier_hosts[i] = survey_fold(r, &v->s.outlier[i].members)))
			return -ENOMEM;
	for (unsigned int i = 0; i < v->s.unknown_count; i++)
		if (!(v->unknown_hosts[i] = survey_fold(r, &v->s.unknown[i].members)))
			return -ENOMEM;
	for (unsigned int i = 0; i < v->s.group_count; i++)
		if (!(v->group_hosts[i] = survey_fold(r, &v->s.group[i].members)))
			return -ENOMEM;
	return 0;
}

static void survey_clear_texts(char **texts, unsigned int count)
{
	for (unsigned int i = 0; texts && i < count; i++)
		free(texts[i]);
	free(texts);
}

void survey_view_clear(struct survey_view *v)
{
	survey_clear_texts(v->outlier_hosts, v->s.outlier_count);
	survey_clear_texts(v->unknown_hosts, v->s.unknown_count);
	survey_clear_texts(v->group_hosts, v->s.group_count);
	survey_clear(&v->s);
}

/* Returns true for groups that differ in the rail alone: one line of the text is for all of them.
 */
static bool survey_same_kind(const struct survey_group *a, const struct survey_group *b)
{
	if (a->level != b->level || !a->port || !b->port)
		return a == b;
	return a->port->kind == b->port->kind && !strcmp(a->port->driver, b->port->driver) &&
	       !strcmp(a->port->rdma_driver, b->port->rdma_driver) &&
	       (a->level == SURVEY_DRIVER || a->port->speed_mbps == b->port->speed_mbps);
}

static bool survey_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool survey_same_outlier(const struct survey_view *v, unsigned int i, unsigned int k)
{
	const struct survey_outlier *a = &v->s.outlier[i], *b = &v->s.outlier[k];

	return a->item == b->item && a->prio == b->prio && a->norm_count == b->norm_count &&
	       survey_same_kind(&v->s.group[a->group], &v->s.group[b->group]) &&
	       !strcmp(a->value, b->value) && survey_same_text(a->norm, b->norm) &&
	       !strcmp(v->outlier_hosts[i], v->outlier_hosts[k]);
}

static bool survey_same_unknown(const struct survey_view *v, unsigned int i, unsigned int k)
{
	const struct survey_unknown *a = &v->s.unknown[i], *b = &v->s.unknown[k];

	return a->item_count == b->item_count &&
	       !memcmp(a->item, b->item, a->item_count * sizeof(*a->item)) &&
	       survey_same_kind(&v->s.group[a->group], &v->s.group[b->group]) &&
	       !strcmp(v->unknown_hosts[i], v->unknown_hosts[k]);
}

static bool survey_same_group(const struct survey_view *v, unsigned int i, unsigned int k)
{
	const struct survey_group *a = &v->s.group[i], *b = &v->s.group[k];

	return a->level == SURVEY_SPEED && survey_same_kind(a, b) && a->tx_prio == b->tx_prio &&
	       qos_has(&a->norm, QOS_PFC_ENABLED) == qos_has(&b->norm, QOS_PFC_ENABLED) &&
	       a->norm.pfc_enabled == b->norm.pfc_enabled &&
	       !strcmp(v->group_hosts[i], v->group_hosts[k]);
}

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

/* Prints driver, speed and rails of groups of one kind: "mlx5_core, 400 Gb/s, rails 0-7
 * (eth[2-9])".
 */
static void survey_print_kind(const struct survey_view *v, FILE *out, const unsigned int *group,
			      unsigned int count)
{
	const struct survey_group *first = &v->s.group[group[0]];
	const char **names = calloc(2 * count, sizeof(*names));
	char(*rails)[12] = calloc(count, sizeof(*rails));

	if (!names || !rails)
		count = 0; /* short of memory: the rails are missing */
	fputs(first->port->driver[0] ? first->port->driver : first->port->rdma_driver, out);
	if (first->port->kind == PORT_SOFT_ROCE)
		fputs(" with Soft-RoCE", out);
	if (first->level == SURVEY_SPEED && first->port->speed_mbps)
		fprintf(out, ", %g Gb/s", first->port->speed_mbps / 1e3);
	for (unsigned int i = 0; i < count; i++) {
		snprintf(rails[i], sizeof(rails[i]), "%u", v->s.group[group[i]].rail);
		names[i] = rails[i];
		names[count + i] = survey_port_name(v->s.group[group[i]].port);
	}
	if (count) {
		fprintf(out, ", rail%s ", plural(count));
		survey_print_fold(out, names, count);
		fputs(" (", out);
		survey_print_fold(out, names + count, count);
		fputs(")", out);
	}
	free(names);
	free(rails);
}

static unsigned int survey_outlier_group(const struct survey_view *v, unsigned int i)
{
	return v->s.outlier[i].group;
}

static unsigned int survey_unknown_group(const struct survey_view *v, unsigned int i)
{
	return v->s.unknown[i].group;
}

static unsigned int survey_group_group(const struct survey_view *v, unsigned int i)
{
	(void)v;
	return i;
}

/* Prints the line of an outlier, which is the same in `count` groups. */
static void survey_print_outlier(const struct survey_view *v, unsigned int i, FILE *out,
				 const unsigned int *group, unsigned int count)
{
	const struct survey_outlier *o = &v->s.outlier[i];
	const struct survey_group *g = &v->s.group[o->group];

	fputs(survey_item_text(o->item), out);
	if (o->prio >= 0)
		fprintf(out, ", priority %d", o->prio);
	fprintf(out, ": %s", o->value);
	if (o->counter)
		fprintf(out, " in %g s", v->interval_ms / 1e3);
	fputs(" on ", out);
	survey_print_hosts(out, v->outlier_hosts[i]);
	if (o->tie)
		fputs("; no value leads", out);
	else
		fprintf(out, "; %s on %u other %s%s", o->norm, o->norm_count,
			g->port ? "port" : "host", plural(o->norm_count));
	if (count > 1 && !o->tie)
		fputs(" of each rail", out);
	if (g->port && v->groups > 1) {
		fputs(" [", out);
		survey_print_kind(v, out, group, count);
		fputs("]", out);
	}
}

static void survey_print_unknown(const struct survey_view *v, unsigned int i, FILE *out,
				 const unsigned int *group, unsigned int count)
{
	const struct survey_unknown *u = &v->s.unknown[i];

	fputs("unknown on ", out);
	survey_print_hosts(out, v->unknown_hosts[i]);
	for (unsigned int k = 0; k < u->item_count; k++)
		fprintf(out, "%s %s", k ? "," : ":", survey_item_text(u->item[k]));
	if (v->s.group[u->group].port && v->groups > 1) {
		fputs(" [", out);
		survey_print_kind(v, out, group, count);
		fputs("]", out);
	}
}

static void survey_print_group(const struct survey_view *v, unsigned int i, FILE *out,
			       const unsigned int *group, unsigned int count)
{
	const struct survey_group *g = &v->s.group[i];
	char lossless[24];

	survey_print_kind(v, out, group, count);
	fprintf(out, ": %u port%s on ", g->members.count * count,
		plural(g->members.count * (uint64_t)count));
	survey_print_hosts(out, v->group_hosts[i]);
	if (g->members.count < 2)
		fputs("; nothing to compare it with", out);
	if (qos_has(&g->norm, QOS_PFC_ENABLED)) {
		qos_prio_set_text(g->norm.pfc_enabled, lossless, sizeof(lossless));
		fprintf(out, "; PFC on %s", lossless);
	}
	if (g->tx_prio >= 0)
		fprintf(out, "; most bytes leave on priority %d", g->tx_prio);
}

/* One kind of lines of the report: what is printed once for all groups in which it is the same. */
struct survey_lines {
	const char *title;
	bool (*same)(const struct survey_view *v, unsigned int i, unsigned int k);
	unsigned int (*group_of)(const struct survey_view *v, unsigned int i);
	void (*print)(const struct survey_view *v, unsigned int i, FILE *out,
		      const unsigned int *group, unsigned int count);
};

static int survey_print_lines(const struct survey_view *v, const struct survey_lines *what,
			      unsigned int n)
{
	unsigned int *group = calloc(n + 1, sizeof(*group));
	bool *printed = calloc(n + 1, sizeof(*printed)), titled = false;
	int err = group && printed ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < n; i++) {
		unsigned int count = 0;
		char *text = NULL;
		size_t size;
		FILE *line;

		if (printed[i] ||
		    (what->print == survey_print_group && v->s.group[i].level != SURVEY_SPEED))
			continue;
		for (unsigned int k = i; k < n; k++) {
			if (printed[k] || (k != i && !what->same(v, i, k)))
				continue;
			printed[k] = true;
			group[count++] = what->group_of(v, k);
		}
		line = open_memstream(&text, &size);
		if (!line) {
			err = -ENOMEM;
			break;
		}
		what->print(v, i, line, group, count);
		if (fclose(line))
			err = -ENOMEM;
		if (!err) {
			printf("%s  ", titled ? "" : what->title);
			titled = true;
			output_wrap(stdout, text, 2, 6, OUTPUT_COLUMNS);
			putchar('\n');
		}
		free(text);
	}
	free(printed);
	free(group);
	return err;
}

/* Counters that grow on most ports, the highest median of all groups. */
static void survey_print_common(const struct survey_view *v)
{
	bool titled = false;

	for (unsigned int i = 0; i < v->s.common_count; i++) {
		const struct survey_common *c = &v->s.common[i];
		double median = c->median;
		bool first = true;

		for (unsigned int k = 0; k < v->s.common_count; k++) {
			const struct survey_common *other = &v->s.common[k];

			if (other->metric != c->metric || other->prio != c->prio)
				continue;
			first = first && k >= i;
			median = other->median > median ? other->median : median;
		}
		if (!first)
			continue;
		printf("%s  %s",
		       titled ? "" : "\nGrows on most ports of a group (median per port)\n",
		       metric_table[c->metric].name);
		titled = true;
		if (c->prio >= 0)
			printf(", priority %d", c->prio);
		printf(": %.3g %s/s\n", median, metric_table[c->metric].unit);
	}
}

static const char *survey_lost_reason(const struct run_host *h)
{
	if (h->error[0])
		return h->error;
	return h->has_before ? "no second reading" : "no answer";
}

/* Lost hosts, those with the same reason once. */
static int survey_print_lost(const struct survey_view *v)
{
	const struct run *r = v->r;
	struct survey_members lost = {.list = calloc(r->host_count + 1, sizeof(*lost.list))};
	bool *printed = calloc(r->host_count + 1, sizeof(*printed));
	int err = lost.list && printed ? 0 : -ENOMEM;

	if (!err && v->s.lost)
		puts("\nIncomplete: no answer, or only the first of two");
	for (unsigned int i = 0; !err && i < r->host_count; i++) {
		const char *why = survey_lost_reason(&r->host[i]);
		char *set;

		if (printed[i] || !survey_host_lost(&r->host[i]))
			continue;
		lost.count = 0;
		for (unsigned int k = i; k < r->host_count; k++) {
			if (!survey_host_lost(&r->host[k]) ||
			    strcmp(why, survey_lost_reason(&r->host[k])))
				continue;
			printed[k] = true;
			lost.list[lost.count++] = (struct survey_member){k, SURVEY_HOST};
		}
		set = survey_fold(r, &lost);
		if (!set) {
			err = -ENOMEM;
			break;
		}
		fputs("  ", stdout);
		survey_print_hosts(stdout, set);
		fputs(": ", stdout);
		text_print(stdout, why, TEXT_FIELD);
		putchar('\n');
		free(set);
	}
	free(lost.list);
	free(printed);
	return err;
}

static int survey_print_headline(const struct survey_view *v)
{
	const struct survey *s = &v->s;
	const char *colour = !globals->colour_out			   ? ""
			     : s->outlier_count || s->lost || !s->compared ? TEXT_BOLD_RED
									   : TEXT_GREEN;
	struct survey_members odd = {.list = calloc(v->r->host_count + 1, sizeof(*odd.list))};
	bool *is = calloc(v->r->host_count + 1, sizeof(*is));
	char *set = NULL;

	for (unsigned int i = 0; is && i < s->outlier_count; i++)
		for (unsigned int m = 0; m < s->outlier[i].members.count; m++)
			is[s->outlier[i].members.list[m].host] = true;
	for (unsigned int i = 0; is && odd.list && i < v->r->host_count; i++)
		if (is[i])
			odd.list[odd.count++] = (struct survey_member){i, SURVEY_HOST};
	if (is && odd.list)
		set = survey_fold(v->r, &odd);
	free(odd.list);
	free(is);
	if (!set)
		return -ENOMEM;
	printf("%s%s", colour,
	       *set	      ? "OUTLIERS on "
	       : !s->compared ? "INCOMPLETE, NOTHING TO COMPARE"
	       : s->lost      ? "INCOMPLETE, NO OUTLIERS"
			      : "NO OUTLIERS");
	survey_print_hosts(stdout, set);
	printf("%s: %u of %u host%s answered, %u RoCE port%s, readings %g s apart\n",
	       *colour ? TEXT_RESET : "", s->answered, v->r->host_count, plural(v->r->host_count),
	       s->port_count, plural(s->port_count), v->interval_ms / 1e3);
	free(set);
	return 0;
}

int survey_print_text(const struct survey_view *v)
{
	static const struct survey_lines
		outliers =
			{"\nOutliers: unlike most ports of the same driver, link speed and rail\n",
			 survey_same_outlier, survey_outlier_group, survey_print_outlier},
		unknown = {"\nUnknown: could not be read, and is not "
			   "compared\n",
			   survey_same_unknown, survey_unknown_group, survey_print_unknown},
		groups = {"\nGroups\n", survey_same_group, survey_group_group, survey_print_group};
	int err;

	err = survey_print_headline(v);
	if (!err)
		err = survey_print_lost(v);
	if (!err)
		err = survey_print_lines(v, &outliers, v->s.outlier_count);
	if (!err)
		survey_print_common(v);
	if (!err)
		err = survey_print_lines(v, &groups, v->s.group_count);
	if (!err)
		err = survey_print_lines(v, &unknown, v->s.unknown_count);
	if (!err && v->s.unprivileged && v->s.unknown_count)
		printf("  Agents without CAP_NET_ADMIN: %u. As root they read more: --launcher "
		       "'ssh {host} sudo'\n",
		       v->s.unprivileged);
	return err;
}

static json_t *survey_prio_json(int prio)
{
	return prio < 0 ? json_null() : json_integer(prio);
}

static json_t *survey_lost_json(const struct survey_view *v)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < v->r->host_count; i++)
		if (survey_host_lost(&v->r->host[i]))
			list = json_list_add(
				list, json_pack("{s:s, s:o}", "host", v->r->host[i].name, "error",
						text_to_json(survey_lost_reason(&v->r->host[i]))));
	return list;
}

static json_t *survey_groups_json(const struct survey_view *v)
{
	static const char *const levels[] = {
		[SURVEY_HOSTS] = "hosts", [SURVEY_DRIVER] = "driver", [SURVEY_SPEED] = "speed"};
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < v->s.group_count; i++) {
		const struct survey_group *g = &v->s.group[i];
		json_t *one = json_pack("{s:s, s:s, s:i}", "level", levels[g->level], "hosts",
					v->group_hosts[i], "count", (int)g->members.count);
		json_t *port = g->port ? json_pack("{s:o, s:s, s:o, s:i, s:I, s:o, s:o}", "driver",
						   text_to_json(g->port->driver), "kind",
						   port_kind_word(g->port->kind), "netdev",
						   text_to_json(g->port->netdev), "rail",
						   (int)g->rail, "speed_mbps",
						   (json_int_t)g->port->speed_mbps, "tx_prio",
						   survey_prio_json(g->tx_prio), "settings",
						   qos_to_json(&g->norm))
				       : json_object();

		/* A failure leaves one of the two NULL, and with it the list. */
		if (!one || !port || json_object_update(one, port)) {
			json_decref(one);
			one = NULL;
		}
		json_decref(port);
		list = json_list_add(list, one);
	}
	return list;
}

static json_t *survey_outliers_json(const struct survey_view *v)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < v->s.outlier_count; i++) {
		const struct survey_outlier *o = &v->s.outlier[i];
		json_t *ports = json_array();

		for (unsigned int m = 0; m < o->members.count; m++) {
			struct survey_member at = o->members.list[m];
			bool host = at.port == SURVEY_HOST;

			ports = json_list_add(
				ports,
				json_pack("{s:s, s:o}", "host", v->r->host[at.host].name, "port",
					  host ? json_null()
					       : text_to_json(
							 survey_port_name(survey_port(v->r, at)))));
		}
		list = json_list_add(
			list, json_pack("{s:i, s:s, s:o, s:b, s:o, s:o, s:i, s:s, s:o, s:o, s:o}",
					"group", (int)o->group, "item", o->item, "prio",
					survey_prio_json(o->prio), "counter", o->counter, "value",
					text_to_json(o->value), "norm",
					o->norm ? text_to_json(o->norm) : json_null(), "norm_count",
					(int)o->norm_count, "hosts", v->outlier_hosts[i], "ports",
					ports, "low", o->counter ? json_uint(o->low) : json_null(),
					"high", o->counter ? json_uint(o->high) : json_null()));
	}
	return list;
}

static json_t *survey_common_json(const struct survey_view *v)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < v->s.common_count; i++) {
		const struct survey_common *c = &v->s.common[i];

		list = json_list_add(list, json_pack("{s:i, s:s, s:o, s:f}", "group", (int)c->group,
						     "metric", metric_table[c->metric].name, "prio",
						     survey_prio_json(c->prio), "median_per_s",
						     c->median));
	}
	return list;
}

static json_t *survey_unknown_json(const struct survey_view *v)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < v->s.unknown_count; i++) {
		const struct survey_unknown *u = &v->s.unknown[i];
		json_t *items = json_array();

		for (unsigned int k = 0; k < u->item_count; k++)
			items = json_list_add(items, json_string(u->item[k]));
		list = json_list_add(list, json_pack("{s:i, s:s, s:o}", "group", (int)u->group,
						     "hosts", v->unknown_hosts[i], "items", items));
	}
	return list;
}

json_t *survey_json(const struct survey_view *v, int code)
{
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "schema",
			 SURVEY_SCHEMA, "exit_code", code, "hosts", (int)v->r->host_count,
			 "answered", (int)v->s.answered, "ports", (int)v->s.port_count,
			 "interval_ms", (int)v->interval_ms, "lost", survey_lost_json(v),
			 "outliers", survey_outliers_json(v), "common", survey_common_json(v),
			 "groups", survey_groups_json(v), "unknown", survey_unknown_json(v));
}
