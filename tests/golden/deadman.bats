#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The state folder and the dead-man against other users, bad disks, signals and reboots. The port is a
# veth in a network namespace of the test, the setting its MTU; /sys and ip say what it is.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	[ "$(id -u)" = 0 ] || skip "not root: no namespaces here"
	unshare -m -n true 2>/dev/null || skip "no namespaces here"
	export rc=$PWD/build/rocecheck killat=$PWD/build/tools/killat
	# Other users have to reach it.
	tmp=$(mktemp -d /tmp/rocecheck-deadman.XXXXXX)
	chmod 755 "$tmp"
	profile 4200 >"$tmp/mtu.yaml"
}

teardown() {
	[ -z "${tmp:-}" ] || rm -rf "$tmp"
}

profile() {
	printf '%s\n' "schema: rocecheck.profile/1" "name: mtu$1" "intent: lossy" "mtu: {netdev: $1}"
}

# host SCRIPT: in namespaces of its own, with a port v0.
host() {
	run unshare -m -n --propagation private bash -ec '
		mount -t sysfs none /sys
		mount -t tmpfs none /run
		ip link add v0 type veth peer name v1
		ip link set v0 up && ip link set v1 up
		cd "$1"
		apply() {
			"$rc" apply "$@" --auto-approve --accept-unproven --accept-disruption
		}
		mtu() {
			cat /sys/class/net/v0/mtu
		}
		# becomes MTU SECONDS
		becomes() {
			local end=$((SECONDS + $2 + 1))
			until [ "$(mtu)" = "$1" ]; do
				[ $SECONDS -lt $end ] || { echo "still $(mtu) after $2 s"; return 1; }
				sleep 0.1
			done
		}
		nobody() {
			setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
		}
		# The processes of this namespace.
		ours() {
			local pid
			for pid in $(pgrep -x rocecheck); do
				[ "$(readlink /proc/$pid/ns/net)" != "$(readlink /proc/self/ns/net)" ] || echo $pid
			done
		}
		# Those that have the state folder open where a dead-man has it.
		deadman() {
			local pid
			for pid in $(ours); do
				[[ $(readlink /proc/$pid/fd/4) != */state ]] || echo $pid
			done
		}
		reboot() {
			local pid
			for pid in $(ours); do kill -KILL $pid; done
			cat /proc/sys/kernel/random/uuid >boot_id
			mount --bind boot_id /proc/sys/kernel/random/boot_id
		}
		trap "for pid in \$(ours); do kill -KILL \$pid; done" EXIT
		eval "$2"' bash "$tmp" "$1"
	echo "$output"
}

