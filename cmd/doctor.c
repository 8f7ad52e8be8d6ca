/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck doctor: takes one snapshot of ports and machine, checks it with the rules for a single
 * host, with or without a profile, and prints the environment that applications need. Reads only;
 * --listen receives LLDP and sends nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/verdict.h"
#include "dcb/kernel/dcb.h"
#include "probe/host/lldp_peer.h"
#include "probe/host/ports.h"
#include "profiles/base/text.h"
#include "reports/rules/app_env.h"

static struct verdict_options options = VERDICT_DEFAULTS;
static struct opt_list ifaces;
static const char *from, *profile_name;
static unsigned int listen_seconds;
static bool env_only;

static const struct opt doctor_opts[] = {
	{"profile", 0, OPT_STRING, &profile_name, .arg = "PROFILE",
	 .help = "profile to check against, same as operand PROFILE"},
	{"interface", 'i', OPT_LIST, &ifaces, .arg = "IFACE",
	 .help = "check only this netdev or RDMA device (repeatable)"},
	{"from", 0, OPT_STRING, &from, .arg = "FILE",
	 .help = "check a snapshot of 'rocecheck collect' instead of this host"},
	{"listen", 0, OPT_UINT, &listen_seconds, .min = 1, .max = 600, .arg = "SECONDS",
	 .help = "listen for LLDP of link partners (default off; needs CAP_NET_RAW)"},
	{"env", 0, OPT_FLAG, &env_only,
	 .help = "print only the environment variables for applications, as shell commands"},
	VERDICT_FORMAT_OPT(options),
	VERDICT_OPTS(options),
	{.name = NULL},
};

/* One host without inventory: a fabric with only a profile, and a run with one snapshot. */
struct doctor_input {
	struct fabric fabric;
	struct run run;
	struct run_host host;
};

/* Reads the named ports; those of RDMA devices are found in the snapshot of all ports. */
static int doctor_read_named(struct dcb *dcb, struct snapshot *s, struct err *e)
{
	int err = snapshot_read(dcb, NULL, 0, s, e);

	for (unsigned int i = 0; !err && i < ifaces.count; i++) {
		if (snapshot_port(s, ifaces.item[i]))
			continue;
		snapshot_clear(s);
		return snapshot_read(dcb, ifaces.item, ifaces.count, s, e);
	}
	return err;
}

static void doctor_note_unselected(const struct port *p, const struct profile *profile)
{
	if (globals->quiet)
		return;
	fputs("rocecheck: note: ", stderr);
	text_print(stderr, p->netdev[0] ? p->netdev : p->ibdev, TEXT_FIELD);
	fputs(" is not checked: not selected by profile ", stderr);
	text_print(stderr, profile->name, TEXT_FIELD);
	fputc('\n', stderr);
}

/* Reads every RDMA port that the profile selects, by its own name or that of its bond. */
static int doctor_read_all(struct dcb *dcb, const struct profile *profile, struct snapshot *s,
			   struct err *e)
{
	unsigned int kept = 0;
	int err = snapshot_read(dcb, NULL, 0, s, e);

	if (err)
		return err;
	err = ports_resolve_lower(dcb, s, e);
	for (unsigned int i = 0; !err && i < s->port_count; i++) {
		if (!ports_profile_selects(dcb, profile, s->port[i].netdev)) {
			doctor_note_unselected(&s->port[i], profile);
			continue;
		}
		if (kept != i)
			s->port[kept] = s->port[i];
		kept++;
	}
	if (err)
		snapshot_clear(s);
	else
		s->port_count = kept;
	return err;
}

static int doctor_read(const struct profile *profile, struct snapshot *s, struct err *e)
{
	struct dcb *dcb;
	int err = dcb_open(NULL, &dcb, e);

	if (err)
		return err;
	err = ifaces.count ? doctor_read_named(dcb, s, e) : doctor_read_all(dcb, profile, s, e);
	dcb_close(dcb);
	if (err)
		return err;
	snapshot_read_host(NULL, s);
	if (listen_seconds)
		err = lldp_peer_listen(s, listen_seconds * 1000, e);
	if (err)
		snapshot_clear(s);
	return err;
}

static void doctor_add_port(struct run_host *h, const char *netdev)
{
	struct run_port *p = &h->port[h->port_count++];

	snprintf(p->netdev, sizeof(p->netdev), "%.15s", netdev);
}

