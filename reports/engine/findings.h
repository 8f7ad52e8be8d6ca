/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: what rules write and reports print. To write one: begin it, add evidence, set the
 * verdict. Writing acts on the finding begun last; the first -ENOMEM is kept in out->err and makes
 * later calls do nothing.
 */
#ifndef REPORTS_FINDINGS_H
#define REPORTS_FINDINGS_H

#include <stddef.h>

#include "profiles/base/base.h"
#include "profiles/qos.h"

struct fabric_allow; /* profiles/fabric.h */
struct profile;
struct rule; /* reports/engine/rule.h */

typedef unsigned long long count_t; /* of a uint64_t, for %llu */

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

struct finding {
	const struct rule *rule;
	enum verdict verdict;
	const char *host;		/* borrowed from the run; empty: the fabric */
	const char *port;		/* the same; empty: the host */
	uint8_t prio_set;		/* priorities concerned, 0 = none */
	char *text;			/* owned: one line */
	struct evidence_item *evidence; /* owned */
	unsigned int evidence_count;
	const char *expected_path; /* borrowed: file that states the expected value, or empty */
	int expected_line;
	int caused_by; /* index of the root cause, -1 = none */
	/* Exception of the inventory that covers the finding; borrowed from the fabric. NULL: none.
	 */
	const struct fabric_allow *allowed;
	const char *advice;  /* borrowed: in place of that of the rule; NULL = none */
	unsigned int reason; /* of a probe's load: enum reason_kind; 0 = none */
	int class;	     /* of the traffic, for such a reason; -1 = none */
};

struct findings {
	struct finding *list;
	size_t count;
	int err; /* first -ENOMEM; checked once at the end */
};

void findings_clear(struct findings *f);

/* Begins a finding, INCONCLUSIVE until finding_set(). host and port may be empty; both are borrowed
 * until findings_clear(), and so is the path of a profile. */
void finding_begin(struct findings *out, const struct rule *rule, const char *host,
		   const char *port, uint8_t prio_set);

/* Sets verdict and text. FAIL becomes WARN when the rule's severity is below error. */
void finding_set(struct findings *out, enum verdict v, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Appends to the text. */
void finding_append(struct findings *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

void finding_evidence(struct findings *out, enum evidence_kind kind, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Notes file and line of the profile that state the field; nothing when none does. */
void finding_expected_by(struct findings *out, const struct profile *p, enum qos_field_id id);

/* Notes the reason for a probe's document, and its advice in place of the rule's. class: -1 = none.
 */
void finding_reason(struct findings *out, unsigned int reason, int class, const char *advice);

/* Gives the finding an advice of its own; borrowed. */
void finding_advise(struct findings *out, const char *advice);

/* Next step of a finding, one line. */
const char *finding_advice(const struct finding *f);

/* Replaces the rule of the finding, by one of the same severity. */
void finding_rule(struct findings *out, const struct rule *rule);

/* Replaces the priorities of the finding. */
void finding_prios(struct findings *out, uint8_t prio_set);

/* Returns the rule id of the finding begun last; "" without one. */
const char *finding_rule_id(const struct findings *out);

/* Returns the verdict of the finding begun last; INCONCLUSIVE without one. */
enum verdict finding_verdict(const struct findings *out);

/* FAIL or WARN, and not allowed. */
bool finding_violated(const struct finding *f);

/* Severity of the finding: error for FAIL; for WARN that of the rule, at most warn. */
enum severity finding_severity(const struct finding *f);

/* True for the FAIL of a missing host (RC-META-007), of nothing to check (RC-META-010, RC-CAP-002)
 * or of a failed job (RC-META-012): the run is incomplete, exit code 4. */
bool finding_is_incomplete(const struct finding *f);

/* True when this INCONCLUSIVE makes the run incomplete: severity error, and neither allowed by the
 * inventory nor in allow. */
bool finding_blocks(const struct finding *f, const char *const *allow, unsigned int allow_count);

/* Exit code of `validate`: 1 with violations, else 4 when incomplete, else 0. fail_on: WARN
 * verdicts count when SEVERITY_WARN. allow: rule ids whose INCONCLUSIVE is accepted. */
int findings_exit(const struct findings *f, enum severity fail_on, const char *const *allow,
		  unsigned int allow_count);

const char *verdict_word(enum verdict v);   /* "FAIL" */
const char *severity_word(enum severity s); /* "error" */

/* Number of findings with this verdict that are not allowed, and of root causes. */
size_t verdict_count(const struct findings *f, enum verdict v);
size_t leading_count(const struct findings *f);

#endif
