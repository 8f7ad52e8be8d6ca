/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Apply as a transaction, on a machine in memory: killed at every single point and rolled back,
 * refused at every write, lied to, stuck, signalled; and journals that are cut or no journals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "dcb/journal.h"
#include "fake_machine.h"

#define POINTS_MAX 1000

struct world {
	struct fake_machine *machine; /* shared with children */
	struct fake_port before[2];
	struct dcb dcb;
	struct plan plan[2];
	char dir[32];
};

static void fill_port(struct fake_port *p)
{
	struct qos *q = &p->qos;

	memset(p, 0, sizeof(*p));
	for (int id = 0; id <= QOS_CM_TOS; id++)
		q->has |= QOS_BIT(id);
	q->has &= ~(QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_IB_MTU));
	q->dcbx_mode = QOS_DCBX_HOST | QOS_DCBX_IEEE;
	memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->dscp_prio[26] = 4;
	q->dscp_prio[8] = 1;
	q->trust = QOS_TRUST_DSCP;
	q->ets_cap = q->pfc_cap = 8;
	q->prio_tc[4] = 2;
	q->tc_tsa[2] = QOS_TSA_ETS;
	q->tc_tx_bw[2] = 100;
	q->tc_maxrate_kbps[1] = 1000;
	q->pfc_enabled = 0x10;
	q->pause_rx = q->pause_tx = 1;
	q->mtu = 1500;
	q->roce_version = 1;
	q->cm_tos = 0;
}

static void fill_want(struct qos *want)
{
	memset(want, 0, sizeof(*want));
	memset(want->dscp_prio, QOS_UNMAPPED, sizeof(want->dscp_prio));
	want->has = QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) |
		    QOS_BIT(QOS_TC_TX_BW) | QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PAUSE_RX) |
		    QOS_BIT(QOS_MTU) | QOS_BIT(QOS_ROCE_VERSION) | QOS_BIT(QOS_CM_TOS);
	want->dscp_prio[26] = 3;
	want->dscp_prio[48] = 6;
	want->prio_tc[3] = 3;
	want->tc_tsa[0] = want->tc_tsa[3] = QOS_TSA_ETS;
	want->tc_tx_bw[0] = want->tc_tx_bw[3] = 50;
	want->pfc_enabled = 0x08;
	want->mtu = 9000;
	want->roce_version = 2;
	want->cm_tos = 106;
}

static void make_plans(struct world *w)
{
	int line[QOS_FIELD_COUNT] = {0};
	struct err e = {0};
	struct qos want, have;
	bool has_dcb;

	fill_want(&want);
	for (int i = 0; i < 2; i++) {
		char name[3] = {'p', '0' + i, 0};

		assert_int_equal(dcb_read(&w->dcb, name, "rdma", 1, &have, &has_dcb, &e), 0);
		plan_make(&want, line, &have, "fake", &w->plan[i]);
		strcpy(w->plan[i].ifname, name);
		strcpy(w->plan[i].ibdev, "rdma");
		w->plan[i].ib_port = 1;
	}
}

static void world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	/* In memory if there is such a place: thousands of fsync() are no part of the question. */
	strcpy(w->dir, "/dev/shm/test_journal.XXXXXX");
	if (!mkdtemp(w->dir)) {
		strcpy(w->dir, "/tmp/test_journal.XXXXXX");
		assert_non_null(mkdtemp(w->dir));
	}
	w->machine = fake_map();
	assert_non_null(w->machine);
	fill_port(&w->machine->port[0]);
	fill_port(&w->machine->port[1]);
	memcpy(w->before, w->machine->port, sizeof(w->before));
	w->dcb.backend = &fake_backend;
	w->dcb.machine = w->machine;
	make_plans(w);
	w->machine->points = 0;
}

static void world_close(struct world *w)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	munmap(w->machine, sizeof(*w->machine));
}

static int apply(struct world *w, enum apply_outcome *outcome, struct err *e)
{
	char id[JOURNAL_ID_MAX];

	return plan_apply(&w->dcb, w->plan, 2, &(struct plan_run){.state_dir = w->dir}, id, outcome,
			  e);
}

static int rollback(struct world *w, enum apply_outcome *outcome, struct err *e)
{
	struct tx tx;
	int err = journal_rollback(&w->dcb, w->dir, NULL, &tx, outcome, e);

	tx_clear(&tx);
	return err;
}

