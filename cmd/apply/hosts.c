/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `plan` and `apply` on many hosts: reads the hosts from the command line or an inventory and
 * prints the plans of all. apply asks once, runs the rollout, and prints one line per host with its
 * result.
 */
#include "cmd/apply/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/apply/apply_verify.h"
#include "cmd/cmd.h"
#include "profiles/base/signals.h"
#include "profiles/base/text.h"
#include "profiles/profile_json.h"

#define NAMES_MAX	 16
#define CONFIRM_WITHIN_S 60    /* default, if neither option nor profile sets it */
#define MARGIN_MS	 20000 /* maximum delay of a dead-man */

static int hosts_add(struct fabric *f, const char *list, struct err *e)
{
	int err = fabric_add_hosts(f, list, e);

	if (err)
		err_prefix(e, "--hosts");
	return err;
}

/* Keeps only the listed hosts; each must be in the inventory. */
static int keep_hosts(struct fabric *f, const char *list, struct err *e)
{
	struct fabric named = {.host = NULL};
	unsigned int kept = 0;
	int err = hosts_add(&named, list, e);

	for (unsigned int i = 0; !err && i < named.host_count; i++)
		if (fabric_find_host(f, named.host[i].name) < 0)
			err = err_set(e, -ENOENT, "%s: no host '%s'", f->path, named.host[i].name);
	for (unsigned int i = 0; !err && i < f->host_count; i++) {
		if (fabric_find_host(&named, f->host[i].name) >= 0)
			f->host[kept++] = f->host[i];
		else
			free(f->host[i].port);
	}
	if (!err)
		f->host_count = kept;
	fabric_clear(&named);
	return err;
}

static int hosts_load(const struct command *c, const struct hosts_options *o, const char *profile,
		      struct fabric *f)
{
	struct err e = {0};
	int code = EXIT_OK;

	*f = (struct fabric){.engine = "ssh", .agent = "rocecheck", .connect_timeout_s = 10};
	if (!profile && !o->inventory)
		return cmd_usage(c, "missing PROFILE (no --inventory names one)");
	if (o->inventory)
		code = cmd_load_inventory(o->inventory, f);
	if (!code && profile)
		code = cmd_load_profile(profile, &f->profile);
	if (!code && o->hosts &&
	    (o->inventory ? keep_hosts(f, o->hosts, &e) : hosts_add(f, o->hosts, &e)))
		code = cmd_fail(EXIT_USAGE, &e);
	if (code)
		fabric_clear(f);
	return code;
}

/* Ports come from the inventory, without one from the profile. */
static json_t *hosts_profile_json(const struct fabric *f, unsigned int h, const char *interface)
{
	const struct fabric_host *host = &f->host[h];
	struct profile p = f->profile;

	if (host->port_count || interface)
		p.interface_count = 0;
	for (unsigned int i = 0; i < host->port_count && p.interface_count < PROFILE_PATTERN_MAX;
	     i++)
		if (!interface || !strcmp(interface, host->port[i].interface))
			snprintf(p.interface[p.interface_count++], sizeof(p.interface[0]), "%s",
				 host->port[i].interface);
	if (interface && !p.interface_count)
		snprintf(p.interface[p.interface_count++], sizeof(p.interface[0]), "%.63s",
			 interface);
	return profile_to_json(&p);
}

static void hosts_print_progress(const char *line, void *arg)
{
	char *text = text_copy(line, TEXT_FIELD);

	(void)arg;
	fprintf(stderr, "rocecheck: %s\n", text ? text : "(out of memory)");
	free(text);
}

int hosts_plan(const struct command *c, const struct hosts_options *o, const char *profile,
	       const char *interface, struct hosts *h)
{
	struct err e = {0};
	int code, err = 0;

	memset(h, 0, sizeof(*h));
	code = hosts_load(c, o, profile, &h->fabric);
	if (code)
		return code;
	if (rollout_open(&h->fabric, signals_catch_stop(),
			 globals->quiet ? NULL : hosts_print_progress, NULL, &h->rollout, &e)) {
		fabric_clear(&h->fabric);
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	for (unsigned int i = 0; !err && i < h->rollout.host_count; i++) {
		h->rollout.host[i].profile = hosts_profile_json(&h->fabric, i, interface);
		err = h->rollout.host[i].profile ? 0 : -ENOMEM;
	}
	if (err) {
		err_sys(&e, err, "plan");
		hosts_clear(h);
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	rollout_connect(&h->rollout);
	rollout_plan(&h->rollout, !globals->json);
	return EXIT_OK;
}

void hosts_clear(struct hosts *h)
{
	rollout_close(&h->rollout);
	fabric_clear(&h->fabric);
}

/* "h1 h2 h3", the hosts of which is(h, i, arg) holds; "and 17 more" after some. */
static void hosts_print_names(const struct hosts *h,
			      bool (*is)(const struct hosts *h, unsigned int i, const void *arg),
			      const void *arg)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < h->rollout.host_count; i++)
		if (is(h, i, arg) && n++ < NAMES_MAX)
			printf("%s%s", n > 1 ? " " : "", h->rollout.host[i].name);
	if (n > NAMES_MAX)
		printf(" and %u more", n - NAMES_MAX);
}

