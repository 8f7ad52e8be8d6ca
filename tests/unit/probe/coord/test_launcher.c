/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines of the engines, and what must never get onto one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/coord/launcher.h"
#include "profiles/fabric.h"

struct sample {
	struct fabric f;
	struct fabric_host host;
};

static void make_sample(struct sample *s, const char *engine, const char *target, const char *agent)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->f.engine, sizeof(s->f.engine), "%s", engine);
	snprintf(s->f.agent, sizeof(s->f.agent), "%s", agent);
	snprintf(s->host.name, sizeof(s->host.name), "h1");
	snprintf(s->host.target, sizeof(s->host.target), "%s", target);
	s->f.connect_timeout_s = 7;
	s->f.host = &s->host;
	s->f.host_count = 1;
}

static void join(const struct launcher_argv *a, char *buf, size_t size)
{
	*buf = '\0';
	for (unsigned int i = 0; a->argv[i]; i++) {
		size_t used = strlen(buf);

		snprintf(buf + used, size - used, "%s[%s]", i ? " " : "", a->argv[i]);
	}
}

#define SSH_OPTIONS                                                                                \
	"[-T] [-x] [-oForwardAgent=no] [-oClearAllForwardings=yes] [-oTunnel=no] "                 \
	"[-oPermitLocalCommand=no] [-oRemoteCommand=none] [-oRequestTTY=no] [-oBatchMode=yes] "    \
	"[-oServerAliveInterval=2] [-oServerAliveCountMax=3] [-oConnectTimeout=7] [--] "

