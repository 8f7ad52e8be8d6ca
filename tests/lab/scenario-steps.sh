# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of `scenario` that plays one: a clean lab, the profile on every host, what is prepared, the
# statistics before, faults, load and command, the statistics after. What cannot be set up is a
# complaint and marks the scenario as broken, which no expectation to fail may excuse.

# broken TEXT...: the scenario could not be played as it is written.
broken()
{
	echo "$*" >>"$folder/complaints"
	touch "$folder/broken"
	exit 1
}

# of FILTER: lines of the scenario.
of()
{
	jq -r "$1" "$folder/scenario.json"
}

# each_host FUNCTION: runs it for every host side by side; its output goes to a file a host.
each_host()
{
	local host pids=()

	for host in $(of '.everyone[]'); do
		"$1" "$host" >"$folder/$1.$host" 2>&1 &
		pids+=($!)
	done
	for host in $(of '.everyone[]'); do
		wait "${pids[0]}" || broken "$host: ${1//_/ }: $(tail -n1 "$folder/$1.$host")"
		pids=("${pids[@]:1}")
	done
}

clean_state()
{
	local topology
	local -a nic

	topology=$(of .topology)
	# shellcheck disable=SC2016
	mapfile -t nic < <(of '.nic | to_entries[] | if .value | type == "object"
		then .key as $host | .value | to_entries[] | "\($host):\(.key)=\(.value)"
		else "\(.key)=\(.value)" end')
	await "$lab" reset "$topology" ${nic[@]+"${nic[@]}"} >"$folder/reset" 2>&1 || {
		echo "lab reset: $(tail -n1 "$folder/reset")" >"$folder/complaints"
		touch "$folder/broken"
		return 1
	}
}

apply_profile()
{
	local profile

	profile=$(of .profile)
	if [[ $profile == /* ]]; then
		on "$1" sh -c 'cat >/run/scenario.yaml' <"$profile"
		profile=/run/scenario.yaml
	fi
	on "$1" rocecheck apply "$profile" --auto-approve --accept-unproven
}

prepare_host()
{
	local host=$1 line

	jq -r --arg host "$host" '.prepare[$host] // [] | .[] | @base64' "$folder/scenario.json" >"$folder/prepare.$host"
	while IFS= read -r line; do
		line=$(base64 -d <<<"$line")
		echo "+ $line"
		on "$host" sh -c "$line" </dev/null || {
			echo "'$line' failed with $?"
			return 1
		}
	done <"$folder/prepare.$host"
}

# ask REQUEST: the switch, which must agree.
ask()
{
	local answer

	answer=$("$lab" switch "$1" 2>&1) || broken "switch: $answer"
	jq -e 'if has("ok") then .ok else true end' <<<"$answer" >/dev/null ||
		broken "switch refuses $1: $(jq -r '.error' <<<"$answer")"
}

# A path of "port.*.KEY" is for all ports of all switches.
set_switch()
{
	local request

	[ "$(of '.switch | length')" -gt 0 ] || return 0
	"$lab" switch '{"op": "stats"}' >"$folder/ports.json"
	while IFS= read -r request; do
		ask "$request"
	done < <(jq -c --slurpfile stats "$folder/ports.json" '
		[$stats[0].switches | to_entries[] | .key as $box | .value.ports | keys[] | "\($box).port.\(.)."] as $ports
		| .switch | to_entries[] | .value as $value
		| (if .key | startswith("port.*.") then .key[7:] as $rest | $ports[] | . + $rest else .key end)
		| {op: "set", path: ., value: $value}' "$folder/scenario.json")
}

frames()
{
	"$lab" switch '{"op": "stats"}' | jq '[.switches[].ports[].prio[].rx_frames] | add'
}

# Faults that begin in mid-run wait for frames and not for a time, which a busy machine would miss.
add_faults()
{
	local request after goal i

	after=$(of .after_frames)
	goal=$(($(frames) + after))
	for ((i = 0; after > 0 && i < 600; i++)); do
		[ "$(frames)" -lt "$goal" ] || break
		sleep 0.1
	done
	[ $i -lt 600 ] || broken "the faults wait for $after frames, and there were fewer in 60 s"
	while IFS= read -r request; do
		ask "$request"
	done < <(jq -c '.faults[] | {op: "fault", add: .}' "$folder/scenario.json")
}

# What a host counts, NIC by NIC: a line of text each, made JSON here and not on an emulated CPU.
host_counters()
{
	local host=$1

	# shellcheck disable=SC2016,SC2046
	on "$host" sh -c 'for p; do
		echo "port ${p%/*}"
		ethtool -S "${p%/*}" | sed -n "s/^ *\([^ ]*\): \([0-9]*\)$/\1 \2/p"
		rdma statistic show link "${p#*/}/1" 2>/dev/null | tr " " "\n" | grep . | paste -sd" \n" | sed -n "s/^\([a-z_]*\) \([0-9]*\)$/\1 \2/p"
	done' sh $(of ".ports.${host}[] | \"\\(.interface)/\\(.rdma)\"")
}

# statistics WHEN: of the switch, and of all hosts where an expectation names a counter of theirs, into WHEN.json.
statistics()
{
	local hosts=''

	if [ "$(of '.statistics | any(test("nic|lost"))')" = true ]; then
		each_host host_counters
		hosts=$(of '.everyone[]')
	fi
	"$lab" switch '{"op": "stats"}' >"$folder/switch.json" || broken "the switch does not answer"
	for host in $hosts; do
		jq -nR --arg host "$host" 'reduce (inputs | split(" ")) as $l ({};
			if $l[0] == "port" then .port = $l[1] else .nic[.port][$l[0]] = ($l[1] | tonumber) end)
			| {($host): .nic}' \
			"$folder/host_counters.$host"
	done | jq -s --slurpfile switch "$folder/switch.json" '{switch: $switch[0], nic: (add // {})}' >"$folder/$1.json"
}

# The inventory of the run. JSON is YAML.
write_fabric()
{
	jq --arg ssh "$LAB_DIR/ssh_config" '. as $s | {schema: "rocecheck.fabric/1", name: "scenario",
		profile: (if .profile == "none" then "lab" else .profile end), engine: "ssh", ssh: {config: $ssh},
		agent: "/run/lab/rocecheck", capture: .capture,
		hosts: [.hosts[] | {name: ., ports: $s.ports[.]}],
		thresholds: ({quiet: "1s", traffic: "1s", load: 4, min_load: 20} + .thresholds)}' "$folder/scenario.json" >"$folder/fabric.yaml"
}

