/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words for the enums, the field table for the rest. Another version may have written it, so that
 * every member is checked.
 */
#include "cmd/profile_doc.h"

#include <errno.h>
#include <string.h>

/* Words that struct profile has as numbers. */
static const struct qos_word intents[] = {
	{"lossless", INTENT_LOSSLESS},
	{"lossy", INTENT_LOSSY},
	{"sprayed", INTENT_SPRAYED},
	{NULL, 0},
};
static const struct qos_word choices[] = {
	{"fail", CHOICE_FAIL},
	{"warn", CHOICE_WARN},
	{"skip", CHOICE_SKIP},
	{"allow", CHOICE_ALLOW},
	{"ask", CHOICE_ASK},
	{"deny", CHOICE_DENY},
	{NULL, 0},
};

json_t *profile_doc(const struct profile *p)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name", p->name, "path", p->path,
			 "intent", qos_word_text(intents, p->intent), "on_unsupported",
			 qos_word_text(choices, p->on_unsupported), "disruption",
			 qos_word_text(choices, p->disruption), "qos", qos_to_json(&p->qos));
}

static int take_text(const json_t *o, const char *key, char *to, size_t size, struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (!text || strlen(text) >= size)
		return err_set(e, -EBADMSG, "%s is missing or no text", key);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int take_word(const json_t *o, const char *key, const struct qos_word *words, int *to,
		     struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));
	int value = text ? qos_word_value(words, text) : -ENOENT;

	if (value < 0)
		return err_set(e, -EBADMSG, "%s is missing or an unknown word", key);
	*to = value;
	return 0;
}

int profile_take(const json_t *o, struct profile *p, struct err *e)
{
	int intent = 0, unsupported = 0, disruption = 0, err;

	err = take_text(o, "name", p->name, sizeof(p->name), e);
	if (!err)
		err = take_text(o, "path", p->path, sizeof(p->path), e);
	if (!err)
		err = take_word(o, "intent", intents, &intent, e);
	if (!err)
		err = take_word(o, "on_unsupported", choices, &unsupported, e);
	if (!err)
		err = take_word(o, "disruption", choices, &disruption, e);
	if (!err)
		err = qos_from_json(json_object_get(o, "qos"), &p->qos, e);
	p->intent = intent;
	p->on_unsupported = unsupported;
	p->disruption = disruption;
	return err;
}
