/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck rollback: restores the settings from before a transaction, also when its process was
 * killed. The journal has the former values; they are written and read back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "dcb/apply/deadman.h"
#include "dcb/apply/tx.h"
#include "profiles/base/text.h"

#define LIST_PORTS_AT 54u /* column of the ports in the list */

static bool list;
static struct state_at state_at = {STATE_DIR, STATE_RUN};

static const struct opt rollback_opts[] = {
	{"list", 'l', OPT_FLAG, &list,
	 .help = "list transactions with their id (TX), oldest first"},
	{"state-dir", 0, OPT_STRING, &state_at.dir, .arg = "DIR",
	 .help = "read journals in DIR (default " STATE_DIR ")"},
	{.name = NULL},
};

static json_t *rollback_tx_to_json(const struct tx *tx)
{
	json_t *ports = json_array();
	int err = ports ? 0 : -1;

	for (unsigned int i = 0; !err && i < tx->port_count; i++)
		err = json_array_append_new(ports, text_to_json(tx->port[i].ifname));
	if (err) {
		json_decref(ports);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:s, s:i, s:b, s:o}", "id", tx->id, "time",
			 text_to_json(tx->time), "state", tx_state_word(tx->state), "writes",
			 (int)tx->step_count, "waits", tx_waits(tx), "ports", ports);
}

/* For people; JSON has tx_state_word(). */
static void rollback_state_text(const struct tx *tx, char *buf, size_t size)
{
	uint64_t now = boottime_ms();
	const char *text = tx_state_word(tx->state);

	if (tx_waits(tx) && now < tx->confirm_by_ms) {
		snprintf(buf, size, "waits for confirmation, %llu s left",
			 (unsigned long long)(tx->confirm_by_ms - now + 999) / 1000);
		return;
	}
	if (tx_waits(tx))
		text = deadman_lives(state_at.run, tx->id)
			       ? "waits for confirmation, timeout passed"
			       : "waits for confirmation, timeout passed, its rollback process is "
				 "not running";
	else if (tx->state == TX_DONE && tx->confirm_within_s)
		text = tx->confirmed ? "confirmed" : "not confirmed before a reboot";
	else if (tx->state == TX_DONE)
		text = "applied, no confirmation needed";
	else if (tx->state == TX_LOST)
		text = "failed, former settings not restored";
	else if (tx->state == TX_EMPTY)
		text = "nothing was written";
	snprintf(buf, size, "%s", text);
}

static void rollback_print_tx(const struct tx *tx)
{
	char *time = text_copy(tx->time, TEXT_FIELD), state[128];
	unsigned int at = LIST_PORTS_AT;

	/* With --state-dir a journal is untrusted input. */
	printf("%-18s  %-20s  %8u  ", tx->id, time ? time : "?", tx_settings(tx));
	free(time);
	for (unsigned int i = 0; i < tx->port_count; i++) {
		if (i)
			putchar(' ');
		text_print(stdout, tx->port[i].ifname, TEXT_FIELD);
		at += (unsigned int)strlen(tx->port[i].ifname) + (i != 0);
	}
	rollback_state_text(tx, state, sizeof(state));
	fputs("  ", stdout);
	output_wrap(stdout, state, at + 2, LIST_PORTS_AT, OUTPUT_COLUMNS);
	putchar('\n');
}

