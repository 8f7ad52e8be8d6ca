/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions to users work when pasted. Every `rocecheck ...` command in README, manual pages,
 * advices, hints and messages goes through the option parser of that command, and every key of a
 * profile or inventory that they name is in the schema. Nothing is executed: a child parses, since
 * options are global variables.
 */
int rocecheck_main(int argc, char **argv);
#define main rocecheck_main
#include "cmd/main.c"
#undef main

#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "cmd/glossary.h"
#include "cmd/probe/probe_options.h"
#include "reports/engine/rule.h"
#include "tests/unit/cmd/user_texts.h"

#define WORDS_MAX 24
#define WORD_MAX  160
#define KEY_MAX	  128

/* The words of one command behind "rocecheck". */
struct line {
	char word[WORDS_MAX][WORD_MAX];
	int count;
};

/* Operands by command. `instead`: options that take the place of all operands. */
static const struct operands {
	const char *command;
	int min, max;
	const char *instead[3];
	const char *words[4]; /* what the first one may be; NULL: anything */
} operands[] = {
	{.command = "show"},
	{.command = "lint", .min = 1, .max = WORDS_MAX},
	{.command = "plan", .min = 1, .max = 1, .instead = {"inventory"}},
	{.command = "apply", .min = 1, .max = 1, .instead = {"inventory", "last"}},
	{.command = "confirm", .max = 1},
	{.command = "rollback", .max = 1},
	{.command = "collect"},
	{.command = "doctor", .max = 1},
	{.command = "survey"},
	{.command = "validate", .min = 1, .max = 1, .instead = {"from"}},
	{.command = "top"},
	{.command = "watch", .max = 1},
	{.command = "capture record"},
	{.command = "capture decode", .min = 1, .max = 1},
	{.command = "capture stats", .min = 1, .max = 1},
	{.command = "capture flows", .min = 1, .max = 1},
	{.command = "capture check", .min = 1, .max = 1},
	{.command = "probe client", .min = 1, .max = WORDS_MAX, .instead = {"explain"}},
	{.command = "probe server"},
	{.command = "rules"},
	{.command = "explain", .min = 1, .max = 1},
	{.command = "schema", .min = 1, .max = 1, .words = {"profile", "fabric"}},
	{.command = "completion", .min = 1, .max = 1, .words = {"bash", "zsh", "fish"}},
	{.command = "agent"},
};

static const struct operands *operands_of(const struct command *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(operands); i++)
		if (!strcmp(operands[i].command, c->name))
			return &operands[i];
	return NULL;
}

static void test_operands_rows(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct operands *o = operands_of(commands[i].command);

		assert_non_null(o);
		if (!*commands[i].command->args)
			assert_int_equal(o->max, 0);
		else
			assert_int_not_equal(o->max, 0);
		for (size_t k = 0; k < ARRAY_SIZE(o->words) && o->words[k]; k++)
			assert_non_null(strstr(commands[i].command->args, o->words[k]));
	}
	assert_int_equal(ARRAY_SIZE(operands), ARRAY_SIZE(commands));
}

/* READ A COMMAND */

/* A conversion of printf() becomes a word of its kind. */
static const char *add_conversion(const char *p, char *word, size_t *n)
{
	const char *end = p + 1 + strspn(p + 1, "-+ .*0123456789lhzj");

	word[(*n)++] = strchr("ud", *end) ? '1' : 'X';
	return *end ? end + 1 : end;
}

/* One word at *p; false at the end of the command. *last: the command ends behind it. */
static bool read_word(const char **p, bool typed, char word[WORD_MAX], bool *last)
{
	const char *at = *p;
	char quote = 0;
	size_t n = 0;

	if (*at != ' ')
		return false;
	at += strspn(at, " ");
	if (!typed && at > *p + 1)
		return false;
	if (!*at || strchr(typed ? "#|>)&;\n" : "#|>)&;\n'\"`(", *at))
		return false;
	if (*at == '\'' || *at == '"')
		quote = *at++;
	while (*at && *at != '\n' && n < WORD_MAX - 2) {
		if (quote ? *at == quote : !!strchr(" '\"`)|>;", *at))
			break;
		if (*at == '%')
			at = add_conversion(at, word, &n);
		else
			word[n++] = *at++;
	}
	word[n] = '\0';
	*last = !quote && *at != ' ';
	if (*at == '>' && strspn(word, "12") == n)
		return false;
	*p = quote && *at ? at + 1 : at;
	if (quote || n == 1)
		return true;
	while (n && strchr(".,:;?!", word[n - 1])) {
		*last = true;
		word[--n] = '\0';
	}
	return n;
}

