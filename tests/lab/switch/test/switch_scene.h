/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of the whole switch (tests/lab/switch/): hosts with real datagram sockets around a
 * switch that is stepped by hand. After every step all bytes held must be accounted for.
 */
#ifndef TESTS_UNIT_SWITCH_SCENE_H
#define TESTS_UNIT_SWITCH_SCENE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/decode/lldp.h"
#include "tests/lab/switch/switch.h"

#define HOSTS	  4
#define FRAME_LEN 1000

struct host {
	int fd;
	char path[PATH_SIZE];
	struct sockaddr_un to; /* the switch's port */
	uint8_t paused, dscp, opcode;
	unsigned int from[HOSTS]; /* received, by sender */
	unsigned int sent, received, ce, ce_not_ect, pfc_frames, lldp_frames, reordered;
	unsigned int link_pauses;
	unsigned int not_ect, other_dscp, corrupt; /* what a fault may have made of a frame */
	uint32_t last_number, late_by; /* the highest so far; how far others came behind it */
	struct lldp_peer heard;
	uint8_t lldp[LLDP_SIZE_MAX];
	uint32_t lldp_len;
};

struct scene {
	char dir[64];
	struct lab *lab;
	struct host host[HOSTS];
	unsigned int host_count;
};

/* Runs a configuration in which @ stands for the scene's directory. */
void open_scene(struct scene *s, unsigned int hosts, const char *form);
void close_scene(struct scene *s);
void step_switch(struct scene *s);

/* Host `from` to host `to`, a number behind the headers. -EAGAIN. */
int send_frame(struct scene *s, unsigned int from, unsigned int to, uint8_t ecn, uint16_t sport);
void read_host(struct scene *s, unsigned int n, uint8_t not_ect_source);
const struct prio_stats *stats_of(const struct scene *s, unsigned int port);
uint64_t drops(const struct scene *s);

/* Asks as over the control socket; the answer must be as expected. New reference. */
json_t *ask(struct scene *s, const char *line, bool ok);

/* A frame of any bytes from a host. */
void send_bytes(struct scene *s, unsigned int from, const void *data, size_t len);
void tell_switch(struct scene *s, const char *line);

/* A pause of port 3 then lasts 4 s, however slow the machine is. */
void slow_down_port3(struct scene *s);

/* Lets the switch learn where everybody is. */
void introduce(struct scene *s);

#define PORTS3                                                                                     \
	"    ports:\n"                                                                             \
	"      - {name: p1, local: @/p1.sw, remote: @/p1.vm}\n"                                    \
	"      - {name: p2, local: @/p2.sw, remote: @/p2.vm}\n"                                    \
	"      - {name: p3, local: @/p3.sw, remote: @/p3.vm, rate: 160M}\n"
#define INCAST(settings)                                                                           \
	"schema: rocecheck.switch/1\n"                                                             \
	"switches:\n"                                                                              \
	"  - name: s1\n"                                                                           \
	"    buffer: 200kB\n"                                                                      \
	"    defaults:\n"                                                                          \
	"      rate: 10G\n"                                                                        \
	"      dscp: {26: 3}\n"                                                                    \
	"      xoff: 40kB\n"                                                                       \
	"      xon: 20kB\n"                                                                        \
	"      headroom: 60kB\n" settings PORTS3

#endif
