/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck watch: tells of drift when it happens. Notices of rtnetlink say which port to read
 * again; what has no notice (sysfs, configfs, ethtool, firmware) is polled. Notices of one cause
 * come in bursts, so a burst is let end before ports are read. One loop over poll(2), no threads.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd/apply/watch.h"
#include "cmd/cmd.h"
#include "dcb/apply/deadman.h"
#include "dcb/apply/decide.h"

#define FOLD_MS	    300	 /* so long nothing may come before ports are read, */
#define FOLD_MAX_MS 1000 /* but no longer than this after the first notice */
#define BUSY_MS	    500	 /* between looks at a transaction that is running */
#define UNKNOWN_MS  5000 /* between searches for ports because of netdevs we do not know */

static const char *interface;
static struct state_at state_at = {STATE_DIR, STATE_RUN};
static unsigned int interval_ms = 60000;
static bool once, repair;

static const struct opt watch_opts[] = {
	{"interface", 'i', OPT_STRING, &interface, .arg = "IFACE", .help = "only this port"},
	{"interval", 0, OPT_DURATION, &interval_ms, .arg = "TIME",
	 .help = "read what has no notice that often; default 60s"},
	{"once", 0, OPT_FLAG, &once, .help = "compare now and end"},
	{"repair", 0, OPT_FLAG, &repair,
	 .help = "put back what drifted, never by a flap, 3 times in 10 minutes a port"},
	{"state-dir", 0, OPT_STRING, &state_at.dir, .arg = "DIR",
	 .help = "journals are there, not in " STATE_DIR},
	{.name = NULL},
};

/* When to do what, by the monotonic clock in ms; 0 = not at all. */
struct schedule {
	uint64_t now, poll_at, check_at, first_at, search_at, searched_at;
};

struct loop {
	struct watch w;
	struct schedule at;
	struct nl *nl;
	int signals;
	char overdue[JOURNAL_ID_MAX]; /* the transaction that was told last */
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void fold(struct loop *l)
{
	struct schedule *at = &l->at;

	if (!at->check_at) {
		at->first_at = at->now;
		/* Now, while whoever did it may still run. */
		suspects_add(NULL, &l->w.suspects);
	}
	at->check_at = earlier(at->now + FOLD_MS, at->first_at + FOLD_MAX_MS);
}

static void take_notice(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct loop *l = arg;
	struct watch_notice n;
	struct watched *p;

	if (!watch_decode(type, payload, size, &n))
		return;
	p = watch_port(&l->w, n.ifname);
	if (!p) {
		if (n.kind == WATCH_LINK && !l->at.search_at)
			l->at.search_at = l->at.searched_at + UNKNOWN_MS > l->at.now + FOLD_MS
						  ? l->at.searched_at + UNKNOWN_MS
						  : l->at.now + FOLD_MS;
		return;
	}
	p->dirty = true;
	if (n.kind == WATCH_LINK)
		p->carrier = n.carrier;
	fold(l);
}

static int take_notices(struct loop *l, struct err *e)
{
	const struct watch_told lost = {.event = WATCH_OVERRUN,
					.text = "notices were lost, all ports are read again"};
	int err = nl_notices(l->nl, take_notice, l, e);

	if (err != -ENOBUFS)
		return err;
	(void)watch_tell(&lost);
	for (unsigned int i = 0; i < l->w.count; i++)
		l->w.port[i].dirty = true;
	fold(l);
	return 0;
}

/* A dead-man that was killed leaves a transaction that nobody undoes in this boot. */
static void report_overdue(struct loop *l)
{
	char text[ERR_TEXT_MAX];
	struct err e = {0};
	struct tx tx = {0};
	struct tx_view v;
	struct state s;

	if (state_open(&state_at, &s, NULL))
		return;
	if (!journal_newest(&s, &tx, NULL)) {
		v = tx_view(&tx, deadman_lives(state_at.run, tx.id), journal_clock_ms());
		if (tx_decide(&v, TX_BEGIN) == TX_REFUSE_OVERDUE && strcmp(l->overdue, tx.id)) {
			(void)tx_refuse(TX_REFUSE_OVERDUE, &tx, &e);
			snprintf(text, sizeof(text), "%.480s: %.480s", e.text, e.hint);
			(void)watch_tell(
				&(struct watch_told){.event = WATCH_OVERDUE, .text = text});
			memcpy(l->overdue, tx.id, sizeof(tx.id));
		}
	}
	tx_clear(&tx);
	state_close(&s);
}

static void poll_ports(struct loop *l)
{
	struct err e = {0};

	l->at.poll_at = l->at.now + interval_ms;
	l->at.searched_at = l->at.now;
	l->at.search_at = 0;
	if (!l->w.suspects.count)
		suspects_add(NULL, &l->w.suspects);
	if (watch_refresh(&l->w, false, &e))
		(void)cmd_fail(0, &e); /* the next poll tries again */
	report_overdue(l);
}

static bool is_due(uint64_t when, uint64_t now)
{
	return when && when <= now;
}

/* While a transaction runs its writes are no drift. */
static void act(struct loop *l)
{
	struct schedule *at = &l->at;
	bool poll_now = is_due(at->poll_at, at->now) || is_due(at->search_at, at->now);

	if (!poll_now && !is_due(at->check_at, at->now))
		return;
	if (state_busy(&state_at)) {
		at->check_at = at->now + BUSY_MS;
		return;
	}
	at->check_at = 0;
	watch_check(&l->w);
	if (poll_now)
		poll_ports(l);
}

/* Milliseconds that nothing is due. */
static int idle_ms(const struct schedule *at)
{
	uint64_t next = earlier(earlier(at->poll_at, at->check_at), at->search_at);

	/* What is overdue waits for a transaction's end: see act(). */
	if (at->check_at && at->check_at > at->now)
		next = at->check_at;
	return next <= at->now ? 0 : next - at->now > 3600000 ? 3600000 : (int)(next - at->now);
}

static int run_loop(struct loop *l, struct err *e)
{
	struct pollfd fds[] = {{.fd = nl_fd(l->nl), .events = POLLIN},
			       {.fd = l->signals, .events = POLLIN}};
	int err = 0;

	l->at.now = monotonic_ms();
	l->at.poll_at = l->at.now + interval_ms;
	while (!err) {
		if (poll(fds, ARRAY_SIZE(fds), idle_ms(&l->at)) < 0 && errno != EINTR)
			return err_sys(e, -errno, "poll");
		l->at.now = monotonic_ms();
		if (fds[1].revents)
			return 0;
		if (fds[0].revents)
			err = take_notices(l, e);
		if (!err)
			act(l);
		if (ferror(stdout))
			return 0; /* said at the end */
	}
	return err;
}

static int open_signals(struct err *e)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_sys(e, -errno, "signals") : fd;
}

