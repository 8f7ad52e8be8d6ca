/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of KEY=VALUE by table: a row says where in its struct a key goes.
 */
#include "cmd/probe/probe_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/units.h"
#include "profiles/yaml/diag.h"

#define RATE_MAX_KBPS (TRAFFIC_RATE_MAX / 125)
#define TEXT_MAX      256
#define STRUCT_MAX    64 /* bytes, of what is described */

int probe_take_word(const char *option, const char *text, enum traffic_enum which, void *value,
		    struct err *e)
{
	const struct traffic_words *words = &traffic_words[which];
	char list[160] = "", lower[32];
	size_t used = 0, i;

	for (i = 0; text[i] && i < sizeof(lower) - 1; i++)
		lower[i] = (char)tolower((unsigned char)text[i]);
	lower[i] = '\0';
	for (unsigned int k = 0; k < words->count; k++) {
		if (!strcmp(words->word[k], lower)) {
			*(unsigned int *)value = k;
			return 0;
		}
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 k ? ", " : "", words->word[k]);
	}
	err_set(e, -EINVAL, "%s: '%s' is not accepted", option, text);
	err_hint(e, "write one of %s", list);
	return -EINVAL;
}

int probe_take_size(const char *option, const char *text, uint32_t *size, struct err *e)
{
	uint64_t bytes;
	int err = units_bytes(text, TRAFFIC_MESSAGE_MIN, TRAFFIC_MESSAGE_MAX, &bytes, e);

	if (err) {
		err_prefix(e, "%s", option);
		return err;
	}
	*size = (uint32_t)bytes;
	return 0;
}

int probe_take_rate(const char *option, const char *text, uint64_t *rate, struct err *e)
{
	uint64_t kbps;
	int err = units_rate(text, 1, RATE_MAX_KBPS, &kbps, e);

	if (err) {
		err_prefix(e, "%s", option);
		return err;
	}
	*rate = kbps * 125;
	return 0;
}

int probe_take_number(const char *option, const char *text, uint64_t min, uint64_t max,
		      uint64_t *value, struct err *e)
{
	int err = units_number(text, min, max, value, e);

	if (err)
		err_prefix(e, "%s", option);
	return err;
}

enum key_kind {
	KEY_WORD,
	KEY_NUMBER8,
	KEY_NUMBER32,
	KEY_NUMBER64,
	KEY_SIZE,
	KEY_RATE,
	KEY_FLAG,
};

struct key {
	const char *name;
	enum key_kind kind;
	size_t offset;
	enum traffic_enum which;
	uint64_t min, max;
};

/* An option, and the struct that it fills. */
struct keys {
	const char *option;
	const struct key *key;
	size_t count, size;
};

static const struct key class_keys[] = {
	{"tos", KEY_NUMBER8, offsetof(struct traffic_class, tos), 0, 0, 255},
	{"sl", KEY_NUMBER8, offsetof(struct traffic_class, sl), 0, 0, 7},
	{"transport", KEY_WORD, offsetof(struct traffic_class, transport), ENUM_TRANSPORT, 0, 0},
	{"verb", KEY_WORD, offsetof(struct traffic_class, verb), ENUM_VERB, 0, 0},
	{"direction", KEY_WORD, offsetof(struct traffic_class, direction), ENUM_DIRECTION, 0, 0},
	{"check", KEY_WORD, offsetof(struct traffic_class, check), ENUM_CHECK, 0, 0},
	{"qps", KEY_NUMBER32, offsetof(struct traffic_class, qps), 0, 1, TRAFFIC_QPS_MAX},
	{"size", KEY_SIZE, offsetof(struct traffic_class, message_bytes), 0, 0, 0},
	{"depth", KEY_NUMBER32, offsetof(struct traffic_class, window), 0, 1, TRAFFIC_WINDOW_MAX},
	{"rate", KEY_RATE, offsetof(struct traffic_class, rate_bytes_per_s), 0, 0, 0},
	{"count", KEY_NUMBER64, offsetof(struct traffic_class, count), 0, 1, INT64_MAX},
	{"latency", KEY_FLAG, offsetof(struct traffic_class, probe), 0, 0, 0},
};

