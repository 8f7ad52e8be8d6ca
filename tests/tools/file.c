/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generated captures as files, and their truth as JSON. pcap with the magic number of nanoseconds;
 * pcapng with one section, one interface (if_tsresol 9), enhanced packet blocks, and where they are
 * asked for statistics of the interface at the end: what the capture dropped.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <string.h>

#include "tests/tools/capgen.h"

#define LINKTYPE_ETHERNET 1
#define FILE_BUFFER	  (1 << 20)

static const char *const fault_names[] = {
	[CAPGEN_LOST] = "lost",
	[CAPGEN_LOST_AFTER] = "lost_after",
	[CAPGEN_SELECTIVE] = "selective",
	[CAPGEN_REORDERED] = "reordered",
	[CAPGEN_RNR] = "rnr",
	[CAPGEN_TIMEOUT] = "timeout",
	[CAPGEN_ACK_LOST] = "ack_lost",
	[CAPGEN_FATAL] = "fatal",
	[CAPGEN_BAD_ICRC] = "bad_icrc",
	[CAPGEN_MISSED] = "missed",
	[CAPGEN_READ_RETRY] = "read_retry",
	[CAPGEN_COPIED] = "copied",
	[CAPGEN_ACK_MISSED] = "ack_missed",
	[CAPGEN_NAK_MISSED] = "nak_missed",
	[CAPGEN_UC_LOST] = "uc_lost",
	[CAPGEN_UC_BROKEN] = "uc_broken",
};

static const char *const mix_names[CAPGEN_MIXES] = {"rc",  "uc",   "ud", "xrc",
						    "ops", "nets", "cm", "pauses"};

const char *capgen_fault_name(enum capgen_fault fault)
{
	return fault < CAPGEN_FAULTS ? fault_names[fault] : "none";
}

const char *capgen_mix_name(unsigned int i)
{
	return i < CAPGEN_MIXES ? mix_names[i] : "none";
}

static int put_pcap(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		    uint64_t time_ns)
{
	const uint32_t head[4] = {(uint32_t)(time_ns / 1000000000),
				  (uint32_t)(time_ns % 1000000000), cap_len, wire_len};

	fwrite(head, sizeof(head), 1, arg);
	return fwrite(data, cap_len, 1, arg) == 1 ? 0 : -EIO;
}

static int put_pcapng(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		      uint64_t time_ns)
{
	static const uint8_t zero[4];
	uint32_t pad = -cap_len & 3U, total = 32 + cap_len + pad;
	const uint32_t head[7] = {6,	   total,   0, (uint32_t)(time_ns >> 32), (uint32_t)time_ns,
				  cap_len, wire_len};

	fwrite(head, sizeof(head), 1, arg);
	fwrite(data, cap_len, 1, arg);
	fwrite(zero, 1, pad, arg);
	return fwrite(&total, sizeof(total), 1, arg) == 1 ? 0 : -EIO;
}

static void begin_pcap(FILE *f, uint32_t snap)
{
	const uint32_t head[6] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, snap, LINKTYPE_ETHERNET};

	fwrite(head, sizeof(head), 1, f);
}

static void begin_pcapng(FILE *f, uint32_t snap)
{
	static const uint32_t section[7] = {0x0a0d0d0a, 28,	    0x1a2b3c4d, 1,
					    0xffffffff, 0xffffffff, 28};
	const uint32_t interface[8] = {1, 32, LINKTYPE_ETHERNET, snap, 1U << 16 | 9, 9, 0, 32};

	fwrite(section, sizeof(section), 1, f);
	fwrite(interface, sizeof(interface), 1, f);
}

/* isb_ifrecv, isb_ifdrop and isb_osdrop: of an odd number the kernel dropped one more. */
static void end_pcapng(FILE *f, const struct capgen_truth *t)
{
	const uint32_t head[5] = {5, 64, 0, 0, 0}, tail[2] = {0, 64};
	const uint64_t counts[3] = {t->frames + t->dropped, t->dropped / 2,
				    t->dropped - t->dropped / 2};
	static const uint32_t options[3] = {8U << 16 | 4, 8U << 16 | 5, 8U << 16 | 7};

	fwrite(head, sizeof(head), 1, f);
	for (unsigned int i = 0; i < 3; i++) {
		fwrite(&options[i], sizeof(options[i]), 1, f);
		fwrite(&counts[i], sizeof(counts[i]), 1, f);
	}
	fwrite(tail, sizeof(tail), 1, f);
}

/* The numbers above are the machine's own byte order: readers know it from the magic number. Two
 * 16-bit fields in one word are written for a little endian one. */
int capgen_write(const struct capgen_options *o, const char *path, bool pcapng,
		 struct capgen_truth *truth)
{
	uint32_t snap = o->snap ? o->snap : 262144;
	FILE *f = fopen(path, "wbe");
	int err, closed;

	memset(truth, 0, sizeof(*truth));
	if (!f)
		return -errno;
	setvbuf(f, NULL, _IOFBF, FILE_BUFFER);
	if (pcapng)
		begin_pcapng(f, snap);
	else
		begin_pcap(f, snap);
	err = capgen_run(o, pcapng ? put_pcapng : put_pcap, f, truth);
	if (!err && pcapng && o->statistics)
		end_pcapng(f, truth);
	if (!err && ferror(f))
		err = -EIO;
	closed = fclose(f);
	return err || !closed ? err : -EIO;
}

