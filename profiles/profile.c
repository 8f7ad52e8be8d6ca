/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a profile: the extended profile, the keys of the file over it, then the rules that need
 * several keys. Each problem is a finding with its place. Settings are the rows of qos_fields[].
 * Reserved keys are checked and reported as a warning, so that a profile of a later version is not
 * half applied in silence. Shipped profiles are found beside the sources of the binary or in
 * ../share beside its folder.
 */
#include "profiles/profile.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiles/base/process.h"
#include "profiles/profile_qos.h"
#include "profiles/yaml/yaml_schema.h"

/* clang-format off */

const struct qos_word profile_intent_words[] = {
	{"lossless", INTENT_LOSSLESS},
	{"lossy", INTENT_LOSSY},
	{"sprayed", INTENT_SPRAYED},
	{NULL, 0},
};

const struct qos_word profile_unsupported_words[] = {
	{"fail", CHOICE_FAIL},
	{"warn", CHOICE_WARN},
	{"skip", CHOICE_SKIP},
	{NULL, 0},
};

const struct qos_word profile_disruption_words[] = {
	{"allow", CHOICE_ALLOW},
	{"ask", CHOICE_ASK},
	{"deny", CHOICE_DENY},
	{NULL, 0},
};

const struct qos_word profile_agent_words[] = {
	{"none", AGENT_NONE},
	{"lldpad", AGENT_LLDPAD},
	{"lldpad-readonly", AGENT_LLDPAD_READONLY},
	{NULL, 0},
};

static const struct qos_word lldp_peer_words[] = {
	{"ignore", CHOICE_SKIP},
	{"warn", CHOICE_WARN},
	{"fail", CHOICE_FAIL},
	{NULL, 0},
};

/* clang-format on */

const char *profile_intent_word(enum profile_intent intent)
{
	return qos_word_text(profile_intent_words, intent);
}

static int profile_read_schema(struct schema_load *l, const struct schema_row *row,
			       const struct yaml_node *node, void *target)
{
	(void)row;
	(void)target;
	return schema_version(l, node, PROFILE_SCHEMA,
			      "expected '" PROFILE_SCHEMA
			      "' (or 'rocecheck.fabric/1' for an inventory)");
}

/* Checks the type only: profile_load_base() loads the extended profile before the other keys. */
static int profile_read_extends(struct schema_load *l, const struct schema_row *row,
				const struct yaml_node *node, void *target)
{
	(void)row;
	(void)target;
	return node->kind == YAML_TEXT ? 0 : schema_expect(l, node, "the name of a profile");
}

static int profile_read_dscp_default(struct schema_load *l, const struct schema_row *row,
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

static void profile_set_place(struct profile *p, enum qos_field_id id, const struct yaml_node *node)
{
	p->line[id] = node->line;
	p->column[id] = node->column;
	p->width[id] = node->width;
}

/* Maps the DSCPs that app.dscp leaves unmapped as app.dscp_default says. The node was checked. */
static void profile_apply_dscp_default(struct profile *p, const struct yaml_node *node)
{
	bool shift = !strcmp(node->text, "shift3");
	struct qos *q = &p->qos;

	if (!strcmp(node->text, "keep"))
		return;
	if (!p->line[QOS_DSCP_PRIO])
		profile_set_place(p, QOS_DSCP_PRIO, node);
	if (!qos_has(q, QOS_DSCP_PRIO))
		memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->has |= QOS_BIT(QOS_DSCP_PRIO);
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++)
		if (q->dscp_prio[dscp] == QOS_UNMAPPED)
			q->dscp_prio[dscp] = shift ? dscp >> 3
						   : (unsigned int)(node->text[0] - '0');
}

/* Recommends the ETS settings of this host to the DCBX peer, unless the profile states others. */
static void profile_recommend_ets(struct qos *q)
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

/* Defaults with dcbx.agent: lldpad: not willing, rxtx, and its ETS settings recommended to the
 * peer. */
