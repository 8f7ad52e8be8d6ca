/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restores former values: first the planned fields, last first; then all that still differ, in the
 * driver's order, because a driver may need it (bnxt: ETS before PFC) or may have changed more
 * fields (ice: the first DSCP entry resets ETS and PFC). A final readback decides.
 */
#include "dcb/apply/tx.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "dcb/kernel/backend.h"
#include "dcb/lldpad/lldp_agent.h"

#define LIVE_TRIES    15
#define LIVE_PAUSE_MS 200

/* Returns the fields to restore: the planned ones and those that drivers change with them. */
static uint64_t tx_scope(const struct tx *tx, unsigned int port)
{
	const struct tx_port *p = &tx->port[port];
	uint64_t fields = tx_planned(tx, port), along = 0;

	/* mlx5 also derives its buffers from the MTU. */
	if (fields & (dcb_dcbnl_fields() | QOS_BIT(QOS_MTU)))
		along = dcb_dcbnl_fields();
	if (fields & QOS_BIT(QOS_ROCE_ENABLE))
		along |= driver_quirk_find(p->driver)->roce_resets;
	/* In a done transaction other fields may have been changed by another program since. */
	if (p->has_after)
		along = qos_unequal(&p->before, &p->after, along);
	return fields | along;
}

/* Reads the current settings. A missing RDMA device removes only the RDMA fields. */
static int tx_read_now(struct dcb *dcb, const struct tx_port *p, struct qos *now, struct err *e)
{
	struct dcb_port port = tx_port_names(p), alone = {p->ifname, NULL, 0, p->lldp_agent};
	bool has_dcb;
	int err = dcb_read_port(dcb, &port, now, &has_dcb, e);

	if (err && p->ibdev[0] && !dcb_read_port(dcb, &alone, now, &has_dcb, NULL))
		err = 0;
	return err;
}

/* Fields of mask with a known former value that differ from it now, or cannot be read any more. */
static uint64_t tx_differing(const struct tx_port *p, uint64_t mask, const struct qos *now)
{
	return qos_unequal(&p->before, now, mask & p->before.has);
}

/* Writes one object if it differs. */
static int tx_restore_object(struct dcb *dcb, const struct tx_port *p, uint64_t mask, struct err *e)
{
	struct dcb_port port = tx_port_names(p);
	struct qos now;
	uint64_t diff;
	int err = tx_read_now(dcb, p, &now, e);

	if (err)
		return err;
	diff = tx_differing(p, mask, &now);
	return diff ? dcb_restore(dcb, &port, &p->before, diff, e) : 0;
}

/* The second pass over a port; the final readback finds errors of single objects. */
static void tx_restore_rest(struct dcb *dcb, const struct tx_port *p, uint64_t scope)
{
	enum qos_field_id order[QOS_FIELD_COUNT];

	driver_order(driver_quirk_find(p->driver), order);
	for (unsigned int i = 0; i < QOS_FIELD_COUNT; i++) {
		uint64_t mask = dcb_object_fields(order[i]) & scope;

		if (mask)
			(void)tx_restore_object(dcb, p, mask, NULL);
	}
}

/* Names all fields that are not restored, each with its former value. */
static int tx_verify_port(struct dcb *dcb, const struct tx_port *p, uint64_t scope, uint64_t steps,
			  struct err *e)
{
	uint64_t unknown, diff;
	char list[ERR_TEXT_MAX - 32] = "";
	struct qos now;
	size_t used = 0;
	int err = tx_read_now(dcb, p, &now, e);

	if (err)
		return err;
	diff = tx_differing(p, scope, &now);
	/* A field that is unreadable both before and now was not written. */
	unknown = steps & ~p->before.has & now.has;
	for (int id = 0; id < QOS_FIELD_COUNT && used < sizeof(list); id++) {
		const char *separator = used ? "; " : "";
		char before[160];

		qos_field_text(&p->before, id, before, sizeof(before));
		if (unknown & QOS_BIT(id))
			used += snprintf(list + used, sizeof(list) - used,
					 "%sthe former value of %s is unknown", separator,
					 qos_fields[id].key);
		else if (diff & QOS_BIT(id))
			used += snprintf(list + used, sizeof(list) - used,
					 "%s%s is not restored to %s", separator,
					 qos_fields[id].key, before);
	}
	if (!used)
		return 0;
	return err_set(e, unknown ? -ENODATA : -EREMOTEIO, "%s: %s", p->ifname, list);
}

/* An earlier rollback may have been killed after its tx_remove_cm_dir(). The final readback finds
 * errors. */
static void tx_create_cm_dir(struct dcb *dcb, const struct tx_port *p)
{
	struct dcb_port port = tx_port_names(p);
	bool made;

	if (p->cm_dir_made)
		(void)dcb->backend->cm_dir_create(dcb, &port, &made, NULL);
}

static int tx_remove_cm_dir(struct dcb *dcb, const struct tx_port *p, struct err *e)
{
	struct dcb_port port = tx_port_names(p);

	return p->cm_dir_made ? dcb->backend->cm_dir_remove(dcb, &port, e) : 0;
}

/* The last step of a port that wrote any of these fields, from 1; 0 for none. */
static unsigned int tx_last_step(const struct tx *tx, unsigned int port, uint64_t fields)
{
	for (unsigned int i = tx->step_count; i-- > 0;)
		if (tx->step[i].port == port && tx->step[i].fields & fields)
			return i + 1;
	return 0;
}

/*
 * If APP entries were written after PFC, an undo restores them before PFC, and traffic of a
 * priority could be paused meanwhile. So PFC of priorities that lose it is switched off first.
 */
