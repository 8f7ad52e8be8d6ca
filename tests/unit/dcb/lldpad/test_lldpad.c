/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lldpad without one: its messages as they were seen on its socket, a peer that answers what it
 * likes, and its file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "dcb/lldpad/lldp_agent.h"
#include "dcb/lldpad/lldpad.h"

static struct lldpad_arg text_arg(const char *name, const char *text)
{
	struct lldpad_arg arg = {.type = LLDPAD_TEXT};

	snprintf(arg.name, sizeof(arg.name), "%s", name);
	snprintf(arg.text, sizeof(arg.text), "%s", text);
	return arg;
}

static void test_requests(void **state)
{
	struct lldpad_arg app = text_arg("app", "3,5,26");
	struct lldpad_arg admin = text_arg("adminStatus", "rxtx");
	char text[LLDPAD_MESSAGE_MAX];

	(void)state;
	assert_true(lldpad_set_text("dcb0", LLDPAD_APP, &app, 1, false, text, sizeof(text)) > 0);
	assert_string_equal(text, "M00000001C3020000000c04dcb0000080c20c03app00063,5,26");
	assert_true(lldpad_set_text("dcb0", LLDPAD_APP, &app, 1, true, text, sizeof(text)) > 0);
	assert_string_equal(text, "M00000001C3020000002c04dcb0000080c20c03app00063,5,26");
	assert_true(lldpad_set_text("va", LLDPAD_NO_TLV, &admin, 1, false, text, sizeof(text)) > 0);
	assert_string_equal(text, "M00000001C3040000000c02va000badminStatus0004rxtx");
	assert_true(lldpad_neighbour_text("va", text, sizeof(text)) > 0);
	assert_string_equal(text, "M00000001C3010000000202va000000007f");
	assert_int_equal(lldpad_neighbour_text("va", text, 12), -EMSGSIZE);
}

static void test_answers(void **state)
{
	static const struct {
		const char *answer;
		int err;
		const char *rest;
	} cases[] = {
		{"R00C3010000000202va0000007ffe060080c20b0808", 0, "0000007ffe060080c20b0808"},
		{"R00C3010000000202va", 0, ""},
		{"R08C3010000000202va0000007f", -EOPNOTSUPP, NULL},
		{"R0a", -EPERM, NULL},
		{"R0A", -EPERM, NULL},
		{"R01", -EIO, NULL},
		{"R77", -EIO, NULL},
		{"R0", -EPROTO, NULL},
		{"", -EPROTO, NULL},
		{"Rzz", -EPROTO, NULL},
		{"E00C3010000000202va", -EPROTO, NULL},
		{"R00C3010000000202vb0000007f", -EPROTO, NULL}, /* of another port */
		{"R00C3020000000202va0000007f", -EPROTO, NULL}, /* of another command */
		{"R00C3010000000202v", -EPROTO, NULL},
		{"R00PPONG7", -EPROTO, NULL},
	};
	char request[64];

	(void)state;
	assert_true(lldpad_neighbour_text("va", request, sizeof(request)) > 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *rest = NULL;
		struct err e = {0};
		int err = lldpad_parse_answer(cases[i].answer, strlen(cases[i].answer), request,
					      &rest, &e);

		if (err != cases[i].err || (!err && strcmp(rest, cases[i].rest)) ||
		    (err && !e.text[0]))
			fail_msg("%s: %d %s", cases[i].answer, err, e.text);
	}
}

static void test_bytes(void **state)
{
	uint8_t bytes[4];

	(void)state;
	assert_int_equal(lldpad_bytes("fe06AB", 6, bytes, sizeof(bytes)), 3);
	assert_int_equal(bytes[2], 0xab);
	assert_int_equal(lldpad_bytes("fe0", 3, bytes, sizeof(bytes)), -EPROTO);
	assert_int_equal(lldpad_bytes("fg", 2, bytes, sizeof(bytes)), -EPROTO);
	assert_int_equal(lldpad_bytes("0102030405", 10, bytes, sizeof(bytes)), -EMSGSIZE);
}

/* One that has the name of lldpad's socket and says what it is told to. */
struct fake {
	int fd;
	const char *answer; /* NULL: none */
};

