/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct profile: what we want of a port. Loaded from YAML (schema rocecheck.profile/1) with
 * diagnostics that name file, line and column; every wish remembers its line.
 */
#ifndef PROFILES_PROFILE_H
#define PROFILES_PROFILE_H

#include "profiles/qos.h"
#include "profiles/yaml/diag.h"

#define PROFILE_SCHEMA	    "rocecheck.profile/1"
#define PROFILE_PATTERN_MAX 64 /* as many as an inventory has ports of one host */

/* What the fabric promises; picks the oracle of the traffic rules. */
enum profile_intent {
	INTENT_LOSSLESS, /* PFC holds senders, nothing may be lost */
	INTENT_LOSSY,	 /* congestion control alone; loss is repaired by the transport */
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

/* dcbx.agent: who writes ETS, PFC and APP of the host. */
enum profile_agent {
	AGENT_NONE,	       /* dcbnl, by us */
	AGENT_LLDPAD,	       /* lldpad, told by us */
	AGENT_LLDPAD_READONLY, /* dcbnl, beside an lldpad that was started with -R */
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
	struct qos qos; /* the wish */
	/* Place of each wish in path, line 0 = not stated; of inherited ones: of the key extends.
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
 * Loads the profile `name_or_path`: a path when it contains '/' or ends in .yaml or .yml, else a
 * shipped profile of that name, looked for in $ROCECHECK_PROFILES and beside the program. All
 * findings of the file are added to diags, errors and warnings. Returns 0 when there was no error;
 * -EINVAL when diags holds errors; -ENOENT and other -errno with e filled when the file cannot be
 * read. *p is untouched on failure. Checks besides syntax: the cross-field rules of
 * profile_check().
 */
int profile_load(const char *name_or_path, struct profile *p, struct diags *diags, struct err *e);

/* The rules that need several fields: ETS shares sum to 100, RoCE DSCP maps to a lossless priority,
 * lossless and lossy priorities do not share a TC, ... Adds findings with the lines of the fields.
 */
int profile_check(const struct profile *p, struct diags *diags);

/* Whether select.interfaces covers this netdev. */
bool profile_selects(const struct profile *p, const char *ifname);

/* DSCP and ECN of RoCE data as the profile wants them (rdma.cm_default_tos). -ENODATA if not
 * stated. */
int profile_roce_tos(const struct profile *p);

/* Priority of RoCE data by the profile's own maps: app.dscp, or with trust pcp the kernel's ToS
 * rule and vlan.egress_qos_map. -ENODATA when the profile does not say. */
int profile_roce_prio(const struct profile *p);

/* The socket priority that the kernel gives to a ToS byte: it picks the VLAN priority. */
unsigned int profile_skb_prio(uint8_t tos);

/* Path of a file that stands in another one, relative to its folder. -ENAMETOOLONG. */
int profile_relative(const char *from, const char *name, char *path, size_t size);

/* Whether this is the path of a file and not the name of a shipped profile. */
bool profile_is_path(const char *name);

/* The JSON Schema of a profile; new reference, NULL on -ENOMEM. */
json_t *profile_schema(void);

/* Words of the enums, for messages and JSON. */
extern const struct qos_word profile_intent_words[], profile_agent_words[];
const char *profile_intent_word(enum profile_intent intent);

#endif
