/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile input for the emulated switch (tests/lab/switch/): frames, LLDP, requests and files, each
 * made from good ones by a generator with a fixed seed. Nothing may crash (ASan and UBSan watch),
 * no frame may be lost from the pool, and the switch must go on working.
 */
#include <sanitizer/asan_interface.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/lab/switch/test/switch_scene.h"

#define FRAME_ROUNDS   4000
#define REQUEST_ROUNDS 6000
#define FILE_ROUNDS    3000

struct dice {
	uint32_t state;
};

static uint32_t roll(struct dice *d, uint32_t sides)
{
	d->state ^= d->state << 13;
	d->state ^= d->state >> 17;
	d->state ^= d->state << 5;
	return d->state % sides;
}

/* Bytes changed, cut out, doubled or cut off; the new length, at most `size`. */
static size_t mutate(struct dice *d, uint8_t *data, size_t len, size_t size)
{
	for (unsigned int n = roll(d, 5); n > 0 && len > 1; n--) {
		size_t at = roll(d, len), many = roll(d, len - at) + 1;

		switch (roll(d, 5)) {
		case 0:
			data[at] ^= 1u << roll(d, 8);
			break;
		case 1:
			data[at] = roll(d, 2) ? 0xff : roll(d, 256);
			break;
		case 2:
			memmove(data + at, data + at + many, len - at - many);
			len -= many;
			break;
		case 3:
			if (len + many > size)
				break;
			memmove(data + at + many, data + at, len - at);
			len += many;
			break;
		case 4:
			len = at;
			break;
		}
	}
	return len;
}

static size_t copy_in(uint8_t *buf, const void *data, size_t len)
{
	memcpy(buf, data, len);
	return len;
}

static size_t make_ip(uint8_t *buf, bool v6, bool tagged)
{
	static const uint8_t macs[] = {0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1};
	size_t at = copy_in(buf, macs, sizeof(macs));

	memset(buf + at, 0, 400);
	if (tagged)
		at += copy_in(buf + at, "\x81\x00\x60\x00", 4);
	at += copy_in(buf + at, v6 ? "\x86\xdd\x66\xa0" : "\x08\x00\x45\x6a", 4);
	buf[at + (v6 ? 4 : 7)] = 17;
	at += v6 ? 38 : 18;
	memcpy(buf + at, "\xc0\x00\x12\xb7", 4);
	buf[at + 8] = 0x81;
	return at + 300;
}

/* One of the kinds of frames a switch reads, as it should be. */
static size_t make_frame(struct dice *d, const struct lab *lab, uint8_t *buf)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
	const uint16_t quanta[QOS_PRIOS] = {[3] = 1};

	switch (roll(d, 6)) {
	case 0:
		return lldp_make(lab, &lab->port[roll(d, 3)], roll(d, 2), buf);
	case 1:
		return pfc_frame_make(mac, roll(d, 256), quanta, buf);
	case 2:
		return pause_frame_make(mac, 1, buf);
	default:
		return make_ip(buf, roll(d, 2), roll(d, 2));
	}
}

static unsigned int queued_frames(const struct lab *lab)
{
	unsigned int count = lab->late_count;

	for (unsigned int i = 0; i < lab->port_count; i++) {
		count += lab->port[i].stage.frames;
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			count += lab->port[i].sched.queue[prio].frames;
	}
	for (unsigned int i = 0; i < lab->config.fault_count; i++)
		count += lab->held[i].frame != NULL;
	return count;
}