static void *serve(void *arg)
{
	const struct fake *f = arg;
	struct sockaddr_un from;
	socklen_t len = sizeof(from);
	char buf[LLDPAD_MESSAGE_MAX];

	if (recvfrom(f->fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len) > 0 && f->answer)
		(void)sendto(f->fd, f->answer, strlen(f->answer), 0, (struct sockaddr *)&from, len);
	return NULL;
}

static int serve_bind(void)
{
	static const char name[] = "/com/intel/lldpad";
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(at.sun_path + 1, name, sizeof(name) - 1);
	assert_true(fd >= 0);
	if (!bind(fd, (struct sockaddr *)&at,
		  offsetof(struct sockaddr_un, sun_path) + sizeof(name)))
		return fd;
	close(fd);
	return -1;
}

static void test_dialogue(void **state)
{
	static const struct {
		const char *answer;
		int err;
		size_t len;
	} cases[] = {
		{"R00C3010000000202va0000007ffe060080c20b0808", 0, 8},
		{"R00C3010000000202va0000007f", 0, 0},
		{"R06C3010000000202va0000007f", 0, 0},
		{"R00C3010000000202va", -EPROTO, 0},
		{"R00C3010000000202va0000007ffe0", -EPROTO, 0},
		{"R00C3010000000202va0000007ffe06zz", -EPROTO, 0},
		{NULL, -ETIMEDOUT, 0},
	};
	struct lldpad *l;
	struct err e = {0};
	uint8_t tlvs[512];
	size_t len;

	(void)state;
	assert_int_equal(lldpad_open(getpid(), getuid(), &l, &e), -ECONNREFUSED);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake f = {serve_bind(), cases[i].answer};
		pthread_t thread;
		int err;

		if (f.fd < 0)
			skip(); /* a real one runs here */
		assert_int_equal(lldpad_open(getpid(), getuid(), &l, &e), 0);
		assert_int_equal(pthread_create(&thread, NULL, serve, &f), 0);
		err = lldpad_neighbour(l, "va", tlvs, sizeof(tlvs), &len, &e);
		pthread_join(thread, NULL);
		close(f.fd);
		if (err != cases[i].err || len != cases[i].len)
			fail_msg("%s: %d, %zu bytes", cases[i].answer, err, len);
		/* It has died in the middle of the dialogue. */
		err = lldpad_neighbour(l, "va", tlvs, sizeof(tlvs), &len, &e);
		assert_int_equal(err, -ECONNREFUSED);
		lldpad_close(l);
	}
}

/* Only the process that was found is believed, whatever another answers. */
static void test_strangers(void **state)
{
	static const char good[] = "R00C3010000000202va0000007ffe060080c20b0808";
	const struct {
		pid_t pid;
		uid_t uid;
		int err;
	} cases[] = {
		{getpid(), getuid(), 0},
		{getppid(), getuid(), -ETIMEDOUT},
		{getpid(), getuid() + 1, -ETIMEDOUT},
	};
	char want[64];

	(void)state;
	snprintf(want, sizeof(want), "dropped a reply of pid %d (uid %u)", (int)getpid(),
		 (unsigned int)getuid());
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake f = {serve_bind(), good};
		struct err e = {0};
		struct lldpad *l;
		uint8_t tlvs[512];
		pthread_t thread;
		size_t len;

		if (f.fd < 0)
			skip(); /* a real one runs here */
		assert_int_equal(lldpad_open(cases[i].pid, cases[i].uid, &l, &e), 0);
		assert_int_equal(pthread_create(&thread, NULL, serve, &f), 0);
		assert_int_equal(lldpad_neighbour(l, "va", tlvs, sizeof(tlvs), &len, &e),
				 cases[i].err);
		pthread_join(thread, NULL);
		close(f.fd);
		assert_true(!cases[i].err == !strstr(e.text, want));
		lldpad_close(l);
	}
}

