/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses ports out of a snapshot. Their QoS is read again here, because a snapshot keeps going
 * over what it cannot read and a plan must not.
 */
#include "cmd/ports.h"

#include <errno.h>
#include <string.h>

static bool is_chosen(const struct port *p, const char *name)
{
	if (!p->netdev[0])
		return false;
	if (name)
		return !strcmp(p->netdev, name) || !strcmp(p->ibdev, name);
	return p->kind != PORT_ETHERNET && p->kind != PORT_IWARP;
}

static int read_port(struct dcb *dcb, struct port *p, struct err *e)
{
	struct qos now;
	int err = dcb_read(dcb, p->netdev, p->ibdev, p->ib_port, &now, &p->dcb, e);

	if (err)
		return err;
	/* Verbs know it, the kernel's configuration interfaces do not. */
	qos_copy_field(&now, &p->qos, QOS_IB_MTU);
	p->qos = now;
	return 0;
}

int cmd_take_ports(struct dcb *dcb, const char *name, struct snapshot *s, struct err *e)
{
	unsigned int kept = 0;
	int err;

	memset(s, 0, sizeof(*s));
	err = snapshot_take(dcb, &name, name ? 1 : 0, s, e);
	if (err == -ENODEV)
		err_set(e, err, "'%s': no such netdev or RDMA device", name);
	for (unsigned int i = 0; !err && i < s->port_count; i++) {
		if (!is_chosen(&s->port[i], name))
			continue;
		if (kept != i)
			s->port[kept] = s->port[i];
		err = read_port(dcb, &s->port[kept++], e);
	}
	if (!err && !kept) {
		if (name)
			err = err_set(e, -ENODEV, "'%s': no such port", name);
		else
			err = err_set(e, -ENODEV, "no RoCE port on this host");
		err_hint(e, "name a netdev with -i; 'rdma link' lists RDMA devices");
	}
	if (err)
		snapshot_clear(s);
	else
		s->port_count = kept;
	return err;
}
