/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads an inventory: reads the keys by their table, expands sets of hosts, refuses duplicate
 * hosts, ports and addresses, and loads the profile. Values that become arguments of another
 * program (host names, targets, interfaces) are checked when they are read.
 */
#include "profiles/fabric.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/nodeset.h"
#include "profiles/base/units.h"
#include "profiles/yaml/yaml_schema.h"

#define TCP_RATE_MAX 4000000000u /* kbit/s */

/* clang-format off */

static const struct qos_word capture_words[] = {
	{"headers", CAPTURE_HEADERS},
	{"full", CAPTURE_FULL},
	{"off", CAPTURE_OFF},
	{NULL, 0},
};

static const struct qos_word dcbx_words[] = {
	{"expected", FABRIC_DCBX_EXPECTED},
	{"none", FABRIC_DCBX_NONE},
	{NULL, 0},
};

const struct qos_word fabric_level_words[] = {
	{"quick", LEVEL_QUICK},
	{"standard", LEVEL_STANDARD},
	{"maintenance", LEVEL_MAINTENANCE},
	{NULL, 0},
};

static const struct qos_word group_words[] = {
	{"fleet", GROUP_FLEET},
	{"rack", GROUP_RACK},
	{"rail", GROUP_RAIL},
	{NULL, 0},
};

static const struct qos_word direction_words[] = {
	{"forward", FABRIC_TCP_FORWARD},
	{"backward", FABRIC_TCP_BACKWARD},
	{"both", FABRIC_TCP_BOTH},
	{NULL, 0},
};

static const struct qos_word engine_words[] = {
	{"ssh", 0},
	{"local", 1},
	{NULL, 0},
};

/* clang-format on */

static int fabric_read_schema(struct schema_load *l, const struct schema_row *row,
			      const struct yaml_node *node, void *target)
{
	(void)row;
	(void)target;
	return schema_version(l, node, FABRIC_SCHEMA,
			      "expected '" FABRIC_SCHEMA "' for an inventory");
}

static int fabric_read_engine(struct schema_load *l, const struct schema_row *row,
			      const struct yaml_node *node, void *target)
{
	uint8_t value;
	int err = schema_word(l, node, engine_words, &value);

	(void)row;
	if (!err)
		strcpy(target, engine_words[value].word);
	return err;
}

static int fabric_report_name(struct schema_load *l, const struct yaml_node *node, const char *what,
			      const char *note)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-013", .note = note};

	return yaml_report(l->file, node, &finding, l->diags, "%s: invalid %s '%s'", l->path, what,
			   node->text);
}

/* A name or a set of names; checking the first name of a set checks them all. */
static int fabric_read_host_name(struct schema_load *l, const struct schema_row *row,
				 const struct yaml_node *node, void *target)
{
	char first[FABRIC_NAME_MAX];
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a name");
	if (nodeset_count(node->text, &e) < 0)
		return schema_refuse(l, node, &e);
	if (strlen(node->text) >= row->size || nodeset_name(node->text, 0, first, sizeof(first)) ||
	    !schema_name_ok(first))
		return fabric_report_name(l, node, "host name",
					  "expected letters, digits, '.', '_' and '-', at most 63; "
					  "the first is a letter or a digit");
	strcpy(target, node->text);
	return 0;
}

bool fabric_target_ok(const char *target)
{
	static const char others[] = "._-+:%@[]/";

	if (!target[0])
		return false;
	for (const char *c = target; *c; c++) {
		bool begins = c == target || strchr("@/[:", c[-1]);

		if (begins && *c == '-')
			return false;
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') &&
		    !(*c >= '0' && *c <= '9') && !strchr(others, *c))
			return false;
	}
	return true;
}

int fabric_launcher_split(const char *launcher, const char *host, char *buf, size_t size,
			  const char *argv[FABRIC_LAUNCHER_WORDS], struct err *e)
{
	static const char mark[] = "{host}";
	int words = 0, hosts = 0;
	size_t used = 0;

	for (const char *p = launcher + strspn(launcher, " "); *p && used < size;
	     p += strspn(p, " ")) {
		if (words == FABRIC_LAUNCHER_WORDS)
			return err_set(e, -EINVAL, "more than %d words", FABRIC_LAUNCHER_WORDS);
		argv[words++] = buf + used;
		while (*p && *p != ' ' && used < size) {
			bool here = !strncmp(p, mark, sizeof(mark) - 1);
			int n = here ? snprintf(buf + used, size - used, "%s", host) : 1;

			if (!here)
				buf[used] = *p;
			used += (size_t)n;
			hosts += here;
			p += here ? sizeof(mark) - 1 : 1;
		}
		if (used < size)
			buf[used++] = '\0';
	}
	if (used >= size)
		return err_set(e, -EINVAL, "longer than %zu characters", size - 1);
	if (!words || !strncmp(launcher + strspn(launcher, " "), mark, sizeof(mark) - 1))
		return err_set(e, -EINVAL, "expected a program first");
	return hosts ? words : err_set(e, -EINVAL, "{host} is missing");
}