/* Runs one of them in a child that dies at point die_at. True if it did not live to the end. */
static bool dies(struct world *w, bool rolling_back, unsigned int die_at)
{
	int status;
	pid_t pid;

	w->machine->points = 0;
	w->machine->die_at = die_at;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		enum apply_outcome outcome;
		int err = rolling_back ? rollback(w, &outcome, NULL) : apply(w, &outcome, NULL);

		_exit(err ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	w->machine->die_at = 0;
	if (WIFSIGNALED(status))
		return true;
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	return false;
}

/* Byte for byte: every member, and which are known. */
static bool as_before(const struct world *w)
{
	return !memcmp(w->machine->port, w->before, sizeof(w->before));
}

static bool is_applied(const struct world *w)
{
	struct qos want;

	fill_want(&want);
	return !qos_diff(&want, &w->machine->port[0].qos) &&
	       !qos_diff(&want, &w->machine->port[1].qos);
}

static void test_apply(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	assert_int_equal(outcome, APPLY_DONE);
	assert_true(is_applied(&w));
	assert_int_equal(w.machine->port[0].qos.dscp_prio[8], 1);
	make_plans(&w);
	assert_int_equal(plan_changes(&w.plan[0]) + plan_changes(&w.plan[1]), 0);
	w.machine->writes = 0;
	assert_int_equal(apply(&w, &outcome, &e), 0);
	assert_int_equal(w.machine->writes, 0);
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
	assert_int_equal(rollback(&w, &outcome, &e), -ENOENT);
	world_close(&w);
}

/* What was right already is not written, also when that shows only in the middle. */
static void test_unchanged(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	for (int i = 0; i < 2; i++) {
		struct qos want;

		fill_want(&want);
		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			if (qos_has(&want, id) && id != QOS_MTU)
				qos_copy_field(&w.machine->port[i].qos, &want, id);
	}
	make_plans(&w);
	assert_int_equal(plan_changes(&w.plan[0]), 3); /* MTU and the two that are hidden */
	assert_int_equal(apply(&w, &outcome, &e), 0);
	assert_int_equal(w.machine->writes, 2);
	world_close(&w);
}

static void test_killed_anywhere(void **state)
{
	unsigned int points = 0, done = 0;

	(void)state;
	for (bool dead = true; dead && points < POINTS_MAX;) {
		enum apply_outcome outcome;
		struct err e = {0};
		struct world w;
		int err;

		world_open(&w);
		dead = dies(&w, false, ++points);
		err = rollback(&w, &outcome, &e);
		if (err && err != -ENOENT)
			fail_msg("killed at %u: %s", points, e.text);
		if (!as_before(&w))
			fail_msg("killed at %u: not as before", points);
		/* And the way is free for the next. */
		make_plans(&w);
		assert_int_equal(apply(&w, &outcome, &e), 0);
		assert_true(is_applied(&w));
		done += err == 0;
		world_close(&w);
	}
	/* The test is worth something: many points, most of them past the first write. */
	assert_true(points > 60 && points < POINTS_MAX);
	assert_true(done > 40);
}

static void test_rollback_killed_anywhere(void **state)
{
	static const unsigned int first[] = {0, 20, 45};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		unsigned int points = 0;

		for (bool dead = true; dead && points < POINTS_MAX;) {
			enum apply_outcome outcome;
			struct err e = {0};
			struct world w;
			int err;

			world_open(&w);
			assert_true(dies(&w, false, first[i]) == (first[i] != 0));
			dead = dies(&w, true, ++points);
			err = rollback(&w, &outcome, &e);
			if ((err && err != -ENOENT) || !as_before(&w))
				fail_msg("apply killed at %u, rollback at %u: %d %s", first[i],
					 points, err, e.text);
			world_close(&w);
		}
		assert_true(points > 15 && points < POINTS_MAX);
	}
}

