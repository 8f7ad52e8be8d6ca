# SPDX-License-Identifier: GPL-2.0-or-later
#
# The keys of a scenario, one row a key with its kind; "!" marks what must be there. Keys within faults,
# switch and nic are the switch's and the NIC's own, which refuse what they do not know.

def host_names: ["h1", "h2", "h3", "h4", "h5", "h6"];
def is_host: . as $h | host_names | index($h) != null;
def is_rule: type == "string" and test("^RC-[A-Z]+-[0-9]{3}$");
def list_of(f): type == "array" and all(.[]; f);
def is_text: type == "string" and . != "";
def is_steps_of_hosts: type == "object" and all(keys[]; is_host) and all(.[]; list_of(is_text));

def tables: {
	scenario: {
		schema: "schema!", about: "text!", topology: "text!", smoke: "bool", hosts: "hosts",
		interfaces: "texts", profile: "text", nic: "map", prepare: "prepare", switch: "map",
		faults: "maps", after_frames: "number", fault: "steps", spoil: "steps", load: "load", command: "command",
		options: "texts", thresholds: "map", capture: "text", exit: "number",
		output: "texts", find: "find", never: "never", statistics: "texts"
	},
	steps: {nic: "map", prepare: "prepare", switch: "map", faults: "maps", after_frames: "number"},
	load: {
		kind: "load_kind!", from: "hosts!", to: "host!", seconds: "number", after: "number", tos: "number",
		size: "number", qps: "number", interval: "number", rail: "number", may_fail: "bool"
	},
	find: {rule: "rule!", verdict: "verdict", host: "host", port: "text", prio: "number", text: "text", lead: "bool"}
};

# What is wrong with a value of a simple kind: [whether it fits, what is expected].
def expectation($kind): {
	schema: [. == "rocecheck.scenario/1", "schema: rocecheck.scenario/1 is expected"],
	text: [is_text, "a text is expected"],
	bool: [type == "boolean", "true or false is expected"],
	number: [type == "number" and . >= 0, "a number is expected"],
	map: [type == "object", "a map is expected"],
	maps: [list_of(type == "object"), "a list of maps is expected"],
	texts: [list_of(is_text), "a list of texts is expected"],
	rule: [is_rule, "the id of a rule is expected"],
	host: [is_host, "one of h1 to h6 is expected"],
	hosts: [list_of(is_host) and . != [], "a list of hosts h1 to h6 is expected"],
	verdict: [IN("FAIL", "WARN", "PASS", "SKIP", "INCONCLUSIVE"), "a verdict is expected: FAIL WARN PASS SKIP INCONCLUSIVE"],
	load_kind: [IN("write", "send", "read", "ping"), "one of: write send read ping"],
	prepare: [is_steps_of_hosts, "hosts with a list of commands each are expected"],
	command: [IN("validate", "load") or (type == "object" and length == 1 and all(keys[]; is_host) and all(.[]; is_text)),
		"validate, load, or one host with its command is expected"],
	never: [. == "others" or list_of(is_rule), "others, or a list of rules' ids is expected"]
}[$kind];

# Complaints about one value; $where is its path.
def wrong($kind; $where):
	def fields($table): . as $o | tables[$table] as $rows
		| if type != "object" then "\($where): a map is expected"
		else
			(keys[] | select($rows[.] == null) | "\($where): unknown key '\(.)'; one of: \($rows | keys_unsorted | join(" "))"),
			($rows | to_entries[] | select(.value | endswith("!")) | .key | select($o[.] == null) | "\($where): '\(.)' is missing"),
			(to_entries[] | select($rows[.key] != null) | .key as $key
				| .value | wrong($rows[$key] | rtrimstr("!"); "\($where).\($key)"))
		end;
	if $kind == "steps" or $kind == "scenario" then fields($kind)
	elif $kind == "find" and . == "none" then empty
	elif $kind == "find" or $kind == "load" then
		if type == "array" then .[] | fields($kind) else "\($where): a list of maps is expected" end
	else expectation($kind) as $e | select($e[0] | not) | "\($where): \($e[1])"
	end;

# What must hold between keys.
def together:
	(select((.fault == null) == (.spoil == null))
		| "scenario: one of 'fault' (left out, the scenario must fail) and 'spoil' (put in, it must fail) is expected"),
	(select(.find != null and (.command // "validate") != "validate") | "scenario: find judges what validate found, and command is not validate"),
	(select(.never != null and .find == "none") | "scenario: 'find: none' says all that never could"),
	(select(.never == "others" and .find == null) | "scenario: never: others than what? 'find' is missing"),
	(select(.command == "load" and .load == null) | "scenario: command is load, and 'load' is missing"),
	(select(.find == null and .statistics == null and .output == null) | "scenario: nothing is expected: find, statistics or output");

def complaints: [wrong("scenario"; "scenario")] as $bad
	| if $bad == [] then together else $bad[] end;

# The ports of a host: a wire each, and a rail each.
def ports_of($host; $wires; $interfaces):
	(if $interfaces != null then
		[$interfaces[] | split("/") | {interface: .[0], rdma: .[1]}]
	else
		[if $wires | index($host) then {interface: "roce0", rdma: "rxe0"} else empty end,
		 if $wires | index($host + ".b") then {interface: "roce1", rdma: "rxe1"} else empty end]
	end) | [to_entries[] | .value + {rail: .key}];

def filled($topology; $profile; $wires):
	. as $s
	| ($wires | map(.[:2]) | unique) as $all
	| {smoke: false, nic: {}, prepare: {}, switch: {}, faults: [], after_frames: 0, load: [], command: "validate",
	   options: [], thresholds: {}, capture: "headers", exit: 0, output: [], statistics: []} + $s
	| .topology = $topology | .profile = $profile
	| .everyone = $all
	| .hosts = ($s.hosts // $all)
	| .ports = ([$all[] | . as $h | {key: $h, value: ports_of($h; $wires; $s.interfaces)}] | from_entries)
	| .load |= map({seconds: 2, after: 0, tos: 106, size: 65536, qps: 1, interval: 0.01, rail: 0, may_fail: false} + .);
