/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking test of probes. The server is stopped when the client is done. A failure costs the
 * test, not the probe.
 */
#include "probe/coord/pair_marking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/pair_priv.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

void pair_marking_ends(const struct pair_marking *x, struct marking_endpoints *ends)
{
	for (unsigned int i = 0; i < SIDES; i++) {
		ends->spec[i] = &x->spec[i];
		ends->result[i] = x->has_result[i] ? &x->result[i] : NULL;
	}
}

int pair_marking_read(const json_t *reply, struct marking_result *r, bool *has, struct err *e)
{
	const json_t *result = json_object_get(reply, "result");
	const char *detail;

	if (!marking_result_from_json(result, r, e)) {
		*has = true;
		return r->detail[0] ? err_set(e, -EIO, "%s", r->detail) : 0;
	}
	/* The result of a watchdog has another form, with a detail. */
	detail = json_string_value(json_object_get(result, "detail"));
	return detail && *detail ? err_set(e, -EIO, "%.160s", detail) : e->code;
}

void pair_marking_add(struct run *r, const struct pair_marking *x)
{
	struct marking_endpoints ends;
	struct run_marking *m;
	struct err e;

	m = r->marking = calloc(1, sizeof(*m));
	if (!m)
		return;
	r->marking_count = 1;
	*m = (struct run_marking){.client_host = SIDE_CLIENT, .server_host = SIDE_SERVER};
	pair_marking_ends(x, &ends);
	for (unsigned int i = 0; i < SIDES; i++)
		m->tos[i] = x->spec[i].class[0].tos;
	snprintf(m->error, sizeof(m->error), "%.199s", x->why);
	if (x->has_result[SIDE_CLIENT] && run_marking_fill(m, &ends, &e))
		snprintf(m->error, sizeof(m->error), "the two ends disagree on the packets sent");
}

/* Takes what both ends found out, and the first error. */
static void marking_read_results(struct pair_marking *x, struct load_flow *f)
{
	bool ran = !f->failed;

	for (unsigned int k = 0; ran && k < SIDES; k++) {
		struct err e = {0};
		const json_t *reply = load_reply(f, k, &e);

		if (!reply || pair_marking_read(reply, &x->result[k], &x->has_result[k], &e))
			load_fail(f, k, &e);
	}
	if (f->failed)
		snprintf(x->why, sizeof(x->why), "%.199s", f->e.text);
}

/* Prepares the test of a probe; false when it ended before. */
static bool marking_prepare(struct pair_session *d, struct load_flow *f)
{
	struct pair_marking *x = d->t->echo;
	struct traffic_spec traffic[SIDES];

	for (unsigned int k = 0; k < SIDES; k++)
		traffic[k] = pair_end(d->t, k)->spec;
	marking_specs_make(traffic, d->w->sweep, x->spec);
	d->s.stop = d->w->stop;
	f->failed = session_stopped(&d->s);
	for (unsigned int k = 0; k < SIDES; k++)
		f->failed |= !session_ready(&d->s, k);
	if (f->failed) {
		snprintf(x->why, sizeof(x->why), "the probe ended before the marking test");
		return false;
	}
	for (unsigned int k = 0; k < SIDES; k++)
		f->end[k].spec = marking_spec_to_json(&x->spec[k]);
	f->duration_ms = x->spec[0].duration_ms;
	f->until_client = true;
	session_report(&d->s, "testing DSCP and ECN marking");
	return true;
}

void pairs_marking(struct pairs *x)
{
	struct load l;

	if (!x->one[0].w->marking && !x->one[0].w->sweep)
		return;
	pairs_make_load(x, &l);
	for (unsigned int i = 0; i < x->count; i++) {
		x->one[i].t->echo = calloc(1, sizeof(*x->one[i].t->echo));
		x->flow[i].failed = !x->one[i].t->echo || !marking_prepare(&x->one[i], &x->flow[i]);
	}
	load_open(&l, "echo_open");
	load_connect(&l);
	load_run(&l, 0);
	for (unsigned int i = 0; i < x->count; i++)
		if (x->one[i].t->echo && !x->one[i].t->echo->why[0])
			marking_read_results(x->one[i].t->echo, &x->flow[i]);
	for (unsigned int i = 0; i < x->count; i++)
		if (x->one[i].t->echo)
			pair_marking_add(&x->one[i].t->run, x->one[i].t->echo);
	load_close(&l);
}

json_t *pair_marking_to_json(const struct pair_marking *x)
{
	struct marking_findings found = {0};
	struct marking_endpoints ends;
	struct err e = {0};
	json_t *doc, *list;

	if (!x)
		return json_null();
	pair_marking_ends(x, &ends);
	doc = marking_findings_make(&ends, &found, &e) ? json_object()
						       : marking_findings_to_json(&ends, &found);
	list = json_array();
	for (unsigned int i = 0; i < SIDES; i++)
		json_array_append_new(
			list,
			json_pack("{s:o, s:o}", "spec", marking_spec_to_json(&x->spec[i]), "result",
				  x->has_result[i] ? marking_result_to_json(&x->result[i])
						   : json_null()));
	json_object_set_new(doc, "why", x->why[0] ? text_to_json(x->why) : json_null());
	json_object_set_new(doc, "ends", list);
	return doc;
}
