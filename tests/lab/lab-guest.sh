# shellcheck shell=bash disable=SC2154,SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of `lab` that knows guests: the NIC's module, the initrd with keys and settings of one
# guest, QEMU, ssh. Sourced; dir, tree, here, cache, root, version and say/die are lab's.

# pid_of HOST: its QEMU, and only if that is what the number still belongs to.
pid_of()
{
	local pid

	pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 1
	[ -n "$pid" ] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "$dir/$1.pid" &&
		echo "$pid"
}

# wait_gone PID: up to 5 s, then it is killed.
wait_gone()
{
	local i

	for i in {1..50}; do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -KILL "$1" 2>/dev/null || true
}

stop_host()
{
	local pid path

	path=$(sockets) || path=
	[ -z "$path" ] || [ ! -S "$path/ssh-$1" ] ||
		ssh -F "$dir/ssh_config" -O exit "$1" >/dev/null 2>&1 || true
	pid=$(pid_of "$1") || pid=
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		wait_gone "$pid"
	fi
	rm -f "$dir/$1.pid"
}

# report_dead HOST: a guest of a lab that is not down yet, whose emulator ended or killed it: QEMU without KVM makes a
# double fault where the kernel can have none. tests/run.sh plays a failed test with such a line once more. Any other
# panic is the kernel's or our module's, and fails the test.
report_dead()
{
	local why pid

	[ -d "$dir/key" ] || return 0
	why=$(grep -aom1 'PANIC: double fault' "$dir/$1.log" 2>/dev/null) || why=
	if [ -z "$why" ] && pid=$(cat "$dir/$1.pid" 2>/dev/null) && ! pid_of "$1" >/dev/null; then
		why="QEMU, pid $pid, is gone"
	fi
	[ -n "$why" ] || return 0
	echo "# guest-died: $1: $why. Its console, $dir/$1.log, ends:"
	tail -n 15 "$dir/$1.log" | tr -d '\r' | sed 's/^/#  | /'
}

# A /dev/kvm that exists may still hang a guest: boot one that powers off at once, once a boot
# of this machine.
accelerator()
{
	local boot probe=$cache/kvm found=tcg,thread=multi

	boot=$(cat /proc/sys/kernel/random/boot_id)-$(id -u)
	if [ "$(sed -n 1p "$probe" 2>/dev/null)" = "$boot" ]; then
		sed -n 2p "$probe"
		return
	fi
	if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
		say "probing KVM (once)"
		cat "$root/initrd" "$dir/init.cpio" >"$dir/probe.initrd"
		timeout -k 1 10 qemu-system-x86_64 -M q35 -accel kvm -cpu host -m 256 -nodefaults \
			-display none -no-reboot -kernel "$kernel" -initrd "$dir/probe.initrd" \
			-append "console=ttyS0 quiet panic=-1 lab.probe" -serial file:"$dir/probe.log" \
			</dev/null >"$dir/probe.err" 2>&1 9>&- &&
			grep -q LAB-PROBE-OK "$dir/probe.log" && found=kvm
		rm -f "$dir/probe.initrd"
	fi
	printf '%s\n' "$boot" "$found" >"$probe.$$" && mv "$probe.$$" "$probe"
	echo "$found"
}