static void test_refused_anywhere(void **state)
{
	unsigned int failures = 0;

	(void)state;
	for (unsigned int write = 1;; write++) {
		enum apply_outcome outcome;
		struct err e = {0};
		struct world w;
		int err;

		world_open(&w);
		w.machine->fail_at = write;
		err = apply(&w, &outcome, &e);
		if (!err) {
			world_close(&w);
			break;
		}
		failures++;
		assert_int_equal(err, -EINVAL);
		assert_int_equal(outcome, APPLY_UNDONE);
		assert_string_equal(e.text, "refused");
		if (!as_before(&w))
			fail_msg("refused at %u: not as before", write);
		assert_int_equal(rollback(&w, &outcome, &e), -ENOENT);
		world_close(&w);
	}
	assert_int_equal(failures, 14); /* 7 objects on 2 ports */
}

/* Accepted and not done: the readback finds it. */
static void test_silent_success(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	w.machine->lie_at = 5;
	assert_int_equal(apply(&w, &outcome, &e), -EREMOTEIO);
	assert_int_equal(outcome, APPLY_UNDONE);
	assert_non_null(strstr(e.text, "reads back as"));
	assert_true(as_before(&w));
	world_close(&w);
}

static void test_lost(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	w.machine->fail_at = 3;
	w.machine->stuck = true;
	assert_int_equal(apply(&w, &outcome, &e), -EINVAL);
	assert_int_equal(outcome, APPLY_LOST);
	assert_non_null(strstr(e.text, "is not back at"));
	assert_false(as_before(&w));
	/* It is not forgotten: later it can be done. */
	assert_int_equal(rollback(&w, &outcome, &e), -EREMOTEIO);
	assert_int_equal(outcome, APPLY_LOST);
	w.machine->stuck = false;
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
	world_close(&w);
}

/* What can go back does, and all that cannot is named. */
static void test_rdma_gone(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	w.machine->rdma_gone = true;
	assert_int_equal(rollback(&w, &outcome, &e), -EREMOTEIO);
	assert_int_equal(outcome, APPLY_LOST);
	assert_non_null(strstr(e.text, "rdma.roce_version is not back at"));
	assert_non_null(strstr(e.text, "rdma.cm_default_tos is not back at"));
	assert_null(strstr(e.text, "pfc.enabled"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(w.machine->port[i].qos.pfc_enabled, w.before[i].qos.pfc_enabled);
		assert_int_equal(w.machine->port[i].qos.mtu, w.before[i].qos.mtu);
	}
	w.machine->rdma_gone = false;
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
	world_close(&w);
}

/* A former value nobody can read: success is success, failure is lost and named. */
static void test_unknown_before(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	w.machine->port[0].qos.has &= ~QOS_BIT(QOS_PFC_ENABLED);
	make_plans(&w);
	for (unsigned int i = 0; i < w.plan[0].count; i++)
		w.plan[0].step[i].cannot = false; /* as on bnxt before the first set */
	w.machine->fail_at = 6;
	assert_int_equal(apply(&w, &outcome, &e), -EINVAL);
	assert_int_equal(outcome, APPLY_LOST);
	assert_non_null(strstr(e.text, "the former value of pfc.enabled is not known"));
	world_close(&w);
}

/* A device that changes more than it is told. */
static void test_side_effects(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	for (int how = 0; how < 2; how++) {
		world_open(&w);
		memset(w.machine->port[0].qos.dscp_prio, QOS_UNMAPPED, QOS_DSCPS);
		w.machine->port[0].qos.trust = QOS_TRUST_PCP;
		memcpy(w.before, w.machine->port, sizeof(w.before));
		w.machine->resets = true;
		make_plans(&w);
		w.machine->fail_at = how ? 0 : 4;
		assert_int_equal(apply(&w, &outcome, &e), how ? 0 : -EINVAL);
		if (how)
			assert_int_equal(rollback(&w, &outcome, &e), 0);
		assert_int_equal(outcome, APPLY_UNDONE);
		assert_true(as_before(&w));
		world_close(&w);
	}
}

static void test_signal(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	w.machine->signal_at = 4;
	assert_int_equal(apply(&w, &outcome, &e), -EINTR);
	assert_int_equal(outcome, APPLY_UNDONE);
	assert_true(as_before(&w));
	world_close(&w);
}

static void test_not_started(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	int lock;

	(void)state;
	world_open(&w);
	assert_int_equal(journal_lock(w.dir, &lock, &e), 0);
	assert_int_equal(apply(&w, &outcome, &e), -EBUSY);
	assert_int_equal(rollback(&w, &outcome, &e), -EBUSY);
	close(lock);
	w.machine->check = -ENOTUNIQ;
	assert_int_equal(apply(&w, &outcome, &e), -ENOTUNIQ);
	w.machine->check = 0;
	w.machine->port[1].qos.mtu = 1400; /* somebody was here since */
	assert_int_equal(apply(&w, &outcome, &e), -ESTALE);
	w.machine->port[1].qos.mtu = 1500;
	assert_int_equal(w.machine->writes, 0);
	assert_true(as_before(&w));
	/* A dead one in the way. */
	assert_true(dies(&w, false, 30));
	assert_int_equal(apply(&w, &outcome, &e), -EBUSY);
	assert_non_null(strstr(e.hint, "rollback"));
	world_close(&w);
}

/* What somebody else set after a finished transaction is theirs. */
static void test_others_keep(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;

	(void)state;
	world_open(&w);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	w.machine->port[0].qos.tc_maxrate_kbps[1] = 7;
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_int_equal(w.machine->port[0].qos.tc_maxrate_kbps[1], 7);
	w.machine->port[0].qos.tc_maxrate_kbps[1] = 1000;
	assert_true(as_before(&w));
	world_close(&w);
}

static void read_file(const char *path, char *buf, size_t room, size_t *size)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	*size = fread(buf, 1, room, f);
	fclose(f);
}

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

