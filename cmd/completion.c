/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `rocecheck completion SHELL`: scripts for bash, zsh and fish, generated from the command and
 * option tables. Words that only the machine knows (interfaces, rule ids) are asked for when
 * completing.
 */
#include <string.h>

#include "cmd/cmd.h"

/* First word of a command's name; the second only for "capture decode" and its like. */
static void first_word(const struct command *c, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)strcspn(c->name, " "), c->name);
}

static void print_commands(const char *sep)
{
	char word[32], last[32] = "";

	for (size_t i = 0; cmd_at(i); i++) {
		first_word(cmd_at(i), word, sizeof(word));
		if (cmd_at(i)->internal || !strcmp(word, last))
			continue;
		printf("%s%s", *last ? sep : "", word);
		snprintf(last, sizeof(last), "%s", word);
	}
}

static void print_options(const struct opt *opts)
{
	for (const struct opt *o = opts; o && o->name; o++)
		printf(" --%s", o->name);
}

static void print_second_words(const char *first)
{
	char word[32];

	for (size_t i = 0; cmd_at(i); i++) {
		first_word(cmd_at(i), word, sizeof(word));
		if (!strcmp(word, first) && strchr(cmd_at(i)->name, ' '))
			printf(" %s", strchr(cmd_at(i)->name, ' ') + 1);
	}
}

static void print_bash(void)
{
	char word[32], last[32] = "";

	puts("_rocecheck()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
	     "prev=${COMP_WORDS[COMP_CWORD-1]} words");
	puts("\tcase $prev in");
	puts("\t-i | --interface) words=$(ls /sys/class/net) ;;");
	puts("\texplain | --allow-inconclusive) words=$(rocecheck rules 2>/dev/null | "
	     "grep -o '^RC-[A-Z]*-[0-9]*') ;;");
	puts("\t*)\n\t\tcase ${COMP_WORDS[1]} in");
	for (size_t i = 0; cmd_at(i); i++) {
		first_word(cmd_at(i), word, sizeof(word));
		if (cmd_at(i)->internal || !strcmp(word, last))
			continue;
		printf("\t\t%s) words=\"", word);
		print_second_words(word);
		print_options(cmd_at(i)->opts);
		puts(" --help\" ;;");
		snprintf(last, sizeof(last), "%s", word);
	}
	printf("\t\t*) words=\"");
	print_commands(" ");
	print_options(cmd_global_opts());
	puts("\" ;;\n\t\tesac ;;\n\tesac");
	puts("\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")");
	puts("\t[ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}");
	puts("complete -F _rocecheck rocecheck");
}

/* A help text inside '...': how a shell wants a quote there is its own. */
static void print_quoted(const char *text, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, stdout);
		else
			putchar(*text);
	}
}

static void print_zsh(void)
{
	char word[32], last[32] = "";

	puts("#compdef rocecheck\n_rocecheck() {\n\tlocal -a cmds\n\tcmds=(");
	for (size_t i = 0; cmd_at(i); i++) {
		first_word(cmd_at(i), word, sizeof(word));
		if (cmd_at(i)->internal || !strcmp(word, last))
			continue;
		printf("\t\t'%s:", word);
		print_quoted(strchr(cmd_at(i)->name, ' ') ? "several commands" : cmd_at(i)->help,
			     "'\\''");
		puts("'");
		snprintf(last, sizeof(last), "%s", word);
	}
	puts("\t)\n\tif (( CURRENT == 2 )); then _describe command cmds; return; fi\n\tcase "
	     "$words[2] in");
	for (size_t i = 0; cmd_at(i); i++) {
		if (cmd_at(i)->internal || strchr(cmd_at(i)->name, ' '))
			continue;
		printf("\t%s) compadd --", cmd_at(i)->name);
		print_options(cmd_at(i)->opts);
		puts(" --help; _files ;;");
	}
	puts("\t*) _files ;;\n\tesac\n}\n_rocecheck \"$@\"");
}

static void print_fish(void)
{
	char word[32];

	for (size_t i = 0; cmd_at(i); i++) {
		const struct command *c = cmd_at(i);

		first_word(c, word, sizeof(word));
		if (c->internal)
			continue;
		printf("complete -c rocecheck -n __fish_use_subcommand -a %s -d '", word);
		print_quoted(c->help, "\\'");
		puts("'");
		for (const struct opt *o = c->opts; o && o->name; o++) {
			printf("complete -c rocecheck -n '__fish_seen_subcommand_from %s' -l %s -d "
			       "'",
			       word, o->name);
			print_quoted(o->help, "\\'");
			puts("'");
		}
	}
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = {
		{"bash", print_bash},
		{"zsh", print_zsh},
		{"fish", print_fish},
	};

	if (argc != 1)
		return cmd_usage(&cmd_completion, "one shell is needed: bash, zsh or fish");
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (strcmp(shells[i].name, argv[0]))
			continue;
		shells[i].print();
		return EXIT_OK;
	}
	return cmd_usage(&cmd_completion, "'%s' is no shell known here: bash, zsh or fish",
			 argv[0]);
}

const struct command cmd_completion = {
	.name = "completion",
	.args = "bash|zsh|fish",
	.help = "print a completion script for a shell",
	.run = run,
};
