/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: pcap or pcapng with nanoseconds, in the byte order of the machine. A recording never
 * overwrites a file and follows no symlink; a full disk is an error that names the file, at the
 * latest at close.
 *
 *   pcapng: section, one interface, then | 6 | length | interface | time 64 | captured | on the
 * wire | data, padded to 4 | length | for each frame (draft-ietf-opsawg-pcapng, 4.3)
 */
#include <errno.h>
#include <fcntl.h>
#include <pcap/dlt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/file/input.h"
#include "capture/file/pcap_format.h"
#include "profiles/base/file.h"

#define LINKTYPE_RAW	   101U
#define WRITE_BUFFER_BYTES (1U << 18)

#define SUFFIX_PCAPNG ".pcapng"

struct pcap_writer {
	FILE *file;
	bool pcapng; /* else pcap */
	uint64_t bytes;
	char *path;
	char *buffer;
	int code; /* of the first write that failed */
};

static void writer_free(struct pcap_writer *k)
{
	free(k->buffer);
	free(k->path);
	free(k);
}

static int writer_append(struct pcap_writer *k, const void *bytes, size_t len, struct err *e)
{
	if (!k->code && len && fwrite(bytes, len, 1, k->file) != 1)
		k->code = errno ? -errno : -EIO;
	k->bytes += len;
	return k->code ? err_sys(e, k->code, "%s", k->path) : 0;
}

static uint32_t writer_linktype(int dlt)
{
	return dlt == DLT_RAW ? LINKTYPE_RAW : (uint32_t)dlt;
}

static int writer_begin_pcap(struct pcap_writer *k, int dlt, unsigned int snaplen, struct err *e)
{
	struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, snaplen, link;
	} h = {
		.magic = PCAP_MAGIC_NANO,
		.major = PCAP_VERSION_MAJOR,
		.minor = PCAP_VERSION_MINOR,
		.snaplen = snaplen,
		.link = writer_linktype(dlt),
	};

	_Static_assert(sizeof(h) == 24, "the file header of pcap has no holes");
	return writer_append(k, &h, sizeof(h), e);
}

static int writer_append_pcap(struct pcap_writer *k, const uint8_t *data, uint32_t cap_len,
			      uint32_t wire_len, uint64_t time_ns, struct err *e)
{
	uint32_t h[4] = {
		(uint32_t)(time_ns / 1000000000),
		(uint32_t)(time_ns % 1000000000),
		cap_len,
		wire_len,
	};
	int err = writer_append(k, h, sizeof(h), e);

	return err ? err : writer_append(k, data, cap_len, e);
}

/* Two 16-bit fields in memory order, such as an option's code and length. */
static uint32_t writer_pair16(unsigned int first, unsigned int second)
{
	uint16_t v[2] = {(uint16_t)first, (uint16_t)second};
	uint32_t both;

	memcpy(&both, v, sizeof(both));
	return both;
}

static int writer_begin_pcapng(struct pcap_writer *k, int dlt, unsigned int snaplen, struct err *e)
{
	const uint8_t nanoseconds[4] = {9};
	uint32_t h[] = {
		PCAPNG_SECTION,
		PCAPNG_SECTION_MIN,
		PCAPNG_BYTE_ORDER_MAGIC,
		writer_pair16(1, 0),
		UINT32_MAX,
		UINT32_MAX,
		PCAPNG_SECTION_MIN,
		/* the interface, with if_tsresol */
		PCAPNG_INTERFACE,
		32,
		writer_pair16(writer_linktype(dlt), 0),
		snaplen,
		writer_pair16(PCAPNG_IF_TSRESOL, 1),
		0,
		0,
		32,
	};

	memcpy(&h[12], nanoseconds, sizeof(nanoseconds));
	return writer_append(k, h, sizeof(h), e);
}