/* The only transaction: its id and the path of its journal. */
static void only_journal(const struct world *w, char id[JOURNAL_ID_MAX], char *path, size_t size)
{
	char(*ids)[JOURNAL_ID_MAX];
	unsigned int n;

	assert_int_equal(journal_list(w->dir, &ids, &n, NULL), 0);
	assert_int_equal(n, 1);
	memcpy(id, ids[0], JOURNAL_ID_MAX);
	snprintf(path, size, "%s/tx/%s/journal", w->dir, id);
	free(ids);
}

/* Cut at every byte: what is whole counts, what is torn does not, and a rollback can still add its
 * end. */
static void test_torn(void **state)
{
	enum apply_outcome outcome;
	static char text[1 << 16];
	char path[256], id[JOURNAL_ID_MAX];
	struct err e = {0};
	unsigned int last_steps = 0;
	struct world w;
	size_t size;

	(void)state;
	world_open(&w);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	only_journal(&w, id, path, sizeof(path));
	read_file(path, text, sizeof(text), &size);
	for (size_t cut = 0; cut <= size; cut += 1 + (cut % 5)) {
		struct tx tx;

		write_file(path, text, cut);
		assert_int_equal(journal_load(w.dir, id, &tx, &e), 0);
		assert_true(tx.step_count >= last_steps);
		assert_true(tx.state != TX_DONE || cut == size);
		last_steps = tx.step_count;
		tx_clear(&tx);
	}
	assert_int_equal(last_steps, 14);
	/* The end of the last line is missing: it was running, and the machine says it was nearly
	 * done. */
	write_file(path, text, size - 1);
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
	assert_int_equal(rollback(&w, &outcome, &e), -ENOENT);
	world_close(&w);
}

#define HEADER                                                                                     \
	"{\"schema\":\"rocecheck.tx/"                                                              \
	"1\",\"id\":\"1\",\"time\":\"t\",\"ports\":[{\"netdev\":\"p0\","                           \
	"\"ibdev\":\"\",\"ib_port\":0,\"driver\":\"x\",\"before\":{\"mtu\":{\"netdev\":1500}}}]}"  \
	"\n"

