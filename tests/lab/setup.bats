#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Set-up on machines that differ: what is installed, who runs it, which apt sources there are.
# Nothing is installed and nothing fetched: dpkg-query, apt-get and id are stand-ins.

bats_require_minimum_version 1.5.0

setup()
{
	local tool

	bin=$BATS_TEST_TMPDIR/bin
	mkdir -p "$bin"
	for tool in bash sh awk sed sort tr dirname mktemp env rm tail cat; do
		ln -s "$(command -v "$tool")" "$bin/$tool"
	done
	stand_in dpkg-query 'awk "/^[a-z]/ { print \"installed\", \$1 }" tests/packages'
	stand_in apt-get "echo \"\$DEBIAN_FRONTEND \$*\" >>$BATS_TEST_TMPDIR/apt"
	stand_in id 'echo 0'
}

# stand_in NAME SCRIPT
stand_in()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}

sections()
{
	local target

	for target in setup setup-lab setup-soak; do
		make -sn "$target"
	done | sed -n 's,.*tests/lab/setup\.sh ,,p'
}

@test "setup knows the sections that the Makefile asks for, and is silent when all is there" {
	[ "$(sections | wc -l)" -ge 3 ]
	while read -r -a names; do
		PATH=$bin run tests/lab/setup.sh "${names[@]}"
		[ "$status" = 0 ]
		[ -z "$output" ]
	done < <(sections)
	[ ! -e "$BATS_TEST_TMPDIR/apt" ]
}

