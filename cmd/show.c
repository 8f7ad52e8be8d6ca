/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck show: prints the current QoS settings of ports in profile syntax, by the field table.
 * Unknown settings are listed below the others, never omitted. Changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/show_yaml.h"
#include "dcb/lldpad/lldp_agent.h"
#include "dcb/plan/platform.h"
#include "probe/host/ports.h"

#define SHOW_VALUE_AT 39

static const char *interface, *device;
static bool yaml;

static const struct opt show_opts[] = {
	{"interface", 'i', OPT_STRING, &interface, .arg = "IFACE",
	 .help = "show only this network device"},
	{"device", 'd', OPT_STRING, &device, .arg = "DEV", .help = "show only this RDMA device"},
	{"yaml", 'y', OPT_FLAG, &yaml,
	 .help = "print the settings as a profile (applying it changes nothing)"},
	{.name = NULL},
};

static json_t *show_port_json(struct dcb *dcb, const struct port *p)
{
	struct platform_facts facts;

	platform_gather(dcb, p->netdev, p->ibdev, p->dcb, &facts);
	return json_pack("{s:s, s:s, s:i, s:s, s:b, s:o, s:o}", "netdev", p->netdev, "ibdev",
			 p->ibdev, "ib_port", p->ib_port, "driver", p->driver, "dcb", p->dcb,
			 "platform", platform_json(&facts), "qos", qos_to_json(&p->qos));
}

static int show_json(struct dcb *dcb, const struct snapshot *s)
{
	json_t *ports = json_array();
	int err = ports ? 0 : -1;

	for (unsigned int i = 0; !err && i < s->port_count; i++)
		err = json_array_append_new(ports, show_port_json(dcb, &s->port[i]));
	if (err) {
		json_decref(ports);
		return cmd_print_json(NULL);
	}
	return cmd_print_json(
		json_pack("{s:s, s:o}", "schema", "rocecheck.show/1", "ports", ports));
}

static void show_place(const struct platform *p, const struct platform_place *place,
		       const struct platform_facts *facts)
{
	char where[PLATFORM_WHERE_MAX];
	const char *comma = "    ";

	platform_where(place, facts, where, sizeof(where));
	printf("  Not set on %s (%s):\n", p->name, where);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(place->fields & QOS_BIT(id)))
			continue;
		printf("%s%s", comma, qos_fields[id].key);
		comma = ", ";
	}
	putchar('\n');
}

/* Prints the settings that are not set on this port, and the place where they are. */
static void show_platform(struct dcb *dcb, const struct port *port)
{
	struct platform_facts facts;

	platform_gather(dcb, port->netdev, port->ibdev, port->dcb, &facts);
	for (unsigned int i = 0; i < platform_count; i++) {
		const struct platform *p = &platforms[i];

		for (unsigned int k = 0; p->is(&facts) && k < PLATFORM_PLACES; k++)
			if (p->place[k].fields)
				show_place(p, &p->place[k], &facts);
	}
}

/* The unit of a value, or the meaning of the elements of a list. */
static const char *show_unit(const struct qos_field *f, const char *text)
{
	if (!strcmp(text, "{}") || !strcmp(text, "[]"))
		return "";
	if (f->kind == QOS_KIND_PRIO_U8)
		return "(of priority 0 to 7)";
	return f->kind == QOS_KIND_PRIO_SET ? "(priorities)" : f->unit;
}

static void show_field(const struct qos *q, enum qos_field_id id)
{
	const struct qos_field *f = &qos_fields[id];
	char text[1024], line[1152];
	const char *unit;
	int at = printf("  %-*s ", SHOW_VALUE_AT - 3, f->key);

	qos_field_text(q, id, text, sizeof(text));
	unit = show_unit(f, text);
	snprintf(line, sizeof(line), "%s%s%s", text, *unit ? " " : "", unit);
	output_wrap(stdout, line, (unsigned int)at, SHOW_VALUE_AT, OUTPUT_COLUMNS);
	putchar('\n');
}

static void show_unknown(const struct qos *q)
{
	const char *comma = "";
	unsigned int at = 0;

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char text[80];

		if (qos_has(q, id))
			continue;
		if (!*comma)
			at = (unsigned int)printf("  unknown (the driver does not report it):");
		else
			at += (unsigned int)printf(",");
		comma = ",";
		snprintf(text, sizeof(text), " %s", qos_fields[id].key);
		if (at + strlen(text) > OUTPUT_COLUMNS - 1)
			at = (unsigned int)printf("\n   ") - 1;
		at += (unsigned int)printf("%s", text);
	}
	if (*comma)
		putchar('\n');
}

static void show_port(struct dcb *dcb, const struct port *p)
{
	const uint64_t points = QOS_BIT(QOS_NP_ENABLE) | QOS_BIT(QOS_RP_ENABLE);

	printf("%s", p->netdev);
	if (p->ibdev[0])
		printf(" (%s port %u)", p->ibdev, p->ib_port);
	printf("  %s", p->driver[0] ? p->driver : "driver unknown");
	if (p->speed_mbps)
		printf("  %u Mb/s", p->speed_mbps);
	printf("  %s%s\n", p->up ? "up" : "down",
	       p->dcb ? "" : "  no DCB (the driver does not support dcbnl)");
	show_platform(dcb, p);
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (qos_has(&p->qos, id))
			show_field(&p->qos, id);
	show_unknown(&p->qos);
	if (p->qos.has & points)
		puts("  np: notification point, the receiver that sends CNPs; rp: reaction point, "
		     "the sender");
}

/* Adds the settings that only lldpad has. */
static void show_add_lldpad(struct snapshot *s)
{
	for (unsigned int i = 0; i < s->port_count; i++) {
		struct qos agent = {0};

		if (!s->port[i].dcb || lldp_agent_read(s->port[i].netdev, &agent, NULL))
			continue;
		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			if (lldp_agent_own_fields() & QOS_BIT(id))
				qos_copy_field(&s->port[i].qos, &agent, id);
	}
}

static int run_show(int argc, char **argv)
{
	struct snapshot s;
	struct err e = {0};
	struct dcb *dcb;
	int err;

	if (argc)
		return cmd_usage(&cmd_show, "unexpected operand '%s'", argv[0]);
	if (yaml && globals->json)
		return cmd_usage(&cmd_show, "--yaml or --json, not both");
	if (interface && device)
		return cmd_usage(&cmd_show, "--interface or --device, not both");
	err = dcb_open(NULL, &dcb, &e);
	if (err)
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	/* A profile states desired settings: those configured in lldpad, not its operational ones.
	 */
	err = ports_read(dcb, interface ? interface : device,
			 yaml && lldp_agent_sets() ? LLDP_AGENT_LLDPAD : LLDP_AGENT_NONE, &s, &e);
	if (!err && !yaml && lldp_agent_runs())
		show_add_lldpad(&s);
	if (err) {
		dcb_close(dcb);
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (yaml)
		err = show_yaml(&s, stdout, &e) ? cmd_fail(EXIT_USAGE, &e) : EXIT_OK;
	else if (globals->json)
		err = show_json(dcb, &s);
	else
		for (unsigned int i = 0; i < s.port_count; i++)
			show_port(dcb, &s.port[i]);
	snapshot_clear(&s);
	dcb_close(dcb);
	return err;
}

const struct command cmd_show = {
	.name = "show",
	.args = "",
	.help = "print the current QoS settings of RoCE ports",
	.opts = show_opts,
	.run = run_show,
};
