/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dcbnl decoding and requests (linux dcbnl.h; net/dcb/dcbnl.c). libnl has no module for it. One
 * object per message: the kernel's order within a message is wrong for some drivers, and it stops
 * at the first error without undoing. The APP table is one object with its entries in our order.
 * The pure parts of a set are in dcbnl_qos.c.
 */
#include "dcb/kernel/dcbnl.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* The status of a set, cut to 8 bits by the kernel. */
#define CODE_ENOTSUPP 12 /* 524 & 0xff */
#define CODE_NONE     0

int dcbnl_errno(uint8_t code)
{
	int8_t value = (int8_t)code;

	if (value >= 0)
		return 0;
	return -value == CODE_ENOTSUPP ? -EOPNOTSUPP : value;
}

static bool dcbnl_copy_attr(void *to, size_t size, const struct nl_attr *a)
{
	if (a->size < size)
		return false;
	memcpy(to, a->data, size);
	return true;
}

/* Parses the entries of a table. Returns false for more than max. */
static bool dcbnl_parse_entries(const struct nl_attr *table, struct dcb_app *list, unsigned int max,
				unsigned int *count)
{
	const uint8_t *pos = table->data, *end = pos + table->size;
	struct nl_attr a;

	while (nl_attr_next(&pos, end, &a)) {
		if ((a.type != DCB_ATTR_IEEE_APP && a.type != DCBNL_ATTR_PCP) ||
		    a.size < sizeof(*list))
			continue;
		if (*count == max)
			return false;
		memcpy(&list[(*count)++], a.data, sizeof(*list));
	}
	return true;
}

static void dcbnl_parse_trust(struct dcbnl_state *s, const struct nl_attr *table)
{
	const uint8_t *pos = table->data, *end = pos + table->size;
	unsigned int count = 0;
	struct nl_attr a;

	s->has_trust = true;
	while (nl_attr_next(&pos, end, &a)) {
		if (a.size < 1)
			continue;
		if (count == QOS_SELECTORS || !a.data[0])
			s->has_trust = false; /* more selectors than exist */
		else
			s->trust[count++] = a.data[0];
	}
}

static int dcbnl_parse_ieee(struct dcbnl_state *s, const struct nl_attr *ieee)
{
	const uint8_t *pos = ieee->data, *end = pos + ieee->size;
	struct nl_attr a;
	int err = 0;

	while (!err && nl_attr_next(&pos, end, &a)) {
		switch (a.type) {
		case DCB_ATTR_IEEE_ETS:
			s->has_ets = dcbnl_copy_attr(&s->ets, sizeof(s->ets), &a);
			break;
		case DCB_ATTR_IEEE_PFC:
			s->has_pfc = dcbnl_copy_attr(&s->pfc, sizeof(s->pfc), &a);
			break;
		case DCB_ATTR_IEEE_MAXRATE:
			s->has_maxrate = dcbnl_copy_attr(&s->maxrate, sizeof(s->maxrate), &a);
			break;
		case DCB_ATTR_DCB_BUFFER:
			s->has_buffer = dcbnl_copy_attr(&s->buffer, sizeof(s->buffer), &a);
			break;
		case DCB_ATTR_IEEE_APP_TABLE:
			s->has_app = true;
			if (!dcbnl_parse_entries(&a, s->app, DCBNL_APPS_MAX, &s->app_count))
				err = -EMSGSIZE;
			break;
		case DCBNL_ATTR_TRUST:
			dcbnl_parse_trust(s, &a);
			break;
		case DCBNL_ATTR_REWR:
			s->has_rewr = dcbnl_parse_entries(&a, s->rewr, ARRAY_SIZE(s->rewr),
							  &s->rewr_count);
			break;
		default:
			break;
		}
	}
	return err;
}

/*
 *  0        1     2       4
 * +--------+-----+-------+------------------------------------------------+
 * | family | cmd | (pad) | IFNAME, IEEE{ETS PFC APP_TABLE{...} ...}, DCBX |
 * +--------+-----+-------+------------------------------------------------+
 */
