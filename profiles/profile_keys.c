/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of a profile: what it is, whom it is for and what may be done; settings are the rows of
 * qos_fields[]. Reserved keys are checked and warned about, so that a profile written for a later
 * version is not silently half applied.
 */
#include "profiles/profile_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/profile_qos.h"

/* clang-format off */

static const struct qos_word schema_words[] = {
	{PROFILE_SCHEMA, 0},
	{NULL, 0},
};

static const struct qos_word intent_words[] = {
	{"lossless", INTENT_LOSSLESS},
	{"lossy", INTENT_LOSSY},
	{"sprayed", INTENT_SPRAYED},
	{NULL, 0},
};

static const struct qos_word unsupported_words[] = {
	{"fail", CHOICE_FAIL},
	{"warn", CHOICE_WARN},
	{"skip", CHOICE_SKIP},
	{NULL, 0},
};

static const struct qos_word disruption_words[] = {
	{"allow", CHOICE_ALLOW},
	{"ask", CHOICE_ASK},
	{"deny", CHOICE_DENY},
	{NULL, 0},
};

static const struct qos_word agent_words[] = {
	{"none", AGENT_NONE},
	{"lldpad", AGENT_LLDPAD},
	{"lldpad-readonly", AGENT_LLDPAD_READONLY},
	{NULL, 0},
};

static const struct qos_word peer_words[] = {
	{"ignore", CHOICE_SKIP},
	{"warn", CHOICE_WARN},
	{"fail", CHOICE_FAIL},
	{NULL, 0},
};

/* clang-format on */

const char *profile_intent_word(enum profile_intent intent)
{
	return qos_word_text(intent_words, intent);
}

/* One of the words is a file's kind; another number is another version. */
static int read_schema(struct schema_load *l, const struct schema_row *row,
		       const struct yaml_node *node, void *target)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-010",
		.note = "this is read as a profile: schema: " PROFILE_SCHEMA,
	};

	(void)row;
	(void)target;
	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, PROFILE_SCHEMA);
	if (qos_word_value(schema_words, node->text) >= 0)
		return 0;
	return yaml_report(l->file, node, &finding, l->diags, "unknown schema '%s'", node->text);
}

/* Checks the form; the loader follows it before the other keys are read. */
static int read_extends(struct schema_load *l, const struct schema_row *row,
			const struct yaml_node *node, void *target)
{
	(void)row;
	(void)target;
	return node->kind == YAML_TEXT ? 0 : schema_expect(l, node, "the name of a profile");
}

static int read_dscp_default(struct schema_load *l, const struct schema_row *row,
			     const struct yaml_node *node, void *target)
{
	static const char want[] = "shift3, keep or a priority";
	uint64_t prio;

	(void)row;
	(void)target;
	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, want);
	if (!strcmp(node->text, "shift3") || !strcmp(node->text, "keep"))
		return 0;
	return schema_number(l, node, 0, QOS_PRIOS - 1, &prio);
}

void profile_apply_dscp_default(struct profile *p, const struct yaml_node *node)
{
	bool shift = !strcmp(node->text, "shift3");
	struct qos *q = &p->qos;

	if (!strcmp(node->text, "keep"))
		return;
	if (!p->line[QOS_DSCP_PRIO]) {
		p->line[QOS_DSCP_PRIO] = node->line;
		p->column[QOS_DSCP_PRIO] = node->column;
		p->width[QOS_DSCP_PRIO] = node->width;
	}
	if (!qos_has(q, QOS_DSCP_PRIO))
		memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->has |= QOS_BIT(QOS_DSCP_PRIO);
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++)
		if (q->dscp_prio[dscp] == QOS_UNMAPPED)
			q->dscp_prio[dscp] = shift ? dscp >> 3
						   : (unsigned int)(node->text[0] - '0');
}

/* The peer is recommended what is set here, unless something else is stated. */
static void recommend(struct qos *q)
{
	const uint64_t reco = QOS_BIT(QOS_RECO_PRIO_TC) | QOS_BIT(QOS_RECO_TSA) |
			      QOS_BIT(QOS_RECO_BW);
	const uint64_t ets = QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW);

	if (!qos_has(q, QOS_ADVERTISE) || !(q->advertise & QOS_ADVERTISE_ETS_REC) ||
	    q->has & reco || (q->has & ets) != ets)
		return;
	memcpy(q->reco_prio_tc, q->prio_tc, sizeof(q->reco_prio_tc));
	memcpy(q->reco_tsa, q->tc_tsa, sizeof(q->reco_tsa));
	memcpy(q->reco_bw, q->tc_tx_bw, sizeof(q->reco_bw));
	q->has |= reco;
}

