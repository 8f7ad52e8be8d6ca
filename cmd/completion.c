/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `rocecheck completion SHELL`: scripts for bash, zsh and fish, generated from the command and
 * option tables. Interfaces and rule ids are listed at completion time.
 */
#include <string.h>

#include "cmd/cmd.h"

#define WORD_SIZE 32

/* Copies the first word of a command's name: "capture" of "capture decode". */
static void completion_first_word(const struct command *c, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)strcspn(c->name, " "), c->name);
}

/* Iterates over the first words, each once; returns the first command with it, NULL at the end.
 * word is "" at the start. */
static const struct command *completion_next_word(size_t *i, char word[WORD_SIZE])
{
	char last[WORD_SIZE];

	memcpy(last, word, sizeof(last));
	while (cmd_at(*i)) {
		const struct command *c = cmd_at((*i)++);

		completion_first_word(c, word, WORD_SIZE);
		if (!c->internal && strcmp(word, last))
			return c;
	}
	return NULL;
}

static void completion_print_options(const struct opt *opts)
{
	for (const struct opt *o = opts; o && o->name; o++)
		printf(" --%s", o->name);
}

static void completion_print_second(const char *first)
{
	char word[WORD_SIZE];

	for (size_t i = 0; cmd_at(i); i++) {
		completion_first_word(cmd_at(i), word, sizeof(word));
		if (!strcmp(word, first) && strchr(cmd_at(i)->name, ' '))
			printf(" %s", strchr(cmd_at(i)->name, ' ') + 1);
	}
}

static void completion_print_bash(void)
{
	const struct command *c;
	char word[WORD_SIZE] = "";
	size_t i = 0;

	puts("_rocecheck()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
	     "prev=${COMP_WORDS[COMP_CWORD-1]} words");
	puts("\tcase $prev in");
	puts("\t-i | --interface) words=$(ls /sys/class/net) ;;");
	puts("\texplain | --allow-inconclusive) words=$(rocecheck rules 2>/dev/null | "
	     "grep -o '^RC-[A-Z]*-[0-9]*') ;;");
	puts("\t*)\n\t\tcase ${COMP_WORDS[1]} in");
	while ((c = completion_next_word(&i, word))) {
		printf("\t\t%s) words=\"", word);
		completion_print_second(word);
		completion_print_options(c->opts);
		puts(" --help\" ;;");
	}
	printf("\t\t*) words=\"");
	i = 0;
	word[0] = '\0';
	for (const char *sep = ""; completion_next_word(&i, word); sep = " ")
		printf("%s%s", sep, word);
	completion_print_options(cmd_global_opts());
	puts("\" ;;\n\t\tesac ;;\n\tesac");
	puts("\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")");
	puts("\t[ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}");
	puts("complete -F _rocecheck rocecheck");
}

/* Prints a help text inside '...'; `quote` is the escaped quote of the shell. */
static void completion_print_quoted(const char *text, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, stdout);
		else
			putchar(*text);
	}
}

static void completion_print_zsh(void)
{
	const struct command *c;
	char word[WORD_SIZE] = "";
	size_t i = 0;

	puts("#compdef rocecheck\n_rocecheck() {\n\tlocal -a cmds\n\tcmds=(");
	while ((c = completion_next_word(&i, word))) {
		printf("\t\t'%s:", word);
		completion_print_quoted(strchr(c->name, ' ') ? "group of commands" : c->help,
					"'\\''");
		puts("'");
	}
	puts("\t)\n\tif (( CURRENT == 2 )); then _describe command cmds; return; fi\n\tcase "
	     "$words[2] in");
	for (i = 0; (c = cmd_at(i)); i++) {
		if (c->internal || strchr(c->name, ' '))
			continue;
		printf("\t%s) compadd --", c->name);
		completion_print_options(c->opts);
		puts(" --help; _files ;;");
	}
	puts("\t*) _files ;;\n\tesac\n}\n_rocecheck \"$@\"");
}

static void completion_print_fish(void)
{
	char word[WORD_SIZE];

	for (size_t i = 0; cmd_at(i); i++) {
		const struct command *c = cmd_at(i);

		completion_first_word(c, word, sizeof(word));
		if (c->internal)
			continue;
		printf("complete -c rocecheck -n __fish_use_subcommand -a %s -d '", word);
		completion_print_quoted(c->help, "\\'");
		puts("'");
		for (const struct opt *o = c->opts; o && o->name; o++) {
			printf("complete -c rocecheck -n '__fish_seen_subcommand_from %s' -l %s -d "
			       "'",
			       word, o->name);
			completion_print_quoted(o->help, "\\'");
			puts("'");
		}
	}
}

static int run_completion(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = {
		{"bash", completion_print_bash},
		{"zsh", completion_print_zsh},
		{"fish", completion_print_fish},
	};

	if (argc != 1)
		return cmd_usage(&cmd_completion, "expected one shell (bash, zsh, fish)");
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (strcmp(shells[i].name, argv[0]))
			continue;
		shells[i].print();
		return EXIT_OK;
	}
	return cmd_usage(&cmd_completion, "unsupported shell '%s' (bash, zsh, fish)", argv[0]);
}

const struct command cmd_completion = {
	.name = "completion",
	.args = "bash|zsh|fish",
	.help = "print a completion script for a shell",
	.run = run_completion,
};
