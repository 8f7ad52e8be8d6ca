/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of traffic: what is told of it and of the GPU path, GPUs in a small tree in place of
 * /sys, and what registering costs, over verbs of our own.
 */
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "probe/traffic/traffic_worker.h"
#include "tests/unit/probe/traffic/traffic_pair.h"

static char top[] = "/tmp/test_traffic_memory.XXXXXX";

static void put_device(const char *address, const char *class, const char *driver)
{
	char path[256], target[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s", top, address);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/class", top, address);
	f = fopen(path, "w");
	fputs(class, f);
	fclose(f);
	if (!driver)
		return;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/driver", top, address);
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	assert_int_equal(symlink(target, path), 0);
}

static void make_tree(void)
{
	static const char *const dirs[] = {"sys", "sys/bus", "sys/bus/pci", "sys/bus/pci/devices"};
	char path[128];

	assert_non_null(mkdtemp(top));
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

/* Only a display or accelerator, only with a driver that exports. */
static void test_gpu(void **state)
{
	static const char *const drivers[] = {"amdgpu",	 "habanalabs", "i915",
					      "nouveau", "nvidia",     "xe"};
	char gpu[64];

	(void)state;
	assert_false(gpu_find("/nonexistent", gpu, sizeof(gpu)));
	make_tree();
	put_device("0000:00:01.0", "0x020000\n", "mlx5_core");
	put_device("0000:00:02.0", "0x030000\n", "ast");
	put_device("0000:00:03.0", "0x030200\n", NULL);
	put_device("0000:03:00.1", "0x040300\n", "amdgpu");
	put_device("0000:04:00.0", "junk", "nvidia");
	assert_false(gpu_find(top, gpu, sizeof(gpu)));
	assert_string_equal(gpu, "");
	put_device("0000:05:00.0", "0x120000\n", "habanalabs");
	assert_true(gpu_find(top, gpu, sizeof(gpu)));
	assert_string_equal(gpu, "habanalabs 0000:05:00.0");
	put_device("0000:03:00.0", "0x030200\n", "nvidia"); /* the first by address */
	assert_true(gpu_find(top, gpu, sizeof(gpu)));
	assert_string_equal(gpu, "nvidia 0000:03:00.0");
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		char address[32], want[64];

		snprintf(address, sizeof(address), "0000:02:%02x.0", 0x1f - (unsigned int)i);
		snprintf(want, sizeof(want), "%s %s", drivers[i], address);
		put_device(address, "0x030000\n", drivers[i]);
		assert_true(gpu_find(top, gpu, sizeof(gpu)));
		assert_string_equal(gpu, want);
	}
	nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Whatever is there: it was not tested, and the sentence has the right reason. */
static void test_note(void **state)
{
	static const struct {
		struct traffic_memory m;
		const char *want;
	} cases[] = {
		{{0}, "d0 cannot register dma-buf memory, and no GPU driver exports dma-buf"},
		{{.gpu = "xe 0000:03:00.0"}, "d0 cannot register dma-buf memory"},
		{{.dmabuf = true}, "d0 can register dma-buf memory, but no GPU driver"},
		{{.dmabuf = true, .gpu = "xe 0000:03:00.0"},
		 "d0 can register dma-buf memory and xe 0000:03:00.0 exports it, but this traffic "
		 "uses "
		 "host memory"},
	};
	char text[320];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		traffic_memory_gpu(&cases[i].m, "d0", text, sizeof(text));
		if (strncmp(text, "GPU path not tested: ", 21) ||
		    strncmp(text + 21, cases[i].want, strlen(cases[i].want)))
			fail_msg("case %zu: %s", i, text);
	}
	assert_string_equal(traffic_memory_pages(&(struct traffic_memory){.bytes = 5}),
			    "host pages");
	assert_string_equal(
		traffic_memory_pages(&(struct traffic_memory){.bytes = 5, .huge_bytes = 5}),
		"huge pages");
	assert_string_equal(
		traffic_memory_pages(&(struct traffic_memory){.bytes = 5, .huge_bytes = 4}),
		"host and huge pages");
}

static void test_json(void **state)
{
	const struct traffic_memory m = {5, 4, 3, true, "xe 0000:03:00.0"};
	struct traffic_memory got;
	json_t *json = traffic_memory_to_json(&m);
	struct err e = {0};

	(void)state;
	memset(&got, 0, sizeof(got));
	assert_int_equal(traffic_memory_from_json(json, &got, &e), 0);
	assert_int_equal(got.registration_ns, 3);
	assert_true(got.dmabuf && got.huge_bytes == 4 && got.bytes == 5);
	assert_string_equal(got.gpu, m.gpu);
	json_object_set_new(json, "huge_bytes", json_integer(6)); /* more than there are */
	assert_int_equal(traffic_memory_from_json(json, &got, &e), -EINVAL);
	json_object_set_new(json, "huge_bytes", json_integer(1));
	json_object_set_new(json, "gpu",
			    json_string("a name that is longer than any driver and "
					"address that the kernel has"));
	assert_int_equal(traffic_memory_from_json(json, &got, &e), -EINVAL);
	assert_int_equal(got.huge_bytes, 4);
	json_decref(json);
}

/* What a run tells of both ends. */
static void test_run(void **state)
{
	struct traffic_class k = base;
	struct pair p;

	(void)state;
	k.count = 10;
	for (unsigned int dmabuf = 0; dmabuf < 2; dmabuf++) {
		p = pair_of(k, TRAFFIC_OBSERVE);
		fake.dmabuf = dmabuf;
		run_pair(&p);
		expect_clean(&p, "memory");
		expect_moved(&p, "memory");
		assert_true(p.client.report.memory.bytes >= k.message_bytes);
		assert_int_equal(p.client.report.memory.huge_bytes, 0);
		assert_true(p.client.report.memory.registration_ns > 0);
		assert_int_equal(p.server.report.memory.dmabuf, dmabuf);
		close_pair(&p);
	}
}

static void test_registration(void **state)
{
	struct registration r;
	struct err e = {0};
	bool huge = false;
	size_t bytes = 8u << 20;
	void *p = traffic_pages(&bytes, true, &huge);

	(void)state;
	munmap(p, bytes);
	fake_reset();
	fake.dmabuf = true;
	assert_int_equal(registration_measure("fake0", &r, &e), 0);
	assert_string_equal(r.ibdev, "fake0");
	assert_true(r.ns_per_mib[REGISTRATION_HOST] > 0);
	assert_string_equal(r.why[REGISTRATION_HOST], "");
	assert_true(r.memory.dmabuf);
	if (huge)
		assert_true(r.ns_per_mib[REGISTRATION_HUGE] > 0);
	else
		assert_non_null(strstr(r.why[REGISTRATION_HUGE], "nr_hugepages"));
	assert_int_equal(registration_measure(NULL, &r, &e), 0);
	assert_string_equal(r.ibdev, "fake0");
	fake.no_memory = true;
	assert_int_equal(registration_measure(NULL, &r, &e), 0);
	assert_int_equal(r.ns_per_mib[REGISTRATION_HOST], 0);
	assert_non_null(strstr(r.why[REGISTRATION_HOST], "registering 8192 KiB"));
	assert_int_equal(registration_measure("fake9", &r, &e), -ENODEV);
	assert_non_null(strstr(e.text, "fake9"));
	assert_int_equal(fake.mrs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu),	     cmocka_unit_test(test_note),
		cmocka_unit_test(test_json),	     cmocka_unit_test(test_run),
		cmocka_unit_test(test_registration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
