/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults by name while the switch runs: added, changed and removed. What is refused leaves
 * everything as it was.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <string.h>

/* Times of a request count from the request, those of the file from the start. */
static void shift_times(const struct lab *lab, const json_t *json, struct fault *f)
{
	uint64_t ms = (lab->now_ns - lab->start_ns) / NS_PER_MS;

	if (json_object_get(json, "start"))
		f->start_ms += ms;
	if (json_object_get(json, "heal") && f->heal_ms)
		f->heal_ms += ms;
}

const char *fault_add(struct lab *lab, const json_t *json, struct err *e)
{
	struct lab_config *c = &lab->config;
	struct fault *f = &c->fault[c->fault_count];

	if (c->fault_count == FAULTS_MAX) {
		err_set(e, -ENOSPC, "more than %d faults", FAULTS_MAX);
		return NULL;
	}
	config_fault_defaults(f);
	if (config_fault(json, f, e))
		return NULL;
	if (!f->name[0])
		config_fault_name(c, f);
	if (config_fault_find(c, f->name) >= 0) {
		err_set(e, -EEXIST, "fault '%s' is there already", f->name);
		err_hint(e, "change or clear it, or choose another name");
		return NULL;
	}
	shift_times(lab, json, f);
	if (!config_fault_ok(c, f, e))
		return NULL;
	lab->held[c->fault_count++].frame = NULL;
	fault_tick(lab);
	return f->name;
}

static int find(const struct lab_config *c, const char *name, struct err *e)
{
	int n = name ? config_fault_find(c, name) : -ENOENT;

	if (n < 0) {
		err_set(e, n, "no fault has the name '%s'", name ? name : "");
		err_hint(e, "{\"op\": \"fault\", \"list\": true} tells their names");
	}
	return n;
}

/* Keys of a fault over what it is; the kind may be left out. */
static int read_over(const json_t *json, struct fault *f, struct err *e)
{
	json_t *whole = json_copy((json_t *)json);
	int err = -ENOMEM;

	if (whole &&
	    (json_object_get(whole, "kind") ||
	     !json_object_set_new(whole, "kind", json_string(qos_word_text(fault_words, f->kind)))))
		err = config_fault(whole, f, e);
	else
		err_sys(e, err, "fault");
	json_decref(whole);
	return err;
}

const char *fault_change(struct lab *lab, const json_t *json, struct err *e)
{
	const char *name = json_string_value(json_object_get(json, "name"));
	int n = find(&lab->config, name, e);
	struct fault changed;

	if (n < 0)
		return NULL;
	changed = lab->config.fault[n];
	if (read_over(json, &changed, e))
		return NULL;
	shift_times(lab, json, &changed);
	if (!config_fault_ok(&lab->config, &changed, e))
		return NULL;
	fault_let_go(lab, n);
	lab->config.fault[n] = changed;
	fault_tick(lab);
	return lab->config.fault[n].name;
}

int fault_remove(struct lab *lab, const char *name, struct err *e)
{
	struct lab_config *c = &lab->config;
	int n = 0;

	if (name && (n = find(c, name, e)) < 0)
		return n;
	for (unsigned int i = n; i < (name ? n + 1u : c->fault_count); i++)
		fault_let_go(lab, i);
	if (name) {
		c->fault_count--;
		memmove(&c->fault[n], &c->fault[n + 1], (c->fault_count - n) * sizeof(c->fault[0]));
		memmove(&lab->held[n], &lab->held[n + 1],
			(c->fault_count - n) * sizeof(lab->held[0]));
	} else {
		c->fault_count = 0;
	}
	fault_tick(lab);
	return 0;
}