static void test_bad_journals(void **state)
{
	static const struct {
		const char *name, *text;
		int want;
		enum tx_state state;
	} cases[] = {
		{"empty", "", 0, TX_EMPTY},
		{"header", HEADER, 0, TX_PREPARED},
		{"a step", HEADER "{\"step\":0,\"fields\":[\"mtu.netdev\"]}\n", 0, TX_RUNNING},
		{"an unknown line of a newer version", HEADER "{\"new\":1}\n", 0, TX_PREPARED},
		{"no JSON", "hello\n", -EBADMSG, 0},
		{"other schema", "{\"schema\":\"x\"}\n", -EBADMSG, 0},
		{"no ports", "{\"schema\":\"rocecheck.tx/1\",\"time\":\"t\",\"ports\":[]}\n",
		 -EBADMSG, 0},
		{"port out of range", HEADER "{\"step\":1,\"fields\":[]}\n", -EBADMSG, 0},
		{"negative port", HEADER "{\"step\":-1,\"fields\":[]}\n", -EBADMSG, 0},
		{"port is no number", HEADER "{\"step\":\"0\",\"fields\":[]}\n", -EBADMSG, 0},
		{"unknown field", HEADER "{\"step\":0,\"fields\":[\"x\"]}\n", -EBADMSG, 0},
		{"field is no string", HEADER "{\"step\":0,\"fields\":[1]}\n", -EBADMSG, 0},
		{"unknown state", HEADER "{\"state\":\"fine\"}\n", -EBADMSG, 0},
		{"value out of range", HEADER "{\"before\":0,\"qos\":{\"mtu\":{\"netdev\":-1}}}\n",
		 -EBADMSG, 0},
		{"broken in the middle", HEADER "{\"step\"\n{\"state\":\"done\"}\n", -EBADMSG, 0},
	};
	char path[128];
	struct world w;

	(void)state;
	world_open(&w);
	snprintf(path, sizeof(path), "%s/tx/1", w.dir);
	path[strlen(path) - 2] = '\0';
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/1");
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/journal");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = {0};
		struct tx tx;
		int err;

		write_file(path, cases[i].text, strlen(cases[i].text));
		err = journal_load(w.dir, "1", &tx, &e);
		if (err != cases[i].want || tx.state != cases[i].state)
			fail_msg("%s: %d, state %d", cases[i].name, err, tx.state);
		assert_true(!err || e.text[0]);
		tx_clear(&tx);
	}
	world_close(&w);
}

/* The place of the transactions is a file: an error, and nothing is freed that never was. */
static void test_no_folder(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	char path[64];
	struct world w;

	(void)state;
	world_open(&w);
	snprintf(path, sizeof(path), "%s/tx", w.dir);
	write_file(path, "", 0);
	assert_int_equal(rollback(&w, &outcome, &e), -ENOTDIR);
	assert_int_equal(apply(&w, &outcome, &e), -ENOTDIR);
	assert_true(as_before(&w));
	world_close(&w);
}

/* A disk that fills up inside a line, and has room again for the end of the transaction. */
static void test_full_disk(void **state)
{
	struct rlimit limit, former;
	enum apply_outcome outcome;
	struct err e = {0};
	struct journal *j;
	char id[JOURNAL_ID_MAX], path[128], text[65536];
	struct world w;
	struct tx tx;
	size_t size;

	(void)state;
	world_open(&w);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	only_journal(&w, id, path, sizeof(path));
	read_file(path, text, sizeof(text), &size);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = size + 5;
	assert_int_equal(journal_open(w.dir, id, &j, &e), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(journal_step(j, 0, QOS_BIT(QOS_MTU), &e), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	assert_int_equal(journal_end(j, TX_UNDONE, NULL, 0, &e), 0);
	journal_close(j);
	if (journal_load(w.dir, id, &tx, &e))
		fail_msg("%s", e.text);
	assert_int_equal(tx.state, TX_UNDONE);
	tx_clear(&tx);
	world_close(&w);
}

static void test_names(void **state)
{
	static const char *const bad[] = {"",	 "x", "../1",
					  "1/2", ".", "12345678901234567890123456789012"};
	struct err e = {0};
	struct world w;
	struct tx tx;

	(void)state;
	world_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(journal_load(w.dir, bad[i], &tx, &e), -ENOENT);
	assert_int_equal(journal_load(w.dir, "20260101-000000-00", &tx, &e), -ENOENT);
	assert_null(tx.port);
	assert_int_equal(journal_newest("/no/such/folder", &tx, &e), -ENOENT);
	for (int s = TX_EMPTY; s <= TX_LOST; s++)
		assert_non_null(tx_state_word(s));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_killed_anywhere),
		cmocka_unit_test(test_rollback_killed_anywhere),
		cmocka_unit_test(test_refused_anywhere),
		cmocka_unit_test(test_silent_success),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_rdma_gone),
		cmocka_unit_test(test_unknown_before),
		cmocka_unit_test(test_side_effects),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_not_started),
		cmocka_unit_test(test_others_keep),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_bad_journals),
		cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
