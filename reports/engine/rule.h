/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules: pure functions over a run. A rule answers PASS, FAIL, WARN, SKIP or INCONCLUSIVE for each
 * subject (host, port, priority) with the evidence it used. Silence is not a pass: a rule whose
 * evidence is missing says so.
 *
 * Adding a rule: a check function and one row in the file of its group, rules_GROUP.inc.
 */
#ifndef REPORTS_RULE_H
#define REPORTS_RULE_H

#include "probe/record/run.h"

enum severity {
	SEVERITY_INFO,
	SEVERITY_WARN,
	SEVERITY_ERROR,
};

/* The kinds of evidence, as letters in reports. */
enum evidence_kind {
	EVIDENCE_HOST = 'H',	/* host configuration */
	EVIDENCE_ACROSS = 'X',	/* comparison of hosts */
	EVIDENCE_LLDP = 'L',	/* what the link partner advertised */
	EVIDENCE_COUNTER = 'C', /* counters around a phase */
	EVIDENCE_CAPTURE = 'K', /* packets */
	EVIDENCE_TRAFFIC = 'T', /* result of our own traffic */
};

struct evidence_word {
	enum evidence_kind kind;
	const char *meaning; /* "host settings" */
};
extern const struct evidence_word evidence_words[]; /* ends with a row without meaning */

enum verdict {
	VERDICT_PASS,
	VERDICT_SKIP,	      /* does not apply here */
	VERDICT_INCONCLUSIVE, /* the evidence was not there */
	VERDICT_WARN,	      /* violated, severity warn or info */
	VERDICT_FAIL,	      /* violated, severity error */
};

struct evidence_item {
	char kind;  /* enum evidence_kind */
	char *text; /* owned: "pfc.enabled is [] (dcbnl)" */
};

struct rule;
struct port_ctx; /* reports/engine/port_ctx.h: one port under judgement */

struct finding {
	const struct rule *rule;
	enum verdict verdict;
	char host[64];			/* empty: the fabric */
	char port[32];			/* empty: the host */
	uint8_t prio_set;		/* priorities it is about, 0 = none */
	char *text;			/* owned: one line, what is so */
	struct evidence_item *evidence; /* owned */
	unsigned int evidence_count;
	char expected_path[256]; /* where the wish stands; empty = nowhere */
	int expected_line;
	int caused_by; /* index of the leading finding that explains this one, -1 = none */
};

struct findings {
	struct finding *list;
	size_t count;
	int err; /* first -ENOMEM; checked once at the end */
};

/* A capture under judgement. Borrowed, as long as the findings are made. */
struct capture_case {
	const char *name; /* of the file, as findings name it */
	const struct capture_summary *summary;
	const struct samples *samples;
};

/* What a check is given. Borrowed for the call. */
struct rule_context {
	const struct fabric *fabric; /* never NULL; profile inside */
	const struct run *run;
	bool alone;    /* one host is judged: nothing is compared, no traffic */
	bool listened; /* alone: for link partners */
	const struct capture_case *capture; /* NULL: no capture alone */
};

/* What must be there before a port can be judged; the core answers SKIP or INCONCLUSIVE when it is
 * not. NEED_LOAD, NEED_DELTA and NEED_CAPTURE also say which weak evidence turns a PASS
 * INCONCLUSIVE. */
enum rule_need {
	NEED_DCB = 1 << 0, /* settings the host itself owns: guests and VFs are SKIP, so is iWARP */
	NEED_ROCE = 1 << 1,	 /* RoCE at all: iWARP is SKIP */
	NEED_PRIO = 1 << 2,	 /* the profile says which priority carries RoCE */
	NEED_LOSSLESS = 1 << 3,	 /* the profile's intent is lossless */
	NEED_LOAD = 1 << 4,	 /* our traffic crossed the port */
	NEED_DELTA = 1 << 5,	 /* counters before and after the load */
	NEED_QUIET = 1 << 6,	 /* counters around the quiet baseline */
	NEED_CAPTURE = 1 << 7,	 /* packets of the load, captured at the port */
	NEED_PROFILE = 1 << 8,	 /* a wish: `doctor` can be called without a profile */
	NEED_LLDP_PEER = 1 << 9, /* `doctor` was told to listen for the link partner */
};

/* Where a rule is judged: in fabric runs, on one host alone (`doctor`), or in both; or on a capture
 * without either. */
enum rule_scope {
	SCOPE_FABRIC,
	SCOPE_HOST,
	SCOPE_BOTH,    /* of these two */
	SCOPE_CAPTURE, /* on a capture alone */
};

#define RULE_CAUSES_MAX 12

/* One of check and check_port is set: check judges the fabric, check_port one port at a time. */
struct rule {
	const char *id; /* "RC-PFC-002", stable for ever */
	enum severity severity;
	const char *evidence; /* letters of enum evidence_kind it needs */
	const char *title;    /* "PFC mask differs from the profile" */
	const char *reason;   /* why it matters, a sentence or two */
	const char *advice;   /* what to do, one line */
	const char *source;   /* standard or document it stands on */
	/* Ids of rules this one explains on the same port, and for traffic on the ports it talks
	 * to. */
	const char *causes[RULE_CAUSES_MAX]; /* NULL ends */
	unsigned int needs;		     /* enum rule_need flags, for check_port */
	enum rule_scope scope;
	void (*check)(const struct rule *rule, const struct rule_context *c, struct findings *out);
	void (*check_port)(const struct port_ctx *s, struct findings *out);
};

/* Sorted by id. */
extern const struct rule rule_table[];
extern const unsigned int rule_count;

/* NULL when there is no such id. */
const struct rule *rule_find(const char *id);

/* Runs META rules, then all others, then links causes. -ENOMEM. The caller clears. */
int rules_run(const struct fabric *f, const struct run *run, struct findings *out);

/* The same over a run of one host whose settings alone are judged. A fabric whose profile has no
 * name has none: rules that need a wish are SKIP. listened: link partners were listened for. */
int rules_run_host(const struct fabric *f, const struct run *run, bool listened,
		   struct findings *out);

/* The rules of captures alone, over one. fabric and run are empty ones, for the links of causes and
 * for the writers. -ENOMEM. The caller clears. */
int rules_run_capture(const struct fabric *f, const struct run *run,
		      const struct capture_case *capture, struct findings *out);
void findings_clear(struct findings *f);

/* Links each violation to the leading violation that explains it. rules_run() has done it. */
void findings_set_causes(struct findings *f, const struct run *run);

/* FAIL or WARN. */
bool finding_violated(const struct finding *f);

/* Severity by verdict: FAIL is error; WARN is the rule's, at most warn. */
enum severity finding_severity(const struct finding *f);

/* True for the FAIL of a missing host (RC-META-007) or of nothing to check (RC-META-010,
 * RC-CAP-002): the run is incomplete, exit code 4. */
bool finding_is_incomplete(const struct finding *f);

/* True when this INCONCLUSIVE makes the run incomplete: severity error and not in allow. */
bool finding_blocks(const struct finding *f, const char *const *allow, unsigned int allow_count);

/* Exit code as `validate` gives it: 0, 1 or 4. fail_on: WARN verdicts count when SEVERITY_WARN.
 * allow: rule ids whose INCONCLUSIVE is accepted. A missing host (RC-META-007) or nothing to judge
 * (RC-META-010, RC-CAP-002) is 4, findings are 1 and win. */
int findings_exit(const struct findings *f, enum severity fail_on, const char *const *allow,
		  unsigned int allow_count);

const char *verdict_word(enum verdict v);   /* "FAIL" */
const char *severity_word(enum severity s); /* "error" */

#endif
