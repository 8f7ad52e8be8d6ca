/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens device and port, registers memory, and pins threads to the NIC's NUMA node.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/traffic/traffic_worker.h"
#include "profiles/base/small_file.h"

/* rxe and siw have no parent device in sysfs. */
static bool device_is_soft(const char *ibdev)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device", ibdev);
	return access(path, F_OK) != 0;
}

int traffic_open_context(struct traffic *t, struct err *e)
{
	int n = 0, err = -ENODEV;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; list && i < n; i++) {
		if (strcmp(ibv_get_device_name(list[i]), t->spec.ibdev))
			continue;
		t->ctx = ibv_open_device(list[i]);
		err = t->ctx ? 0 : -errno;
		break;
	}
	if (list)
		ibv_free_device_list(list);
	if (err)
		return err_sys(e, err, "%s: open", t->spec.ibdev);
	if (fcntl(t->ctx->async_fd, F_SETFL, fcntl(t->ctx->async_fd, F_GETFL) | O_NONBLOCK))
		return err_sys(e, -errno, "%s: events", t->spec.ibdev);
	return 0;
}

uint32_t traffic_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

enum ibv_mtu traffic_mtu_code(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_4096;

	while (mtu > IBV_MTU_256 && traffic_mtu_bytes(mtu) > bytes)
		mtu--;
	return mtu;
}

static int device_query_port(struct traffic *t, struct err *e)
{
	const struct traffic_spec *s = &t->spec;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int rc = ibv_query_port(t->ctx, s->ib_port, &port);

	if (rc)
		return err_sys(e, -rc, "%s port %u: query", s->ibdev, s->ib_port);
	if (port.state != IBV_PORT_ACTIVE)
		return err_set(e, -ENETDOWN, "%s port %u: %s", s->ibdev, s->ib_port,
			       ibv_port_state_str(port.state));
	if (ibv_query_gid(t->ctx, s->ib_port, s->gid_index, &gid))
		return err_set(e, -ENODEV, "%s port %u: no GID at index %u", s->ibdev, s->ib_port,
			       s->gid_index);
	memcpy(t->self.gid, gid.raw, sizeof(t->self.gid));
	if (!gid.global.interface_id && !gid.global.subnet_prefix)
		return err_set(e, -ENODEV, "%s port %u: GID index %u is empty", s->ibdev,
			       s->ib_port, s->gid_index);
	t->self.mtu = traffic_mtu_bytes(port.active_mtu);
	if (s->mtu_bytes && s->mtu_bytes < t->self.mtu)
		t->self.mtu = s->mtu_bytes; /* the smaller one of both hosts is used */
	return 0;
}

/* Passes an invalid dma-buf: a driver with support fails with EBADF, one without with EOPNOTSUPP:
 * linux ib_uverbs_reg_dmabuf_mr, rdma-core ibv_reg_dmabuf_mr. */
static bool device_supports_dmabuf(struct ibv_pd *pd)
{
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE);

	if (mr)
		ibv_dereg_mr(mr);
	return mr || (errno != EOPNOTSUPP && errno != EPROTONOSUPPORT && errno != ENOSYS);
}

int traffic_open_domain(struct traffic *t, struct err *e)
{
	t->pd = ibv_alloc_pd(t->ctx);
	if (!t->pd)
		return err_sys(e, -errno, "%s: protection domain", t->spec.ibdev);
	t->memory.dmabuf = device_supports_dmabuf(t->pd);
	(void)gpu_find("", t->memory.gpu, sizeof(t->memory.gpu));
	return 0;
}

int traffic_open_device(struct traffic *t, struct err *e)
{
	int err = traffic_open_context(t, e), rc;

	if (err)
		return err;
	t->soft = device_is_soft(t->spec.ibdev);
	t->processors = sysconf(_SC_NPROCESSORS_ONLN);
	rc = ibv_query_device(t->ctx, &t->limits);
	if (rc)
		return err_sys(e, -rc, "%s: limits", t->spec.ibdev);
	err = traffic_check_xrc(t, e);
	if (!err)
		err = device_query_port(t, e);
	if (!err)
		err = traffic_open_domain(t, e);
	return err ? err : traffic_open_xrcd(t, e);
}

int traffic_memory_error(const struct traffic *t, int err, size_t bytes, struct err *e)
{
	struct rlimit limit;

	err_sys(e, err, "%s: registering %zu KiB of memory", t->spec.ibdev, bytes >> 10);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < 2 * bytes)
		err_hint(e,
			 "the limit of locked memory is %llu KiB: raise it (ulimit -l unlimited)",
			 (unsigned long long)limit.rlim_cur >> 10);
	return err;
}

int traffic_map(struct traffic *t, size_t bytes, int access, uint8_t **memory, size_t *mapped,
		struct ibv_mr **mr, struct err *e)
{
	size_t size = bytes;
	bool huge = false;
	void *p = traffic_pages(&size, t->spec.huge_pages, &huge);
	uint64_t start;

	if (!p)
		return err_sys(e, -errno, "%zu KiB of memory", bytes >> 10);
	*memory = p;
	*mapped = size;
	start = monotonic_ns();
	*mr = ibv_reg_mr(t->pd, p, bytes, access);
	if (!*mr)
		return traffic_memory_error(t, -errno, bytes, e);
	t->memory.registration_ns += monotonic_ns() - start;
	t->memory.bytes += bytes;
	t->memory.huge_bytes += huge ? bytes : 0;
	return 0;
}

/* Returns the n-th core of a list such as "0-3,8", cyclic; -1 when there is none. */
static int device_pick_core(const char *list, unsigned int n)
{
	int core[CPU_SETSIZE], count = 0;

	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long i = first; i <= last && count < CPU_SETSIZE; i++)
			core[count++] = (int)i;
		list = *end == ',' ? end + 1 : "";
	}
	return count ? core[n % (unsigned int)count] : -1;
}

void traffic_pin(const struct traffic *t, unsigned int worker)
{
	char list[1024];
	cpu_set_t set;
	int core;

	if (!t->spec.pin)
		return;
	/* no NUMA node: all cores are equal */
	if (!small_file_line(list, sizeof(list), "/sys", "class/infiniband/%s/device/local_cpulist",
			     t->spec.ibdev))
		small_file_line(list, sizeof(list), "/sys", "devices/system/cpu/online");
	core = device_pick_core(list, worker);
	if (core < 0 || core >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	(void)sched_setaffinity(0, sizeof(set), &set); /* may be forbidden in a container */
}
