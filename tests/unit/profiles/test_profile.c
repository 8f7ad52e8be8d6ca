/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/profile*.c and schema*.c: every field through profile syntax, every shipped profile,
 * inheritance, names and paths.
 */
#include "profiles/profile_json.h"
#include "tests/unit/profiles/profile_load.h"
#include "tests/unit/fixture/qos_samples.h"

/* "a.b.c" and a value as YAML: "a: {b: {c: value}}". */
static void nest(const char *key, const char *value, char *text, size_t size)
{
	size_t used = snprintf(text, size, HEAD);
	unsigned int depth = 0;
	const char *dot;

	for (; (dot = strchr(key, '.')); key = dot + 1, depth++)
		used += snprintf(text + used, size - used, "%.*s: {", (int)(dot - key), key);
	used += snprintf(text + used, size - used, "%s: %s", key, value);
	while (depth--)
		used += snprintf(text + used, size - used, "}");
	snprintf(text + used, size - used, "\n");
}

/* What qos_field_text() prints is what the loader reads. */
static void test_every_field_round_trips(void **state)
{
	struct qos q;

	(void)state;
	sample_qos(&q);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char value[512], text[768];
		struct profile p;
		struct diags d;

		qos_field_text(&q, id, value, sizeof(value));
		nest(qos_fields[id].key, value, text, sizeof(text));
		if (load(text, &p, &d))
			fail_msg("%s: %s", text, d.count ? d.list[0].text : "?");
		if (p.qos.has != QOS_BIT(id) || !qos_field_equal(&p.qos, &q, id))
			fail_msg("%s is another value when read back", text);
		assert_int_equal(p.line[id], 4);
		assert_true(p.column[id] > 0);
		diags_clear(&d);
	}
}

/* clang-format off */

/* Forms that are read besides the one that is printed. */
static void test_other_forms(void **state)
{
	static const struct {
		const char *in;
		enum qos_field_id id;
		const char *want;
	} cases[] = {
		{"pfc: {enabled: [0-2, 5]}", QOS_PFC_ENABLED, "[0, 1, 2, 5]"},
		{"pfc: {enabled: []}", QOS_PFC_ENABLED, "[]"},
		{"ets: {prio_tc: {3: 3, 6: 6}}", QOS_PRIO_TC, "[0, 0, 0, 3, 0, 0, 6, 0]"},
		{"ets: {tc_tsa: [ets, strict, strict, ets, strict, strict, strict, strict]}",
		 QOS_TC_TSA, "{0: ets, 3: ets}"},
		{"ets: {tc_maxrate_kbps: {3: 25G, 4: 100}}", QOS_TC_MAXRATE,
		 "{3: 25000000, 4: 100}"},
		{"buffer: {size: {0: 64KiB}}", QOS_BUFFER_SIZE, "{0: 65536}"},
		{"app: {dscp: {24-26: 3}}", QOS_DSCP_PRIO, "{24-26: 3}"},
		{"app: {udp: {4791: 3}, ethertype: {35093: 3}}", QOS_APP,
		 "{ethertype: {35093: 3}, udp: {4791: 3}}"},
		{"app: {udp: {4791: [4, 3]}}", QOS_APP, "{udp: {4791: [3, 4]}}"},
		{"app: {udp: {}}", QOS_APP, "{}"},
		{"rdma: {cm_default_tos: 106}", QOS_CM_TOS, "{dscp: 26, ecn: ect0}"},
		{"pfc: {storm_prevention_ms: 0}", QOS_PFC_STORM, "off"},
		{"pfc: {storm_prevention_ms: 65535}", QOS_PFC_STORM, "auto"},
		{"pfc: {storm_prevention_ms: 80}", QOS_PFC_STORM, "80"},
		{"link_pause: {rx: true}", QOS_PAUSE_RX, "on"},
		{"link_pause: {rx: 'off'}", QOS_PAUSE_RX, "off"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256], got[256];
		struct profile p;
		struct diags d;

		snprintf(text, sizeof(text), HEAD "%s\n", cases[i].in);
		if (load(text, &p, &d))
			fail_msg("%s: %s", cases[i].in, d.count ? d.list[0].text : "?");
		qos_field_text(&p.qos, cases[i].id, got, sizeof(got));
		assert_string_equal(got, cases[i].want);
		diags_clear(&d);
	}
}

/* clang-format on */

