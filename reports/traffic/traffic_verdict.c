/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of reasons, and the judging of a load: computes the counter increase of each port once,
 * then checks reports, counters, retries, evidence and shape. Each reason is a finding of its rule;
 * ports without one of the main rules get its PASS.
 */
#include "reports/traffic/traffic_verdict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/base/text.h"
#include "reports/traffic/verdict_priv.h"

#define FIND_DROP  "find the hop that drops: PFC of every hop, and the switches' drop counters"
#define FIND_HOST  "check CPU, PCIe and receive buffers of that host, not the fabric"
#define FIND_CABLE "check cable, optics, and hops that rewrite headers"
#define RUN_AGAIN  "fix the cause and run again"

/* clang-format off */

#define OF(class) (1u << CLASS_##class)
#define LOSS (OF(LOSS_REQUEST) | OF(LOSS_RESPONSE) | OF(RETRANSMIT) | OF(TIMEOUT) | OF(DEAD))

const struct reason_info reason_table[REASON_COUNT] = {
	[REASON_WRONG_DATA] = {"wrong-data", "corruption", VERDICT_FAIL, "RC-TRN-006",
		FIND_WRONG_DATA, NULL, 0},
	[REASON_LOST] = {"lost", "fabric-loss", VERDICT_FAIL, "RC-TRN-001", FIND_DROP, NULL, LOSS},
	[REASON_LOST_IN_SENDER] = {"lost-in-sender", "host-send", VERDICT_FAIL, "RC-TRN-011",
		"check queueing disciplines, link and MTU of the sender first", NULL,
		OF(HOST_SEND)},
	[REASON_HOST_DISCARD] = {"host-discard", "host-discard", VERDICT_FAIL, "RC-TRN-007",
		FIND_HOST, NULL, OF(HOST_DISCARD)},
	[REASON_CORRUPTION] = {"corruption", "corruption", VERDICT_FAIL, "RC-TRN-006", FIND_CABLE,
		NULL, OF(CORRUPTION)},
	[REASON_QP_FAILED] = {"queue-pair-failed", "queue-pair", VERDICT_FAIL, "RC-TRN-012",
		NULL, NULL, OF(DEAD) | OF(REFUSED)},
	[REASON_LINK_DOWN] = {"link-down", "link", VERDICT_FAIL, "RC-LNK-004",
		NULL, NULL, OF(LINK)},
	[REASON_WRONG_PRIORITY] = {"wrong-priority", "wrong-marking", VERDICT_FAIL, "RC-QOS-011",
		"compare the DSCP maps of both hosts and of the switches", NULL, 0},
	[REASON_RNR_DIED] = {"receiver-gave-no-buffer", "receiver-not-ready", VERDICT_FAIL,
		"RC-TRN-013", NULL, NULL, OF(RNR)},
	[REASON_STALLED] = {"stalled", "stall", VERDICT_FAIL, "RC-TRN-014",
		NULL, NULL, OF(PAUSE)},
	[REASON_NOT_MARKED] = {"marking-not-set", "wrong-marking", VERDICT_FAIL, "RC-QOS-006",
		"check default_roce_tos of both devices (configfs rdma_cm) and the driver's own "
		"traffic class", NULL, 0},
	[REASON_REMARKED] = {"marking-changed", "wrong-marking", VERDICT_FAIL, "RC-QOS-007",
		"make the hops of that path trust DSCP and keep DSCP and ECN bits", NULL, 0},
	[REASON_DATAGRAMS_LOST] = {"datagrams-lost", "fabric-loss", VERDICT_FAIL, "RC-NET-009",
		FIND_DROP, NULL, 0},
	[REASON_PATH_MTU] = {"path-mtu", "path-mtu", VERDICT_FAIL, "RC-MTU-003",
		"raise the MTU of every hop, or lower that of both ports", NULL, 0},
	[REASON_RNR] = {"receiver-not-ready", "receiver-not-ready", VERDICT_WARN, "RC-TRN-004",
		FIND_HOST, NULL, OF(RNR)},
	[REASON_SPURIOUS_PAUSE] = {"timeouts-under-pause", "spurious-timeout", VERDICT_WARN,
		"RC-TRN-001", "find the sender of the long pauses", NULL, LOSS | OF(PAUSE)},
	[REASON_SPURIOUS] = {"spurious-retries", "spurious-timeout", VERDICT_WARN, "RC-TRN-001",
		"use a longer ACK timeout (18), or count with UC or UD", NULL, LOSS},
	[REASON_TIMEOUTS] = {"timeouts", "unexplained-retries", VERDICT_WARN, "RC-TRN-001",
		"run in strict or count mode to distinguish loss from delay", NULL, LOSS},
	[REASON_ACKS_LOST] = {"answers-short", "fabric-loss", VERDICT_WARN, "RC-TRN-001", FIND_DROP,
		NULL, LOSS},
	[REASON_REORDERED] = {"reordered", "reordering", VERDICT_WARN, "RC-TRN-003",
		NULL, NULL, 0},
	[REASON_SEND_ERRORS] = {"send-errors", "host-send", VERDICT_WARN, "RC-TRN-011",
		NULL, NULL, OF(HOST_SEND)},
	[REASON_PORT_DISCARDS] = {"port-discards", "host-discard", VERDICT_WARN, "RC-TRN-007",
		FIND_HOST, NULL, OF(HOST_DISCARD)},
	[REASON_BAD_PACKETS] = {"bad-packets", "corruption", VERDICT_WARN, "RC-LNK-002", NULL, NULL, OF(CORRUPTION)},
	[REASON_LONG_PAUSE] = {"long-pause", "pause", VERDICT_WARN, "RC-PFC-027",
		NULL, NULL, OF(PAUSE)},
	[REASON_STORM] = {"pause-storm", "pause", VERDICT_WARN, "RC-PFC-014",
		NULL, NULL, OF(STORM)},
	[REASON_CNP_IGNORED] = {"cnp-ignored", "congestion-control", VERDICT_WARN, "RC-ECN-007",
		NULL, NULL, OF(CNP)},
	[REASON_REFUSED] = {"refused", "queue-pair", VERDICT_WARN, "RC-TRN-012",
		NULL, NULL, OF(REFUSED)},
	[REASON_IDLE_LOSS] = {"lost-while-idle", "foreign-traffic", VERDICT_WARN, "RC-META-006",
		"find the source of that traffic; it also loses packets", NULL, 0},
	[REASON_UNSTEADY] = {"unsteady", "unsteady", VERDICT_WARN, "RC-TRN-015",
		"check pauses and other load at that moment", NULL, OF(PAUSE)},
	[REASON_TAIL] = {"long-tail", "unsteady", VERDICT_WARN, "RC-TRN-015",
		"check pauses, retries and power states", NULL, OF(PAUSE)},
	[REASON_SLOW] = {"slow", "speed", VERDICT_WARN, "RC-TRN-008",
		NULL, NULL, 0},
	[REASON_CE_IDLE] = {"marked-while-idle", "congestion-control", VERDICT_WARN, "RC-ECN-010",
		NULL, NULL, 0},
	[REASON_PRESSURE] = {"host-pressure", "host-discard", VERDICT_WARN, "RC-TRN-016", NULL, NULL, OF(HOST_PRESSURE)},
	[REASON_NO_COUNTERS] = {"counters-absent", "evidence", VERDICT_INCONCLUSIVE, "RC-TRN-001",
		"run in strict or count mode, which need no counters", NULL, 0},
	[REASON_RESET] = {"counters-reset", "evidence", VERDICT_INCONCLUSIVE, "RC-META-003",
		"find out what reset the counters and run again",
		"a counter was reset (RC-META-003)", 0},
	[REASON_FOREIGN] = {"foreign-traffic", "foreign-traffic", VERDICT_INCONCLUSIVE,
		"RC-META-006", "run again while the ports are idle",
		"foreign traffic on the port (RC-META-006)", OF(VOLUME)},
	[REASON_NOT_STRESSED] = {"not-stressed", "evidence", VERDICT_INCONCLUSIVE, "RC-PFC-010",
		"use more senders, or a higher rate", NULL, 0},
	[REASON_ALIKE] = {"classes-alike", "evidence", VERDICT_INCONCLUSIVE, "RC-QOS-011",
		"give the classes different rates or counts", NULL, 0},
	[REASON_PACE] = {"pace-not-reached", "speed", VERDICT_INCONCLUSIVE, "RC-META-002",
		"request a lower rate, or find the bottleneck",
		"the load was not reached (RC-META-002)", 0},
	[REASON_NOTHING] = {"nothing-moved", "evidence", VERDICT_INCONCLUSIVE, "RC-META-002",
		RUN_AGAIN, "the load was not reached (RC-META-002)", 0},
	[REASON_BACKGROUND] = {"background-missing", "evidence", VERDICT_INCONCLUSIVE,
		"RC-META-002", "check routes, firewalls and shapers on the path of TCP",
		"the load was not reached (RC-META-002)", 0},
	[REASON_UNACCOUNTED] = {"unaccounted", "evidence", VERDICT_INCONCLUSIVE, "RC-TRN-001",
		"use the same build at both ends, and run again", NULL, 0},
	[REASON_REMOTE_GONE] = {"peer-gone", "peer-death", VERDICT_INCONCLUSIVE, "RC-META-007",
		"the remote program or host disappeared: run again", NULL, 0},
	[REASON_ABORTED] = {"aborted", "evidence", VERDICT_INCONCLUSIVE, "RC-META-015",
		"let the run finish", NULL, 0},
	[REASON_UNSEEN] = {"marking-unseen", "evidence", VERDICT_INCONCLUSIVE, "RC-QOS-007",
		"capture at the receiver instead, or run again", NULL, 0},
	[REASON_ACCOUNTED] = {"retries-accounted", "spurious-timeout", VERDICT_PASS, "RC-TRN-001",
		"", NULL, LOSS},
	[REASON_USERS] = {"other-users", "foreign-traffic", VERDICT_PASS, "RC-META-006", "", NULL,
		0},
};

