/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the counters of a port: first all sources, into one name index per source, then the counter
 * table maps them to metrics. Delta, evidence texts and JSON are pure.
 *
 * IEEE_PFC of dcbnl has frame counters even if the driver never fills them. Zeros are therefore
 * used only if one of them is not zero, or if the driver has other counters by priority.
 */
#include "probe/host/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/rdma_nl.h"
#include "probe/host/counters_index.h"
#include "profiles/base/json.h"

/* Raw values of all sources. */
struct reading {
	struct dcb *dcb;
	const char *ifname;
	struct counters_index index[COUNTER_SOURCES]; /* ethtool, RDMA and IP are filled */
	bool pfc;
	uint64_t requests[QOS_PRIOS], indications[QOS_PRIOS];
};

static int counters_read_ethtool(struct reading *r)
{
	struct counters_index *index = &r->index[COUNTER_ETHTOOL];
	char(*names)[32];
	uint64_t *values;
	unsigned int n;
	int err;

	if (dcb_ethtool_stats(r->dcb, r->ifname, &names, &values, &n, NULL))
		return 0; /* a driver without statistics: its metrics stay absent */
	err = counters_index_init(index, n);
	for (unsigned int i = 0; !err && i < n; i++)
		counters_index_add(index, names[i], sizeof(names[i]), values[i]);
	free(names);
	free(values);
	return err;
}

static int counters_read_rdma(struct reading *r, const char *ibdev, unsigned int ib_port)
{
	struct counters_index *index = &r->index[COUNTER_RDMA];
	struct rdma_stat *stats;
	unsigned int n;
	int err;

	if (!ibdev || !ibdev[0])
		return 0;
	if (rdma_stats(r->dcb, ibdev, ib_port, &stats, &n, NULL))
		return 0; /* as above */
	err = counters_index_init(index, n);
	for (unsigned int i = 0; !err && i < n; i++)
		counters_index_add(index, stats[i].name, sizeof(stats[i].name), stats[i].value);
	free(stats);
	return err;
}

static bool counters_any_nonzero(const uint64_t values[QOS_PRIOS])
{
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (values[prio])
			return true;
	return false;
}

static bool counters_are_by_prio(const struct counters_index *ethtool)
{
	uint64_t value;

	for (unsigned int i = 0; i < counter_def_count; i++) {
		const struct counter_def *def = &counter_defs[i];

		if (def->source != COUNTER_ETHTOOL || !metric_table[def->metric].by_prio)
			continue;
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			if (counters_index_get(ethtool, def->name, prio, &value))
				return true;
	}
	return false;
}

static void counters_read_dcbnl(struct reading *r)
{
	if (dcb_pfc_counters(r->dcb, r->ifname, r->requests, r->indications, NULL))
		return;
	r->pfc = counters_any_nonzero(r->requests) || counters_any_nonzero(r->indications) ||
		 counters_are_by_prio(&r->index[COUNTER_ETHTOOL]);
}

static bool counters_get_netdev(const struct reading *r, const char *name, uint64_t *value)
{
	char path[96], text[32], *end;

	snprintf(path, sizeof(path), "class/net/%s/%s", r->ifname, name);
	if (!r->ifname[0] || dcb_sysfs_read(r->dcb, path, text, sizeof(text)) < 0)
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && end != text;
}

static bool counters_get_pfc(const struct reading *r, enum metric m, unsigned int prio,
			     uint64_t *value)
{
	if (!r->pfc)
		return false;
	*value = m == METRIC_PFC_RX_FRAMES ? r->indications[prio] : r->requests[prio];
	return true;
}

/* Drops all ones and other values above 63 bits: registers that could not be read. */
static bool counters_get_value(const struct reading *r, const struct counter_def *def,
			       unsigned int prio, uint64_t *value)
{
	bool found;

	if (def->source == COUNTER_DCBNL)
		found = counters_get_pfc(r, def->metric, prio, value);
	else if (def->source == COUNTER_NETDEV)
		found = counters_get_netdev(r, def->name, value);
	else
		found = counters_index_get(&r->index[def->source], def->name, prio, value);
	if (!found || *value > INT64_MAX / def->multiplier)
		return false;
	*value *= def->multiplier;
	return true;
}

