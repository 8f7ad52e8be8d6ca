/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck confirm: keeps an applied transaction. Confirms only a transaction that waits for it;
 * reports one whose time has passed as undone.
 */
#include <errno.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "dcb/apply/saved.h"
#include "dcb/apply/tx.h"

static struct state_at state_at = {STATE_DIR, STATE_RUN};

static const struct opt confirm_opts[] = {
	{"state-dir", 0, OPT_STRING, &state_at.dir, .arg = "DIR",
	 .help = "read journals in DIR (default " STATE_DIR ")"},
	{.name = NULL},
};

static int confirm_report(const struct tx *tx)
{
	if (globals->json)
		return cmd_print_json(json_pack("{s:s, s:s, s:s}", "schema", "rocecheck.confirm/1",
						"tx", tx->id, "outcome", "confirmed"));
	printf("Transaction %s confirmed. 'rocecheck rollback' can still undo it.\n", tx->id);
	return EXIT_OK;
}

static int confirm_main(int argc, char **argv)
{
	struct err e = {0};
	struct dcb *dcb;
	struct tx tx;
	int err, rc;

	if (argc > 1)
		return cmd_usage(&cmd_confirm, "more than one transaction");
	if (dcb_open(NULL, &dcb, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (!argc)
		cmd_tidy(&state_at);
	err = tx_confirm(dcb, &state_at, argc ? argv[0] : NULL, &tx, &e);
	dcb_close(dcb);
	if (!err && saved_commit(&state_at, tx.id, &e))
		fprintf(stderr, "rocecheck: warning: profile not saved for the next boot: %s\n",
			e.text);
	if (!err)
		rc = confirm_report(&tx);
	else if (err == -ENOENT && argc)
		rc = cmd_fail(EXIT_USAGE, &e);
	else if (err == -ENOENT || err == -EALREADY || err == -ECANCELED)
		rc = cmd_fail(EXIT_FINDINGS, &e);
	else
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	tx_clear(&tx);
	return rc;
}

const struct command cmd_confirm = {
	.name = "confirm",
	.args = "[TX]",
	.help = "keep transaction TX (default: the newest) of 'apply --confirm-within'",
	.opts = confirm_opts,
	.run = confirm_main,
};
