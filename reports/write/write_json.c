/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes rocecheck.report/1, the report for programs. Findings are in the order of the text report:
 * the first violation is the worst root cause. caused_by is an index into the same list, or null.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/base/json_file.h"
#include "profiles/base/text.h"
#include "reports/engine/allow.h"
#include "reports/engine/finding_sort.h"
#include "reports/rules/app_env.h"
#include "reports/write/writer.h"

static json_t *prios_json(uint8_t set)
{
	json_t *list = json_array();

	for (int prio = 0; prio < QOS_PRIOS; prio++)
		if (set & 1 << prio)
			list = json_list_add(list, json_integer(prio));
	return list;
}

static json_t *evidence_json(const struct finding *f)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < f->evidence_count; i++) {
		char kind[] = {f->evidence[i].kind, '\0'};

		list = json_list_add(list, json_pack("{s:o, s:o}", "kind", text_to_json(kind),
						     "text", text_to_json(f->evidence[i].text)));
	}
	return list;
}

static json_t *expected_json(const struct finding *f)
{
	if (!f->expected_path[0])
		return json_null();
	return json_pack("{s:o, s:i}", "path", text_to_json(f->expected_path), "line",
			 f->expected_line);
}

/* The exceptions of the inventory. */
static json_t *exceptions_json(const struct report *r)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < r->fabric->allow_count; i++) {
		const struct fabric_allow *a = &r->fabric->allow[i];

		list = json_list_add(list, json_pack("{s:s, s:o, s:o, s:s, s:i, s:b, s:I}", "rule",
						     a->rule, "hosts", text_to_json(a->hosts),
						     "reason", text_to_json(a->reason), "until",
						     a->until, "line", a->line, "expired",
						     allow_expired(a, r->run), "findings",
						     (json_int_t)allow_count(r->findings, a)));
	}
	return list;
}

/* A report and the order of its findings. */
struct sorted_report {
	const struct report *r;
	struct finding_order order;
};

static json_t *finding_json(size_t i, const void *arg)
{
	const struct sorted_report *s = arg;
	const struct report *r = s->r;
	const struct finding_order *o = &s->order;
	const struct finding *f = &r->findings->list[o->at[i]];
	json_t *caused = f->caused_by < 0 ? json_null()
					  : json_integer((json_int_t)o->place[f->caused_by]);

	json_t *json = json_pack(
		"{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:b}", "rule",
		f->rule->id, "severity", severity_word(f->rule->severity), "verdict",
		verdict_word(f->verdict), "host", text_to_json(f->host), "port",
		text_to_json(f->port), "prio", prios_json(f->prio_set), "title", f->rule->title,
		"text", text_to_json(f->text), "advice", finding_advice(f), "evidence",
		evidence_json(f), "wish", expected_json(f), "caused_by", caused, "blocks",
		finding_blocks(f, r->allow, r->allow_count));

	if (json && f->allowed &&
	    json_object_set_new(json, "allowed",
				json_pack("{s:o, s:s, s:i}", "reason",
					  text_to_json(f->allowed->reason), "until",
					  f->allowed->until, "line", f->allowed->line))) {
		json_decref(json);
		json = NULL;
	}
	return json;
}

static json_t *counts_json(const struct findings *f)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "fail",
			 (json_int_t)verdict_count(f, VERDICT_FAIL), "warn",
			 (json_int_t)verdict_count(f, VERDICT_WARN), "inconclusive",
			 (json_int_t)verdict_count(f, VERDICT_INCONCLUSIVE), "skip",
			 (json_int_t)verdict_count(f, VERDICT_SKIP), "pass",
			 (json_int_t)verdict_count(f, VERDICT_PASS), "leading",
			 (json_int_t)leading_count(f), "allowed", (json_int_t)allow_count(f, NULL));
}

static json_t *hosts_json(const struct run *run)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < run->host_count; i++) {
		const struct run_host *h = &run->host[i];
		json_t *ports = json_array();

		for (unsigned int p = 0; p < h->port_count; p++)
			ports = json_list_add(ports, text_to_json(h->port[p].netdev));
		list = json_list_add(list,
				     json_pack("{s:o, s:b, s:o, s:o, s:o}", "name",
					       text_to_json(h->name), "reached", h->reached,
					       "error", text_to_json(h->error), "agent_version",
					       text_to_json(h->agent_version), "ports", ports));
	}
	return list;
}

/* null: one host without a profile. */
static json_t *profile_json(const struct report *r)
{
	const struct profile *p = &r->fabric->profile;

	if (r->alone && !p->name[0])
		return json_null();
	return json_pack("{s:o, s:o, s:s}", "name", text_to_json(p->name), "path",
			 text_to_json(p->path), "intent", profile_intent_word(p->intent));
}

/* null: one host, or a capture. */
static json_t *claim_json(const struct report *r)
{
	struct claim claim;
	char text[160];

	if (!report_claim(r, &claim))
		return json_null();
	claim_text(&claim, text, sizeof(text));
	return json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:o}", "level",
			 fabric_level_words[r->run->level].word, "text", text, "required",
			 r->require_lossless, "lossless", claim_is_lossless(&claim), "proven",
			 prios_json(claim.proven), "failed", prios_json(claim.failed), "not_proven",
			 prios_json(claim.unproven));
}

static json_t *job_json(const struct run *run)
{
	return json_pack("{s:o, s:i, s:b}", "command", text_to_json(run->job.command), "exit_code",
			 run->job.exit_code, "stopped", run->job.stopped);
}

/* All but the findings. */
static json_t *report_json(const struct report *r)
{
	json_t *allowed = json_array();

	for (unsigned int i = 0; i < r->allow_count; i++)
		allowed = json_list_add(allowed, text_to_json(r->allow[i]));
	return json_pack("{s:s, s:{s:s, s:s}, s:{s:o, s:o, s:I, s:I, s:b}, s:o, s:s, s:i, "
			 "s:o, s:o, s:o, s:o, s:o, s:[]}",
			 "schema", "rocecheck.report/1", "tool", "name", "rocecheck", "version",
			 ROCECHECK_VERSION, "run", "id", text_to_json(r->run->id), "fabric",
			 text_to_json(r->fabric->name), "started_unix_ns",
			 (json_int_t)r->run->started_unix_ns, "ended_unix_ns",
			 (json_int_t)r->run->ended_unix_ns, "traffic", r->run->traffic, "profile",
			 profile_json(r), "verdict", report_verdict(r), "exit_code", r->exit_code,
			 "claim", claim_json(r), "allow_inconclusive", allowed, "allow",
			 exceptions_json(r), "counts", counts_json(r->findings), "hosts",
			 hosts_json(r->run), "findings");
}

int write_json(const struct report *r, FILE *out, struct err *e)
{
	struct sorted_report s = {.r = r};
	json_t *json;
	int err;

	err = findings_sort(r->findings, &s.order);
	if (err)
		return err_sys(e, err, "report");
	json = report_json(r);
	if (r->environment &&
	    json_object_set_new(json, "environment", app_env_json(r->environment))) {
		json_decref(json);
		json = NULL;
	}
	if (r->run->has_job &&
	    json_object_set_new(json_object_get(json, "run"), "job", job_json(r->run))) {
		json_decref(json);
		json = NULL;
	}
	err = json_print(json,
			 &(struct json_long_list){"findings", s.order.count, finding_json, &s}, 1,
			 2, out);
	if (!err && fflush(out))
		err = errno ? -errno : -EIO;
	finding_order_clear(&s.order);
	return err ? err_sys(e, err, "report") : 0;
}
