/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deltas of an observation, and its JSON form. The baseline is scaled to the length of the load;
 * what it explains is taken out, so that another program's losses are not ours.
 */
#include "probe/record/observe.h"

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

void observe_port(struct observation *o, const char *host, const struct port *p)
{
	memset(o, 0, sizeof(*o));
	snprintf(o->host, sizeof(o->host), "%s", host);
	memcpy(o->netdev, p->netdev, sizeof(o->netdev));
	memcpy(o->ibdev, p->ibdev, sizeof(o->ibdev));
	memcpy(o->driver, p->driver, sizeof(o->driver));
	memcpy(o->rdma_driver, p->rdma_driver, sizeof(o->rdma_driver));
	o->ib_port = p->ib_port;
	o->soft = p->kind == PORT_SOFT_ROCE;
	o->speed_mbps = p->speed_mbps;
}

void observe_put(struct observation *o, enum run_reading which, const struct counters *c)
{
	o->reading[which] = *c;
	o->has |= 1u << which;
}

int observe_put_users(struct observation *o, const json_t *users, struct err *e)
{
	char user[OBSERVE_USERS_MAX][sizeof(o->user[0])] = {{0}};
	size_t count = json_array_size(users);

	if (!json_is_array(users) || count > UINT16_MAX)
		return err_set(e, -EINVAL, "'users': must be a list of texts");
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(users, i));

		if (!text)
			return err_set(e, -EINVAL, "'users': must be a list of texts");
		if (i < OBSERVE_USERS_MAX)
			snprintf(user[i], sizeof(user[i]), "%s", text);
	}
	o->user_count = (unsigned int)count;
	memcpy(o->user, user, sizeof(o->user));
	return 0;
}

bool observe_delta(const struct observation *o, enum run_reading first, struct counters *delta,
		   uint8_t reset[METRIC_COUNT])
{
	unsigned int both = 1u << first | 1u << (first + 1);

	if ((o->has & both) != both)
		return false;
	counters_delta(&o->reading[first], &o->reading[first + 1], delta, reset);
	return true;
}

/* Of a growth in idle_ns, what is to be expected in load_ns. */
static uint64_t expected(uint64_t growth, uint64_t idle_ns, uint64_t load_ns)
{
	unsigned __int128 scaled = (unsigned __int128)growth * load_ns;

	if (!idle_ns)
		return growth;
	scaled /= idle_ns;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

bool observe_net(const struct observation *o, struct counters *net)
{
	struct counters load, idle;

	if (!observe_delta(o, READ_LOAD_BEFORE, &load, NULL))
		return false;
	*net = load;
	if (!observe_delta(o, READ_QUIET_BEFORE, &idle, NULL))
		return true;
	for (unsigned int i = 0; i < METRIC_COUNT * QOS_PRIOS; i++) {
		enum metric m = i / QOS_PRIOS;
		unsigned int prio = i % QOS_PRIOS;
		uint64_t less;

		if (!counters_has(&load, m, prio) || !counters_has(&idle, m, prio))
			continue;
		less = expected(idle.value[m][prio], idle.when_ns, load.when_ns);
		net->value[m][prio] = load.value[m][prio] > less ? load.value[m][prio] - less : 0;
	}
	return true;
}

static json_t *users_to_json(const struct observation *o)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < o->user_count; i++) {
		const char *text = i < OBSERVE_USERS_MAX ? o->user[i] : "another one";

		if (json_array_append_new(list, text_to_json(text))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *observe_to_json(const struct observation *o)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:I, s:o}", "host", o->host,
				 "netdev", o->netdev, "ibdev", o->ibdev, "ib_port", o->ib_port,
				 "driver", o->driver, "rdma_driver", o->rdma_driver, "soft",
				 o->soft, "speed_mbps", (json_int_t)o->speed_mbps, "users",
				 users_to_json(o));
	int err = json ? 0 : -ENOMEM;

	for (unsigned int r = 0; r < READ_COUNT && !err; r++) {
		if (o->has & 1u << r)
			err = json_object_set_new(json, reading_keys[r],
						  counters_to_json(&o->reading[r]));
	}
	if (err) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *number_or_null(const struct counters *c, bool taken, enum metric m,
			      unsigned int prio)
{
	if (!taken || !counters_has(c, m, prio))
		return json_null();
	return json_integer((json_int_t)c->value[m][prio]);
}

json_t *observe_growth_to_json(const struct observation *o)
{
	struct counters idle, load;
	bool has_idle = observe_delta(o, READ_QUIET_BEFORE, &idle, NULL);
	bool has_load = observe_delta(o, READ_LOAD_BEFORE, &load, NULL);
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
				number_or_null(&idle, has_idle, m, prio), "load",
				number_or_null(&load, has_load, m, prio), "source", source);
		if (json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