static void test_commands(void **state)
{
	static const struct {
		const char *engine, *target, *config, *agent, *want;
	} cases[] = {
		{"ssh", "", "", "", "[ssh] " SSH_OPTIONS "[h1] [rocecheck] [agent]"},
		{"ssh", "root@10.0.0.1", "", "/opt/rocecheck",
		 "[ssh] " SSH_OPTIONS "[root@10.0.0.1] [/opt/rocecheck] [agent]"},
		{"ssh", "h1", "/lab/ssh config", "/opt/my tools/rocecheck",
		 "[ssh] [-F] [/lab/ssh config] " SSH_OPTIONS
		 "[h1] ['/opt/my tools/rocecheck'] [agent]"},
		{"ssh", "h1", "", "$(reboot)", "[ssh] " SSH_OPTIONS "[h1] ['$(reboot)'] [agent]"},
		{"ssh", "u+v@[fe80::1%eth0]", "", "",
		 "[ssh] " SSH_OPTIONS "[u+v@[fe80::1%eth0]] [rocecheck] [agent]"},
		{"ssh", "ssh://u@h-1.a_b:22", "", "",
		 "[ssh] " SSH_OPTIONS "[ssh://u@h-1.a_b:22] [rocecheck] [agent]"},
		{"local", "", "", "", "[rocecheck] [agent]"},
		{"local", "", "", "/opt/my tools/rocecheck", "[/opt/my tools/rocecheck] [agent]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct launcher_argv a = {0};
		struct err e = {0};
		struct sample s;
		char got[1024];

		make_sample(&s, cases[i].engine, cases[i].target, cases[i].agent);
		snprintf(s.f.ssh_config, sizeof(s.f.ssh_config), "%s", cases[i].config);
		assert_int_equal(launcher_find(cases[i].engine)->make_argv(&s.f, 0, &a, &e), 0);
		join(&a, got, sizeof(got));
		assert_string_equal(got, cases[i].want);
	}
}

static void test_command(void **state)
{
	static const struct {
		const char *launcher, *target, *agent, *want, *error;
	} cases[] = {
		{"srun -w {host} --overlap", "gpu01", "",
		 "[srun] [-w] [gpu01] [--overlap] [rocecheck] [agent]", ""},
		{"  ip  netns exec {host} ", "h2", "/opt/my tools/rc",
		 "[ip] [netns] [exec] [h2] [/opt/my tools/rc] [agent]", ""},
		{"kubectl exec -i pod/{host}-0 --", "h2", "",
		 "[kubectl] [exec] [-i] [pod/h2-0] "
		 "[--] [rocecheck] [agent]",
		 ""},
		{"srun -w {host}", "s", "", "[srun] [-w] [s] [rocecheck] [agent]", ""},
		{"sh -c {host}", "$(reboot)", "", "", "invalid host '$(reboot)'"},
		{"srun -w {host}", "-x", "", "", "invalid host '-x'"},
		{"srun -w {host}", "h1", "--help", "", "invalid agent command"},
		{"srun", "h1", "", "", "launcher: {host} is missing"},
		{"{host} agent", "h1", "", "", "launcher: expected a program first"},
		{"a b c d e f g h i j k l m n o p q r s t u v w x {host}", "h1", "", "",
		 "launcher: more than 24 words"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct launcher *command;
		struct launcher_argv a = {0};
		struct err e = {0};
		struct sample s;
		char got[1024] = "";

		make_sample(&s, "ssh", cases[i].target, cases[i].agent);
		snprintf(s.f.launcher, sizeof(s.f.launcher), "%s", cases[i].launcher);
		command = launcher_of_fabric(&s.f, &e);
		assert_string_equal(command->name, "command");
		if (!command->make_argv(&s.f, 0, &a, &e))
			join(&a, got, sizeof(got));
		if (strcmp(got, cases[i].want) || !strstr(e.text, cases[i].error))
			fail_msg("'%s': %s %s", cases[i].launcher, got, e.text);
	}
}

static void test_host_agent_wins(void **state)
{
	struct launcher_argv a = {0};
	struct err e = {0};
	struct sample s;

	(void)state;
	make_sample(&s, "local", "", "/usr/bin/rocecheck");
	snprintf(s.host.agent, sizeof(s.host.agent), "/opt/rocecheck");
	assert_int_equal(launcher_find("local")->make_argv(&s.f, 0, &a, &e), 0);
	assert_string_equal(a.argv[0], "/opt/rocecheck");
}

static void test_refused(void **state)
{
	static const struct {
		const char *engine, *target, *agent;
	} cases[] = {
		{"ssh", "-oProxyCommand=reboot", ""},
		{"ssh", "-h1", ""},
		{"ssh", "h1 reboot", ""},
		{"ssh", "h1;reboot", ""},
		{"ssh", "$(reboot)", ""},
		{"ssh", "h1\nh2", ""},
		{"ssh", "u@-oProxyCommand=id", ""},
		{"ssh", "-u@h1", ""},
		{"ssh", "ssh://-oProxyCommand=id", ""},
		{"ssh", "ssh://u@-oProxyCommand=id", ""},
		{"ssh", "[-oProxyCommand=id]", ""},
		{"ssh", "u@h1=x", ""},
		{"ssh", "h1,h2", ""},
		{"ssh", "h\xc2\x9b", ""},
		{"ssh", "h1#", ""},
		{"ssh", "~h1", ""},
		{"ssh", "h1", "-V"},
		{"ssh", "h1", "a'b"},
		{"local", "", "--help"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct launcher_argv a = {0};
		struct err e = {0};
		struct sample s;

		make_sample(&s, cases[i].engine, cases[i].target, cases[i].agent);
		if (launcher_find(cases[i].engine)->make_argv(&s.f, 0, &a, &e) != -EINVAL)
			fail_msg("'%s' '%s' was taken", cases[i].target, cases[i].agent);
		assert_true(e.text[0]);
	}
}

static void test_table(void **state)
{
	(void)state;
	assert_null(launcher_find("telnet"));
	assert_null(launcher_find(""));
	for (unsigned int i = 0; i < launcher_count; i++)
		assert_ptr_equal(launcher_find(launchers[i].name), &launchers[i]);
	assert_non_null(launcher_hint("Host key verification failed."));
	assert_non_null(launcher_hint("ssh: connect to host h2 port 22: Connection refused"));
	assert_null(launcher_hint("something new"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),	cmocka_unit_test(test_command),
		cmocka_unit_test(test_host_agent_wins), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
