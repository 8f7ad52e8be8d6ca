/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row per argument: field, TLV and format. The file has numbers where the socket has words.
 */
#include "dcb/lldpad/lldpad.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/lldpad/lldp_agent.h"

enum form {
	FORM_YES,     /* 0 or 1; yes, no */
	FORM_MASK,    /* a bitmap; 3,4 or none */
	FORM_NUMBER,  /* the same in both */
	FORM_ENABLE,  /* a flag of dcbx.advertise; yes, no */
	FORM_STATUS,  /* enum qos_admin_status; its word */
	FORM_PRIO_TC, /* 0:0,1:0,... by priority */
	FORM_TSA,     /* 0:strict,1:ets,... by TC */
	FORM_SHARES,  /* 50,50,0,... by TC */
};

static const struct row {
	enum qos_field_id field;
	enum lldpad_tlv tlv;
	const char *name;
	enum form form;
	uint8_t flag; /* FORM_ENABLE */
} rows[] = {
	{QOS_TC_TSA, LLDPAD_ETS_CFG, "tsa", FORM_TSA, 0},
	{QOS_PRIO_TC, LLDPAD_ETS_CFG, "up2tc", FORM_PRIO_TC, 0},
	{QOS_TC_TX_BW, LLDPAD_ETS_CFG, "tcbw", FORM_SHARES, 0},
	{QOS_ETS_WILLING, LLDPAD_ETS_CFG, "willing", FORM_YES, 0},
	{QOS_ADVERTISE, LLDPAD_ETS_CFG, "enableTx", FORM_ENABLE, QOS_ADVERTISE_ETS_CFG},
	{QOS_RECO_TSA, LLDPAD_ETS_REC, "tsa", FORM_TSA, 0},
	{QOS_RECO_PRIO_TC, LLDPAD_ETS_REC, "up2tc", FORM_PRIO_TC, 0},
	{QOS_RECO_BW, LLDPAD_ETS_REC, "tcbw", FORM_SHARES, 0},
	{QOS_ADVERTISE, LLDPAD_ETS_REC, "enableTx", FORM_ENABLE, QOS_ADVERTISE_ETS_REC},
	{QOS_PFC_ENABLED, LLDPAD_PFC, "enabled", FORM_MASK, 0},
	{QOS_PFC_DELAY, LLDPAD_PFC, "delay", FORM_NUMBER, 0},
	{QOS_PFC_WILLING, LLDPAD_PFC, "willing", FORM_YES, 0},
	{QOS_ADVERTISE, LLDPAD_PFC, "enableTx", FORM_ENABLE, QOS_ADVERTISE_PFC},
	{QOS_ADVERTISE, LLDPAD_APP, "enableTx", FORM_ENABLE, QOS_ADVERTISE_APP},
	{QOS_ADMIN_STATUS, LLDPAD_NO_TLV, "adminStatus", FORM_STATUS, 0},
};

static const struct qos_word tsa_words[] = {
	{"strict", QOS_TSA_STRICT},
	{"cb_shaper", QOS_TSA_CBS},
	{"ets", QOS_TSA_ETS},
	{"vendor", QOS_TSA_VENDOR},
	{NULL, 0},
};

uint64_t lldp_agent_fields(void)
{
	uint64_t fields = LLDPAD_APP_FIELDS;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		fields |= QOS_BIT(rows[i].field);
	return fields;
}

void lldpad_defaults(struct qos *q)
{
	const struct qos zero = {.has = lldp_agent_fields()};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		qos_copy_field(q, &zero, rows[i].field);
	q->ets_willing = q->pfc_willing = 1;
	q->advertise = QOS_ADVERTISE_ETS_CFG | QOS_ADVERTISE_PFC;
	q->app_count = 0;
	memset(q->app, 0, sizeof(q->app));
	memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->has |= lldp_agent_fields();
}

/* Parses a number at *at and moves behind it and its separator. Returns false for anything else. */
static bool lldpad_next_number(const char **at, const char *separators, unsigned int max,
			       unsigned int *value)
{
	char *end;
	long n;

	while (**at == ' ')
		(*at)++;
	if (!isdigit((unsigned char)**at))
		return false;
	n = strtol(*at, &end, 0);
	if (n < 0 || n > (long)max || (*end && !strchr(separators, *end)))
		return false;
	*value = (unsigned int)n;
	*at = *end ? end + 1 : end;
	return true;
}

/* Parses pairs "0:1,3:2"; missing ones are 0. */
static bool lldpad_parse_pairs(const char *text, uint8_t v[QOS_TCS])
{
	unsigned int key, value;

	memset(v, 0, QOS_TCS);
	if (!strcmp(text, "none"))
		return true;
	while (*text) {
		if (!lldpad_next_number(&text, ":", QOS_PRIOS - 1, &key) ||
		    !lldpad_next_number(&text, ",", QOS_TCS - 1, &value))
			return false;
		v[key] = value;
	}
	return true;
}

