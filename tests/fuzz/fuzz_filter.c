/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words that choose packets for `capture decode`. An input is lines; the first character of
 * each says which option it is a word of: q QP, o opcode, a address, v verdict.
 */
#include "cmd/capture/capture_filter.h"
#include "tests/fuzz/fuzz.h"

/* The words of one option. The caller frees nothing: they lie in text. */
static void words_of(char letter, char *const *line, unsigned int lines, struct opt_list *words)
{
	words->count = 0;
	for (unsigned int i = 0; i < lines; i++)
		if (line[i][0] == letter && words->count < OPT_LIST_MAX)
			words->item[words->count++] = line[i] + 1;
}

static bool take_all(struct capture_filter *f, char *const *line, unsigned int lines)
{
	struct capture_filter_words w;
	struct err e = {0};
	int err;

	words_of('q', line, lines, &w.qpns);
	words_of('o', line, lines, &w.opcodes);
	words_of('a', line, lines, &w.addresses);
	words_of('v', line, lines, &w.verdicts);
	err = capture_filter_make(f, &w, &e);
	HOLDS(!err || (err < 0 && *e.text && memchr(e.text, 0, sizeof(e.text))));
	return !err;
}

/* A packet of any state that a verdict can name. */
static bool matches_any(const struct capture_filter *f, struct packet *p)
{
	for (unsigned int fault = PACKET_OK; fault <= PACKET_MALFORMED; fault++) {
		for (unsigned int icrc = ICRC_UNVERIFIABLE; icrc <= ICRC_BAD; icrc++) {
			p->fault = (uint8_t)fault;
			p->icrc = (uint8_t)icrc;
			if (capture_filter_match(f, p, (struct flow_events){.bits = f->events}))
				return true;
		}
	}
	return false;
}

static void check_match(const struct capture_filter *f)
{
	struct packet p = {.kind = PACKET_ROCE, .bth = true};

	if (f->qpn_count)
		p.dest_qpn = f->qpn[0];
	if (f->address_count)
		memcpy(p.src, f->address[0], sizeof(p.src));
	while (f->by_opcode && !f->opcode[p.opcode])
		p.opcode++;
	HOLDS(p.dest_qpn <= 0xffffff);
	HOLDS(matches_any(f, &p));
	if (f->by_verdict && !f->states)
		HOLDS(!capture_filter_match(f, &p, (struct flow_events){.bits = 0}));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture_filter *f = calloc(1, sizeof(*f));
	char *text = malloc(size + 1), *line[2 * OPT_LIST_MAX], *rest = text;
	unsigned int lines = 0;

	HOLDS(f && text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	while (rest && lines < ARRAY_SIZE(line))
		line[lines++] = strsep(&rest, "\n");
	if (take_all(f, line, lines))
		check_match(f);
	free(text);
	free(f);
	return 0;
}
