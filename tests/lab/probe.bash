# shellcheck shell=bash disable=SC2154,SC2016
# SPDX-License-Identifier: GPL-2.0-or-later
# A probe from h1 to h2, for bats files that have loaded guests.

# sh_on HOST TEXT: a script in a guest.
sh_on()
{
	on "$1" sh -c "$2"
}

# serve [HOST [PROGRAM [OPTIONS]]]: a server on h2 or HOST; its output and, at its end, its exit code are in its
# /tmp/probe.out, its token is in $token.
serve()
{
	local host=${1:-h2}

	sh_on "$host" "rm -f /tmp/probe.out
		(setsid ${2:-rocecheck} probe server $3; echo exit \$?) </dev/null >/tmp/probe.out 2>&1 &
		for i in \$(seq 100); do grep -q listening /tmp/probe.out && exit; sleep 0.1; done; exit 1"
	token=$(on "$host" sed -n 's/^token //p' /tmp/probe.out)
}

# probe OPTIONS...: from h1 to it, as a document in $output, with what it said in $stderr. `idle`: its quiet baseline.
probe()
{
	sh_on h1 "umask 077; echo $token >/tmp/token; cd /tmp
		rocecheck probe client 198.18.0.2 --token-file /tmp/token --json --baseline ${idle:-500ms} $*"
}

# probe_behind OPTIONS...: the same in the background on h1, into /tmp/client.json and /tmp/client.err.
probe_behind()
{
	sh_on h1 "umask 077; echo $token >/tmp/token; rm -f /tmp/client.exit /tmp/client.err
		(setsid rocecheck probe client 198.18.0.2 --token-file /tmp/token --json -v --baseline 0 $*; echo \$? >/tmp/client.exit) \
			</dev/null >/tmp/client.json 2>/tmp/client.err &
		for i in \$(seq 200); do grep -q 'probe: traffic' /tmp/client.err && exit; sleep 0.1; done; cat /tmp/client.err; exit 1"
	sleep 1 # some of it
}

# behind CODE SECONDS: it has ended so, in time; its document in $output.
behind()
{
	sh_on h1 "for i in \$(seq $(($2 * 10))); do [ -s /tmp/client.exit ] && break; sleep 0.1; done; cat /tmp/client.err"
	output=$(on h1 cat /tmp/client.json)
	on h1 grep -q "^$1\$" /tmp/client.exit || is false
}

# served CODE: the server has ended so, within 10 s, and no process is left on either host.
served()
{
	sh_on h2 "for i in \$(seq 100); do grep -q '^exit' /tmp/probe.out && break; sleep 0.1; done
		cat /tmp/probe.out; grep -q '^exit $1' /tmp/probe.out"
	sh_on h2 'for i in $(seq 50); do pgrep -x rocecheck >/dev/null || exit 0; sleep 0.1; done; pgrep -a rocecheck; exit 1'
	sh_on h1 'for i in $(seq 50); do pgrep -x rocecheck >/dev/null || exit 0; sleep 0.1; done; pgrep -a rocecheck; exit 1'
}

# fault JSON: begins on the switches, where there are some.
fault()
{
	lab switch "{\"op\": \"fault\", \"add\": $1}" | jq -e .ok >/dev/null
}

# nothing_left: of a test and its faults.
nothing_left()
{
	lab switch '{"op": "fault", "clear": true}' >/dev/null
	sh_on h1 'pkill -KILL rocecheck; true'
	sh_on h2 'pkill -KILL rocecheck; true'
}

# is FILTER: true of the document.
is()
{
	jq -e "$1" <<<"$output" >/dev/null || { jq -c '{why, verdict, exit}, (.ends[].report | del(.classes[]?.goodput, .classes[]?.latency)), [.ends[].growth[] | select(.load > 0) | {metric, load}]' <<<"$output"; return 1; }
}
