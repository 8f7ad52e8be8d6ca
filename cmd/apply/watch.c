/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck watch: reports drift when it happens. rtnetlink notifications name the port to read
 * again; settings without notifications (sysfs, configfs, ethtool, firmware) are polled. One cause
 * sends a burst of notifications, so ports are read when the burst has ended. One poll(2) loop, no
 * threads.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/apply/plan_text.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "dcb/apply/deadman.h"
#include "dcb/apply/decide.h"
#include "dcb/apply/plan_apply.h"
#include "dcb/drift/drift.h"
#include "dcb/drift/writers.h"
#include "dcb/lldpad/lldp_agent.h"
#include "probe/host/ports.h"
#include "profiles/base/signals.h"

#define WATCH_SCHEMA	"rocecheck.watch/1"
#define WATCH_PORTS_MAX 1024
#define VALUE_MAX	256
#define FOLD_MS		300  /* a burst has ended after this time without a notification, */
#define FOLD_MAX_MS	1000 /* or this time after its first one */
#define BUSY_MS		500  /* between checks for a running transaction */
#define UNKNOWN_MS	5000 /* between port searches that an unknown netdev causes */

static const char *interface;
static struct state_at state_at = {STATE_DIR, STATE_RUN};
static unsigned int interval_ms = 60000;
static bool once, repair;

static const struct opt watch_opts[] = {
	{"interface", 'i', OPT_STRING, &interface, .arg = "IFACE", .help = "only this port"},
	{"interval", 0, OPT_DURATION, &interval_ms, .arg = "TIME",
	 .help = "how often to read settings whose changes the kernel does not announce (default "
		 "60s)"},
	{"once", 0, OPT_FLAG, &once, .help = "compare once with the baseline, then exit"},
	{"repair", 0, OPT_FLAG, &repair,
	 .help = "restore drifted settings without a link flap (at most 3 times per port in 10 "
		 "minutes)"},
	{"state-dir", 0, OPT_STRING, &state_at.dir, .arg = "DIR",
	 .help = "read journals in DIR (default " STATE_DIR ")"},
	{.name = NULL},
};

struct watched {
	char ifname[16], ibdev[64];
	unsigned int ib_port;
	bool present;
	bool dirty; /* a notification named it */
	bool carrier, carrier_reported;
	bool known; /* `now` is filled */
	struct drift_want want;
	char since[JOURNAL_ID_MAX]; /* the transaction, "" = none */
	struct qos now;
	uint64_t drift;
	struct drift_budget budget;
	time_t event_at;	 /* of the last drift or its end */
	char held[ERR_TEXT_MAX]; /* last reported reason why no repair was tried */
};

struct watch {
	struct dcb *dcb;
	const struct profile *profile; /* NULL: the last confirmed transactions */
	struct watched *port;	       /* owned */
	unsigned int count;
	uint64_t stamp;		      /* of the journals when `want` was read from them */
	struct drift_writers writers; /* running during the current burst */
	bool drifted;		      /* at any time */
	bool hidden;		      /* this user may not read the transactions */
};

enum watch_event {
	WATCH_START,   /* text: the baseline of the port */
	WATCH_DRIFT,   /* fields differ from the baseline, before -> p->now */
	WATCH_BACK,    /* fields match the baseline again */
	WATCH_ARRIVED, /* the port exists (again) */
	WATCH_REMOVED,
	WATCH_CARRIER,
	WATCH_OVERRUN,	/* of no port: notifications were lost, all ports are read again */
	WATCH_REPAIRED, /* text: the transaction */
	WATCH_FAILED,	/* a repair failed; text: why */
	WATCH_HELD,	/* no repair is tried; text: why */
	WATCH_OVERDUE,	/* of no port: a transaction is overdue and unguarded; text: its id */
};

struct watch_report {
	enum watch_event event;
	const struct watched *port; /* NULL: of no port */
	const struct qos *before;   /* with WATCH_DRIFT, WATCH_BACK and WATCH_REPAIRED */
	uint64_t fields;
	const struct drift_writers *writers; /* NULL: none are named */
	const struct watch *watch;	     /* with WATCH_DRIFT */
	const char *text;
};

