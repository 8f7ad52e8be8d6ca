/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment for applications: values of the profile and of the ports, and what is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/fixture/fabric_run.h"
#include "reports/rules/app_env.h"

static const char *value_of(const struct app_env *env, const char *name)
{
	for (unsigned int i = 0; i < env->count; i++)
		if (!strcmp(env->var[i].name, name))
			return env->var[i].value;
	return NULL;
}

static bool notes_say(const struct app_env *env, const char *text)
{
	for (unsigned int i = 0; i < env->notes; i++)
		if (strstr(env->note[i], text))
			return true;
	return false;
}

/* One host with two rails, mlx5_0 and mlx5_1. */
struct host {
	struct fabric_run f;
	struct port port[2];
	struct app_env env;
};

static void good(struct host *h)
{
	good_run(&h->f);
	h->f.run.host_count = 1;
	h->f.host[0].port_count = 0;
	for (unsigned int i = 0; i < 2; i++) {
		good_port(i, &h->port[i]);
		h->port[i].kind = PORT_ROCE_PF;
		snprintf(h->port[i].netdev, sizeof(h->port[i].netdev), "roce%u", i);
		snprintf(h->port[i].ibdev, sizeof(h->port[i].ibdev), "mlx5_%u", i);
		h->port[i].gid[1] = h->port[i].gid[0];
		h->port[i].gid[1].index = 3;
		h->port[i].gid[0].type = GID_ROCE_V1;
		h->port[i].gid_count = 2;
	}
	h->f.host[0].before.port = h->port;
	h->f.host[0].before.port_count = 2;
}

static void two_indices(struct host *h)
{
	h->port[1].gid[1].index = 5;
}

static void v6_first(struct host *h)
{
	for (unsigned int i = 0; i < 2; i++) {
		h->port[i].gid[2] = h->port[i].gid[1];
		h->port[i].gid[1].index = 2;
		memset(h->port[i].gid[1].raw, 0x20, 16);
		h->port[i].gid_count = 3;
	}
}

/* The address in the inventory is the one that RC-GID judges. */
static void other_address(struct host *h)
{
	v6_first(h);
	h->f.fabric.host[0].port = h->f.fabric_port;
	h->f.fabric.host[0].port_count = 2;
	for (unsigned int i = 0; i < 2; i++) {
		struct fabric_port *entry = &h->f.fabric.host[0].port[i];

		snprintf(entry->interface, sizeof(entry->interface), "roce%u", i);
		snprintf(entry->address, sizeof(entry->address),
			 "2020:2020:2020:2020:2020:2020:2020:2020");
	}
}

static void one_down(struct host *h)
{
	h->port[1].ib_active = false;
}

static void no_ecn(struct host *h)
{
	h->f.fabric.profile.qos.cm_tos = 104;
}

static void pcp_trust(struct host *h)
{
	h->f.fabric.profile.qos.trust = QOS_TRUST_PCP;
	h->f.fabric.profile.qos.has |= QOS_BIT(QOS_VLAN_PRIO);
	memset(h->f.fabric.profile.qos.vlan_prio, 0, sizeof(h->f.fabric.profile.qos.vlan_prio));
	h->f.fabric.profile.qos.vlan_prio[2] = 3;
}

static void no_profile(struct host *h)
{
	memset(&h->f.fabric.profile, 0, sizeof(h->f.fabric.profile));
	h->port[0].qos.cm_tos = h->port[1].qos.cm_tos = 98;
}

static void rails_disagree(struct host *h)
{
	no_profile(h);
	h->port[1].qos.cm_tos = 0;
}

static void evil_name(struct host *h)
{
	snprintf(h->port[1].ibdev, sizeof(h->port[1].ibdev), "x;reboot");
}

static void iwarp(struct host *h)
{
	h->port[1].kind = PORT_IWARP;
}

static void bond(struct host *h)
{
	snprintf(h->port[1].ibdev, sizeof(h->port[1].ibdev), "mlx5_0");
}

static void nothing(struct host *h)
{
	h->f.host[0].before.port_count = 0;
}

