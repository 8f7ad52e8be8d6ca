/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stdout and stderr of the process: streams that sanitize all output (profiles/base/text.h). So no
 * name, error or line of a host, peer or file can control the terminal, even if a command forgets
 * to sanitize it. Styles of text.h pass if colour is on.
 */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OUTPUT_HELD  8u	   /* more bytes than any character or style */
#define OUTPUT_CHUNK 4096u /* written with one call */

/* Storage is the caller's and outlives the stream. */
struct output {
	int fd;
	bool colour; /* styles of profiles/base/text.h pass; may be set later */
	bool ascii;  /* the terminal's locale has no UTF-8: other characters become '?' */
	size_t held; /* bytes in `tail`: an incomplete character or style */
	size_t used; /* bytes in `chunk` */
	char tail[2 * OUTPUT_HELD];
	char chunk[OUTPUT_CHUNK];
};

/* Opens a stream on fd: line-buffered for a terminal, unbuffered for the descriptor of stderr.
 * Write errors set ferror() and errno. fclose() leaves fd open. NULL on -ENOMEM. */
FILE *output_open(struct output *o, int fd);

#define OUTPUT_COLUMNS 100

/* Prints an ASCII text in lines of at most `width` columns, broken at blanks. `at`: columns that
 * the first line has already; the others are indented by `indent`. Returns the columns of the last
 * line. */
unsigned int output_wrap(FILE *out, const char *text, unsigned int at, unsigned int indent,
			 unsigned int width);

/* Prints one wrapped line: head, the keys of these fields, tail. at: columns that it has already. */
void output_keys(FILE *out, unsigned int at, const char *head, uint64_t fields, const char *tail);

#endif
