/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans as text. Sign of a step: "?" sets a value that could not be read, "~" changes a value, "!"
 * is not supported on the port. Each step has the profile line of its setting.
 */
#include "cmd/apply/plan_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output.h"
#include "dcb/drift/owner.h"
#include "dcb/lldpad/lldpad_process.h"
#include "probe/host/ports.h"
#include "profiles/base/text.h"

#define VALUE_MAX     512
#define STEP_MAX      (2 * VALUE_MAX + 256) /* two values, or one and a reason */
#define PLAN_VALUE_AT 25u		    /* column of a step's values */
#define PLAN_LINE_AT  88u		    /* and of its profile line */

/* Ports of a bond share an RDMA device: its settings stay in the plan of the first port only. */
static void plan_drop_shared(struct plan *plans, unsigned int at)
{
	const uint64_t shared = PLAN_RDMA_CM | QOS_BIT(QOS_VERBS_TOS) | QOS_BIT(QOS_IB_MTU) |
				QOS_BIT(QOS_VLAN_PRIO);
	struct plan *p = &plans[at];
	unsigned int first = 0, kept = 0;

	while (first < at &&
	       (strcmp(plans[first].ibdev, p->ibdev) || plans[first].ib_port != p->ib_port))
		first++;
	if (first == at || !p->ibdev[0])
		return;
	for (unsigned int i = 0; i < p->count; i++)
		if (!(shared & QOS_BIT(p->step[i].field)))
			p->step[kept++] = p->step[i];
	p->count = kept;
}

json_t *cmd_plans_json(const struct plans *plans)
{
	json_t *doc = plan_to_json(plans->plan, plans->count);
	json_t *ports = json_object_get(doc, "ports");

	for (unsigned int i = 0; doc && i < plans->count; i++)
		if (json_object_set_new(json_array_get(ports, i), "used_by",
					port_users_to_json(&plans->use[i]))) {
			json_decref(doc);
			doc = NULL;
		}
	return doc;
}

static void plans_complete(struct dcb *dcb, struct plans *plans)
{
	for (unsigned int i = 0; i < plans->count; i++)
		plan_drop_shared(plans->plan, i);
	for (unsigned int i = 0; i < plans->count; i++) {
		const struct plan *p = &plans->plan[i];

		if (plan_disrupts(p))
			port_users_gather(dcb, NULL, p->ifname, p->ibdev, p->ib_port,
					  &plans->use[i]);
	}
}

static int plans_alloc(struct plans *plans, unsigned int room, struct err *e)
{
	plans->plan = calloc(room, sizeof(*plans->plan));
	plans->use = calloc(room, sizeof(*plans->use));
	return plans->plan && plans->use ? 0 : err_sys(e, -ENOMEM, "plan");
}

int cmd_plans_make(struct dcb *dcb, const struct profile *profile, const char *name,
		   struct plans *plans, struct err *e)
{
	struct plans made = {0};
	struct snapshot s;
	int err = ports_read(dcb, name, plan_lldp_agent(profile), &s, e);

	if (err)
		return err;
	made.privileged = s.privileged;
	err = plans_alloc(&made, s.port_count, e);
	for (unsigned int i = 0; !err && i < s.port_count; i++) {
		const struct port *p = &s.port[i];

		if (name || ports_profile_selects(dcb, profile, p->netdev))
			err = plan_port(dcb, profile, p->netdev, p->ibdev, p->ib_port, &p->qos,
					&made.plan[made.count++], e);
	}
	if (!err)
		plans_complete(dcb, &made);
	if (!err && !made.count)
		err = err_set(e, -ENODEV, "the profile selects none of the %u RoCE ports",
			      s.port_count);
	snapshot_clear(&s);
	if (err)
		cmd_plans_clear(&made);
	else
		*plans = made;
	return err;
}

static int plan_again(struct dcb *dcb, const struct profile *profile, const struct plan *was,
		      struct plan *plan, struct err *e)
{
	const struct dcb_port port = {was->ifname, was->ibdev, was->ib_port,
				      plan_lldp_agent(profile)};
	struct qos have;
	bool has_dcb;
	int err = dcb_read_port(dcb, &port, &have, &has_dcb, e);

	return err ? err
		   : plan_port(dcb, profile, was->ifname, was->ibdev, was->ib_port, &have, plan, e);
}

