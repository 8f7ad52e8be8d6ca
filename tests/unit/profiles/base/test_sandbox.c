/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The confinement of the file decoder, each row in a process of its own: what is forbidden kills,
 * what decoding needs does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <arpa/inet.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "capture/reader.h"
#include "profiles/base/sandbox.h"

#define UNCONFINED 77

/* How a child ends that enters the sandbox and then runs f. */
static int status_of(void (*f)(void))
{
	struct err e = {0};
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		alarm(60);
		if (sandbox_enter(SANDBOX_FILE, NULL, &e))
			_exit(UNCONFINED);
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void create_file(void)
{
	(void)open("/tmp/rocecheck-test-escape", O_WRONLY | O_CREAT, 0600);
}

static void make_socket(void)
{
	(void)socket(AF_INET, SOCK_DGRAM, 0);
}

static void run_program(void)
{
	static char name[] = "/bin/true";
	char *args[] = {name, NULL}, *none[] = {NULL};

	execve(name, args, none);
}

static void send_signal(void)
{
	(void)kill(getppid(), 0);
}

static void unlink_file(void)
{
	(void)unlink("/tmp/rocecheck-test-escape");
}

static void make_code(void)
{
	(void)syscall(SYS_mprotect, 0, 4096, PROT_READ | PROT_EXEC);
}

static void push_input(void)
{
	(void)syscall(SYS_ioctl, 0, 0x5412 /* TIOCSTI */, "x");
}

static void change_user(void)
{
	(void)!setuid(0);
}

static void ignore_refusals(void)
{
	(void)signal(SIGSYS, SIG_IGN);
}

/* The kernel takes the lower 32 bits for the number. */
static void ignore_disguised(void)
{
	(void)syscall(SYS_rt_sigaction, (1UL << 32) | SIGSYS, NULL, NULL, 8);
}

static void read_file(void)
{
	(void)open("/etc/passwd", O_RDONLY);
}

static void be_two(void)
{
	(void)fork();
}

static const struct {
	const char *name;
	void (*f)(void);
	bool leak_search; /* needs it, with AddressSanitizer */
} forbidden[] = {
	{"create a file", create_file, false},
	{"make a socket", make_socket, false},
	{"run a program", run_program, false},
	{"send a signal", send_signal, false},
	{"remove a file", unlink_file, false},
	{"type for the user", push_input, false},
	{"change the user", change_user, false},
	{"make code", make_code, false},
	{"ignore refusals", ignore_refusals, false},
	{"ignore them in disguise", ignore_disguised, false},
	{"open a file", read_file, true},
	{"fork", be_two, true},
};

static bool sanitized(void)
{
#ifdef __SANITIZE_ADDRESS__
	return true;
#else
	return false;
#endif
}

static void kills(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(forbidden); i++) {
		int status;

		if (forbidden[i].leak_search && sanitized())
			continue;
		status = status_of(forbidden[i].f);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("%s: status 0x%x", forbidden[i].name, (unsigned int)status);
	}
	assert_int_equal(access("/tmp/rocecheck-test-escape", F_OK), -1);
}

/* Whoever reports it can say which call that was. */
static void names(void **state)
{
	char text[256] = "", want[256];
	int status, said[2], kept = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(said), 0);
	assert_int_equal(dup2(said[1], STDERR_FILENO), STDERR_FILENO);
	status = status_of(make_socket);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	close(kept);
	close(said[1]);
	assert_true(read(said[0], text, sizeof(text) - 1) > 0);
	close(said[0]);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	snprintf(want, sizeof(want),
		 "rocecheck: error: system call %d (socket) is not allowed in the sandbox\n",
		 SYS_socket);
	assert_string_equal(text, want);
	sandbox_call(100000, text);
	assert_string_equal(text, "system call 100000 (unknown)");
}

struct asked {
	const char *call;
	unsigned int argument;
	uint64_t value;
	uint32_t want;
};

/* The filter is a classic BPF program over struct seccomp_data, in words of this machine; libpcap
 * runs one over words of the network. */
