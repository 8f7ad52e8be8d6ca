/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where records of a capture file probably begin, for who starts in the middle of one. Whoever asks
 * finds out later whether that was right; a file may be made so that it never is.
 */
#ifndef CAPTURE_RECORD_GUESS_H
#define CAPTURE_RECORD_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first place in `bytes` where records of pcap may begin, each of which captured at most `snap`
 * bytes and tells its time in fractions below `fractions`. False: there is none near. */
bool record_guess_pcap(const uint8_t *bytes, size_t len, uint32_t snap, uint32_t fractions,
		       size_t *at);
/* The same of enhanced packet blocks of pcapng; a block begins at a multiple of 4 of the file, and
 * bytes[0] lies at `offset` of it. */
bool record_guess_pcapng(const uint8_t *bytes, size_t len, uint64_t offset, size_t *at);

#endif
