/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of the two ports and GIDs of a probe, on snapshots made by hand.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/gid_select.h"

struct host {
	struct snapshot snapshot;
	struct port port[4];
};

static struct port *add_port(struct host *h, const char *ibdev, const char *cidr)
{
	struct port *p = &h->port[h->snapshot.port_count++];

	h->snapshot.port = h->port;
	memset(p, 0, sizeof(*p));
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", ibdev);
	snprintf(p->netdev, sizeof(p->netdev), "eth%u", h->snapshot.port_count - 1);
	p->ib_port = 1;
	p->ib_active = true;
	p->active_mtu = 4096;
	if (cidr) {
		snprintf(p->pci_slot.subnet[0].cidr, sizeof(p->pci_slot.subnet[0].cidr), "%s",
			 cidr);
		p->pci_slot.subnet_count = 1;
	}
	return p;
}

static void add_gid(struct port *p, uint8_t type, const char *address)
{
	struct gid *g = &p->gid[p->gid_count];

	memset(g, 0, sizeof(*g));
	g->index = p->gid_count++;
	g->type = type;
	if (inet_pton(AF_INET6, address, g->raw) != 1) {
		g->raw[10] = g->raw[11] = 0xff;
		assert_int_equal(inet_pton(AF_INET, address, g->raw + 12), 1);
	}
}

static struct endpoint_request any(const char *name)
{
	return (struct endpoint_request){
		.name = name, .ib_port = ENDPOINT_ANY, .gid_index = ENDPOINT_ANY, .address = ""};
}

static int choose(const struct host *a, const struct host *b, const struct endpoint_request wish[2],
		  struct endpoints *ends, struct err *e)
{
	const struct snapshot *snapshot[2] = {&a->snapshot, &b->snapshot};

	memset(e, 0, sizeof(*e));
	return endpoints_select(snapshot, wish, ends, e);
}

/* As a NIC has it: v1 and v2 of the link-local and of the IPv4 address. */
static void usual(struct host *h, const char *ibdev, const char *address, const char *cidr)
{
	struct port *p = add_port(h, ibdev, cidr);

	add_gid(p, GID_ROCE_V1, "fe80::1");
	add_gid(p, GID_ROCE_V2, "fe80::1");
	add_gid(p, GID_ROCE_V1, address);
	add_gid(p, GID_ROCE_V2, address);
}

/* Two hosts and what is chosen of them. */
struct scene {
	struct host a, b;
	struct endpoint_request wish[2];
	struct endpoints ends;
	struct err e;
};

static void begin(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->wish[0] = any("a");
	s->wish[1] = any("b");
}

/* Each with one port, in one subnet. */
static void begin_usual(struct scene *s, const char *cidr)
{
	begin(s);
	usual(&s->a, "x", "10.0.0.1", cidr);
	usual(&s->b, "y", "10.0.0.2", cidr);
}

static int choose_in(struct scene *s)
{
	return choose(&s->a, &s->b, s->wish, &s->ends, &s->e);
}

/* A name is that of an RDMA device or of its netdev, for one that looks at a device alone too. */
static void test_device(void **state)
{
	static const struct {
		const char *device;
		int ib_port;
		const char *want; /* NULL: there is none */
	} cases[] = {
		{"x", ENDPOINT_ANY, "x"},    {"eth0", ENDPOINT_ANY, "x"},
		{"eth1", ENDPOINT_ANY, "y"}, {"eth1", 1, "y"},
		{"eth1", 2, NULL},	     {NULL, ENDPOINT_ANY, "y"},
		{"eth", ENDPOINT_ANY, NULL},
	};
	struct host h = {0};

	(void)state;
	add_port(&h, "x", NULL)->ib_active = false;
	add_port(&h, "y", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct endpoint_request wish = any("h1");
		const char *ibdev = NULL;
		struct err e = {0};
		int err;

		wish.device = cases[i].device;
		wish.ib_port = cases[i].ib_port;
		err = endpoint_find_device(&h.snapshot, &wish, &ibdev, &e);
		if (!cases[i].want) {
			assert_int_equal(err, -ENODEV);
			assert_non_null(strstr(e.text, cases[i].device));
			assert_non_null(strstr(e.hint, "x port 1 (eth0)"));
			continue;
		}
		assert_int_equal(err, 0);
		assert_string_equal(ibdev, cases[i].want);
	}
}