static const char *const event_words[] = {
	[WATCH_START] = "start",
	[WATCH_DRIFT] = "drift",
	[WATCH_BACK] = "back",
	[WATCH_ARRIVED] = "arrived",
	[WATCH_REMOVED] = "removed",
	[WATCH_CARRIER] = "carrier",
	[WATCH_OVERRUN] = "overrun",
	[WATCH_REPAIRED] = "repaired",
	[WATCH_FAILED] = "repair-failed",
	[WATCH_HELD] = "repair-held",
	[WATCH_OVERDUE] = "unconfirmed",
};

/* One line each: "TIME DRIFT roce0 pfc.enabled: [3] -> [4] (wanted [3])". */
static void watch_print_fields(const struct watch_report *t, const char *head)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char from[VALUE_MAX], to[VALUE_MAX], want[VALUE_MAX] = "", line[4 * VALUE_MAX];
		const char *text = t->text ? t->text : want;

		if (!(t->fields & QOS_BIT(id)))
			continue;
		qos_field_text(t->before, id, from, sizeof(from));
		qos_field_text(&t->port->now, id, to, sizeof(to));
		if (t->event == WATCH_DRIFT) {
			strcpy(want, "wanted ");
			qos_field_text(&t->port->want.qos, id, want + 7, sizeof(want) - 7);
		}
		snprintf(line, sizeof(line), "%s %s: %s -> %s%s%s%s", head, qos_fields[id].key,
			 from, to, *text ? " (" : "", text, *text ? ")" : "");
		output_wrap(stdout, line, 0, 4, OUTPUT_COLUMNS);
		putchar('\n');
	}
}

/* "    HEAD: TEXT", wrapped; nothing for an empty text. */
static void watch_print_detail(const char *head, const char *text)
{
	char line[1024];

	if (!*text)
		return;
	snprintf(line, sizeof(line), "%s%s", head, text);
	fputs("    ", stdout);
	output_wrap(stdout, line, 4, 6, OUTPUT_COLUMNS);
	putchar('\n');
}

/* The command that restores the baseline; none if that is only the state at the start. */
static void watch_print_remedy(const struct watch *w, const struct watched *p)
{
	const char *name = w->profile ? profile_shown_name(w->profile->path) : "--last";

	if (!repair && (w->profile || p->since[0]))
		printf("    to restore: rocecheck apply %s -i %s (or watch with --repair)\n", name,
		       p->ifname);
}

/* One line each. Programs that began before the previous event are named only alone: a new one is
 * the likelier cause. */
static void watch_print_writers(const struct watch_report *t)
{
	const struct drift_writers *s = t->writers;
	time_t since = 0;

	for (unsigned int i = 0; i < s->count; i++)
		if (s->writer[i].started >= t->port->event_at)
			since = t->port->event_at;
	for (unsigned int i = 0; i < s->count; i++) {
		const struct drift_writer *one = &s->writer[i];
		char text[96], when[UTC_TEXT_MAX];

		if (one->started < since)
			continue;
		utc_text(one->started, when);
		snprintf(text, sizeof(text), "%s (pid %d%s%s)", one->name, (int)one->pid,
			 one->started ? ", since " : "", one->started ? when : "");
		watch_print_detail("possibly changed by (running at that time): ", text);
	}
}

static void watch_print_text(const struct watch_report *t, const char *when)
{
	const char *word = t->event == WATCH_DRIFT  ? "DRIFT"
			   : t->event == WATCH_BACK ? "OK again"
						    : event_words[t->event];
	char head[64], line[ERR_TEXT_MAX + 128], text[768];

	snprintf(head, sizeof(head), "%s %s%s%s", when, word, t->port ? " " : "",
		 t->port ? t->port->ifname : "");
	if (t->fields) {
		watch_print_fields(t, head);
	} else {
		snprintf(line, sizeof(line), "%s%s%s%s", head,
			 t->event != WATCH_CARRIER ? ""
			 : t->port->carrier	   ? " on"
						   : " off",
			 !t->text		   ? ""
			 : t->event == WATCH_START ? " "
						   : ": ",
			 t->text ? t->text : "");
		output_wrap(stdout, line, 0, 4, OUTPUT_COLUMNS);
		putchar('\n');
	}
	if (t->event == WATCH_DRIFT) {
		drift_effects_text(&t->port->want.qos, &t->port->now, t->fields, text,
				   sizeof(text));
		watch_print_detail("", text);
	}
	if (t->writers)
		watch_print_writers(t);
	if (t->event == WATCH_DRIFT)
		watch_print_remedy(t->watch, t->port);
}

