/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules: pure functions over a run. A rule sets PASS, FAIL, WARN, SKIP or INCONCLUSIVE for each
 * subject (host, port, priority) and adds the evidence it used. A rule without evidence is never
 * silent: it is INCONCLUSIVE.
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
	EVIDENCE_LLDP = 'L',	/* LLDP of the link partner */
	EVIDENCE_COUNTER = 'C', /* counters around a phase */
	EVIDENCE_CAPTURE = 'K', /* packets */
	EVIDENCE_TRAFFIC = 'T', /* result of rocecheck's traffic */
};

struct evidence_word {
	enum evidence_kind kind;
	const char *meaning; /* "host settings" */
};
extern const struct evidence_word evidence_words[]; /* ends with a row without meaning */

enum verdict {
	VERDICT_PASS,
	VERDICT_SKIP,	      /* not applicable here */
	VERDICT_INCONCLUSIVE, /* evidence is missing */
	VERDICT_WARN,	      /* violated, severity warn or info */
	VERDICT_FAIL,	      /* violated, severity error */
};

struct evidence_item {
	char kind;  /* enum evidence_kind */
	char *text; /* owned: "pfc.enabled is [] (dcbnl)" */
};

struct rule;
struct port_ctx; /* reports/engine/port_ctx.h: one port to check */

struct finding {
	const struct rule *rule;
	enum verdict verdict;
	char host[64];			/* empty: the fabric */
	char port[32];			/* empty: the host */
	uint8_t prio_set;		/* priorities concerned, 0 = none */
	char *text;			/* owned: one line */
	struct evidence_item *evidence; /* owned */
	unsigned int evidence_count;
	char expected_path[256]; /* file that states the expected value, or empty */
	int expected_line;
	int caused_by; /* index of the root cause, -1 = none */
};

struct findings {
	struct finding *list;
	size_t count;
	int err; /* first -ENOMEM; checked once at the end */
};

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
	bool alone;			    /* one host: nothing is compared, no traffic */
	bool listened;			    /* alone: LLDP was listened for */
	const struct capture_case *capture; /* NULL without a capture */
};

/* Preconditions of a port check; without them the engine sets SKIP or INCONCLUSIVE. Weak evidence
 * of NEED_LOAD, NEED_DELTA or NEED_CAPTURE turns a PASS into INCONCLUSIVE. */
enum rule_need {
	NEED_DCB = 1 << 0,	 /* settings owned by the host: guests, VFs and iWARP are SKIP */
	NEED_ROCE = 1 << 1,	 /* RoCE: iWARP is SKIP */
	NEED_PRIO = 1 << 2,	 /* the priority of RoCE is known */
	NEED_LOSSLESS = 1 << 3,	 /* the profile's intent is lossless */
	NEED_LOAD = 1 << 4,	 /* rocecheck's traffic crossed the port */
	NEED_DELTA = 1 << 5,	 /* counters before and after the load */
	NEED_QUIET = 1 << 6,	 /* counters around the quiet baseline */
	NEED_CAPTURE = 1 << 7,	 /* packets of the load, captured at the port */
	NEED_PROFILE = 1 << 8,	 /* a profile: `doctor` may have none */
	NEED_LLDP_PEER = 1 << 9, /* `doctor` listened for the link partner */
};

/* Reports that have the rule: fabric runs, one host (`doctor`), both, or a capture. */
enum rule_scope {
	SCOPE_FABRIC,
	SCOPE_HOST,
	SCOPE_BOTH, /* of these two */
	SCOPE_CAPTURE,
};

#define RULE_CAUSES_MAX 12

/* One of check (once) and check_port (for each port) is set. */
struct rule {
	const char *id; /* "RC-PFC-002", stable for ever */
	enum severity severity;
	const char *evidence; /* letters of enum evidence_kind */
	const char *title;    /* "PFC mask differs from the profile" */
	const char *reason;   /* why it matters, a sentence or two */
	const char *advice;   /* what to do, one line */
	const char *source;   /* standard or document */
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

/* Runs META rules, then all others, then links causes. -ENOMEM. The caller clears. */
int rules_run(const struct fabric *f, const struct run *run, struct findings *out);

/* The same for the settings of one host. A profile without name means none: rules that need one are
 * SKIP. listened: LLDP of link partners was listened for. */
int rules_run_host(const struct fabric *f, const struct run *run, bool listened,
		   struct findings *out);

/* The same for one capture. fabric and run are empty, for cause links and writers. */
int rules_run_capture(const struct fabric *f, const struct run *run,
		      const struct capture_case *capture, struct findings *out);
void findings_clear(struct findings *f);

/* Links each violation to its root cause. Called by rules_run(). */
void findings_set_causes(struct findings *f, const struct run *run);

/* FAIL or WARN. */
bool finding_violated(const struct finding *f);

/* Severity of the finding: error for FAIL; for WARN that of the rule, at most warn. */
enum severity finding_severity(const struct finding *f);

/* True for the FAIL of a missing host (RC-META-007) or of nothing to check (RC-META-010,
 * RC-CAP-002): the run is incomplete, exit code 4. */
bool finding_is_incomplete(const struct finding *f);

/* True when this INCONCLUSIVE makes the run incomplete: severity error and not in allow. */
bool finding_blocks(const struct finding *f, const char *const *allow, unsigned int allow_count);

/* Exit code of `validate`: 1 with violations, else 4 when incomplete, else 0. fail_on: WARN
 * verdicts count when SEVERITY_WARN. allow: rule ids whose INCONCLUSIVE is accepted. */
int findings_exit(const struct findings *f, enum severity fail_on, const char *const *allow,
		  unsigned int allow_count);

const char *verdict_word(enum verdict v);   /* "FAIL" */
const char *severity_word(enum severity s); /* "error" */

#endif
