/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What deadman_world.h declares.
 */
#include "tests/unit/dcb/apply/deadman_world.h"

struct fake_machine *machine;

char home[32];

int open_fake(struct dcb **dcb, struct err *e)
{
	static const struct dcb fake = {.backend = &fake_backend,
					.ethtool_family = -ENOENT,
					.ioctl_fd = -1,
					.sysfs_fd = -1,
					.configfs_fd = -1,
					.debugfs_fd = -1,
					.proc_fd = -1};
	struct dcb *d = malloc(sizeof(*d));

	if (!d)
		return err_sys(e, -ENOMEM, "fake");
	*d = fake;
	d->machine = machine;
	*dcb = d;
	return 0;
}

static struct plan make_plan(void)
{
	struct qos have = machine->port[0].qos, want = have;
	int line[QOS_FIELD_COUNT] = {0};
	struct plan p;

	want.pfc_enabled = 8;
	want.mtu = 9000;
	plan_make(&want, line, &have, "fake", &p);
	strcpy(p.ifname, "p0");
	return p;
}

int set_up(void **state)
{
	struct qos *q;

	(void)state;
	strcpy(home, "/tmp/test_deadman.XXXXXX");
	machine = fake_map();
	if (!machine || !mkdtemp(home))
		return -1;
	q = &machine->port[0].qos;
	q->has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_MTU);
	q->mtu = 1500;
	return 0;
}

int apply_guarded(unsigned int seconds, char id[JOURNAL_ID_MAX],
		  int (*open)(struct dcb **dcb, struct err *e), struct deadman **deadman,
		  struct err *e)
{
	struct apply_options how = {
		.at = {home, home}, .confirm_within_s = seconds, .deadman = deadman, .open = open};
	struct plan plan = make_plan();
	enum apply_outcome outcome;
	struct dcb *dcb = NULL;
	int err;

	assert_int_equal(open_fake(&dcb, e), 0);
	err = plan_apply(dcb, &plan, 1, &how, id, &outcome, e);
	free(dcb);
	return err;
}

int apply_within(unsigned int seconds, char id[JOURNAL_ID_MAX],
		 int (*open)(struct dcb **dcb, struct err *e), struct err *e)
{
	return apply_guarded(seconds, id, open, NULL, e);
}

enum tx_state state_of(const char *id)
{
	enum tx_state now = TX_EMPTY;
	struct tx tx;

	if (!load_tx(home, id, &tx, NULL))
		now = tx.state;
	tx_clear(&tx);
	return now;
}

bool becomes(const char *id, enum tx_state state)
{
	for (int waited = 0; waited < END_TIMEOUT_MS; waited += 20) {
		if (state_of(id) == state)
			return true;
		(void)poll(NULL, 0, 20);
	}
	return false;
}

bool comes_back(void)
{
	for (int waited = 0; waited < END_TIMEOUT_MS; waited += 20) {
		const volatile struct fake_port *port = &machine->port[0];

		if (port->qos.mtu == 1500 && port->qos.pfc_enabled == 0 && machine->writes >= 4)
			return true;
		(void)poll(NULL, 0, 20);
	}
	return false;
}

void journal_of(const char *id, char path[160])
{
	snprintf(path, 160, "%s/tx/%s/journal", home, id);
}

unsigned int signal_deadmen(int number)
{
	char command[64];
	unsigned int n = 0;
	FILE *f;
	int pid;

	/* A process has 15 characters of its name. */
	snprintf(command, sizeof(command), "pgrep -x %.15s", program_invocation_short_name);
	f = popen(command, "r");
	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1) {
		char path[64], link[64] = "";

		snprintf(path, sizeof(path), "/proc/%d/fd/4", pid);
		if (pid != getpid() && readlink(path, link, sizeof(link) - 1) > 0 &&
		    !strcmp(link, home))
			n += !kill(pid, number);
	}
	pclose(f);
	return n;
}

int tear_down(void **state)
{
	char command[64];

	(void)state;
	(void)signal_deadmen(SIGKILL);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	munmap(machine, sizeof(*machine));
	return system(command);
}
