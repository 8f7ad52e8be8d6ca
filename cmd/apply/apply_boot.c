/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies saved profiles. At boot this runs before the network is up, and again for each netdev
 * that a driver creates; a lock makes concurrent runs wait for each other. An RDMA device appears
 * after its netdev, so ports with RDMA settings wait for it.
 */
#include "cmd/apply/apply_boot.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "dcb/apply/decide.h"
#include "dcb/apply/tx.h"
#include "probe/host/ports.h"

/* Limit of all waits of a run, the lock included; TimeoutStartSec= of the units is longer. All
 * ports share one budget for each kind of wait. */
#define BOOT_MS	     270000
#define WAIT_MS	     30000 /* for netdevs of transactions to undo, and RDMA devices */
#define WAIT_BUSY_MS 60000 /* for running transactions */
#define WAIT_LINK_S  60	   /* for a flapped or reset port */
#define STEP_MS	     200

/* Remaining budgets. */
struct waits {
	uint64_t end_ms; /* of the whole, monotonic */
	uint64_t device_ms, busy_ms;
	bool netdevs; /* wait for missing netdevs, too: no udev event starts this run again */
};

struct awaited {
	const char *ifname;
	bool rdma; /* it needs an RDMA device */
};

/* Returns true when the port exists, and its RDMA device if it needs one. Also true for a port that
 * cannot be read: planning reports the reason. */
static bool boot_is_port_here(struct dcb *dcb, const struct awaited *port, bool *netdev)
{
	struct snapshot s;
	bool rdma;
	int err = ports_read(dcb, port->ifname, LLDP_AGENT_NONE, &s, NULL);

	*netdev = err != -ENODEV;
	if (err)
		return *netdev;
	rdma = s.port[0].ibdev[0];
	snapshot_clear(&s);
	return rdma || !port->rdma;
}

static void boot_spend(uint64_t *left_ms, uint64_t since_ms)
{
	uint64_t spent = monotonic_ms() - since_ms;

	*left_ms -= spent < *left_ms ? spent : *left_ms;
}

/* Returns false when there is no such netdev. `netdevs`: wait for the netdev, too. */
static bool boot_wait_port(struct dcb *dcb, const struct awaited *port, bool netdevs,
			   struct waits *w)
{
	uint64_t since = monotonic_ms();
	bool netdev, here;

	while (!(here = boot_is_port_here(dcb, port, &netdev)) && (netdev || netdevs) &&
	       monotonic_ms() - since < w->device_ms)
		(void)poll(NULL, 0, STEP_MS);
	boot_spend(&w->device_ms, since);
	return here || netdev; /* planning reports a missing RDMA device */
}

static void boot_wait_idle(const struct state_at *at, struct waits *w)
{
	uint64_t since = monotonic_ms();

	while (monotonic_ms() - since < w->busy_ms && state_busy(at))
		(void)poll(NULL, 0, STEP_MS);
	boot_spend(&w->busy_ms, since);
}

/* Limit for one of n waits for flapped or reset ports. */
static unsigned int boot_link_wait_s(const struct waits *w, unsigned int n)
{
	uint64_t now = monotonic_ms(), left = now < w->end_ms ? (w->end_ms - now) / 1000 / n : 0;

	return left < WAIT_LINK_S ? left : WAIT_LINK_S;
}

static int boot_undo_one(const struct saved_run *run, struct dcb *dcb, const struct tx *tx,
			 struct waits *w)
{
	struct err e = {0};
	int err;

	for (unsigned int i = 0; i < tx->port_count; i++) {
		const struct awaited port = {tx->port[i].ifname, tx->port[i].ibdev[0]};

		(void)boot_wait_port(dcb, &port, w->netdevs, w); /* the undo reports it missing */
	}
	boot_wait_idle(run->at, w);
	if (monotonic_ms() < w->end_ms)
		err = tx_undo_other_boot(dcb, run->at, tx->id, boot_link_wait_s(w, tx->port_count),
					 &e);
	else
		err = err_set(&e, -ETIMEDOUT, "timeout of %d s for the whole run", BOOT_MS / 1000);
	if (err) {
		err_prefix(&e, "transaction %s is not undone", tx->id);
		return cmd_fail(EXIT_APPLY_LOST, &e);
	}
	printf("transaction %s is undone (%s)\n", tx->id,
	       tx->state == TX_DONE ? "not confirmed before the reboot"
				    : "interrupted by the reboot");
	return EXIT_OK;
}

/* Ports of transactions that have to be undone. */
struct marks {
	char (*ifname)[16];
	unsigned int count;
};

static int boot_mark_ports(const struct tx *tx, struct marks *m)
{
	char(*more)[16] = realloc(m->ifname, (m->count + tx->port_count) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	m->ifname = more;
	for (unsigned int i = 0; i < tx->port_count; i++)
		memcpy(m->ifname[m->count++], tx->port[i].ifname, sizeof(*more));
	return 0;
}

/* Walks all journals, newest first: undoes each transaction of another boot, or only marks its
 * ports (w NULL). A failure does not stop the walk. */
static int boot_walk_left_over(const struct saved_run *run, struct dcb *dcb, struct waits *w,
			       struct marks *m)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	struct err e = {0};
	struct state s;
	unsigned int n = 0;
	int rc = EXIT_OK, err = state_open(run->at, &s, &e);

	if (err)
		return err == -ENOENT ? EXIT_OK : cmd_fail(EXIT_ENVIRONMENT, &e);
	err = journal_ids(&s, &ids, &n, &e);
	while (!err && n--) {
		struct tx_view v;
		struct tx tx;
		bool left_over;

		if (journal_read(&s, ids[n], &tx, NULL))
			continue;
		v = tx_view(&tx, false, 0);
		left_over = tx_decide(&v, TX_BOOT) == TX_UNDO;
		if (left_over && w)
			rc = cmd_worse(rc, boot_undo_one(run, dcb, &tx, w));
		else if (left_over && boot_mark_ports(&tx, m))
			err = err_sys(&e, -ENOMEM, "transaction %s", tx.id);
		tx_clear(&tx);
	}
	free(ids);
	state_close(&s);
	return err ? cmd_worse(rc, cmd_fail(EXIT_ENVIRONMENT, &e)) : rc;
}