static void profile_apply_agent(struct profile *p)
{
	struct qos *q = &p->qos;

	if (p->agent != AGENT_LLDPAD)
		return;
	/* The defaults of lldpad are willing and receive-only. */
	if (!qos_has(q, QOS_ETS_WILLING))
		q->ets_willing = 0;
	if (!qos_has(q, QOS_PFC_WILLING))
		q->pfc_willing = 0;
	if (!qos_has(q, QOS_ADMIN_STATUS))
		q->admin_status = QOS_LLDP_RXTX;
	q->has |= QOS_BIT(QOS_ETS_WILLING) | QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_ADMIN_STATUS);
	profile_recommend_ets(q);
}

/* app.udp, app.tcp, ...: the last word of the key is the selector. */
static int profile_read_selector(struct schema_load *l, const struct schema_row *row,
				 const struct yaml_node *node, void *target)
{
	int selector = qos_word_value(qos_app_words, strrchr(row->path, '.') + 1);
	struct profile *p = l->target;

	(void)target;
	profile_set_place(p, QOS_APP, node);
	return profile_read_apps(l, selector, node, &p->qos);
}

/* Blocks of a driver: {ice: {fw_lldp_agent: off}}. */
static int profile_read_vendor(struct schema_load *l, const struct schema_row *row,
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

static int profile_read_match(struct schema_load *l, const struct schema_row *row,
			      const struct yaml_node *node, void *target)
{
	static const struct qos_word objects[] = {
		{"pfc", LLDP_PEER_PFC},
		{"ets", LLDP_PEER_ETS},
		{"app", LLDP_PEER_APP},
		{NULL, 0},
	};
	struct profile *p = l->target;
	uint8_t value = 0;
	int bad = 0;

	(void)row;
	(void)target;
	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of pfc, ets and app");
	p->lldp_peer_match = 0;
	for (size_t i = 0; i < node->count; i++) {
		if (schema_stop(schema_word(l, yaml_item(node, i), objects, &value), &bad))
			return bad;
		p->lldp_peer_match |= value;
	}
	return bad;
}

static int profile_read_field(struct schema_load *l, unsigned int id, const struct yaml_node *node)
{
	struct profile *p = l->target;
	int err = profile_read_qos(l, id, node, &p->qos);

	if (err)
		return err;
	profile_set_place(p, id, node);
	if (qos_fields[id].read_only && id != QOS_IB_MTU)
		return schema_warn(l, node, "RC-INP-016",
				   "ignored (read-only; the device reports it)");
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
	{.path = "schema", .kind = SCHEMA_OWN, .required = true, .read = profile_read_schema,
	 .shape = "{\"const\":\"" PROFILE_SCHEMA "\"}", .help = "schema: " PROFILE_SCHEMA},
	{.path = "name", .kind = SCHEMA_NAME, .required = true, TEXT_AT(name),
	 .help = "name of the profile"},
	{.path = "description", .kind = SCHEMA_TEXT, TEXT_AT(description),
	 .help = "one-line description"},
	{.path = "intent", .kind = SCHEMA_WORD, AT(intent), .words = profile_intent_words,
	 .help = "guarantee of the fabric; required here or in the extended profile"},
	{.path = "extends", .kind = SCHEMA_OWN, .read = profile_read_extends,
	 .shape = "{\"type\":\"string\"}",
	 .help = "profile to inherit from: a shipped profile, or a path relative to this file"},
	{.path = "select.interfaces", .kind = SCHEMA_TEXTS, .max = PROFILE_PATTERN_MAX,
	 AT(interface),
	 .size = sizeof(((struct profile *)NULL)->interface[0]),
	 .count_offset = offsetof(struct profile, interface_count),
	 .help = "network devices to configure, as shell patterns (default: every RoCE port)"},
	{.path = "app.dscp_default", .kind = SCHEMA_OWN, .read = profile_read_dscp_default,
	 .shape = "{\"enum\":[\"shift3\",\"keep\",0,1,2,3,4,5,6,7]}",
	 .help = "priority of DSCPs not listed in app.dscp: shift3 (DSCP / 8), 0 to 7, or keep (default keep)"},
	{.path = "app.ethertype", .kind = SCHEMA_OWN, .read = profile_read_selector, .shape = PRIO_MAP,
	 .help = "priority by EtherType (35093 = RoCE v1, 0 = default priority)"},
	{.path = "app.tcp", .kind = SCHEMA_OWN, .read = profile_read_selector, .shape = PRIO_MAP,
	 .help = "priority by TCP port"},
	{.path = "app.udp", .kind = SCHEMA_OWN, .read = profile_read_selector, .shape = PRIO_MAP,
	 .help = "priority by UDP port (4791 = RoCE v2)"},
	{.path = "app.any", .kind = SCHEMA_OWN, .read = profile_read_selector, .shape = PRIO_MAP,
	 .help = "priority by TCP or UDP port"},
	{.path = "app.pcp", .kind = SCHEMA_OWN, .read = profile_read_selector, .shape = PRIO_MAP,
	 .help = "priority by PCP of the VLAN tag, plus 8 if DEI is set (needs Linux 6.2)"},
	{.path = "policy.on_unsupported", .kind = SCHEMA_WORD, AT(on_unsupported),
	 .words = profile_unsupported_words,
	 .help = "result if the device does not support a setting (default fail)"},
	{.path = "policy.disruption", .kind = SCHEMA_WORD, AT(disruption),
	 .words = profile_disruption_words,
	 .help = "permission for steps that flap a link or reset a device (default ask)"},
	{.path = "policy.rollback_timeout_s", .kind = SCHEMA_UINT, .max = 3600,
	 AT(confirm_within_s),
	 .help = "seconds to confirm an apply, else it is rolled back (default 0: off)"},
	{.path = "policy.persist", .kind = SCHEMA_SWITCH, AT(persist),
	 .help = "apply again at boot and when a device appears (default on)"},
	{.path = "dcbx.agent", .kind = SCHEMA_WORD, AT(agent), .words = profile_agent_words,
	 .help = "program that sets ETS, PFC and APP: rocecheck (none, lldpad-readonly) or lldpad "
		 "(default none)"},
	{.path = "dcbx.peer.require", .kind = SCHEMA_WORD, AT(lldp_peer), .words = lldp_peer_words,
	 .help = "result if the LLDP neighbour advertises other settings (default warn)"},
	{.path = "dcbx.peer.match", .kind = SCHEMA_OWN, .read = profile_read_match,
	 .shape = "{\"type\":\"array\",\"items\":{\"enum\":[\"pfc\",\"ets\",\"app\"]}}",
	 .help = "DCBX objects compared with the LLDP neighbour (default: all)"},
	{.path = "vendor", .kind = SCHEMA_OWN, .reserved = true, .read = profile_read_vendor,
	 .shape = ANY_MAP,
	 .help = "settings per driver (reserved, without effect)"},
	{.path = NULL},
};

/* clang-format on */

static const char *profile_field_key(unsigned int id)
{
	return id < QOS_FIELD_COUNT ? qos_fields[id].key : NULL;
}

static json_t *profile_field_schema(unsigned int id)
{
	return profile_qos_schema(&qos_fields[id]);
}

static const struct schema_fields fields = {profile_field_key, qos_field_find, profile_read_field,
					    profile_field_schema};

static const struct schema profile_keys = {
	.title = "rocecheck profile",
	.rows = rows,
	.size = sizeof(struct profile),
	.fields = &fields,
};

json_t *profile_schema(void)
{
	return schema_document(&profile_keys);
}

struct profile_place {
	char path[256];	 /* to open */
	char shown[256]; /* for messages: the path, or "builtin:NAME" */
};

#define DIRS_MAX   4
#define LEVELS_MAX 5 /* folders above build/san/unit/ROOM/ROOM/NAME */

const char *profile_shown_name(const char *path)
{
	static const char shipped[] = "builtin:";

	return path + (strncmp(path, shipped, sizeof(shipped) - 1) ? 0 : sizeof(shipped) - 1);
}

bool profile_is_path(const char *name)
{
	size_t length = strlen(name);

	if (strchr(name, '/'))
		return true;
	return (length > 5 && !strcmp(name + length - 5, ".yaml")) ||
	       (length > 4 && !strcmp(name + length - 4, ".yml"));
}

int profile_relative(const char *from, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(from, '/');
	int folder = slash && name[0] != '/' ? (int)(slash - from) + 1 : 0;
	int n = snprintf(path, size, "%.*s%s", folder, from, name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* Removes the last part of a path; false when there is none left. */
static bool profile_cut_path(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* Adds DIR/TAIL when it holds a file named `mark`. */
static void profile_add_dir(char (*dirs)[256], unsigned int *count, unsigned int max,
			    const char *dir, const char *tail, const char *mark)
{
	char path[256], probe[300];

	if (*count >= max || snprintf(path, sizeof(path), "%s%s", dir, tail) >= (int)sizeof(path))
		return;
	snprintf(probe, sizeof(probe), "%s/%s", path, mark);
	if (access(probe, R_OK))
		return;
	strcpy(dirs[(*count)++], path);
}

/* Folders that hold shipped profiles, first wins: $ROCECHECK_PROFILES (ignored when setuid), the
 * profiles/ folder beside the executable's source tree, PREFIX/share/rocecheck/profiles. */
static unsigned int profile_find_dirs(char (*dirs)[256], unsigned int max)
{
	const char *extra = secure_getenv("ROCECHECK_PROFILES");
	unsigned int count = 0;
	char exe[256];

	if (extra && extra[0])
		profile_add_dir(dirs, &count, max, extra, "", ".");
	process_self(exe, sizeof(exe));
	profile_cut_path(exe);
	/* qos.h beside the profiles is the mark of a source tree. */
	for (unsigned int level = 0; level < LEVELS_MAX && profile_cut_path(exe); level++) {
		profile_add_dir(dirs, &count, max, exe, "/profiles", "qos.h");
		if (!level)
			profile_add_dir(dirs, &count, max, exe, "/share/rocecheck/profiles", ".");
	}
#ifdef ROCECHECK_DATA
	profile_add_dir(dirs, &count, max, ROCECHECK_DATA, "/profiles", ".");
#endif
	return count;
}

static int profile_select_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       !strcmp(entry->d_name + length - 5, ".yaml");
}

static void profile_append_names(const char *dir, char *text, size_t size)
{
	struct dirent **list;
	int count = scandir(dir, &list, profile_select_file, alphasort);
	size_t used = strlen(text);

	for (int i = 0; i < count; i++) {
		int length = (int)strlen(list[i]->d_name) - (int)strlen(".yaml");

		if (used < size)
			used += snprintf(text + used, size - used, "%s%.*s", text[0] ? ", " : "",
					 length, list[i]->d_name);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
}

static int profile_not_found(const char *name, char (*dirs)[256], unsigned int count, struct err *e)
{
	char names[ERR_HINT_MAX - 24] = "";

	for (unsigned int i = 0; i < count; i++)
		profile_append_names(dirs[i], names, sizeof(names));
	err_set(e, -ENOENT, "no shipped profile is named '%s'", name);
	if (!access(name, F_OK))
		err_hint(e, "to use the file in this folder, write ./%.200s", name);
	else
		err_hint(e, "shipped profiles: %s", names[0] ? names : "none found");
	return -ENOENT;
}

/* Finds the file of a profile, without opening a path. -ENOENT with the shipped names in the hint,
 * -EINVAL, -ENAMETOOLONG. */
static int profile_locate(const char *name, struct profile_place *place, struct err *e)
{
	char dirs[DIRS_MAX][256];
	unsigned int count;

	if (profile_is_path(name)) {
		if (snprintf(place->path, sizeof(place->path), "%s", name) >=
		    (int)sizeof(place->path))
			return err_sys(e, -ENAMETOOLONG, "%.64s...", name);
		strcpy(place->shown, place->path);
		return 0;
	}
	if (!schema_name_ok(name) || strlen(name) > 64)
		return err_set(e, -EINVAL, "'%.64s' is neither a path nor a profile name", name);
	count = profile_find_dirs(dirs, DIRS_MAX);
	for (unsigned int i = 0; i < count; i++) {
		int n = snprintf(place->path, sizeof(place->path), "%s/%s.yaml", dirs[i], name);

		if (n >= (int)sizeof(place->path) || access(place->path, R_OK))
			continue;
		snprintf(place->shown, sizeof(place->shown), "builtin:%s", name);
		return 0;
	}
	return profile_not_found(name, dirs, count, e);
}

/* One file of the chain: depth 0 is the requested profile, 1 the profile that it extends. */
struct load {
	struct yaml_file file;
	struct diags *diags;
	unsigned int depth;
};

static int profile_load_place(const struct profile_place *place, unsigned int depth,
			      struct profile *p, struct diags *diags, struct err *e);

/* A finding at the key extends, from the error of looking for the file. */
static int profile_report_base(struct load *l, const struct yaml_node *node, const struct err *e)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-011"};

	finding.note = e->hint[0] ? e->hint : NULL;
	return yaml_report(&l->file, node, &finding, l->diags, "extends: %s", e->text);
}

/* Inherited settings have the place of the key extends. */
static void profile_inherit_places(struct profile *p, const struct yaml_node *node)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (qos_has(&p->qos, id))
			profile_set_place(p, id, node);
}

static int profile_load_base(struct load *l, const struct yaml_node *node,
			     const struct profile_place *here, struct profile *p)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-012",
		.note = "only one level of 'extends' is supported",
	};
	struct profile_place place;
	char name[256];
	struct err e;
	int err = 0;

	if (node->kind != YAML_TEXT)
		return 0; /* reported with the other keys */
	if (l->depth)
		return yaml_report(&l->file, node, &finding, l->diags,
				   "the extended profile itself extends '%s'", node->text);
	if (profile_is_path(node->text))
		err = profile_relative(here->path, node->text, name, sizeof(name));
	else if (snprintf(name, sizeof(name), "%s", node->text) >= (int)sizeof(name))
		err = -ENAMETOOLONG;
	if (err)
		err_sys(&e, err, "%.64s...", node->text);
	else
		err = profile_locate(name, &place, &e);
	if (!err)
		err = profile_load_place(&place, l->depth + 1, p, l->diags, &e);
	if (err == -ENOMEM)
		return err;
	if (!err)
		profile_inherit_places(p, node);
	else if (e.code)
		return profile_report_base(l, node, &e);
	return err;
}

