# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How a bats file has rocecheck do on h1's NIC what went wrong by hand.

# ours [OPTION...]: the profile on standard input applied to roce0, into status and output.
ours()
{
	local profile

	profile=$(printf 'schema: rocecheck.profile/1\nname: trap\nintent: lossy\n' && cat)
	run on h1 sh -c 'printf "%s\n" "$1" >/run/trap.yaml; shift
		rocecheck apply /run/trap.yaml -i roce0 --auto-approve --accept-unproven "$@"' \
		ours "$profile" "$@"
}

# done_right: it was applied, and asked again there is nothing left to do.
done_right()
{
	[ "$status" = 0 ] || { echo "exit $status: $output"; return 1; }
	run -0 on h1 rocecheck plan /run/trap.yaml -i roce0 --exit-code
}

# refused EXIT TEXT: nothing was applied, for that reason, wherever its lines were broken.
refused()
{
	[ "$status" = "$1" ] && [[ $(tr -s ' \n' ' ' <<<"$output") == *"$2"* ]] || { echo "exit $status: $output"; return 1; }
}
