/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The confined process that decodes packets: what it is given, what it cannot do any more, and what
 * its parent hears of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/confined.h"
#include "capture/record_live.h"
#include "profiles/base/file.h"
#include "profiles/base/privileges.h"
#include "profiles/base/sandbox.h"

#define WAIT_MS 20000

static int status_fd; /* of the child: /proc/self/status, opened before it is confined */
static int socket_fd; /* as a packet socket is */
static pid_t parent_pid;

static int open_nothing(void *arg, struct err *e)
{
	(void)arg, (void)e;
	return 0;
}

static int open_status(void *arg, struct err *e)
{
	(void)arg, (void)e;
	status_fd = open("/proc/self/status", O_RDONLY);
	return status_fd < 0 ? -errno : 0;
}

static void send_status(void *arg, int parent)
{
	char text[4096];
	ssize_t n = pread(status_fd, text, sizeof(text), 0);

	(void)arg;
	if (n > 0)
		(void)confined_write(parent, text, (size_t)n);
}

static char *text_of(const struct confined_job *job)
{
	struct confined c;
	struct err e = {0};
	char *text = NULL;

	if (confined_start(job, &c, &e))
		fail_msg("%s", e.text);
	assert_int_equal(confined_read_text(c.fd, 65536, WAIT_MS, &text), 0);
	if (confined_close(&c, &e))
		fail_msg("%s", e.text);
	return text;
}

static void has_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
}

static void no_privilege(void **state)
{
	const struct confined_job job = {.open = open_status, .run = send_status, .file_fd = -1};
	char *text = text_of(&job);

	(void)state;
	has_line(text, "\nCapInh:\t0000000000000000\n");
	has_line(text, "\nCapPrm:\t0000000000000000\n");
	has_line(text, "\nCapEff:\t0000000000000000\n");
	has_line(text, "\nCapAmb:\t0000000000000000\n");
	has_line(text, "\nNoNewPrivs:\t1\n");
	has_line(text, "\nSeccomp:\t2\n");
	if (!geteuid()) {
		has_line(text, "\nUid:\t65534\t65534\t65534\t65534\n");
		has_line(text, "\nGid:\t65534\t65534\t65534\t65534\n");
		has_line(text, "\nGroups:\t \n");
		has_line(text, "\nCapBnd:\t0000000000000000\n");
	}
	free(text);
}

/* Standard error, the socket and what it opened: nothing else of its parent. */
static int list_descriptors(void *arg, struct err *e)
{
	char *list = arg;

	(void)e;
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			sprintf(list + strlen(list), "%d ", fd);
	return 0;
}

static void send_list(void *arg, int parent)
{
	(void)confined_write(parent, arg, strlen(arg));
}

static void own_descriptors(void **state)
{
	char list[8192] = "";
	struct confined_job job = {
		.open = list_descriptors, .run = send_list, .arg = list, .file_fd = -1};
	int extra = fcntl(STDERR_FILENO, F_DUPFD, 100);
	char *text = text_of(&job);

	(void)state;
	close(extra);
	assert_string_equal(text, "0 1 2 3 4 5 6 7 ");
	assert_string_equal(list, "");
	free(text);
}

static void write_file(void *arg, int parent)
{
	(void)arg;
	(void)parent;
	(void)!write(CONFINED_FILE_FD, "written", 7);
}

static void given_file(void **state)
{
	FILE *f = tmpfile();
	struct confined_job job = {.open = open_nothing, .run = write_file, .file_fd = fileno(f)};
	struct confined c;
	struct err e = {0};
	char bytes[8] = "";

	(void)state;
	assert_int_equal(confined_start(&job, &c, &e), 0);
	assert_int_equal(confined_close(&c, &e), 0);
	assert_int_equal(pread(fileno(f), bytes, 7, 0), 7);
	assert_string_equal(bytes, "written");
	fclose(f);
}

/* What a decoder that was taken over would try. */
static void open_file(void)
{
	int fd = open("/etc/passwd", O_RDONLY);

	if (fd < 0 && errno == EACCES)
		raise(SIGSYS); /* refused, not killed: the row below wants a signal */
}

static void send_frame(void)
{
	(void)!write(socket_fd, "frame", 5);
}

static void send_datagram(void)
{
	(void)send(socket_fd, "frame", 5, 0);
}

static void make_socket(void)
{
	(void)socket(AF_PACKET, SOCK_RAW, 0);
}

static void change_user(void)
{
	(void)!setuid(0);
}

static void kill_parent(void)
{
	(void)kill(parent_pid, SIGKILL);
}

static void remove_file(void)
{
	(void)unlink("/tmp/rocecheck-no-such-file");
}

