/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Client of lldpad: control socket, configuration words, configuration file.
 *
 * Requests and answers on the control socket are datagrams in ASCII with lengths in hex. Grammar:
 * openlldp include/clif_msgs.h, lldp_mand_cmds.c.
 *
 *   request  M 00000001 C 3 CMD OPS IFLEN ifname AGENT [TLVID] {ARGLEN arg VALLEN value}
 *   answer   R STATUS, the request's fields, then the data
 *
 * Requests go only to a running lldpad: where systemd holds the socket, a datagram would start
 * lldpad, and starting it changes the ports (see dcb/lldpad/lldpad_process.h).
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

/* Connects to the lldpad of this network namespace that lldpad_find_pid() has found; reads only
 * answers of process pid of user uid. -ECONNREFUSED when it has ended. */
int lldpad_open(pid_t pid, uid_t uid, struct lldpad **l, struct err *e);
void lldpad_close(struct lldpad *l);

/* Sets the arguments of one TLV of a port in one message, which lldpad accepts or refuses as a
 * whole; `remove` deletes them (APP entries). -ETIMEDOUT after 2 s without an answer. */
int lldpad_set(struct lldpad *l, const char *ifname, enum lldpad_tlv tlv,
	       const struct lldpad_arg *arg, unsigned int args, bool remove, struct err *e);

/* Reads all TLVs of the neighbour as they were on the wire, and their length; 0: no neighbour, or
 * lldpad does not listen on this port. */
int lldpad_neighbour(struct lldpad *l, const char *ifname, uint8_t *tlvs, size_t size, size_t *len,
		     struct err *e);

/* Pure, for tests. */

/* Writes a terminated request. Returns its length, or -EMSGSIZE. */
int lldpad_set_text(const char *ifname, enum lldpad_tlv tlv, const struct lldpad_arg *arg,
		    unsigned int args, bool remove, char *buf, size_t size);
int lldpad_neighbour_text(const char *ifname, char *buf, size_t size);

/* Parses an answer of len bytes, which must repeat the request. *rest: the data after it. -EPROTO
 * for another message, or the -errno of its status, named in e. */
int lldpad_parse_answer(const char *answer, size_t len, const char *request, const char **rest,
			struct err *e);

/* Converts hex digits to bytes. Returns their number, -EPROTO for a non-hex digit, -EMSGSIZE. */
int lldpad_bytes(const char *hex, size_t digits, uint8_t *bytes, size_t size);

/* Conversion between lldpad's configuration words and struct qos. Pure. Words and defaults:
 * openlldp lldp_8021qaz.c read_cfg_file(), lldp_8021qaz_cmds.c, lldp_mand_cmds.c. */

#define LLDPAD_APP_FIELDS (QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_APP))

#define LLDPAD_APPS_MAX 32

/* Fills lldpad's defaults for a port without a section in its file: willing, all strict in TC 0, no
 * PFC, no APP entry, ETS configuration and PFC sent. */
void lldpad_defaults(struct qos *q);

/* Parses one argument of the file, by its name (APP entries: APP0 to APP31). Ignores arguments of
 * other features. -EBADMSG, named in e, for an invalid value. */
int lldpad_parse_arg(struct qos *q, enum lldpad_tlv tlv, const struct lldpad_arg *arg,
		     struct err *e);

/* Completes *q after the last argument: clears shares of non-ETS classes, derives trust from the
 * DSCP entries as the kernel does. */
void lldpad_finish(struct qos *q);

/* Writes the arguments of a TLV for the fields of mask, without APP entries. Returns their number.
 */
unsigned int lldpad_args(const struct qos *q, uint64_t mask, enum lldpad_tlv tlv,
			 struct lldpad_arg arg[LLDPAD_ARGS_MAX]);

/* Writes the APP entries (with those of DSCPs) that `from` has and `to` has not as arguments "APP",
 * at most max of QOS_DSCPS + QOS_APPS_MAX. Returns their number. */
unsigned int lldpad_apps(const struct qos *from, const struct qos *to, struct lldpad_arg *arg,
			 unsigned int max);

/* Returns the number of APP entries, with those of DSCPs. */
unsigned int lldpad_app_count(const struct qos *q);

/* lldpad's configuration file. lldpad writes each change to it at once, so it can be read at any
 * time; it is written here only while lldpad does not run, because a running one would overwrite
 * it. */

#define LLDPAD_CONF "/var/lib/lldpad/lldpad.conf"

/* Reads the fields of lldp_agent_fields(), with lldpad's defaults for missing ones. No file:
 * defaults, if its folder exists; else -ENOENT (lldpad is not installed). -EBADMSG, with the line,
 * for a file that does not parse. */
int lldpad_conf_read(const char *path, const char *ifname, struct qos *q, struct err *e);

/* Writes the fields of mask; the rest of the file stays. Replaces the file atomically. */
int lldpad_conf_write(const char *path, const char *ifname, const struct qos *q, uint64_t mask,
		      struct err *e);

#endif