static uint32_t answer_of(const struct bpf_insn *program, uint32_t arch, const struct asked *a)
{
	struct seccomp_data data = {.arch = arch};
	uint32_t words[sizeof(data) / sizeof(uint32_t)];

	data.nr = seccomp_syscall_resolve_name_arch(arch, a->call);
	assert_true(data.nr >= 0);
	data.args[a->argument] = a->value;
	memcpy(words, &data, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = htonl(words[i]);
	return bpf_filter(program, (const u_char *)words, sizeof(words), sizeof(words));
}

static void check_filter(uint32_t arch, enum sandbox_input input, const struct asked *asked,
			 size_t n)
{
	static struct bpf_insn program[4096];
	FILE *f = tmpfile();
	void *filter;

	assert_non_null(f);
	assert_int_equal(sandbox_filter(input, arch, &filter), 0);
	assert_int_equal(seccomp_export_bpf(filter, fileno(f)), 0);
	seccomp_release(filter);
	rewind(f);
	assert_in_range(fread(program, sizeof(program[0]), ARRAY_SIZE(program), f), 1,
			ARRAY_SIZE(program) - 1);
	fclose(f);
	for (size_t i = 0; i < n; i++) {
		uint32_t got = answer_of(program, arch, &asked[i]);

		if (got != asked[i].want)
			fail_msg("arch %x: %s: 0x%x, not 0x%x", arch, asked[i].call, got,
				 asked[i].want);
	}
}

/* glibc and libpcap on either machine: arm64 has no poll, open and fstat of its own. */
static void architectures(void **state)
{
	static const uint32_t archs[] = {SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64};
	static const struct asked both[] = {
		{"read", 0, 0, SECCOMP_RET_ALLOW},
		{"newfstatat", 3, AT_EMPTY_PATH, SECCOMP_RET_ALLOW},
		{"newfstatat", 3, 0, SECCOMP_RET_TRAP},
		{"mmap", 2, PROT_READ | PROT_WRITE, SECCOMP_RET_ALLOW},
		{"mremap", 0, 0, SECCOMP_RET_ALLOW},
		{"futex", 0, 0, SECCOMP_RET_ALLOW},
		{"clone", 0, CLONE_VM | CLONE_THREAD, SECCOMP_RET_ALLOW},
		{"clone3", 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
		{"rseq", 0, 0, SECCOMP_RET_ALLOW},
		{"getrandom", 0, 0, SECCOMP_RET_ALLOW},
		{"clock_gettime", 0, 0, SECCOMP_RET_ALLOW},
		{"rt_sigaction", 0, SIGTERM, SECCOMP_RET_ALLOW},
		{"rt_sigaction", 0, 33, SECCOMP_RET_ALLOW},
		{"rt_sigaction", 0, SIGSYS, SECCOMP_RET_TRAP},
		{"rt_sigreturn", 0, 0, SECCOMP_RET_ALLOW},
		{"exit_group", 0, 0, SECCOMP_RET_ALLOW},
		{"execve", 0, 0, SECCOMP_RET_TRAP},
		{"socket", 0, 0, SECCOMP_RET_TRAP},
		{"unlinkat", 0, 0, SECCOMP_RET_TRAP},
		{"kill", 0, 0, SECCOMP_RET_TRAP},
		{"setuid", 0, 0, SECCOMP_RET_TRAP},
	};
	static const struct asked live[] = {
		{"ppoll", 0, 0, SECCOMP_RET_ALLOW},
		{"getsockopt", 0, 9, SECCOMP_RET_ALLOW},
		{"getsockname", 0, 9, SECCOMP_RET_ALLOW},
		{"ioctl", 1, SIOCGIFFLAGS, SECCOMP_RET_ALLOW},
		{"ioctl", 1, TIOCSTI, SECCOMP_RET_TRAP},
		{"sendto", 0, SANDBOX_PARENT_FD, SECCOMP_RET_ALLOW},
		{"sendto", 0, 9, SECCOMP_RET_TRAP},
		{"recvmsg", 0, SANDBOX_PARENT_FD, SECCOMP_RET_ALLOW},
		{"write", 0, SANDBOX_WRITE_END - 1, SECCOMP_RET_ALLOW},
		{"write", 0, SANDBOX_WRITE_END, SECCOMP_RET_TRAP},
		{"write", 0, UINT64_C(1) << 32, SECCOMP_RET_TRAP},
#ifndef __SANITIZE_ADDRESS__
		{"openat", 0, 0, SECCOMP_RET_ERRNO | EACCES},
#endif
	};
	static const struct asked file[] = {
		{"write", 0, SANDBOX_WRITE_END, SECCOMP_RET_ALLOW},
		{"sendto", 0, SANDBOX_PARENT_FD, SECCOMP_RET_TRAP},
		{"ppoll", 0, 0, SECCOMP_RET_TRAP},
#ifndef __SANITIZE_ADDRESS__
		{"openat", 0, 0, SECCOMP_RET_TRAP},
#endif
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++) {
		check_filter(archs[i], SANDBOX_LIVE, both, ARRAY_SIZE(both));
		check_filter(archs[i], SANDBOX_LIVE, live, ARRAY_SIZE(live));
		check_filter(archs[i], SANDBOX_FILE, both, ARRAY_SIZE(both));
		check_filter(archs[i], SANDBOX_FILE, file, ARRAY_SIZE(file));
	}
}

static void *count(void *n)
{
	++*(int *)n;
	return NULL;
}

static void check(bool ok)
{
	if (!ok)
		_exit(1);
}

static int compare(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* More than qsort() keeps on the stack: it asks how much memory there is. */
static void sort(void)
{
	int list[1000];

	for (int i = 0; i < 1000; i++)
		list[i] = i * 7919 % 1000;
	qsort(list, 1000, sizeof(list[0]), compare);
	check(list[0] == 0 && list[999] == 999);
}

static void work(void)
{
	const size_t size = 8 << 20;
	uint8_t *p = malloc(size);
	json_t *o = json_object();
	pthread_t t;
	FILE *f;
	char *text;
	size_t len;
	int n = 0;

	check(p && o);
	memset(p, 1, size);
	free(p);
	check(json_object_set_new(o, "a", json_integer(1)) == 0);
	json_decref(o);
	f = open_memstream(&text, &len);
	check(f && fprintf(f, "%d %s", 3, strerror(ENOENT)) > 0 && !fclose(f));
	free(text);
	check(!pthread_create(&t, NULL, count, &n) && !pthread_join(t, NULL) && n == 1);
	sort();
	check(isatty(1) >= 0);
	check(write(1, "", 0) == 0);
}

static void works(void **state)
{
	int status = status_of(work);

	(void)state;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status 0x%x", (unsigned int)status);
}

static struct input *opened;

/* Reads a source to its end, and asks it for all that it knows. */
static void read_source(void)
{
	struct reader r;
	const struct packet *p;
	struct err e = {0};
	struct capture_summary s;
	int got;

	check(!reader_init(&r, opened, 0, &e));
	while ((got = reader_next(&r, -1, &p, &e)) > 0)
		;
	check(!got && r.frames > 0);
	check(!reader_summary(&r, &s));
	capture_summary_clear(&s);
	reader_clear(&r);
}

static void decodes(void **state)
{
	static const char *const files[] = {"loss.pcap", "drops.pcapng", "mirror.pcap"};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		struct err e = {0};
		char path[128];
		int status;

		snprintf(path, sizeof(path), "tests/golden/capture/%s", files[i]);
		assert_int_equal(input_open_file(path, &opened, &e), 0);
		status = status_of(read_source);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			fail_msg("%s: status 0x%x", files[i], (unsigned int)status);
		input_close(opened);
	}
}

/* Of a kernel without seccomp: a filter that answers for it. */
static void no_seccomp(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	check(filter && !seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(seccomp), 0) &&
	      !seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
				SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP)) &&
	      !seccomp_load(filter));
	seccomp_release(filter);
}

