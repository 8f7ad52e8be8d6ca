/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row a key. Rates are bits per second with a unit ("64M"), sizes bytes ("60kB"); maps by
 * priority, class or DSCP change what they name and leave the rest.
 */
#include "tests/lab/switch/config_keys.h"

#include <string.h>

#define TEN_G_KBPS 10000000u

/* clang-format off */

static const struct qos_word trust_words[] = {
	{"dscp", QOS_TRUST_DSCP}, {"pcp", QOS_TRUST_PCP}, {NULL, 0},
};

const struct qos_word dialect_words[] = {
	{"ieee", DIALECT_IEEE}, {"cee", DIALECT_CEE}, {"both", DIALECT_BOTH}, {NULL, 0},
};

static const struct qos_word tag_words[] = {
	{"keep", TAG_KEEP}, {"add", TAG_ADD}, {"strip", TAG_STRIP}, {NULL, 0},
};

const struct qos_word bond_words[] = {
	{"none", BOND_NONE}, {"active-backup", BOND_ACTIVE_BACKUP},
	{"balance-xor", BOND_BALANCE_XOR}, {NULL, 0},
};

static const struct qos_word direction_words[] = {
	{"both", 0}, {"in", 1}, {"out", 2}, {NULL, 0},
};

const struct qos_word fault_words[] = {
	{"drop", FAULT_DROP},
	{"dscp", FAULT_DSCP},
	{"clear_ecn", FAULT_CLEAR_ECN},
	{"mark_ce", FAULT_MARK_CE},
	{"drop_cnp", FAULT_DROP_CNP},
	{"drop_ack", FAULT_DROP_ACK},
	{"corrupt", FAULT_CORRUPT},
	{"reorder", FAULT_REORDER},
	{"duplicate", FAULT_DUPLICATE},
	{"delay", FAULT_DELAY},
	{"mtu", FAULT_MTU},
	{"pfc_off", FAULT_PFC_OFF},
	{"headroom_zero", FAULT_HEADROOM_ZERO},
	{"pause_storm", FAULT_PAUSE_STORM},
	{"lldp_absent", FAULT_LLDP_ABSENT},
	{"lldp_wrong", FAULT_LLDP_WRONG},
	{"lldp_second", FAULT_LLDP_SECOND},
	{"ecmp_loss", FAULT_ECMP_LOSS},
	{"pfc_auto", FAULT_PFC_AUTO},
	{NULL, 0},
};

const struct qos_word tlv_words[] = {
	{"ets", TLV_ETS}, {"ets_recommendation", TLV_ETS_REC}, {"pfc", TLV_PFC}, {"app", TLV_APP},
	{"frame", TLV_FRAME}, {NULL, 0},
};

/* clang-format on */

void config_port_defaults(struct port_config *p)
{
	memset(p, 0, sizeof(*p));
	p->rate_kbps = TEN_G_KBPS;
	p->mtu = 9216;
	p->trust = QOS_TRUST_DSCP;
	for (unsigned int i = 0; i < QOS_PRIOS; i++) {
		p->pcp_prio[i] = i;
		p->prio[i].pcp = i;
		p->prio[i].xoff_bytes = 100000;
		p->prio[i].xon_bytes = 50000;
		p->prio[i].headroom_bytes = 200000;
		p->tc[i].weight = 1;
	}
	p->lldp.send = true;
	p->lldp.recommend = true;
	p->lldp.dscp = true;
	p->lldp.interval_s = 30;
	p->lldp.ttl_s = 120;
}

void config_fault_defaults(struct fault *f)
{
	memset(f, 0, sizeof(*f));
	f->opcode = f->sport = FAULT_ANY;
	f->every = 1;
	f->delay_ms = 10;
}

#define AT(type, member)      .offset = offsetof(struct type, member)
#define TEXT_AT(type, member) AT(type, member), .size = sizeof(((struct type *)NULL)->member)