static void read_line(const char *p, bool typed, struct line *line)
{
	bool last = false;

	line->count = 0;
	while (!last && line->count < WORDS_MAX - 1 &&
	       read_word(&p, typed, line->word[line->count], &last))
		line->count++;
}

/* CHECK A COMMAND */

static bool is_placeholder(const char *word)
{
	return word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")] == '\0';
}

static bool is_given(const struct opt *opts, const char *name)
{
	for (const struct opt *o = opts; o && o->name; o++) {
		if (strcmp(o->name, name))
			continue;
		return o->kind == OPT_FLAG ? *(bool *)o->value : *(const char **)o->value != NULL;
	}
	return false;
}

static int check_rules(const struct opt *opts, struct err *e)
{
	for (const struct opt *o = opts; o && o->name; o++) {
		const struct opt_list *list = o->value;

		if (strcmp(o->name, "allow-inconclusive"))
			continue;
		for (unsigned int i = 0; i < list->count; i++)
			if (!is_placeholder(list->item[i]) && !rule_find(list->item[i]))
				return err_set(e, -EINVAL, "no rule '%s'", list->item[i]);
	}
	return 0;
}

static int check_operands(const struct command *c, int argc, char **argv, struct err *e)
{
	const struct operands *o = operands_of(c);
	bool replaced = false, known = !o->words[0];

	for (size_t i = 0; i < ARRAY_SIZE(o->instead) && o->instead[i]; i++)
		replaced = replaced || is_given(c->opts, o->instead[i]);
	if (is_given(c->opts, "around") && argc > 1) /* the rest is the command of a job */
		argc = 1;
	if (argc > o->max)
		return err_set(e, -EINVAL, "too many operands: '%s'", argv[o->max]);
	if (argc < o->min && !replaced)
		return err_set(e, -EINVAL, "an operand is missing: %s", c->args);
	for (size_t i = 0; argc && i < ARRAY_SIZE(o->words) && o->words[i]; i++)
		known = known || !strcmp(o->words[i], argv[0]);
	if (!known)
		return err_set(e, -EINVAL, "'%s' is not one of %s", argv[0], c->args);
	if (c == &cmd_explain && argc && !is_placeholder(argv[0]) && !rule_find(argv[0]) &&
	    !diag_rule_find(argv[0]) && !glossary_meaning(argv[0]))
		return err_set(e, -EINVAL, "no rule '%s'", argv[0]);
	return 0;
}

/* As main() parses. mention: a command that is only named has neither options nor operands. */
static int check_words(int argc, char **argv, bool mention, struct err *e)
{
	struct pair_request w = {0};
	const struct command *c;
	int words;

	if (opts_parse(global_opts, &argc, argv, true, e))
		return e->code;
	if (!argc)
		return 0;
	c = main_find_command(argc, argv, &words);
	if (!c && argc == 1 && mention && main_is_group(argv[0]))
		return 0;
	if (!c)
		return err_set(e, -EINVAL, "unknown command '%s'", argv[0]);
	if (argc == words && mention)
		return 0;
	argc -= words - 1;
	argv += words - 1;
	main_parse_globals(c, &argc, argv);
	if (opts_parse(c->opts, &argc, argv, false, e))
		return e->code;
	if (want_help)
		return 0;
	if (c == &cmd_probe_client) {
		probe_options.servers = (unsigned int)argc;
		if (probe_options_make(&probe_options, &w, e))
			return e->code;
	}
	if (check_rules(c->opts, e))
		return e->code;
	return check_operands(c, argc, argv, e);
}

