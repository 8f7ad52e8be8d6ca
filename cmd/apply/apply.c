/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck apply: prints the plan, asks for confirmation, runs it as one transaction, and plans
 * again: the second plan must be empty. All checks run before the question.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/apply/apply_boot.h"
#include "cmd/apply/apply_preflight.h"
#include "cmd/apply/apply_verify.h"
#include "cmd/apply/hosts.h"
#include "cmd/apply/plan_file.h"
#include "cmd/apply/plan_text.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "dcb/apply/plan_apply.h"
#include "profiles/base/boot_unit.h"
#include "profiles/base/signals.h"

#define UNDO_TRIES 9 /* STATE_LOCK_MS each: another undo may wait TX_WAIT_LINK_S for a port */

static const char *interface;
static struct state_at state_at = {STATE_DIR, STATE_RUN};
static bool dry_run, last, boot, ignored;
static struct apply_consent consent;
static unsigned int confirm_within_ms, wait_link_ms = 60000, settle_ms = SETTLE_AUTO;
static struct hosts_apply many = {.parallel = 8};

static const struct opt apply_opts[] = {
	{"interface", 'i', OPT_STRING, &interface, .arg = "IFACE", .help = "only this port"},
	{"dry-run", 'n', OPT_FLAG, &dry_run, .help = "print the plan, write nothing"},
	{"auto-approve", 'y', OPT_FLAG, &consent.approve, .help = "do not ask yes/no"},
	{"accept-unproven", 0, OPT_FLAG, &ignored, .help = "no effect (kept for old scripts)"},
	{"accept-disruption", 0, OPT_FLAG, &consent.disruption,
	 .help = "also run steps that flap a link or reset a port"},
	{"confirm-within", 'c', OPT_DURATION, &confirm_within_ms, .arg = "TIME",
	 .help = "roll back unless 'rocecheck confirm' runs within TIME (default: "
		 "policy.rollback_timeout_s of the profile; if not set: off, or 60s with "
		 "--hosts or --inventory)"},
	{"wait-link", 0, OPT_DURATION, &wait_link_ms, .arg = "TIME",
	 .help = "how long to wait for a flapped or reset port (default 60s)"},
	{"settle", 0, OPT_DURATION, &settle_ms, .arg = "TIME",
	 .help = "after TIME read the settings again and compare them (default 35s if lldpad "
		 "manages the port, else off)"},
	{"last", 0, OPT_FLAG, &last, .help = "apply the last confirmed profile of each port"},
	{"boot", 0, OPT_FLAG, &boot,
	 .help = "with --last: ask nothing, wait for devices, print one line per port"},
	HOSTS_OPTS(many.hosts),
	{"canary", 0, OPT_STRING, &many.canary, .arg = "HOST",
	 .help = "change HOST first; start the others after its settings were read back correctly"},
	{"parallel", 0, OPT_UINT, &many.parallel, .min = 1, .max = ROLLOUT_PARALLEL_MAX, .arg = "N",
	 .help = "at most N hosts at once (default 8); of hosts whose links flap or ports reset, "
		 "one per failure group (failure_group in FILE)"},
	{"max-fail", 0, OPT_UINT, &many.max_fail, .arg = "N",
	 .help = "start no more hosts after N+1 have failed (default 0: after the first failure)"},
	{"state-dir", 0, OPT_STRING, &state_at.dir, .arg = "DIR",
	 .help = "keep journals in DIR (default " STATE_DIR ")"},
	{.name = NULL},
};

/* One run of the command. */
struct apply {
	struct profile profile;
	struct plans plans;
	struct dcb *dcb;
	bool is_kept;		 /* the profile is a saved one (--last) */
	json_t *saved;		 /* the saved plan (PLAN.json), else NULL */
	unsigned int finished;	 /* steps */
	bool is_staged;		 /* the profile is ready to be saved */
	struct deadman *deadman; /* of a transaction that needs a confirmation; owned */
	unsigned int lacks;	 /* of the dead-man: enum deadman_lack */
	unsigned int written;	 /* settings */
	uint64_t right;		 /* fields that had their value already */
	const char *name;	 /* operand, or "--last" */
	uint64_t undo_at_ms;	 /* unless confirmed; see boottime_ms() */
	uint64_t since_ms;
};

