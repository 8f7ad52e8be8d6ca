# SPDX-License-Identifier: GPL-2.0-or-later
#
# Exit code and findings against what the scenario expects: one line for each that differs.
def violated: .verdict == "FAIL" or .verdict == "WARN";
def shown: "\(.verdict) \(.rule)\(if .host != "" then " \(.host)" else "" end)\(if .port != "" then " \(.port)" else "" end)"
	+ (if .prio != [] then " prio \(.prio | map(tostring) | join(","))" else "" end) + ": \(.text)";
def wanted: "\(.verdict // "FAIL") \(.rule)" + ([.host, .port, (.prio | select(. != null) | "prio \(.)"),
	(.text | select(. != null) | "'\(.)'")] | map(select(. != null) | " \(.)") | join(""));
def fits($w): .rule == $w.rule and .verdict == ($w.verdict // "FAIL")
	and ($w.host == null or .host == $w.host) and ($w.port == null or .port == $w.port)
	and ($w.prio == null or (.prio | index($w.prio)) != null)
	and ($w.text == null or (.text | test($w.text)));

$scenario[0] as $s | ($report[0].findings // []) as $all | [$all[] | select(violated)] as $bad
| [$bad[] | select(.caused_by == null)] as $leading
| (if $s.find == "none" then [] else $s.find // [] end) as $find
| (select($exit[0] != $s.exit) | "exit: \($s.exit) expected, \($exit[0]) came"),
  (select($s.find != null and $report == []) | "find: the command left no report, see stderr"),
  ($find[] | . as $w
	| select([$all[] | select(fits($w))] == [])
	| "find: \(wanted) did not come; of this rule came: \([$all[] | select(.rule == $w.rule) | shown] | join("; "))"),
  ($find[] | select(.lead) | . as $w
	| select($leading[0] == null or ($leading[0] | fits($w) | not))
	| "find: \(wanted) does not lead; what leads: \($leading[0] // null | if . == null then "nothing" else shown end)"),
  (select($s.find == "none") | $bad[] | "find: none expected, came: \(shown)"),
  (select($s.never == "others") | $leading[] | select(. as $f | all($find[]; . as $w | $f | fits($w) | not))
	| "never: others came: \(shown)"),
  (($s.never | arrays // []) as $never | $bad[] | select(.rule as $r | $never | index($r) != null) | "never: came: \(shown)")