static void fill(struct qos *q)
{
	lldpad_defaults(q);
	q->tc_tsa[1] = q->tc_tsa[0] = QOS_TSA_ETS;
	q->tc_tx_bw[0] = 30;
	q->tc_tx_bw[1] = 70;
	q->prio_tc[3] = 1;
	q->prio_tc[6] = 2;
	q->reco_tsa[0] = QOS_TSA_ETS;
	q->reco_bw[0] = 100;
	q->reco_prio_tc[7] = 5;
	q->ets_willing = q->pfc_willing = 0;
	q->pfc_enabled = 0x18;
	q->pfc_delay = 300;
	q->advertise = QOS_ADVERTISE_ETS_REC | QOS_ADVERTISE_APP;
	q->admin_status = QOS_LLDP_RXTX;
	q->dscp_prio[26] = 3;
	q->dscp_prio[48] = 6;
	assert_int_equal(qos_app_add(q, (struct qos_app){QOS_APP_DGRAM, 3, 4791}), 0);
	assert_int_equal(qos_app_add(q, (struct qos_app){QOS_APP_ETHERTYPE, 0, 0}), 0);
	lldpad_finish(q);
}

static void assert_same(const struct qos *a, const struct qos *b)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (lldp_agent_fields() & QOS_BIT(id) && !qos_field_equal(a, b, id))
			fail_msg("%s differs", qos_fields[id].key);
}

/* Every field of lldpad's goes through its words and comes back. */
static void test_words(void **state)
{
	static const enum lldpad_tlv tlvs[] = {LLDPAD_NO_TLV, LLDPAD_ETS_CFG, LLDPAD_ETS_REC,
					       LLDPAD_PFC, LLDPAD_APP};
	struct qos q = {0}, back = {0};
	struct lldpad_arg arg[128];
	unsigned int n;

	(void)state;
	fill(&q);
	lldpad_defaults(&back);
	n = lldpad_apps(&q, &back, arg, ARRAY_SIZE(arg));
	assert_int_equal(n, 4);
	assert_int_equal(lldpad_app_count(&q), 4);
	for (unsigned int i = 0; i < n; i++) {
		assert_string_equal(arg[i].name, "APP");
		assert_true(i || !strcmp(arg[i].text, "3,5,   26"));
		assert_int_equal(lldpad_parse_arg(&back, LLDPAD_APP, &arg[i], NULL), 0);
	}
	for (size_t t = 0; t < ARRAY_SIZE(tlvs); t++) {
		n = lldpad_args(&q, lldp_agent_fields(), tlvs[t], arg);
		assert_true(n > 0);
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(lldpad_parse_arg(&back, tlvs[t], &arg[i], NULL), 0);
	}
	lldpad_finish(&back);
	assert_same(&q, &back);
	assert_int_equal(lldpad_apps(&q, &back, arg, ARRAY_SIZE(arg)), 0);
	/* lldpad takes no shares that do not sum up, also where there are none. */
	memset(q.tc_tx_bw, 0, sizeof(q.tc_tx_bw));
	assert_int_equal(lldpad_args(&q, QOS_BIT(QOS_TC_TX_BW), LLDPAD_ETS_CFG, arg), 1);
	assert_string_equal(arg[0].text, "100,0,0,0,0,0,0,0");
}

