/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What switch_scene.h declares.
 */
#include "tests/lab/switch/test/switch_scene.h"

static void open_host(struct scene *s, unsigned int n)
{
	struct host *h = &s->host[n];
	struct sockaddr_un a = {.sun_family = AF_UNIX}, to = {.sun_family = AF_UNIX};

	memset(h, 0, sizeof(*h));
	h->dscp = 26;
	h->opcode = 0x0a;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/p%u.vm", s->dir, n + 1);
	snprintf(h->path, sizeof(h->path), "%s", a.sun_path);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s/p%u.sw", s->dir, n + 1);
	h->to = to;
	h->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_true(h->fd >= 0);
	assert_int_equal(bind(h->fd, (struct sockaddr *)&a, sizeof(a)), 0);
}

void open_scene(struct scene *s, unsigned int hosts, const char *form)
{
	struct lab_config *c = calloc(1, sizeof(*c));
	char text[8192];
	size_t used = 0;
	struct diags d;
	struct err e = {0};

	snprintf(s->dir, sizeof(s->dir), "/tmp/switch-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	for (; *form; form++)
		used += snprintf(text + used, sizeof(text) - used, *form == '@' ? "%s" : "%.1s",
				 *form == '@' ? s->dir : form);
	s->host_count = hosts;
	for (unsigned int i = 0; i < hosts; i++)
		open_host(s, i);
	diags_init(&d);
	if (config_parse("scene", text, used, c, &d, &e)) {
		diags_print_gcc(&d, stderr);
		fail_msg("configuration");
	}
	diags_clear(&d);
	s->lab = calloc(1, sizeof(*s->lab));
	if (lab_init(s->lab, c, &e))
		fail_msg("%s", e.text);
	free(c);
}

void close_scene(struct scene *s)
{
	char path[PATH_SIZE];

	lab_clear(s->lab);
	free(s->lab);
	for (unsigned int i = 0; i < s->host_count; i++) {
		close(s->host[i].fd);
		unlink(s->host[i].path);
	}
	snprintf(path, sizeof(path), "%s/m.pcapng", s->dir);
	unlink(path);
	assert_int_equal(rmdir(s->dir), 0); /* the switch left nothing */
}

void step_switch(struct scene *s)
{
	struct err e = {0};

	if (lab_step(s->lab, s->lab->now_ns + 100000, &e))
		fail_msg("%s", e.text);
	for (unsigned int b = 0; b < s->lab->config.box_count; b++)
		assert_true(buffer_exact(s->lab, b));
}

int send_frame(struct scene *s, unsigned int from, unsigned int to, uint8_t ecn, uint16_t sport)
{
	struct host *h = &s->host[from];
	uint8_t f[FRAME_LEN] = {
		0x02,	   0,		0,	    0,
		0,	   to + 1,	0x02,	    0,
		0,	   0,		0,	    from + 1,
		0x08,	   0x00,	0x45,	    h->dscp << 2 | ecn,
		0,	   0,		0,	    0,
		0,	   0,		64,	    17,
		0,	   0,		198,	    18,
		0,	   from + 1,	198,	    18,
		0,	   to + 1,	sport >> 8, sport,
		4791 >> 8, 4791 & 0xff, 0,	    0,
		0,	   0,		h->opcode,
	};

	h->sent++;
	memcpy(f + 60, &h->sent, sizeof(h->sent));
	if (sendto(h->fd, f, sizeof(f), MSG_DONTWAIT, (struct sockaddr *)&h->to, sizeof(h->to)) > 0)
		return 0;
	h->sent--;
	return -errno;
}

static void take_pfc(struct host *h, const uint8_t *data, uint32_t len)
{
	uint16_t quanta[QOS_PRIOS];
	int enable = pfc_frame_read(data, len, quanta);

	if (enable < 0) {
		h->link_pauses++;
		h->paused = pause_frame_read(data, len) ? 0xff : 0;
		return;
	}
	assert_true(enable > 0);
	h->pfc_frames++;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (enable >> prio & 1)
			h->paused = (h->paused & ~(1u << prio)) | (quanta[prio] ? 1u << prio : 0);
}

static void take_number(struct host *h, uint32_t number)
{
	if (number >= h->last_number) {
		h->last_number = number;
		return;
	}
	h->reordered++;
	if (h->last_number - number > h->late_by)
		h->late_by = h->last_number - number;
}

static void take_frame(struct host *h, const uint8_t *data, uint32_t len, bool sent_ect)
{
	uint32_t number;

	if (data[12] == 0x88 && data[13] == 0x08) {
		take_pfc(h, data, len);
		return;
	}
	if (data[12] == 0x88 && data[13] == 0xcc) {
		h->lldp_frames++;
		assert_true(len <= sizeof(h->lldp));
		assert_int_equal(lldp_decode(data, len, &h->heard, NULL), 0);
		memcpy(h->lldp, data, len);
		h->lldp_len = len;
		return;
	}
	assert_int_equal(len, FRAME_LEN);
	memcpy(&number, data + 60, sizeof(number));
	take_number(h, number);
	h->received++;
	h->from[(data[11] - 1u) % HOSTS]++;
	h->not_ect += !(data[15] & 3);
	h->other_dscp += data[15] >> 2 != h->dscp;
	for (uint32_t i = 64; i < len; i++)
		h->corrupt += data[i] != 0;
	if ((data[15] & 3) == 3) {
		h->ce++;
		h->ce_not_ect += !sent_ect;
	}
}

void read_host(struct scene *s, unsigned int n, uint8_t not_ect_source)
{
	uint8_t buf[FRAME_MAX];
	ssize_t len;

	while ((len = recv(s->host[n].fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		take_frame(&s->host[n], buf, len, buf[11] != not_ect_source);
}

const struct prio_stats *stats_of(const struct scene *s, unsigned int port)
{
	return &s->lab->port[port].stats[3];
}

uint64_t drops(const struct scene *s)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < s->lab->port_count; i++)
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			for (unsigned int r = 0; r < DROP_REASONS; r++)
				sum += s->lab->port[i].stats[prio].drops[r];
	return sum;
}

json_t *ask(struct scene *s, const char *line, bool ok)
{
	json_t *answer = control_answer(s->lab, line), *said = json_object_get(answer, "ok");

	if (said && json_is_true(said) != ok)
		fail_msg("%s: %s", line, json_string_value(json_object_get(answer, "error")));
	return answer;
}

void send_bytes(struct scene *s, unsigned int from, const void *data, size_t len)
{
	struct host *h = &s->host[from];

	assert_int_equal(sendto(h->fd, data, len, 0, (struct sockaddr *)&h->to, sizeof(h->to)),
			 len);
}

void tell_switch(struct scene *s, const char *line)
{
	json_decref(ask(s, line, true));
}

void slow_down_port3(struct scene *s)
{
	tell_switch(s, "{\"op\":\"set\",\"path\":\"port.p3.rate\",\"value\":\"8M\"}");
}

void introduce(struct scene *s)
{
	for (unsigned int i = 0; i < s->host_count; i++) {
		assert_int_equal(send_frame(s, i, (i + 1) % s->host_count, 2, 1), 0);
		for (unsigned int k = 0; k < 20; k++)
			step_switch(s);
	}
	for (unsigned int i = 0; i < s->host_count; i++)
		read_host(s, i, 0);
}
