/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of lldpad's control socket: a datagram asks, a datagram answers, both ASCII with lengths
 * in hex. Facts of the grammar: openlldp include/clif_msgs.h, lldp_mand_cmds.c.
 *
 *   request  M 00000001 C 3 CMD OPS IFLEN ifname AGENT [TLVID] {ARGLEN arg VALLEN value}
 *   answer   R STATUS and what was asked, then its own
 *
 * Only a running lldpad is ever spoken to: where systemd holds the socket, a datagram would start
 * one, and starting it changes the ports (see dcb/lldpad/owner.h).
 */
#ifndef DCB_LLDPAD_H
#define DCB_LLDPAD_H

#include <stdint.h>
#include <sys/types.h>

#include "profiles/base/base.h"

#define LLDPAD_MESSAGE_MAX 4096
#define LLDPAD_TEXT_MAX	   96
#define LLDPAD_ARGS_MAX	   8

/* TLVs of 802.1Q annex D: OUI 00-80-C2 and subtype. */
enum lldpad_tlv {
	LLDPAD_NO_TLV = 0, /* of the port itself: adminStatus */
	LLDPAD_ALL_TLVS = 0x7f,
	LLDPAD_ETS_CFG = 0x0080c209,
	LLDPAD_ETS_REC = 0x0080c20a,
	LLDPAD_PFC = 0x0080c20b,
	LLDPAD_APP = 0x0080c20c,
};

/* One argument: as text on the socket, and in the file as text or number. */
struct lldpad_arg {
	char name[16];
	char text[LLDPAD_TEXT_MAX];
	enum {
		LLDPAD_TEXT,
		LLDPAD_INT,
		LLDPAD_BOOL,
	} type;
	int number; /* of INT and BOOL */
};

struct lldpad; /* opaque: the socket */

/* Connects to the lldpad of this network namespace that owner_lldpad() has found: only answers that
 * process pid of user uid has sent are read. -ECONNREFUSED when it has gone. */
int lldpad_open(pid_t pid, uid_t uid, struct lldpad **l, struct err *e);
void lldpad_close(struct lldpad *l);

/* Sets the arguments of one TLV of a port in one message, which lldpad takes or refuses as a whole;
 * with `remove` it deletes them (APP entries). It answers within 2 s or it is -ETIMEDOUT. */
int lldpad_set(struct lldpad *l, const char *ifname, enum lldpad_tlv tlv,
	       const struct lldpad_arg *arg, unsigned int args, bool remove, struct err *e);

/* All TLVs of the neighbour as they were on the wire, and in *len their length; 0: no neighbour is
 * known, or lldpad does not listen on this port. */
int lldpad_neighbour(struct lldpad *l, const char *ifname, uint8_t *tlvs, size_t size, size_t *len,
		     struct err *e);

/* Pure, for tests. */

/* Writes a request, NUL at its end. Its length, or -EMSGSIZE. */
int lldpad_set_text(const char *ifname, enum lldpad_tlv tlv, const struct lldpad_arg *arg,
		    unsigned int args, bool remove, char *buf, size_t size);
int lldpad_neighbour_text(const char *ifname, char *buf, size_t size);

/* Judges an answer of len bytes: what was asked must come back in it. *rest is what follows that.
 * -EPROTO when it is none, or the -errno of its status, named in e. */
int lldpad_answer(const char *answer, size_t len, const char *request, const char **rest,
		  struct err *e);

/* Hex digits to bytes. Their number, -EPROTO for what is no hex, -EMSGSIZE. */
int lldpad_bytes(const char *hex, size_t digits, uint8_t *bytes, size_t size);

#endif
