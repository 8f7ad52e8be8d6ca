/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck: finds the command in the table, parses its options, runs it, and reports write errors
 * of stdout. Help and completion use the same tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "dcb/apply/journal.h"
#include "profiles/base/text.h"
#include "profiles/fabric.h"
#include "profiles/profile.h"

#define DESCRIPTORS_MIN 64

/* clang-format off */
static const struct {
	const struct command *command;
	const char *example; /* for its help */
} commands[] = {
	{&cmd_show, "rocecheck show -i eth2 --yaml"},
	{&cmd_lint, "rocecheck lint profile.yaml fabric.yaml"},
	{&cmd_plan, "rocecheck plan nvidia-nvue-lossless -i eth2"},
	{&cmd_apply, "rocecheck apply profile.yaml -i eth2 --confirm-within 60s"},
	{&cmd_confirm, "rocecheck confirm"},
	{&cmd_rollback, "rocecheck rollback --list"},
	{&cmd_collect, "rocecheck collect --out gpu01.json"},
	{&cmd_doctor, "rocecheck doctor profile.yaml"},
	{&cmd_survey, "rocecheck survey --hosts gpu[001-128] --out draft"},
	{&cmd_validate, "rocecheck validate fabric.yaml --out run-1"},
	{&cmd_top, "rocecheck top -i eth2 --prio 3,4"},
	{&cmd_watch, "rocecheck watch profile.yaml -i eth2 --once"},
	{&cmd_capture_record, "rocecheck capture record -i eth2 -w trace.pcapng --duration 1m"},
	{&cmd_capture_decode, "rocecheck capture decode trace.pcapng --verdict lost"},
	{&cmd_capture_stats, "rocecheck capture stats trace.pcapng --by dscp"},
	{&cmd_capture_flows, "rocecheck capture flows trace.pcapng --json"},
	{&cmd_capture_check, "rocecheck capture check trace.pcapng"},
	{&cmd_probe_client, "rocecheck probe client gpu02 --tos 104 --duration 1m"},
	{&cmd_probe_server, "rocecheck probe server"},
	{&cmd_rules, "rocecheck rules --json"},
	{&cmd_explain, "rocecheck explain RC-PFC-002"},
	{&cmd_schema, "rocecheck schema profile"},
	{&cmd_completion, "rocecheck completion bash"},
	{&cmd_agent, "rocecheck agent --read-only"},
};
/* clang-format on */

static struct globals state;
static struct output outputs[2]; /* of stdout and stderr; as long as the process */
const struct globals *const globals = &state;

static bool want_version, want_help;
static const char *colour_word = "auto";
static const char *const colour_words[] = {"auto", "always", "never", NULL};

static const struct opt global_opts[] = {
	{"json", 'j', OPT_FLAG, &state.json, .help = "print one JSON document on stdout"},
	{"quiet", 'q', OPT_FLAG, &state.quiet, .help = "print only errors on stderr"},
	{"verbose", 'v', OPT_FLAG, &state.verbose, .help = "print more details"},
	{"color", 0, OPT_STRING, &colour_word, .arg = "WHEN",
	 .help = "when to use colours (default auto)", .words = colour_words},
	{"version", 'V', OPT_FLAG, &want_version, .help = "print the version"},
	{"help", 'h', OPT_FLAG, &want_help, .help = "print this help, or the help of a command"},
	{.name = NULL},
};

static bool main_colour_for(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (!strcmp(colour_word, "always"))
		return true;
	if (!strcmp(colour_word, "never") || (no && *no) || (term && !strcmp(term, "dumb")))
		return false;
	return isatty(fd);
}

static const char main_help_hint[] = "\nAdd --help to a command for its options and an example.\n";