static void run_program(void)
{
	static char name[] = "/bin/true";
	char *args[] = {name, NULL}, *none[] = {NULL};

	execve(name, args, none);
}

/* A number whose lower half is a low descriptor's, and which is none. */
static void write_disguised(void)
{
	(void)syscall(1 /* write */, (1UL << 32) | (unsigned int)socket_fd, "frame", 5);
}

static const struct {
	const char *name;
	void (*f)(void);
	const char *call; /* which the parent names */
	bool sanitized;	  /* also where the search for leaks is let through */
} attacks[] = {
	{"open a file", open_file, "(tgkill)", false},
	{"send a frame by write()", send_frame, "(write)", true},
	{"send a frame by send()", send_datagram, "(sendto)", true},
	{"write to a disguised descriptor", write_disguised, "(write)", true},
	{"make a packet socket", make_socket, "(socket)", true},
	{"become root", change_user, "(setuid)", true},
	{"kill the parent", kill_parent, "(kill)", true},
	{"remove a file", remove_file, "(unlink", true},
	{"run a program", run_program, "(execve)", true},
};

static int open_socket(void *arg, struct err *e)
{
	(void)arg, (void)e;
	parent_pid = getppid();
	socket_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	return socket_fd < 0 ? -errno : 0;
}

static void attack(void *arg, int parent)
{
	(void)parent;
	((void (*)(void))arg)();
}

static void attacks_end_it(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(attacks); i++) {
		struct confined_job job = {
			.open = open_socket, .run = attack, .arg = attacks[i].f, .file_fd = -1};
		struct confined c;
		struct err e = {0};

#ifdef __SANITIZE_ADDRESS__
		if (!attacks[i].sanitized)
			continue;
#endif
		assert_int_equal(confined_start(&job, &c, &e), 0);
		if (confined_close(&c, &e) != -EPIPE ||
		    !strstr(e.text, "was killed: its sandbox does not allow system call ") ||
		    !strstr(e.text, attacks[i].call))
			fail_msg("%s: '%s'", attacks[i].name, e.text);
	}
}

static int fail_to_open(void *arg, struct err *e)
{
	(void)arg;
	err_set(e, -ENODEV, "nonesuch0: capture: no such device");
	err_hint(e, "'ip link' lists the interfaces");
	return -ENODEV;
}

static void open_error(void **state)
{
	const struct confined_job job = {.open = fail_to_open, .run = send_status, .file_fd = -1};
	struct confined c;
	struct err e = {0};

	(void)state;
	assert_int_equal(confined_start(&job, &c, &e), -ENODEV);
	assert_string_equal(e.text, "nonesuch0: capture: no such device");
	assert_string_equal(e.hint, "'ip link' lists the interfaces");
}

static void wait_for_stop(void *arg, int parent)
{
	(void)arg;
	while (!confined_stopped(parent))
		(void)poll(NULL, 0, 1);
	(void)confined_write(parent, "over", 4);
}

static void stop(void **state)
{
	const struct confined_job job = {.open = open_nothing, .run = wait_for_stop, .file_fd = -1};
	struct confined c;
	struct err e = {0};
	char *text = NULL;

	(void)state;
	assert_int_equal(confined_start(&job, &c, &e), 0);
	assert_int_equal(confined_read_text(c.fd, 100, 50, &text), -ETIMEDOUT);
	confined_stop(&c);
	assert_int_equal(confined_read_text(c.fd, 100, WAIT_MS, &text), 0);
	assert_string_equal(text, "over");
	free(text);
	assert_int_equal(confined_close(&c, &e), 0);
	assert_int_equal(confined_close(&c, &e), 0); /* once more is nothing */
}

static void talk_without_end(void *arg, int parent)
{
	static const char text[1000];

	(void)arg;
	while (!confined_write(parent, text, sizeof(text)))
		;
}

/* What comes is bounded, whatever the process has become. */
static void endless(void **state)
{
	const struct confined_job job = {
		.open = open_nothing, .run = talk_without_end, .file_fd = -1};
	struct confined c;
	struct err e = {0};
	char *text = NULL;

	(void)state;
	assert_int_equal(confined_start(&job, &c, &e), 0);
	assert_int_equal(confined_read_text(c.fd, 65536, WAIT_MS, &text), -EMSGSIZE);
	assert_null(text);
	assert_int_equal(confined_close(&c, &e), 0);
}

/* 1: a terminal would answer with what it is, and be read. */
static void look_at_terminal(void *arg, int parent)
{
	uint8_t terminals = 0;

	(void)arg;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		terminals += (uint8_t)(isatty(fd) != 0);
	(void)confined_write(parent, &terminals, 1);
}

