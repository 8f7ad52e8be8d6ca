/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills the environment from a table of variables. The traffic class is the whole ToS byte, DSCP <<
 * 2 with the ECN bits below (RFC 2474, RFC 3168 s5): these libraries pass it to verbs unchanged.
 * NCCL's
 * "=" requires exact device names: without it mlx5_1 also matches mlx5_10.
 */
#include "reports/rules/app_env.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "profiles/base/text.h"
#include "reports/engine/port_ctx.h"

#define PORTS_MAX 64

enum app_env_kind {
	WHAT_DEVICES, /* names */
	WHAT_PORTS,   /* names with the port: mlx5_0:1 */
	WHAT_TC,      /* ToS byte */
	WHAT_GID,     /* index of the RoCE v2 GID, the same on all */
	WHAT_SL,      /* service level: the priority, where the VLAN tag carries it */
	WHAT_ON,
};

static const struct row {
	const char *name;
	enum app_env_kind what;
	const char *prefix;
	char separator;
} rows[] = {
	{"NCCL_IB_HCA", WHAT_PORTS, "=", ','},
	{"NCCL_IB_GID_INDEX", WHAT_GID, "", 0},
	{"NCCL_IB_TC", WHAT_TC, "", 0},
	{"NCCL_IB_SL", WHAT_SL, "", 0},
	{"UCX_NET_DEVICES", WHAT_PORTS, "", ','},
	{"UCX_IB_GID_INDEX", WHAT_GID, "", 0},
	{"UCX_IB_TRAFFIC_CLASS", WHAT_TC, "", 0},
	{"UCX_IB_SL", WHAT_SL, "", 0},
	{"NVSHMEM_HCA_LIST", WHAT_PORTS, "", ','},
	{"NVSHMEM_IB_GID_INDEX", WHAT_GID, "", 0},
	{"NVSHMEM_IB_TRAFFIC_CLASS", WHAT_TC, "", 0},
	{"NVSHMEM_IB_SL", WHAT_SL, "", 0},
	{"FI_VERBS_GID_IDX", WHAT_GID, "", 0},
	{"MV2_USE_RoCE", WHAT_ON, "", 0},
	{"MV2_IBA_HCA", WHAT_DEVICES, "", ':'},
	{"MV2_DEFAULT_GID_INDEX", WHAT_GID, "", 0},
	{"MV2_DEFAULT_SERVICE_LEVEL", WHAT_SL, "", 0},
};
_Static_assert(ARRAY_SIZE(rows) <= APP_ENV_VARS_MAX, "room for every variable");

/* Values common to all ports. */
struct app_env_values {
	const struct port *port[PORTS_MAX];
	int gid_of[PORTS_MAX]; /* the index that RC-GID judges; -ENODATA: none */
	unsigned int count;
	int tos, sl; /* -ENODATA: unknown */
	int gid;     /* -ENODATA: none, or not one index for all */
	bool tos_differ;
};