/* clang-format off */

static const struct schema_row app_rows[] = {
	{.path = "selector", .kind = SCHEMA_WORD, .required = true, .words = QOS_APP_TLV_WORDS,
	 AT(app_config, selector), .help = "ethertype, tcp, udp or any"},
	{.path = "protocol", .kind = SCHEMA_UINT, .required = true, .max = 65535,
	 AT(app_config, protocol), .help = "ethertype or port"},
	{.path = "prio", .kind = SCHEMA_UINT, .required = true, .max = 7, AT(app_config, prio),
	 .help = "priority"},
	{.path = NULL},
};

const struct schema app_keys = {
	.title = "app", .rows = app_rows, .size = sizeof(struct app_config),
};

/* clang-format on */

static int read_apps(struct schema_load *l, const struct schema_row *row,
		     const struct yaml_node *node, void *target)
{
	struct lldp_config *lldp = target;
	int bad = 0;

	(void)row;
	if (node->kind != YAML_LIST || node->count > APPS_MAX)
		return schema_expect(l, node, "a list of at most 16 maps");
	lldp->app_count = 0;
	for (size_t i = 0; i < node->count; i++) {
		struct app_config *app = &lldp->app[lldp->app_count++];
		int err;

		if (yaml_item(node, i)->kind != YAML_MAP)
			err = schema_expect(l, yaml_item(node, i), "a map of keys");
		else
			err = schema_load_map(&app_keys, l->file, yaml_item(node, i), app,
					      l->diags);
		if (schema_stop(err, &bad))
			return bad;
	}
	return bad;
}

static int read_stated_pfc(struct schema_load *l, const struct schema_row *row,
			   const struct yaml_node *node, void *target)
{
	struct lldp_config *lldp = target;
	int err = config_read_prio_set(l, row, node, &lldp->pfc_prios);

	lldp->pfc_given = !err;
	return err;
}

/* What config.c walks itself. */
static int read_later(struct schema_load *l, const struct schema_row *row,
		      const struct yaml_node *node, void *target)
{
	(void)l;
	(void)row;
	(void)node;
	(void)target;
	return 0;
}

static int read_schema(struct schema_load *l, const struct schema_row *row,
		       const struct yaml_node *node, void *target)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR, .rule = "RC-INP-010", .note = "schema: " LAB_SCHEMA};

	(void)row;
	(void)target;
	if (node->kind == YAML_TEXT && !strcmp(node->text, LAB_SCHEMA))
		return 0;
	return yaml_report(l->file, node, &finding, l->diags, "unknown schema");
}

/* clang-format off */

static const struct schema_row prio_rows[] = {
	{.path = "pfc", .kind = SCHEMA_WORD, .words = pfc_words, AT(prio_config, pfc),
	 .help = "on, off, or auto: when the neighbour's DCBX has it on"},
	{.path = "tc", .kind = SCHEMA_UINT, .max = 7, AT(prio_config, tc),
	 .help = "traffic class; default 0"},
	{.path = "xoff", .kind = SCHEMA_BYTES, .max = 1u << 30, AT(prio_config, xoff_bytes),
	 .help = "PFC is sent above these ingress bytes"},
	{.path = "xon", .kind = SCHEMA_BYTES, .max = 1u << 30, AT(prio_config, xon_bytes),
	 .help = "PFC ends at these or fewer"},
	{.path = "headroom", .kind = SCHEMA_BYTES, .max = 1u << 30, AT(prio_config, headroom_bytes),
	 .help = "room for what comes after PFC was sent"},
	{.path = "limit", .kind = SCHEMA_BYTES, .max = 1u << 30, AT(prio_config, limit_bytes),
	 .help = "bytes a lossy queue may hold; 0: only its share of what is free"},
	{.path = "pcp", .kind = SCHEMA_UINT, .max = 7, AT(prio_config, pcp),
	 .help = "written into the tags of tag: add; default the priority"},
	{.path = NULL},
};

