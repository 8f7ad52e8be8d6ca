/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture in the agent: a thread reads the port's netdev, decodes and judges every packet while it
 * comes, and keeps a recording in a file that has no name any more, so that nothing stays behind
 * whatever happens to us. The coordinator fetches it in pieces.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/lldp.h"
#include "capture/source.h"
#include "probe/agent_ops.h"
#include "probe/base64.h"
#include "probe/json_take.h"
#include "profiles/text.h"

#define FLOWS_MAX	 512u /* their summary fits into one line */
#define FRAME_MAX	 16384u
#define READ_BYTES	 (512u << 10)
#define POLL_MS		 50
#define DRAIN_FRAMES	 (1u << 20) /* taken after the stop, at most */
#define RECORD_MAX_BYTES (UINT64_C(1) << 40)

struct agent_capture {
	pthread_t thread;
	bool running;
	atomic_bool stop;
	bool full; /* keep user data */
	uint64_t max_bytes, bytes;
	struct source *source;
	struct flow_table *flows;
	struct lldp_peer peer;
	struct sink *sink;
	int fd; /* the recording, to read */
	uint64_t frames, unrecorded;
	struct err err; /* why it ended early */
	uint8_t frame[FRAME_MAX];
};

static void record(struct agent_capture *c, const struct packet *p, const uint8_t *data)
{
	uint32_t length = p->cap_len < FRAME_MAX ? p->cap_len : FRAME_MAX;

	if (!c->sink)
		return;
	if (c->bytes + length > c->max_bytes) {
		c->unrecorded++;
		return;
	}
	memcpy(c->frame, data, length);
	if (!c->full)
		length = capture_cut(p, c->frame, length);
	if (sink_write(c->sink, c->frame, length, p->wire_len, p->time_ns, &c->err)) {
		struct err ignored; /* the first error is told */

		(void)sink_close(c->sink, &ignored);
		c->sink = NULL;
		return;
	}
	c->bytes += length;
}

static int take_frame(struct agent_capture *c, const uint8_t *data, uint32_t cap_len,
		      uint32_t wire_len, uint64_t time_ns)
{
	struct packet p;
	struct err broken;

	packet_decode(source_link(c->source), data, cap_len, wire_len, ++c->frames, time_ns, &p);
	if (p.kind == PACKET_LLDP) /* a broken one is counted as malformed by the decoder */
		(void)lldp_decode(data, cap_len, &c->peer, &broken);
	record(c, &p, data);
	return flow_table_add(c->flows, &p);
}

static void *run_capture(void *arg)
{
	struct agent_capture *c = arg;
	unsigned int drained = 0;
	int rc = 0;

	while (rc >= 0 && drained < DRAIN_FRAMES) {
		uint32_t cap_len = 0, wire_len = 0;
		const uint8_t *data = NULL;
		uint64_t time_ns = 0;
		bool stopping = c->stop;

		rc = source_next(c->source, stopping ? 0 : POLL_MS, &data, &cap_len, &wire_len,
				 &time_ns, &c->err);
		if (rc == 1) {
			drained += stopping;
			rc = take_frame(c, data, cap_len, wire_len, time_ns);
			if (rc < 0)
				err_sys(&c->err, rc, "capture");
		} else if (!rc && stopping) {
			break;
		}
	}
	return NULL;
}

