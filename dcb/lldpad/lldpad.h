/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lldpad: its control socket, its words, its file.
 *
 * A client of the control socket: a datagram asks, a datagram answers, both ASCII with lengths
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

#include "profiles/qos.h"

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

/* Connects to the lldpad of this network namespace that lldpad_find_pid() has found: only answers
 * that process pid of user uid has sent are read. -ECONNREFUSED when it has gone. */
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
int lldpad_parse_answer(const char *answer, size_t len, const char *request, const char **rest,
			struct err *e);

/* Hex digits to bytes. Their number, -EPROTO for what is no hex, -EMSGSIZE. */
int lldpad_bytes(const char *hex, size_t digits, uint8_t *bytes, size_t size);

/* The DCB configuration of a port in lldpad's words and as struct qos. Pure. Words and defaults:
 * openlldp lldp_8021qaz.c read_cfg_file(), lldp_8021qaz_cmds.c, lldp_mand_cmds.c. */

#define LLDPAD_APP_FIELDS (QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_APP))

#define LLDPAD_APPS_MAX 32

/* What lldpad does with a port of which its file says nothing: willing, all strict in TC 0, no PFC,
 * no APP entry, ETS configuration and PFC sent. */
void lldpad_defaults(struct qos *q);

/* Takes one argument out of the file, by its name there (APP entries: APP0 to APP31). Arguments of
 * other features are ignored. -EBADMSG, named in e, for a value that cannot be. */
int lldpad_parse_arg(struct qos *q, enum lldpad_tlv tlv, const struct lldpad_arg *arg,
		     struct err *e);

/* After the last: shares of what is not ETS mean nothing and become 0, trust follows from the DSCP
 * entries as in the kernel. */
void lldpad_finish(struct qos *q);

/* The arguments of a TLV that state the fields of mask; APP entries are not among them. */
unsigned int lldpad_args(const struct qos *q, uint64_t mask, enum lldpad_tlv tlv,
			 struct lldpad_arg arg[LLDPAD_ARGS_MAX]);

/* APP entries, those of DSCPs included, as arguments "APP" of a set: what `from` has and `to` has
 * not. At most max, of QOS_DSCPS + QOS_APPS_MAX that there can be. */
unsigned int lldpad_apps(const struct qos *from, const struct qos *to, struct lldpad_arg *arg,
			 unsigned int max);

/* APP entries, those of DSCPs included. */
unsigned int lldpad_app_count(const struct qos *q);

/* lldpad's own file: what it does with a port, also after a restart. It writes each change there at
 * once, so the file is read whether it runs or not; it is written only while it does not run,
 * because a running lldpad would overwrite it. */

#define LLDPAD_CONF "/var/lib/lldpad/lldpad.conf"

/* The fields of lldp_agent_fields(), with lldpad's defaults for what is not stated. No file:
 * defaults, if there is a folder for it; else -ENOENT (lldpad is not installed). -EBADMSG for a
 * file that does not parse, with its line. */
int lldpad_conf_read(const char *path, const char *ifname, struct qos *q, struct err *e);

/* States the fields of mask; the rest of the file stays. The new file takes the place of the old
 * one when it is on the disk whole. */
int lldpad_conf_write(const char *path, const char *ifname, const struct qos *q, uint64_t mask,
		      struct err *e);

#endif
