/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Journals that are cut, are none, or do not fit on the disk.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/dcb/apply/apply_world.h"

static void read_file(const char *path, char *buf, size_t room, size_t *size)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	*size = fread(buf, 1, room, f);
	fclose(f);
}

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

/* The only transaction: its id and the path of its journal. */
static void only_journal(const struct world *w, char id[JOURNAL_ID_MAX], char *path, size_t size)
{
	only_tx(w->dir, id);
	snprintf(path, size, "%s/tx/%s/journal", w->dir, id);
}

/* Cut at every byte: what is whole counts, what is torn does not, and a rollback can still add its
 * end. */
static void test_torn(void **state)
{
	enum apply_outcome outcome;
	static char text[1 << 16];
	char path[256], id[JOURNAL_ID_MAX];
	struct err e = {0};
	struct world w;
	size_t size, first, again;

	(void)state;
	world_open(&w);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	only_journal(&w, id, path, sizeof(path));
	read_file(path, text, sizeof(text), &size);
	first = (size_t)((char *)memchr(text, '\n', size) - text) + 1;
	/* With what was hidden before. */
	again = first + (size_t)((char *)memchr(text + first, '\n', size - first) - text - first) +
		1;
	for (size_t cut = 0; cut <= size; cut += 1 + (cut % 5)) {
		struct tx tx;

		write_file(path, text, cut);
		assert_int_equal(load_tx(w.dir, id, &tx, &e), 0);
		if (tx.state != (cut < first ? TX_EMPTY : cut < size ? TX_RUNNING : TX_DONE))
			fail_msg("cut at %zu of %zu: %s", cut, size, tx_state_word(tx.state));
		assert_int_equal(tx.step_count, cut < again ? 0 : 14);
		tx_clear(&tx);
	}
	/* The end of the last line is missing: it was running, and the machine says it was nearly
	 * done. */
	write_file(path, text, size - 1);
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
	assert_int_equal(rollback(&w, &outcome, &e), -ENOENT);
	world_close(&w);
}

#define PORTS                                                                                      \
	"\"ports\":[{\"netdev\":\"p0\",\"ibdev\":\"\",\"ib_port\":0,\"driver\":\"x\","             \
	"\"before\":{\"mtu\":{\"netdev\":1500}}}],"
#define START                                                                                      \
	"{\"schema\":\"rocecheck.tx/2\",\"id\":\"1\",\"time\":\"t\",\"confirm_within\":0,"         \
	"\"deadline\":7,"
#define HEADER START PORTS "\"plan\":[{\"port\":0,\"to\":{\"mtu\":{\"netdev\":9000}}}]}\n"
#define AFTER  "\"after\":[{\"mtu\":{\"netdev\":9000}}]"

/* Sixteen MiB behind a good line are not read. */
static void test_too_large(const struct world *w, const char *path)
{
	struct err e = {0};
	struct tx tx;

	write_file(path, HEADER, strlen(HEADER));
	assert_int_equal(truncate(path, (16 << 20) + 1), 0);
	assert_int_equal(load_tx(w->dir, "1", &tx, &e), -EBADMSG);
	assert_null(tx.port);
}

