/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of `rocecheck watch` as lines and as JSON lines (rocecheck.watch/1). Times are UTC.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/apply/watch.h"
#include "cmd/cmd.h"

#define VALUE_MAX 256

static const char *const event_words[] = {
	[WATCH_START] = "start",
	[WATCH_DRIFT] = "drift",
	[WATCH_BACK] = "back",
	[WATCH_ARRIVED] = "arrived",
	[WATCH_REMOVED] = "removed",
	[WATCH_CARRIER] = "carrier",
	[WATCH_OVERRUN] = "overrun",
	[WATCH_REPAIRED] = "repaired",
	[WATCH_FAILED] = "repair-failed",
	[WATCH_HELD] = "repair-held",
	[WATCH_OVERDUE] = "unconfirmed",
};

static void time_text(time_t when, char *buf, size_t size)
{
	struct tm tm;

	gmtime_r(&when, &tm);
	strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void print_fields(const struct watch_told *t)
{
	const char *sep = "";

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char from[VALUE_MAX], to[VALUE_MAX];

		if (!(t->fields & QOS_BIT(id)))
			continue;
		qos_field_text(t->before, id, from, sizeof(from));
		qos_field_text(&t->port->now, id, to, sizeof(to));
		printf("%s %s %s -> %s", sep, qos_fields[id].key, from, to);
		sep = ";";
	}
}

static void print_suspects(const struct suspects *s)
{
	char when[32];

	for (unsigned int i = 0; i < s->count; i++) {
		const struct suspect *one = &s->suspect[i];

		printf("%s%s (pid %d", i ? ", " : " [running then: ", one->name, (int)one->pid);
		time_text(one->started, when, sizeof(when));
		printf("%s%s)", one->started ? ", since " : "", one->started ? when : "");
	}
	if (s->count)
		putchar(']');
}

static void print_text(const struct watch_told *t, const char *when)
{
	printf("%s %s %s", when, t->port ? t->port->ifname : "-", event_words[t->event]);
	if (t->event == WATCH_CARRIER)
		printf(" %s", t->port->carrier ? "on" : "off");
	if (t->fields)
		print_fields(t);
	if (t->text)
		printf(": %s", t->text);
	if (t->suspects)
		print_suspects(t->suspects);
	putchar('\n');
}

static json_t *fields_json(const struct watch_told *t)
{
	json_t *list = json_array();

	for (int id = 0; list && id < QOS_FIELD_COUNT; id++) {
		json_t *one;

		if (!(t->fields & QOS_BIT(id)))
			continue;
		one = json_pack("{s:s, s:o, s:o, s:o}", "key", qos_fields[id].key, "from",
				qos_field_json(t->before, id), "to",
				qos_field_json(&t->port->now, id), "want",
				qos_field_json(&t->port->want.qos, id));
		if (json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *suspects_json(const struct suspects *s)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < s->count; i++) {
		const struct suspect *one = &s->suspect[i];
		json_t *since = json_null();
		char when[32];

		time_text(one->started, when, sizeof(when));
		if (one->started)
			since = json_string(when);
		if (json_array_append_new(list,
					  json_pack("{s:s, s:i, s:o}", "name", one->name, "pid",
						    (int)one->pid, "started", since))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *told_json(const struct watch_told *t, const char *when)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s?}", "schema", WATCH_SCHEMA, "time", when,
			      "event", event_words[t->event], "port",
			      t->port ? t->port->ifname : NULL);
	int err = o ? 0 : -1;

	if (!err && t->fields)
		err = json_object_set_new(o, "fields", fields_json(t));
	if (!err && t->event == WATCH_CARRIER)
		err = json_object_set_new(o, "carrier", json_boolean(t->port->carrier));
	if (!err && t->text)
		err = json_object_set_new(o, "text", json_string(t->text));
	if (!err && t->suspects)
		err = json_object_set_new(o, "suspects", suspects_json(t->suspects));
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}

static int print_json(const struct watch_told *t, const char *when)
{
	json_t *o = told_json(t, when);
	int err = o ? json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) : -1;

	json_decref(o);
	putchar('\n');
	return err;
}

int watch_tell(const struct watch_told *t)
{
	char when[32];
	int err = 0;

	time_text(time(NULL), when, sizeof(when));
	if (globals->json)
		err = print_json(t, when);
	else
		print_text(t, when);
	/* Somebody waits for the line. What cannot be written is told of at the end. */
	return err || fflush(stdout) ? EXIT_ENVIRONMENT : EXIT_OK;
}
