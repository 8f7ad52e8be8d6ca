# SPDX-License-Identifier: GPL-2.0-or-later
#
# Joins the steps of a scenario with those of its fault. $prove: the fault is left out, or what spoils
# a healthy scenario is put in.
def joined($more):
	.nic *= ($more.nic // {})
	| .switch += ($more.switch // {})
	| .prepare = reduce (($more.prepare // {}) | to_entries[]) as $e (.prepare; .[$e.key] += $e.value)
	| .faults += ($more.faults // [])
	| .after_frames = ($more.after_frames // .after_frames);

if $prove == "" then joined(.fault // {}) else joined(.spoil // {}) end
