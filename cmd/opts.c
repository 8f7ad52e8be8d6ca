/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses options by table: exact words, "--name value", "--name=value", "-x value", "-xvalue"; "--"
 * ends options. Flags accept no value. Errors name the word and the nearest accepted one.
 */
#include "cmd/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output.h"
#include "profiles/yaml/diag.h"

#define OPTS_MAX 64

const char *const opt_formats[] = {"text", "json", "junit", NULL};
const char *const opt_severities[] = {"error", "warn", NULL};

static const struct opt *opts_find_long(const struct opt *opts, const char *word, size_t len)
{
	for (const struct opt *o = opts; o->name; o++) {
		if (strlen(o->name) == len && !strncmp(o->name, word, len))
			return o;
	}
	return NULL;
}

static const struct opt *opts_find_letter(const struct opt *opts, char letter)
{
	for (const struct opt *o = opts; o->name; o++) {
		if (o->letter && o->letter == letter)
			return o;
	}
	return NULL;
}

static int opts_unknown(const struct opt *opts, const char *word, struct err *e)
{
	const char *names[OPTS_MAX + 1];
	const char *near;
	char plain[64]; /* without a value */
	unsigned int n = 0;
	int rc;

	for (const struct opt *o = opts; o->name && n < OPTS_MAX; o++)
		names[n++] = o->name;
	names[n] = NULL;
	rc = err_set(e, -EINVAL, "unknown option '%s'", word);
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(word, "="), word);
	near = plain[0] == '-' && plain[1] == '-' ? diag_nearest(plain + 2, names) : NULL;
	if (near)
		err_hint(e, "did you mean '--%s'?", near);
	else
		err_hint(e, "--help lists the options");
	return rc;
}

static int opts_parse_uint(const struct opt *o, const char *text, unsigned int *value,
			   struct err *e)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || v > 0xffffffffUL)
		return err_set(e, -EINVAL, "--%s: invalid number '%s'", o->name, text);
	if ((o->min || o->max) && (v < o->min || v > o->max))
		return err_set(e, -EINVAL, "--%s: %lu is out of range: expected %u to %u", o->name,
			       v, o->min, o->max);
	*value = (unsigned int)v;
	return 0;
}

static int opts_parse_duration(const struct opt *o, const char *text, unsigned int *ms,
			       struct err *e)
{
	static const struct {
		const char *unit;
		unsigned int ms;
	} units[] = {
		{"ms", 1},
		{"s", 1000},
		{"m", 60000},
		{"h", 3600000},
	};
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !errno) {
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			if (strcmp(end, units[i].unit) || v > 0xffffffffUL / units[i].ms)
				continue;
			*ms = (unsigned int)v * units[i].ms;
			return 0;
		}
	}
	return err_set(
		e, -EINVAL,
		"--%s: invalid duration '%s': expected a number with a unit (500ms, 10s, 2m, 1h)",
		o->name, text);
}

static void opts_hint_words(const struct opt *o, struct err *e)
{
	char all[200] = "";
	size_t used = 0;

	for (const char *const *w = o->words; *w && used < sizeof(all); w++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "",
					 *w);
	err_hint(e, "expected one of: %s", all);
}

static int opts_check_word(const struct opt *o, const char *value, struct err *e)
{
	const char *near;

	for (const char *const *w = o->words; *w; w++) {
		if (!strcmp(*w, value))
			return 0;
	}
	near = diag_nearest(value, o->words);
	err_set(e, -EINVAL, "--%s: invalid value '%s'", o->name, value);
	if (near)
		err_hint(e, "did you mean '%s'?", near);
	else
		opts_hint_words(o, e);
	return -EINVAL;
}

