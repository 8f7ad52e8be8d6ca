/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full-screen terminal; the only user of ncurses. screen_close() restores the terminal, a signal
 * handler does so after a crash.
 */
#ifndef CMD_SCREEN_H
#define CMD_SCREEN_H

#include "profiles/base/base.h"

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_DIM,
	SCREEN_HEAD,	 /* headings: reverse */
	SCREEN_WARN,	 /* with colour yellow, else bold */
	SCREEN_CRITICAL, /* with colour red, else bold reverse */
};

/* Keys that are not characters. */
enum screen_key {
	SCREEN_KEY_NONE = -1, /* timeout or signal */
	SCREEN_KEY_ESC = 27,
	SCREEN_KEY_UP = 0x1000,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
	SCREEN_KEY_RESIZE,
	SCREEN_KEY_OTHER,
};

/* One screen at a time. -ENOTTY if the terminal does not support it (no TERM, dumb). */
int screen_open(bool colour, struct err *e);
void screen_close(void);

void screen_size(unsigned int *width, unsigned int *height);

/* Waits at most timeout_ms for a key. Returns a character, or enum screen_key. */
int screen_key(int timeout_ms);

/* Draw to a buffer; screen_show() updates the terminal. Text is cut at the edge. */
void screen_erase(void);
void screen_text(unsigned int y, unsigned int x, enum screen_style style, const char *text);
void screen_rule(unsigned int y); /* a horizontal line: ASCII without UTF-8 */
void screen_show(void);

#endif
