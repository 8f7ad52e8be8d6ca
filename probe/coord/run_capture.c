/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures of a fabric run: one per port. Stores summaries in the run and recordings in
 * captures/HOST-PORT.pcap of its folder, fetched in pieces that fit into a line.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/agent/agent.h"
#include "probe/coord/phase_priv.h"
#include "profiles/base/base64.h"
#include "profiles/base/json.h"

#define PORTS_MAX	   64u
#define RECORDING_NAME_MAX 112
#define HEADERS_MAX_BYTES  (UINT64_C(64) << 20)
#define FULL_MAX_BYTES	   (UINT64_C(256) << 20)
#define FETCH_PIECE_MS	   1000 /* time limit of a piece, on top of the grace */

static void capture_note_error(struct run_port *p, const struct err *e)
{
	if (!p->capture_error[0])
		snprintf(p->capture_error, sizeof(p->capture_error), "%.150s", e->text);
}

static bool capture_has_port(const struct coordinator *c, unsigned int host, unsigned int p)
{
	return session_ready(&c->s, host) && p < c->s.r->host[host].port_count && p < PORTS_MAX;
}

static unsigned int capture_most_ports(const struct coordinator *c)
{
	unsigned int most = 0;

	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		if (c->s.r->host[i].port_count > most)
			most = c->s.r->host[i].port_count;
	}
	return most < PORTS_MAX ? most : PORTS_MAX;
}

static uint64_t capture_max_bytes(const struct coordinator *c)
{
	return c->f->capture == CAPTURE_FULL ? FULL_MAX_BYTES : HEADERS_MAX_BYTES;
}

static void capture_start_port(struct coordinator *c, unsigned int host, unsigned int p)
{
	bool full = c->f->capture == CAPTURE_FULL;

	agent_conn_ask(&c->s.conn[host], "capture_start",
		       json_pack("{s:s, s:b, s:I}", "netdev", c->s.r->host[host].port[p].netdev,
				 "full", full, "max_bytes",
				 (json_int_t)(c->dir ? capture_max_bytes(c) : 0)),
		       SESSION_ANSWER_MS);
}

void phase_capture_start(struct coordinator *c)
{
	if (c->f->capture == CAPTURE_OFF) {
		for (unsigned int i = 0; i < c->s.r->host_count; i++)
			for (unsigned int p = 0; p < c->s.r->host[i].port_count; p++)
				snprintf(c->s.r->host[i].port[p].capture_error,
					 sizeof(c->s.r->host[i].port[p].capture_error),
					 "capture is off in the inventory");
		return;
	}
	for (unsigned int p = 0; p < capture_most_ports(c) && !session_stopped(&c->s); p++) {
		for (unsigned int i = 0; i < c->s.r->host_count; i++) {
			if (capture_has_port(c, i, p))
				capture_start_port(c, i, p);
		}
		session_wait(&c->s);
		for (unsigned int i = 0; i < c->s.r->host_count; i++) {
			struct err e = c->s.conn[i].call.err;
			uint64_t handle = 0;

			if (!capture_has_port(c, i, p))
				continue;
			if (c->s.conn[i].call.reply &&
			    !json_get_uint(c->s.conn[i].call.reply, "handle", 0, INT_MAX, &handle,
					   &e))
				c->capture[i][p] = (int)handle;
			else
				capture_note_error(&c->s.r->host[i].port[p], &e);
		}
	}
}

static json_t *capture_handle_json(const struct coordinator *c, unsigned int host, unsigned int p)
{
	return json_pack("{s:i}", "handle", c->capture[host][p]);
}

static bool capture_is_started(const struct coordinator *c, unsigned int host, unsigned int p)
{
	return capture_has_port(c, host, p) && c->capture[host][p] >= 0;
}

static void capture_store_summary(struct coordinator *c, unsigned int host, unsigned int p)
{
	struct run_port *port = &c->s.r->host[host].port[p];
	const json_t *reply = c->s.conn[host].call.reply;
	const char *text = json_string_value(json_object_get(reply, "complaint"));
	struct err e = c->s.conn[host].call.err;

	if (!reply ||
	    capture_summary_from_json(json_object_get(reply, "summary"), &port->capture, &e)) {
		capture_note_error(port, &e);
		return;
	}
	port->has_capture = true;
	if (text && *text) {
		err_set(&e, -EIO, "%.150s", text);
		capture_note_error(port, &e);
	}
	if (json_integer_value(json_object_get(reply, "unrecorded")) > 0)
		session_report(&c->s,
			       "%s %s: the capture file was truncated at %" PRIu64
			       " MiB; all packets were analyzed",
			       c->s.r->host[host].name, port->netdev, capture_max_bytes(c) >> 20);
}

