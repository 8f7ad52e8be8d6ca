/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts ports into groups, and the ports of a group into camps of equal values. The largest camp is
 * the norm. A counter has two camps: ports that count what most do not, or many times the median,
 * and the others. A value that was not read is unknown, and is compared with nothing.
 */
#include "reports/engine/survey_compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/nodeset.h"
#include "reports/engine/findings.h"

#define CAMPS_MAX    16	    /* different values of one item; the last holds all others */
#define IDLE_BYTES   100000 /* per second: less has no main priority */
#define IDLE_PACKETS 100
#define SIDE_PERCENT 10	     /* of the bytes of a port */
#define BUSY_BYTES   1000000 /* per second: from this median on, volumes are compared */
#define VALUE_TEXT   512

/* A camp, or why a member is in none. */
enum survey_camp {
	CAMP_NORM, /* of a counter; values: the first camp */
	CAMP_OUTLIERS,
	CAMP_OTHER_USERS,	  /* of a priority that is their main one */
	CAMP_UNKNOWN = CAMPS_MAX, /* could not be read */
	CAMP_NONE,		  /* does not apply: not compared */
	CAMP_KNOWN = CAMP_NORM,	  /* while it is read */
};

/* One member with its evidence. */
struct survey_subject {
	struct survey_member at;
	const struct snapshot *snap;
	const struct port *port; /* NULL: the host */
	struct counters delta;	 /* when_ns 0: no two readings */
	unsigned int camp;
};

/* One group while it is compared. */
struct survey_work {
	struct survey *s;
	unsigned int group;
	struct survey_subject *subject; /* of each member */
	unsigned int count;
	double *rate; /* room for one per member */
};

/* Values that are compared besides the settings of struct qos. The first are the worst. */
enum survey_item_id {
	ITEM_ROCE_PORTS,
	ITEM_LINK,
	ITEM_LINK_SPEED,
	ITEM_TX_PRIO,
	ITEM_RX_PRIO,
	ITEM_TX_SIDE,
	ITEM_RX_SIDE,
	ITEM_FIRMWARE,
	ITEM_DRIVER_VERSION,
	ITEM_GID_INDEX,
	ITEM_GID_TYPES,
	ITEMS, /* from here on: fields of struct qos */
};

/* Rows of SURVEY_LEVELS are names for survey_compare_side(). */
static const struct survey_item {
	const char *name, *text;
	enum survey_level level;
} survey_items[ITEMS] = {
	[ITEM_ROCE_PORTS] = {"roce_ports", "number of RoCE ports", SURVEY_HOSTS},
	[ITEM_LINK] = {"link", "link", SURVEY_DRIVER},
	[ITEM_LINK_SPEED] = {"link_speed", "link speed", SURVEY_DRIVER},
	[ITEM_TX_PRIO] = {"tx_prio", "main priority sent", SURVEY_SPEED},
	[ITEM_RX_PRIO] = {"rx_prio", "main priority received", SURVEY_SPEED},
	[ITEM_TX_SIDE] = {"tx_side", "bytes sent beside the main priority", SURVEY_LEVELS},
	[ITEM_RX_SIDE] = {"rx_side", "bytes received beside the main priority", SURVEY_LEVELS},
	[ITEM_FIRMWARE] = {"firmware", "firmware", SURVEY_SPEED},
	[ITEM_DRIVER_VERSION] = {"driver_version", "driver version", SURVEY_SPEED},
	[ITEM_GID_INDEX] = {"gid_index", "GID index of RoCE v2", SURVEY_SPEED},
	[ITEM_GID_TYPES] = {"gid_types", "GID types", SURVEY_SPEED},
};

const char *survey_item_text(const char *item)
{
	for (unsigned int i = 0; i < ITEMS; i++)
		if (!strcmp(survey_items[i].name, item))
			return survey_items[i].text;
	return item;
}

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

/* Appends a zeroed element to a list of *count. */
static void *survey_grow(void *list, unsigned int *count, size_t size)
{
	void **at = list;
	char *grown = list_grow(*at, *count, size);

	if (!grown)
		return NULL;
	*at = grown;
	memset(grown + *count * size, 0, size);
	return grown + (*count)++ * size;
}

