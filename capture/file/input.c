/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads frames from files and interfaces with libpcap, and records of plain files without it.
 * Decompresses compressed files and pipes. Files get no BPF filter: "udp port 4791" misses tagged
 * frames in a file, but not live, where the kernel has removed the tag. A live input waits with
 * poll(): a TPACKET_V3 read does not return while no frame matches.
 */
#include "capture/file/input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/file/pcap_format.h"
#include "capture/file/pcapng.h"
#include "capture/file/record_file.h"
#include "capture/file/decompress.h"

#define READ_BUFFER_BYTES (1U << 20)
#define RING_BYTES	  (64 << 20) /* the default of 2 MB loses a tenth at 0.5 Mpps */
#define RING_WAIT_MS	  100	     /* until the kernel delivers a block that is not full */

/*
 * Drops of an interface and its socket. Not from pcap_stats(): it opens files in sysfs, which a
 * confined process cannot do.
 */
struct live_drops {
	int fd[2];	    /* counters of the interface, -1: none */
	uint64_t begun[2];  /* counters at the start */
	uint64_t by_socket; /* sum: reading the socket's counter resets it */
};

struct input {
	pcap_t *pcap;
	char *name;
	char *buffer;		       /* of the FILE that libpcap owns: freed after it */
	int fd;			       /* of a plain file, else -1; owned by libpcap */
	struct decompress *decompress; /* input of libpcap for other files */
	struct record_file *records;   /* of a plain file, until libpcap must continue */
	bool live, ended;
	struct live_drops drops; /* live only */
	uint64_t size;		 /* bytes of the file from the first one read; 0 = unknown */
	uint8_t own_mac[6];	 /* of a live Ethernet interface, else zero */
	uint64_t frames;
	uint32_t step_ns;   /* see input_step_ns() */
	uint32_t link_mbps; /* from the start of a plain file, 0 = unknown */
};

static struct input *input_new(const char *name)
{
	struct input *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = -1;
	s->drops.fd[0] = s->drops.fd[1] = -1;
	s->name = strdup(name);
	if (s->name)
		return s;
	free(s);
	return NULL;
}

void input_close(struct input *s)
{
	if (!s)
		return;
	if (s->pcap)
		pcap_close(s->pcap);
	for (size_t i = 0; i < ARRAY_SIZE(s->drops.fd); i++)
		if (s->drops.fd[i] >= 0)
			close(s->drops.fd[i]);
	record_file_close(s->records);
	decompress_free(s->decompress);
	free(s->buffer);
	free(s->name);
	free(s);
}

static int input_set_no_capture(const struct input *s, const char *why, struct err *e)
{
	if (decompress_error(s->decompress))
		why = decompress_error(s->decompress);
	else if (s->decompress ? !decompress_consumed(s->decompress) : !s->size)
		why = "the file is empty";
	err_set(e, -EINVAL, "%s: not a capture file: %s", s->name, why);
	err_hint(e, "expected pcap or pcapng, plain or compressed by gzip or zstd");
	if (s->decompress)
		decompress_hint(s->decompress, e);
	return -EINVAL;
}

/* Passes f to libpcap. f stays the caller's on failure. */
static int input_open_pcap(struct input *s, FILE *f, struct err *e)
{
	char why[PCAP_ERRBUF_SIZE] = "";

	s->buffer = malloc(READ_BUFFER_BYTES);
	if (!s->buffer)
		return err_sys(e, -ENOMEM, "%s", s->name);
	setvbuf(f, s->buffer, _IOFBF, READ_BUFFER_BYTES);
	s->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, why);
	return s->pcap ? 0 : input_set_no_capture(s, why, e);
}

static int input_check_dlt(const struct input *s, struct err *e)
{
	int dlt = pcap_datalink(s->pcap);
	const char *name = pcap_datalink_val_to_name(dlt);

	if (packet_dlt_is_supported(dlt))
		return 0;
	err_set(e, -ENOTSUP, "%s: unsupported link type %s (%d)", s->name, name ? name : "unknown",
		dlt);
	err_hint(e, "supported: Ethernet, Linux cooked and raw IP");
	return -ENOTSUP;
}

/* Duplicates standard input, because libpcap closes its file. */
int input_file_fd(const char *path, struct err *e)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			  : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, -errno, *path ? "%s" : "'%s'",
			       standard ? "standard input" : path);
	return fd;
}

/* Opens a plain file directly, any other through a decompressing stream. f and fd are the caller's
 * on failure. */
