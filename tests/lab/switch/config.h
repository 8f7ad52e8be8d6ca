/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of the emulated switches, as a switch's own configuration states it: values
 * without pointers, loaded from YAML by tables and changed at run time by the same tables.
 */
#ifndef TESTS_LAB_SWITCH_CONFIG_H
#define TESTS_LAB_SWITCH_CONFIG_H

#include <jansson.h>
#include <stdio.h>

#include "profiles/qos.h"
#include "profiles/yaml/diag.h"
#include "tests/lab/switch/ecn.h"

#define LAB_SCHEMA   "rocecheck.switch/1"
#define SWITCHES_MAX 8
#define PORTS_MAX    64
#define FAULTS_MAX   32
#define LINKS_MAX    32
#define HOSTS_MAX    6
#define APPS_MAX     16
#define NAME_SIZE    32
#define PATH_SIZE    108 /* of a unix socket */

enum pfc_mode { PFC_OFF, PFC_ON, PFC_AUTO };
enum tag_mode { TAG_KEEP, TAG_ADD, TAG_STRIP };
enum lldp_dialect { DIALECT_IEEE, DIALECT_CEE, DIALECT_BOTH };

struct prio_config {
	unsigned int pfc, tc;
	unsigned int pcp; /* written into tags */
	unsigned int xoff_bytes, xon_bytes, headroom_bytes;
	unsigned int limit_bytes; /* lossy: of one queue, 0 = dynamic only */
};

struct tc_config {
	bool strict;
	unsigned int weight, maxrate_kbps;
	struct ecn_config ecn;
};

struct app_config {
	unsigned int selector, protocol, prio;
};

struct lldp_config {
	bool send, willing, recommend, dscp;
	unsigned int dialect, interval_s, ttl_s;
	bool pfc_given; /* states pfc_prios, whatever the port does */
	uint8_t pfc_prios;
	struct app_config app[APPS_MAX];
	unsigned int app_count;
};

struct port_config {
	char name[NAME_SIZE];
	char local[PATH_SIZE], remote[PATH_SIZE]; /* empty: a link inside */
	unsigned int rate_kbps, latency_us, mtu, trust;
	bool uplink, mirror, shut;
	struct {
		bool rx, tx;
	} pause;	  /* of the whole link, 802.3 annex 31B */
	unsigned int tag; /* what leaves: enum tag_mode */
	unsigned int lag; /* 0: none */
	uint8_t default_prio;
	uint8_t dscp_prio[QOS_DSCPS], pcp_prio[QOS_PRIOS];
	struct prio_config prio[QOS_PRIOS];
	struct tc_config tc[QOS_TCS];
	struct lldp_config lldp;
};

struct switch_config {
	char name[NAME_SIZE];
	uint8_t mac[6];
	unsigned int buffer_bytes, alpha_percent, age_s;
	unsigned int first_port, port_count;
};

struct link_config {
	char a[2 * NAME_SIZE], b[2 * NAME_SIZE]; /* "leaf1/u1" */
	unsigned int port_a, port_b;
};

/* DCBX TLVs, by bit in fault.tlvs; TLV_FRAME is all of the LLDP frame. */
enum tlv_kind { TLV_ETS, TLV_ETS_REC, TLV_PFC, TLV_APP, TLV_FRAME };

enum fault_kind {
	FAULT_DROP,
	FAULT_DSCP,
	FAULT_CLEAR_ECN,
	FAULT_MARK_CE,
	FAULT_DROP_CNP,
	FAULT_DROP_ACK,
	FAULT_CORRUPT,
	FAULT_REORDER,
	FAULT_DUPLICATE,
	FAULT_DELAY,
	FAULT_MTU,
	FAULT_PFC_OFF,
	FAULT_HEADROOM_ZERO,
	FAULT_PAUSE_STORM,
	FAULT_LLDP_ABSENT,
	FAULT_LLDP_WRONG,
	FAULT_LLDP_SECOND,
	FAULT_ECMP_LOSS,
	FAULT_PFC_AUTO,
	FAULT_KINDS,
};

#define FAULT_ANY 0x10000u