@test "the state folder is root's alone, and one that was not is corrected" {
	host 'mkdir -p state/tx state/last && mkdir /run/rocecheck
		chmod 755 state state/tx state/last /run/rocecheck
		apply mtu.yaml -i v0 --state-dir "$PWD/state"
		apply --last --boot --state-dir "$PWD/state"
		stat -c "%n %a" state state/tx state/last /run/rocecheck /run/rocecheck/lock /run/rocecheck/boot
		find state -perm /077'
	[ "$status" = 0 ]
	[[ $output == *"state 700
state/tx 700
state/last 700
/run/rocecheck 700
/run/rocecheck/lock 600
/run/rocecheck/boot 600" ]]
}

@test "a state folder of another user, or one that others can write to, is refused" {
	host 'mkdir -m 700 theirs && chown 65534 theirs
		mkdir -m 770 ours && mkdir real && ln -s real link
		for dir in theirs ours link; do
			code=0; apply mtu.yaml -i v0 --state-dir $dir 2>&1 || code=$?
			echo "exit $code $(mtu)"
			code=0; "$rc" rollback --state-dir $dir 2>&1 || code=$?
			echo "rollback $code"
		done'
	[ "$(grep -cx 'exit 3 1500' <<<"$output")" = 3 ]
	[ "$(grep -cx 'rollback 3' <<<"$output")" = 3 ]
	[[ $output == *"theirs: refusing a folder of user 65534"* ]]
	[[ $output == *"ours: refusing a folder that other users can write to"* ]]
}

@test "a user without rights holds up nothing: dead-man, confirm, rollback, boot" {
	host 'mkdir state state/last && chmod 755 state state/last
		apply mtu.yaml -i v0 --confirm-within 2s --state-dir "$PWD/state"
		nobody flock -x /run/rocecheck/lock sleep 20 &
		nobody flock -s /run/rocecheck/boot sleep 20 &
		sleep 0.3
		timeout 10 "$rc" apply --last --boot --state-dir "$PWD/state" || echo "boot $?"
		becomes 1500 5
		apply mtu.yaml -i v0 --state-dir "$PWD/state"
		"$rc" rollback --state-dir "$PWD/state"
		kill %1 %2 2>/dev/null || true'
	[ "$status" = 0 ]
	[[ $output != *"boot 124"* ]]
}

@test "a lock that is not given back: named with its process, and no deadline waits for it" {
	profile 3000 >"$tmp/other.yaml"
	host 'apply mtu.yaml -i v0 --confirm-within 6s --state-dir "$PWD/state"
		python3 - <<-END &
			import fcntl, os, struct, time
			f = open("/run/rocecheck/lock", "r+")
			fcntl.fcntl(f, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
			f.truncate(0); f.write("%d\n" % os.getpid()); f.flush()
			open("held", "w")
			time.sleep(60)
		END
		holder=$!
		until [ -e held ]; do sleep 0.1; done
		code=0; apply other.yaml -i v0 --state-dir "$PWD/other" 2>&1 || code=$?
		echo "apply $code, holder $holder, $(mtu)"
		becomes 1500 8
		apply mtu.yaml -i v0 --confirm-within 6s --state-dir "$PWD/state" 2>&1 || true
		kill $holder; wait $holder || true
		apply mtu.yaml -i v0 --confirm-within 600s --state-dir "$PWD/state"
		kill -STOP $(deadman); kill -CONT $(deadman)
		"$rc" confirm --state-dir "$PWD/state"'
	[ "$status" = 0 ]
	[[ $output =~ "apply 3, holder "([0-9]+)", 4200" ]]
	[[ $output == *"another apply or rollback is running (process ${BASH_REMATCH[1]})"* ]]
}

@test "a lock whose holder wrote no pid is not of the process that had it before" {
	host 'apply mtu.yaml -i v0 --state-dir "$PWD/state" >/dev/null
		# What wrote its pid has ended.
		python3 - <<-END &
			import fcntl, struct, time
			f = open("/run/rocecheck/lock", "r+")
			fcntl.fcntl(f, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
			open("held", "w")
			time.sleep(30)
		END
		holder=$!
		until [ -e held ]; do sleep 0.1; done
		ip link set v0 mtu 1500
		code=0; apply mtu.yaml -i v0 --state-dir "$PWD/state" 2>&1 || code=$?
		echo "apply $code"
		kill $holder'
	[ "$status" = 0 ]
	[[ $output == *"another apply or rollback is running"*"apply 3"* ]]
	[[ $output != *"is running (process"* ]]
}

@test "a relative --state-dir is where it was, for the dead-man too" {
	host 'apply mtu.yaml -i v0 --confirm-within 1s --state-dir state
		mkdir elsewhere && mv state elsewhere/
		becomes 1500 8
		"$rc" rollback --list --state-dir elsewhere/state'
	[ "$status" = 0 ]
	[[ $output == *undone* ]]
}

@test "ext4, xfs, btrfs, tmpfs and overlayfs: undone when nobody confirms, and no drift meanwhile" {
	for kind in ext4 xfs btrfs tmpfs overlay; do
		case $kind in
		ext4 | xfs | btrfs)
			command -v mkfs.$kind >/dev/null || continue
			truncate -s 320M "$tmp/$kind.img"
			mkfs.$kind -q "$tmp/$kind.img" ;;
		esac
		host "kind=$kind"'
			mkdir fs; exec 2>&1
			case $kind in
			tmpfs) mount -t tmpfs none fs ;;
			overlay)
				mkdir low up; mount -t tmpfs none low; mount -t tmpfs none up
				mkdir up/u up/w; mount -t overlay none -o lowerdir=low,upperdir=up/u,workdir=up/w fs ;;
			*) mount -o loop $kind.img fs ;;
			esac
			for i in 1 2; do
				apply mtu.yaml -i v0 --confirm-within 1s --state-dir "$PWD/fs/state" >said 2>&1 || { cat said; false; }
				[ "$(mtu)" = 4200 ]
				becomes 1500 8
				while [ -n "$(ours)" ]; do sleep 0.1; done
			done
			"$rc" rollback --list --state-dir "$PWD/fs/state" | grep -c undone | grep -x 2
			umount fs'
		[ "$status" = 0 ] || { echo "$kind"; return 1; }
		rm -rf "$tmp/fs"
	done
}

