/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-GID: checks that each port has the RoCE v2 GID that traffic needs, at the same index on all
 * hosts (programs may use a fixed index), and that every address in the fabric is unique.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode/packet.h"
#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

static const char *const type_words[] = {
	[GID_UNKNOWN] = "of unknown type",
	[GID_ROCE_V1] = "RoCE v1",
	[GID_ROCE_V2] = "RoCE v2",
	[GID_IB] = "InfiniBand",
};

static bool gid_has_v1_only(const struct port *p)
{
	bool v1 = false;

	for (unsigned int i = 0; i < p->gid_count; i++) {
		if (p->gid[i].type == GID_ROCE_V2)
			return false;
		v1 = v1 || p->gid[i].type == GID_ROCE_V1;
	}
	return v1;
}

PORT_CHECK(check_gid_version)
{
	const struct qos *q = &s->port->qos;
	const struct gid *gid = port_ctx_gid(s);
	char text[64];

	if (qos_has(s->want, QOS_ROCE_VERSION) && s->want->roce_version == 1) {
		finding_set(out, VERDICT_SKIP, "the profile wants RoCE v1");
		return;
	}
	finding_expected_by(out, s->profile, QOS_ROCE_VERSION);
	if (qos_has(q, QOS_ROCE_VERSION))
		evidence_field(out, s, QOS_ROCE_VERSION);
	if (gid) {
		packet_addr_text(gid->raw, text, sizeof(text));
		finding_evidence(out, EVIDENCE_HOST, "GID %u is %s, RoCE v2 (sysfs)", gid->index,
				 text);
	}
	if (gid_has_v1_only(s->port))
		finding_set(out, VERDICT_FAIL, "the port has only RoCE v1 GIDs");
	else if (qos_has(q, QOS_ROCE_VERSION) && q->roce_version == 1)
		finding_set(out, VERDICT_FAIL, "rdma_cm connects with RoCE v1");
	else if (gid)
		finding_set(out, VERDICT_PASS, "traffic uses RoCE v2");
	else
		finding_set(out, VERDICT_INCONCLUSIVE, "no GID for traffic was found (RC-GID-004)");
}

PORT_CHECK(check_gid_address)
{
	const struct fabric_port *entry = port_ctx_entry(s);
	const struct gid *gid = port_ctx_gid(s);
	char text[64];

	finding_evidence(out, EVIDENCE_HOST, "%u GID%s, %u address%s, the first is %s",
			 s->port->gid_count, plural(s->port->gid_count), s->port->address_count,
			 s->port->address_count == 1 ? "" : "es",
			 s->port->address_count ? s->port->address[0] : "none");
	if (gid) {
		packet_addr_text(gid->raw, text, sizeof(text));
		finding_set(out, VERDICT_PASS, "GID %u is %s", gid->index, text);
	} else if (entry && entry->address[0]) {
		finding_set(out, VERDICT_FAIL,
			    "no RoCE v2 GID for %s, the address in the inventory", entry->address);
	} else {
		finding_set(out, VERDICT_FAIL,
			    "only link-local RoCE v2 GIDs: the port has no IP address");
	}
}

/* The GID index that traffic of a port uses. */
struct gid_place {
	struct port_ctx s;
	unsigned int index;
	bool ipv4;
	size_t ports; /* ports with the same index and family */
};

static size_t gid_gather_places(const struct rule_context *c, struct gid_place *list)
{
	struct port_walk walk = {.c = c};
	struct port_ctx s;
	size_t count = 0;

	while (port_walk_next(&walk, &s)) {
		const struct gid *gid;

		if (!s.port || s.port->kind == PORT_IWARP)
			continue;
		gid = port_ctx_gid(&s);
		if (!gid)
			continue;
		list[count++] = (struct gid_place){s, gid->index, packet_addr_is_ipv4(gid->raw), 0};
	}
	return count;
}

static const struct gid *gid_at(const struct port *p, unsigned int index)
{
	for (unsigned int i = 0; i < p->gid_count; i++)
		if (p->gid[i].index == index)
			return &p->gid[i];
	return NULL;
}

/* True when the port has a GID of the same type and family at the index. */
static bool gid_serves(const struct gid_place *at, const struct gid_place *wanted)
{
	const struct gid *gid = gid_at(at->s.port, wanted->index);

	return gid && gid->type == GID_ROCE_V2 && packet_addr_is_ipv4(gid->raw) == wanted->ipv4 &&
	       !gid_is_link_local(gid);
}

/* Returns the most common place; of equal ones the first. */
static size_t gid_usual_place(struct gid_place *list, size_t count)
{
	size_t best = 0;

	for (size_t i = 0; i < count; i++) {
		size_t same = 0;

		while (same < i &&
		       (list[same].index != list[i].index || list[same].ipv4 != list[i].ipv4))
			same++;
		list[same].ports++;
	}
	for (size_t i = 1; i < count; i++)
		if (list[i].ports > list[best].ports)
			best = i;
	return best;
}

static void gid_report_odd(const struct rule *rule, const struct gid_place *p,
			   const struct gid_place *usual, struct findings *out)
{
	const struct gid *gid = gid_at(p->s.port, usual->index);
	const char *family = usual->ipv4 ? "IPv4" : "IPv6";

	finding_begin(out, rule, p->s.host->name, p->s.name, p->s.prio_set);
	finding_set(out, VERDICT_FAIL,
		    "GID index %u is RoCE v2 over %s on %s %s, but not on this port", usual->index,
		    family, usual->s.host->name, usual->s.name);
	finding_evidence(out, EVIDENCE_ACROSS, "GID %u of this port is %s%s, traffic uses GID %u",
			 usual->index, gid ? type_words[gid->type] : "empty",
			 gid && packet_addr_is_ipv4(gid->raw) ? " over IPv4" : "", p->index);
}

