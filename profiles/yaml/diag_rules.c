/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ids of input errors. Ids are stable: new ones are added, old ones never change meaning. 001
 * to 019 are about the file, 020 and up about settings that do not go together.
 */
#include "profiles/yaml/diag.h"

#include <string.h>

const struct diag_rule diag_rules[] = {
	{
		.id = "RC-INP-001",
		.title = "the file is not YAML",
		.explain = "The text cannot be read as YAML: an unclosed bracket, a tab used to "
			   "indent, a missing ': ', text that is not UTF-8. Only the first such "
			   "error of a file is shown, since what follows it cannot be trusted.",
		.unusable = true,
	},
	{
		.id = "RC-INP-002",
		.title = "unknown key",
		.explain = "A key that this schema does not have. Keys are exact words; nothing "
			   "is guessed and nothing ignored, because a setting that is silently "
			   "dropped is a setting that is not applied.",
	},
	{
		.id = "RC-INP-003",
		.title = "key given twice",
		.explain = "YAML forbids it, many readers take the last one in silence. Remove "
			   "one of the two.",
	},
	{
		.id = "RC-INP-004",
		.title = "wrong kind of value",
		.explain = "A list where a word is expected, text where a number is. Numbers are "
			   "decimal (no 0x, no leading zero), switches are on or off, and "
			   "nothing is converted by guessing.",
	},
	{
		.id = "RC-INP-005",
		.title = "value out of range",
		.explain = "Priorities and traffic classes go from 0 to 7, DSCPs from 0 to 63; "
			   "the note names the range of this key.",
	},
	{
		.id = "RC-INP-006",
		.title = "required key missing",
		.explain = "The key must be given. 'rocecheck schema' prints all keys and says "
			   "which are required.",
	},
	{
		.id = "RC-INP-007",
		.title = "unusable file",
		.explain = "The file is empty, has no keys, is larger than 16 MiB, not a regular "
			   "file, nested deeper than 32 levels, has a map of more than 256 keys or "
			   "more than 1000 findings. No profile or inventory needs that.",
		.unusable = true,
	},
	{
		.id = "RC-INP-008",
		.title = "YAML feature not accepted",
		.explain = "Aliases, tags and several documents in one file are not accepted: "
			   "they make a file mean something else than it shows, and a few lines "
			   "of aliases can stand for millions of values. Write the value out, or "
			   "use 'extends'.",
		.unusable = true,
	},
	{
		.id = "RC-INP-009",
		.title = "unknown word",
		.explain = "The key takes one of a few words; the note lists them.",
	},
	{
		.id = "RC-INP-010",
		.title = "unknown schema",
		.explain = "The first key of a file says what it is: schema: rocecheck.profile/1 "
			   "or rocecheck.fabric/1. Another number is another version of "
			   "rocecheck.",
		.unusable = true,
	},
	{
		.id = "RC-INP-011",
		.title = "profile not found",
		.explain = "A name is looked for among the shipped profiles, a path (with a '/' "
			   "or ending in .yaml) where it points, for inventories relative to "
			   "their folder.",
	},
	{
		.id = "RC-INP-012",
		.title = "profile extends itself",
		.explain = "A profile may extend one other profile, which must not extend a "
			   "third one or the first again.",
	},
	{
		.id = "RC-INP-013",
		.title = "name not acceptable",
		.explain = "Names of hosts go into command lines of other programs: letters, "
			   "digits, '.', '_' and '-', and never a '-' in front. Interface names "
			   "are at most 15 characters.",
	},
	{
		.id = "RC-INP-014",
		.title = "given twice",
		.explain = "Two entries stand for the same thing: a host name, a port, a DSCP, "
			   "an application entry.",
	},
	{
		.id = "RC-INP-015",
		.title = "not an IP address",
		.explain = "An IPv4 or IPv6 address without prefix length, as in 198.18.0.1 or "
			   "fd00::1.",
	},
	{
		.id = "RC-INP-016",
		.title = "accepted, without effect",
		.explain = "The key is known and its value was checked, but this version does "
			   "nothing with it, or only a device can state it. Nothing is applied "
			   "or judged because of it.",
	},
	{
		.id = "RC-INP-020",
		.title = "RoCE traffic would be lossy",
		.explain = "The intent is lossless, but by the profile's own maps the DSCP of "
			   "RoCE data leads to a priority without PFC. Congestion then drops "
			   "RoCE packets, and each drop costs a go-back-N retransmission. Either "
			   "map that DSCP to a priority of pfc.enabled, or enable PFC there.",
	},
	{
		.id = "RC-INP-021",
		.title = "CNPs share the lossless priority",
		.explain = "Congestion notification packets (IBTA annex A17) tell senders to "
			   "slow down. On a lossless priority they wait behind the very pause "
			   "they should prevent. Give them a priority of their own.",
	},
	{
		.id = "RC-INP-022",
		.title = "lossless and lossy priorities share a traffic class",
		.explain = "PFC pauses priorities, queues belong to traffic classes. Traffic of "
			   "a lossy priority in the queue of a lossless one is stopped with it, "
			   "and can fill the buffer that was meant to be headroom.",
	},
	{
		.id = "RC-INP-023",
		.title = "ETS shares do not sum to 100",
		.explain = "The shares of all traffic classes with tc_tsa ets must sum to "
			   "exactly 100 percent (802.1Q clause 37); mlx5 and ice refuse anything "
			   "else.",
	},
	{
		.id = "RC-INP-024",
		.title = "ETS class without a share",
		.explain = "A traffic class with tc_tsa ets and 0 percent starves when others "
			   "are busy; bnxt refuses it. Give it a share, or do not use the class.",
	},
	{
		.id = "RC-INP-025",
		.title = "trust pcp without a VLAN map",
		.explain = "With trust pcp the priority is in the VLAN tag. The kernel derives "
			   "it from the ToS through the egress map of the VLAN device, in which "
			   "DSCP 26 does not become priority 3 by itself. Without "
			   "vlan.egress_qos_map untagged and unmapped traffic is priority 0.",
	},
	{
		.id = "RC-INP-026",
		.title = "RoCE marking without ECT",
		.explain = "With ECN 'none' in the default ToS, switches drop or pass RoCE "
			   "packets where they could mark them (RFC 3168 s5), unless the NIC "
			   "sets ECT by itself. CE is for switches to set, never for senders.",
	},
	{
		.id = "RC-INP-027",
		.title = "MTU too small for the RDMA MTU",
		.explain = "The kernel subtracts 96 bytes of RoCE headers from the MTU of the "
			   "network device and rounds down to 256, 512, 1024, 2048 or 4096: 4096 "
			   "needs 4192, 2048 needs 2144, 1024 needs 1120. Soft-RoCE subtracts "
			   "80; the stricter rule is used.",
	},
	{
		.id = "RC-INP-028",
		.title = "link pause together with PFC",
		.explain = "Link pause (802.3x) stops all priorities at once. Together with PFC "
			   "the lossy traffic is paused with the lossless one; several drivers "
			   "refuse the pair.",
	},
	{
		.id = "RC-INP-029",
		.title = "intent and PFC contradict each other",
		.explain = "intent: lossless needs a priority in pfc.enabled. With intent lossy "
			   "or sprayed no loss is held back, and pfc.enabled should be empty.",
	},
	{
		.id = "RC-INP-030",
		.title = "lossless class outside ETS",
		.explain = "The traffic class of a lossless priority is strict: it goes before "
			   "all ETS classes and can starve them, in which case their senders "
			   "time out. Use ets with a share, or a rate limit.",
	},
	{
		.id = "RC-INP-031",
		.title = "share of a class that is not ETS",
		.explain = "tc_tx_bw is the share of classes with tc_tsa ets. On others it has "
			   "no effect; it usually stands for a forgotten tc_tsa.",
	},
	{
		.id = "RC-INP-032",
		.title = "trust dscp without a DSCP map",
		.explain = "With trust dscp all traffic is priority 0 until app.dscp or "
			   "app.dscp_default maps it.",
	},
	{.id = NULL},
};

const struct diag_rule *diag_rule_find(const char *id)
{
	for (const struct diag_rule *rule = diag_rules; rule->id; rule++)
		if (!strcmp(rule->id, id))
			return rule;
	return NULL;
}
