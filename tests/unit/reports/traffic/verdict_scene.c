/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verdict_scene.h declares.
 */
#include "tests/unit/reports/traffic/verdict_scene.h"

void put_value(struct run_port *o, enum metric m, unsigned int prio, uint64_t value)
{
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		o->reading[r].has[m] |= (uint8_t)(1u << prio);
		o->reading[r].value[m][prio] = value;
	}
}

void grow_by(struct run_port *o, enum metric m, unsigned int prio, uint64_t by)
{
	o->reading[READ_LOAD_AFTER].value[m][prio] += by;
}

void make_end(struct run_port *o, bool soft)
{
	static const enum metric counted[] = {
		METRIC_RX_BYTES,	METRIC_TX_BYTES,	  METRIC_RDMA_RX_PACKETS,
		METRIC_RDMA_TX_PACKETS, METRIC_OUT_OF_SEQUENCE,	  METRIC_SEQ_NAK_RX,
		METRIC_RETRANSMITS,	METRIC_DUPLICATE_REQUEST, METRIC_RNR_NAK_RX,
		METRIC_RNR_NAK_TX,	METRIC_RETRY_EXCEEDED,	  METRIC_RNR_EXCEEDED,
		METRIC_SEND_ERRORS,	METRIC_LINK_DOWN,
	};

	memset(o, 0, sizeof(*o));
	snprintf(o->netdev, sizeof(o->netdev), "roce0");
	o->soft = soft;
	o->speed_mbps = 10000;
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		counters_clear(&o->reading[r]);
		o->reading[r].when_ns = r * 10 * S;
		o->has |= 1u << r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		put_value(o, counted[i], 0, 1000);
}

void make_result(struct traffic_class_result *r, bool requester)
{
	memset(r, 0, sizeof(*r));
	rate_series_init(&r->goodput, S);
	if (!requester) {
		r->arrived = 1526;
		r->arrived_bytes = r->checked_bytes = 100 * MB;
		return;
	}
	r->messages = 1526;
	r->bytes = 100 * MB;
	for (unsigned int i = 0; i < 100; i++)
		rate_series_add(&r->goodput, S + i * S / 10, MB);
	rate_series_stop(&r->goodput, 11 * S);
	for (unsigned int i = 0; i < 1526; i++)
		histogram_add(&r->latency, 300000 + i);
}

void make_scene(struct scene *s, enum traffic_mode mode, bool soft)
{
	memset(s, 0, sizeof(*s));
	s->spec.mode = mode;
	s->spec.class_count = 1;
	s->spec.class[0].qps = 4;
	s->spec.class[0].message_bytes = 65536;
	s->spec.class[0].rate_bytes_per_s = 10 * MB;
	if (mode == TRAFFIC_COUNT) {
		s->spec.class[0].transport = TRAFFIC_UC;
		s->spec.class[0].verb = TRAFFIC_SEND;
	}
	for (unsigned int i = 0; i < 2; i++) {
		make_end(&s->end[i], soft);
		s->ends[i] = (struct verdict_end){i ? "h2" : "h1", &s->end[i]};
		make_result(&s->result[i][0], !i);
		s->report[i].class_count = 1;
		s->report[i].class = s->result[i];
		s->report[i].total.bytes = 100 * MB;
		s->report[i].total.mtu = 4096;
	}
	grow_by(&s->end[0], METRIC_TX_BYTES, 0, 102 * MB);
	grow_by(&s->end[1], METRIC_RX_BYTES, 0, 102 * MB);
	grow_by(&s->end[0], METRIC_RX_BYTES, 0, 1 * MB);
	grow_by(&s->end[1], METRIC_TX_BYTES, 0, 1 * MB);
	grow_by(&s->end[0], METRIC_RDMA_TX_PACKETS, 0, 24416);
	grow_by(&s->end[1], METRIC_RDMA_RX_PACKETS, 0, 24416);
	grow_by(&s->end[1], METRIC_RDMA_TX_PACKETS, 0, 3000);
	grow_by(&s->end[0], METRIC_RDMA_RX_PACKETS, 0, 3000);
	s->pair = (struct verdict_pair){
		.spec = &s->spec,
		.server = 1,
		.client_report = &s->report[0],
		.server_report = &s->report[1],
	};
	s->in = (struct verdict_input){.end = s->ends,
				       .end_count = 2,
				       .pair = &s->pair,
				       .pair_count = 1,
				       .lossless = 1 << 3,
				       .accountable = soft};
}

void judge(struct scene *s)
{
	static struct traffic_verdict before;
	struct err e = {0};

	traffic_verdict_clear(&before);
	if (traffic_verdict_make(&s->in, &s->v, &e))
		fail_msg("%s", e.text);
	before = s->v;
}

const char *all_reasons(const struct traffic_verdict *v)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < reason_count(v) && used < sizeof(text) - 1; i++) {
		const struct finding *f = reason_at(v, i);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "\n  %s %s: %s",
					 verdict_word(traffic_reason_verdict(f)),
					 reason_table[f->reason].word, f->text);
	}
	return text;
}

/* What was judged so far, in words. */
static char *judged_text;
static size_t judged_size;

static void record_judged(const char *name, const struct traffic_verdict *v)
{
	static FILE *out;

	if (!out)
		out = open_memstream(&judged_text, &judged_size);
	assert_non_null(out);
	fprintf(out, "%s: %s%s\n", name, verdict_word(v->verdict), all_reasons(v));
	fflush(out);
}

void expect_frozen(const char *path)
{
	FILE *file = fopen(path, getenv("GOLDEN_UPDATE") ? "w+" : "r");
	char *frozen = calloc(1, judged_size + 1);

	assert_non_null(file);
	assert_true(judged_size > 0);
	if (getenv("GOLDEN_UPDATE"))
		assert_int_equal(fwrite(judged_text, 1, judged_size, file), judged_size);
	rewind(file);
	(void)!fread(frozen, 1, judged_size, file);
	for (size_t i = 0; i < judged_size; i++)
		if (frozen[i] != judged_text[i])
			fail_msg("%s: differs at byte %zu; judged now: %.600s", path, i,
				 judged_text + (i > 300 ? i - 300 : 0));
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
	free(frozen);
}

void expect(const char *name, const struct traffic_verdict *v, enum verdict want, int reason,
	    const char *says)
{
	unsigned int graver = 0;
	const char *text = NULL;

	record_judged(name, v);

	for (unsigned int i = 0; i < reason_count(v); i++) {
		const struct finding *f = reason_at(v, i);

		if ((int)f->reason == reason)
			text = f->text;
		else if (want != VERDICT_PASS && traffic_reason_verdict(f) == want)
			graver++;
	}
	if (findings_exit(&v->findings, SEVERITY_ERROR, NULL, 0) != reason_exit(v))
		fail_msg("%s: exit code %d, %s:%s", name,
			 findings_exit(&v->findings, SEVERITY_ERROR, NULL, 0),
			 verdict_word(v->verdict), all_reasons(v));
	if (v->verdict != want || (reason >= 0 && !text) || graver ||
	    (says && text && !strstr(text, says)))
		fail_msg("%s: want %s%s%s (%s), got %s:%s", name, verdict_word(want),
			 reason >= 0 ? " " : "", reason >= 0 ? reason_table[reason].word : "",
			 says ? says : "", verdict_word(v->verdict), all_reasons(v));
}

void run_fault(const struct fault_row *row, struct scene *s)
{
	make_scene(s, row->mode, row->soft);
	s->spec.timeout = row->mode == TRAFFIC_STRICT ? 14 : 18;
	if (row->change)
		row->change(s);
	judge(s);
}
