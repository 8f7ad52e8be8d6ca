/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow table against generated captures whose truth is known: every counter of every flow, for
 * seeds, numbers of QPs, PSNs that wrap, headers alone and whole frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/reader.h"
#include "tests/tools/capgen.h"

#define SEEDS	   20
#define ALL_FAULTS ((1U << CAPGEN_FAULTS) - 1)

static const struct pair {
	const char *name;
	size_t want, have;
} pairs[] = {
#define PAIR(w, h)                                                                                 \
	{                                                                                          \
#h, offsetof(struct capgen_flow, w), offsetof(struct flow, h)                      \
	}
	PAIR(packets, packets),
	PAIR(payload_bytes, payload_bytes),
	PAIR(requests, requests),
	PAIR(responses, responses),
	PAIR(acks, acks),
	PAIR(naks_seq, naks_seq),
	PAIR(naks_other, naks_other),
	PAIR(rnr, rnr),
	PAIR(cnp, cnp),
	PAIR(ce, ecn[3]),
	PAIR(icrc_good, icrc_good),
	PAIR(icrc_bad, icrc_bad),
	PAIR(icrc_unverifiable, icrc_unverifiable),
	PAIR(new_connections, new_connections),
	PAIR(gaps, psn_gaps),
	PAIR(missing, psn_missing),
	PAIR(again, duplicates),
	PAIR(missed_psns, missed_psns),
	PAIR(copies, copies),
	PAIR(wasted, wasted_psns),
	PAIR(nak_ns, nak_ns),
	PAIR(resend_ns, resend_ns),
#undef PAIR
};

#define BURSTS(fault) (1U << CAPGEN_##fault)

/* What is counted once for each burst with one of the faults. */
static const struct verdict {
	const char *name;
	size_t have;
	uint32_t faults;
} verdicts[] = {
#define VERDICT(h, f)                                                                              \
	{                                                                                          \
#h, offsetof(struct flow, h), f                                                    \
	}
	VERDICT(losses_before, BURSTS(LOST) | BURSTS(SELECTIVE)),
	VERDICT(losses_after, BURSTS(LOST_AFTER)),
	VERDICT(corruptions, BURSTS(BAD_ICRC)),
	VERDICT(reordered, BURSTS(REORDERED)),
	VERDICT(go_back_n, BURSTS(LOST) | BURSTS(LOST_AFTER) | BURSTS(BAD_ICRC)),
	VERDICT(selective_repeats, BURSTS(SELECTIVE)),
	VERDICT(timeouts, BURSTS(TIMEOUT) | BURSTS(ACK_LOST)),
	VERDICT(rnr_retries, BURSTS(RNR)),
	VERDICT(read_retries, BURSTS(READ_RETRY)),
	VERDICT(resends, BURSTS(LOST) | BURSTS(SELECTIVE) | BURSTS(LOST_AFTER) | BURSTS(BAD_ICRC)),
	VERDICT(naks_timed, BURSTS(LOST) | BURSTS(SELECTIVE) | BURSTS(BAD_ICRC)),
	VERDICT(unexplained, 0),
#undef VERDICT
};

static uint64_t value_at(const void *base, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const char *)base + offset, sizeof(v));
	return v;
}

static const struct capgen_flow *truth_of(const struct capgen_truth *t, const struct flow *f)
{
	for (uint32_t i = 0; i < t->flow_count; i++)
		if (t->flow[i].qpn == f->dest_qpn && !memcmp(t->flow[i].src, f->src, 16) &&
		    !memcmp(t->flow[i].dst, f->dst, 16))
			return &t->flow[i];
	fail_msg("qpn 0x%06x was not sent to", f->dest_qpn);
	return NULL;
}

static void same(uint64_t seed, uint32_t qpn, const char *name, uint64_t want, uint64_t have)
{
	if (want != have)
		fail_msg("seed %llu, qpn 0x%06x: %s is %llu, not %llu", (unsigned long long)seed,
			 qpn, name, (unsigned long long)have, (unsigned long long)want);
}

static void compare_flow(uint64_t seed, const struct capgen_flow *want, const struct flow *have)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		same(seed, want->qpn, pairs[i].name, value_at(want, pairs[i].want),
		     value_at(have, pairs[i].have));
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		uint64_t bursts = 0;

		for (unsigned int k = 0; k < CAPGEN_FAULTS; k++)
			bursts += (verdicts[i].faults >> k & 1) * want->fault[k];
		same(seed, want->qpn, verdicts[i].name, bursts, value_at(have, verdicts[i].have));
	}
	same(seed, want->qpn, "lost_psns", want->lost_psns - want->tail_psns, have->lost_psns);
}

static void compare(uint64_t seed, const struct capgen_truth *t, const struct capture_summary *s)
{
	unsigned int active = 0;

	assert_int_equal(s->totals.frames, t->frames);
	assert_int_equal(s->totals.roce, t->frames);
	assert_int_equal(s->totals.malformed, 0);
	for (uint32_t i = 0; i < t->flow_count; i++)
		active += t->flow[i].packets != 0;
	assert_int_equal(s->flow_count, active);
	for (unsigned int i = 0; i < s->flow_count; i++)
		compare_flow(seed, truth_of(t, &s->flow[i]), &s->flow[i]);
}

struct table {
	struct flow_table *flows;
	uint64_t frames;
};

static int take(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		uint64_t time_ns)
{
	struct table *t = arg;
	struct packet p;

	packet_decode(1, data, cap_len, wire_len, ++t->frames, time_ns, &p);
	return flow_table_add(t->flows, &p);
}

static void add_faults(const struct capgen_truth *t, uint64_t sum[CAPGEN_FAULTS])
{
	for (uint32_t i = 0; i < t->flow_count; i++)
		for (unsigned int k = 0; k < CAPGEN_FAULTS; k++)
			sum[k] += t->flow[i].fault[k];
}