static json_t *watch_fields_json(const struct watch_report *t)
{
	json_t *list = json_array();

	for (int id = 0; list && id < QOS_FIELD_COUNT; id++) {
		json_t *one;

		if (!(t->fields & QOS_BIT(id)))
			continue;
		one = json_pack("{s:s, s:o, s:o, s:o}", "key", qos_fields[id].key, "from",
				qos_field_json(t->before, id), "to",
				qos_field_json(&t->port->now, id), "want",
				qos_field_json(&t->port->want.qos, id));
		if (json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *watch_writers_json(const struct drift_writers *s)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < s->count; i++) {
		const struct drift_writer *one = &s->writer[i];
		json_t *since = json_null();
		char when[32];

		utc_text(one->started, when);
		if (one->started)
			since = json_string(when);
		if (json_array_append_new(list,
					  json_pack("{s:s, s:i, s:o}", "name", one->name, "pid",
						    (int)one->pid, "started", since))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *watch_report_json(const struct watch_report *t, const char *when)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s?}", "schema", WATCH_SCHEMA, "time", when,
			      "event", event_words[t->event], "port",
			      t->port ? t->port->ifname : NULL);
	int err = o ? 0 : -1;

	if (!err && t->fields)
		err = json_object_set_new(o, "fields", watch_fields_json(t));
	if (!err && t->event == WATCH_CARRIER)
		err = json_object_set_new(o, "carrier", json_boolean(t->port->carrier));
	if (!err && t->text)
		err = json_object_set_new(o, "text", json_string(t->text));
	if (!err && t->writers)
		err = json_object_set_new(o, "suspects", watch_writers_json(t->writers));
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}

static void watch_print_json(const struct watch_report *t, const char *when)
{
	json_t *o = watch_report_json(t, when);

	if (o)
		(void)json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	putchar('\n');
}

/* Lines on stdout; with --json an object, on one line, of rocecheck.watch/1. Times are UTC. */
static void watch_print(const struct watch_report *t)
{
	char when[UTC_TEXT_MAX];

	utc_text(time(NULL), when);
	if (globals->json)
		watch_print_json(t, when);
	else
		watch_print_text(t, when);
	/* A pipe reader needs the line now. A write error is reported at exit. */
	(void)fflush(stdout);
}

static void watch_print_event(const struct watched *p, enum watch_event event, const char *text)
{
	const struct watch_report t = {.event = event, .port = p, .text = text};

	watch_print(&t);
}

/* netlink does not report the IB MTU; verbs does, so the value of the last poll stays. */
static int watch_read_port(struct watch *w, const struct watched *p, struct qos *now, struct err *e)
{
	bool has_dcb;
	int err = dcb_read(w->dcb, p->ifname, p->ibdev, p->ib_port, now, &has_dcb, e);

	if (!err)
		qos_copy_field(now, &p->now, QOS_IB_MTU);
	return err;
}

/* A repair is an apply without a question: steps that flap or reset the port are left out, and
 * DRIFT_REPAIRS_MAX ends a fight with another program. */

/* Reports each reason once, not at every poll. */
static void watch_hold(struct watched *p, const char *why)
{
	if (!strcmp(p->held, why))
		return;
	snprintf(p->held, sizeof(p->held), "%s", why);
	watch_print_event(p, WATCH_HELD, why);
}

static void watch_left_text(const struct plan *plan, uint64_t left, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int id = 0; id < QOS_FIELD_COUNT && used < size; id++) {
		const char *why = "no step can restore it";

		if (!(left & QOS_BIT(id)))
			continue;
		for (unsigned int i = 0; i < plan->count; i++)
			if (plan->step[i].field == (enum qos_field_id)id && plan->step[i].cannot)
				why = plan->step[i].reason;
		used += snprintf(buf + used, size - used, "%s%s is not repaired: %s",
				 used ? "; " : "", qos_fields[id].key, why);
	}
}