/* intent is required in the profile or in the profile that it extends. */
static int profile_check_intent(struct load *l)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-006",
		.note = "add intent: lossless, lossy or sprayed",
	};

	if (yaml_find(&l->file, "intent") || yaml_find(&l->file, "extends"))
		return 0;
	return yaml_report(&l->file, NULL, &finding, l->diags, "key 'intent' is missing");
}

/* Application entries are one value: a file that states any replaces all inherited ones. */
static void profile_drop_base_apps(struct load *l, struct profile *p)
{
	bool stated = yaml_find(&l->file, "app.entries");
	char key[32];

	for (const struct qos_word *w = qos_app_words; w->word; w++) {
		snprintf(key, sizeof(key), "app.%s", w->word);
		stated |= yaml_find(&l->file, key) != NULL;
	}
	if (stated)
		p->qos.has &= ~QOS_BIT(QOS_APP);
}

/* Loads the keys of the parsed file over p. errors: number of errors before it was opened. */
static int profile_load_tree(struct load *l, const struct profile_place *place, size_t errors,
			     struct profile *p)
{
	const struct yaml_node *extends = yaml_find(&l->file, "extends");
	const struct yaml_node *dscp_default = yaml_find(&l->file, "app.dscp_default");
	int err = extends ? profile_load_base(l, extends, place, p) : 0;