static const struct {
	void (*change)(struct host *h);
	const char *name, *value; /* value NULL: left out */
	const char *note;	  /* a note that must be there; NULL = any */
} cases[] = {
	{NULL, "NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1", "DSCP 26 x 4 + ECT(0) 2 = 106"},
	{NULL, "NCCL_IB_TC", "106", NULL},
	{NULL, "NCCL_IB_GID_INDEX", "3", NULL},
	{NULL, "NCCL_IB_SL", NULL, NULL},
	{NULL, "UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", NULL},
	{NULL, "UCX_IB_TRAFFIC_CLASS", "106", NULL},
	{NULL, "UCX_IB_GID_INDEX", "3", NULL},
	{NULL, "NVSHMEM_IB_TRAFFIC_CLASS", "106", NULL},
	{NULL, "MV2_IBA_HCA", "mlx5_0:mlx5_1", NULL},
	{NULL, "MV2_USE_RoCE", "1", NULL},
	{two_indices, "NCCL_IB_GID_INDEX", NULL, "GID index of mlx5_1: 5"},
	{two_indices, "NCCL_IB_TC", "106", "the GID index is left out"},
	{v6_first, "UCX_IB_GID_INDEX", "3", NULL},
	{other_address, "NCCL_IB_GID_INDEX", "2", NULL},
	{one_down, "UCX_NET_DEVICES", "mlx5_0:1", "mlx5_1 is left out: its link is not up"},
	{no_ecn, "UCX_IB_TRAFFIC_CLASS", "104", "no ECN bits"},
	{pcp_trust, "NCCL_IB_SL", "3", NULL},
	{no_profile, "NCCL_IB_TC", "98", "DSCP 24 x 4 + ECT(0) 2 = 98"},
	{rails_disagree, "NCCL_IB_TC", NULL, "the traffic class is left out"},
	{evil_name, "UCX_NET_DEVICES", "mlx5_0:1", "is not safe in a shell"},
	{iwarp, "NCCL_IB_HCA", "=mlx5_0:1", NULL},
	{bond, "UCX_NET_DEVICES", "mlx5_0:1", NULL},
	{nothing, "NCCL_IB_HCA", NULL, "nothing to export"},
};

static void test_values(void **state)
{
	static struct host h;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *got;

		memset(&h, 0, sizeof(h));
		good(&h);
		if (cases[i].change)
			cases[i].change(&h);
		app_env_make(&h.f.fabric, &h.f.run, &h.env);
		got = value_of(&h.env, cases[i].name);
		if (!got != !cases[i].value || (got && strcmp(got, cases[i].value)))
			fail_msg("case %u: %s is %s, want %s", i, cases[i].name,
				 got ? got : "left out",
				 cases[i].value ? cases[i].value : "it out");
		if (cases[i].note && !notes_say(&h.env, cases[i].note))
			fail_msg("case %u: no note says '%s'", i, cases[i].note);
	}
}

/* What is printed is what a shell may read: no byte that it would expand. */
static void test_shell(void **state)
{
	static struct host h;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	(void)state;
	good(&h);
	evil_name(&h);
	app_env_make(&h.f.fabric, &h.f.run, &h.env);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	app_env_print(&h.env, out);
	fclose(out);
	assert_null(strstr(text, "reboot"));
	assert_null(strpbrk(text, "$`\"\\*|&"));
	/* zsh would look for a command of that name. */
	assert_non_null(strstr(text, "\nexport NCCL_IB_HCA='=mlx5_0:1'\n"));
	assert_non_null(strstr(text, "\nexport UCX_IB_GID_INDEX=3\n"));
	free(text);
}

/* What eval makes of a value is the value, whatever it holds. */
static void test_eval(void **state)
{
	static const char *const values[] = {
		"",
		"plain_1:2,3.4-5",
		"=mlx5_0:1",
		"a b",
		"a;touch evil",
		"$(touch evil)",
		"`touch evil`",
		"'",
		"'; touch evil; '",
		"a'b'\\''c",
		"\\",
		"a\nb",
		"~root",
		"*",
		"#x",
		"\"$HOME\"",
		"a&touch evil",
		"a>evil",
		"!!",
		"gr\xc3\xbc\xc3\x9f",
	};
	char dir[] = "/tmp/test_app_env.XXXXXX", command[256];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		static struct app_env env;
		char path[64], got[64] = "";
		size_t n;
		FILE *f;

		memset(&env, 0, sizeof(env));
		env.count = 1;
		env.var[0].name = "VALUE";
		snprintf(env.var[0].value, sizeof(env.var[0].value), "%s", values[i]);
		snprintf(path, sizeof(path), "%s/env", dir);
		f = fopen(path, "w");
		assert_non_null(f);
		app_env_print(&env, f);
		assert_int_equal(fclose(f), 0);
		snprintf(
			command, sizeof(command),
			"cd %s && eval \"$(cat env)\" && printf '%%s' \"$VALUE\" && test ! -e evil",
			dir);
		f = popen(command, "r");
		assert_non_null(f);
		n = fread(got, 1, sizeof(got) - 1, f);
		assert_int_equal(pclose(f), 0);
		assert_int_equal(n, strlen(values[i]));
		assert_string_equal(got, values[i]);
	}
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_eval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
