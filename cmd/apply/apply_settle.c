/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three questions to each port of the plan: is it still as it was written, has what an agent was
 * told come into the kernel, and does the neighbour say the same.
 */
#include "cmd/apply/apply_settle.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "dcb/lldpad/agent.h"
#include "probe/host/peer.h"
#include "probe/host/ports.h"

struct settle {
	const struct settled *seen;
	json_t *told; /* NULL: stdout */
	unsigned int findings;
};

/* What dcbx.peer.match names. */
static const struct {
	uint8_t flag;
	uint64_t fields;
} matches[] = {
	{PEER_PFC, QOS_BIT(QOS_PFC_ENABLED)},
	{PEER_ETS, QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW)},
	{PEER_APP, QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_APP)},
};

unsigned int apply_settle_ms(const struct plans *plans, const struct profile *profile)
{
	bool agent = profile->agent == AGENT_LLDPAD_READONLY;

	for (unsigned int i = 0; i < plans->count; i++)
		agent |= plans->plan[i].agent == DCB_AGENT_LLDPAD;
	return agent && agent_runs() ? SETTLE_MS : 0;
}

int apply_check_settle(unsigned int settle_ms, unsigned int within_s, const char *from,
		       struct err *e)
{
	if (settle_ms == SETTLE_AUTO || !within_s || settle_ms / 1000 < within_s)
		return 0;
	return err_set(e, -EINVAL,
		       "--settle (%u s) must be shorter than %s (%u s): the undo comes first",
		       (settle_ms + 999) / 1000, from, within_s);
}

static void tell(struct settle *s, bool is_finding, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void tell(struct settle *s, bool is_finding, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->findings += is_finding;
	if (s->told)
		(void)json_array_append_new(s->told, json_string(text));
	else
		printf("%s%s\n", is_finding ? "" : "warning: ", text);
}

static const struct port *find_port(const struct snapshot *s, const char *ifname)
{
	for (unsigned int i = 0; i < s->port_count; i++)
		if (!strcmp(s->port[i].netdev, ifname))
			return &s->port[i];
	return NULL;
}

static void who_text(const struct settle *s, enum qos_field_id id, char *buf, size_t size)
{
	struct suspects named = *s->seen->suspects;

	suspects_keep(&named, QOS_BIT(id));
	buf[0] = '\0';
	if (named.count)
		snprintf(buf, size, "; %s (pid %d) runs and can set it", named.suspect[0].name,
			 (int)named.suspect[0].pid);
}

/* Written, and not so any more. Of a plan made anew, steps that the first had not for impossible.
 */
static void tell_changed(struct settle *s, const struct plan *now, const struct plan *first)
{
	uint64_t known = 0;

	for (unsigned int i = 0; i < first->count; i++)
		known |= first->step[i].cannot ? QOS_BIT(first->step[i].field) : 0;
	for (unsigned int i = 0; i < now->count; i++) {
		const struct plan_step *step = &now->step[i];
		char is[256], wanted[256], who[96];

		if (known & QOS_BIT(step->field))
			continue;
		qos_field_text(&step->from, step->field, is, sizeof(is));
		qos_field_text(&step->to, step->field, wanted, sizeof(wanted));
		who_text(s, step->field, who, sizeof(who));
		tell(s, true, "%s: %s is %s now, not %s%s", now->ifname,
		     qos_fields[step->field].key, is, wanted, who);
	}
}

/* lldpad was told, and the kernel has something else. */
static void tell_live(struct settle *s, const struct plan *plan, const struct port *port)
{
	uint64_t diff = qos_diff(&s->seen->profile->qos, &port->qos) &
			plan_live_fields(s->seen->profile) & agent_fields();

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char is[256], wanted[256];

		if (plan->agent != DCB_AGENT_LLDPAD || !(diff & QOS_BIT(id)))
			continue;
		qos_field_text(&port->qos, id, is, sizeof(is));
		qos_field_text(&s->seen->profile->qos, id, wanted, sizeof(wanted));
		if (s->seen->agent_runs)
			tell(s, true, "%s: lldpad was told %s %s, the kernel has %s", plan->ifname,
			     qos_fields[id].key, wanted, is);
		else
			tell(s, false,
			     "%s: lldpad does not run: %s is %s until it is started, then %s",
			     plan->ifname, qos_fields[id].key, is, wanted);
	}
}

