/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See tidy.h.
 */
#include "cmd/tidy.h"

#include <stdio.h>

#include "dcb/apply/journal.h"

static void warn(const struct err *why, void *arg)
{
	(void)arg;
	fprintf(stderr, "rocecheck: warning: %s\n", why->text);
}

void cmd_tidy(const struct state_at *at)
{
	/* What stands in the way is found, and said, by what comes next. */
	(void)journal_tidy(at, warn, NULL, NULL);
}