static bool hosts_has_text(const struct hosts *h, unsigned int i, const void *text)
{
	const char *its = h->rollout.host[i].plan_text;

	return its && !strcmp(its, text);
}

/* Prints lines of a remote host, sanitized. */
static void hosts_print_lines(const char *text, const char *before, FILE *out)
{
	char *copy = strdup(text), *next = copy, *line;

	while (copy && (line = strsep(&next, "\n"))) {
		if (!next && !*line)
			break;
		fputs(*line ? before : "", out);
		text_print(out, line, TEXT_LINE);
		fputc('\n', out);
	}
	free(copy);
}

/* Prints the plans as text, equal ones once; warnings and failures on stderr. */
static void hosts_print_plans(const struct hosts *h)
{
	const struct rollout *r = &h->rollout;

	for (unsigned int i = 0; i < r->host_count; i++) {
		const char *text = r->host[i].plan_text, *name = r->host[i].name;
		char before[FABRIC_NAME_MAX + 8];
		bool first = text != NULL;

		snprintf(before, sizeof(before), "%s: ", name);
		if (r->host[i].warnings)
			hosts_print_lines(r->host[i].warnings, before, stderr);
		for (unsigned int k = 0; first && k < i; k++)
			first = !hosts_has_text(h, k, text);
		if (!first)
			continue;
		fputs("== ", stdout);
		hosts_print_names(h, hosts_has_text, text);
		putchar('\n');
		/* Indented, so that a remote host cannot fake a section or the total. */
		hosts_print_lines(text, "  ", stdout);
	}
	fflush(stdout);
}

/* {"name":...,"result":...} of one host with its plan. New reference, NULL on -ENOMEM. */
static json_t *hosts_json(const struct rollout_host *host)
{
	json_t *plan = host->plan ? json_copy(host->plan) : json_null();

	/* The profile is the same for all hosts. */
	if (host->plan)
		(void)json_object_del(plan, "profile");
	return json_pack("{s:s, s:s, s:o, s:b, s:i, s:s, s:f, s:o}", "name", host->name, "result",
			 rollout_result_word(host->result), "reason", text_to_json(host->reason),
			 "lost", host->lost, "changes", (int)host->facts.changes, "tx", host->tx,
			 "seconds", host->took_ms / 1e3, "plan", plan);
}

/* Returns the exit code of one host. */
static int hosts_exit(const struct rollout_host *host)
{
	switch (host->result) {
	case ROLLOUT_APPLIED:
	case ROLLOUT_UNCHANGED:
		return EXIT_OK;
	case ROLLOUT_ROLLED_BACK:
		return EXIT_APPLY_UNDONE;
	case ROLLOUT_FAILED:
		break;
	default:
		return EXIT_INCOMPLETE;
	}
	if (host->lost)
		return EXIT_APPLY_LOST;
	if (!host->reached)
		return EXIT_INCOMPLETE;
	return host->status >= EXIT_FINDINGS && host->status <= EXIT_APPLY_LOST ? host->status
										: EXIT_ENVIRONMENT;
}

