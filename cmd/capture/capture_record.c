/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture record: frames of an interface into files. Two processes, neither of which
 * keeps a privilege: one decodes the packets, confined, and this one makes the files.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/record_live.h"
#include "cmd/capture/capture_file.h"
#include "cmd/capture/capture_rdma.h"
#include "cmd/cmd.h"
#include "profiles/base/file.h"
#include "profiles/base/privileges.h"
#include "profiles/base/signals.h"
#include "reports/rules/check_capture.h"

#define RECORD_SCHEMA "rocecheck.record/1"
#define SNAP_HEADERS  384U /* holds a management datagram of RDMA CM over IPv6 with two tags */
#define SNAP_TUNNEL   96U  /* and what a mirror puts around it: IPv6, GRE, ERSPAN III */
#define MIB	      (UINT64_C(1) << 20)
#define NS_PER_MS     UINT64_C(1000000)

static const char *interface, *file, *filter = "roce";
static unsigned int duration_ms, limit, snap, file_mib, file_ms, file_frames, keep;
static bool full;

static const char *const filter_words[] = {"roce", "cnp", "nak", "pfc", "lldp", "mirror", NULL};

static const struct opt record_opts[] = {
	{"interface", 'i', OPT_STRING, &interface, .arg = "IFACE", .help = "where to listen"},
	{"write", 'w', OPT_STRING, &file, .arg = "FILE",
	 .help = "the recording: pcapng when the name ends so, else pcap; - for standard output"},
	{"filter", 'f', OPT_STRING, &filter, .arg = "WHAT",
	 .help = "what to record, by default roce", .words = filter_words},
	{"duration", 'd', OPT_DURATION, &duration_ms, .arg = "TIME", .help = "stop after so long"},
	{"limit", 'n', OPT_UINT, &limit, .min = 1, .max = UINT32_MAX, .arg = "COUNT",
	 .help = "stop after so many frames"},
	{"snap", 0, OPT_UINT, &snap, .min = 64, .max = 262144, .arg = "BYTES",
	 .help = "take so many bytes of a frame"},
	{"full", 0, OPT_FLAG, &full, .help = "keep user data and R_Keys, not the headers alone"},
	{"file-size", 0, OPT_UINT, &file_mib, .min = 1, .max = 1 << 24, .arg = "MIB",
	 .help = "begin another file after so many MiB"},
	{"file-time", 0, OPT_DURATION, &file_ms, .arg = "TIME",
	 .help = "begin another file after so long"},
	{"file-frames", 0, OPT_UINT, &file_frames, .min = 1, .max = UINT32_MAX, .arg = "COUNT",
	 .help = "begin another file after so many frames"},
	{"files", 0, OPT_UINT, &keep, .min = 1, .max = 99999, .arg = "COUNT",
	 .help = "keep the last so many files, remove older ones"},
	CAPTURE_SANDBOX_OPT,
	{.name = NULL},
};

struct recording {
	struct folder folder; /* of the files; empty with standard output */
	struct record_live live;
	struct record_live_result got;
	uint64_t rdma_packets; /* that the RDMA device counted meanwhile */
	bool rdma_known;
	const char *ibdev;
};

/* --write -: frames go to standard output, and what is said of them to standard error. */
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

static void record_print_remedies(FILE *out)
{
	for (unsigned int i = 0; capture_methods[i]; i++)
		fprintf(out, "way out      %s\n", capture_methods[i]);
}

/* Some of it was seen, such as what the kernel itself sends. */
static void record_print_bypassed(const struct recording *r, FILE *out)
{
	if (!r->rdma_known || !rdma_watch_bypassed(r->rdma_packets, r->got.roce, r->got.dropped))
		return;
	fprintf(out,
		"note         %s counted %" PRIu64 " RoCE packets, of which %" PRIu64
		" came past the interface: the others bypass the kernel\n",
		r->ibdev, r->rdma_packets, r->got.roce);
	record_print_remedies(out);
}

