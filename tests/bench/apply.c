/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cost of setting a host: a full profile (64 DSCPs) on 16 ports, planned, applied as one
 * transaction and planned again, against a kernel that is played: what goes into netlink sockets
 * and ioctls is answered here, with what a driver without tricks would answer. A process of its own
 * runs it, so that its start, its processor time and its memory are in the figures. What it costs
 * beside other people's tools is measured in a guest of the lab: apply-lab.sh. One line a figure:
 * NAME VALUE UNIT TARGET ok|short; exit 1 when one is short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dcb/apply/plan_apply.h"
#include "tests/bench/apply_kernel.h"

#define RUNS	5
#define PROFILE "tests/bench/apply.yaml"
#define LAB	"tests/bench/apply-lab.sh"
#define CPU_MS	50
#define RSS_MB	20

/* One run. */

static void make_plans(struct dcb *dcb, const struct profile *profile, struct plan *plans)
{
	for (unsigned int i = 0; i < PORTS; i++) {
		struct err e = {0};
		bool has_dcb;
		struct qos have;
		int err = dcb_read(dcb, cards[i].name, "", 1, &have, &has_dcb, &e);

		if (!err)
			err = plan_port(dcb, profile, cards[i].name, "", 1, &have, &plans[i], &e);
		if (err) {
			fprintf(stderr, "%s\n", e.text);
			exit(1);
		}
	}
}

static unsigned int count_changes(const struct plan *plans)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < PORTS; i++)
		n += plan_changes(&plans[i]);
	return n;
}

static void load(struct profile *p)
{
	struct err e = {0};
	struct diags d;

	diags_init(&d);
	if (profile_load(PROFILE, p, &d, &e)) {
		fprintf(stderr, "%s: %s\n", PROFILE, d.count ? d.list[0].text : e.text);
		exit(1);
	}
	diags_clear(&d);
}

/* Prints how many messages it took. */
static int run(const char *dir)
{
	const struct dcb_roots roots = {.sysfs = dir, .configfs = dir, .debugfs = dir};
	const struct apply_options how = {.at = {dir, dir}, .wait_link_s = 1};
	struct plan *plans = calloc(PORTS, sizeof(*plans));
	char tx[JOURNAL_ID_MAX];
	enum apply_outcome outcome;
	struct profile profile;
	struct err e = {0};
	struct dcb *dcb;
	unsigned int before;

	make_cards();
	load(&profile);
	if (!plans || dcb_open(&roots, &dcb, &e))
		die("dcb");
	make_plans(dcb, &profile, plans);
	before = count_changes(plans);
	if (plan_apply(dcb, plans, PORTS, &how, tx, &outcome, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	make_plans(dcb, &profile, plans);
	for (unsigned int i = 0; i < PORTS; i++)
		if (cards[i].apps < 64 || cards[i].mtu != 4200 || cards[i].pfc.pfc_en != 8)
			before = 0;
	if (!before || count_changes(plans)) {
		fputs("the bench does not do what it says\n", stderr);
		return 1;
	}
	printf("%u %u\n", before, requests);
	dcb_close(dcb);
	free(plans);
	return 0;
}

/* Runs of it. */

struct cost {
	double cpu_ms, rss_mb;
	unsigned int changes, messages;
};

static void take_cost(const char *self, struct cost *c)
{
	char dir[] = "/tmp/bench-apply-XXXXXX", text[64] = "", remove[64];
	struct rusage used;
	int fd[2], status;
	pid_t pid;

	if (!mkdtemp(dir) || pipe(fd))
		die(dir);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		execl("/proc/self/exe", self, dir, (char *)NULL);
		_exit(1);
	}
	close(fd[1]);
	if (read(fd[0], text, sizeof(text) - 1) < 0)
		die("read");
	close(fd[0]);
	wait4(pid, &status, 0, &used);
	snprintf(remove, sizeof(remove), "rm -r %s", dir);
	if (system(remove) || status || sscanf(text, "%u %u", &c->changes, &c->messages) != 2)
		die("a run");
	c->cpu_ms = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
		    (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
	c->rss_mb = used.ru_maxrss / 1024.0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return (x->cpu_ms > y->cpu_ms) - (x->cpu_ms < y->cpu_ms);
}

static bool print(const char *name, double value, const char *unit, double most)
{
	bool ok = value <= most;

	printf("apply.replay.%s %.1f %s <=%.0f %s\n", name, value, unit, most, ok ? "ok" : "short");
	fflush(stdout);
	return ok;
}

int main(int argc, char **argv)
{
	struct cost cost[RUNS];
	bool ok;

	if (argc == 2)
		return run(argv[1]);
	for (unsigned int i = 0; i < RUNS; i++)
		take_cost(argv[0], &cost[i]);
	qsort(cost, RUNS, sizeof(cost[0]), by_cpu);
	fprintf(stderr, "apply.replay: %u settings of %u ports in %u messages\n", cost[0].changes,
		PORTS, cost[0].messages);
	ok = print("cpu", cost[RUNS / 2].cpu_ms, "ms", CPU_MS);
	ok &= print("rss", cost[RUNS / 2].rss_mb, "MB", RSS_MB);
	return system(LAB) || !ok;
}
