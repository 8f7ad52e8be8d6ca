/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches findings with the exceptions of an inventory, by rule and host. An exception with hosts
 * covers no finding of the whole fabric.
 */
#include "reports/engine/allow.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "profiles/base/nodeset.h"

bool allow_expired(const struct fabric_allow *a, const struct run *run)
{
	time_t started = (time_t)(run->started_unix_ns / 1000000000);
	char day[sizeof(a->until)] = "";
	struct tm tm;

	/* Both are YYYY-MM-DD: the order of the texts is that of the days. */
	return gmtime_r(&started, &tm) && strftime(day, sizeof(day), "%Y-%m-%d", &tm) &&
	       strcmp(a->until, day) < 0;
}

static bool allow_covers(const struct fabric_allow *a, const struct finding *f)
{
	return !strcmp(a->rule, f->rule->id) && (!a->hosts[0] || nodeset_has(a->hosts, f->host));
}

void findings_allow(struct findings *f, const struct fabric *fabric, const struct run *run)
{
	for (unsigned int k = 0; k < fabric->allow_count; k++) {
		const struct fabric_allow *a = &fabric->allow[k];

		if (allow_expired(a, run))
			continue;
		for (size_t i = 0; i < f->count; i++) {
			struct finding *one = &f->list[i];

			if (!one->allowed && allow_covers(a, one) &&
			    (finding_violated(one) || one->verdict == VERDICT_INCONCLUSIVE))
				one->allowed = a;
		}
	}
}

size_t allow_count(const struct findings *f, const struct fabric_allow *a)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++)
		count += f->list[i].allowed && (!a || f->list[i].allowed == a);
	return count;
}

int allow_check(const struct fabric *f, struct err *e)
{
	/* They report that no port was checked, or that an exception expired: no exception may
	 * hide that. */
	static const char *const never[] = {"RC-META-010", "RC-META-011"};

	for (unsigned int i = 0; i < f->allow_count; i++) {
		const struct fabric_allow *a = &f->allow[i];

		if (!rule_find(a->rule)) {
			err_set(e, -EINVAL, "%s, line %d: allow: unknown rule '%s'", f->path,
				a->line, a->rule);
			err_hint(e, "'rocecheck rules' lists all rules");
			return -EINVAL;
		}
		for (unsigned int k = 0; k < ARRAY_SIZE(never); k++)
			if (!strcmp(a->rule, never[k]))
				return err_set(e, -EINVAL,
					       "%s, line %d: allow: %s cannot be allowed", f->path,
					       a->line, a->rule);
	}
	return 0;
}