# The module, built once for its sources and kernel. The kernel's make knows no blanks in paths,
# which $dir may have.
make_module()
{
	local sum

	sum=$(cat "$here"/nic/* "$root/version" | sha256sum | cut -c1-16)
	module=$root/labnic-$sum.ko
	[ ! -s "$module" ] || return 0
	say "building the NIC's module (once)"
	build=$(mktemp -d /tmp/rocecheck-nic.XXXXXX)
	cp "$here"/nic/* "$build/"
	if ! make -C "$root/headers/usr/src/linux-headers-$version" M="$build" CC="${CC:-gcc}" \
		CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$dir/nic.log" 2>&1 9>&-; then
		die 3 "the NIC's module does not build: $dir/nic.log"
	fi
	strip --strip-debug "$build/labnic.ko" -o "$module.$$" && mv "$module.$$" "$module"
	rm -rf "$build"
}

# pack DIR: a cpio archive of it, as a part of an initrd. Parts start at 4 bytes.
pack()
{
	(cd "$1" && find . | cpio -o -H newc -R 0:0 --quiet)
}

pack_probe()
{
	mkdir -p "$dir/probe.lab"
	cp "$here/guest/init" "$dir/probe.lab/init"
	chmod 755 "$dir/probe.lab/init"
	pack "$dir/probe.lab" >"$dir/init.cpio"
	rm -rf "$dir/probe.lab"
}

# Keys of this run: one for us, one for each guest.
make_keys()
{
	local host

	rm -rf "$dir/key"
	mkdir -m 700 "$dir/key"
	ssh-keygen -q -t ed25519 -N '' -C rocecheck-lab -f "$dir/key/id"
	: >"$dir/known_hosts"
	for host in "${hosts[@]}"; do
		ssh-keygen -q -t ed25519 -N '' -C "$host" -f "$dir/key/$host"
		echo "$host $(cut -d' ' -f1,2 "$dir/key/$host.pub")" >>"$dir/known_hosts"
	done
}

# mac NUMBER NIC: locally administered. 0 is the wire, 1 the management NIC, 2 the second wire.
mac()
{
	printf '02:00:c6:12:%02x:%02x' "$2" "$1"
}

make_initrd()
{
	local host=$1 number=${1#h} part=$dir/$1.lab

	rm -rf "$part"
	mkdir -p "$part/lab"
	cp "$here/guest/init" "$part/init"
	chmod 755 "$part/init"
	cp "$here"/guest/*.sh "$part/lab/"
	cp "$module" "$part/lab/labnic.ko"
	cp "$dir/key/$host" "$part/lab/host_key"
	cp "$dir/key/id.pub" "$part/lab/authorized_keys"
	cat >"$part/lab/env" <<-EOF
		HOST=$host
		NUMBER=$number
		WIRES=$(booted_wires "$host")
		WIRE_MAC0=$(mac "$number" 0)
		WIRE_MAC1=$(mac "$number" 2)
		MGMT_MAC=$(mac "$number" 1)
		MGMT_ADDRESS=198.19.0.15
		NICS=${wires[$host]}
		BOND=${bonds[$host]}
		RATE=$rate
	EOF
	{
		cat "$root/initrd"
		pack "$part"
	} >"$dir/$host.initrd"
	rm -rf "$part"
}

# A guest may be booted with more wires than its topology has use for, for others after a reset.
booted_wires()
{
	echo $((wires[$1] > min_wires ? wires[$1] : min_wires))
}

# wire_options HOST NIC WIRE PEER: QEMU's arguments for one wire, in the array `nics`.
wire_options()
{
	local path

	path=$(sockets)
	nics+=(
		-netdev "dgram,id=wire$2,local.type=unix,local.path=$path/$3,remote.type=unix,remote.path=$path/$4"
		-device "virtio-net-pci,netdev=wire$2,mac=$(mac "${1#h}" "$2"),host_mtu=9000,romfile="
	)
}

# boot HOST PORT: QEMU in the background, its pid in a file. Fails at once if it cannot start.
# no_timer_check: on a loaded machine an emulated timer may be too late for the kernel's test of it, a panic.
boot()
{
	local host=$1 share=security_model=none,readonly=on,multidevs=remap nics=() init=()

	wire_options "$host" 0 "$host.wire" "$(wire_peer "$host")"
	[ "$(booted_wires "$host")" = 1 ] || wire_options "$host" 2 "$host.b.wire" "$host.b.sw"
	if [ "$guest_init" = systemd ]; then
		mkdir -p "$dir/$host.disk"
		init=(-fsdev "local,id=disk,path=$dir/$host.disk,security_model=none"
			-device "virtio-9p-pci,fsdev=disk,mount_tag=disk")
	else
		init=(-no-reboot)
	fi
	: >"$dir/$host.log"
	timeout -k 1 "$boot_seconds" qemu-system-x86_64 -name "rocecheck-lab-$host" -M q35 -accel "$accel" -cpu "$cpu" \
		-m "$memory_mb" -smp 1 -nodefaults -display none "${init[@]}" \
		-kernel "$kernel" -initrd "$dir/$host.initrd" \
		-append "console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check lab.$guest_init" -serial "file:$dir/$host.log" \
		-fsdev "local,id=root,path=$root/root,$share" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=tree,path=$tree,$share" \
		-device virtio-9p-pci,fsdev=tree,mount_tag=tree \
		"${nics[@]}" \
		-netdev "user,id=mgmt,net=198.19.0.0/24,restrict=on,hostfwd=tcp:127.0.0.1:$2-198.19.0.15:22" \
		-device "virtio-net-pci,netdev=mgmt,mac=$(mac "${host#h}" 1),romfile=" \
		-pidfile "$dir/$host.pid" -daemonize </dev/null >"$dir/$host.err" 2>&1 9>&-
}

# A port may be taken between the choice and the use: QEMU says so, and another is tried.
boot_on_free_port()
{
	local i port

	for i in {1..20}; do
		port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
		if boot "$1" "$port"; then
			ports[$1]=$port
			return
		fi
		grep -q 'host forwarding' "$dir/$1.err" || break
	done
	[ -s "$dir/$1.err" ] || echo "it hangs, or was killed" >"$dir/$1.err"
	die 3 "QEMU does not start for $1: $(tail -n1 "$dir/$1.err") (log: $dir/$1.err)"
}

write_ssh_config()
{
	local host path

	path=$(sockets)
	for host in "${hosts[@]}"; do
		cat <<-EOF
			Host $host
			    HostName 127.0.0.1
			    Port ${ports[$host]}
			    HostKeyAlias $host
			    ControlPath "$path/ssh-$host"
		EOF
	done
	cat <<-EOF
		Host *
		    User root
		    IdentityFile "$dir/key/id"
		    IdentitiesOnly yes
		    IdentityAgent none
		    UserKnownHostsFile "$dir/known_hosts"
		    GlobalKnownHostsFile /dev/null
		    StrictHostKeyChecking yes
		    BatchMode yes
		    ConnectTimeout 30
		    ServerAliveInterval 10
		    ServerAliveCountMax 9
		    ControlMaster auto
		    ControlPersist yes
		    LogLevel ERROR
	EOF
}

# Each guest says on its console how it went.
wait_ready()
{
	local host=$1 deadline=$((SECONDS + boot_seconds))

	until grep -q LAB-READY "$dir/$host.log"; do
		pid_of "$host" >/dev/null ||
			die 3 "$host died while booting. Its console: $dir/$host.log"
		[ $SECONDS -lt $deadline ] ||
			die 3 "$host did not boot in $boot_seconds s. Its console: $dir/$host.log"
		sleep 0.1
	done
	if grep -q LAB-FAIL "$dir/$host.log"; then
		die 3 "$host: failed: $(sed -n 's/.*LAB-FAIL //p' "$dir/$host.log" | head -n1 |
			tr -d '\r'). Its console: $dir/$host.log"
	fi
	ssh -F "$dir/ssh_config" "$host" true </dev/null >"$dir/$host.ssh.log" 2>&1 9>&- ||
		die 3 "$host does not answer ssh: $(tail -n1 "$dir/$host.ssh.log")"
}

# The guests get ready side by side; what went wrong with one has been said by its waiter.
wait_all_ready()
{
	local host pid

	for host in "${hosts[@]}"; do
		wait_ready "$host" 9>&- &
		waiters+=($!)
	done
	for pid in "${waiters[@]}"; do
		wait "$pid" || exit 3
	done
}

# reset_guest HOST PARAM=VALUE...: as after a boot, for the topology in wires and bonds.
reset_guest()
{
	local host=$1 said code=0

	shift
	said=$(timeout -k 1 60 ssh -F "$dir/ssh_config" -T "$host" \
		"$(printf '%q ' bash /run/lab/reset.sh "${wires[$host]:-0}" "${bonds[$host]:--}" "$@")" \
		</dev/null 2>&1 9>&-) || code=$?
	[ $code != 0 ] || return 0
	[ $code != 124 ] || said="no answer in 60 s"
	die 3 "$host cannot be reset: $said. Next: lab down; lab up"
}
