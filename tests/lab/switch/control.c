/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: JSON lines over a unix stream. A request is {"op": ...}; an answer is one
 * line, {"ok": true, ...} or {"ok": false, "error": ...}. A client that does not read waits, the
 * switch does not.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_MAX_BYTES 65536

struct client {
	int fd; /* -1: free */
	char in[LINE_MAX_BYTES];
	size_t in_used;
	char *out; /* owned: what is not sent yet */
	size_t out_used, out_sent;
};

struct control {
	int fd;
	char path[PATH_SIZE];
	struct client client[CLIENTS_MAX];
};

static int make_socket(const char *path, struct sockaddr_un *a)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	memcpy(a->sun_path, path, strlen(path));
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Removes a socket nobody answers at. */
static void remove_stale(const char *path)
{
	struct sockaddr_un a;
	struct stat st;
	int fd = make_socket(path, &a);

	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) && errno == ECONNREFUSED &&
	    !lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	close(fd);
}

static int listen_at(const char *path)
{
	struct sockaddr_un a;
	int fd, err;

	remove_stale(path);
	fd = make_socket(path, &a);
	if (fd < 0)
		return fd == -1 ? -errno : fd;
	if (!bind(fd, (struct sockaddr *)&a, sizeof(a))) {
		if (!listen(fd, CLIENTS_MAX))
			return fd;
		unlink(path);
	}
	err = -errno;
	close(fd);
	return err;
}

int control_open(struct lab *lab, const char *path, struct err *e)
{
	struct control *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return err_sys(e, -ENOMEM, "control");
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		c->client[i].fd = -1;
	c->fd = listen_at(path);
	if (c->fd < 0) {
		err = err_sys(e, c->fd, "control %s", path);
		free(c);
		return err;
	}
	snprintf(c->path, sizeof(c->path), "%s", path);
	lab->control = c;
	err = lab_watch(lab, c->fd, EPOLLIN, WATCH_TAG(WATCH_LISTEN, 0), true);
	return err ? err_sys(e, err, "control %s", path) : 0;
}

static void drop_client(struct client *k)
{
	if (k->fd >= 0)
		close(k->fd);
	free(k->out);
	k->out = NULL;
	k->fd = -1;
	k->in_used = k->out_used = k->out_sent = 0;
}

void control_close(struct lab *lab)
{
	struct control *c = lab->control;

	if (!c)
		return;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		drop_client(&c->client[i]);
	close(c->fd);
	unlink(c->path);
	free(c);
	lab->control = NULL;
}

static json_t *refuse(const struct err *e)
{
	return json_pack("{s:b, s:s, s:s}", "ok", 0, "error", e->text, "hint", e->hint);
}

static json_t *accept_request(void)
{
	return json_pack("{s:b}", "ok", 1);
}

/* The port of "port.NAME.REST" or "SWITCH.port.NAME.REST"; *rest behind it. */
static struct port *find_port(struct lab *lab, const char *path, const char **rest)
{
	for (unsigned int i = 0; i < lab->port_count; i++) {
		struct port *p = &lab->port[i];
		char shape[2][3 * NAME_SIZE];

		snprintf(shape[0], sizeof(shape[0]), "port.%s.", p->config.name);
		snprintf(shape[1], sizeof(shape[1]), "%s.port.%s.", lab->box[p->owner].config->name,
			 p->config.name);
		for (unsigned int k = 0; k < 2; k++)
			if (!strncmp(path, shape[k], strlen(shape[k]))) {
				*rest = path + strlen(shape[k]);
				return p;
			}
	}
	return NULL;
}

static json_t *set(struct lab *lab, const json_t *request)
{
	const char *path = json_string_value(json_object_get(request, "path")), *rest;
	const json_t *value = json_object_get(request, "value");
	unsigned int lag;
	struct port *p;
	bool uplink;
	struct err e;

	if (!path || !value) {
		err_set(&e, -EINVAL, "set needs path and value");
		return refuse(&e);
	}
	p = find_port(lab, path, &rest);
	if (!p) {
		err_set(&e, -ENOENT, "%s: no such port", path);
		err_hint(&e, "port.NAME.KEY, or SWITCH.port.NAME.KEY");
		return refuse(&e);
	}
	uplink = p->config.uplink;
	lag = p->config.lag;
	if (config_set(&p->config, rest, value, &e))
		return refuse(&e);
	port_configure(p);
	if (uplink != p->config.uplink || lag != p->config.lag)
		forward_groups(lab, p->owner);
	p->cee_seq++;
	p->lldp_next_ns = lab->now_ns; /* the neighbour is told */
	return accept_request();
}

static json_t *named(const char *name, const struct err *e)
{
	return name ? json_pack("{s:b, s:s}", "ok", 1, "name", name) : refuse(e);
}

