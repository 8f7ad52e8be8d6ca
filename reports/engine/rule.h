/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules: pure functions over a run. A rule sets PASS, FAIL, WARN, SKIP or INCONCLUSIVE for each
 * subject (host, port, priority) and adds the evidence it used. A rule without evidence is never
 * silent: it is INCONCLUSIVE, or SKIP in a run whose level does not claim what the rule checks.
 *
 * Adding a rule: a check function and one row in the file of its group, rules_GROUP.inc.
 */
#ifndef REPORTS_RULE_H
#define REPORTS_RULE_H

#include "probe/record/run.h"
#include "reports/engine/findings.h"
#include "reports/engine/packet_account.h"

struct port_ctx; /* reports/engine/port_ctx.h: one port to check */
struct port_pairs;

/* A capture to check. Borrowed while findings are made. */
struct capture_case {
	const char *name; /* of the file, printed in findings */
	const struct capture_summary *summary;
	const struct samples *samples;
};

/* Input of a check. Borrowed for the call. */
struct rule_context {
	const struct fabric *fabric; /* never NULL; profile inside */
	const struct run *run;
	const struct port_pairs *pairs;	    /* of the run, by port */
	struct packet_account account;	    /* of all ports under load */
	bool alone;			    /* one host: nothing is compared, no traffic */
	bool listened;			    /* alone: LLDP was listened for */
	const struct capture_case *capture; /* NULL without a capture */
};

/* Preconditions of a port check; without them the engine sets SKIP or INCONCLUSIVE. Weak evidence
 * of NEED_LOAD, NEED_DELTA or NEED_CAPTURE turns a PASS into INCONCLUSIVE. */
enum rule_need {
	NEED_DCB = 1 << 0,	/* settings owned by the host: guests, VFs and iWARP are SKIP */
	NEED_ROCE = 1 << 1,	/* RoCE: iWARP is SKIP */
	NEED_PRIO = 1 << 2,	/* the priority of RoCE is known */
	NEED_LOSSLESS = 1 << 3, /* the profile's intent is lossless */
	NEED_LOAD =
		1 << 4, /* traffic crossed the port: rocecheck's; with NEED_DELTA also a job's */
	NEED_DELTA = 1 << 5,	 /* counters before and after the load */
	NEED_QUIET = 1 << 6,	 /* counters around the quiet baseline */
	NEED_CAPTURE = 1 << 7,	 /* packets of the load, captured at the port */
	NEED_PROFILE = 1 << 8,	 /* a profile: `doctor` may have none */
	NEED_LLDP_PEER = 1 << 9, /* `doctor` listened for the link partner */
	NEED_PATH = 1 << 10,	 /* a marking test of the port, or else NEED_CAPTURE */
	NEED_JOB = 1 << 11,	 /* for every check: a run around a job; others have no finding */
	NEED_TRAFFIC = 1 << 12,	 /* rocecheck's traffic; one SKIP for a run without it */
};

/* Reports that have the rule: fabric runs, one host (`doctor`), both, a capture, or probes. */
enum rule_scope {
	SCOPE_FABRIC,
	SCOPE_HOST,
	SCOPE_BOTH, /* of these two */
	SCOPE_CAPTURE,
	SCOPE_PROBE, /* alone; traffic_verdict_make() writes it, as some of the others */
};

#define RULE_CAUSES_MAX 12

/* One of check (once) and check_port (for each port) is set, except with SCOPE_PROBE. */
struct rule {
	const char *id; /* "RC-PFC-002", stable for ever */
	enum severity severity;
	enum fabric_level level; /* the lowest whose claims need the rule; default quick */
	const char *evidence;	 /* letters of enum evidence_kind */
	const char *title;	 /* "PFC mask differs from the profile" */
	const char *reason;	 /* why it matters, a sentence or two */
	const char *advice;	 /* what to do, one line */
	const char *source;	 /* standard or document */
	const char *obtain;	 /* how to get missing evidence, in lines; NULL: nothing special */
	/* Rules that this one can cause on the same port, and for traffic on its remote ports. */
	const char *causes[RULE_CAUSES_MAX]; /* NULL ends */
	unsigned int needs;		     /* enum rule_need flags, for check_port */
	enum rule_scope scope;
	void (*check)(const struct rule *rule, const struct rule_context *c, struct findings *out);
	void (*check_port)(const struct port_ctx *s, struct findings *out);
};

/* Sorted by id. */
extern const struct rule rule_table[];
extern const unsigned int rule_count;

/* NULL for an unknown id. */
const struct rule *rule_find(const char *id);

/* True for RC-META rules, which check the evidence of the others. */
bool rule_is_meta(const struct rule *rule);

/* Runs META rules, then all others, then links causes. -ENOMEM. The caller clears. */
int rules_run(const struct fabric *f, const struct run *run, struct findings *out);

/* The same for the settings of one host. A profile without name means none: rules that need one are
 * SKIP. listened: LLDP of link partners was listened for. */
int rules_run_host(const struct fabric *f, const struct run *run, bool listened,
		   struct findings *out);

/* The same for one capture. fabric and run are empty, for cause links and writers. */
int rules_run_capture(const struct fabric *f, const struct run *run,
		      const struct capture_case *capture, struct findings *out);

#endif