static void main_print_usage(FILE *out)
{
	fputs("usage: rocecheck [OPTIONS] COMMAND [ARGUMENTS]\n\n"
	      "Makes RoCE fabrics lossless and proves it.\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = commands[i].command;

		if (!c->internal)
			fprintf(out, "  %-18s %s\n", c->name, c->help);
	}
	fputs("\nOptions:\n", out);
	opts_usage(global_opts, out);
	fputs("\nExit codes:\n"
	      "  0  success\n"
	      "  1  checks found problems, or settings differ\n"
	      "  2  usage error or unusable input\n"
	      "  3  missing privilege, device, kernel feature or program\n"
	      "  4  incomplete: inconclusive, interrupted, or a host is missing\n"
	      "  5  apply failed and was undone\n"
	      "  6  apply failed and was not undone\n",
	      out);
	fputs(main_help_hint, out);
}

static void main_print_command_usage(const struct command *c, FILE *out)
{
	const char *example = "";
	bool with_time = false;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].command == c)
			example = commands[i].example;
	fprintf(out, "usage: rocecheck %s%s%s%s\n", c->name, c->opts ? " [OPTIONS]" : "",
		*c->args ? " " : "", c->args);
	fprintf(out, "\n%s\n", c->help);
	if (c->opts) {
		fputs("\nOptions:\n", out);
		opts_usage(c->opts, out);
	}
	for (const struct opt *o = c->opts; o && o->name; o++) {
		if (!strcmp(o->name, "interface"))
			fputs("\nIFACE is a network device, such as eth2: see 'ip link'.\n", out);
		with_time = with_time || o->kind == OPT_DURATION;
	}
	if (with_time)
		fputs("\nTIME needs a unit: 500ms, 10s, 2m, 1h.\n", out);
	fprintf(out, "\nExample: %s\nExit codes: man rocecheck\n", example);
}

int cmd_fail(int code, const struct err *e)
{
	const char *red = state.colour_err ? TEXT_RED : "";
	const char *off = state.colour_err ? TEXT_RESET : "";

	fprintf(stderr, "rocecheck: %serror:%s ", red, off);
	text_print(stderr, e->text, TEXT_FIELD);
	fputc('\n', stderr);
	if (e->hint[0]) {
		fputs("   = help: ", stderr);
		text_print(stderr, e->hint, TEXT_FIELD);
		fputc('\n', stderr);
	}
	return code;
}

int cmd_exit_for(const struct err *e, int otherwise)
{
	switch (-e->code) {
	case EPERM:
	case EACCES:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
	case ENOSPC:
	case EROFS:
		return EXIT_ENVIRONMENT;
	default:
		return otherwise;
	}
}

int cmd_worse(int a, int b)
{
	static const int rank[] = {
		[EXIT_OK] = 0,		[EXIT_INCOMPLETE] = 1, [EXIT_FINDINGS] = 2,
		[EXIT_ENVIRONMENT] = 3, [EXIT_USAGE] = 4,      [EXIT_APPLY_UNDONE] = 5,
		[EXIT_APPLY_LOST] = 6,
	};

	return rank[a] >= rank[b] ? a : b;
}

int cmd_usage(const struct command *c, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "rocecheck: %serror:%s ", state.colour_err ? TEXT_RED : "",
		state.colour_err ? TEXT_RESET : "");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nusage: rocecheck %s%s%s%s\n", c->name, c->opts ? " [OPTIONS]" : "",
		*c->args ? " " : "", c->args);
	return EXIT_USAGE;
}

int cmd_print_json(json_t *doc)
{
	int rc = doc ? json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) : -1;

	json_decref(doc);
	if (rc && !ferror(stdout)) /* main_flush() reports write errors */
		fputs("rocecheck: error: cannot print JSON: out of memory\n", stderr);
	if (rc)
		return EXIT_ENVIRONMENT;
	putchar('\n');
	return EXIT_OK;
}

/* Prints diagnostics and error of loading a file. Returns 0 or an exit code. */
static int main_report_input(int err, struct diags *diags, const struct err *e)
{
	if (diags->count && (err || !state.quiet))
		diags_print(diags, stderr, state.colour_err);
	if (err && !diags->errors)
		cmd_fail(EXIT_USAGE, e);
	diags_clear(diags);
	return err ? EXIT_USAGE : EXIT_OK;
}

