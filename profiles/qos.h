/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct qos: one struct for desired and actual settings. A profile, a NIC and an LLDP neighbour
 * all fill it; `has` marks the known fields. Plan = diff, verified = empty diff. show, JSON and the
 * profile loader walk the same field table.
 *
 * Adding a field: an enum value, a member, a row in qos_fields.c; test_qos walks the rows.
 */
#ifndef PROFILES_QOS_H
#define PROFILES_QOS_H

#include <jansson.h>

#include "profiles/base/base.h"
#include "profiles/base/words.h"

#define QOS_PRIOS	8
#define QOS_TCS		8
#define QOS_DSCPS	64
#define QOS_SKB_PRIOS	16 /* socket priorities, which the kernel derives from the ToS */
#define QOS_APPS_MAX	64 /* APP entries other than DSCP entries */
#define QOS_PARAM_COUNT 69 /* names of congestion control parameters */
#define QOS_STORM_AUTO                                                                             \
	0xffff /* pfc_storm_ms: the device decides; ETHTOOL PFC_STORM_PREVENTION_AUTO */
#define QOS_STORM_AUTO_MS 100 /* value that a device with "auto" reports */
#define QOS_SELECTORS	  6
#define QOS_UNMAPPED	  0xff /* dscp_prio[]: no entry for this DSCP */

/* Transmission selection algorithms, 802.1Q clause 37 (ETS); values of linux/dcbnl.h. */
enum qos_tsa {
	QOS_TSA_STRICT = 0,
	QOS_TSA_CBS = 1,
	QOS_TSA_ETS = 2,
	QOS_TSA_VENDOR = 255,
};

enum qos_trust {
	QOS_TRUST_PCP = 0,
	QOS_TRUST_DSCP = 1,
};

/* APP selectors, 802.1Q table D-9; values of linux/dcbnl.h. */
enum qos_app_selector {
	QOS_APP_ETHERTYPE = 1,
	QOS_APP_STREAM = 2,
	QOS_APP_DGRAM = 3,
	QOS_APP_ANY = 4,
	QOS_APP_DSCP = 5,
	QOS_APP_PCP = 255, /* linux >= 6.2: the PCP of a VLAN tag, +8 with DEI */
};

/* DCBX mode flags, linux/dcbnl.h DCB_CAP_DCBX_*. */
enum qos_dcbx {
	QOS_DCBX_HOST = 0x01,
	QOS_DCBX_LLD_MANAGED = 0x02,
	QOS_DCBX_CEE = 0x04,
	QOS_DCBX_IEEE = 0x08,
	QOS_DCBX_STATIC = 0x10,
};

/* adminStatus of a port's LLDP agent: 802.1AB s9.2.5.1; values of lldpad. */
enum qos_admin_status {
	QOS_LLDP_DISABLED,
	QOS_LLDP_TX,
	QOS_LLDP_RX,
	QOS_LLDP_RXTX,
};

/* TLVs that an LLDP agent sends: 802.1Q annex D. */
enum qos_advertise {
	QOS_ADVERTISE_ETS_CFG = 1,
	QOS_ADVERTISE_ETS_REC = 2,
	QOS_ADVERTISE_PFC = 4,
	QOS_ADVERTISE_APP = 8,
};

struct qos_app {
	uint8_t selector; /* enum qos_app_selector, never DSCP: that is dscp_prio[] */
	uint8_t prio;
	uint16_t protocol; /* ethertype or UDP/TCP port */
};

/* Congestion control parameters by the index of qos_param_words[]. Values without their bit are 0,
 * so that bytes compare. */
struct qos_params {
	uint32_t has[(QOS_PARAM_COUNT + 31) / 32]; /* bits */
	uint32_t value[QOS_PARAM_COUNT];
};

enum qos_algorithm {
	QOS_CC_OFF,
	QOS_CC_DCQCN,
	QOS_CC_DCTCP,
	QOS_CC_TIMELY,
};

