/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture files of records: pcap in both byte orders, with times in micro- or nanoseconds.
 * Lengths fit after each change.
 */
#include "tests/fuzz/mutate.h"

FUZZ_MUTATE(pcap)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_capture_file(data, size);
}
