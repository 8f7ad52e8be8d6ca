/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counter increases of a port, and its JSON form. The baseline is scaled to the length of the load
 * and subtracted, so that another program's losses are not ours.
 */
#include "probe/record/run_port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/text.h"

static const char *const reading_keys[READ_COUNT] = {
	[READ_QUIET_BEFORE] = "idle_before",
	[READ_QUIET_AFTER] = "idle_after",
	[READ_LOAD_BEFORE] = "load_before",
	[READ_LOAD_AFTER] = "load_after",
};

void run_port_set_device(struct run_port *p, const struct port *port)
{
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", port ? port->ibdev : "");
	p->ib_port = port ? port->ib_port : 0;
	p->soft = port && port->kind == PORT_SOFT_ROCE;
	p->speed_mbps = port ? port->speed_mbps : 0;
}

void run_port_set_reading(struct run_port *p, enum run_reading which, const struct counters *c)
{
	p->reading[which] = *c;
	p->has |= 1u << which;
}

unsigned int run_port_settle_ms(const struct run_port *p)
{
	unsigned int longest = p->ibdev[0] && !p->soft ? COUNTERS_SETTLE_MS : 0;

	for (unsigned int r = 0; r < READ_COUNT; r++) {
		unsigned int ms = counters_settle_ms(&p->reading[r]);

		if (p->has & 1u << r && ms > longest)
			longest = ms;
	}
	return longest;
}

/* The process of a user's text "3 queue pairs of NAME (pid 7)": their number changes. */
static const char *run_port_owner(const char *user)
{
	const char *of = strstr(user, " of ");

	return of ? of : user;
}

/* False without room for one more. */
static bool run_port_add_user(struct run_port *p, const char *text)
{
	unsigned int i = 0;

	while (i < p->user_count && strcmp(run_port_owner(p->user[i]), run_port_owner(text)))
		i++;
	if (i == RUN_USERS_MAX)
		return false;
	if (i == p->user_count)
		p->user_count++;
	snprintf(p->user[i], sizeof(p->user[i]), "%s", text);
	return true;
}

int run_port_add_users(struct run_port *p, const json_t *users, struct err *e)
{
	size_t count = json_array_size(users), i = 0;
	unsigned int left = 0;

	while (i < count && json_is_string(json_array_get(users, i)))
		i++;
	if (!json_is_array(users) || i < count || count > UINT16_MAX)
		return err_set(e, -EINVAL, "'users': must be a list of texts");
	for (i = 0; i < count; i++)
		left += !run_port_add_user(p, json_string_value(json_array_get(users, i)));
	p->users_left = left > p->users_left ? left : p->users_left;
	return 0;
}

bool run_port_counts_loss(const struct run_port *p)
{
	const struct counters *c = &p->reading[READ_LOAD_BEFORE];

	return counters_has(c, METRIC_OUT_OF_SEQUENCE, 0) || counters_has(c, METRIC_SEQ_NAK_RX, 0);
}

bool run_port_delta(const struct run_port *p, enum run_reading first, struct counters *delta,
		    uint8_t reset[METRIC_COUNT])
{
	unsigned int both = 1u << first | 1u << (first + 1);

	if ((p->has & both) != both)
		return false;
	counters_delta(&p->reading[first], &p->reading[first + 1], delta, reset);
	return true;
}

/* Scales an increase in idle_ns to load_ns. */
static uint64_t run_port_expected(uint64_t growth, uint64_t idle_ns, uint64_t load_ns)
{
	unsigned __int128 scaled = (unsigned __int128)growth * load_ns;

	if (!idle_ns)
		return growth;
	scaled /= idle_ns;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

bool run_port_net(const struct run_port *p, struct counters *net)
{
	struct counters load, idle;

	if (!run_port_delta(p, READ_LOAD_BEFORE, &load, NULL))
		return false;
	*net = load;
	if (!run_port_delta(p, READ_QUIET_BEFORE, &idle, NULL))
		return true;
	for (unsigned int i = 0; i < METRIC_COUNT * QOS_PRIOS; i++) {
		enum metric m = i / QOS_PRIOS;
		unsigned int prio = i % QOS_PRIOS;
		uint64_t less;

		if (!counters_has(&load, m, prio) || !counters_has(&idle, m, prio))
			continue;
		less = run_port_expected(idle.value[m][prio], idle.when_ns, load.when_ns);
		net->value[m][prio] = load.value[m][prio] > less ? load.value[m][prio] - less : 0;
	}
	return true;
}

static json_t *run_port_users_to_json(const struct run_port *p)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < p->user_count + p->users_left; i++) {
		const char *text = i < p->user_count ? p->user[i] : "another one";

		if (json_array_append_new(list, text_to_json(text))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *run_port_to_json(const struct run_port *p, const char *host, const struct port *facts)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:I, s:o}", "host", host,
				 "netdev", p->netdev, "ibdev", p->ibdev, "ib_port", p->ib_port,
				 "driver", facts->driver, "rdma_driver", facts->rdma_driver, "soft",
				 p->soft, "speed_mbps", (json_int_t)p->speed_mbps, "users",
				 run_port_users_to_json(p));
	int err = json ? 0 : -ENOMEM;

	for (unsigned int r = 0; r < READ_COUNT && !err; r++) {
		if (p->has & 1u << r && reading_keys[r])
			err = json_object_set_new(json, reading_keys[r],
						  counters_to_json(&p->reading[r]));
	}
	if (err) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *run_port_number(const struct counters *c, bool has, enum metric m, unsigned int prio)
{
	if (!has || !counters_has(c, m, prio))
		return json_null();
	return json_integer((json_int_t)c->value[m][prio]);
}

json_t *run_port_growth_to_json(const struct run_port *p)
{
	struct counters idle, load;
	bool has_idle = run_port_delta(p, READ_QUIET_BEFORE, &idle, NULL);
	bool has_load = run_port_delta(p, READ_LOAD_BEFORE, &load, NULL);
	json_t *list = json_array();

	for (unsigned int i = 0; i < METRIC_COUNT * QOS_PRIOS; i++) {
		enum metric m = i / QOS_PRIOS;
		unsigned int prio = i % QOS_PRIOS;
		char source[96];
		json_t *one;

		if (!(has_load && counters_has(&load, m, prio)) &&
		    !(has_idle && counters_has(&idle, m, prio)))
			continue;
		counters_source_text(has_load && counters_has(&load, m, prio) ? &load : &idle, m,
				     prio, source, sizeof(source));
		one = json_pack("{s:s, s:s, s:o, s:o, s:o, s:s}", "metric", metric_table[m].name,
				"class", metric_class_word(metric_table[m].class), "prio",
				metric_table[m].by_prio ? json_integer(prio) : json_null(), "idle",
				run_port_number(&idle, has_idle, m, prio), "load",
				run_port_number(&load, has_load, m, prio), "source", source);
		if (json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