/* The fields, in the order of show. Bit (1 << id) of `has`. */
enum qos_field_id {
	QOS_DCBX_MODE,
	QOS_FIRMWARE_AGENT,
	QOS_ADMIN_STATUS,
	QOS_ADVERTISE,
	QOS_TRUST,
	QOS_DSCP_PRIO,
	QOS_APP,
	QOS_APP_TRUST,
	QOS_REWRITE_DSCP,
	QOS_REWRITE_PCP,
	QOS_ETS_WILLING,
	QOS_ETS_CAP,
	QOS_PRIO_TC,
	QOS_TC_TSA,
	QOS_TC_TX_BW,
	QOS_TC_MAXRATE,
	QOS_RECO_PRIO_TC,
	QOS_RECO_TSA,
	QOS_RECO_BW,
	QOS_PFC_WILLING,
	QOS_PFC_CAP,
	QOS_PFC_ENABLED,
	QOS_PFC_DELAY,
	QOS_PFC_STORM,
	QOS_PRIO_BUFFER,
	QOS_BUFFER_SIZE,
	QOS_PAUSE_AUTONEG,
	QOS_PAUSE_RX,
	QOS_PAUSE_TX,
	QOS_MTU,
	QOS_IB_MTU,
	QOS_VLAN_PRIO,
	QOS_ROCE_ENABLE,
	QOS_ROCE_VERSION,
	QOS_CM_TOS,
	QOS_VERBS_TOS,
	QOS_NP_ENABLE,
	QOS_RP_ENABLE,
	QOS_CNP_DSCP,
	QOS_CNP_PRIO,
	QOS_CNP_INTERVAL,
	QOS_CC_ALGORITHM,
	QOS_CC_PARAMS,
	QOS_FIELD_COUNT,
};

#define QOS_BIT(id) (UINT64_C(1) << (id))

/* No pointers: copied freely. A member means something only when its bit is set in has. */
struct qos {
	uint64_t has;
	uint8_t dcbx_mode;		  /* enum qos_dcbx flags */
	uint8_t firmware_agent;		  /* 0 or 1: the device's own LLDP agent runs */
	uint8_t admin_status;		  /* enum qos_admin_status */
	uint8_t advertise;		  /* enum qos_advertise flags */
	uint8_t trust;			  /* enum qos_trust */
	uint8_t dscp_prio[QOS_DSCPS];	  /* prio or QOS_UNMAPPED */
	uint8_t app_count;		  /* at most QOS_APPS_MAX */
	struct qos_app app[QOS_APPS_MAX]; /* sorted by selector, protocol, prio */
	uint8_t app_trust[QOS_SELECTORS]; /* selectors, the first with an entry decides; 0 ends */
	uint8_t rewrite_dscp[QOS_PRIOS];  /* DSCP written for a priority, or QOS_UNMAPPED */
	uint8_t rewrite_pcp[QOS_PRIOS];
	uint8_t ets_willing;		   /* 0 or 1 */
	uint8_t ets_cap;		   /* number of traffic classes, read only */
	uint8_t prio_tc[QOS_PRIOS];	   /* traffic class of each priority */
	uint8_t tc_tsa[QOS_TCS];	   /* enum qos_tsa */
	uint8_t tc_tx_bw[QOS_TCS];	   /* percent, of TCs with QOS_TSA_ETS */
	uint64_t tc_maxrate_kbps[QOS_TCS]; /* kbit/s (linux dcbnl.h), 0 = no limit */
	/* Recommendation to the peer: ieee_ets.reco_prio_tc, tc_reco_tsa, tc_reco_bw. */
	uint8_t reco_prio_tc[QOS_PRIOS];
	uint8_t reco_tsa[QOS_TCS];
	uint8_t reco_bw[QOS_TCS];
	uint8_t pfc_willing;   /* 0 or 1 */
	uint8_t pfc_cap;       /* number of lossless priorities, read only */
	uint8_t pfc_enabled;   /* bitmap by priority */
	uint16_t pfc_delay;    /* dcbnl delay: bit times by the standard, metres on mlx5 */
	uint16_t pfc_storm_ms; /* 0: off, QOS_STORM_AUTO */
	uint8_t prio_buffer[QOS_PRIOS];
	uint32_t buffer_size_bytes[QOS_PRIOS];
	uint8_t pause_autoneg; /* 0 or 1 */
	uint8_t pause_rx;      /* 0 or 1 */
	uint8_t pause_tx;      /* 0 or 1 */
	uint32_t mtu;	       /* netdev MTU, bytes */
	uint32_t ib_mtu;       /* profile: the least accepted; NIC: active_mtu; bytes, read only */
	uint8_t vlan_prio[QOS_SKB_PRIOS]; /* VLAN priority of each socket priority, of all VLAN
					     devices above the port */
	uint8_t roce_enable;		  /* 0 or 1: devlink enable_roce */
	uint8_t roce_version;		  /* 1 or 2: rdma_cm default_roce_mode */
	uint8_t cm_tos;			  /* rdma_cm default_roce_tos: DSCP << 2 | ECN */
	uint8_t verbs_tos;		  /* forced on all connections by MLNX_OFED */
	uint8_t np_enable;		  /* ECN notification point, bitmap by priority */
	uint8_t rp_enable;		  /* ECN reaction point, bitmap by priority */
	uint8_t cnp_dscp;
	uint8_t cnp_prio;
	uint32_t cnp_interval_us;
	uint8_t cc_algorithm; /* enum qos_algorithm */
	struct qos_params cc_params;
};

