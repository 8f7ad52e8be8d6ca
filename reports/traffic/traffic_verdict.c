/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of reasons, and the judging of a load: computes the counter increase of each port once,
 * then checks reports, counters, retries, evidence and shape.
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

const struct reason_info reason_table[REASON_COUNT] = {
	[REASON_WRONG_DATA] = {"wrong-data", "corruption", VERDICT_FAIL, "RC-TRN-006",
			       "suspect memory, PCIe or the NIC of the two hosts"},
	[REASON_LOST] = {"lost", "fabric-loss", VERDICT_FAIL, "RC-TRN-001", FIND_DROP},
	[REASON_LOST_IN_SENDER] = {"lost-in-sender", "host-send", VERDICT_FAIL, "RC-TRN-001",
				   "check queueing disciplines, link and MTU of the sender first"},
	[REASON_HOST_DISCARD] = {"host-discard", "host-discard", VERDICT_FAIL, "RC-TRN-007",
				 FIND_HOST},
	[REASON_CORRUPTION] = {"corruption", "corruption", VERDICT_FAIL, "RC-TRN-006", FIND_CABLE},
	[REASON_QP_FAILED] = {"queue-pair-failed", "queue-pair", VERDICT_FAIL, NULL,
			      "check the kernel log of both hosts"},
	[REASON_LINK_DOWN] = {"link-down", "link", VERDICT_FAIL, NULL,
			      "check cable, optics and switch port"},
	[REASON_WRONG_PRIORITY] = {"wrong-priority", "wrong-marking", VERDICT_FAIL, "RC-QOS-011",
				   "compare the DSCP maps of both hosts and of the switches"},
	[REASON_RNR_DIED] = {"receiver-gave-no-buffer", "receiver-not-ready", VERDICT_FAIL,
			     "RC-TRN-004", FIND_HOST},
	[REASON_STALLED] = {"stalled", "stall", VERDICT_FAIL, NULL,
			    "check for endless pause on the path"},
	[REASON_NOT_MARKED] = {"marking-not-set", "wrong-marking", VERDICT_FAIL, NULL,
			       "check default_roce_tos of both devices (configfs rdma_cm) and the "
			       "driver's own traffic class"},
	[REASON_REMARKED] = {"marking-changed", "wrong-marking", VERDICT_FAIL, NULL,
			     "make the hops of that path trust DSCP and keep DSCP and ECN bits"},
	[REASON_DATAGRAMS_LOST] = {"datagrams-lost", "fabric-loss", VERDICT_FAIL, NULL, FIND_DROP},
	[REASON_PATH_MTU] = {"path-mtu", "path-mtu", VERDICT_FAIL, NULL,
			     "raise the MTU of every hop, or lower that of both ports"},
	[REASON_RNR] = {"receiver-not-ready", "receiver-not-ready", VERDICT_WARN, "RC-TRN-004",
			FIND_HOST},
	[REASON_SPURIOUS_PAUSE] = {"timeouts-under-pause", "spurious-timeout", VERDICT_WARN,
				   "RC-TRN-001", "find the sender of the long pauses"},
	[REASON_SPURIOUS] = {"spurious-retries", "spurious-timeout", VERDICT_WARN, "RC-TRN-001",
			     "use a longer ACK timeout (18), or count with UC or UD"},
	[REASON_TIMEOUTS] = {"timeouts", "unexplained-retries", VERDICT_WARN, "RC-TRN-001",
			     "run in strict or count mode to distinguish loss from delay"},
	[REASON_ACKS_LOST] = {"answers-short", "fabric-loss", VERDICT_WARN, "RC-TRN-001",
			      FIND_DROP},
	[REASON_REORDERED] = {"reordered", "reordering", VERDICT_WARN, NULL,
			      "look for links that spread the packets of one flow"},
	[REASON_SEND_ERRORS] = {"send-errors", "host-send", VERDICT_WARN, NULL,
				"check queueing disciplines, link and MTU of that host"},
	[REASON_PORT_DISCARDS] = {"port-discards", "host-discard", VERDICT_WARN, "RC-TRN-007",
				  FIND_HOST},
	[REASON_BAD_PACKETS] = {"bad-packets", "corruption", VERDICT_WARN, NULL, FIND_CABLE},
	[REASON_LONG_PAUSE] = {"long-pause", "pause", VERDICT_WARN, NULL,
			       "find the receiver that pauses: it is slower than its link"},
	[REASON_STORM] = {"pause-storm", "pause", VERDICT_WARN, NULL,
			  "find the host that sends endless pauses"},
	[REASON_CNP_IGNORED] = {"cnp-ignored", "congestion-control", VERDICT_WARN, NULL,
				"turn the reaction point (RP) on for the priority"},
	[REASON_REFUSED] = {"refused", "queue-pair", VERDICT_WARN, NULL,
			    "check the kernel log of both hosts"},
	[REASON_IDLE_LOSS] = {"lost-while-idle", "foreign-traffic", VERDICT_WARN, "RC-META-006",
			      "find the source of that traffic; it also loses packets"},
	[REASON_UNSTEADY] = {"unsteady", "unsteady", VERDICT_WARN, NULL,
			     "check pauses and other load at that moment"},
	[REASON_TAIL] = {"long-tail", "unsteady", VERDICT_WARN, NULL,
			 "check pauses, retries and power states"},
	[REASON_SLOW] = {"slow", "speed", VERDICT_WARN, "RC-META-002",
			 "check PCIe, memory and the number of queue pairs"},
	[REASON_CE_IDLE] = {"marked-while-idle", "congestion-control", VERDICT_WARN, NULL,
			    "look for other traffic, or a hop that marks too early"},
	[REASON_PRESSURE] = {"host-pressure", "host-discard", VERDICT_WARN, NULL, FIND_HOST},
	[REASON_NO_COUNTERS] = {"counters-absent", "evidence", VERDICT_INCONCLUSIVE, "RC-META-001",
				"run in strict or count mode, which need no counters"},
	[REASON_RESET] = {"counters-reset", "evidence", VERDICT_INCONCLUSIVE, "RC-META-003",
			  "find out what reset the counters and run again"},
	[REASON_FOREIGN] = {"foreign-traffic", "foreign-traffic", VERDICT_INCONCLUSIVE,
			    "RC-META-006", "run again while the ports are idle"},
	[REASON_NOT_STRESSED] = {"not-stressed", "evidence", VERDICT_INCONCLUSIVE, "RC-META-002",
				 "use more senders, or a higher rate"},
	[REASON_ALIKE] = {"classes-alike", "evidence", VERDICT_INCONCLUSIVE, NULL,
			  "give the classes different rates or counts"},
	[REASON_PACE] = {"pace-not-reached", "speed", VERDICT_INCONCLUSIVE, "RC-META-002",
			 "request a lower rate, or find the bottleneck"},
	[REASON_NOTHING] = {"nothing-moved", "evidence", VERDICT_INCONCLUSIVE, "RC-META-002",
			    RUN_AGAIN},
	[REASON_BACKGROUND] = {"background-missing", "evidence", VERDICT_INCONCLUSIVE,
			       "RC-META-002",
			       "check routes, firewalls and shapers on the path of TCP"},
	[REASON_UNACCOUNTED] = {"unaccounted", "evidence", VERDICT_INCONCLUSIVE, NULL,
				"use the same build at both ends, and run again"},
	[REASON_REMOTE_GONE] = {"peer-gone", "peer-death", VERDICT_INCONCLUSIVE, NULL,
				"the remote program or host disappeared: run again"},
	[REASON_ABORTED] = {"aborted", "evidence", VERDICT_INCONCLUSIVE, NULL,
			    "let the run finish"},
	[REASON_UNSEEN] = {"marking-unseen", "evidence", VERDICT_INCONCLUSIVE, NULL,
			   "capture at the receiver instead, or run again"},
	[REASON_ACCOUNTED] = {"retries-accounted", "spurious-timeout", VERDICT_PASS, NULL, ""},
	[REASON_USERS] = {"other-users", "foreign-traffic", VERDICT_PASS, NULL, ""},
};