static int watch_make_plan(struct watch *w, const struct watched *p, struct plan *plan,
			   uint64_t *left, struct err *e)
{
	struct dcb_driver_info info = {0};
	int err = dcb_driver(w->dcb, p->ifname, &info, e);

	/* A netdev without ethtool has no driver name. */
	if (err && err != -EOPNOTSUPP)
		return err;
	drift_plan(&p->want, p->drift, &p->now, info.driver, plan, left);
	snprintf(plan->ifname, sizeof(plan->ifname), "%s", p->ifname);
	snprintf(plan->ibdev, sizeof(plan->ibdev), "%s", p->ibdev);
	plan->ib_port = p->ib_port;
	plan->beside_read_only = w->profile && w->profile->agent == AGENT_LLDPAD_READONLY;
	return 0;
}

static int watch_run_repair(struct watch *w, const struct plan *plan, char tx_id[JOURNAL_ID_MAX],
			    struct err *e)
{
	enum apply_outcome outcome;
	int err = plan_apply(w->dcb, plan, 1,
			     &(struct apply_options){.at = state_at, .wait_link_s = 60}, tx_id,
			     &outcome, e);

	if (tx_id[0] && drift_mark_repair(&state_at, tx_id, err ? NULL : e) && !err)
		err = e->code;
	return err;
}

static void watch_read_again(struct watch *w, struct watched *p)
{
	struct qos now;

	if (watch_read_port(w, p, &now, NULL)) {
		p->dirty = true;
		return;
	}
	p->now = now;
	p->drift = drift_fields(&p->want, &now);
}

/* Restores the drifted fields, or reports why not. */
static void watch_repair(struct watch *w, struct watched *p)
{
	char text[ERR_TEXT_MAX], tx_id[JOURNAL_ID_MAX] = "";
	struct qos before = p->now;
	uint64_t was = p->drift, left;
	struct err e = {0};
	struct plan plan;
	int err;
	const struct plans plans = {.plan = &plan, .count = 1, .privileged = true};

	if (watch_make_plan(w, p, &plan, &left, &e) || cmd_plans_check_owner(&plans, &e)) {
		watch_hold(p, e.text);
		return;
	}
	watch_left_text(&plan, left, text, sizeof(text));
	if (left)
		watch_hold(p, text);
	if (!plan_changes(&plan))
		return;
	if (!drift_budget_consume(&p->budget, monotonic_ms())) {
		snprintf(text, sizeof(text),
			 "%u repairs in %u minutes: no more repairs of this port until watch "
			 "restarts",
			 DRIFT_REPAIRS_MAX, DRIFT_REPAIR_WINDOW_MS / 60000);
		watch_hold(p, text);
		return;
	}
	err = watch_run_repair(w, &plan, tx_id, &e);
	if (err == -EBUSY && !tx_id[0]) {
		drift_budget_return(&p->budget);
		watch_hold(p, e.text);
		return;
	}
	if (err) {
		watch_print_event(p, WATCH_FAILED, e.text);
		return;
	}
	watch_read_again(w, p);
	snprintf(text, sizeof(text), "transaction %s", tx_id);
	watch_print(&(struct watch_report){.event = WATCH_REPAIRED,
					   .port = p,
					   .before = &before,
					   .fields = was & ~p->drift,
					   .text = text});
}

/* Each poll searches for ports again, each notification reads its port again. A removed port stays
 * in the list, so that it is checked when it returns. */

static struct watched *watch_find_port(struct watch *w, const char *ifname)
{
	for (unsigned int i = 0; i < w->count; i++)
		if (!strcmp(w->port[i].ifname, ifname))
			return &w->port[i];
	return NULL;
}

