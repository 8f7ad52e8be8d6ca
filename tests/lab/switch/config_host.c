/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts of a configuration: which guests a topology needs, with how many wires, and what they make
 * of them. The switches know no hosts; `lab` asks before it boots or resets any.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lab/switch/config.h"

bool config_has_wire(const struct lab_config *c, const char *host, const char *wire)
{
	char remote[PATH_SIZE + NAME_SIZE];

	snprintf(remote, sizeof(remote), "%s.%s", host, wire);
	for (unsigned int i = 0; i < c->port_count; i++)
		if (!strcmp(c->port[i].remote, remote))
			return true;
	return false;
}

static const char *bond_of(const struct lab_config *c, const char *host)
{
	for (unsigned int i = 0; i < c->host_count; i++)
		if (!strcmp(c->host[i].name, host) && c->host[i].bond)
			return qos_word_text(bond_words, c->host[i].bond);
	return "-";
}

int config_print_hosts(const struct lab_config *c, FILE *out, struct err *e)
{
	for (unsigned int i = 0; i < c->port_count; i++) {
		const char *dot = strchr(c->port[i].remote, '.');
		char host[PATH_SIZE];

		if (!dot)
			continue;
		snprintf(host, sizeof(host), "%.*s", (int)(dot - c->port[i].remote),
			 c->port[i].remote);
		if (!strcmp(dot, ".b.wire") && !config_has_wire(c, host, "wire"))
			return err_set(e, -EINVAL, "port %s: %s has no %s.wire", c->port[i].name,
				       host, host);
		if (!strcmp(dot, ".wire"))
			fprintf(out, "%s %d %s\n", host, config_has_wire(c, host, "b.wire") ? 2 : 1,
				bond_of(c, host));
	}
	return 0;
}