static int survey_add(struct survey_members *m, struct survey_member one)
{
	struct survey_member *at = survey_grow(&m->list, &m->count, sizeof(*at));

	if (!at)
		return -ENOMEM;
	*at = one;
	return 0;
}

static int survey_compare_names(const void *a, const void *b)
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
	qsort(ports, n, sizeof(*ports), survey_compare_names);
	*list = ports;
	*count = n < SURVEY_PORTS_MAX ? n : SURVEY_PORTS_MAX;
	return 0;
}

/* Per second; the subject has two readings. */
static double survey_rate(const struct survey_subject *s, double value)
{
	return value / ((double)s->delta.when_ns / 1e9);
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

/* Sums the traffic of all priorities. CAMP_NONE for an idle port. */
static enum survey_camp survey_sum_traffic(const struct survey_subject *s, bool sent, double *sum)
{
	enum metric m = survey_traffic(&s->delta, sent);
	double enough = strcmp(metric_table[m].unit, "bytes") ? IDLE_PACKETS : IDLE_BYTES;

	if (!s->delta.when_ns || !s->delta.has[m])
		return CAMP_UNKNOWN;
	*sum = 0;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		*sum += (double)s->delta.value[m][prio];
	return survey_rate(s, *sum) >= enough ? CAMP_KNOWN : CAMP_NONE;
}

/* Types of the GIDs of a port: "v1 v2-ipv4 v2-ipv6". */
static void survey_gid_types(const struct port *p, char text[VALUE_TEXT])
{
	static const char *const words[] = {
		"none",	   "v1",	 "v2-ipv4",	    "v1 v2-ipv4",
		"v2-ipv6", "v1 v2-ipv6", "v2-ipv4 v2-ipv6", "v1 v2-ipv4 v2-ipv6"};
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	unsigned int types = 0;

	for (unsigned int i = 0; i < p->gid_count; i++) {
		bool ipv4 = !memcmp(p->gid[i].raw, mapped, sizeof(mapped));

		if (p->gid[i].type == GID_ROCE_V1)
			types |= 1;
		else if (p->gid[i].type == GID_ROCE_V2)
			types |= ipv4 ? 2 : 4;
	}
	snprintf(text, VALUE_TEXT, "%s", words[types]);
}

/* Reads the value of an item: CAMP_KNOWN, CAMP_UNKNOWN or CAMP_NONE. */
static enum survey_camp survey_read(const struct survey_subject *s, unsigned int item,
				    char text[VALUE_TEXT])
{
	const struct port *p = s->port;
	const struct gid *g;
	unsigned int n = 0;
	double sum;

	switch (item) {
	case ITEM_ROCE_PORTS:
		for (unsigned int i = 0; i < s->snap->port_count; i++)
			n += port_is_roce(&s->snap->port[i]);
		snprintf(text, VALUE_TEXT, "%u", n);
		return CAMP_KNOWN;
	case ITEM_LINK:
		snprintf(text, VALUE_TEXT, "%s",
			 !p->up		? "down"
			 : p->ib_active ? "up"
					: "up, but the RDMA port is not active");
		return CAMP_KNOWN;
	case ITEM_LINK_SPEED:
		snprintf(text, VALUE_TEXT, "%g Gb/s", p->speed_mbps / 1e3);
		return p->speed_mbps ? CAMP_KNOWN : p->up ? CAMP_UNKNOWN : CAMP_NONE;
	case ITEM_TX_PRIO:
	case ITEM_RX_PRIO:
		snprintf(text, VALUE_TEXT, "%u", survey_main_prio(&s->delta, item == ITEM_TX_PRIO));
		return survey_sum_traffic(s, item == ITEM_TX_PRIO, &sum);
	case ITEM_FIRMWARE:
	case ITEM_DRIVER_VERSION:
		snprintf(text, VALUE_TEXT, "%s",
			 item == ITEM_FIRMWARE ? p->firmware : p->driver_version);
		return *text ? CAMP_KNOWN : CAMP_UNKNOWN;
	case ITEM_GID_INDEX: /* which applications such as NCCL are given */
		g = port_gid(p, "");
		snprintf(text, VALUE_TEXT, "no RoCE v2 GID");
		if (g)
			snprintf(text, VALUE_TEXT, "%u", g->index);
		return CAMP_KNOWN;
	case ITEM_GID_TYPES:
		survey_gid_types(p, text);
		return CAMP_KNOWN;
	default:
		qos_field_text(&p->qos, item - ITEMS, text, VALUE_TEXT);
		return qos_has(&p->qos, item - ITEMS) ? CAMP_KNOWN : CAMP_UNKNOWN;
	}
}

static int survey_collect(const struct survey_work *w, unsigned int camp, struct survey_members *m)
{
	for (unsigned int i = 0; i < w->count; i++)
		if (w->subject[i].camp == camp && survey_add(m, w->subject[i].at))
			return -ENOMEM;
	return 0;
}

/* Notes an item for the members of CAMP_UNKNOWN, beside other items of the same members. */
static int survey_note_unknown(struct survey_work *w, const char *item)
{
	struct survey *s = w->s;
	struct survey_unknown *u, *own = survey_grow(&s->unknown, &s->unknown_count, sizeof(*own));
	const char **name;

	if (!own)
		return -ENOMEM;
	own->group = w->group;
	if (survey_collect(w, CAMP_UNKNOWN, &own->members))
		return -ENOMEM;
	if (!own->members.count) {
		s->unknown_count--;
		return 0;
	}
	for (u = s->unknown; u < own; u++)
		if (u->group == w->group && u->members.count == own->members.count &&
		    !memcmp(u->members.list, own->members.list,
			    u->members.count * sizeof(*u->members.list)))
			break;
	if (u < own) {
		free(own->members.list);
		s->unknown_count--;
	}
	name = survey_grow(&u->item, &u->item_count, sizeof(*u->item));
	if (!name)
		return -ENOMEM;
	*name = item;
	return 0;
}

/* Reports the members of a camp. norm: NULL where no value leads. NULL on -ENOMEM. */
static struct survey_outlier *survey_report(struct survey_work *w, const char *item,
					    unsigned int camp, const char *value,
					    unsigned int norm_camp, const char *norm)
{
	struct survey_outlier *o = survey_grow(&w->s->outlier, &w->s->outlier_count, sizeof(*o));

	if (!o)
		return NULL;
	o->group = w->group;
	o->item = item;
	o->prio = -1;
	o->tie = !norm;
	o->value = strdup(value);
	o->norm = norm ? strdup(norm) : NULL;
	for (unsigned int i = 0; norm && i < w->count; i++)
		o->norm_count += w->subject[i].camp == norm_camp;
	return survey_collect(w, camp, &o->members) || !o->value || (norm && !o->norm) ? NULL : o;
}

static bool survey_equal(const struct survey_work *w, unsigned int item, unsigned int a,
			 unsigned int b)
{
	char one[VALUE_TEXT], two[VALUE_TEXT];

	if (item >= ITEMS)
		return qos_field_equal(&w->subject[a].port->qos, &w->subject[b].port->qos,
				       item - ITEMS);
	survey_read(&w->subject[a], item, one);
	survey_read(&w->subject[b], item, two);
	return !strcmp(one, two);
}

/* Text of a member's value; of a DSCP map only what differs from the other's. */
static void survey_value(const struct survey_work *w, unsigned int item, unsigned int i,
			 unsigned int other, char text[VALUE_TEXT])
{
	struct qos its, others;

	survey_read(&w->subject[i], item, text);
	if (item != ITEMS + QOS_DSCP_PRIO)
		return;
	its = w->subject[i].port->qos;
	others = w->subject[other].port->qos;
	qos_keep_differing_dscps(&its, &others);
	qos_field_text(&its, QOS_DSCP_PRIO, text, VALUE_TEXT);
}

/* Reports each camp but the largest; all of them when two are the largest. */
static int survey_compare(struct survey_work *w, unsigned int item)
{
	const char *name = item < ITEMS ? survey_items[item].name : qos_fields[item - ITEMS].key;
	struct survey_group *g = &w->s->group[w->group];
	struct {
		unsigned int first, count;
	} camp[CAMPS_MAX] = {{.count = 0}};
	char value[VALUE_TEXT], norm[VALUE_TEXT];
	unsigned int camps = 0, best = 0;
	bool tie = false;

	for (unsigned int i = 0; i < w->count; i++) {
		unsigned int c = 0;

		w->subject[i].camp = survey_read(&w->subject[i], item, value);
		if (w->subject[i].camp != CAMP_KNOWN)
			continue;
		while (c < camps && c < CAMPS_MAX - 1 && !survey_equal(w, item, i, camp[c].first))
			c++;
		if (!camp[c].count++)
			camp[camps++].first = i;
		w->subject[i].camp = c;
	}
	for (unsigned int c = 1; c < camps; c++) {
		tie = camp[c].count == camp[best].count ||
		      (tie && camp[c].count < camp[best].count);
		best = camp[c].count > camp[best].count ? c : best;
	}
	if (camps && !tie && item >= ITEMS)
		qos_copy_field(&g->norm, &w->subject[camp[best].first].port->qos, item - ITEMS);
	if (camps && !tie && item == ITEM_TX_PRIO)
		g->tx_prio = (int)survey_main_prio(&w->subject[camp[best].first].delta, true);
	for (unsigned int c = 0; camps > 1 && c < camps; c++) {
		if (c == best && !tie)
			continue;
		survey_value(w, item, camp[c].first, camp[c == best ? !best : best].first, value);
		survey_value(w, item, camp[best].first, camp[c].first, norm);
		if (!survey_report(w, name, c, c == CAMPS_MAX - 1 ? "other values" : value, best,
				   tie ? NULL : norm))
			return -ENOMEM;
	}
	return survey_note_unknown(w, name);
}

static int survey_compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Reports members that count although most do not, or many times the median. Traffic differs from
 * job to job: its volume is compared where most ports are busy. */
static int survey_compare_counter(struct survey_work *w, enum metric m, unsigned int prio)
{
	const char *unit = metric_table[m].unit;
	bool volume = metric_table[m].class == CLASS_VOLUME;
	int shown_prio = metric_table[m].by_prio ? (int)prio : -1;
	unsigned int known = 0, none = 0;
	char value[VALUE_TEXT], norm[VALUE_TEXT] = "none";
	uint64_t low = UINT64_MAX, high = 0;
	struct survey_outlier *o;
	double median;

	for (unsigned int i = 0; i < w->count; i++) {
		struct survey_subject *s = &w->subject[i];

		s->camp = s->delta.when_ns && counters_has(&s->delta, m, prio) ? CAMP_NORM
									       : CAMP_NONE;
		if (s->camp == CAMP_NONE)
			continue;
		none += !s->delta.value[m][prio];
		w->rate[known++] = survey_rate(s, (double)s->delta.value[m][prio]);
	}
	if (known < 2)
		return 0;
	qsort(w->rate, known, sizeof(*w->rate), survey_compare_doubles);
	median = w->rate[known / 2];
	if (volume && (median < BUSY_BYTES || strcmp(unit, "bytes")))
		return 0;
	if (!volume && 2 * none >= known) {
		median = 0;
	} else if (!volume) {
		struct survey_common *c = survey_grow(&w->s->common, &w->s->common_count,
						      sizeof(*c));

		if (!c)
			return -ENOMEM;
		*c = (struct survey_common){w->group, m, shown_prio, median};
	}
	for (unsigned int i = 0; i < w->count; i++) {
		struct survey_subject *s = &w->subject[i];
		uint64_t its = s->delta.value[m][prio];

		if (s->camp == CAMP_NONE || !its ||
		    survey_rate(s, (double)its) < median * SURVEY_RATIO)
			continue;
		s->camp = CAMP_OUTLIERS;
		low = its < low ? its : low;
		high = larger(high, its);
	}
	if (!high)
		return 0;
	snprintf(value, sizeof(value), "%llu to %llu %s", (count_t)low, (count_t)high, unit);
	if (low == high)
		snprintf(value, sizeof(value), "%llu %s", (count_t)low, unit);
	if (median > 0)
		snprintf(norm, sizeof(norm), "median %.3g %s/s", median, unit);
	o = survey_report(w, metric_table[m].name, CAMP_OUTLIERS, value, CAMP_NORM, norm);
	if (!o)
		return -ENOMEM;
	o->counter = true;
	o->low = low;
	o->high = high;
	o->prio = shown_prio;
	return 0;
}

/* Pauses are counted as frames, as times and as a duration: one of them says it. */
static bool survey_is_repeated(const struct survey_work *w, enum metric m)
{
	const uint8_t *has = w->subject[0].delta.has;

	return ((m == METRIC_PFC_RX_PAUSE_US || m == METRIC_PFC_RX_TIMES) &&
		has[METRIC_PFC_RX_FRAMES]) ||
	       (m == METRIC_PFC_TX_PAUSE_US && has[METRIC_PFC_TX_FRAMES]);
}

/* A part of the bytes, such as those of one job, can be of a priority that most do not use. Reports
 * ports for which it is not the main one. */
static int survey_compare_side(struct survey_work *w, bool sent, unsigned int prio)
{
	unsigned int users = 0, busy = 0, odd = 0;
	double low = 100, high = 0;
	struct survey_outlier *o;
	char value[32], norm[32];

	for (unsigned int i = 0; i < w->count; i++) {
		struct survey_subject *s = &w->subject[i];
		double sum, share;

		s->camp = survey_sum_traffic(s, sent, &sum);
		if (s->camp != CAMP_KNOWN)
			continue;
		busy++;
		share = (double)s->delta.value[survey_traffic(&s->delta, sent)][prio] * 100 / sum;
		if (share < SIDE_PERCENT)
			continue;
		users++;
		s->camp = CAMP_OTHER_USERS;
		if (survey_main_prio(&s->delta, sent) == prio)
			continue;
		odd++;
		s->camp = CAMP_OUTLIERS;
		low = share < low ? share : low;
		high = share > high ? share : high;
	}
	if (!odd || 2 * users >= busy)
		return 0;
	snprintf(value, sizeof(value), "%.0f to %.0f %%", low, high);
	if (odd == 1)
		snprintf(value, sizeof(value), "%.0f %%", low);
	snprintf(norm, sizeof(norm), "less than %d %%", SIDE_PERCENT);
	o = survey_report(w, survey_items[sent ? ITEM_TX_SIDE : ITEM_RX_SIDE].name, CAMP_OUTLIERS,
			  value, CAMP_NORM, norm);
	if (!o)
		return -ENOMEM;
	o->prio = (int)prio;
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
		for (unsigned int i = 0; i < w->count; i++) {
			struct survey_subject *s = &w->subject[i];

			s->camp = CAMP_UNKNOWN;
			for (unsigned int m = 0; m < METRIC_COUNT && s->delta.when_ns; m++)
				if (survey_counters[c].classes >> metric_table[m].class & 1 &&
				    s->delta.has[m])
					s->camp = CAMP_KNOWN;
		}
		err = survey_note_unknown(w, survey_counters[c].name);
	}
	return err;
}