static void test_bad_journals(void **state)
{
	static const struct {
		const char *name, *text;
		int want;
		enum tx_state state;
	} cases[] = {
		{"empty", "", 0, TX_EMPTY},
		{"header", HEADER, 0, TX_RUNNING},
		{"an unknown line of a newer version", HEADER "{\"new\":1}\n", 0, TX_RUNNING},
		{"done", HEADER "{\"state\":\"done\"," AFTER "}\n", 0, TX_DONE},
		{"undone behind done",
		 HEADER "{\"state\":\"done\"," AFTER "}\n{\"state\":\"undone\"}\n", 0, TX_UNDONE},
		{"a confirmation behind the undo changes nothing",
		 HEADER "{\"state\":\"undone\"}\n{\"state\":\"done\"," AFTER
			",\"confirmed\":true}\n",
		 0, TX_UNDONE},
		{"no JSON", "hello\n", -EBADMSG, 0},
		{"no object", "[]\n", -EBADMSG, 0},
		{"other schema", "{\"schema\":\"x\"}\n", -EBADMSG, 0},
		{"no ports", START "\"ports\":[],\"plan\":[]}\n", -EBADMSG, 0},
		{"no plan", START PORTS "\"x\":0}\n", -EBADMSG, 0},
		{"no deadline",
		 "{\"schema\":\"rocecheck.tx/2\",\"time\":\"t\",\"confirm_within\":0," PORTS
		 "\"plan\":[]}\n",
		 -EBADMSG, 0},
		{"port out of range", START PORTS "\"plan\":[{\"port\":1,\"to\":{}}]}\n", -EBADMSG,
		 0},
		{"negative port", START PORTS "\"plan\":[{\"port\":-1,\"to\":{}}]}\n", -EBADMSG, 0},
		{"port is no number", START PORTS "\"plan\":[{\"port\":\"0\",\"to\":{}}]}\n",
		 -EBADMSG, 0},
		{"a step of nothing", START PORTS "\"plan\":[{\"port\":0}]}\n", -EBADMSG, 0},
		{"a step is no object", START PORTS "\"plan\":[1]}\n", -EBADMSG, 0},
		{"unknown state", HEADER "{\"state\":\"fine\"}\n", -EBADMSG, 0},
		{"empty is no end", HEADER "{\"state\":\"interrupted\"}\n", -EBADMSG, 0},
		{"done without what is after", HEADER "{\"state\":\"done\"}\n", -EBADMSG, 0},
		{"value out of range",
		 START PORTS "\"plan\":[{\"port\":0,\"to\":{\"mtu\":{\"netdev\":-1}}}]}\n",
		 -EBADMSG, 0},
		{"broken in the middle", HEADER "{\"state\"\n{\"state\":\"undone\"}\n", -EBADMSG,
		 0},
	};
	char path[128];
	struct world w;

	(void)state;
	world_open(&w);
	snprintf(path, sizeof(path), "%s/tx/1", w.dir);
	path[strlen(path) - 2] = '\0';
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/1");
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/journal");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = {0};
		struct tx tx;
		int err;

		write_file(path, cases[i].text, strlen(cases[i].text));
		err = load_tx(w.dir, "1", &tx, &e);
		if (err != cases[i].want || tx.state != cases[i].state)
			fail_msg("%s: %d, state %d", cases[i].name, err, tx.state);
		assert_true(!err || e.text[0]);
		tx_clear(&tx);
	}
	test_too_large(&w, path);
	world_close(&w);
}

/* The place of the transactions is a file: an error, and nothing is freed that never was. */
static void test_no_folder(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	char path[64];
	struct world w;

	(void)state;
	world_open(&w);
	snprintf(path, sizeof(path), "%s/tx", w.dir);
	write_file(path, "", 0);
	assert_int_equal(rollback(&w, &outcome, &e), -ENOTDIR);
	assert_int_equal(apply(&w, &outcome, &e), -ENOTDIR);
	assert_true(as_before(&w));
	world_close(&w);
}