/* Names only programs that can have set these fields. */
static void watch_print_drift(struct watch *w, struct watched *p, enum watch_event event,
			      const struct qos *before, uint64_t fields)
{
	struct drift_writers named = w->writers;
	const struct watch_report t = {.event = event,
				       .port = p,
				       .before = before,
				       .fields = fields,
				       .writers = &named,
				       .watch = w};

	writers_filter(&named, fields);
	watch_print(&t);
	p->event_at = time(NULL);
}

/* Reads the baseline of a port. Returns false when it has not changed. */
static bool watch_want_state(struct watch *w, struct watched *p, bool first)
{
	char since[JOURNAL_ID_MAX] = "";
	struct qos q;
	int err = drift_baseline_find(&state_at, p->ifname, &q, since, NULL);

	if (err)
		q = p->now;
	w->hidden |= err == -EACCES;
	/* The kernel does not show settings that only the agent holds. */
	if (!qos_has(&p->now, QOS_ADMIN_STATUS))
		q.has &= ~lldp_agent_own_fields();
	if (!first && !strcmp(since, p->since))
		return false;
	p->want = (struct drift_want){.qos = q, .exact = true};
	memcpy(p->since, since, sizeof(since));
	return true;
}

static void watch_print_start(const struct watch *w, const struct watched *p)
{
	char text[256];

	if (w->profile)
		snprintf(text, sizeof(text), "baseline: profile %.200s",
			 profile_shown_name(w->profile->path));
	else if (p->since[0])
		snprintf(text, sizeof(text), "baseline: settings after transaction %s", p->since);
	else
		snprintf(text, sizeof(text), "baseline: current settings (%s)",
			 w->hidden ? "only root can read the transactions"
				   : "no confirmed transaction");
	watch_print_event(p, WATCH_START, text);
}

static void watch_judge(struct watch *w, struct watched *p, const struct qos *now)
{
	uint64_t drift = drift_fields(&p->want, now), old = p->drift, fresh;
	struct qos before = p->known ? p->now : p->want.qos;

	fresh = drift & (drift_changed_fields(&before, now) | ~old);
	p->now = *now;
	p->known = true;
	p->drift = drift;
	w->drifted |= drift != 0;
	if (fresh)
		watch_print_drift(w, p, WATCH_DRIFT, &before, fresh);
	if (old & ~drift)
		watch_print_drift(w, p, WATCH_BACK, &before, old & ~drift);
	if (drift && repair)
		watch_repair(w, p);
	if (!drift)
		p->held[0] = '\0';
}

static void watch_port_removed(struct watch *w, struct watched *p)
{
	if (!p->present)
		return;
	p->present = false;
	w->drifted = true;
	watch_print_event(p, WATCH_REMOVED, NULL);
}

static void watch_check_port(struct watch *w, struct watched *p)
{
	struct err e = {0};
	struct qos now;
	int err;

	p->dirty = false;
	err = watch_read_port(w, p, &now, &e);
	if (err == -ENODEV) {
		watch_port_removed(w, p);
		return;
	}
	if (err) {
		(void)cmd_fail(0, &e); /* the next poll tries again */
		return;
	}
	if (!p->present) {
		p->present = true;
		watch_print_event(p, WATCH_ARRIVED, NULL);
	}
	watch_judge(w, p, &now);
}

static void watch_check_carrier(struct watched *p)
{
	if (!p->present || p->carrier == p->carrier_reported)
		return;
	p->carrier_reported = p->carrier;
	watch_print_event(p, WATCH_CARRIER, NULL);
}

/* A new or undone transaction can change the baseline. Its own writes are no drift; without any
 * transaction the current state becomes the baseline. */