static void survey_set_subject(const struct run *r, struct survey_member at,
			       struct survey_subject *s)
{
	const struct run_host *h = &r->host[at.host];
	const struct port *before;

	s->at = at;
	s->snap = survey_snapshot(r, at.host);
	if (at.port == SURVEY_HOST)
		return;
	s->port = survey_port(r, at);
	before = survey_host_lost(h) ? NULL : snapshot_port(&h->before, survey_port_name(s->port));
	if (before)
		counters_delta(&before->counters, &s->port->counters, &s->delta, NULL);
}

static int survey_compare_group(struct survey *s, unsigned int group)
{
	const struct survey_group *g = &s->group[group];
	struct survey_work w = {.s = s, .group = group, .count = g->members.count};
	int err = 0;

	w.subject = calloc(w.count, sizeof(*w.subject));
	w.rate = calloc(w.count, sizeof(*w.rate));
	if (!w.subject || !w.rate)
		err = -ENOMEM;
	for (unsigned int i = 0; !err && i < w.count; i++)
		survey_set_subject(s->r, g->members.list[i], &w.subject[i]);
	for (unsigned int i = 0; !err && i < ITEMS + QOS_FIELD_COUNT; i++)
		if (g->level == (i < ITEMS ? survey_items[i].level : SURVEY_SPEED))
			err = survey_compare(&w, i);
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

/* Adds a port, or NULL for a host, to its group of a level. */
static int survey_sort_member(struct survey *s, enum survey_level level, const struct port *p,
			      unsigned int rail, struct survey_member at)
{
	struct survey_group *g = NULL;

	for (unsigned int i = 0; i < s->group_count; i++) {
		g = &s->group[i];
		if (g->level == level &&
		    (!p || (g->rail == rail && g->port->kind == p->kind &&
			    !strcmp(survey_driver(g->port), survey_driver(p)) &&
			    (level == SURVEY_DRIVER || g->port->speed_mbps == p->speed_mbps))))
			return survey_add(&g->members, at);
	}
	g = survey_grow(&s->group, &s->group_count, sizeof(*g));
	if (!g)
		return -ENOMEM;
	*g = (struct survey_group){.level = level, .port = p, .rail = rail, .tx_prio = -1};
	s->speed_groups += level == SURVEY_SPEED;
	return survey_add(&g->members, at);
}

static int survey_sort_host(struct survey *s, unsigned int host)
{
	const struct snapshot *snap = survey_snapshot(s->r, host);
	struct survey_member at = {host, SURVEY_HOST};
	const struct port **ports = NULL;
	unsigned int count;
	int err = survey_sort_member(s, SURVEY_HOSTS, NULL, 0, at);

	s->answered++;
	s->unprivileged += !snap->privileged;
	if (!err)
		err = survey_sort_ports(snap, &ports, &count);
	for (unsigned int rail = 0; !err && rail < count; rail++) {
		at.port = (unsigned int)(ports[rail] - snap->port);
		s->port_count++;
		err = survey_sort_member(s, SURVEY_DRIVER, ports[rail], rail, at);
		if (!err)
			err = survey_sort_member(s, SURVEY_SPEED, ports[rail], rail, at);
	}
	free(ports);
	return err;
}

/* Makes the node set of the hosts of these members. */
static int survey_fold(const struct survey *s, struct survey_members *m)
{
	const char **names = calloc(m->count + 1, sizeof(*names));
	int err = names ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < m->count; i++)
		names[i] = s->r->host[m->list[i].host].name;
	if (!err)
		err = nodeset_fold(names, m->count, &m->hosts);
	free(names);
	return err;
}

