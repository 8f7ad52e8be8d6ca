/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges each size of a sweep, and the sweep as a whole.
 */
#include "reports/traffic/size_verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Adds the reason of an abort between two sizes, which belongs to no size. */
static void size_judge_abort(const struct pair *t, struct size_verdicts *v)
{
	struct verdict_reason *r = &v->own.reason[0];

	if (!t->partial)
		return;
	for (unsigned int i = 0; i < v->count; i++)
		if (traffic_verdict_has(&v->size[i].of.v, REASON_ABORTED))
			return;
	v->own.count = 1;
	r->kind = REASON_ABORTED;
	r->verdict = v->own.verdict = reason_table[REASON_ABORTED].verdict;
	r->end = r->class = VERDICT_NOWHERE;
	snprintf(r->text, sizeof(r->text), "the size sweep ended after %u sizes%s%.180s", v->count,
		 t->why[0] ? ": " : "", t->why);
	v->verdict = traffic_verdict_graver(v->verdict, v->own.verdict);
}

int size_verdicts_make(const struct pair *t, struct size_verdicts **out, struct err *e)
{
	struct size_verdicts *v = calloc(1, sizeof(*v) + t->size_count * sizeof(v->size[0]));
	int err = 0;

	if (!v)
		return err_sys(e, -ENOMEM, "verdict");
	v->verdict = VERDICT_PASS;
	v->count = t->size_count;
	for (unsigned int i = 0; i < v->count && !err; i++) {
		struct size_verdict *s = &v->size[i];

		pair_size_view(t, i, &s->view);
		err = pair_judge(&s->view, &s->of, e);
		v->verdict = traffic_verdict_graver(v->verdict, s->of.v.verdict);
	}
	if (err) {
		free(v);
		return err;
	}
	size_judge_abort(t, v);
	*out = v;
	return 0;
}

void size_verdicts_free(struct size_verdicts *v)
{
	free(v);
}

/* Copies reasons; bytes 0: of the sweep itself. */
static void size_add_reasons(json_t *to, const json_t *verdict, uint32_t bytes)
{
	size_t i;
	json_t *reason;

	json_array_foreach (json_object_get(verdict, "reasons"), i, reason) {
		json_t *copy = json_copy(reason);

		if (bytes)
			json_object_set_new(copy, "message_bytes", json_integer(bytes));
		json_array_append_new(to, copy);
	}
}

json_t *size_verdicts_to_json(const struct size_verdicts *v, json_t *rows)
{
	const struct verdict_input nothing = {0}; /* its reasons name no port */
	json_t *own = traffic_verdict_to_json(&v->own, &nothing), *reasons = json_array();
	unsigned int more = 0;

	size_add_reasons(reasons, own, 0);
	json_decref(own);
	for (unsigned int i = 0; i < v->count; i++) {
		const struct pair_verdict *of = &v->size[i].of;
		json_t *one = traffic_verdict_to_json(&of->v, &of->in);

		size_add_reasons(reasons, one,
				 v->size[i].view.spec[SIDE_CLIENT].class[0].message_bytes);
		more += of->v.more;
		if (json_object_set_new(json_array_get(rows, i), "verdict", one)) {
			json_decref(reasons);
			return NULL;
		}
	}
	return json_pack("{s:s, s:o, s:i}", "verdict", verdict_word(v->verdict), "reasons", reasons,
			 "more", (int)more);
}
