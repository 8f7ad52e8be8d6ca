/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is told of the memory of traffic, and pages for it.
 */
#include "probe/traffic/traffic_memory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "profiles/base/json_take.h"

const char *traffic_memory_pages(const struct traffic_memory *m)
{
	if (!m->huge_bytes)
		return "host pages";
	return m->huge_bytes < m->bytes ? "host and huge pages" : "huge pages";
}

void traffic_memory_gpu(const struct traffic_memory *m, const char *device, char *buf, size_t size)
{
	const char *no_gpu = "no GPU was found whose driver exports dma-buf";

	if (!m->dmabuf)
		snprintf(buf, size, "GPU path not tested: %s registers no dma-buf memory%s%s",
			 device, m->gpu[0] ? "" : ", and ", m->gpu[0] ? "" : no_gpu);
	else if (!m->gpu[0])
		snprintf(buf, size, "GPU path not tested: %s registers dma-buf memory, but %s",
			 device, no_gpu);
	else
		snprintf(buf, size,
			 "GPU path not tested: %s registers dma-buf memory and %s exports it, but "
			 "this traffic is in host memory",
			 device, m->gpu);
}

json_t *traffic_memory_to_json(const struct traffic_memory *m)
{
	return json_pack("{s:o, s:o, s:o, s:b, s:s, s:s}", "bytes", json_uint(m->bytes),
			 "huge_bytes", json_uint(m->huge_bytes), "registration_ns",
			 json_uint(m->registration_ns), "dmabuf", m->dmabuf, "gpu", m->gpu,
			 "gpu_path", "not tested");
}

int traffic_memory_from_json(const json_t *json, struct traffic_memory *m, struct err *e)
{
	struct traffic_memory v = {0};
	int err = json_take_uint(json, "bytes", 0, JSON_UINT_MAX, &v.bytes, e);

	if (!err)
		err = json_take_uint(json, "huge_bytes", 0, v.bytes, &v.huge_bytes, e);
	if (!err)
		err = json_take_uint(json, "registration_ns", 0, JSON_UINT_MAX, &v.registration_ns,
				     e);
	if (!err)
		err = json_take_bool(json, "dmabuf", &v.dmabuf, e);
	if (!err)
		err = json_take_text(json, "gpu", v.gpu, sizeof(v.gpu), e);
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
		(void)madvise(p, *bytes, MADV_HUGEPAGE); /* a wish */
	return p;
}
