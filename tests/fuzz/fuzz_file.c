/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture files of any kind, as they are or within gzip and zstd, changed byte by byte.
 */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_capture_file(data, size);
}