int cmd_load_profile(const char *name, struct profile *p)
{
	struct diags diags;
	struct err e = {0};

	diags_init(&diags);
	return main_report_input(profile_load(name, p, &diags, &e), &diags, &e);
}

int cmd_load_inventory(const char *path, struct fabric *f)
{
	struct diags diags;
	struct err e = {0};

	diags_init(&diags);
	return main_report_input(fabric_load(path, f, &diags, &e), &diags, &e);
}

static void main_warn(const struct err *why, void *arg)
{
	(void)arg;
	fprintf(stderr, "rocecheck: warning: %s\n", why->text);
}

void cmd_tidy(const struct state_at *at)
{
	/* Errors are ignored: the steps that follow report them. */
	(void)journal_set_aside_all(at, main_warn, NULL, NULL);
}

const struct command *cmd_at(size_t i)
{
	return i < ARRAY_SIZE(commands) ? commands[i].command : NULL;
}

const struct opt *cmd_global_opts(void)
{
	return global_opts;
}

/* Finds the command whose one or two words are argv[0..]; *words is their number. */
static const struct command *main_find_command(int argc, char **argv, int *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *name = commands[i].command->name;
		const char *space = strchr(name, ' ');
		size_t first = space ? (size_t)(space - name) : strlen(name);

		if (strlen(argv[0]) != first || strncmp(argv[0], name, first))
			continue;
		if (space && (argc < 2 || strcmp(argv[1], space + 1)))
			continue;
		*words = space ? 2 : 1;
		return commands[i].command;
	}
	return NULL;
}

/* "capture" alone, or with --help, prints the usage of its subcommands. */
static int main_print_group_usage(const char *group, bool asked)
{
	FILE *out = asked ? stdout : stderr;
	const char *before = "usage:";
	size_t len = strlen(group);

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = commands[i].command;

		if (strncmp(c->name, group, len) || c->name[len] != ' ')
			continue;
		fprintf(out, "%s rocecheck %s%s%s%s\n           %s\n", before, c->name,
			c->opts ? " [OPTIONS]" : "", *c->args ? " " : "", c->args, c->help);
		before = "      ";
	}
	fputs(main_help_hint, out);
	return asked ? EXIT_OK : EXIT_USAGE;
}

static bool main_is_group(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strncmp(commands[i].command->name, word, len) &&
		    commands[i].command->name[len] == ' ')
			return true;
	return false;
}

static int main_unknown_command(int argc, char **argv)
{
	const char *names[ARRAY_SIZE(commands) + 1];
	bool asked = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	bool group = main_is_group(argv[0]);
	const char *near;
	char got[64];

	if (group && (argc < 2 || asked))
		return main_print_group_usage(argv[0], asked);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].command->name;
	names[ARRAY_SIZE(commands)] = NULL;
	snprintf(got, sizeof(got), "%s%s%s", argv[0], group ? " " : "", group ? argv[1] : "");
	near = diag_nearest(got, names);
	fprintf(stderr, "rocecheck: error: unknown command '%s'%s%s%s\n", got,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	fputs("   = help: 'rocecheck --help' lists the commands\n", stderr);
	return EXIT_USAGE;
}

/* Global options are also accepted after the command ("show --json"). They are removed from argv
 * before the command parses it; an option of the command with the same name has precedence. */
static bool main_is_command_opt(const struct command *c, const char *word)
{
	for (const struct opt *o = c->opts; o && o->name; o++) {
		if (word[1] == '-' ? !strcmp(o->name, word + 2) : o->letter && o->letter == word[1])
			return true;
	}
	return false;
}

static const struct opt *main_find_global_flag(const struct command *c, const char *word,
					       char letter)
{
	if (main_is_command_opt(c, letter ? (const char[]){'-', letter, 0} : word))
		return NULL;
	for (const struct opt *o = global_opts; o->name; o++)
		if (o->kind == OPT_FLAG &&
		    (letter ? o->letter == letter : !strcmp(word + 2, o->name)))
			return o;
	return NULL;
}