static void test_bad_words(void **state)
{
	static const struct {
		enum lldpad_tlv tlv;
		const char *name, *text;
	} cases[] = {
		{LLDPAD_ETS_CFG, "tsa", "8:ets"},   {LLDPAD_ETS_CFG, "tsa", "0:etz"},
		{LLDPAD_ETS_CFG, "tsa", "ets"},	    {LLDPAD_ETS_CFG, "up2tc", "0:9"},
		{LLDPAD_ETS_CFG, "up2tc", "0"},	    {LLDPAD_ETS_CFG, "up2tc", "-1:0"},
		{LLDPAD_ETS_CFG, "tcbw", "101"},    {LLDPAD_ETS_CFG, "tcbw", "1,1,1,1,1,1,1,1,1"},
		{LLDPAD_ETS_CFG, "willing", "yes"}, /* the file has a number */
		{LLDPAD_APP, "APP0", "8,5,26"},	    {LLDPAD_APP, "APP0", "3,5,64"},
		{LLDPAD_APP, "APP0", "3,0,1"},	    {LLDPAD_APP, "APP0", "3,5"},
		{LLDPAD_APP, "APP0", "3,5,26,1"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lldpad_arg arg = text_arg(cases[i].name, cases[i].text);
		struct err e = {0};
		struct qos q = {0};

		lldpad_defaults(&q);
		if (lldpad_parse_arg(&q, cases[i].tlv, &arg, &e) != -EBADMSG || !e.text[0])
			fail_msg("%s=%s was taken", cases[i].name, cases[i].text);
	}
}

/* Written by lldpad 1.1. */
static const char conf[] =
	"version = \"1.1\";\n"
	"dcbx : { version = 2; };\n"
	"lldp : { \n"
	"  common : { tlvid0080c20b : { delay = 7; }; };\n"
	"  eth1 : { adminStatus = 3; tlvid0080c20b : { willing = 0; enabled = 8; };\n"
	"    tlvid0080c209 : { willing = 0; tsa = \"0:ets,1:ets,2:strict\";\n"
	"      up2tc = \"0:0,1:0,2:0,3:1\"; tcbw = \"50,50\"; enableTx = false; };\n"
	"    tlvid0080c20c : { APP0 = \"3,5,   26\"; APP7 = \"0,1,    0\"; };\n"
	"    tlvid00120f04 : { enableTx = true; }; };\n"
	"  eth2 : { adminStatus = 2; };\n"
	"};\n";

static void put(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void test_file(void **state)
{
	char dir[] = "/tmp/test_lldpad.XXXXXX", path[64], command[64], text[4096];
	struct qos q = {0}, want = {0}, other = {0};
	struct stat st;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lldpad.conf", dir);
	put(path, conf, strlen(conf));
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(lldpad_conf_read(path, "eth1", &q, NULL), 0);
	assert_int_equal(q.admin_status, QOS_LLDP_RXTX);
	assert_int_equal(q.pfc_enabled, 8);
	assert_int_equal(q.pfc_delay, 7);
	assert_int_equal(q.tc_tx_bw[1], 50);
	assert_int_equal(q.prio_tc[3], 1);
	assert_int_equal(q.dscp_prio[26], 3);
	assert_int_equal(q.app_count, 1);
	assert_int_equal(q.advertise, QOS_ADVERTISE_PFC);
	assert_int_equal(q.trust, QOS_TRUST_DSCP);
	assert_int_equal(lldpad_conf_read(path, "eth9", &other, NULL), 0);
	assert_int_equal(other.ets_willing, 1);
	assert_int_equal(other.pfc_delay, 7);

	fill(&want);
	assert_int_equal(lldpad_conf_write(path, "eth1", &want, lldp_agent_fields(), NULL), 0);
	assert_int_equal(lldpad_conf_read(path, "eth1", &q, NULL), 0);
	assert_same(&want, &q);
	assert_int_equal(lldpad_conf_read(path, "eth2", &other, NULL), 0);
	assert_int_equal(other.admin_status, QOS_LLDP_RX);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	/* What is not ours stays. */
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	assert_non_null(strstr(text, "tlvid00120f04"));
	assert_non_null(strstr(text, "dcbx"));
	/* Only what the mask says. */
	want.pfc_enabled = 0x20;
	want.pfc_delay = 1;
	assert_int_equal(lldpad_conf_write(path, "eth1", &want, QOS_BIT(QOS_PFC_ENABLED), NULL), 0);
	assert_int_equal(lldpad_conf_read(path, "eth1", &q, NULL), 0);
	assert_int_equal(q.pfc_enabled, 0x20);
	assert_int_equal(q.pfc_delay, 300);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_no_file(void **state)
{
	char dir[] = "/tmp/test_lldpad.XXXXXX", path[64], command[64];
	struct qos q = {0}, want = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(lldpad_conf_read("/no/such/lldpad.conf", "eth1", &q, &e), -ENOENT);
	assert_non_null(strstr(e.hint, "dcbx.agent"));
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lldpad.conf", dir);
	assert_int_equal(lldpad_conf_read(path, "eth1", &q, NULL), 0);
	assert_int_equal(q.pfc_willing, 1);
	fill(&want);
	assert_int_equal(lldpad_conf_write(path, "eth1", &want, lldp_agent_fields(), NULL), 0);
	assert_int_equal(lldpad_conf_read(path, "eth1", &q, NULL), 0);
	assert_same(&want, &q);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* lldpad's command line names the file, and so whoever started it: what is no plain file of root's
 * is not read, and a FIFO is not waited for. */
static void test_foreign_file(void **state)
{
	static const struct {
		const char *name, *make; /* in the folder */
		int err;
		bool root; /* needs root */
	} cases[] = {
		{"a plain file", "chmod 600 f", 0, false},
		{"no writer but its owner", "chmod 644 f", 0, false},
		{"written by all", "chmod 666 f", -EPERM, false},
		{"of another user", "chown 65534 f", -EPERM, true},
		{"written by a group", "chmod 660 f; chgrp 65534 f", -EPERM, true},
		{"written by root's group", "chmod 660 f; chgrp 0 f", 0, true},
		{"a link", "mv f g; ln -s g f", -ELOOP, false},
		{"a FIFO", "rm f; mkfifo f", -EINVAL, false},
		{"a folder", "rm f; mkdir f", -EINVAL, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char folder[] = "/tmp/test_lldpad.XXXXXX", path[64], command[256];
		struct err e = {0};
		struct qos q = {0};
		int err;

		if (cases[i].root && geteuid())
			continue;
		assert_non_null(mkdtemp(folder));
		snprintf(path, sizeof(path), "%s/f", folder);
		put(path, conf, strlen(conf));
		assert_int_equal(chmod(path, 0600), 0);
		snprintf(command, sizeof(command), "cd %s && { %s; }", folder, cases[i].make);
		assert_int_equal(system(command), 0);
		err = lldpad_conf_read(path, "eth1", &q, &e);
		if (err != cases[i].err || (err && !strstr(e.text, path)))
			fail_msg("%s: %d '%s'", cases[i].name, err, e.text);
		err = lldpad_conf_write(path, "eth1", &q, lldp_agent_fields(), &e);
		if (err != cases[i].err)
			fail_msg("%s: written, %d '%s'", cases[i].name, err, e.text);
		snprintf(command, sizeof(command), "rm -rf %s", folder);
		assert_int_equal(system(command), 0);
	}
}

/* Each byte of the file made another: read, or refused with its line, never more. */
static void test_hostile_file(void **state)
{
	char dir[] = "/tmp/test_lldpad.XXXXXX", path[64], command[64], text[sizeof(conf)];
	static const char bytes[] = {'\0', '"', '{', '9', '-', ';'};
	unsigned int read = 0, refused = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lldpad.conf", dir);
	for (size_t i = 60; i < sizeof(conf) - 1; i += 11) {
		struct err e = {0};
		struct qos q = {0};
		int err;

		memcpy(text, conf, sizeof(conf));
		text[i] = bytes[i % sizeof(bytes)];
		put(path, text, sizeof(conf) - 1);
		err = lldpad_conf_read(path, "eth1", &q, &e);
		if (err && err != -EBADMSG)
			fail_msg("byte %zu: %d %s", i, err, e.text);
		read += !err;
		refused += err != 0;
	}
	assert_true(read && refused);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* Answers that are bytes at random, and half right ones. */
static void test_hostile_answers(void **state)
{
	static const char good[] = "R00C3010000000202va0000007ffe060080c20b0808";
	char request[64], answer[sizeof(good)];
	unsigned int seed = 1;

	(void)state;
	assert_true(lldpad_neighbour_text("va", request, sizeof(request)) > 0);
	for (unsigned int i = 0; i < 20000; i++) {
		size_t len = (size_t)rand_r(&seed) % sizeof(good);
		const char *rest = answer;
		char *exact = malloc(len ? len : 1);

		assert_non_null(exact);
		memcpy(answer, good, sizeof(good));
		for (unsigned int k = 0; k < i % 4; k++)
			answer[(size_t)rand_r(&seed) % sizeof(good)] = (char)rand_r(&seed);
		memcpy(exact, answer, len);
		if (!lldpad_parse_answer(exact, len, request, &rest, NULL))
			assert_true(rest >= exact && rest <= exact + len);
		free(exact);
	}
}

/* libconfig 1.5 does not free the text that it was reading when a file does not parse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig.so";
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),     cmocka_unit_test(test_answers),
		cmocka_unit_test(test_bytes),	     cmocka_unit_test(test_dialogue),
		cmocka_unit_test(test_words),	     cmocka_unit_test(test_bad_words),
		cmocka_unit_test(test_file),	     cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_strangers),    cmocka_unit_test(test_foreign_file),
		cmocka_unit_test(test_hostile_file), cmocka_unit_test(test_hostile_answers),
	};

	/* Abstract addresses belong to a network namespace: away from an lldpad that runs here, and
	 * from this test with sanitizers, which runs at the same time. Only root can. */
	(void)!unshare(CLONE_NEWNET);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
