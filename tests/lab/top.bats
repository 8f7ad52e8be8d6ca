#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# top and collect on lab hosts under RDMA traffic that PFC holds back. The oracles are ethtool -S,
# dcb -s pfc and rdma, read beside them in the guest.
bats_require_minimum_version 1.5.0
load guests

mux()
{
	tmux -S "$socket" "$@" 3>&- 4>&-
}

# start: a terminal of 100x30 that runs run.sh of the test. Each has a socket of its own: a server that is still
# ending would take the new session with it.
start()
{
	socket=$BATS_TEST_TMPDIR/tmux$((++starts))
	mux -f /dev/null new-session -d -s t -x 100 -y 30 "bash $BATS_TEST_TMPDIR/run.sh"
}

shows()
{
	for _ in {1..100}; do
		mux capture-pane -p -t t | grep -q -e "$1" && return
		sleep 0.1
	done
	mux capture-pane -p -t t
	echo "never on the screen: $1"
	return 1
}

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export LAB_DIR=$PWD/build/lab-top
	unset TMUX
	lab down
	lab up
	both bash -c 'dcb app replace dev roce0 dscp-prio 26:3 &&
		dcb pfc set dev roce0 prio-pfc all:off 3:on &&
		ethtool -A roce0 autoneg off rx off tx off' || true
	on h2 bash -c 'echo 8 >/sys/module/labnic/parameters/drain'
}

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export TERM=screen-256color
	socket=$BATS_TEST_TMPDIR/tmux starts=0
	unset TMUX NO_COLOR
}

teardown()
{
	mux kill-server 2>/dev/null || true
}

teardown_file()
{
	lab down
}