/* clang-format on */

/* Order of verdicts, for the whole. */
static unsigned int verdict_weight(enum verdict v)
{
	static const unsigned int weights[] = {
		[VERDICT_PASS] = 0,	    [VERDICT_SKIP] = 0, [VERDICT_WARN] = 1,
		[VERDICT_INCONCLUSIVE] = 2, [VERDICT_FAIL] = 3,
	};

	return weights[v];
}

/* The verdict of the finding: what counts for RC-TRN-001 is a warning of its own rule, and a
 * missing host is a failure that makes the report incomplete. */
static enum verdict verdict_of_finding(enum reason_kind kind, enum verdict verdict)
{
	if (reason_table[kind].weakens)
		return VERDICT_WARN;
	return kind == REASON_REMOTE_GONE ? VERDICT_FAIL : verdict;
}

/* Begins a finding at a port, or for the whole run. */
static void verdict_begin_finding(struct judge *j, const char *rule, int end)
{
	const struct verdict_end *at = end < 0 ? NULL : &j->in->end[end];

	finding_begin(&j->out->findings, rule_find(rule), at ? at->host : "",
		      at ? at->port->netdev : "", 0);
}

/* Adds the counters of these classes that grew at the port. */
static void verdict_add_counters(struct judge *j, unsigned int end, unsigned int classes)
{
	const struct judged_end *e = &j->end[end];
	const struct port_ctx s = {.run_port = e->seen};

	for (unsigned int i = 0; e->known && i < METRIC_COUNT * QOS_PRIOS; i++) {
		enum metric m = i / QOS_PRIOS;

		if (classes & 1u << metric_table[m].class &&
		    counters_has(&e->load, m, i % QOS_PRIOS) && e->load.value[m][i % QOS_PRIOS])
			evidence_counter(&j->out->findings, &s, &e->load, m, i % QOS_PRIOS);
	}
}

