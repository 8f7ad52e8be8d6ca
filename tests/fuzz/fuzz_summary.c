/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture's summary as JSON, which comes from other hosts and from files: what is taken can be
 * judged, is written as it was read, and is read again as the same. An input is the text.
 */
#include "capture/flow/summary.h"
#include "reports/engine/findings.h"
#include "reports/rules/check_capture.h"
#include "tests/fuzz/mutate.h"

FUZZ_MUTATE(json)
FUZZ_CROSS(json)

static void check_rules(const struct capture_summary *s)
{
	static struct fabric fabric;
	static struct run run;
	static struct samples none;
	const struct capture_case one = {.name = "fuzz", .summary = s, .samples = &none};
	struct findings findings = {0};

	HOLDS(!rules_run_capture(&fabric, &run, &one, &findings));
	findings_clear(&findings);
}

static void check_again(const struct capture_summary *s)
{
	json_t *o = capture_summary_to_json(s), *again;
	struct capture_summary back;
	struct err e = {0};

	HOLDS(o);
	if (capture_summary_from_json(o, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	again = capture_summary_to_json(&back);
	HOLDS(json_equal(o, again));
	capture_summary_clear(&back);
	json_decref(o);
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *o = json_loadb((const char *)data, size, 0, NULL);
	struct capture_summary s;
	struct err e = {0};
	int err;

	fuzz_begin();
	if (!o)
		return 0;
	fuzz_reach(FUZZ_PARSED);
	err = capture_summary_from_json(o, &s, &e);
	json_decref(o);
	if (err) {
		HOLDS(err < 0 && *e.text && memchr(e.text, 0, sizeof(e.text)));
		return 0;
	}
	fuzz_reach(FUZZ_TAKEN);
	check_rules(&s);
	check_again(&s);
	capture_summary_clear(&s);
	return 0;
}