static json_t *hosts_plans_json(const struct hosts *h)
{
	json_t *list = json_array();
	unsigned int changes = 0;

	for (unsigned int i = 0; list && i < h->rollout.host_count; i++) {
		changes += h->rollout.host[i].facts.changes;
		if (json_array_append_new(list, hosts_json(&h->rollout.host[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return json_pack("{s:s, s:i, s:o}", "schema", "rocecheck.plans/1", "changes", (int)changes,
			 "hosts", list);
}

static void hosts_print_total(const struct hosts *h)
{
	unsigned int changed = 0, failed = 0, count = h->rollout.host_count;

	for (unsigned int i = 0; i < count; i++) {
		changed += h->rollout.host[i].facts.changes != 0;
		failed += h->rollout.host[i].result == ROLLOUT_FAILED;
	}
	printf("%u of %u host%s would change", changed, count, plural(count));
	if (failed)
		printf(", %u could not be planned", failed);
	puts(". Nothing written.");
}

int hosts_report_plans(const struct hosts *h, bool changes_count)
{
	int code = EXIT_OK;

	if (globals->json) {
		code = cmd_print_json(hosts_plans_json(h));
	} else {
		hosts_print_plans(h);
		hosts_print_total(h);
	}
	for (unsigned int i = 0; i < h->rollout.host_count; i++) {
		const struct rollout_host *host = &h->rollout.host[i];

		if (host->result == ROLLOUT_FAILED)
			code = cmd_worse(code, hosts_exit(host));
		else if (changes_count && (host->facts.changes || host->facts.cannot))
			code = cmd_worse(code, EXIT_FINDINGS);
	}
	return code;
}

static bool hosts_is_in_wave(const struct hosts *h, unsigned int i, const void *arg)
{
	const unsigned int *const *wave = arg;

	(void)h;
	return (*wave)[i] == **(wave + 1);
}

static int hosts_print_waves(const struct hosts *h, const struct rollout_limits *l)
{
	const struct rollout *r = &h->rollout;
	unsigned int *wave = calloc(r->host_count + 1, sizeof(*wave));
	int waves = wave ? rollout_waves(r->entry, r->host_count, l, wave) : -ENOMEM;

	for (unsigned int w = 1; (int)w <= waves; w++) {
		const unsigned int *const pair[] = {wave, &w};

		printf("Wave %u: ", w);
		hosts_print_names(h, hosts_is_in_wave, pair);
		puts(w == 1 ? "  (canary)" : "");
	}
	free(wave);
	return waves < 0 ? waves : 0;
}

/* Fails the hosts whose plans no consent can permit. */
static void hosts_check_possible(struct hosts *h)
{
	struct rollout *r = &h->rollout;

	for (unsigned int i = 0; i < r->host_count; i++) {
		struct rollout_host *host = &r->host[i];

		if (host->result != ROLLOUT_NOT_STARTED || !host->facts.cannot ||
		    h->fabric.profile.on_unsupported != CHOICE_FAIL)
			continue;
		host->result = ROLLOUT_FAILED;
		host->status = EXIT_ENVIRONMENT;
		r->entry[i].stage = ROLLOUT_STAGE_FAILED;
		snprintf(host->reason, sizeof(host->reason),
			 "%u profile settings are not supported on this host", host->facts.cannot);
	}
}

static unsigned int hosts_count_failed(const struct rollout *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->host_count; i++)
		n += r->entry[i].stage == ROLLOUT_STAGE_FAILED;
	return n;
}

static int hosts_check_policy(const struct hosts *h, const struct apply_consent *given)
{
	const struct profile *p = &h->fabric.profile;
	struct err e = {0};

	for (unsigned int i = 0; i < h->rollout.host_count; i++) {
		const struct rollout_host *host = &h->rollout.host[i];

		if (host->result != ROLLOUT_NOT_STARTED || !host->facts.disrupted)
			continue;
		if (p->disruption == CHOICE_DENY) {
			err_set(&e, -EPERM,
				"%s: the plan flaps a link or resets a port, and the profile "
				"forbids it ('policy.disruption: deny')",
				host->name);
			return cmd_fail(EXIT_USAGE, &e);
		}
		if (!host->facts.used[0] || given->disruption || p->disruption == CHOICE_ALLOW)
			continue;
		err_set(&e, -EBUSY, "%s: %s, and the plan flaps its link or resets it", host->name,
			host->facts.used);
		err_hint(&e, "stop that use first, or pass --accept-disruption, or set "
			     "'policy.disruption: allow'");
		return cmd_fail(EXIT_USAGE, &e);
	}
	return EXIT_OK;
}

/* Asks for the consent that the plans need, and adds it to *accepted, which goes to the hosts. */
static int hosts_get_consent(const struct hosts *h, const struct apply_consent *given,
			     struct apply_consent *accepted)
{
	const struct profile *p = &h->fabric.profile;
	struct apply_needs needs = {.what = "Apply changes settings of these hosts"};
	unsigned int changes = 0;
	bool unproven = false;
	int rc = hosts_check_policy(h, given);

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
		needs.what = "Apply changes settings of these hosts; a driver is not verified on "
			     "hardware yet (tier: source)";
	rc = apply_ask_needs(&needs, given);
	accepted->disruption |= needs.disruption;
	return rc;
}

static int hosts_print_json(const struct hosts *h)
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
	printf("%-*s  %-11s", width, host->name, rollout_result_word(host->result));
	if (host->result == ROLLOUT_APPLIED)
		printf("  %u change%s, %.1f s, transaction %s", host->facts.changes,
		       plural(host->facts.changes), host->took_ms / 1e3, host->tx);
	if (host->reason[0])
		fputs("  ", stdout);
	text_print(stdout, host->reason, TEXT_FIELD);
	putchar('\n');
}

static void hosts_print_recap(const struct hosts *h)
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

static int hosts_report_rollout(const struct hosts *h)
{
	int code = EXIT_OK;

	if (globals->json)
		code = hosts_print_json(h);
	else
		hosts_print_recap(h);
	for (unsigned int i = 0; i < h->rollout.host_count; i++)
		code = cmd_worse(code, hosts_exit(&h->rollout.host[i]));
	return code;
}

static int hosts_find_canary(const struct hosts *h, const char *name, unsigned int *canary)
{
	int at = name ? fabric_find_host(&h->fabric, name) : (int)rollout_canary(&h->rollout);

	if (at < 0)
		return cmd_usage(&cmd_apply, "--canary: no host '%s' in --hosts or the inventory",
				 name);
	*canary = (unsigned int)at;
	return EXIT_OK;
}

static int hosts_roll_out(struct hosts *h, const struct hosts_apply *o, struct rollout_options *how,
			  const struct apply_consent *given)
{
	struct apply_consent accepted = *given;
	struct err e = {0};
	int code = EXIT_OK;

	/* With too many failed hosts none is started: nothing to ask. */
	if (hosts_count_failed(&h->rollout) <= o->max_fail)
		code = hosts_get_consent(h, given, &accepted);
	if (code)
		return code;
	how->disruption = accepted.disruption;
	if (rollout_run(&h->rollout, how, &e))
		fprintf(stderr, "rocecheck: %s\n", e.text);
	return hosts_report_rollout(h);
}

static unsigned int hosts_confirm_within_s(const struct hosts_apply *o, const struct profile *p)
{
	if (o->confirm_within_ms)
		return (o->confirm_within_ms + 999) / 1000;
	return p->confirm_within_s ? p->confirm_within_s : CONFIRM_WITHIN_S;
}

static const char *hosts_confirm_word(const struct hosts_apply *o, const struct profile *p)
{
	if (o->confirm_within_ms)
		return "--confirm-within";
	return p->confirm_within_s ? "policy.rollback_timeout_s"
				   : "the default of --confirm-within";
}

static int hosts_apply_planned(struct hosts *h, const struct hosts_apply *o,
			       const struct apply_consent *given)
{
	struct rollout_options how = {
		.limits = {.parallel = o->parallel, .max_failed = o->max_fail},
		.confirm_within_s = hosts_confirm_within_s(o, &h->fabric.profile),
		.wait_link_s = (o->wait_link_ms + 999) / 1000,
		.settle_ms = o->settle_ms,
		.margin_ms = MARGIN_MS,
	};
	int code = hosts_find_canary(h, o->canary, &how.limits.canary);

	if (code)
		return code;
	if (o->dry_run)
		return hosts_report_plans(h, false);
	hosts_check_possible(h);
	if (!globals->json) {
		hosts_print_plans(h);
		if (hosts_print_waves(h, &how.limits))
			return EXIT_ENVIRONMENT;
		fflush(stdout);
	}
	return hosts_roll_out(h, o, &how, given);
}

int cmd_apply_hosts(const struct hosts_apply *o, const struct apply_consent *given,
		    const char *profile, const char *interface)
{
	struct err e = {0};
	struct hosts h;
	int code = hosts_plan(&cmd_apply, &o->hosts, profile, interface, &h);

	if (code)
		return code;
	if (apply_verify_check_wait(o->settle_ms, hosts_confirm_within_s(o, &h.fabric.profile),
				    hosts_confirm_word(o, &h.fabric.profile), &e))
		code = cmd_fail(EXIT_USAGE, &e);
	else
		code = hosts_apply_planned(&h, o, given);
	hosts_clear(&h);
	return code;
}