@test "a reboot before the confirmation is undone at boot" {
	host 'apply mtu.yaml -i v0 --confirm-within 600s --state-dir "$PWD/state"
		reboot
		mtu
		"$rc" apply --last --boot --state-dir "$PWD/state"
		mtu
		"$rc" apply --last --boot --state-dir "$PWD/state"
		"$rc" rollback --list --state-dir "$PWD/state"'
	[ "$status" = 0 ]
	[[ $output == *"4200"*"is undone (not confirmed before the reboot)"*"1500"*undone* ]]
}

@test "an interrupted transaction is undone at boot, whatever the clock says" {
	host 'apply mtu.yaml -i v0 --state-dir "$PWD/state" >/dev/null && "$rc" rollback --state-dir "$PWD/state"
		rm -rf state
		"$killat" -s 1 "$rc" apply mtu.yaml -i v0 --auto-approve --accept-unproven --accept-disruption --state-dir "$PWD/state"
		sed -i "s/\"time\": *\"20../\"time\":\"2099/" state/tx/*/journal
		mtu
		"$rc" apply --last --boot --state-dir "$PWD/state"
		mtu
		reboot
		"$rc" apply --last --boot --state-dir "$PWD/state"
		mtu'
	[ "$status" = 0 ]
	# In the boot that interrupted it somebody may be at work on it.
	[[ $output == *"4200
4200
transaction "*" is undone (interrupted by the reboot)
1500" ]]
}

@test "confirmed, and not kept because of a crash: kept at the next boot" {
	profile 3000 >"$tmp/old.yaml"
	host 'apply old.yaml -i v0 --state-dir "$PWD/state"
		apply mtu.yaml -i v0 --confirm-within 600s --state-dir "$PWD/state"
		cp -a state before
		for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
			rm -rf state && cp -a before state
			# It is of the first boot again, and only there it can be confirmed.
			[ $n = 1 ] || umount /proc/sys/kernel/random/boot_id
			ip link set v0 mtu 4200
			"$killat" $n "$rc" confirm --state-dir "$PWD/state" && killed=1 || killed=0
			ip link set v0 mtu 1500
			reboot
			echo "$n: $("$rc" apply --last --boot --state-dir "$PWD/state" | tail -n1) $(mtu)"
			[ $killed = 1 ] || break
		done'
	[ "$status" = 0 ]
	[ "${#lines[@]}" -gt 5 ]
	# A profile is in force after every one of them: the old one until it is confirmed, then the new one.
	[ "$(grep -E '^[0-9]+: ' <<<"$output" | grep -cv ' \(3000\|4200\)$')" = 0 ]
	[[ $(tail -n1 <<<"$output") == *" 4200" ]]
}

@test "a dead-man that is killed before its tool has promised it: undone, and said" {
	host 'apply mtu.yaml -i v0 --confirm-within 60s --settle 2s --json --state-dir "$PWD/state" >doc 2>said &
		tool=$!
		becomes 4200 5
		sleep 0.5
		kill -KILL $(deadman)
		code=0; wait $tool || code=$?
		echo "exit $code $(mtu) $(jq -r .outcome doc)"
		grep -o "the rollback process of transaction .* has ended" said'
	[ "$status" = 0 ]
	[[ $output == *"exit 5 1500 undone"* ]]
	[[ $output == *"the rollback process of transaction "*" has ended" ]]
}

@test "confirm says no to what was undone, also where the undo could not be recorded" {
	host 'exec 2>&1
		mkdir ro && mount -t tmpfs none ro
		apply mtu.yaml -i v0 --confirm-within 2s --state-dir "$PWD/ro/state" >/dev/null
		mount -o remount,ro ro
		becomes 1500 8
		while [ -n "$(ours)" ]; do sleep 0.1; done
		code=0; "$rc" confirm --state-dir "$PWD/ro/state" || code=$?
		echo "read-only: confirm $code"
		mount -o remount,rw ro
		code=0; "$rc" confirm --state-dir "$PWD/ro/state" || code=$?
		echo "confirm $code"
		reboot
		"$rc" apply --last --boot --state-dir "$PWD/ro/state"
		echo "boot $(mtu)"
		"$rc" rollback --list --state-dir "$PWD/ro/state"'
	[ "$status" = 0 ]
	[[ $output == *"was not confirmed in time"*"read-only: confirm 1"* ]]
	[[ $output == *"confirm 1"*"boot 1500"*"undone"* ]]
}

@test "confirm says no to what does not stand any more, or would not outlive a reboot" {
	host 'exec 2>&1
		mkdir ro && mount -t tmpfs none ro
		apply mtu.yaml -i v0 --confirm-within 60s --state-dir "$PWD/ro/state" >/dev/null
		ip link set v0 mtu 3000
		code=0; "$rc" confirm --state-dir "$PWD/ro/state" || code=$?
		echo "changed: confirm $code"
		ip link set v0 mtu 4200
		mount -o remount,ro ro
		code=0; "$rc" confirm --state-dir "$PWD/ro/state" || code=$?
		echo "read-only: confirm $code"
		mount -o remount,rw ro
		"$rc" confirm --state-dir "$PWD/ro/state"
		reboot
		ip link set v0 mtu 1500
		"$rc" apply --last --boot --state-dir "$PWD/ro/state"
		echo "boot $(mtu)"'
	[ "$status" = 0 ]
	[[ $output == *"v0: mtu.netdev is 3000, expected 4200"*"rocecheck rollback"*"changed: confirm 1"* ]]
	[[ $output == *"would be lost at a reboot"*"read-only: confirm 3"* ]]
	[[ $output == *" confirmed. "*"boot 4200"* ]]
}

@test "a dead-man that is killed behind the promise: its transaction is named where it is looked for" {
	profile 3000 >"$tmp/old.yaml"
	host 'exec 2>&1
		apply mtu.yaml -i v0 --confirm-within 600s --state-dir "$PWD/state" >/dev/null
		id=$(ls state/tx)
		kill -KILL $(deadman)
		"$rc" watch mtu.yaml --once -i v0 --state-dir "$PWD/state"
		echo "--- late"
		# Its time was up more than a minute ago.
		sed -i "s/\"confirm_by\":[0-9]*/\"confirm_by\":1/" state/tx/*/journal
		"$rc" watch mtu.yaml --once -i v0 --state-dir "$PWD/state"
		"$rc" rollback --list --state-dir "$PWD/state"
		code=0; apply old.yaml -i v0 --state-dir "$PWD/state" || code=$?
		echo "apply $code $(mtu) id $id"
		"$rc" rollback $id --state-dir "$PWD/state"
		mtu'
	[ "$status" = 0 ]
	id=$(grep -o "id .*" <<<"$output"); id=${id#id }
	[[ ${output%%--- late*} != *unconfirmed* ]]
	# Long lines are wrapped.
	[[ $(tr -s ' \n' ' ' <<<"$output") == *" unconfirmed: transaction $id was not confirmed in time, and its rollback process is not running: run 'rocecheck rollback $id'"* ]]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"waits for confirmation, timeout passed, its rollback process is not running"* ]]
	[[ $output == *"transaction $id was not confirmed in time, and its rollback process is not running"*"apply 3 4200"* ]]
	[[ $(tail -n1 <<<"$output") == 1500 ]]
}

@test "a dead-man that the OOM killer may take is said once" {
	host 'exec 2>&1
		setpriv --inh-caps -sys_resource --bounding-set -sys_resource \
			"$rc" apply mtu.yaml -i v0 --auto-approve --accept-disruption --confirm-within 2s --state-dir "$PWD/state"
		becomes 1500 8'
	[ "$status" = 0 ]
	[ "$(grep -c "The OOM killer can end this undo" <<<"$output")" = 1 ]
}

@test "a second tool while one waits and the state folder is read-only: refused, and nothing is held up" {
	profile 3000 >"$tmp/other.yaml"
	host 'exec 2>&1
		mkdir ro && mount -t tmpfs none ro
		apply mtu.yaml -i v0 --confirm-within 4s --state-dir "$PWD/ro/state" >/dev/null
		mount -o remount,ro ro
		code=0; apply other.yaml -i v0 --state-dir "$PWD/ro/state" || code=$?
		echo "there: exit $code"
		code=0; apply other.yaml -i v0 --state-dir "$PWD/elsewhere" || code=$?
		echo "elsewhere: exit $code $(mtu)"
		becomes 1500 10'
	[ "$status" = 0 ]
	[[ $output == *"waits for confirmation"*"elsewhere: exit 3 4200"* ]]
	[[ $output == *"there: exit 3"* ]]
}

@test "a journal that cannot be read any more does not stop the undo" {
	host 'apply mtu.yaml -i v0 --confirm-within 2s --state-dir "$PWD/state"
		printf "\0\0\0\0\n" >>$(echo state/tx/*/journal)
		becomes 1500 8
		apply mtu.yaml -i v0 --confirm-within 2s --state-dir "$PWD/state"
		rm -rf state
		becomes 1500 8'
	[ "$status" = 0 ]
}

