/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts ports into groups, and the ports of a group into camps of equal values. The largest camp is
 * the norm. Counters have no camps: a port is an outlier when it counts what most do not, or many
 * times the median. A value that was not read is unknown, and is compared with nothing.
 */
#include "reports/engine/survey_compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/findings.h"

#define CAMPS_MAX    16	    /* different values of one item; the last holds all others */
#define IDLE_BYTES   100000 /* per second: less has no main priority */
#define IDLE_PACKETS 100
#define SIDE_PERCENT 10	     /* of the bytes of a port */
#define BUSY_BYTES   1000000 /* per second: from this median on, volumes are compared */
#define VALUE_TEXT   512

/* One member with its evidence. */
struct survey_subject {
	const struct run *r;
	struct survey_member at;
	const struct port *port; /* NULL: the host */
	struct counters delta;	 /* when_ns 0: no two readings */
};

enum survey_reading {
	SURVEY_UNKNOWN, /* could not be read */
	SURVEY_ABSENT,	/* does not apply: not compared */
	SURVEY_KNOWN,
};

const struct snapshot *survey_snapshot(const struct run *r, unsigned int host)
{
	const struct run_host *h = &r->host[host];

	return h->has_after ? &h->after : h->has_before ? &h->before : NULL;
}

const struct port *survey_port(const struct run *r, struct survey_member m)
{
	return &survey_snapshot(r, m.host)->port[m.port];
}

const char *survey_port_name(const struct port *p)
{
	return p->netdev[0] ? p->netdev : p->ibdev;
}

bool survey_host_lost(const struct run_host *h)
{
	return !h->has_before || !h->has_after;
}

