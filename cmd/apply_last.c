/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applying what was kept. At boot this runs before the network is up, and again for each netdev
 * that a driver makes, several at once: they go one after the other. An RDMA device comes after its
 * netdev, and settings of it are waited for.
 */
#include "cmd/apply_last.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/ports.h"
#include "cmd/tidy.h"
#include "dcb/journal.h"
#include "dcb/state.h"

#define WAIT_MS	     30000 /* for an RDMA device behind its netdev */
#define WAIT_BUSY_MS 60000 /* for a transaction that is running */
#define STEP_MS	     200

static void pause_ms(unsigned int ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	(void)nanosleep(&t, NULL);
}

/* A port that is waited for. */
struct awaited {
	const char *ifname;
	bool rdma; /* it is to have an RDMA device */
};

/* Whether the port is there, and its RDMA device if there is to be one. A port that cannot be read
 * is there, too: the plan says why. */
static bool is_here(struct dcb *dcb, const struct awaited *port, bool *netdev)
{
	struct snapshot s;
	bool rdma;
	int err = cmd_take_ports(dcb, port->ifname, DCB_AGENT_NONE, &s, NULL);

	*netdev = err != -ENODEV;
	if (err)
		return *netdev;
	rdma = s.port[0].ibdev[0];
	snapshot_clear(&s);
	return rdma || !port->rdma;
}

/* False: there is no such netdev. */
static bool wait_port(struct dcb *dcb, const struct awaited *port)
{
	bool netdev;

	for (unsigned int ms = 0; ms < WAIT_MS; ms += STEP_MS) {
		if (is_here(dcb, port, &netdev))
			return true;
		if (!netdev)
			return false;
		pause_ms(STEP_MS);
	}
	return true; /* the plan says what is missing */
}

static void wait_idle(const char *state_dir)
{
	for (unsigned int ms = 0; ms < WAIT_BUSY_MS && state_busy(state_dir); ms += STEP_MS)
		pause_ms(STEP_MS);
}

/* Of another boot: what was interrupted, or not confirmed before the host was started anew, and
 * what was tried in vain. Nobody is at work on it, and its dead-man has gone with that boot. */
static bool is_left_over(const struct tx *tx)
{
	if (!tx->other_boot || tx->confirmed)
		return false;
	return tx->state == TX_RUNNING || tx->state == TX_LOST ||
	       (tx->state == TX_DONE && tx->confirm_within_s);
}

static int undo_one(struct dcb *dcb, const char *state_dir, const struct tx *found)
{
	bool is_done = found->state == TX_DONE;
	enum apply_outcome outcome;
	struct err e = {0};
	struct tx tx;
	int err;

	for (unsigned int i = 0; i < found->port_count; i++) {
		const struct awaited port = {found->port[i].ifname, found->port[i].ibdev[0]};

		(void)wait_port(dcb, &port); /* the undo names what is missing */
	}
	err = journal_rollback(dcb, state_dir, found->id, &tx, &outcome, &e);
	tx_clear(&tx);
	if (err)
		return cmd_fail(EXIT_APPLY_LOST, &e);
	printf("transaction %s, which %s, is undone\n", found->id,
	       is_done ? "was not confirmed before the reboot" : "the last boot interrupted");
	return EXIT_OK;
}

/* Newest first, until one that stands. */
static int undo_left_over(struct dcb *dcb, const char *state_dir)
{
	bool again = true;
	int rc = EXIT_OK;

	while (again) {
		struct tx tx;

		again = !journal_newest(state_dir, &tx, NULL) && is_left_over(&tx);
		if (again)
			rc = undo_one(dcb, state_dir, &tx);
		again &= rc == EXIT_OK;
		tx_clear(&tx);
	}
	return rc;
}

/* What a crash or a power loss left. */
static int recover(struct dcb *dcb, const char *state_dir)
{
	struct err e = {0};

	cmd_tidy(state_dir);
	if (last_commit_confirmed(state_dir, &e))
		fprintf(stderr, "rocecheck: warning: a confirmed profile is not kept: %s\n",
			e.text);
	return undo_left_over(dcb, state_dir);
}

static void tell(const struct last *last, int rc, unsigned int changes)
{
	if (globals->json || globals->quiet)
		return;
	printf("%s: profile %s: ", last->ifname, last->profile.name);
	if (rc)
		printf("not applied (exit %d)\n", rc);
	else if (changes)
		printf("applied, %u setting%s changed\n", changes, changes == 1 ? "" : "s");
	else
		puts("in sync");
	fflush(stdout);
}

static int boot_one(const struct last_run *run, struct dcb *dcb, const struct last *last)
{
	unsigned int changes = 0;
	int rc;

	if (!last->persist) {
		printf("%s: profile %s: policy.persist is off\n", last->ifname, last->profile.name);
		return EXIT_OK;
	}
	if (!wait_port(dcb, &(struct awaited){last->ifname, last->rdma})) {
		printf("%s: profile %s: the port is not here yet\n", last->ifname,
		       last->profile.name);
		return EXIT_OK;
	}
	wait_idle(run->state_dir);
	rc = run->apply(last, &changes);
	tell(last, rc, changes);
	return rc;
}

static int apply_one(const struct last_run *run, struct dcb *dcb, const char *ifname)
{
	struct last *last = malloc(sizeof(*last));
	unsigned int changes;
	struct err e = {0};
	int err, rc;

	err = last ? last_load(run->state_dir, ifname, last, &e) : err_sys(&e, -ENOMEM, "apply");
	if (err == -ENOENT && run->boot)
		rc = EXIT_OK;
	else if (err)
		rc = cmd_fail(err == -EBADMSG ? EXIT_USAGE : EXIT_ENVIRONMENT, &e);
	else if (run->boot)
		rc = boot_one(run, dcb, last);
	else
		rc = run->apply(last, &changes);
	free(last);
	return rc;
}

static int apply_ports(const struct last_run *run, struct dcb *dcb)
{
	int rc = run->boot ? recover(dcb, run->state_dir) : EXIT_OK;
	char(*names)[16] = NULL;
	struct err e = {0};
	unsigned int n;

	if (run->interface)
		return cmd_worse(rc, apply_one(run, dcb, run->interface));
	if (last_list(run->state_dir, &names, &n, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (!n && !run->boot) {
		err_set(&e, -ENOENT, "no profile is kept in %s/last", run->state_dir);
		err_hint(&e, "'rocecheck apply PROFILE' keeps it when it has succeeded");
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	for (unsigned int i = 0; i < n; i++)
		rc = cmd_worse(rc, apply_one(run, dcb, names[i]));
	free(names);
	return rc;
}

int cmd_apply_last(const struct last_run *run)
{
	struct err e = {0};
	struct dcb *dcb;
	int lock = -1, rc;

	if (dcb_open(NULL, &dcb, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (run->boot)
		lock = last_lock(run->state_dir, &e);
	if (run->boot && lock < 0)
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	else
		rc = apply_ports(run, dcb);
	if (lock >= 0)
		close(lock);
	dcb_close(dcb);
	return rc;
}
