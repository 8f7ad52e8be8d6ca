/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Re-check after an apply. Checks for each port of the plan: settings are still as written,
 * settings given to lldpad have reached the kernel, and the LLDP neighbour advertises the same.
 */
#include "cmd/apply/apply_verify.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "dcb/lldpad/lldp_agent.h"
#include "probe/host/lldp_peer.h"
#include "probe/host/ports.h"

struct verify_output {
	const struct verify_input *seen;
	json_t *texts; /* NULL: stdout */
	unsigned int findings;
};

/* Words of dcbx.peer.match. */
static const struct {
	uint8_t flag;
	uint64_t fields;
} matches[] = {
	{LLDP_PEER_PFC, QOS_BIT(QOS_PFC_ENABLED)},
	{LLDP_PEER_ETS, QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW)},
	{LLDP_PEER_APP, QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_APP)},
};

unsigned int apply_verify_wait_ms(const struct plans *plans, const struct profile *profile)
{
	bool agent = profile->agent == AGENT_LLDPAD_READONLY;

	for (unsigned int i = 0; i < plans->count; i++)
		agent |= plans->plan[i].lldp_agent == LLDP_AGENT_LLDPAD;
	return agent && lldp_agent_runs() ? SETTLE_MS : 0;
}

int apply_verify_check_wait(unsigned int settle_ms, unsigned int within_s, const char *from,
			    struct err *e)
{
	if (settle_ms == SETTLE_AUTO || !within_s || settle_ms / 1000 < within_s)
		return 0;
	return err_set(e, -EINVAL,
		       "--settle (%u s) must be shorter than %s (%u s), else the rollback comes "
		       "first",
		       (settle_ms + 999) / 1000, from, within_s);
}

static void verify_report(struct verify_output *s, bool is_finding, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static void verify_report(struct verify_output *s, bool is_finding, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->findings += is_finding;
	if (s->texts)
		(void)json_array_append_new(s->texts, json_string(text));
	else
		printf("%s%s\n", is_finding ? "" : "warning: ", text);
}

static const struct port *verify_find_port(const struct snapshot *s, const char *ifname)
{
	for (unsigned int i = 0; i < s->port_count; i++)
		if (!strcmp(s->port[i].netdev, ifname))
			return &s->port[i];
	return NULL;
}

static void verify_writer_text(const struct verify_output *s, enum qos_field_id id, char *buf,
			       size_t size)
{
	struct drift_writers named = *s->seen->writers;

	writers_filter(&named, QOS_BIT(id));
	buf[0] = '\0';
	if (named.count)
		snprintf(buf, size, "; %s (pid %d) is running and can set it", named.writer[0].name,
			 (int)named.writer[0].pid);
}

/* Settings that changed after they were written: steps of the new plan, except those that the first
 * plan had as unsupported. */
static void verify_report_changed(struct verify_output *s, const struct plan *now,
				  const struct plan *first)
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
		verify_writer_text(s, step->field, who, sizeof(who));
		verify_report(s, true, "%s: %s is now %s, expected %s%s", now->ifname,
			      qos_fields[step->field].key, is, wanted, who);
	}
}

/* Settings that lldpad has, but the kernel has not. */
static void verify_report_live(struct verify_output *s, const struct plan *plan,
			       const struct port *port)
{
	uint64_t diff = qos_diff(&s->seen->profile->qos, &port->qos) &
			plan_live_fields(s->seen->profile) & lldp_agent_fields();

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char is[256], wanted[256];

		if (plan->lldp_agent != LLDP_AGENT_LLDPAD || !(diff & QOS_BIT(id)))
			continue;
		qos_field_text(&port->qos, id, is, sizeof(is));
		qos_field_text(&s->seen->profile->qos, id, wanted, sizeof(wanted));
		if (s->seen->lldp_agent_runs)
			verify_report(s, true, "%s: %s is %s in lldpad, but %s in the kernel",
				      plan->ifname, qos_fields[id].key, wanted, is);
		else
			verify_report(s, false,
				      "%s: lldpad is not running: %s stays %s; lldpad sets %s when "
				      "it starts",
				      plan->ifname, qos_fields[id].key, is, wanted);
	}
}

