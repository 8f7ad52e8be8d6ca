/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of options of `probe client`, and options that are KEY=VALUE,... lists: --class and --tcp.
 * -EINVAL and -ERANGE name the option and what is accepted.
 */
#ifndef CMD_PROBE_KEYS_H
#define CMD_PROBE_KEYS_H

#include "probe/traffic/traffic_words.h"

/* One of the words of an enum, in either case: perftest writes RC. value: the enum. */
int probe_take_word(const char *option, const char *text, enum traffic_enum which, void *value,
		    struct err *e);
int probe_take_size(const char *option, const char *text, uint32_t *size, struct err *e);
int probe_take_rate(const char *option, const char *text, uint64_t *rate, struct err *e);
int probe_take_number(const char *option, const char *text, uint64_t min, uint64_t max,
		      uint64_t *value, struct err *e);

/* One --class "tos=104,qps=4,verb=write,rate=2G" over what the other options say. */
int probe_class_take(const char *text, struct traffic_class *class, struct err *e);

/* One --tcp "tos=32,streams=4,rate=2G" over what is usual. */
int probe_tcp_take(const char *text, struct traffic_tcp *tcp, struct err *e);

#endif
