/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MAC control frames: PFC (802.1Q clause 36, 802.3 annex 31D) and the pause of a whole link (802.3
 * annex 31B). A quantum is 512 bit times at the rate of the port.
 *
 *  | 01:80:c2:00:00:01 | source | 88 08 | 01 01 | enable vector 16 | quanta 16 x 8 | pad to 60 |
 *  | 01:80:c2:00:00:01 | source | 88 08 | 00 01 | quanta 16 | pad to 60 |
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <string.h>

#include "capture/decode/bytes.h"

#define QUANTUM_BYTES 64 /* 512 bits */
#define TYPE	      0x8808
#define OPCODE_PAUSE  0x0001
#define OPCODE_PFC    0x0101

uint64_t pfc_quanta_ns(uint16_t quanta, uint64_t rate_bytes)
{
	return quanta * QUANTUM_BYTES * NS_PER_S / rate_bytes;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void make_head(const uint8_t mac[6], uint16_t opcode, uint8_t *buf)
{
	static const uint8_t to[] = {0x01, 0x80, 0xc2, 0, 0, 0x01};

	memset(buf, 0, PFC_FRAME_LEN);
	memcpy(buf, to, sizeof(to));
	memcpy(buf + 6, mac, 6);
	put16(buf + 12, TYPE);
	put16(buf + 14, opcode);
}

static bool is_control(const uint8_t *data, uint32_t len, uint32_t least, uint16_t opcode)
{
	return len >= least && be16_at(data + 12) == TYPE && be16_at(data + 14) == opcode;
}

uint32_t pfc_frame_make(const uint8_t mac[6], uint8_t enable, const uint16_t quanta[QOS_PRIOS],
			uint8_t *buf)
{
	make_head(mac, OPCODE_PFC, buf);
	buf[17] = enable;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		put16(buf + 18 + 2 * prio, quanta[prio]);
	return PFC_FRAME_LEN;
}

int pfc_frame_read(const uint8_t *data, uint32_t len, uint16_t quanta[QOS_PRIOS])
{
	if (!is_control(data, len, 34, OPCODE_PFC))
		return -EINVAL;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		quanta[prio] = be16_at(data + 18 + 2 * prio);
	return data[17];
}

uint32_t pause_frame_make(const uint8_t mac[6], uint16_t quanta, uint8_t *buf)
{
	make_head(mac, OPCODE_PAUSE, buf);
	put16(buf + 16, quanta);
	return PFC_FRAME_LEN;
}

int pause_frame_read(const uint8_t *data, uint32_t len)
{
	return is_control(data, len, 18, OPCODE_PAUSE) ? be16_at(data + 16) : -EINVAL;
}
