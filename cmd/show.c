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
#include "dcb/plan/plan.h"
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

	platform_where(place, facts, where, sizeof(where));
	printf("  Not set on %s (%s):\n    ", p->name, where);
	output_keys(stdout, 4, "", place->fields, "");
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

/* The unit of a value, or the meaning of its elements. */
static const char *show_unit(enum qos_field_id id, const char *text)
{
	const struct qos_field *f = &qos_fields[id];
	size_t unit = strlen(f->unit), key = strlen(f->key);

	if (id == QOS_TC_TSA || id == QOS_RECO_TSA)
		return "(class not listed: strict)";
	if (id == QOS_IB_MTU)
		return "bytes (the RDMA MTU now)";
	if (id == QOS_APP)
		return "(priority by EtherType, TCP or UDP port)";
	if (f->kind == QOS_KIND_PRIO_U8)
		return "(of priority 0 to 7)";
	if (!strcmp(text, "{}") || !strcmp(text, "[]"))
		return "";
	if (f->kind == QOS_KIND_PRIO_SET)
		return "(priorities)";
	return strcmp(f->key + key - unit, f->unit) ? f->unit : "";
}

/* Units of DCQCN parameters of mlx5; the others are counts, or have no documented unit. */
static const char *show_param_unit(const char *word)
{
	static const char *const units[][2] = {{"rpg_time_reset", " us"},
					       {"rpg_max_rate", " Mbit/s"},
					       {"rpg_ai_rate", " Mbit/s"},
					       {"rpg_hai_rate", " Mbit/s"},
					       {"rpg_min_rate", " Mbit/s"},
					       {"rate_to_set_on_first_cnp", " Mbit/s"},
					       {"rpg_min_dec_fac", " percent"},
					       {"dce_tcp_rtt", " us"},
					       {"rate_reduce_monitor_period", " us"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i][0], word))
			return units[i][1];
	return "";
}

static void show_field(const struct qos *q, enum qos_field_id id)
{
	const struct qos_field *f = &qos_fields[id];
	char text[1024], line[1152];
	const char *unit;
	int at;

	if (f->kind == QOS_KIND_PARAMS) {
		printf("  %s\n", f->key);
		for (unsigned int i = 0; i < QOS_PARAM_COUNT; i++)
			if (qos_param_has(&q->cc_params, i))
				printf("    %-*s %u%s\n", SHOW_VALUE_AT - 5,
				       qos_param_words[i].word, q->cc_params.value[i],
				       show_param_unit(qos_param_words[i].word));
		return;
	}
	at = printf("  %-*s ", SHOW_VALUE_AT - 3, f->key);
	qos_field_text(q, id, text, sizeof(text));
	unit = show_unit(id, text);
	snprintf(line, sizeof(line), "%s%s%s", text, *unit ? " " : "", unit);
	output_wrap(stdout, line, (unsigned int)at, SHOW_VALUE_AT, OUTPUT_COLUMNS);
	putchar('\n');
}

static void show_port(struct dcb *dcb, const struct port *p)
{
	const uint64_t cm = p->ibdev[0] ? ~p->qos.has & PLAN_RDMA_CM : 0;
	const uint64_t unknown = ~p->qos.has & ~cm & (QOS_BIT(QOS_FIELD_COUNT) - 1);
	const uint64_t points = QOS_BIT(QOS_NP_ENABLE) | QOS_BIT(QOS_RP_ENABLE);

	printf("%s", p->netdev);
	if (p->ibdev[0])
		printf(" (%s port %u)", p->ibdev, p->ib_port);
	printf("  %s", p->driver[0] ? p->driver : "driver unknown");
	if (p->speed_mbps)
		printf("  %u Mbit/s", p->speed_mbps);
	printf("  %s%s\n", p->up ? "up" : "down",
	       p->dcb ? "" : "  no DCB (the driver does not support dcbnl)");
	show_platform(dcb, p);
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (qos_has(&p->qos, id))
			show_field(&p->qos, id);
	if (unknown) {
		fputs("  ", stdout);
		output_keys(stdout, 2, "unknown (the driver does not report it): ", unknown, "");
	}
	if (cm) {
		printf("  unknown (no configfs directory rdma_cm/%s):\n", p->ibdev);
		output_keys(stdout, 0, "    ", cm, "");
	}
	if (p->qos.has & points)
		puts("  np: notification point, the receiver that sends CNPs; rp: reaction point, "
		     "the sender");
	puts("  {} []: no entry");
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
