#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# root.sh: make the root file system of the lab's guests and print where it is.
# root.sh --sources DIR OUT: only write which apt sources of DIR (/etc/apt) it uses.
#
# Fetches the packages of the sections lab-guest and lab-kernel of tests/packages with an apt
# configuration of its own (the host's mirrors, an empty dpkg status, own state and cache) and
# unpacks them. LAB_KERNEL=6.12 takes the section lab-kernel-6.12 instead, whose packages come from
# the release's backports where these have them, be they among the host's sources or not.
# Nothing is installed, no maintainer script runs, no root is needed. The result
# lies in ${ROCECHECK_CACHE:-${XDG_CACHE_HOME:-~/.cache}/rocecheck}/lab-KEY, KEY being a checksum
# of the lists and of this file; what is there is used as it is, without the network:
#
#	root/		lower root of the guests, with /lib/modules of kernel VERSION and /boot
#	headers/	what a module build for that kernel needs
#	vmlinux		the kernel
#	initrd		busybox and the modules that mount root/, uncompressed; no init
#	version		the kernel's release
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lists=$here/../packages
cache=${ROCECHECK_CACHE:-${XDG_CACHE_HOME:-~/.cache}/rocecheck}
want=${LAB_KERNEL:-}
kernel=lab-kernel${want:+-$want}
tmp=

say()
{
	echo "lab: $*" >&2
}

die()
{
	say "$*"
	exit 3
}

# section NAME: the packages of one section, one a line.
section()
{
	awk -v want="[$1]" '{ sub(/[ \t]*#.*/, "") } /^\[/ { on = ($0 == want); next }
		on && NF { print $1 }' "$lists"
}

codename()
{
	. /etc/os-release && echo "${VERSION_CODENAME:-}"
}

key()
{
	{
		section lab-guest
		section "$kernel"
		codename
		cat "${BASH_SOURCE[0]}"
	} | sha256sum | cut -c1-16
}

# write_sources DIR OUT: the host's sources of Debian's suites, in the form they have. Others (a
# vendor's tools) are left out: each costs time, and may be dead.
write_sources()
{
	local etc=$1 out=$2 file suite

	suite="^($(codename)|stable|oldstable|testing|unstable|sid)"
	suite+="(-updates|-security|-backports|/updates)?\$"
	for file in "$etc"/sources.list "$etc"/sources.list.d/*.list; do
		[ -r "$file" ] || continue
		awk -v suite="$suite" '$1 == "deb" {
			n = 2
			if ($n ~ /^\[/) {
				while (n <= NF && $n !~ /\]$/) n++
				n++
			}
			if ($(n + 1) ~ suite) print }' "$file"
	done >"$out/host.list"
	for file in "$etc"/sources.list.d/*.sources; do
		[ -r "$file" ] || continue
		awk -v suite="$suite" 'BEGIN { RS = "" } {
			n = split($0, line, "\n"); text = key = ""; good = 0
			for (i = 1; i <= n; i++) {
				if (line[i] ~ /^#/) continue
				text = text line[i] "\n"; values = line[i]
				if (values !~ /^[ \t]/) {
					key = tolower(values); sub(/[ \t]*:.*/, "", key)
					sub(/^[^:]*:/, "", values)
				}
				m = split(values, word, " ")
				for (j = 1; key == "suites" && j <= m; j++)
					if (word[j] ~ suite) good = 1
			}
			if (good) print text }' "$file"
	done >"$out/host.sources"
	[ -s "$out/host.list" ] || [ -s "$out/host.sources" ] || return
	[ "${want:-6.1}" = 6.1 ] || add_backports "$out"
}

# add_backports OUT: the release's own source once more, for its backports: the same mirror, key
# and components. A host that has backports keeps its own word.
add_backports()
{
	local out=$1 release

	release=$(codename)
	! grep -qs -- "$release-backports" "$out/host.list" "$out/host.sources" || return 0
	sed -nE "s,^(deb(\s+\[[^]]*\])?\s+\S+\s+)($release|stable)(\s),\1$release-backports\4,p" \
		"$out/host.list" | head -n1 >"$out/backports.list"
	[ ! -s "$out/backports.list" ] || return 0
	awk -v release="$release" 'BEGIN { RS = "" } {
		n = split($0, line, "\n"); text = suites = ""
		for (i = 1; i <= n; i++) {
			if (line[i] !~ /^[ \t]/) { key = tolower(line[i]); sub(/[ \t]*:.*/, "", key) }
			if (key == "suites") suites = suites " " line[i]
			else text = text line[i] "\n"
		}
		sub(/^[^:]*:/, " ", suites)
		if ((suites " ") !~ "[ \t](" release "|stable)[ \t]") next
		print text "Suites: " release "-backports"
		exit }' "$out/host.sources" >"$out/backports.sources"
}

