/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of a transaction: each answer of tx_decide() as a row; and every sequence of events
 * up to a length, played against it with a kernel, a disk and a clock of this test. The tool, its
 * dead-man, 'confirm', 'rollback' and the boot are a few lines each here, as they are in dcb/apply:
 * all that is decided, tx_decide() decides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/apply/decide.h"

struct row {
	const char *name;
	enum tx_event event;
	struct tx_view view;
	enum tx_act act;
};

#define RUNNING .state = TX_RUNNING, .guarded = true
#define DONE	.state = TX_DONE, .guarded = true

static const struct row rows[] = {
	{"just armed", TX_LOOK, {RUNNING, .deadman = true}, TX_WAIT},
	{"died in the middle", TX_LOOK, {RUNNING, .deadman = true, .tool_gone = true}, TX_UNDO},
	{"hung", TX_LOOK, {RUNNING, .deadman = true, .late = true}, TX_UNDO},
	{"done", TX_LOOK, {DONE, .deadman = true, .tool_gone = true}, TX_WAIT},
	{"nobody came", TX_LOOK, {DONE, .deadman = true, .tool_gone = true, .late = true}, TX_UNDO},
	{"nobody came, and the tool is there",
	 TX_LOOK,
	 {DONE, .deadman = true, .late = true},
	 TX_UNDO},
	{"confirmed", TX_LOOK, {DONE, .confirmed = true, .late = true}, TX_STOP},
	{"undone by somebody", TX_LOOK, {.state = TX_UNDONE, .guarded = true}, TX_STOP},
	{"an undo failed", TX_LOOK, {.state = TX_LOST, .guarded = true}, TX_UNDO},
	{"done and waits", TX_CONFIRM, {DONE, .deadman = true}, TX_KEEP},
	{"done, the dead-man was killed", TX_CONFIRM, {DONE}, TX_KEEP},
	{"too late", TX_CONFIRM, {DONE, .late = true}, TX_REFUSE_LATE},
	{"changed since", TX_CONFIRM, {DONE, .differs = true}, TX_REFUSE_DIFFERS},
	{"twice", TX_CONFIRM, {DONE, .confirmed = true, .late = true}, TX_REFUSE_CONFIRMED},
	{"need not be", TX_CONFIRM, {.state = TX_DONE}, TX_REFUSE_UNGUARDED},
	{"after a reboot", TX_CONFIRM, {DONE, .other_boot = true}, TX_REFUSE_REBOOT},
	{"in the middle", TX_CONFIRM, {RUNNING, .deadman = true}, TX_REFUSE_NOT_DONE},
	{"what is undone", TX_CONFIRM, {.state = TX_UNDONE, .guarded = true}, TX_REFUSE_NOT_DONE},
	{"promise", TX_PROMISE, {DONE, .deadman = true}, TX_GO_ON},
	{"promise without a dead-man", TX_PROMISE, {DONE}, TX_UNDO},
	{"promise behind a confirmation",
	 TX_PROMISE,
	 {DONE, .confirmed = true, .late = true},
	 TX_GO_ON},
	{"promise behind the undo",
	 TX_PROMISE,
	 {.state = TX_UNDONE, .guarded = true},
	 TX_REFUSE_NOT_DONE},
	{"promise too late", TX_PROMISE, {DONE, .late = true}, TX_REFUSE_LATE},
	{"another one waits", TX_BEGIN, {DONE, .deadman = true}, TX_REFUSE_WAITS},
	{"another one waits, its dead-man was killed", TX_BEGIN, {DONE}, TX_REFUSE_WAITS},
	{"another one is overdue", TX_BEGIN, {DONE, .late = true}, TX_REFUSE_OVERDUE},
	{"another one is being undone",
	 TX_BEGIN,
	 {DONE, .deadman = true, .late = true},
	 TX_REFUSE_WAITS},
	{"another one was interrupted", TX_BEGIN, {.state = TX_RUNNING}, TX_REFUSE_INTERRUPTED},
	{"another one stands", TX_BEGIN, {.state = TX_DONE}, TX_GO_ON},
	{"another one was confirmed", TX_BEGIN, {DONE, .confirmed = true, .late = true}, TX_GO_ON},
	{"another one is of another boot", TX_BEGIN, {DONE, .other_boot = true}, TX_GO_ON},
	{"another one was lost", TX_BEGIN, {.state = TX_LOST}, TX_GO_ON},
	{"a boot behind an interruption",
	 TX_BOOT,
	 {.state = TX_RUNNING, .other_boot = true},
	 TX_UNDO},
	{"a boot behind an undo in vain", TX_BOOT, {.state = TX_LOST, .other_boot = true}, TX_UNDO},
	{"a boot, not confirmed", TX_BOOT, {DONE, .other_boot = true}, TX_UNDO},
	{"a boot, confirmed", TX_BOOT, {DONE, .confirmed = true, .other_boot = true}, TX_KEEP},
	{"a boot, stands", TX_BOOT, {.state = TX_DONE, .other_boot = true}, TX_KEEP},
	{"a boot, undone", TX_BOOT, {.state = TX_UNDONE, .other_boot = true}, TX_STOP},
	{"a start of the unit in this boot", TX_BOOT, {DONE}, TX_WAIT},
	{"roll back what is done", TX_ROLLBACK, {.state = TX_DONE}, TX_UNDO},
	{"roll back what is undone", TX_ROLLBACK, {.state = TX_UNDONE}, TX_REFUSE_NOTHING},
};