/* A command with {host} that no shell reads. */
static int fabric_read_launcher(struct schema_load *l, const struct schema_row *row,
				const struct yaml_node *node, void *target)
{
	const char *argv[FABRIC_LAUNCHER_WORDS];
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-013",
		.note = "expected a command such as 'srun -w {host}'; words are "
			"separated by spaces, and there are no quotes"};
	char buf[512];
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a text");
	if (strlen(node->text) >= row->size)
		err_set(&e, -EINVAL, "longer than %zu characters", row->size - 1);
	else if (fabric_launcher_split(node->text, "h", buf, sizeof(buf), argv, &e) > 0) {
		strcpy(target, node->text);
		return 0;
	}
	return yaml_report(l->file, node, &finding, l->diags, "%s: %s in '%.120s'", l->path, e.text,
			   node->text);
}

/* user@host, an address, or a name that ssh resolves. {name} counts as a letter: the host name has
 * its own check. */
static int fabric_read_target(struct schema_load *l, const struct schema_row *row,
			      const struct yaml_node *node, void *target)
{
	char filled[sizeof(((struct fabric_host *)NULL)->target)] = "";
	const char *mark;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a text");
	mark = strstr(node->text, "{name}");
	if (strlen(node->text) < sizeof(filled))
		snprintf(filled, sizeof(filled), "%.*s%s%s",
			 (int)(mark ? mark - node->text : (ptrdiff_t)strlen(node->text)),
			 node->text, mark ? "n" : "", mark ? mark + strlen("{name}") : "");
	if (strlen(node->text) >= row->size || !fabric_target_ok(filled))
		return fabric_report_name(
			l, node, "target",
			"expected user@host, an address or a name: letters, digits and "
			"._-+:%@[]/, {name} once; no part begins with '-'");
	strcpy(target, node->text);
	return 0;
}

static int fabric_read_address(struct schema_load *l, const struct schema_row *row,
			       const struct yaml_node *node, void *target)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-015",
		.note = "expected an IPv4 or IPv6 address without prefix length",
	};
	unsigned char binary[sizeof(struct in6_addr)];

	(void)row;
	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "an IP address");
	if (inet_pton(AF_INET, node->text, binary) != 1 &&
	    inet_pton(AF_INET6, node->text, binary) != 1)
		return yaml_report(l->file, node, &finding, l->diags, "%s: invalid IP address '%s'",
				   l->path, node->text);
	/* inet_pton() takes at most 45 characters, the member holds 63. */
	strcpy(target, node->text);
	return 0;
}

/* linux net/ipv4/ip_sockglue.c leaves the ECN bits of a TCP socket alone. */
static int fabric_read_tcp_tos(struct schema_load *l, const struct schema_row *row,
			       const struct yaml_node *node, void *target)
{
	uint64_t tos;
	struct err e;
	int err = schema_number(l, node, row->min, row->max, &tos);

	if (!err && tos & 3) {
		err_set(&e, -EINVAL, "'%s' sets ECN bits, but TCP sets ECN itself", node->text);
		err_hint(&e, "use %u (DSCP * 4)", (unsigned int)tos & ~3u);
		return schema_refuse(l, node, &e);
	}
	if (!err)
		*(unsigned int *)target = (unsigned int)tos;
	return err;
}

static int fabric_read_rate(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	uint64_t rate_kbps;
	int err = schema_units(l, node, "a rate", units_rate, row->min, row->max, &rate_kbps);

	if (!err)
		*(unsigned int *)target = (unsigned int)rate_kbps;
	return err;
}

/* The id of a rule by its form: which rules exist is known to the reports. */
static int fabric_read_rule(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	const char *text = node->kind == YAML_TEXT ? node->text : "";
	size_t group = strncmp(text, "RC-", 3) ? 0 : strspn(text + 3, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "the id of a rule");
	if (!group || text[3 + group] != '-' || strspn(text + 4 + group, "0123456789") != 3 ||
	    text[7 + group] || strlen(text) >= row->size) {
		err_set(&e, -EINVAL, "invalid rule '%.40s'", text);
		err_hint(&e, "expected an id such as RC-PFC-004; 'rocecheck rules' lists them");
		return schema_refuse(l, node, &e);
	}
	strcpy(target, text);
	return 0;
}

