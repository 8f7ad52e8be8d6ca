/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lldpad's answers and its file. An input is
 *
 *   | kind 8 | bytes |
 *
 * kind & 1: they are the file, of which one port is read, written and read again. Else they are a
 * datagram that answers the question for the neighbour's TLVs of a port "va".
 */
#include <libconfig.h>
#include <unistd.h>

#include "capture/decode/lldp.h"
#include "dcb/lldpad/lldp_agent.h"
#include "dcb/lldpad/lldpad.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/tree.h"

#define PORT	     "eth1"
#define TLVS_MAX     1500
#define TLV_MAX	     64
#define ANSWER_HEAD  "R00C3010000000202va0000007f"
#define SPOIL_ONE_IN 16

const char *__lsan_default_suppressions(void);

/* libconfig 1.5 does not free the text that it was reading when a file does not parse. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig.so";
}

int usleep(useconds_t usec);

/* A file that does not parse is read again, for lldpad may be writing it; here nobody is. */
int usleep(useconds_t usec)
{
	(void)usec;
	return 0;
}

static void take_answer(const uint8_t *data, size_t size)
{
	char *answer = (char *)fuzz_exact(data, size), request[LLDPAD_MESSAGE_MAX];
	struct lldp_peer peer = {.system = ""};
	uint8_t tlvs[TLVS_MAX];
	struct err e = {0};
	const char *rest;
	int n;

	HOLDS(lldpad_neighbour_text("va", request, sizeof(request)) > 0);
	n = lldpad_parse_answer(answer, size, request, &rest, &e);
	if (n) {
		HOLDS(n < 0 && *e.text);
		free(answer);
		return;
	}
	fuzz_reach(FUZZ_PARSED);
	HOLDS(rest >= answer && rest <= answer + size);
	size -= (size_t)(rest - answer);
	n = size < 8 ? -1 : lldpad_bytes(rest + 8, size - 8, tlvs, sizeof(tlvs));
	if (n >= 0 && !lldp_decode_tlvs(tlvs, (uint32_t)n, &peer, &e))
		fuzz_reach(FUZZ_TAKEN);
	free(answer);
}

static bool has_shares(const uint8_t bw[QOS_TCS])
{
	static const uint8_t none[QOS_TCS];

	return memcmp(bw, none, QOS_TCS) != 0;
}

/* Shares of which there are none are written as 100 % of TC 0: lldpad takes no others. */
static void check_same(const struct qos *a, const struct qos *b)
{
	uint64_t same = lldp_agent_fields();

	if (!has_shares(a->tc_tx_bw))
		same &= ~QOS_BIT(QOS_TC_TX_BW);
	if (!has_shares(a->reco_bw))
		same &= ~QOS_BIT(QOS_RECO_BW);
	HOLDS(!(qos_diff(a, b) & same) && !(qos_diff(b, a) & same));
}

