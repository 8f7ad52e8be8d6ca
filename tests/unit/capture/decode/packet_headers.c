/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What packet_headers.h declares.
 */
#include "tests/unit/capture/decode/packet_headers.h"

void check_headers(const struct packet *p, const char *letters)
{
	static const struct {
		char letter;
		uint16_t bit;
	} bits[] = {
		{'D', HDR_DETH}, {'X', HDR_XRCETH},    {'F', HDR_FETH},		{'R', HDR_RETH},
		{'A', HDR_AETH}, {'T', HDR_ATOMICETH}, {'k', HDR_ATOMICACKETH}, {'I', HDR_IMMDT},
		{'V', HDR_IETH}, {'C', HDR_CNP},
	};
	uint16_t want = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bits); i++)
		if (strchr(letters, bits[i].letter))
			want |= bits[i].bit;
	assert_int_equal(p->headers, want);
	if (want & HDR_DETH) {
		assert_int_equal(p->deth.qkey, 0x80010000);
		assert_int_equal(p->deth.src_qpn, 0x789);
	}
	if (want & HDR_RETH) {
		assert_true(p->reth.va == 0x1122334455667788);
		assert_int_equal(p->reth.rkey, 0xcafe0001);
		assert_int_equal(p->reth.dma_len, 0x1000);
	}
	if (want & HDR_ATOMICETH) {
		assert_true(p->atomiceth.va == 0x1122334455667788);
		assert_int_equal(p->atomiceth.rkey, 0xcafe0002);
		assert_true(p->atomiceth.swap_add == 0xaaaa0000aaaa);
		assert_true(p->atomiceth.compare == 0xbbbb0000bbbb);
	}
	if (want & HDR_AETH) {
		assert_int_equal(p->aeth.syndrome, 0x1f);
		assert_int_equal(p->aeth.msn, 0xabcd);
	}
	assert_true(!(want & HDR_ATOMICACKETH) || p->atomic_ack == 0x0102030405060708);
	assert_true(!(want & HDR_IMMDT) || p->immdt == 0xdeadbeef);
	assert_true(!(want & HDR_IETH) || p->ieth_rkey == 0xcafe0003);
	assert_true(!(want & HDR_XRCETH) || p->xrc_srq == 0x321);
	assert_true(!(want & HDR_FETH) || p->feth == 0x21);
}