static void test_rows(void **state)
{
	struct tx tx = {.id = "20260101-000000-00"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum tx_act act = tx_decide(&rows[i].view, rows[i].event);
		struct err e = {0};

		if (act != rows[i].act)
			fail_msg("%s: %d", rows[i].name, act);
		tx.state = rows[i].view.state;
		assert_true(!tx_refuse(act, &tx, &e) == (act < TX_REFUSE_WAITS));
		assert_true(act < TX_REFUSE_WAITS || strstr(e.text, tx.id));
	}
}

/* The deadline is that of its state. */
static void test_late(void **state)
{
	struct tx tx = {.state = TX_RUNNING, .deadline_ms = 1000, .confirm_by_ms = 500};

	(void)state;
	assert_false(tx_view(&tx, true, 999).late);
	assert_true(tx_view(&tx, true, 1000).late);
	tx.state = TX_DONE;
	assert_false(tx_view(&tx, true, 499).late);
	assert_true(tx_view(&tx, true, 500).late);
}

#define LENGTH 8

/* What the kernel has. */
enum setting { BEFORE, HALF, PLANNED, NEWER, FOREIGN };

enum disk { GOOD, FULL, HANGS, GONE };

enum process { NONE, RUNS, STOPPED, ENDED, KILLED };

/* What the tool does next. */
enum tool_at { AT_RECORD, AT_ARM, AT_FIRST, AT_SECOND, AT_DONE, AT_RESULT, AT_PROMISE, AT_END };

/* All of the world; compared and hashed as bytes. */
struct world {
	uint8_t setting, disk, tool, tool_at, deadman;
	uint8_t recorded;     /* enum tx_state of the journal; TX_EMPTY: none */
	uint8_t is_confirmed; /* in the journal */
	uint8_t known;	      /* enum tx_state as the dead-man knows it */
	uint8_t late;	      /* the deadline has passed */
	uint8_t other_boot;   /* of the journal */
	uint8_t promised, said_yes, taken_back, was_undone;
	uint8_t newer; /* a second tool's transaction stands */
};

enum event {
	EV_STEP, /* the tool goes one step on */
	EV_TOOL_KILLED,
	EV_TOOL_STOPS, /* or goes on */
	EV_DEADMAN_KILLED,
	EV_DEADMAN_STOPS, /* or goes on */
	EV_DISK_GOOD,
	EV_DISK_FULL,
	EV_DISK_HANGS,
	EV_DISK_GONE,
	EV_CONFIRM,
	EV_DEADLINE, /* of what is under way passes, with 5 s behind it */
	EV_REBOOT,
	EV_SECOND_TOOL,
	EV_ROLLBACK,
	EV_FOREIGN_WRITE,
	EVENTS,
};

