/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which packets `capture decode` prints and `capture stats --by` counts: by QP, opcode, address and
 * verdict. Words of one kind are alternatives, kinds narrow each other; a filter that was not given
 * lets all pass.
 */
#ifndef CMD_CAPTURE_FILTER_H
#define CMD_CAPTURE_FILTER_H

#include "capture/flow/flow.h"
#include "cmd/opts.h"

struct capture_filter {
	unsigned int qpn_count, address_count;
	uint32_t qpn[OPT_LIST_MAX];
	uint8_t address[OPT_LIST_MAX][16]; /* GID form */
	bool by_opcode;
	bool opcode[256];
	bool by_verdict;
	uint32_t events; /* enum flow_event bits */
	uint32_t states; /* of the packet itself */
};

/* What was given on the command line. */
struct capture_filter_words {
	struct opt_list qpns, opcodes, addresses, verdicts;
};

/* Rows of a table of options; w is a struct capture_filter_words. */
/* clang-format off */
#define CAPTURE_FILTER_OPTS(w) \
	{"qp", 0, OPT_LIST, &(w).qpns, .arg = "QPN", \
	 .help = "packets to this QP, or datagrams from it; as the filters below, may be given " \
		 "again"}, \
	{"opcode", 0, OPT_LIST, &(w).opcodes, .arg = "OPCODE", \
	 .help = "packets of this opcode, by number or name"}, \
	{"address", 0, OPT_LIST, &(w).addresses, .arg = "ADDRESS", \
	 .help = "packets from or to this address"}, \
	{"verdict", 0, OPT_LIST, &(w).verdicts, .arg = "WORD", \
	 .help = "packets that meant this to their flow: psn_gap, lost, timeout, icrc_bad..."}
/* clang-format on */

/* Adds all of them; -EINVAL names the word and what is accepted. A QP is a number of 24 bits; an
 * opcode a number or a name as decode prints it; an address is looked for as source and as
 * destination; a verdict is a word of "events", or malformed, truncated, icrc_good or
 * icrc_unverifiable. */
int capture_filter_make(struct capture_filter *f, const struct capture_filter_words *w,
			struct err *e);
bool capture_filter_given(const struct capture_filter_words *w);

bool capture_filter_match(const struct capture_filter *f, const struct packet *p,
			  struct flow_events ev);

#endif