const struct schema prio_keys = {
	.title = "priority", .rows = prio_rows, .size = sizeof(struct prio_config),
};

static const struct schema_row tc_rows[] = {
	{.path = "strict", .kind = SCHEMA_SWITCH, AT(tc_config, strict),
	 .help = "before all shares; of several the highest number first"},
	{.path = "dwrr", .kind = SCHEMA_UINT, .min = 1, .max = 100, AT(tc_config, weight),
	 .help = "weight among the classes that are not strict; default 1"},
	{.path = "maxrate", .kind = SCHEMA_OWN, .read = config_read_rate,
	 AT(tc_config, maxrate_kbps),
	 .help = "rate limit; 0: none"},
	{.path = "ecn.on", .kind = SCHEMA_SWITCH, AT(tc_config, ecn.on), .help = "mark by RED"},
	{.path = "ecn.kmin", .kind = SCHEMA_BYTES, .max = 1u << 30, AT(tc_config, ecn.kmin_bytes),
	 .help = "nothing is marked up to this queue"},
	{.path = "ecn.kmax", .kind = SCHEMA_BYTES, .max = 1u << 30, AT(tc_config, ecn.kmax_bytes),
	 .help = "everything is marked above this queue"},
	{.path = "ecn.pmax", .kind = SCHEMA_UINT, .max = 100, AT(tc_config, ecn.pmax_percent),
	 .help = "percent marked at kmax"},
	{.path = "ecn.spare_non_ect", .kind = SCHEMA_SWITCH, AT(tc_config, ecn.spare),
	 .help = "do not drop what cannot be marked"},
	{.path = NULL},
};

const struct schema tc_keys = {
	.title = "traffic class; default 0", .rows = tc_rows, .size = sizeof(struct tc_config),
};

#define PORT_IDENTITY_ROWS 3