/* In a child; the error comes back through a pipe. */
static int check_line(struct line *line, bool mention, struct err *e)
{
	char *argv[WORDS_MAX + 2] = {"rocecheck"};
	int ends[2], status;
	ssize_t got;
	pid_t pid;

	for (int i = 0; i < line->count; i++)
		argv[i + 1] = line->word[i];
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!check_words(line->count + 1, argv, mention, e))
			_exit(0);
		_exit(write(ends[1], e, sizeof(*e)) == sizeof(*e) ? 1 : 2);
	}
	close(ends[1]);
	got = read(ends[0], e, sizeof(*e));
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(got, WEXITSTATUS(status) ? sizeof(*e) : 0);
	return WEXITSTATUS(status) ? -EINVAL : 0;
}

/* CHECK A TEXT */

struct check {
	json_t *keys; /* the schema of every key, dotted: pfc, pfc.enabled */
	json_t *fabric;
	unsigned int commands, options, key_count, documents, failed;
	char error[256]; /* the first one */
};

/* at: where in the text. Lines to be typed are lines of the file. */
static void report(struct check *c, const struct user_text *t, const char *at, const char *what,
		   const char *why)
{
	unsigned int line = t->line;

	if (!c->failed++)
		snprintf(c->error, sizeof(c->error), "%s: %s", what, why);
	for (const char *p = t->text; t->kind == USER_TEXT_TYPED && p < at; p++)
		line += *p == '\n';
	if (t->path)
		print_error("%s:%u: %s: %s\n", t->path, line, what, why);
}

static bool begins_word(const char *text, const char *at, const char *also)
{
	return at == text || (!isalnum((unsigned char)at[-1]) && !strchr(also, at[-1]));
}

/* Prose without quotes names a command only where it begins as one. */
static void check_commands(struct check *c, const struct user_text *t)
{
	static const char name[] = "rocecheck";
	bool typed = t->kind == USER_TEXT_TYPED;

	for (const char *p = t->text; (p = strstr(p, name)); p++) {
		bool quoted = typed || (p > t->text && strchr("'`", p[-1]));
		struct err e = {0};
		struct line line;
		char what[WORD_MAX];

		if (!begins_word(t->text, p, "_.-") || p[sizeof(name) - 1] != ' ')
			continue;
		read_line(p + sizeof(name) - 1, typed, &line);
		if (!line.count || line.word[0][0] == '[' || line.word[0][0] == 'X')
			continue;
		if (!quoted && !main_is_group(line.word[0]) &&
		    !main_find_command(1, (char *[]){line.word[0], NULL}, &(int){0}))
			continue;
		c->commands++;
		snprintf(what, sizeof(what), "%.*s", (int)strcspn(p, "\n"), p);
		if (check_line(&line, !typed, &e))
			report(c, t, p, what, e.text);
	}
}

/* Options of other programs that our texts name. */
static const char *const foreign_options[] = {
	"now",		  /* systemctl */
	"pause-type",	  /* mlnx_qos */
	"scope",	  /* systemd-run */
	"set-priv-flags", /* ethtool */
	NULL,
};

static bool is_option(const char *name, size_t length)
{
	char word[WORD_MAX];

	snprintf(word, sizeof(word), "--%.*s", (int)length, name);
	for (size_t i = 0; foreign_options[i]; i++)
		if (!strcmp(foreign_options[i], word + 2))
			return true;
	for (const struct opt *o = global_opts; o->name; o++)
		if (!strcmp(o->name, word + 2))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (main_is_command_opt(commands[i].command, word))
			return true;
	return false;
}

/* An option that is named without its command is one of any command. */
static void check_options(struct check *c, const struct user_text *t)
{
	const char *dashes = t->kind == USER_TEXT_MACRO ? " -" : "--";

	if (t->kind == USER_TEXT_MACRO && !strstr(t->text, "Fl "))
		return;
	for (const char *p = t->text; (p = strstr(p, dashes)); p++) {
		const char *name = p + strlen(dashes);
		size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzCPU_-");
		char what[WORD_MAX];

		if (!(begins_word(t->text, p, "-") || *p == ' ') ||
		    !islower((unsigned char)name[0]))
			continue;
		c->options++;
		snprintf(what, sizeof(what), "--%.*s", (int)length, name);
		if (!is_option(name, length))
			report(c, t, p, what, "no option of any command");
	}
}

