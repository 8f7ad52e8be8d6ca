/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules: pure functions over a run. A rule answers PASS, FAIL, WARN, SKIP or INCONCLUSIVE for each
 * subject (host, port, priority) with the evidence it used. Silence is not a pass: a rule whose evidence
 * is missing says so.
 *
 * Adding a rule: a check function and one row in rule_table.c.
 */
#ifndef REPORTS_RULES_H
#define REPORTS_RULES_H

#include "probe/run.h"

enum severity {
	SEVERITY_INFO,
	SEVERITY_WARN,
	SEVERITY_ERROR,
};

/* The kinds of evidence, as letters in reports. */
enum evidence_kind {
	EVIDENCE_HOST = 'H',     /* host configuration */
	EVIDENCE_ACROSS = 'X',   /* comparison of hosts */
	EVIDENCE_LLDP = 'L',     /* what the link partner advertised */
	EVIDENCE_COUNTER = 'C',  /* counters around a phase */
	EVIDENCE_CAPTURE = 'K',  /* packets */
	EVIDENCE_TRAFFIC = 'T',  /* result of our own traffic */
};

enum verdict {
	VERDICT_PASS,
	VERDICT_SKIP,         /* does not apply here */
	VERDICT_INCONCLUSIVE, /* the evidence was not there */
	VERDICT_WARN,         /* violated, severity warn or info */
	VERDICT_FAIL,         /* violated, severity error */
};

struct evidence_item {
	char kind;  /* enum evidence_kind */
	char *text; /* owned: "pfc.enabled is [] (dcbnl)" */
};

struct rule;

struct finding {
	const struct rule *rule;
	enum verdict verdict;
	char host[64];        /* empty: the fabric */
	char port[32];        /* empty: the host */
	uint8_t prio_set;     /* priorities it is about, 0 = none */
	char *text;           /* owned: one line, what is so */
	struct evidence_item *evidence; /* owned */
	unsigned int evidence_count;
	char wish_path[256];  /* where the wish stands; empty = nowhere */
	int wish_line;
	int caused_by;        /* index of the finding that explains this one, -1 = none */
};

struct findings {
	struct finding *list;
	size_t count;
	int err; /* first -ENOMEM; checked once at the end */
};

/* What a check is given. Borrowed for the call. */
struct rule_context {
	const struct fabric *fabric;   /* never NULL; profile inside */
	const struct run *run;
	const struct findings *so_far; /* META findings came first */
};

struct rule {
	const char *id;       /* "RC-PFC-002", stable for ever */
	enum severity severity;
	const char *evidence; /* letters of enum evidence_kind it needs */
	const char *title;    /* "PFC mask differs from the profile" */
	const char *reason;   /* why it matters, a sentence or two */
	const char *advice;   /* what to do, one line */
	const char *source;   /* standard or document it stands on */
	const char *causes[8]; /* ids of rules this one explains on the same host and port; NULL ends */
	void (*check)(const struct rule *rule, const struct rule_context *c, struct findings *out);
};

extern const struct rule rule_table[];
extern const unsigned int rule_count;

const struct rule *rule_find(const char *id);

/* Runs META rules, then all others, then links causes. -ENOMEM. The caller clears. */
int rules_run(const struct fabric *f, const struct run *run, struct findings *out);
void findings_clear(struct findings *f);

/* Exit code as `validate` gives it: 0, 1 or 4. fail_on: WARN verdicts count when SEVERITY_WARN. allow:
 * rule ids whose INCONCLUSIVE is accepted. */
int findings_exit(const struct findings *f, enum severity fail_on, const char *const *allow,
		  unsigned int allow_count);

const char *verdict_word(enum verdict v);   /* "FAIL" */
const char *severity_word(enum severity s); /* "error" */

#endif
