/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture record: frames of an interface into files. The process gives its privileges up
 * step by step: root's before the interface is opened, CAP_NET_RAW before the first frame is read.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "capture/recorder.h"
#include "cmd/capture_rdma.h"
#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "cmd/stop.h"
#include "reports/check_capture.h"

#define RECORD_SCHEMA "rocecheck.record/1"
#define SNAP_HEADERS  384U /* holds a management datagram of RDMA CM over IPv6 with two tags */
#define SNAP_TUNNEL   96U  /* and what a mirror puts around it: IPv6, GRE, ERSPAN III */
#define MIB	      (UINT64_C(1) << 20)
#define NS_PER_MS     UINT64_C(1000000)
#define STEP_MS	      100 /* how late a signal or the end of the time is noticed */
#define DRAIN_MS      250 /* until the kernel has handed over what came before the end, at least */
#define DRAIN_MAX_MS  30000

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
	{.name = NULL},
};

struct recording {
	struct record_plan plan;
	struct source *source;
	struct recorder *recorder;
	uint64_t frames, roce, dropped, last_ns;
	unsigned int files;
	enum capture_drops drops;
	struct rdma_watch *rdma; /* NULL: it is not known what the RDMA device counts */
	uint64_t rdma_packets;
	bool rdma_known;
	const char *ibdev;
};

/* 1 and one frame more, 0 and none within the step, or -errno. */
static int record_step(struct recording *r, struct err *e)
{
	uint32_t cap_len, wire_len;
	const uint8_t *data;
	struct packet p;
	uint64_t ns;
	int got = source_next(r->source, STEP_MS, &data, &cap_len, &wire_len, &ns, e);

	if (got <= 0)
		return got;
	packet_decode(source_link(r->source), data, cap_len, wire_len, ++r->frames, ns, &p);
	r->roce += p.kind == PACKET_ROCE;
	r->last_ns = ns;
	got = recorder_add(r->recorder, &p, data, e);
	return got ? got : 1;
}

static bool is_enough(const struct recording *r)
{
	return limit && r->frames >= limit;
}

static uint64_t unix_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

/*
 * What waits in the ring came before the end, and belongs to the recording however long the writing
 * takes. The maximum is for a clock that was set back meanwhile: then all frames are older.
 */
static int drain(struct recording *r, struct err *e)
{
	uint64_t now = monotonic_ms(), until = now + DRAIN_MS, max = now + DRAIN_MAX_MS;
	uint64_t end_ns = unix_now_ns();
	bool older = true;
	int got = 1;

	while (got >= 0 && !is_enough(r) && (now < until || (got && older && now < max))) {
		got = record_step(r, e);
		older = r->last_ns < end_ns;
		now = monotonic_ms();
	}
	return got;
}

static int record_all(struct recording *r, const atomic_int *stop, struct err *e)
{
	uint64_t until = duration_ms ? monotonic_ms() + duration_ms : UINT64_MAX;
	int err = 0;

	while (!*stop && err >= 0 && monotonic_ms() < until && !is_enough(r))
		err = record_step(r, e);
	if (err >= 0)
		err = drain(r, e);
	r->drops = source_drops(r->source, &r->dropped);
	r->files = recorder_files(r->recorder);
	r->rdma_known = rdma_watch_packets(r->rdma, &r->rdma_packets, &r->ibdev);
	return err < 0 ? err : 0;
}

static int open_all(struct recording *r, struct err *e)
{
	int err = privileges_keep_raw(r->plan.path, e);

	if (!err)
		err = source_open_live(interface, source_filter(filter), r->plan.snaplen,
				       &r->source, e);
	if (!err)
		err = privileges_drop(e);
	return err ? err : recorder_open(&r->plan, r->source, &r->recorder, e);
}

static int print_document(const struct recording *r)
{
	bool known = r->drops != DROPS_UNKNOWN;
	json_t *dropped = known ? json_integer((json_int_t)r->dropped) : json_null();
	json_t *rdma = r->rdma_known ? json_integer((json_int_t)r->rdma_packets) : json_null();

	return cmd_print_json(json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:o, s:o, s:b}", "schema",
					RECORD_SCHEMA, "interface", interface, "file", file,
					"files", (int)r->files, "frames", (json_int_t)r->frames,
					"roce", (json_int_t)r->roce, "dropped", dropped,
					"rdma_packets", rdma, "full", full));
}

static void print_ways(void)
{
	for (unsigned int i = 0; capture_ways[i]; i++)
		printf("way out      %s\n", capture_ways[i]);
}

/* Some of it was seen, such as what the kernel itself sends. */
static void print_bypassed(const struct recording *r)
{
	if (!r->rdma_known || !rdma_watch_bypassed(r->rdma_packets, r->roce, r->dropped))
		return;
	printf("note         %s counted %" PRIu64 " RoCE packets, of which %" PRIu64
	       " came past the interface: the others bypass the kernel\n",
	       r->ibdev, r->rdma_packets, r->roce);
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

	if (recorder_name(&r->plan, r->files, last, sizeof(last)))
		last[0] = '\0';
	printf("recorded     %" PRIu64 " frames, %" PRIu64 " of them RoCE%s\n", r->frames, r->roce,
	       full ? "" : "; headers only");
	printf("files        %u, the last one %s\n", r->files, last);
	if (r->drops == DROPS_UNKNOWN)
		puts("drops        not known for this interface");
	else
		printf("drops        %" PRIu64 " lost by the capture itself\n", r->dropped);
	puts("times        of this host, when the kernel got the frames; not of the NIC");
	if (!r->roce && !strcmp(filter, "roce"))
		print_no_roce(r);
	else if (!strcmp(filter, "roce"))
		print_bypassed(r);
	if (!strcmp(filter, "nak") || !strcmp(filter, "cnp"))
		puts("note         the PSNs around these packets are not recorded: loss cannot be "
		     "judged");
	return EXIT_OK;
}

static int record(struct recording *r)
{
	struct err e = {0}, later = {0};
	int err = open_all(r, &e);
	bool begun = !err;

	if (begun) {
		const atomic_int *stop = cmd_stop_signals();

		r->rdma = rdma_watch_begin(interface);
		if (!globals->quiet)
			fprintf(stderr, "rocecheck: recording %s on %s, ^C ends\n", filter,
				interface);
		err = record_all(r, stop, &e);
		if (recorder_close(r->recorder, err ? &later : &e) && !err)
			err = -EIO;
	}
	source_close(r->source);
	if (begun)
		(void)(globals->json ? print_document(r) : print_text(r)); /* main() looks */
	rdma_watch_end(r->rdma);
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
	r.plan = (struct record_plan){
		.path = file,
		.max_bytes = file_mib * MIB,
		.max_ns = file_ms * NS_PER_MS,
		.max_frames = file_frames,
		.keep = keep,
		.snaplen = snap,
		.full = full,
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