command_validate()
{
	local -a options

	write_fabric
	mapfile -t options < <(of '.options[]')
	await "$tree/build/rocecheck" --json validate "$folder/fabric.yaml" --out "$folder/run" \
		${options[@]+"${options[@]}"} >"$folder/report.json" 2>"$folder/stderr"
}

command_host()
{
	local host text

	host=$(of '.command | keys[0]')
	text=$(of '.command[]')
	await "$lab" run "$host" -- sh -c "$text" >"$folder/stdout" 2>"$folder/stderr"
}

run_command()
{
	local code=0

	case $(of '.command | if type == "string" then . else "host" end') in
	validate) command_validate || code=$? ;;
	host) command_host || code=$? ;;
	load) ;;
	esac
	echo $code >"$folder/exit"
	[ $code != 255 ] || broken "a host was lost: $(tail -n1 "$folder/stderr")"
}

run_steps()
{
	[ "$(of .profile)" = none ] || each_host apply_profile
	[ "$(of '.prepare | length')" = 0 ] || each_host prepare_host
	set_switch
	statistics before
	add_faults &
	faults=$!
	[ "$(of .after_frames)" != 0 ] || wait $faults
	start_loads
	run_command
	end_loads
	[ "$(of .after_frames)" = 0 ] || wait $faults
	statistics after
}
