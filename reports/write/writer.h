/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writers: print the findings of a run. One table row per format.
 */
#ifndef REPORTS_WRITER_H
#define REPORTS_WRITER_H

#include <stdio.h>

#include "reports/engine/claim.h"

struct app_env;
struct folder;

struct report {
	const struct fabric *fabric;
	const struct run *run;
	const struct findings *findings;
	int exit_code;
	bool colour;		  /* text only */
	bool verbose;		  /* text: every PASS with its evidence */
	const char *const *allow; /* ids given to --allow-inconclusive */
	unsigned int allow_count;
	const struct capture_case *capture; /* the checked capture; NULL: none */
	bool alone;			    /* of one host, without traffic */
	bool require_lossless;		    /* --require lossless: part of the exit code */
	const char *load;		    /* "probe", "incast": of one; NULL: none */
	const struct app_env *environment;  /* printed after the findings; NULL: none */
};

struct writer {
	const char *name; /* "text", "json", "junit" */
	const char *file; /* default file name in a run folder */
	int (*write)(const struct report *r, FILE *out, struct err *e);
};
extern const struct writer writers[];
extern const unsigned int writer_count;

const struct writer *writer_find(const char *name);

/* The rows, one file each. */
int write_text(const struct report *r, FILE *out, struct err *e);
int write_json(const struct report *r, FILE *out, struct err *e);
int write_junit(const struct report *r, FILE *out, struct err *e);

/* Headline of a capture: size and duration, loss of the network and of the capture, and the flows
 * with the most losses. Follows the verdict word. */
void write_capture(const struct report *r, FILE *out);

/* Writes a whole document at once, so that errno is that of the stream. -errno, -ENOSPC on a full
 * disk. */
int writer_emit(FILE *out, const char *document, size_t size, struct err *e);

/* Makes the claims of a fabric run; false for one host and for a capture, which claim nothing about
 * a fabric. */
bool report_claim(const struct report *r, struct claim *claim);

/* Returns the verdict of the exit code: "PASS", "FAIL", "INCOMPLETE". */
const char *report_verdict(const struct report *r);

/* Save a report in a file, or in w->file below an open folder: whole or not at all, see
 * file_open(). A full disk is -ENOSPC with the path. */
int report_save(const struct report *r, const struct writer *w, const char *path, struct err *e);
int report_save_in(const struct report *r, const struct writer *w, const struct folder *folder,
		   struct err *e);

#endif