int cmd_plans_again(struct dcb *dcb, const struct profile *profile, const char *name,
		    const struct plans *before, struct plans *plans, struct err *e)
{
	struct plans made = {.privileged = before->privileged};
	int err;

	/* Only verbs has the IB MTU, and only ports_read() asks verbs. */
	if (qos_has(&profile->qos, QOS_IB_MTU))
		return cmd_plans_make(dcb, profile, name, plans, e);
	err = plans_alloc(&made, before->count, e);
	while (!err && made.count < before->count) {
		err = plan_again(dcb, profile, &before->plan[made.count], &made.plan[made.count],
				 e);
		made.count++;
	}
	if (err) {
		cmd_plans_clear(&made);
		return err;
	}
	plans_complete(dcb, &made);
	*plans = made;
	return 0;
}

void cmd_plans_clear(struct plans *plans)
{
	free(plans->plan);
	free(plans->use);
	memset(plans, 0, sizeof(*plans));
}

unsigned int cmd_plans_changes(const struct plans *plans)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < plans->count; i++)
		n += plan_changes(&plans->plan[i]);
	return n;
}

/* Signs of steps, with their legend and the word that counts them. */
static const struct plan_sign {
	char sign;
	const char *colour, *legend, *count;
} plan_signs[] = {
	{'~', TEXT_YELLOW, "change", "to change"},
	{'?', TEXT_GREEN, "set (value now unknown)", "to set"},
	{'!', TEXT_RED, "unsupported on this port", "unsupported"},
};

static const struct plan_sign *plan_step_sign(const struct plan_step *s)
{
	if (s->cannot)
		return &plan_signs[2];
	return &plan_signs[!qos_has(&s->from, s->field)];
}

static unsigned int plans_count_sign(const struct plans *plans, const struct plan_sign *sign)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < plans->count; i++)
		for (unsigned int k = 0; k < plans->plan[i].count; k++)
			n += plan_step_sign(&plans->plan[i].step[k]) == sign;
	return n;
}

unsigned int cmd_plans_cannot(const struct plans *plans)
{
	return plans_count_sign(plans, &plan_signs[2]);
}

static void prio_text(uint8_t prio, char *buf, size_t size)
{
	if (prio == QOS_UNMAPPED)
		snprintf(buf, size, "(unset)");
	else
		snprintf(buf, size, "%u", prio);
}

static uint8_t plan_old_prio(const struct plan_step *s, unsigned int dscp)
{
	return qos_has(&s->from, QOS_DSCP_PRIO) ? s->from.dscp_prio[dscp] : QOS_UNMAPPED;
}

/* Last DSCP of the run in which all change alike. */
static unsigned int plan_last_dscp_alike(const struct plan_step *s, unsigned int dscp)
{
	while (dscp + 1 < QOS_DSCPS && plan_old_prio(s, dscp + 1) == plan_old_prio(s, dscp) &&
	       s->to.dscp_prio[dscp + 1] == s->to.dscp_prio[dscp])
		dscp++;
	return dscp;
}

/* Only the DSCPs that change: "(unset) -> 0-7:0 8-15:1", or "26:(unset)->3 48:0->6" if their old
 * priorities differ. */
static void dscp_text(const struct plan_step *s, char *buf, size_t size)
{
	size_t used = 0;
	int old = -1;
	bool alike = true;

	buf[0] = '\0';
	for (unsigned int d = 0; d < QOS_DSCPS; d++) {
		if (plan_old_prio(s, d) == s->to.dscp_prio[d])
			continue;
		alike &= old < 0 || old == plan_old_prio(s, d);
		old = plan_old_prio(s, d);
	}
	for (unsigned int d = 0, last; d < QOS_DSCPS && used < size; d = last + 1) {
		char from[16], to[16], dscps[16];

		last = plan_last_dscp_alike(s, d);
		if (plan_old_prio(s, d) == s->to.dscp_prio[d])
			continue;
		snprintf(dscps, sizeof(dscps), last > d ? "%u-%u" : "%u", d, last);
		snprintf(from, sizeof(from), "unknown");
		if (qos_has(&s->from, s->field))
			prio_text(plan_old_prio(s, d), from, sizeof(from));
		prio_text(s->to.dscp_prio[d], to, sizeof(to));
		if (alike && !used)
			used += snprintf(buf, size, "%s ->", from);
		used += snprintf(buf + used, used < size ? size - used : 0, "%s%s:%s%s%s",
				 used ? " " : "", dscps, alike ? "" : from, alike ? "" : "->", to);
	}
}

