/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of `probe client` and their conversion to a traffic spec. An option that perftest also
 * has keeps perftest's letter, name and meaning.
 */
#ifndef CMD_PROBE_OPTIONS_H
#define CMD_PROBE_OPTIONS_H

#include "cmd/opts.h"
#include "cmd/verdict.h"
#include "probe/coord/pair.h"

/* Parses --class "tos=104,qps=4,verb=write,rate=2G" over the defaults in *class. -EINVAL and
 * -ERANGE name the option and the accepted values. */
int probe_class_parse(const char *text, struct traffic_class *class, struct err *e);

/* Values of the options; before parsing, their defaults. probe_client_opts points into it. */
struct probe_options {
	const char *device, *remote_device;
	unsigned int ib_port, gid_index, remote_gid_index; /* PROBE_UNSET */
	unsigned int port;
	const char *token_file, *out_dir, *remote_address;
	const char *mode, *transport, *verb, *direction, *check, *size, *sizes, *rate, *duration,
		*count;
	unsigned int qps, depth, tos, sl, mtu, timeout, threads, sweep;
	unsigned int servers; /* number of HOST arguments; 0 = not known yet */
	bool marking, both_ways, cm, huge_pages, pin, probe, explain, ignored, all_sizes, incast;
	const char *idle;
	struct opt_list classes, tcp;
	struct verdict_options report;
};

#define PROBE_UNSET 0xffffffffu

extern struct probe_options probe_options;
extern const struct opt probe_client_opts[];

/* Sets device, GID, MTU, baseline and spec of *w. -EINVAL names the option and the accepted
 * values. */
int probe_options_make(const struct probe_options *c, struct pair_request *w, struct err *e);

#endif
