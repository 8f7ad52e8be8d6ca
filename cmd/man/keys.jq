# SPDX-License-Identifier: GPL-2.0-or-later
# A JSON Schema of `rocecheck schema` as rows of a manual page: each key with what it takes, its description, and whether
# it is required.

# Words of an enum; the values that YAML reads as booleans are the words on and off.
def words: map(if . == true or . == "true" or . == "false" then empty elif . == false then "off" else tostring end)
	| reduce .[] as $w ([]; if index($w) then . else . + [$w] end) | join(" | ");

# The keys of a map by their pattern.
def key_range: {"^[0-7]$": "0..7", "^([0-9]|1[0-5])$": "0..15", "^[0-9]{1,5}$": "number",
	"^[0-9]{1,2}(-[0-9]{1,2})?$": "0..63 or 24-31"}[.] // .;

# Text by its pattern.
def text_form: {"^[0-9]+(ms|s|m|h)$": "duration like 500ms, 10s, 2m or 1h", "^[0-9]+[kMGT]$": "rate like 10G",
	"^[0-9]+([kMG]B|[KMG]iB)$": "size like 64KiB", "^[0-7](-[0-7])?$": "range like 3-4",
	"^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "date like 2026-12-31", "^RC-[A-Z]+-[0-9]{3}$": "rule",
	"^[A-Za-z0-9_][A-Za-z0-9._-]*$": "name"}[.] // .;

# What a value may be, in words.
def takes: if .const then .const
	elif .anyOf then [.anyOf[] | takes] | reduce .[] as $w ([]; if index($w) then . else . + [$w] end) | join(" or ")
	elif .enum then .enum | words
	elif .type == "integer" then
		if .maximum == 4294967295 then "number" elif .maximum then "\(.minimum)..\(.maximum)" else "number" end
	elif .type == "string" then if .pattern then .pattern | text_form else "text" end
	elif .type == "array" then
		if .minItems then "list of \(.minItems), each \(.items | takes)"
		elif .items.enum then "list of (\(.items | takes))"
		elif .items then "list of \(.items | takes)" else "list" end
	elif .patternProperties then .patternProperties | to_entries[0] | "map of \(.key | key_range) to \(.value | takes)"
	elif .properties then if .properties | length > 2 then "map"
		else "{" + ([.properties | to_entries[] | "\(.key): \(.value | takes)"] | join(", ")) + "}" end
	elif .additionalProperties | type == "object" then "map of number to priority or list of priorities"
	else "map" end;

# A map whose keys explain themselves is one row.
def is_one_row: .description and (.properties | map(has("description")) | any | not);

# rows($path): the rows below a map.
def rows($path): (.required // []) as $required | .properties | to_entries[]
	| .key as $key | ($path + .key) as $name | .value
	| if .properties and (is_one_row | not) then rows($name + ".")
	  else ".It Ic \($name) : Ar \(if .items.properties then "list of maps" else takes end)",
		(.description | select(startswith("schema: ") | not)),
		(if .properties and (.properties | length > 2) then "Keys: " + (.properties | keys_unsorted | join(", ")) else empty end),
		(if $required | index($key) then "Required" else empty end),
		(if .items.properties then .items | rows($name + "[].") else empty end)
	  end;

rows("")