static const struct schema_row port_rows[] = {
	{.path = "name", .kind = SCHEMA_NAME, .required = true, TEXT_AT(port_config, name),
	 .help = "port id in LLDP; unique within its switch"},
	{.path = "local", .kind = SCHEMA_TEXT, TEXT_AT(port_config, local), .help = "our socket"},
	{.path = "remote", .kind = SCHEMA_TEXT, TEXT_AT(port_config, remote),
	 .help = "the guest's"},
	{.path = "rate", .kind = SCHEMA_OWN, .min = 8, .read = config_read_rate,
	 AT(port_config, rate_kbps),
	 .help = "of the link, in bits per second; default 10G"},
	{.path = "latency", .kind = SCHEMA_UINT, .max = 1000000, AT(port_config, latency_us),
	 .help = "microseconds a frame takes to the peer; default 0"},
	{.path = "mtu", .kind = SCHEMA_BYTES, .min = 68, .max = 9600, AT(port_config, mtu),
	 .help = "longest packet without Ethernet header; default 9216"},
	{.path = "trust", .kind = SCHEMA_WORD, .words = trust_words, AT(port_config, trust),
	 .help = "what decides the priority; default dscp"},
	{.path = "default_prio", .kind = SCHEMA_OWN, .max = 7, .read = config_read_prio,
	 AT(port_config, default_prio), .help = "priority of frames that tell none"},
	{.path = "dscp", .kind = SCHEMA_OWN, .max = 63, .read = config_read_map,
	 AT(port_config, dscp_prio), .help = "priority by DSCP; others 0"},
	{.path = "pcp", .kind = SCHEMA_OWN, .max = 7, .read = config_read_map,
	 AT(port_config, pcp_prio),
	 .help = "priority by PCP; others as they are"},
	{.path = "pfc", .kind = SCHEMA_OWN, .read = config_read_pfc, AT(port_config, prio),
	 .help = "lossless priorities"},
	{.path = "xoff", .kind = SCHEMA_OWN, .read = config_read_all_prios,
	 AT(port_config, prio[0].xoff_bytes), .help = "of all priorities; default 100kB"},
	{.path = "xon", .kind = SCHEMA_OWN, .read = config_read_all_prios,
	 AT(port_config, prio[0].xon_bytes), .help = "of all priorities; default 50kB"},
	{.path = "headroom", .kind = SCHEMA_OWN, .read = config_read_all_prios,
	 AT(port_config, prio[0].headroom_bytes), .help = "of all priorities; default 200kB"},
	{.path = "limit", .kind = SCHEMA_OWN, .read = config_read_all_prios,
	 AT(port_config, prio[0].limit_bytes), .help = "of all queues; default 0"},
	{.path = "prio", .kind = SCHEMA_OWN, .read = config_read_numbered, .item = &prio_keys,
	 AT(port_config, prio), .help = "by priority"},
	{.path = "tc", .kind = SCHEMA_OWN, .read = config_read_numbered, .item = &tc_keys,
	 AT(port_config, tc), .help = "by traffic class"},
	{.path = "tag", .kind = SCHEMA_WORD, .words = tag_words, AT(port_config, tag),
	 .help = "of what leaves: keep; add a tag of VLAN 0 and write the PCP; strip VLAN 0"},
	{.path = "pause.rx", .kind = SCHEMA_SWITCH, AT(port_config, pause.rx),
	 .help = "obey pauses of the whole link (802.3x)"},
	{.path = "pause.tx", .kind = SCHEMA_SWITCH, AT(port_config, pause.tx),
	 .help = "pause the whole link when any priority passes xoff; then all are lossless"},
	{.path = "shut", .kind = SCHEMA_SWITCH, AT(port_config, shut),
	 .help = "the link is down: nothing in, nothing out, and no way of ECMP or of a bond"},
	{.path = "uplink", .kind = SCHEMA_SWITCH, AT(port_config, uplink),
	 .help = "one of the equal ways up (ECMP)"},
	{.path = "lag", .kind = SCHEMA_UINT, .max = 64, AT(port_config, lag),
	 .help = "ports with the same number are one bond (static, no LACP); 0: none"},
	{.path = "mirror", .kind = SCHEMA_SWITCH, AT(port_config, mirror),
	 .help = "copy what passes to the mirror file"},
	{.path = "lldp.send", .kind = SCHEMA_SWITCH, AT(port_config, lldp.send),
	 .help = "send LLDP; default on"},
	{.path = "lldp.dialect", .kind = SCHEMA_WORD, .words = dialect_words,
	 AT(port_config, lldp.dialect), .help = "of DCBX; default ieee"},
	{.path = "lldp.willing", .kind = SCHEMA_SWITCH, AT(port_config, lldp.willing),
	 .help = "state it; the port takes the peer's PFC for priorities that are auto"},
	{.path = "lldp.interval", .kind = SCHEMA_SECONDS, .min = 1, .max = 3600,
	 AT(port_config, lldp.interval_s), .help = "between frames; default 30s"},
	{.path = "lldp.ttl", .kind = SCHEMA_SECONDS, .min = 1, .max = 65535,
	 AT(port_config, lldp.ttl_s), .help = "how long they hold; default 120s"},
	{.path = "lldp.recommend", .kind = SCHEMA_SWITCH, AT(port_config, lldp.recommend),
	 .help = "send an ETS recommendation; default on"},
	{.path = "lldp.dscp", .kind = SCHEMA_SWITCH, AT(port_config, lldp.dscp),
	 .help = "state the DSCP map as APP entries; default on"},
	{.path = "lldp.pfc", .kind = SCHEMA_OWN, .read = read_stated_pfc, AT(port_config, lldp),
	 .help = "state these lossless priorities, whatever the port does"},
	{.path = "lldp.app", .kind = SCHEMA_OWN, .read = read_apps, AT(port_config, lldp),
	 .help = "APP entries"},
	{.path = NULL},
};

