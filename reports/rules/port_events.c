/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of events of a port, and their check.
 */
#include "reports/rules/port_events.h"

#include <stdio.h>
#include <string.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

#define COUNTERS_MAX 2

static const struct port_events {
	const char *rule;
	struct {
		const char *name; /* NULL: no more */
		enum metric metric;
		bool few; /* no fault while fewer than the CNPs that were handled: late ones */
	} counter[COUNTERS_MAX];
} port_events[] = {
	{"RC-ECN-007", {{"congestion notifications ignored", METRIC_CNP_IGNORED, true}}},
	{"RC-LNK-002",
	 {{"invalid RoCE packets", METRIC_RDMA_RX_ERRORS, false},
	  {"symbol errors on the wire", METRIC_SYMBOL_ERRORS, false}}},
	{"RC-LNK-004", {{"link losses", METRIC_LINK_DOWN, false}}},
	{"RC-PFC-014", {{"pause storms seen by the NIC", METRIC_PAUSE_STORM, false}}},
	{"RC-TRN-016",
	 {{"times the receive buffer was nearly full", METRIC_BUFFER_HIGH, false},
	  {"PCIe stalls", METRIC_PCI_STALLS, false}}},
};

static const struct port_events *port_events_find(const char *rule)
{
	size_t i = 0;

	while (strcmp(port_events[i].rule, rule))
		i++;
	return &port_events[i];
}

bool port_events_text(const char *rule, const struct counters *delta, char *buf, size_t size)
{
	const struct port_events *events = port_events_find(rule);
	bool grew = false;
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < COUNTERS_MAX && events->counter[i].name; i++) {
		enum metric m = events->counter[i].metric;

		if (!counters_has(delta, m, 0) || used >= size)
			continue;
		grew |= delta->value[m][0] >
			(events->counter[i].few ? delta->value[METRIC_CNP_RX][0] : 0);
		used += (size_t)snprintf(buf + used, size - used, "%s%s: %llu", used ? ", " : "",
					 events->counter[i].name, (count_t)delta->value[m][0]);
	}
	return grew;
}

/* Adds the link losses of the marking tests, which are between two phases with readings. */
static void port_events_add_marking(const struct port_ctx *s, struct counters *delta)
{
	unsigned int both = 1u << READ_QUIET_AFTER | 1u << READ_LOAD_BEFORE;
	const struct run_port *p = s->run_port;
	struct counters one;

	if (!p || (p->has & both) != both || s->c->run->continued)
		return;
	counters_delta(&p->reading[READ_QUIET_AFTER], &p->reading[READ_LOAD_BEFORE], &one, NULL);
	if (counters_has(&one, METRIC_LINK_DOWN, 0))
		delta->value[METRIC_LINK_DOWN][0] += one.value[METRIC_LINK_DOWN][0];
}

/* The sum of the phases with load: a run that was continued has idle hours between them. */
static void port_events_delta(const struct port_ctx *s, struct counters *delta)
{
	static const enum run_reading first[] = {READ_LOAD_BEFORE, READ_INCAST_BEFORE,
						 READ_CONTROL_BEFORE};
	struct counters one;

	counters_clear(delta);
	for (unsigned int i = 0; i < ARRAY_SIZE(first); i++) {
		if (!port_ctx_delta(s, first[i], &one, NULL))
			continue;
		for (unsigned int m = 0; m < METRIC_COUNT; m++) {
			delta->has[m] |= one.has[m];
			delta->def[m] = one.def[m];
			delta->value[m][0] += one.has[m] & 1 ? one.value[m][0] : 0;
		}
	}
}

PORT_CHECK(check_port_events)
{
	const char *rule = finding_rule_id(out);
	const struct port_events *events = port_events_find(rule);
	struct counters delta;
	char text[160];
	bool grew;

	port_events_delta(s, &delta);
	port_events_add_marking(s, &delta);
	grew = port_events_text(rule, &delta, text, sizeof(text));
	for (unsigned int i = 0; i < COUNTERS_MAX && events->counter[i].name; i++)
		if (counters_has(&delta, events->counter[i].metric, 0))
			evidence_counter(out, s, &delta, events->counter[i].metric, 0);
	if (text[0])
		finding_set(out, grew ? VERDICT_FAIL : VERDICT_PASS, "%s", text);
	else
		finding_set(out, VERDICT_SKIP, "this port does not count %s",
			    events->counter[0].name);
}
