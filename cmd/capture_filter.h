/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which packets `capture decode` prints: by QP, opcode, address and verdict. Words of one kind are
 * alternatives, kinds narrow each other; a filter that was not given lets all pass.
 */
#ifndef CMD_CAPTURE_FILTER_H
#define CMD_CAPTURE_FILTER_H

#include "capture/flow.h"
#include "cmd/opts.h"

struct capture_filter {
	unsigned int qpn_count, address_count;
	uint32_t qpn[OPT_LIST_MAX];
	uint8_t address[OPT_LIST_MAX][16]; /* GID form */
	bool by_opcode;
	bool opcode[256];
	uint32_t events; /* enum flow_event bits; 0 = all packets */
};

/* Each takes the words of one option; -EINVAL names the word and what is accepted. A QP is a number
 * of 24 bits; an opcode a number or a name as decode prints it; an address is looked for as source
 * and as destination; a verdict is a word of "events". */
int capture_filter_qpns(struct capture_filter *f, const struct opt_list *words, struct err *e);
int capture_filter_opcodes(struct capture_filter *f, const struct opt_list *words, struct err *e);
int capture_filter_addresses(struct capture_filter *f, const struct opt_list *words, struct err *e);
int capture_filter_verdicts(struct capture_filter *f, const struct opt_list *words, struct err *e);

bool capture_filter_match(const struct capture_filter *f, const struct packet *p,
			  struct flow_events ev);

#endif
