/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QP numbers that are used again with PSNs nearby, beside requests that are sent again: what the
 * receiver answers tells them apart.
 */
#include "tests/unit/capture/flow/two_ways.h"

#define RDMA_READ 0x0c
#define READ_ONLY 0x10
#define C_QPN	  0x44 /* another QP of A */

/* What happens behind 10 to 19, all of them acknowledged with MSN 10. */
static const struct row {
	const char *name;
	struct {
		char what; /* s(end), r(ead), a(cknowledged), n(ot), d(ata of a READ) */
		uint32_t psn, msn, qpn; /* qpn 0: A_QPN */
		uint64_t time_ns;
	} step[10];
	uint64_t new_connections, timeouts, unexplained, duplicates;
	uint32_t peer_qpn;
} rows[] = {
	{"a new connection between the same two",
	 {{'s', 10, 0, 0, 500 * MS},
	  {'s', 11, 0, 0, 500 * MS + 1 * US},
	  {'a', 11, 2, 0, 500 * MS + 3 * US},
	  {'s', 12, 0, 0, 500 * MS + 4 * US},
	  {'a', 12, 3, 0, 500 * MS + 7 * US}},
	 1,
	 0,
	 0,
	 0,
	 A_QPN},
	{"a new one of another QP",
	 {{'s', 10, 0, 0, 500 * MS},
	  {'a', 10, 1, C_QPN, 500 * MS + 3 * US},
	  {'s', 11, 0, 0, 500 * MS + 4 * US},
	  {'a', 11, 2, C_QPN, 500 * MS + 7 * US},
	  {'s', 12, 0, 0, 500 * MS + 8 * US},
	  {'s', 13, 0, 0, 500 * MS + 9 * US}},
	 1,
	 0,
	 0,
	 0,
	 C_QPN},
	{"at once",
	 {{'s', 12, 0, 0, 300 * US},
	  {'s', 13, 0, 0, 301 * US},
	  {'s', 14, 0, 0, 302 * US},
	  {'a', 12, 1, 0, 303 * US},
	  {'s', 15, 0, 0, 304 * US}},
	 1,
	 0,
	 0,
	 0,
	 A_QPN},
	{"its first is refused",
	 {{'s', 15, 0, 0, 500 * MS},
	  {'s', 16, 0, 0, 500 * MS + 1 * US},
	  {'n', 15, 0, 0, 500 * MS + 3 * US},
	  {'s', 15, 0, 0, 500 * MS + 5 * US},
	  {'s', 16, 0, 0, 500 * MS + 6 * US}},
	 1,
	 0,
	 0,
	 2,
	 A_QPN},
	{"the acknowledgement was lost behind the capture: the last is acknowledged again",
	 {{'s', 18, 0, 0, 500 * MS},
	  {'a', 19, 10, 0, 500 * MS + 2 * US},
	  {'s', 19, 0, 0, 500 * MS + 3 * US},
	  {'a', 19, 10, 0, 500 * MS + 5 * US},
	  {'s', 20, 0, 0, 500 * MS + 6 * US}},
	 0,
	 1,
	 0,
	 2,
	 A_QPN},
	{"a receiver that acknowledges what it has by its own PSN",
	 {{'s', 15, 0, 0, 500 * MS},
	  {'a', 15, 10, 0, 500 * MS + 2 * US},
	  {'s', 16, 0, 0, 500 * MS + 3 * US},
	  {'a', 16, 10, 0, 500 * MS + 5 * US}},
	 0,
	 1,
	 0,
	 2,
	 A_QPN},
	{"nobody answers",
	 {{'s', 10, 0, 0, 500 * MS}, {'s', 11, 0, 0, 500 * MS + 1 * US}},
	 0,
	 1,
	 0,
	 2,
	 A_QPN},
	{"a READ is answered again with its own PSN",
	 {{'r', 20, 0, 0, 400 * US},
	  {'d', 20, 1, 0, 402 * US},
	  {'s', 21, 0, 0, 403 * US},
	  {'a', 21, 2, 0, 405 * US},
	  {'r', 20, 0, 0, 500 * MS},
	  {'d', 20, 1, 0, 500 * MS + 2 * US},
	  {'s', 21, 0, 0, 500 * MS + 3 * US},
	  {'a', 21, 2, 0, 500 * MS + 5 * US}},
	 0,
	 1,
	 0,
	 2,
	 A_QPN},
	{"far away, and of another QP",
	 {{'s', 0x800000, 0, 0, 300 * US},
	  {'a', 0x800000, 1, C_QPN, 303 * US},
	  {'s', 0x800001, 0, 0, 304 * US},
	  {'a', 0x800001, 2, C_QPN, 307 * US}},
	 1,
	 0,
	 0,
	 0,
	 C_QPN},
};