static void tell_peer(struct settle *s, const char *ifname, const struct port *port)
{
	bool is_finding = s->seen->profile->peer == CHOICE_FAIL;
	uint64_t fields = 0, diff;

	if (!port->peer_name[0] && !port->peer_port[0]) {
		tell(s, is_finding, "%s: no LLDP neighbour was heard", ifname);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(matches); i++)
		if (s->seen->profile->peer_match & matches[i].flag)
			fields |= matches[i].fields;
	diff = qos_diff(&s->seen->profile->qos, &port->peer) & fields & port->peer.has;
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char is[256], wanted[256];

		if (!(diff & QOS_BIT(id)))
			continue;
		qos_field_text(&port->peer, id, is, sizeof(is));
		qos_field_text(&s->seen->profile->qos, id, wanted, sizeof(wanted));
		tell(s, is_finding, "%s: neighbour %s port %s advertises %s %s, not %s", ifname,
		     port->peer_name, port->peer_port, qos_fields[id].key, is, wanted);
	}
}

static int wait_until(uint64_t end, struct err *e)
{
	const uint64_t now = monotonic_ms(), left = end > now ? end - now : 0;
	const struct timespec t = {(time_t)(left / 1000), (long)(left % 1000) * 1000000};

	return nanosleep(&t, NULL) ? err_set(e, -EINTR, "interrupted while waiting") : 0;
}

/* A neighbour answers to what it hears: a running agent is asked at the end what it knows by then.
 * Without one the wire is listened to meanwhile. */
static int wait_and_listen(struct dcb *dcb, const struct profile *profile, const char *interface,
			   unsigned int ms, struct snapshot *heard, struct err *e)
{
	const uint64_t end = monotonic_ms() + ms;
	bool ask = agent_runs();
	int err;

	memset(heard, 0, sizeof(*heard));
	err = cmd_take_ports(dcb, interface, DCB_AGENT_NONE, heard, e);
	if (!err && ask)
		err = wait_until(end, e);
	if (!err && profile->peer != CHOICE_SKIP)
		err = peer_listen(heard, ask ? 0 : ms, e);
	return err || ask ? err : wait_until(end, e);
}

static const struct plan *find_plan(const struct plans *plans, const char *ifname)
{
	for (unsigned int i = 0; i < plans->count; i++)
		if (!strcmp(plans->plan[i].ifname, ifname))
			return &plans->plan[i];
	return NULL;
}

unsigned int apply_settle_judge(const struct settled *seen, json_t *told)
{
	struct settle s = {.seen = seen, .told = told};

	for (unsigned int i = 0; i < seen->first->count; i++) {
		const struct plan *plan = &seen->first->plan[i];
		const struct plan *again = find_plan(seen->again, plan->ifname);
		const struct port *now = find_port(seen->live, plan->ifname);
		const struct port *peer = find_port(seen->heard, plan->ifname);

		if (!again) {
			tell(&s, true, "%s: the port has gone", plan->ifname);
			continue;
		}
		tell_changed(&s, again, plan);
		if (now)
			tell_live(&s, plan, now);
		if (peer && seen->profile->peer != CHOICE_SKIP)
			tell_peer(&s, plan->ifname, peer);
	}
	return s.findings;
}

int apply_settle(struct dcb *dcb, const struct plans *plans, const struct profile *profile,
		 const char *interface, unsigned int ms, json_t *told, unsigned int *findings,
		 struct err *e)
{
	struct suspects suspects = {0};
	struct snapshot heard, live = {0};
	struct plans again = {0};
	struct settled seen = {profile, plans, &again, &live, &heard, &suspects, false};
	int err = wait_and_listen(dcb, profile, interface, ms, &heard, e);

	*findings = 0;
	if (!err)
		err = cmd_plans_make(dcb, profile, interface, &again, e);
	if (!err)
		err = cmd_take_ports(dcb, interface, DCB_AGENT_NONE, &live, e);
	if (!err) {
		suspects_add(NULL, &suspects);
		seen.agent_runs = agent_runs();
		*findings = apply_settle_judge(&seen, told);
	}
	snapshot_clear(&heard);
	snapshot_clear(&live);
	cmd_plans_clear(&again);
	return err;
}