const struct schema port_keys = {
	.title = "port", .rows = port_rows, .size = sizeof(struct port_config),
};

const struct schema default_keys = {
	.title = "defaults", .rows = port_rows + PORT_IDENTITY_ROWS,
	.size = sizeof(struct port_config),
};

#define SWITCH_FIXED_ROWS 4

static const struct schema_row switch_rows[] = {
	{.path = "name", .kind = SCHEMA_NAME, .required = true, TEXT_AT(switch_config, name),
	 .help = "system name in LLDP"},
	{.path = "mac", .kind = SCHEMA_OWN, .read = config_read_mac, AT(switch_config, mac),
	 .help = "chassis id in LLDP"},
	{.path = "defaults", .kind = SCHEMA_OWN, .read = read_later,
	 .help = "keys of all its ports, over those of the file"},
	{.path = "ports", .kind = SCHEMA_OWN, .read = read_later, .required = true,
	 .help = "its ports"},
	{.path = "buffer", .kind = SCHEMA_BYTES, .min = 10000, .max = 1u << 30,
	 AT(switch_config, buffer_bytes),
	 .help = "shared buffer; headroom comes on top; default 4MiB"},
	{.path = "alpha", .kind = SCHEMA_UINT, .min = 1, .max = 10000,
	 AT(switch_config, alpha_percent),
	 .help = "percent of what is free that one lossy queue may hold; default 100"},
	{.path = "age", .kind = SCHEMA_SECONDS, .min = 1, .max = 1000000, AT(switch_config, age_s),
	 .help = "forget an address not seen so long; default 300s"},
	{.path = NULL},
};

const struct schema switch_keys = {
	.title = "switch", .rows = switch_rows, .size = sizeof(struct switch_config),
};

const struct schema change_keys = {
	.title = "switch", .rows = switch_rows + SWITCH_FIXED_ROWS,
	.size = sizeof(struct switch_config),
};

static const struct schema_row link_rows[] = {
	{.path = "a", .kind = SCHEMA_TEXT, .required = true, TEXT_AT(link_config, a),
	 .help = "SWITCH/PORT"},
	{.path = "b", .kind = SCHEMA_TEXT, .required = true, TEXT_AT(link_config, b),
	 .help = "SWITCH/PORT"},
	{.path = NULL},
};

const struct schema link_keys = {
	.title = "link", .rows = link_rows, .size = sizeof(struct link_config),
};

static const struct schema_row fault_rows[] = {
	{.path = "name", .kind = SCHEMA_NAME, TEXT_AT(fault, name),
	 .help = "in statistics and requests; default its kind"},
	{.path = "kind", .kind = SCHEMA_WORD, .required = true, .words = fault_words,
	 AT(fault, kind), .help = "see below"},
	{.path = "port", .kind = SCHEMA_TEXT, TEXT_AT(fault, port),
	 .help = "PORT or SWITCH/PORT; default all"},
	{.path = "direction", .kind = SCHEMA_WORD, .words = direction_words, AT(fault, direction),
	 .help = "into or out of the switch; default both, so that a frame may meet it twice"},
	{.path = "prio", .kind = SCHEMA_OWN, .read = config_read_prio_set, AT(fault, prios),
	 .help = "priorities; default any"},
	{.path = "opcode", .kind = SCHEMA_UINT, .max = 255, AT(fault, opcode),
	 .help = "of the BTH"},
	{.path = "sport", .kind = SCHEMA_UINT, .max = 65535, AT(fault, sport),
	 .help = "UDP or TCP source port"},
	{.path = "every", .kind = SCHEMA_UINT, .min = 1, .max = 1u << 30, AT(fault, every),
	 .help = "1 in so many of the frames that match; default 1"},
	{.path = "times", .kind = SCHEMA_UINT, .max = 1u << 30, AT(fault, times),
	 .help = "hits at most; default 0, no end"},
	{.path = "value", .kind = SCHEMA_UINT, .max = 9600, AT(fault, value),
	 .help = "DSCP of dscp, bytes of mtu (without Ethernet header)"},
	{.path = "window", .kind = SCHEMA_UINT, .max = 10000, AT(fault, window),
	 .help = "of reorder: frames that overtake, delay at most; 0: delay alone"},
	{.path = "tlv", .kind = SCHEMA_OWN, .read = config_read_words, .words = tlv_words,
	 AT(fault, tlvs), .help = "of lldp_wrong (default pfc) and lldp_absent (default frame)"},
	{.path = "delay", .kind = SCHEMA_OWN, .read = config_read_ms, AT(fault, delay_ms),
	 .help = "of delay and reorder; default 10ms"},
	{.path = "start", .kind = SCHEMA_OWN, .read = config_read_ms, AT(fault, start_ms),
	 .help = "begins so long after the start of the switches (in a request: after it)"},
	{.path = "heal", .kind = SCHEMA_OWN, .read = config_read_ms, AT(fault, heal_ms),
	 .help = "ends, counted likewise; default never"},
	{.path = NULL},
};