static void counters_fill_metric(const struct reading *r, unsigned int row, struct counters *c)
{
	const struct counter_def *def = &counter_defs[row];
	unsigned int prios = metric_table[def->metric].by_prio ? QOS_PRIOS : 1;

	if (c->has[def->metric])
		return;
	for (unsigned int prio = 0; prio < prios; prio++)
		if (counters_get_value(r, def, prio, &c->value[def->metric][prio]))
			c->has[def->metric] |= (uint8_t)(1u << prio);
	if (c->has[def->metric])
		c->def[def->metric] = (uint16_t)row;
}

static int counters_check_netdev(struct dcb *dcb, const char *ifname, struct err *e)
{
	char path[96], text[32];

	if (strlen(ifname) > 15 || strchr(ifname, '/'))
		return err_set(e, -ENODEV, "%s: no such network device", ifname);
	snprintf(path, sizeof(path), "class/net/%s/ifindex", ifname);
	if (ifname[0] && dcb_sysfs_read(dcb, path, text, sizeof(text)) < 0)
		return err_set(e, -ENODEV, "%s: no such network device", ifname);
	return 0;
}

void counters_clear(struct counters *c)
{
	memset(c, 0, sizeof(*c));
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		c->def[m] = COUNTER_NONE;
}

int counters_read(struct dcb *dcb, const char *ifname, const char *ibdev, unsigned int ib_port,
		  struct counters *c, struct err *e)
{
	struct reading *r;
	int err;

	err = counters_check_netdev(dcb, ifname, e);
	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return err_set(e, -ENOMEM, "%s: counters: out of memory", ifname);
	r->dcb = dcb;
	r->ifname = ifname;
	if (ifname[0])
		err = counters_read_ethtool(r);
	if (!err)
		err = counters_read_rdma(r, ibdev, ib_port);
	if (!err)
		err = counters_ip_read(dcb, &r->index[COUNTER_IP]);
	if (err) {
		err_sys(e, err, "%s: counters", ifname);
		goto out;
	}
	if (ifname[0])
		counters_read_dcbnl(r);
	counters_clear(c);
	for (unsigned int row = 0; row < counter_def_count; row++)
		counters_fill_metric(r, row, c);
	c->when_ns = monotonic_ns();
out:
	counters_index_clear(&r->index[COUNTER_ETHTOOL]);
	counters_index_clear(&r->index[COUNTER_RDMA]);
	counters_index_clear(&r->index[COUNTER_IP]);
	free(r);
	return err;
}

bool counters_has(const struct counters *c, enum metric m, unsigned int prio)
{
	return prio < QOS_PRIOS && (c->has[m] & (1u << prio));
}

void counters_delta(const struct counters *before, const struct counters *after,
		    struct counters *delta, uint8_t reset[METRIC_COUNT])
{
	struct counters d;

	counters_clear(&d);
	if (reset)
		memset(reset, 0, METRIC_COUNT);
	d.when_ns = after->when_ns > before->when_ns ? after->when_ns - before->when_ns : 0;
	for (unsigned int i = 0; i < METRIC_COUNT * QOS_PRIOS; i++) {
		enum metric m = i / QOS_PRIOS;
		unsigned int prio = i % QOS_PRIOS;
		uint8_t bit = (uint8_t)(1u << prio);

		/* If a source is missing in one reading, another source has other semantics. */
		if (!(before->has[m] & after->has[m] & bit) || before->def[m] != after->def[m])
			continue;
		if (after->value[m][prio] < before->value[m][prio]) {
			if (reset)
				reset[m] |= bit;
			continue;
		}
		d.has[m] |= bit;
		d.def[m] = after->def[m];
		d.value[m][prio] = after->value[m][prio] - before->value[m][prio];
	}
	*delta = d;
}

static const char *const source_words[] = {
	[COUNTER_DCBNL] = "dcbnl",   [COUNTER_ETHTOOL] = "ethtool", [COUNTER_RDMA] = "rdma",
	[COUNTER_NETDEV] = "netdev", [COUNTER_IP] = "ip",
};

/* Writes "ethtool rx_prio%u_pause": source and name of a row; prio >= 0 replaces "%u". */
static void counters_def_text(const struct counter_def *def, int prio, char *buf, size_t size)
{
	const char *mark = prio < 0 ? NULL : strstr(def->name, "%u");

	if (mark)
		snprintf(buf, size, "%s %.*s%d%s", source_words[def->source],
			 (int)(mark - def->name), def->name, prio, mark + 2);
	else
		snprintf(buf, size, "%s %s", source_words[def->source], def->name);
}