/* A day of the calendar as YYYY-MM-DD. */
static int fabric_read_date(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = 0, month = 0, day = 0, end = 0;
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a date");
	if (strlen(node->text) + 1 == row->size && strspn(node->text, "0123456789-") == 10 &&
	    node->text[4] == '-' && node->text[7] == '-' &&
	    sscanf(node->text, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3 && end == 10 &&
	    month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
	    (month != 2 || day < 29 || (!(year % 4) && (year % 100 || !(year % 400))))) {
		strcpy(target, node->text);
		return 0;
	}
	err_set(&e, -EINVAL, "invalid date '%.40s'", node->text);
	err_hint(&e, "expected a day such as 2026-12-31");
	return schema_refuse(l, node, &e);
}

/* Checks the form: fabric_check_allow() looks for the hosts after sets are expanded. */
static int fabric_read_hosts(struct schema_load *l, const struct schema_row *row,
			     const struct yaml_node *node, void *target)
{
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a set of hosts");
	if (nodeset_count(node->text, &e) < 0)
		return schema_refuse(l, node, &e);
	if (!node->text[0] || strlen(node->text) >= row->size)
		return fabric_report_name(l, node, "set of hosts",
					  "expected a set of at most 255 characters: gpu[01-16]");
	strcpy(target, node->text);
	return 0;
}

/* Checks the type only: fabric_load_profile() loads the profile after the other keys. */
static int fabric_read_profile(struct schema_load *l, const struct schema_row *row,
			       const struct yaml_node *node, void *target)
{
	(void)row;
	(void)target;
	return node->kind == YAML_TEXT ? 0 : schema_expect(l, node, "a profile's name or path");
}

static void fabric_begin_port(void *item, const struct yaml_node *node)
{
	((struct fabric_port *)item)->line = node->line;
}

static void fabric_begin_host(void *item, const struct yaml_node *node)
{
	((struct fabric_host *)item)->line = node->line;
}

static void fabric_begin_allow(void *item, const struct yaml_node *node)
{
	((struct fabric_allow *)item)->line = node->line;
}

static void fabric_begin_tcp(void *item, const struct yaml_node *node)
{
	(void)node;
	((struct fabric_tcp *)item)->streams = 1;
}

#define AT(type, member)      .offset = offsetof(struct type, member)
#define TEXT_AT(type, member) AT(type, member), .size = sizeof(((struct type *)NULL)->member)
#define TEXT_SHAPE	      "{\"type\":\"string\"}"

/* clang-format off */

static const struct schema_row port_rows[] = {
	{.path = "interface", .kind = SCHEMA_NAME, .required = true,
	 TEXT_AT(fabric_port, interface),
	 .help = "network device"},
	{.path = "rdma", .kind = SCHEMA_NAME, TEXT_AT(fabric_port, rdma),
	 .help = "RDMA device (default: the device of the interface)"},
	{.path = "address", .kind = SCHEMA_OWN, TEXT_AT(fabric_port, address), .read = fabric_read_address,
	 .shape = TEXT_SHAPE, .help = "expected IP address of the port (default: any)"},
	{.path = "rail", .kind = SCHEMA_UINT, .max = 255, AT(fabric_port, rail),
	 .help = "rail number; ports of one rail exchange traffic (default 0)"},
	{.path = NULL},
};

static const struct schema port_keys = {
	.title = "port",
	.rows = port_rows,
	.size = sizeof(struct fabric_port),
	.begin = fabric_begin_port,
};

static const struct schema_row host_rows[] = {
	{.path = "name", .kind = SCHEMA_OWN, .required = true, TEXT_AT(fabric_host, name),
	 .read = fabric_read_host_name, .shape = TEXT_SHAPE,
	 .help = "host name in reports, or a set of hosts: gpu[01-16]"},
	{.path = "target", .kind = SCHEMA_OWN, TEXT_AT(fabric_host, target), .read = fabric_read_target,
	 .shape = TEXT_SHAPE, .help = "host name or user@host for ssh; {name} stands for the name (default: name)"},
	{.path = "agent", .kind = SCHEMA_TEXT, TEXT_AT(fabric_host, agent),
	 .help = "command that starts rocecheck on this host (default: agent of the inventory)"},
	{.path = "rack", .kind = SCHEMA_NAME, TEXT_AT(fabric_host, rack),
	 .help = "failure domain (rack name) used by failure_group: rack"},
	{.path = "ports", .kind = SCHEMA_MAPS, .required = true, AT(fabric_host, port),
	 .count_offset = offsetof(struct fabric_host, port_count), .item = &port_keys,
	 .help = "RoCE ports of the host"},
	{.path = NULL},
};

static const struct schema host_keys = {
	.title = "host",
	.rows = host_rows,
	.size = sizeof(struct fabric_host),
	.begin = fabric_begin_host,
};

static const struct schema_row tcp_rows[] = {
	{.path = "tos", .kind = SCHEMA_OWN, .max = 255, AT(fabric_tcp, tos), .read = fabric_read_tcp_tos,
	 .shape = "{\"type\":\"integer\",\"minimum\":0,\"maximum\":252,\"multipleOf\":4}",
	 .help = "ToS byte of the streams: DSCP * 4, without ECN bits (default 0)"},
	{.path = "streams", .kind = SCHEMA_UINT, .min = 1, .max = FABRIC_STREAMS_MAX,
	 AT(fabric_tcp, streams), .help = "number of streams (default 1)"},
	{.path = "rate", .kind = SCHEMA_OWN, .min = 1, .max = TCP_RATE_MAX,
	 AT(fabric_tcp, rate_kbps), .read = fabric_read_rate,
	 .shape = "{\"anyOf\":[{\"type\":\"integer\",\"minimum\":1,\"maximum\":4000000000},"
		  "{\"type\":\"string\",\"pattern\":\"^[0-9]+[kMGT]$\"}]}",
	 .help = "rate of all streams together: 500M, 10G, or kbit/s (default: no limit)"},
	{.path = "direction", .kind = SCHEMA_WORD, AT(fabric_tcp, direction), .words = direction_words,
	 .help = "direction as seen from the client of the pair (default forward)"},
	{.path = NULL},
};

static const struct schema tcp_keys = {
	.title = "tcp",
	.rows = tcp_rows,
	.size = sizeof(struct fabric_tcp),
	.begin = fabric_begin_tcp,
};

static const struct schema_row allow_rows[] = {
	{.path = "rule", .kind = SCHEMA_OWN, .required = true, TEXT_AT(fabric_allow, rule),
	 .read = fabric_read_rule,
	 .shape = "{\"type\":\"string\",\"pattern\":\"^RC-[A-Z]+-[0-9]{3}$\"}",
	 .help = "id of the rule: RC-PFC-004"},
	{.path = "hosts", .kind = SCHEMA_OWN, TEXT_AT(fabric_allow, hosts), .read = fabric_read_hosts,
	 .shape = TEXT_SHAPE,
	 .help = "a set of hosts of this inventory: gpu[01-16] (default: all, and findings without host)"},
	{.path = "reason", .kind = SCHEMA_TEXT, .required = true, TEXT_AT(fabric_allow, reason),
	 .help = "why the finding is accepted; printed with it"},
	{.path = "until", .kind = SCHEMA_OWN, .required = true, TEXT_AT(fabric_allow, until),
	 .read = fabric_read_date,
	 .shape = "{\"type\":\"string\",\"pattern\":\"^[0-9]{4}-[0-9]{2}-[0-9]{2}$\"}",
	 .help = "last day (UTC) on which a run may start with this exception"},
	{.path = NULL},
};

static const struct schema allow_keys = {
	.title = "exception",
	.rows = allow_rows,
	.size = sizeof(struct fabric_allow),
	.begin = fabric_begin_allow,
};

static const struct schema_row rows[] = {
	{.path = "schema", .kind = SCHEMA_OWN, .required = true, .read = fabric_read_schema,
	 .shape = "{\"const\":\"" FABRIC_SCHEMA "\"}", .help = "schema: " FABRIC_SCHEMA},
	{.path = "name", .kind = SCHEMA_NAME, .required = true, TEXT_AT(fabric, name),
	 .help = "name of the fabric"},
	{.path = "profile", .kind = SCHEMA_OWN, .required = true, .read = fabric_read_profile,
	 .shape = TEXT_SHAPE,
	 .help = "profile of the ports: a shipped profile, or a path relative to this file"},
	{.path = "engine", .kind = SCHEMA_OWN, TEXT_AT(fabric, engine), .read = fabric_read_engine,
	 .shape = "{\"enum\":[\"ssh\",\"local\"]}", .help = "how rocecheck starts agents (default ssh)"},
	{.path = "launcher", .kind = SCHEMA_OWN, TEXT_AT(fabric, launcher),
	 .read = fabric_read_launcher, .shape = TEXT_SHAPE,
	 .help = "command that starts agents in place of engine, with {host} for the target: "
		 "srun -w {host}"},
	{.path = "ssh.config", .kind = SCHEMA_TEXT, TEXT_AT(fabric, ssh_config),
	 .help = "configuration file for ssh -F; path relative to this file (default: the user's)"},
	{.path = "agent", .kind = SCHEMA_TEXT, TEXT_AT(fabric, agent),
	 .help = "command that starts rocecheck on the hosts (default rocecheck)"},
	{.path = "capture", .kind = SCHEMA_WORD, AT(fabric, capture), .words = capture_words,
	 .help = "packets to record (default headers)"},
	{.path = "dcbx", .kind = SCHEMA_WORD, AT(fabric, dcbx), .words = dcbx_words,
	 .help = "none: the switches send no DCBX, so that their PFC is not checked (a warning); "
		 "default expected"},
	{.path = "failure_group", .kind = SCHEMA_WORD, AT(fabric, failure_group),
	 .words = group_words,
	 .help = "apply disrupts one port at a time per group (default fleet)"},
	{.path = "hosts", .kind = SCHEMA_MAPS, .required = true, AT(fabric, host),
	 .count_offset = offsetof(struct fabric, host_count), .item = &host_keys,
	 .help = "the hosts of the fabric"},
	{.path = "allow", .kind = SCHEMA_MAPS, .max = FABRIC_ALLOW_MAX, AT(fabric, allow),
	 .count_offset = offsetof(struct fabric, allow_count), .item = &allow_keys,
	 .help = "findings that validate shows but does not count (default none)"},
	{.path = "thresholds.connect_timeout", .kind = SCHEMA_SECONDS, .min = 1, .max = 600,
	 AT(fabric, connect_timeout_s), .help = "timeout for the first answer of an agent (default 10s)"},
	{.path = "thresholds.quiet", .kind = SCHEMA_SECONDS, .min = 1, .max = 3600,
	 AT(fabric, quiet_s), .help = "length of the idle baseline (default 3s)"},
	{.path = "thresholds.traffic", .kind = SCHEMA_SECONDS, .min = 1, .max = 3600,
	 AT(fabric, traffic_s), .help = "length of each traffic phase (default 3s)"},
	{.path = "thresholds.load", .kind = SCHEMA_UINT, .min = 1, .max = 100,
	 AT(fabric, load_percent), .help = "load in percent of the link speed (default 5)"},
	{.path = "thresholds.min_load", .kind = SCHEMA_UINT, .min = 1, .max = 100,
	 AT(fabric, min_load_percent),
	 .help = "percent of the load that must be reached (default 80)"},
	{.path = "thresholds.message", .kind = SCHEMA_BYTES, .min = 1, .max = 256u << 10,
	 AT(fabric, message_bytes),
	 .help = "message size, at most 256KiB (default 64KiB)"},
	{.path = "thresholds.incast_senders", .kind = SCHEMA_UINT, .min = 2, .max = 16384,
	 AT(fabric, incast_senders),
	 .help = "ports that send to one in an incast, or all others if there are fewer (default 4)"},
	{.path = "thresholds.foreign", .kind = SCHEMA_UINT, .max = 100, AT(fabric, foreign_percent),
	 .help = "foreign traffic allowed in the idle baseline, percent of the link speed (default 1)"},
	{.path = "thresholds.tcp", .kind = SCHEMA_MAPS, .max = FABRIC_TCP_MAX, AT(fabric, tcp),
	 .count_offset = offsetof(struct fabric, tcp_count), .item = &tcp_keys,
	 .help = "TCP streams that run alongside the RDMA traffic of each pair (default none)"},
	{.path = NULL},
};

/* clang-format on */

static const struct schema fabric_keys = {
	.title = "rocecheck inventory",
	.rows = rows,
	.size = sizeof(struct fabric),
};

json_t *fabric_schema(void)
{
	return schema_document(&fabric_keys);
}

#define PORTS_MAX 64	/* of one host */
#define HOSTS_MAX 16384 /* of one file: each name is compared with all before it */

/* One inventory while it is loaded. */
struct load {
	struct yaml_file file;
	struct diags *diags;
	struct fabric *f;
};

static void fabric_clear_hosts(struct fabric *f)
{
	for (unsigned int i = 0; i < f->host_count; i++)
		free(f->host[i].port);
	free(f->host);
	f->host = NULL;
	f->host_count = 0;
}

void fabric_clear(struct fabric *f)
{
	if (!f)
		return;
	fabric_clear_hosts(f);
	free(f->tcp);
	f->tcp = NULL;
	f->tcp_count = 0;
	free(f->allow);
	f->allow = NULL;
	f->allow_count = 0;
}

int fabric_find_host(const struct fabric *f, const char *name)
{
	for (unsigned int i = 0; i < f->host_count; i++)
		if (!strcmp(f->host[i].name, name))
			return (int)i;
	return -ENOENT;
}

/* target: user@host for ssh. */
static int fabric_add_host(struct fabric *f, const char *target, struct err *e)
{
	const char *at = strrchr(target, '@');
	const char *name = at ? at + 1 : target;
	struct fabric_host *grown;

	if (!schema_name_ok(name) || strlen(name) >= FABRIC_NAME_MAX ||
	    strlen(target) >= sizeof(grown->target) || !fabric_target_ok(target))
		return err_set(e, -EINVAL, "invalid host name '%.80s'", target);
	if (fabric_find_host(f, name) >= 0)
		return err_set(e, -EINVAL, "duplicate host '%s'", name);
	grown = f->host_count < NODESET_MAX ? realloc(f->host, (f->host_count + 1) * sizeof(*grown))
					    : NULL;
	if (!grown)
		return err_set(e, -E2BIG, "too many hosts (at most %d)", NODESET_MAX);
	f->host = grown;
	grown = &f->host[f->host_count++];
	memset(grown, 0, sizeof(*grown));
	snprintf(grown->name, sizeof(grown->name), "%.63s", name);
	snprintf(grown->target, sizeof(grown->target), "%s", target);
	return 0;
}

int fabric_add_hosts(struct fabric *f, const char *list, struct err *e)
{
	char *copy = strdup(list), *next = copy, *item;
	char name[sizeof(((struct fabric_host *)NULL)->target)];
	int err = copy ? 0 : err_sys(e, -ENOMEM, "hosts");

	while (!err && (item = nodeset_next(&next))) {
		int count = nodeset_count(item, e);

		err = count < 0 ? count : 0;
		for (int i = 0; !err && i < count; i++) {
			err = nodeset_name(item, (unsigned int)i, name, sizeof(name));
			if (err)
				err_set(e, err, "'%.40s...' is too long", item);
			else
				err = fabric_add_host(f, name, e);
		}
	}
	free(copy);
	return err;
}

bool fabric_is_inventory(const char *path)
{
	const struct yaml_node *schema;
	struct yaml_file file;
	struct diags ignored;
	bool is = false;

	diags_init(&ignored);
	if (!yaml_open(path, path, &file, &ignored, NULL)) {
		schema = yaml_find(&file, "schema");
		is = schema && schema->kind == YAML_TEXT &&
		     !strncmp(schema->text, "rocecheck.fabric/", strlen("rocecheck.fabric/"));
		yaml_close(&file);
	}
	diags_clear(&ignored);
	return is;
}

static int fabric_report(struct load *l, const struct yaml_node *node, const char *rule,
			 const char *note, const char *text)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = rule, .note = note};

	return yaml_report(&l->file, node, &finding, l->diags, "%s", text);
}