static bool lldpad_parse_tsa(const char *text, uint8_t v[QOS_TCS])
{
	unsigned int tc;

	memset(v, 0, QOS_TCS);
	if (!strcmp(text, "none"))
		return true;
	while (*text) {
		size_t n;
		char word[16];
		int tsa;

		if (!lldpad_next_number(&text, ":", QOS_TCS - 1, &tc))
			return false;
		n = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(n < 15 ? n : 15), text);
		tsa = qos_word_value(tsa_words, word);
		if (tsa < 0)
			return false;
		v[tc] = tsa;
		text += n + (text[n] == ',');
	}
	return true;
}

static bool lldpad_parse_shares(const char *text, uint8_t v[QOS_TCS])
{
	memset(v, 0, QOS_TCS);
	for (unsigned int tc = 0; *text; tc++) {
		unsigned int share;

		if (tc == QOS_TCS || !lldpad_next_number(&text, ",", 100, &share))
			return false;
		v[tc] = share;
	}
	return true;
}

static bool lldpad_store_number(const struct row *r, int number, struct qos *q)
{
	static const int max[] = {
		[FORM_YES] = 1,
		[FORM_MASK] = 0xff,
		[FORM_NUMBER] = UINT16_MAX,
		[FORM_ENABLE] = 1,
		[FORM_STATUS] = QOS_LLDP_RXTX,
	};
	const struct qos_field *f = &qos_fields[r->field];
	uint8_t *byte = qos_slot(q, f);

	if (number < 0 || number > max[r->form])
		return false;
	if (r->form == FORM_NUMBER)
		*(uint16_t *)qos_slot(q, f) = number;
	else if (r->form == FORM_ENABLE)
		*byte = number ? *byte | r->flag : *byte & ~r->flag;
	else
		*byte = number;
	return true;
}

static bool lldpad_parse_row(const struct row *r, const struct lldpad_arg *arg, struct qos *q)
{
	void *slot = qos_slot(q, &qos_fields[r->field]);

	switch (r->form) {
	case FORM_PRIO_TC:
		return arg->type == LLDPAD_TEXT && lldpad_parse_pairs(arg->text, slot);
	case FORM_TSA:
		return arg->type == LLDPAD_TEXT && lldpad_parse_tsa(arg->text, slot);
	case FORM_SHARES:
		return arg->type == LLDPAD_TEXT && lldpad_parse_shares(arg->text, slot);
	default:
		return arg->type != LLDPAD_TEXT && lldpad_store_number(r, arg->number, q);
	}
}

/* "3,5,   26": priority, selector, protocol. */
static bool lldpad_parse_app(const char *text, struct qos *q)
{
	unsigned int prio, selector, protocol;
	struct qos_app app;
	int err;

	if (!lldpad_next_number(&text, ",", QOS_PRIOS - 1, &prio) ||
	    !lldpad_next_number(&text, ",", QOS_APP_DSCP, &selector) ||
	    !lldpad_next_number(&text, "", UINT16_MAX, &protocol) || !selector)
		return false;
	if (selector == QOS_APP_DSCP) {
		if (protocol >= QOS_DSCPS)
			return false;
		q->dscp_prio[protocol] = prio;
		return true;
	}
	app = (struct qos_app){selector, prio, protocol};
	err = qos_app_add(q, app);
	return !err || err == -EEXIST;
}

int lldpad_parse_arg(struct qos *q, enum lldpad_tlv tlv, const struct lldpad_arg *arg,
		     struct err *e)
{
	bool good = true;

	if (tlv == LLDPAD_APP && !strncmp(arg->name, "APP", 3))
		good = arg->type == LLDPAD_TEXT && lldpad_parse_app(arg->text, q);
	for (size_t i = 0; good && i < ARRAY_SIZE(rows); i++)
		if (rows[i].tlv == tlv && !strcmp(rows[i].name, arg->name))
			good = lldpad_parse_row(&rows[i], arg, q);
	if (good)
		return 0;
	return err_set(e, -EBADMSG, "TLV %08x: value not allowed for %s", (unsigned int)tlv,
		       arg->name);
}

static void lldpad_clear_shares(const uint8_t tsa[QOS_TCS], uint8_t bw[QOS_TCS])
{
	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		if (tsa[tc] != QOS_TSA_ETS)
			bw[tc] = 0;
}

void lldpad_finish(struct qos *q)
{
	lldpad_clear_shares(q->tc_tsa, q->tc_tx_bw);
	lldpad_clear_shares(q->reco_tsa, q->reco_bw);
	q->trust = qos_dscp_count(q) ? QOS_TRUST_DSCP : QOS_TRUST_PCP;
}