static int survey_add(struct survey_members *m, struct survey_member one)
{
	/* Doubles at each power of two. */
	if (!(m->count & (m->count - 1))) {
		struct survey_member *grown =
			realloc(m->list, (m->count ? 2 * m->count : 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		m->list = grown;
	}
	m->list[m->count++] = one;
	return 0;
}

/* Appends a zeroed element to a list of *count, which doubles at each power of two. */
static void *survey_grow(void *list, unsigned int *count, size_t size)
{
	void **at = list;
	char *grown = *at;

	if (!(*count & (*count - 1))) {
		grown = realloc(grown, (*count ? 2 * *count : 1) * size);
		if (!grown)
			return NULL;
		*at = grown;
	}
	memset(grown + *count * size, 0, size);
	return grown + (*count)++ * size;
}

static int survey_port_order(const void *a, const void *b)
{
	const struct port *left = *(const struct port *const *)a,
			  *right = *(const struct port *const *)b;
	int order = strverscmp(survey_port_name(left), survey_port_name(right));

	return order ? order : (left > right) - (left < right);
}

int survey_sort_ports(const struct snapshot *s, const struct port ***list, unsigned int *count)
{
	const struct port **ports = calloc(s->port_count + 1, sizeof(*ports));
	unsigned int n = 0;

	if (!ports)
		return -ENOMEM;
	for (unsigned int i = 0; i < s->port_count; i++)
		if (port_is_roce(&s->port[i]))
			ports[n++] = &s->port[i];
	qsort(ports, n, sizeof(*ports), survey_port_order);
	*list = ports;
	*count = n < SURVEY_PORTS_MAX ? n : SURVEY_PORTS_MAX;
	return 0;
}

static enum survey_reading survey_read_ports(const struct survey_subject *s, char *text,
					     size_t size)
{
	const struct snapshot *snap = survey_snapshot(s->r, s->at.host);
	unsigned int n = 0;

	for (unsigned int i = 0; i < snap->port_count; i++)
		n += port_is_roce(&snap->port[i]);
	snprintf(text, size, "%u", n);
	return SURVEY_KNOWN;
}

static enum survey_reading survey_read_link(const struct survey_subject *s, char *text, size_t size)
{
	snprintf(text, size, "%s",
		 !s->port->up	      ? "down"
		 : s->port->ib_active ? "up"
				      : "up, but the RDMA port is not active");
	return SURVEY_KNOWN;
}

static enum survey_reading survey_read_speed(const struct survey_subject *s, char *text,
					     size_t size)
{
	snprintf(text, size, "%g Gb/s", s->port->speed_mbps / 1e3);
	if (s->port->speed_mbps)
		return SURVEY_KNOWN;
	return s->port->up ? SURVEY_UNKNOWN : SURVEY_ABSENT; /* of a link that is down */
}

static enum survey_reading survey_read_text(const char *value, char *text, size_t size)
{
	snprintf(text, size, "%s", value);
	return *value ? SURVEY_KNOWN : SURVEY_UNKNOWN;
}

static enum survey_reading survey_read_firmware(const struct survey_subject *s, char *text,
						size_t size)
{
	return survey_read_text(s->port->firmware, text, size);
}

static enum survey_reading survey_read_driver(const struct survey_subject *s, char *text,
					      size_t size)
{
	return survey_read_text(s->port->driver_version, text, size);
}

/* The index that applications such as NCCL are given. */
static enum survey_reading survey_read_gid_index(const struct survey_subject *s, char *text,
						 size_t size)
{
	const struct gid *g = port_gid(s->port, "");

	if (g)
		snprintf(text, size, "%u", g->index);
	else
		snprintf(text, size, "no RoCE v2 GID");
	return SURVEY_KNOWN;
}

/* Types of the GIDs of the port, "v1 v2-ipv4 v2-ipv6". */
static enum survey_reading survey_read_gid_types(const struct survey_subject *s, char *text,
						 size_t size)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool v1 = false, v4 = false, v6 = false;

	for (unsigned int i = 0; i < s->port->gid_count; i++) {
		const struct gid *g = &s->port->gid[i];
		bool ipv4 = !memcmp(g->raw, mapped, sizeof(mapped));

		v1 = v1 || g->type == GID_ROCE_V1;
		v4 = v4 || (g->type == GID_ROCE_V2 && ipv4);
		v6 = v6 || (g->type == GID_ROCE_V2 && !ipv4);
	}
	snprintf(text, size, "%s%s%s%s", v1 || v4 || v6 ? "" : " none", v1 ? " v1" : "",
		 v4 ? " v2-ipv4" : "", v6 ? " v2-ipv6" : "");
	memmove(text, text + 1, strlen(text));
	return SURVEY_KNOWN;
}

/* Per second; the subject has two readings. */
static double survey_rate(const struct survey_subject *s, enum metric m, unsigned int prio)
{
	return (double)s->delta.value[m][prio] / ((double)s->delta.when_ns / 1e9);
}

/* The metric by priority that counts the traffic of a port: bytes, else packets. */
static enum metric survey_traffic(const struct counters *d, bool sent)
{
	if (d->has[sent ? METRIC_PRIO_TX_BYTES : METRIC_PRIO_RX_BYTES])
		return sent ? METRIC_PRIO_TX_BYTES : METRIC_PRIO_RX_BYTES;
	return sent ? METRIC_PRIO_TX_PACKETS : METRIC_PRIO_RX_PACKETS;
}

static unsigned int survey_main_prio(const struct counters *d, bool sent)
{
	return index_of_largest(d->value[survey_traffic(d, sent)], QOS_PRIOS, QOS_PRIOS);
}

static enum survey_reading survey_read_prio(const struct survey_subject *s, bool sent, char *text,
					    size_t size)
{
	enum metric m = survey_traffic(&s->delta, sent);
	double enough = strcmp(metric_table[m].unit, "bytes") ? IDLE_PACKETS : IDLE_BYTES, sum = 0;

	if (!s->delta.when_ns || !s->delta.has[m])
		return SURVEY_UNKNOWN;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		sum += survey_rate(s, m, prio);
	snprintf(text, size, "%u", survey_main_prio(&s->delta, sent));
	return sum >= enough ? SURVEY_KNOWN : SURVEY_ABSENT;
}

static enum survey_reading survey_read_tx_prio(const struct survey_subject *s, char *text,
					       size_t size)
{
	return survey_read_prio(s, true, text, size);
}

static enum survey_reading survey_read_rx_prio(const struct survey_subject *s, char *text,
					       size_t size)
{
	return survey_read_prio(s, false, text, size);
}

/* What is compared besides the settings of struct qos. The first rows are the worst. Rows of
 * SURVEY_LEVELS are names for survey_compare_side(). */
static const struct survey_item {
	const char *name, *text;
	enum survey_level level;
	enum survey_reading (*read)(const struct survey_subject *s, char *text, size_t size);
} survey_items[] = {
	{"roce_ports", "number of RoCE ports", SURVEY_HOSTS, survey_read_ports},
	{"link", "link", SURVEY_DRIVER, survey_read_link},
	{"link_speed", "link speed", SURVEY_DRIVER, survey_read_speed},
	{"tx_prio", "main priority sent", SURVEY_SPEED, survey_read_tx_prio},
	{"rx_prio", "main priority received", SURVEY_SPEED, survey_read_rx_prio},
	{"tx_side", "bytes sent beside the main priority", SURVEY_LEVELS, NULL},
	{"rx_side", "bytes received beside the main priority", SURVEY_LEVELS, NULL},
	{"firmware", "firmware", SURVEY_SPEED, survey_read_firmware},
	{"driver_version", "driver version", SURVEY_SPEED, survey_read_driver},
	{"gid_index", "GID index of RoCE v2", SURVEY_SPEED, survey_read_gid_index},
	{"gid_types", "GID types", SURVEY_SPEED, survey_read_gid_types},
};

const char *survey_item_text(const char *item)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(survey_items); i++)
		if (!strcmp(survey_items[i].name, item))
			return survey_items[i].text;
	return item;
}

