/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnostics of input files, in the form of a compiler: all findings of a run, each with
 * file:line:column, source line, caret, accepted values, and "did you mean".
 */
#ifndef PROFILES_DIAG_H
#define PROFILES_DIAG_H

#include <jansson.h>
#include <stdio.h>

#include "profiles/base/base.h"

enum diag_level {
	DIAG_ERROR,
	DIAG_WARNING,
};

struct diag {
	enum diag_level level;
	char rule[16];	  /* "RC-INP-002": stable id, see diag_rules[] */
	char *path;	  /* owned */
	int line, column; /* from 1; 0 = whole file */
	int width;	  /* characters under the caret, at least 1 */
	char *text;	  /* owned: "unknown key 'enabeld' in 'pfc'" */
	char *source;	  /* owned: the line of the file, may be NULL */
	char *note;	  /* owned: accepted values, may be NULL */
	char *suggestion; /* owned: nearest accepted word, may be NULL */
};

#define DIAGS_MAX 1000 /* stored; one more reports that the others are not shown */

/* Storage is the caller's; the list owns its entries. */
struct diags {
	struct diag *list;
	size_t count;
	size_t errors; /* entries of level DIAG_ERROR */
};

/* The ids of input errors and their meaning; ends with a NULL id. */
struct diag_rule {
	const char *id;
	const char *title;
	const char *explain; /* a paragraph for `rocecheck explain` */
	bool unusable;	     /* the file has no content to check */
};
extern const struct diag_rule diag_rules[];

/* Row of an id, or NULL. */
const struct diag_rule *diag_rule_find(const char *id);

void diags_init(struct diags *d);
void diags_clear(struct diags *d);

/* Appends a copy of *one: its strings are duplicated. -ENOMEM. */
int diags_add(struct diags *d, const struct diag *one);

/* Adds a sanitized copy of its source line to a finding. -ENOMEM. */
int diag_set_source(struct diag *one, const char *source);

/* Prints all in file order in the long form (source line and caret), then "2 errors in FILE".
 * Returns -errno of the stream. */
int diags_print(const struct diags *d, FILE *out, bool colour);

/* file:line:col: error: text [RC-INP-002], one line each, for editors. */
int diags_print_gcc(const struct diags *d, FILE *out);

/* {"schema":"rocecheck.lint/1","findings":[...]}; new reference, NULL on -ENOMEM. Needs jansson. */
json_t *diags_to_json(const struct diags *d);

/* The word of `words` (NULL-terminated) closest to `got` by edit distance <= 2, or NULL. */
const char *diag_nearest(const char *got, const char *const *words);

#endif