const struct schema fault_keys = {
	.title = "fault", .rows = fault_rows, .size = sizeof(struct fault),
};

static const struct schema_row mirror_rows[] = {
	{.path = "snaplen", .kind = SCHEMA_BYTES, .min = 64, .max = 9728,
	 AT(lab_config, mirror_snaplen), .help = "bytes of each frame; default 256"},
	{.path = NULL},
};

const struct schema mirror_keys = {
	.title = "mirror", .rows = mirror_rows, .size = sizeof(struct lab_config),
};

static const struct schema_row host_rows[] = {
	{.path = "name", .kind = SCHEMA_NAME, .required = true, TEXT_AT(host_config, name),
	 .help = "of a guest whose wires are ports' remotes, `h1.wire` and `h1.b.wire`"},
	{.path = "bond", .kind = SCHEMA_WORD, .words = bond_words, AT(host_config, bond),
	 .help = "join its two wires; default none, two rails"},
	{.path = NULL},
};

const struct schema host_keys = {
	.title = "host", .rows = host_rows, .size = sizeof(struct host_config),
};

static const struct schema_row lab_rows[] = {
	{.path = "schema", .kind = SCHEMA_OWN, .required = true, .read = read_schema,
	 .help = "schema: " LAB_SCHEMA},
	{.path = "control", .kind = SCHEMA_TEXT, TEXT_AT(lab_config, control),
	 .help = "control socket"},
	{.path = "mirror.file", .kind = SCHEMA_TEXT, TEXT_AT(lab_config, mirror),
	 .help = "pcapng file of the ports with mirror: on"},
	{.path = "mirror.snaplen", .kind = SCHEMA_BYTES, .min = 64, .max = 9728,
	 AT(lab_config, mirror_snaplen), .help = "bytes of each frame; default 256"},
	{.path = "frames", .kind = SCHEMA_UINT, .min = 256, .max = 65536, AT(lab_config, frames),
	 .help = "frames in all switches together; default 16384"},
	{.path = "defaults", .kind = SCHEMA_OWN, .read = read_later,
	 .help = "keys of all ports of all switches"},
	{.path = "switches", .kind = SCHEMA_OWN, .read = read_later, .required = true,
	 .help = "the switches"},
	{.path = "links", .kind = SCHEMA_OWN, .read = read_later, .help = "between switches"},
	{.path = "faults", .kind = SCHEMA_OWN, .read = read_later, .help = "what goes wrong"},
	{.path = "hosts", .kind = SCHEMA_OWN, .read = read_later,
	 .help = "what guests make of their wires; nothing to the switches"},
	{.path = NULL},
};

/* clang-format on */

const struct schema lab_keys = {
	.title = "rocecheck switch",
	.rows = lab_rows,
	.size = sizeof(struct lab_config),
};