/* One group while it is compared. */
struct survey_work {
	struct survey *s;
	unsigned int group;
	struct survey_subject *subject; /* of each member */
	unsigned int count;
	double *rate; /* room for one per member */
};

/* Members with equal values, by their places in the group. */
struct survey_camp {
	unsigned int first, count;
};

static int survey_note_unknown(struct survey_work *w, const char *item,
			       const struct survey_members *members)
{
	struct survey_unknown *u = NULL;
	const char **name;

	for (unsigned int i = 0; i < w->s->unknown_count && !u; i++) {
		struct survey_unknown *other = &w->s->unknown[i];

		if (other->group == w->group && other->members.count == members->count &&
		    !memcmp(other->members.list, members->list,
			    members->count * sizeof(*members->list)))
			u = other;
	}
	if (!u) {
		u = survey_grow(&w->s->unknown, &w->s->unknown_count, sizeof(*u));
		if (!u)
			return -ENOMEM;
		u->group = w->group;
		for (unsigned int i = 0; i < members->count; i++)
			if (survey_add(&u->members, members->list[i]))
				return -ENOMEM;
	}
	name = survey_grow(&u->item, &u->item_count, sizeof(*u->item));
	if (!name)
		return -ENOMEM;
	*name = item;
	return 0;
}

static struct survey_outlier *survey_add_outlier(struct survey_work *w, const char *item,
						 const char *value, const char *norm)
{
	struct survey_outlier *o = survey_grow(&w->s->outlier, &w->s->outlier_count, sizeof(*o));

	if (!o)
		return NULL;
	o->group = w->group;
	o->item = item;
	o->prio = -1;
	o->value = strdup(value);
	o->norm = norm ? strdup(norm) : NULL;
	return o->value && (!norm || o->norm) ? o : NULL;
}

/* The item of one comparison: a row of survey_items[], or a field of struct qos. */
struct survey_what {
	const struct survey_item *item; /* NULL: the field */
	enum qos_field_id field;
};

static enum survey_reading survey_read(const struct survey_work *w, struct survey_what what,
				       unsigned int i, char *text, size_t size)
{
	const struct survey_subject *s = &w->subject[i];

	if (what.item)
		return what.item->read(s, text, size);
	return qos_has(&s->port->qos, what.field) ? SURVEY_KNOWN : SURVEY_UNKNOWN;
}

static bool survey_equal(const struct survey_work *w, struct survey_what what, const char *text,
			 unsigned int i, unsigned int other)
{
	char its[VALUE_TEXT];

	if (!what.item)
		return qos_field_equal(&w->subject[i].port->qos, &w->subject[other].port->qos,
				       what.field);
	survey_read(w, what, other, its, sizeof(its));
	return !strcmp(text, its);
}

