/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A schedule file: an error has its place, and what is taken has the roles that it may have and
 * reads back as itself. The first byte of an input is no part of the file.
 */
#include <errno.h>

#include "probe/coord/schedule.h"
#include "tests/fuzz/fuzz.h"

#define ROUNDS_MAX 100000

/* clang-format off */
static const struct schedule_port ports[] = {
	{"h1", "roce0", .host = 0, .alone = true},
	{"h10", "roce0", .host = 1, .alone = true},
	{"h2", "roce0", .host = 2},
	{"h2", "roce1", .host = 2, .rail = 1},
	{"node-3.example", "enp1s0f0", .host = 3, .alone = true},
	{"a", "b", .host = 4},
	{"a", "bb", .host = 4},
	{"a", "a", .host = 4},
};
/* clang-format on */

static void check_error(const struct err *e, const uint8_t *text, size_t size)
{
	unsigned int line = 0, column = 0, lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	HOLDS(sscanf(e->text, "f:%u:%u: ", &line, &column) == 2);
	HOLDS(line >= 1 && line <= lines && column >= 1 && column <= size + 1);
}

static void check_rounds(struct schedule *s)
{
	unsigned int rounds = 0;

	while (schedule_next(s)) {
		bool served[ARRAY_SIZE(ports)] = {0}, sent[ARRAY_SIZE(ports)] = {0};

		HOLDS(s->pair_count && s->pair_count <= ARRAY_SIZE(ports) && s->round == rounds);
		HOLDS(rounds++ < ROUNDS_MAX);
		for (unsigned int i = 0; i < s->pair_count; i++) {
			const struct schedule_pair *p = &s->pair[i];

			HOLDS(p->server < ARRAY_SIZE(ports) && p->client < ARRAY_SIZE(ports));
			HOLDS(ports[p->server].host != ports[p->client].host);
			HOLDS(!sent[p->client] && !served[p->server]);
			served[p->server] = sent[p->client] = true;
		}
	}
	HOLDS(rounds);
}

static void check_again(struct schedule *s)
{
	char *once = schedule_text(s), *twice;
	struct schedule again;
	struct err e = {0};

	HOLDS(once);
	HOLDS(!schedule_parse(&again, &s->spec, "f", once, strlen(once), &e));
	twice = schedule_text(&again);
	HOLDS(twice && !strcmp(once, twice));
	free(once);
	free(twice);
	schedule_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct schedule_spec spec = {.port = ports, .n = ARRAY_SIZE(ports)};
	uint8_t *text = fuzz_exact(data + !!size, size - !!size);
	struct schedule s;
	struct err e = {0};
	int err = schedule_parse(&s, &spec, "f", (const char *)text, size - !!size, &e);

	fuzz_begin();
	if (err) {
		HOLDS(err == -EINVAL);
		check_error(&e, text, size - !!size);
	} else {
		fuzz_reach(FUZZ_TAKEN);
		check_rounds(&s);
		check_again(&s);
		schedule_close(&s);
	}
	free(text);
	return 0;
}