static int fabric_load_profile(struct load *l, const char *path)
{
	const struct yaml_node *node = yaml_find(&l->file, "profile");
	char name[256];
	struct err e = {.code = 0};
	int err = 0;

	if (!node || node->kind != YAML_TEXT)
		return -EINVAL; /* reported with the other keys */
	if (profile_is_path(node->text))
		err = profile_relative(path, node->text, name, sizeof(name));
	else if (snprintf(name, sizeof(name), "%s", node->text) >= (int)sizeof(name))
		err = -ENAMETOOLONG;
	if (err)
		err_sys(&e, err, "%.64s...", node->text);
	else
		err = profile_load(name, &l->f->profile, l->diags, &e);
	if (!err || !e.code || err == -ENOMEM)
		return err;
	err_prefix(&e, "profile");
	return fabric_report(l, node, "RC-INP-011", e.hint[0] ? e.hint : NULL, e.text);
}

/* Replaces {name}. */
static int fabric_fill_target(struct fabric_host *host, const char *form)
{
	const char *mark = strstr(form, "{name}");
	int n;

	if (!form[0])
		n = snprintf(host->target, sizeof(host->target), "%s", host->name);
	else if (!mark)
		n = snprintf(host->target, sizeof(host->target), "%s", form);
	else
		n = snprintf(host->target, sizeof(host->target), "%.*s%s%s", (int)(mark - form),
			     form, host->name, mark + strlen("{name}"));
	return n >= (int)sizeof(host->target) ? -ENAMETOOLONG : 0;
}

