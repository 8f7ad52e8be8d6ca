#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# setup.sh build|check|lab-host|soak...: install what this machine is missing of those sections of
# tests/packages, without recommended packages, as root or through sudo. Silent and immediate
# when nothing is missing. What the guests need is not installed here: root.sh unpacks it.
set -euo pipefail
export LC_ALL=C

lists=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/../packages
log=

die()
{
	local code=$1

	shift
	echo "setup: $*" >&2
	exit "$code"
}

section()
{
	awk -v want="[$1]" '{ sub(/[ \t]*#.*/, "") } /^\[/ { on = ($0 == want); next }
		on && NF { print $1 }' "$lists"
}

# missing PACKAGE...: those that are not installed, by this name or as what a renamed one provides
# (libelf1t64 is libelf1).
missing()
{
	local package
	declare -A have=()

	# shellcheck disable=SC2016
	while read -r package; do
		have[$package]=1
	done < <(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' 2>/dev/null |
		awk '$1 == "installed" { gsub(/\([^)]*\)|,/, "")
			for (i = 2; i <= NF; i++) print $i }')
	for package in "$@"; do
		[ -n "${have[$package]:-}" ] || echo "$package"
	done
}

# install_wanted: as root and quietly; what apt said is shown when it fails. A package list that
# cannot be read (some vendor's) does no harm as long as the packages can.
install_wanted()
{
	local sudo=()

	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			die 3 "missing: ${want[*]}. Next: as root, apt-get install ${want[*]}"
		sudo=(sudo)
	fi
	# A machine that has just booted may be upgrading itself: wait for dpkg's lock.
	# shellcheck disable=SC2016
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update -q
		exec apt-get install -y -q -o DPkg::Lock::Timeout=300 \
			--no-install-recommends "$@"' install "${want[@]}" \
		>"$log" 2>&1 </dev/null && return
	tail -n 20 "$log" >&2
	die 3 "apt-get failed, see above. Next: put it right, then: apt-get install ${want[*]}"
}

[ $# -gt 0 ] || die 2 "usage: setup.sh build|check|lab-host|soak..."
packages=()
for name in "$@"; do
	case $name in
	build | check | lab-host | soak) ;;
	*) die 2 "no section '$name': build, check, lab-host or soak" ;;
	esac
	mapfile -t -O "${#packages[@]}" packages < <(section "$name")
done
command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
	die 3 "this is no Debian. Needed, by their Debian names: $(printf '%s\n' "${packages[@]}" |
		sort -u | tr '\n' ' ')"
mapfile -t want < <(missing "${packages[@]}" | sort -u)
[ ${#want[@]} -gt 0 ] || exit 0
echo "setup: installing ${want[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_wanted
