/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture files of blocks: pcapng with its sections, interfaces, packets, options, statistics.
 * Lengths fit after each change.
 */
#include "tests/fuzz/mutate.h"

FUZZ_MUTATE(pcapng)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_capture_file(data, size);
}