/* Makes host number i of a set, with its own copy of the ports. */
static int fabric_expand_host(const struct load *l, const struct fabric_host *set, unsigned int i,
			      struct fabric_host *host)
{
	int err;

	*host = *set;
	host->port = NULL;
	err = nodeset_name(set->name, i, host->name, sizeof(host->name));
	if (!err)
		err = fabric_fill_target(host, set->target);
	if (err)
		return err;
	if (!host->agent[0])
		memcpy(host->agent, l->f->agent, sizeof(host->agent));
	host->port = calloc(set->port_count + 1, sizeof(*host->port));
	if (!host->port)
		return -ENOMEM;
	for (unsigned int p = 0; p < set->port_count; p++)
		host->port[p] = set->port[p];
	return 0;
}

static int fabric_check_host(struct load *l, const struct yaml_node *node,
			     const struct fabric *into, const struct fabric_host *host)
{
	int same = fabric_find_host(into, host->name);
	char text[128], note[48];

	if (same < 0)
		return 0;
	snprintf(text, sizeof(text), "host '%s' is given twice", host->name);
	snprintf(note, sizeof(note), "first given in line %d", into->host[same].line);
	return fabric_report(l, yaml_get(node, "name"), "RC-INP-014", note, text);
}

static int fabric_append_hosts(struct load *l, const struct yaml_node *node,
			       const struct fabric_host *set, struct fabric *into)
{
	int count = nodeset_count(set->name, NULL);
	struct fabric_host *grown;

	if (count < 1 || into->host_count + count > HOSTS_MAX)
		return fabric_report(l, node, "RC-INP-005", NULL, "more than 16384 hosts");
	grown = realloc(into->host, (into->host_count + count) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	into->host = grown;
	for (int i = 0; i < count; i++) {
		struct fabric_host *host = &into->host[into->host_count];
		int err = fabric_expand_host(l, set, i, host); /* one finding per set is enough */

		if (err == -ENAMETOOLONG)
			err = fabric_report(l, node, "RC-INP-013", NULL,
					    "name or target is too long");
		if (!err) {
			err = fabric_check_host(l, node, into, host);
			into->host_count++;
		}
		if (err)
			return err;
	}
	return 0;
}

static bool fabric_interface_used(const struct fabric_host *host, unsigned int p)
{
	for (unsigned int i = 0; i < p; i++)
		if (!strcmp(host->port[i].interface, host->port[p].interface))
			return true;
	return false;
}

/* Returns true if an earlier port has the address of port p of host h, or if host h is a set: its
 * hosts would share the address. Sets are not expanded yet. */
static bool fabric_address_used(const struct fabric *f, unsigned int h, unsigned int p)
{
	const char *address = f->host[h].port[p].address;

	if (!address[0])
		return false;
	for (unsigned int i = 0; i <= h; i++)
		for (unsigned int k = 0; k < (i < h ? f->host[i].port_count : p); k++)
			if (!strcmp(f->host[i].port[k].address, address))
				return true;
	return nodeset_count(f->host[h].name, NULL) > 1;
}

/* An interface occurs once per host, an address once per fabric. */
static int fabric_check_port(struct load *l, const struct yaml_node *node, unsigned int h,
			     unsigned int p)
{
	const struct fabric_host *host = &l->f->host[h];
	char text[192];
	int bad = 0;

	if (fabric_interface_used(host, p) &&
	    schema_stop(fabric_report(l, yaml_get(node, "interface"), "RC-INP-014", NULL,
				      "this port is given twice"),
			&bad))
		return bad;
	if (!fabric_address_used(l->f, h, p))
		return bad;
	snprintf(text, sizeof(text), "%s: another port already has address %s", host->name,
		 host->port[p].address);
	return fabric_report(l, yaml_get(node, "address"), "RC-INP-014", NULL, text);
}

static int fabric_check_ports(struct load *l, const struct yaml_node *node, unsigned int h)
{
	const struct fabric_host *host = &l->f->host[h];
	const struct yaml_node *ports = yaml_get(node, "ports");
	int bad = 0;

	if (!host->port_count)
		return fabric_report(l, ports, "RC-INP-006", NULL,
				     "a host needs at least one port");
	if (host->port_count > PORTS_MAX)
		return fabric_report(l, ports, "RC-INP-005", NULL,
				     "more than 64 ports on one host");
	for (unsigned int p = 0; p < host->port_count; p++)
		if (schema_stop(fabric_check_port(l, yaml_item(ports, p), h, p), &bad))
			return bad;
	return bad;
}

/* Replaces each set of hosts by its hosts. */
static int fabric_expand_hosts(struct load *l)
{
	const struct yaml_node *hosts = yaml_find(&l->file, "hosts");
	struct fabric expanded = {.host = NULL};
	int bad = 0;

	if (!l->f->host_count)
		return fabric_report(l, hosts, "RC-INP-006", NULL,
				     "a fabric needs at least one host");
	if (l->f->host_count > HOSTS_MAX)
		return fabric_report(l, hosts, "RC-INP-005", NULL, "more than 16384 hosts");
	for (unsigned int i = 0; i < l->f->host_count; i++) {
		const struct yaml_node *node = yaml_item(hosts, i);

		if (schema_stop(fabric_check_ports(l, node, i), &bad) ||
		    schema_stop(fabric_append_hosts(l, node, &l->f->host[i], &expanded), &bad))
			break;
	}
	if (bad) {
		fabric_clear_hosts(&expanded);
		return bad;
	}
	fabric_clear_hosts(l->f);
	l->f->host = expanded.host;
	l->f->host_count = expanded.host_count;
	return 0;
}

/* Every host of an exception is in the inventory: a wrong name would allow nothing, silently.
 * Counts the hosts of the set first, which is faster than looking for each name. A set that has a
 * name twice needs the search too, which begins behind the host found last. */
static int fabric_check_allow(struct load *l, const struct yaml_node *node,
			      const struct fabric_allow *allow)
{
	unsigned int count = allow->hosts[0] ? (unsigned int)nodeset_count(allow->hosts, NULL) : 0;
	unsigned int found = 0, at = 0, n = l->f->host_count, k;
	char text[96], name[sizeof(allow->hosts) + 32]; /* a set is longer than its names */

	for (unsigned int i = 0; i < n && count; i++)
		found += nodeset_has(allow->hosts, l->f->host[i].name);
	for (unsigned int i = 0; i < count && found < count; i++) {
		(void)nodeset_name(allow->hosts, i, name, sizeof(name));
		for (k = 0; k < n && strcmp(l->f->host[(at + k) % n].name, name);)
			k++;
		at = (at + k + 1) % n;
		if (k < n)
			continue;
		snprintf(text, sizeof(text), "unknown host '%.64s'", name);
		return fabric_report(l, yaml_get(node, "hosts"), "RC-INP-017",
				     "expected hosts of this inventory", text);
	}
	return 0;
}

static int fabric_check_exceptions(struct load *l)
{
	const struct yaml_node *list = yaml_find(&l->file, "allow");
	int bad = 0;

	for (unsigned int i = 0; i < l->f->allow_count; i++)
		if (schema_stop(fabric_check_allow(l, yaml_item(list, i), &l->f->allow[i]), &bad))
			break;
	return bad;
}

/* Paths in the inventory are relative to its folder. */
static int fabric_resolve_ssh_config(struct load *l, const char *path)
{
	char config[sizeof(l->f->ssh_config)];

	if (!l->f->ssh_config[0])
		return 0;
	if (profile_relative(path, l->f->ssh_config, config, sizeof(config)))
		return fabric_report(l, yaml_find(&l->file, "ssh.config"), "RC-INP-013", NULL,
				     "ssh.config: the path is too long");
	strcpy(l->f->ssh_config, config);
	return 0;
}

/* errors: number of errors before the file was opened. Sets of hosts are expanded only without
 * errors: the expansion needs a node for each host. */
static int fabric_load_tree(struct load *l, const char *path, size_t errors)
{
	int err = schema_load_map(&fabric_keys, &l->file, l->file.root, l->f, l->diags);

	if (!err && l->diags->errors == errors)
		err = fabric_expand_hosts(l);
	if (!err && l->diags->errors == errors)
		err = fabric_check_exceptions(l);
	if (!err)
		err = fabric_resolve_ssh_config(l, path);
	if (!err || err == -EINVAL)
		err = fabric_load_profile(l, path);
	if (!err && l->diags->errors > errors)
		err = -EINVAL;
	return err;
}

int fabric_load(const char *path, struct fabric *f, struct diags *diags, struct err *e)
{
	struct fabric loaded = {
		.engine = "ssh",
		.agent = "rocecheck",
		.capture = CAPTURE_HEADERS,
		.connect_timeout_s = 10,
		.quiet_s = 3,
		.traffic_s = 3,
		.level = LEVEL_STANDARD,
		.load_percent = 5,
		.message_bytes = 65536,
		.min_load_percent = 80,
		.incast_senders = 4,
		.foreign_percent = 1,
	};
	struct load l = {.diags = diags, .f = &loaded};
	size_t errors = diags->errors;
	int err;

	if (snprintf(loaded.path, sizeof(loaded.path), "%s", path) >= (int)sizeof(loaded.path))
		return err_sys(e, -ENAMETOOLONG, "%.64s...", path);
	err = yaml_open(path, path, &l.file, diags, e);
	if (err)
		return err;
	err = fabric_load_tree(&l, path, errors);
	yaml_close(&l.file);
	if (!err && diags->errors > errors)
		err = -EINVAL;
	if (err) {
		fabric_clear(&loaded);
		return err == -EINVAL ? err : err_sys(e, err, "%s", path);
	}
	*f = loaded;
	return 0;
}