/* In a macro line, the options behind "Cm NAME" belong to that command. */
static void check_macros(struct check *c, const struct user_text *t)
{
	const struct command *of = NULL;
	char words[WORDS_MAX][WORD_MAX];
	int count = 0;

	for (const char *p = t->text; *p && count < WORDS_MAX - 1; p += strcspn(p, " ")) {
		p += strspn(p, " .");
		snprintf(words[count++], WORD_MAX, "%.*s", (int)strcspn(p, " "), p);
	}
	words[count][0] = '\0';
	for (int i = 0; i + 1 < count; i++) {
		char *name[] = {words[i + 1], words[i + 2], NULL};
		int taken = 0;

		if (!strcmp(words[i], "Cm"))
			of = main_find_command(i + 2 < count ? 2 : 1, name, &taken);
		i += taken;
		if (strcmp(words[i], "Fl") || !of || i + 1 >= count)
			continue;
		snprintf(words[i], WORD_MAX, "-%.*s", WORD_MAX - 2, words[i + 1]);
		c->commands++;
		if (words[i][1] == '-' && !main_is_command_opt(of, words[i]) &&
		    !main_find_global_flag(of, words[i], 0))
			report(c, t, t->text, words[i], of->name);
	}
}

/* The keys of a map, or of a list of maps. */
static json_t *keys_below(json_t *schema)
{
	json_t *below = json_object_get(schema, "properties");

	return below ? below : json_object_get(json_object_get(schema, "items"), "properties");
}

/* "policy.disruption: allow", "set rdma.roce_version to v2": one of the words that the key takes.
 */
static void check_value(struct check *c, const struct user_text *t, const char *key, const char *p)
{
	json_t *words = json_object_get(json_object_get(c->keys, key), "enum"), *word;
	char value[KEY_MAX], what[2 * KEY_MAX + 2];
	size_t i;

	if (strncmp(p, ": ", 2) && strncmp(p, " to ", 4))
		return;
	p += strcspn(p + 1, " ") + 2;
	snprintf(value, sizeof(value), "%.*s",
		 (int)strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789-_"), p);
	if (!words || !value[0] || p[strlen(value)] == ' ')
		return; /* "to the profile's", "ets.willing: an agent" */
	json_array_foreach (words, i, word)
		if (json_is_string(word) && !strcmp(json_string_value(word), value))
			return;
	snprintf(what, sizeof(what), "%s: %s", key, value);
	report(c, t, p, what, "the key does not take this value");
}

static void check_keys(struct check *c, const struct user_text *t)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789.[]";

	for (const char *p = t->text; *p; p++) {
		size_t length = strspn(p, letters), n = 0;
		char key[KEY_MAX], head[KEY_MAX];

		if (!length)
			continue;
		for (size_t i = 0; i < length && n < KEY_MAX - 1; i++)
			if (!strchr("[]", p[i]))
				key[n++] = p[i];
		while (n && key[n - 1] == '.')
			n--;
		key[n] = '\0';
		snprintf(head, sizeof(head), "%.*s", (int)strcspn(key, "."), key);
		/* hosts.jsonl is a file */
		if (begins_word(t->text, p, "/-%") && strchr(key, '.') && !strstr(key, ".jsonl") &&
		    (!p[length] || !strchr("/(*", p[length])) &&
		    keys_below(json_object_get(c->keys, head))) {
			c->key_count++;
			if (!json_object_get(c->keys, key))
				report(c, t, p, key, "no key of a profile or an inventory");
			check_value(c, t, key, p + length);
		}
		p += length - 1;
	}
}

/* Loads a document from a file of its own. loud: with its errors on standard error. */
static int load_document(const char *text, bool is_fabric, bool loud)
{
	char path[] = "/tmp/rocecheck_test_XXXXXX.yaml";
	int fd = mkstemps(path, (int)strlen(".yaml"));
	struct fabric fabric = {0};
	struct profile profile;
	struct diags diags;
	struct err e = {0};
	int err;

	diags_init(&diags);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	err = is_fabric ? fabric_load(path, &fabric, &diags, &e)
			: profile_load(path, &profile, &diags, &e);
	if (diags.count && loud)
		diags_print(&diags, stderr, false);
	err = err ? err : diags.count ? -EINVAL : 0;
	if (is_fabric)
		fabric_clear(&fabric);
	diags_clear(&diags);
	unlink(path);
	return err;
}

