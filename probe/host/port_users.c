/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds users of a port. RDMA netlink lists queue pairs with their process. Storage and logins are
 * found by route: a server or SSH client whose route leaves through the port uses it (the kernel
 * names storage queue pairs only after rdma_cm; sshd stores the client in the environment).
 */
#include "probe/host/port_users.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <mntent.h>
#include <net/if.h>
#include <pwd.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/nl.h"
#include "dcb/kernel/rdma_nl.h"
#include "dcb/kernel/sysfs.h"
#include "profiles/base/json.h"
#include "profiles/base/small_file.h"
#include "profiles/base/text.h"

#define ANCESTORS_MAX 32
#define LAYERS_MAX    8
#define ENVIRON_MAX   65536

static struct port_user *users_add(struct port_users *use, enum port_user_kind kind,
				   const char *name)
{
	struct port_user *u;

	if (use->count == PORT_USERS_MAX) {
		use->more++;
		return NULL;
	}
	u = &use->user[use->count++];
	memset(u, 0, sizeof(*u));
	u->kind = kind;
	snprintf(u->name, sizeof(u->name), "%.63s", name);
	text_sanitize(u->name, TEXT_FIELD); /* names of processes and mounts are hostile input */
	return u;
}

static void users_process_name(const char *proc, pid_t pid, char *name, size_t size)
{
	if (small_file_bytes(name, size, proc, "%d/comm", (int)pid) <= 0)
		snprintf(name, size, "a process");
	name[strcspn(name, "\n")] = '\0';
}

/* The account of the process: its name, else its number. */
static void users_process_owner(const char *proc, pid_t pid, char *owner, size_t size)
{
	char text[160], names[1024];
	struct passwd entry, *found = NULL;
	unsigned int uid;

	if (!small_file_value(text, sizeof(text), "Uid:", proc, "%d/status", (int)pid) ||
	    sscanf(text, "%u", &uid) != 1)
		return;
	if (getpwuid_r(uid, &entry, names, sizeof(names), &found) || !found)
		snprintf(owner, size, "%u", uid);
	else
		snprintf(owner, size, "%s", entry.pw_name);
	text_sanitize(owner, TEXT_FIELD);
}

