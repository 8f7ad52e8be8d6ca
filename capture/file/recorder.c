/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorder with rotation. A file ends before the frame that would exceed a limit; only its first
 * frame may exceed it. Each file states the capture's drops while it was written.
 */
#include "capture/file/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/file/pcap_format.h"
#include "profiles/base/file.h"

#define FRAME_OVERHEAD	    36U /* of pcapng, with the padding; pcap has less */
#define ENDPOINT_TEXT_BYTES 52U /* of pcapng: the statistics */

struct recorder {
	struct record_plan plan;
	recorder_next *next;
	void *arg;
	struct input *input;
	struct pcap_writer *writer;
	unsigned int files;
	uint64_t begun_ns, last_ns, frames; /* of this file */
	uint64_t dropped;		    /* by the source, before this file */
	uint8_t frame[PCAP_SNAPLEN_MAX];
};

int recorder_name(const struct record_plan *plan, unsigned int n, char *buf, size_t size)
{
	const char *base = strrchr(plan->path, '/');
	const char *dot = strrchr(base ? base : plan->path, '.');
	int stem = dot ? (int)(dot - plan->path) : (int)strlen(plan->path);
	int len;

	if (plan->max_bytes || plan->max_ns || plan->max_frames)
		len = snprintf(buf, size, "%.*s-%05u%s", stem, plan->path, n, plan->path + stem);
	else
		len = snprintf(buf, size, "%s", plan->path);
	return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

int recorder_create_file(const struct record_plan *plan, unsigned int n, struct err *e)
{
	char name[PATH_MAX];
	int fd, err = recorder_name(plan, n, name, sizeof(name));

	if (err)
		return err_sys(e, err, "%s", plan->path);
	if (!strcmp(name, "-")) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? err_sys(e, -errno, "standard output") : fd;
	}
	fd = pcap_writer_create(plan->folder, file_name_of(name), e);
	/* Failing to remove an old file does not end the recording. */
	if (fd >= 0 && plan->keep && n > plan->keep &&
	    !recorder_name(plan, n - plan->keep, name, sizeof(name)))
		(void)file_remove(plan->folder, file_name_of(name), NULL);
	return fd;
}

static int recorder_begin_file(struct recorder *r, struct err *e)
{
	char name[PATH_MAX];
	int fd, err = recorder_name(&r->plan, r->files + 1, name, sizeof(name));

	if (err)
		return err_sys(e, err, "%s", r->plan.path);
	fd = r->next(r->arg, r->files + 1, e);
	if (fd < 0)
		return fd;
	err = pcap_writer_open(fd, name, input_dlt(r->input), r->plan.full ? r->plan.snaplen : 0,
			       &r->writer, e);
	if (err)
		return err;
	r->files++;
	r->frames = 0;
	return 0;
}

static int recorder_end_file(struct recorder *r, struct err *e)
{
	struct pcap_writer *sink = r->writer;
	uint64_t dropped;
	int err = 0, closed;

	if (!sink)
		return 0;
	r->writer = NULL;
	if (input_drops(r->input, &dropped) != DROPS_UNKNOWN) {
		err = pcap_writer_statistics(sink, r->last_ns, r->frames, dropped - r->dropped, e);
		r->dropped = dropped;
	}
	closed = pcap_writer_close(sink, err ? NULL : e);
	return err ? err : closed;
}

int recorder_open(const struct record_plan *plan, struct input *s, recorder_next *next, void *arg,
		  struct recorder **out, struct err *e)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return err_sys(e, -ENOMEM, "%s", plan->path);
	r->plan = *plan;
	r->input = s;
	r->next = next;
	r->arg = arg;
	err = recorder_begin_file(r, e);
	if (err) {
		free(r);
		return err;
	}
	*out = r;
	return 0;
}

static bool recorder_is_full(const struct recorder *r, uint32_t len, uint64_t time_ns)
{
	const struct record_plan *p = &r->plan;

	if (!r->frames)
		return false;
	return (p->max_frames && r->frames >= p->max_frames) ||
	       (p->max_bytes &&
		pcap_writer_bytes(r->writer) + len + FRAME_OVERHEAD + ENDPOINT_TEXT_BYTES >
			p->max_bytes) ||
	       (p->max_ns && time_ns > r->begun_ns && time_ns - r->begun_ns >= p->max_ns);
}

int recorder_add(struct recorder *r, const struct packet *p, const uint8_t *data, struct err *e)
{
	uint32_t len = p->cap_len < PCAP_SNAPLEN_MAX ? p->cap_len : PCAP_SNAPLEN_MAX;
	int err;

	if (!r->plan.full) {
		memcpy(r->frame, data, len);
		len = trim_frame(p, r->frame, len);
		data = r->frame;
	}
	if (recorder_is_full(r, len, p->time_ns)) {
		err = recorder_end_file(r, e);
		if (!err)
			err = recorder_begin_file(r, e);
		if (err)
			return err;
	}
	if (!r->frames++)
		r->begun_ns = p->time_ns;
	r->last_ns = p->time_ns;
	return pcap_writer_write(r->writer, data, len, p->wire_len, p->time_ns, e);
}

int recorder_close(struct recorder *r, struct err *e)
{
	int err;

	if (!r)
		return 0;
	err = recorder_end_file(r, e);
	free(r);
	return err;
}
