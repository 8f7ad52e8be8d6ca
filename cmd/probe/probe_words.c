/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `probe client --explain`: the words of a run, each with its meaning.
 */
#include <string.h>

#include "cmd/glossary.h"
#include "cmd/probe/probe_text.h"
#include "probe/coord/two_ended_sizes.h"
#include "probe/traffic/traffic_text.h"

/* Each word once. */
struct told {
	const char *word[32];
	unsigned int count;
	FILE *out;
};

static void tell(struct told *t, const char *word)
{
	const char *meaning = glossary_meaning(word);

	for (unsigned int i = 0; i < t->count; i++)
		if (!strcmp(t->word[i], word))
			return;
	if (!meaning || t->count == ARRAY_SIZE(t->word))
		return;
	t->word[t->count++] = word;
	fprintf(t->out, "  %-12s %s.\n", word, meaning);
}

static void explain_class(struct told *t, const struct traffic_class *c)
{
	tell(t, traffic_transport_word(c->transport));
	tell(t, traffic_verb_word(c->verb));
	tell(t, traffic_direction_word(c->direction));
	if (c->probe)
		tell(t, "latency");
	else
		tell(t, c->rate_bytes_per_s ? "paced" : "flat out");
	tell(t, traffic_check_word(c->check));
}

void probe_explain_registration(const struct registration *r, const struct err *why, FILE *out)
{
	static const char *const pages[REGISTRATION_KINDS] = {
		[REGISTRATION_HOST] = "host pages",
		[REGISTRATION_HUGE] = "huge pages of 2 MiB",
	};
	char text[320];

	if (why) {
		fprintf(out, "registration  not measured: %s\n", why->text);
		return;
	}
	for (unsigned int i = 0; i < REGISTRATION_KINDS; i++) {
		probe_time_text(r->ns_per_mib[i], text, sizeof(text));
		if (r->ns_per_mib[i])
			fprintf(out, "registration  %s: %s a MiB in %s\n", r->ibdev, text,
				pages[i]);
		else
			fprintf(out, "registration  %s: not measured in %s: %s\n", r->ibdev,
				pages[i], r->why[i]);
	}
	traffic_memory_gpu(&r->memory, r->ibdev, text, sizeof(text));
	fprintf(out, "%s\n", text);
}

static void explain_sizes(const struct two_ended_wish *w, FILE *out)
{
	uint32_t bytes[SIZES_MAX];
	unsigned int n = two_ended_sizes_list(w->size_from, w->size_to, bytes);
	char from[32], to[32];

	probe_size_text(w->size_from, from, sizeof(from));
	probe_size_text(w->size_to, to, sizeof(to));
	fprintf(out, "sizes    %s to %s: %u runs one after another\n", from, to, n);
}

void probe_explain(const struct two_ended_wish *w, FILE *out)
{
	struct told t = {.out = out};

	fprintf(out, "mode %s, %s, %u thread%s at each end", traffic_mode_word(w->spec.mode),
		w->spec.bringup == TRAFFIC_CM ? "rdma_cm" : "raw verbs", w->spec.threads,
		w->spec.threads == 1 ? "" : "s");
	if (w->spec.duration_ms)
		fprintf(out, ", %.1f s", w->spec.duration_ms / 1e3);
	fputc('\n', out);
	for (unsigned int i = 0; i < w->spec.class_count; i++) {
		char text[200], verbs[400];

		probe_class_text(&w->spec.class[i], text, sizeof(text));
		fprintf(out, "class %u  %s\n", i, text);
		traffic_class_verbs(&w->spec.class[i], verbs, sizeof(verbs));
		fprintf(out, "  by     %s\n", verbs);
	}
	for (unsigned int i = 0; i < w->spec.tcp_count; i++) {
		char text[200];

		traffic_tcp_text(&w->spec.tcp[i], text, sizeof(text));
		fprintf(out, "TCP %u    %s\n", i, text);
	}
	if (w->size_from)
		explain_sizes(w, out);
	fputs("\n", out);
	tell(&t, traffic_mode_word(w->spec.mode));
	tell(&t, w->spec.bringup == TRAFFIC_CM ? "cm" : "raw");
	for (unsigned int i = 0; i < w->spec.class_count; i++)
		explain_class(&t, &w->spec.class[i]);
	if (w->spec.tcp_count)
		tell(&t, "tcp");
	if (w->size_from)
		tell(&t, "sizes");
	tell(&t, "verbs");
	tell(&t, "memory");
	tell(&t, "registration");
	tell(&t, "gpu");
	if (w->idle_ms)
		tell(&t, "baseline");
	if (w->marking || w->sweep)
		tell(&t, "marking");
	if (w->sweep)
		tell(&t, "sweep");
}