static int input_open_stream(struct input *s, int fd, bool standard, FILE **f, struct err *e)
{
	struct stat st;
	bool regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	off_t from = regular && standard ? lseek(fd, 0, SEEK_CUR) : 0;

	if (regular && from >= 0 && from < st.st_size)
		s->size = (uint64_t)(st.st_size - from);
	/* Standard input may be a partly read file. */
	if (!standard && regular && !decompress_needed(fd)) {
		*f = fdopen(fd, "rb");
		if (!*f)
			return err_sys(e, -ENOMEM, "%s", s->name);
		s->fd = fd;
		return 0;
	}
	s->decompress = decompress_new(fd, f);
	return s->decompress ? 0 : err_sys(e, -ENOMEM, "%s", s->name);
}

int input_open_fd(int fd, const char *name, struct input **out, struct err *e)
{
	bool standard = !strcmp(name, "-");
	struct input *s = input_new(standard ? "standard input" : name);
	FILE *f = NULL;
	int err = s ? input_open_stream(s, fd, standard, &f, e) : err_sys(e, -ENOMEM, "%s", name);

	if (!err)
		err = input_open_pcap(s, f, e);
	if (err)
		goto fail;
	err = input_check_dlt(s, e);
	if (err) {
		input_close(s); /* closes f */
		return err;
	}
	if (s->fd >= 0)
		s->records = record_file_open(s->fd, (uint32_t)pcap_snapshot(s->pcap));
	if (s->fd >= 0)
		pcapng_read_head(s->fd, &s->step_ns, &s->link_mbps);
	if (s->records && !s->step_ns) /* after many options */
		s->step_ns = record_file_step_ns(s->records);
	*out = s;
	return 0;
fail:
	if (f)
		fclose(f);
	else
		close(fd);
	input_close(s);
	return err;
}

int input_open_file(const char *path, struct input **out, struct err *e)
{
	int fd = input_file_fd(path, e);

	return fd < 0 ? fd : input_open_fd(fd, path, out, e);
}

static int input_set_live_error(const struct input *s, int status, struct err *e)
{
	static const struct {
		int status, code;
		const char *hint;
	} rows[] = {
		{PCAP_ERROR_PERM_DENIED, -EPERM,
		 "capturing needs CAP_NET_RAW: run as root, or grant it with 'setcap "
		 "cap_net_raw+ep $(command -v rocecheck)'"},
		{PCAP_ERROR_PROMISC_PERM_DENIED, -EPERM,
		 "capturing needs CAP_NET_RAW: run as root, or grant it with 'setcap "
		 "cap_net_raw+ep $(command -v rocecheck)'"},
		{PCAP_ERROR_NO_SUCH_DEVICE, -ENODEV, "run 'ip link' to list the interfaces"},
		{PCAP_ERROR_IFACE_NOT_UP, -ENETDOWN, "bring it up: ip link set up dev "},
	};
	const char *why = pcap_geterr(s->pcap);
	unsigned int i;

	err_set(e, -EIO, "%s: capture: %s", s->name, *why ? why : pcap_statustostr(status));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].status != status)
			continue;
		err_set(e, rows[i].code, "%s: capture: %s", s->name, pcap_statustostr(status));
		err_hint(e, "%s%s", rows[i].hint, rows[i].code == -ENETDOWN ? s->name : "");
		return rows[i].code;
	}
	return -EIO;
}

static int input_set_filter(struct input *s, const char *filter, struct err *e)
{
	struct bpf_program program;
	int status;

	if (pcap_compile(s->pcap, &program, filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
		return err_set(e, -EINVAL, "%s: filter '%s': %s", s->name, filter,
			       pcap_geterr(s->pcap));
	status = pcap_setfilter(s->pcap, &program);
	pcap_freecode(&program);
	return status < 0 ? input_set_live_error(s, status, e) : 0;
}

static int input_activate(struct input *s, unsigned int snaplen, struct err *e)
{
	int status;

	pcap_set_snaplen(s->pcap, snaplen ? (int)snaplen : (int)PCAP_SNAPLEN_MAX);
	pcap_set_promisc(s->pcap, 1);
	pcap_set_buffer_size(s->pcap, RING_BYTES);
	pcap_set_timeout(s->pcap, RING_WAIT_MS);
	pcap_set_tstamp_precision(s->pcap, PCAP_TSTAMP_PRECISION_NANO);
	status = pcap_activate(s->pcap);
	return status < 0 ? input_set_live_error(s, status, e) : 0;
}

/* Stays zero without a MAC address: then no frame is ours. */
static void input_read_own_mac(struct input *s)
{
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", s->name);
	if (!ioctl(fd, SIOCGIFHWADDR, &ifr) && ifr.ifr_hwaddr.sa_family == ARPHRD_ETHER)
		memcpy(s->own_mac, ifr.ifr_hwaddr.sa_data, sizeof(s->own_mac));
	close(fd);
}

/* A counter of sysfs; 0 when it cannot be read. */
static uint64_t input_read_counter(int fd)
{
	char text[24] = "";
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	return n > 0 ? strtoull(text, NULL, 10) : 0;
}

/* Opens the counters of frames that never reached a socket (linux sysfs-class-net-statistics). */
static void input_begin_drops(struct input *s)
{
	static const char *const names[] = {"rx_missed_errors", "rx_fifo_errors"};
	char path[96];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "/sys/class/net/%.16s/statistics/%s", s->name,
			 names[i]);
		s->drops.fd[i] = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		s->drops.begun[i] = input_read_counter(s->drops.fd[i]);
	}
}