/* Order of verdicts, for the whole. */
static unsigned int verdict_weight(enum verdict v)
{
	static const unsigned int weights[] = {
		[VERDICT_PASS] = 0,	    [VERDICT_SKIP] = 0, [VERDICT_WARN] = 1,
		[VERDICT_INCONCLUSIVE] = 2, [VERDICT_FAIL] = 3,
	};

	return weights[v];
}

static void verdict_add_reason(struct judge *j, enum verdict verdict, enum reason_kind kind,
			       int end, int class, const char *text)
{
	struct traffic_verdict *v = j->out;
	struct verdict_reason *r;

	if (verdict_weight(verdict) > verdict_weight(v->verdict))
		v->verdict = verdict;
	if (v->count == VERDICT_REASONS_MAX) {
		v->more++;
		return;
	}
	r = &v->reason[v->count++];
	r->kind = kind;
	r->verdict = verdict;
	r->end = end;
	r->class = class;
	snprintf(r->text, sizeof(r->text), "%s", text);
}

void judge_add_reason(struct judge *j, enum reason_kind kind, int end, int class, const char *fmt,
		      ...)
{
	char text[sizeof(j->out->reason[0].text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	verdict_add_reason(j, reason_table[kind].verdict, kind, end, class, text);
}

void judge_add_reason_as(struct judge *j, enum verdict verdict, enum reason_kind kind, int end,
			 int class, const char *fmt, ...)
{
	char text[sizeof(j->out->reason[0].text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	verdict_add_reason(j, verdict, kind, end, class, text);
}

bool judge_has_reason(const struct judge *j, enum reason_kind kind, int end)
{
	for (unsigned int i = 0; i < j->out->count; i++)
		if (j->out->reason[i].kind == kind && j->out->reason[i].end == end)
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

static uint64_t verdict_dropped(const struct judged_end *e, unsigned int prios)
{
	return judge_delta(e, METRIC_PRIO_RX_DISCARDS, (uint8_t)prios) +
	       judge_delta(e, METRIC_PRIO_RX_CONGESTED, (uint8_t)prios);
}

/* Computes the facts of one port that all judges use. */
static void verdict_prepare_end(const struct verdict_input *in, const struct run_port *seen,
				struct judged_end *e)
{
	uint8_t prios = in->lossless ? in->lossless : 0xff;

	e->seen = seen;
	e->known = run_port_net(seen, &e->net) &&
		   run_port_delta(seen, READ_LOAD_BEFORE, &e->load, NULL);
	if (!e->known)
		return;
	loss_count(&e->net, seen->soft, -1, &e->loss);
	e->corrupted = judge_delta(e, METRIC_ICRC_ERRORS, prios) +
		       judge_delta(e, METRIC_RX_CRC_ERRORS, prios);
	e->discarded = verdict_dropped(e, prios & ~in->tcp) +
		       judge_delta(e, METRIC_RDMA_RX_DISCARDS, prios);
	e->either = verdict_dropped(e, prios & in->tcp);
	e->excused = judge_delta(e, METRIC_OUT_OF_BUFFER, 0xff) + e->discarded + e->corrupted;
	e->unsent = judge_delta(e, METRIC_SEND_ERRORS, prios) +
		    judge_delta(e, METRIC_TX_DISCARDS, prios);
	e->paused = judge_delta(e, METRIC_PFC_RX_FRAMES, 0xff) +
		    judge_delta(e, METRIC_PFC_RX_PAUSE_US, 0xff) +
		    judge_delta(e, METRIC_GLOBAL_PAUSE_RX, 0xff);
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

/* Sorts by verdict, the worst first; stable. */
static void verdict_sort(struct traffic_verdict *v)
{
	for (unsigned int i = 1; i < v->count; i++) {
		struct verdict_reason r = v->reason[i];
		unsigned int k = i;

		for (; k && verdict_weight(v->reason[k - 1].verdict) < verdict_weight(r.verdict);
		     k--)
			v->reason[k] = v->reason[k - 1];
		v->reason[k] = r;
	}
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
	verdict_sort(v);
	free(j.end);
	return 0;
}

enum verdict traffic_verdict_graver(enum verdict a, enum verdict b)
{
	return verdict_weight(b) > verdict_weight(a) ? b : a;
}

bool traffic_verdict_has(const struct traffic_verdict *v, enum reason_kind kind)
{
	for (unsigned int i = 0; i < v->count; i++)
		if (v->reason[i].kind == kind)
			return true;
	return false;
}

static json_t *verdict_reason_to_json(const struct verdict_reason *r,
				      const struct verdict_input *in)
{
	const struct reason_info *info = &reason_table[r->kind];
	const struct verdict_end *end = r->end < 0 ? NULL : &in->end[r->end];

	return json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s*, s:o, s:o, s:s}", "reason", info->word,
			 "cause", info->cause, "verdict", verdict_word(r->verdict), "rule",
			 info->rule, "host", end ? end->host : NULL, "port",
			 end ? end->port->netdev : NULL, "class",
			 r->class < 0 ? json_null() : json_integer(r->class), "text",
			 text_to_json(r->text), "advice", info->advice);
}

json_t *traffic_verdict_to_json(const struct traffic_verdict *v, const struct verdict_input *in)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < v->count; i++) {
		if (json_array_append_new(list, verdict_reason_to_json(&v->reason[i], in))) {
			json_decref(list);
			return NULL;
		}
	}
	return json_pack("{s:s, s:o, s:i}", "verdict", verdict_word(v->verdict), "reasons", list,
			 "more", (int)v->more);
}
