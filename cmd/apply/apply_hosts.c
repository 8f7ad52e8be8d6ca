/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck apply on many hosts: the plans of all are printed, the question is asked once, the
 * rollout does the rest, and a line a host says how it ended.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/apply/apply_settle.h"
#include "cmd/apply/hosts.h"
#include "cmd/cmd.h"
#include "profiles/base/text.h"

#define CONFIRM_WITHIN_S 60    /* of the dead-men, when neither option nor profile says */
#define MARGIN_MS	 20000 /* by which a dead-man is late at most */

static bool is_in_wave(const struct hosts *h, unsigned int i, const void *arg)
{
	const unsigned int *const *wave = arg;

	(void)h;
	return (*wave)[i] == **(wave + 1);
}

static int print_waves(const struct hosts *h, const struct rollout_limits *l)
{
	const struct rollout *r = &h->rollout;
	unsigned int *wave = calloc(r->host_count + 1, sizeof(*wave));
	int waves = wave ? rollout_waves(r->unit, r->host_count, l, wave) : -ENOMEM;

	for (unsigned int w = 1; (int)w <= waves; w++) {
		const unsigned int *const pair[] = {wave, &w};

		printf("Wave %u: ", w);
		hosts_print_names(h, is_in_wave, pair);
		puts(w == 1 ? "  (canary)" : "");
	}
	free(wave);
	return waves < 0 ? waves : 0;
}

/* Everything of the plans that makes a host fail whatever is answered. */
static void check_possible(struct hosts *h)
{
	struct rollout *r = &h->rollout;

	for (unsigned int i = 0; i < r->host_count; i++) {
		struct rollout_host *host = &r->host[i];

		if (host->result != ROLLOUT_NOT_STARTED || !host->facts.cannot ||
		    h->fabric.profile.on_unsupported != CHOICE_FAIL)
			continue;
		host->result = ROLLOUT_FAILED;
		host->status = EXIT_ENVIRONMENT;
		r->unit[i].stage = ROLLOUT_BAD;
		snprintf(host->reason, sizeof(host->reason),
			 "%u wishes of the profile are not possible there", host->facts.cannot);
	}
}

static unsigned int count_bad(const struct rollout *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->host_count; i++)
		n += r->unit[i].stage == ROLLOUT_BAD;
	return n;
}

static int check_policy(const struct hosts *h, const struct apply_consent *given)
{
	const struct profile *p = &h->fabric.profile;
	struct err e = {0};

	for (unsigned int i = 0; i < h->rollout.host_count; i++) {
		const struct rollout_host *host = &h->rollout.host[i];

		if (host->result != ROLLOUT_NOT_STARTED || !host->facts.disrupted)
			continue;
		if (p->disruption == CHOICE_DENY) {
			err_set(&e, -EPERM,
				"%s: steps flap a link or reset a port, and the profile says "
				"'policy.disruption: deny'",
				host->name);
			return cmd_fail(EXIT_USAGE, &e);
		}
		if (!host->facts.used[0] || given->disruption || p->disruption == CHOICE_ALLOW)
			continue;
		err_set(&e, -EBUSY, "%s: %s, and steps flap its link or reset it", host->name,
			host->facts.used);
		err_hint(&e, "end that first, or give --accept-disruption, or set "
			     "'policy.disruption: allow'");
		return cmd_fail(EXIT_USAGE, &e);
	}
	return EXIT_OK;
}

/* Asks for what the plans need, and adds it to *accepted, which the hosts are told. */
static int get_consent(const struct hosts *h, const struct apply_consent *given,
		       struct apply_consent *accepted)
{
	const struct profile *p = &h->fabric.profile;
	struct apply_needs needs = {.what = "Apply writes to these hosts"};
	unsigned int changes = 0;
	bool unproven = false;
	int rc = check_policy(h, given);

	for (unsigned int i = 0; i < h->rollout.host_count; i++) {
		const struct rollout_host *host = &h->rollout.host[i];

		if (host->result != ROLLOUT_NOT_STARTED)
			continue;
		changes += host->facts.changes;
		unproven |= host->facts.unproven;
		needs.disruption |= host->facts.disrupted && p->disruption != CHOICE_ALLOW;
	}
	if (rc || !changes)
		return rc;
	if (unproven)
		needs.what = "Apply writes to these hosts, with a driver not verified on hardware "
			     "(tier source)";
	rc = apply_ask_needs(&needs, given);
	accepted->disruption |= needs.disruption;
	return rc;
}

static int print_json(const struct hosts *h)
{
	const struct rollout *r = &h->rollout;
	int count[ROLLOUT_RESULT_COUNT] = {0};
	json_t *list = json_array(), *counts = json_object();
	int err = list && counts ? 0 : -1;

	for (unsigned int i = 0; !err && i < r->host_count; i++) {
		count[r->host[i].result]++;
		err = json_array_append_new(list, hosts_json(&r->host[i]));
	}
	for (int i = 0; !err && i < ROLLOUT_RESULT_COUNT; i++)
		err = json_object_set_new(counts, rollout_result_word(i), json_integer(count[i]));
	if (!err)
		return cmd_print_json(json_pack("{s:s, s:o, s:o}", "schema", "rocecheck.rollout/1",
						"hosts", list, "count", counts));
	json_decref(list);
	json_decref(counts);
	return EXIT_ENVIRONMENT;
}

