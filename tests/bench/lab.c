/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the emulated switch: frames of 1082 bytes through one pair of ports, from a process that
 * sends what it can, by the second of processor time that the switch used: other load does not
 * count. One line a number: NAME VALUE UNIT TARGET ok|short; exit 1 when short. The queues of
 * datagram sockets are made longer in a network namespace of its own, as the lab does.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lab/switch/switch.h"

#define RUN_NS	     (3 * NS_PER_S)
#define FRAME_BYTES  1082
#define TARGET_RATE  300000
#define QUEUE_LENGTH "1024"

static const char form[] = "schema: rocecheck.switch/1\n"
			   "switches:\n"
			   "  - name: s1\n"
			   "    defaults: {rate: 100G, dscp: {26: 3}, lldp: {send: off}}\n"
			   "    ports:\n"
			   "      - {name: p1, local: p1.sw, remote: p1.vm}\n"
			   "      - {name: p2, local: p2.sw, remote: p2.vm}\n";

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Where it is not allowed, the number is lower and honest. */
static void lengthen_queues(void)
{
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return;
	fd = open("/proc/sys/net/unix/max_dgram_qlen", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, QUEUE_LENGTH, strlen(QUEUE_LENGTH)) < 0)
		perror("max_dgram_qlen");
	close(fd);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

static int open_guest(const char *path)
{
	struct sockaddr_un a = address_of(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), size_bytes = 4 << 20;

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)))
		die(path);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size_bytes, sizeof(size_bytes));
	return fd;
}

/* Counts frames that one process hands on until it is killed. */
static void run_switch(void)
{
	struct lab_config *config = calloc(1, sizeof(*config));
	struct lab *lab = calloc(1, sizeof(*lab));
	struct err e = {.code = 0};
	struct diags d;

	diags_init(&d);
	if (!config || !lab || config_parse("bench", form, strlen(form), config, &d, &e) ||
	    lab_init(lab, config, &e) || lab_run(lab, &e))
		fprintf(stderr, "switch: %s\n", e.text);
	lab_clear(lab);
	exit(0);
}

static void fill_batch(struct mmsghdr msg[BATCH], struct iovec iov[BATCH], uint8_t *data,
		       size_t len, size_t stride)
{
	memset(msg, 0, BATCH * sizeof(*msg));
	for (unsigned int i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){.iov_base = data + i * stride, .iov_len = len};
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
}

static void run_sender(int fd)
{
	static uint8_t frame[FRAME_BYTES] = {
		0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x08, 0x00, 0x45, 106,
	};
	struct sockaddr_un to = address_of("p1.sw");
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];

	fill_batch(msg, iov, frame, sizeof(frame), 0);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("p1.sw");
	while (sendmmsg(fd, msg, BATCH, 0) > 0)
		;
	exit(0);
}

static double receive(int fd)
{
	static uint8_t data[BATCH * 2048];
	uint64_t begin_ns = clock_ns(), count = 0;
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];

	fill_batch(msg, iov, data, 2048, 2048);
	while (clock_ns() < begin_ns + RUN_NS) {
		int n = recvmmsg(fd, msg, BATCH, MSG_WAITFORONE, NULL);

		count += n > 0 ? n : 0;
	}
	return count * 1e9 / (clock_ns() - begin_ns);
}

static pid_t spawn(void (*run)(int), int fd)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		run(fd);
	return pid;
}

static void as_switch(int fd)
{
	(void)fd;
	run_switch();
}

/* The switch must know where guest 2 is, and be there at all. */
static void introduce(int fd)
{
	static const uint8_t hello[60] = {0x02, 0, 0, 0, 0, 9, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00};
	static const struct timespec nap = {.tv_nsec = 10000000};
	struct sockaddr_un to = address_of("p2.sw");

	for (unsigned int i = 0; i < 300; i++) {
		nanosleep(&nap, NULL);
		if (sendto(fd, hello, sizeof(hello), 0, (struct sockaddr *)&to, sizeof(to)) > 0)
			return;
	}
	die("p2.sw");
}

static bool print(const char *name, double value, const char *unit, double target)
{
	bool ok = value >= target;

	printf("%s %.0f %s %.0f %s\n", name, value, unit, target, ok ? "ok" : "short");
	return ok;
}

static void clean(const char *dir)
{
	static const char *const left[] = {"p1.vm", "p2.vm"};

	for (unsigned int i = 0; i < ARRAY_SIZE(left); i++)
		unlink(left[i]);
	rmdir(dir);
}

int main(void)
{
	char dir[] = "/tmp/bench-switch-XXXXXX";
	struct rusage used;
	int guest[2], status;
	pid_t box, sender;
	double rate, cpu_s;
	bool ok;

	if (!mkdtemp(dir) || chdir(dir))
		die(dir);
	lengthen_queues();
	guest[0] = open_guest("p1.vm");
	guest[1] = open_guest("p2.vm");
	box = spawn(as_switch, -1);
	introduce(guest[1]);
	sender = spawn(run_sender, guest[0]);
	rate = receive(guest[1]);
	kill(sender, SIGKILL);
	waitpid(sender, &status, 0);
	kill(box, SIGTERM);
	wait4(box, &status, 0, &used);
	cpu_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
		(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	ok = print("lab.switch.frames_per_core", rate * RUN_NS / NS_PER_S / cpu_s, "frames/cpu-s",
		   TARGET_RATE);
	/* What else the machine does is in this one. */
	fprintf(stderr, "lab.switch: %.0f frames/s by the clock\n", rate);
	clean(dir);
	return !ok;
}