/* One capture, without a file. */
static void check_run(const struct capgen_options *o, uint64_t sum[CAPGEN_FAULTS])
{
	struct table t = {.flows = flow_table_new(0)};
	struct capture_summary s;
	struct capgen_truth truth;

	assert_non_null(t.flows);
	assert_int_equal(capgen_run(o, take, &t, &truth), 0);
	assert_int_equal(capture_summary_make(t.flows, NULL, DROPS_UNKNOWN, 0, &s), 0);
	compare(o->seed, &truth, &s);
	add_faults(&truth, sum);
	capture_summary_clear(&s);
	capgen_truth_clear(&truth);
	flow_table_free(t.flows);
}

static void check_seeds(struct capgen_options o, unsigned int seeds)
{
	uint64_t sum[CAPGEN_FAULTS] = {0};

	for (o.seed = 1; o.seed <= seeds; o.seed++)
		check_run(&o, sum);
	/* What did not happen was not tested. */
	for (unsigned int i = 0; i < CAPGEN_FAULTS; i++) {
		bool possible = (o.faults >> i & 1) && !(i == CAPGEN_BAD_ICRC && o.snap);

		if (possible && !sum[i])
			fail_msg("nothing was %s", capgen_fault_name((enum capgen_fault)i));
	}
}

static const struct capgen_options one = {
	.requesters = 1,
	.frames = 5000,
	.pmtu = 1024,
	.faults = ALL_FAULTS,
	.fault_rate = 300,
	.ce_rate = 20,
	.wrap = true,
};

static void test_one_qp_wrapping(void **state)
{
	(void)state;
	check_seeds(one, SEEDS);
}

static void test_one_qp_headers_only(void **state)
{
	struct capgen_options o = one;

	(void)state;
	o.snap = 96;
	o.pmtu = 4096;
	check_seeds(o, SEEDS);
}

static void test_thousand_qps_wrapping(void **state)
{
	struct capgen_options o = one;

	(void)state;
	o.requesters = 1000;
	o.frames = 40000;
	o.pmtu = 256;
	check_seeds(o, SEEDS);
}

/* Every frame twice, the second one hop later, with others between: whatever was done to the
 * traffic is found as without. */
static void test_mirror_of_two_ports(void **state)
{
	struct capgen_options o = one;

	(void)state;
	o.mirror = true;
	o.requesters = 50;
	o.frames = 10000;
	check_seeds(o, SEEDS);
}

/* Nothing was done to it: nothing is found. */
static void test_clean(void **state)
{
	const struct capgen_options o = {
		.seed = 1, .requesters = 10, .frames = 50000, .pmtu = 1024, .snap = 96};
	struct table t = {.flows = flow_table_new(0)};
	struct capgen_truth truth;

	(void)state;
	assert_int_equal(capgen_run(&o, take, &t, &truth), 0);
	for (unsigned int i = 0; i < flow_table_count(t.flows); i++) {
		struct flow f;

		flow_table_get(t.flows, i, &f);
		assert_int_equal(f.naks_seq + f.naks_other + f.rnr + f.cnp + f.ecn[3], 0);
		assert_int_equal(f.psn_gaps + f.psn_missing + f.duplicates, 0);
		assert_int_equal(f.new_connections + f.psn_unjudged + f.icrc_bad, 0);
	}
	assert_int_equal(truth.event_count, 0);
	capgen_truth_clear(&truth);
	flow_table_free(t.flows);
}

static void check_file(bool pcapng)
{
	char path[] = "/tmp/test-truth-XXXXXX";
	struct capgen_options o = one;
	struct capture_summary s;
	struct capgen_truth truth;
	struct err e = {0};
	struct source *source;
	struct packet p;
	struct reader r;
	int fd = mkstemp(path), got;

	assert_true(fd >= 0);
	close(fd);
	o.seed = 99;
	o.requesters = 8;
	assert_int_equal(capgen_write(&o, path, pcapng, &truth), 0);
	assert_int_equal(source_open_file(path, &source, &e), 0);
	unlink(path);
	assert_int_equal(reader_init(&r, source, 0, &e), 0);
	while ((got = reader_next(&r, -1, &p, &e)) > 0)
		;
	assert_int_equal(got, 0);
	assert_int_equal(reader_summary(&r, &s), 0);
	compare(o.seed, &truth, &s);
	capture_summary_clear(&s);
	capgen_truth_clear(&truth);
	reader_clear(&r);
}

static void test_files(void **state)
{
	(void)state;
	check_file(false);
	check_file(true);
}

struct digest {
	uint64_t sum;
};

static int digest_frame(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
			uint64_t time_ns)
{
	struct digest *d = arg;

	d->sum = (d->sum ^ time_ns ^ wire_len) * UINT64_C(0x100000001b3);
	for (uint32_t i = 0; i < cap_len; i++)
		d->sum = (d->sum ^ data[i]) * UINT64_C(0x100000001b3);
	return 0;
}

static uint64_t digest_of(uint64_t seed)
{
	struct capgen_options o = one;
	struct capgen_truth truth;
	struct digest d = {0};

	o.seed = seed;
	assert_int_equal(capgen_run(&o, digest_frame, &d, &truth), 0);
	capgen_truth_clear(&truth);
	return d.sum;
}

static void test_seed_decides(void **state)
{
	(void)state;
	assert_true(digest_of(7) == digest_of(7));
	assert_true(digest_of(7) != digest_of(8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_qp_wrapping),
		cmocka_unit_test(test_one_qp_headers_only),
		cmocka_unit_test(test_thousand_qps_wrapping),
		cmocka_unit_test(test_mirror_of_two_ports),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_seed_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
