/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that a port counts under load and that are faults by themselves, whoever sent: a lost
 * link, damaged packets, pause storms. Each is a rule, of fabric runs and of probes.
 *
 * Adding an event: a row in port_events.c and one in the rule table.
 */
#ifndef REPORTS_PORT_EVENTS_H
#define REPORTS_PORT_EVENTS_H

#include "probe/host/counters.h"

/* Writes the increases of the rule's counters, "link losses: 1"; empty without a counter. Returns
 * true when one of them grew. */
bool port_events_text(const char *rule, const struct counters *delta, char *buf, size_t size);

#endif
