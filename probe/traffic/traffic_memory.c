/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates pages, measures registration, and reports the memory of traffic.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/traffic/traffic_worker.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/json.h"
#include "profiles/base/small_file.h"

const char *traffic_memory_pages(const struct traffic_memory *m)
{
	if (!m->huge_bytes)
		return "host pages";
	return m->huge_bytes < m->bytes ? "host and huge pages" : "huge pages";
}

void traffic_memory_gpu(const struct traffic_memory *m, const char *device, char *buf, size_t size)
{
	const char *no_gpu = "no GPU driver exports dma-buf";

	if (!m->dmabuf)
		snprintf(buf, size, "GPU path not tested: %s cannot register dma-buf memory%s%s",
			 device, m->gpu[0] ? "" : ", and ", m->gpu[0] ? "" : no_gpu);
	else if (!m->gpu[0])
		snprintf(buf, size, "GPU path not tested: %s can register dma-buf memory, but %s",
			 device, no_gpu);
	else
		snprintf(buf, size,
			 "GPU path not tested: %s can register dma-buf memory and %s exports it, "
			 "but this traffic uses host memory",
			 device, m->gpu);
}

static const struct json_row memory_rows[] = {
	NUMBER(struct traffic_memory, bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_memory, huge_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_memory, registration_ns, 0, JSON_UINT_MAX),
	BOOL(struct traffic_memory, dmabuf),
	TEXT(struct traffic_memory, gpu),
};

json_t *traffic_memory_to_json(const struct traffic_memory *m)
{
	json_t *json = json_rows_make(JSON_ROWS(memory_rows), m);

	json_object_set_new(json, "gpu_path", json_string("not tested"));
	return json;
}

int traffic_memory_from_json(const json_t *json, struct traffic_memory *m, struct err *e)
{
	struct traffic_memory v = {0};
	int err = json_rows_read(json, JSON_ROWS(memory_rows), &v, e);

	if (!err)
		err = json_get_uint(json, "huge_bytes", 0, v.bytes, &v.huge_bytes, e);
	if (!err)
		*m = v;
	return err;
}

void *traffic_pages(size_t *bytes, bool huge, bool *got_huge)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	size_t rounded = (*bytes + TRAFFIC_HUGE_PAGE - 1) / TRAFFIC_HUGE_PAGE * TRAFFIC_HUGE_PAGE;
	void *p = MAP_FAILED;

	if (huge)
		p = mmap(NULL, rounded, protection, flags | MAP_HUGETLB, -1, 0);
	*got_huge = p != MAP_FAILED;
	if (*got_huge) {
		*bytes = rounded;
		return p;
	}
	p = mmap(NULL, *bytes, protection, flags, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (huge)
		(void)madvise(p, *bytes, MADV_HUGEPAGE); /* may be ignored */
	return p;
}

/* Cost of ibv_reg_mr: pinning pages and passing them to the device. Traffic pays it once, before
 * the start; a program that registers each buffer pays it every time. */

#define MEASURE_MIB  8u
#define MEASURE_RUNS 5u

static int memory_cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Touches the pages first, so that the first measurement does not include their allocation. */
static int memory_time_registration(struct traffic *t, void *memory, size_t bytes, uint64_t *median,
				    struct err *e)
{
	uint64_t ns[MEASURE_RUNS];

	memset(memory, 1, bytes);
	for (unsigned int i = 0; i < MEASURE_RUNS; i++) {
		uint64_t start = monotonic_ns();
		struct ibv_mr *mr = ibv_reg_mr(t->pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE);

		ns[i] = monotonic_ns() - start;
		if (!mr)
			return traffic_memory_error(t, -errno, bytes, e);
		ibv_dereg_mr(mr);
	}
	qsort(ns, MEASURE_RUNS, sizeof(ns[0]), memory_cmp_u64);
	*median = ns[MEASURE_RUNS / 2];
	return 0;
}

