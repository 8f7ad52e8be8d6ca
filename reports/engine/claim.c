/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Derives claims about loss from the findings of rules of level maintenance.
 */
#include "reports/engine/claim.h"

#include <stdio.h>
#include <string.h>

void claim_make(const struct run *run, const struct findings *f, struct claim *claim)
{
	uint8_t passed = 0, open = 0;

	memset(claim, 0, sizeof(*claim));
	if (run->level < LEVEL_MAINTENANCE || !run->traffic)
		return;
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->list[i];
		uint8_t prios = (one->prio_set ? one->prio_set : 0xff) & run->maintenance;

		if (one->rule->level < LEVEL_MAINTENANCE || one->rule->severity < SEVERITY_ERROR)
			continue;
		if (one->allowed || one->verdict == VERDICT_INCONCLUSIVE)
			open |= prios;
		else if (one->verdict == VERDICT_FAIL)
			claim->failed |= prios;
		else if (one->verdict == VERDICT_PASS && one->rule->needs & NEED_LOSSLESS)
			passed |= prios;
	}
	claim->proven = passed & (uint8_t) ~(open | claim->failed);
	claim->unproven = run->maintenance & (uint8_t) ~(claim->proven | claim->failed);
}

bool claim_is_lossless(const struct claim *claim)
{
	return claim->proven && !claim->failed && !claim->unproven;
}

void claim_text(const struct claim *claim, char *buf, size_t size)
{
	const struct {
		uint8_t prios;
		const char *word;
	} parts[] = {
		{claim->proven, "proven"},
		{claim->failed, "failed"},
		{claim->unproven, "not proven"},
	};
	const char *separator = "";
	size_t used = (size_t)snprintf(buf, size, "lossless under congestion: ");
	char prios[24];

	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i].prios || used >= size)
			continue;
		qos_prio_set_text(parts[i].prios, prios, sizeof(prios));
		used += (size_t)snprintf(
			buf + used, size - used, "%s%s on %s %s", separator, parts[i].word,
			parts[i].prios & (parts[i].prios - 1) ? "priorities" : "priority", prios);
		separator = "; ";
	}
	if (!*separator && used < size)
		snprintf(buf + used, size - used, "not tested");
}

void claim_next_step(const struct claim *claim, const struct fabric *f, char *buf, size_t size)
{
	char prios[24];

	qos_prio_set_text(f->profile.qos.pfc_enabled, prios, sizeof(prios));
	if (claim->failed || claim->unproven)
		snprintf(buf, size, "see the checks that failed or are inconclusive");
	else if (!f->profile.qos.pfc_enabled)
		snprintf(buf, size, "profile '%s' has no lossless priority: set pfc.enabled",
			 f->profile.name);
	else
		snprintf(buf, size, "rocecheck validate %s --maintenance %s",
			 f->path[0] ? f->path : "FABRIC.yaml", prios);
}