enum qos_kind {
	QOS_KIND_U32,	    /* uint32_t, range min..max */
	QOS_KIND_U16,	    /* uint16_t, range min..max */
	QOS_KIND_U8,	    /* uint8_t, range min..max */
	QOS_KIND_BOOL,	    /* uint8_t: on/off */
	QOS_KIND_WORD,	    /* uint8_t: one of words */
	QOS_KIND_FLAGS,	    /* uint8_t: list of words, OR of their values */
	QOS_KIND_PRIO_SET,  /* uint8_t bitmap: [3, 4] */
	QOS_KIND_PRIO_U8,   /* uint8_t[8], range min..max: [0,0,0,3,0,0,6,0] or {3: 3, 6: 6} */
	QOS_KIND_TC_WORD,   /* uint8_t[8], each one of words; {0: ets, 3: ets} */
	QOS_KIND_TC_U8,	    /* uint8_t[8], range min..max: {0: 50, 3: 50} */
	QOS_KIND_TC_U32,    /* uint32_t[8] */
	QOS_KIND_TC_U64,    /* uint64_t[8] */
	QOS_KIND_DSCP_MAP,  /* uint8_t[64]: {26: 3, 48: 6} */
	QOS_KIND_APP,	    /* app[], app_count */
	QOS_KIND_TOS,	    /* uint8_t: {dscp: 26, ecn: ect0} or a number */
	QOS_KIND_MS,	    /* uint16_t: a number, or one of words */
	QOS_KIND_SELECTORS, /* uint8_t[QOS_SELECTORS]: [dscp, pcp] */
	QOS_KIND_PRIO_MAP,  /* uint8_t[8] or QOS_UNMAPPED, range min..max: {3: 26} */
	QOS_KIND_SKB_MAP,   /* uint8_t[16], range min..max, unlisted 0: {2: 3} */
	QOS_KIND_PARAMS,    /* struct qos_params: {rpg_ai_rate: 5} */
};
#define QOS_KIND_COUNT (QOS_KIND_PARAMS + 1)

/* Structure of the value of a kind, in profiles, JSON and text alike. */
enum qos_form {
	QOS_FORM_ONE,	/* one number, or a word for it */
	QOS_FORM_ARRAY, /* JSON: all of them; profiles: all, or a map of those that are not 0 */
	QOS_FORM_MAP,	/* a map of those that are not `unlisted` */
	QOS_FORM_LIST,	/* those before the first 0 */
	QOS_FORM_BITS,	/* a list of the bits that are set */
	QOS_FORM_FLAGS, /* a list of the words of bits that are set */
	QOS_FORM_OWN,	/* each codec has its own code */
};

struct qos_shape {
	enum qos_form form;
	uint16_t width; /* bytes of one element */
	uint8_t count;	/* of elements; 0 with QOS_FORM_OWN */
	uint8_t unlisted;
};

struct qos_field {
	const char *key; /* dotted path in profiles and JSON: "pfc.enabled" */
	enum qos_kind kind;
	uint16_t offset;	      /* of the member in struct qos */
	bool read_only;		      /* reported by the device, not settable */
	uint32_t min, max;	      /* inclusive, of the value or of each element */
	const struct qos_word *words; /* ends with a NULL word; NULL when the kind has none */
	const char *unit;	      /* "percent", "bytes", ... or "" */
	const char *source;	      /* interface it is read from, for evidence: "dcbnl ETS" */
	const char *help;	      /* one line for man page and schema */
};

/* The field table, QOS_FIELD_COUNT rows, index = enum qos_field_id. */
extern const struct qos_field qos_fields[QOS_FIELD_COUNT];

