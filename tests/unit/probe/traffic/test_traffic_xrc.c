/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XRC between two ends in one process: how its queue pairs come up, what each end has of them, a
 * peer that tells wrong numbers, and that nothing is left behind whatever step fails. That every
 * verb moves its data, and that a loss is found, is with the other transports (test_traffic_run,
 * test_traffic_loss).
 */
#include "probe/traffic/traffic_worker.h"
#include "tests/unit/probe/traffic/traffic_pair.h"

static struct traffic_class xrc_of(enum traffic_verb verb, enum traffic_direction direction)
{
	struct traffic_class k = base;

	k.transport = TRAFFIC_XRC;
	k.verb = verb;
	k.direction = direction;
	return k;
}

static const struct fake_qp *queue(uint32_t qpn, enum ibv_qp_type type)
{
	const struct fake_qp *q = fake_find_qp(qpn);

	assert_non_null(q);
	assert_int_equal(q->qp.qp_type, type);
	assert_int_equal(q->qp.state, IBV_QPS_RTS);
	return q;
}

/* Requests of `from` to `to`: both know each other, and answers come back by the same way. */
static void expect_line(const struct traffic_qp *from, const struct traffic_qp *to)
{
	const struct fake_qp *sends = queue(from->qpn, IBV_QPT_XRC_SEND);
	const struct fake_qp *takes = queue(to->target_qpn, IBV_QPT_XRC_RECV);

	assert_int_equal(sends->peer_qpn, to->target_qpn);
	assert_int_equal(takes->peer_qpn, from->qpn);
	assert_int_equal(sends->attr.sq_psn, takes->attr.rq_psn);
	assert_int_equal(sends->attr.rq_psn, takes->attr.sq_psn);
	assert_int_equal(sends->attr.ah_attr.grh.flow_label, takes->attr.ah_attr.grh.flow_label);
	assert_non_null(fake_find_srq(takes, to->srqn));
}

/* Attributes in each state, by the table of fake_states.h, and their values. */
static void test_bringup(void **state)
{
	static const enum traffic_mode modes[] = {TRAFFIC_OBSERVE, TRAFFIC_STRICT};
	struct traffic_endpoint *c = calloc(2, sizeof(*c)), *s = c + 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct pair p = pair_of(xrc_of(TRAFFIC_WRITE, TRAFFIC_FORWARD), modes[i]);
		const struct fake_qp *sends, *takes;

		p.client.spec.class[0].tos = p.server.spec.class[0].tos = 106;
		open_pair(&p);
		traffic_get_endpoint(p.client.traffic, c);
		traffic_get_endpoint(p.server.traffic, s);
		expect_line(&c->qp[0], &s->qp[0]);
		sends = queue(c->qp[0].qpn, IBV_QPT_XRC_SEND);
		takes = queue(s->qp[0].target_qpn, IBV_QPT_XRC_RECV);
		assert_int_equal(sends->retries, modes[i] == TRAFFIC_STRICT ? 0 : 6);
		assert_int_equal(sends->attr.rnr_retry, 6);
		assert_in_range(sends->attr.timeout, modes[i] == TRAFFIC_STRICT ? 0 : 1, 31);
		assert_int_equal(sends->attr.qp_access_flags, 0);
		assert_int_equal(takes->attr.qp_access_flags,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		assert_int_equal(takes->attr.min_rnr_timer, 12);
		assert_int_equal(sends->attr.ah_attr.grh.traffic_class, 106);
		assert_int_equal(takes->attr.ah_attr.grh.traffic_class, 106);
		close_pair(&p);
	}
	free(c);
}

/* One way an end has one half of XRC, both ways it has both; the receive queue is the flow's own.
 */
static void test_halves(void **state)
{
	static const enum traffic_direction ways[] = {TRAFFIC_FORWARD, TRAFFIC_BACKWARD,
						      TRAFFIC_BOTH};
	struct traffic_endpoint *c = calloc(2, sizeof(*c)), *s = c + 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct traffic_class k = xrc_of(TRAFFIC_SEND, ways[i]);
		bool forth = ways[i] != TRAFFIC_BACKWARD, back = ways[i] != TRAFFIC_FORWARD;
		struct pair p;

		k.qps = 3;
		p = pair_of(k, TRAFFIC_OBSERVE);
		open_pair(&p);
		traffic_get_endpoint(p.client.traffic, c);
		traffic_get_endpoint(p.server.traffic, s);
		assert_int_equal(fake.xrcds, 2);
		assert_int_equal(fake.srqs, 3 * (forth + back));
		assert_int_equal(fake.qps, 2 + 6 * (forth + back)); /* and control */
		for (unsigned int n = 0; n < 3; n++) {
			assert_int_equal(!c->qp[n].qpn, !forth);
			assert_int_equal(!s->qp[n].target_qpn, !forth);
			assert_int_equal(!s->qp[n].qpn, !back);
			assert_int_equal(!c->qp[n].target_qpn, !back);
			if (forth)
				expect_line(&c->qp[n], &s->qp[n]);
			if (back)
				expect_line(&s->qp[n], &c->qp[n]);
		}
		close_pair(&p);
	}
	free(c);
}