/* {"add": {...}}, {"change": {"name": ...}}, {"clear": true}, {"clear": NAME} or {"list": true}. */
static json_t *change_faults(struct lab *lab, const json_t *request)
{
	const json_t *add = json_object_get(request, "add");
	const json_t *change = json_object_get(request, "change");
	const json_t *clear = json_object_get(request, "clear");
	struct err e;

	if (add)
		return named(fault_add(lab, add, &e), &e);
	if (change)
		return named(fault_change(lab, change, &e), &e);
	if (json_is_true(json_object_get(request, "list")))
		return json_pack("{s:b, s:o}", "ok", 1, "faults", stats_faults_json(lab));
	if (json_is_true(clear) || json_is_string(clear))
		return fault_remove(lab, json_string_value(clear), &e) ? refuse(&e)
								       : accept_request();
	err_set(&e, -EINVAL, "fault needs add, change, clear or list");
	return refuse(&e);
}

static json_t *statistics(struct lab *lab, const json_t *request)
{
	(void)request;
	return stats_json(lab);
}

static json_t *quit(struct lab *lab, const json_t *request)
{
	(void)request;
	lab->quit = true;
	return accept_request();
}

static const struct {
	const char *op;
	json_t *(*answer)(struct lab *lab, const json_t *request);
} requests[] = {
	{"stats", statistics},
	{"set", set},
	{"fault", change_faults},
	{"quit", quit},
};

json_t *control_answer(struct lab *lab, const char *line)
{
	json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL), *answer = NULL;
	const char *op = json_string_value(json_object_get(request, "op"));
	struct err e;

	for (size_t i = 0; op && i < ARRAY_SIZE(requests); i++)
		if (!strcmp(op, requests[i].op))
			answer = requests[i].answer(lab, request);
	if (!answer) {
		err_set(&e, -EINVAL, "not a request");
		err_hint(&e, "{\"op\": \"stats\"}, set, fault or quit");
		answer = refuse(&e);
	}
	json_decref(request);
	return answer;
}

static void watch_client(struct lab *lab, struct client *k, bool add)
{
	unsigned int n = k - lab->control->client;
	unsigned int events = k->out_sent < k->out_used ? EPOLLOUT : EPOLLIN;

	if (lab_watch(lab, k->fd, events, WATCH_TAG(WATCH_CLIENT, n), add))
		drop_client(k);
}

static void accept_client(struct lab *lab)
{
	int fd = accept4(lab->control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	for (unsigned int i = 0; fd >= 0 && i < CLIENTS_MAX; i++) {
		struct client *k = &lab->control->client[i];

		if (k->fd >= 0)
			continue;
		k->fd = fd;
		watch_client(lab, k, true);
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void write_client(struct client *k)
{
	while (k->out_sent < k->out_used) {
		ssize_t n = send(k->fd, k->out + k->out_sent, k->out_used - k->out_sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			drop_client(k);
			return;
		}
		k->out_sent += n;
	}
}

/* Answers one line; false when the client has to go. */
static bool answer_line(struct lab *lab, struct client *k, const char *line)
{
	json_t *answer = control_answer(lab, line);
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	char *out = realloc(k->out, k->out_used + length + 1);

	json_decref(answer);
	if (!text || !out) {
		free(text);
		k->out = out ? out : k->out;
		return false;
	}
	memcpy(out + k->out_used, text, length);
	out[k->out_used + length] = '\n';
	k->out = out;
	k->out_used += length + 1;
	free(text);
	return true;
}

static bool answer_lines(struct lab *lab, struct client *k)
{
	char *end;

	while ((end = memchr(k->in, '\n', k->in_used))) {
		size_t used = end + 1 - k->in;

		*end = '\0';
		if (!answer_line(lab, k, k->in))
			return false;
		memmove(k->in, end + 1, k->in_used - used);
		k->in_used -= used;
	}
	return k->in_used < sizeof(k->in);
}

static void serve_client(struct lab *lab, struct client *k)
{
	if (k->out_sent == k->out_used) {
		ssize_t n = recv(k->fd, k->in + k->in_used, sizeof(k->in) - k->in_used,
				 MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		k->out_used = k->out_sent = 0;
		k->in_used += n > 0 ? n : 0;
		if (n <= 0 || !answer_lines(lab, k)) {
			drop_client(k);
			return;
		}
	}
	write_client(k);
	if (k->fd >= 0)
		watch_client(lab, k, false);
}

void control_event(struct lab *lab, enum watch_kind kind, unsigned int number)
{
	if (kind == WATCH_LISTEN)
		accept_client(lab);
	else if (number < CLIENTS_MAX && lab->control->client[number].fd >= 0)
		serve_client(lab, &lab->control->client[number]);
}

int control_ask(const char *path, const char *line, FILE *out, struct err *e)
{
	struct sockaddr_un a;
	int fd = make_socket(path, &a), err = 0;
	char buf[4096];
	ssize_t n = 0;

	if (fd < 0)
		return err_sys(e, fd == -1 ? -errno : fd, "%s", path);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 || send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
		err = err_sys(e, -errno, "%s", path);
	do {
		n = err ? 0 : recv(fd, buf, sizeof(buf), 0);
		if (n > 0)
			fwrite(buf, 1, n, out);
	} while (n > 0 && buf[n - 1] != '\n');
	if (n < 0)
		err = err_sys(e, -errno, "%s", path);
	close(fd);
	return err;
}
