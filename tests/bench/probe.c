/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cost of the traffic generator: on this host, instructions of a message in the data path, with
 * verbs that only count (callgrind, the difference of two runs, so that the start is not in it);
 * then speed and latency beside perftest between two guests of the lab: probe-lab.sh. One line a
 * figure: NAME VALUE UNIT TARGET ok|short; exit 1 when one is short.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "probe/traffic/traffic_worker.h"
#include "tests/unit/fixture/fake_objects.h"

#define LAB	     "tests/bench/probe-lab.sh"
#define MESSAGES     100000u
#define INSTRUCTIONS 60 /* of a 64-byte message; 400 Gbit/s of 4 KiB are 12 M of them a second */
#define PENDING	     4096u

/* Verbs that do nothing at once: a request that is signaled completes. */
static uint64_t pending[PENDING], made, taken;

static int count_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	(void)bad;
	for (; wr; wr = wr->next) {
		if (wr->send_flags & IBV_SEND_SIGNALED)
			pending[made++ % PENDING] = wr->wr_id;
	}
	return 0;
}

static int count_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int i = 0;

	(void)cq;
	for (; i < n && taken < made; i++) {
		wc[i].wr_id = pending[taken++ % PENDING];
		wc[i].status = IBV_WC_SUCCESS;
		wc[i].opcode = IBV_WC_RDMA_WRITE;
	}
	return i;
}

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* What traffic_run() would have made. */
static struct worker *make_worker(void)
{
	struct traffic_endpoint *self = calloc(1, sizeof(*self));
	struct traffic_spec spec;
	struct traffic *t = NULL;
	struct err e = {0};

	fake_reset();
	traffic_spec_simple(&spec, TRAFFIC_WRITE, 64, 0);
	spec.class[0].check = TRAFFIC_CHECK_NONE;
	snprintf(spec.ibdev, sizeof(spec.ibdev), "fake0");
	spec.ib_port = 1;
	if (!self || traffic_open(&spec, &t, &e))
		die(e.text);
	traffic_get_endpoint(t, self);
	if (traffic_connect(t, self, &e))
		die(e.text);
	free(self);
	t->report = calloc(1, sizeof(*t->report));
	t->start_ns = monotonic_ns();
	t->end_ns = t->deadline_ns = UINT64_MAX;
	rate_series_init(&t->worker->result->goodput, t->start_ns);
	qp_flow_set_remote(t->worker->flow);
	t->ctx->ops.post_send = count_send;
	t->ctx->ops.poll_cq = count_poll;
	return t->worker;
}

static int move(uint64_t messages)
{
	struct worker *w = make_worker();

	while (w->result->messages < messages) {
		w->heard_ns = w->control_sent_ns = w->progress_ns = monotonic_ns();
		worker_turn(w);
	}
	return w->over;
}

/* Instructions of a process that moves so many messages; 0 = not known. */
static uint64_t instructions(const char *self, unsigned int messages)
{
	unsigned long long count = 0;
	char command[512], line[512];
	FILE *in;

	snprintf(command, sizeof(command),
		 "exec valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' move %u 2>&1",
		 self, messages);
	in = popen(command, "re");
	while (in && fgets(line, sizeof(line), in)) {
		char *at = strstr(line, "Collected : ");

		if (at)
			count = strtoull(at + 12, NULL, 10);
	}
	return in && !pclose(in) ? count : 0;
}

static int count_instructions(const char *self)
{
	uint64_t one = instructions(self, MESSAGES), two = instructions(self, 2 * MESSAGES);
	double each = two > one ? (double)(two - one) / MESSAGES : 0;
	bool ok = each > 0 && each <= INSTRUCTIONS;

	if (one && two > one)
		printf("probe.host.instructions_per_message %.1f n <=%d %s\n", each, INSTRUCTIONS,
		       ok ? "ok" : "short");
	else
		puts("probe.host.instructions_per_message - n - not measured (valgrind did not run "
		     "it)");
	fflush(stdout);
	return one && two > one && !ok;
}

/* Filling and checking messages against memcpy(): a bench of its own, which lies beside this one.
 */
static int compare_pattern(const char *self)
{
	const char *slash = strrchr(self, '/');
	char command[512];

	snprintf(command, sizeof(command), "'%.*spattern'", slash ? (int)(slash + 1 - self) : 0,
		 self);
	return system(command);
}

int main(int argc, char **argv)
{
	int rc, status;

	if (argc == 3 && !strcmp(argv[1], "move"))
		return move(strtoull(argv[2], NULL, 10));
	rc = count_instructions(argv[0]);
	rc |= compare_pattern(argv[0]);
	status = system(LAB);
	return rc || status;
}
