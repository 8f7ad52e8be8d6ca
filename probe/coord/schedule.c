/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Circle method: one host (for odd N an empty place) stays, the others rotate; each step pairs
 * opposite hosts. A step is two rounds, one per direction, since a host has one role per round.
 */
#include "probe/coord/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void schedule_add_pair(struct schedule *s, unsigned int server, unsigned int client,
			      unsigned int round)
{
	s->pair[s->pair_count++] = (struct schedule_pair){server, client, round};
}

/* Returns the host at a place of the circle in a step; place 0 never moves. */
static unsigned int schedule_host_at(unsigned int place, unsigned int turn, unsigned int seats)
{
	return place ? 1 + (place - 1 + turn) % (seats - 1) : 0;
}

int schedule_make(unsigned int n, struct schedule *s)
{
	unsigned int seats = n + n % 2; /* with an empty one for odd n */
	struct schedule made = {0};

	if (n > SCHEDULE_HOSTS_MAX)
		return -ERANGE;
	if (n < 2) {
		*s = made;
		return 0;
	}
	made.pair = calloc((size_t)n * (n - 1), sizeof(*made.pair));
	if (!made.pair)
		return -ENOMEM;
	made.round_count = 2 * (seats - 1);
	for (unsigned int round = 0; round < made.round_count; round++) {
		for (unsigned int place = 0; place < seats / 2; place++) {
			unsigned int a = schedule_host_at(place, round / 2, seats);
			unsigned int b = schedule_host_at(seats - 1 - place, round / 2, seats);

			if (a >= n || b >= n)
				continue;
			if (round % 2)
				schedule_add_pair(&made, a, b, round);
			else
				schedule_add_pair(&made, b, a, round);
		}
	}
	*s = made;
	return 0;
}

void schedule_clear(struct schedule *s)
{
	free(s->pair);
	memset(s, 0, sizeof(*s));
}

static void schedule_print_host(FILE *out, unsigned int host, const char *const *names)
{
	if (names)
		fputs(names[host], out);
	else
		fprintf(out, "%u", host);
}

char *schedule_text(const struct schedule *s, const char *const *names)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < s->pair_count; i++) {
		const struct schedule_pair *p = &s->pair[i];
		bool last = i + 1 == s->pair_count || s->pair[i + 1].round != p->round;

		schedule_print_host(out, p->server, names);
		fputc(',', out);
		schedule_print_host(out, p->client, names);
		fputc(last ? '\n' : ';', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