static enum capture_drops input_live_drops(struct input *s, uint64_t *dropped)
{
	struct live_drops *d = &s->drops;
	struct tpacket_stats_v3 stats = {0}; /* all versions have the first members */
	socklen_t size = sizeof(stats);

	if (getsockopt(pcap_fileno(s->pcap), SOL_PACKET, PACKET_STATISTICS, &stats, &size) < 0)
		return DROPS_UNKNOWN;
	d->by_socket += stats.tp_drops;
	*dropped = d->by_socket;
	for (size_t i = 0; i < ARRAY_SIZE(d->fd); i++) {
		uint64_t now = input_read_counter(d->fd[i]);

		*dropped += saturating_sub(now, d->begun[i]);
	}
	return *dropped ? DROPS_SOME : DROPS_ZERO;
}

int input_open_live(const char *ifname, const char *filter, unsigned int snaplen,
		    struct input **out, struct err *e)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	struct input *s = input_new(ifname);
	int err;

	if (!s)
		return err_sys(e, -ENOMEM, "%s", ifname);
	s->live = true;
	if (snaplen > PCAP_SNAPLEN_MAX)
		snaplen = PCAP_SNAPLEN_MAX;
	s->pcap = pcap_create(ifname, why);
	err = s->pcap ? input_activate(s, snaplen, e)
		      : err_set(e, -ENODEV, "%s: capture: %s", ifname, why);
	if (!err)
		err = input_check_dlt(s, e);
	if (!err && filter)
		err = input_set_filter(s, filter, e);
	if (!err && pcap_setnonblock(s->pcap, 1, why) < 0)
		err = err_set(e, -EIO, "%s: capture: %s", ifname, why);
	if (err) {
		input_close(s);
		return err;
	}
	input_read_own_mac(s);
	input_begin_drops(s);
	s->step_ns = 1;
	*out = s;
	return 0;
}

int input_dlt(const struct input *s)
{
	return pcap_datalink(s->pcap);
}

/* Drops our own LLDP frames, which would count as a neighbour's. The BPF word "inbound" cannot:
 * libpcap filters the first ring block itself, does not know the direction, and drops the frame. */
static bool input_is_own_lldp(const struct input *s, const struct pcap_pkthdr *h,
			      const uint8_t *data)
{
	return h->caplen >= ETH_HLEN && data[12] == 0x88 && data[13] == 0xcc &&
	       !memcmp(data + ETH_ALEN, s->own_mac, ETH_ALEN);
}

/* libpcap scales times to nanoseconds without their original unit. A later part of a file may have
 * a finer clock. */
static void input_note_step(struct input *s, uint64_t time_ns)
{
	if (time_ns % 1000)
		s->step_ns = 1;
	else if (!s->step_ns)
		s->step_ns = 1000;
}

/* As libpcap: 1 a frame, 0 nothing, PCAP_ERROR_BREAK the end of the file. */
static int input_next_live(struct input *s, int timeout_ms, struct pcap_pkthdr **h,
			   const uint8_t **data)
{
	int64_t until = (int64_t)monotonic_ms() + timeout_ms;

	for (;;) {
		struct pollfd p = {.fd = pcap_get_selectable_fd(s->pcap), .events = POLLIN};
		int64_t left;
		int got = pcap_next_ex(s->pcap, h, data);

		bool own = got == 1 && input_is_own_lldp(s, *h, *data);

		if (got && !own)
			return got;
		/* A neighbour with our MAC address may send continuously. */
		left = until - (int64_t)monotonic_ms();
		if (left <= 0)
			return 0;
		if (own)
			continue;
		if (poll(&p, 1, (int)left) < 0 && errno == EINTR)
			return 0; /* a signal: the caller checks its flag */
	}
}