/* One line on stderr when a step has ended; one before, too, if it takes the link down. */
static void apply_print_progress(const struct plan *plan, unsigned int step, bool done, void *arg)
{
	const struct plan_step *s = &plan->step[step];
	struct apply *a = arg;

	if (!done)
		a->since_ms = monotonic_ms();
	a->finished += done;
	if (globals->quiet || boot || (!done && s->disruption == DISRUPT_NONE))
		return;
	if (done)
		fprintf(stderr, "[%u/%u] %s %s  ok, %llu ms\n", a->finished,
			cmd_plans_changes(&a->plans), plan->ifname, qos_fields[s->field].key,
			(unsigned long long)(monotonic_ms() - a->since_ms));
	else
		fprintf(stderr, "%s: writing %s (takes the link down)\n", plan->ifname,
			qos_fields[s->field].key);
}

/* Returns seconds, rounded up; 0: no confirmation. */
static unsigned int apply_confirm_within_s(const struct apply *a)
{
	return confirm_within_ms ? (confirm_within_ms + 999) / 1000 : a->profile.confirm_within_s;
}

static bool apply_is_kept_later(const struct apply *a)
{
	return !a->is_kept && a->plans.privileged;
}

static void apply_warn_not_kept(const struct err *e)
{
	fprintf(stderr, "rocecheck: warning: profile not saved for the next boot: %s\n", e->text);
}

/* Stages the profile before the first write: a confirmation may come right after the last one. */
static void apply_stage(const char *tx_id, void *arg)
{
	struct apply *a = arg;
	struct err e = {0};

	if (!apply_is_kept_later(a))
		return;
	a->is_staged = !saved_stage(&state_at, tx_id, &a->profile, a->plans.plan, a->plans.count,
				    &e);
	if (!a->is_staged)
		apply_warn_not_kept(&e);
}

/* Saves the staged profile now, or leaves it to 'confirm'; drops it if settings differ. */
static void apply_keep(const struct apply *a, const char *tx_id, int rc)
{
	struct err e = {0};
	int err = 0;

	if (a->is_staged && rc != EXIT_OK)
		err = saved_drop(&state_at, tx_id, &e);
	else if (a->is_staged && !apply_confirm_within_s(a))
		err = saved_commit(&state_at, tx_id, &e);
	if (err)
		apply_warn_not_kept(&e);
}

/* Saves the profile without a transaction. */
static void apply_keep_unchanged(const struct apply *a)
{
	struct err e = {0};

	if (!apply_is_kept_later(a))
		return;
	if (saved_commit_confirmed(&state_at, &e) ||
	    saved_stage(&state_at, "", &a->profile, a->plans.plan, a->plans.count, &e))
		apply_warn_not_kept(&e);
}

#define LEFT_UNKNOWN (-1)

/* left: changes that do not read back. later: texts of the re-check; consumed. */
static int apply_print_json(const struct apply *a, const char *tx_id, const char *outcome, int left,
			    json_t *later)
{
	json_t *count = left == LEFT_UNKNOWN ? json_null() : json_integer(left);

	return cmd_print_json(
		json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:o}", "schema", "rocecheck.apply/1",
			  "tx", tx_id, "outcome", outcome, "left", count, "confirm_within_s",
			  (int)apply_confirm_within_s(a), "later", later ? later : json_array(),
			  "plan", cmd_plans_json(&a->plans)));
}

/* Default: at most half of the time to confirm, because a user may wait for the result of the
 * re-check before confirming. */
static unsigned int apply_wait_ms(const struct apply *a)
{
	unsigned int within_ms = apply_confirm_within_s(a) * 1000, ms;

	if (settle_ms != SETTLE_AUTO)
		return settle_ms;
	ms = boot ? 0 : apply_verify_wait_ms(&a->plans, &a->profile);
	return within_ms && ms > within_ms / 2 ? within_ms / 2 : ms;
}

/* The re-check, after LLDP agents and neighbours had time to react. */
static int apply_wait_and_verify(struct apply *a, json_t *texts, unsigned int *findings)
{
	unsigned int ms = apply_wait_ms(a);
	struct err e = {0};

	*findings = 0;
	if (!ms)
		return EXIT_OK;
	if (!globals->quiet)
		fprintf(stderr,
			"Waiting %u s for LLDP agents and neighbours, then checking again.\n",
			(ms + 999) / 1000);
	if (apply_verify(a->dcb, &a->plans, &a->profile, interface, ms, texts, findings, &e))
		return cmd_fail(EXIT_FINDINGS, &e);
	return *findings ? EXIT_FINDINGS : EXIT_OK;
}