#define COUNT(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct capgen_flow, name)                                          \
	}

static const struct {
	const char *key;
	size_t offset;
} counters[] = {
	COUNT(packets),
	COUNT(requests),
	COUNT(responses),
	COUNT(acks),
	COUNT(payload_bytes),
	COUNT(naks_seq),
	COUNT(naks_other),
	COUNT(rnr),
	COUNT(cnp),
	COUNT(ce),
	COUNT(icrc_good),
	COUNT(icrc_bad),
	COUNT(icrc_unverifiable),
	COUNT(lost_psns),
	COUNT(tail_psns),
	COUNT(lost_after_psns),
	COUNT(broken_psns),
	COUNT(silent_psns),
	COUNT(missed_psns),
	COUNT(resent),
	COUNT(wasted),
	COUNT(copies),
	COUNT(request_copies),
	COUNT(new_connections),
	COUNT(gaps),
	COUNT(missing),
	COUNT(again),
	COUNT(nak_ns),
	COUNT(resend_ns),
	COUNT(held),
	COUNT(held_ns),
	COUNT(held_unknown),
	COUNT(cnp_close),
	COUNT(cnp_span_ns),
	COUNT(cnp_min_ns),
};

static json_t *address(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool ipv4 = !memcmp(gid, mapped, sizeof(mapped));
	char text[INET6_ADDRSTRLEN];

	inet_ntop(ipv4 ? AF_INET : AF_INET6, gid + (ipv4 ? 12 : 0), text, sizeof(text));
	return json_string(text);
}

static json_t *flow_object(const struct capgen_flow *f)
{
	json_t *o = json_object(), *faults = json_object();
	uint64_t value;

	json_object_set_new(o, "src", address(f->src));
	json_object_set_new(o, "dst", address(f->dst));
	json_object_set_new(o, "dest_qpn", json_integer(f->qpn));
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		memcpy(&value, (const char *)f + counters[i].offset, sizeof(value));
		json_object_set_new(o, counters[i].key, json_integer((json_int_t)value));
	}
	for (unsigned int i = 0; i < CAPGEN_FAULTS; i++)
		json_object_set_new(faults, fault_names[i], json_integer((json_int_t)f->fault[i]));
	return json_object_set_new(o, "faults", faults) ? NULL : o;
}

static json_t *event_object(const struct capgen_truth *t, const struct capgen_event *e)
{
	return json_pack("{s:s, s:i, s:i, s:i, s:I}", "fault", capgen_fault_name(e->fault),
			 "dest_qpn", (int)t->flow[e->flow].qpn, "psn", (int)e->psn, "count",
			 (int)e->count, "frame", (json_int_t)e->frame);
}

static json_t *pauses_object(const struct capgen_pauses *p)
{
	json_t *prios = json_array();

	for (unsigned int i = 0; i < 8; i++)
		json_array_append_new(prios, json_pack("{s:I, s:I, s:I, s:I, s:I}", "longest_ns",
						       (json_int_t)p->longest[i], "frames",
						       (json_int_t)p->named[i], "pauses",
						       (json_int_t)p->begun[i], "ran_out",
						       (json_int_t)p->ran_out[i], "ns",
						       (json_int_t)p->ns[i]));
	return json_pack("{s:I, s:I, s:o}", "pfc_frames", (json_int_t)p->pfc_frames, "pause_frames",
			 (json_int_t)p->pause_frames, "priorities", prios);
}

static json_t *mirrors_object(const struct capgen_mirrors *m)
{
	return json_pack("{s:I, s:I, s:I}", "packets", (json_int_t)m->packets, "gaps",
			 (json_int_t)m->gaps, "missing", (json_int_t)m->missing);
}

int capgen_truth_print(const struct capgen_truth *truth, FILE *out)
{
	json_t *doc = json_object(), *flows = json_array(), *events = json_array();
	int err = 0;

	for (uint32_t i = 0; i < truth->flow_count; i++)
		err |= json_array_append_new(flows, flow_object(&truth->flow[i]));
	for (uint32_t i = 0; i < truth->event_count; i++)
		err |= json_array_append_new(events, event_object(truth, &truth->event[i]));
	err |= json_object_set_new(doc, "frames", json_integer((json_int_t)truth->frames));
	err |= json_object_set_new(doc, "dropped", json_integer((json_int_t)truth->dropped));
	err |= json_object_set_new(doc, "pauses", pauses_object(&truth->pauses));
	err |= json_object_set_new(doc, "mirrors", mirrors_object(&truth->mirrors));
	err |= json_object_set_new(doc, "flows", flows);
	err |= json_object_set_new(doc, "events", events);
	if (!err && (json_dumpf(doc, out, JSON_INDENT(1)) || fputc('\n', out) == EOF))
		err = -EIO;
	json_decref(doc);
	return err == -1 ? -ENOMEM : err;
}
