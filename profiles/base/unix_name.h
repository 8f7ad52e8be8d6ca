/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who has an abstract name of a datagram socket (unix(7)) in our network namespace. Any user may
 * take any name that is free.
 */
#ifndef DCB_UNIX_NAME_H
#define DCB_UNIX_NAME_H

#include <stdbool.h>
#include <sys/types.h>

enum unix_holder {
	UNIX_NAME_FREE,
	UNIX_NAME_ROOT,	    /* or, for a caller who is not root, of a user that cannot be known */
	UNIX_NAME_STRANGER, /* a user who is not root made the socket, or nobody is found to have it
			     */
};

#define UNIX_NAME_NOBODY ((uid_t)-1) /* not known */

struct unix_name {
	enum unix_holder holder;
	pid_t pid; /* of a stranger: a process that has the socket; 0: not found */
	uid_t uid; /* of a stranger; UNIX_NAME_NOBODY */
};

/* name: without the NUL in front. proc: NULL = /proc. */
void unix_name_find(const char *proc, const char *name, struct unix_name *found);

#endif
