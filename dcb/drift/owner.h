/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds other programs that set the DCB of this host. lldpad, for example, writes ETS and PFC with
 * every LLDPDU (30 s), which overwrites applied settings.
 */
#ifndef DCB_OWNER_H
#define DCB_OWNER_H

#include <sys/types.h>

#include "profiles/base/base.h"

enum owner_kind {
	OWNER_LLDPAD,	      /* runs */
	OWNER_LLDPAD_SOCKET,  /* systemd starts lldpad at the first use of its socket */
	OWNER_LLDPAD_BOOT,    /* starts at the next boot */
	OWNER_LLDPD,	      /* runs or starts at boot, and sends its own DCBX TLVs */
	OWNER_NETWORKMANAGER, /* a connection has a section [dcb] */
	OWNER_BOOT_CONFIG,    /* a unit that runs a QoS tool: dcb/drift/boot_config.h */
	OWNER_FOREIGN_SOCKET, /* another program holds lldpad's socket name; sets nothing */
	OWNER_KIND_COUNT,
};

struct owner {
	enum owner_kind kind;
	pid_t pid;	/* 0: does not run */
	char path[256]; /* configuration or unit file; "" = none */
	char name[64]; /* of the connection or tool; OWNER_FOREIGN_SOCKET: "uid N", "uid unknown" */
	char via[256]; /* OWNER_BOOT_CONFIG: the unit that runs the tool, "" = path itself */
};

/* NULL: /proc and /. */
struct owner_roots {
	const char *proc, *root;
};

/* Finds the programs that set the DCB of these netdevs, worst first; fills at most max and returns
 * their number. Ignores an lldpd that sends no DCBX, and files that cannot be read. */
unsigned int owner_find(const struct owner_roots *roots, const char *const *ports,
			unsigned int count, struct owner *found, unsigned int max);

/* Returns true for an lldpad, now or at boot: no conflict for a profile with dcbx.agent: lldpad. */
bool owner_is_lldpad(const struct owner *owner);

/* Returns true when the program overwrites applied settings. OWNER_FOREIGN_SOCKET does not block:
 * otherwise any user could keep root from applying. */
bool owner_blocks(const struct owner *owner);

/* Fills the error with the conflict and the remedy. Returns -EBUSY. */
int owner_report(const struct owner *owner, struct err *e);

#endif
