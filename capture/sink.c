/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: pcap with nanoseconds, in the byte order of the machine. A recording never overwrites
 * a file and follows no symlink; a full disk is an error that names the file, at the latest at
 * close. capture_cut() is what keeps user data out of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pcap/dlt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/bth.h"
#include "capture/opcode.h"
#include "capture/source.h"

#define PCAP_MAGIC_NS	   0xa1b23c4dU
#define LINKTYPE_RAW	   101U
#define SNAPLEN_WHOLE	   262144U
#define WRITE_BUFFER_BYTES (1U << 18)

struct sink {
	FILE *file;
	char *path;
	char *buffer;
	int code; /* of the first write that failed */
};

static void sink_free(struct sink *k)
{
	free(k->buffer);
	free(k->path);
	free(k);
}

static int sink_put(struct sink *k, const void *bytes, size_t len, struct err *e)
{
	if (!k->code && len && fwrite(bytes, len, 1, k->file) != 1)
		k->code = errno ? -errno : -EIO;
	return k->code ? err_sys(e, k->code, "%s", k->path) : 0;
}

static int put_file_header(struct sink *k, int dlt, unsigned int snaplen, struct err *e)
{
	struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, snaplen, link;
	} h = {
		.magic = PCAP_MAGIC_NS,
		.major = 2,
		.minor = 4,
		.snaplen = snaplen ? snaplen : SNAPLEN_WHOLE,
		.link = dlt == DLT_RAW ? LINKTYPE_RAW : (uint32_t)dlt,
	};

	_Static_assert(sizeof(h) == 24, "the file header of pcap has no holes");
	return sink_put(k, &h, sizeof(h), e);
}

int sink_open(const char *path, int dlt, unsigned int snaplen, struct sink **out, struct err *e)
{
	struct sink *k = calloc(1, sizeof(*k));
	int fd, err;

	if (!k)
		return err_sys(e, -ENOMEM, "%s", path);
	k->path = strdup(path);
	k->buffer = malloc(WRITE_BUFFER_BYTES);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = err_sys(e, -errno, "%s", path);
		if (err == -EEXIST)
			err_hint(e, "a recording never overwrites: name another file");
		sink_free(k);
		return err;
	}
	k->file = k->path && k->buffer ? fdopen(fd, "wb") : NULL;
	if (!k->file) {
		close(fd);
		sink_free(k);
		return err_sys(e, -ENOMEM, "%s", path);
	}
	setvbuf(k->file, k->buffer, _IOFBF, WRITE_BUFFER_BYTES);
	err = put_file_header(k, dlt, snaplen, e);
	if (err) {
		(void)sink_close(k, NULL); /* the first error is the one to tell */
		return err;
	}
	*out = k;
	return 0;
}

int sink_write(struct sink *k, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
	       uint64_t time_ns, struct err *e)
{
	uint32_t h[4] = {
		(uint32_t)(time_ns / 1000000000),
		(uint32_t)(time_ns % 1000000000),
		cap_len,
		wire_len,
	};
	int err = sink_put(k, h, sizeof(h), e);

	return err ? err : sink_put(k, data, cap_len, e);
}

int sink_close(struct sink *k, struct err *e)
{
	int err;

	if (!k)
		return 0;
	if (fclose(k->file) && !k->code)
		k->code = -errno;
	err = k->code ? err_sys(e, k->code, "%s", k->path) : 0;
	sink_free(k);
	return err;
}

/* R_Keys of the decoded headers, by their place in the header. True when one was there. */
static bool mask_rkeys(const struct packet *p, uint8_t *frame, uint32_t cap_len)
{
	static const struct {
		enum roce_header header;
		uint32_t offset;
	} rkeys[] = {
		{HDR_RETH, 8},
		{HDR_ATOMICETH, 8},
		{HDR_IETH, 0},
	};
	bool masked = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rkeys); i++) {
		uint16_t before = p->headers & (uint16_t)(rkeys[i].header - 1);
		uint32_t at = p->bth_offset + BTH_LEN + roce_headers_len(before) + rkeys[i].offset;

		if (!(p->headers & rkeys[i].header) || at + 4 > cap_len)
			continue;
		memset(frame + at, 0, 4);
		masked = true;
	}
	return masked;
}

uint32_t capture_cut(const struct packet *p, uint8_t *frame, uint32_t cap_len)
{
	bool known = p->bth && opcode_info(p->opcode)->name;
	bool management = p->bth && opcode_class(p->opcode) == OPCODE_CLASS_UD && p->dest_qpn == 1;
	uint32_t keep = cap_len;

	if (p->kind != PACKET_ROCE)
		return cap_len;
	if (!known || !p->data_offset)
		keep = p->bth_offset ? p->bth_offset + BTH_LEN : p->l3_offset;
	else if (mask_rkeys(p, frame, cap_len) || (p->payload_len && !management))
		keep = p->data_offset; /* without ICRC: over a masked key it would look bad */
	return keep < cap_len ? keep : cap_len;
}