/* A whole profile or inventory, or one map of it: `thresholds: {tcp: [...]}`. */
static void check_document(struct check *c, const struct user_text *t)
{
	static const char fabric_head[] = "schema: rocecheck.fabric/1\nname: a\nprofile: lab\n"
					  "hosts: [{name: h1, ports: [{interface: p0}]}, {name: "
					  "h2, ports: [{interface: p0}]}]\n";
	static const char profile_head[] = "schema: rocecheck.profile/1\nname: a\nintent: lossy\n";
	bool whole = !strncmp(t->text, "schema: rocecheck.", 18), is_fabric = false;
	size_t key = strspn(t->text, "abcdefghijklmnopqrstuvwxyz_");
	char *text;

	if (whole) {
		/* A scenario is a document of the lab. */
		if (!strncmp(t->text + 18, "scenario", 8))
			return;
		is_fabric = !strncmp(t->text + 18, "fabric", 6);
	} else {
		json_t *of = json_object_get(c->fabric, "properties"), *row;
		const char *name;

		if (!key || strncmp(t->text + key, ": {", 3))
			return;
		json_object_foreach (of, name, row)
			is_fabric = is_fabric ||
				    (strlen(name) == key && !strncmp(name, t->text, key));
	}
	c->documents++;
	assert_true(asprintf(&text, "%s%s\n",
			     whole	 ? ""
			     : is_fabric ? fabric_head
					 : profile_head,
			     t->text) > 0);
	if (load_document(text, is_fabric, t->path))
		report(c, t, t->text, "document", "not accepted");
	free(text);
}

static void check_text(const struct user_text *t, void *arg)
{
	struct check *c = arg;

	check_commands(c, t);
	check_options(c, t);
	check_keys(c, t);
	if (t->kind == USER_TEXT_MACRO)
		check_macros(c, t);
	else
		check_document(c, t);
}

/* Adds the keys below a map, each with its schema; dcbx is a map of profiles and a word of
 * inventories: the map counts. */
static void add_keys(json_t *all, const char *path, json_t *schema)
{
	json_t *value;
	const char *key;

	if (*path && !keys_below(json_object_get(all, path)))
		json_object_set(all, path, schema);
	json_object_foreach (keys_below(schema), key, value) {
		char name[KEY_MAX];

		snprintf(name, sizeof(name), "%s%s%s", path, *path ? "." : "", key);
		add_keys(all, name, value);
	}
}

static struct check check_new(void)
{
	struct check c = {.keys = json_object(), .fabric = fabric_schema()};
	json_t *profile = profile_schema();

	add_keys(c.keys, "", profile);
	add_keys(c.keys, "", c.fabric);
	json_decref(profile);
	assert_true(json_object_size(c.keys) > 80);
	return c;
}

static void check_clear(struct check *c)
{
	json_decref(c->keys);
	json_decref(c->fabric);
}

