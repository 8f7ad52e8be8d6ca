/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a profile: file, the profile it extends, its own keys over that, then the rules that need
 * several of them. Everything found on the way is a finding with its place; nothing is applied
 * halfway.
 */
#include "profiles/profile.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "profiles/profile_find.h"
#include "profiles/profile_keys.h"

/* One file of the chain: depth 0 is the one asked for, 1 the one it extends. */
struct load {
	struct yaml_file file;
	struct diags *diags;
	unsigned int depth;
};

static int load_place(const struct profile_place *place, unsigned int depth, struct profile *p,
		      struct diags *diags, struct err *e);

/* A finding at the key extends, from the error of looking for the file. */
static int report_base(struct load *l, const struct yaml_node *node, const struct err *e)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-011"};

	finding.note = e->hint[0] ? e->hint : NULL;
	return yaml_report(&l->file, node, &finding, l->diags, "extends: %s", e->text);
}

/* What is inherited stands, for readers of this file, where it says so. */
static void inherit_places(struct profile *p, const struct yaml_node *node)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!qos_has(&p->qos, id))
			continue;
		p->line[id] = node->line;
		p->column[id] = node->column;
		p->width[id] = node->width;
	}
}

static int load_base(struct load *l, const struct yaml_node *node, const struct profile_place *here,
		     struct profile *p)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-012",
		.note = "only the profile that is loaded may extend one other",
	};
	struct profile_place place;
	char name[256];
	struct err e;
	int err = 0;

	if (node->kind != YAML_TEXT)
		return 0; /* reported with the other keys */
	if (l->depth)
		return yaml_report(&l->file, node, &finding, l->diags,
				   "an extended profile extends '%s'", node->text);
	if (profile_is_path(node->text))
		err = profile_relative(here->path, node->text, name, sizeof(name));
	else if (snprintf(name, sizeof(name), "%s", node->text) >= (int)sizeof(name))
		err = -ENAMETOOLONG;
	if (err)
		err_sys(&e, err, "%.64s...", node->text);
	else
		err = profile_locate(name, &place, &e);
	if (!err)
		err = load_place(&place, l->depth + 1, p, l->diags, &e);
	if (err == -ENOMEM)
		return err;
	if (!err)
		inherit_places(p, node);
	else if (e.code)
		return report_base(l, node, &e);
	return err;
}

/* A profile says what the fabric promises, itself or through the one it extends. */
static int check_intent(struct load *l)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-006",
		.note = "intent: lossless, lossy or sprayed",
	};

	if (yaml_find(&l->file, "intent") || yaml_find(&l->file, "extends"))
		return 0;
	return yaml_report(&l->file, NULL, &finding, l->diags, "key 'intent' is missing");
}

/* Application entries are one value: a file that states some states all. */
static void forget_base_apps(struct load *l, struct profile *p)
{
	static const char *const keys[] = {"app.entries", "app.ethertype", "app.tcp", "app.udp",
					   "app.any"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (yaml_find(&l->file, keys[i]))
			p->qos.has &= ~QOS_BIT(QOS_APP);
}

/* The file is read; puts its keys over p. errors: how many there were before it was opened. */
static int load_tree(struct load *l, const struct profile_place *place, size_t errors,
		     struct profile *p)
{
	const struct yaml_node *extends = yaml_find(&l->file, "extends");
	const struct yaml_node *dscp_default = yaml_find(&l->file, "app.dscp_default");
	int err = extends ? load_base(l, extends, place, p) : 0;

	if (err && err != -EINVAL)
		return err;
	forget_base_apps(l, p);
	err = schema_load_map(&profile_keys, &l->file, l->file.root, p, l->diags);
	if (err)
		return err;
	err = check_intent(l);
	if (err && err != -EINVAL)
		return err;
	if (l->diags->errors > errors)
		return -EINVAL;
	if (dscp_default)
		profile_apply_dscp_default(p, dscp_default);
	return 0;
}

static int check(struct load *l, struct profile *p)
{
	size_t errors = l->diags->errors, first = l->diags->count;
	int err = profile_check(p, l->diags);

	if (!err)
		err = yaml_attach_source(&l->file, l->diags, first);
	if (!err && l->diags->errors > errors)
		err = -EINVAL;
	return err;
}

static int load_place(const struct profile_place *place, unsigned int depth, struct profile *p,
		      struct diags *diags, struct err *e)
{
	struct profile loaded = {.disruption = CHOICE_ASK,
				 .persist = true,
				 .peer = CHOICE_WARN,
				 .peer_match = PEER_PFC | PEER_ETS | PEER_APP};
	struct load l = {.diags = diags, .depth = depth};
	size_t errors = diags->errors;
	int err;

	err_set(e, 0, "%s", "");
	err = yaml_open(place->path, place->shown, &l.file, diags, e);
	if (err)
		return err;
	err = load_tree(&l, place, errors, &loaded);
	snprintf(loaded.path, sizeof(loaded.path), "%s", place->shown);
	if (!err && !depth)
		profile_apply_agent(&loaded);
	if (!err && !depth)
		err = check(&l, &loaded);
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

	return err ? err : load_place(&place, 0, p, diags, e);
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

int profile_roce_prio(const struct profile *p)
{
	int tos = profile_roce_tos(p);

	if (tos < 0 || !qos_has(&p->qos, QOS_TRUST))
		return -ENODATA;
	if (p->qos.trust == QOS_TRUST_DSCP)
		return qos_dscp_to_prio(&p->qos, tos >> 2);
	return qos_has(&p->qos, QOS_VLAN_PRIO) ? p->qos.vlan_prio[profile_skb_prio(tos)] : -ENODATA;
}