static int rollback_print_one(const struct state *s, const char *id, json_t *all)
{
	struct err e = {0};
	struct tx tx;
	int rc = EXIT_OK;

	if (journal_read(s, id, &tx, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (!globals->json)
		rollback_print_tx(&tx);
	else if (json_array_append_new(all, rollback_tx_to_json(&tx)))
		rc = EXIT_ENVIRONMENT;
	tx_clear(&tx);
	return rc;
}

static int rollback_print_list(void)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	json_t *all = json_array();
	struct state s = {0};
	struct err e = {0};
	unsigned int n = 0;
	int rc = EXIT_OK, err = state_open(&state_at, &s, &e);

	if (!err)
		err = journal_ids(&s, &ids, &n, &e);
	if (!globals->json && n)
		printf("%-18s  %-20s  %8s  %s\n", "TRANSACTION", "BEGAN", "WRITTEN",
		       "PORTS, STATE");
	for (unsigned int i = 0; i < n; i++)
		rc = cmd_worse(rc, rollback_print_one(&s, ids[i], all));
	free(ids);
	state_close(&s);
	if (err && err != -ENOENT)
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	if (!globals->json && !n && !rc)
		printf("No transactions in %s.\n", state_at.dir);
	if (!globals->json || (err && err != -ENOENT)) {
		json_decref(all);
		return rc;
	}
	return cmd_worse(
		rc, cmd_print_json(json_pack("{s:s, s:o}", "schema", "rocecheck.transactions/1",
					     "transactions", all)));
}

/* -ENOENT: an unknown id is a usage error; nothing to undo is no error. */
static int rollback_report_nothing(const char *id, const struct tx *tx, const struct err *e)
{
	if (id && !tx->id[0])
		return cmd_fail(EXIT_USAGE, e);
	if (globals->json)
		return cmd_print_json(json_pack("{s:s, s:s, s:s}", "schema", "rocecheck.rollback/1",
						"tx", tx->id, "outcome", "nothing"));
	printf("Nothing to roll back (%s).\n", e->text);
	return EXIT_OK;
}

/* Settings are restored, but these ports have no carrier, RDMA port or GID yet. */
static json_t *rollback_missing_json(const struct tx *tx)
{
	json_t *missing = json_object();

	for (unsigned int i = 0; i < tx->port_count; i++)
		if (tx->port[i].missing && json_object_set_new(missing, tx->port[i].ifname,
							       json_string(tx->port[i].missing))) {
			json_decref(missing);
			return NULL;
		}
	return missing;
}

static int rollback_report_done(const struct tx *tx)
{
	if (globals->json)
		return cmd_print_json(json_pack("{s:s, s:s, s:s, s:o}", "schema",
						"rocecheck.rollback/1", "tx", tx->id, "outcome",
						"undone", "missing", rollback_missing_json(tx)));
	printf("Transaction %s is undone: %u written setting%s restored and read back on", tx->id,
	       tx_settings(tx), plural(tx_settings(tx)));
	for (unsigned int i = 0; i < tx->port_count; i++)
		printf(" %s", tx->port[i].ifname);
	puts(".");
	for (unsigned int i = 0; i < tx->port_count; i++)
		if (tx->port[i].cm_dir_made)
			printf("Removed the configfs directory rdma_cm/%s, which apply had "
			       "created:\n  'rocecheck show' prints its settings as unknown.\n",
			       tx->port[i].ibdev);
	for (unsigned int i = 0; i < tx->port_count; i++)
		if (tx->port[i].missing)
			fprintf(stderr,
				"rocecheck: warning: %s: %s did not come back within %u s\n",
				tx->port[i].ifname, tx->port[i].missing, TX_WAIT_LINK_S);
	return EXIT_OK;
}

static int rollback_run(const char *id)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct dcb *dcb;
	struct tx tx;
	int rc, err;

	if (dcb_open(NULL, &dcb, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (!id)
		cmd_tidy(&state_at);
	err = tx_rollback(dcb, &state_at, id, &tx, &outcome, &e);
	dcb_close(dcb);
	if (!err)
		rc = rollback_report_done(&tx);
	else if (err == -ENOENT)
		rc = rollback_report_nothing(id, &tx, &e);
	else if (tx.state == TX_LOST)
		rc = cmd_fail(EXIT_APPLY_LOST, &e);
	else
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	tx_clear(&tx);
	return rc;
}

static int rollback_main(int argc, char **argv)
{
	if (argc > 1 || (list && argc))
		return cmd_usage(&cmd_rollback, "more than one transaction");
	if (list)
		return rollback_print_list();
	return rollback_run(argc ? argv[0] : NULL);
}

const struct command cmd_rollback = {
	.name = "rollback",
	.args = "[TX]",
	.help = "restore the settings from before transaction TX (default: the newest)",
	.opts = rollback_opts,
	.run = rollback_main,
};