static void change_text(const struct plan_step *s, char *buf, size_t size)
{
	char from[VALUE_MAX], to[VALUE_MAX];

	qos_field_text(&s->to, s->field, to, sizeof(to));
	if (s->cannot) {
		snprintf(buf, size, "wanted %s  unsupported: %s", to, s->reason);
		return;
	}
	if (s->field == QOS_DSCP_PRIO) {
		dscp_text(s, buf, size);
		if (buf[0])
			return;
	}
	qos_field_text(&s->from, s->field, from, sizeof(from));
	if (s->rewrite && qos_field_equal(&s->from, &s->to, s->field))
		snprintf(buf, size, "%s, rewritten (the driver resets it)", to);
	else
		snprintf(buf, size, "%s -> %s%s", from, to,
			 s->field == QOS_TC_TSA ? " (class not listed: strict)"
			 : s->field == QOS_MTU && s->to.mtu < s->from.mtu
				 ? " (smaller: running RDMA connections can break)"
				 : "");
}

static void plan_print_sign(const struct plan_sign *sign, FILE *out, bool colour)
{
	fprintf(out, "  %s%c%s ", colour ? sign->colour : "", sign->sign, colour ? TEXT_RESET : "");
}

static void plan_print_step(const struct plan_step *s, FILE *out, bool colour)
{
	const char *key = qos_fields[s->field].key;
	unsigned int at = PLAN_VALUE_AT;
	char change[STEP_MAX];

	change_text(s, change, sizeof(change) - 32);
	if (!s->cannot && s->disruption != DISRUPT_NONE)
		snprintf(change + strlen(change), 32, "  (%s)",
			 plan_disruption_word(s->disruption));
	plan_print_sign(plan_step_sign(s), out, colour);
	fprintf(out, "%-*s ", (int)PLAN_VALUE_AT - 5, key);
	if (strlen(key) + 5 > at)
		at = strlen(key) + 5;
	at = output_wrap(out, change, at, PLAN_VALUE_AT, PLAN_LINE_AT - 1);
	if (s->line)
		fprintf(out, "%*s%d", at < PLAN_LINE_AT ? (int)(PLAN_LINE_AT - at) : 1, "",
			s->line);
	fputc('\n', out);
}

/* Unsupported settings with the same reason share a line. */
static void plan_print_steps(const struct plan *p, FILE *out, bool colour)
{
	uint64_t printed = 0;

	for (unsigned int i = 0; i < p->count; i++) {
		const struct plan_step *s = &p->step[i];
		uint64_t alike = QOS_BIT(s->field);
		char head[sizeof(s->reason) + 32];

		for (unsigned int k = i + 1; s->cannot && k < p->count; k++)
			if (p->step[k].cannot && !strcmp(p->step[k].reason, s->reason))
				alike |= QOS_BIT(p->step[k].field);
		if (alike == QOS_BIT(s->field) && !(printed & alike)) {
			plan_print_step(s, out, colour);
		} else if (!(printed & alike)) {
			plan_print_sign(plan_step_sign(s), out, colour);
			snprintf(head, sizeof(head), "unsupported (%s): ", s->reason);
			output_keys(out, 4, head, alike, "");
		}
		printed |= alike;
	}
}

static void plan_print_unmapped(const struct plan *p, FILE *out)
{
	if (!p->unmapped_dscps)
		return;
	fprintf(out,
		"    note: %u of 64 DSCPs have no entry: DSCP trust gives them the firmware's "
		"priority;\n          'app.dscp_default: shift3' sets all 64\n",
		p->unmapped_dscps);
}

