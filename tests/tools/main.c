/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capgen: a generated capture into a file, and what was done to it as JSON on standard output.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/capgen.h"

static const char usage[] =
	"capgen [KEY=VALUE]... FILE\n"
	"  seed=1 requesters=2 frames=10000 pmtu=1024 snap=0 (whole frames) fault_rate=50 (of "
	"1000\n"
	"  bursts) ce_rate=10 (of 1000 requests) wrap=0 mirror=0 pcapng=0 statistics=0\n"
	"  pmtu=0: each connection has one of its own\n"
	"  only=FAULT without=FAULT: lost lost_after selective reordered rnr timeout ack_lost "
	"fatal\n"
	"  bad_icrc missed read_retry copied ack_missed nak_missed uc_lost uc_broken\n"
	"  mix=WHAT, more than once: rc uc ud xrc ops (atomics and others) nets (RoCEv1, VLANs, "
	"mirrors)\n"
	"  cm pauses, or all\n";

struct setting {
	const char *key;
	uint64_t value;
};

enum {
	SEED,
	REQUESTERS,
	FRAMES,
	PMTU,
	SNAP,
	FAULT_RATE,
	CE_RATE,
	WRAP,
	MIRROR,
	PCAPNG,
	STATISTICS,
	SETTINGS
};

static bool set_fault(const char *name, bool only, uint32_t *faults)
{
	for (unsigned int i = 0; i < CAPGEN_FAULTS; i++) {
		if (strcmp(name, capgen_fault_name((enum capgen_fault)i)))
			continue;
		*faults = only ? 1U << i : *faults & ~(1U << i);
		return true;
	}
	return false;
}

static bool set_mix(const char *name, uint32_t *mix)
{
	uint32_t all = *mix;

	for (unsigned int i = 0; i < CAPGEN_MIXES; i++)
		if (!strcmp(name, capgen_mix_name(i)) || !strcmp(name, "all"))
			*mix |= 1U << i;
	return *mix != all;
}

static bool set_value(struct setting *settings, const char *text, uint32_t *faults, uint32_t *mix)
{
	size_t len = strcspn(text, "=");
	char *end;

	if (!strncmp(text, "only=", 5))
		return set_fault(text + 5, true, faults);
	if (!strncmp(text, "without=", 8))
		return set_fault(text + 8, false, faults);
	if (!strncmp(text, "mix=", 4))
		return set_mix(text + 4, mix);
	for (unsigned int i = 0; i < SETTINGS; i++) {
		if (strlen(settings[i].key) != len || strncmp(settings[i].key, text, len) ||
		    !text[len] || !text[len + 1])
			continue;
		settings[i].value = strtoull(text + len + 1, &end, 0);
		return !*end;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct setting s[SETTINGS] = {
		[SEED] = {"seed", 1},
		[REQUESTERS] = {"requesters", 2},
		[FRAMES] = {"frames", 10000},
		[PMTU] = {"pmtu", 1024},
		[SNAP] = {"snap", 0},
		[FAULT_RATE] = {"fault_rate", 50},
		[CE_RATE] = {"ce_rate", 10},
		[WRAP] = {"wrap", 0},
		[MIRROR] = {"mirror", 0},
		[PCAPNG] = {"pcapng", 0},
		[STATISTICS] = {"statistics", 0},
	};
	uint32_t faults = (1U << CAPGEN_FAULTS) - 1, mix = 0;
	struct capgen_truth truth;
	struct capgen_options o;
	int err, i;

	for (i = 1; i + 1 < argc && set_value(s, argv[i], &faults, &mix); i++)
		;
	if (i + 1 != argc || argv[i][0] == '-') {
		fputs(usage, stderr);
		return 2;
	}
	o = (struct capgen_options){
		.seed = s[SEED].value,
		.requesters = (uint32_t)s[REQUESTERS].value,
		.frames = s[FRAMES].value,
		.pmtu = (uint32_t)s[PMTU].value,
		.snap = (uint32_t)s[SNAP].value,
		.mix = mix,
		.faults = faults,
		.fault_rate = (uint32_t)s[FAULT_RATE].value,
		.ce_rate = (uint32_t)s[CE_RATE].value,
		.wrap = s[WRAP].value,
		.mirror = s[MIRROR].value,
		.statistics = s[STATISTICS].value,
	};
	err = capgen_write(&o, argv[i], s[PCAPNG].value, &truth);
	if (!err)
		err = capgen_truth_print(&truth, stdout);
	capgen_truth_clear(&truth);
	if (err)
		fprintf(stderr, "capgen: %s: %s\n", argv[i], strerror(-err));
	return err ? 1 : 0;
}
