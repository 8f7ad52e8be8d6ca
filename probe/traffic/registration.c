/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ibv_reg_mr costs: pinning pages and telling the device of them. Traffic pays it once before
 * it starts; a program that registers each buffer pays it each time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/traffic/traffic_end.h"

#define MEASURE_MIB  8u
#define MEASURE_RUNS 5u

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Touched before, so that the first run does not pay for the pages themselves. */
static int time_runs(struct traffic *t, void *memory, size_t bytes, uint64_t *median, struct err *e)
{
	uint64_t ns[MEASURE_RUNS];

	memset(memory, 1, bytes);
	for (unsigned int i = 0; i < MEASURE_RUNS; i++) {
		uint64_t start = traffic_now_ns();
		struct ibv_mr *mr = ibv_reg_mr(t->pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE);

		ns[i] = traffic_now_ns() - start;
		if (!mr)
			return traffic_memory_error(t, -errno, bytes, e);
		ibv_dereg_mr(mr);
	}
	qsort(ns, MEASURE_RUNS, sizeof(ns[0]), by_value);
	*median = ns[MEASURE_RUNS / 2];
	return 0;
}

static void measure(struct traffic *t, enum registration_pages pages, struct registration *r)
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
			"%u MiB of huge pages are not free (/proc/sys/vm/nr_hugepages)",
			MEASURE_MIB);
	else if (!time_runs(t, p, wanted, &ns, &e))
		r->ns_per_mib[pages] = ns / MEASURE_MIB ? ns / MEASURE_MIB : 1;
	snprintf(r->why[pages], sizeof(r->why[pages]), "%.150s", e.text);
	if (p)
		munmap(p, bytes);
}

static int first_device(char *buf, size_t size, struct err *e)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	bool found = list && n > 0;

	if (found)
		snprintf(buf, size, "%s", ibv_get_device_name(list[0]));
	if (list)
		ibv_free_device_list(list);
	return found ? 0 : err_set(e, -ENODEV, "no RDMA device here");
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
		err = first_device(t->spec.ibdev, sizeof(t->spec.ibdev), e);
	if (!err)
		err = traffic_open_context(t, e);
	if (!err)
		err = traffic_open_domain(t, e);
	if (!err) {
		snprintf(r->ibdev, sizeof(r->ibdev), "%s", t->spec.ibdev);
		r->memory = t->memory;
		measure(t, REGISTRATION_HOST, r);
		measure(t, REGISTRATION_HUGE, r);
	}
	if (t->pd)
		ibv_dealloc_pd(t->pd);
	if (t->ctx)
		ibv_close_device(t->ctx);
	free(t);
	return err;
}