/* Throws away what a host got, unread. */
static void ignore(struct scene *s)
{
	uint8_t buf[FRAME_MAX];

	for (unsigned int i = 0; i < s->host_count; i++)
		while (recv(s->host[i].fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
}

/* Every fault of frames at once, on some of them. */
static void add_all_faults(struct scene *s)
{
	for (const struct qos_word *w = fault_words; w->word; w++) {
		char line[160];

		snprintf(line, sizeof(line),
			 "{\"op\":\"fault\",\"add\":{\"kind\":\"%s\",\"every\":%d,\"value\":60,"
			 "\"delay\":\"1ms\",\"window\":%d}}",
			 w->word, 7 + w->value, w->value % 3);
		tell_switch(s, line);
	}
}

/* What reads headers, on a frame behind which nothing may be read: ASan sees a byte too far. */
static void read_exactly(struct scene *s, const uint8_t *data, size_t len)
{
	struct frame *f = malloc(sizeof(*f));

	assert_non_null(f);
	memcpy(f->data, data, len);
	f->len = len;
	ASAN_POISON_MEMORY_REGION(f->data + len, sizeof(f->data) - len);
	if (frame_parse(f)) {
		f->prio = frame_prio(f, &s->lab->port[0].config);
		if (f->ethertype == 0x8808)
			pfc_receive(s->lab, &s->lab->port[0], f);
		if (f->ethertype == 0x88cc)
			lldp_receive(s->lab, &s->lab->port[0], f);
		frame_set_tos(f, 0xff);
	}
	ASAN_UNPOISON_MEMORY_REGION(f->data, sizeof(f->data));
	free(f);
}

static void throw_frames(struct scene *s, struct dice *d)
{
	uint8_t buf[70000];

	for (unsigned int i = 0; i < FRAME_ROUNDS; i++) {
		size_t len = make_frame(d, s->lab, buf), to = roll(d, s->host_count);

		len = mutate(d, buf, len, sizeof(buf));
		if (len <= FRAME_MAX)
			read_exactly(s, buf, len);
		if (!roll(d, 50)) /* longer than any frame may be */
			len = FRAME_MAX - 2 + roll(d, 2000);
		(void)sendto(s->host[to].fd, buf, len, MSG_DONTWAIT,
			     (struct sockaddr *)&s->host[to].to, sizeof(s->host[to].to));
		step_switch(s);
		ignore(s);
		assert_int_equal(queued_frames(s->lab) + s->lab->free_count + BATCH,
				 s->lab->frame_count);
	}
}

/* The generator got as far as every check that refuses; statistics tell of it, texts of the
 * neighbours included. */
static void expect_all_met(struct scene *s)
{
	json_t *stats = ask(s, "{\"op\":\"stats\"}", true), *port;
	uint64_t malformed = 0, too_long = 0, bad_lldp = 0, pauses = 0;
	const char *name;

	for (unsigned int i = 0; i < s->lab->port_count; i++) {
		const struct port *p = &s->lab->port[i];

		malformed += p->stats[0].drops[DROP_MALFORMED];
		too_long += p->stats[0].drops[DROP_MTU];
		bad_lldp += p->lldp_malformed;
		pauses += p->stats[3].pfc_received + p->pause_received;
		assert_true(p->lldp_received > p->lldp_malformed);
	}
	assert_true(malformed && too_long && bad_lldp && pauses);
	json_object_foreach (
		json_object_get(json_object_get(json_object_get(stats, "switches"), "s1"), "ports"),
		name, port) {
		assert_non_null(json_object_get(port, "neighbour"));
		assert_int_equal(json_object_size(json_object_get(port, "prio")), QOS_PRIOS);
	}
	json_decref(stats);
}

static void test_frames(void **state)
{
	struct dice d = {.state = 20061127};
	struct scene s;

	(void)state;
	open_scene(&s, 3,
		   "mirror: {file: @/m.pcapng, snaplen: 9728}\n" INCAST(
			   "      pfc: {3: on, 4: auto}\n      mirror: on\n"
			   "      lldp: {dialect: both}\n"));
	introduce(&s);
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p2.tag\",\"value\":\"add\"}");
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p3.tag\",\"value\":\"strip\"}");
	throw_frames(&s, &d);
	add_all_faults(&s);
	throw_frames(&s, &d);
	expect_all_met(&s);
	/* It goes on: what was delayed ends, and a frame passes. */
	tell_switch(&s, "{\"op\":\"fault\",\"clear\":true}");
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p2.tag\",\"value\":\"keep\"}");
	for (unsigned int i = 0; i < 20000 && queued_frames(s.lab); i++) {
		step_switch(&s);
		ignore(&s);
	}
	assert_int_equal(queued_frames(s.lab), 0);
	ignore(&s);
	s.host[1].received = 0;
	assert_int_equal(send_frame(&s, 1, 0, 2, 7), 0);
	step_switch(&s);
	assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
	for (unsigned int i = 0; i < 2000 && !s.host[1].received; i++) {
		step_switch(&s);
		read_host(&s, 1, 0);
	}
	assert_int_equal(s.host[1].received, 1);
	close_scene(&s);
}

