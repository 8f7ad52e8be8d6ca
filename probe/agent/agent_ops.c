/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses requests of the agent protocol, runs the operation, and replies. Holds the small
 * operations; traffic, capture and commands are in other files.
 */
#include "probe/agent/agent_priv.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "dcb/kernel/dcb.h"
#include "probe/host/counters.h"
#include "probe/host/snapshot.h"
#include "probe/host/port_users.h"
#include "probe/io/loop.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define LEASE_MIN_MS 500
#define LEASE_MAX_MS 3600000

static agent_op agent_ping, agent_collect, agent_counters, agent_quit;

const struct agent_op_row agent_ops[] = {
	{"ping", agent_ping, "lease_ms: the agent ends if no ping arrives within this time",
	 OP_FOR_PROBE},
	{"collect", agent_collect,
	 "ports: further netdevs, machine: also host and PCI slots; a snapshot", OP_FOR_PROBE},
	{"counters", agent_counters,
	 "ports: [{netdev, ibdev, ib_port, users}]; counters and users of each", OP_FOR_PROBE},
	{"traffic_open", agent_traffic_open, "spec; handle and endpoint for the peer",
	 OP_FOR_PROBE},
	{"echo_open", agent_echo_open, "spec of a marking test; continues as traffic_open does",
	 OP_FOR_PROBE},
	{"traffic_connect", agent_traffic_connect, "handle, peer", OP_FOR_PROBE},
	{"traffic_run", agent_traffic_run,
	 "handle, progress_ms: interval of events; the result at the end", OP_FOR_PROBE},
	{"traffic_stop", agent_traffic_stop, "handle; ends the run, with its result", OP_FOR_PROBE},
	{"traffic_close", agent_traffic_close, "handle; answers when its process has exited",
	 OP_FOR_PROBE},
	{"capture_start", agent_capture_start, "netdev, full, max_bytes; handle",
	 OP_FOR_COORDINATOR},
	{"capture_stop", agent_capture_stop, "handle; summary and size of the recording",
	 OP_FOR_COORDINATOR},
	{"capture_read", agent_capture_read, "handle, offset; a piece of the recording",
	 OP_FOR_COORDINATOR},
	{"plan", agent_plan, "profile, as_text; what apply would change", OP_FOR_COORDINATOR},
	{"apply", agent_apply, "plan, disruption, confirm_within_s, wait_link_s, settle_ms",
	 OP_FOR_CHANGES},
	{"confirm", agent_confirm, "tx", OP_FOR_CHANGES},
	{"rollback", agent_rollback, "tx", OP_FOR_CHANGES},
	{"transactions", agent_transactions, "all of this host", OP_FOR_COORDINATOR},
	{"quit", agent_quit, "ends the agent", OP_FOR_PROBE},
};
const unsigned int agent_op_count = ARRAY_SIZE(agent_ops);

static int op_find(const struct agent *a, const json_t *request, const struct agent_op_row **out,
		   struct err *e)
{
	const char *name = json_string_value(json_object_get(request, "op"));
	const struct agent_op_row *op = NULL;

	for (unsigned int i = 0; name && i < agent_op_count && !op; i++)
		if (!strcmp(agent_ops[i].name, name))
			op = &agent_ops[i];
	if (!op) {
		err_set(e, -EOPNOTSUPP, "agent: unknown op '%.32s'", name ? name : "");
		err_hint(e, "install the same version of rocecheck on coordinator and agent");
		return -EOPNOTSUPP;
	}
	if (a->config->probe_only && op->allowed != OP_FOR_PROBE)
		return err_set(e, -EPERM, "agent: 'probe server' does not serve op '%s'", op->name);
	if (a->config->read_only && op->allowed == OP_FOR_CHANGES) {
		err_set(e, -EPERM, "agent: --read-only refuses '%s'", op->name);
		err_hint(e, "use an SSH key that authorized_keys of this host does not restrict");
		return -EPERM;
	}
	*out = op;
	return 0;
}

static void op_run_request(struct agent *a, uint64_t id, const json_t *request)
{
	const struct agent_op_row *op = NULL;
	struct err e = {0};
	json_t *reply = NULL;
	int rc = op_find(a, request, &op, &e);

	if (rc) {
		agent_reply_error(a, id, &e);
		return;
	}
	rc = op->run(a, id, request, &reply, &e);
	if (rc < 0) {
		err_prefix(&e, "%s", op->name);
		agent_reply_error(a, id, &e);
	} else if (rc != AGENT_LATER) {
		agent_reply(a, id, reply);
	}
}

