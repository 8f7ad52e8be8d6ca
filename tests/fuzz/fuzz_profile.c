/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile: whatever is wrong is found and can be shown; what is taken goes into a plan and comes
 * back as the same. An input is the file.
 */
#include <errno.h>

#include "profiles/profile_json.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/yaml_file.h"

FUZZ_MUTATE(yaml)
FUZZ_CROSS(yaml)

static void check_profile(const struct profile *p)
{
	static struct profile back;
	json_t *o = profile_to_json(p), *again;
	struct err e = {0};

	memset(&back, 0, sizeof(back));
	HOLDS(o);
	if (profile_from_json(o, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	again = profile_to_json(&back);
	HOLDS(again && json_equal(o, again));
	HOLDS(profile_roce_prio(p) < 8 && profile_roce_tos(p) < 256);
	(void)profile_selects(p, "roce0");
	json_decref(o);
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct profile p;
	struct err e = {0};
	struct diags d;
	int err;

	fuzz_yaml_begin(data, size);
	diags_init(&d);
	err = profile_load(fuzz_file("p.yaml", data, size), &p, &d, &e);
	/* A base that is not there is an error without a place. */
	if (!err || d.count)
		fuzz_yaml_check(err, &d);
	else
		HOLDS(e.code && *e.text);
	if (!err) {
		fuzz_reach(FUZZ_TAKEN);
		check_profile(&p);
	}
	diags_clear(&d);
	return 0;
}