@test "collect: a Soft-RoCE port as ibv_devinfo, rdma, ip and dcb see it" {
	on h1 rocecheck collect >"$BATS_TEST_TMPDIR/h1.json"
	jq -e '.schema == "rocecheck.snapshot/1" and .host == "h1" and .privileged
		and (.ports | length) == 1' "$BATS_TEST_TMPDIR/h1.json"
	port=$(jq -c '.ports[0]' "$BATS_TEST_TMPDIR/h1.json")
	jq -e '.netdev == "roce0" and .ibdev == "rxe0" and .kind == "soft-roce" and .dcb and .up
		and .ib_active and .rdma_driver == "rxe" and .driver == "labnic"
		and .qos.pfc.enabled == [3] and (.addresses | index("198.18.0.1")) != null' <<<"$port"
	[ "$(jq -r .active_mtu <<<"$port")" = "$(on h1 ibv_devinfo -d rxe0 | awk '/active_mtu/ { print $2 }')" ]
	[ "$(jq -r .mac <<<"$port")" = "$(on h1 cat /sys/class/net/roce0/address)" ]
	[ "$(jq -r .qos.mtu.netdev <<<"$port")" = "$(on h1 cat /sys/class/net/roce0/mtu)" ]
	[ "$(jq -r .speed_mbps <<<"$port")" = "$(on h1 cat /sys/class/net/roce0/speed)" ]
	[ "$(jq -r .rdma_core "$BATS_TEST_TMPDIR/h1.json")" = \
		"$(on h1 bash -c 'basename "$(realpath /usr/lib/*/libibverbs.so.1)"' | cut -d. -f5-)" ]
	# GIDs: every one that sysfs has, at its index.
	[ "$(jq -r '.gids[] | "\(.index) \(.type)"' <<<"$port")" = "$(on h1 bash -c '
		cd /sys/class/infiniband/rxe0/ports/1/gids
		for i in $(ls | sort -n | head -16); do
			grep -q "[1-9a-f]" $i && echo "$i roce-v2"
		done')" ]
	jq -e '.gids | map(select(.gid == "::ffff:198.18.0.1")) | length == 1' <<<"$port"
}

@test "collect: a device that may not be opened still has the state of its port" {
	on h1 install -m 755 /rocecheck/build/rocecheck /tmp/collector # whatever the tree's modes
	on h1 chmod 600 /dev/infiniband/uverbs0
	on h1 setpriv --reuid 65534 --clear-groups /tmp/collector collect \
		>"$BATS_TEST_TMPDIR/h1.json"
	on h1 chmod 666 /dev/infiniband/uverbs0
	jq -e '(.privileged | not) and .ports[0].ib_active and .ports[0].gids == []
		and .ports[0].kind == "soft-roce"' "$BATS_TEST_TMPDIR/h1.json"
}

@test "collect --lldp: the link partner as lldptool has it, and never the host itself" {
	shut='kill $(pidof lldpad); while pidof -q lldpad; do sleep 0.1; done; rm -f /dev/shm/lldpad.state'
	speak='lldpad -d && sleep 0.5 && lldptool -L -i roce0 adminStatus=rxtx &&
		lldptool -T -i roce0 -V sysName enableTx=yes &&
		lldptool -T -i roce0 -V PFC enableTx=yes enabled=3'
	on h1 bash -c "$speak" >/dev/null
	# Only h1 speaks: what it hears of itself is no partner.
	on h1 rocecheck collect --lldp 4 | jq -e '.ports[0].peer == null'
	on h2 bash -c "$speak" >/dev/null
	on h1 rocecheck collect --lldp 40 >"$BATS_TEST_TMPDIR/h1.json"
	name=$(on h1 lldptool -t -n -i roce0 -V sysName | tail -1 | tr -d '\t ')
	both bash -c "$shut; dcb app replace dev roce0 dscp-prio 26:3
		dcb pfc set dev roce0 prio-pfc all:off 3:on"
	[ "$name" = h2 ]
	jq -e '.ports[0].peer | .name == "h2" and .dialect == "ieee" and .qos.pfc.enabled == [3]' \
		"$BATS_TEST_TMPDIR/h1.json"
}

@test "collect changes nothing: neither settings nor modules nor configfs" {
	state='lsmod | cut -d" " -f1 | sort; ls -R /sys/kernel/config; dcb dcbx show dev roce0
		dcb pfc show dev roce0; dcb ets show dev roce0; dcb app show dev roce0; ip -d link'
	on h1 bash -c "$state" >"$BATS_TEST_TMPDIR/before"
	on h1 rocecheck collect >/dev/null
	on h1 rocecheck top --batch -n 1 >/dev/null
	on h1 bash -c "$state" >"$BATS_TEST_TMPDIR/after"
	[ -s "$BATS_TEST_TMPDIR/before" ]
	diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "the screen shows the paused priority at 100x30 and 60x16, in colour, and q ends it" {
	write_behind 15
	printf '%s\n' 'tests/lab/lab ssh h1 rocecheck top --interval 500ms' 'echo "exit $?"' 'exec sleep 100' \
		>"$BATS_TEST_TMPDIR/run.sh"
	start
	# Bits/s sent, PFC frames received a second and the pause are numbers other than 0.
	shows '^[*!] roce0  *3  *[0-9.]*[kM]  *[0-9.]*k*  *[1-9][0-9.]*  *0  *[1-9][0-9.]* '
	shows 'PORT .*CNPrx .*DROP$'
	mux capture-pane -e -p -t t | grep -q $'\033\\[[0-9;]*3[13]m'
	mux resize-window -t t -x 60 -y 16
	shows 'PAUrx   DROP$'
	shows '^[*!] roce0  *3  *[0-9.]*[kM] '
	mux send-keys -t t q
	shows 'exit 0'
	mux kill-server
	sed -i 's/rocecheck top/NO_COLOR=1 rocecheck top/' "$BATS_TEST_TMPDIR/run.sh"
	start
	shows '^[*!] roce0  *3  *[0-9.]*[kM] '
	[ "$(mux capture-pane -e -p -t t | grep -c $'\033\\[[0-9;]*3[0-7]m')" -eq 0 ]
	mux send-keys -t t q
	shows 'exit 0'
	wait
}

@test "a port that goes away is marked, its rates are no numbers, and it comes back" {
	rename='ip link set $0 down && ip link set $0 name $1 && ip link set $1 up'
	on h1 rocecheck top --batch -n 16 --interval 500ms -i roce0 --json >"$BATS_TEST_TMPDIR/top" &
	sleep 2
	on h1 bash -c "$rename" roce0 gone0
	sleep 2
	on h1 bash -c "$rename" gone0 roce0
	wait $!
	jq -c '[.number, .stale, .rates.rx_bytes]' "$BATS_TEST_TMPDIR/top"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/top")" -eq 16 ]
	jq -se '(map(select(.stale)) | length > 0 and all(.rates.rx_bytes == null))
		and (.[0].stale | not) and (.[15].stale | not)
		and .[15].rates.rx_bytes >= 0' "$BATS_TEST_TMPDIR/top"
}
