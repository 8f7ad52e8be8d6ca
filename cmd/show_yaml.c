/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the field table as nested keys, then runs the checks of profiles on the result. Settings
 * that a profile must not have are printed as they are; the findings are comments above them.
 */
#include "cmd/show_yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/profile.h"

#define NAME_MAX_LEN 63

/* Returns true for a known setting that a profile can state. */
static bool yaml_is_settable(const struct qos *q, enum qos_field_id id)
{
	return qos_has(q, id) && !qos_fields[id].read_only;
}

static int yaml_check_equal(const struct snapshot *s, struct err *e)
{
	char list[ERR_TEXT_MAX / 2] = "";
	size_t used = 0;

	for (int id = 0; id < QOS_FIELD_COUNT && used < sizeof(list); id++)
		for (unsigned int i = 1; i < s->port_count; i++) {
			const struct qos *a = &s->port[0].qos, *b = &s->port[i].qos;

			if (!yaml_is_settable(a, id) || !yaml_is_settable(b, id) ||
			    qos_field_equal(a, b, id))
				continue;
			used += snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
					 qos_fields[id].key);
			break;
		}
	if (!used)
		return 0;
	err_set(e, -ENOTUNIQ, "the ports differ in %s", list);
	err_hint(e, "select one port: rocecheck show --yaml -i %s", s->port[0].netdev);
	return -ENOTUNIQ;
}

/* Clears shares of classes other than ets: they have no effect, and RC-INP-031 warns about them. */
static void yaml_drop_idle_shares(struct qos *q)
{
	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		if (qos_has(q, QOS_TC_TSA) && q->tc_tsa[tc] != QOS_TSA_ETS)
			q->tc_tx_bw[tc] = 0;
}

/* Makes a profile of the settings that can be set. */
static void yaml_make_profile(const char *name, const struct qos *q, struct profile *p)
{
	memset(p, 0, sizeof(*p));
	p->qos = *q;
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (!yaml_is_settable(&p->qos, id))
			p->qos.has &= ~QOS_BIT(id);
	yaml_drop_idle_shares(&p->qos);
	p->intent = qos_has(&p->qos, QOS_PFC_ENABLED) && p->qos.pfc_enabled ? INTENT_LOSSLESS
									    : INTENT_LOSSY;
	snprintf(p->name, sizeof(p->name), "%s", name);
	for (char *c = p->name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *c))
			*c = '-';
}

static int yaml_print_diags(const struct profile *p, FILE *out)
{
	struct diags diags;
	int err;

	diags_init(&diags);
	err = profile_check(p, &diags);
	for (size_t i = 0; !err && i < diags.count; i++)
		fprintf(out, "# %s: %s\n", diags.list[i].rule, diags.list[i].text);
	diags_clear(&diags);
	return err;
}

static void yaml_print_unknown(const struct qos *q, FILE *out)
{
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char text[64];

		if (qos_fields[id].read_only && qos_has(q, id)) {
			qos_field_text(q, id, text, sizeof(text));
			fprintf(out, "# %s (read-only): %s\n", qos_fields[id].key, text);
		} else if (!qos_fields[id].read_only && !qos_has(q, id)) {
			fprintf(out, "# %s: unknown (not readable on this port)\n",
				qos_fields[id].key);
		}
	}
}

/* Values can be long: 56 parameters of congestion control are about 2 KiB. */
static int yaml_print_value(const struct qos *q, enum qos_field_id id, FILE *out)
{
	int size = qos_field_text(q, id, NULL, 0) + 1;
	char *text = malloc(size);

	if (!text)
		return -ENOMEM;
	qos_field_text(q, id, text, size);
	fprintf(out, "%s\n", text);
	free(text);
	return 0;
}

/* Prints the keys below a prefix ("congestion_control.np."), each level indented by two blanks. */
static int yaml_print_keys(const struct qos *q, const char *prefix, int depth, uint64_t *done,
			   FILE *out)
{
	size_t length = strlen(prefix);
	int err = 0;

	for (int id = 0; !err && id < QOS_FIELD_COUNT; id++) {
		const char *key = qos_fields[id].key, *dot;
		char deeper[64];

		if (!(q->has & ~*done & QOS_BIT(id)) || strncmp(key, prefix, length))
			continue;
		dot = strchr(key + length, '.');
		if (dot) {
			snprintf(deeper, sizeof(deeper), "%.*s", (int)(dot + 1 - key), key);
			fprintf(out, "%*s%.*s:\n", depth, "", (int)(dot - key - (int)length),
				key + length);
			if (!strcmp(deeper, "dcbx.") && qos_has(q, QOS_ADMIN_STATUS))
				fprintf(out, "%*sagent: lldpad\n", depth + 2, "");
			err = yaml_print_keys(q, deeper, depth + 2, done, out);
			continue;
		}
		*done |= QOS_BIT(id);
		fprintf(out, "%*s%s: ", depth, "", key + length);
		err = yaml_print_value(q, id, out);
	}
	return err;
}

int show_yaml_profile(const char *name, const struct qos *q, FILE *out, struct err *e)
{
	struct profile p;
	uint64_t done = 0;
	int err;

	yaml_make_profile(name, q, &p);
	err = yaml_print_diags(&p, out);
	if (err)
		return err_sys(e, err, "profile");
	fprintf(out, "schema: %s\nname: %s\nintent: %s\n", PROFILE_SCHEMA, p.name,
		profile_intent_word(p.intent));
	err = yaml_print_keys(&p.qos, "", 0, &done, out);
	return err ? err_sys(e, err, "profile") : 0;
}

int show_yaml(const struct snapshot *s, FILE *out, struct err *e)
{
	char name[NAME_MAX_LEN + 1];
	int err = yaml_check_equal(s, e);
	struct qos q;

	if (err)
		return err;
	q = s->port[0].qos;
	for (unsigned int i = 1; i < s->port_count; i++)
		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			if (!qos_fields[id].read_only && !qos_has(&s->port[i].qos, id))
				q.has &= ~QOS_BIT(id);
	snprintf(name, sizeof(name), "%.40s-%.*s", s->host[0] ? s->host : "host", NAME_MAX_LEN - 42,
		 s->port[0].netdev);
	fprintf(out, "# Current settings of");
	for (unsigned int i = 0; i < s->port_count; i++)
		fprintf(out, "%s %s", i ? "," : "", s->port[i].netdev);
	fprintf(out, " on %s, driver %s.\n", s->host,
		s->port[0].driver[0] ? s->port[0].driver : "unknown");
	err = show_yaml_profile(name, &q, out, e);
	if (!err)
		yaml_print_unknown(&q, out);
	return err;
}
