/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where frames come from: a pcap or pcapng file, standard input, or an interface. The live source
 * is non-blocking with poll, because a filtered libpcap read never returns while nothing matches.
 */
#ifndef CAPTURE_INPUT_H
#define CAPTURE_INPUT_H

#include "capture/file/record_file.h"
#include "capture/flow/summary.h"

struct folder;
struct input; /* opaque */

/* The live filters by name: "roce" (RoCE, CNP, PFC, LLDP; tagged or not), "lldp", "pfc", "nak",
 * "cnp", "mirror" (GRE, ERSPAN and VXLAN, whatever is in them). */
const char *input_filter(const char *name);

/* The descriptor of a capture file, for input_open_fd(); path "-" is standard input, duplicated.
 * -errno. Nothing is read: a process that confines itself does so between the two. */
int input_file_fd(const char *path, struct err *e);

/* Reads the header of what is open, and owns fd from the call on. name, copied, is of the file: "-"
 * is standard input, which may have been read in part. gzip and zstd are unpacked. -EINVAL: not a
 * capture file; -ENOTSUP: link type (named in e). */
int input_open_fd(int fd, const char *name, struct input **s, struct err *e);

/* Both. */
int input_open_file(const char *path, struct input **s, struct err *e);

/* snaplen 0 = whole frames. filter is an expression of libpcap or NULL. 64 MB ring. Needs
 * CAP_NET_RAW: -EPERM with the next step in e. LLDP frames that the interface itself sends are left
 * out. */
int input_open_live(const char *ifname, const char *filter, unsigned int snaplen, struct input **s,
		    struct err *e);
void input_close(struct input *s);

int input_dlt(const struct input *s); /* DLT number */

/* Frames, valid until the next call: one, or of an ordinary file what can be had at once, `max` at
 * most. Returns how many; 0 at the end of the file or when nothing came within timeout_ms (live);
 * -errno; a file that breaks off gives -EPROTO once, with the frame number after which it broke in
 * e. */
int input_read(struct input *s, int timeout_ms, struct record *out, unsigned int max,
	       struct err *e);

/* The same, one frame. */
int input_next(struct input *s, int timeout_ms, const uint8_t **data, uint32_t *cap_len,
	       uint32_t *wire_len, uint64_t *time_ns, struct err *e);

/* How far a file is read, in bytes of the file, compressed or not. False of what has no size: a
 * pipe, an interface. */
bool input_progress(const struct input *s, uint64_t *done, uint64_t *size);

/* In what steps its times count: 1 or 1000 ns, the latter for coarser clocks, too. As the
 * file says, the finest of its interfaces; else as the frames so far show, and 0 before the first.
 */
uint32_t input_step_ns(const struct input *s);

/* How fast the file says that its link is, the slowest of its interfaces; 0 = it does not say. */
uint32_t input_link_mbps(const struct input *s);

/* Live: kernel and interface drops; file: DROPS_UNKNOWN for pcap, from the interface statistics
 * blocks for pcapng when there are any (of a stream: among what was read so far). */
enum capture_drops input_drops(struct input *s, uint64_t *dropped);

/* The file of a recording below an open folder, mode 0600: -EEXIST when there is anything of that
 * name. A descriptor or -errno. */
int pcap_writer_create(const struct folder *folder, const char *name, struct err *e);

/* Writing what was read, with nanoseconds, to fd, which it owns from the call on. A name that ends
 * in .pcapng makes a pcapng, any other a pcap. */
struct pcap_writer; /* opaque */
int pcap_writer_open(int fd, const char *name, int dlt, unsigned int snaplen,
		     struct pcap_writer **k, struct err *e);
int pcap_writer_write(struct pcap_writer *k, const uint8_t *data, uint32_t cap_len,
		      uint32_t wire_len, uint64_t time_ns, struct err *e);
/* What the capture counted itself: pcap has no place for it, and nothing is written. */
int pcap_writer_statistics(struct pcap_writer *k, uint64_t time_ns, uint64_t received,
			   uint64_t dropped, struct err *e);
uint64_t pcap_writer_bytes(const struct pcap_writer *k); /* of the file so far */
/* Flushes and says whether all bytes arrived (a full disk). Frees k in any case. */
int pcap_writer_close(struct pcap_writer *k, struct err *e);

/* Cuts a RoCE data frame at its transport headers, and masks R_Keys in place; of a frame of another
 * kind the IP header stays. How a recording keeps headers but no user data. Returns the new
 * cap_len.
 */
uint32_t trim_frame(const struct packet *p, uint8_t *frame, uint32_t cap_len);

#endif