/* Adds the report of an end on one class, or on all for class < 0. */
static void verdict_add_reports(struct judge *j, unsigned int end, int class)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];
		const struct traffic_report *r = judge_report_of(pair, end);

		if ((pair->client != end && pair->server != end) || !r)
			continue;
		for (unsigned int i = 0; i < r->class_count; i++) {
			const struct traffic_class_result *c = &r->class[i];

			if (class >= 0 && (unsigned int)class != i)
				continue;
			finding_evidence(&j->out->findings, EVIDENCE_TRAFFIC,
					 "with %s, class %u: %llu messages sent, %llu arrived, "
					 "%llu missing, "
					 "%llu lost, %llu wrong",
					 judge_host(j, judge_other(pair, end)), i,
					 (count_t)c->messages, (count_t)c->arrived,
					 (count_t)c->gaps, (count_t)c->losses,
					 (count_t)c->mismatches);
		}
	}
}

/* True when the rule has a finding on the host, or one of the whole run. */
static bool verdict_has_finding(const struct judge *j, const char *rule, unsigned int end)
{
	const struct findings *all = &j->out->findings;

	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].rule->id, rule) &&
		    (!all->list[i].host[0] || !strcmp(all->list[i].host, j->in->end[end].host)))
			return true;
	return false;
}