static void test_usual(void **state)
{
	struct scene s;

	(void)state;
	begin_usual(&s, "10.0.0.0/24");
	assert_int_equal(choose_in(&s), 0);
	assert_int_equal(s.ends.match, GID_MATCH_SUBNET);
	assert_int_equal(s.ends.gid[0]->index, 3); /* never 0, and no v1 */
	assert_int_equal(s.ends.gid[1]->index, 3);
	assert_int_equal(endpoints_check(&s.ends, s.wish, 0, &s.e), 0);
}

static void test_rails(void **state)
{
	static const struct {
		const char *device0, *device1, *control0, *control1;
		const char *want0, *want1;
		enum gid_match match;
	} cases[] = {
		{NULL, NULL, "", "", "mlx5_0", "bnxt_0", GID_MATCH_SUBNET},
		{"mlx5_1", NULL, "", "", "mlx5_1", "bnxt_1", GID_MATCH_SUBNET},
		{"eth1", NULL, "", "", "mlx5_1", "bnxt_1", GID_MATCH_SUBNET},
		{NULL, "bnxt_1", "", "", "mlx5_1", "bnxt_1", GID_MATCH_SUBNET},
		{"mlx5_0", "bnxt_1", "", "", "mlx5_0", "bnxt_1", GID_MATCH_ROUTED},
		{NULL, NULL, "10.1.0.1", "10.1.0.2", "mlx5_1", "bnxt_1", GID_MATCH_CONTROL},
		{NULL, NULL, "192.0.2.1", "192.0.2.2", "mlx5_0", "bnxt_0", GID_MATCH_SUBNET},
	};
	struct scene s;

	(void)state;
	begin(&s);
	usual(&s.a, "mlx5_0", "10.0.0.1", "10.0.0.0/16");
	usual(&s.a, "mlx5_1", "10.1.0.1", "10.1.0.0/16");
	usual(&s.b, "bnxt_0", "10.0.0.2", "10.0.0.0/16");
	usual(&s.b, "bnxt_1", "10.1.0.2", "10.1.0.0/16");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		s.wish[0].device = cases[i].device0;
		s.wish[1].device = cases[i].device1;
		s.wish[0].address = cases[i].control0;
		s.wish[1].address = cases[i].control1;
		if (choose_in(&s))
			fail_msg("%zu: %s", i, s.e.text);
		if (strcmp(s.ends.port[0]->ibdev, cases[i].want0) ||
		    strcmp(s.ends.port[1]->ibdev, cases[i].want1) || s.ends.match != cases[i].match)
			fail_msg("%zu: %s, %s, %s", i, s.ends.port[0]->ibdev, s.ends.port[1]->ibdev,
				 gid_match_word(s.ends.match));
	}
}

static void test_families_and_routes(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_gid(add_port(&s.a, "x0", NULL), GID_ROCE_V2, "2001:db8::1");
	add_gid(&s.a.port[0], GID_ROCE_V2, "10.0.0.1");
	add_gid(add_port(&s.b, "y0", NULL), GID_ROCE_V2, "10.9.0.1");
	assert_int_equal(choose_in(&s), 0);
	assert_int_equal(s.ends.match, GID_MATCH_ROUTED);
	assert_int_equal(s.ends.gid[0]->index, 1);

	add_gid(&s.b.port[0], GID_ROCE_V2, "2001:db8::2");
	assert_int_equal(choose_in(&s), 0);
	assert_int_equal(s.ends.match, GID_MATCH_SUBNET);
	assert_int_equal(s.ends.gid[0]->index, 0);
	assert_int_equal(s.ends.gid[1]->index, 1);

	s.wish[1].gid_index = 0; /* then only one family is left */
	assert_int_equal(choose_in(&s), 0);
	assert_int_equal(s.ends.gid[0]->index, 1);
}

/* A link-local GID only when its index is given, and only to another one. */
static void test_link_local(void **state)
{
	struct scene s;

	(void)state;
	begin_usual(&s, "10.0.0.0/8");
	s.wish[0].gid_index = s.wish[1].gid_index = 1;
	assert_int_equal(choose_in(&s), 0);
	assert_int_equal(s.ends.match, GID_MATCH_SUBNET);
	s.wish[1].gid_index = ENDPOINT_ANY;
	assert_int_equal(choose_in(&s), -ENOENT);
	assert_non_null(strstr(s.e.text, "the same address family"));
}

