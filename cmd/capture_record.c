/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture record: frames of an interface into files. Two processes, neither of which
 * keeps a privilege: one decodes the packets, confined, and this one makes the files.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "capture/privileges.h"
#include "capture/record_live.h"
#include "cmd/capture_file.h"
#include "cmd/capture_rdma.h"
#include "cmd/cmd.h"
#include "cmd/stop.h"
#include "reports/check_capture.h"

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
	 .help = "the recording: pcapng when the name ends so, else pcap"},
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
	struct record_live live;
	struct record_live_result got;
	uint64_t rdma_packets; /* that the RDMA device counted meanwhile */
	bool rdma_known;
	const char *ibdev;
};

static int print_document(const struct recording *r)
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

static void print_ways(void)
{
	for (unsigned int i = 0; capture_ways[i]; i++)
		printf("way out      %s\n", capture_ways[i]);
}

/* Some of it was seen, such as what the kernel itself sends. */
static void print_bypassed(const struct recording *r)
{
	if (!r->rdma_known || !rdma_watch_bypassed(r->rdma_packets, r->got.roce, r->got.dropped))
		return;
	printf("note         %s counted %" PRIu64 " RoCE packets, of which %" PRIu64
	       " came past the interface: the others bypass the kernel\n",
	       r->ibdev, r->rdma_packets, r->got.roce);
	print_ways();
}

/* Nothing of it was seen: because nothing was there, or because the NIC kept it to itself. */
static void print_no_roce(const struct recording *r)
{
	if (r->rdma_known && !r->rdma_packets) {
		printf("note         no RoCE, and %s counted none either\n", r->ibdev);
		return;
	}
	if (r->rdma_known)
		printf("note         no RoCE, though %s counted %" PRIu64
		       " packets: they bypass the kernel, and with it the capture\n",
		       r->ibdev, r->rdma_packets);
	else
		puts("note         no RoCE: where RDMA counters grow all the same, hardware RoCE "
		     "bypasses the interface");
	print_ways();
}

static int print_text(const struct recording *r)
{
	char last[PATH_MAX];

	if (recorder_name(&r->live.plan, r->got.files, last, sizeof(last)))
		last[0] = '\0';
	printf("recorded     %" PRIu64 " frames, %" PRIu64 " of them RoCE%s\n", r->got.frames,
	       r->got.roce, full ? "" : "; headers only");
	printf("files        %u, the last one %s\n", r->got.files, last);
	if (r->got.drops == DROPS_UNKNOWN)
		puts("drops        not known for this interface");
	else
		printf("drops        %" PRIu64 " lost by the capture itself\n", r->got.dropped);
	puts("times        of this host, when the kernel got the frames; not of the NIC");
	if (!r->got.roce && !strcmp(filter, "roce"))
		print_no_roce(r);
	else if (!strcmp(filter, "roce"))
		print_bypassed(r);
	if (!strcmp(filter, "nak") || !strcmp(filter, "cnp"))
		puts("note         the PSNs around these packets are not recorded: loss cannot be "
		     "judged");
	return EXIT_OK;
}

/* Opened with all privileges, which are given up before the first frame is looked at. */
static int record_begin(struct recording *r, struct confined *c, struct err *e)
{
	int err = record_live_start(&r->live, c, e);

	if (err)
		return err;
	err = privileges_become_owner(file, e);
	if (err)
		(void)confined_end(c, NULL); /* the first error is the one to tell */
	return err;
}

static int record(struct recording *r)
{
	const atomic_int *stop = cmd_stop_signals();
	struct rdma_watch *rdma = NULL;
	struct confined c;
	struct err e = {0};
	int err = record_begin(r, &c, &e);

	if (err)
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	rdma = rdma_watch_begin(interface);
	if (!globals->quiet)
		fprintf(stderr, "rocecheck: recording %s on %s, ^C ends\n", filter, interface);
	err = record_live_run(&r->live, &c, stop, &r->got, &e);
	r->rdma_known = rdma_watch_packets(rdma, &r->rdma_packets, &r->ibdev);
	if (r->got.files)
		(void)(globals->json ? print_document(r) : print_text(r)); /* main() looks */
	rdma_watch_end(rdma);
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
	return record(&r);
}

const struct command cmd_capture_record = {
	.name = "capture record",
	.args = "",
	.help = "record RoCE, PFC and LLDP frames of an interface",
	.opts = record_opts,
	.run = run_record,
};