static int opts_store(const struct opt *o, const char *value, struct err *e)
{
	struct opt_list *list;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->value = true;
		return 0;
	case OPT_STRING:
		if (o->words && opts_check_word(o, value, e))
			return e->code;
		*(const char **)o->value = value;
		return 0;
	case OPT_UINT:
		return opts_parse_uint(o, value, o->value, e);
	case OPT_DURATION:
		return opts_parse_duration(o, value, o->value, e);
	case OPT_LIST:
		list = o->value;
		if (list->count == OPT_LIST_MAX)
			return err_set(e, -EINVAL, "--%s is given more than %d times", o->name,
				       OPT_LIST_MAX);
		if (o->words && opts_check_word(o, value, e))
			return e->code;
		list->item[list->count++] = value;
		return 0;
	}
	return -EINVAL;
}

/* One walk over the words of a command line. */
struct walk {
	const struct opt *opts;
	int argc, i;
	char **argv;
	uint64_t seen; /* bit by row, to refuse an option that is given twice */
};

/* value: the part after "=" or the letter; NULL: the next word is the value. */
static int opts_parse_value(struct walk *w, const struct opt *o, const char *value, struct err *e)
{
	uint64_t bit = UINT64_C(1) << (o - w->opts) % OPTS_MAX;

	if (!value && w->i + 1 >= w->argc)
		return err_set(e, -EINVAL, "--%s needs a value (%s)", o->name, o->arg);
	if (o->kind != OPT_LIST && w->seen & bit)
		return err_set(e, -EINVAL, "--%s is given twice", o->name);
	w->seen |= bit;
	return opts_store(o, value ? value : w->argv[++w->i], e);
}

static int opts_parse_long(struct walk *w, const char *word, struct err *e)
{
	size_t len = strcspn(word + 2, "=");
	const struct opt *o = opts_find_long(w->opts, word + 2, len);
	const char *value = word[2 + len] == '=' ? word + 2 + len + 1 : NULL;

	if (!o)
		return opts_unknown(w->opts, word, e);
	if (o->kind != OPT_FLAG)
		return opts_parse_value(w, o, value, e);
	if (value)
		return err_set(e, -EINVAL, "'%s': --%s takes no value", word, o->name);
	return opts_store(o, NULL, e);
}

/* "-jq" is "-j -q"; the first letter that takes a value takes the rest of the word. */
static int opts_parse_letters(struct walk *w, const char *word, struct err *e)
{
	for (const char *p = word + 1; *p; p++) {
		const struct opt *o = opts_find_letter(w->opts, *p);

		if (!o)
			return opts_unknown(w->opts, word, e);
		if (o->kind != OPT_FLAG)
			return opts_parse_value(w, o, p[1] ? p + 1 : NULL, e);
		opts_store(o, NULL, e);
	}
	return 0;
}

int opts_parse(const struct opt *opts, int *argc, char **argv, bool stop_at_operand, struct err *e)
{
	static const struct opt none[] = {{.name = NULL}};
	struct walk w = {.opts = opts ? opts : none, .argc = *argc, .argv = argv};
	bool ended = false;
	int kept = 0;

	for (w.i = 1; w.i < *argc; w.i++) {
		const char *word = argv[w.i];

		if (!ended && !strcmp(word, "--")) {
			ended = true;
			continue;
		}
		if (ended || word[0] != '-' || !word[1]) {
			ended = ended || stop_at_operand;
			argv[kept++] = argv[w.i];
			continue;
		}
		if (word[1] == '-' ? opts_parse_long(&w, word, e) : opts_parse_letters(&w, word, e))
			return e->code;
	}
	*argc = kept;
	argv[kept] = NULL;
	return 0;
}

#define HELP_COLUMN 37 /* of the texts of options; tests and cmd/man/tables.sh rely on it */

void opts_usage(const struct opt *opts, FILE *out)
{
	char left[64];

	for (const struct opt *o = opts; o && o->name; o++) {
		if (o->group)
			fprintf(out, " %s:\n", o->group);
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		output_wrap(out, o->help, (unsigned int)fprintf(out, "  %-34s ", left), HELP_COLUMN,
			    OUTPUT_COLUMNS);
		fputc('\n', out);
		for (const char *const *w = o->words; w && *w; w++)
			fprintf(out, "%s%s%s",
				w == o->words ? "                                       " : " | ",
				*w, w[1] ? "" : "\n");
	}
}
