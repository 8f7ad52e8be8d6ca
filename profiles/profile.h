/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct profile: the desired settings of a port. Loaded from YAML (schema rocecheck.profile/1)
 * with diagnostics that name file, line and column; each setting keeps the line that states it.
 */
#ifndef PROFILES_PROFILE_H
#define PROFILES_PROFILE_H

#include "profiles/qos.h"
#include "profiles/yaml/diag.h"

#define PROFILE_SCHEMA	    "rocecheck.profile/1"
#define PROFILE_PATTERN_MAX 64 /* also the limit of ports per host in an inventory */

/* Guarantee of the fabric; selects the criteria of the traffic rules. */
enum profile_intent {
	INTENT_LOSSLESS, /* PFC pauses senders, no packet may be lost */
	INTENT_LOSSY,	 /* congestion control only; the transport retransmits lost packets */
	INTENT_SPRAYED,	 /* packets of a flow take many paths; reordering is normal */
};

enum profile_choice {
	CHOICE_FAIL, /* on_unsupported */
	CHOICE_WARN,
	CHOICE_SKIP,
	CHOICE_ALLOW, /* disruption */
	CHOICE_ASK,
	CHOICE_DENY,
};

/* dcbx.agent: program that writes ETS, PFC and APP of the host. */
enum profile_agent {
	AGENT_NONE,	       /* rocecheck, through dcbnl */
	AGENT_LLDPAD,	       /* lldpad, configured by rocecheck */
	AGENT_LLDPAD_READONLY, /* rocecheck, beside an lldpad started with -R */
};

/* dcbx.peer.match */
enum profile_lldp_peer {
	LLDP_PEER_PFC = 1,
	LLDP_PEER_ETS = 2,
	LLDP_PEER_APP = 4,
};

struct profile {
	char name[64];
	char description[256];
	char path[256]; /* as given, or "builtin:NAME"; for findings */
	enum profile_intent intent;
	struct qos qos; /* desired settings */
	/* Place of each setting in path; line 0 = not stated; inherited: that of the key extends.
	 */
	int line[QOS_FIELD_COUNT];
	int column[QOS_FIELD_COUNT];
	int width[QOS_FIELD_COUNT];
	/* select.interfaces: fnmatch(3) patterns; 0 = every RoCE port */
	unsigned int interface_count;
	char interface[PROFILE_PATTERN_MAX][64];
	enum profile_choice on_unsupported; /* FAIL, WARN or SKIP; default FAIL */
	enum profile_choice disruption;	    /* ALLOW, ASK or DENY; default ASK */
	unsigned int confirm_within_s;	    /* policy.rollback_timeout_s; 0 = none */
	enum profile_agent agent;	    /* dcbx.agent */
	enum profile_choice lldp_peer;	    /* dcbx.peer.require: FAIL, WARN or SKIP */
	uint8_t lldp_peer_match;	    /* enum profile_lldp_peer flags; default all */
	bool persist;			    /* policy.persist: apply again at boot; default on */
};

/*
 * Loads the profile `name_or_path`: a path if it contains '/' or ends in .yaml or .yml, else a
 * shipped profile of that name in $ROCECHECK_PROFILES or beside the program. Adds all findings to
 * diags, also those of profile_check(). Returns 0 without errors; -EINVAL if diags has errors;
 * -ENOENT or another -errno with e filled if the file cannot be read. *p is untouched on failure.
 */
int profile_load(const char *name_or_path, struct profile *p, struct diags *diags, struct err *e);

/* Checks the rules that need several fields: ETS shares sum to 100, RoCE DSCP maps to a lossless
 * priority, lossless and lossy priorities do not share a TC, ... Adds findings with the lines of
 * the fields.
 */
int profile_check(const struct profile *p, struct diags *diags);

/* Returns true if select.interfaces matches this netdev. */
bool profile_selects(const struct profile *p, const char *ifname);

/* DSCP and ECN of RoCE data (rdma.cm_default_tos). -ENODATA if not stated. */
int profile_roce_tos(const struct profile *p);

/* Priority of RoCE data by the maps of the profile: app.dscp, or with trust pcp the kernel's ToS
 * rule and vlan.egress_qos_map. -ENODATA if the profile does not state them. */
int profile_roce_prio(const struct profile *p);

/* ToS of data for a priority: RoCE's own for its priority, else the lowest DSCP that the maps of
 * the profile put there, with the ECN bits of RoCE's. -ENODATA if none is. */
int profile_prio_tos(const struct profile *p, unsigned int prio);

/* Socket priority of a ToS byte in the kernel; the VLAN egress map turns it into the PCP. */
unsigned int profile_skb_prio(uint8_t tos);

/* Resolves `name`, which the file `from` names, against the folder of `from`. -ENAMETOOLONG. */
int profile_relative(const char *from, const char *name, char *path, size_t size);

/* Returns true for the path of a file, false for the name of a shipped profile. */
bool profile_is_path(const char *name);

/* Returns the name for people of a profile's path: without "builtin:" of a shipped one. */
const char *profile_shown_name(const char *path);

/* The JSON Schema of a profile; new reference, NULL on -ENOMEM. */
json_t *profile_schema(void);

/* Words of the enums, for messages and JSON. */
extern const struct qos_word profile_intent_words[], profile_unsupported_words[],
	profile_disruption_words[], profile_agent_words[];
const char *profile_intent_word(enum profile_intent intent);

#endif