static void answer_to(struct flow_table *t, char what, uint32_t psn, uint32_t msn, uint32_t qpn,
		      uint64_t time_ns)
{
	struct packet p = packet(true, what == 'd' ? READ_ONLY : ACK, psn, time_ns);

	p.aeth.syndrome = what == 'n' ? NAK : ACKED;
	p.aeth.msn = msn;
	p.dest_qpn = qpn ? qpn : A_QPN;
	add_packet(t, p);
}

static void again_or_anew(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct flow_table *t = flow_table_new(0);
		struct flow f;

		for (uint32_t psn = 10; psn < 20; psn++) {
			send_one(t, psn, psn * 10 * US);
			answer_to(t, 'a', psn, psn - 9, A_QPN, (psn * 10 + 5) * US);
		}
		for (size_t k = 0; r->step[k].what; k++) {
			uint32_t psn = r->step[k].psn;
			struct packet p = packet(false, RDMA_READ, psn, r->step[k].time_ns);

			p.reth.dma_len = 64;
			if (r->step[k].what == 'r')
				add_packet(t, p);
			else if (r->step[k].what == 's')
				send_one(t, psn, r->step[k].time_ns);
			else
				answer_to(t, r->step[k].what, psn, r->step[k].msn, r->step[k].qpn,
					  r->step[k].time_ns);
		}
		f = flow_to(t, B_QPN);
		if (f.new_connections != r->new_connections || f.timeouts != r->timeouts ||
		    f.unexplained != r->unexplained || f.duplicates != r->duplicates ||
		    f.reverse_qpn != r->peer_qpn || f.psn_gaps || !f.paired)
			fail_msg("%s: %llu new, %llu timeouts, %llu unexplained, %llu again, peer "
				 "0x%x",
				 r->name, (unsigned long long)f.new_connections,
				 (unsigned long long)f.timeouts, (unsigned long long)f.unexplained,
				 (unsigned long long)f.duplicates, f.reverse_qpn);
		flow_table_free(t);
	}
}

/* Behind a new connection losses are judged as ever. */
static void losses_go_on(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct flow f;

	(void)state;
	for (uint32_t psn = 10; psn < 20; psn++) {
		send_one(t, psn, psn * 10 * US);
		answer_to(t, 'a', psn, psn - 9, A_QPN, (psn * 10 + 5) * US);
	}
	send_one(t, 10, 500 * MS);
	answer_to(t, 'a', 10, 1, C_QPN, 500 * MS + 3 * US);
	send_one(t, 11, 500 * MS + 4 * US);
	answer_to(t, 'a', 11, 2, C_QPN, 500 * MS + 7 * US);
	send_one(t, 13, 500 * MS + 8 * US);
	answer_to(t, 'n', 12, 2, C_QPN, 500 * MS + 11 * US);
	send_one(t, 12, 500 * MS + 15 * US);
	send_one(t, 13, 500 * MS + 16 * US);
	f = flow_to(t, B_QPN);
	assert_int_equal(f.new_connections, 1);
	assert_int_equal(f.psn_gaps, 1);
	assert_int_equal(f.psn_missing, 0);
	assert_int_equal(f.lost_psns, 1);
	assert_int_equal(f.losses_before, 1);
	assert_int_equal(f.go_back_n, 1);
	assert_int_equal(f.duplicates, 1);
	flow_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(again_or_anew),
		cmocka_unit_test(losses_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
