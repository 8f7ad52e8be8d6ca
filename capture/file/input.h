/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inputs of frames: a pcap or pcapng file, standard input, or an interface. A live input is non-
 * blocking with poll(), because a filtered libpcap read does not return while no frame matches.
 */
#ifndef CAPTURE_INPUT_H
#define CAPTURE_INPUT_H

#include "capture/file/record_file.h"
#include "capture/flow/summary.h"

struct folder;
struct input; /* opaque */

/* Returns a live filter by name: "roce" (RoCE, CNP, PFC, LLDP; tagged or not), "lldp", "pfc",
 * "nak", "cnp", "mirror" (GRE, ERSPAN and VXLAN with any content). */
const char *input_filter(const char *name);

/* Opens a capture file for input_open_fd(); path "-" duplicates standard input. -errno. Reads
 * nothing: a process confines itself between both calls. */
int input_file_fd(const char *path, struct err *e);

/* Reads the header of an open file; owns fd from the call on. name (copied): of the file, "-" =
 * standard input, which may be partly read. Decompresses gzip and zstd. -EINVAL: not a capture
 * file; -ENOTSUP: link type (named in e). */
int input_open_fd(int fd, const char *name, struct input **s, struct err *e);

/* Both. */
int input_open_file(const char *path, struct input **s, struct err *e);

/* Opens an interface. snaplen 0 = whole frames. filter: libpcap expression or NULL. 64 MB ring.
 * Needs CAP_NET_RAW: -EPERM with a hint. Omits LLDP frames that the interface sends. */
int input_open_live(const char *ifname, const char *filter, unsigned int snaplen, struct input **s,
		    struct err *e);
void input_close(struct input *s);

int input_dlt(const struct input *s); /* DLT number */

/* Reads frames, valid until the next call: one, or up to `max` of a plain file. Returns their
 * number; 0 at the end of the file or after timeout_ms (live); -errno. A broken file gives -EPROTO
 * once, with the number of its last good frame in e. */
int input_read(struct input *s, int timeout_ms, struct record *out, unsigned int max,
	       struct err *e);

/* The same, one frame. */
int input_next(struct input *s, int timeout_ms, const uint8_t **data, uint32_t *cap_len,
	       uint32_t *wire_len, uint64_t *time_ns, struct err *e);

/* Returns the progress in bytes of the file, compressed or not. False without a size: pipe,
 * interface. */
bool input_progress(const struct input *s, uint64_t *done, uint64_t *size);

/* Returns the clock step: 1 ns, or 1000 ns for coarser clocks too. From the file (its finest
 * interface), else from the frames so far; 0 before the first. */
uint32_t input_step_ns(const struct input *s);

/* Returns the link speed in the file, of its slowest interface; 0 = unknown. */
uint32_t input_link_mbps(const struct input *s);

/* Live: drops of kernel and interface. File: DROPS_UNKNOWN for pcap; for pcapng from its interface
 * statistics blocks, if any (stream: those read so far). */
enum capture_drops input_drops(struct input *s, uint64_t *dropped);

/* Creates a recording in an open folder, mode 0600: -EEXIST for an existing name. Returns a
 * descriptor or -errno. */
int pcap_writer_create(const struct folder *folder, const char *name, struct err *e);

/* Writes frames with nanoseconds to fd; owns fd from the call on. A name ending in .pcapng makes a
 * pcapng, any other a pcap. */
struct pcap_writer; /* opaque */
int pcap_writer_open(int fd, const char *name, int dlt, unsigned int snaplen,
		     struct pcap_writer **k, struct err *e);
int pcap_writer_write(struct pcap_writer *k, const uint8_t *data, uint32_t cap_len,
		      uint32_t wire_len, uint64_t time_ns, struct err *e);
/* Writes the capture's own counters; nothing for pcap, which has no place for them. */
int pcap_writer_statistics(struct pcap_writer *k, uint64_t time_ns, uint64_t received,
			   uint64_t dropped, struct err *e);
uint64_t pcap_writer_bytes(const struct pcap_writer *k); /* of the file so far */
/* Flushes; an error means lost bytes (full disk). Frees k in any case. */
int pcap_writer_close(struct pcap_writer *k, struct err *e);

/* Truncates a RoCE data frame after its transport headers and zeroes R_Keys in place; other frames
 * keep their IP header. Returns the new cap_len. */
uint32_t trim_frame(const struct packet *p, uint8_t *frame, uint32_t cap_len);

#endif
