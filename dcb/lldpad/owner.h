/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who else sets the DCB of this host. lldpad writes ETS and PFC again with every LLDPDU (some 30
 * s), so nothing that is applied beside it lasts.
 */
#ifndef DCB_OWNER_H
#define DCB_OWNER_H

#include <sys/types.h>

#include "profiles/base/base.h"

/*
 * Pid of a running lldpad of this network namespace, 0 when there is none. proc: NULL = /proc.
 * Its socket is looked up, never connected to: a datagram would start an lldpad that systemd
 * listens for. It is a daemon (profiles/base/daemon.h), and no other user made the socket.
 */
pid_t lldpad_find_pid(const char *proc);

/* Whether root listens on lldpad's socket though no lldpad runs: systemd, which starts one at the
 * first datagram. */
bool lldpad_socket_activated(const char *proc);

/* Whether a user who is not root has the name of lldpad's socket; uid -1: the kernel has no
 * unix_diag and does not say, and no lldpad runs. No lldpad can start meanwhile. */
bool lldpad_socket_foreign(const char *proc, uid_t *uid);

/* How an lldpad was started. */
struct lldpad_options {
	bool read_only; /* -R: it sets no ETS, PFC or APP */
	char conf[256]; /* -f FILE, reached by /proc where it is relative; "": its default */
};

/* Reads them from the command line of process pid. False when it has gone. */
bool lldpad_read_options(const char *proc, pid_t pid, struct lldpad_options *options);

enum owner_kind {
	OWNER_LLDPAD,	      /* runs */
	OWNER_LLDPAD_SOCKET,  /* systemd starts it at the first use of its socket */
	OWNER_LLDPAD_BOOT,    /* is started at the next boot */
	OWNER_LLDPD,	      /* runs or is started at boot, and sends DCBX TLVs of its own */
	OWNER_NETWORKMANAGER, /* a connection of it has a section [dcb] */
	OWNER_BOOT_CONFIG,    /* see dcb/drift/boot_config.h */
	OWNER_FOREIGN_SOCKET, /* has the name of lldpad's socket, and sets nothing */
	OWNER_KIND_COUNT,
};

struct owner {
	enum owner_kind kind;
	pid_t pid;	/* 0: does not run */
	char path[256]; /* of the file that says so; "" = none */
	char name[64];	/* of the connection, the tool, or "uid N", "uid unknown" of a stranger */
	char via[256];	/* OWNER_BOOT_CONFIG: of the unit that calls the tool, "" = path itself */
};

/* NULL: /proc and /. */
struct owner_roots {
	const char *proc, *root;
};

/* Who else sets the DCB of these netdevs, worst first; fills at most max and returns how many. An
 * lldpd that sends no DCBX is none: it sets nothing. What cannot be read is not there. */
unsigned int owner_find(const struct owner_roots *roots, const char *const *ports,
			unsigned int count, struct owner *found, unsigned int max);

/* Whether it is an lldpad, now or at boot: none to a profile that wants one. */
bool owner_is_lldpad(const struct owner *owner);

/* Whether what is set beside it does not last. A stranger is no reason to set nothing: any user
 * could keep root from it. */
bool owner_blocks(const struct owner *owner);

/* The reason and the ways out. Returns -EBUSY. */
int owner_report(const struct owner *owner, struct err *e);

#endif
