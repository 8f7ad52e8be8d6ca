/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture record: records frames of an interface into files. Two processes without
 * privileges: a confined one decodes the packets, and this one creates the files.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/file/pcap_format.h"
#include "capture/record_live.h"
#include "cmd/capture/capture_file.h"
#include "cmd/capture/capture_rdma.h"
#include "cmd/cmd.h"
#include "profiles/base/file.h"
#include "profiles/base/privileges.h"
#include "profiles/base/signals.h"
#include "reports/rules/check_capture.h"

#define RECORD_SCHEMA "rocecheck.record/1"
#define SNAP_HEADERS  384U /* fits an RDMA CM MAD over IPv6 with two VLAN tags */
#define SNAP_TUNNEL   96U  /* headers of a mirror tunnel: IPv6, GRE, ERSPAN III */
#define MIB	      (UINT64_C(1) << 20)
#define NS_PER_MS     UINT64_C(1000000)

static const char *interface, *file, *filter = "roce";
static unsigned int duration_ms, limit, snap, file_mib, file_ms, file_frames, keep;
static bool full;

static const char *const filter_words[] = {"roce", "cnp", "nak", "pfc", "lldp", "mirror", NULL};

static const struct opt record_opts[] = {
	{"interface", 'i', OPT_STRING, &interface, .arg = "IFACE",
	 .help = "interface or RDMA device to capture on (required)"},
	{"write", 'w', OPT_STRING, &file, .arg = "FILE",
	 .help = "output file (required): pcapng if the name ends in .pcapng, else pcap; - for "
		 "standard "
		 "output"},
	{"filter", 'f', OPT_STRING, &filter, .arg = "WHAT",
	 .help = "frames to record (default roce: RoCE, PFC and LLDP; mirror: GRE, ERSPAN and "
		 "VXLAN)",
	 .words = filter_words},
	{"duration", 'd', OPT_DURATION, &duration_ms, .arg = "TIME",
	 .help = "stop after TIME (default: at Ctrl-C)"},
	{"limit", 'n', OPT_UINT, &limit, .min = 1, .max = UINT32_MAX, .arg = "COUNT",
	 .help = "stop after COUNT frames (default: no limit)"},
	{"snap", 0, OPT_UINT, &snap, .min = 64, .max = PCAP_SNAPLEN_MAX, .arg = "BYTES",
	 .help = "record at most BYTES of each frame (default 384; mirror 480; lldp and --full: "
		 "all)"},
	{"full", 0, OPT_FLAG, &full,
	 .help = "also record user data and R_Keys (default: headers only)"},
	{"file-size", 0, OPT_UINT, &file_mib, .min = 1, .max = 1 << 24, .arg = "MIB",
	 .help = "start a new file after MIB MiB (default: one file)"},
	{"file-time", 0, OPT_DURATION, &file_ms, .arg = "TIME",
	 .help = "start a new file after TIME (default: one file)"},
	{"file-frames", 0, OPT_UINT, &file_frames, .min = 1, .max = UINT32_MAX, .arg = "COUNT",
	 .help = "start a new file after COUNT frames (default: one file)"},
	{"files", 0, OPT_UINT, &keep, .min = 1, .max = 99999, .arg = "COUNT",
	 .help = "keep the last COUNT files, delete older ones (default: keep all)"},
	CAPTURE_SANDBOX_OPT,
	{.name = NULL},
};

struct recording {
	struct folder folder; /* of the files; empty with standard output */
	struct record_live live;
	struct record_live_result got;
	uint64_t rdma_packets; /* counted by the RDMA device during the recording */
	bool rdma_known;
	const char *ibdev;
};

/* --write -: frames go to standard output, the report to standard error. */
static bool record_is_stdout(void)
{
	return !strcmp(file, "-");
}

static int record_print_json(const struct recording *r)
{
	bool known = r->got.drops != DROPS_UNKNOWN;
	json_t *dropped = known ? json_integer((json_int_t)r->got.dropped) : json_null();
	json_t *rdma = r->rdma_known ? json_integer((json_int_t)r->rdma_packets) : json_null();

	return cmd_print_json(json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:o, s:o, s:b}", "schema",
					RECORD_SCHEMA, "interface", interface, "file", file,
					"files", (int)r->got.files, "frames",
					(json_int_t)r->got.frames, "roce", (json_int_t)r->got.roce,
					"dropped", dropped, "rdma_packets", rdma, "full", full));
}

static void record_print_alternatives(FILE *out)
{
	for (unsigned int i = 0; capture_methods[i]; i++)
		fprintf(out, "alternative  %s\n", capture_methods[i]);
}

/* Some RoCE was seen, such as packets that the kernel itself sends. */
static void record_print_bypassed(const struct recording *r, FILE *out)
{
	if (!r->rdma_known || !rdma_watch_bypassed(r->rdma_packets, r->got.roce, r->got.dropped))
		return;
	fprintf(out,
		"note         %s counted %" PRIu64 " RoCE packets, the interface saw %" PRIu64
		": the others bypass the kernel\n",
		r->ibdev, r->rdma_packets, r->got.roce);
	record_print_alternatives(out);
}