static void lldpad_pairs_text(const uint8_t v[QOS_TCS], bool tsa, char *text)
{
	size_t used = 0;

	for (unsigned int i = 0; i < QOS_TCS; i++) {
		const char *word = tsa ? qos_word_text(tsa_words, v[i]) : NULL;

		if (tsa)
			used += snprintf(text + used, LLDPAD_TEXT_MAX - used, "%s%u:%.9s",
					 i ? "," : "", i, word ? word : "strict");
		else
			used += snprintf(text + used, LLDPAD_TEXT_MAX - used, "%s%u:%u",
					 i ? "," : "", i, v[i] % QOS_TCS);
	}
}

/* lldpad accepts only shares that sum to 100, also without any ETS class. */
static void lldpad_shares_text(const uint8_t v[QOS_TCS], char *text)
{
	unsigned int sum = 0;
	size_t used = 0;

	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		sum += v[tc];
	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		used += snprintf(text + used, LLDPAD_TEXT_MAX - used, "%s%u", tc ? "," : "",
				 sum  ? v[tc]
				 : tc ? 0
				      : 100);
}

static void lldpad_arg_set_number(struct lldpad_arg *arg, int number, bool is_bool)
{
	arg->type = is_bool ? LLDPAD_BOOL : LLDPAD_INT;
	arg->number = number;
}

static void lldpad_row_arg(const struct row *r, const struct qos *q, struct lldpad_arg *arg)
{
	const struct qos_field *f = &qos_fields[r->field];
	const uint8_t *v = qos_member(q, f);
	unsigned int n;

	*arg = (struct lldpad_arg){.type = LLDPAD_TEXT};
	snprintf(arg->name, sizeof(arg->name), "%s", r->name);
	switch (r->form) {
	case FORM_YES:
		lldpad_arg_set_number(arg, *v != 0, false);
		snprintf(arg->text, sizeof(arg->text), "%s", *v ? "yes" : "no");
		return;
	case FORM_ENABLE:
		lldpad_arg_set_number(arg, (*v & r->flag) != 0, true);
		snprintf(arg->text, sizeof(arg->text), "%s", *v & r->flag ? "yes" : "no");
		return;
	case FORM_MASK:
		lldpad_arg_set_number(arg, *v, false);
		qos_prio_set_text(*v, arg->text, sizeof(arg->text));
		return;
	case FORM_NUMBER:
		n = *(const uint16_t *)qos_member(q, f);
		lldpad_arg_set_number(arg, (int)n, false);
		snprintf(arg->text, sizeof(arg->text), "%u", n);
		return;
	case FORM_STATUS:
		lldpad_arg_set_number(arg, *v, false);
		snprintf(arg->text, sizeof(arg->text), "%.15s", qos_word_text(f->words, *v));
		return;
	case FORM_SHARES:
		lldpad_shares_text(v, arg->text);
		return;
	default:
		lldpad_pairs_text(v, r->form == FORM_TSA, arg->text);
	}
}

unsigned int lldpad_args(const struct qos *q, uint64_t mask, enum lldpad_tlv tlv,
			 struct lldpad_arg arg[LLDPAD_ARGS_MAX])
{
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && n < LLDPAD_ARGS_MAX; i++)
		if (rows[i].tlv == tlv && mask & QOS_BIT(rows[i].field))
			lldpad_row_arg(&rows[i], q, &arg[n++]);
	return n;
}

static void lldpad_app_arg(unsigned int prio, unsigned int selector, unsigned int protocol,
			   struct lldpad_arg *arg)
{
	*arg = (struct lldpad_arg){.name = "APP", .type = LLDPAD_TEXT};
	/* Exactly as lldpad writes it, with the blanks: it finds entries to delete by their text.
	 */
	snprintf(arg->text, sizeof(arg->text), "%u,%u,%5u", prio, selector, protocol);
}

static bool lldpad_has_app(const struct qos *q, const struct qos_app *a)
{
	for (unsigned int i = 0; i < q->app_count; i++)
		if (!memcmp(&q->app[i], a, sizeof(*a)))
			return true;
	return false;
}

unsigned int lldpad_apps(const struct qos *from, const struct qos *to, struct lldpad_arg *arg,
			 unsigned int max)
{
	unsigned int n = 0;

	for (unsigned int d = 0; d < QOS_DSCPS && n < max; d++)
		if (from->dscp_prio[d] != QOS_UNMAPPED && from->dscp_prio[d] != to->dscp_prio[d])
			lldpad_app_arg(from->dscp_prio[d], QOS_APP_DSCP, d, &arg[n++]);
	for (unsigned int i = 0; i < from->app_count && n < max; i++) {
		const struct qos_app *a = &from->app[i];

		if (!lldpad_has_app(to, a))
			lldpad_app_arg(a->prio, a->selector, a->protocol, &arg[n++]);
	}
	return n;
}

unsigned int lldpad_app_count(const struct qos *q)
{
	return q->app_count + qos_dscp_count(q);
}