/* Nothing of it was seen: because nothing was there, or because the NIC kept it to itself. */
static void record_print_no_roce(const struct recording *r, FILE *out)
{
	if (r->rdma_known && !r->rdma_packets) {
		fprintf(out, "note         no RoCE, and %s counted none either\n", r->ibdev);
		return;
	}
	if (r->rdma_known)
		fprintf(out,
			"note         no RoCE, though %s counted %" PRIu64
			" packets: they bypass the kernel, and with it the capture\n",
			r->ibdev, r->rdma_packets);
	else
		fputs("note         no RoCE: where RDMA counters grow all the same, hardware RoCE "
		      "bypasses the interface\n",
		      out);
	record_print_remedies(out);
}

static int record_print_text(const struct recording *r, FILE *out)
{
	char last[PATH_MAX];

	if (recorder_name(&r->live.plan, r->got.files, last, sizeof(last)))
		last[0] = '\0';
	fprintf(out, "recorded     %" PRIu64 " frames, %" PRIu64 " of them RoCE%s\n", r->got.frames,
		r->got.roce, full ? "" : "; headers only");
	fprintf(out, "files        %u, the last one %s\n", r->got.files, last);
	if (r->got.drops == DROPS_UNKNOWN)
		fputs("drops        not known for this interface\n", out);
	else
		fprintf(out, "drops        %" PRIu64 " lost by the capture itself\n",
			r->got.dropped);
	fputs("times        of this host, when the kernel got the frames; not of the NIC\n", out);
	if (!r->got.roce && !strcmp(filter, "roce"))
		record_print_no_roce(r, out);
	else if (!strcmp(filter, "roce"))
		record_print_bypassed(r, out);
	if (!strcmp(filter, "nak") || !strcmp(filter, "cnp"))
		fputs("note         the PSNs around these packets are not recorded: loss cannot be "
		      "judged\n",
		      out);
	return EXIT_OK;
}

/* The folder is opened once: files are made in it whatever becomes of its path. */
static int record_open_folder(struct recording *r, struct err *e)
{
	int err = record_is_stdout() ? 0 : folder_of_file(file, &r->folder, e);

	if (err == -ENOENT)
		err_hint(e, "make the folder of the recording first");
	r->live.plan.folder = &r->folder;
	return err;
}

/* Opened with all privileges, which are given up before the first frame is looked at. */
static int record_begin(struct recording *r, struct confined *c, struct err *e)
{
	int err = record_open_folder(r, e);

	if (!err)
		err = record_live_start(&r->live, c, e);
	if (err)
		return err;
	err = record_is_stdout() ? privileges_drop(e) : privileges_become_owner(&r->folder, e);
	if (err)
		(void)confined_close(c, NULL); /* the first error is the one to tell */
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
		fprintf(stderr, "rocecheck: recording %s on %s, ^C ends\n", filter, interface);
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
		return cmd_usage(&cmd_capture_record, "no operand is expected");
	if (!interface || !file)
		return cmd_usage(&cmd_capture_record, "--interface and --write are needed");
	if (record_is_stdout() && (globals->json || file_mib || file_ms || file_frames))
		return cmd_usage(&cmd_capture_record,
				 "--write - is one file on standard output: expected neither "
				 "--json nor --file-size, --file-time or --file-frames");
	if (record_is_stdout() && isatty(STDOUT_FILENO))
		return cmd_usage(
			&cmd_capture_record,
			"--write - on a terminal: expected a pipe or a file, packets are not text");
	if (keep && !file_mib && !file_ms && !file_frames)
		return cmd_usage(&cmd_capture_record,
				 "--files needs --file-size, --file-time or --file-frames");
	/* LLDP is longer than headers, and has no user data. */
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
	.help = "record RoCE, PFC and LLDP frames of an interface",
	.opts = record_opts,
	.run = run_record,
};
