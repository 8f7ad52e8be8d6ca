/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A notification only names the port to read again: its content lacks values that drivers hide or
 * misreport. A repair uses plan_make(), so order and refusals are those of an apply.
 */
#include "dcb/drift/drift.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dcbnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool drift_parse_ifname(const uint8_t *pos, size_t size, uint16_t type, char name[16])
{
	struct nl_attr a;

	if (!nl_attr_find(pos, size, type, &a) || !a.size || a.size > 16 || a.data[a.size - 1])
		return false;
	memcpy(name, a.data, a.size);
	return name[0];
}

static bool drift_decode_link(uint16_t type, const uint8_t *payload, size_t size,
			      struct drift_notice *n)
{
	struct ifinfomsg i;

	if (size < sizeof(i))
		return false;
	memcpy(&i, payload, sizeof(i));
	/* Bridges send notifications of their ports with the same type. */
	if (i.ifi_family != AF_UNSPEC)
		return false;
	n->kind = type == RTM_NEWLINK ? DRIFT_NETDEV : DRIFT_NETDEV_GONE;
	n->ifindex = i.ifi_index;
	n->carrier = i.ifi_flags & IFF_LOWER_UP;
	return drift_parse_ifname(payload + sizeof(i), size - sizeof(i), IFLA_IFNAME, n->ifname);
}

bool drift_decode_notice(uint16_t type, const uint8_t *payload, size_t size, struct drift_notice *n)
{
	memset(n, 0, sizeof(*n));
	switch (type) {
	case RTM_GETDCB:
	case RTM_SETDCB:
		n->kind = DRIFT_DCB;
		return size >= sizeof(struct dcbmsg) &&
		       drift_parse_ifname(payload + sizeof(struct dcbmsg),
					  size - sizeof(struct dcbmsg), DCB_ATTR_IFNAME, n->ifname);
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return drift_decode_link(type, payload, size, n);
	default:
		return false;
	}
}

uint64_t drift_fields(const struct drift_want *want, const struct qos *now)
{
	return want->exact ? qos_unequal(&want->qos, now, want->qos.has)
			   : qos_diff(&want->qos, now);
}

uint64_t drift_changed_fields(const struct qos *before, const struct qos *now)
{
	return qos_unequal(before, now, before->has | now->has);
}

/* A former state has complete tables: clears the current ones, so that no other entry stays. */
static void drift_clear_tables(const struct qos *wanted, uint64_t drift, struct qos *have)
{
	if (drift & QOS_BIT(QOS_DSCP_PRIO) && qos_dscp_count(wanted))
		memset(have->dscp_prio, QOS_UNMAPPED, sizeof(have->dscp_prio));
	if (drift & QOS_BIT(QOS_APP))
		have->app_count = 0;
}

static void drift_forbid_disruption(struct plan_step *s)
{
	if (s->cannot || s->disruption == DISRUPT_NONE)
		return;
	s->cannot = true;
	snprintf(s->reason, sizeof(s->reason), "restoring it needs a %s",
		 plan_disruption_word(s->disruption));
}

void drift_effects_text(const struct qos *want, const struct qos *now, uint64_t fields, char *buf,
			size_t size)
{
	uint64_t known = fields & want->has & now->has;
	uint8_t lost = want->pfc_enabled & ~now->pfc_enabled;
	char prios[32];
	size_t used = 0;

	buf[0] = '\0';
	if (known & QOS_BIT(QOS_PFC_ENABLED) && lost) {
		qos_prio_set_text(lost, prios, sizeof(prios));
		used = snprintf(buf, size, "priority %s is no longer lossless", prios);
	}
	if (known & QOS_BIT(QOS_TRUST) && want->trust == QOS_TRUST_DSCP &&
	    now->trust != QOS_TRUST_DSCP && used < size)
		snprintf(buf + used, size - used,
			 "%sthe DSCP of a packet no longer selects its "
			 "priority",
			 used ? "; " : "");
}

void drift_plan(const struct drift_want *want, uint64_t drift, const struct qos *now,
		const char *driver, struct plan *plan, uint64_t *left)
{
	static const int no_line[QOS_FIELD_COUNT];
	struct qos wanted = want->qos, have = *now;

	if (want->exact) {
		wanted.has &= drift;
		drift_clear_tables(&wanted, drift & wanted.has & now->has, &have);
	}
	plan_make(&wanted, no_line, &have, driver, plan);
	for (unsigned int i = 0; i < plan->count; i++) {
		struct plan_step *s = &plan->step[i];

		qos_copy_field(&s->from, now, s->field);
		drift_forbid_disruption(s);
	}
	*left = drift & ~plan_fields(plan);
}