static void test_errors(void **state)
{
	struct host empty = {0}, good = {0}, down = {0}, bare = {0}, many = {0};
	const struct {
		const char *name;
		const struct host *a, *b;
		const char *device;
		int ib_port, gid_index, want;
		const char *text, *hint;
	} cases[] = {
		{"no device here", &empty, &good, NULL, ENDPOINT_ANY, ENDPOINT_ANY, -ENODEV,
		 "a: no RDMA device", "doctor"},
		{"no device there", &good, &empty, NULL, ENDPOINT_ANY, ENDPOINT_ANY, -ENODEV,
		 "b: no RDMA device", "rxe"},
		{"no such device", &good, &good, "mlx5_9", ENDPOINT_ANY, ENDPOINT_ANY, -ENODEV,
		 "a: no RDMA device mlx5_9", "mlx5_0 port 1 (eth0)"},
		{"no such port", &good, &good, "mlx5_0", 2, ENDPOINT_ANY, -ENODEV, "no port 2",
		 "mlx5_0 port 1"},
		{"down", &good, &down, NULL, ENDPOINT_ANY, ENDPOINT_ANY, -ENETDOWN,
		 "b: mlx5_0 port 1 is not active", "ip link set eth0 up"},
		{"no address", &good, &bare, NULL, ENDPOINT_ANY, ENDPOINT_ANY, -ENOENT,
		 "b: mlx5_0 port 1: no RoCE v2 GID", "0 v1 10.0.0.9, 1 v2 fe80::9"},
		{"no such GID", &good, &good, NULL, ENDPOINT_ANY, 7, -ENOENT, "no GID at index 7",
		 "3 v2 10.0.0.1"},
		{"which?", &many, &good, NULL, ENDPOINT_ANY, ENDPOINT_ANY, -ENOTUNIQ,
		 "cannot choose", "--peer-dev"},
	};

	(void)state;
	usual(&good, "mlx5_0", "10.0.0.1", "10.0.0.0/24");
	usual(&down, "mlx5_0", "10.0.0.2", "10.0.0.0/24");
	down.port[0].ib_active = false;
	add_gid(add_port(&bare, "mlx5_0", NULL), GID_ROCE_V1, "10.0.0.9");
	add_gid(&bare.port[0], GID_ROCE_V2, "fe80::9");
	usual(&many, "x0", "172.16.0.1", "172.16.0.0/24");
	usual(&many, "x1", "172.17.0.1", "172.17.0.0/24");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct endpoint_request wish[2] = {any("a"), any("b")};
		struct endpoints ends;
		struct err e;

		wish[0].device = cases[i].device;
		wish[0].ib_port = cases[i].ib_port;
		wish[0].gid_index = cases[i].gid_index;
		if (choose(cases[i].a, cases[i].b, wish, &ends, &e) != cases[i].want ||
		    !strstr(e.text, cases[i].text) || !strstr(e.hint, cases[i].hint))
			fail_msg("%s: %s (%s)", cases[i].name, e.text, e.hint);
	}
}

static void test_mtus(void **state)
{
	struct scene s;

	(void)state;
	begin_usual(&s, "10.0.0.0/8");
	s.b.port[0].active_mtu = 1024;
	assert_int_equal(choose_in(&s), 0);
	assert_int_equal(endpoints_check(&s.ends, s.wish, 0, &s.e), -EMSGSIZE);
	assert_non_null(strstr(s.e.text, "a x has 4096, b y has 1024"));
	assert_non_null(strstr(s.e.hint, "-m 1024"));
	assert_int_equal(endpoints_check(&s.ends, s.wish, 1024, &s.e), 0);
	assert_int_equal(endpoints_check(&s.ends, s.wish, 2048, &s.e), -EMSGSIZE);
	assert_non_null(strstr(s.e.text, "b: y"));
	s.b.port[0].active_mtu = 0; /* not known */
	assert_int_equal(endpoints_check(&s.ends, s.wish, 0, &s.e), 0);
}

/* A subnet comes from the other host: nothing it says may do harm. */
static void test_hostile_subnets(void **state)
{
	static const char *const subnets[] = {"",
					      "/",
					      "10.0.0.0",
					      "10.0.0.0/0",
					      "10.0.0.0/33",
					      "10.0.0.0/-1",
					      "x/8",
					      "10.0.0.0/99999999999"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(subnets); i++) {
		struct scene s;

		begin_usual(&s, subnets[i]);
		assert_int_equal(choose_in(&s), 0);
		assert_int_equal(s.ends.match, GID_MATCH_ROUTED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device),	   cmocka_unit_test(test_usual),
		cmocka_unit_test(test_rails),	   cmocka_unit_test(test_families_and_routes),
		cmocka_unit_test(test_link_local), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_mtus),	   cmocka_unit_test(test_hostile_subnets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