static void watch_update_wants(struct watch *w)
{
	uint64_t stamp = w->profile ? 0 : drift_baseline_stamp(&state_at);

	if (stamp == w->stamp)
		return;
	w->stamp = stamp;
	for (unsigned int i = 0; i < w->count; i++) {
		struct watched *p = &w->port[i];
		struct qos before = p->now, now;

		if (!watch_read_port(w, p, &now, NULL)) /* a removed port keeps its last state */
			p->now = now;
		if (watch_want_state(w, p, false)) {
			p->drift = drift_fields(&p->want, &p->now);
			p->held[0] = '\0';
			watch_print_start(w, p);
		} else {
			p->now = before;
			p->dirty = true;
		}
	}
}

static void watch_check(struct watch *w)
{
	watch_update_wants(w);
	for (unsigned int i = 0; i < w->count; i++) {
		if (w->port[i].dirty)
			watch_check_port(w, &w->port[i]);
		watch_check_carrier(&w->port[i]);
	}
	w->writers.count = 0;
}

static bool watch_read_carrier(struct watch *w, const char *ifname)
{
	char path[64], text[8];

	snprintf(path, sizeof(path), "class/net/%.20s/carrier", ifname);
	return !dcb_sysfs_read(w->dcb, path, text, sizeof(text)) && text[0] == '1';
}

static struct watched *watch_add_port(struct watch *w, const struct port *found, struct err *e)
{
	struct watched *more, *p;

	if (w->count == WATCH_PORTS_MAX) {
		err_set(e, -ENOSPC, "more than %u ports", WATCH_PORTS_MAX);
		return NULL;
	}
	more = realloc(w->port, (w->count + 1) * sizeof(*more));
	if (!more) {
		err_sys(e, -ENOMEM, "watch");
		return NULL;
	}
	w->port = more;
	p = memset(&more[w->count++], 0, sizeof(*p));
	snprintf(p->ifname, sizeof(p->ifname), "%s", found->netdev);
	p->carrier = p->carrier_reported = watch_read_carrier(w, p->ifname);
	p->now = found->qos;
	if (w->profile) {
		p->want.qos = w->profile->qos;
		p->want.qos.has &= plan_live_fields(w->profile);
	} else {
		(void)watch_want_state(w, p, true);
	}
	return p;
}

static int watch_update_port(struct watch *w, const struct port *found, bool first, struct err *e)
{
	struct watched *p = watch_find_port(w, found->netdev);
	bool is_new = !p;

	if (!p)
		p = watch_add_port(w, found, e);
	if (!p)
		return e->code;
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", found->ibdev);
	p->ib_port = found->ib_port;
	if (!p->present && !first)
		watch_print_event(p, WATCH_ARRIVED, NULL);
	p->present = true;
	p->dirty = false;
	if (is_new)
		watch_print_start(w, p);
	watch_judge(w, p, &found->qos);
	return 0;
}

static bool watch_is_in(const struct snapshot *s, const struct watched *p)
{
	for (unsigned int i = 0; i < s->port_count; i++)
		if (!strcmp(s->port[i].netdev, p->ifname))
			return true;
	return false;
}

/* Reads all ports: finds those that came, went or changed without a notification. `first`: reports
 * the baseline of each port, and -ENODEV when there is none. */
static int watch_refresh(struct watch *w, bool first, struct err *e)
{
	struct snapshot s = {0};
	int err = ports_read(w->dcb, interface, LLDP_AGENT_NONE, &s, e);

	if (!first)
		watch_update_wants(w);
	else if (!w->profile)
		w->stamp = drift_baseline_stamp(&state_at);
	for (unsigned int i = 0; !err && i < s.port_count; i++)
		if (interface || !w->profile ||
		    ports_profile_selects(w->dcb, w->profile, s.port[i].netdev))
			err = watch_update_port(w, &s.port[i], first, e);
	/* The others are removed, or have only lost their RDMA device. */
	for (unsigned int i = 0; (!err || err == -ENODEV) && i < w->count; i++)
		if (!watch_is_in(&s, &w->port[i])) {
			w->port[i].ibdev[0] = '\0';
			watch_check_port(w, &w->port[i]);
		}
	snapshot_clear(&s);
	if (!err && first && !w->count)
		err = err_set(e, -ENODEV, "the profile selects no RoCE port of this host");
	w->writers.count = 0;
	return err == -ENODEV && !first ? 0 : err;
}

