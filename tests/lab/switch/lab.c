/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All switches of a topology and their one loop: receive, do what is due, send what may go, sleep
 * until the next frame or the next due time. Frames are taken from a pool made at the start.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS	   (5 * NS_PER_MS)
#define EVENTS_MAX 64

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

uint32_t lab_random(struct lab *lab)
{
	/* xorshift32: never 0 from a seed that is not. */
	lab->random ^= lab->random << 13;
	lab->random ^= lab->random >> 17;
	lab->random ^= lab->random << 5;
	return lab->random;
}

uint64_t lab_rate_bytes(const struct port *p)
{
	return p->config.rate_kbps * UINT64_C(125);
}

unsigned int lab_port_index(const struct lab *lab, const struct port *p)
{
	return p - lab->port;
}

struct frame *frame_take(struct lab *lab)
{
	struct frame *f = lab->free_list;

	if (!f)
		return NULL;
	lab->free_list = f->next;
	lab->free_count--;
	f->next = NULL;
	f->accounted = f->headroom = false;
	return f;
}

void frame_free(struct lab *lab, struct frame *f)
{
	f->next = lab->free_list;
	lab->free_list = f;
	lab->free_count++;
}

struct frame *frame_copy(struct lab *lab, const struct frame *f)
{
	struct frame *copy = frame_take(lab);

	if (!copy)
		return NULL;
	memcpy(copy, f, offsetof(struct frame, data) + f->len);
	copy->next = NULL;
	copy->accounted = copy->headroom = false;
	return copy;
}

int lab_watch(struct lab *lab, int fd, unsigned int events, uint64_t tag, bool add)
{
	struct epoll_event ev = {.events = events, .data.u64 = tag};

	return epoll_ctl(lab->epoll_fd, add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &ev) ? -errno : 0;
}