/* Adds to the entry of the same process, if there is one. */
static void users_add_qp(struct port_users *use, pid_t pid, const char *module, const char *proc)
{
	char name[sizeof(use->user[0].name)];
	struct port_user *u;

	if (pid)
		users_process_name(proc, pid, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s", module);
	for (unsigned int i = 0; i < use->count; i++) {
		u = &use->user[i];
		if (u->kind == PORT_USER_QP && u->pid == pid && (pid || !strcmp(u->name, name))) {
			u->count++;
			return;
		}
	}
	u = users_add(use, PORT_USER_QP, name);
	if (!u)
		return;
	u->pid = pid;
	u->count = 1;
	if (pid)
		users_process_owner(proc, pid, u->owner, sizeof(u->owner));
}

/* Attributes of interest. */
struct qp {
	uint32_t port, pid;
	uint8_t type;
	char module[32];
};

static void users_parse_qp_attr(const struct nl_attr *a, struct qp *qp)
{
	switch (a->type) {
	case RDMA_NLDEV_ATTR_PORT_INDEX:
		if (a->size >= sizeof(qp->port))
			memcpy(&qp->port, a->data, sizeof(qp->port));
		break;
	case RDMA_NLDEV_ATTR_RES_PID:
		if (a->size >= sizeof(qp->pid))
			memcpy(&qp->pid, a->data, sizeof(qp->pid));
		break;
	case RDMA_NLDEV_ATTR_RES_TYPE:
		if (a->size)
			qp->type = a->data[0];
		break;
	case RDMA_NLDEV_ATTR_RES_KERN_NAME:
		snprintf(qp->module, sizeof(qp->module), "%.*s",
			 (int)strnlen((const char *)a->data, a->size), (const char *)a->data);
		break;
	default:
		break;
	}
}

void port_users_add_qps(struct port_users *use, unsigned int ib_port, const uint8_t *payload,
			size_t size, const char *proc)
{
	struct nl_attr table, entry, a;

	for (const uint8_t *pos = payload; nl_attr_next(&pos, payload + size, &table);) {
		const uint8_t *in = table.data;

		if (table.type != RDMA_NLDEV_ATTR_RES_QP)
			continue;
		while (nl_attr_next(&in, table.data + table.size, &entry)) {
			const uint8_t *at = entry.data;
			struct qp qp = {0};

			while (nl_attr_next(&at, entry.data + entry.size, &a))
				users_parse_qp_attr(&a, &qp);
			/* QPs 0 and 1 are for management, on every device. IBTA vol 1, 3.9. */
			if ((qp.pid || qp.type > 1) && (!qp.port || qp.port == ib_port))
				users_add_qp(use, (pid_t)qp.pid, qp.module, proc);
		}
	}
}

struct qp_walk {
	struct port_users *use;
	unsigned int ib_port;
	const char *proc;
};

static int users_on_qps(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	const struct qp_walk *w = arg;

	(void)type;
	port_users_add_qps(w->use, w->ib_port, payload, size, w->proc);
	return 0;
}

static bool users_is_upper(struct dcb *dcb, const char *upper, const char *port, int layers)
{
	char path[64];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	if (!strcmp(upper, port))
		return true;
	if (!layers || strchr(upper, '/'))
		return false;
	snprintf(path, sizeof(path), "class/net/%.20s", upper);
	dir = small_file_opendir(dcb_sysfs_fd(dcb), path);
	while (dir && !found && (d = readdir(dir)))
		if (!strncmp(d->d_name, "lower_", 6))
			found = users_is_upper(dcb, d->d_name + 6, port, layers - 1);
	if (dir)
		closedir(dir);
	return found;
}

bool port_users_is_upper(struct dcb *dcb, const char *upper, const char *port)
{
	return users_is_upper(dcb, upper, port, LAYERS_MAX);
}

static int users_on_route(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	uint32_t *oif = arg;
	struct nl_attr a;
	const uint8_t *pos = payload + sizeof(struct rtmsg);

	if (type != RTM_NEWROUTE || size < sizeof(struct rtmsg))
		return 0;
	while (nl_attr_next(&pos, payload + size, &a))
		if (a.type == RTA_OIF && a.size >= sizeof(*oif))
			memcpy(oif, a.data, sizeof(*oif));
	return 0;
}

/* Finds the netdev through which packets to an address leave. */
static bool users_route_netdev(const char *address, char netdev[IF_NAMESIZE])
{
	struct rtmsg head = {0};
	struct nl_request r;
	uint8_t bytes[16];
	uint32_t oif = 0;
	struct nl *nl;
	size_t size = 4;

	head.rtm_family = AF_INET;
	if (inet_pton(AF_INET, address, bytes) != 1) {
		head.rtm_family = AF_INET6;
		size = 16;
		if (inet_pton(AF_INET6, address, bytes) != 1)
			return false;
	}
	head.rtm_dst_len = (uint8_t)(size * 8);
	if (nl_open(NETLINK_ROUTE, &nl, NULL))
		return false;
	nl_request_init(&r, RTM_GETROUTE, NLM_F_REQUEST);
	nl_put(&r, &head, sizeof(head));
	nl_put_attr(&r, RTA_DST, bytes, size);
	if (nl_talk(nl, &r, users_on_route, &oif, NULL))
		oif = 0;
	nl_shut(nl);
	return oif && if_indextoname(oif, netdev);
}

static bool users_route_uses_port(struct dcb *dcb, const char *address, const char *port)
{
	char netdev[IF_NAMESIZE];

	return users_route_netdev(address, netdev) && port_users_is_upper(dcb, netdev, port);
}

/* Finds the value of "key=" in a comma-separated list. */
static bool users_get_option(const char *options, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);

	for (const char *at = options; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (strncmp(at, key, length) || at[length] != '=')
			continue;
		at += length + 1;
		return snprintf(value, size, "%.*s", (int)strcspn(at, ",\n"), at) < (int)size;
	}
	return false;
}

/* /sys/class/nvme/NAME/transport and address: "traddr=...,trsvcid=...". */
static void users_add_nvme(struct dcb *dcb, const char *port, struct port_users *use)
{
	DIR *dir = small_file_opendir(dcb_sysfs_fd(dcb), "class/nvme");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char path[320], text[256], address[64];

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "class/nvme/%s/transport", d->d_name);
		if (dcb_sysfs_read(dcb, path, text, sizeof(text)) || strcmp(text, "rdma"))
			continue;
		snprintf(path, sizeof(path), "class/nvme/%s/address", d->d_name);
		if (!dcb_sysfs_read(dcb, path, text, sizeof(text)) &&
		    users_get_option(text, "traddr", address, sizeof(address)) &&
		    users_route_uses_port(dcb, address, port))
			users_add(use, PORT_USER_NVME, d->d_name);
	}
	if (dir)
		closedir(dir);
}

static void users_add_nfs(struct dcb *dcb, const char *proc, const char *port,
			  struct port_users *use)
{
	char path[PATH_MAX], line[4096], proto[16], address[64];
	struct mntent entry;
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/mounts", proc);
	f = setmntent(path, "re");
	while (f && getmntent_r(f, &entry, line, sizeof(line)))
		if (!strncmp(entry.mnt_type, "nfs", 3) &&
		    users_get_option(entry.mnt_opts, "proto", proto, sizeof(proto)) &&
		    !strncmp(proto, "rdma", 4) &&
		    users_get_option(entry.mnt_opts, "addr", address, sizeof(address)) &&
		    users_route_uses_port(dcb, address, port))
			users_add(use, PORT_USER_NFS, entry.mnt_dir);
	if (f)
		endmntent(f);
}