static void env_note(struct app_env *env, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void env_note(struct app_env *env, const char *fmt, ...)
{
	va_list args;

	if (env->notes == APP_ENV_NOTES_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(env->note[env->notes++], sizeof(env->note[0]), fmt, args);
	va_end(args);
}

/* True for a name that is safe in a shell line. */
static bool env_is_plain(const char *name)
{
	return name[0] && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789_.-") == strlen(name);
}

/* Ports of a bond share its RDMA device. */
static bool env_is_listed(const struct app_env_values *f, const struct port *p)
{
	for (unsigned int i = 0; i < f->count; i++)
		if (!strcmp(f->port[i]->ibdev, p->ibdev) && f->port[i]->ib_port == p->ib_port)
			return true;
	return false;
}

static bool env_is_usable(const struct port_ctx *s, struct app_env *env)
{
	const struct port *p = s->port;

	if (!p || !p->ibdev[0] || !port_is_roce(p))
		return false;
	if (!env_is_plain(p->ibdev)) {
		env_note(env, "a device is left out: its name is not safe in a shell");
		return false;
	}
	if (p->up && p->ib_active)
		return true;
	env_note(env, "%s is left out: its link is not up", p->ibdev);
	return false;
}

/* Keeps the value of a port, and notes when two ports differ. */
static void env_agree(int *value, int one, bool first, bool *differ)
{
	*differ = *differ || (!first && *value != one);
	*value = one;
}

static int env_service_level(const struct port_ctx *s)
{
	const struct qos *q = qos_has(s->want, QOS_TRUST) ? s->want : &s->port->qos;

	return qos_has(q, QOS_TRUST) && q->trust == QOS_TRUST_PCP ? s->roce_prio : -ENODATA;
}

static void env_drop_differing(int *value, bool differ, const char *what, struct app_env *env)
{
	if (!differ)
		return;
	*value = -ENODATA;
	env_note(env, "%s is left out: it differs between the devices", what);
}

static void env_gather(const struct rule_context *c, struct app_env_values *f, struct app_env *env)
{
	bool sl_differ = false, gid_differ = false;
	struct port_walk walk = {.c = c};
	struct port_ctx s;

	while (f->count < PORTS_MAX && port_walk_next(&walk, &s)) {
		bool first = !f->count;
		const struct gid *gid;

		if (!env_is_usable(&s, env) || env_is_listed(f, s.port))
			continue;
		gid = port_ctx_gid(&s);
		f->gid_of[f->count] = gid ? gid->index : -ENODATA;
		env_agree(&f->tos, port_ctx_roce_tos(&s), first, &f->tos_differ);
		env_agree(&f->sl, env_service_level(&s), first, &sl_differ);
		env_agree(&f->gid, f->gid_of[f->count], first, &gid_differ);
		f->port[f->count++] = s.port;
	}
	env_drop_differing(&f->tos, f->tos_differ, "the traffic class", env);
	env_drop_differing(&f->sl, sl_differ, "the service level", env);
	env_drop_differing(&f->gid, gid_differ, "the GID index", env);
	if (gid_differ)
		for (unsigned int i = 0; i < f->count; i++)
			env_note(env, "RoCE v2 GID index of %s: %d", f->port[i]->ibdev,
				 f->gid_of[i]);
}

static void env_note_tos(const struct app_env_values *f, struct app_env *env)
{
	static const char *const ecn[] = {"", "ECT(1)", "ECT(0)", "CE"};

	if (f->tos >= 0 && f->tos & 3)
		env_note(env, "traffic class %d: DSCP %d x 4 + %s %d = %d", f->tos, f->tos >> 2,
			 ecn[f->tos & 3], f->tos & 3, f->tos);
	else if (f->tos >= 0)
		env_note(env,
			 "traffic class %d: DSCP %d x 4, no ECN bits: switches drop such packets "
			 "instead of marking them",
			 f->tos, f->tos >> 2);
	else if (f->count && !f->tos_differ)
		env_note(env,
			 "no traffic class: neither a profile nor rdma_cm states the DSCP of RoCE");
	for (unsigned int i = 0; i < f->count; i++)
		if (qos_has(&f->port[i]->qos, QOS_VERBS_TOS))
			env_note(env, "the driver of %s forces ToS %u on every connection",
				 f->port[i]->ibdev, f->port[i]->qos.verbs_tos);
}

static bool env_format_devices(const struct row *row, const struct app_env_values *f, char *buf,
			       size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "%s", row->prefix);

	for (unsigned int i = 0; i < f->count && used < size; i++) {
		const char between[] = {i ? row->separator : '\0', '\0'};

		if (row->what == WHAT_PORTS)
			used += (size_t)snprintf(buf + used, size - used, "%s%s:%u", between,
						 f->port[i]->ibdev, f->port[i]->ib_port);
		else
			used += (size_t)snprintf(buf + used, size - used, "%s%s", between,
						 f->port[i]->ibdev);
	}
	return used < size;
}

static bool env_format_value(const struct row *row, const struct app_env_values *f, char *buf,
			     size_t size)
{
	const int numbers[] = {
		[WHAT_TC] = f->tos, [WHAT_GID] = f->gid, [WHAT_SL] = f->sl, [WHAT_ON] = 1};

	if (row->what == WHAT_DEVICES || row->what == WHAT_PORTS)
		return env_format_devices(row, f, buf, size);
	return numbers[row->what] >= 0 && snprintf(buf, size, "%d", numbers[row->what]) > 0;
}

void app_env_make(const struct fabric *fabric, const struct run *run, struct app_env *env)
{
	const struct rule_context c = {.fabric = fabric, .run = run, .alone = true};
	struct app_env_values f = {.tos = -ENODATA, .sl = -ENODATA, .gid = -ENODATA};

	memset(env, 0, sizeof(*env));
	env_gather(&c, &f, env);
	env_note_tos(&f, env);
	if (!f.count)
		env_note(env, "no RoCE port is up: there is nothing to export");
	for (unsigned int i = 0; f.count && i < ARRAY_SIZE(rows); i++) {
		struct app_env_var *var = &env->var[env->count];

		var->name = rows[i].name;
		env->count += env_format_value(&rows[i], &f, var->value, sizeof(var->value));
	}
}

void app_env_class_text(int tos, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < ARRAY_SIZE(rows) && used < size; i++)
		if (rows[i].what == WHAT_TC)
			used += (size_t)snprintf(buf + used, size - used, "%s%s=%d",
						 used ? ", " : "", rows[i].name, tos);
}

/* Prints one word for sh, bash and zsh (which expands a leading "="). Quotes every character that
 * is not known to be harmless, even though app_env_make() filters: root runs the line with eval. */
static void env_print_word(const char *value, FILE *out)
{
	static const char harmless[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789_.:,-";

	if (value[0] && strspn(value, harmless) == strlen(value)) {
		fputs(value, out);
		return;
	}
	fputc('\'', out);
	for (; *value; value++) {
		if (*value == '\'')
			fputs("'\\'", out);
		fputc(*value, out);
	}
	fputc('\'', out);
}

void app_env_print(const struct app_env *env, FILE *out)
{
	for (unsigned int i = 0; i < env->notes; i++) {
		fputs("# ", out);
		text_print(out, env->note[i], TEXT_FIELD);
		fputc('\n', out);
	}
	for (unsigned int i = 0; i < env->count; i++) {
		fprintf(out, "export %s=", env->var[i].name);
		env_print_word(env->var[i].value, out);
		fputc('\n', out);
	}
}

json_t *app_env_json(const struct app_env *env)
{
	json_t *json = json_object();

	for (unsigned int i = 0; json && i < env->count; i++) {
		if (json_object_set_new(json, env->var[i].name, json_string(env->var[i].value))) {
			json_decref(json);
			return NULL;
		}
	}
	return json;
}
