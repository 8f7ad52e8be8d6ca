/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the emulated switch: frames of 1082 bytes through one pair of ports, from a process that
 * sends what it can, by the second of processor time that the switch used: other load does not
 * count. Meanwhile its accounts are read: what came in must be what left, was dropped or is held.
 * One line a figure: NAME VALUE UNIT TARGET ok|short; exit 1 when one is short. The queues of
 * datagram sockets are made longer in a network namespace of its own, as the lab does.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lab/switch/switch.h"

#define RUN_NS	     (3 * NS_PER_S)
#define FRAME_BYTES  1082
#define SAMPLES	     10 /* looks at the accounts in one run */
#define TARGET_RATE  300000
#define TARGET_TEXT  ">=300000"
#define QUEUE_LENGTH "1024"

/* A switch that does what it must, and one that does all it can. */
static const struct variant {
	const char *name, *settings;
} variants[] = {
	{"plain", "dscp: {26: 3}"},
	{"lossless",
	 "dscp: {26: 3}, pfc: [3], xoff: 1MB, headroom: 4MB, tc: {0: {maxrate: 90G, ecn: "
	 "{on: on, kmin: 500kB, kmax: 2MB, pmax: 10}}}"},
};

static const char form[] = "schema: rocecheck.switch/1\n"
			   "control: ctl\n"
			   "switches:\n"
			   "  - name: s1\n"
			   "    defaults: {rate: 100G, lldp: {send: off}, %s}\n"
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

static void run_switch(const struct variant *v)
{
	struct lab_config *config = calloc(1, sizeof(*config));
	struct lab *lab = calloc(1, sizeof(*lab));
	struct err e = {.code = 0};
	struct diags d;
	char *text;

	diags_init(&d);
	if (!config || !lab || asprintf(&text, form, v->settings) < 0)
		die("memory");
	if (config_parse("bench", text, strlen(text), config, &d, &e) ||
	    lab_init(lab, config, &e) || lab_run(lab, &e)) {
		diags_print(&d, stderr, false);
		fprintf(stderr, "switch: %s\n", e.text);
	}
	lab_clear(lab);
	exit(0);
}

/* What the bench started ends with it, however that ends. */
static pid_t spawn(void)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	return pid;
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
	/* Connected, the socket would take nothing from the switch's other one. */
	for (unsigned int i = 0; i < BATCH; i++) {
		msg[i].msg_hdr.msg_name = &to;
		msg[i].msg_hdr.msg_namelen = sizeof(to);
	}
	while (sendmmsg(fd, msg, BATCH, 0) > 0)
		;
	exit(0);
}

static uint64_t number(json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Frames of a port and all its priorities. */
struct account {
	uint64_t received, sent, dropped, held, held_bytes;
};

static void add_port(json_t *port, struct account *a)
{
	json_t *prios = json_object_get(port, "prio"), *prio;
	const char *key;

	json_object_foreach (prios, key, prio) {
		a->received += number(prio, "rx_frames");
		a->sent += number(prio, "tx_frames");
		a->dropped += number(prio, "dropped");
		a->held += number(prio, "queue_frames");
		a->held_bytes += number(prio, "ingress_bytes");
	}
}

/* By how many frames and bytes the accounts of the switch are wrong at this moment. */
static uint64_t account_error(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct account a = {0};
	json_t *stats, *box, *port;
	const char *key;
	struct err e;
	int64_t frames, bytes;

	if (!out || control_ask("ctl", "{\"op\":\"stats\"}", out, &e) || fclose(out))
		die("stats");
	stats = json_loads(text, 0, NULL);
	box = json_object_get(json_object_get(stats, "switches"), "s1");
	json_object_foreach (json_object_get(box, "ports"), key, port)
		add_port(port, &a);
	frames = (int64_t)(a.received - a.sent - a.dropped - a.held);
	bytes = (int64_t)(number(box, "shared_bytes") + number(box, "headroom_bytes") -
			  a.held_bytes);
	if (!json_is_true(json_object_get(box, "exact")) || bytes % FRAME_BYTES)
		frames += frames < 0 ? -1 : 1;
	json_decref(stats);
	free(text);
	return llabs(frames) + llabs(bytes);
}

struct result {
	double rate; /* by the clock */
	uint64_t error;
};

static struct result receive(int fd)
{
	static uint8_t data[BATCH * 2048];
	uint64_t begin_ns = clock_ns(), next_ns = begin_ns, count = 0;
	struct result r = {.error = 0};
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];

	fill_batch(msg, iov, data, 2048, 2048);
	while (clock_ns() < begin_ns + RUN_NS) {
		int n = recvmmsg(fd, msg, BATCH, MSG_WAITFORONE, NULL);

		count += n > 0 ? n : 0;
		if (clock_ns() < next_ns)
			continue;
		next_ns += RUN_NS / SAMPLES;
		r.error += account_error();
	}
	r.rate = count * 1e9 / (clock_ns() - begin_ns);
	return r;
}

/* The switch must know where guest 2 is, and be there at all. */
static void introduce(int fd)
{
	static const uint8_t hello[60] = {0x02, 0, 0, 0, 0, 9, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00};
	static const struct timespec nap = {.tv_nsec = 10000000};
	struct sockaddr_un to = address_of("p2.sw");

	for (unsigned int i = 0; i < 1000; i++) {
		nanosleep(&nap, NULL);
		if (sendto(fd, hello, sizeof(hello), 0, (struct sockaddr *)&to, sizeof(to)) > 0)
			return;
	}
	die("p2.sw");
}

static bool print(const char *variant, const char *name, double value, const char *unit,
		  const char *target, bool ok)
{
	printf("lab.switch.%s.%s %.0f %s %s %s\n", variant, name, value, unit, target,
	       ok ? "ok" : "short");
	return ok;
}

static bool run(const struct variant *v)
{
	int guest[2] = {open_guest("p1.vm"), open_guest("p2.vm")}, status;
	struct rusage used;
	pid_t box, sender;
	struct result r;
	double cpu_s, rate;
	bool ok;

	box = spawn();
	if (!box)
		run_switch(v);
	introduce(guest[1]);
	sender = spawn();
	if (!sender)
		run_sender(guest[0]);
	r = receive(guest[1]);
	kill(sender, SIGKILL);
	waitpid(sender, &status, 0);
	kill(box, SIGTERM);
	wait4(box, &status, 0, &used);
	for (unsigned int i = 0; i < 2; i++)
		close(guest[i]);
	cpu_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
		(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	rate = r.rate * RUN_NS / NS_PER_S / cpu_s;
	ok = print(v->name, "frames_per_core", rate, "frames/cpu-s", TARGET_TEXT,
		   rate >= TARGET_RATE);
	ok &= print(v->name, "account_error", r.error, "frames", "<=0", !r.error);
	/* What else the machine does is in this one. */
	fprintf(stderr, "lab.switch.%s: %.0f frames/s by the clock\n", v->name, r.rate);
	return ok;
}

int main(void)
{
	static const char *const left[] = {"p1.vm", "p2.vm"};
	char dir[] = "/tmp/bench-switch-XXXXXX";
	bool ok = true;

	if (!mkdtemp(dir) || chdir(dir))
		die(dir);
	lengthen_queues();
	for (unsigned int i = 0; i < ARRAY_SIZE(variants); i++) {
		ok &= run(&variants[i]);
		for (unsigned int k = 0; k < ARRAY_SIZE(left); k++)
			unlink(left[k]);
	}
	rmdir(dir);
	return !ok;
}