/* Times of CLOCK_MONOTONIC in ms; 0 = never. */
struct watch_timers {
	uint64_t now, poll_at, check_at, first_at, search_at, searched_at;
};

struct watch_loop {
	struct watch w;
	struct watch_timers at;
	struct nl *nl;
	int signals;
	char overdue[JOURNAL_ID_MAX]; /* the transaction of the last WATCH_OVERDUE */
};

static uint64_t watch_earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void watch_fold(struct watch_loop *l)
{
	struct watch_timers *at = &l->at;

	if (!at->check_at) {
		at->first_at = at->now;
		/* Now, while the program that wrote may still run. */
		writers_add(NULL, &l->w.writers);
	}
	at->check_at = watch_earlier(at->now + FOLD_MS, at->first_at + FOLD_MAX_MS);
}

static void watch_on_notice(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct watch_loop *l = arg;
	struct drift_notice n;
	struct watched *p;

	if (!drift_decode_notice(type, payload, size, &n))
		return;
	p = watch_find_port(&l->w, n.ifname);
	if (!p) {
		if (n.kind == DRIFT_NETDEV && !l->at.search_at)
			l->at.search_at = l->at.searched_at + UNKNOWN_MS > l->at.now + FOLD_MS
						  ? l->at.searched_at + UNKNOWN_MS
						  : l->at.now + FOLD_MS;
		return;
	}
	p->dirty = true;
	if (n.kind == DRIFT_NETDEV)
		p->carrier = n.carrier;
	watch_fold(l);
}

static int watch_read_notices(struct watch_loop *l, struct err *e)
{
	const struct watch_report lost = {.event = WATCH_OVERRUN,
					  .text = "kernel notifications were lost; reading all "
						  "ports again"};
	int err = nl_notices(l->nl, watch_on_notice, l, e);

	if (err != -ENOBUFS)
		return err;
	watch_print(&lost);
	for (unsigned int i = 0; i < l->w.count; i++)
		l->w.port[i].dirty = true;
	watch_fold(l);
	return 0;
}

/* When a dead-man was killed, no process undoes its transaction in this boot. */
static void watch_report_overdue(struct watch_loop *l)
{
	char text[ERR_TEXT_MAX];
	struct err e = {0};
	struct tx tx = {0};
	struct tx_view v;
	struct state s;

	if (state_open(&state_at, &s, NULL))
		return;
	if (!journal_newest(&s, &tx, NULL)) {
		v = tx_view(&tx, deadman_lives(state_at.run, tx.id), boottime_ms());
		if (tx_decide(&v, TX_BEGIN) == TX_REFUSE_OVERDUE && strcmp(l->overdue, tx.id)) {
			(void)tx_refuse(TX_REFUSE_OVERDUE, &tx, &e);
			snprintf(text, sizeof(text), "%.480s: %.480s", e.text, e.hint);
			watch_print(&(struct watch_report){.event = WATCH_OVERDUE, .text = text});
			memcpy(l->overdue, tx.id, sizeof(tx.id));
		}
	}
	tx_clear(&tx);
	state_close(&s);
}

static void watch_poll_ports(struct watch_loop *l)
{
	struct err e = {0};

	l->at.poll_at = l->at.now + interval_ms;
	l->at.searched_at = l->at.now;
	l->at.search_at = 0;
	if (!l->w.writers.count)
		writers_add(NULL, &l->w.writers);
	if (watch_refresh(&l->w, false, &e))
		(void)cmd_fail(0, &e); /* the next poll tries again */
	watch_report_overdue(l);
}

static bool watch_is_due(uint64_t when, uint64_t now)
{
	return when && when <= now;
}

/* The writes of a running transaction are no drift, so checks wait for its end. */
static void watch_act(struct watch_loop *l)
{
	struct watch_timers *at = &l->at;
	bool poll_now = watch_is_due(at->poll_at, at->now) || watch_is_due(at->search_at, at->now);

	if (!poll_now && !watch_is_due(at->check_at, at->now))
		return;
	if (state_busy(&state_at)) {
		at->check_at = at->now + BUSY_MS;
		return;
	}
	at->check_at = 0;
	watch_check(&l->w);
	if (poll_now)
		watch_poll_ports(l);
}

