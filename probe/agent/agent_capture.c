/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures of the agent. A confined process (capture/confined.h) reads the port's netdev, decodes
 * every packet, and writes an unlinked file, so that no file remains if the agent dies. The
 * coordinator fetches the file in pieces.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/confined.h"
#include "capture/decode/lldp.h"
#include "capture/file/input.h"
#include "probe/agent/agent_priv.h"
#include "profiles/base/base64.h"
#include "profiles/base/file.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define RECORDING	 "capture.pcap"
#define FLOWS_MAX	 512u /* their summary fits into one line */
#define FRAME_MAX	 16384u
#define POLL_MS		 50
#define LOOK_FRAMES	 64	    /* frames between two checks for a stop */
#define DRAIN_FRAMES	 (1u << 20) /* frames read after the stop, at most */
#define SUMMARY_MAX	 (1u << 20) /* bytes: fits into a line of the agent */
#define SUMMARY_MS	 20000	    /* time to decode pending frames; the coordinator waits 30 s */
#define RECORD_MAX_BYTES (UINT64_C(1) << 40)

struct agent_capture {
	struct confined process; /* pid 0: ended */
	char netdev[16];
	bool full; /* keep payload */
	uint64_t max_bytes;
	int fd; /* recording, -1: none */
};

/* State in the confined process. */
struct capture_child {
	const struct agent_capture *capture;
	struct input *source;
	struct flow_table *flows;
	struct lldp_peer peer;
	struct pcap_writer *sink;
	uint64_t frames, bytes, unrecorded;
	struct err err; /* cause of an early end */
	uint8_t frame[FRAME_MAX];
};

static void capture_child_record(struct capture_child *d, const struct packet *p,
				 const uint8_t *data)
{
	uint32_t length = p->cap_len < FRAME_MAX ? p->cap_len : FRAME_MAX;

	if (!d->sink)
		return;
	if (d->bytes + length > d->capture->max_bytes) {
		d->unrecorded++;
		return;
	}
	memcpy(d->frame, data, length);
	if (!d->capture->full)
		length = trim_frame(p, d->frame, length);
	if (pcap_writer_write(d->sink, d->frame, length, p->wire_len, p->time_ns, &d->err)) {
		struct err ignored; /* the first error is reported */

		(void)pcap_writer_close(d->sink, &ignored);
		d->sink = NULL;
		return;
	}
	d->bytes += length;
}

static int capture_child_decode(struct capture_child *d, const uint8_t *data, uint32_t cap_len,
				uint32_t wire_len, uint64_t time_ns)
{
	struct packet p;
	struct err broken;

	packet_decode(input_dlt(d->source), data, cap_len, wire_len, ++d->frames, time_ns, &p);
	if (p.kind == PACKET_LLDP) /* the decoder counts an invalid one as malformed */
		(void)lldp_decode(data, cap_len, &d->peer, &broken);
	capture_child_record(d, &p, data);
	return flow_table_add(d->flows, &p);
}

static void capture_child_loop(struct capture_child *d, int parent)
{
	unsigned int drained = 0, until_look = 0;
	bool stopping = false;
	int rc = 0;

	while (rc >= 0 && drained < DRAIN_FRAMES) {
		uint32_t cap_len = 0, wire_len = 0;
		const uint8_t *data = NULL;
		uint64_t time_ns = 0;

		if (!stopping && !until_look--) {
			stopping = confined_stopped(parent);
			until_look = LOOK_FRAMES;
		}
		rc = input_next(d->source, stopping ? 0 : POLL_MS, &data, &cap_len, &wire_len,
				&time_ns, &d->err);
		if (rc == 1) {
			drained += stopping;
			rc = capture_child_decode(d, data, cap_len, wire_len, time_ns);
			if (rc < 0)
				err_sys(&d->err, rc, "capture");
		} else if (!rc && stopping) {
			break;
		} else {
			until_look = 0;
		}
	}
}