/* Skips in libpcap the frames that were read without it; false when that fails. */
static bool input_skip_records(struct input *s)
{
	struct pcap_pkthdr *h;
	const uint8_t *bytes;

	record_file_close(s->records);
	s->records = NULL;
	for (uint64_t i = 0; i < s->frames; i++)
		if (pcap_next_ex(s->pcap, &h, &bytes) != 1)
			return false;
	return true;
}

/* Returns the number of frames, 0 at the end, -EAGAIN when libpcap must continue. */
static int input_next_records(struct input *s, struct record *out, unsigned int max, struct err *e)
{
	unsigned int count;
	enum record_status got = record_file_batch(s->records, out, max, &count);

	s->frames += count;
	s->ended = got == RECORD_END || (got == RECORD_FALLBACK && !input_skip_records(s));
	if (got == RECORD_FALLBACK)
		return s->ended ? err_set(e, -EPROTO, "%s: file changed while it was read", s->name)
				: -EAGAIN;
	return (int)count;
}

int input_read(struct input *s, int timeout_ms, struct record *out, unsigned int max, struct err *e)
{
	struct pcap_pkthdr *h;
	const char *why;
	int got;

	if (s->ended)
		return 0;
	if (s->records) {
		got = input_next_records(s, out, max, e);
		if (got != -EAGAIN)
			return got;
	}
	got = s->live ? input_next_live(s, timeout_ms, &h, &out->data)
		      : pcap_next_ex(s->pcap, &h, &out->data);
	if (got == 1) {
		s->frames++;
		out->cap_len = h->caplen;
		out->wire_len = h->len;
		/* Nanoseconds as requested; a broken file may have any number. */
		out->time_ns = ((uint64_t)h->ts.tv_sec * 1000000000 + (uint64_t)h->ts.tv_usec) &
			       INT64_MAX;
		input_note_step(s, out->time_ns);
		return 1;
	}
	if (got == 0)
		return 0;
	s->ended = true;
	if (got == PCAP_ERROR_BREAK)
		return 0;
	if (s->live)
		return input_set_live_error(s, got, e);
	why = decompress_error(s->decompress) ? decompress_error(s->decompress)
					      : pcap_geterr(s->pcap);
	err_set(e, -EPROTO, "%s: cannot read beyond frame %llu: %s", s->name,
		(unsigned long long)s->frames, why);
	/* libpcap's words */
	if (strstr(why, "different from the type of the first interface"))
		err_hint(e, "the file mixes link types: record each interface to its own file, or "
			    "record interface 'any'");
	return -EPROTO;
}

int input_next(struct input *s, int timeout_ms, const uint8_t **data, uint32_t *cap_len,
	       uint32_t *wire_len, uint64_t *time_ns, struct err *e)
{
	struct record one;
	int got = input_read(s, timeout_ms, &one, 1, e);

	if (got <= 0)
		return got;
	*data = one.data;
	*cap_len = one.cap_len;
	*wire_len = one.wire_len;
	*time_ns = one.time_ns;
	return 1;
}

bool input_progress(const struct input *s, uint64_t *done, uint64_t *size)
{
	off_t at = 0;

	if (!s->size)
		return false;
	if (s->records)
		*done = record_file_offset(s->records);
	else if (s->decompress)
		*done = decompress_consumed(s->decompress);
	else if ((at = ftello(pcap_file(s->pcap))) >= 0)
		*done = (uint64_t)at;
	*size = s->size;
	return at >= 0;
}

uint32_t input_step_ns(const struct input *s)
{
	uint32_t zip_step_ns = s->decompress ? decompress_tap(s->decompress)->step_ns : 0;

	return zip_step_ns ? zip_step_ns : s->step_ns;
}

uint32_t input_link_mbps(const struct input *s)
{
	return s->decompress ? decompress_tap(s->decompress)->link_mbps : s->link_mbps;
}

enum capture_drops input_drops(struct input *s, uint64_t *dropped)
{
	*dropped = 0;
	if (s->live)
		return input_live_drops(s, dropped);
	/* No statistics up to the end: no second pass needed. */
	if (s->records && s->ended && !record_file_statistics(s->records))
		return DROPS_UNKNOWN;
	return s->fd >= 0 ? pcapng_drops(s->fd, dropped)
			  : pcapng_tap_drops(decompress_tap(s->decompress), dropped);
}
