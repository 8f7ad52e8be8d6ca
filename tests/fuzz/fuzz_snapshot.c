/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot, which anybody may have made: what is taken is written as it was read, is read again
 * as the same, and can be judged. An input is the text.
 */
#include "probe/host/snapshot.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/mutate.h"

FUZZ_MUTATE(json)
FUZZ_CROSS(json)

static void check_again(const struct snapshot *s)
{
	json_t *o = snapshot_to_json(s), *again;
	struct snapshot back = {0};
	struct err e = {0};

	HOLDS(o);
	if (snapshot_from_json(o, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	again = snapshot_to_json(&back);
	HOLDS(again && json_equal(o, again));
	snapshot_clear(&back);
	json_decref(o);
	json_decref(again);
}

/* The snapshot as that of a run's only host. */
static void judge(struct snapshot *s)
{
	struct run_host host = {.reached = true, .has_before = true, .before = *s};
	struct run run = {.id = "fuzz", .host = &host, .host_count = 1};

	snprintf(host.name, sizeof(host.name), "%s", s->host);
	host.port = calloc(s->port_count + 1, sizeof(*host.port));
	HOLDS(host.port);
	for (unsigned int i = 0; i < s->port_count; i++) {
		snprintf(host.port[i].netdev, sizeof(host.port[i].netdev), "%s", s->port[i].netdev);
		host.port[i].rail = host.port_count++;
	}
	fuzz_judge(&run);
	free(host.port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *o = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct snapshot s;
	struct err e = {0};
	int err;

	fuzz_begin();
	if (!o)
		return 0;
	fuzz_reach(FUZZ_PARSED);
	err = snapshot_from_json(o, &s, &e);
	json_decref(o);
	if (err) {
		HOLDS(err < 0 && *e.text && memchr(e.text, 0, sizeof(e.text)));
		return 0;
	}
	fuzz_reach(FUZZ_TAKEN);
	check_again(&s);
	judge(&s);
	snapshot_clear(&s);
	return 0;
}