/* Joined before the first reading: nothing is missed in between. */
static int open_notices(struct loop *l, struct err *e)
{
	int err = nl_open(NETLINK_ROUTE, &l->nl, e);

	if (!err)
		err = nl_join(l->nl, WATCH_GROUP_LINK, e);
	if (!err)
		err = nl_join(l->nl, WATCH_GROUP_DCB, e);
	return err;
}

static bool has_want(const struct watch *w)
{
	bool all = true;

	for (unsigned int i = 0; i < w->count; i++)
		all &= w->profile || w->port[i].since[0];
	return all;
}

static int compare_once(struct loop *l)
{
	struct err e = {0};

	if (has_want(&l->w))
		return l->w.drifted ? EXIT_FINDINGS : EXIT_OK;
	if (l->w.hidden) {
		err_set(&e, -EACCES, "%s: the transactions are readable by root alone",
			state_at.dir);
		err_hint(&e, "run as root, or name a profile");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	err_set(&e, -ENOENT, "a port has no confirmed transaction in %s to compare with",
		state_at.dir);
	err_hint(&e, "name a profile, or apply one first");
	return cmd_fail(EXIT_USAGE, &e);
}

static int watch(struct loop *l)
{
	struct err e = {0};
	int err = dcb_open(NULL, &l->w.dcb, &e);

	if (!err)
		err = open_notices(l, &e);
	if (!err)
		err = watch_refresh(&l->w, true, &e);
	if (err)
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	report_overdue(l);
	if (once)
		return compare_once(l);
	l->signals = open_signals(&e);
	if (l->signals < 0 || run_loop(l, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	return l->w.drifted ? EXIT_FINDINGS : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct profile profile;
	struct loop l = {.signals = -1};
	int rc;

	if (argc > 1)
		return cmd_usage(&cmd_watch, "one profile at most");
	if (interval_ms < 1000)
		return cmd_usage(&cmd_watch, "--interval is at least 1s");
	rc = argc ? cmd_load_profile(argv[0], &profile) : 0;
	if (rc)
		return rc;
	l.w = (struct watch){.profile = argc ? &profile : NULL,
			     .interface = interface,
			     .at = &state_at,
			     .repair = repair,
			     .once = once};
	rc = watch(&l);
	if (l.signals >= 0)
		close(l.signals);
	nl_shut(l.nl);
	dcb_close(l.w.dcb);
	free(l.w.port);
	return rc;
}

const struct command cmd_watch = {
	.name = "watch",
	.args = "[PROFILE]",
	.help = "tell when a port's settings are no longer what they were",
	.opts = watch_opts,
	.run = run,
};