write_apt_conf()
{
	mkdir -p "$tmp"/apt/{state/lists/partial,cache/archives/partial,sources,none}
	: >"$tmp/apt/status"
	# Proxies, time-outs and the like are the host's.
	apt-config dump | grep '^Acquire::' >"$tmp/apt/acquire" || true
	cat "$tmp/apt/acquire" - >"$tmp/apt/conf" <<-EOF
		Dir::State "$tmp/apt/state";
		Dir::State::status "$tmp/apt/status";
		Dir::Cache "$tmp/apt/cache";
		Dir::Log "$tmp/apt";
		Dir::Etc::main "$tmp/apt/none/main";
		Dir::Etc::parts "$tmp/apt/none";
		Dir::Etc::preferences "$tmp/apt/preferences";
		Dir::Etc::preferencesparts "$tmp/apt/none";
		Dir::Etc::sourcelist "$tmp/apt/none/sources";
		Dir::Etc::sourceparts "$tmp/apt/sources";
		APT::Sandbox::User "";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::Retries "2";
	EOF
	: >"$tmp/apt/preferences"
	[ "${want:-6.1}" = 6.1 ] || printf '%s\n' "Package: $(section "$kernel" | tr '\n' ' ')" \
		"Pin: release n=$(codename)-backports" "Pin-Priority: 900" >"$tmp/apt/preferences"
	export APT_CONFIG=$tmp/apt/conf
}

# run NAME COMMAND...: run it, and when it fails say the first error apt gave.
run()
{
	local what=$1

	shift
	"$@" >>"$tmp/log" 2>&1 || cannot "$what"
}

# cannot WHAT: end, with what apt said.
cannot()
{
	cp "$tmp/log" "$cache/root.log"
	die "cannot $1: $(grep -m1 '^E: ' "$tmp/log" || grep -m1 '^W: ' "$tmp/log" || tail -n1 "$tmp/log")
     Next: see that 'apt-get update' works here, then run this again. Log: $cache/root.log"
}

# depends PACKAGE PATTERN: the package it depends on that matches.
depends()
{
	apt-cache depends --important "$1" | sed -n "s/^ *Depends: \($2\)\$/\1/p" | head -n1
}

no_kernel()
{
	local mirror

	[ -n "$want" ] || die "no linux-image-amd64 or linux-headers-amd64 in the sources of this host: the lab
     runs on Debian's kernel. Next: run it on a Debian host or in a Debian container."
	mirror=$(sed -nE 's/^deb .*(\S+:\S+).*/\1/p; s/^URIs: *//ip' "$tmp"/apt/sources/backports.* | head -n1)
	die "no kernel $want: linux-image-amd64 is $(depends linux-image-amd64 '.*' | grep . || echo missing),
     and ${mirror:-the apt source here} has none of suite $(codename)-backports.
     Next: name a mirror that has that suite in /etc/apt, or go on without LAB_KERNEL=$want."
}

fetch()
{
	local image headers kbuild

	write_sources /etc/apt "$tmp/apt/sources" ||
		die "no apt source of release '$(codename)' in /etc/apt: nothing to fetch packages from"
	# A source that fails does no harm as long as the packages are found in others.
	apt-get update -q >>"$tmp/log" 2>&1 || say "some package lists cannot be read"
	[ -n "$(apt-cache pkgnames bash)" ] || cannot "read the package lists"
	image=$(depends linux-image-amd64 "linux-image-${want:-[0-9]}[.-].*")
	headers=$(depends linux-headers-amd64 "linux-headers-${want:-[0-9]}[.-].*")
	[ -n "$image" ] || no_kernel
	[ -n "$headers" ] || no_kernel
	kbuild=$(depends "$headers" 'linux-kbuild-.*')
	# shellcheck disable=SC2046
	run "fetch the packages of [lab-guest]" apt-get install -y -q --download-only \
		$(section lab-guest)
	mkdir "$tmp/kernel"
	(cd "$tmp/kernel" && run "fetch the kernel's packages" apt-get download -q \
		"$image" "$headers" "${headers%-amd64}-common" "$kbuild")
}

# unpack TREE DEB...: dpkg-deb alone would replace /lib, a link, by a directory.
unpack()
{
	local tree=$1 deb

	shift
	mkdir -p "$tree"/usr/{bin,sbin,lib,lib64}
	ln -sfn usr/bin "$tree/bin"
	ln -sfn usr/sbin "$tree/sbin"
	ln -sfn usr/lib "$tree/lib"
	ln -sfn usr/lib64 "$tree/lib64"
	for deb in "$@"; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$tree" --keep-directory-symlink --no-same-owner \
				--exclude=./usr/share/doc --exclude=./usr/share/man \
				--exclude=./usr/share/locale --exclude=./usr/share/info ||
			die "cannot unpack $(basename "$deb") into $tree"
	done
}

# The headers name each other by absolute path.
make_headers()
{
	unpack "$tmp/out/headers" "$tmp"/kernel/linux-{headers,kbuild}-*.deb
	find "$tmp/out/headers/usr/src" -maxdepth 2 -name Makefile -exec \
		sed -i "s,/usr/src/\(linux-headers\),$final/headers/usr/src/\1,g" {} +
}

# Drivers of hardware that no guest has are three quarters of the tree.
drop_drivers()
{
	local kernel=$1/lib/modules/$version/kernel

	find "$kernel/drivers" -mindepth 1 -maxdepth 1 ! -name virtio ! -name net \
		! -name infiniband ! -name block ! -name char ! -name crypto -exec rm -rf {} +
	rm -rf "$kernel"/sound "$kernel"/drivers/net/{ethernet,wireless,usb,can,wwan} \
		"$kernel"/drivers/infiniband/hw
}