/* Beside other transports on the same threads: each class gets what is its own. */
static void test_beside(void **state)
{
	struct pair p = pair_of(xrc_of(TRAFFIC_SEND_IMM, TRAFFIC_BOTH), TRAFFIC_OBSERVE);
	const struct traffic_class_result *c, *s;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct traffic_spec *spec = i ? &p.server.spec : &p.client.spec;

		spec->threads = 2;
		spec->class_count = 4;
		spec->class[1] = xrc_of(TRAFFIC_READ, TRAFFIC_FORWARD);
		spec->class[2] = base;
		spec->class[3] = xrc_of(TRAFFIC_WRITE_IMM, TRAFFIC_BACKWARD);
		for (unsigned int k = 0; k < 4; k++)
			spec->class[k].qps = 2 + k;
	}
	run_pair(&p);
	expect_clean(&p, "four classes");
	c = p.client.report.class;
	s = p.server.report.class;
	expect_moved(&p, "the first of four");
	assert_int_equal(c[1].messages, 3000);
	assert_int_equal(s[2].arrived, 4000);
	assert_int_equal(c[3].arrived, 5000);
	assert_int_equal(s[0].checked_bytes, 2000 * base.message_bytes);
	close_pair(&p);
}

/* The number of no receive queue, and of one that is in another domain: the device refuses, with
 * every verb, and nothing is moved. */
static void test_wrong_srqn(void **state)
{
	struct traffic_endpoint *self = calloc(2, sizeof(*self));

	(void)state;
	for (unsigned int i = 0; i < 2 * TRAFFIC_VERBS; i++) {
		struct pair p = pair_of(xrc_of((enum traffic_verb)(i / 2), TRAFFIC_BOTH),
					TRAFFIC_OBSERVE);
		struct err e = {0};

		assert_int_equal(open_ends(&p, self, &e), 0);
		self[1].qp[0].srqn = i % 2 ? self[0].qp[0].srqn : 0xffffff;
		assert_int_equal(traffic_connect(p.client.traffic, &self[1], &e), 0);
		assert_int_equal(traffic_connect(p.server.traffic, &self[0], &e), 0);
		go_pair(&p);
		assert_int_equal(p.client.report.total.cause, CAUSE_REMOTE);
		assert_non_null(strstr(p.client.report.total.detail, "REM_INV_REQ_ERR"));
		assert_int_equal(p.client.report.class->messages, 0);
		assert_int_equal(p.server.report.class->arrived, 0);
		close_pair(&p);
	}
	free(self);
}

/* A peer that lacks the half which is needed, or names a queue pair of management. */
static void test_peer_refused(void **state)
{
	struct traffic_endpoint *self = calloc(2, sizeof(*self));
	struct pair p = pair_of(xrc_of(TRAFFIC_SEND, TRAFFIC_FORWARD), TRAFFIC_OBSERVE);
	struct err e = {0};

	(void)state;
	assert_int_equal(open_ends(&p, self, &e), 0);
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		struct traffic_endpoint *wrong = calloc(1, sizeof(*wrong));

		*wrong = self[1];
		wrong->qp[0].target_qpn = qpn;
		assert_int_equal(traffic_connect(p.client.traffic, wrong, &e), -EPROTO);
		assert_non_null(strstr(e.text, "class 0 QP 0"));
		assert_non_null(strstr(e.text, "no receiving XRC queue pair"));
		*wrong = self[0];
		wrong->qp[0].qpn = qpn;
		assert_int_equal(traffic_connect(p.server.traffic, wrong, &e), -EPROTO);
		assert_non_null(strstr(e.text, "no sending XRC queue pair"));
		free(wrong);
	}
	assert_int_equal(traffic_run(p.client.traffic, &p.client.stop, &p.client.report, &e),
			 -ENOTCONN);
	assert_int_equal(fake.posts, 0);
	close_pair(&p);
	free(self);
}

/* What does not go with XRC, before anything is made. */
static void test_refused(void **state)
{
	struct pair p = pair_of(xrc_of(TRAFFIC_SEND, TRAFFIC_FORWARD), TRAFFIC_OBSERVE);
	struct traffic *t = NULL;
	struct err e = {0};

	(void)state;
	strcpy(p.client.spec.ibdev, "fake0");
	p.client.spec.bringup = TRAFFIC_CM;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EINVAL);
	assert_non_null(strstr(e.text, "rdma_cm supports RC only"));
	p.client.spec.bringup = TRAFFIC_RAW;
	p.client.spec.mode = TRAFFIC_COUNT;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EINVAL);
	p.client.spec.mode = TRAFFIC_STRICT; /* SEND */
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EINVAL);
	p.client.spec.mode = TRAFFIC_OBSERVE;
	fake.xrc = false;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.text, "fake0 does not support XRC: no IBV_DEVICE_XRC"));
	assert_null(t);
	assert_int_equal(fake.steps, 0);
}

/* Each step in turn fails: it is told with the device's name, and all that was made is given back
 * in an order that the kernel takes. */
static void test_steps(void **state)
{
	bool failed = true;
	uint64_t n = 0;

	(void)state;
	for (; failed; n++) {
		struct traffic_class k = xrc_of(TRAFFIC_SEND, TRAFFIC_BOTH);
		struct err e = {0};
		struct pair p;

		k.qps = 2;
		p = pair_of(k, TRAFFIC_OBSERVE);
		fake.fail_at = n;
		failed = try_pair(&p, &e);
		assert_int_equal(failed, fake.steps > n);
		if (failed)
			assert_non_null(strstr(e.text, "fake0"));
		close_pair(&p);
	}
	assert_in_range(n, 60, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bringup),	     cmocka_unit_test(test_halves),
		cmocka_unit_test(test_beside),	     cmocka_unit_test(test_wrong_srqn),
		cmocka_unit_test(test_peer_refused), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
