/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a configuration: their names, the ports they are about, what must hold within one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lab/switch/config.h"

bool config_fault_at(const struct fault *fault, const char *port, const char *box)
{
	size_t n = strlen(box);

	if (!fault->port[0] || !strcmp(fault->port, port))
		return true;
	return !strncmp(fault->port, box, n) && fault->port[n] == '/' &&
	       !strcmp(fault->port + n + 1, port);
}

int config_fault_find(const struct lab_config *c, const char *name)
{
	for (unsigned int i = 0; i < c->fault_count; i++)
		if (!strcmp(c->fault[i].name, name))
			return (int)i;
	return -ENOENT;
}

void config_fault_name(const struct lab_config *c, struct fault *fault)
{
	const char *kind = qos_word_text(fault_words, fault->kind);
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s", kind);
	for (unsigned int n = 2; config_fault_find(c, name) >= 0; n++)
		snprintf(name, sizeof(name), "%s-%u", kind, n);
	memcpy(fault->name, name, sizeof(name));
}

static bool port_there(const struct lab_config *c, const struct fault *fault)
{
	for (unsigned int b = 0; b < c->box_count; b++)
		for (unsigned int i = 0; i < c->box[b].port_count; i++)
			if (config_fault_at(fault, c->port[c->box[b].first_port + i].name,
					    c->box[b].name))
				return true;
	return false;
}

bool config_fault_ok(const struct lab_config *c, const struct fault *fault, struct err *e)
{
	if (!port_there(c, fault))
		return !err_set(e, -ENOENT, "no port '%s'; a port is PORT or SWITCH/PORT",
				fault->port);
	if (fault->heal_ms && fault->heal_ms <= fault->start_ms)
		return !err_set(e, -EINVAL, "heal must be after start");
	if (fault->kind == FAULT_MTU && !fault->value)
		return !err_set(e, -EINVAL, "mtu needs a value in bytes");
	if (fault->kind == FAULT_DSCP && fault->value >= QOS_DSCPS)
		return !err_set(e, -ERANGE, "dscp needs a value from 0 to 63");
	return true;
}
