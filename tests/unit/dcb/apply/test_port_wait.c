/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port that goes away and comes back, in a sysfs of files: what is missing, and an apply that
 * waits for it, or gives up and undoes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "dcb/apply/plan_apply.h"
#include "dcb/apply/port_wait.h"
#include "tests/unit/fixture/fake_machine.h"
#include "tests/unit/fixture/journal_scene.h"

static char root[40];
static struct dcb dcb;
static struct dcb_backend backend;
static const struct dcb_port port = {"p0", "rdma", 1, LLDP_AGENT_NONE};

static void run(const char *format, ...)
{
	char command[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	assert_int_equal(system(command), 0);
}

/* A write of PFC takes the carrier away. */
static int write_and_flap(struct dcb *d, const struct dcb_port *p, const struct qos *q,
			  uint64_t mask, struct err *e)
{
	run("echo 0 >%s/class/net/p0/carrier", root);
	return fake_backend.write(d, p, q, mask, e);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test_presence.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	run("cd %s && mkdir -p class/net/p0 class/infiniband/rdma/ports/1/gids state && cd class "
	    "&& "
	    "echo 1 >net/p0/carrier && cd infiniband/rdma/ports/1 && echo '4: ACTIVE' >state && "
	    "echo fe80::1 >gids/0 && echo 0000:0000:0000:0000:0000:0000:0000:0000 >gids/1 && "
	    "echo ::ffff:198.18.0.1 >gids/2",
	    root);
	memset(&dcb, 0, sizeof(dcb));
	dcb.sysfs_fd = open(root, O_RDONLY | O_DIRECTORY);
	backend = fake_backend;
	backend.write = write_and_flap;
	dcb.backend = &backend;
	dcb.machine = fake_map();
	return dcb.sysfs_fd < 0 || !dcb.machine ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(dcb.sysfs_fd);
	munmap(dcb.machine, sizeof(struct fake_machine));
	run("rm -rf %s", root);
	return 0;
}

static void test_missing(void **state)
{
	struct port_state before, now;

	(void)state;
	port_state_read(&dcb, &port, &before);
	assert_true(before.carrier && before.active);
	assert_int_equal(before.gids, 2);
	assert_null(port_state_missing(&before, &before));
	/* In another order, and one more. */
	run("cd %s/class/infiniband/rdma/ports/1/gids && mv 0 x && mv 2 0 && mv x 2", root);
	port_state_read(&dcb, &port, &now);
	assert_null(port_state_missing(&before, &now));
	run("echo fe80::2 >%s/class/infiniband/rdma/ports/1/gids/3", root);
	port_state_read(&dcb, &port, &now);
	assert_null(port_state_missing(&before, &now));
	/* As many, but others. */
	run("cd %s/class/infiniband/rdma/ports/1/gids && rm 3 && echo fe80::9 >0", root);
	port_state_read(&dcb, &port, &now);
	assert_string_equal(port_state_missing(&before, &now), "its GIDs");
	run("echo '1: DOWN' >%s/class/infiniband/rdma/ports/1/state", root);
	port_state_read(&dcb, &port, &now);
	assert_string_equal(port_state_missing(&before, &now), "the RDMA port");
	run("rm -r %s/class/net/p0", root);
	port_state_read(&dcb, &port, &now);
	assert_string_equal(port_state_missing(&before, &now), "carrier");
	/* What was not there before is not missed. */
	assert_null(port_state_missing(&now, &now));
}

/* It comes back 400 ms after that many writes. */
static pid_t mend(unsigned int writes)
{
	const volatile struct fake_machine *m = dcb.machine;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	while (m->writes < writes)
		(void)poll(NULL, 0, 1);
	(void)poll(NULL, 0, 400);
	run("echo 1 >%s/class/net/p0/carrier", root);
	_exit(0);
}

static int apply(unsigned int wait_s, enum apply_outcome *outcome, struct err *e)
{
	struct fake_machine *m = dcb.machine;
	struct apply_options how = {.wait_link_s = wait_s};
	struct qos *q = &m->port[0].qos, want;
	int line[QOS_FIELD_COUNT] = {0};
	char id[JOURNAL_ID_MAX], dir[64];
	struct plan plan;

	memset(q, 0, sizeof(*q));
	q->has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PRIO_BUFFER);
	want = *q;
	want.pfc_enabled = 8;
	want.prio_buffer[3] = 1;		       /* comes after PFC */
	plan_make(&want, line, q, "mlx5_core", &plan); /* PFC flaps */
	assert_int_equal(plan.step[0].disruption, DISRUPT_LINK_FLAP);
	strcpy(plan.ifname, "p0");
	strcpy(plan.ibdev, "rdma");
	plan.ib_port = 1;
	snprintf(dir, sizeof(dir), "%s/state", root);
	how.at = (struct state_at){dir, dir};
	return plan_apply(&dcb, &plan, 1, &how, id, outcome, e);
}

static void test_waits(void **state)
{
	enum apply_outcome outcome;
	pid_t pid = mend(1);
	struct err e = {0};

	(void)state;
	if (apply(30, &outcome, &e))
		fail_msg("%s", e.text);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(outcome, APPLY_DONE);
}

static void test_gives_up(void **state)
{
	const struct fake_machine *m = dcb.machine;
	enum apply_outcome outcome;
	struct err e = {0};

	(void)state;
	assert_int_equal(apply(1, &outcome, &e), -ETIMEDOUT);
	assert_int_equal(outcome, APPLY_UNDONE);
	assert_string_equal(e.text, "p0: carrier did not come back within 1 s");
	assert_int_equal(m->port[0].qos.pfc_enabled, 0);
}

static bool has_carrier(void)
{
	struct port_state now;

	port_state_read(&dcb, &port, &now);
	return now.carrier;
}

/* An undo flaps the port, too, and is over when it is back; so is a rollback. */
static void test_undo_waits(void **state)
{
	struct fake_machine *m = dcb.machine;
	enum apply_outcome outcome;
	pid_t pid = mend(3);
	struct err e = {0};

	(void)state;
	m->fail_at = 2;
	assert_int_equal(apply(30, &outcome, &e), -EINVAL);
	assert_int_equal(outcome, APPLY_UNDONE);
	assert_string_equal(e.text, "refused");
	assert_true(has_carrier());
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_rollback_waits(void **state)
{
	struct fake_machine *m = dcb.machine;
	enum apply_outcome outcome;
	struct err e = {0};
	char dir[64];
	struct tx tx;
	pid_t pid;

	(void)state;
	backend.write = fake_backend.write;
	assert_int_equal(apply(0, &outcome, &e), 0);
	backend.write = write_and_flap;
	pid = mend(m->writes + 2);
	snprintf(dir, sizeof(dir), "%s/state", root);
	assert_int_equal(tx_rollback(&dcb, AT(dir), NULL, &tx, &outcome, &e), 0);
	assert_true(has_carrier());
	assert_null(tx.port[0].missing);
	tx_clear(&tx);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A port that stays away is named, and the settings are back all the same. */
static void test_undo_tells(void **state)
{
	struct fake_machine *m = dcb.machine;
	enum apply_outcome outcome;
	struct err e = {0};

	(void)state;
	m->fail_at = 2;
	assert_int_equal(apply(1, &outcome, &e), -EINVAL);
	assert_int_equal(outcome, APPLY_UNDONE);
	assert_string_equal(e.text, "refused; and p0: carrier has not returned yet");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gives_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_undo_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rollback_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_undo_tells, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