static void print_host(const struct rollout_host *host, int width)
{
	char *reason = text_copy(host->reason, TEXT_FIELD);

	printf("%-*s  %-11s", width, host->name, rollout_result_word(host->result));
	if (host->result == ROLLOUT_APPLIED)
		printf("  %u change%s, %.1f s, transaction %s", host->facts.changes,
		       host->facts.changes == 1 ? "" : "s", host->took_ms / 1e3, host->tx);
	if (host->reason[0])
		printf("  %s", reason ? reason : "");
	putchar('\n');
	free(reason);
}

static void print_recap(const struct hosts *h)
{
	const struct rollout *r = &h->rollout;
	unsigned int count[ROLLOUT_RESULT_COUNT] = {0};
	const char *comma = "";
	int width = 0;

	for (unsigned int i = 0; i < r->host_count; i++) {
		int length = (int)strlen(r->host[i].name);

		width = length > width ? length : width;
		count[r->host[i].result]++;
	}
	putchar('\n');
	for (unsigned int i = 0; i < r->host_count; i++)
		print_host(&r->host[i], width);
	for (int i = ROLLOUT_RESULT_COUNT; i-- > 0; comma = count[i] ? ", " : comma)
		if (count[i])
			printf("%s%u %s", comma, count[i], rollout_result_word(i));
	puts(".");
}

static int tell(const struct hosts *h)
{
	int code = EXIT_OK;

	if (globals->json)
		code = print_json(h);
	else
		print_recap(h);
	for (unsigned int i = 0; i < h->rollout.host_count; i++)
		code = cmd_worse(code, hosts_exit(&h->rollout.host[i]));
	return code;
}

static int take_canary(const struct hosts *h, const char *name, unsigned int *canary)
{
	int at = name ? fabric_find_host(&h->fabric, name) : (int)rollout_canary(&h->rollout);

	if (at < 0)
		return cmd_usage(&cmd_apply, "--canary: no host '%s' among these", name);
	*canary = (unsigned int)at;
	return EXIT_OK;
}

static int roll_out(struct hosts *h, const struct hosts_apply *o, struct rollout_how *how,
		    const struct apply_consent *given)
{
	struct apply_consent accepted = *given;
	struct err e = {0};
	int code = EXIT_OK;

	/* With too many lost already nothing is begun: nothing to ask. */
	if (count_bad(&h->rollout) <= o->max_fail)
		code = get_consent(h, given, &accepted);
	if (code)
		return code;
	how->disruption = accepted.disruption;
	if (rollout_run(&h->rollout, how, &e))
		fprintf(stderr, "rocecheck: %s\n", e.text);
	return tell(h);
}

static unsigned int confirm_within(const struct hosts_apply *o, const struct profile *p)
{
	if (o->confirm_within_ms)
		return (o->confirm_within_ms + 999) / 1000;
	return p->confirm_within_s ? p->confirm_within_s : CONFIRM_WITHIN_S;
}

static const char *confirm_word(const struct hosts_apply *o, const struct profile *p)
{
	if (o->confirm_within_ms)
		return "--confirm-within";
	return p->confirm_within_s ? "policy.rollback_timeout_s"
				   : "the default of --confirm-within";
}

static int go_on(struct hosts *h, const struct hosts_apply *o, const struct apply_consent *given)
{
	struct rollout_how how = {
		.limits = {.parallel = o->parallel, .max_bad = o->max_fail},
		.confirm_within_s = confirm_within(o, &h->fabric.profile),
		.wait_link_s = (o->wait_link_ms + 999) / 1000,
		.settle_ms = o->settle_ms,
		.margin_ms = MARGIN_MS,
	};
	int code = take_canary(h, o->canary, &how.limits.canary);

	if (code)
		return code;
	if (o->dry_run)
		return hosts_tell_plans(h, false);
	check_possible(h);
	if (!globals->json) {
		hosts_print_plans(h);
		if (print_waves(h, &how.limits))
			return EXIT_ENVIRONMENT;
		fflush(stdout);
	}
	return roll_out(h, o, &how, given);
}

int cmd_apply_hosts(const struct hosts_apply *o, const struct apply_consent *given,
		    const char *profile, const char *interface)
{
	struct err e = {0};
	struct hosts h;
	int code = hosts_plan(&cmd_apply, &o->hosts, profile, interface, &h);

	if (code)
		return code;
	if (apply_check_settle(o->settle_ms, confirm_within(o, &h.fabric.profile),
			       confirm_word(o, &h.fabric.profile), &e))
		code = cmd_fail(EXIT_USAGE, &e);
	else
		code = go_on(&h, o, given);
	hosts_clear(&h);
	return code;
}