int dcbnl_decode(const uint8_t *payload, size_t size, struct dcbnl_state *s)
{
	const uint8_t *pos = payload + sizeof(struct dcbmsg), *end = payload + size;
	struct nl_attr a;
	int err = 0;

	memset(s, 0, sizeof(*s));
	if (size < sizeof(struct dcbmsg))
		return -EBADMSG;
	while (!err && nl_attr_next(&pos, end, &a)) {
		if (a.type == DCB_ATTR_IEEE)
			err = dcbnl_parse_ieee(s, &a);
		else if (a.type == DCB_ATTR_DCBX)
			s->has_dcbx = dcbnl_copy_attr(&s->dcbx, sizeof(s->dcbx), &a);
	}
	return err;
}

static void dcbnl_request_start(struct nl_request *r, uint16_t type, uint8_t cmd,
				const char *ifname)
{
	struct dcbmsg d = {.cmd = cmd};

	nl_request_init(r, type, 0);
	nl_put(r, &d, sizeof(d));
	nl_put_attr(r, DCB_ATTR_IFNAME, ifname, strlen(ifname) + 1);
}

struct get {
	struct dcbnl_state *state;
	bool answered;
};

static int dcbnl_parse_state(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct get *g = arg;

	if (type != RTM_GETDCB && type != RTM_SETDCB)
		return -EBADMSG;
	g->answered = true;
	return dcbnl_decode(payload, size, g->state);
}

int dcbnl_get(struct nl *nl, const char *ifname, struct dcbnl_state *s, struct err *e)
{
	struct get g = {.state = s};
	struct nl_request r;
	int err;

	dcbnl_request_start(&r, RTM_GETDCB, DCB_CMD_IEEE_GET, ifname);
	err = nl_talk(nl, &r, dcbnl_parse_state, &g, e);
	if (err) {
		err_prefix(e, "%s: DCB", ifname);
		return err;
	}
	if (!g.answered)
		return err_set(e, -EBADMSG, "%s: DCB: the kernel sent an ACK without data", ifname);
	return 0;
}

/* The status attribute of a set. */
struct status {
	uint16_t attr;
	uint8_t code;
};

static int dcbnl_parse_status(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	const uint8_t *pos = payload + sizeof(struct dcbmsg), *end = payload + size;
	struct status *s = arg;
	struct nl_attr a;

	(void)type;
	if (size < sizeof(struct dcbmsg))
		return -EBADMSG;
	while (nl_attr_next(&pos, end, &a))
		if (a.type == s->attr && a.size == 1)
			s->code = a.data[0];
	return 0;
}

static int dcbnl_talk_status(struct nl *nl, struct nl_request *r, const char *ifname,
			     struct status *s, struct err *e)
{
	int err = nl_talk(nl, r, dcbnl_parse_status, s, e);

	if (err)
		err_prefix(e, "%s", ifname);
	if (err == -EPERM)
		err_hint(e, "changing DCB needs CAP_NET_ADMIN in the initial user namespace: "
			    "run as root");
	return err;
}

/* The kernel returns the driver's status as a u8 in the reply, not as an error. *code, which may be
 * NULL: that status. */
static int dcbnl_talk_ieee(struct nl *nl, struct nl_request *r, const char *ifname, uint8_t *code,
			   struct err *e)
{
	struct status s = {.attr = DCB_ATTR_IEEE, .code = CODE_NONE};
	int err = dcbnl_talk_status(nl, r, ifname, &s, e);

	if (err)
		return err;
	if (code)
		*code = s.code;
	err = dcbnl_errno(s.code);
	if (err == -EOPNOTSUPP)
		return err_set(e, err, "%s: the driver does not support this value", ifname);
	if (err)
		return err_sys(e, err, "%s: the driver refused the setting", ifname);
	return 0;
}

int dcbnl_set_object(struct nl *nl, const char *ifname, uint16_t attr, const void *data,
		     size_t size, struct err *e)
{
	struct nl_request r;
	size_t nest;

	dcbnl_request_start(&r, RTM_SETDCB, DCB_CMD_IEEE_SET, ifname);
	nest = nl_nest_start(&r, DCB_ATTR_IEEE);
	nl_put_attr(&r, attr, data, size);
	nl_nest_end(&r, nest);
	return dcbnl_talk_ieee(nl, &r, ifname, NULL, e);
}