	if (err && err != -EINVAL)
		return err;
	profile_drop_base_apps(l, p);
	err = schema_load_map(&profile_keys, &l->file, l->file.root, p, l->diags);
	if (err)
		return err;
	err = profile_check_intent(l);
	if (err && err != -EINVAL)
		return err;
	if (l->diags->errors > errors)
		return -EINVAL;
	if (dscp_default)
		profile_apply_dscp_default(p, dscp_default);
	return 0;
}

static int profile_check_loaded(struct load *l, struct profile *p)
{
	size_t errors = l->diags->errors, first = l->diags->count;
	int err = profile_check(p, l->diags);

	if (!err)
		err = yaml_attach_source(&l->file, l->diags, first);
	if (!err && l->diags->errors > errors)
		err = -EINVAL;
	return err;
}

static int profile_load_place(const struct profile_place *place, unsigned int depth,
			      struct profile *p, struct diags *diags, struct err *e)
{
	struct profile loaded = {.disruption = CHOICE_ASK,
				 .persist = true,
				 .lldp_peer = CHOICE_WARN,
				 .lldp_peer_match = LLDP_PEER_PFC | LLDP_PEER_ETS | LLDP_PEER_APP};
	struct load l = {.diags = diags, .depth = depth};
	size_t errors = diags->errors;
	int err;