/* Reads from the journal how many settings were written and until when to confirm. */
static void apply_read_journal(struct apply *a, const char *tx_id)
{
	struct state s;
	struct tx tx;

	a->written = cmd_plans_changes(&a->plans);
	a->undo_at_ms = boottime_ms() + apply_confirm_within_s(a) * UINT64_C(1000);
	if (state_open(&state_at, &s, NULL))
		return;
	if (!journal_read(&s, tx_id, &tx, NULL)) {
		a->written = tx_settings(&tx);
		for (unsigned int i = 0; i < a->plans.count; i++)
			a->right |= plan_fields(&a->plans.plan[i]);
		for (unsigned int i = 0; i < tx.port_count; i++)
			a->right &= ~tx_planned(&tx, i);
		if (tx.confirm_by_ms)
			a->undo_at_ms = tx.confirm_by_ms;
		tx_clear(&tx);
	}
	state_close(&s);
}

/* "Read back: 10 of 10 settings match (9 written; 1 had its value already: trust)." */
static void apply_print_match(const struct apply *a)
{
	unsigned int changes = cmd_plans_changes(&a->plans);
	unsigned int right = changes > a->written ? changes - a->written : 0;
	uint64_t cached = 0;
	char head[128];
	int n = snprintf(head, sizeof(head), "Read back: %u of %u setting%s match%s%s", changes,
			 changes, plural(changes), changes == 1 ? "es" : "", right ? "" : ".");

	if (right)
		snprintf(head + n, sizeof(head) - n,
			 " (%u written; %u had %s value already: ", a->written, right,
			 right == 1 ? "its" : "their");
	output_keys(stdout, 0, head, right ? a->right : 0, ").");
	for (unsigned int i = 0; i < a->plans.count; i++)
		cached |= plan_fields(&a->plans.plan[i]) &
			  driver_quirk_find(a->plans.plan[i].driver)->cached;
	if (cached && globals->verbose)
		output_keys(stdout, 0,
			    "Read back from the driver's cache, not from the device: ", cached,
			    ".");
}

static void apply_print_deadline(const struct apply *a)
{
	bool elsewhere = strcmp(state_at.dir, STATE_DIR);
	uint64_t now = boottime_ms();
	uint64_t left_ms = a->undo_at_ms > now ? a->undo_at_ms - now : 0;
	time_t at = time(NULL) + (time_t)((left_ms + 500) / 1000);
	char when[32];
	struct tm tm;

	gmtime_r(&at, &tm);
	strftime(when, sizeof(when), "%H:%M:%SZ", &tm);
	printf("Not final: rocecheck undoes this at %s (in %llu s) unless you run:%srocecheck "
	       "confirm%s%s\n",
	       when, (unsigned long long)(left_ms + 999) / 1000, elsewhere ? "\n  " : " ",
	       elsewhere ? " --state-dir " : "", elsewhere ? state_at.dir : "");
	fflush(stdout);
}

/* Reasons why the undo may not happen, each with its remedy. */
static void apply_warn_undo(const struct apply *a)
{
	if (!apply_confirm_within_s(a))
		return;
	if (a->lacks & DEADMAN_LACKS_OOM)
		fputs("The OOM killer can end this undo: protecting its process needs "
		      "CAP_SYS_RESOURCE.\n",
		      stderr);
	if (a->lacks & DEADMAN_LACKS_CGROUP)
		fprintf(stderr,
			"If you log out and logind has KillUserProcesses=yes, the new settings "
			"stay (no undo). Next time:\n"
			"  systemd-run --scope rocecheck apply %s%s%s --confirm-within %us\n",
			a->name, interface ? " -i " : "", interface ? interface : "",
			apply_confirm_within_s(a));
	if (globals->quiet)
		return;
	if (strcmp(state_at.dir, STATE_DIR))
		fputs("If this host reboots before you confirm, rocecheck restores nothing:\n"
		      "  rocecheck-apply.service reads only " STATE_DIR ".\n",
		      stderr);
	else if (!boot_unit_apply_enabled(NULL))
		fputs("If this host reboots before you confirm, rocecheck restores nothing. To "
		      "undo this at boot and\n  apply the last confirmed profile: systemctl enable "
		      "rocecheck-apply.service\n",
		      stderr);
}

