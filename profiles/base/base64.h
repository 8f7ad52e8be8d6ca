/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base64 (RFC 4648 s4), for chunks of capture files inside JSON lines.
 */
#ifndef PROFILES_BASE64_H
#define PROFILES_BASE64_H

#include "profiles/base/base.h"

#define BASE64_SIZE(n) (((n) + 2) / 3 * 4 + 1) /* with the NUL */

/* text must have BASE64_SIZE(size) bytes. Returns the length. */
size_t base64_encode(const uint8_t *data, size_t size, char *text);

/* -EINVAL if text is not canonical base64 or decodes to more than max bytes. */
int base64_decode(const char *text, size_t length, uint8_t *data, size_t max, size_t *size);

#endif
