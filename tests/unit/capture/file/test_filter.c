/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters that sources give the kernel, on frames of every opcode and tunnel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture/file/input.h"
#include "tests/unit/fixture/tunnel_frames.h"

static void filters_compile(void **state)
{
	static const char *const names[] = {"roce", "lldp", "pfc", "nak", "cnp", "mirror"};
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	struct bpf_program program;
	struct frame f;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		assert_non_null(input_filter(names[i]));
		if (pcap_compile(dead, &program, input_filter(names[i]), 1, PCAP_NETMASK_UNKNOWN))
			fail_msg("%s: %s", names[i], pcap_geterr(dead));
		pcap_freecode(&program);
	}
	assert_null(input_filter("all"));

	/* CNP: on each encapsulation, tagged or not, and no other opcode. Tagged RoCEv1 is left
	 * out: ether[] counts from the frame's start, from which live the kernel has taken the tag.
	 */
	assert_int_equal(pcap_compile(dead, &program, input_filter("cnp"), 1, PCAP_NETMASK_UNKNOWN),
			 0);
	for (i = 0; i < frame_opcode_count * 6; i++) {
		struct pcap_pkthdr h = {0};
		unsigned int op = i / 6;

		if (i % 3 == NET_V1 && i / 3 % 2)
			continue;
		frame_of_opcode(op, (enum frame_net)(i % 3), i / 3 % 2, &f);
		if (i / 3 % 2) /* one tag: 802.1Q */
			memcpy(f.bytes + 12, "\x81\x00", 2);
		h.caplen = h.len = f.len;
		assert_int_equal(!!pcap_offline_filter(&program, &h, f.bytes),
				 frame_opcodes[op].opcode == 0x81);
	}
	pcap_freecode(&program);
	pcap_close(dead);
}

/* Every tunnel that is taken off, and nothing that stands alone. */
static void mirror_filter(void **state)
{
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	struct bpf_program program;
	struct frame in, f;

	(void)state;
	assert_int_equal(
		pcap_compile(dead, &program, input_filter("mirror"), 1, PCAP_NETMASK_UNKNOWN), 0);
	frame_of_opcode(6, NET_IPV4, 0, &in);
	for (unsigned int i = 0; i <= tunnel_spec_count; i++) {
		for (unsigned int ipv6 = 0; ipv6 < 2; ipv6++) {
			struct pcap_pkthdr h = {0};

			if (i == tunnel_spec_count)
				vxlan_build(8, &in, &f);
			else
				tunnel_build(&tunnel_specs[i], ipv6, &in, in.len, &f);
			h.caplen = h.len = f.len;
			assert_true(pcap_offline_filter(&program, &h, f.bytes));
			h.caplen = h.len = in.len;
			assert_false(pcap_offline_filter(&program, &h, in.bytes));
		}
	}
	pcap_freecode(&program);
	pcap_close(dead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_compile),
		cmocka_unit_test(mirror_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