static void gid_report_places(const struct rule *rule, struct gid_place *list, size_t count,
			      struct findings *out)
{
	size_t best = gid_usual_place(list, count), odd = 0;

	for (size_t i = 0; i < count; i++) {
		if (gid_serves(&list[i], &list[best]))
			continue;
		gid_report_odd(rule, &list[i], &list[best], out);
		odd++;
	}
	if (odd)
		return;
	finding_begin(out, rule, "", "", list[0].s.prio_set);
	finding_set(out, VERDICT_PASS, "GID index %u has the same type on all %zu ports",
		    list[best].index, count);
	finding_evidence(out, EVIDENCE_ACROSS, "GID %u is RoCE v2 over %s on %zu ports",
			 list[best].index, list[best].ipv4 ? "IPv4" : "IPv6", count);
}

FABRIC_CHECK(check_gid_index)
{
	struct gid_place *list = calloc(port_walk_count(c) + 1, sizeof(*list));
	size_t count;

	if (!list) {
		out->err = -ENOMEM;
		return;
	}
	count = gid_gather_places(c, list);
	if (count > 1) {
		gid_report_places(rule, list, count, out);
	} else {
		finding_begin(out, rule, "", "", 0);
		finding_set(out, c->run->host_count > 1 ? VERDICT_INCONCLUSIVE : VERDICT_SKIP,
			    "%zu port%s with a GID for traffic: nothing to compare", count,
			    plural(count));
	}
	free(list);
}

/* One identity of a port: an address or a MAC. */
struct identity {
	char text[64];
	struct port_ctx s;
};

static int gid_cmp_identity(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;
	int difference = strcmp(x->text, y->text);

	if (!difference)
		difference = strcmp(x->s.host->name, y->s.host->name);
	return difference ? difference : strcmp(x->s.name, y->s.name);
}

static bool gid_shared_by_design(const char *address)
{
	return !strncasecmp(address, "fe80:", 5) || !strncmp(address, "127.", 4) ||
	       !strcmp(address, "::1");
}

static size_t gid_gather_identities(const struct rule_context *c, struct identity *list)
{
	struct port_walk walk = {.c = c};
	struct port_ctx s;
	size_t count = 0;

	while (port_walk_next(&walk, &s)) {
		if (!s.port)
			continue;
		for (unsigned int i = 0; i < s.port->address_count && i < PORT_ADDRS_MAX; i++) {
			if (gid_shared_by_design(s.port->address[i]))
				continue;
			list[count].s = s;
			snprintf(list[count++].text, sizeof(list->text), "address %s",
				 s.port->address[i]);
		}
		if (s.port->mac[0]) {
			list[count].s = s;
			snprintf(list[count++].text, sizeof(list->text), "MAC %s", s.port->mac);
		}
	}
	qsort(list, count, sizeof(*list), gid_cmp_identity);
	return count;
}

/* Reports each port whose address or MAC another port has, too. Names the first port that has it,
 * so that the findings of copied hosts are equal. Returns their number. */
static size_t gid_report_duplicates(const struct rule *rule, const struct identity *list,
				    size_t count, struct findings *out)
{
	const struct identity *first = list;
	size_t found = 0;

	for (const struct identity *one = list; one < list + count; one++) {
		const struct port_ctx *a = &first->s, *b = &one->s;

		if (strcmp(first->text, one->text))
			first = one;
		if (first == one || a->port == b->port)
			continue;
		finding_begin(out, rule, b->host->name, b->name, b->prio_set);
		finding_set(out, VERDICT_FAIL, "%s is also on %s %s", one->text, a->host->name,
			    a->name);
		finding_evidence(out, EVIDENCE_ACROSS, "%s %s has %s, too", a->host->name, a->name,
				 one->text);
		found++;
	}
	return found;
}

FABRIC_CHECK(check_gid_duplicate)
{
	size_t room = port_walk_count(c) * (PORT_ADDRS_MAX + 1);
	struct identity *list = calloc(room + 1, sizeof(*list));
	size_t count;

	if (!list) {
		out->err = -ENOMEM;
		return;
	}
	count = gid_gather_identities(c, list);
	if (!gid_report_duplicates(rule, list, count, out)) {
		finding_begin(out, rule, "", "", 0);
		finding_evidence(out, EVIDENCE_ACROSS, "%zu addresses and MACs compared", count);
		if (count)
			finding_set(out, VERDICT_PASS, "every address and MAC is unique");
		else
			finding_set(out, VERDICT_INCONCLUSIVE, "no address or MAC is known");
	}
	free(list);
}

PORT_CHECK(check_gid_cm)
{
	const struct qos *q = &s->port->qos;
	bool v1 = qos_has(s->want, QOS_ROCE_VERSION) && s->want->roce_version == 1;

	finding_expected_by(out, s->profile, QOS_ROCE_VERSION);
	if (!qos_has(q, QOS_ROCE_VERSION)) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "rdma_cm's RoCE version cannot be read: its configfs directory does "
			    "not exist");
		return;
	}
	evidence_field(out, s, QOS_ROCE_VERSION);
	if (q->roce_version == 2 || v1)
		finding_set(out, VERDICT_PASS, "rdma_cm connects with RoCE v%u", q->roce_version);
	else
		finding_set(out, VERDICT_FAIL, "rdma_cm connects with RoCE v1");
}