bool drift_budget_consume(struct drift_budget *b, uint64_t now_ms)
{
	while (b->count && now_ms - b->at_ms[0] >= DRIFT_REPAIR_WINDOW_MS) {
		b->count--;
		memmove(b->at_ms, b->at_ms + 1, b->count * sizeof(b->at_ms[0]));
	}
	if (b->spent || b->count == DRIFT_REPAIRS_MAX) {
		b->spent = true;
		return false;
	}
	b->at_ms[b->count++] = now_ms;
	return true;
}

void drift_budget_return(struct drift_budget *b)
{
	if (b->count)
		b->count--;
}

/* Baselines, out of journals. The transaction of a repair is skipped (its folder has a file
 * "repair"), because it may leave drift that it must not touch; an older one is the baseline. */

#define REPAIR "repair"

static bool drift_has_file(const struct state *s, const char *id, const char *file, struct stat *st)
{
	struct folder folder;
	bool there;

	if (folder_find(&s->tx, id, &folder, NULL))
		return false;
	there = !fstatat(folder.fd, file, st, AT_SYMLINK_NOFOLLOW);
	folder_close(&folder);
	return there;
}

static bool drift_is_repair(const struct state *s, const char *id)
{
	struct stat st;

	return drift_has_file(s, id, REPAIR, &st);
}

static const struct tx_port *drift_port_of(const struct tx *tx, const char *ifname)
{
	for (unsigned int i = 0; i < tx->port_count; i++)
		if (tx->port[i].has_after && !strcmp(tx->port[i].ifname, ifname))
			return &tx->port[i];
	return NULL;
}

static const struct tx_port *drift_find_in_tx(const struct state *s, const char *id,
					      const char *ifname, struct tx *tx)
{
	/* Skips unreadable journals, and a transaction that may be undone at any moment. */
	if (drift_is_repair(s, id) || journal_read(s, id, tx, NULL) || !tx_stands(tx))
		return NULL;
	return drift_port_of(tx, ifname);
}

int drift_baseline_find(const struct state_at *at, const char *ifname, struct qos *q,
			char id[JOURNAL_ID_MAX], struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	const struct tx_port *p = NULL;
	unsigned int n = 0;
	struct state s = {0};
	int err = state_open(at, &s, e);

	if (!err)
		err = journal_ids(&s, &ids, &n, e);
	while (!err && !p && n) {
		struct tx tx = {0};

		p = drift_find_in_tx(&s, ids[--n], ifname, &tx);
		if (p) {
			*q = p->after;
			memcpy(id, tx.id, JOURNAL_ID_MAX);
		}
		tx_clear(&tx);
	}
	free(ids);
	state_close(&s);
	if (err == -ENOENT || (!err && !p))
		err = err_set(e, -ENOENT, "%s: no confirmed transaction in %s", ifname, at->dir);
	return err;
}

uint64_t drift_baseline_stamp(const struct state_at *at)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	uint64_t hash = FNV1A_START;
	unsigned int n = 0;
	struct state s;
	struct stat st;

	if (state_open(at, &s, NULL))
		return 0;
	if (journal_ids(&s, &ids, &n, NULL))
		n = 0;
	for (unsigned int i = 0; i < n; i++) {
		if (!drift_has_file(&s, ids[i], JOURNAL_FILE, &st))
			continue;
		hash = fnv1a(hash, ids[i], strlen(ids[i]));
		hash = fnv1a(hash, &st.st_size, sizeof(st.st_size));
		hash = fnv1a(hash, &st.st_mtim, sizeof(st.st_mtim));
	}
	free(ids);
	state_close(&s);
	return n ? hash : 0;
}

int drift_mark_repair(const struct state_at *at, const char *id, struct err *e)
{
	struct folder folder;
	struct state s;
	int err = state_open(at, &s, e);

	if (err)
		return err;
	err = s.tx.path ? folder_find(&s.tx, id, &folder, e)
			: err_sys(e, -ENOENT, "%s/tx", at->dir);
	if (!err) {
		err = file_write_in(&folder, REPAIR, FILE_PRIVATE, "", 0, e);
		folder_close(&folder);
	}
	state_close(&s);
	return err;
}