static const char *const event_words[EVENTS] = {
	"step",	     "kill tool", "stop tool",	 "kill dead-man", "stop dead-man",
	"disk good", "disk full", "disk hangs",	 "disk gone",	  "confirm",
	"deadline",  "reboot",	  "second tool", "rollback",	  "foreign write",
};

/* A result reaches the journal, or the caller learns that it did not. */
static bool append(struct world *w, enum tx_state state, bool confirmed)
{
	if (w->disk != GOOD || w->recorded == TX_EMPTY)
		return false;
	if (w->recorded == TX_UNDONE) /* what is undone stays undone */
		return state == TX_UNDONE;
	w->recorded = state;
	w->is_confirmed = confirmed;
	return true;
}

static bool is_there(uint8_t process)
{
	return process == RUNS || process == STOPPED;
}

static struct tx_view view_of(const struct world *w, enum tx_state state)
{
	return (struct tx_view){.state = state,
				.guarded = true,
				.confirmed = w->is_confirmed,
				.other_boot = w->other_boot,
				.deadman = is_there(w->deadman),
				.tool_gone = !is_there(w->tool),
				.late = w->late,
				.differs = w->setting != PLANNED};
}

static enum tx_act decide(const struct world *w, enum tx_state state, enum tx_event event)
{
	const struct tx_view v = view_of(w, state);

	return tx_decide(&v, event);
}

static void put_back(struct world *w)
{
	w->setting = BEFORE;
	w->was_undone = true;
}

/* The dead-man looks whenever something has happened to it; the undo first, its record behind it.
 */
static void look(struct world *w)
{
	enum tx_act act;

	if (w->deadman != RUNS)
		return;
	act = decide(w, w->known, TX_LOOK);
	if (act == TX_UNDO) {
		/* A tool that hangs in its midst is killed first. */
		if (w->known == TX_RUNNING && is_there(w->tool))
			w->tool = KILLED;
		put_back(w);
		w->known = TX_UNDONE;
		w->deadman = ENDED;
		(void)append(w, TX_UNDONE, false);
	} else if (act == TX_STOP) {
		w->deadman = ENDED;
	}
}

/* What the tool does when anything fails. */
static void fail_tool(struct world *w)
{
	put_back(w);
	(void)append(w, TX_UNDONE, false);
	if (is_there(w->deadman))
		w->deadman = ENDED; /* told, or killed when it does not answer */
	w->tool = ENDED;
}

static void step_tool(struct world *w)
{
	enum tx_act act;

	switch ((enum tool_at)w->tool_at++) {
	case AT_RECORD:
		if (w->disk != GOOD) {
			w->tool = ENDED;
			return;
		}
		w->recorded = TX_RUNNING;
		return;
	case AT_ARM:
		w->deadman = RUNS;
		w->known = TX_RUNNING;
		return;
	case AT_FIRST:
		w->setting = HALF;
		return;
	case AT_SECOND:
		w->setting = PLANNED;
		return;
	case AT_DONE:
		if (w->deadman != RUNS) {
			fail_tool(w);
			return;
		}
		w->known = TX_DONE;
		return;
	case AT_RESULT:
		if (!append(w, TX_DONE, false))
			fail_tool(w);
		return;
	case AT_PROMISE:
		act = decide(w, w->deadman == RUNS ? w->known : w->recorded, TX_PROMISE);
		if (act == TX_GO_ON && (w->deadman == RUNS || w->is_confirmed))
			w->promised = true;
		else
			fail_tool(w);
		return;
	case AT_END:
		w->tool = ENDED;
		return;
	}
}

static bool has_lock(const struct world *w)
{
	return is_there(w->tool) && w->tool_at <= AT_RESULT;
}

/* 'confirm': the dead-man decides, or it itself where there is none. */
static void confirm(struct world *w)
{
	enum tx_state state = w->recorded;

	/* It does not answer; nothing is there; the tool has the lock until its end is recorded. */
	if (w->deadman == STOPPED || w->recorded == TX_EMPTY || has_lock(w))
		return;
	if (w->deadman == RUNS)
		state = w->known;
	if (decide(w, state, TX_CONFIRM) == TX_KEEP && append(w, TX_DONE, true))
		w->said_yes = true;
	look(w);
}

