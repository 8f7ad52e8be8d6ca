/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of the JSON of a capture summary, one table row each, for summary.c, which writes them,
 * and summary_read.c, which reads them back.
 */
#ifndef CAPTURE_SUMMARY_KEYS_H
#define CAPTURE_SUMMARY_KEYS_H

#include "capture/flow/summary.h"

/* A uint64_t at an offset. Newer ones may be absent in what an older version wrote: then they are
 * 0. */
struct counter {
	const char *key;
	size_t offset;
	bool newer;
};

struct counter_table {
	const struct counter *row;
	size_t count;
};

extern const struct counter_table total_counters, flow_counters;

extern const char *const drops_words[3];   /* by enum capture_drops */
extern const char *const service_words[8]; /* by enum opcode_class */
extern const char *const encap_words[4];   /* by enum packet_encap */
extern const char *const dialect_words[4]; /* of struct lldp_peer */
extern const char *const link_words[PAUSE_LINKS];

#endif