static void take_file(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file("lldpad.conf", data, size);
	struct qos q = {0}, again = {0};
	struct err e = {0};
	int err = lldpad_conf_read(path, PORT, &q, &e);

	if (err) {
		HOLDS(err < 0 && *e.text);
		return;
	}
	fuzz_reach(FUZZ_PARSED);
	if (lldpad_conf_write(path, PORT, &q, lldp_agent_fields(), &e)) {
		HOLDS(*e.text);
		return;
	}
	fuzz_reach(FUZZ_TAKEN);
	if (lldpad_conf_read(path, PORT, &again, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	check_same(&q, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_begin();
	if (size)
		(data[0] & 1 ? take_file : take_answer)(data + 1, size - 1);
	return 0;
}

/* TLVs of an advertisement: type and length in two bytes, 802.1AB 8.4. */
struct tlv {
	uint8_t type;
	uint8_t value[512];
	size_t size;
};

static size_t split_tlvs(const uint8_t *data, size_t size, struct tlv *tlv)
{
	size_t count = 0;

	while (size >= 2 && count < TLV_MAX) {
		size_t len = (size_t)(data[0] & 1) << 8 | data[1];

		len = len < size - 2 ? len : size - 2;
		tlv[count].type = data[0] >> 1;
		memcpy(tlv[count].value, data + 2, len);
		tlv[count++].size = len;
		data += 2 + len;
		size -= 2 + len;
	}
	return count;
}

static size_t change_tlvs(struct tlv *tlv, size_t count, struct dice *d)
{
	size_t at = dice_below(d, count), other = dice_below(d, count);

	switch (dice_below(d, 6)) {
	case 0:
		tlv[count] = tlv[at];
		return count + 1;
	case 1:
		memmove(tlv + at, tlv + at + 1, (count - at - 1) * sizeof(*tlv));
		return count - 1;
	case 2:
		tlv[count] = tlv[at];
		tlv[at] = tlv[other];
		tlv[other] = tlv[count];
		return count;
	default:
		tlv[at].size = LLVMFuzzerMutate(tlv[at].value, tlv[at].size, 511);
		return count;
	}
}

static size_t mutate_answer(uint8_t *data, size_t size, size_t max_size, struct dice *d)
{
	static struct tlv tlv[TLV_MAX + 1];
	size_t head = strlen(ANSWER_HEAD), count = 0;
	struct tree_out out = {.data = data, .size = max_size};
	uint8_t bytes[TLVS_MAX];
	char digits[8];
	int n;

	if (size < head || memcmp(data, ANSWER_HEAD, head) || dice_one_in(d, SPOIL_ONE_IN))
		return LLVMFuzzerMutate(data, size, max_size);
	n = lldpad_bytes((char *)data + head, size - head, bytes, sizeof(bytes));
	count = n > 0 ? split_tlvs(bytes, (size_t)n, tlv) : 0;
	if (!count)
		return LLVMFuzzerMutate(data, size, max_size);
	count = change_tlvs(tlv, count, d);
	out.used = head;
	for (size_t i = 0; i < count; i++) {
		snprintf(digits, sizeof(digits), "%04x",
			 (unsigned int)(tlv[i].type << 9 | tlv[i].size) & 0xffff);
		tree_put(&out, digits, 4);
		for (size_t k = 0; k < tlv[i].size; k++) {
			snprintf(digits, sizeof(digits), "%02x", tlv[i].value[k]);
			tree_put(&out, digits, 2);
		}
	}
	return out.used;
}

/* libconfig's settings: groups are maps, arrays and lists are lists. */
static struct tree *tree_of(const config_setting_t *s, unsigned int depth)
{
	struct tree *t;
	char number[32];

	if (depth == TREE_DEPTH_MAX)
		return NULL;
	switch (config_setting_type(s)) {
	case CONFIG_TYPE_INT:
		snprintf(number, sizeof(number), "%d", config_setting_get_int(s));
		return tree_leaf(TREE_NUMBER, number, strlen(number));
	case CONFIG_TYPE_BOOL:
		return config_setting_get_bool(s) ? tree_leaf(TREE_WORD, "true", 4)
						  : tree_leaf(TREE_WORD, "false", 5);
	case CONFIG_TYPE_STRING:
		return tree_leaf(TREE_TEXT, config_setting_get_string(s),
				 strlen(config_setting_get_string(s)));
	case CONFIG_TYPE_GROUP:
	case CONFIG_TYPE_ARRAY:
	case CONFIG_TYPE_LIST:
		break;
	default:
		return tree_leaf(TREE_NUMBER, "0", 1);
	}
	t = tree_new(config_setting_is_group(s) ? TREE_MAP : TREE_LIST);
	for (int i = 0; t && i < config_setting_length(s); i++) {
		const config_setting_t *one = config_setting_get_elem(s, (unsigned int)i);
		struct tree *value = tree_of(one, depth + 1);

		if (!value)
			return NULL;
		if (t->kind == TREE_MAP)
			tree_add(t, tree_leaf(TREE_TEXT, config_setting_name(one),
					      strlen(config_setting_name(one))));
		tree_add(t, value);
	}
	return t;
}

static struct tree *parse_file(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct tree *t = NULL;
	config_t config;

	HOLDS(text);
	memcpy(text, data, size);
	text[size] = '\0';
	config_init(&config);
	/* Another file is no part of the input. */
	if (!strstr(text, "@include") && config_read_string(&config, text) == CONFIG_TRUE)
		t = tree_of(config_root_setting(&config), 0);
	config_destroy(&config);
	free(text);
	return t;
}

static void put_string(struct tree_out *out, const char *text)
{
	tree_put(out, "\"", 1);
	for (const char *c = text; *c; c++)
		if (*c == '"' || *c == '\\')
			tree_put(out, *c == '"' ? "\\\"" : "\\\\", 2);
		else
			tree_put(out, c, 1);
	tree_put(out, "\"", 1);
}

/* Names as libconfig takes them: what it does not take becomes an x. */
static void put_name(struct tree_out *out, const char *text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*";

	if (!text[0] || !strchr(letters, text[0]))
		tree_put(out, "x", 1);
	for (const char *c = text; *c; c++)
		tree_put(out, strchr(letters, *c) || strchr("0123456789_-", *c) ? c : "x", 1);
}

static void put_setting(struct tree_out *out, const struct tree *t, unsigned int depth)
{
	bool map = t->kind == TREE_MAP, list = t->kind == TREE_LIST;
	long long number;

	if (t->kind == TREE_TEXT)
		put_string(out, t->text);
	if (t->kind == TREE_WORD)
		tree_put(out, t->text[0] == 't' ? "true" : "false", t->text[0] == 't' ? 4 : 5);
	if (t->kind == TREE_NUMBER) {
		char text[32];

		number = strtoll(t->text, NULL, 10);
		tree_put(out, text,
			 (size_t)snprintf(text, sizeof(text), "%lld",
					  number > INT32_MAX || number < INT32_MIN ? INT32_MAX
										   : number));
	}
	if (!map && !list)
		return;
	if (depth)
		tree_put(out, map ? "{ " : "( ", 2);
	for (size_t i = 0; depth < TREE_DEPTH_MAX && i < t->count; i += map ? 2 : 1) {
		if (map) {
			put_name(out, t->item[i]->text);
			tree_put(out, " = ", 3);
		} else if (i) {
			tree_put(out, ", ", 2);
		}
		put_setting(out, t->item[map ? i + 1 : i], depth + 1);
		tree_put(out, ";\n", map ? 2 : 0);
	}
	if (depth)
		tree_put(out, map ? "}" : ")", 1);
}

static size_t mutate_file(uint8_t *data, size_t size, size_t max_size, struct dice *d)
{
	struct tree_out out = {.size = max_size};
	struct tree *t;

	tree_reset();
	t = dice_one_in(d, SPOIL_ONE_IN) ? NULL : parse_file(data, size);
	if (!t)
		return LLVMFuzzerMutate(data, size, max_size);
	tree_mutate(t, false, d);
	out.data = malloc(max_size ? max_size : 1);
	HOLDS(out.data);
	put_setting(&out, t, 0);
	if (!out.full) {
		memcpy(data, out.data, out.used);
		size = out.used;
	}
	free(out.data);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct dice d = dice_of(seed);

	if (!size || max_size < 2)
		return LLVMFuzzerMutate(data, size, max_size);
	return 1 +
	       (data[0] & 1 ? mutate_file : mutate_answer)(data + 1, size - 1, max_size - 1, &d);
}
