/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rollout against agents that are shell scripts: good ones, those that refuse, break, lie, die
 * and come back. Whatever they do, each host ends in a state that is named, and nothing is begun
 * that should not be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/rollout/rollout.h"
#include "tests/unit/fixture/folder.h"

#define HOSTS 3

/*
 * A host: its name is that of the script. A file HOST.OP.N is what it does when asked for OP the
 * N-th time, else it is a good host with one thing to change.
 */
static const char agent[] =
	"#!/bin/sh\n"
	"cd \"${0%/*}\"; me=${0##*/}\n"
	"answer() { printf '{\"id\":%s,\"ok\":true,\"exit\":%s,\"output\":%s,\"said\":\"%s\"}\\n' "
	"\"$id\" \"$1\" \"$2\" \"$3\"; }\n"
	"plan() { answer 0 '{\"schema\":\"rocecheck.plan/1\",\"ports\":[{\"netdev\":\"p0\","
	"\"tier\":\"recorded\",\"steps\":['\"$1\"']}]}' \"$2\"; }\n"
	"step='{\"cannot\":false,\"disruption\":\"none\"}'\n"
	"list() { answer 0 '{\"transactions\":['\"$1\"']}'; }\n"
	"tx() { printf '{\"id\":\"20260101-000000-0%s\",\"state\":\"%s\",\"waits\":%s}' \"$@\"; }\n"
	"applied() { touch $me.done; answer 0 "
	"'{\"tx\":\"20260101-000000-01\",\"outcome\":\"done\",\"left\":0}'; }\n"
	"[ ! -e $me.gone ] || exit 7\n"
	"echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"" ROCECHECK_VERSION "\"}'\n"
	"while read -r line; do\n"
	"	id=${line##*\\\"id\\\":}; id=${id%%[,\\}]*}\n"
	"	op=${line##*\\\"op\\\":\\\"}; op=${op%%\\\"*}\n"
	"	[ $op != ping ] || continue\n"
	"	echo $me $op >>log\n"
	"	n=$(grep -c \"^$me $op$\" log)\n"
	"	[ ! -e $me.$op.$n ] || { . ./$me.$op.$n; continue; }\n"
	"	case $op in\n"
	"	plan) if [ -e $me.done ]; then plan ''; else plan \"$step\"; fi ;;\n"
	"	transactions) list \"\" ;;\n"
	"	apply) applied ;;\n"
	"	confirm) answer 0 '{}' ;;\n"
	"	rollback) rm -f $me.done; answer 0 '{}' ;;\n"
	"	quit) echo '{\"id\":'$id',\"ok\":true}'; exit 0 ;;\n"
	"	esac\n"
	"done\n";

static atomic_int stop;
static const char *stop_at; /* a line of progress */

static void write_script(const char *name, const char *text)
{
	char path[64];

	write_file(name, text);
	assert_int_equal(chmod(path_of(name, path), 0755), 0);
}

static int set_up(void **state)
{
	stop = 0;
	stop_at = NULL;
	return make_dir(state);
}

static void make_fabric(struct fabric *f, struct fabric_host hosts[HOSTS])
{
	memset(f, 0, sizeof(*f));
	memset(hosts, 0, HOSTS * sizeof(*hosts));
	strcpy(f->engine, "local");
	f->host = hosts;
	f->host_count = HOSTS;
	for (unsigned int h = 0; h < HOSTS; h++) {
		snprintf(hosts[h].name, sizeof(hosts[h].name), "h%u", h + 1);
		snprintf(hosts[h].agent, sizeof(hosts[h].agent), "%s/h%u", dir, h + 1);
		write_script(hosts[h].name, agent);
	}
}

static void on_progress(const char *line, void *arg)
{
	(void)arg;
	if (stop_at && strstr(line, stop_at))
		stop = 1;
}

/* What the hosts were asked, in order, without the questions of the beginning. */
static void read_log(char *log, size_t size)
{
	char path[64], line[64];
	size_t used = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", dir);
	f = fopen(path, "r");
	log[0] = '\0';
	for (bool begun = false; f && fgets(line, sizeof(line), f);) {
		begun |= strstr(line, "apply") != NULL;
		if (begun && !strstr(line, "quit"))
			used += snprintf(log + used, size - used, "%.3s%c ", line, line[3]);
	}
	if (f)
		fclose(f);
}