static const struct key tcp_keys[] = {
	{"tos", KEY_NUMBER8, offsetof(struct traffic_tcp, tos), 0, 0, 255},
	{"streams", KEY_NUMBER32, offsetof(struct traffic_tcp, streams), 0, 1, TRAFFIC_STREAMS_MAX},
	{"rate", KEY_RATE, offsetof(struct traffic_tcp, rate_bytes_per_s), 0, 0, 0},
	{"direction", KEY_WORD, offsetof(struct traffic_tcp, direction), ENUM_DIRECTION, 0, 0},
};

#define KEYS(option, list, type)                                                                   \
	{                                                                                          \
		option, list, ARRAY_SIZE(list), sizeof(type)                                       \
	}
static const struct keys class_option = KEYS("--class", class_keys, struct traffic_class);
static const struct keys tcp_option = KEYS("--tcp", tcp_keys, struct traffic_tcp);
_Static_assert(sizeof(struct traffic_class) <= STRUCT_MAX, "STRUCT_MAX");
_Static_assert(sizeof(struct traffic_tcp) <= STRUCT_MAX, "STRUCT_MAX");

static int unknown_key(const struct keys *keys, const char *key, struct err *e)
{
	const char *names[ARRAY_SIZE(class_keys) + ARRAY_SIZE(tcp_keys) + 1], *near;
	char list[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < keys->count; i++) {
		names[i] = keys->key[i].name;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, " %s", names[i]);
	}
	names[keys->count] = NULL;
	near = diag_nearest(key, names);
	err_set(e, -EINVAL, "%s: unknown key '%s'", keys->option, key);
	if (near)
		err_hint(e, "did you mean '%s'?", near);
	else
		err_hint(e, "keys:%s", list);
	return -EINVAL;
}

static int store_key(const struct keys *keys, const struct key *k, const char *value, void *made,
		     struct err *e)
{
	void *at = (char *)made + k->offset;
	char option[32];
	uint64_t number;

	snprintf(option, sizeof(option), "%s %s", keys->option, k->name);
	switch (k->kind) {
	case KEY_WORD:
		return probe_take_word(option, value, k->which, at, e);
	case KEY_SIZE:
		return probe_take_size(option, value, at, e);
	case KEY_RATE:
		return probe_take_rate(option, value, at, e);
	case KEY_FLAG:
		*(bool *)at = true;
		return 0;
	default:
		break;
	}
	if (probe_take_number(option, value, k->min, k->max, &number, e))
		return e->code;
	if (k->kind == KEY_NUMBER8)
		*(uint8_t *)at = (uint8_t)number;
	else if (k->kind == KEY_NUMBER32)
		*(uint32_t *)at = (uint32_t)number;
	else
		*(uint64_t *)at = number;
	return 0;
}

static int take_pair(const struct keys *keys, char *pair, void *made, struct err *e)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < keys->count; i++) {
		const struct key *k = &keys->key[i];

		if (strcmp(k->name, pair))
			continue;
		if (!value != (k->kind == KEY_FLAG))
			return err_set(e, -EINVAL, "%s: '%s' %s", keys->option, pair,
				       value ? "takes no value" : "needs a value");
		return store_key(keys, k, value, made, e);
	}
	return unknown_key(keys, pair, e);
}

/* Untouched on failure. */
static int take_list(const struct keys *keys, const char *text, void *out, struct err *e)
{
	char copy[TEXT_MAX], *rest = copy, *pair;
	_Alignas(max_align_t) char made[STRUCT_MAX];
	int err = 0;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return err_set(e, -EINVAL, "%s: more than %zu characters", keys->option,
			       sizeof(copy) - 1);
	memcpy(made, out, keys->size);
	while (!err && (pair = strsep(&rest, ",")))
		err = *pair ? take_pair(keys, pair, made, e)
			    : err_set(e, -EINVAL, "%s: '%s' has an empty part", keys->option, text);
	if (!err)
		memcpy(out, made, keys->size);
	return err;
}

int probe_class_take(const char *text, struct traffic_class *class, struct err *e)
{
	return take_list(&class_option, text, class, e);
}

int probe_tcp_take(const char *text, struct traffic_tcp *tcp, struct err *e)
{
	return take_list(&tcp_option, text, tcp, e);
}