/* Makes the reply to capture_stop; the agent adds "bytes". */
static json_t *capture_child_summary(struct capture_child *d)
{
	struct capture_summary summary;
	struct err record_err = {0};
	uint64_t dropped = 0;
	enum capture_drops drops = input_drops(d->source, &dropped);
	json_t *reply;

	if (d->sink && pcap_writer_close(d->sink, &record_err) && !d->err.code)
		d->err = record_err;
	if (capture_summary_make(d->flows, &d->peer, drops, dropped, &summary))
		return NULL;
	summary.totals.time_step_ns = input_step_ns(d->source);
	reply = json_pack("{s:o, s:I, s:o}", "summary", capture_summary_to_json(&summary),
			  "unrecorded", (json_int_t)d->unrecorded, "complaint",
			  text_to_json(d->err.code ? d->err.text : ""));
	capture_summary_clear(&summary);
	return reply;
}

static int capture_child_open(void *arg, struct err *e)
{
	struct capture_child *d = arg;
	const struct agent_capture *c = d->capture;
	int err;

	d->flows = flow_table_new(FLOWS_MAX);
	if (!d->flows)
		return err_sys(e, -ENOMEM, "capture");
	err = input_open_live(c->netdev, input_filter("roce"), 0, &d->source, e);
	if (!err && c->max_bytes)
		err = pcap_writer_open(CONFINED_FILE_FD, RECORDING, input_dlt(d->source),
				       c->full ? 0 : 256, &d->sink, e);
	return err;
}

static void capture_child_run(void *arg, int parent)
{
	struct capture_child *d = arg;
	json_t *reply;
	char *text;

	capture_child_loop(d, parent);
	reply = capture_child_summary(d);
	text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	if (text)
		(void)confined_write(parent, text, strlen(text));
}