static void verify_report_neighbour(struct verify_output *s, const char *ifname,
				    const struct port *port)
{
	bool is_finding = s->seen->profile->lldp_peer == CHOICE_FAIL;
	uint64_t fields = 0, diff;

	if (!port->lldp_name[0] && !port->lldp_port[0]) {
		verify_report(s, is_finding, "%s: no LLDPDU received from a neighbour", ifname);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(matches); i++)
		if (s->seen->profile->lldp_peer_match & matches[i].flag)
			fields |= matches[i].fields;
	diff = qos_diff(&s->seen->profile->qos, &port->lldp_qos) & fields & port->lldp_qos.has;
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char is[256], wanted[256];

		if (!(diff & QOS_BIT(id)))
			continue;
		qos_field_text(&port->lldp_qos, id, is, sizeof(is));
		qos_field_text(&s->seen->profile->qos, id, wanted, sizeof(wanted));
		verify_report(s, is_finding,
			      "%s: neighbour %s port %s advertises %s %s, expected %s", ifname,
			      port->lldp_name, port->lldp_port, qos_fields[id].key, is, wanted);
	}
}

static int verify_wait_until(uint64_t end, struct err *e)
{
	const uint64_t now = monotonic_ms(), left = end > now ? end - now : 0;
	const struct timespec t = {(time_t)(left / 1000), (long)(left % 1000) * 1000000};

	return nanosleep(&t, NULL) ? err_set(e, -EINTR, "interrupted while waiting") : 0;
}

/* A DCBX neighbour reacts to our LLDPDUs. So a running agent is asked for its neighbour after the
 * wait; without an agent this listens for LLDPDUs during the wait. */
static int verify_wait_and_listen(struct dcb *dcb, const struct profile *profile,
				  const char *interface, unsigned int ms, struct snapshot *heard,
				  struct err *e)
{
	const uint64_t end = monotonic_ms() + ms;
	bool ask = lldp_agent_runs();
	int err;

	memset(heard, 0, sizeof(*heard));
	err = ports_read(dcb, interface, LLDP_AGENT_NONE, heard, e);
	if (!err && ask)
		err = verify_wait_until(end, e);
	if (!err && profile->lldp_peer != CHOICE_SKIP)
		err = lldp_peer_listen(heard, ask ? 0 : ms, e);
	return err || ask ? err : verify_wait_until(end, e);
}

static const struct plan *verify_find_plan(const struct plans *plans, const char *ifname)
{
	for (unsigned int i = 0; i < plans->count; i++)
		if (!strcmp(plans->plan[i].ifname, ifname))
			return &plans->plan[i];
	return NULL;
}

unsigned int apply_verify_judge(const struct verify_input *seen, json_t *texts)
{
	struct verify_output s = {.seen = seen, .texts = texts};

	for (unsigned int i = 0; i < seen->first->count; i++) {
		const struct plan *plan = &seen->first->plan[i];
		const struct plan *again = verify_find_plan(seen->again, plan->ifname);
		const struct port *now = verify_find_port(seen->live, plan->ifname);
		const struct port *peer = verify_find_port(seen->heard, plan->ifname);

		if (!again) {
			verify_report(&s, true, "%s: the port no longer exists", plan->ifname);
			continue;
		}
		verify_report_changed(&s, again, plan);
		if (now)
			verify_report_live(&s, plan, now);
		if (peer && seen->profile->lldp_peer != CHOICE_SKIP)
			verify_report_neighbour(&s, plan->ifname, peer);
	}
	return s.findings;
}

int apply_verify(struct dcb *dcb, const struct plans *plans, const struct profile *profile,
		 const char *interface, unsigned int ms, json_t *texts, unsigned int *findings,
		 struct err *e)
{
	struct drift_writers writers = {0};
	struct snapshot heard, live = {0};
	struct plans again = {0};
	struct verify_input seen = {profile, plans, &again, &live, &heard, &writers, false};
	int err = verify_wait_and_listen(dcb, profile, interface, ms, &heard, e);

	*findings = 0;
	if (!err)
		err = cmd_plans_make(dcb, profile, interface, &again, e);
	if (!err)
		err = ports_read(dcb, interface, LLDP_AGENT_NONE, &live, e);
	if (!err) {
		writers_add(NULL, &writers);
		seen.lldp_agent_runs = lldp_agent_runs();
		*findings = apply_verify_judge(&seen, texts);
	}
	snapshot_clear(&heard);
	snapshot_clear(&live);
	cmd_plans_clear(&again);
	return err;
}
