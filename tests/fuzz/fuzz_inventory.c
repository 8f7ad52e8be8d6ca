/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An inventory: whatever is wrong is found and can be shown; what is taken names every host once,
 * and a run of it can be begun. An input is the file.
 */
#include <errno.h>

#include "probe/record/run.h"
#include "profiles/yaml/yaml_schema.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/yaml_file.h"

#define FEW_HOSTS 64
#define GOOD_MAX  4096
#define TRIES	  4

FUZZ_CROSS(yaml)

/* The last input that was taken, if it has few hosts: thousands take their time. */
static uint8_t good[GOOD_MAX];
static size_t good_size;

static bool is_taken(const uint8_t *data, size_t size)
{
	struct err e = {0};
	struct fabric f;
	struct diags d;
	int err;

	diags_init(&d);
	err = fabric_load(fuzz_file("f.yaml", data, size), &f, &d, &e);
	if (!err)
		fabric_clear(&f);
	diags_clear(&d);
	return !err;
}

/* Hardly an inventory to which something was done is taken, and none that was not taken before: one
 * in two begins with one that was, and is the first of several changes that is taken again. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size_t made = 0;

	if (seed % 2 || !good_size || good_size > max_size)
		return mutate_yaml(data, size, max_size, seed);
	for (unsigned int i = 0; i < TRIES; i++) {
		memcpy(data, good, good_size);
		made = mutate_yaml(data, good_size, max_size, seed + i * 2654435761u);
		if (is_taken(data, made))
			break;
	}
	return made;
}

/* What goes into a command line. */
static void check_host(const struct fabric_host *h)
{
	HOLDS(run_host_name_ok(h->name));
	HOLDS(h->target[0] && h->target[0] != '-' && !strpbrk(h->target, " \t\r\n'\"\\;&|<>$`"));
	HOLDS(h->agent[0] && h->port_count);
	for (unsigned int i = 0; i < h->port_count; i++)
		HOLDS(schema_name_ok(h->port[i].interface));
}

static void check_fabric(const struct fabric *f)
{
	struct run r;

	HOLDS(f->host_count);
	for (unsigned int i = 0; i < f->host_count; i++)
		check_host(&f->host[i]);
	HOLDS(fabric_find_host(f, f->host[f->host_count - 1].name) == (int)f->host_count - 1);
	HOLDS(!run_init(&r, f));
	HOLDS(r.host_count == f->host_count);
	run_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file("f.yaml", data, size);
	struct err e = {0};
	struct fabric f;
	struct diags d;
	int err;

	fuzz_yaml_begin(data, size);
	(void)fabric_is_inventory(path);
	diags_init(&d);
	err = fabric_load(path, &f, &d, &e);
	fuzz_yaml_check(err, &d);
	if (!err) {
		fuzz_reach(FUZZ_TAKEN);
		if (size <= GOOD_MAX && f.host_count <= FEW_HOSTS)
			memcpy(good, data, good_size = size);
		check_fabric(&f);
		fabric_clear(&f);
	}
	diags_clear(&d);
	return 0;
}
