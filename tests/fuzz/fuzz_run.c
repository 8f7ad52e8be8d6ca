/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.json of somebody: what is taken is written as it was read, is read again as the same, and can
 * be judged. An input is the text.
 */
#include "tests/fuzz/judge.h"
#include "tests/fuzz/mutate.h"

FUZZ_MUTATE(json)
FUZZ_CROSS(json)

/* Indices were made of names. */
static void check_pairs(const struct run *r)
{
	for (unsigned int i = 0; i < r->pair_count; i++) {
		const struct run_pair *p = &r->pair[i];

		HOLDS(p->client_host < r->host_count && p->server_host < r->host_count);
		HOLDS(p->client_port < r->host[p->client_host].port_count);
		HOLDS(p->server_port < r->host[p->server_host].port_count);
	}
}

static void check_again(const struct run *r)
{
	json_t *o = run_to_json(r), *again;
	struct err e = {0};
	struct run back;

	HOLDS(o);
	if (run_from_json(o, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	again = run_to_json(&back);
	HOLDS(again && json_equal(o, again));
	run_clear(&back);
	json_decref(o);
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *o = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct err e = {0};
	struct run r;
	int err;

	fuzz_begin();
	if (!o)
		return 0;
	fuzz_reach(FUZZ_PARSED);
	err = run_from_json(o, &r, &e);
	json_decref(o);
	if (err) {
		HOLDS(err < 0 && *e.text && memchr(e.text, 0, sizeof(e.text)));
		return 0;
	}
	fuzz_reach(FUZZ_TAKEN);
	check_pairs(&r);
	check_again(&r);
	fuzz_judge(&r);
	run_clear(&r);
	return 0;
}