@test "setup takes a renamed package for what it provides" {
	stand_in dpkg-query 'awk "/^[a-z]/ && \$1 != \"libelf1\" { print \"installed\", \$1 }" tests/packages
		echo "installed libelf1t64 libelf1 (= 0.192-4), libelf"'
	PATH=$bin run tests/lab/setup.sh lab-host
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "setup installs what is missing, without a question" {
	stand_in dpkg-query 'echo "installed gcc"; echo "deinstalled make"'
	PATH=$bin run tests/lab/setup.sh build
	[ "$status" = 0 ]
	grep -q '^noninteractive install -y .* make' "$BATS_TEST_TMPDIR/apt"
	! grep -q ' gcc' "$BATS_TEST_TMPDIR/apt"
}

@test "setup installs although a package list cannot be read" {
	stand_in dpkg-query true
	stand_in apt-get '[ "$1" != update ] || exit 100'
	PATH=$bin run tests/lab/setup.sh build
	[ "$status" = 0 ]
}

@test "setup without root and sudo says what to do" {
	stand_in dpkg-query true
	stand_in id 'echo 1000'
	PATH=$bin run tests/lab/setup.sh build
	[ "$status" = 3 ]
	[[ $output == *"as root, apt-get install"*libyaml-dev* ]]
	[ ! -e "$BATS_TEST_TMPDIR/apt" ]
}

@test "setup shows what apt said when it fails" {
	stand_in dpkg-query true
	stand_in apt-get 'echo "E: no room"; exit 100'
	PATH=$bin run tests/lab/setup.sh build
	[ "$status" = 3 ]
	[[ $output == *"E: no room"*apt-get\ install* ]]
}

@test "setup refuses a section that is not there" {
	PATH=$bin run tests/lab/setup.sh nosuch
	[ "$status" = 2 ]
}

# sources: what root.sh keeps of the folder $etc, in $out.
sources()
{
	mkdir -p "$BATS_TEST_TMPDIR/out"
	out=$BATS_TEST_TMPDIR/out
	timeout 10 tests/lab/root.sh --sources "$etc" "$out"
}

@test "the guests' packages come from sources in the one-line form" {
	etc=$BATS_TEST_TMPDIR/etc release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mkdir -p "$etc/sources.list.d"
	cat >"$etc/sources.list" <<-EOF
		# deb http://comment.example/debian $release main
		deb http://plain.example/debian $release main
		deb [arch=amd64 signed-by=/k.gpg] https://signed.example/debian $release-security main
		deb [ trusted=yes ] https://spaced.example/debian	$release-updates main
		deb-src http://source.example/debian $release main
		deb [broken http://broken.example/debian $release main
	EOF
	cat >"$etc/sources.list.d/vendor.list" <<-EOF
		deb https://cloud.example/apt cloud-sdk-$release main
		deb https://pgdg.example/apt $release-pgdg main
		deb https://flat.example/apt ./
	EOF
	sources
	[ "$(grep -o '[a-z]*\.example' "$out/host.list" | tr '\n' ' ')" = \
		"plain.example signed.example spaced.example " ]
	[ ! -s "$out/host.sources" ]
}

@test "the guests' packages come from sources in the deb822 form" {
	etc=$BATS_TEST_TMPDIR/etc release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mkdir -p "$etc/sources.list.d"
	cat >"$etc/sources.list.d/debian.sources" <<-EOF
		Types: deb deb-src
		URIs: https://first.example/debian
		# Suites: a comment
		Suites: $release $release-updates
		Components: main
		Signed-By:
		 -----BEGIN PGP PUBLIC KEY BLOCK-----
		 .
		 abc

		types: deb
		uris: https://folded.example/debian
		suites:
		 $release-security
		components: main

		Types: deb
		URIs: https://alias.example/debian
		Suites:stable
		Components: main
	EOF
	cat >"$etc/sources.list.d/vendor.sources" <<-EOF
		Types: deb
		URIs: https://node.example/$release/
		Suites: nodistro
		Components: main
	EOF
	sources
	[ "$(grep -io '[a-z]*\.example' "$out/host.sources" | tr '\n' ' ')" = \
		"first.example folded.example alias.example " ]
	grep -qx ' abc' "$out/host.sources"
	[ "$(grep -c '^$' "$out/host.sources")" -ge 2 ]
	[ ! -s "$out/host.list" ]
}

@test "6.12 comes from the release's backports, by the host's own mirror" {
	etc=$BATS_TEST_TMPDIR/etc release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	export LAB_KERNEL=6.12
	mkdir -p "$etc/sources.list.d"
	cat >"$etc/sources.list" <<-EOF
		deb http://security.example/debian $release-security main
		deb [arch=amd64] http://main.example/debian $release main
	EOF
	sources
	[ "$(cat "$out/backports.list")" = "deb [arch=amd64] http://main.example/debian $release-backports main" ]
	rm "$etc/sources.list"
	cat >"$etc/sources.list.d/debian.sources" <<-EOF
		Types: deb
		URIs: https://security.example/debian
		Suites: $release-security
		Components: main

		Types: deb
		URIs: https://main.example/debian
		suites: $release-updates
		 $release
		Components: main
		Signed-By: /k.gpg
	EOF
	sources
	[ ! -s "$out/backports.list" ]
	[ "$(cat "$out/backports.sources")" = "$(printf '%s\n' 'Types: deb' 'URIs: https://main.example/debian' \
		'Components: main' 'Signed-By: /k.gpg' "Suites: $release-backports")" ]
	rm "$out"/*
	echo "deb http://own.example/debian $release-backports main" >"$etc/sources.list"
	sources
	[ ! -e "$out/backports.sources" ]
	LAB_KERNEL=6.1 sources
	[ ! -e "$out/backports.sources" ]
}

@test "a mirror without backports, and a kernel nobody knows, are said so" {
	stand_in apt-get true
	stand_in apt-config true
	stand_in apt-cache 'case $1 in
	pkgnames) echo bash ;;
	*) printf "linux-image-amd64\n  Depends: linux-image-6.1.0-9-amd64\n" ;;
	esac'
	PATH=$bin:$PATH ROCECHECK_CACHE=$BATS_TEST_TMPDIR/cache LAB_KERNEL=6.12 run tests/lab/root.sh
	[ "$status" = 3 ]
	[[ $output == *"no kernel 6.12: linux-image-amd64 is linux-image-6.1.0-9-amd64"*-backports*Next:* ]]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/cache")" ]
	stand_in apt-cache '[ "$1" != pkgnames ] || echo bash'
	PATH=$bin:$PATH ROCECHECK_CACHE=$BATS_TEST_TMPDIR/cache run tests/lab/root.sh
	[ "$status" = 3 ]
	[[ $output == *"no linux-image-amd64"*"Next: run it on a Debian host"* ]]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/cache")" ]
	LAB_KERNEL=5.4 run tests/lab/root.sh
	[ "$status" = 2 ]
	[ "$output" = "lab: no kernel '5.4': LAB_KERNEL is one of 6.1 6.12" ]
}

@test "no source of Debian is an error" {
	etc=$BATS_TEST_TMPDIR/etc
	mkdir -p "$etc"
	run sources
	[ "$status" != 0 ]
}

@test "the lab needs no HOME" {
	LAB_DIR=$BATS_TEST_TMPDIR/lab run env -u HOME tests/lab/lab status
	[ "$status" = 1 ]
	[[ $output == *"nothing runs"* ]]
}

@test "the lab refuses a cache that the kernel's make could not use" {
	LAB_DIR=$BATS_TEST_TMPDIR/lab ROCECHECK_CACHE="$BATS_TEST_TMPDIR/a b" run tests/lab/lab up
	[ "$status" = 2 ]
	[[ $output == *ROCECHECK_CACHE* ]]
}
