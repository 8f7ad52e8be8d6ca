/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees for mutators: values are replaced, changed a little, doubled, moved, removed, and made what
 * they are not. Numbers and texts are those at which readers go wrong: ends of types, limits of
 * this tool, long texts, letters that are not printed as they are.
 */
#include "tests/fuzz/tree.h"

#define ARENA_SIZE  (16u << 20)
#define SLOTS_MAX   8192
#define COPIES_MAX  2000 /* nodes of one copy */
#define REPEAT_MAX  80
#define CHANGES_MAX 5
#define LONG_MAX    5000

static uint8_t arena[ARENA_SIZE];
static size_t arena_used;

/* A place where a node is: item `at` of parent. */
struct slot {
	struct tree *parent;
	size_t at;
};

static struct slot slots[SLOTS_MAX];
static size_t slot_count;

struct dice dice_of(unsigned int seed)
{
	return (struct dice){.state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
}

/* splitmix64 */
uint64_t dice_number(struct dice *d)
{
	uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

size_t dice_below(struct dice *d, size_t below)
{
	return below ? (size_t)(dice_number(d) % below) : 0;
}

bool dice_one_in(struct dice *d, size_t n)
{
	return !dice_below(d, n);
}

void tree_reset(void)
{
	arena_used = 0;
}

static void *take_room(size_t size)
{
	void *room = arena + arena_used;

	size = (size + 15) & ~(size_t)15;
	if (size > ARENA_SIZE - arena_used)
		return NULL;
	arena_used += size;
	return room;
}

struct tree *tree_new(enum tree_kind kind)
{
	struct tree *t = take_room(sizeof(*t));

	if (t)
		*t = (struct tree){.kind = kind, .text = ""};
	return t;
}

struct tree *tree_leaf(enum tree_kind kind, const char *text, size_t size)
{
	struct tree *t = tree_new(kind);
	char *copy = take_room(size + 1);

	if (!t || !copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	t->text = copy;
	return t;
}

static struct tree *leaf(enum tree_kind kind, const char *text)
{
	return tree_leaf(kind, text, strlen(text));
}

static bool make_room(struct tree *t, size_t more)
{
	size_t room = 2 * (t->count + more);
	struct tree **item;

	if (t->count + more <= t->room)
		return true;
	item = take_room(room * sizeof(*item));
	if (!item)
		return false;
	if (t->count)
		memcpy(item, t->item, t->count * sizeof(*item));
	t->item = item;
	t->room = room;
	return true;
}

void tree_add(struct tree *to, struct tree *item)
{
	if (to && item && make_room(to, 1))
		to->item[to->count++] = item;
}

/* Key and value both or none, so that a map stays one. */
static void add_pair(struct tree *to, struct tree *key, struct tree *value)
{
	if (!key || !value || !make_room(to, 2))
		return;
	to->item[to->count++] = key;
	to->item[to->count++] = value;
}

static struct tree *copy_of(const struct tree *t, unsigned int depth, size_t *left)
{
	struct tree *made;

	if (!*left || depth == TREE_DEPTH_MAX)
		return leaf(TREE_NUMBER, "0");
	--*left;
	made = tree_new(t->kind);
	if (!made)
		return NULL;
	made->text = t->text;
	for (size_t i = 0; i < t->count; i++) {
		struct tree *item = copy_of(t->item[i], depth + 1, left);

		if (!item || !make_room(made, 1))
			return NULL;
		made->item[made->count++] = item;
	}
	return made;
}

static struct tree *copy(const struct tree *t)
{
	size_t left = COPIES_MAX;

	return t ? copy_of(t, 0, &left) : NULL;
}

/* All values below t: a map's keys are not among them. */
static void find_slots(struct tree *t)
{
	size_t step = t->kind == TREE_MAP ? 2 : 1;

	for (size_t i = step - 1; i < t->count && slot_count < SLOTS_MAX; i += step) {
		slots[slot_count++] = (struct slot){t, i};
		find_slots(t->item[i]);
	}
}

static struct slot *any_slot(struct tree *root, struct dice *d)
{
	slot_count = 0;
	find_slots(root);
	return slot_count ? &slots[dice_below(d, slot_count)] : NULL;
}

static const char *any_number(struct dice *d)
{
	static const char *const numbers[] = {
		"0",
		"1",
		"-1",
		"2",
		"3",
		"7",
		"8",
		"9",
		"15",
		"16",
		"31",
		"32",
		"63",
		"64",
		"100",
		"127",
		"128",
		"255",
		"256",
		"257",
		"1023",
		"1024",
		"1025",
		"1500",
		"4096",
		"4097",
		"9000",
		"32767",
		"32768",
		"65535",
		"65536",
		"1000000000",
		"2147483647",
		"2147483648",
		"-2147483648",
		"4294967295",
		"4294967296",
		"9007199254740993",
		"9223372036854775807",
		"-9223372036854775808",
		"0.5",
		"-0.0",
		"1e300",
		"4611686018427387904",
	};
	static char made[32];

	if (!dice_one_in(d, 4))
		return numbers[dice_below(d, sizeof(numbers) / sizeof(numbers[0]))];
	snprintf(made, sizeof(made), "%lld",
		 (long long)(dice_number(d) >> dice_below(d, 64)) & INT64_MAX);
	return made;
}

static const char *any_word(struct dice *d)
{
	static const char *const words[] = {"true", "false", "null"};

	return words[dice_below(d, 3)];
}

static const char *any_text(struct dice *d)
{
	static const char *const texts[] = {
		"",
		" ",
		".",
		"..",
		"../x",
		"/",
		"-o",
		"a b",
		"\t",
		"\n",
		"\033[2J",
		"\x7f",
		"\xc2\x80",
		"\xc2\x9b"
		"31m",
		"\xe2\x80\xae",
		"\xef\xbb\xbf",
		"\xef\xbf\xbd",
		"\xf0\x9f\x98\x80",
		"\xf4\x8f\xbf\xbf",
		"e\xcc\x81",
		"%s%n",
		"0",
		"007",
		"0x10",
		"1e3",
		"+5",
		"3-1",
		"0-7",
		"0-63",
		"24-31",
		"3s",
		"0s",
		"10m",
		"999999999999h",
		"64KiB",
		"1G",
		"99999999999T",
		"on",
		"off",
		"auto",
		"yes",
		"h[1-3]",
		"h[0001-4096]",
		"[1-64][1-64]",
		"h[1-",
		"{name}",
		"{name}{name}",
		"198.18.0.1",
		"::1",
		"::ffff:1.2.3.4",
		"lab",
		"roce0",
		"eth0.100",
		"a.b.c",
		"00000000000000000000ffffc6120001",
	};
	static char made[LONG_MAX + 1];
	size_t size;

	if (!dice_one_in(d, 8))
		return texts[dice_below(d, sizeof(texts) / sizeof(texts[0]))];
	/* About the sizes of buffers: 16, 32, 64, 128, 256. */
	size = dice_one_in(d, 8) ? dice_below(d, LONG_MAX) : (size_t)15 << dice_below(d, 6);
	size += dice_below(d, 3);
	size = size > LONG_MAX ? LONG_MAX : size;
	memset(made, "xA0/"[dice_below(d, 4)], size);
	made[size] = '\0';
	return made;
}

static struct tree *any_leaf(struct dice *d)
{
	switch (dice_below(d, 5)) {
	case 0:
	case 1:
		return leaf(TREE_NUMBER, any_number(d));
	case 2:
		return leaf(TREE_WORD, any_word(d));
	default:
		return leaf(TREE_TEXT, any_text(d));
	}
}

static void replace(struct slot *s, struct tree *by)
{
	if (by)
		s->parent->item[s->at] = by;
}

/* Of the same kind. */
static void change_value(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	const struct tree *t = s ? s->parent->item[s->at] : NULL;

	(void)twice;
	if (!t)
		return;
	if (t->kind == TREE_NUMBER)
		replace(s, leaf(TREE_NUMBER, any_number(d)));
	else if (t->kind == TREE_WORD)
		replace(s, leaf(TREE_WORD, any_word(d)));
	else if (t->kind == TREE_TEXT)
		replace(s, leaf(TREE_TEXT, any_text(d)));
}

/* A number by a little, a text by a piece. */
static void change_little(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	const struct tree *t = s ? s->parent->item[s->at] : NULL;
	char made[512];
	size_t at;

	(void)twice;
	if (!t || t->kind == TREE_LIST || t->kind == TREE_MAP || strlen(t->text) > 256)
		return;
	if (t->kind == TREE_NUMBER) {
		snprintf(made, sizeof(made), "%lld",
			 (long long)((unsigned long long)strtoll(t->text, NULL, 10) + 2 -
				     dice_below(d, 5)));
		replace(s, leaf(TREE_NUMBER, made));
		return;
	}
	at = dice_below(d, strlen(t->text) + 1);
	while (at && ((unsigned char)t->text[at] & 0xc0) == 0x80)
		at--; /* no letter is cut */
	if (dice_one_in(d, 2))
		snprintf(made, sizeof(made), "%.*s%.200s%s", (int)at, t->text, any_text(d),
			 t->text + at);
	else
		snprintf(made, sizeof(made), "%.*s", (int)at, t->text);
	replace(s, leaf(TREE_TEXT, made));
}

static void change_kind(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	struct tree *made;

	(void)twice;
	if (!s)
		return;
	switch (dice_below(d, 4)) {
	case 0:
		made = tree_new(TREE_LIST);
		if (dice_one_in(d, 2))
			tree_add(made, s->parent->item[s->at]);
		break;
	case 1:
		made = tree_new(TREE_MAP);
		if (made && dice_one_in(d, 2))
			add_pair(made, leaf(TREE_TEXT, any_text(d)), s->parent->item[s->at]);
		break;
	default:
		made = any_leaf(d);
	}
	replace(s, made);
}

static void remove_item(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	size_t n, first;

	(void)twice;
	if (!s)
		return;
	n = s->parent->kind == TREE_MAP ? 2 : 1;
	first = s->at + 1 - n;
	memmove(s->parent->item + first, s->parent->item + first + n,
		(s->parent->count - first - n) * sizeof(s->parent->item[0]));
	s->parent->count -= n;
}

static void repeat_item(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	size_t n = dice_one_in(d, 4) ? dice_below(d, REPEAT_MAX) : 1 + dice_below(d, 3);

	if (!s || (s->parent->kind == TREE_MAP && !twice))
		return;
	if (s->parent->kind == TREE_MAP) {
		add_pair(s->parent, s->parent->item[s->at - 1], copy(s->parent->item[s->at]));
		return;
	}
	while (n--)
		tree_add(s->parent, copy(s->parent->item[s->at]));
}

/* Another part of the document takes the place, or that of a key. */
static void move_part(struct tree *root, bool twice, struct dice *d)
{
	struct slot *from = any_slot(root, d);
	struct tree *part = from ? copy(from->parent->item[from->at]) : NULL;
	struct slot *to = any_slot(root, d);

	(void)twice;
	if (part && to)
		replace(to, part);
}

static bool has_key(const struct tree *map, const char *key)
{
	for (size_t i = 0; i < map->count; i += 2)
		if (!strcmp(map->item[i]->text, key))
			return true;
	return false;
}

/* A key of this map, or of another, with its value. */
static void add_key(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	struct tree *key = leaf(TREE_TEXT, any_text(d)), *value = any_leaf(d), *to;

	if (s && s->parent->kind == TREE_MAP && !dice_one_in(d, 4)) {
		key = s->parent->item[s->at - 1];
		value = copy(s->parent->item[s->at]);
	}
	s = any_slot(root, d);
	to = s ? s->parent : root;
	if (key && to->kind == TREE_MAP && (twice || !has_key(to, key->text)))
		add_pair(to, key, value);
}

static void rename_key(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	struct tree *key = leaf(TREE_TEXT, any_text(d));

	if (s && key && s->parent->kind == TREE_MAP && (twice || !has_key(s->parent, key->text)))
		s->parent->item[s->at - 1] = key;
}

static void swap_items(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);
	size_t other;

	(void)twice;
	if (!s)
		return;
	other = dice_below(d, s->parent->count);
	if (s->parent->kind == TREE_MAP)
		other |= 1;
	if (other < s->parent->count) {
		struct tree *t = s->parent->item[other];

		s->parent->item[other] = s->parent->item[s->at];
		s->parent->item[s->at] = t;
	}
}

static void empty_collection(struct tree *root, bool twice, struct dice *d)
{
	struct slot *s = any_slot(root, d);

	(void)twice;
	if (s && dice_one_in(d, 2))
		s->parent->item[s->at]->count = 0;
	else if (s && s->parent != root)
		s->parent->count = 0;
}

void tree_mutate(struct tree *root, bool twice, struct dice *d)
{
	static void (*const changes[])(struct tree * root, bool twice, struct dice *d) = {
		change_value, change_value, change_little, change_little,
		change_kind,  remove_item,  repeat_item,   move_part,
		add_key,      rename_key,   swap_items,	   empty_collection,
	};

	/* libFuzzer applies several mutations itself; what has many changes is seldom taken. */
	for (size_t n = dice_one_in(d, 4) ? 1 + dice_below(d, CHANGES_MAX) : 1; n; n--)
		changes[dice_below(d, sizeof(changes) / sizeof(changes[0]))](root, twice, d);
}

/* Preferably under the same key: what fits, but for this document. */
void tree_cross(struct tree *root, const struct tree *from, struct dice *d)
{
	struct tree *part = copy(from);
	struct slot *s = part ? any_slot(part, d) : NULL;
	const char *key = s && s->parent->kind == TREE_MAP ? s->parent->item[s->at - 1]->text
							   : NULL;
	struct slot *to;

	if (!s)
		return;
	part = s->parent->item[s->at];
	to = any_slot(root, d);
	for (size_t i = 0; key && to && i < slot_count; i++) {
		struct slot *one = &slots[(size_t)(to - slots + i) % slot_count];

		if (one->parent->kind == TREE_MAP &&
		    !strcmp(one->parent->item[one->at - 1]->text, key)) {
			to = one;
			break;
		}
	}
	if (to)
		replace(to, part);
}

void tree_put(struct tree_out *out, const char *text, size_t size)
{
	if (out->full || size > out->size - out->used) {
		out->full = true;
		return;
	}
	memcpy(out->data + out->used, text, size);
	out->used += size;
}