/* A disk that fills up inside a line, and has room again for the end of the transaction. */
static void test_full_disk(void **state)
{
	struct rlimit limit, former;
	enum apply_outcome outcome;
	struct err e = {0};
	char id[JOURNAL_ID_MAX], path[128], text[65536];
	struct state st;
	struct world w;
	struct tx tx;
	size_t size, again;

	(void)state;
	world_open(&w);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	only_journal(&w, id, path, sizeof(path));
	read_file(path, text, sizeof(text), &size);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = size + 5;
	assert_int_equal(state_open(AT(w.dir), &st, &e), 0);
	assert_int_equal(journal_read(&st, id, &tx, &e), 0);
	tx.state = TX_UNDONE;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(journal_append(&st, &tx, &e), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	read_file(path, text, sizeof(text), &again);
	assert_int_equal(again, size);
	assert_int_equal(journal_append(&st, &tx, &e), 0);
	tx_clear(&tx);
	state_close(&st);
	if (load_tx(w.dir, id, &tx, &e))
		fail_msg("%s", e.text);
	assert_int_equal(tx.state, TX_UNDONE);
	tx_clear(&tx);
	world_close(&w);
}

/* Every line of the journal, and the staged bytes of one, is the one for which there is no room. */
static void test_full_anywhere(void **state)
{
	struct rlimit limit, former;
	unsigned int undone = 0, done = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	for (size_t room = 0; !done && room < 65536; room += 97) {
		enum apply_outcome outcome;
		struct err e = {0};
		struct world w;
		int err;

		world_open(&w);
		limit = former;
		limit.rlim_cur = room;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		err = apply(&w, &outcome, &e);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
		done += !err;
		undone += err && w.machine->writes;
		if (err && (outcome != APPLY_UNDONE || !as_before(&w)))
			fail_msg("room for %zu bytes: %s", room, e.text);
		assert_true(err || is_applied(&w));
		world_close(&w);
	}
	assert_int_equal(done, 1);
	assert_true(undone > 10);
}

/* The newest one is the one that was made last, also when the clock was set back a day. */
static void test_clock_set_back(void **state)
{
	static const char future[] = "20990101-000000-99";
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	char path[128];
	struct tx tx;

	(void)state;
	world_open(&w);
	assert_int_equal(apply(&w, &outcome, &e), 0);
	assert_int_equal(newest_tx(w.dir, &tx, &e), 0);
	snprintf(path, sizeof(path), "cd %s/tx && mv %s %s", w.dir, tx.id, future);
	assert_int_equal(system(path), 0);
	tx_clear(&tx);
	for (unsigned int i = 0; i < 2; i++) {
		w.machine->port[0].qos.mtu = w.machine->port[1].qos.mtu = 1500;
		make_plans(&w);
		assert_int_equal(apply(&w, &outcome, &e), 0);
		assert_int_equal(newest_tx(w.dir, &tx, &e), 0);
		assert_true(strcmp(tx.id, future) > 0);
		assert_string_equal(tx.id, i ? "20990101-000002-00" : "20990101-000001-00");
		assert_null(strstr(tx.time, "2099"));
		tx_clear(&tx);
	}
	world_close(&w);
}

static unsigned int reports;
static char reported[ERR_TEXT_MAX];

static void note(const struct err *why, void *arg)
{
	(void)arg;
	reports++;
	snprintf(reported, sizeof(reported), "%s", why->text);
}

/* NULs, as a power loss leaves them, with and without an end of line: named, and out of the way. */
static void test_set_aside(void **state)
{
	static const char nuls[64] = {[63] = '\n'};
	enum apply_outcome outcome;
	struct err e = {0};
	char path[128];
	struct world w;
	struct tx tx;
	int lock;

	(void)state;
	for (size_t size = sizeof(nuls) - 1; size <= sizeof(nuls); size++) {
		world_open(&w);
		assert_int_equal(apply(&w, &outcome, &e), 0);
		snprintf(path, sizeof(path), "%s/tx/20990101-000000-00", w.dir);
		assert_int_equal(mkdir(path, 0700), 0);
		strcat(path, "/journal");
		write_file(path, nuls, size);
		assert_int_equal(load_tx(w.dir, "20990101-000000-00", &tx, &e), -EBADMSG);
		assert_int_equal(newest_tx(w.dir, &tx, &e), 0);
		assert_int_equal(tx.state, TX_DONE);
		tx_clear(&tx);
		reports = 0;
		/* Somebody may be writing it. */
		assert_int_equal(lock_host(w.dir, &lock, &e), 0);
		assert_int_equal(journal_set_aside_all(AT(w.dir), note, NULL, &e), 0);
		assert_int_equal(reports, 0);
		close(lock);
		assert_int_equal(journal_set_aside_all(AT(w.dir), note, NULL, &e), 0);
		assert_int_equal(reports, 1);
		assert_non_null(strstr(reported, "20990101-000000-00.unreadable"));
		assert_int_equal(journal_set_aside_all(AT(w.dir), note, NULL, &e), 0);
		assert_int_equal(reports, 1);
		assert_int_equal(rollback(&w, &outcome, &e), 0);
		assert_true(as_before(&w));
		world_close(&w);
	}
	assert_int_equal(journal_set_aside_all(AT("/no/such/folder"), note, NULL, &e), 0);
}

/* From now on fsync(2) fails in this process, as on a disk whose cache cannot be written back. */
static int refuse_flush(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What its writer was told is not on disk is not in the journal either: nobody acts on it. */
static void test_flush_fails(void **state)
{
	char path[128];
	struct err e = {0};
	struct world w;
	struct stat st;
	struct state s;
	struct tx tx;
	int status;
	pid_t pid;

	(void)state;
	world_open(&w);
	snprintf(path, sizeof(path), "mkdir -p -m 700 %s/tx/1", w.dir);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/tx/1/journal", w.dir);
	write_file(path, HEADER, strlen(HEADER));
	assert_int_equal(state_open(AT(w.dir), &s, &e), 0);
	assert_int_equal(journal_read(&s, "1", &tx, &e), 0);
	tx.state = TX_UNDONE;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(refuse_flush() ? 77 : journal_append(&s, &tx, &e) == -EIO ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, strlen(HEADER));
	tx_clear(&tx);
	assert_int_equal(load_tx(w.dir, "1", &tx, &e), 0);
	assert_int_equal(tx.state, TX_RUNNING);
	tx_clear(&tx);
	state_close(&s);
	world_close(&w);
}

/* Of this boot or of another one: by its id, not by the clock. */
static void test_boot(void **state)
{
	static const struct {
		const char *boot;
		bool other;
	} cases[] = {
		{NULL, true}, /* of an older version */
		{"\"boot\":\"\",", true},
		{"\"boot\":\"00000000-0000-0000-0000-000000000000\",", true},
		{"\"boot\":7,", true},
	};
	char path[128], text[1024], boot[JOURNAL_BOOT_MAX];
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	struct tx tx;

	(void)state;
	world_open(&w);
	journal_boot_id(boot);
	assert_true(boot[0]);
	assert_true(dies(&w, false, 30));
	assert_int_equal(newest_tx(w.dir, &tx, &e), 0);
	assert_int_equal(tx.state, TX_RUNNING);
	assert_false(tx.other_boot);
	tx_clear(&tx);
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	snprintf(path, sizeof(path), "%s/tx/1", w.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/journal");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), "{%s%s\n", cases[i].boot ? cases[i].boot : "",
			 &HEADER[1]);
		text[strlen(text) - 1] = '\0';
		write_file(path, text, strlen(text));
		assert_int_equal(load_tx(w.dir, "1", &tx, &e), 0);
		if (tx.other_boot != cases[i].other)
			fail_msg("boot %s", cases[i].boot ? cases[i].boot : "none");
		tx_clear(&tx);
	}
	world_close(&w);
}

static void test_names(void **state)
{
	static const char *const bad[] = {"",	 "x", "../1",
					  "1/2", ".", "12345678901234567890123456789012"};
	struct err e = {0};
	struct world w;
	struct tx tx;

	(void)state;
	world_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(load_tx(w.dir, bad[i], &tx, &e), -ENOENT);
	assert_int_equal(load_tx(w.dir, "20260101-000000-00", &tx, &e), -ENOENT);
	assert_null(tx.port);
	assert_int_equal(newest_tx("/no/such/folder", &tx, &e), -ENOENT);
	for (int s = TX_EMPTY; s <= TX_LOST; s++)
		assert_non_null(tx_state_word(s));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_torn),	       cmocka_unit_test(test_bad_journals),
		cmocka_unit_test(test_no_folder),      cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_names),	       cmocka_unit_test(test_full_anywhere),
		cmocka_unit_test(test_clock_set_back), cmocka_unit_test(test_set_aside),
		cmocka_unit_test(test_boot),	       cmocka_unit_test(test_flush_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
