/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that need several fields of a profile, one function each. A rule reports nothing if the
 * profile does not state a field that it needs. diag_rules[] explains them.
 */
#include "profiles/profile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* RoCE headers that the kernel subtracts from the device's MTU: linux ib_addr.h, iboe_get_mtu(). */
#define ROCE_HEADERS 96

struct check {
	const struct profile *p;
	struct diags *diags;
};

struct finding {
	enum diag_level level;
	const char *rule;
	enum qos_field_id at;
	const char *note;
};

static int check_report(struct check *c, const struct finding *what, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static int check_report(struct check *c, const struct finding *what, const char *fmt, ...)
{
	char text[256];
	struct diag one = {
		.level = what->level,
		/* diags_add() copies; it changes none of these. */
		.path = (char *)c->p->path,
		.line = c->p->line[what->at],
		.column = c->p->column[what->at],
		.width = c->p->width[what->at],
		.text = text,
		.note = (char *)what->note,
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(one.rule, sizeof(one.rule), "%s", what->rule);
	return diags_add(c->diags, &one);
}

static bool profile_states(const struct check *c, enum qos_field_id id)
{
	return qos_has(&c->p->qos, id);
}

static bool profile_is_lossless(const struct check *c, unsigned int prio)
{
	return profile_states(c, QOS_PFC_ENABLED) && c->p->qos.pfc_enabled & (1u << prio);
}

static int check_intent(struct check *c)
{
	struct finding what = {DIAG_ERROR, "RC-INP-029", QOS_PFC_ENABLED, NULL};
	bool pfc = profile_states(c, QOS_PFC_ENABLED) && c->p->qos.pfc_enabled;

	if (c->p->intent == INTENT_LOSSLESS && !pfc) {
		what.note = "add the RoCE priority to pfc.enabled, or change intent";
		return check_report(c, &what, "intent is lossless, but no priority has PFC");
	}
	if (c->p->intent == INTENT_LOSSLESS || !pfc)
		return 0;
	what.level = DIAG_WARNING;
	return check_report(c, &what, "intent is %s, but a priority has PFC",
			    profile_intent_word(c->p->intent));
}

static bool profile_sets_vlan_prio(const struct check *c)
{
	static const uint8_t none[QOS_SKB_PRIOS];

	return profile_states(c, QOS_VLAN_PRIO) &&
	       memcmp(c->p->qos.vlan_prio, none, sizeof(none)) != 0;
}

static int check_trust(struct check *c)
{
	struct finding what = {DIAG_WARNING, "RC-INP-032", QOS_TRUST, NULL};

	if (!profile_states(c, QOS_TRUST))
		return 0;
	if (c->p->qos.trust == QOS_TRUST_DSCP && !profile_states(c, QOS_DSCP_PRIO))
		return check_report(c, &what, "trust is dscp, but no DSCP is mapped to a priority");
	if (c->p->qos.trust == QOS_TRUST_PCP && !profile_sets_vlan_prio(c)) {
		what.rule = "RC-INP-025";
		what.note = "set vlan.egress_qos_map";
		return check_report(c, &what, "trust is pcp, but no VLAN priority is mapped");
	}
	return 0;
}

static int check_roce_prio(struct check *c)
{
	struct finding what = {DIAG_ERROR, "RC-INP-020", QOS_CM_TOS, NULL};
	int prio = profile_roce_prio(c->p);

	if (c->p->intent != INTENT_LOSSLESS || prio < 0 || !profile_states(c, QOS_PFC_ENABLED))
		return 0;
	if (!c->p->qos.pfc_enabled || profile_is_lossless(c, prio))
		return 0;
	what.note = "map this DSCP to a priority of pfc.enabled";
	return check_report(c, &what, "RoCE data (DSCP %d) has priority %d, which is not lossless",
			    profile_roce_tos(c->p) >> 2, prio);
}

static int check_roce_ecn(struct check *c)
{
	struct finding what = {DIAG_WARNING, "RC-INP-026", QOS_CM_TOS, NULL};
	int tos = profile_roce_tos(c->p);

	if (tos < 0)
		return 0;
	if ((tos & 3) == 3) {
		what.level = DIAG_ERROR;
		what.note = "use ecn: ect0";
		return check_report(c, &what, "RoCE data would be sent with CE set");
	}
	/* Without a reaction point, CE marks have no effect. */
	if (tos & 3 || (profile_states(c, QOS_RP_ENABLE) && !c->p->qos.rp_enable))
		return 0;
	what.note = "use ecn: ect0, unless the NIC sets ECT itself";
	return check_report(c, &what, "RoCE data has no ECT: switches cannot mark it");
}

static int check_cnp(struct check *c)
{
	struct finding what = {DIAG_ERROR, "RC-INP-021", QOS_CNP_DSCP, NULL};
	int prio = -ENODATA, err = 0;

	if (profile_states(c, QOS_CNP_DSCP))
		prio = qos_dscp_to_prio(&c->p->qos, c->p->qos.cnp_dscp);
	if (prio >= 0 && c->p->qos.trust == QOS_TRUST_DSCP && profile_is_lossless(c, prio))
		err = check_report(c, &what, "CNPs (DSCP %u) have priority %d, which is lossless",
				   c->p->qos.cnp_dscp, prio);
	if (err || !profile_states(c, QOS_CNP_PRIO) || !profile_is_lossless(c, c->p->qos.cnp_prio))
		return err;
	what.at = QOS_CNP_PRIO;
	return check_report(c, &what, "CNPs have priority %u, which is lossless",
			    c->p->qos.cnp_prio);
}

/* Lossy priorities in the traffic class of a lossless one. */
static uint8_t profile_lossy_in_tc(const struct check *c, unsigned int prio)
{
	const struct qos *q = &c->p->qos;
	uint8_t set = 0;

	for (unsigned int other = 0; other < QOS_PRIOS; other++)
		if (!profile_is_lossless(c, other) && q->prio_tc[other] == q->prio_tc[prio])
			set |= 1u << other;
	return set;
}

static int check_shared_tc(struct check *c)
{
	struct finding what = {DIAG_ERROR, "RC-INP-022", QOS_PRIO_TC, NULL};
	char others[32];

	what.note = "give the lossless priority a traffic class of its own";
	for (unsigned int prio = 0; profile_states(c, QOS_PRIO_TC) && prio < QOS_PRIOS; prio++) {
		int err;

		if (!profile_is_lossless(c, prio) || !profile_lossy_in_tc(c, prio))
			continue;
		qos_prio_set_text(profile_lossy_in_tc(c, prio), others, sizeof(others));
		err = check_report(c, &what,
				   "lossless priority %u shares TC %u with lossy priority %s", prio,
				   c->p->qos.prio_tc[prio], others);
		if (err)
			return err;
	}
	return 0;
}

static int check_share(struct check *c, unsigned int tc)
{
	struct finding what = {DIAG_ERROR, "RC-INP-024", QOS_TC_TX_BW, NULL};
	unsigned int share = c->p->qos.tc_tx_bw[tc];
	bool ets = c->p->qos.tc_tsa[tc] == QOS_TSA_ETS;

	if (ets && !share)
		return check_report(c, &what, "TC %u is ets but has no share", tc);
	if (ets || !share)
		return 0;
	what.level = DIAG_WARNING;
	what.rule = "RC-INP-031";
	return check_report(c, &what, "TC %u has a share of %u %%, but is not ets", tc, share);
}

static int check_shares(struct check *c)
{
	struct finding what = {DIAG_ERROR, "RC-INP-023", QOS_TC_TX_BW, NULL};
	unsigned int sum = 0, classes = 0;

	if (!profile_states(c, QOS_TC_TSA) || !profile_states(c, QOS_TC_TX_BW))
		return 0;
	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		int err = check_share(c, tc);

		if (err)
			return err;
		if (c->p->qos.tc_tsa[tc] != QOS_TSA_ETS)
			continue;
		sum += c->p->qos.tc_tx_bw[tc];
		classes++;
	}
	if (!classes || sum == 100)
		return 0;
	return check_report(c, &what, "the shares of the ets classes sum to %u %%, not 100", sum);
}

static int check_lossless_tsa(struct check *c)
{
	struct finding what = {DIAG_WARNING, "RC-INP-030", QOS_TC_TSA, NULL};
	const struct qos *q = &c->p->qos;

	if (!profile_states(c, QOS_TC_TSA) || !profile_states(c, QOS_PRIO_TC))
		return 0;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		unsigned int tc = q->prio_tc[prio];
		int err;

		if (!profile_is_lossless(c, prio) || tc >= QOS_TCS ||
		    q->tc_tsa[tc] != QOS_TSA_STRICT)
			continue;
		if (profile_states(c, QOS_TC_MAXRATE) && q->tc_maxrate_kbps[tc])
			continue;
		err = check_report(c, &what,
				   "TC %u of lossless priority %u is strict and has no rate limit",
				   tc, prio);
		if (err)
			return err;
	}
	return 0;
}

