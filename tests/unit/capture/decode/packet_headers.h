/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extension headers of a decoded packet against their letters and values: those of
 * roce_frames.h, which opcode_vectors.h has, too.
 */
#ifndef TESTS_UNIT_PACKET_HEADERS_H
#define TESTS_UNIT_PACKET_HEADERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/decode/packet.h"

void check_headers(const struct packet *p, const char *letters);

#endif
