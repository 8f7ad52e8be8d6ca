#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A guest whose process 1 is systemd (LAB_INIT=systemd). Without arguments: writes what maintainer
# scripts would have, and the lab's units, then becomes systemd. These call it again:
#   nics     the lab NIC and Soft-RoCE on it, as drivers are loaded early in a boot
#   network  links up and addresses
#   ready    LAB-READY on the console
# /run/lab/disk is a folder of the host that outlives a reboot: install/ in it is copied over the
# root (units, udev rule), state/ is /var/lib/rocecheck.
export PATH=/rocecheck/build:/run/lab/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
. /run/lab/env # HOST NUMBER WIRES WIRE_MAC0 MGMT_MAC MGMT_ADDRESS NICS BOND RATE

units=/etc/systemd/system

write_users()
{
	printf '%s\n' 'messagebus:x:102:102::/nonexistent:/usr/sbin/nologin' \
		'systemd-network:x:103:103::/:/usr/sbin/nologin' >>/etc/passwd
	printf '%s\n' messagebus:x:102: systemd-network:x:103: systemd-journal:x:104: tty:x:5: \
		utmp:x:43: disk:x:6: kmem:x:15: dialout:x:20: audio:x:29: video:x:44: input:x:105: \
		render:x:106: kvm:x:107: lp:x:7: cdrom:x:24: tape:x:26: sgx:x:108: rdma:x:109: >>/etc/group
	echo c6120000000000000000000000000000 >/etc/machine-id
	printf '%s\n' 'auth required pam_permit.so' 'account required pam_permit.so' \
		'session required pam_permit.so' 'session required pam_systemd.so' \
		'password required pam_deny.so' | tee /etc/pam.d/sshd >/etc/pam.d/other
	mkdir -p /etc/systemd/logind.conf.d
	printf '%s\n' '[Login]' KillUserProcesses=yes KillExcludeUsers= >/etc/systemd/logind.conf.d/lab.conf
}

# unit NAME LINE...
unit()
{
	local name=$1

	shift
	printf '%s\n' "$@" >"$units/$name"
}

# part NAME [UNIT_LINE...]: a unit that runs one part of this script.
part()
{
	local name=$1

	shift
	unit "lab-$name.service" '[Unit]' "$@" '[Service]' Type=oneshot RemainAfterExit=yes \
		StandardOutput=journal+console StandardError=journal+console \
		"ExecStart=/bin/bash /run/lab/systemd.sh $name"
}

write_units()
{
	local name

	part nics DefaultDependencies=no After=systemd-udevd.service Wants=systemd-udevd.service \
		'Before=network-pre.target rocecheck-apply.service'
	part network 'After=network-pre.target lab-nics.service' Wants=network-pre.target \
		Before=network.target
	part ready 'After=lab-ssh.service lab-network.service rocecheck-apply.service'
	unit lab-ssh.service '[Unit]' After=lab-network.service '[Service]' Type=notify \
		'ExecStart=/usr/sbin/sshd -D -f /run/lab/sshd_config -E /run/lab/disk/sshd.log' KillMode=process LimitMEMLOCK=infinity
	mkdir -p $units/{multi-user,sockets,sysinit}.target.wants
	for name in ssh network ready; do
		ln -s ../lab-$name.service $units/multi-user.target.wants/
	done
	ln -s ../lab-nics.service $units/sysinit.target.wants/
	ln -s /lib/systemd/system/lldpad.socket $units/sockets.target.wants/
	ln -s /lib/systemd/system/multi-user.target $units/default.target
	# What costs an emulated guest seconds and is of no use to it.
	for name in systemd-{hwdb-update,update-done,sysusers,journal-flush,random-seed,pstore,tmpfiles-setup,update-utmp,update-utmp-runlevel,binfmt,machine-id-commit,remount-fs,boot-system-token,firstboot,network-generator,ask-password-wall,ask-password-console,user-sessions}.service \
		proc-sys-fs-binfmt_misc.automount dev-{hugepages,mqueue}.mount kmod-static-nodes.service \
		systemd-ask-password-{wall,console}.path sys-{fs-fuse-connections,kernel-tracing}.mount getty.target ssh.service rdma-ndd.service \
		rdma-load-modules@{rdma,infiniband,roce}.service user@.service iwpmd.service e2scrub_reap.service \
		modprobe@.service systemd-tmpfiles-clean.timer; do
		ln -sf /dev/null "$units/$name"
	done
}

write_all()
{
	# names, mend_dcb, start_sshd and network are those of the other guests.
	mount -t tmpfs -o mode=755 tmpfs /var
	mkdir -p /var/lib/{lldpad,rocecheck} /var/{log,cache,spool,empty,tmp} /run/{sshd,lock,dbus}
	ln -s /run /var/run
	ln -s /run/lock /var/lock
	mkdir -p /run/lab/disk
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 disk /run/lab/disk || fail "no disk share"
	mkdir -p /run/lab/disk/state
	mount --bind /run/lab/disk/state /var/lib/rocecheck
	[ ! -d /run/lab/disk/install ] || cp -r /run/lab/disk/install/. /
	names
	mend_dcb
	write_sshd_config yes
	write_users
	write_units
}

. /run/lab/start.sh

case ${1:-} in
'')
	write_all
	exec /lib/systemd/systemd
	;;
nics)
	network
	load_nic lower=eth0 name=roce0 "rate=$RATE"
	load_rdma
	try ip link set roce0 mtu 4200
	try rdma link add rxe0 type rxe netdev roce0
	;;
network)
	echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6
	links "link set eth0 up" "link set roce0 up" "address add 198.18.0.$NUMBER/24 dev roce0"
	;;
ready)
	echo "LAB-READY $(cut -d' ' -f1 /proc/uptime)" >/dev/console
	;;
esac
