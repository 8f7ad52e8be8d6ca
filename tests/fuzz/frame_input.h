/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inputs that are the frames of a capture: a byte that chooses the link type, with a bit that has
 * wrong ICRCs repaired, because no fuzzer finds right ones and what is wrong is not followed; then
 * for each frame
 *
 *   | time step 8 | bytes not captured 8 | for the target 8 | captured 16 | frame |
 */
#ifndef TESTS_FUZZ_FRAME_INPUT_H
#define TESTS_FUZZ_FRAME_INPUT_H

#include <endian.h>
#include <pcap/dlt.h>

#include "capture/decode/bth.h"
#include "tests/fuzz/fuzz.h"

struct frame_input {
	const uint8_t *rest;
	size_t size;
	int dlt;
	bool repairing;
	uint64_t frames, time_ns;
	/* The frame, of exactly its size and freed by the next step, and what the target may use.
	 */
	uint8_t *data;
	uint8_t spare;
};

static inline void frame_input_begin(struct frame_input *in, const uint8_t *data, size_t size)
{
	static const int links[] = {
		DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2, DLT_RAW, 101, DLT_IPV4, DLT_IPV6,
	};

	memset(in, 0, sizeof(*in));
	in->time_ns = UINT64_C(1700000000000000000);
	if (!size)
		return;
	in->dlt = links[(data[0] & 0x7f) % ARRAY_SIZE(links)];
	in->repairing = data[0] & 0x80;
	in->rest = data + 1;
	in->size = size - 1;
}

static inline void frame_input_repair(const struct packet *p, uint8_t *frame)
{
	uint32_t end = p->data_offset + p->payload_len + p->pad, icrc;

	if (!p->data_offset || end + ICRC_LEN > p->cap_end)
		return;
	icrc = htole32(icrc_compute((enum packet_encap)p->encap, frame + p->l3_offset,
				    p->bth_offset - p->l3_offset, end - p->l3_offset));
	memcpy(frame + end, &icrc, sizeof(icrc));
}

/* The next frame, decoded. False at the end. */
static inline bool frame_input_next(struct frame_input *in, struct packet *p)
{
	const uint8_t *head, *body;
	uint64_t step;
	uint32_t missing;
	size_t len;

	free(in->data);
	in->data = NULL;
	if (!fuzz_record(&in->rest, &in->size, 5, &head, &body, &len))
		return false;
	step = head[0] & 0x3f ? UINT64_C(1) << (head[0] & 0x3f) : 0;
	in->time_ns = (head[0] & 0x80 ? in->time_ns - step : in->time_ns + step) & INT64_MAX;
	missing = head[1] == 0xff ? UINT32_MAX - (uint32_t)len : head[1];
	in->spare = head[2];
	in->data = fuzz_exact(body, len);
	packet_decode(in->dlt, in->data, (uint32_t)len, (uint32_t)len + missing, ++in->frames,
		      in->time_ns, p);
	if (in->repairing && p->icrc == ICRC_BAD) {
		frame_input_repair(p, in->data);
		packet_decode(in->dlt, in->data, (uint32_t)len, (uint32_t)len + missing, in->frames,
			      in->time_ns, p);
	}
	return true;
}

#endif
