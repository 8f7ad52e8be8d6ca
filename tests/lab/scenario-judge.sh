# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of `scenario` that judges what a scenario left in its folder: exit code, findings
# (scenario-judge.jq), words of the output, and jq expressions over the statistics
# (scenario-statistics.jq). Prints a line for each expectation that does not hold.

judge_statistics()
{
	local expression got

	while IFS= read -r expression; do
		expression=$(base64 -d <<<"$expression")
		got=$(jq -L "$here" "include \"scenario-statistics\"; differences | ($expression)" \
			"$folder/document.json" 2>&1) || got=$(head -n1 <<<"${got#jq: error}")
		[ "$got" = true ] || echo "statistics: not true: $expression (is: $got)"
	done < <(jq -r '.statistics[] | @base64' "$folder/scenario.json")
}

judge_output()
{
	local words

	while IFS= read -r words; do
		words=$(base64 -d <<<"$words")
		cat "$folder/stdout" "$folder/stderr" 2>/dev/null | grep -qE -- "$words" ||
			echo "output: '$words' is not in it; it ends with: $(cat "$folder/stdout" "$folder/stderr" 2>/dev/null | tail -n1)"
	done < <(jq -r '.output[] | @base64' "$folder/scenario.json")
}

judge()
{
	local report=$folder/report.json

	jq -e . "$report" >/dev/null 2>&1 || report=/dev/null
	jq -rn --slurpfile scenario "$folder/scenario.json" --slurpfile report "$report" \
		--slurpfile exit "$folder/exit" -f "$here/scenario-judge.jq"
	judge_output
	jq -n --slurpfile before "$folder/before.json" --slurpfile after "$folder/after.json" \
		--slurpfile load "$folder/load.json" --slurpfile scenario "$folder/scenario.json" \
		'{before: $before[0], after: $after[0], load: $load[0], scenario: $scenario[0]}' >"$folder/document.json"
	jq -r -L "$here" 'include "scenario-statistics"; differences | idle_faults' "$folder/document.json"
	judge_statistics
}
