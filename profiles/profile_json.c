/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One JSON row per member; settings use the field table. Another version may have
 * written the document, so every member is checked.
 */
#include "profiles/profile_json.h"

#include <errno.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/base/text.h"
#include "profiles/yaml/diag.h"

static int profile_parse_text(const json_t *json, char *to, size_t size, struct err *e)
{
	const char *text = json_string_value(json);

	if (!text || strlen(text) >= size || !text_is_safe(text, TEXT_LINE))
		return err_set(e, -EINVAL, "not plain text");
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static json_t *profile_text_to_json(const char *text)
{
	return json_string(text);
}

static int profile_text_from_json(const json_t *json, char *text, struct err *e)
{
	return profile_parse_text(json, text, sizeof(((struct profile *)0)->interface[0]), e);
}

static json_t *profile_path_to_json(const char *path)
{
	return json_string(path);
}

static int profile_path_from_json(const json_t *json, char *path, struct err *e)
{
	return profile_parse_text(json, path, sizeof(((struct profile *)0)->path), e);
}

static json_t *profile_lines_to_json(const struct profile *p)
{
	json_t *lines = json_object();
	int err = 0;

	for (int id = 0; !err && id < QOS_FIELD_COUNT; id++)
		if (p->line[id])
			err = json_object_set_new(lines, qos_fields[id].key,
						  json_integer(p->line[id]));
	if (!err)
		return lines;
	json_decref(lines);
	return NULL;
}

static int profile_lines_from_json(const json_t *lines, struct profile *p, struct err *e)
{
	(void)e; /* what is no line is not known */
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		json_int_t line = json_integer_value(json_object_get(lines, qos_fields[id].key));

		p->line[id] = line > 0 && line <= INT32_MAX ? (int)line : 0;
	}
	return 0;
}

JSON_FUNCTIONS(profile_text)
JSON_FUNCTIONS(profile_path)
JSON_FUNCTIONS(profile_lines)
JSON_FUNCTIONS(qos)

#define WORD(name, member, how, list)                                                              \
	JSON_ROW_AS(name, struct profile, member, .kind = JSON_WORD, .need = how, .words = list)
#define NUMBER(name, member, most)                                                                 \
	JSON_ROW_AS(name, struct profile, member, .kind = JSON_NUMBER, .need = JSON_OPTIONAL,      \
		    .max = most)

static const struct json_row profile_rows[] = {
	JSON_ROW(struct profile, name, .kind = JSON_STRUCT, JSON_BY(profile_text)),
	JSON_ROW(struct profile, path, .kind = JSON_STRUCT, JSON_BY(profile_path)),
	WORD("intent", intent, JSON_NEEDED, profile_intent_words),
	WORD("on_unsupported", on_unsupported, JSON_NEEDED, profile_unsupported_words),
	WORD("disruption", disruption, JSON_NEEDED, profile_disruption_words),
	WORD("agent", agent, JSON_OPTIONAL, profile_agent_words),
	/* "skip" is dcbx.peer.require: ignore. */
	WORD("peer", lldp_peer, JSON_OPTIONAL, profile_unsupported_words),
	NUMBER("peer_match", lldp_peer_match, LLDP_PEER_PFC | LLDP_PEER_ETS | LLDP_PEER_APP),
	NUMBER("confirm_within_s", confirm_within_s, UINT16_MAX),
	JSON_ROW(struct profile, persist, .kind = JSON_BOOL, .need = JSON_OPTIONAL),
	JSON_LIST_OF("interfaces", struct profile, interface, JSON_BY(profile_text),
		     .need = JSON_OPTIONAL),
	JSON_SELF("lines", JSON_BY(profile_lines), .need = JSON_OPTIONAL),
	JSON_ROW(struct profile, qos, .kind = JSON_STRUCT, JSON_BY(qos)),
};
_Static_assert(sizeof(((struct profile *)0)->name) == sizeof(((struct profile *)0)->interface[0]),
	       "profile_text");

json_t *profile_to_json(const struct profile *p)
{
	return json_rows_make(JSON_ROWS(profile_rows), p);
}

/* Writers of before had none of what is set here: then every RoCE port is meant, and nothing is
 * confirmed. */
int profile_from_json(const json_t *o, struct profile *p, struct err *e)
{
	p->agent = AGENT_NONE;
	p->lldp_peer = CHOICE_WARN;
	p->lldp_peer_match = LLDP_PEER_PFC | LLDP_PEER_ETS | LLDP_PEER_APP;
	p->confirm_within_s = p->interface_count = 0;
	p->persist = true;
	memset(p->line, 0, sizeof(p->line));
	return json_rows_read(o, JSON_ROWS(profile_rows), p, e);
}
