/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of `probe client`, and what they mean as a spec of traffic. Where perftest has an
 * option, its letter and name mean the same here.
 */
#ifndef CMD_PROBE_OPTIONS_H
#define CMD_PROBE_OPTIONS_H

#include "cmd/opts.h"
#include "probe/coord/two_ended.h"

/* Options that are KEY=VALUE,... lists. -EINVAL and -ERANGE name the option and what is accepted.
 */

/* One --class "tos=104,qps=4,verb=write,rate=2G" over what the other options say. */
int probe_class_parse(const char *text, struct traffic_class *class, struct err *e);

/* One --tcp "tos=32,streams=4,rate=2G" over what is usual. */
int probe_tcp_parse(const char *text, struct traffic_tcp *tcp, struct err *e);

/* Before options are parsed: what they are when not given. Values point into it. */
struct probe_options {
	const char *device, *remote_device;
	unsigned int ib_port, gid_index, remote_gid_index; /* PROBE_UNSET */
	unsigned int port;
	const char *token_file, *out_dir, *remote_address;
	const char *mode, *transport, *verb, *direction, *check, *size, *sizes, *rate, *duration,
		*count;
	unsigned int qps, depth, tos, sl, mtu, timeout, threads, sweep;
	unsigned int servers; /* HOSTs that are named; 0 = not yet */
	bool marking, both_ways, cm, huge_pages, pin, probe, explain, ignored, all_sizes, incast;
	const char *idle;
	struct opt_list classes, tcp;
};

#define PROBE_UNSET 0xffffffffu

extern struct probe_options probe_options;
extern const struct opt probe_client_opts[];

/* Device, GID, MTU, baseline and spec of the wish. -EINVAL names the option and what is accepted.
 */
int probe_options_make(const struct probe_options *c, struct two_ended_wish *w, struct err *e);

#endif