void profile_apply_agent(struct profile *p)
{
	struct qos *q = &p->qos;

	if (p->agent != AGENT_LLDPAD)
		return;
	/* By itself lldpad would be willing, and hear only. */
	if (!qos_has(q, QOS_ETS_WILLING))
		q->ets_willing = 0;
	if (!qos_has(q, QOS_PFC_WILLING))
		q->pfc_willing = 0;
	if (!qos_has(q, QOS_ADMIN_STATUS))
		q->admin_status = QOS_LLDP_RXTX;
	q->has |= QOS_BIT(QOS_ETS_WILLING) | QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_ADMIN_STATUS);
	recommend(q);
}

static void note_place(struct profile *p, enum qos_field_id id, const struct yaml_node *node)
{
	p->line[id] = node->line;
	p->column[id] = node->column;
	p->width[id] = node->width;
}

/* app.udp and its like: the key's last word is the selector. */
static int read_apps(struct schema_load *l, const struct schema_row *row,
		     const struct yaml_node *node, void *target)
{
	int selector = qos_word_value(qos_app_words, strrchr(row->path, '.') + 1);
	struct profile *p = l->target;

	(void)target;
	note_place(p, QOS_APP, node);
	return profile_read_apps(l, selector, node, &p->qos);
}

/* Blocks of a driver: {ice: {fw_lldp_agent: off}}. */
static int read_vendor(struct schema_load *l, const struct schema_row *row,
		       const struct yaml_node *node, void *target)
{
	int bad = 0;

	(void)row;
	(void)target;
	if (node->kind != YAML_MAP)
		return schema_expect(l, node, "a map of drivers");
	for (size_t i = 0; i < node->count; i += 2)
		if (yaml_item(node, i + 1)->kind != YAML_MAP &&
		    schema_stop(schema_expect(l, yaml_item(node, i + 1), "a map of settings"),
				&bad))
			return bad;
	return bad;
}

static int read_match(struct schema_load *l, const struct schema_row *row,
		      const struct yaml_node *node, void *target)
{
	static const struct qos_word objects[] = {
		{"pfc", PEER_PFC},
		{"ets", PEER_ETS},
		{"app", PEER_APP},
		{NULL, 0},
	};
	struct profile *p = l->target;
	uint8_t value = 0;
	int bad = 0;

	(void)row;
	(void)target;
	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of pfc, ets and app");
	p->peer_match = 0;
	for (size_t i = 0; i < node->count; i++) {
		if (schema_stop(schema_word(l, yaml_item(node, i), objects, &value), &bad))
			return bad;
		p->peer_match |= value;
	}
	return bad;
}

static int read_field(struct schema_load *l, unsigned int id, const struct yaml_node *node)
{
	struct profile *p = l->target;
	int err = profile_read_qos(l, id, node, &p->qos);

	if (err)
		return err;
	note_place(p, id, node);
	if (qos_fields[id].read_only && id != QOS_IB_MTU)
		return schema_warn(l, node, "RC-INP-016", "only the device can state it");
	return 0;
}

#define AT(member)	.offset = offsetof(struct profile, member)
#define TEXT_AT(member) AT(member), .size = sizeof(((struct profile *)NULL)->member)
#define PRIO_MAP                                                                                   \
	"{\"type\":\"object\",\"additionalProperties\":"                                           \
	"{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"array\"}]}}"
#define ANY_MAP "{\"type\":\"object\"}"

/* clang-format off */