/* Milliseconds until the next timer. */
static int watch_idle_ms(const struct watch_timers *at)
{
	uint64_t next = watch_earlier(watch_earlier(at->poll_at, at->check_at), at->search_at);

	/* Overdue timers wait for the end of a transaction: see watch_act(). */
	if (at->check_at && at->check_at > at->now)
		next = at->check_at;
	return next <= at->now ? 0 : next - at->now > 3600000 ? 3600000 : (int)(next - at->now);
}

static int watch_run_loop(struct watch_loop *l, struct err *e)
{
	struct pollfd fds[] = {{.fd = nl_fd(l->nl), .events = POLLIN},
			       {.fd = l->signals, .events = POLLIN}};
	int err = 0;

	l->at.now = monotonic_ms();
	l->at.poll_at = l->at.now + interval_ms;
	while (!err) {
		if (poll(fds, ARRAY_SIZE(fds), watch_idle_ms(&l->at)) < 0 && errno != EINTR)
			return err_sys(e, -errno, "poll");
		l->at.now = monotonic_ms();
		if (fds[1].revents)
			return 0;
		if (fds[0].revents)
			err = watch_read_notices(l, e);
		if (!err)
			watch_act(l);
		if (ferror(stdout))
			return 0; /* reported at exit */
	}
	return err;
}

/* Joins the groups before the first reading, so no change is missed. */
static int watch_open_notices(struct watch_loop *l, struct err *e)
{
	int err = nl_open(NETLINK_ROUTE, &l->nl, e);

	if (!err)
		err = nl_join(l->nl, DRIFT_GROUP_LINK, e);
	if (!err)
		err = nl_join(l->nl, DRIFT_GROUP_DCB, e);
	return err;
}

static bool watch_has_want(const struct watch *w)
{
	bool all = true;

	for (unsigned int i = 0; i < w->count; i++)
		all &= w->profile || w->port[i].since[0];
	return all;
}

static int watch_compare_once(struct watch_loop *l)
{
	struct err e = {0};

	if (watch_has_want(&l->w))
		return l->w.drifted ? EXIT_FINDINGS : EXIT_OK;
	if (l->w.hidden) {
		err_set(&e, -EACCES, "%s: only root can read the transactions", state_at.dir);
		err_hint(&e, "run as root, or name a profile: rocecheck watch --once PROFILE");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	err_set(&e, -ENOENT, "no baseline: a port has no confirmed transaction in %s",
		state_at.dir);
	err_hint(&e, "name a profile (rocecheck watch --once PROFILE), or apply one first");
	return cmd_fail(EXIT_USAGE, &e);
}

static int watch_run(struct watch_loop *l)
{
	struct err e = {0};
	int err = dcb_open(NULL, &l->w.dcb, &e);

	if (!err)
		err = watch_open_notices(l, &e);
	if (!err)
		err = watch_refresh(&l->w, true, &e);
	if (err)
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	watch_report_overdue(l);
	if (once)
		return watch_compare_once(l);
	l->signals = signals_open_stop(&e);
	if (l->signals < 0 || watch_run_loop(l, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	return l->w.drifted ? EXIT_FINDINGS : EXIT_OK;
}

static int watch_main(int argc, char **argv)
{
	struct profile profile;
	struct watch_loop l = {.signals = -1};
	int rc;

	if (argc > 1)
		return cmd_usage(&cmd_watch, "more than one PROFILE");
	if (interval_ms < 1000)
		return cmd_usage(&cmd_watch, "--interval must be at least 1s");
	rc = argc ? cmd_load_profile(argv[0], &profile) : 0;
	if (rc)
		return rc;
	l.w.profile = argc ? &profile : NULL;
	rc = watch_run(&l);
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
	.help = "report drift from a baseline: PROFILE, else the last confirmed apply",
	.opts = watch_opts,
	.run = watch_main,
};