/* Transfer of one recording of a host. */
struct fetch {
	struct file file; /* no stream: nothing to fetch */
	uint64_t offset;
	uint64_t waited_ms; /* for this host, without the time of other hosts */
	bool asked;	    /* a request is pending */
	size_t odd_bytes;   /* size of a short piece, which must be the last; 0: none */
};

/* Makes the file name of a recording below captures/. */
static void capture_file_name(const struct run_host *h, const struct run_port *port,
			      char name[RECORDING_NAME_MAX])
{
	snprintf(name, RECORDING_NAME_MAX, "%.63s-%s.pcap", h->name, port->netdev);
}

int phase_capture_remove(struct coordinator *c, struct err *e)
{
	int err = folder_find(c->dir, "captures", &c->captures, e);
	char name[RECORDING_NAME_MAX];

	if (err)
		return err == -ENOENT ? 0 : err;
	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		const struct run_host *h = &c->s.r->host[i];

		for (unsigned int p = 0; p < h->port_count && !err; p++) {
			capture_file_name(h, &h->port[p], name);
			err = file_remove(&c->captures, name, e);
		}
	}
	return err;
}

static void capture_open_fetch(struct coordinator *c, unsigned int host, unsigned int p,
			       struct fetch *f)
{
	struct run_host *h = &c->s.r->host[host];
	struct run_port *port = &h->port[p];
	char name[RECORDING_NAME_MAX];
	struct err e = {0};

	*f = (struct fetch){0};
	if (!capture_is_started(c, host, p) || !port->has_capture || !c->dir)
		return;
	capture_file_name(h, port, name);
	/* Unsynced: a slow disk must not let the agents' leases expire. */
	if (file_open_in(&c->captures, name, FILE_PRIVATE | FILE_UNSYNCED, &f->file, &e))
		capture_note_error(port, &e);
}

/* Ends a transfer; removes an incomplete recording. */
static void capture_close_fetch(struct coordinator *c, unsigned int host, unsigned int p,
				struct fetch *f, const struct err *e)
{
	struct run_port *port = &c->s.r->host[host].port[p];
	struct err failed = e ? *e : (struct err){0};
	char name[RECORDING_NAME_MAX];

	(void)file_close(&f->file, !failed.code, failed.code ? NULL : &failed);
	capture_file_name(&c->s.r->host[host], port, name);
	if (failed.code)
		capture_note_error(port, &failed);
	else
		snprintf(port->capture_file, sizeof(port->capture_file), "captures/%s", name);
}

/* Checks and writes a decoded piece. The limits stop a hostile agent that sends small or slow
 * pieces without end. */
static int capture_write_piece(struct coordinator *c, unsigned int host, struct fetch *f,
			       const uint8_t *data, size_t size, struct err *e)
{
	const char *name = c->s.r->host[host].name;

	if (size && f->odd_bytes)
		return err_set(
			e, -EPROTO,
			"%.63s sent a short piece of %zu bytes in the middle of its recording",
			name, f->odd_bytes);
	f->odd_bytes = size < AGENT_PIECE_BYTES ? size : 0;
	f->offset += size;
	/* The limit leaves room for file headers; an agent may send more. */
	if (f->offset > 2 * capture_max_bytes(c))
		return err_sys(e, -EFBIG, "%s", f->file.path);
	if (f->waited_ms > c->fetch_grace_ms + f->offset / AGENT_PIECE_BYTES * FETCH_PIECE_MS)
		return err_set(e, -ETIMEDOUT,
			       "%.63s sent its recording too slowly: %" PRIu64 " bytes in %" PRIu64
			       " s",
			       name, f->offset, f->waited_ms / 1000);
	errno = 0;
	if (size && fwrite(data, size, 1, f->file.stream) != 1)
		return err_sys(e, errno ? -errno : -EIO, "%s", f->file.path);
	return 0;
}

static void capture_accept_piece(struct coordinator *c, unsigned int host, unsigned int p,
				 struct fetch *f, uint8_t *buf)
{
	const json_t *reply = c->s.conn[host].call.reply;
	const json_t *data = json_object_get(reply, "data");
	struct err e = c->s.conn[host].call.err;
	size_t size = 0;