/* Finds a field by its dotted key. Returns its id, or -ENOENT. */
int qos_field_find(const char *key);

bool qos_has(const struct qos *q, enum qos_field_id id);

/* Copies one field with its bit in has from src to dst; clears the bit if src lacks the field. */
void qos_copy_field(struct qos *dst, const struct qos *src, enum qos_field_id id);

/* True when both have the field with equal values. */
bool qos_field_equal(const struct qos *a, const struct qos *b, enum qos_field_id id);

/* Returns the fields of a mask that are not equal: different, or unknown on one side or both. */
uint64_t qos_unequal(const struct qos *a, const struct qos *b, uint64_t mask);

/* Keeps only the entries in which two DSCP maps differ: a list of 64 would hide them. */
void qos_keep_differing_dscps(struct qos *a, struct qos *b);

/* Counts the DSCPs that have a priority. */
unsigned int qos_dscp_count(const struct qos *q);

/* Fields that `want` has and in which `have` differs or is unknown: a bitmap of QOS_BIT().
 * Compares the meaning: want.ib_mtu is a minimum; `have` may map more DSCPs and have more APP
 * entries; bandwidths of TCs other than ETS are ignored; the flags of want.dcbx_mode must be set,
 * others may be (mlx5 always reports cee), except lld_managed; storm prevention "auto" matches the
 * value that the device chooses. Read-only fields other than ib_mtu are never in the result. */
uint64_t qos_diff(const struct qos *want, const struct qos *have);

/* Checks for a congestion control parameter; sets one. i < QOS_PARAM_COUNT. */
bool qos_param_has(const struct qos_params *params, unsigned int i);
void qos_param_set(struct qos_params *params, unsigned int i, uint32_t value);

/* The member of a field, for code that walks the table: to read, and to write. */
const void *qos_member(const struct qos *q, const struct qos_field *f);
void *qos_slot(struct qos *q, const struct qos_field *f);

/* Shapes by kind. Gets and sets element i of a member whose form is not OWN; the value must fit. */
extern const struct qos_shape qos_shapes[QOS_KIND_COUNT];
uint64_t qos_element(const struct qos_field *f, const void *member, unsigned int i);
void qos_element_set(const struct qos_field *f, void *member, unsigned int i, uint64_t value);

/* The word of a value of this field, NULL when it has none. */
const char *qos_element_word(const struct qos_field *f, uint64_t value);

/* Inserts an entry in order and sets has. -EEXIST for a duplicate, -ENOSPC, -EINVAL for an invalid
 * selector or priority. */
int qos_app_add(struct qos *q, struct qos_app app);

/* Words of the APP selectors ("udp", "ethertype", ...). */
extern const struct qos_word qos_app_words[];
/* Words of the selectors in the APP TLV, which has no PCP: 802.1Q D.2.11. */
#define QOS_APP_TLV_WORDS (&qos_app_words[1])
extern const struct qos_word qos_param_words[QOS_PARAM_COUNT + 1];

/* Writes the value in profile syntax on one line, or "unknown". Always terminated; returns what
 * snprintf would. */
int qos_field_text(const struct qos *q, enum qos_field_id id, char *buf, size_t size);

/* JSON value of one field; a new reference, JSON null when unknown, NULL on -ENOMEM. */
json_t *qos_field_json(const struct qos *q, enum qos_field_id id);

/* Array of the keys of a set of fields, a bitmap of QOS_BIT(). New reference, NULL on -ENOMEM. */
json_t *qos_keys_json(uint64_t fields);

/* Object with nested keys ("pfc": {"enabled": [3]}); unknown fields are left out. New reference,
 * NULL on -ENOMEM. */
json_t *qos_to_json(const struct qos *q);

/* Reads what qos_to_json() wrote. Unknown keys are ignored (newer writers), wrong types and ranges
 * are -EINVAL with the key in e. *q is untouched on failure. */
int qos_from_json(const json_t *json, struct qos *q, struct err *e);

/* Priority of a DSCP under this configuration: by dscp_prio when trust is DSCP (unmapped: 0), else
 * 0. Returns -ENODATA when the needed fields are unknown, -EINVAL when dscp > 63. */
int qos_dscp_to_prio(const struct qos *q, unsigned int dscp);

/* Lossless priorities as "3" or "3,4", "none" for 0. Always terminated. */
void qos_prio_set_text(uint8_t prio_set, char *buf, size_t size);

#endif
