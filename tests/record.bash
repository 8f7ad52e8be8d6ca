# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record_of DIR: a run folder as one document: its run.json with the lines of its lists in their place.
record_of()
{
	jq --slurpfile hosts "$1/hosts.jsonl" --slurpfile pairs "$1/pairs.jsonl" --slurpfile marking "$1/marking.jsonl" \
		'. + {$hosts, $pairs, $marking}' "$1/run.json"
}