/* Adds what RC-TRN-001 of the port cannot tell now, once. */
static void verdict_weaken(struct judge *j, int end, const char *text)
{
	const struct findings *all = &j->out->findings;

	for (size_t i = 0; i < all->count; i++)
		if (!all->list[i].reason && !strcmp(all->list[i].text, text) &&
		    (end < 0 || !strcmp(all->list[i].host, j->in->end[end].host)))
			return;
	verdict_begin_finding(j, "RC-TRN-001", end);
	finding_set(&j->out->findings, VERDICT_INCONCLUSIVE, "%s", text);
}

static void verdict_add_reason(struct judge *j, enum verdict verdict, enum reason_kind kind,
			       int end, int class, const char *text)
{
	const struct reason_info *info = &reason_table[kind];
	struct traffic_verdict *v = j->out;

	v->verdict = traffic_verdict_graver(v->verdict, verdict);
	verdict_begin_finding(j, info->rule, end);
	finding_set(&v->findings, verdict_of_finding(kind, verdict), "%s", text);
	finding_reason(&v->findings, kind, class, info->advice);
	if (end >= 0 && info->classes)
		verdict_add_counters(j, (unsigned int)end, info->classes);
	if (end >= 0 && class >= 0)
		verdict_add_reports(j, (unsigned int)end, class);
	if (info->weakens)
		verdict_weaken(j, end, info->weakens);
}

void judge_add_reason(struct judge *j, enum reason_kind kind, int end, int class, const char *fmt,
		      ...)
{
	char text[REASON_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	verdict_add_reason(j, reason_table[kind].verdict, kind, end, class, text);
}

void judge_add_reason_as(struct judge *j, enum verdict verdict, enum reason_kind kind, int end,
			 int class, const char *fmt, ...)
{
	char text[REASON_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	verdict_add_reason(j, verdict, kind, end, class, text);
}

uint8_t judge_prios(const struct verdict_input *in)
{
	return in->lossless ? in->lossless : 0xff;
}

bool judge_has_reason(const struct judge *j, enum reason_kind kind, int end)
{
	const struct findings *all = &j->out->findings;

	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].reason == kind &&
		    !strcmp(all->list[i].host, end < 0 ? "" : j->in->end[end].host))
			return true;
	return false;
}

uint64_t judge_delta(const struct judged_end *e, enum metric m, uint8_t prios)
{
	uint64_t sum = 0;

	if (!e->known)
		return 0;
	for (unsigned int prio = 0; prio < (metric_table[m].by_prio ? QOS_PRIOS : 1); prio++) {
		if (counters_has(&e->net, m, prio) &&
		    (!metric_table[m].by_prio || prios & 1u << prio))
			sum += e->net.value[m][prio];
	}
	return sum;
}

const char *judge_host(const struct judge *j, unsigned int end)
{
	return j->in->end[end].host;
}

const char *judge_name(const struct judge *j, const struct verdict_pair *pair, unsigned int end,
		       char buf[JUDGE_NAME_MAX])
{
	unsigned int pairs = 0;

	for (unsigned int i = 0; i < j->in->pair_count; i++)
		pairs += j->in->pair[i].client == end || j->in->pair[i].server == end;
	snprintf(buf, JUDGE_NAME_MAX, "%.64s%s%.64s", judge_host(j, end),
		 pairs > 1 ? ", with " : "",
		 pairs > 1 ? judge_host(j, judge_other(pair, end)) : "");
	return buf;
}