static void test_defaults_and_policy(void **state)
{
	struct profile p;
	struct diags d;

	(void)state;
	assert_int_equal(load(HEAD, &p, &d), 0);
	assert_int_equal(d.count, 0);
	assert_true(p.qos.has == 0);
	assert_int_equal(p.intent, INTENT_LOSSY);
	assert_int_equal(p.on_unsupported, CHOICE_FAIL);
	assert_int_equal(p.disruption, CHOICE_ASK);
	assert_int_equal(p.confirm_within_s, 0);
	assert_true(p.persist);
	assert_true(profile_selects(&p, "anything"));
	assert_int_equal(profile_roce_tos(&p), -ENODATA);
	assert_int_equal(profile_roce_prio(&p), -ENODATA);
	assert_int_equal(load(HEAD "policy: {on_unsupported: skip, disruption: deny, "
				   "rollback_timeout_s: 60, persist: off}\n"
				   "select: {interfaces: ['ens*np?', roce0]}\n",
			      &p, &d),
			 0);
	assert_int_equal(p.on_unsupported, CHOICE_SKIP);
	assert_int_equal(p.disruption, CHOICE_DENY);
	assert_int_equal(p.confirm_within_s, 60);
	assert_false(p.persist);
	assert_true(profile_selects(&p, "ens1f0np0"));
	assert_true(profile_selects(&p, "roce0"));
	assert_false(profile_selects(&p, "roce01"));
	diags_clear(&d);
}

/* What is inherited stands where the profile says extends; a stated key replaces the whole value.
 */
static void test_extends(void **state)
{
	static const char text[] =
		"schema: rocecheck.profile/1\nname: child\nextends: ./base.yaml\n"
		"app: {udp: {1: 1}}\npfc: {enabled: [4]}\n";
	struct profile p;
	struct diags d;

	(void)state;
	write_file("base.yaml", HEAD "trust: dscp\npfc: {enabled: [3], willing: off}\n"
				     "app: {dscp_default: shift3, tcp: {2: 2}}\n"
				     "description: of the base\n");
	assert_int_equal(load(text, &p, &d), 0);
	assert_string_equal(p.name, "child");
	assert_string_equal(p.description, "of the base");
	assert_int_equal(p.intent, INTENT_LOSSY);
	assert_int_equal(p.qos.pfc_enabled, 0x10);
	assert_int_equal(p.line[QOS_PFC_ENABLED], 5);
	assert_true(qos_has(&p.qos, QOS_PFC_WILLING));
	assert_int_equal(p.line[QOS_PFC_WILLING], 3);
	assert_int_equal(p.column[QOS_PFC_WILLING], 10);
	assert_int_equal(p.qos.dscp_prio[26], 3);
	assert_int_equal(p.qos.app_count, 1);
	assert_int_equal(p.qos.app[0].protocol, 1);
	diags_clear(&d);
	remove_file("base.yaml");
}

/* Application entries are one value, whichever selector the file states. */
static void test_extends_apps(void **state)
{
	(void)state;
	write_file("base.yaml", HEAD "app: {tcp: {2: 2}}\n");
	for (const struct qos_word *w = qos_app_words; w->word; w++) {
		char text[160];
		struct profile p;
		struct diags d;

		snprintf(text, sizeof(text), HEAD "extends: ./base.yaml\napp: {%s: {1: 1}}\n",
			 w->word);
		if (load(text, &p, &d) || p.qos.app_count != 1 || p.qos.app[0].selector != w->value)
			fail_msg("app.%s: %u entries", w->word, p.qos.app_count);
		diags_clear(&d);
	}
	remove_file("base.yaml");
}