static void tx_clear_pfc(struct dcb *dcb, const struct tx *tx, unsigned int port)
{
	const struct tx_port *p = &tx->port[port];
	struct dcb_port names = tx_port_names(p);
	unsigned int pfc = tx_last_step(tx, port, QOS_BIT(QOS_PFC_ENABLED));
	unsigned int app = tx_last_step(
		tx, port, QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_APP));
	struct qos now;

	if (!pfc || pfc > app || !qos_has(&p->before, QOS_PFC_ENABLED) ||
	    tx_read_now(dcb, p, &now, NULL) || !(now.pfc_enabled & ~p->before.pfc_enabled))
		return;
	now.pfc_enabled &= p->before.pfc_enabled;
	(void)dcb->backend->write(dcb, &names, &now, QOS_BIT(QOS_PFC_ENABLED), NULL);
}

/* Returns true when writing or restoring these fields flaps or resets the port. */
static bool tx_disrupts(const struct tx_port *p, uint64_t fields)
{
	const struct driver_quirk *quirk = driver_quirk_find(p->driver);

	return fields & (quirk->flaps | quirk->resets);
}

static void tx_await_port(struct dcb *dcb, struct tx_port *p, unsigned int wait_s)
{
	struct dcb_port port = tx_port_names(p);
	struct port_state now;

	p->missing = NULL;
	if (!port_wait(dcb, &port, &p->state_before, wait_s, NULL))
		return;
	port_state_read(dcb, &port, &now);
	p->missing = port_state_missing(&p->state_before, &now);
}

/*
 * Restores the kernel settings of the agent's fields by dcbnl, too: an agent that has ended, or
 * sends nothing, does not restore them. All its fields, because an agent that is switched to
 * sending or willing also sets fields that were not written. A running agent may write at the same
 * time.
 */
static int tx_restore_live(struct dcb *dcb, const struct tx_port *p, uint64_t written,
			   struct err *e)
{
	uint64_t scope = written & lldp_agent_fields() ? lldp_agent_fields() & dcb_dcbnl_fields()
						       : 0;
	struct tx_port kernel = *p;
	int err = 0;

	scope &= p->live.has;
	kernel.lldp_agent = LLDP_AGENT_NONE;
	kernel.before = p->live;
	for (unsigned int i = 0; scope && i < LIVE_TRIES; i++) {
		if (i)
			(void)poll(NULL, 0, LIVE_PAUSE_MS);
		tx_restore_rest(dcb, &kernel, scope);
		err = tx_verify_port(dcb, &kernel, scope, 0, e);
		if (!err)
			break;
	}
	return err;
}

static int tx_restore_port(struct dcb *dcb, struct tx *tx, unsigned int port, unsigned int wait_s,
			   struct err *e)
{
	struct tx_port *p = &tx->port[port];
	uint64_t scope = tx_scope(tx, port), steps = tx_planned(tx, port);
	struct dcb_port names = tx_port_names(p);
	int err;

	if (!steps) /* the port may be missing */
		return tx_remove_cm_dir(dcb, p, e);
	if (tx_disrupts(p, steps) && !p->has_state_before)
		port_state_read(dcb, &names, &p->state_before);
	tx_clear_pfc(dcb, tx, port);
	for (unsigned int i = tx->step_count; i-- > 0;)
		if (tx->step[i].port == port) /* errors are found below */
			(void)tx_restore_object(dcb, p, tx->step[i].fields, NULL);
	tx_restore_rest(dcb, p, scope);
	if (tx_disrupts(p, steps))
		tx_await_port(dcb, p, wait_s);
	err = tx_verify_port(dcb, p, scope, steps, e);
	/* Also when the agent's configuration is not restored. */
	if (p->lldp_agent != LLDP_AGENT_NONE) {
		int live = tx_restore_live(dcb, p, scope, err ? NULL : e);

		err = err ? err : live;
	}
	return err ? err : tx_remove_cm_dir(dcb, p, e);
}

int tx_restore(struct dcb *dcb, struct tx *tx, unsigned int wait_link_s, struct err *e)
{
	int result = 0;

	for (unsigned int i = 0; i < tx->port_count; i++)
		tx_create_cm_dir(dcb, &tx->port[i]);
	for (unsigned int i = tx->port_count; i-- > 0;) {
		struct err one = {0};
		int err = tx_restore_port(dcb, tx, i, wait_link_s, &one);

		if (err && !result) {
			result = err;
			if (e)
				*e = one;
		}
	}
	return result;
}

int tx_read_after(struct dcb *dcb, struct tx *tx, struct err *e)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < tx->port_count; i++) {
		struct tx_port *p = &tx->port[i];
		struct dcb_port names = tx_port_names(p);
		bool has_dcb;

		err = dcb_read_port(dcb, &names, &p->after, &has_dcb, e);
		p->has_after = !err;
	}
	return err;
}

int tx_compare_after(struct dcb *dcb, const struct tx *tx, struct err *e)
{
	for (unsigned int i = 0; i < tx->port_count; i++) {
		const struct tx_port *p = &tx->port[i];
		uint64_t fields = tx_planned(tx, i);
		struct qos now;
		int err = tx_read_now(dcb, p, &now, e);

		if (err)
			return err;
		for (int id = 0; id < QOS_FIELD_COUNT; id++) {
			char is[160], left[160];

			if (!(fields & QOS_BIT(id)) || qos_field_equal(&p->after, &now, id))
				continue;
			qos_field_text(&now, id, is, sizeof(is));
			qos_field_text(&p->after, id, left, sizeof(left));
			return err_set(e, -ESTALE, "%s: %s is %s, expected %s", p->ifname,
				       qos_fields[id].key, is, left);
		}
	}
	return 0;
}
