/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privileges that decoding packets and writing recordings do not need, given up for good
 * (capabilities(7), credentials(7)). Nothing here can be taken back.
 */
#ifndef CAPTURE_PRIVILEGES_H
#define CAPTURE_PRIVILEGES_H

#include "profiles/base/base.h"

struct folder;

/* The user and group without rights of its own: "nobody", "nogroup". */
#define PRIVILEGES_NOBODY 65534U

/*
 * Gives up every capability, also those of programs that are started later, and root's uid and
 * supplementary groups: root becomes PRIVILEGES_NOBODY. A root that cannot change its uid (a
 * container without CAP_SETUID, a user namespace with one user) stays uid 0 without capabilities.
 * Call it before there are threads. -errno and e: the process must end.
 */
int privileges_drop(struct err *e);

/* The same, but for these. */
struct privileges_kept {
	bool user;	  /* who it is: a device may be for its owner alone */
	bool lock_memory; /* CAP_IPC_LOCK where it was there: the limit of locked memory is too low
			   */
};
int privileges_drop_except(const struct privileges_kept *kept, struct err *e);

/* Whether memory is locked without a limit: CAP_IPC_LOCK. */
bool privileges_lock_memory(void);

/* Gives up the same, but root becomes the owner of an open folder: a recording by sudo
 * belongs to the owner of the folder, and is written with the owner's rights. -errno and e: the
 * process must end. */
int privileges_become_owner(const struct folder *folder, struct err *e);

#endif