/* For a transaction that needs no confirmation. rc: of the re-check. */
static void apply_print_final(const struct apply *a, const char *tx_id, int rc)
{
	bool kept = (a->is_kept || (a->is_staged && rc == EXIT_OK)) && a->profile.persist &&
		    !strcmp(state_at.dir, STATE_DIR);

	printf("Transaction %s %s; 'rocecheck rollback' can still undo it.\n", tx_id,
	       rc == EXIT_OK ? "is final" : "stays, see above");
	if (kept && boot_unit_apply_enabled(NULL))
		puts("At each boot rocecheck applies these settings again.");
	else
		printf("After a reboot rocecheck does not apply these settings again.%s\n",
		       kept ? " To apply them at each boot:\n"
			      "  systemctl enable rocecheck-apply.service"
			    : "");
	fflush(stdout);
}

static void apply_print_verified(const struct apply *a, const char *tx_id,
				 const struct plans *again, unsigned int left)
{
	if (left) {
		cmd_plans_print(again, &a->profile, stdout, globals->colour_out);
		putchar('\n');
	} else if (!boot) {
		apply_print_match(a);
	}
	if (apply_confirm_within_s(a))
		printf("Transaction %s waits for confirmation.\n", tx_id);
	fflush(stdout);
	apply_warn_undo(a);
	if (apply_confirm_within_s(a))
		apply_print_deadline(a);
}

static int apply_report_failure(const struct apply *a, const char *tx_id,
				enum apply_outcome outcome, const struct err *e)
{
	int rc = outcome == APPLY_LOST ? EXIT_APPLY_LOST : EXIT_APPLY_UNDONE;

	/* Without a journal nothing was written. */
	if (!tx_id[0])
		return cmd_fail(EXIT_ENVIRONMENT, e);
	cmd_fail(rc, e);
	if (globals->json && outcome == APPLY_LOST)
		(void)apply_print_json(a, tx_id, "lost", LEFT_UNKNOWN, NULL);
	else if (globals->json)
		(void)apply_print_json(a, tx_id, "undone", (int)cmd_plans_changes(&a->plans), NULL);
	if (outcome == APPLY_LOST)
		fprintf(stderr,
			"Transaction %s failed, and the former settings are NOT restored (see the "
			"error above). To try again: rocecheck rollback %s\n",
			tx_id, tx_id);
	else
		fprintf(stderr,
			"Transaction %s failed. All its changes are undone: the host has its "
			"former settings.\n",
			tx_id);
	return rc;
}

/* Returns 0 when the transaction is undone, by this or another process. *stands: it was confirmed
 * while its dead-man was busy. */
static int apply_undo_now(const struct apply *a, const char *tx_id, bool *stands, struct err *e)
{
	enum apply_outcome outcome;
	bool undone = false;
	int err = -EBUSY;

	for (unsigned int i = 0; err == -EBUSY && i < UNDO_TRIES; i++) {
		struct tx tx;

		err = tx_undo_orphaned(a->dcb, &state_at, tx_id, &tx, &outcome, e);
		undone = tx.state == TX_UNDONE;
		*stands = !err && outcome == APPLY_DONE;
		tx_clear(&tx);
	}
	return undone ? 0 : err;
}

/* Runs right before the report "undone unless confirmed": if the dead-man has ended, this undoes
 * the transaction now. */
static int apply_check_deadman(const struct apply *a, const char *tx_id)
{
	struct err e = {0}, undo = {0};
	bool stands = false;
	int err;

	if (!deadman_check(a->deadman, &e))
		return EXIT_OK;
	err = apply_undo_now(a, tx_id, &stands, &undo);
	if (stands)
		return EXIT_OK;
	if (err)
		err_set(&e, err, "%.480s; and %.480s", e.text, undo.text);
	return apply_report_failure(a, tx_id, err ? APPLY_LOST : APPLY_UNDONE, &e);
}

/* The last lines: what becomes of the transaction. Again below the re-check, if there was one. */
static void apply_print_last(const struct apply *a, const char *tx_id, unsigned int left, int rc)
{
	if (!apply_confirm_within_s(a)) {
		if (left || !boot)
			apply_print_final(a, tx_id, rc);
	} else if (!left && apply_wait_ms(a)) {
		apply_print_deadline(a);
	}
}