/* Texts that the check has to accept or refuse. error: NULL for none. */
static const struct {
	enum user_text_kind kind;
	const char *text, *error;
} planted[] = {
	{USER_TEXT_PROSE, "set it: rocecheck apply PROFILE, or dcb app", NULL},
	{USER_TEXT_PROSE, "'rocecheck rollback %s' puts it back", NULL},
	{USER_TEXT_PROSE, "run 'rocecheck confirm' or 'rocecheck rollback' first", NULL},
	{USER_TEXT_PROSE, "rocecheck makes one of 'rocecheck apply'", NULL},
	{
		USER_TEXT_PROSE,
		"run 'rocecheck aply'",
		"rocecheck aply'",
	},
	{USER_TEXT_PROSE, "run 'rocecheck apply --settel 5s lab'", "unknown option '--settel'"},
	{USER_TEXT_PROSE, "rocecheck apply PROFILE --settle 5", "invalid duration"},
	{USER_TEXT_PROSE, "run rocecheck top now", "too many operands: 'now'"},
	{USER_TEXT_PROSE, "pass --auto-aprove", "--auto-aprove: no option of any command"},
	{USER_TEXT_TYPED, "$ rocecheck plan lab -i eth0   # see", NULL},
	{USER_TEXT_TYPED, "rocecheck plan -i eth0", "an operand is missing"},
	{USER_TEXT_TYPED, "rocecheck plan --inventory f.yaml", NULL},
	{USER_TEXT_TYPED, "rocecheck validate f.yaml --around -- mpirun -np 2 x", NULL},
	{USER_TEXT_TYPED, "rocecheck validate f.yaml --no-traffic x", "too many operands: 'x'"},
	{USER_TEXT_TYPED, "rocecheck plan a b", "too many operands: 'b'"},
	{USER_TEXT_TYPED, "eval \"$(rocecheck doctor p.yaml --env)\"", NULL},
	{USER_TEXT_TYPED, "eval \"$(rocecheck doctor p.yaml --enf)\"", "unknown option '--enf'"},
	{USER_TEXT_TYPED, "rocecheck rules --json | jq -r .", NULL},
	{USER_TEXT_TYPED, "rocecheck capture decode a.pcap\nrocecheck capture decod a.pcap",
	 "unknown command 'capture'"},
	{USER_TEXT_TYPED, "rocecheck explain RC-PFC-999", "no rule 'RC-PFC-999'"},
	{USER_TEXT_TYPED, "rocecheck validate f.yaml --allow-inconclusive RC-QOS-999",
	 "no rule 'RC-QOS-999'"},
	{USER_TEXT_TYPED, "rocecheck schema profil", "'profil' is not one of"},
	{USER_TEXT_TYPED, "rocecheck doctor --format xml", "--format: invalid value 'xml'"},
	{USER_TEXT_TYPED, "rocecheck probe client h --verb writ", "invalid value 'writ'"},
	{USER_TEXT_TYPED, "rocecheck probe client h --class toss=1", "toss"},
	{USER_TEXT_TYPED, "rocecheck probe client h --class tos=104,qps=4 --tcp tos=0", NULL},
	{USER_TEXT_MACRO, ".Cm apply Fl -last", NULL},
	{USER_TEXT_MACRO, ".Nm rocecheck Cm plan Fl -last", "--last: plan"},
	{USER_TEXT_MACRO, ".It Fl n , -dry-walk", "--dry-walk: no option of any command"},
	{USER_TEXT_PROSE, "set pfc.enabled and thresholds.tcp", NULL},
	{USER_TEXT_PROSE, "set dcbx.willing to false", "dcbx.willing: no key"},
	{USER_TEXT_MACRO, ".It Ic hosts[].port", "hosts.port: no key"},
	{USER_TEXT_PROSE, "policy.disruption: allow", NULL},
	{USER_TEXT_PROSE, "policy.disruption: always", "the key does not take this value"},
	{USER_TEXT_PROSE, "set rdma.roce_version to v3.", "the key does not take this value"},
	{USER_TEXT_PROSE, "thresholds: {load: 5}", NULL},
	{USER_TEXT_PROSE, "thresholds: {lod: 5}", "document: not accepted"},
	{USER_TEXT_TYPED, "schema: rocecheck.profile/1\nname: a\npfc: {enable: [3]}",
	 "document: not accepted"},
};

static void test_planted(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(planted); i++) {
		struct user_text t = {.kind = planted[i].kind, .text = planted[i].text};
		struct check c = check_new();

		check_text(&t, &c);
		if (planted[i].error ? !strstr(c.error, planted[i].error) : c.failed)
			fail_msg("%s: '%s', wanted '%s'", planted[i].text, c.error,
				 planted[i].error ? planted[i].error : "");
		check_clear(&c);
	}
}

static void test_every_text(void **unused)
{
	struct check c = check_new();

	(void)unused;
	assert_true(user_texts_each(check_text, &c) > 200);
	print_message("%u commands, %u options, %u keys, %u documents\n", c.commands, c.options,
		      c.key_count, c.documents);
	check_clear(&c);
	assert_int_equal(c.failed, 0);
	assert_true(c.commands > 100);
	assert_true(c.options > 200);
	assert_true(c.key_count > 100);
	assert_true(c.documents >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operands_rows),
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_every_text),
	};

	/* Also where the program is not below build/. */
	if (setenv("ROCECHECK_PROFILES", "profiles", 1))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