make_root()
{
	local root=$tmp/out/root

	unpack "$root" "$tmp"/apt/cache/archives/*.deb "$tmp"/kernel/linux-image-*.deb
	mkdir -p "$root"/{proc,sys,dev,run,tmp,var,root,rocecheck,etc/ssh}
	rm -f "$root/boot"/System.map-*
	# What maintainer scripts would have linked.
	ln -sf bash "$root/usr/bin/sh"
	ln -sf gawk "$root/usr/bin/awk"
	printf '%s\n' 'root:x:0:0:root:/root:/bin/bash' 'sshd:x:100:65534::/run/sshd:/usr/sbin/nologin' \
		'tcpdump:x:101:101::/nonexistent:/usr/sbin/nologin' \
		'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin' >"$root/etc/passwd"
	printf '%s\n' 'root:x:0:' 'tcpdump:x:101:' 'nogroup:x:65534:' >"$root/etc/group"
	printf '%s\n' 'passwd: files' 'group: files' 'hosts: files' >"$root/etc/nsswitch.conf"
	drop_drivers "$root"
	# 6.12's modules are packed; an emulated guest would take seconds over them.
	find "$root/lib/modules/" -name '*.ko.xz' -exec unxz {} +
	depmod -b "$root" "$version"
}

# The kernel as ELF, which QEMU starts directly (PVH): emulated, unpacking itself takes it seconds. It
# is xz (6.1) or zstd (6.12). The payload's place is in the boot protocol's header (linux Documentation/x86/boot.rst).
make_vmlinux()
{
	local zimage=$tmp/out/root/boot/vmlinuz-$version setup offset length

	setup=$(od -An -tu1 -j497 -N1 "$zimage")
	# shellcheck disable=SC2046
	set -- $(od -An -tu4 -j584 -N8 "$zimage")
	offset=$1
	length=$2
	head -c "$(((setup + 1) * 512 + offset + length))" "$zimage" | tail -c "$length" >"$tmp/payload"
	xz -dc --single-stream <"$tmp/payload" >"$tmp/out/vmlinux" 2>/dev/null ||
		zstd -dcq <"$tmp/payload" >"$tmp/out/vmlinux" 2>/dev/null || true
	[ "$(head -c 4 "$tmp/out/vmlinux" | tail -c 3)" = ELF ] ||
		cp "$zimage" "$tmp/out/vmlinux"
}

# The modules that the initrd loads, in order.
make_initrd()
{
	local dir=$tmp/initrd module path

	mkdir -p "$dir"/{bin,lib,proc,sys,dev}
	cp "$(command -v busybox)" "$dir/bin/busybox"
	for module in virtio_pci 9p 9pnet_virtio overlay; do
		modprobe -S "$version" -d "$tmp/out/root" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
		cp "$path" "$dir/lib/"
		echo "/lib/${path##*/}" >>"$dir/modules"
	done
	(cd "$dir" && find . | cpio -o -H newc --quiet) >"$tmp/out/initrd"
}

make_all()
{
	local tool free

	for tool in apt-get apt-cache apt-config dpkg-deb tar cpio depmod modprobe busybox xz zstd; do
		command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null ||
			die "$tool is missing: run tests/lab/setup.sh lab-host"
	done
	mkdir -p "$cache" || die "no folder for the guests' packages. Next: set ROCECHECK_CACHE to one that can be written"
	free=$(df -Pm "$cache" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge 1000 ] || die "$cache: $free MB free, 1000 MB needed for the guests' packages.
     Next: make room, or set ROCECHECK_CACHE to another folder"
	tmp=$(mktemp -d "$cache/.new.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT TERM HUP
	say "fetching the guests' packages (once)"
	write_apt_conf
	fetch
	mkdir "$tmp/out"
	version=$(basename "$tmp"/kernel/linux-image-*.deb)
	version=${version#linux-image-}
	version=${version%%_*}
	make_headers
	make_root
	make_vmlinux
	make_initrd
	echo "$version" >"$tmp/out/version"
	# Two runs may race: the first rename wins, and both results are the same.
	mv -T "$tmp/out" "$final" 2>/dev/null || [ -s "$final/version" ] ||
		die "cannot move the new root to $final"
}

if [ "${1:-}" = --sources ] && [ $# = 3 ]; then
	write_sources "$2" "$3"
	exit
elif [ $# -gt 0 ]; then
	echo "usage: root.sh [--sources DIR OUT]" >&2
	exit 2
fi
PATH=$PATH:/usr/sbin:/sbin
if [ -n "$want" ] && [ -z "$(section "$kernel")" ]; then
	say "no kernel '$want': LAB_KERNEL is one of $(sed -n 's/^\[lab-kernel-\(.*\)\]$/\1/p' "$lists" |
		paste -sd' ')"
	exit 2
fi
final=$cache/lab-$(key)
[ -s "$final/version" ] || make_all
echo "$final"
