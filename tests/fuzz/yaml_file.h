/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What targets of YAML files check of a load, whatever it loads.
 */
#ifndef TESTS_FUZZ_YAML_FILE_H
#define TESTS_FUZZ_YAML_FILE_H

#include "profiles/yaml/yaml.h"
#include "tests/fuzz/fuzz.h"

/* Counts the input, and whether it is YAML of the kind that is read. */
static inline void fuzz_yaml_begin(const uint8_t *data, size_t size)
{
	struct yaml_file f;
	struct diags d;

	fuzz_begin();
	diags_init(&d);
	if (!yaml_parse("input", (const char *)data, size, &f, &d, NULL)) {
		fuzz_reach(FUZZ_PARSED);
		yaml_close(&f);
	}
	diags_clear(&d);
}

/* Findings have a known rule and can be printed in every form. A load that failed has an error. */
static inline void fuzz_yaml_check(int err, const struct diags *d)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *json = diags_to_json(d);

	HOLDS(out && json);
	HOLDS(!err || d->errors);
	HOLDS(err || !d->errors);
	for (size_t i = 0; i < d->count; i++)
		HOLDS(diag_rule_find(d->list[i].rule) && d->list[i].text[0]);
	HOLDS(!diags_print(d, out, d->count & 1) && !diags_print_gcc(d, out));
	fclose(out);
	free(text);
	json_decref(json);
}

#endif