struct fault {
	char name[NAME_SIZE];
	unsigned int kind;
	char port[2 * NAME_SIZE];   /* "p1" or "leaf1/p1"; empty: any */
	unsigned int direction;	    /* enum fault_direction */
	uint8_t prios;		    /* bitmap, 0: any */
	unsigned int opcode, sport; /* FAULT_ANY */
	unsigned int every;	    /* 1 in so many */
	unsigned int times;	    /* hits at most; 0: no end */
	unsigned int value;	    /* DSCP, MTU in bytes */
	unsigned int window;	    /* of reorder: frames that overtake; 0: by time alone */
	uint8_t tlvs;		    /* bitmap of enum tlv_kind; 0: what the kind is about */
	unsigned int delay_ms;
	unsigned int start_ms, heal_ms; /* since the start; heal 0: never */
	uint64_t seen, hits;		/* what it was about; what it changed */
};

/* How `ip link` calls the modes that need nothing of the switch but a static lag, if any. */
enum bond_mode { BOND_NONE, BOND_ACTIVE_BACKUP, BOND_BALANCE_XOR };

/* What a guest makes of its wires; the switches do not care. */
struct host_config {
	char name[NAME_SIZE];
	unsigned int bond;
};

struct lab_config {
	char control[PATH_SIZE];
	char mirror[PATH_SIZE];
	unsigned int mirror_snaplen;
	unsigned int frames;
	struct switch_config box[SWITCHES_MAX];
	unsigned int box_count;
	struct port_config port[PORTS_MAX];
	unsigned int port_count;
	struct link_config link[LINKS_MAX];
	unsigned int link_count;
	struct fault fault[FAULTS_MAX];
	unsigned int fault_count;
	struct host_config host[HOSTS_MAX];
	unsigned int host_count;
};

extern const struct qos_word fault_words[];
extern const struct qos_word dialect_words[];
extern const struct qos_word bond_words[];
extern const struct qos_word tlv_words[];

/* Loads a file; all findings go to d. -EINVAL when there are errors among them. */
int config_load(const char *path, struct lab_config *config, struct diags *d, struct err *e);
int config_parse(const char *shown, const char *text, size_t size, struct lab_config *config,
		 struct diags *d, struct err *e);

/* Sets one value of a port by its dotted path below the port ("tc.3.ecn.kmin"), or of a switch
 * ("buffer"), or the mirror's. On failure all is untouched and e says why. */
int config_set_port(struct port_config *port, const char *path, const json_t *value, struct err *e);
int config_set_switch(struct switch_config *box, const char *path, const json_t *value,
		      struct err *e);
int config_snaplen(struct lab_config *config, const json_t *value, struct err *e);

/* Reads keys of a fault, as in the file, over what *fault has. On failure it is untouched. */
int config_fault(const json_t *json, struct fault *fault, struct err *e);
void config_fault_defaults(struct fault *fault);

/* Whether a fault is about a port of a switch. */
bool config_fault_at(const struct fault *fault, const char *port, const char *box);

/* What must hold within one fault, and its port must be there; false with the reason in e. */
bool config_fault_ok(const struct lab_config *config, const struct fault *fault, struct err *e);

/* Number of the fault with this name, or -ENOENT. */
int config_fault_find(const struct lab_config *config, const char *name);

/* Names a fault that has none after its kind: "drop", then "drop-2". */
void config_fault_name(const struct lab_config *config, struct fault *fault);

/* Prints the tables of all keys, in Markdown. */
void config_print_keys(FILE *out);

/* The hosts of a topology, one a line: name, number of wires, bond mode or "-". A host is known by
 * the sockets it gives to ports, NAME.wire and NAME.b.wire. -EINVAL: a second wire alone. */
int config_print_hosts(const struct lab_config *config, FILE *out, struct err *e);

/* Is a port's remote that wire ("wire", "b.wire") of the host? */
bool config_has_wire(const struct lab_config *config, const char *host, const char *wire);

/* What must hold within one port; false with the reason in e. */
bool config_port_ok(const struct port_config *port, struct err *e);

#endif
