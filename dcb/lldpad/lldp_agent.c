/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes each TLV in one message, so that lldpad never sends a frame with half of it. APP entries
 * are single messages: an entry with a new priority deletes the old one first, else lldpad would
 * keep both.
 */
#include "dcb/lldpad/lldp_agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dcb/kernel/backend.h"
#include "dcb/lldpad/lldpad.h"
#include "dcb/lldpad/lldpad_process.h"

#define BIT(id)	   QOS_BIT(QOS_##id)
#define ETS_FIELDS (BIT(PRIO_TC) | BIT(TC_TSA) | BIT(TC_TX_BW))
#define REC_FIELDS (BIT(RECO_PRIO_TC) | BIT(RECO_TSA) | BIT(RECO_BW))
#define APPS_MAX   (QOS_DSCPS + QOS_APPS_MAX)

/* adminStatus comes last: it starts or stops sending the other TLVs. */
static const enum lldpad_tlv tlvs[] = {LLDPAD_ETS_CFG, LLDPAD_ETS_REC, LLDPAD_PFC, LLDPAD_APP,
				       LLDPAD_NO_TLV};

uint64_t lldp_agent_own_fields(void)
{
	return BIT(ADMIN_STATUS) | BIT(ADVERTISE) | BIT(PFC_WILLING) | REC_FIELDS;
}

/* Returns the configuration file of the running lldpad, else the default one. */
static const char *lldp_agent_conf_path(struct lldpad_options *options)
{
	pid_t pid = lldpad_find_pid(NULL);

	if (pid && lldpad_read_options(NULL, pid, options) && options->conf[0])
		return options->conf;
	return LLDPAD_CONF;
}

bool lldp_agent_runs(void)
{
	return lldpad_find_pid(NULL) != 0;
}

bool lldp_agent_sets(void)
{
	struct lldpad_options options;
	pid_t pid = lldpad_find_pid(NULL);

	return pid && !(lldpad_read_options(NULL, pid, &options) && options.read_only);
}

int lldp_agent_read(const char *ifname, struct qos *q, struct err *e)
{
	struct lldpad_options options;

	return lldpad_conf_read(lldp_agent_conf_path(&options), ifname, q, e);
}

static int lldp_agent_set_apps(struct lldpad *l, const char *ifname, const struct qos *from,
			       const struct qos *to, bool remove, struct err *e)
{
	struct lldpad_arg arg[APPS_MAX];
	unsigned int n = lldpad_apps(from, to, arg, APPS_MAX);
	int err = 0;

	for (unsigned int i = 0; !err && i < n; i++)
		err = lldpad_set(l, ifname, LLDPAD_APP, &arg[i], 1, remove, e);
	return err;
}

static int lldp_agent_set(struct lldpad *l, const char *ifname, const struct qos *now,
			  const struct qos *to, uint64_t mask, struct err *e)
{
	int err = 0;

	if (mask & LLDPAD_APP_FIELDS)
		err = lldp_agent_set_apps(l, ifname, now, to, true, e);
	if (!err && mask & LLDPAD_APP_FIELDS)
		err = lldp_agent_set_apps(l, ifname, to, now, false, e);
	for (size_t i = 0; !err && i < ARRAY_SIZE(tlvs); i++) {
		struct lldpad_arg arg[LLDPAD_ARGS_MAX];
		unsigned int n = lldpad_args(to, mask, tlvs[i], arg);

		if (n)
			err = lldpad_set(l, ifname, tlvs[i], arg, n, false, e);
	}
	return err;
}

static int lldp_agent_set_running(pid_t pid, const char *ifname, const struct qos *now,
				  const struct qos *to, uint64_t mask, struct err *e)
{
	struct lldpad *l;
	int err = lldpad_open(pid, 0, &l, e);

	if (err)
		return err;
	err = lldp_agent_set(l, ifname, now, to, mask, e);
	lldpad_close(l);
	if (err)
		err_prefix(e, "%s", ifname);
	return err;
}

static int lldp_agent_write(const char *ifname, const struct qos *q, uint64_t mask, struct err *e)
{
	struct lldpad_options options;
	const char *path = lldp_agent_conf_path(&options);
	struct qos now = {0}, to;
	pid_t pid;
	int err = lldpad_conf_read(path, ifname, &now, e);

	if (err)
		return err;
	to = now;
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (mask & QOS_BIT(id))
			qos_copy_field(&to, q, id);
	/* ETS fields depend on each other: shares sum to 100, classes must exist. */
	mask |= mask & ETS_FIELDS ? ETS_FIELDS : 0;
	mask |= mask & REC_FIELDS ? REC_FIELDS : 0;
	if (mask & LLDPAD_APP_FIELDS && lldpad_app_count(&to) > LLDPAD_APPS_MAX)
		return err_set(e, -ENOSPC, "%s: lldpad has %d APP entries, not %u", ifname,
			       LLDPAD_APPS_MAX, lldpad_app_count(&to));
	pid = lldpad_find_pid(NULL);
	if (pid)
		return lldp_agent_set_running(pid, ifname, &now, &to, mask, e);
	err = lldpad_conf_write(path, ifname, &to, mask, e);
	/* An lldpad started meanwhile has read the old file and will overwrite the new one. */
	pid = err ? 0 : lldpad_find_pid(NULL);
	if (pid)
		err = lldp_agent_set_running(pid, ifname, &now, &to, mask, e);
	return err;
}

const struct lldp_agent_backend dcb_lldpad = {
	.fields = lldp_agent_fields,
	.read = lldp_agent_read,
	.write = lldp_agent_write,
};

int lldp_agent_neighbour(const char *ifname, uint8_t *bytes, size_t size, size_t *len,
			 struct err *e)
{
	pid_t pid = lldpad_find_pid(NULL);
	struct lldpad *l;
	int err;

	*len = 0;
	if (!pid)
		return 0;
	err = lldpad_open(pid, 0, &l, e);
	if (err)
		return err;
	err = lldpad_neighbour(l, ifname, bytes, size, len, e);
	lldpad_close(l);
	return err;
}