	err_set(e, 0, "%s", "");
	err = yaml_open(place->path, place->shown, &l.file, diags, e);
	if (err)
		return err;
	err = profile_load_tree(&l, place, errors, &loaded);
	snprintf(loaded.path, sizeof(loaded.path), "%s", place->shown);
	if (!err && !depth)
		profile_apply_agent(&loaded);
	if (!err && !depth)
		err = profile_check_loaded(&l, &loaded);
	yaml_close(&l.file);
	if (!err && diags->errors > errors)
		err = -EINVAL;
	if (!err)
		*p = loaded;
	return err;
}

int profile_load(const char *name_or_path, struct profile *p, struct diags *diags, struct err *e)
{
	struct profile_place place;
	int err = profile_locate(name_or_path, &place, e);

	return err ? err : profile_load_place(&place, 0, p, diags, e);
}

bool profile_selects(const struct profile *p, const char *ifname)
{
	for (unsigned int i = 0; i < p->interface_count; i++)
		if (!fnmatch(p->interface[i], ifname, 0))
			return true;
	return !p->interface_count;
}

int profile_roce_tos(const struct profile *p)
{
	return qos_has(&p->qos, QOS_CM_TOS) ? p->qos.cm_tos : -ENODATA;
}

/* linux net/ipv4/route.c: ip_tos2prio[], by the bits of RFC 1349 s3, which DSCPs overlap. */
unsigned int profile_skb_prio(uint8_t tos)
{
	static const uint8_t prio[16] = {0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4};

	return prio[(tos & 0x1e) >> 1];
}

static int profile_tos_prio(const struct profile *p, uint8_t tos)
{
	if (!qos_has(&p->qos, QOS_TRUST))
		return -ENODATA;
	if (p->qos.trust == QOS_TRUST_DSCP)
		return qos_dscp_to_prio(&p->qos, tos >> 2);
	return qos_has(&p->qos, QOS_VLAN_PRIO) ? p->qos.vlan_prio[profile_skb_prio(tos)] : -ENODATA;
}

int profile_roce_prio(const struct profile *p)
{
	int tos = profile_roce_tos(p);

	return tos < 0 ? -ENODATA : profile_tos_prio(p, (uint8_t)tos);
}

int profile_prio_tos(const struct profile *p, unsigned int prio)
{
	int roce = profile_roce_tos(p);

	if (roce >= 0 && profile_roce_prio(p) == (int)prio)
		return roce;
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++) {
		uint8_t tos = (uint8_t)(dscp << 2 | (roce >= 0 ? roce & 3 : 0));

		if (profile_tos_prio(p, tos) == (int)prio)
			return tos;
	}
	return -ENODATA;
}