@test "an unreadable newest journal is set aside and named, and blocks nothing" {
	host 'apply mtu.yaml -i v0 --state-dir "$PWD/state"
		for command in rollback confirm "apply mtu.yaml --auto-approve --accept-unproven -i v0"; do
			mkdir state/tx/20990101-000000-00
			head -c 400 /dev/zero >state/tx/20990101-000000-00/journal
			[ "$command" = confirm ] || echo >>state/tx/20990101-000000-00/journal
			code=0; "$rc" $command --state-dir "$PWD/state" 2>&1 || code=$?
			echo "exit $code"
			ls state/tx
			rm -rf state/tx/*.unreadable
		done
		mtu'
	[ "$(grep -c "is not a usable journal; set aside as $tmp/state/tx/20990101-000000-00.unreadable" <<<"$output")" = 3 ]
	[ "$(grep -x 'exit [0-9]' <<<"$output" | tr '\n' ' ')" = "exit 0 exit 1 exit 0 " ]
	[[ $(tail -n1 <<<"$output") == 4200 ]]
}

@test "a state folder that is full, read-only or gone: nothing is written, or it is undone" {
	host 'mkdir full ro gone
		mount -t tmpfs -o size=64k none full
		head -c 60k /dev/zero >full/ballast
		code=0
		for room in 0 1 2 3 4 5 6 7 8 9 10; do
			rm -rf full/state; head -c $((64 - room * 4))k /dev/zero >full/ballast 2>/dev/null || true
			code=0; apply mtu.yaml -i v0 --confirm-within 60s --state-dir "$PWD/full/state" >said 2>&1 || code=$?
			case "$code $(mtu)" in
			"3 1500" | "5 1500") ;;
			"0 4200") "$rc" rollback --state-dir "$PWD/full/state" >/dev/null ;;
			*) echo "room $room: $code $(mtu)"; cat said; false ;;
			esac
			last=$code
		done
		echo "last $last"
		mount -t tmpfs none ro
		apply mtu.yaml -i v0 --confirm-within 2s --state-dir "$PWD/ro/state" >/dev/null
		mount -o remount,ro ro
		becomes 1500 8
		code=0; apply mtu.yaml -i v0 --state-dir "$PWD/ro/state" 2>&1 || code=$?
		echo "read-only $code $(mtu)"
		mount -t tmpfs none gone
		apply mtu.yaml -i v0 --confirm-within 2s --state-dir "$PWD/gone/state" >/dev/null
		umount -l gone
		becomes 1500 8'
	[ "$status" = 0 ]
	[[ $output == *"last 0"* ]]
	[[ $output == *"read-only 3 1500"* ]]
}

@test "tool and dead-man killed by turns: undone" {
	host 'for who in tool both; do
			ip link set v0 mtu 1500
			"$killat" -s 1 "$rc" apply mtu.yaml -i v0 --auto-approve --accept-unproven --accept-disruption \
				--confirm-within 600s --state-dir "$PWD/state"
			if [ $who = both ]; then
				# Faster than its next look, or it has undone it already.
				reboot
				"$rc" apply --last --boot --state-dir "$PWD/state"
			fi
			becomes 1500 10
		done'
	[ "$status" = 0 ]
}

@test "a boot that is not covered is said beside the promise" {
	host 'exec 2>&1
		mount -t tmpfs none /var/lib; mount -t tmpfs none /etc/systemd
		mkdir -p /etc/systemd/system/multi-user.target.wants
		apply mtu.yaml -i v0 --confirm-within 600s 2>&1 | grep -o "restores nothing. .*"
		"$rc" rollback
		echo "[Unit]" >/etc/systemd/system/rocecheck-apply.service
		ln -s ../rocecheck-apply.service /etc/systemd/system/multi-user.target.wants/
		apply mtu.yaml -i v0 --confirm-within 600s 2>&1 | grep -c "reboots before" || true
		"$rc" rollback
		# systemctl mask leaves the link of the target in its place.
		ln -sf /dev/null /etc/systemd/system/rocecheck-apply.service
		apply mtu.yaml -i v0 --confirm-within 600s 2>&1 | grep -o "restores nothing. .*"
		"$rc" rollback
		# The unit in /etc comes before a mask in /run.
		rm /etc/systemd/system/rocecheck-apply.service
		echo "[Unit]" >/etc/systemd/system/rocecheck-apply.service
		mount -t tmpfs none /run; mkdir -p /run/systemd/system
		ln -s /dev/null /run/systemd/system/rocecheck-apply.service
		apply mtu.yaml -i v0 --confirm-within 600s 2>&1 | grep -c "reboots before" || true'
	[ "$status" = 0 ]
	[[ $output == "restores nothing. To undo this at boot"* ]]
	[ "$(grep -c "restores nothing. To undo this at boot" <<<"$output")" = 2 ]
	[ "$(grep -cx 0 <<<"$output")" = 2 ]
	[[ $(tail -n1 <<<"$output") == 0 ]]
}

@test "without root: what is not readable is said" {
	host 'exec 2>&1
		apply mtu.yaml -i v0 --state-dir "$PWD/state"
		cp "$rc" rocecheck; rc=./rocecheck
		for command in "rollback --list" rollback confirm "watch --once -i v0"; do
			code=0; nobody "$rc" $command --state-dir "$PWD/state" || code=$?
			echo "exit $code"
		done'
	[ "$(grep -cx 'exit 3' <<<"$output")" = 4 ]
	[[ $output == *"Permission denied"*"run as root"* ]]
	[[ $output == *"only root can read"* ]]
}

@test "a confirm time of the profile that ends before the second look is refused, and both are named" {
	host 'exec 2>&1
		printf "policy: {rollback_timeout_s: 5}\n" >>mtu.yaml
		for how in "--settle 5s" "--settle 10s" "--settle 10s --confirm-within 6s"; do
			code=0; apply mtu.yaml -i v0 $how --state-dir "$PWD/state" || code=$?
			echo "exit $code $(mtu)"
		done'
	[ "$(grep -cx 'exit 2 1500' <<<"$output")" = 3 ]
	[[ $output == *"--settle"*"5 s"*"policy.rollback_timeout_s"* ]]
	[[ $output == *"--settle"*"--confirm-within"* ]]
}

@test "undone by somebody during the second look: reported as undone, and nobody is asked to confirm" {
	host 'for who in deadman rollback; do
			ip link set v0 mtu 1500
			"$rc" apply mtu.yaml -i v0 --auto-approve --accept-unproven --accept-disruption \
				--confirm-within 6s --settle 3s --json --state-dir "$PWD/state" >doc 2>said &
			tool=$!
			becomes 4200 5
			sleep 0.5
			if [ $who = rollback ]; then
				"$rc" rollback --state-dir "$PWD/state"
			else
				# Its time is up while the tool stands still, and another one must not begin with it again.
				kill -STOP $tool
				becomes 1500 12
				kill -CONT $tool
			fi
			code=0; wait $tool || code=$?
			echo "$who $code $(jq -r .outcome doc) $(mtu)"
			cat said
			while [ -n "$(ours)" ]; do sleep 0.1; done
		done'
	[ "$status" = 0 ]
	[[ $output == *"deadman 5 undone 1500"* ]]
	[[ $output == *"rollback 5 undone 1500"* ]]
	[ "$(grep -c "is undone" <<<"$output")" -ge 2 ]
}

@test "watch --repair tries again behind another transaction, and that costs none of its repairs" {
	host 'exec 2>&1
		apply mtu.yaml -i v0 --state-dir "$PWD/state"
		ip link set v0 mtu 1500
		python3 - <<-END &
			import fcntl, os, struct, time
			f = open("/run/rocecheck/lock", "r+")
			fcntl.fcntl(f, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
			f.truncate(0); f.write("%d\n" % os.getpid()); f.flush()
			open("held", "w").close()
			time.sleep(60)
		END
		holder=$!
		until [ -e held ]; do sleep 0.1; done
		"$rc" watch --repair -i v0 --interval 1s --state-dir "$PWD/state" >told 2>&1 &
		watch=$!
		sleep 6
		kill $holder
		becomes 4200 5 || { cat told; false; }
		kill $watch
		cat told
		echo "holder $holder"'
	[ "$status" = 0 ]
	[ "$(grep -c "(process $(sed -n "s/^holder //p" <<<"$output"))" <<<"$output")" = 1 ]
	[[ $output != *"no more repairs"* ]]
}

@test "a port that comes late is undone at boot, its wait is the only one, and it holds up no other undo" {
	host 'exec 2>&1
		apply mtu.yaml -i v0 --confirm-within 600s --state-dir "$PWD/state"
		id=$(ls state/tx)
		reboot
		# Two newer ones, of ports that do not come in time.
		for n in 8 9; do
			cp -a state/tx/$id state/tx/20990101-00000$n-00
			sed -i "s/\"v0\"/\"v$n\"/" state/tx/20990101-00000$n-00/journal
		done
		ip link del v0
		(sleep 3; ip link add v0 mtu 4200 type veth peer name v1) &
		begin=$SECONDS
		code=0; "$rc" apply --last --boot --state-dir "$PWD/state" || code=$?
		echo "boot $code $(mtu) $([ $((SECONDS - begin)) -lt 45 ] && echo in time)"
		(cd state/last && echo *.undo)
		# Set since, and so it stays.
		sed -i "s/4200/3000/" mtu.yaml
		cp -a state/tx/$id again
		apply mtu.yaml -i v0 --state-dir "$PWD/state"
		cp -a again/. state/tx/$id && sed -i "\$d" state/tx/$id/journal
		ip link add v9 mtu 4200 type veth peer name w9
		code=0; "$rc" apply --last --boot -i v9 --state-dir "$PWD/state" || code=$?
		echo "v9 $code $(cat /sys/class/net/v9/mtu) v0 $(mtu)"
		(cd state/last && echo *.undo)
		sed -n 1p state/tx/$id/journal | grep -c v0; "$rc" rollback --list --state-dir "$PWD/state"'
	[ "$status" = 0 ]
	[[ $output == *"boot 6 1500 in time
v8.undo v9.undo"* ]]
	[[ $output == *"v9 6 1500 v0 3000
v8.undo"* ]]
}