static void free_capture(struct agent_capture *c)
{
	(void)confined_close(&c->process, NULL); /* the result is not needed */
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

static int open_capture(struct agent_capture *c, struct err *e)
{
	struct capture_child *d;
	struct confined_job job = {.open = capture_child_open, .run = capture_child_run};
	/* Unlinked: removed when the last descriptor closes. */
	int err = c->max_bytes ? file_unnamed(&c->fd, e) : 0;

	if (err) {
		err_prefix(e, "capture");
		return err;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return err_sys(e, -ENOMEM, "capture");
	d->capture = c;
	job.arg = d;
	job.file_fd = c->fd;
	err = confined_start(&job, &c->process, e);
	free(d); /* the other process has its own copy */
	return err;
}

int agent_capture_start(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
			struct err *e)
{
	struct agent_capture *c;
	unsigned int handle = 0;
	uint64_t max_bytes;
	char netdev[16];
	bool full;
	int err;

	(void)id;
	err = json_get_text(request, "netdev", netdev, sizeof(netdev), e);
	if (!err)
		err = json_get_bool(request, "full", &full, e);
	if (!err)
		err = json_get_uint(request, "max_bytes", 0, RECORD_MAX_BYTES, &max_bytes, e);
	if (err)
		return err;
	if (full && a->config->read_only) {
		err_set(e, -EPERM, "agent: --read-only refuses to capture whole packets");
		err_hint(e, "set 'capture: headers' in the inventory");
		return -EPERM;
	}
	while (handle < AGENT_CAPTURE_MAX && a->capture[handle])
		handle++;
	if (handle == AGENT_CAPTURE_MAX)
		return err_set(e, -ENOSPC, "too many captures: at most %u at the same time",
			       AGENT_CAPTURE_MAX);
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_sys(e, -ENOMEM, "capture");
	c->fd = -1;
	c->full = full;
	c->max_bytes = max_bytes;
	memcpy(c->netdev, netdev, sizeof(c->netdev));
	err = open_capture(c, e);
	if (err) {
		free_capture(c);
		return err;
	}
	a->capture[handle] = c;
	*reply = json_pack("{s:i}", "handle", (int)handle);
	return 0;
}

static int capture_find(struct agent *a, const json_t *request, uint64_t *handle, struct err *e)
{
	int err = json_get_uint(request, "handle", 0, AGENT_CAPTURE_MAX - 1, handle, e);

	if (!err && !a->capture[*handle])
		err = err_set(e, -ENOENT, "no capture with handle %u", (unsigned int)*handle);
	return err;
}

/* Requests the summary. The coordinator checks its content; here it must be an object that fits
 * into a line. */
static int capture_read_summary(struct agent_capture *c, json_t **reply, struct err *e)
{
	struct err ended = {0};
	json_error_t where;
	json_t *doc = NULL;
	char *text = NULL;
	int err;

	confined_stop(&c->process);
	err = confined_read_text(c->process.fd, SUMMARY_MAX, SUMMARY_MS, &text);
	if (confined_close(&c->process, &ended) && err)
		return err_set(e, ended.code, "%s", ended.text);
	if (err)
		return err_sys(e, err, "capture: cannot read its summary");
	doc = json_loads(text, JSON_REJECT_DUPLICATES, &where);
	free(text);
	if (!json_is_object(doc)) {
		json_decref(doc);
		return err_set(e, -EPROTO, "capture: its summary is not a JSON object");
	}
	*reply = doc;
	return 0;
}

int agent_capture_stop(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		       struct err *e)
{
	struct agent_capture *c;
	struct stat st = {0};
	uint64_t handle;
	int err = capture_find(a, request, &handle, e);

	(void)id;
	if (err)
		return err;
	c = a->capture[handle];
	if (!c->process.pid)
		return err_set(e, -EALREADY, "the capture is already stopped");
	err = capture_read_summary(c, reply, e);
	if (err)
		return err;
	if (c->fd >= 0)
		(void)fstat(c->fd, &st);
	return json_object_set_new(*reply, "bytes", json_integer((json_int_t)st.st_size))
		       ? err_sys(e, -ENOMEM, "capture")
		       : 0;
}

/* Reads a full piece of the recording, at its end a shorter one. Returns its bytes, or -errno. */
static ssize_t capture_read_piece(int fd, uint8_t *data, uint64_t offset)
{
	size_t size = 0;
	ssize_t n = 1;

	while (n > 0 && size < AGENT_PIECE_BYTES) {
		n = pread(fd, data + size, AGENT_PIECE_BYTES - size, (off_t)(offset + size));
		if (n > 0)
			size += (size_t)n;
	}
	return n < 0 ? -errno : (ssize_t)size;
}

/* Returns {"data":"...","eof":true}. The read that reaches the end frees the capture. */
int agent_capture_read(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		       struct err *e)
{
	uint64_t handle, offset = 0;
	struct agent_capture *c;
	uint8_t *data;
	char *text;
	ssize_t n;
	int err = capture_find(a, request, &handle, e);

	(void)id;
	if (!err)
		err = json_get_uint(request, "offset", 0, RECORD_MAX_BYTES, &offset, e);
	if (err)
		return err;
	c = a->capture[handle];
	if (c->process.pid)
		return err_set(e, -EBUSY, "the capture is still running");
	data = malloc(AGENT_PIECE_BYTES);
	text = malloc(BASE64_SIZE(AGENT_PIECE_BYTES));
	n = !data || !text ? -ENOMEM : c->fd < 0 ? 0 : capture_read_piece(c->fd, data, offset);
	if (n < 0) {
		err = err_sys(e, (int)n, "reading the recording");
	} else {
		(void)base64_encode(data, (size_t)n, text);
		*reply = json_pack("{s:s, s:b}", "data", text, "eof", n == 0);
	}
	free(data);
	free(text);
	if (!err && n == 0) {
		free_capture(c);
		a->capture[handle] = NULL;
	}
	return err;
}

void agent_capture_stop_all(struct agent *a)
{
	for (unsigned int i = 0; i < AGENT_CAPTURE_MAX; i++) {
		if (!a->capture[i])
			continue;
		free_capture(a->capture[i]);
		a->capture[i] = NULL;
	}
}