void counters_source_text(const struct counters *c, enum metric m, unsigned int prio, char *buf,
			  size_t size)
{
	if (c->def[m] >= counter_def_count)
		snprintf(buf, size, "unknown source");
	else if (counter_defs[c->def[m]].source == COUNTER_DCBNL)
		snprintf(buf, size, "dcbnl %s[%u]", counter_defs[c->def[m]].name, prio);
	else
		counters_def_text(&counter_defs[c->def[m]], (int)prio, buf, size);
}

/* JSON: one key a metric, null where it was not measured, and under "sources" the kernel's own name
 * of what was read. Reading is strict about types and ranges and lenient about keys and sources it
 * does not know: a newer writer has more of them. */

#define SOURCE_TEXT_MAX 256

static json_t *counters_metric_to_json(const struct counters *c, enum metric m)
{
	json_t *array;

	if (!c->has[m])
		return json_null();
	if (!metric_table[m].by_prio)
		return json_integer((json_int_t)c->value[m][0]);
	array = json_array();
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		array = json_list_add(array, counters_has(c, m, prio)
						     ? json_integer((json_int_t)c->value[m][prio])
						     : json_null());
	return array;
}

json_t *counters_to_json(const struct counters *c)
{
	json_t *json = json_object(), *sources = json_object();
	char text[SOURCE_TEXT_MAX];
	int err;

	err = json_object_set_new(json, "when_ns", json_integer((json_int_t)c->when_ns));
	for (unsigned int m = 0; !err && m < METRIC_COUNT; m++) {
		err = json_object_set_new(json, metric_table[m].name,
					  counters_metric_to_json(c, m));
		if (err || !c->has[m] || c->def[m] >= counter_def_count)
			continue;
		counters_def_text(&counter_defs[c->def[m]], -1, text, sizeof(text));
		err = json_object_set_new(sources, metric_table[m].name, json_string(text));
	}
	if (json_object_set_new(json, "sources", sources) || err) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int counters_parse_number(const json_t *json, const char *key, uint64_t *value,
				 struct err *e)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return err_set(e, -EINVAL, "%s: want a number from 0 to 2^63-1", key);
	*value = (uint64_t)json_integer_value(json);
	return 0;
}

/* Absent or null: not measured. */
static int counters_parse_metric(const json_t *json, enum metric m, struct counters *c,
				 struct err *e)
{
	const struct metric_info *info = &metric_table[m];
	int err = 0;

	if (!json || json_is_null(json))
		return 0;
	if (info->by_prio && json_array_size(json) != QOS_PRIOS)
		return err_set(e, -EINVAL, "%s: want null or %d numbers", info->name, QOS_PRIOS);
	for (unsigned int prio = 0; !err && prio < (info->by_prio ? QOS_PRIOS : 1); prio++) {
		const json_t *item = info->by_prio ? json_array_get(json, prio) : json;

		if (json_is_null(item))
			continue;
		err = counters_parse_number(item, info->name, &c->value[m][prio], e);
		c->has[m] |= (uint8_t)(1u << prio);
	}
	return err;
}

static uint16_t counters_def_find(enum metric m, const char *source)
{
	char text[SOURCE_TEXT_MAX];

	for (unsigned int row = 0; source && row < counter_def_count; row++) {
		if (counter_defs[row].metric != m)
			continue;
		counters_def_text(&counter_defs[row], -1, text, sizeof(text));
		if (!strcmp(text, source))
			return (uint16_t)row;
	}
	return COUNTER_NONE;
}

int counters_from_json(const json_t *json, struct counters *c, struct err *e)
{
	const json_t *sources = json_object_get(json, "sources");
	struct counters read;
	int err;

	counters_clear(&read);
	if (!json_is_object(json))
		return err_set(e, -EINVAL, "want an object");
	if (sources && !json_is_object(sources))
		return err_set(e, -EINVAL, "sources: want an object");
	err = counters_parse_number(json_object_get(json, "when_ns"), "when_ns", &read.when_ns, e);
	for (unsigned int m = 0; !err && m < METRIC_COUNT; m++) {
		const char *key = metric_table[m].name;

		err = counters_parse_metric(json_object_get(json, key), m, &read, e);
		if (!err && read.has[m])
			read.def[m] = counters_def_find(
				m, json_string_value(json_object_get(sources, key)));
	}
	if (!err)
		*c = read;
	return err;
}
