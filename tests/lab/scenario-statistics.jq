# SPDX-License-Identifier: GPL-2.0-or-later
#
# The words of a scenario's statistics. Input is {before, after, switch, nic, load, scenario}: switch and
# nic are the differences. A counter that is not there is an error and not zero.

def minus($a; $b):
	if ($a | type) == "number" and ($b | type) == "number" then $a - $b
	elif ($a | type) == "object" then $a | with_entries(.key as $k | .value = minus(.value; ($b | objects | .[$k])))
	else $a end;

def differences: .switch = minus(.after.switch; .before.switch) | .nic = minus(.after.nic; .before.nic);

def there($what): if . == null then error("there is no \($what)") else . end;

# Of a switch's port ("p1", or "leaf1/p1") and priority, or summed over all ports.
def port_of($name): ($name | split("/")) as $n
	| [.switch.switches | to_entries[] | select(($n | length) == 1 or .key == $n[0]) | .value.ports[$n[-1]] | select(. != null)]
	| .[0] | there("port \($name)");
def port($name; $key; $prio): port_of($name).prio["\($prio)"][$key] | there("\($key) of port \($name)");
def ports: [.switch.switches[].ports[]];
def switch_sum($key; $prio): [ports[].prio["\($prio)"][$key] | there($key)] | add;
def drops($prio): switch_sum("dropped"; $prio);
def drops: [range(8) as $prio | drops($prio)] | add;
def drops_of($reason): [ports[].prio[].drops[$reason] | there("drops of \($reason)")] | add;
def pfc_sent($prio): switch_sum("pfc_xoff_sent"; $prio) + switch_sum("pfc_xon_sent"; $prio);
def pfc_received($prio): switch_sum("pfc_received"; $prio);
def marked: [ports[].prio[].ecn_marked] | add;
def hits($fault): (.switch.faults[$fault] | there("fault \($fault)")).hits;

# Of the NICs and RDMA devices of a host, or of all hosts.
def nic($host; $key): [.nic[$host] | there($host) | .[][$key] | there("\($key) on \($host)")] | add;
def nics($key): [.nic[][][$key] | there($key)] | add;
def lost: nics("out_of_seq_request") + nics("rcvd_seq_err");

# A fault that met nothing proves nothing.
def idle_faults: .after.switch.faults | to_entries[] | select(.value.hits == 0)
	| "fault \(.key) did nothing (it saw \(.value.seen))";