static void roll_back(struct world *w)
{
	if (w->disk == HANGS || w->disk == GONE || has_lock(w))
		return;
	if (w->newer || decide(w, w->recorded, TX_ROLLBACK) != TX_UNDO)
		return;
	w->setting = BEFORE;
	w->taken_back = true;
	/* Else it says that it is not recorded, and what a boot may do. */
	w->was_undone |= append(w, TX_UNDONE, false);
	if (is_there(w->deadman))
		w->deadman = ENDED;
}

static void second_tool(struct world *w)
{
	if (w->disk != GOOD || w->newer || has_lock(w))
		return;
	if (decide(w, w->recorded, TX_BEGIN) != TX_GO_ON)
		return;
	w->setting = NEWER;
	w->newer = true;
}

/* Settings of a NIC are gone then, but for those that it keeps: both are played, the worse counts.
 */
static void reboot(struct world *w)
{
	if (is_there(w->tool))
		w->tool = KILLED;
	if (is_there(w->deadman))
		w->deadman = KILLED;
	w->disk = GOOD;
	w->late = false;
	w->other_boot = w->recorded != TX_EMPTY;
	switch (decide(w, w->recorded, TX_BOOT)) {
	case TX_UNDO:
		if (!w->newer)
			put_back(w);
		w->recorded = TX_UNDONE;
		break;
	case TX_KEEP:
		if (!w->newer)
			w->setting = PLANNED;
		break;
	default:
		break;
	}
}

static void play(struct world *w, enum event event)
{
	switch (event) {
	case EV_STEP:
		/* One whose storage hangs goes on when that does. */
		if (w->tool == RUNS &&
		    !(w->disk == HANGS && (w->tool_at == AT_RECORD || w->tool_at == AT_RESULT)))
			step_tool(w);
		break;
	case EV_TOOL_KILLED:
		if (is_there(w->tool))
			w->tool = KILLED;
		break;
	case EV_TOOL_STOPS:
		w->tool = w->tool == RUNS ? STOPPED : w->tool == STOPPED ? RUNS : w->tool;
		break;
	case EV_DEADMAN_KILLED:
		if (is_there(w->deadman))
			w->deadman = KILLED;
		break;
	case EV_DEADMAN_STOPS:
		w->deadman = w->deadman == RUNS	     ? STOPPED
			     : w->deadman == STOPPED ? RUNS
						     : w->deadman;
		break;
	case EV_DISK_GOOD:
	case EV_DISK_FULL:
	case EV_DISK_HANGS:
	case EV_DISK_GONE:
		w->disk = (uint8_t)(GOOD + (event - EV_DISK_GOOD));
		break;
	case EV_CONFIRM:
		confirm(w);
		break;
	case EV_DEADLINE:
		w->late = w->recorded != TX_EMPTY;
		break;
	case EV_REBOOT:
		reboot(w);
		break;
	case EV_SECOND_TOOL:
		second_tool(w);
		break;
	case EV_ROLLBACK:
		roll_back(w);
		break;
	case EV_FOREIGN_WRITE:
		if (w->setting == PLANNED && w->recorded == TX_DONE && !w->is_confirmed)
			w->setting = FOREIGN;
		break;
	case EVENTS:
		break;
	}
	look(w);
}

/* Why this world must not be, or NULL. */
static const char *broken(const struct world *w)
{
	bool back = w->setting == BEFORE || w->setting == NEWER;

	if (w->late && !w->said_yes && w->deadman == RUNS && !back)
		return "not confirmed at the deadline, and the former settings are not back";
	if (w->late && w->promised && !w->said_yes && w->deadman == ENDED && !back)
		return "promised, not confirmed at the deadline, and not undone";
	if (w->said_yes && !w->taken_back && !w->newer && w->setting != PLANNED)
		return "'confirm' said yes, and what stood is gone";
	if (w->said_yes && w->was_undone && !w->taken_back)
		return "'confirm' said yes to what was undone";
	if (w->was_undone && !w->newer && w->setting == PLANNED)
		return "what was undone came back";
	if (w->recorded == TX_UNDONE && w->setting == HALF)
		return "a half of the plan is called undone";
	return NULL;
}