static const struct schema_row rows[] = {
	{.path = "schema", .kind = SCHEMA_OWN, .required = true, .read = read_schema,
	 .shape = "{\"const\":\"" PROFILE_SCHEMA "\"}", .help = "schema: " PROFILE_SCHEMA},
	{.path = "name", .kind = SCHEMA_NAME, .required = true, TEXT_AT(name),
	 .help = "name of the profile"},
	{.path = "description", .kind = SCHEMA_TEXT, TEXT_AT(description),
	 .help = "one line for people"},
	{.path = "intent", .kind = SCHEMA_WORD, AT(intent), .words = intent_words,
	 .help = "what the fabric promises: lossless, lossy or sprayed"},
	{.path = "extends", .kind = SCHEMA_OWN, .read = read_extends,
	 .shape = "{\"type\":\"string\"}",
	 .help = "profile whose values hold where this one is silent; a name, or a path from here"},
	{.path = "select.interfaces", .kind = SCHEMA_TEXTS, .max = PROFILE_PATTERN_MAX,
	 AT(interface),
	 .size = sizeof(((struct profile *)NULL)->interface[0]),
	 .count_offset = offsetof(struct profile, interface_count),
	 .help = "network devices it is for, as shell patterns; none: every RoCE port"},
	{.path = "app.dscp_default", .kind = SCHEMA_OWN, .read = read_dscp_default,
	 .shape = "{\"enum\":[\"shift3\",\"keep\",0,1,2,3,4,5,6,7]}",
	 .help = "DSCPs that app.dscp does not list: shift3 (DSCP / 8), keep, or one priority"},
	{.path = "app.ethertype", .kind = SCHEMA_OWN, .read = read_apps, .shape = PRIO_MAP,
	 .help = "priority by ethertype; 35093 is RoCE v1, 0 the default priority"},
	{.path = "app.tcp", .kind = SCHEMA_OWN, .read = read_apps, .shape = PRIO_MAP,
	 .help = "priority by TCP port"},
	{.path = "app.udp", .kind = SCHEMA_OWN, .read = read_apps, .shape = PRIO_MAP,
	 .help = "priority by UDP port; 4791 is RoCE v2"},
	{.path = "app.any", .kind = SCHEMA_OWN, .read = read_apps, .shape = PRIO_MAP,
	 .help = "priority by TCP or UDP port"},
	{.path = "app.pcp", .kind = SCHEMA_OWN, .read = read_apps, .shape = PRIO_MAP,
	 .help = "priority by the PCP of a VLAN tag, and 8 for DEI (linux 6.2)"},
	{.path = "policy.on_unsupported", .kind = SCHEMA_WORD, AT(on_unsupported),
	 .words = unsupported_words, .help = "what to do where a device lacks a setting"},
	{.path = "policy.disruption", .kind = SCHEMA_WORD, AT(disruption),
	 .words = disruption_words,
	 .help = "whether steps that flap a link or reset a device may be taken"},
	{.path = "policy.rollback_timeout_s", .kind = SCHEMA_UINT, .max = 3600,
	 AT(confirm_within_s),
	 .help = "seconds in which an apply must be confirmed; 0: never"},
	{.path = "policy.persist", .kind = SCHEMA_SWITCH, AT(persist),
	 .help = "apply again at boot and when a device appears"},
	{.path = "dcbx.agent", .kind = SCHEMA_WORD, AT(agent), .words = agent_words,
	 .help = "who sets ETS, PFC and APP: none (this tool, by dcbnl) or the host's LLDP agent"},
	{.path = "dcbx.peer.require", .kind = SCHEMA_WORD, AT(peer), .words = peer_words,
	 .help = "what it means when the neighbour advertises something else"},
	{.path = "dcbx.peer.match", .kind = SCHEMA_OWN, .read = read_match,
	 .shape = "{\"type\":\"array\",\"items\":{\"enum\":[\"pfc\",\"ets\",\"app\"]}}",
	 .help = "what is compared with the neighbour; all unless stated"},
	{.path = "vendor", .kind = SCHEMA_OWN, .reserved = true, .read = read_vendor,
	 .shape = ANY_MAP,
	 .help = "settings by driver"},
	{.path = NULL},
};

/* clang-format on */

static const char *field_key(unsigned int id)
{
	return id < QOS_FIELD_COUNT ? qos_fields[id].key : NULL;
}

static json_t *field_schema(unsigned int id)
{
	return profile_qos_schema(&qos_fields[id]);
}

static const struct schema_fields fields = {field_key, qos_field_find, read_field, field_schema};

const struct schema profile_keys = {
	.title = "rocecheck profile",
	.rows = rows,
	.size = sizeof(struct profile),
	.fields = &fields,
};

json_t *profile_schema(void)
{
	return schema_document(&profile_keys);
}
