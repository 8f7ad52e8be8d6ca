/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repair of drift: the plan and the transaction of an apply, but nobody is here to ask, so a step
 * that disturbs the port is left out, and what comes back again and again is left to a person.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/apply/plan_text.h"
#include "cmd/apply/watch.h"
#include "cmd/cmd.h"
#include "dcb/apply/baseline.h"
#include "dcb/apply/plan_apply.h"

static void tell(const struct watched *p, enum watch_event event, const char *text)
{
	const struct watch_told t = {.event = event, .port = p, .text = text};

	(void)watch_tell(&t);
}

/* Once for each reason, not at every poll. */
static void hold(struct watched *p, const char *why)
{
	if (!strcmp(p->held, why))
		return;
	snprintf(p->held, sizeof(p->held), "%s", why);
	tell(p, WATCH_HELD, why);
}

static void left_text(const struct plan *plan, uint64_t left, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int id = 0; id < QOS_FIELD_COUNT && used < size; id++) {
		const char *why = "no step brings it back";

		if (!(left & QOS_BIT(id)))
			continue;
		for (unsigned int i = 0; i < plan->count; i++)
			if (plan->step[i].field == (enum qos_field_id)id && plan->step[i].cannot)
				why = plan->step[i].reason;
		used += snprintf(buf + used, size - used, "%s%s is left: %s", used ? "; " : "",
				 qos_fields[id].key, why);
	}
}

static int make_plan(struct watch *w, const struct watched *p, struct plan *plan, uint64_t *left,
		     struct err *e)
{
	struct dcb_driver_info info = {0};
	int err = dcb_driver(w->dcb, p->ifname, &info, e);

	/* A netdev without ethtool has no driver to know. */
	if (err && err != -EOPNOTSUPP)
		return err;
	watch_plan(&p->want, p->drift, &p->now, info.driver, plan, left);
	snprintf(plan->ifname, sizeof(plan->ifname), "%s", p->ifname);
	snprintf(plan->ibdev, sizeof(plan->ibdev), "%s", p->ibdev);
	plan->ib_port = p->ib_port;
	plan->beside_read_only = w->profile && w->profile->agent == AGENT_LLDPAD_READONLY;
	return 0;
}

static int run(struct watch *w, const struct plan *plan, char tx_id[JOURNAL_ID_MAX], struct err *e)
{
	enum apply_outcome outcome;
	int err = plan_apply(w->dcb, plan, 1, &(struct plan_run){.at = *w->at, .wait_link_s = 60},
			     tx_id, &outcome, e);

	if (tx_id[0] && baseline_mark_repair(w->at, tx_id, err ? NULL : e) && !err)
		err = e->code;
	return err;
}

static void read_again(struct watch *w, struct watched *p)
{
	struct qos now;
	bool has_dcb;

	if (dcb_read(w->dcb, p->ifname, p->ibdev, p->ib_port, &now, &has_dcb, NULL)) {
		p->dirty = true;
		return;
	}
	qos_copy_field(&now, &p->now, QOS_IB_MTU);
	p->now = now;
	p->drift = watch_drift(&p->want, &now);
}

static void tell_repaired(struct watched *p, const struct qos *before, uint64_t was,
			  const char *tx_id)
{
	char text[64];
	const struct watch_told t = {.event = WATCH_REPAIRED,
				     .port = p,
				     .before = before,
				     .fields = was & ~p->drift,
				     .text = text};

	snprintf(text, sizeof(text), "transaction %s", tx_id);
	(void)watch_tell(&t);
}

void watch_repair(struct watch *w, struct watched *p)
{
	char text[ERR_TEXT_MAX], tx_id[JOURNAL_ID_MAX] = "";
	struct qos before = p->now;
	uint64_t was = p->drift, left;
	struct err e = {0};
	struct plan plan;
	int err;
	const struct plans plans = {.plan = &plan, .count = 1, .privileged = true};

	if (make_plan(w, p, &plan, &left, &e) || cmd_plans_owner(&plans, &e)) {
		hold(p, e.text);
		return;
	}
	left_text(&plan, left, text, sizeof(text));
	if (left)
		hold(p, text);
	if (!plan_changes(&plan))
		return;
	if (!watch_may_repair(&p->budget, monotonic_ms())) {
		snprintf(text, sizeof(text),
			 "%u repairs in %u minutes: this port is only watched from now on",
			 WATCH_REPAIRS_MAX, WATCH_REPAIR_WINDOW_MS / 60000);
		hold(p, text);
		return;
	}
	err = run(w, &plan, tx_id, &e);
	if (err == -EBUSY && !tx_id[0]) {
		watch_take_back(&p->budget);
		hold(p, e.text);
		return;
	}
	if (err) {
		tell(p, WATCH_FAILED, e.text);
		return;
	}
	read_again(w, p);
	tell_repaired(p, &before, was, tx_id);
}
