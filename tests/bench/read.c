/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cost of reading a snapshot into its struct, against jansson parsing the same text: a host with
 * eight ports, a full profile and every counter. Both are played in turn, and the medians of their
 * processor time are compared. One line: NAME VALUE UNIT TARGET ok|short; exit 1 when it is short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/full_host.h"

#define ROUNDS 201
#define MOST   2.0

static char *make_text(void)
{
	static struct port ports[PORTS];
	struct profile profile;
	struct snapshot s;
	json_t *doc;
	char *text;

	load_profile(&profile);
	fill_host(&s, &profile.qos, ports, 1);
	doc = snapshot_to_json(&s);
	text = doc ? json_dumps(doc, JSON_INDENT(2)) : NULL;
	json_decref(doc);
	if (!text)
		die("the document");
	return text;
}

/* Processor time in ns of reading it once, without (false) or with (true) the struct. */
static double read_once(const char *text, bool whole)
{
	struct timespec begin, end;
	struct err e = {0};
	struct snapshot s;
	json_t *doc;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (!doc)
		die("jansson");
	if (whole) {
		if (snapshot_from_json(doc, &s, &e) || s.port_count != PORTS)
			die(e.text);
		snapshot_clear(&s);
	}
	json_decref(doc);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(void)
{
	static double alone[ROUNDS], whole[ROUNDS];
	char *text = make_text();
	double ratio;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		alone[i] = read_once(text, false);
		whole[i] = read_once(text, true);
	}
	qsort(alone, ROUNDS, sizeof(alone[0]), by_value);
	qsort(whole, ROUNDS, sizeof(whole[0]), by_value);
	ratio = whole[ROUNDS / 2] / alone[ROUNDS / 2];
	fprintf(stderr, "read.snapshot: %zu bytes, jansson alone %.0f us\n", strlen(text),
		alone[ROUNDS / 2] / 1e3);
	printf("read.snapshot_vs_jansson %.2f x <=%.1f %s\n", ratio, MOST,
	       ratio <= MOST ? "ok" : "short");
	free(text);
	return ratio > MOST;
}
