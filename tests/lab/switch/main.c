/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labswitch CONFIG.yaml: runs the switches until it is told to stop. labswitch ctl SOCKET JSON: one
 * request to a running one. labswitch --hosts CONFIG.yaml: the hosts it needs. labswitch
 * --help-keys: the keys of the file. Exit 0; 1 refused or failed; 2 wrong usage or configuration.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lab/switch/switch.h"

static int complain(const struct err *e)
{
	fprintf(stderr, "labswitch: %s\n", e->text);
	if (e->hint[0])
		fprintf(stderr, "  %s\n", e->hint);
	return 1;
}

static int run(const struct lab_config *config)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	struct err e = {.code = 0};
	int err;

	if (!lab)
		return complain(&(struct err){.text = "out of memory"});
	/* A mirror that cannot be written is an error of the write, not the end. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	err = lab_init(lab, config, &e);
	if (!err) {
		puts("ready");
		fflush(stdout);
		err = lab_run(lab, &e);
		lab_clear(lab);
	}
	free(lab);
	return err ? complain(&e) : 0;
}

/* --hosts */
static int print_hosts(const struct lab_config *config)
{
	struct err e = {.code = 0};

	if (config_print_hosts(config, stdout, &e)) {
		complain(&e);
		return 2;
	}
	return fflush(stdout) ? 1 : 0;
}

static int with_file(const char *path, int (*work)(const struct lab_config *config))
{
	struct lab_config *config = calloc(1, sizeof(*config));
	struct err e = {.code = 0};
	struct diags d;
	int err;

	if (!config)
		return complain(&(struct err){.text = "out of memory"});
	diags_init(&d);
	err = config_load(path, config, &d, &e);
	diags_print(&d, stderr, false);
	diags_clear(&d);
	if (err && e.code)
		complain(&e);
	err = err ? 2 : work(config);
	free(config);
	return err;
}

int main(int argc, char **argv)
{
	struct err e = {.code = 0};

	if (argc == 4 && !strcmp(argv[1], "ctl"))
		return control_ask(argv[2], argv[3], stdout, &e) ? complain(&e) : 0;
	if (argc == 2 && argv[1][0] != '-')
		return with_file(argv[1], run);
	if (argc == 3 && !strcmp(argv[1], "--hosts"))
		return with_file(argv[2], print_hosts);
	if (argc == 2 && !strcmp(argv[1], "--help-keys")) {
		config_print_keys(stdout);
		return fflush(stdout) ? 1 : 0;
	}
	fputs("usage: labswitch CONFIG.yaml\n       labswitch ctl SOCKET JSON\n"
	      "       labswitch --hosts CONFIG.yaml\n       labswitch --help-keys\n",
	      stderr);
	return 2;
}