/* Accepts a word of global options only: "--json", "-q", "-jq". */
static bool main_parse_global(const struct command *c, const char *word)
{
	const struct opt *o;

	if (word[0] != '-' || !word[1])
		return false;
	if (word[1] == '-') {
		o = main_find_global_flag(c, word, 0);
		if (o)
			*(bool *)o->value = true;
		return o;
	}
	for (const char *p = word + 1; *p; p++)
		if (!main_find_global_flag(c, word, *p))
			return false;
	for (const char *p = word + 1; *p; p++)
		*(bool *)main_find_global_flag(c, word, *p)->value = true;
	return true;
}

static void main_parse_globals(const struct command *c, int *argc, char **argv)
{
	bool ended = false;
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		ended = ended || !strcmp(argv[i], "--");
		if (ended || !main_parse_global(c, argv[i]))
			argv[kept++] = argv[i];
	}
	*argc = kept;
	argv[kept] = NULL;
}

static int main_run_command(const struct command *c, int argc, char **argv)
{
	struct err e = {0};

	main_parse_globals(c, &argc, argv);
	state.colour_out = main_colour_for(STDOUT_FILENO);
	state.colour_err = main_colour_for(STDERR_FILENO);
	outputs[0].colour = state.colour_out;
	outputs[1].colour = state.colour_err;
	if (want_help) {
		main_print_command_usage(c, stdout);
		return EXIT_OK;
	}
	if (opts_parse(c->opts, &argc, argv, false, &e))
		return cmd_fail(EXIT_USAGE, &e);
	return c->run(argc, argv);
}

/* Reports write errors of stdout: a full disk must not look like success. */
static int main_flush(int code)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "rocecheck: error: stdout: %s\n", strerror(errno));
		return cmd_worse(code, EXIT_ENVIRONMENT);
	}
	return code;
}

/* Opens closed standard descriptors: otherwise the next opened file would get their number, and all
 * output. */
static bool main_open_std_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

/* glibc: stdout and stderr are variables, and printf() uses their current value. */
static bool main_open_outputs(void)
{
	FILE *out = output_open(&outputs[0], STDOUT_FILENO);
	FILE *err = output_open(&outputs[1], STDERR_FILENO);

	if (!out || !err)
		return false;
	stdout = out;
	stderr = err;
	return true;
}

/* A transaction opens about 20 files and sockets. Root can also raise a hard limit that is too low;
 * for other users an open fails later, with the name of the file. */
static void main_raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS_MIN)
		return;
	limit.rlim_cur = DESCRIPTORS_MIN;
	if (limit.rlim_max < DESCRIPTORS_MIN)
		limit.rlim_max = DESCRIPTORS_MIN;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* on failure a later open reports it */
}

int main(int argc, char **argv)
{
	const struct command *c;
	struct err e = {0};
	int words;

	if (!main_open_std_fds())
		return EXIT_ENVIRONMENT; /* no stream for a message */
	/* Ignored SIGCHLD is inherited, and then waitpid() loses the exit status of children. */
	signal(SIGCHLD, SIG_DFL);
	main_raise_fd_limit();
	setlocale(LC_CTYPE, "");
	if (!main_open_outputs())
		return EXIT_ENVIRONMENT; /* as above */
	if (opts_parse(global_opts, &argc, argv, true, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (want_version) {
		puts("rocecheck " ROCECHECK_VERSION);
		return main_flush(EXIT_OK);
	}
	if (!argc) {
		main_print_usage(want_help ? stdout : stderr);
		return main_flush(want_help ? EXIT_OK : EXIT_USAGE);
	}
	c = main_find_command(argc, argv, &words);
	if (!c)
		return main_unknown_command(argc, argv);
	return main_flush(main_run_command(c, argc - words + 1, argv + words - 1));
}
