/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packet filters. Opcode names come from the decoder, and verdict words from the flow table.
 */
#include "cmd/capture/capture_filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Decimal or 0x; false on other text or a value above max. */
static bool filter_parse_number(const char *word, unsigned long max, uint32_t *out)
{
	char *end;
	unsigned long value;

	if (word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	value = strtoul(word, &end, strncmp(word, "0x", 2) ? 10 : 16);
	if (errno || *end || end == word || value > max)
		return false;
	*out = (uint32_t)value;
	return true;
}

static int filter_add_qpns(struct capture_filter *f, const struct opt_list *words, struct err *e)
{
	for (unsigned int i = 0; i < words->count; i++) {
		if (!filter_parse_number(words->item[i], 0xffffff, &f->qpn[f->qpn_count++]))
			return err_set(e, -EINVAL, "invalid QP number '%s': expected 0 to 0xffffff",
				       words->item[i]);
	}
	return 0;
}

static bool filter_find_opcode(const char *word, uint32_t *out)
{
	char buf[64];

	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		if (strcasecmp(word, opcode_name((uint8_t)opcode, buf, sizeof(buf))))
			continue;
		*out = opcode;
		return true;
	}
	return false;
}

static int filter_add_opcodes(struct capture_filter *f, const struct opt_list *words, struct err *e)
{
	uint32_t opcode;

	for (unsigned int i = 0; i < words->count; i++) {
		if (!filter_parse_number(words->item[i], 255, &opcode) &&
		    !filter_find_opcode(words->item[i], &opcode)) {
			err_set(e, -EINVAL,
				"invalid opcode '%s': expected 0 to 255 or a name such as RC_ACK",
				words->item[i]);
			err_hint(e, "'rocecheck capture stats --by opcode FILE' lists the opcodes "
				    "of a file");
			return -EINVAL;
		}
		f->opcode[opcode] = true;
		f->by_opcode = true;
	}
	return 0;
}

static int filter_add_addresses(struct capture_filter *f, const struct opt_list *words,
				struct err *e)
{
	for (unsigned int i = 0; i < words->count; i++) {
		if (!packet_addr_parse(words->item[i], f->address[f->address_count++])) {
			err_set(e, -EINVAL,
				"invalid address '%s': expected an IPv4 or IPv6 address",
				words->item[i]);
			err_hint(
				e,
				"'rocecheck capture stats --by host FILE' lists the addresses of a "
				"file");
			return -EINVAL;
		}
	}
	return 0;
}

/* Word of one event, as in "events"; false for an unused bit. */
static bool filter_event_word(unsigned int bit, char *buf, size_t size)
{
	json_t *words = flow_events_to_json((struct flow_events){.bits = 1U << bit, .psns = 1});
	const char *word = json_string_value(json_array_get(words, 0));

	snprintf(buf, size, "%s", word ? word : "");
	json_decref(words);
	return buf[0];
}

static uint32_t filter_find_event(const char *word)
{
	char known[32];

	for (unsigned int bit = 0; bit < 32; bit++)
		if (filter_event_word(bit, known, sizeof(known)) && !strcmp(known, word))
			return 1U << bit;
	return 0;
}

/* Verdicts that are no flow events, by bit of capture_filter.states. */
static const char *const states[] = {"malformed", "truncated", "icrc_good", "icrc_unverifiable"};

static uint32_t filter_packet_states(const struct packet *p)
{
	const bool holds[ARRAY_SIZE(states)] = {
		p->fault == PACKET_MALFORMED,
		p->fault == PACKET_TRUNCATED,
		p->bth && p->icrc == ICRC_GOOD,
		p->bth && p->icrc == ICRC_UNVERIFIABLE,
	};
	uint32_t bits = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++)
		bits |= (uint32_t)holds[i] << i;
	return bits;
}

static uint32_t filter_find_state(const char *word)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(states[i], word))
			return 1U << i;
	return 0;
}

static int filter_unknown_verdict(const char *word, struct err *e)
{
	char known[32], all[512] = "";
	size_t used = 0;

	for (unsigned int bit = 0; bit < 32 && used < sizeof(all); bit++)
		if (filter_event_word(bit, known, sizeof(known)))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
						 used ? ", " : "", known);
	for (unsigned int i = 0; i < ARRAY_SIZE(states) && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, ", %s", states[i]);
	return err_set(e, -EINVAL, "invalid verdict '%.80s': expected one of %s", word, all);
}

static int filter_add_verdicts(struct capture_filter *f, const struct opt_list *words,
			       struct err *e)
{
	for (unsigned int i = 0; i < words->count; i++) {
		uint32_t event = filter_find_event(words->item[i]),
			 state = filter_find_state(words->item[i]);

		if (!event && !state)
			return filter_unknown_verdict(words->item[i], e);
		f->by_verdict = true;
		f->events |= event;
		f->states |= state;
	}
	return 0;
}

int capture_filter_make(struct capture_filter *f, const struct capture_filter_words *w,
			struct err *e)
{
	int err = filter_add_qpns(f, &w->qpns, e);

	if (!err)
		err = filter_add_opcodes(f, &w->opcodes, e);
	if (!err)
		err = filter_add_addresses(f, &w->addresses, e);
	return err ? err : filter_add_verdicts(f, &w->verdicts, e);
}

bool capture_filter_given(const struct capture_filter_words *w)
{
	return w->qpns.count || w->opcodes.count || w->addresses.count || w->verdicts.count;
}

static bool filter_match_qpn(const struct capture_filter *f, const struct packet *p)
{
	bool datagram = p->bth && p->headers & HDR_DETH;

	for (unsigned int i = 0; p->bth && i < f->qpn_count; i++)
		if (f->qpn[i] == p->dest_qpn || (datagram && f->qpn[i] == p->deth.src_qpn))
			return true;
	return !f->qpn_count;
}

static bool filter_match_address(const struct capture_filter *f, const struct packet *p)
{
	for (unsigned int i = 0; p->kind == PACKET_ROCE && i < f->address_count; i++)
		if (!memcmp(f->address[i], p->src, 16) || !memcmp(f->address[i], p->dst, 16))
			return true;
	return !f->address_count;
}

bool capture_filter_match(const struct capture_filter *f, const struct packet *p,
			  struct flow_events ev)
{
	if (f->by_opcode && !(p->bth && f->opcode[p->opcode]))
		return false;
	if (f->by_verdict && !(f->events & ev.bits) && !(f->states & filter_packet_states(p)))
		return false;
	return filter_match_qpn(f, p) && filter_match_address(f, p);
}
