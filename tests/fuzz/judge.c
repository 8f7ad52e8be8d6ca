/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run judged by a shipped profile, and written in every form.
 */
#include "tests/fuzz/judge.h"

#include "reports/engine/rule.h"
#include "reports/write/writer.h"
#include "tests/fuzz/fuzz.h"

#define PROFILE "lab"

static const struct profile *lab_profile(void)
{
	static struct profile profile;
	static bool loaded;
	struct diags d;
	struct err e = {0};

	if (!loaded) {
		diags_init(&d);
		if (profile_load(PROFILE, &profile, &d, &e))
			fuzz_broken(__FILE__, __LINE__, e.text);
		diags_clear(&d);
	}
	loaded = true;
	return &profile;
}

static void write_all(const struct report *report)
{
	for (unsigned int i = 0; i < writer_count; i++) {
		struct err e = {0};
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		HOLDS(out);
		if (writers[i].write(report, out, &e))
			fuzz_broken(__FILE__, __LINE__, e.text);
		fclose(out);
		HOLDS(size);
		free(text);
	}
}

void fuzz_judge(const struct run *r)
{
	struct findings findings = {0};
	struct fabric fabric;

	HOLDS(!run_make_fabric(r, lab_profile(), &fabric));
	HOLDS(!rules_run(&fabric, r, &findings));
	write_all(&(struct report){.fabric = &fabric,
				   .run = r,
				   .findings = &findings,
				   .colour = r->host_count & 1,
				   .verbose = true});
	findings_clear(&findings);
	fabric_clear(&fabric);
}