/* The first word is the client's address; sshd(8), ENVIRONMENT. */
static bool users_ssh_client(const char *environ, size_t size, char *peer, size_t room)
{
	static const char key[] = "SSH_CONNECTION=";

	for (const char *at = environ; at < environ + size; at += strlen(at) + 1)
		if (!strncmp(at, key, sizeof(key) - 1)) {
			at += sizeof(key) - 1;
			return snprintf(peer, room, "%.*s", (int)strcspn(at, " "), at) < (int)room;
		}
	return false;
}

/* Reads field 4 of /proc/PID/stat, after a name that may have any characters. */
static pid_t users_parent_pid(const char *proc, pid_t pid)
{
	char text[1024];
	const char *end;
	int parent;

	small_file_bytes(text, sizeof(text), proc, "%d/stat", (int)pid);
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* sudo and su remove it from the environment of the child, not of their parents. */
bool port_users_login_client(const char *proc, pid_t pid, char *peer, size_t size)
{
	char *environ = malloc(ENVIRON_MAX);
	bool found = false;

	for (int i = 0; environ && !found && pid > 1 && i < ANCESTORS_MAX; i++) {
		int n = small_file_bytes(environ, ENVIRON_MAX, proc, "%d/environ", (int)pid);

		found = users_ssh_client(environ, n < 0 ? 0 : (size_t)n, peer, size);
		pid = users_parent_pid(proc, pid);
	}
	free(environ);
	return found;
}

/* Finds the bond of a port; also a bridge or team. */
static void users_add_master(struct dcb *dcb, const char *port, struct port_users *use)
{
	char path[64], name[256];

	snprintf(path, sizeof(path), "class/net/%.20s/master", port);
	if (sysfs_link_name(dcb_sysfs_fd(dcb), path, name, sizeof(name)))
		users_add(use, PORT_USER_BOND, name);
}

void port_users_gather(struct dcb *dcb, const struct port_users_roots *roots, const char *netdev,
		       const char *ibdev, unsigned int ib_port, struct port_users *use)
{
	const char *proc = roots && roots->proc ? roots->proc : "/proc";
	struct qp_walk walk = {use, ib_port, proc};
	char peer[64];

	memset(use, 0, sizeof(*use));
	if (strchr(netdev, '/'))
		return;
	if (port_users_login_client(proc, getpid(), peer, sizeof(peer)) &&
	    users_route_uses_port(dcb, peer, netdev))
		users_add(use, PORT_USER_LOGIN, peer);
	if (ibdev && ibdev[0])
		(void)rdma_dump(ibdev, RDMA_NLDEV_CMD_RES_QP_GET, users_on_qps, &walk, NULL);
	users_add_nvme(dcb, netdev, use);
	users_add_nfs(dcb, proc, netdev, use);
	users_add_master(dcb, netdev, use);
}

void port_user_text(const struct port_user *u, char *buf, size_t size)
{
	switch (u->kind) {
	case PORT_USER_QP:
		if (u->pid)
			snprintf(buf, size, "%u queue pair%s of %s (pid %d%s%s)", u->count,
				 plural(u->count), u->name, (int)u->pid,
				 u->owner[0] ? ", user " : "", u->owner);
		else
			snprintf(buf, size, "%u queue pair%s of the kernel (%s)", u->count,
				 plural(u->count), u->name);
		break;
	case PORT_USER_NVME:
		snprintf(buf, size, "NVMe over RDMA (%s)", u->name);
		break;
	case PORT_USER_NFS:
		snprintf(buf, size, "NFS over RDMA (%s)", u->name);
		break;
	case PORT_USER_LOGIN:
		snprintf(buf, size, "this login, from %s", u->name);
		break;
	case PORT_USER_BOND:
		snprintf(buf, size, "%s, of which this port is a member", u->name);
		break;
	}
}

json_t *port_users_to_json(const struct port_users *use)
{
	json_t *list = json_array();
	char text[160];

	for (unsigned int i = 0; list && i < use->count; i++) {
		port_user_text(&use->user[i], text, sizeof(text));
		if (json_array_append_new(list, text_to_json(text))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

void port_users_keep_rdma(struct port_users *use)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < use->count; i++)
		if (use->user[i].kind != PORT_USER_LOGIN && use->user[i].kind != PORT_USER_BOND)
			use->user[kept++] = use->user[i];
	use->count = kept;
}