/* Marks the ports that still need an undo: udev starts this program again when one appears. */
static int boot_mark_left_over(const struct saved_run *run)
{
	struct marks m = {0};
	struct err e = {0};
	int rc = boot_walk_left_over(run, NULL, NULL, &m);

	if (!rc && saved_mark_undo(run->at, m.ifname, m.count, &e))
		fprintf(stderr, "rocecheck: warning: ports that appear later are not undone: %s\n",
			e.text);
	free(m.ifname);
	return rc;
}

static int boot_undo_left_over(const struct saved_run *run, struct dcb *dcb, struct waits *w)
{
	int rc = boot_mark_left_over(run);

	rc = cmd_worse(rc, boot_walk_left_over(run, dcb, w, NULL));
	return cmd_worse(rc, boot_mark_left_over(run));
}

/* After a crash or power loss. */
static int boot_recover(const struct saved_run *run, struct dcb *dcb, struct waits *w)
{
	const struct state_at *at = run->at;
	struct err e = {0};

	cmd_tidy(at);
	if (saved_commit_confirmed(at, &e))
		fprintf(stderr, "rocecheck: warning: cannot save a confirmed profile: %s\n",
			e.text);
	return boot_undo_left_over(run, dcb, w);
}

static void boot_report(const struct saved_profile *last, int rc, unsigned int changes)
{
	if (globals->json || globals->quiet)
		return;
	printf("%s: profile %s: ", last->ifname, last->profile.name);
	if (rc)
		printf("not applied (exit %d)\n", rc);
	else if (changes)
		printf("applied, %u setting%s changed\n", changes, plural(changes));
	else
		puts("in sync");
	fflush(stdout);
}

static int boot_apply_port(const struct saved_run *run, struct dcb *dcb,
			   const struct saved_profile *last, struct waits *w)
{
	unsigned int changes = 0;
	int rc;

	if (!last->persist) {
		printf("%s: profile %s: not applied (policy.persist: off)\n", last->ifname,
		       last->profile.name);
		return EXIT_OK;
	}
	if (!boot_wait_port(dcb, &(struct awaited){last->ifname, last->rdma}, false, w)) {
		printf("%s: profile %s: port does not exist yet\n", last->ifname,
		       last->profile.name);
		return EXIT_OK;
	}
	boot_wait_idle(run->at, w);
	rc = run->apply(last, boot_link_wait_s(w, 2), &changes); /* 2: apply and its undo */
	boot_report(last, rc, changes);
	return rc;
}

static int boot_apply_one(const struct saved_run *run, struct dcb *dcb, const char *ifname,
			  struct waits *w)
{
	struct saved_profile *last = malloc(sizeof(*last));
	unsigned int changes;
	struct err e = {0};
	int err, rc;

	err = last ? saved_load(run->at, ifname, last, &e) : err_sys(&e, -ENOMEM, "apply");
	if (err == -ENOENT && run->boot)
		rc = EXIT_OK;
	else if (err)
		rc = cmd_fail(err == -EBADMSG ? EXIT_USAGE : EXIT_ENVIRONMENT, &e);
	else if (run->boot)
		rc = boot_apply_port(run, dcb, last, w);
	else
		rc = run->apply(last, UINT_MAX, &changes);
	free(last);
	return rc;
}

static int boot_apply_all(const struct saved_run *run, struct dcb *dcb, struct waits *w)
{
	int rc = run->boot ? boot_recover(run, dcb, w) : EXIT_OK;
	char(*names)[16] = NULL;
	struct err e = {0};
	unsigned int n;

	if (run->interface)
		return cmd_worse(rc, boot_apply_one(run, dcb, run->interface, w));
	if (saved_list(run->at, &names, &n, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (!n && !run->boot) {
		err_set(&e, -ENOENT, "no saved profile in %s/last", run->at->dir);
		err_hint(&e, "a successful 'rocecheck apply PROFILE' saves the profile");
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	for (unsigned int i = 0; i < n; i++)
		rc = cmd_worse(rc, boot_apply_one(run, dcb, names[i], w));
	free(names);
	return rc;
}

int cmd_apply_saved(const struct saved_run *run)
{
	struct waits w = {.end_ms = monotonic_ms() + BOOT_MS,
			  .device_ms = WAIT_MS,
			  .busy_ms = WAIT_BUSY_MS,
			  .netdevs = !run->interface};
	struct err e = {0};
	struct dcb *dcb;
	int lock = -1, rc;

	if (dcb_open(NULL, &dcb, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (run->boot)
		lock = saved_lock(run->at, &e);
	if (run->boot && lock < 0)
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	else
		rc = boot_apply_all(run, dcb, &w);
	if (lock >= 0)
		close(lock);
	dcb_close(dcb);
	return rc;
}