int survey_make(const struct run *r, struct survey *s)
{
	int err = 0;

	*s = (struct survey){.r = r};
	for (unsigned int i = 0; !err && i < r->host_count; i++) {
		s->lost += survey_host_lost(&r->host[i]);
		if (survey_snapshot(r, i))
			err = survey_sort_host(s, i);
	}
	for (unsigned int g = 0; !err && g < s->group_count; g++) {
		s->compared = s->compared ||
			      (s->group[g].level == SURVEY_SPEED && s->group[g].members.count > 1);
		err = survey_compare_group(s, g);
		if (!err)
			err = survey_fold(s, &s->group[g].members);
	}
	for (unsigned int i = 0; !err && i < s->outlier_count; i++)
		err = survey_fold(s, &s->outlier[i].members);
	for (unsigned int i = 0; !err && i < s->unknown_count; i++)
		err = survey_fold(s, &s->unknown[i].members);
	return err;
}

static void survey_clear_members(struct survey_members *m)
{
	free(m->list);
	free(m->hosts);
}

void survey_clear(struct survey *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->group_count; i++)
		survey_clear_members(&s->group[i].members);
	for (unsigned int i = 0; i < s->outlier_count; i++) {
		survey_clear_members(&s->outlier[i].members);
		free(s->outlier[i].value);
		free(s->outlier[i].norm);
	}
	for (unsigned int i = 0; i < s->unknown_count; i++) {
		survey_clear_members(&s->unknown[i].members);
		free(s->unknown[i].item);
	}
	free(s->group);
	free(s->outlier);
	free(s->unknown);
	free(s->common);
	memset(s, 0, sizeof(*s));
}