/* Prints the result before the re-check: the time to confirm runs from now on. */
static int apply_finish(struct apply *a, const char *tx_id, const struct plans *again,
			unsigned int left)
{
	json_t *texts = globals->json ? json_array() : NULL;
	unsigned int findings;
	int rc = apply_check_deadman(a, tx_id), printed = EXIT_OK, guarded;

	if (rc) {
		json_decref(texts);
		return rc;
	}
	apply_read_journal(a, tx_id);
	if (!globals->json)
		apply_print_verified(a, tx_id, again, left);
	else
		apply_warn_undo(a);
	rc = left ? EXIT_FINDINGS : apply_wait_and_verify(a, texts, &findings);
	guarded = apply_check_deadman(a, tx_id);
	if (globals->json && !guarded)
		printed = apply_print_json(a, tx_id, "done", (int)left, texts);
	else
		json_decref(texts);
	if (!guarded)
		apply_keep(a, tx_id, rc);
	if (!guarded && !globals->json)
		apply_print_last(a, tx_id, left, rc);
	return guarded ? guarded : printed ? printed : rc;
}

/* Reads the host again: the plan must be empty now. */
static int apply_read_back(struct apply *a, const char *tx_id)
{
	struct plans again;
	struct err e = {0};
	unsigned int left;
	int rc;

	if (cmd_plans_again(a->dcb, &a->profile, interface, &a->plans, &again, &e)) {
		err_prefix(&e, "transaction %s is written, but reading back failed", tx_id);
		err_hint(&e, "to undo it: rocecheck rollback %s", tx_id);
		if (globals->json)
			(void)apply_print_json(a, tx_id, "done", LEFT_UNKNOWN, NULL);
		apply_keep(a, tx_id, EXIT_FINDINGS);
		return cmd_fail(EXIT_FINDINGS, &e);
	}
	left = cmd_plans_changes(&again);
	if (cmd_plans_cannot(&again) > cmd_plans_cannot(&a->plans))
		left += cmd_plans_cannot(&again) - cmd_plans_cannot(&a->plans);
	rc = apply_finish(a, tx_id, &again, left);
	cmd_plans_clear(&again);
	return rc;
}

static void apply_note_deadman(unsigned int lacks, void *arg)
{
	struct apply *a = arg;

	a->lacks = lacks;
}

/* --settle re-checks an unchanged host, too. */
static int apply_report_unchanged(struct apply *a)
{
	json_t *texts = globals->json ? json_array() : NULL;
	unsigned int findings;
	int rc = settle_ms == SETTLE_AUTO ? EXIT_OK : apply_wait_and_verify(a, texts, &findings);
	int printed = globals->json ? apply_print_json(a, "", "unchanged", 0, texts) : EXIT_OK;

	if (rc == EXIT_OK)
		apply_keep_unchanged(a);
	return printed ? printed : rc;
}

static int apply_write(struct apply *a)
{
	const struct apply_options how = {
		.at = state_at,
		.confirm_within_s = apply_confirm_within_s(a),
		.wait_link_s = (wait_link_ms + 999) / 1000,
		.progress = apply_print_progress,
		.arg = a,
		.guarded = apply_note_deadman,
		.prepared = apply_stage,
		.deadman = &a->deadman,
	};
	char tx_id[JOURNAL_ID_MAX];
	enum apply_outcome outcome;
	struct err e = {0};

	if (!cmd_plans_changes(&a->plans))
		return apply_report_unchanged(a);
	cmd_tidy(&state_at);
	/* A closed pipe must not kill a transaction in progress. */
	signals_ignore_pipe(NULL);
	if (plan_apply(a->dcb, a->plans.plan, a->plans.count, &how, tx_id, &outcome, &e))
		return apply_report_failure(a, tx_id, outcome, &e);
	return apply_read_back(a, tx_id);
}

