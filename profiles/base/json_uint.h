/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters, times and rates as integers of JSON documents. Those are signed (jansson: 64 bits; RFC
 * 8259 s6 lets implementations limit the range): what is beyond, as only a broken source has it, is
 * cut there.
 */
#ifndef PROFILES_JSON_UINT_H
#define PROFILES_JSON_UINT_H

#include <jansson.h>
#include <stdint.h>

/* Largest integer of a JSON document of ours. */
#define JSON_UINT_MAX ((uint64_t)INT64_MAX)

/* A new reference, NULL when there is no memory. */
static inline json_t *json_uint(uint64_t value)
{
	return json_integer((json_int_t)(value < JSON_UINT_MAX ? value : JSON_UINT_MAX));
}

#endif