/* Text of a camp's value; of a DSCP map only what differs from the other camp's. */
static void survey_value(const struct survey_work *w, struct survey_what what, unsigned int i,
			 unsigned int other, char text[VALUE_TEXT])
{
	struct qos its, others;

	if (what.item) {
		survey_read(w, what, i, text, VALUE_TEXT);
		return;
	}
	its = w->subject[i].port->qos;
	others = w->subject[other].port->qos;
	if (what.field == QOS_DSCP_PRIO)
		qos_keep_differing_dscps(&its, &others);
	qos_field_text(&its, what.field, text, VALUE_TEXT);
}

/* Reports each camp but the largest; all of them when two are the largest. */
static int survey_report_camps(struct survey_work *w, struct survey_what what,
			       const unsigned int *camp_of, const struct survey_camp *camp,
			       unsigned int camps)
{
	unsigned int best = 0;
	bool tie = false;

	for (unsigned int c = 1; c < camps; c++) {
		tie = camp[c].count == camp[best].count ||
		      (tie && camp[c].count < camp[best].count);
		best = camp[c].count > camp[best].count ? c : best;
	}
	if (!what.item && camps && !tie)
		qos_copy_field(&w->s->group[w->group].norm, &w->subject[camp[best].first].port->qos,
			       what.field);
	if (what.item && what.item->read == survey_read_tx_prio && camps && !tie)
		w->s->group[w->group].tx_prio =
			(int)survey_main_prio(&w->subject[camp[best].first].delta, true);
	for (unsigned int c = 0; camps > 1 && c < camps; c++) {
		unsigned int other = c == best ? !best : best;
		char value[VALUE_TEXT], norm[VALUE_TEXT];
		struct survey_outlier *o;

		if (c == best && !tie)
			continue;
		survey_value(w, what, camp[c].first, camp[other].first, value);
		survey_value(w, what, camp[best].first, camp[c].first, norm);
		o = survey_add_outlier(w, what.item ? what.item->name : qos_fields[what.field].key,
				       c == CAMPS_MAX - 1 ? "other values" : value,
				       tie ? NULL : norm);
		if (!o)
			return -ENOMEM;
		o->tie = tie;
		o->norm_count = tie ? 0 : camp[best].count;
		for (unsigned int i = 0; i < w->count; i++)
			if (camp_of[i] == c && survey_add(&o->members, w->subject[i].at))
				return -ENOMEM;
	}
	return 0;
}

static int survey_compare(struct survey_work *w, struct survey_what what)
{
	struct survey_camp camp[CAMPS_MAX] = {{.count = 0}};
	struct survey_members unknown = {.list = NULL};
	unsigned int camps = 0, *camp_of = calloc(w->count, sizeof(*camp_of));
	int err = camp_of ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < w->count; i++) {
		char text[VALUE_TEXT] = "";
		enum survey_reading how = survey_read(w, what, i, text, sizeof(text));
		unsigned int c = 0;

		camp_of[i] = CAMPS_MAX;
		if (how == SURVEY_UNKNOWN)
			err = survey_add(&unknown, w->subject[i].at);
		if (how != SURVEY_KNOWN)
			continue;
		while (c < camps && c < CAMPS_MAX - 1 &&
		       !survey_equal(w, what, text, i, camp[c].first))
			c++;
		if (!camp[c].count)
			camp[camps++].first = i;
		camp[c].count++;
		camp_of[i] = c;
	}
	if (!err)
		err = survey_report_camps(w, what, camp_of, camp, camps);
	if (!err && unknown.count)
		err = survey_note_unknown(
			w, what.item ? what.item->name : qos_fields[what.field].key, &unknown);
	free(unknown.list);
	free(camp_of);
	return err;
}

static bool survey_counts(const struct survey_subject *s, enum metric m, unsigned int prio)
{
	return s->delta.when_ns && counters_has(&s->delta, m, prio);
}