static void test_requests(void **state)
{
	static const char *const good[] = {
		"{\"op\":\"stats\"}",
		"{\"op\":\"set\",\"path\":\"port.p1.tc.3.ecn\",\"value\":{\"on\":true,\"kmin\":10}"
		"}",
		"{\"op\":\"set\",\"path\":\"s1.port.p2.dscp\",\"value\":{\"24-26\":3,\"48\":6}}",
		"{\"op\":\"set\",\"path\":\"s1.buffer\",\"value\":\"200kB\"}",
		"{\"op\":\"set\",\"path\":\"port.p3.lldp.app\",\"value\":[{\"selector\":\"udp\","
		"\"protocol\":4791,\"prio\":3}]}",
		"{\"op\":\"fault\",\"add\":{\"kind\":\"reorder\",\"window\":3,\"prio\":[3,4],"
		"\"heal\":\"3ms\"}}",
		"{\"op\":\"fault\",\"change\":{\"name\":\"reorder\",\"every\":3}}",
		"{\"op\":\"fault\",\"clear\":\"reorder\"}",
		"{\"op\":\"fault\",\"list\":true}",
		"{\"op\":\"mirror\",\"file\":null,\"snaplen\":100}",
	};
	struct dice d = {.state = 8021};
	unsigned int refused = 0;
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST(""));
	for (unsigned int i = 0; i < REQUEST_ROUNDS; i++) {
		const char *from = good[roll(&d, ARRAY_SIZE(good))];
		char line[1024];
		size_t len = mutate(&d, (uint8_t *)memcpy(line, from, strlen(from)), strlen(from),
				    sizeof(line) - 1);
		json_t *answer;

		line[len] = '\0';
		answer = control_answer(s.lab, line);
		assert_non_null(answer);
		refused += json_is_false(json_object_get(answer, "ok"));
		json_decref(answer);
		if (!(i % 16))
			step_switch(&s);
	}
	assert_in_range(refused, REQUEST_ROUNDS / 3, REQUEST_ROUNDS * 9 / 10);
	tell_switch(&s, "{\"op\":\"fault\",\"clear\":true}");
	close_scene(&s);
}

