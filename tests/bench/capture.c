/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of `rocecheck capture stats` on generated files, beside a libpcap loop that does nothing,
 * in turn, both as processes of their own: the ratio of processor times, the median of RUNS pairs,
 * so that other load counts on neither side. The files are read once before: the page cache is
 * warm. tshark and tcpdump are compared when they are there. One line a figure: NAME VALUE UNIT
 * TARGET ok|short; exit 1 when one is short.
 */
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "tests/tools/capgen.h"

#define RUNS	   9
#define TOOL_RUNS  3 /* of other tools: they take seconds */
#define ROCECHECK  "build/rocecheck"
#define FAULT_RATE 20
#define CE_RATE	   10
#define FLOWS_MAX  "262144" /* more than there are in any file */
#define MEMORY_MIB 64.0

/* What a file is, and how often the empty loop's packets per second are wanted. */
static const struct file_row {
	const char *name;
	double target;
	bool pcapng;
	struct capgen_options options;
} rows[] = {
	{"headers", 0.8, false, {.requesters = 1000, .frames = 2000000, .snap = 128}},
	{"streams", 0.25, false, {.requesters = 200000, .frames = 2000000, .snap = 128}},
	{"full_icrc", 0.85, false, {.requesters = 1000, .frames = 400000}},
	{"pcapng", 0.8, true, {.requesters = 1000, .frames = 2000000, .snap = 128}},
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_file(const struct file_row *row, const char *path)
{
	struct capgen_options o = row->options;
	struct capgen_truth truth;
	int err;

	o.seed = 1;
	o.pmtu = 1024;
	o.faults = (1U << CAPGEN_FAULTS) - 1;
	o.fault_rate = FAULT_RATE;
	o.ce_rate = CE_RATE;
	err = capgen_write(&o, path, row->pcapng, &truth);
	capgen_truth_clear(&truth);
	if (err) {
		errno = -err;
		die(path);
	}
}

static void ignore(u_char *user, const struct pcap_pkthdr *h, const u_char *bytes)
{
	(void)user;
	(void)h;
	(void)bytes;
}

static int run_loop(const char *path)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(path, why);
	int err;

	if (!p)
		return 1;
	err = pcap_loop(p, -1, ignore, NULL);
	pcap_close(p);
	return err ? 1 : 0;
}

/* Runs a program, or the empty loop when there is none; returns what it used. */
static struct rusage run(const char *const argv[], const char *path)
{
	struct rusage used;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (!argv)
			_exit(run_loop(path));
		if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
			_exit(126);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &used) < 0)
		die("wait4");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "%s ended with status %d\n", argv ? argv[0] : "loop", status);
		exit(1);
	}
	return used;
}

/* The generator writes in small pieces, page by page; whoever opens a capture has it from a disk.
 * Made so, and in the page cache. */
static void make_warm(const struct file_row *row, const char *path)
{
	int fd;

	make_file(row, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die(path);
	close(fd);
	(void)run(NULL, path);
}

static double cpu_s(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How many times the processor time of `capture stats` the other side takes. */
static double ratio_to(const char *const other[], const char *path, unsigned int runs,
		       long *rss_kib)
{
	const char *const stats[] = {ROCECHECK, "capture", "stats", "--max-flows",
				     FLOWS_MAX, path,	   NULL};
	double ratio[RUNS], best_s = 1e9;

	for (unsigned int i = 0; i < runs; i++) {
		struct rusage theirs = run(other, path), ours = run(stats, path);

		ratio[i] = cpu_s(&theirs) / cpu_s(&ours);
		best_s = cpu_s(&ours) < best_s ? cpu_s(&ours) : best_s;
		if (ours.ru_maxrss > *rss_kib)
			*rss_kib = ours.ru_maxrss;
	}
	fprintf(stderr, "%s: best of ours %.3f s\n", path, best_s);
	qsort(ratio, runs, sizeof(ratio[0]), compare);
	return ratio[runs / 2];
}

static bool print(const char *name, double value, const char *unit, const char *sign, double target)
{
	bool ok = *sign == '<' ? value <= target : value >= target;

	printf("capture.%s %.2f %s %s=%.2f %s\n", name, value, unit, sign, target,
	       ok ? "ok" : "short");
	return ok;
}

static bool compare_loop(const struct file_row *row, const char *path)
{
	char name[64];
	long rss_kib = 0;
	double ratio;
	bool ok;

	make_warm(row, path);
	ratio = ratio_to(NULL, path, RUNS, &rss_kib);
	snprintf(name, sizeof(name), "%s_vs_pcap_loop", row->name);
	ok = print(name, ratio, "x", ">", row->target);
	if (row->options.requesters == 1000) {
		snprintf(name, sizeof(name), "%s_memory", row->name);
		ok &= print(name, (double)rss_kib / 1024, "MiB", "<", MEMORY_MIB);
	}
	unlink(path);
	return ok;
}

static bool is_installed(const char *tool)
{
	const char *dirs[] = {"/usr/bin", "/usr/sbin", "/usr/local/bin"};
	char path[128];

	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", dirs[i], tool);
		if (!access(path, X_OK))
			return true;
	}
	fprintf(stderr, "%s is not installed: not compared\n", tool);
	return false;
}

static bool compare_tools(const char *path)
{
	static const struct file_row row = {
		.options = {.requesters = 1000, .frames = 300000, .snap = 128}};
	const char *const tshark[] = {"tshark", "-n",
				      "-r",	path,
				      "-T",	"fields",
				      "-e",	"infiniband.bth.opcode",
				      "-e",	"infiniband.bth.psn",
				      NULL};
	const char *const tcpdump[] = {"tcpdump", "-n", "-r", path, NULL};
	long rss_kib = 0;
	bool ok = true;

	make_warm(&row, path);
	if (is_installed("tshark"))
		ok &= print("headers_vs_tshark", ratio_to(tshark, path, TOOL_RUNS, &rss_kib), "x",
			    ">", 100);
	if (is_installed("tcpdump"))
		ok &= print("headers_vs_tcpdump", ratio_to(tcpdump, path, TOOL_RUNS, &rss_kib), "x",
			    ">", 15);
	unlink(path);
	return ok;
}

int main(void)
{
	char path[] = "/tmp/bench-capture-XXXXXX";
	int fd = mkstemp(path);
	bool ok = true;

	if (fd < 0)
		die(path);
	close(fd);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		ok &= compare_loop(&rows[i], path);
	ok &= compare_tools(path);
	return !ok;
}