unsigned int judge_other(const struct verdict_pair *pair, unsigned int end)
{
	return end == pair->client ? pair->server : pair->client;
}

const struct traffic_report *judge_report_of(const struct verdict_pair *pair, unsigned int end)
{
	return end == pair->client ? pair->client_report : pair->server_report;
}

bool judge_remote_gone(const struct verdict_pair *pair)
{
	return !pair->client_report || !pair->server_report;
}

static bool verdict_hung_unheard(const struct traffic_report *hung,
				 const struct traffic_report *other)
{
	return hung->total.cause == CAUSE_TIMEOUT && other->total.cause == CAUSE_REMOTE_GONE;
}

/* An agent kills a program that hangs and reports for it: its queue pairs are gone. */
static bool verdict_program_died(const struct verdict_pair *pair)
{
	const struct traffic_report *a = pair->client_report, *b = pair->server_report;

	return judge_remote_gone(pair) || verdict_hung_unheard(a, b) || verdict_hung_unheard(b, a);
}

/* Computes the facts of one port that all judges use. */
static void verdict_prepare_end(const struct verdict_input *in, const struct run_port *seen,
				struct judged_end *e)
{
	uint8_t prios = judge_prios(in);

	e->seen = seen;
	e->known = run_port_net(seen, &e->net) &&
		   run_port_delta(seen, READ_LOAD_BEFORE, &e->load, NULL);
	if (!e->known)
		return;
	loss_count(&e->net, seen->soft, -1, &e->loss);
	e->corrupted = port_count_corrupt(&e->net);
	host_drops_count(&e->net, prios, in->tcp, &e->drops);
	e->excused = e->drops.no_buffer + e->drops.roce + e->corrupted;
	e->unsent = port_count_unsent(&e->net);
	e->paused = port_count_paused(&e->net);
}

static void verdict_prepare(struct judge *j)
{
	for (unsigned int i = 0; i < j->in->end_count; i++)
		verdict_prepare_end(j->in, j->in->end[i].port, &j->end[i]);
	for (unsigned int i = 0; i < j->in->pair_count; i++) {
		const struct verdict_pair *pair = &j->in->pair[i];
		struct judged_end *ends[] = {&j->end[pair->client], &j->end[pair->server]};

		for (unsigned int k = 0; k < ARRAY_SIZE(ends); k++) {
			unsigned int timeout = traffic_ack_timeout(pair->spec, ends[k]->seen->soft);

			if (timeout && (!ends[k]->timeout || timeout < ends[k]->timeout))
				ends[k]->timeout = timeout;
			ends[k]->strict |= pair->spec->mode == TRAFFIC_STRICT;
			ends[k]->remote_gone |= verdict_program_died(pair);
		}
	}
}

static int verdict_check_indices(const struct verdict_input *in, struct err *e)
{
	if (in->end_count > VERDICT_ENDS_MAX)
		return err_set(e, -EINVAL, "verdict: %u ports, at most %d", in->end_count,
			       VERDICT_ENDS_MAX);
	for (unsigned int i = 0; i < in->pair_count; i++) {
		if (in->pair[i].client >= in->end_count || in->pair[i].server >= in->end_count)
			return err_set(e, -EINVAL,
				       "verdict: pair %u names a port that does not exist", i);
	}
	return 0;
}

/* Without a reason of it the rule passes at a port that reported: nothing was lost and, where the
 * contents were compared, nothing was wrong. And classes are in their priorities where they are
 * known to be. */