/* With a good disk and time somebody gets out of it: a rollback, or a reboot. */
static const char *stuck(const struct world *from)
{
	static const enum event way[] = {EV_DISK_GOOD, EV_DEADLINE,    EV_STEP,	   EV_STEP, EV_STEP,
					 EV_STEP,      EV_STEP,	       EV_STEP,	   EV_STEP, EV_STEP,
					 EV_DEADLINE,  EV_TOOL_KILLED, EV_ROLLBACK};
	struct world w = *from;

	for (unsigned int i = 0; i < ARRAY_SIZE(way); i++)
		play(&w, way[i]);
	if (w.setting == HALF || w.setting == FOREIGN)
		return "no way out";
	if (!w.newer && decide(&w, w.recorded, TX_BEGIN) != TX_GO_ON)
		return "nothing new can begin";
	return NULL;
}

/* The worlds that n events lead to, each once, with how many sequences lead there. */
struct worlds {
	struct world *world;
	uint64_t *sequences;
	size_t count, room;
	uint32_t *slot; /* index + 1; open addressing */
	size_t slots;
};

static void worlds_init(struct worlds *ws)
{
	*ws = (struct worlds){.room = 1 << 20, .slots = 1 << 22};
	ws->world = calloc(ws->room, sizeof(*ws->world));
	ws->sequences = calloc(ws->room, sizeof(*ws->sequences));
	ws->slot = calloc(ws->slots, sizeof(*ws->slot));
	assert_true(ws->world && ws->sequences && ws->slot);
}

static void worlds_free(struct worlds *ws)
{
	free(ws->world);
	free(ws->sequences);
	free(ws->slot);
}

static void worlds_add(struct worlds *ws, const struct world *w, uint64_t sequences)
{
	size_t at = fnv1a(FNV1A_START, w, sizeof(*w)) & (ws->slots - 1);

	for (; ws->slot[at]; at = (at + 1) & (ws->slots - 1)) {
		size_t i = ws->slot[at] - 1;

		if (!memcmp(&ws->world[i], w, sizeof(*w))) {
			ws->sequences[i] += sequences;
			return;
		}
	}
	assert_true(ws->count < ws->room);
	ws->world[ws->count] = *w;
	ws->sequences[ws->count] = sequences;
	ws->slot[at] = (uint32_t)++ws->count;
}

static void check(const struct world *w, const struct world *from, enum event event, int length)
{
	const char *why = broken(w);

	if (!why)
		why = stuck(w);
	if (why)
		fail_msg("%s: event %d, '%s': setting %d -> %d, disk %d, tool %d at %d, dead-man "
			 "%d, "
			 "journal %d%s, known %d, late %d, other boot %d, yes %d",
			 why, length, event_words[event], from->setting, w->setting, w->disk,
			 w->tool, w->tool_at, w->deadman, w->recorded,
			 w->is_confirmed ? " confirmed" : "", w->known, w->late, w->other_boot,
			 w->said_yes);
}

static void test_every_sequence(void **state)
{
	/* The tool's own steps come on top of LENGTH other events. */
	const int steps = AT_END + 1;
	struct worlds now, next;
	const struct world start = {.tool = RUNS};
	uint64_t sequences = 0;
	size_t seen = 0;

	(void)state;
	worlds_init(&now);
	worlds_add(&now, &start, 1);
	for (int length = 1; length <= LENGTH + steps; length++) {
		worlds_init(&next);
		for (size_t i = 0; i < now.count; i++)
			for (int event = 0; event < EVENTS; event++) {
				struct world w = now.world[i];

				play(&w, event);
				check(&w, &now.world[i], event, length);
				worlds_add(&next, &w, now.sequences[i]);
				sequences += length <= LENGTH ? now.sequences[i] : 0;
			}
		worlds_free(&now);
		now = next;
		seen = now.count > seen ? now.count : seen;
	}
	worlds_free(&now);
	print_message("# %llu sequences up to length %d, %zu states; all states up to length %d\n",
		      (unsigned long long)sequences, LENGTH, seen, LENGTH + steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_every_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
