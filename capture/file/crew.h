/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that read an ordinary capture file ahead, in pieces: each reads a piece, guesses where
 * its records begin, and looks at its frames as skim_guess(), with their ICRC. The pieces come out
 * in the order of the file, those again that were guessed wrong, so that everything that is made of
 * them is the same for any number of threads. The caller's thread takes part when it would wait.
 */
#ifndef CAPTURE_CREW_H
#define CAPTURE_CREW_H

#include "capture/flow/skim.h"

struct crew; /* opaque */

/* `jobs` threads, the caller's own among them, on r, which stays the caller's and must stand where
 * it was opened; model: as skim_init() made it. -ENOMEM or -EAGAIN. */
int crew_new(struct record_file *r, unsigned int jobs, const struct skim_batch *model,
	     struct crew **out);
/* Ends the threads. Accepts NULL. */
void crew_free(struct crew *c);

/* The next frames, looked at, to be found in the flow table by the caller; their data stays valid
 * until the next call. False: none are left that the crew can read, and r goes on from there. */
bool crew_next(struct crew *c, struct skim_batch *b);

#endif