static int make_frames(struct lab *lab)
{
	unsigned int count = lab->config.frames + BATCH;

	lab->frames_size = count * sizeof(struct frame);
	lab->frames = mmap(NULL, lab->frames_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (lab->frames == MAP_FAILED) {
		lab->frames = NULL;
		return -ENOMEM;
	}
	lab->late = calloc(count, sizeof(struct frame *));
	if (!lab->late)
		return -ENOMEM;
	for (unsigned int i = count; i-- > 0;)
		frame_free(lab, &lab->frames[i]);
	lab->frame_count = count;
	for (unsigned int i = 0; i < BATCH; i++) {
		lab->rx[i] = frame_take(lab);
		lab->rx_iov[i] = (struct iovec){lab->rx[i]->data, FRAME_MAX};
		lab->rx_msg[i].msg_hdr.msg_iov = &lab->rx_iov[i];
		lab->rx_msg[i].msg_hdr.msg_iovlen = 1;
	}
	return 0;
}

static void set_up_port(struct lab *lab, unsigned int box, unsigned int n)
{
	struct port *p = &lab->port[n];

	p->config = lab->config.port[n];
	p->owner = box;
	p->peer = -1;
	p->rx_fd = p->tx_fd = -1;
	p->cee_seq = 1;
	memcpy(p->mac, lab->config.box[box].mac, 6);
	p->mac[4] += (n - lab->config.box[box].first_port + 1) >> 8;
	p->mac[5] += n - lab->config.box[box].first_port + 1;
	sched_init(&p->sched);
	port_configure(p);
}

static int set_up_boxes(struct lab *lab)
{
	const struct lab_config *c = &lab->config;

	for (unsigned int b = 0; b < c->box_count; b++) {
		struct box *box = &lab->box[b];

		box->config = &c->box[b];
		box->first_port = c->box[b].first_port;
		box->port_count = c->box[b].port_count;
		box->fdb = calloc(FDB_BUCKETS, sizeof(*box->fdb));
		if (!box->fdb)
			return -ENOMEM;
		for (unsigned int i = 0; i < box->port_count; i++)
			set_up_port(lab, b, box->first_port + i);
	}
	for (unsigned int i = 0; i < c->link_count; i++) {
		lab->port[c->link[i].port_a].peer = c->link[i].port_b;
		lab->port[c->link[i].port_b].peer = c->link[i].port_a;
	}
	for (unsigned int b = 0; b < c->box_count; b++)
		forward_groups(lab, b);
	return 0;
}

static int open_events(struct lab *lab)
{
	int err;

	lab->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (lab->epoll_fd < 0)
		return -errno;
	lab->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (lab->timer_fd < 0)
		return -errno;
	err = lab_watch(lab, lab->timer_fd, EPOLLIN, WATCH_TAG(WATCH_TIMER, 0), true);
	return err;
}

static int open_all(struct lab *lab, struct err *e)
{
	int err = make_frames(lab);

	if (!err)
		err = set_up_boxes(lab);
	if (!err)
		err = open_events(lab);
	if (err)
		return err_sys(e, err, "switch");
	if (lab->config.mirror[0])
		err = mirror_open(lab, lab->config.mirror, &lab->mirror, e);
	for (unsigned int i = 0; !err && i < lab->port_count; i++)
		err = port_open(lab, &lab->port[i], e);
	if (!err && lab->config.control[0])
		err = control_open(lab, lab->config.control, e);
	return err;
}

int lab_init(struct lab *lab, const struct lab_config *config, struct err *e)
{
	int err;

	memset(lab, 0, sizeof(*lab));
	lab->config = *config;
	lab->port_count = config->port_count;
	lab->epoll_fd = lab->timer_fd = -1;
	lab->random = 2463534242u;
	lab->now_ns = lab->start_ns = clock_ns();
	for (unsigned int i = 0; i < PORTS_MAX; i++)
		lab->port[i].rx_fd = lab->port[i].tx_fd = -1;
	err = open_all(lab, e);
	if (err)
		lab_clear(lab);
	return err;
}

void lab_clear(struct lab *lab)
{
	control_close(lab);
	for (unsigned int i = 0; i < PORTS_MAX; i++)
		port_close(lab, &lab->port[i]);
	mirror_close(lab->mirror);
	lab->mirror = NULL;
	for (unsigned int b = 0; b < SWITCHES_MAX; b++) {
		free(lab->box[b].fdb);
		lab->box[b].fdb = NULL;
	}
	if (lab->epoll_fd >= 0)
		close(lab->epoll_fd);
	if (lab->timer_fd >= 0)
		close(lab->timer_fd);
	lab->epoll_fd = lab->timer_fd = -1;
	free(lab->late);
	lab->late = NULL;
	if (lab->frames)
		munmap(lab->frames, lab->frames_size);
	lab->frames = NULL;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When something is due without anything coming in. */
static uint64_t next_due_ns(const struct lab *lab)
{
	uint64_t due = lab->config.fault_count ? lab->tick_ns : NEVER;

	if (lab->late_count)
		due = earlier(due, lab->late[0]->due_ns);
	for (unsigned int i = 0; i < lab->port_count; i++) {
		const struct port *p = &lab->port[i];

		due = earlier(due, port_next_ns(lab, p));
		due = earlier(due, pfc_next_ns(p));
		due = earlier(due, p->linked ? p->lldp_next_ns : NEVER);
	}
	return due;
}

/* Sleeps in epoll until an event or due_ns. */
static int wait_events(struct lab *lab, uint64_t due_ns, struct epoll_event *ev)
{
	struct itimerspec at = {.it_value = {due_ns / NS_PER_S, due_ns % NS_PER_S}};
	int timeout_ms = due_ns <= lab->now_ns ? 0 : -1;
	int n;

	if (timeout_ms && due_ns != NEVER)
		timerfd_settime(lab->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
	n = epoll_wait(lab->epoll_fd, ev, EVENTS_MAX, timeout_ms);
	return n < 0 && errno != EINTR ? -errno : n;
}

static void handle(struct lab *lab, uint64_t tag)
{
	unsigned int number = tag & 0xffffffff;
	uint64_t ticks;

	switch ((enum watch_kind)(tag >> 32)) {
	case WATCH_RX:
		port_read(lab, &lab->port[number]);
		break;
	case WATCH_TX:
		port_unblock(lab, &lab->port[number]);
		break;
	case WATCH_TIMER:
		(void)!read(lab->timer_fd, &ticks, sizeof(ticks)); /* only wakes */
		break;
	case WATCH_LISTEN:
	case WATCH_CLIENT:
		control_event(lab, tag >> 32, number);
		break;
	case WATCH_SIGNAL:
		lab->quit = true;
		break;
	}
}

static void do_due(struct lab *lab)
{
	if (lab->config.fault_count && lab->tick_ns <= lab->now_ns) {
		fault_tick(lab);
		lab->tick_ns = lab->now_ns + TICK_NS;
	}
	if (lab->late_count)
		late_release(lab);
	for (unsigned int i = 0; i < lab->port_count; i++) {
		struct port *p = &lab->port[i];

		if (p->peer < 0 && p->retry_ns <= lab->now_ns) {
			if (p->tx_fd < 0)
				port_connect(lab, p);
			else
				port_unblock(lab, p);
		}
		pfc_tick(lab, p);
		if (p->linked && p->lldp_next_ns <= lab->now_ns)
			lldp_tick(lab, p);
		port_send(lab, p);
	}
}

int lab_step(struct lab *lab, uint64_t wait_ns, struct err *e)
{
	struct epoll_event ev[EVENTS_MAX];
	uint64_t due = earlier(next_due_ns(lab), wait_ns);
	int n = wait_events(lab, due, ev);

	lab->now_ns = clock_ns();
	if (n < 0)
		return err_sys(e, n, "epoll");
	for (int i = 0; i < n; i++)
		handle(lab, ev[i].data.u64);
	do_due(lab);
	return 0;
}

int lab_run(struct lab *lab, struct err *e)
{
	sigset_t signals;
	int fd, err;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return err_sys(e, -errno, "signalfd");
	err = lab_watch(lab, fd, EPOLLIN, WATCH_TAG(WATCH_SIGNAL, 0), true);
	while (!err && !lab->quit)
		err = lab_step(lab, NEVER, e);
	close(fd);
	return err;
}
