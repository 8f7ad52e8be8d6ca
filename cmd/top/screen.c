/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements screen.h with ncursesw. Uses newterm(), since initscr() ends the process on errors.
 * Draws lines with characters of the locale, since terminal multiplexers show ACS cells as letters.
 */
#include "cmd/top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "profiles/base/text.h"

enum {
	PAIR_WARN = 1,
	PAIR_CRITICAL,
};

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* The one terminal of the process; a variable, so that the crash handler can reach it. */
static struct {
	SCREEN *curses;
	FILE *out;
	bool colour, utf8;
	struct termios before;
	char leave[64]; /* restores the cursor and the normal screen */
} state;

static void screen_on_crash(int signal)
{
	(void)!write(STDOUT_FILENO, state.leave, strlen(state.leave));
	(void)tcsetattr(STDOUT_FILENO, TCSANOW, &state.before);
	raise(signal); /* SA_RESETHAND: with its default action */
}

static void screen_set_crash_handlers(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESETHAND | SA_NODEFER};

	for (size_t i = 0; i < ARRAY_SIZE(crash_signals); i++)
		sigaction(crash_signals[i], &action, NULL);
}

static void screen_set_colours(bool colour)
{
	state.colour = colour && has_colors() && start_color() == OK && use_default_colors() == OK;
	if (!state.colour)
		return;
	init_pair(PAIR_WARN, COLOR_YELLOW, -1);
	init_pair(PAIR_CRITICAL, COLOR_RED, -1);
}

int screen_open(bool colour, struct err *e)
{
	const char *term = getenv("TERM");

	if (!term || !*term || !strcmp(term, "dumb") || tcgetattr(STDOUT_FILENO, &state.before))
		return err_set(e, -ENOTTY, "terminal '%s' cannot show a full screen",
			       term ? term : "");
	/* Not through stdout, which sanitizes controls; screen_text() sanitizes texts instead. */
	state.out = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "w");
	state.curses = state.out ? newterm(NULL, state.out, stdin) : NULL;
	if (!state.curses) {
		if (state.out)
			fclose(state.out);
		return err_set(e, -ENOTTY, "terminal '%s' has no terminfo entry", term);
	}
	state.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	snprintf(state.leave, sizeof(state.leave), "%s%s", cursor_normal ? cursor_normal : "",
		 exit_ca_mode ? exit_ca_mode : "");
	screen_set_crash_handlers(screen_on_crash);
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	(void)curs_set(0); /* some terminals cannot hide it */
	screen_set_colours(colour);
	return 0;
}

void screen_close(void)
{
	if (!state.curses)
		return;
	endwin();
	delscreen(state.curses);
	fclose(state.out);
	state.curses = NULL;
	state.out = NULL;
	screen_set_crash_handlers(SIG_DFL);
}

void screen_size(unsigned int *width, unsigned int *height)
{
	*width = (unsigned int)COLS;
	*height = (unsigned int)LINES;
}

int screen_key(int timeout_ms)
{
	static const struct {
		int curses, key;
	} keys[] = {
		{ERR, SCREEN_KEY_NONE},
		{KEY_UP, SCREEN_KEY_UP},
		{KEY_DOWN, SCREEN_KEY_DOWN},
		{KEY_PPAGE, SCREEN_KEY_PAGE_UP},
		{KEY_NPAGE, SCREEN_KEY_PAGE_DOWN},
		{KEY_HOME, SCREEN_KEY_HOME},
		{KEY_RESIZE, SCREEN_KEY_RESIZE},
	};
	int got;

	wtimeout(stdscr, timeout_ms);
	got = wgetch(stdscr);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == got)
			return keys[i].key;
	return got < 0x100 ? got : SCREEN_KEY_OTHER;
}

void screen_erase(void)
{
	erase();
}

static attr_t screen_style_attr(enum screen_style style)
{
	switch (style) {
	case SCREEN_DIM:
		return A_DIM;
	case SCREEN_HEAD:
		return A_REVERSE;
	case SCREEN_WARN:
		return state.colour ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_WARN) : A_BOLD;
	case SCREEN_CRITICAL:
		return state.colour ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_CRITICAL)
				    : A_BOLD | A_REVERSE;
	case SCREEN_PLAIN:
		break;
	}
	return A_NORMAL;
}

void screen_text(unsigned int y, unsigned int x, enum screen_style style, const char *text)
{
	char *safe;

	if (y >= (unsigned int)LINES || x >= (unsigned int)COLS)
		return;
	safe = text_copy(text, TEXT_FIELD);
	attrset(screen_style_attr(style));
	/* ERR in the last cell is not an error */
	(void)mvaddnstr((int)y, (int)x, safe ? safe : "?", COLS - (int)x);
	attrset(A_NORMAL);
	free(safe);
}

void screen_rule(unsigned int y)
{
	attrset(screen_style_attr(SCREEN_DIM));
	for (int x = 0; y < (unsigned int)LINES && x < COLS; x++)
		(void)mvaddstr((int)y, x, state.utf8 ? "\u2500" : "-"); /* as above */
	attrset(A_NORMAL);
}

void screen_show(void)
{
	refresh();
}