static int survey_rate_order(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static bool survey_exceeds(const struct survey_subject *s, enum metric m, unsigned int prio,
			   double limit)
{
	return s->delta.value[m][prio] && survey_rate(s, m, prio) >= limit;
}

/* Reports members from this rate on; with limit 0 those that count at all. */
static int survey_report_counter(struct survey_work *w, enum metric m, unsigned int prio,
				 double median, double limit)
{
	char value[VALUE_TEXT], norm[VALUE_TEXT] = "none";
	uint64_t low = UINT64_MAX, high = 0;
	struct survey_outlier *o;

	for (unsigned int i = 0; i < w->count; i++) {
		uint64_t its = w->subject[i].delta.value[m][prio];

		if (!survey_counts(&w->subject[i], m, prio) ||
		    !survey_exceeds(&w->subject[i], m, prio, limit))
			continue;
		low = its < low ? its : low;
		high = larger(high, its);
	}
	if (!high)
		return 0;
	if (low == high)
		snprintf(value, sizeof(value), "%llu %s", (count_t)low, metric_table[m].unit);
	else
		snprintf(value, sizeof(value), "%llu to %llu %s", (count_t)low, (count_t)high,
			 metric_table[m].unit);
	if (limit > 0)
		snprintf(norm, sizeof(norm), "median %.3g %s/s", median, metric_table[m].unit);
	o = survey_add_outlier(w, metric_table[m].name, value, norm);
	if (!o)
		return -ENOMEM;
	o->counter = true;
	o->low = low;
	o->high = high;
	o->prio = metric_table[m].by_prio ? (int)prio : -1;
	for (unsigned int i = 0; i < w->count; i++) {
		if (!survey_counts(&w->subject[i], m, prio))
			continue;
		if (!survey_exceeds(&w->subject[i], m, prio, limit))
			o->norm_count++;
		else if (survey_add(&o->members, w->subject[i].at))
			return -ENOMEM;
	}
	return 0;
}

/* Traffic differs from job to job: its volume is compared where most ports are busy. */
static int survey_compare_counter(struct survey_work *w, enum metric m, unsigned int prio)
{
	bool volume = metric_table[m].class == CLASS_VOLUME;
	unsigned int known = 0, none = 0;
	struct survey_common *common;
	double median;

	for (unsigned int i = 0; i < w->count; i++) {
		if (!survey_counts(&w->subject[i], m, prio))
			continue;
		w->rate[known] = survey_rate(&w->subject[i], m, prio);
		none += w->rate[known++] <= 0;
	}
	if (known < 2)
		return 0;
	qsort(w->rate, known, sizeof(*w->rate), survey_rate_order);
	median = w->rate[known / 2];
	if (volume)
		return median < BUSY_BYTES || strcmp(metric_table[m].unit, "bytes")
			       ? 0
			       : survey_report_counter(w, m, prio, median, median * SURVEY_RATIO);
	if (2 * none >= known)
		return survey_report_counter(w, m, prio, 0, 0);
	common = survey_grow(&w->s->common, &w->s->common_count, sizeof(*common));
	if (!common)
		return -ENOMEM;
	*common = (struct survey_common){
		.group = w->group,
		.metric = m,
		.prio = metric_table[m].by_prio ? (int)prio : -1,
		.median = median,
	};
	return survey_report_counter(w, m, prio, median, median * SURVEY_RATIO);
}

/* Pauses are counted as frames, as times and as a duration: one of them says it. */
static bool survey_is_repeated(const struct survey_work *w, enum metric m)
{
	const uint8_t *has = w->subject[0].delta.has;

	return ((m == METRIC_PFC_RX_PAUSE_US || m == METRIC_PFC_RX_TIMES) &&
		has[METRIC_PFC_RX_FRAMES]) ||
	       (m == METRIC_PFC_TX_PAUSE_US && has[METRIC_PFC_TX_FRAMES]);
}

/* Percent of a port's bytes that are of this priority; -1 for an idle port. */
static double survey_share(const struct survey_subject *s, bool sent, unsigned int prio)
{
	enum metric m = survey_traffic(&s->delta, sent);
	char text[VALUE_TEXT];
	double sum = 0;

	if (survey_read_prio(s, sent, text, sizeof(text)) != SURVEY_KNOWN)
		return -1;
	for (unsigned int i = 0; i < QOS_PRIOS; i++)
		sum += (double)s->delta.value[m][i];
	return (double)s->delta.value[m][prio] * 100 / sum;
}

/* A part of the bytes, such as those of one job, can be of a priority that most do not use. Reports
 * ports for which it is not the main one. */
static int survey_compare_side(struct survey_work *w, bool sent, unsigned int prio)
{
	unsigned int users = 0, busy = 0;
	struct survey_members odd = {.list = NULL};
	double low = 100, high = 0;
	struct survey_outlier *o;
	char value[32], norm[32];
	int err = 0;

	for (unsigned int i = 0; i < w->count && !err; i++) {
		double share = survey_share(&w->subject[i], sent, prio);

		busy += share >= 0;
		users += share >= SIDE_PERCENT;
		if (share < SIDE_PERCENT || survey_main_prio(&w->subject[i].delta, sent) == prio)
			continue;
		low = share < low ? share : low;
		high = share > high ? share : high;
		err = survey_add(&odd, w->subject[i].at);
	}
	if (err || !odd.count || 2 * users >= busy) {
		free(odd.list);
		return err;
	}
	snprintf(value, sizeof(value), "%.0f to %.0f %%", low, high);
	if (odd.count == 1)
		snprintf(value, sizeof(value), "%.0f %%", low);
	snprintf(norm, sizeof(norm), "less than %d %%", SIDE_PERCENT);
	o = survey_add_outlier(w, sent ? "tx_side" : "rx_side", value, norm);
	if (!o) {
		free(odd.list);
		return -ENOMEM;
	}
	o->members = odd;
	o->prio = (int)prio;
	o->norm_count = busy - users;
	return 0;
}

/* Counters that mean the same for a reader: unknown when none of them can be read. */
static const struct survey_subject_of_counters {
	const char *name;
	unsigned int classes; /* 1 << enum metric_class */
} survey_counters[] = {
	{"pauses", 1u << CLASS_PAUSE},
	{"drops", 1u << CLASS_HOST_DISCARD | 1u << CLASS_HOST_SEND},
	{"retransmissions",
	 1u << CLASS_RETRANSMIT | 1u << CLASS_TIMEOUT | 1u << CLASS_LOSS_REQUEST},
	{"cnps", 1u << CLASS_CNP},
};

static bool survey_counts_any(const struct survey_subject *s, unsigned int classes)
{
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		if (classes >> metric_table[m].class & 1 && s->delta.when_ns && s->delta.has[m])
			return true;
	return false;
}

static int survey_compare_counters(struct survey_work *w)
{
	int err = 0;

	for (unsigned int prio = 0; prio < 2 * QOS_PRIOS && !err; prio++)
		err = survey_compare_side(w, prio < QOS_PRIOS, prio % QOS_PRIOS);
	for (unsigned int m = 0; m < METRIC_COUNT && !err; m++)
		for (unsigned int prio = 0; !err && prio < (metric_table[m].by_prio ? 8u : 1u);
		     prio++)
			if (!survey_is_repeated(w, m))
				err = survey_compare_counter(w, m, prio);
	for (unsigned int c = 0; c < ARRAY_SIZE(survey_counters) && !err; c++) {
		struct survey_members unknown = {.list = NULL};

		for (unsigned int i = 0; i < w->count && !err; i++)
			if (!survey_counts_any(&w->subject[i], survey_counters[c].classes))
				err = survey_add(&unknown, w->subject[i].at);
		if (!err && unknown.count)
			err = survey_note_unknown(w, survey_counters[c].name, &unknown);
		free(unknown.list);
	}
	return err;
}

static void survey_set_subject(const struct run *r, struct survey_member at,
			       struct survey_subject *s)
{
	const struct run_host *h = &r->host[at.host];
	const struct port *before;

	s->r = r;
	s->at = at;
	if (at.port == SURVEY_HOST)
		return;
	s->port = survey_port(r, at);
	before = survey_host_lost(h) ? NULL : snapshot_port(&h->before, survey_port_name(s->port));
	if (before)
		counters_delta(&before->counters, &s->port->counters, &s->delta, NULL);
}

static int survey_compare_group(const struct run *r, struct survey *s, unsigned int group)
{
	const struct survey_group *g = &s->group[group];
	struct survey_work w = {.s = s, .group = group, .count = g->members.count};
	int err = 0;

	w.subject = calloc(w.count, sizeof(*w.subject));
	w.rate = calloc(w.count, sizeof(*w.rate));
	if (!w.subject || !w.rate)
		err = -ENOMEM;
	for (unsigned int i = 0; !err && i < w.count; i++)
		survey_set_subject(r, g->members.list[i], &w.subject[i]);
	for (unsigned int i = 0; !err && i < ARRAY_SIZE(survey_items); i++)
		if (survey_items[i].level == g->level)
			err = survey_compare(&w, (struct survey_what){.item = &survey_items[i]});
	for (int id = 0; !err && g->level == SURVEY_SPEED && id < QOS_FIELD_COUNT; id++)
		err = survey_compare(&w, (struct survey_what){.field = id});
	if (!err && g->level == SURVEY_SPEED)
		err = survey_compare_counters(&w);
	free(w.rate);
	free(w.subject);
	return err;
}

static const char *survey_driver(const struct port *p)
{
	return p->driver[0] ? p->driver : p->rdma_driver;
}

static bool survey_belongs(const struct survey_group *g, enum survey_level level,
			   const struct port *p, unsigned int rail)
{
	if (g->level != level || level == SURVEY_HOSTS)
		return g->level == level;
	return g->rail == rail && g->port->kind == p->kind &&
	       !strcmp(survey_driver(g->port), survey_driver(p)) &&
	       (level == SURVEY_DRIVER || g->port->speed_mbps == p->speed_mbps);
}

static int survey_sort_member(struct survey *s, enum survey_level level, const struct port *p,
			      unsigned int rail, struct survey_member at)
{
	struct survey_group *g = NULL;

	for (unsigned int i = 0; i < s->group_count && !g; i++)
		if (survey_belongs(&s->group[i], level, p, rail))
			g = &s->group[i];
	if (!g) {
		g = survey_grow(&s->group, &s->group_count, sizeof(*g));
		if (!g)
			return -ENOMEM;
		*g = (struct survey_group){.level = level, .port = p, .rail = rail, .tx_prio = -1};
	}
	return survey_add(&g->members, at);
}

static int survey_sort_host(const struct run *r, struct survey *s, unsigned int host)
{
	const struct snapshot *snap = survey_snapshot(r, host);
	const struct port **ports = NULL;
	unsigned int count;
	int err = survey_sort_member(s, SURVEY_HOSTS, NULL, 0,
				     (struct survey_member){host, SURVEY_HOST});

	s->answered++;
	s->unprivileged += !snap->privileged;
	if (!err)
		err = survey_sort_ports(snap, &ports, &count);
	for (unsigned int rail = 0; !err && rail < count; rail++) {
		struct survey_member at = {host, (unsigned int)(ports[rail] - snap->port)};

		s->port_count++;
		for (int level = SURVEY_DRIVER; !err && level < SURVEY_LEVELS; level++)
			err = survey_sort_member(s, level, ports[rail], rail, at);
	}
	free(ports);
	return err;
}

int survey_make(const struct run *r, struct survey *s)
{
	int err = 0;

	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; !err && i < r->host_count; i++) {
		s->lost += survey_host_lost(&r->host[i]);
		if (survey_snapshot(r, i))
			err = survey_sort_host(r, s, i);
	}
	for (unsigned int g = 0; !err && g < s->group_count; g++) {
		s->compared = s->compared ||
			      (s->group[g].level == SURVEY_SPEED && s->group[g].members.count > 1);
		err = survey_compare_group(r, s, g);
	}
	return err;
}

void survey_clear(struct survey *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->group_count; i++)
		free(s->group[i].members.list);
	for (unsigned int i = 0; i < s->outlier_count; i++) {
		free(s->outlier[i].members.list);
		free(s->outlier[i].value);
		free(s->outlier[i].norm);
	}
	for (unsigned int i = 0; i < s->unknown_count; i++) {
		free(s->unknown[i].members.list);
		free(s->unknown[i].item);
	}
	free(s->group);
	free(s->outlier);
	free(s->unknown);
	free(s->common);
	memset(s, 0, sizeof(*s));
}
