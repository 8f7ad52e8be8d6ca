/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the packets of `capture decode` and `capture stats --by` by QP, opcode, address and
 * verdict. Values of one option are ORed, different options are ANDed; no option matches all.
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
	uint32_t states; /* bits of states[] */
};

/* Values of the options. */
struct capture_filter_words {
	struct opt_list qpns, opcodes, addresses, verdicts;
};

/* Rows of a table of options; w is a struct capture_filter_words. */
/* clang-format off */
#define CAPTURE_FILTER_OPTS(w) \
	{"qp", 0, OPT_LIST, &(w).qpns, .arg = "QPN", \
	 .help = "only packets to this QP and datagrams from it (repeatable)"}, \
	{"opcode", 0, OPT_LIST, &(w).opcodes, .arg = "OPCODE", \
	 .help = "only packets with this opcode, a number or a name (repeatable)"}, \
	{"address", 0, OPT_LIST, &(w).addresses, .arg = "ADDRESS", \
	 .help = "only packets from or to this address (repeatable)"}, \
	{"verdict", 0, OPT_LIST, &(w).verdicts, .arg = "WORD", \
	 .help = "only packets with this verdict: psn_gap, lost, timeout, icrc_bad... (repeatable)"}
/* clang-format on */

/* Parses all values; -EINVAL names the value and the accepted ones. QP: 24 bits. Opcode: a number
 * or a name as printed by decode. Address: source or destination. Verdict: a word of "events", or
 * malformed, truncated, icrc_good or icrc_unverifiable. */
int capture_filter_make(struct capture_filter *f, const struct capture_filter_words *w,
			struct err *e);
bool capture_filter_given(const struct capture_filter_words *w);

bool capture_filter_match(const struct capture_filter *f, const struct packet *p,
			  struct flow_events ev);

#endif