static uint16_t dcbnl_entry_attr(uint8_t selector)
{
	return selector == QOS_APP_PCP ? DCBNL_ATTR_PCP : DCB_ATTR_IEEE_APP;
}

int dcbnl_set_trust(struct nl *nl, const char *ifname, const uint8_t trust[QOS_SELECTORS],
		    struct err *e)
{
	struct nl_request r;
	size_t ieee, table;

	dcbnl_request_start(&r, RTM_SETDCB, DCB_CMD_IEEE_SET, ifname);
	ieee = nl_nest_start(&r, DCB_ATTR_IEEE);
	table = nl_nest_start(&r, DCBNL_ATTR_TRUST);
	for (unsigned int i = 0; i < QOS_SELECTORS && trust[i]; i++)
		nl_put_attr(&r, dcbnl_entry_attr(trust[i]), &trust[i], 1);
	nl_nest_end(&r, table);
	nl_nest_end(&r, ieee);
	return dcbnl_talk_ieee(nl, &r, ifname, NULL, e);
}

/* Returns 1 when entries may be left: after a positive driver status, which is a success, the
 * kernel skips the rest of the message. */
static int dcbnl_change_entries(struct nl *nl, const char *ifname, uint16_t table_attr,
				const struct app_change *change, unsigned int n, struct err *e)
{
	struct nl_request r;
	size_t ieee, table;
	uint8_t code = CODE_NONE;
	int err;

	dcbnl_request_start(&r, RTM_SETDCB, change->add ? DCB_CMD_IEEE_SET : DCB_CMD_IEEE_DEL,
			    ifname);
	ieee = nl_nest_start(&r, DCB_ATTR_IEEE);
	table = nl_nest_start(&r, table_attr);
	for (unsigned int i = 0; i < n; i++)
		nl_put_attr(&r, dcbnl_entry_attr(change[i].app.selector), &change[i].app,
			    sizeof(change[i].app));
	nl_nest_end(&r, table);
	nl_nest_end(&r, ieee);
	err = dcbnl_talk_ieee(nl, &r, ifname, &code, e);
	/* Another writer was faster, or the driver replaced it: the readback decides. */
	if (err == (change->add ? -EEXIST : -ENOENT))
		return 1;
	return err ? err : code != CODE_NONE;
}

int dcbnl_change_apps(struct nl *nl, const char *ifname, const struct app_change *change,
		      unsigned int n, struct err *e)
{
	int err = 0;

	for (unsigned int i = 0, end; !err && i < n; i = end) {
		for (end = i + 1; end < n && change[end].add == change[i].add; end++)
			;
		err = dcbnl_change_entries(nl, ifname, DCB_ATTR_IEEE_APP_TABLE, &change[i], end - i,
					   e);
	}
	return err;
}

int dcbnl_change_rewr(struct nl *nl, const char *ifname, const struct app_change *change,
		      struct err *e)
{
	int err = dcbnl_change_entries(nl, ifname, DCBNL_ATTR_REWR, change, 1, e);

	if (err < 0)
		err_prefix(e, "rewrite entry priority %u -> %s %u", change->app.priority,
			   change->app.selector == QOS_APP_PCP ? "PCP" : "DSCP",
			   change->app.protocol);
	return err < 0 ? err : 0; /* one entry: none is left */
}

int dcbnl_set_dcbx(struct nl *nl, const char *ifname, uint8_t mode, struct err *e)
{
	struct status s = {.attr = DCB_ATTR_DCBX, .code = CODE_NONE};
	struct nl_request r;
	int err;

	dcbnl_request_start(&r, RTM_SETDCB, DCB_CMD_SDCBX, ifname);
	nl_put_attr(&r, DCB_ATTR_DCBX, &mode, sizeof(mode));
	err = dcbnl_talk_status(nl, &r, ifname, &s, e);
	if (err)
		return err;
	if (s.code)
		return err_set(e, -EOPNOTSUPP, "%s: the driver refused DCBX mode 0x%02x", ifname,
			       mode);
	return 0;
}
