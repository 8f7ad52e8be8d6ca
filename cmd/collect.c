/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck collect: prints one rocecheck.snapshot/1 of this host. Changes nothing and sends
 * nothing; --lldp only listens.
 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "dcb/kernel/dcb.h"
#include "probe/host/lldp_peer.h"
#include "probe/host/snapshot.h"

static struct opt_list ifaces;
static const char *out_path;
static unsigned int lldp_seconds;

static const struct opt collect_opts[] = {
	{"interface", 'i', OPT_LIST, &ifaces, .arg = "IFACE",
	 .help = "also include IFACE, a network device without RDMA (repeatable)"},
	{"lldp", 0, OPT_UINT, &lldp_seconds, .min = 1, .max = 600, .arg = "SECONDS",
	 .help = "listen for LLDP neighbours for SECONDS (default off; needs CAP_NET_RAW)"},
	{"out", 'o', OPT_STRING, &out_path, .arg = "FILE",
	 .help = "write to FILE (default -, stdout)"},
	{.name = NULL},
};

static int collect_read(struct snapshot *s, struct err *e)
{
	struct dcb *dcb;
	int err = dcb_open(NULL, &dcb, e);

	if (err)
		return err;
	err = snapshot_read(dcb, ifaces.item, ifaces.count, s, e);
	dcb_close(dcb);
	if (err)
		return err;
	snapshot_read_host(NULL, s);
	if (lldp_seconds)
		err = lldp_peer_listen(s, lldp_seconds * 1000, e);
	if (err)
		snapshot_clear(s);
	return err;
}

static int run_collect(int argc, char **argv)
{
	struct snapshot s;
	struct err e = {0};
	int code = EXIT_OK;

	if (argc)
		return cmd_usage(&cmd_collect, "unexpected argument '%s'", argv[0]);
	if (collect_read(&s, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (!s.port_count && !globals->quiet)
		fputs("rocecheck: note: no RDMA device on this host; add a network device with "
		      "--interface\n",
		      stderr);
	if (!out_path)
		code = cmd_print_json(snapshot_to_json(&s));
	else if (snapshot_save(&s, out_path, &e))
		code = cmd_fail(EXIT_ENVIRONMENT, &e);
	snapshot_clear(&s);
	return code;
}

const struct command cmd_collect = {
	.name = "collect",
	.args = "",
	.help = "print one snapshot of this host as JSON",
	.opts = collect_opts,
	.run = run_collect,
};