static int writer_append_pcapng(struct pcap_writer *k, const uint8_t *data, uint32_t cap_len,
				uint32_t wire_len, uint64_t time_ns, struct err *e)
{
	static const uint8_t zero[4];
	uint32_t pad = -cap_len & 3, len = PCAPNG_ENHANCED_MIN + cap_len + pad;
	uint32_t h[] = {
		PCAPNG_ENHANCED,   len,	    0,	      (uint32_t)(time_ns >> 32),
		(uint32_t)time_ns, cap_len, wire_len,
	};
	int err = writer_append(k, h, sizeof(h), e);

	if (!err)
		err = writer_append(k, data, cap_len, e);
	if (!err)
		err = writer_append(k, zero, pad, e);
	return err ? err : writer_append(k, &len, sizeof(len), e);
}

static bool writer_is_pcapng(const char *path)
{
	size_t len = strlen(path), suffix = strlen(SUFFIX_PCAPNG);

	return len >= suffix && !strcmp(path + len - suffix, SUFFIX_PCAPNG);
}

int pcap_writer_create(const struct folder *folder, const char *name, struct err *e)
{
	int fd, err;

	err = file_descriptor(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, e);
	if (!err)
		return fd;
	if (err == -EEXIST)
		err_hint(e, "choose another file name: a recording never overwrites a file");
	if (err == -EACCES)
		err_hint(e, "rocecheck writes as the owner of the folder: choose a folder that its "
			    "owner can write to");
	return err;
}

int pcap_writer_open(int fd, const char *name, int dlt, unsigned int snaplen,
		     struct pcap_writer **out, struct err *e)
{
	struct pcap_writer *k = calloc(1, sizeof(*k));
	int err;

	if (!k) {
		close(fd);
		return err_sys(e, -ENOMEM, "%s", name);
	}
	k->pcapng = writer_is_pcapng(name);
	k->path = strdup(name);
	k->buffer = malloc(WRITE_BUFFER_BYTES);
	k->file = k->path && k->buffer ? fdopen(fd, "wb") : NULL;
	if (!k->file) {
		close(fd);
		writer_free(k);
		return err_sys(e, -ENOMEM, "%s", name);
	}
	setvbuf(k->file, k->buffer, _IOFBF, WRITE_BUFFER_BYTES);
	snaplen = snaplen ? snaplen : PCAP_SNAPLEN_MAX;
	err = k->pcapng ? writer_begin_pcapng(k, dlt, snaplen, e)
			: writer_begin_pcap(k, dlt, snaplen, e);
	if (err) {
		(void)pcap_writer_close(k, NULL); /* keep the first error */
		return err;
	}
	*out = k;
	return 0;
}

int pcap_writer_write(struct pcap_writer *k, const uint8_t *data, uint32_t cap_len,
		      uint32_t wire_len, uint64_t time_ns, struct err *e)
{
	return k->pcapng ? writer_append_pcapng(k, data, cap_len, wire_len, time_ns, e)
			 : writer_append_pcap(k, data, cap_len, wire_len, time_ns, e);
}

int pcap_writer_statistics(struct pcap_writer *k, uint64_t time_ns, uint64_t received,
			   uint64_t dropped, struct err *e)
{
	uint32_t h[] = {
		PCAPNG_STATISTICS,
		52,
		0,
		(uint32_t)(time_ns >> 32),
		(uint32_t)time_ns,
		writer_pair16(PCAPNG_ISB_IFRECV, 8),
		0,
		0,
		writer_pair16(PCAPNG_ISB_OSDROP, 8),
		0,
		0,
		0,
		52,
	};

	if (!k->pcapng)
		return writer_append(k, NULL, 0, e);
	memcpy(&h[6], &received, sizeof(received));
	memcpy(&h[9], &dropped, sizeof(dropped));
	return writer_append(k, h, sizeof(h), e);
}

uint64_t pcap_writer_bytes(const struct pcap_writer *k)
{
	return k->bytes;
}

int pcap_writer_close(struct pcap_writer *k, struct err *e)
{
	int err;

	if (!k)
		return 0;
	if (fclose(k->file) && !k->code)
		k->code = -errno;
	err = k->code ? err_sys(e, k->code, "%s", k->path) : 0;
	writer_free(k);
	return err;
}