static void test_extends_wrongly(void **state)
{
	static const struct {
		const char *base, *extends, *rule;
	} cases[] = {
		{HEAD, "./nowhere.yaml", "RC-INP-011"},
		{HEAD, "no-such-profile", "RC-INP-011"},
		{HEAD, "'../..'", "RC-INP-011"},
		{HEAD, "'$x'", "RC-INP-011"},
		{HEAD "pfc: {enabeld: [3]}\n", "./base.yaml", "RC-INP-002"},
		{HEAD, "./p.yaml", "RC-INP-012"},
		{HEAD "extends: ./p.yaml\n", "./base.yaml", "RC-INP-012"},
		{"[", "./base.yaml", "RC-INP-001"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile p;
		struct diags d;
		char text[256];

		snprintf(text, sizeof(text), HEAD "extends: %s\n", cases[i].extends);
		write_file("base.yaml", cases[i].base);
		assert_int_equal(load(text, &p, &d), -EINVAL);
		if (!find_rule(&d, cases[i].rule))
			fail_msg("%s: %s", cases[i].extends, d.list[0].text);
		diags_clear(&d);
		remove_file("base.yaml");
	}
}

static void test_shipped(void **state)
{
	static const char *const names[] = {
		"amd-mori", "azure-local-s2d",	    "broadcom-thor2", "intel-e810-dscp",
		"lab",	    "nvidia-nvue-lossless", "sonic-azure",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct profile p;
		struct diags d;
		struct err e = {0};
		char path[128];

		diags_init(&d);
		if (profile_load(names[i], &p, &d, &e))
			fail_msg("%s: %s", names[i], d.count ? d.list[0].text : e.text);
		assert_string_equal(p.name, names[i]);
		snprintf(path, sizeof(path), "builtin:%s", names[i]);
		assert_string_equal(p.path, path);
		assert_int_equal(p.intent, INTENT_LOSSLESS);
		assert_true(p.qos.pfc_enabled);
		/* One warning is known and explained in the file. */
		assert_int_equal(d.count, strcmp(names[i], "azure-local-s2d") ? 0 : 1);
		if (qos_has(&p.qos, QOS_CM_TOS))
			assert_true(p.qos.pfc_enabled & (1u << profile_roce_prio(&p)));
		diags_clear(&d);
	}
}

static void test_lab_values(void **state)
{
	struct profile p;
	struct diags d;
	struct err e;

	(void)state;
	diags_init(&d);
	assert_int_equal(profile_load("lab", &p, &d, &e), 0);
	assert_int_equal(p.qos.pfc_enabled, 0x08);
	assert_int_equal(profile_roce_tos(&p), 106);
	assert_int_equal(profile_roce_prio(&p), 3);
	assert_int_equal(qos_dscp_to_prio(&p.qos, 48), 6);
	assert_int_equal(p.qos.mtu, 4200);
	diags_clear(&d);
}

static void test_names_and_paths(void **state)
{
	static const struct {
		const char *in;
		int want;
	} cases[] = {
		{"no-such-profile", -ENOENT},
		{"", -EINVAL},
		{"-x", -EINVAL},
		{"..", -EINVAL},
		{"a b", -EINVAL},
		{"/nonexistent", -ENOENT},
		{"./nonexistent", -ENOENT},
		{"gone.yaml", -ENOENT},
		{"/", -EISDIR},
	};
	char path[24];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile p;
		struct diags d;
		struct err e = {0};

		diags_init(&d);
		assert_int_equal(profile_load(cases[i].in, &p, &d, &e), cases[i].want);
		assert_int_equal(e.code, cases[i].want);
		assert_int_equal(d.count, 0);
	}
	assert_int_equal(profile_relative("a/b/c.yaml", "d.yaml", path, sizeof(path)), 0);
	assert_string_equal(path, "a/b/d.yaml");
	assert_int_equal(profile_relative("a/b/c.yaml", "/d.yaml", path, sizeof(path)), 0);
	assert_string_equal(path, "/d.yaml");
	assert_int_equal(profile_relative("c.yaml", "../d.yaml", path, sizeof(path)), 0);
	assert_string_equal(path, "../d.yaml");
	assert_int_equal(profile_relative("abcdefghijk/c", "abcdefghijkl", path, sizeof(path)),
			 -ENAMETOOLONG);
}

/* Every field and key of the loader is in the JSON Schema, at its place. */
/* A kept profile has the words of its member; those of another are refused. */
static void test_json_words(void **state)
{
	static const struct {
		const char *member, *word;
		bool ok;
	} cases[] = {
		{"on_unsupported", "fail", true}, {"on_unsupported", "skip", true},
		{"on_unsupported", "ask", false}, {"on_unsupported", "allow", false},
		{"disruption", "allow", true},	  {"disruption", "deny", true},
		{"disruption", "fail", false},	  {"disruption", "skip", false},
		{"peer", "warn", true},		  {"peer", "skip", true},
		{"peer", "deny", false},	  {"peer", "ignore", false},
		{"intent", "lossy", true},	  {"intent", "fail", false},
		{"agent", "lldpad", true},	  {"agent", "warn", false},
	};
	struct profile p, read;
	struct diags d;
	json_t *doc;

	(void)state;
	assert_int_equal(load(HEAD, &p, &d), 0);
	diags_clear(&d);
	doc = profile_to_json(&p);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *changed = json_copy(doc);
		struct err e = {0};
		int err;

		json_object_set_new(changed, cases[i].member, json_string(cases[i].word));
		err = profile_from_json(changed, &read, &e);
		if (err != (cases[i].ok ? 0 : -EINVAL))
			fail_msg("%s: %s: %d", cases[i].member, cases[i].word, err);
		if (err && !strstr(e.text, cases[i].member))
			fail_msg("%s: %s", cases[i].member, e.text);
		json_decref(changed);
	}
	json_decref(doc);
}

static void test_json_schema(void **state)
{
	json_t *schema = profile_schema();

	(void)state;
	assert_non_null(schema);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		const json_t *at = schema;
		char key[64], *part, *rest = key;

		snprintf(key, sizeof(key), "%s", qos_fields[id].key);
		while ((part = strsep(&rest, ".")))
			at = json_object_get(json_object_get(at, "properties"), part);
		assert_string_equal(json_string_value(json_object_get(at, "description")),
				    qos_fields[id].help);
	}
	assert_int_equal(json_array_size(json_object_get(schema, "required")), 2);
	json_decref(schema);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_round_trips),
		cmocka_unit_test(test_other_forms),
		cmocka_unit_test(test_defaults_and_policy),
		cmocka_unit_test(test_extends),
		cmocka_unit_test(test_extends_apps),
		cmocka_unit_test(test_extends_wrongly),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_lab_values),
		cmocka_unit_test(test_names_and_paths),
		cmocka_unit_test(test_json_words),
		cmocka_unit_test(test_json_schema),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