static void memory_measure_pages(struct traffic *t, enum registration_pages pages,
				 struct registration *r)
{
	size_t wanted = (size_t)MEASURE_MIB << 20, bytes = wanted;
	bool want_huge = pages == REGISTRATION_HUGE, huge = false;
	void *p = traffic_pages(&bytes, want_huge, &huge);
	struct err e = {0};
	uint64_t ns = 0;

	if (!p)
		err_sys(&e, -errno, "%u MiB of memory", MEASURE_MIB);
	else if (huge != want_huge)
		err_set(&e, -ENOMEM,
			"fewer than %u MiB of huge pages are free (/proc/sys/vm/nr_hugepages)",
			MEASURE_MIB);
	else if (!memory_time_registration(t, p, wanted, &ns, &e))
		r->ns_per_mib[pages] = ns / MEASURE_MIB ? ns / MEASURE_MIB : 1;
	snprintf(r->why[pages], sizeof(r->why[pages]), "%.150s", e.text);
	if (p)
		munmap(p, bytes);
}

static int memory_first_device(char *buf, size_t size, struct err *e)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	bool found = list && n > 0;

	if (found)
		snprintf(buf, size, "%s", ibv_get_device_name(list[0]));
	if (list)
		ibv_free_device_list(list);
	return found ? 0 : err_set(e, -ENODEV, "no RDMA device on this host");
}

int registration_measure(const char *ibdev, struct registration *r, struct err *e)
{
	struct traffic *t = calloc(1, sizeof(*t));
	int err = 0;

	memset(r, 0, sizeof(*r));
	if (!t)
		return err_sys(e, -ENOMEM, "registration");
	if (ibdev)
		snprintf(t->spec.ibdev, sizeof(t->spec.ibdev), "%s", ibdev);
	else
		err = memory_first_device(t->spec.ibdev, sizeof(t->spec.ibdev), e);
	if (!err)
		err = traffic_open_context(t, e);
	if (!err)
		err = traffic_open_domain(t, e);
	if (!err) {
		snprintf(r->ibdev, sizeof(r->ibdev), "%s", t->spec.ibdev);
		r->memory = t->memory;
		memory_measure_pages(t, REGISTRATION_HOST, r);
		memory_measure_pages(t, REGISTRATION_HUGE, r);
	}
	if (t->pd)
		ibv_dealloc_pd(t->pd);
	if (t->ctx)
		ibv_close_device(t->ctx);
	free(t);
	return err;
}

/* Finds GPUs whose driver exports its memory as dma-buf, by the driver bound to the PCI device.
 * Does not check access rights. */

#define DEVICES_MAX 65536

/* Drivers that export device memory as dma-buf: linux drivers/gpu/drm, drivers/accel. "nvidia" does
 * so through CUDA (cuMemGetHandleForAddressRange). */
static const char *const exporters[] = {
	"amdgpu", "habanalabs", "i915", "nouveau", "nvidia", "xe",
};

/* Returns true for a display controller or an accelerator: the audio function of a card has another
 * driver. */
static bool memory_is_gpu(const char *root, const char *address)
{
	char class[16];
	unsigned long value;

	if (!small_file_line(class, sizeof(class), root, "sys/bus/pci/devices/%s/class", address))
		return false;
	value = strtoul(class, NULL, 16) >> 16;
	return value == 0x03 || value == 0x12;
}

static bool memory_driver_exports(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(exporters); i++)
		if (!strcmp(exporters[i], driver))
			return true;
	return false;
}

bool gpu_find(const char *root, char *buf, size_t size)
{
	struct dirent **list = NULL;
	char path[PATH_MAX], driver[32];
	bool found = false;
	int n;

	buf[0] = '\0';
	if (snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root) >= (int)sizeof(path))
		return false;
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;

		if (!found && i < DEVICES_MAX && name[0] != '.' && memory_is_gpu(root, name) &&
		    small_file_link(driver, sizeof(driver), root, "sys/bus/pci/devices/%s/driver",
				    name) &&
		    memory_driver_exports(driver)) {
			snprintf(buf, size, "%s %.20s", driver, name);
			found = true;
		}
		free(list[i]);
	}
	free(list);
	return found;
}