static int apply_plan_first(struct apply *a)
{
	struct err e = {0};
	int rc;

	if (cmd_plans_make(a->dcb, &a->profile, interface, &a->plans, &e)) {
		/* The saved plan names the missing port. */
		if (a->saved && e.code == -ENODEV)
			(void)plan_file_check(a->saved, &a->plans, &e);
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (a->saved && plan_file_check(a->saved, &a->plans, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if ((!globals->json && !boot) || dry_run) {
		rc = EXIT_OK;
		if (globals->json)
			rc = cmd_print_json(cmd_plans_json(&a->plans));
		else
			cmd_plans_print(&a->plans, &a->profile, stdout, globals->colour_out);
		if (!globals->json)
			puts(dry_run ? " Nothing written." : "");
		if (rc || dry_run)
			return rc;
	}
	fflush(stdout);
	rc = apply_check_possible(&a->plans, &a->profile);
	if (!rc && cmd_plans_changes(&a->plans))
		rc = apply_get_consent(&a->plans, &a->profile, &consent);
	return rc ? rc : apply_write(a);
}

static int apply_run_profile(struct apply *a)
{
	struct err e = {0};
	int rc;

	if (dcb_open(NULL, &a->dcb, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	rc = apply_plan_first(a);
	deadman_free(a->deadman);
	a->deadman = NULL;
	cmd_plans_clear(&a->plans);
	dcb_close(a->dcb);
	return rc;
}

/* At boot no program uses the ports yet, so disruption needs no consent. */
static int apply_run_saved(const struct saved_profile *kept, unsigned int link_s,
			   unsigned int *changes)
{
	const unsigned int asked_ms = wait_link_ms;
	const struct apply_consent given = consent;
	struct apply a = {.profile = kept->profile, .is_kept = true, .name = "--last"};
	int rc;

	interface = kept->ifname;
	if (wait_link_ms / 1000 > link_s)
		wait_link_ms = link_s * 1000;
	consent.approve |= boot;
	consent.disruption |= boot;
	rc = apply_run_profile(&a);
	*changes = a.finished;
	consent = given;
	wait_link_ms = asked_ms;
	return rc;
}

static int apply_run_hosts(int argc, char **argv)
{
	if (argc > 1)
		return cmd_usage(&cmd_apply, "more than one PROFILE");
	if (last || boot || strcmp(state_at.dir, STATE_DIR))
		return cmd_usage(&cmd_apply,
				 "--last, --boot and --state-dir work on this host only");
	if (argc && plan_file_is(argv[0]))
		return cmd_usage(&cmd_apply, "a saved plan (PLAN.json) is for one host");
	if (confirm_within_ms > 3600000 || wait_link_ms > 3600000 ||
	    (settle_ms != SETTLE_AUTO && settle_ms > 3600000))
		return cmd_usage(&cmd_apply, "on many hosts no TIME may exceed 1h");
	many.dry_run = dry_run;
	many.confirm_within_ms = confirm_within_ms;
	many.wait_link_ms = wait_link_ms;
	many.settle_ms = settle_ms == SETTLE_AUTO ? ROLLOUT_SETTLE_AUTO : settle_ms;
	return cmd_apply_hosts(&many, &consent, argc ? argv[0] : NULL, interface);
}

static int apply_main(int argc, char **argv)
{
	const struct saved_run kept = {
		.at = &state_at, .interface = interface, .boot = boot, .apply = apply_run_saved};
	struct apply a = {0};
	struct err e = {0};
	int rc;

	if (hosts_asked(&many.hosts))
		return apply_run_hosts(argc, argv);
	if (many.canary || many.max_fail)
		return cmd_usage(&cmd_apply, "--canary and --max-fail need --hosts or --inventory");
	if (boot && !last)
		return cmd_usage(&cmd_apply, "--boot needs --last");
	if (last)
		return argc ? cmd_usage(&cmd_apply, "PROFILE and --last exclude each other")
			    : cmd_apply_saved(&kept);
	if (argc != 1)
		return cmd_usage(&cmd_apply, "missing PROFILE");
	a.name = argv[0];
	if (!plan_file_is(argv[0]))
		rc = cmd_load_profile(argv[0], &a.profile);
	else if (plan_file_read(argv[0], &a.profile, &a.saved, &e))
		rc = cmd_fail(EXIT_USAGE, &e);
	else
		rc = EXIT_OK;
	if (!rc && apply_verify_check_wait(settle_ms, apply_confirm_within_s(&a),
					   confirm_within_ms ? "--confirm-within"
							     : "policy.rollback_timeout_s",
					   &e))
		rc = cmd_fail(EXIT_USAGE, &e);
	if (!rc)
		rc = apply_run_profile(&a);
	json_decref(a.saved);
	return rc;
}

const struct command cmd_apply = {
	.name = "apply",
	.args = "PROFILE | PLAN.json | --last",
	.help = "apply a profile, or a plan of 'plan --out', to RoCE ports as one transaction",
	.opts = apply_opts,
	.run = apply_main,
};