static bool has_no_privilege(void)
{
	char line[128];
	bool none = false;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		none |= !strcmp(line, "CapPrm:\t0000000000000000\n");
	if (f)
		fclose(f);
	return none && geteuid();
}

/* Nothing is decoded there, unless the user says so; the privileges are gone in either case. */
static void refuses(void **state)
{
	(void)state;
	for (int unfiltered = 0; unfiltered < 2; unfiltered++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			struct err e = {0};

			no_seccomp();
			check(sandbox_confine(SANDBOX_FILE, unfiltered, NULL, &e) ==
			      (unfiltered ? 0 : -ENOTSUP));
			check(unfiltered || strstr(e.hint, "--no-sandbox"));
			check(has_no_privilege());
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			fail_msg("unfiltered %d: status 0x%x", unfiltered, (unsigned int)status);
	}
}

#ifdef __SANITIZE_ADDRESS__
/* It waits without an end for a helper that was killed: the alarm ends it. */
static void search_leaks(void)
{
	check(!__lsan_do_recoverable_leak_check());
}
#endif

/* What ends every sanitized program, the confined ones too. */
static void finds_leaks(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	int status = status_of(search_leaks);

	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status 0x%x", (unsigned int)status);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kills),	 cmocka_unit_test(works),
		cmocka_unit_test(decodes),	 cmocka_unit_test(refuses),
		cmocka_unit_test(finds_leaks),	 cmocka_unit_test(names),
		cmocka_unit_test(architectures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
