/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options as tables: parser, help, completion and manual page use the same rows. Exact words only,
 * no abbreviations.
 */
#ifndef CMD_OPTS_H
#define CMD_OPTS_H

#include <stdbool.h>
#include <stdio.h>

#include "profiles/base/base.h"

#define OPT_LIST_MAX 32

enum opt_kind {
	OPT_FLAG,     /* bool */
	OPT_STRING,   /* const char *, borrowed from argv */
	OPT_UINT,     /* unsigned int, range min..max */
	OPT_LIST,     /* struct opt_list: repeatable */
	OPT_DURATION, /* unsigned int, milliseconds: "10s", "500ms", "2m" */
};

struct opt_list {
	const char *item[OPT_LIST_MAX];
	unsigned int count;
};

struct opt {
	const char *name; /* "confirm-within", without dashes; NULL ends the table */
	char letter;	  /* 0 = none */
	enum opt_kind kind;
	void *value;	       /* target, of the type of the kind */
	unsigned int min, max; /* OPT_UINT; both 0 = any */
	const char *arg;       /* "SECONDS", for usage; NULL for flags */
	const char *help;
	const char *group; /* heading of this row and those below; may be NULL */
	const char *const
		*words; /* accepted words of an OPT_STRING; NULL-terminated; may be NULL */
};

/* Words of --format and --fail-on, for .words. */
extern const char *const opt_formats[], *const opt_severities[];

/* Parses argv[1..] (argv[0] is the name of the command). Afterwards *argc and argv contain only the
 * operands. stop_at_operand: parses only up to the first operand. -EINVAL with the word and the
 * nearest accepted option in e. */
int opts_parse(const struct opt *opts, int *argc, char **argv, bool stop_at_operand, struct err *e);

/* Prints two columns: "  -j, --json           print one JSON document". */
void opts_usage(const struct opt *opts, FILE *out);

#endif
