/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enums are words, settings use the field table. Another version may have written the document, so
 * every member is checked.
 */
#include "profiles/profile_json.h"

#include <errno.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/base/text.h"
#include "profiles/yaml/diag.h"

/* All choices; the reader does not check which of them belong to a member. */
static const struct qos_word choices[] = {
	{"fail", CHOICE_FAIL},
	{"warn", CHOICE_WARN},
	{"skip", CHOICE_SKIP},
	{"allow", CHOICE_ALLOW},
	{"ask", CHOICE_ASK},
	{"deny", CHOICE_DENY},
	{NULL, 0},
};

static json_t *patterns_to_json(const struct profile *p)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < p->interface_count; i++)
		list = json_list_add(list, json_string(p->interface[i]));
	return list;
}

static json_t *lines_to_json(const struct profile *p)
{
	json_t *lines = json_object();

	for (int id = 0; lines && id < QOS_FIELD_COUNT; id++)
		if (p->line[id] &&
		    json_object_set_new(lines, qos_fields[id].key, json_integer(p->line[id]))) {
			json_decref(lines);
			return NULL;
		}
	return lines;
}

json_t *profile_to_json(const struct profile *p)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:o, s:o, s:o}",
			 "name", p->name, "path", p->path, "intent", profile_intent_word(p->intent),
			 "on_unsupported", qos_word_text(choices, p->on_unsupported), "disruption",
			 qos_word_text(choices, p->disruption), "agent",
			 qos_word_text(profile_agent_words, p->agent), "peer",
			 qos_word_text(choices, p->lldp_peer), "peer_match",
			 (int)p->lldp_peer_match, "confirm_within_s", (int)p->confirm_within_s,
			 "persist", p->persist, "interfaces", patterns_to_json(p), "lines",
			 lines_to_json(p), "qos", qos_to_json(&p->qos));
}

static int json_to_text(const json_t *o, const char *key, char *to, size_t size, struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (!text || strlen(text) >= size || !text_is_safe(text, TEXT_LINE))
		return err_set(e, -EBADMSG, "%s is missing or not plain text", key);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int json_to_word(const json_t *o, const char *key, const struct qos_word *words, int *to,
			struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));
	int value = text ? qos_word_value(words, text) : -ENOENT;

	if (value < 0)
		return err_set(e, -EBADMSG, "%s is missing or an unknown word", key);
	*to = value;
	return 0;
}

/* Older versions wrote no "interfaces": the profile then selects every RoCE port. */
static int json_to_patterns(const json_t *o, struct profile *p, struct err *e)
{
	const json_t *list = json_object_get(o, "interfaces");

	p->interface_count = 0;
	if (list && (!json_is_array(list) || json_array_size(list) > PROFILE_PATTERN_MAX))
		return err_set(e, -EBADMSG, "interfaces is not a list of at most %d patterns",
			       PROFILE_PATTERN_MAX);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (!text || strlen(text) >= sizeof(p->interface[0]) ||
		    !text_is_safe(text, TEXT_LINE))
			return err_set(e, -EBADMSG,
				       "interfaces has an entry that is not a pattern");
		strcpy(p->interface[p->interface_count++], text);
	}
	return 0;
}

static int json_to_policy(const json_t *o, struct profile *p, struct err *e)
{
	const json_t *within = json_object_get(o, "confirm_within_s");
	const json_t *persist = json_object_get(o, "persist");
	json_int_t seconds = json_integer_value(within);

	if ((within && !json_is_integer(within)) || seconds < 0 || seconds > UINT16_MAX)
		return err_set(e, -EBADMSG, "confirm_within_s is not a number of seconds");
	if (persist && !json_is_boolean(persist))
		return err_set(e, -EBADMSG, "persist is neither true nor false");
	p->confirm_within_s = (unsigned int)seconds;
	p->persist = !persist || json_is_true(persist);
	return 0;
}

/* Default: all objects. */
static int json_to_match(const json_t *o, struct profile *p, struct err *e)
{
	const uint8_t all = LLDP_PEER_PFC | LLDP_PEER_ETS | LLDP_PEER_APP;
	const json_t *match = json_object_get(o, "peer_match");
	json_int_t flags = match ? json_integer_value(match) : all;

	if ((match && !json_is_integer(match)) || flags < 0 || flags > all)
		return err_set(e, -EBADMSG, "peer_match is not a sum of known flags");
	p->lldp_peer_match = (uint8_t)flags;
	return 0;
}

static void json_to_lines(const json_t *o, struct profile *p)
{
	const json_t *lines = json_object_get(o, "lines");

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		json_int_t line = json_integer_value(json_object_get(lines, qos_fields[id].key));

		p->line[id] = line > 0 && line <= INT32_MAX ? (int)line : 0;
	}
}

int profile_from_json(const json_t *o, struct profile *p, struct err *e)
{
	int intent = 0, unsupported = 0, disruption = 0, agent = AGENT_NONE, peer = CHOICE_WARN,
	    err;

	err = json_to_text(o, "name", p->name, sizeof(p->name), e);
	if (!err)
		err = json_to_text(o, "path", p->path, sizeof(p->path), e);
	if (!err)
		err = json_to_word(o, "intent", profile_intent_words, &intent, e);
	if (!err)
		err = json_to_word(o, "on_unsupported", choices, &unsupported, e);
	if (!err)
		err = json_to_word(o, "disruption", choices, &disruption, e);
	if (!err)
		err = json_to_patterns(o, p, e);
	if (!err)
		err = json_to_policy(o, p, e);
	if (!err && json_object_get(o, "agent"))
		err = json_to_word(o, "agent", profile_agent_words, &agent, e);
	if (!err && json_object_get(o, "peer"))
		err = json_to_word(o, "peer", choices, &peer, e);
	if (!err)
		err = json_to_match(o, p, e);
	if (!err)
		err = qos_from_json(json_object_get(o, "qos"), &p->qos, e);
	json_to_lines(o, p);
	p->intent = intent;
	p->on_unsupported = unsupported;
	p->disruption = disruption;
	p->agent = agent;
	p->lldp_peer = peer;
	return err;
}