static void plan_print_notes(const struct plan *p, FILE *out)
{
	uint64_t unknown = 0;

	for (unsigned int i = 0; i < p->count; i++)
		if (!p->step[i].cannot && !qos_has(&p->step[i].from, p->step[i].field))
			unknown |= QOS_BIT(p->step[i].field);
	if (unknown & PLAN_RDMA_CM)
		fprintf(out,
			"    note: apply creates the configfs directory rdma_cm/%s to read and "
			"write the RDMA-CM\n"
			"          settings; rollback removes it\n",
			p->ibdev);
	if (unknown & ~PLAN_RDMA_CM)
		fprintf(out, "    note: rollback cannot restore a value that is unknown now (?)\n");
	if (p->side_effects) {
		fputs("    ", out);
		output_keys(out, 4, "note: this plan makes the driver reset ", p->side_effects,
			    ", and the profile does not set them");
	}
	plan_print_unmapped(p, out);
	if (plan_fields(p) & QOS_BIT(QOS_ROCE_ENABLE) && driver_quirk_find(p->driver)->roce_resets)
		fputs("    note: rdma.enable_roce reloads the driver: the netdev is created "
		      "again, without its\n          addresses, VLAN devices and bond; RDMA-CM "
		      "settings need a second apply\n",
		      out);
}

static void plan_print_users(const struct port_users *use, FILE *out)
{
	char text[160];

	for (unsigned int i = 0; i < use->count; i++) {
		port_user_text(&use->user[i], text, sizeof(text));
		fprintf(out, "    %s %s\n", i ? "        " : "used by:", text);
	}
	if (use->more)
		fprintf(out, "             and %u more\n", use->more);
}

/* Profile settings without a step; a port without RDMA device has no RDMA MTU. */
static uint64_t plan_matching(const struct plan *p, const struct profile *profile)
{
	uint64_t fields = profile->qos.has & ~(p->ibdev[0] ? 0 : QOS_BIT(QOS_IB_MTU));

	for (unsigned int i = 0; i < p->count; i++)
		fields &= ~QOS_BIT(p->step[i].field);
	return fields;
}

static unsigned int plan_unsupported_text(const struct plan *p, const struct profile *profile,
					  char *buf, size_t size)
{
	unsigned int settings = __builtin_popcountll(profile->qos.has);
	unsigned int cannot = p->count - plan_changes(p);

	snprintf(buf, size, "%u of %u profile setting%s %s not supported on %s", cannot, settings,
		 plural(settings), cannot == 1 ? "is" : "are", p->ifname);
	return cannot;
}

void cmd_plans_unsupported_text(const struct plans *plans, const struct profile *profile, char *buf,
				size_t size)
{
	char text[128], others[48] = "";
	unsigned int ports = 0;

	buf[0] = '\0';
	for (unsigned int i = plans->count; i-- > 0;) {
		if (!plan_unsupported_text(&plans->plan[i], profile, text, sizeof(text)))
			continue;
		if (ports++)
			snprintf(others, sizeof(others), " (and more on %u other port%s)",
				 ports - 1, ports == 2 ? "" : "s");
		snprintf(buf, size, "%.80s%s", text, others);
	}
}

/* Names the profile settings without a step. */
static void plan_print_matching(const struct plan *p, const struct profile *profile, FILE *out)
{
	uint64_t match = plan_matching(p, profile);

	if (match) {
		fputs("    ", out);
		output_keys(out, 4, "already match: ", match, "");
	}
	if (!p->ibdev[0] && qos_has(&profile->qos, QOS_IB_MTU))
		fputs("    not checked: mtu.ib_min (the port has no RDMA device)\n", out);
}

static void print_plan(const struct plan *p, const struct port_users *use,
		       const struct profile *profile, FILE *out, bool colour)
{
	static const char *const tiers[] = {
		[PLAN_TIER_SOURCE] = "written from driver source code, untested on hardware; "
				     "apply reads values back",
		[PLAN_TIER_RECORDED] = "verified against a recording of the hardware",
		[PLAN_TIER_HARDWARE] = "verified on hardware",
	};

	fprintf(out, "%s", p->ifname);
	if (p->ibdev[0])
		fprintf(out, " (%s)", p->ibdev);
	fprintf(out, "  driver %s%s%s\n", p->driver[0] ? p->driver : "unknown",
		p->platform[0] ? ", " : "", p->platform);
	if (p->driver[0])
		fprintf(out, "    driver support: %s\n", tiers[p->tier]);
	if (p->count)
		fprintf(out, "    %-*s %-*s%s\n", (int)PLAN_VALUE_AT - 5, "setting",
			(int)(PLAN_LINE_AT - PLAN_VALUE_AT), "now -> wanted", "profile line");
	plan_print_steps(p, out, colour);
	plan_print_matching(p, profile, out);
	plan_print_users(use, out);
	plan_print_notes(p, out);
}

