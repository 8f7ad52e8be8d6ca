/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the event loop, shared by loop.c, loop_process.c and loop_stream.c alone.
 */
#ifndef PROBE_LOOP_UV_H
#define PROBE_LOOP_UV_H

#include <signal.h>
#include <uv.h>

#define LOOP_READ_BYTES 65536

struct loop {
	uv_loop_t uv;
	uv_timer_t tick;
	uint64_t seen_ms, awake_ms; /* until when awake_ms was counted */
	struct sigaction old_sigpipe;
};

/* A buffer to read into; the read callback frees it. */
void loop_buffer(uv_handle_t *handle, size_t wished, uv_buf_t *buf);

/* Queues a copy. -ENOMEM, or what libuv says. */
int loop_write(uv_stream_t *to, const char *data, size_t size);

#endif