/* No RoCE was seen: there was none, or the NIC bypasses the kernel. */
static void record_print_no_roce(const struct recording *r, FILE *out)
{
	if (r->rdma_known && !r->rdma_packets) {
		fprintf(out, "note         no RoCE captured, and %s counted no RoCE packets\n",
			r->ibdev);
		return;
	}
	if (r->rdma_known)
		fprintf(out,
			"note         no RoCE captured, but %s counted %" PRIu64
			" packets: the NIC bypasses the kernel and this capture cannot see RoCE\n",
			r->ibdev, r->rdma_packets);
	else
		fputs("note         no RoCE captured. If RDMA counters still increase, the NIC "
		      "bypasses the kernel and this capture cannot see RoCE\n",
		      out);
	record_print_alternatives(out);
}

static int record_print_text(const struct recording *r, FILE *out)
{
	char last[PATH_MAX];

	if (recorder_name(&r->live.plan, r->got.files, last, sizeof(last)))
		last[0] = '\0';
	fprintf(out, "recorded     %" PRIu64 " frames, %" PRIu64 " RoCE%s\n", r->got.frames,
		r->got.roce, full ? "" : "; headers only");
	fprintf(out, "files        %u, last: %s\n", r->got.files, last);
	if (r->got.drops == DROPS_UNKNOWN)
		fputs("drops        unknown: the interface has no drop counters\n", out);
	else
		fprintf(out, "drops        %" PRIu64 " packets lost by the capture itself\n",
			r->got.dropped);
	fputs("times        host clock, when the kernel received the frame (not NIC timestamps)\n",
	      out);
	if (!r->got.roce && !strcmp(filter, "roce"))
		record_print_no_roce(r, out);
	else if (!strcmp(filter, "roce"))
		record_print_bypassed(r, out);
	if (!strcmp(filter, "nak") || !strcmp(filter, "cnp"))
		fputs("note         only these packets are recorded: 'capture check' cannot find "
		      "losses\n",
		      out);
	return EXIT_OK;
}

/* Opens the folder once: later files go there even if its path changes. */
static int record_open_folder(struct recording *r, struct err *e)
{
	int err = record_is_stdout() ? 0 : folder_of_file(file, &r->folder, e);

	if (err == -ENOENT)
		err_hint(e, "create the folder first");
	r->live.plan.folder = &r->folder;
	return err;
}

/* Opens all with full privileges, and drops these before the first frame is read. */
static int record_begin(struct recording *r, struct confined *c, struct err *e)
{
	int err = record_open_folder(r, e);

	if (!err)
		err = record_live_start(&r->live, c, e);
	if (err)
		return err;
	err = record_is_stdout() ? privileges_drop(e) : privileges_become_owner(&r->folder, e);
	if (err)
		(void)confined_close(c, NULL); /* report the first error */
	return err;
}

static int record_frames(struct recording *r)
{
	const atomic_int *stop = signals_catch_stop();
	struct rdma_watch *rdma = NULL;
	struct confined c;
	struct err e = {0};
	int err = record_begin(r, &c, &e);

	if (err) {
		folder_close(&r->folder);
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	rdma = rdma_watch_open(interface);
	if (!globals->quiet)
		fprintf(stderr, "rocecheck: recording %s on %s, press Ctrl-C to stop\n", filter,
			interface);
	err = record_live_run(&r->live, &c, stop, &r->got, &e);
	r->rdma_known = rdma_watch_packets(rdma, &r->rdma_packets, &r->ibdev);
	if (r->got.files)
		(void)(globals->json ? record_print_json(r)
				     : record_print_text(r, record_is_stdout()
								    ? stderr
								    : stdout)); /* main() looks */
	rdma_watch_close(rdma);
	folder_close(&r->folder);
	fflush(stdout);
	return err ? cmd_fail(EXIT_ENVIRONMENT, &e) : EXIT_OK;
}

static int run_record(int argc, char **argv)
{
	struct recording r = {0};

	(void)argv;
	if (argc)
		return cmd_usage(&cmd_capture_record, "unexpected argument");
	if (!interface || !file)
		return cmd_usage(&cmd_capture_record, "missing --interface or --write");
	if (record_is_stdout() && (globals->json || file_mib || file_ms || file_frames))
		return cmd_usage(&cmd_capture_record,
				 "--write - excludes --json, --file-size, --file-time and "
				 "--file-frames");
	if (record_is_stdout() && isatty(STDOUT_FILENO))
		return cmd_usage(
			&cmd_capture_record,
			"--write - needs a pipe or a file as standard output, not a terminal");
	if (keep && !file_mib && !file_ms && !file_frames)
		return cmd_usage(&cmd_capture_record,
				 "--files needs --file-size, --file-time or --file-frames");
	/* LLDP is longer than SNAP_HEADERS, and has no user data. */
	if (!snap && !full && strcmp(filter, "lldp") != 0)
		snap = SNAP_HEADERS + (strcmp(filter, "mirror") ? 0 : SNAP_TUNNEL);
	r.live = (struct record_live){
		.plan = {.path = file,
			 .max_bytes = file_mib * MIB,
			 .max_ns = file_ms * NS_PER_MS,
			 .max_frames = file_frames,
			 .keep = keep,
			 .snaplen = snap,
			 .full = full},
		.interface = interface,
		.filter = filter,
		.duration_ms = duration_ms,
		.limit = limit,
		.unfiltered = capture_no_sandbox,
	};
	return record_frames(&r);
}

const struct command cmd_capture_record = {
	.name = "capture record",
	.args = "",
	.help = "record RoCE, PFC and LLDP frames of an interface to a file",
	.opts = record_opts,
	.run = run_record,
};