/* Explains the signs that the plans use. */
static void plan_print_signs(const struct plans *plans, FILE *out)
{
	const char *sep = "Signs: ";
	char change[STEP_MAX];
	bool empty = false;

	for (unsigned int i = 0; i < plans->count; i++)
		for (unsigned int k = 0; k < plans->plan[i].count; k++) {
			change_text(&plans->plan[i].step[k], change, sizeof(change));
			empty |= strstr(change, "(unset)") || strstr(change, "{}") ||
				 strstr(change, "[]");
		}
	for (size_t i = 0; i < ARRAY_SIZE(plan_signs); i++)
		if (plans_count_sign(plans, &plan_signs[i])) {
			fprintf(out, "%s%c %s", sep, plan_signs[i].sign, plan_signs[i].legend);
			sep = ", ";
		}
	fputs(empty ? "; {} [] (unset): no entry\n" : "\n", out);
}

/* "Disruption: roce0 link-flap, roce1 port-reset" */
static void plan_print_disruption(const struct plans *plans, FILE *out)
{
	const char *comma = "";

	fputs("Disruption: ", out);
	for (unsigned int i = 0; i < plans->count; i++) {
		const struct plan *p = &plans->plan[i];
		enum plan_disruption worst = DISRUPT_NONE;

		for (unsigned int k = 0; k < p->count; k++)
			if (!p->step[k].cannot && p->step[k].disruption > worst)
				worst = p->step[k].disruption;
		if (worst == DISRUPT_NONE)
			continue;
		fprintf(out, "%s%s %s", comma, p->ifname, plan_disruption_word(worst));
		comma = ", ";
	}
	fputs(*comma ? "\n" : "no link flap, no port reset\n", out);
}

/* "8 to change (~), 2 to set (?), 3 already match on 1 of 1 port" */
static void plan_print_count(const struct plans *plans, const struct profile *profile, FILE *out)
{
	unsigned int ports = 0, match = 0;
	const char *comma = "";

	for (unsigned int i = 0; i < plans->count; i++) {
		ports += plan_changes(&plans->plan[i]) != 0;
		match += __builtin_popcountll(plan_matching(&plans->plan[i], profile));
	}
	for (size_t i = 0; i < ARRAY_SIZE(plan_signs); i++) {
		unsigned int n = plans_count_sign(plans, &plan_signs[i]);

		if (n)
			fprintf(out, "%s%u %s (%c)", comma, n, plan_signs[i].count,
				plan_signs[i].sign);
		comma = n ? ", " : comma;
	}
	if (match)
		fprintf(out, ", %u already match%s", match, match == 1 ? "es" : "");
	fprintf(out, " on %u of %u port%s", ports, plans->count, plural(plans->count));
}

/* "roce0, roce1 already match lab" */
static void plan_print_nothing(const struct plans *plans, const struct profile *profile, FILE *out)
{
	for (unsigned int i = 0; i < plans->count; i++)
		fprintf(out, "%s%s", i ? ", " : "Nothing to do: ", plans->plan[i].ifname);
	fprintf(out, " already match%s %s.", plans->count == 1 ? "es" : "", profile->name);
}

void cmd_plans_print(const struct plans *plans, const struct profile *profile, FILE *out,
		     bool colour)
{
	char text[128];

	if (cmd_plans_cannot(plans)) {
		cmd_plans_unsupported_text(plans, profile, text, sizeof(text));
		fprintf(out, "%s%s.\n", text,
			profile->on_unsupported == CHOICE_FAIL
				? ",\n  so apply refuses this plan with exit code 3 "
				  "(policy.on_unsupported: fail)"
				: "; apply leaves them out");
	}
	if (!cmd_plans_changes(plans) && !cmd_plans_cannot(plans)) {
		for (unsigned int i = 0; i < plans->count; i++)
			plan_print_unmapped(&plans->plan[i], out);
		plan_print_nothing(plans, profile, out);
		return;
	}
	fprintf(out, "Profile: %s%s\n", profile_shown_name(profile->path),
		profile_shown_name(profile->path) != profile->path ? " (shipped with rocecheck)"
								   : "");
	for (unsigned int i = 0; i < plans->count; i++)
		print_plan(&plans->plan[i], &plans->use[i], profile, out, colour);
	plan_print_signs(plans, out);
	plan_print_disruption(plans, out);
	fputs("Plan: ", out);
	plan_print_count(plans, profile, out);
	fputs(".", out);
}