static int run(struct rollout *r, const struct fabric *f, unsigned int parallel,
	       unsigned int max_bad)
{
	struct rollout_options how = {
		.limits = {.parallel = parallel, .max_failed = max_bad},
		.confirm_within_s = 1,
		.wait_link_s = 1,
		.settle_ms = ROLLOUT_SETTLE_AUTO,
		.margin_ms = 100,
	};
	struct err e = {0};

	if (rollout_open(f, &stop, on_progress, NULL, r, &e))
		fail_msg("%s", e.text);
	for (unsigned int h = 0; h < HOSTS; h++)
		r->host[h].profile = json_pack("{s:s}", "name", "a");
	rollout_connect(r);
	rollout_plan(r, false);
	how.limits.canary = rollout_canary(r);
	return rollout_run(r, &how, &e);
}

struct file {
	const char *name, *text;
};

static const struct {
	const char *name;
	struct file file[4];
	unsigned int max_bad;
	enum rollout_result want[HOSTS];
	const char *reason; /* of the first that did not go well */
	bool lost;	    /* that one */
	const char *log;    /* in it */
} cases[] = {
	{"all good",
	 {{NULL, NULL}},
	 0,
	 {ROLLOUT_APPLIED, ROLLOUT_APPLIED, ROLLOUT_APPLIED},
	 "",
	 false,
	 "h1 a h1 p h1 c h2 a"},
	{"the first is as wanted, the second is the canary",
	 {{"h1.done", ""}, {"h1.apply.1", "answer 0 '{\"tx\":\"\",\"outcome\":\"unchanged\"}'"}},
	 0,
	 {ROLLOUT_UNCHANGED, ROLLOUT_APPLIED, ROLLOUT_APPLIED},
	 "",
	 false,
	 "h2 a h2 p h2 c h1 a"},
	{"the canary undoes it",
	 {{"h1.apply.1", "answer 5 null 'rocecheck: error: p0: refused\\n   = help: look\\n'"}},
	 9,
	 {ROLLOUT_ROLLED_BACK, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "p0: refused (look)",
	 false,
	 "h1 a "},
	{"the canary cannot undo it",
	 {{"h1.apply.1", "answer 6 null 'rocecheck: error: p0: mtu is not back\\n'"}},
	 0,
	 {ROLLOUT_FAILED, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "mtu is not back",
	 true,
	 "h1 a "},
	{"refused before anything was written",
	 {{"h2.apply.1", "answer 3 null 'rocecheck: error: lldpad is running\\n'"}},
	 1,
	 {ROLLOUT_APPLIED, ROLLOUT_FAILED, ROLLOUT_APPLIED},
	 "lldpad is running",
	 false,
	 "h3 c"},
	{"something does not read back",
	 {{"h1.apply.1",
	   "answer 1 '{\"tx\":\"20260101-000000-01\",\"outcome\":\"done\",\"left\":2}'"}},
	 0,
	 {ROLLOUT_ROLLED_BACK, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "2 settings read back",
	 false,
	 "h1 a h1 r "},
	{"it differs again when we look",
	 {{"h1.plan.2", "plan \"$step\""}},
	 0,
	 {ROLLOUT_ROLLED_BACK, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "differ again",
	 false,
	 "h1 a h1 p h1 r "},
	{"it cannot be confirmed",
	 {{"h1.confirm.1", "answer 1 null 'rocecheck: error: its time is up\\n'"}},
	 0,
	 {ROLLOUT_ROLLED_BACK, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "confirming failed: its time is up",
	 false,
	 "h1 c h1 r "},
	{"and not undone",
	 {{"h1.plan.2", "plan \"$step\""},
	  {"h1.rollback.1", "answer 6 null 'rocecheck: error: p0: no device\\n'"}},
	 0,
	 {ROLLOUT_FAILED, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "differ again after apply; and the rollback failed: p0: no device",
	 true,
	 "h1 r "},
	{"lost while it applies, and back with the work done",
	 {{"h1.apply.1", "touch $me.done; exit 9"},
	  {"h1.transactions.2", "list \"$(tx 1 done true)\""}},
	 0,
	 {ROLLOUT_APPLIED, ROLLOUT_APPLIED, ROLLOUT_APPLIED},
	 "",
	 false,
	 "h1 a h1 t h1 p h1 c "},
	{"lost while it applies, and back as it was",
	 {{"h1.apply.1", "exit 9"}, {"h1.transactions.2", "list \"$(tx 1 undone false)\""}},
	 0,
	 {ROLLOUT_ROLLED_BACK, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "lost during apply (status 9); the host rolled back by itself",
	 false,
	 "h1 a h1 t "},
	{"lost while it applies, for good",
	 {{"h1.apply.1", "touch $me.gone; exit 9"}},
	 9,
	 {ROLLOUT_FAILED, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "rollback --list",
	 true,
	 "h1 a "},
	{"lost while it is undone: it is undone all the same",
	 {{"h1.plan.2", "plan \"$step\""},
	  {"h1.rollback.1", "exit 9"},
	  {"h1.transactions.2", "list \"$(tx 1 done true)\""}},
	 0,
	 {ROLLOUT_ROLLED_BACK, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "differ again",
	 false,
	 "h1 r h1 t h1 r "},
	{"nonsense",
	 {{"h1.apply.1", "answer 0 '{\"outcome\":7}'"}},
	 0,
	 {ROLLOUT_FAILED, ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED},
	 "invalid answer to apply",
	 true,
	 "h1 a h1 t "},
	{"not reached",
	 {{"h2.gone", ""}},
	 0,
	 {ROLLOUT_NOT_STARTED, ROLLOUT_FAILED, ROLLOUT_NOT_STARTED},
	 "h2 was not reached",
	 false,
	 ""},
	{"not reached, and that is allowed",
	 {{"h2.gone", ""}},
	 1,
	 {ROLLOUT_APPLIED, ROLLOUT_FAILED, ROLLOUT_APPLIED},
	 "status 7",
	 false,
	 "h1 c h3 a"},
	{"no plan",
	 {{"h3.plan.1", "answer 3 null 'rocecheck: error: no RoCE port on this host\\n'"}},
	 0,
	 {ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED, ROLLOUT_FAILED},
	 "h3 failed",
	 false,
	 ""},
	{"a plan that is none",
	 {{"h3.plan.1", "answer 0 '{\"schema\":\"rocecheck.plan/1\",\"ports\":[7]}'"}},
	 0,
	 {ROLLOUT_NOT_STARTED, ROLLOUT_NOT_STARTED, ROLLOUT_FAILED},
	 "h3 failed",
	 false,
	 ""},
};

static void expect(const struct rollout *r, size_t i)
{
	const struct rollout_host *bad = NULL;
	char log[2048];

	read_log(log, sizeof(log));
	for (unsigned int h = 0; h < HOSTS; h++) {
		const struct rollout_host *host = &r->host[h];

		if (host->result != cases[i].want[h])
			fail_msg("%s: %s is %s: %s (%s)", cases[i].name, host->name,
				 rollout_result_word(host->result), host->reason, log);
		if (!bad && host->result != ROLLOUT_APPLIED && host->result != ROLLOUT_UNCHANGED)
			bad = host;
	}
	if (bad && (!strstr(bad->reason, cases[i].reason) || bad->lost != cases[i].lost))
		fail_msg("%s: %s%s", cases[i].name, bad->reason, bad->lost ? " lost" : "");
	if (!strstr(log, cases[i].log))
		fail_msg("%s: %s", cases[i].name, log);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fabric_host hosts[HOSTS];
		struct rollout r;
		struct fabric f;

		assert_int_equal(set_up(state), 0);
		make_fabric(&f, hosts);
		for (unsigned int k = 0; k < ARRAY_SIZE(cases[i].file) && cases[i].file[k].name;
		     k++)
			write_script(cases[i].file[k].name, cases[i].file[k].text);
		assert_int_equal(run(&r, &f, 1, cases[i].max_bad), 0);
		expect(&r, i);
		rollout_close(&r);
		rollout_close(&r);
		assert_int_equal(clear_dir(state), 0);
	}
}

/* Stopped: what runs comes to its end, nothing else begins. */
static void test_stop(void **state)
{
	struct fabric_host hosts[HOSTS];
	struct rollout r;
	struct fabric f;

	(void)state;
	make_fabric(&f, hosts);
	stop_at = "h1: applying 1 change";
	assert_int_equal(run(&r, &f, 8, 0), -EINTR);
	assert_int_equal(r.host[0].result, ROLLOUT_APPLIED);
	assert_int_equal(r.host[1].result, ROLLOUT_NOT_STARTED);
	assert_string_equal(r.host[2].reason, "stopped");
	rollout_close(&r);
}

static void test_facts(void **state)
{
	static const struct {
		const char *plan;
		int err;
		struct rollout_facts want;
	} rows[] = {
		{"[]", -EBADMSG, {0}},
		{"{\"schema\":\"rocecheck.plan/2\",\"ports\":[]}", -EBADMSG, {0}},
		{"{\"schema\":\"rocecheck.plan/1\"}", -EBADMSG, {0}},
		{"{\"schema\":\"rocecheck.plan/1\",\"ports\":[{\"netdev\":\"p0\"}]}",
		 -EBADMSG,
		 {0}},
		{"{\"schema\":\"rocecheck.plan/1\",\"ports\":[{\"netdev\":\"p/0123456789abcdef\","
		 "\"steps\":[]}]}",
		 -EBADMSG,
		 {0}},
		{"{\"schema\":\"rocecheck.plan/"
		 "1\",\"ports\":[{\"netdev\":\"p0\",\"tier\":\"source\","
		 "\"used_by\":[\"x\"],\"steps\":[{\"cannot\":true,\"disruption\":\"link-flap\"}]}]"
		 "}",
		 0,
		 {.ports = 1, .cannot = 1}},
		{"{\"schema\":\"rocecheck.plan/"
		 "1\",\"ports\":[{\"netdev\":\"p0\",\"tier\":\"source\","
		 "\"used_by\":[\"x\",\"y\"],\"steps\":[{\"cannot\":false,\"disruption\":\"none\"},"
		 "{\"cannot\":false,\"disruption\":\"link-flap\"}]}]}",
		 0,
		 {.ports = 1,
		  .changes = 2,
		  .disrupted = 1,
		  .unproven = true,
		  .used = "p0 is in use by x"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *plan = json_loads(rows[i].plan, 0, NULL);
		struct rollout_facts got = {0};
		struct err e = {0};

		assert_int_equal(rollout_read_facts(plan, &got, &e), rows[i].err);
		if (memcmp(&got, &rows[i].want, sizeof(got)))
			fail_msg("%s: %u ports %u changes %u cannot %u disrupted '%s'",
				 rows[i].plan, got.ports, got.changes, got.cannot, got.disrupted,
				 got.used);
		json_decref(plan);
	}
}

static void test_groups(void **state)
{
	struct fabric_port ports[] = {{.interface = "p0", .rail = 5},
				      {.interface = "p1", .rail = 6}};
	struct fabric_host hosts[] = {
		{.rack = "a"}, {.rack = "b", .port = ports, .port_count = 2}, {.rack = "b"}};
	struct fabric f = {.host = hosts, .host_count = 3};
	json_t *plan = json_loads(
		"{\"ports\":[{\"netdev\":\"p1\",\"steps\":[{\"disruption\":\"link-flap\"}]},"
		"{\"netdev\":\"p0\",\"steps\":[{\"disruption\":\"none\"}]}]}",
		0, NULL);
	struct rollout_entry u = {0};

	(void)state;
	f.failure_group = GROUP_RAIL;
	rollout_read_groups(plan, &f, 1, &u);
	assert_int_equal(u.group_count, 1);
	assert_int_equal(u.group[0], 6);
	rollout_read_groups(plan, &f, 2, &u); /* its inventory does not know the port */
	assert_int_equal(u.group[0], ROLLOUT_EVERY_GROUP);
	f.failure_group = GROUP_RACK;
	rollout_read_groups(plan, &f, 2, &u);
	assert_int_equal(u.group[0], 1);
	rollout_read_groups(plan, &f, 1, &u);
	assert_int_equal(u.group[0], 1);
	f.failure_group = GROUP_FLEET;
	rollout_read_groups(plan, &f, 0, &u);
	assert_int_equal(u.group[0], 0);
	json_decref(plan);
}

static void test_reason(void **state)
{
	static const struct {
		const char *said, *want;
	} rows[] = {
		{"", "exit 3"},
		{"Killed\n", "exit 3"},
		{"rocecheck: error: a: b\n", "a: b"},
		{"rocecheck: warning: w\nrocecheck: error: a\n   = help: h\nmore\n", "a (h)"},
		{"rocecheck: error: a\nrocecheck: error: b", "b"},
		{"error: ", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char got[64];

		rollout_reason(rows[i].said, 3, got, sizeof(got));
		assert_string_equal(got, rows[i].want);
	}
	for (int i = 0; i < ROLLOUT_RESULT_COUNT; i++)
		assert_non_null(rollout_result_word(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test_setup_teardown(test_stop, set_up, clear_dir),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