static int check_ib_mtu(struct check *c)
{
	struct finding what = {DIAG_ERROR, "RC-INP-005", QOS_IB_MTU, NULL};
	uint32_t ib_mtu = c->p->qos.ib_mtu;

	if (!profile_states(c, QOS_IB_MTU))
		return 0;
	if (ib_mtu & (ib_mtu - 1)) {
		what.note = "expected 256, 512, 1024, 2048 or 4096";
		return check_report(c, &what, "mtu.ib_min: %u is not a valid RDMA MTU", ib_mtu);
	}
	what.rule = "RC-INP-027";
	if (!profile_states(c, QOS_MTU) || c->p->qos.mtu >= ib_mtu + ROCE_HEADERS)
		return 0;
	return check_report(c, &what,
			    "mtu.ib_min %u needs mtu.netdev %u or more, but mtu.netdev is %u",
			    ib_mtu, ib_mtu + ROCE_HEADERS, c->p->qos.mtu);
}

static int check_pause(struct check *c)
{
	struct finding what = {DIAG_ERROR, "RC-INP-028", QOS_PAUSE_RX, NULL};
	bool rx = profile_states(c, QOS_PAUSE_RX) && c->p->qos.pause_rx;
	bool tx = profile_states(c, QOS_PAUSE_TX) && c->p->qos.pause_tx;

	if (!profile_states(c, QOS_PFC_ENABLED) || !c->p->qos.pfc_enabled || (!rx && !tx))
		return 0;
	if (!rx)
		what.at = QOS_PAUSE_TX;
	what.note = "use link_pause: {rx: off, tx: off}";
	return check_report(c, &what, "link pause and PFC are both on");
}

static int (*const checks[])(struct check *c) = {
	check_intent,	 check_trust,  check_roce_prio,	   check_roce_ecn, check_cnp,
	check_shared_tc, check_shares, check_lossless_tsa, check_ib_mtu,   check_pause,
};

int profile_check(const struct profile *p, struct diags *diags)
{
	struct check c = {p, diags};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		int err = checks[i](&c);

		if (err)
			return err;
	}
	return 0;
}