/* Hands DCBX from the firmware to the host, by driver. */
static const struct firmware_release {
	const char *driver, *text;
} firmware_releases[] = {
	{"ice", "ethtool --set-priv-flags %s fw-lldp-agent off"},
	{"i40e", "ethtool --set-priv-flags %s disable-fw-lldp on"},
	{"bnxt_en", "disable the NVM options for LLDP and DCBX of %s, then reset the NIC"},
	{"mlx5_core", "mlxconfig -d %s set LLDP_NB_DCBX_P1=0, then reset the firmware"},
	{NULL, "turn off the LLDP agent in the firmware of %s"},
};

static int plan_err_firmware(const struct plan *p, struct err *e)
{
	const struct firmware_release *w = firmware_releases;
	char text[ERR_HINT_MAX];
	const char *at;

	while (w->driver && strcmp(w->driver, p->driver))
		w++;
	at = strstr(w->text, "%s");
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - w->text), w->text, p->ifname, at + 2);
	err_set(e, -EBUSY,
		"%s: the LLDP agent of the firmware owns DCBX (lld_managed), so the driver "
		"refuses every DCB setting",
		p->ifname);
	err_hint(e, "%s", text);
	return -EBUSY;
}

static bool plan_is_dcb_field(enum qos_field_id id)
{
	return id <= QOS_BUFFER_SIZE;
}

/* wanted: the profile allows a running lldpad. */
static int plan_check_lldpad(const struct plan *p, bool *wanted, struct err *e)
{
	pid_t pid = lldpad_find_pid(NULL);
	struct lldpad_options options = {0};

	if (pid)
		(void)lldpad_read_options(NULL, pid, &options);
	*wanted = p->lldp_agent == LLDP_AGENT_LLDPAD || (p->beside_read_only && options.read_only);
	if (p->lldp_agent != LLDP_AGENT_LLDPAD || !options.read_only)
		return 0;
	err_set(e, -EBUSY, "lldpad (pid %d) was started with -R, so it changes no settings",
		(int)pid);
	err_hint(e, "start lldpad without -R, or set 'dcbx.agent: lldpad-readonly'");
	return -EBUSY;
}

static void plan_warn_owner(const struct owner *owner)
{
	struct err e = {0};

	(void)owner_report(owner, &e);
	fprintf(stderr, "rocecheck: warning: %s\n   = help: %s\n", e.text, e.hint);
}

static int plan_check_host_owners(const struct plans *plans, struct err *e)
{
	const char **ports = calloc(plans->count, sizeof(*ports));
	struct owner found[OWNER_KIND_COUNT];
	unsigned int count, i = 0;
	bool lldpad;
	int err = plan_check_lldpad(&plans->plan[0], &lldpad, e);

	if (err || !ports) {
		free(ports);
		return err ? err : err_sys(e, -ENOMEM, "plan");
	}
	for (unsigned int k = 0; k < plans->count; k++)
		ports[k] = plans->plan[k].ifname;
	count = owner_find(NULL, ports, plans->count, found, ARRAY_SIZE(found));
	free(ports);
	for (unsigned int k = 0; k < count; k++)
		if (!owner_blocks(&found[k]))
			plan_warn_owner(&found[k]);
	while (i < count && (!owner_blocks(&found[i]) || (lldpad && owner_is_lldpad(&found[i]))))
		i++;
	return i < count ? owner_report(&found[i], e) : 0;
}

int cmd_plans_check_owner(const struct plans *plans, struct err *e)
{
	bool dcb = false;

	for (unsigned int i = 0; i < plans->count; i++) {
		const struct plan *p = &plans->plan[i];

		if (p->firmware_owned && p->count)
			return plan_err_firmware(p, e);
		for (unsigned int k = 0; k < p->count; k++)
			dcb |= !p->step[k].cannot && plan_is_dcb_field(p->step[k].field);
	}
	return dcb ? plan_check_host_owners(plans, e) : 0;
}