/* Values nested as deep as a line allows, and names of any length. */
static void test_deep_requests(void **state)
{
	char *line = malloc(65536);
	struct scene s;

	(void)state;
	assert_non_null(line);
	open_scene(&s, 3, INCAST(""));
	for (unsigned int depth = 100; depth < 20000; depth *= 3) {
		int used = sprintf(line,
				   "{\"op\":\"set\",\"path\":\"port.p1.lldp.app\",\"value\":");

		memset(line + used, '[', depth);
		memset(line + used + depth, ']', depth);
		strcpy(line + used + 2 * depth, "}");
		json_decref(ask(&s, line, false));
		used = sprintf(line, "{\"op\":\"set\",\"value\":1,\"path\":\"port.p1");
		for (unsigned int i = 0; i < depth; i++)
			used += sprintf(line + used, ".a");
		strcpy(line + used, "\"}");
		json_decref(ask(&s, line, false));
	}
	free(line);
	close_scene(&s);
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static bool is_closed(struct scene *s, int fd)
{
	char buf[4096];
	ssize_t n = -1;

	for (unsigned int i = 0; i < 50 && n < 0; i++) {
		step_switch(s);
		n = recv(fd, buf, sizeof(buf), 0);
	}
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* Clients that are too many, that say too much, that never read: others are still served. */
static void test_clients(void **state)
{
	static const char stats[] = "{\"op\":\"stats\"}\n";
	char path[PATH_SIZE], *junk = malloc(100000);
	int fd[CLIENTS_MAX + 1];
	struct scene s;

	(void)state;
	open_scene(&s, 3, "control: @/ctl\n" INCAST(""));
	snprintf(path, sizeof(path), "%s/ctl", s.dir);
	for (unsigned int i = 0; i <= CLIENTS_MAX; i++) {
		fd[i] = connect_to(path);
		step_switch(&s);
	}
	assert_true(is_closed(&s, fd[CLIENTS_MAX]));
	assert_false(is_closed(&s, fd[0]));
	/* A line that has no end. */
	memset(junk, 'x', 100000);
	for (unsigned int i = 0; i < 4; i++) {
		(void)send(fd[0], junk, 100000, MSG_NOSIGNAL);
		step_switch(&s);
	}
	assert_true(is_closed(&s, fd[0]));
	/* Requests without end, and no answer read. */
	for (unsigned int i = 0; i < 3000; i++) {
		(void)send(fd[1], stats, sizeof(stats) - 1, MSG_NOSIGNAL);
		step_switch(&s);
	}
	/* One that goes in the middle of a line, and one that is served. */
	assert_int_equal(send(fd[2], stats, 5, MSG_NOSIGNAL), 5);
	step_switch(&s);
	close(fd[2]);
	step_switch(&s);
	assert_int_equal(send(fd[3], "{\"op\":\"no\"}\n", 12, MSG_NOSIGNAL), 12);
	assert_false(is_closed(&s, fd[3]));
	for (unsigned int i = 0; i <= CLIENTS_MAX; i++)
		if (i != 2)
			close(fd[i]);
	free(junk);
	close_scene(&s);
}

static const char file[] =
	"schema: rocecheck.switch/1\n"
	"mirror: {file: /m.pcapng, snaplen: 128}\n"
	"switches:\n"
	"  - name: leaf1\n"
	"    mac: 02:00:00:00:01:00\n"
	"    buffer: 400kB\n"
	"    defaults:\n"
	"      rate: 64M\n"
	"      dscp: {26: 3, 40-47: 5}\n"
	"      pfc: {3: on, 4: auto}\n"
	"      prio: {3: {tc: 1, headroom: 90kB}}\n"
	"      tc: {1: {dwrr: 60, maxrate: 8M, ecn: {on: on, kmin: 20kB, kmax: 80kB, pmax: 10}}}\n"
	"      lldp: {app: [{selector: udp, protocol: 4791, prio: 3}]}\n"
	"    ports:\n"
	"      - {name: p1, local: /p1.sw, remote: /p1.vm}\n"
	"      - {name: u1, uplink: on}\n"
	"  - {name: spine1, ports: [{name: p1}]}\n"
	"links: [{a: leaf1/u1, b: spine1/p1}]\n"
	"faults: [{kind: lldp_wrong, port: leaf1/p1, prio: [3], every: 100, tlv: [ets], start: "
	"3s}]\n";

static void test_files(void **state)
{
	struct lab_config *c = calloc(1, sizeof(*c));
	struct dice d = {.state = 1588};
	unsigned int refused = 0;

	(void)state;
	for (unsigned int i = 0; i < FILE_ROUNDS; i++) {
		char text[2 * sizeof(file)];
		size_t len = mutate(&d, (uint8_t *)memcpy(text, file, sizeof(file) - 1),
				    sizeof(file) - 1, sizeof(text));
		struct diags diags;
		struct err e;

		diags_init(&diags);
		refused += config_parse("f", text, len, c, &diags, &e) != 0;
		diags_clear(&diags);
	}
	assert_in_range(refused, FILE_ROUNDS / 3, FILE_ROUNDS * 9 / 10);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),	      cmocka_unit_test(test_requests),
		cmocka_unit_test(test_deep_requests), cmocka_unit_test(test_clients),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