/* Lists the ports to check, as an inventory does: a named port that is missing is a finding. In a
 * snapshot file the profile selects the ports. */
static int doctor_list_ports(struct run_host *h)
{
	h->port = calloc(ifaces.count + h->before.port_count + 1, sizeof(*h->port));
	if (!h->port)
		return -ENOMEM;
	for (unsigned int i = 0; i < ifaces.count; i++) {
		const struct port *p = snapshot_port(&h->before, ifaces.item[i]);

		doctor_add_port(h, p && p->netdev[0] ? p->netdev : ifaces.item[i]);
	}
	for (unsigned int i = 0; !from && !ifaces.count && i < h->before.port_count; i++)
		if (h->before.port[i].netdev[0] && h->before.port[i].kind != PORT_ETHERNET)
			doctor_add_port(h, h->before.port[i].netdev);
	return 0;
}

static int doctor_input_load(struct doctor_input *p)
{
	struct run_host *h = &p->host;
	struct err e = {0};
	int err = from ? snapshot_load(from, &h->before, &e)
		       : doctor_read(&p->fabric.profile, &h->before, &e);

	if (err)
		return cmd_fail(from ? EXIT_USAGE : EXIT_ENVIRONMENT, &e);
	snprintf(h->name, sizeof(h->name), "%s", h->before.host);
	snprintf(p->fabric.name, sizeof(p->fabric.name), "%s", h->before.host);
	h->reached = h->has_before = true;
	p->run.host = h;
	p->run.host_count = 1;
	p->run.started_unix_ns = p->run.ended_unix_ns = h->before.read_unix_ns;
	if (doctor_list_ports(h)) {
		err_sys(&e, -ENOMEM, "doctor");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	return EXIT_OK;
}

static bool doctor_heard_lldp(const struct doctor_input *p)
{
	for (unsigned int i = 0; from && i < p->host.before.port_count; i++)
		if (p->host.before.port[i].lldp_qos.has || p->host.before.port[i].lldp_name[0])
			return true;
	return listen_seconds > 0;
}

static int doctor_print_env(const struct app_env *env)
{
	if (globals->json)
		return cmd_print_json(json_pack("{s:s, s:o}", "schema", "rocecheck.env/1",
						"environment", app_env_json(env)));
	app_env_print(env, stdout);
	return EXIT_OK;
}

static int doctor_judge(const struct doctor_input *p, const struct app_env *env)
{
	struct findings findings = {0};
	struct report report = {
		.fabric = &p->fabric,
		.run = &p->run,
		.findings = &findings,
		.alone = true,
		.environment = env,
	};
	struct err e = {0};
	int code;

	if (rules_run_host(&p->fabric, &p->run, doctor_heard_lldp(p), &findings)) {
		findings_clear(&findings);
		err_sys(&e, -ENOMEM, "rules");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	code = verdict_print(&options, verdict_writer(&options), EXIT_OK, &report);
	findings_clear(&findings);
	return code;
}

static int doctor_check_options(int argc, char **argv)
{
	if (argc > 1)
		return cmd_usage(&cmd_doctor, "unexpected argument '%s'", argv[1]);
	if (argc && profile_name)
		return cmd_usage(&cmd_doctor, "a profile and --profile: give one");
	if (from && listen_seconds)
		return cmd_usage(&cmd_doctor, "--from or --listen, not both");
	return verdict_check(&cmd_doctor, &options);
}

static int run_doctor(int argc, char **argv)
{
	struct doctor_input p = {0};
	struct app_env env;
	int code = doctor_check_options(argc, argv);

	if (!code && (argc || profile_name))
		code = cmd_load_profile(argc ? argv[0] : profile_name, &p.fabric.profile);
	if (code)
		return code;
	code = doctor_input_load(&p);
	if (!code) {
		app_env_make(&p.fabric, &p.run, &env);
		code = env_only ? doctor_print_env(&env) : doctor_judge(&p, &env);
	}
	free(p.host.port);
	snapshot_clear(&p.host.before);
	return code;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.args = "[PROFILE]",
	.help = "check this host for RoCE, or print environment variables for applications",
	.opts = doctor_opts,
	.run = run_doctor,
};