/* A recording without a name: mode 0600, gone when the last descriptor closes. */
static int open_recording(struct agent_capture *c, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	char dir[256], path[300];
	int err;

	snprintf(dir, sizeof(dir), "%s/rocecheck.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return err_sys(e, -errno, "capture: %s", dir);
	snprintf(path, sizeof(path), "%s/capture.pcap", dir);
	err = sink_open(path, source_link(c->source), c->full ? 0 : 256, &c->sink, e);
	if (!err) {
		c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (c->fd < 0)
			err = err_sys(e, -errno, "capture: %s", path);
		(void)unlink(path);
	}
	(void)rmdir(dir);
	return err;
}

static void stop_thread(struct agent_capture *c)
{
	if (!c->running)
		return;
	c->stop = true;
	pthread_join(c->thread, NULL);
	c->running = false;
}

static void free_capture(struct agent_capture *c)
{
	struct err ignored; /* nobody asked for this recording */

	stop_thread(c);
	if (c->sink)
		(void)sink_close(c->sink, &ignored);
	if (c->fd >= 0)
		close(c->fd);
	if (c->source)
		source_close(c->source);
	flow_table_free(c->flows);
	free(c);
}

static int open_capture(struct agent_capture *c, const char *netdev, struct err *e)
{
	int err;

	c->flows = flow_table_new(FLOWS_MAX);
	if (!c->flows)
		return err_sys(e, -ENOMEM, "capture");
	err = source_open_live(netdev, source_filter("roce"), 0, &c->source, e);
	if (!err && c->max_bytes)
		err = open_recording(c, e);
	if (err)
		return err;
	err = pthread_create(&c->thread, NULL, run_capture, c);
	if (err)
		return err_sys(e, -err, "capture: thread");
	c->running = true;
	return 0;
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
	err = json_take_text(request, "netdev", netdev, sizeof(netdev), e);
	if (!err)
		err = json_take_bool(request, "full", &full, e);
	if (!err)
		err = json_take_uint(request, "max_bytes", 0, RECORD_MAX_BYTES, &max_bytes, e);
	if (err)
		return err;
	while (handle < AGENT_CAPTURE_MAX && a->capture[handle])
		handle++;
	if (handle == AGENT_CAPTURE_MAX)
		return err_set(e, -ENOSPC, "more than %u captures at once", AGENT_CAPTURE_MAX);
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_sys(e, -ENOMEM, "capture");
	c->fd = -1;
	c->full = full;
	c->max_bytes = max_bytes;
	err = open_capture(c, netdev, e);
	if (err) {
		free_capture(c);
		return err;
	}
	a->capture[handle] = c;
	*reply = json_pack("{s:i}", "handle", (int)handle);
	return 0;
}

static int find(struct agent *a, const json_t *request, uint64_t *handle, struct err *e)
{
	int err = json_take_uint(request, "handle", 0, AGENT_CAPTURE_MAX - 1, handle, e);

	if (!err && !a->capture[*handle])
		err = err_set(e, -ENOENT, "no capture with handle %u", (unsigned int)*handle);
	return err;
}

/* Bytes of the recording as stored, after the last flush. */
static int finish_recording(struct agent_capture *c, uint64_t *size, struct err *e)
{
	struct sink *sink = c->sink;
	struct stat st;
	int err = 0;

	*size = 0;
	c->sink = NULL;
	if (sink)
		err = sink_close(sink, e);
	if (!err && c->fd >= 0 && !fstat(c->fd, &st))
		*size = (uint64_t)st.st_size;
	return err;
}

int agent_capture_stop(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		       struct err *e)
{
	struct capture_summary summary;
	struct err record_err = {0};
	struct agent_capture *c;
	enum capture_drops drops;
	uint64_t handle, size, dropped = 0;
	int err = find(a, request, &handle, e);

	(void)id;
	if (err)
		return err;
	c = a->capture[handle];
	stop_thread(c);
	drops = source_drops(c->source, &dropped);
	if (finish_recording(c, &size, &record_err) && !c->err.code)
		c->err = record_err;
	err = capture_summary_make(c->flows, &c->peer, drops, dropped, &summary);
	if (err)
		return err_sys(e, err, "summary");
	summary.totals.time_step_ns = source_step_ns(c->source);
	*reply = json_pack("{s:o, s:I, s:I, s:o}", "summary", capture_summary_to_json(&summary),
			   "bytes", (json_int_t)size, "unrecorded", (json_int_t)c->unrecorded,
			   "complaint", text_to_json(c->err.code ? c->err.text : ""));
	capture_summary_clear(&summary);
	return 0;
}

/* Reading to the end frees the capture: {"data":"...","eof":true}. */
int agent_capture_read(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		       struct err *e)
{
	uint64_t handle, offset = 0;
	struct agent_capture *c;
	uint8_t *data;
	char *text;
	ssize_t n;
	int err = find(a, request, &handle, e);

	(void)id;
	if (!err)
		err = json_take_uint(request, "offset", 0, RECORD_MAX_BYTES, &offset, e);
	if (err)
		return err;
	c = a->capture[handle];
	if (c->running || c->sink)
		return err_set(e, -EBUSY, "the capture was not stopped");
	data = malloc(READ_BYTES);
	text = malloc(BASE64_SIZE(READ_BYTES));
	n = !data || !text ? -1 : c->fd < 0 ? 0 : pread(c->fd, data, READ_BYTES, (off_t)offset);
	if (n < 0) {
		err = err_sys(e, data && text ? -errno : -ENOMEM, "reading the recording");
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