static void verdict_add_passes(struct judge *j, unsigned int end)
{
	const struct prio_arrival *a = j->in->arrival ? j->in->arrival[end] : NULL;
	struct findings *out = &j->out->findings;
	uint64_t checked = 0;
	bool reported = false, wanted = false;

	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];
		const struct traffic_report *r = judge_report_of(pair, end);

		if (pair->client != end && pair->server != end)
			continue;
		reported |= r != NULL;
		for (unsigned int i = 0; r && i < r->class_count; i++)
			checked += r->class[i].checked_bytes;
	}
	if (reported && !verdict_has_finding(j, "RC-TRN-001", end)) {
		verdict_begin_finding(j, "RC-TRN-001", (int)end);
		finding_set(out, VERDICT_PASS, "no loss was seen");
		verdict_add_reports(j, end, -1);
	}
	if (checked && !verdict_has_finding(j, "RC-TRN-006", end)) {
		verdict_begin_finding(j, "RC-TRN-006", (int)end);
		finding_set(out, VERDICT_PASS, "%llu bytes were compared, and all were right",
			    (count_t)checked);
		verdict_add_reports(j, end, -1);
	}
	for (unsigned int prio = 0; a && a->known && prio < QOS_PRIOS; prio++)
		wanted |= a->wanted[prio] > 0;
	if (wanted && !verdict_has_finding(j, "RC-QOS-011", end)) {
		verdict_begin_finding(j, "RC-QOS-011", (int)end);
		finding_set(out, VERDICT_PASS, "each class arrived in its priority");
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			if (a->wanted[prio])
				finding_evidence(out, EVIDENCE_COUNTER,
						 "prio %u received %llu %s, %llu were sent to it",
						 prio, (count_t)a->whole[prio],
						 a->packets ? "packets" : "bytes",
						 (count_t)a->wanted[prio]);
	}
}

void traffic_verdict_clear(struct traffic_verdict *v)
{
	findings_clear(&v->findings);
}

int traffic_verdict_make(const struct verdict_input *in, struct traffic_verdict *v, struct err *e)
{
	struct judge j = {.in = in, .out = v};
	int err = verdict_check_indices(in, e);

	if (err)
		return err;
	j.end = calloc(in->end_count + 1, sizeof(*j.end));
	if (!j.end)
		return err_sys(e, -ENOMEM, "verdict");
	memset(v, 0, sizeof(*v));
	v->verdict = VERDICT_PASS;
	verdict_prepare(&j);
	judge_reports(&j);
	judge_counters(&j);
	judge_retries(&j);
	judge_marking(&j);
	judge_evidence(&j);
	judge_tcp(&j);
	judge_shape(&j);
	for (unsigned int i = 0; i < in->end_count; i++)
		verdict_add_passes(&j, i);
	free(j.end);
	err = v->findings.err;
	if (!err)
		return 0;
	traffic_verdict_clear(v);
	return err_sys(e, err, "verdict");
}

enum verdict traffic_verdict_graver(enum verdict a, enum verdict b)
{
	return verdict_weight(b) > verdict_weight(a) ? b : a;
}

enum verdict traffic_reason_verdict(const struct finding *f)
{
	enum verdict v = reason_table[f->reason].verdict;

	return v == VERDICT_INCONCLUSIVE ? v : f->verdict;
}

bool traffic_verdict_has(const struct traffic_verdict *v, enum reason_kind kind)
{
	for (size_t i = 0; i < v->findings.count; i++)
		if (v->findings.list[i].reason == kind)
			return true;
	return false;
}

static json_t *verdict_reason_to_json(const struct finding *f)
{
	const struct reason_info *info = &reason_table[f->reason];

	return json_pack("{s:s, s:s, s:s, s:s, s:o*, s:o*, s:o, s:o, s:s}", "reason", info->word,
			 "cause", info->cause, "verdict", verdict_word(traffic_reason_verdict(f)),
			 "rule", f->rule->id, "host", f->host[0] ? text_to_json(f->host) : NULL,
			 "port", f->host[0] ? text_to_json(f->port) : NULL, "class",
			 f->class < 0 ? json_null() : json_integer(f->class), "text",
			 text_to_json(f->text), "advice", finding_advice(f));
}

json_t *traffic_verdict_to_json(const struct traffic_verdict *v)
{
	json_t *list = json_array();

	for (unsigned int weight = verdict_weight(VERDICT_FAIL) + 1; weight-- > 0;)
		for (size_t i = 0; i < v->findings.count; i++) {
			const struct finding *f = &v->findings.list[i];

			if (f->reason && verdict_weight(traffic_reason_verdict(f)) == weight)
				list = json_list_add(list, verdict_reason_to_json(f));
		}
	return json_pack("{s:s, s:o, s:i}", "verdict", verdict_word(v->verdict), "reasons", list,
			 "more", 0);
}
