/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An agent whose coordinator is silent behind a kernel that acknowledges: what runs ends in time,
 * and what was seen is kept for a while.
 */
#include "probe/marking/marking.h"
#include "tests/unit/fixture/agent_scene.h"

static void run_echo(int fd)
{
	const struct marking_spec spec = {.ibdev = "rxe0",
					  .ib_port = 1,
					  .duration_ms = 20000,
					  .count = 8,
					  .paths = 1,
					  .class_count = 1};
	struct traffic_endpoint peer = {.mtu = 1024, .qp_count = 1};

	send_doc(fd, json_pack("{s:i, s:s, s:o}", "id", 1, "op", "echo_open", "spec",
			       marking_spec_to_json(&spec)));
	assert_true(heard(fd, "\"handle\":0"));
	send_doc(fd, json_pack("{s:i, s:s, s:i, s:o}", "id", 2, "op", "traffic_connect", "handle",
			       0, "peer", traffic_endpoint_to_json(&peer)));
	assert_true(heard(fd, "\"id\":2,\"ok\":true"));
	say(fd, "{\"id\":3,\"op\":\"traffic_run\",\"handle\":0,\"start_ns\":77}\n");
}

static bool is_running(pid_t pid)
{
	return !waitpid(pid, NULL, WNOHANG);
}

/* A coordinator that is silent while its kernel acknowledges: traffic ends at the end of the lease,
 * with a result that is there when the coordinator comes back. */
static void test_agent_of_the_starved(void **state)
{
	char path[32], gone[64];
	int pair[2];
	pid_t pid;

	(void)state;
	make_traffic_script(path, gone);
	open_tcp(pair);
	pid = start_agent_at(pair, path, 1500, 100, 60000);
	assert_true(heard(pair[0], AGENT_HELLO));
	run_traffic(pair[0]);
	usleep(2500000);
	assert_true(is_running(pid));
	assert_true(heard(pair[0], "\"result\":{\"told\":{\"unheard\":true}}"));
	say(pair[0], "{\"id\":4,\"op\":\"ping\",\"lease_ms\":1500}\n");
	assert_true(heard(pair[0], "\"now_ns\":"));
	usleep(2500000); /* with its result told */
	assert_true(is_running(pid));
	say(pair[0], "{\"id\":5,\"op\":\"quit\"}\n");
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(pair[0]);
	unlink(path);
	unlink(gone);
}

static void run_nothing(int fd)
{
	(void)fd;
}

/* It has its time and no more, and only with traffic to tell of. */
static void test_agent_ends_of_starved(void **state)
{
	static const struct {
		const char *name;
		void (*run)(int fd);
		unsigned int lease_ms, alive_ms, starved_ms;
		bool close;
		enum agent_stop_reason want;
	} cases[] = {
		{"its time is over", run_traffic, 1500, 100, 1000, false, AGENT_STARVED},
		{"closed meanwhile", run_traffic, 1500, 100, 60000, true, AGENT_INPUT_CLOSED},
		{"nothing sent, nothing answered", run_traffic, 3000, 0, 60000, false,
		 AGENT_LEASE_EXPIRED},
		{"no traffic", run_nothing, 1500, 100, 60000, false, AGENT_LEASE_EXPIRED},
		{"half an echo", run_echo, 1500, 100, 60000, false, AGENT_LEASE_EXPIRED},
	};
	char path[32], gone[64];

	(void)state;
	make_traffic_script(path, gone);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int pair[2], code;
		pid_t pid;

		open_tcp(pair);
		pid = start_agent_at(pair, path, cases[i].lease_ms, cases[i].alive_ms,
				     cases[i].starved_ms);
		assert_true(heard(pair[0], AGENT_HELLO));
		cases[i].run(pair[0]);
		if (cases[i].close) {
			usleep(2500000);
			assert_true(is_running(pid));
			close(pair[0]);
		}
		code = exit_of(pid);
		if (code != 10 + (int)cases[i].want)
			fail_msg("%s: %d", cases[i].name, code);
		if (!cases[i].close)
			close(pair[0]);
	}
	unlink(path);
	unlink(gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agent_of_the_starved),
		cmocka_unit_test(test_agent_ends_of_starved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