	if (!json_is_string(data) ||
	    base64_decode(json_string_value(data), json_string_length(data), buf, AGENT_PIECE_BYTES,
			  &size)) {
		if (!e.code)
			err_set(&e, -EPROTO, "invalid data in the transfer of the recording");
		capture_close_fetch(c, host, p, f, &e);
		return;
	}
	if (capture_write_piece(c, host, f, buf, size, &e))
		capture_close_fetch(c, host, p, f, &e);
	else if (!size || json_is_true(json_object_get(reply, "eof")))
		capture_close_fetch(c, host, p, f, NULL);
}

struct round {
	struct coordinator *c;
	struct fetch *list;
	uint64_t begin_ms;
};

/* Measures time per host: a slow host does not make the others late. */
static bool capture_pieces_arrived(void *arg)
{
	const struct round *r = arg;
	bool all = true;

	for (unsigned int i = 0; i < r->c->s.r->host_count; i++) {
		struct fetch *f = &r->list[i];

		if (f->asked && !agent_conn_busy(&r->c->s.conn[i])) {
			f->asked = false;
			f->waited_ms += loop_awake_ms(r->c->s.loop) - r->begin_ms;
		}
		all = all && !f->asked;
	}
	return all || session_stopped(&r->c->s);
}

/* Fetches one piece from each host that has more. Returns false when none has. */
static bool capture_fetch_round(struct coordinator *c, unsigned int p, struct fetch *list,
				uint8_t *buf)
{
	struct round r = {c, list, loop_awake_ms(c->s.loop)};
	bool more = false;

	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		json_t *fields;

		if (!list[i].file.stream)
			continue;
		fields = capture_handle_json(c, i, p);
		(void)json_object_set_new(fields, "offset",
					  json_integer((json_int_t)list[i].offset));
		agent_conn_ask(&c->s.conn[i], "capture_read", fields, SESSION_ANSWER_MS);
		list[i].asked = true;
	}
	loop_run_until(c->s.loop, capture_pieces_arrived, &r);
	session_mark_lost(&c->s);
	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		if (!list[i].file.stream)
			continue;
		capture_accept_piece(c, i, p, &list[i], buf);
		more = more || list[i].file.stream;
	}
	return more;
}

static void capture_fetch_port(struct coordinator *c, unsigned int p, struct fetch *list,
			       uint8_t *buf)
{
	struct err e = {0};

	for (unsigned int i = 0; i < c->s.r->host_count; i++)
		capture_open_fetch(c, i, p, &list[i]);
	while (capture_fetch_round(c, p, list, buf) && !session_stopped(&c->s))
		;
	err_set(&e, -EINTR, "stopped before the recording was transferred");
	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		if (list[i].file.stream)
			capture_close_fetch(c, i, p, &list[i], &e);
	}
}

static void capture_fetch_all(struct coordinator *c)
{
	struct fetch *list = calloc(c->s.r->host_count + 1, sizeof(*list));
	uint8_t *buf = malloc(AGENT_PIECE_BYTES);
	struct err e = {0};

	if (!list || !buf)
		err_set(&e, -ENOMEM, "no memory for the recordings");
	else if (!c->captures.path)
		(void)folder_below(c->dir, "captures", &c->captures, &e);
	if (e.code)
		session_report(&c->s, "%s", e.text);
	for (unsigned int p = 0; !e.code && p < capture_most_ports(c); p++)
		capture_fetch_port(c, p, list, buf);
	free(list);
	free(buf);
}

void phase_capture_stop(struct coordinator *c)
{
	if (c->f->capture == CAPTURE_OFF)
		return;
	session_report(&c->s, "fetching captures");
	for (unsigned int p = 0; p < capture_most_ports(c) && !session_stopped(&c->s); p++) {
		for (unsigned int i = 0; i < c->s.r->host_count; i++) {
			if (capture_is_started(c, i, p))
				agent_conn_ask(&c->s.conn[i], "capture_stop",
					       capture_handle_json(c, i, p), SESSION_ANSWER_MS);
		}
		session_wait(&c->s);
		for (unsigned int i = 0; i < c->s.r->host_count; i++) {
			if (c->capture[i][p] >= 0 && p < c->s.r->host[i].port_count)
				capture_store_summary(c, i, p);
		}
	}
	if (c->dir && !session_stopped(&c->s))
		capture_fetch_all(c);
}