void agent_handle_line(struct agent *a, const char *line, size_t length)
{
	struct err e = {0};
	json_error_t where;
	json_t *request;
	uint64_t id = 0;

	if (!line) {
		err_set(&e, -EMSGSIZE, "agent: line longer than %u bytes", LOOP_LINE_MAX);
		agent_reply_error(a, 0, &e);
		return;
	}
	request = json_loadb(line, length, JSON_REJECT_DUPLICATES, &where);
	if (!json_is_object(request)) {
		err_set(&e, -EINVAL, "agent: %s",
			request ? "the request must be a JSON object" : where.text);
		agent_reply_error(a, 0, &e);
	} else if (json_get_uint(request, "id", 0, AGENT_ID_MAX, &id, &e)) {
		err_prefix(&e, "agent");
		agent_reply_error(a, 0, &e);
	} else {
		op_run_request(a, id, request);
	}
	json_decref(request);
}

static int agent_ping(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		      struct err *e)
{
	uint64_t lease_ms;
	int err;

	(void)id;
	err = json_get_uint_or(request, "lease_ms", 0, LEASE_MIN_MS, LEASE_MAX_MS, &lease_ms, e);
	if (err)
		return err;
	a->lease_late = false;
	a->starved_until_ms = 0;
	if (lease_ms && a->lease)
		loop_timer_set_awake(a->lease, lease_ms);
	*reply = json_pack("{s:I}", "now_ns", (json_int_t)monotonic_ns());
	return 0;
}

static int agent_collect(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
			 struct err *e)
{
	const char *also[AGENT_PORTS_MAX];
	const json_t *ports = NULL;
	unsigned int count = 0;
	bool machine = false;
	struct snapshot s;
	struct dcb *dcb;
	int err = 0;

	(void)id;
	if (json_object_get(request, "machine"))
		err = json_get_bool(request, "machine", &machine, e);
	if (!err && json_object_get(request, "ports"))
		err = json_get_array(request, "ports", AGENT_PORTS_MAX, &ports, e);
	for (size_t i = 0; !err && i < json_array_size(ports); i++) {
		also[count] = json_string_value(json_array_get(ports, i));
		if (!also[count] || strlen(also[count]) > 15)
			return err_set(e, -EINVAL, "'ports': invalid netdev name");
		/* A missing netdev is left out of the snapshot; the rules report it. */
		if (if_nametoindex(also[count]))
			count++;
	}
	if (!err)
		err = agent_dcb(a, &dcb, e);
	if (!err)
		err = snapshot_read(dcb, also, count, &s, e);
	if (err)
		return err;
	if (machine)
		snapshot_read_host(NULL, &s);
	*reply = json_pack("{s:o}", "snapshot", snapshot_to_json(&s));
	snapshot_clear(&s);
	return 0;
}

/* Reads one port of a "counters" request: its counters and, on request, its users, or the error. */
static int op_read_port(struct dcb *dcb, const json_t *port, json_t *list, struct err *e)
{
	char netdev[16], ibdev[64] = "";
	struct err port_err = {0};
	struct counters c = {0};
	struct port_users use;
	bool users = false;
	uint64_t ib_port;
	json_t *one;
	int err = json_get_text(port, "netdev", netdev, sizeof(netdev), e);

	if (!err && json_object_get(port, "ibdev"))
		err = json_get_text(port, "ibdev", ibdev, sizeof(ibdev), e);
	if (!err)
		err = json_get_uint_or(port, "ib_port", 1, 0, 255, &ib_port, e);
	if (!err && json_object_get(port, "users"))
		err = json_get_bool(port, "users", &users, e);
	if (err)
		return err;
	if (counters_read(dcb, netdev, ibdev, (unsigned int)ib_port, &c, &port_err))
		one = json_pack("{s:o}", "error", text_to_json(port_err.text));
	else
		one = json_pack("{s:o}", "counters", counters_to_json(&c));
	if (one && users) {
		port_users_gather(dcb, NULL, netdev, ibdev, (unsigned int)ib_port, &use);
		port_users_keep_rdma(&use);
		(void)json_object_set_new(one, "users",
					  port_users_to_json(&use)); /* for information only */
	}
	return !one || json_array_append_new(list, one) ? err_sys(e, -ENOMEM, "counters") : 0;
}

static int agent_counters(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
			  struct err *e)
{
	const json_t *ports;
	json_t *list;
	struct dcb *dcb;
	int err = json_get_array(request, "ports", AGENT_PORTS_MAX, &ports, e);

	(void)id;
	if (!err)
		err = agent_dcb(a, &dcb, e);
	if (err)
		return err;
	list = json_array();
	for (size_t i = 0; !err && i < json_array_size(ports); i++)
		err = op_read_port(dcb, json_array_get(ports, i), list, e);
	if (err) {
		json_decref(list);
		return err;
	}
	*reply = json_pack("{s:o}", "ports", list);
	return 0;
}

static int agent_quit(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		      struct err *e)
{
	(void)request;
	(void)reply;
	(void)e;
	agent_reply(a, id, json_object());
	agent_stop(a, AGENT_QUIT);
	return AGENT_LATER;
}
