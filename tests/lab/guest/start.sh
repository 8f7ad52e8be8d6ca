#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Process 1 of a guest: mounts, names, the wires, the lab NICs with Soft-RoCE on them, the management
# NIC, sshd. Says LAB-READY on the console, or LAB-FAIL and why. Settings come from /run/lab/env.
export PATH=/rocecheck/build:/run/lab/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
. /run/lab/env # HOST NUMBER WIRES WIRE_MAC0 WIRE_MAC1 MGMT_MAC MGMT_ADDRESS NICS BOND RATE
. /run/lab/nic.sh

fail()
{
	echo "LAB-FAIL $*"
}

mounts()
{
	mkdir -p /dev/pts /dev/shm
	mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t tmpfs -o mode=1777 tmpfs /tmp
	mount -t tmpfs -o mode=755 tmpfs /var
	mkdir -p /var/lib/{lldpad,rocecheck} /var/{log,cache,spool,empty} /run/sshd /run/lock
	mkdir -m 1777 /var/tmp
	ln -s /run /var/run
	ln -s /run/lock /var/lock
	mount -t debugfs debugfs /sys/kernel/debug
	dmesg -n 4
}

names()
{
	local n

	hostname "$HOST"
	{
		echo 127.0.0.1 localhost
		for n in 1 2 3 4 5 6; do
			echo "198.18.0.$n h$n"
			echo "198.18.1.$n h$n-b"
		done
	} >/etc/hosts
	# Files, so that a login shell has what a command over ssh has.
	printf "%s\n" "export PATH=$PATH" "PS1='[\\u@\\h \\W]# '" >/etc/profile
	echo "$HOST" >/etc/hostname
	ln -sf /proc/mounts /etc/mtab
}

# link_of MAC: its name, once the kernel has it.
link_of()
{
	local i

	for i in {1..50}; do
		grep -lsx "$1" /sys/class/net/*/address && return
		sleep 0.1
	done | head -n1 | cut -d/ -f5
}

# name_wire NUMBER: eth0 or eth1, whatever the kernel made of it.
name_wire()
{
	local mac=WIRE_MAC$1 link

	link=$(link_of "${!mac}")
	[ "$link" = "eth$1" ] || try ip link set "$link" name "eth$1"
}

network()
{
	local n

	# fq_codel, Debian's default, would mark CE on the sender what hardware sends past any qdisc.
	echo pfifo_fast >/proc/sys/net/core/default_qdisc
	# Each NIC answers for its own address, as rails want it.
	echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
	try modprobe virtio_net
	try ip link set "$(link_of "$MGMT_MAC")" name mgmt0
	echo 1 >/proc/sys/net/ipv6/conf/mgmt0/disable_ipv6
	try ip address add "$MGMT_ADDRESS/24" dev mgmt0
	try ip link set mgmt0 up
	try ip link set lo up
	for ((n = 0; n < WIRES; n++)); do
		name_wire $n
	done
}

# dcb of iproute2 6.1 leaves an ACK unread and may take it for the answer of its set, which has been
# carried out by then: "Protocol error". Asked again it answers, or finds its APP entry there.
mend_dcb()
{
	mkdir -p /run/lab/bin
	cat >/run/lab/bin/dcb <<-'EOF'
		#!/bin/bash
		for try in 1 2 3 4; do
			exec 3>&1
			said=$(/usr/sbin/dcb "$@" 2>&1 >&3)
			rc=$?
			[[ $try = 1 || $said != *"File exists"* ]] || exit 0
			[[ $said == *"Protocol error"* ]] || break
		done
		[ -z "$said" ] || echo "$said" >&2
		exit $rc
	EOF
	chmod 755 /run/lab/bin/dcb
}

# write_sshd_config PAM: yes or no.
write_sshd_config()
{
	mkdir -p -m 700 /root/.ssh
	cp /run/lab/authorized_keys /root/.ssh/
	chmod 600 /run/lab/host_key
	cat >/run/lab/sshd_config <<-EOF
		HostKey /run/lab/host_key
		AuthorizedKeysFile /run/lab/authorized_keys
		StrictModes no
		UsePAM $1
		UseDNS no
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		PermitRootLogin prohibit-password
		AllowUsers root
		AcceptEnv LANG LC_* NO_COLOR ROCECHECK_*
		SetEnv PATH=$PATH
		PrintMotd no
		MaxStartups 100
		MaxSessions 100
		PidFile /run/sshd.pid
		Subsystem sftp internal-sftp
	EOF
}

# Where systemd is process 1 it has read this for the functions alone.
[ $$ = 1 ] && [ "$0" = /run/lab/start.sh ] || return

ulimit -l unlimited
mounts
names
network
raise_nics "$NICS" "$BOND"
mend_dcb
write_sshd_config no
try /usr/sbin/sshd -f /run/lab/sshd_config -E /var/log/sshd.log
echo "LAB-READY $(cut -d' ' -f1 /proc/uptime)"
# Process 1 stays and reaps what is orphaned.
while :; do
	sleep 3600 &
	wait
done
