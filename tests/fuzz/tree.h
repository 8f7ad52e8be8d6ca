/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A document as a tree, whatever its language, and what a mutator does to one: so that an input is
 * well-formed again when it is written, and gets past the parser. Nodes live until tree_reset();
 * running out of room for them is no error, changes become smaller.
 */
#ifndef TESTS_FUZZ_TREE_H
#define TESTS_FUZZ_TREE_H

#include "tests/fuzz/fuzz.h"

#define TREE_DEPTH_MAX 48

enum tree_kind {
	TREE_TEXT,
	TREE_NUMBER,
	TREE_WORD, /* true, false, null */
	TREE_LIST,
	TREE_MAP,
};

struct tree {
	enum tree_kind kind;
	const char *text;   /* of TEXT, NUMBER, WORD: UTF-8 without a NUL in it */
	struct tree **item; /* of LIST; of MAP: key, value, key, value, and keys are TEXT */
	size_t count, room;
};

/* Numbers that depend on the seed alone. */
struct dice {
	uint64_t state;
};

struct dice dice_of(unsigned int seed);
uint64_t dice_number(struct dice *d);
/* 0 to below - 1; 0 of 0. */
size_t dice_below(struct dice *d, size_t below);
bool dice_one_in(struct dice *d, size_t n);

void tree_reset(void);

/* NULL when there is no room; tree_add() then leaves the item out, as it does with a NULL. */
struct tree *tree_new(enum tree_kind kind);
struct tree *tree_leaf(enum tree_kind kind, const char *text, size_t size);
void tree_add(struct tree *to, struct tree *item);

/* One to five changes. With `twice`, a map may get a key that it has. */
void tree_mutate(struct tree *root, bool twice, struct dice *d);

/* A part of `from` takes the place of a part of root. */
void tree_cross(struct tree *root, const struct tree *from, struct dice *d);

/* A text that is written piece by piece; `full` when it does not fit. */
struct tree_out {
	uint8_t *data;
	size_t used, size;
	bool full;
};

void tree_put(struct tree_out *out, const char *text, size_t size);

#endif
