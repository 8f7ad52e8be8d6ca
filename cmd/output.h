/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stdout and stderr of the process. All that is printed leaves through a stream that cleans it by
 * profiles/base/text.h, so that no name, error or line of somebody else drives the terminal,
 * whichever command forgot to clean it. Our own colours pass, where colour is on.
 */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OUTPUT_HELD  8u	   /* more than any character or style has bytes */
#define OUTPUT_CHUNK 4096u /* written with one call */

/* Storage is the caller's and outlives the stream. */
struct output {
	int fd;
	bool colour; /* styles of profiles/base/text.h pass; may be set later */
	bool ascii;  /* the terminal's locale has no UTF-8: other characters become '?' */
	size_t held; /* bytes in `tail`: the beginning of a character or of a style */
	size_t used; /* bytes in `chunk` */
	char tail[2 * OUTPUT_HELD];
	char chunk[OUTPUT_CHUNK];
};

/* A stream over fd: line-buffered when that is a terminal, unbuffered on stderr's descriptor. What
 * fails is ferror() with errno, as on any stream. fclose() leaves fd open. NULL on -ENOMEM. */
FILE *output_open(struct output *o, int fd);

#endif