static void no_terminal(void **state)
{
	const struct confined_job job = {
		.open = open_nothing, .run = look_at_terminal, .file_fd = -1};
	int master = posix_openpt(O_RDWR | O_NOCTTY), kept = dup(STDERR_FILENO), input = dup(0);
	int slave = master < 0 || grantpt(master) || unlockpt(master)
			    ? -1
			    : open(ptsname(master), O_RDWR | O_NOCTTY);
	struct confined c;
	struct err e = {0};
	uint8_t terminals = 9;
	int err;

	(void)state;
	if (slave < 0 || input < 0)
		skip();
	assert_int_equal(dup2(slave, 0), 0);
	assert_int_equal(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	err = confined_start(&job, &c, &e);
	(void)dup2(kept, STDERR_FILENO);
	(void)dup2(input, 0);
	assert_int_equal(err, 0);
	assert_int_equal(confined_read(c.fd, &terminals, 1, WAIT_MS), 0);
	assert_int_equal(confined_close(&c, &e), 0);
#ifdef __SANITIZE_ADDRESS__
	assert_int_equal(terminals, 1); /* for what it finds */
#else
	assert_int_equal(terminals, 0);
#endif
	close(slave), close(master), close(kept), close(input);
}

/* A decoder that somebody has stopped, or who took it over: each says nothing any more. */
static void silent_recording(void **state)
{
	char dir[] = "/tmp/rocecheck-silent.XXXXXX", path[64];
	atomic_int never = 0, at_once = 1;

	(void)state;
	if (geteuid())
		skip();
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.pcap", dir);
	for (unsigned int i = 0; i < 2; i++) {
		struct folder folder;
		struct record_live live = {.plan = {.path = path, .folder = &folder},
					   .interface = "lo",
					   .filter = "roce",
					   .duration_ms = i ? 0 : 100,
					   .end_timeout_ms = 300};
		struct record_live_result got;
		struct confined c;
		struct err e = {0};
		uint64_t begin = monotonic_ms();

		assert_int_equal(folder_of_file(path, &folder, &e), 0);
		if (record_live_start(&live, &c, &e))
			fail_msg("%s", e.text);
		assert_int_equal(getpgid(c.pid), c.pid);
		assert_int_equal(kill(c.pid, SIGSTOP), 0);
		assert_int_equal(record_live_run(&live, &c, i ? &at_once : &never, &got, &e),
				 -ETIMEDOUT);
		assert_non_null(strstr(e.text, "does not finish"));
		assert_true(monotonic_ms() - begin < WAIT_MS);
		folder_close(&folder);
		(void)remove(path); /* it may have asked for it before it was stopped */
	}
	assert_int_equal(rmdir(dir), 0);
}

/* Files for ever, none of which has a byte; and one that asks and does not listen. */
static void ask_for_files(void *arg, int parent)
{
	uint8_t byte = 'n';
	bool deaf = *(bool *)arg;
	int fd;

	while (!confined_write(parent, &byte, 1))
		if (!deaf && confined_receive_fd(parent, &byte, &fd))
			break;
		else
			byte = 'n';
}

static void files_without_end(void **state)
{
	char dir[] = "/tmp/rocecheck-files.XXXXXX", path[64], name[80];
	atomic_int stop = 1;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.pcap", dir);
	for (unsigned int i = 0; i < 2; i++) {
		bool deaf = i;
		const struct confined_job job = {
			.open = open_nothing, .run = ask_for_files, .arg = &deaf, .file_fd = -1};
		struct folder folder;
		struct record_live live = {
			.plan = {.path = path, .folder = &folder, .max_frames = 1},
			.end_timeout_ms = 500};
		struct record_live_result got;
		struct confined c;
		struct err e = {0};

		assert_int_equal(folder_of_file(path, &folder, &e), 0);
		assert_int_equal(confined_start(&job, &c, &e), 0);
		assert_int_equal(record_live_run(&live, &c, &stop, &got, &e), -EPROTO);
		assert_non_null(strstr(e.text, "writes nothing"));
		assert_int_equal(got.files, 1);
		folder_close(&folder);
		snprintf(name, sizeof(name), "%s/a-00001.pcap", dir);
		assert_int_equal(remove(name), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_privilege),	    cmocka_unit_test(own_descriptors),
		cmocka_unit_test(given_file),	    cmocka_unit_test(attacks_end_it),
		cmocka_unit_test(open_error),	    cmocka_unit_test(stop),
		cmocka_unit_test(endless),	    cmocka_unit_test(no_terminal),
		cmocka_unit_test(silent_recording), cmocka_unit_test(files_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
