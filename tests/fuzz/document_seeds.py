# SPDX-License-Identifier: GPL-2.0-or-later
"""First inputs of the targets of documents: of seeds.py. Each function gives names and bytes."""
import json
import pathlib

LINT = pathlib.Path("tests/golden/lint")
REPORTS = pathlib.Path("tests/golden/report")
SNAPSHOTS = pathlib.Path("tests/golden/snapshots")
SIZE_MAX = 6000
NO_YAML = [f"syntax-{what}" for what in ("indent", "nocolon", "quote", "tab", "twocolon", "unclosed", "utf8")]


def compact(doc):
    return json.dumps(doc, separators=(",", ":")).encode()


def yaml_files(schema, *paths):
    """Those of this schema. What is no YAML stays that, however it is changed: a few are enough."""
    return {p.stem: p.read_bytes() for p in paths
            if b"rocecheck." + schema.encode() in p.read_bytes() and p.stat().st_size < SIZE_MAX
            and p.stem not in NO_YAML}


def profiles():
    out = yaml_files("profile", *sorted(pathlib.Path("profiles").glob("*.yaml")), *sorted(LINT.glob("*.yaml")))
    head = "schema: rocecheck.profile/1\nname: x\nintent: lossy\n"
    more = {
        "maps": "app:\n  dscp: {24-31: 3, 48: 6}\n  udp: {4791: [3, 4]}\n  ethertype: {35093: 3}\n"
                "  entries: {tcp: {3260: 4}}\nets:\n  prio_tc: {3: 3, 6: 6}\n",
        "arrays": "ets:\n  prio_tc: [0, 0, 0, 3, 0, 0, 6, 0]\n  tc_tsa: [ets, strict, strict, ets, strict, "
                  "strict, strict, strict]\n  tc_tx_bw: [50, 0, 0, 50, 0, 0, 0, 0]\npfc: {enabled: [3]}\n",
        "policy": "select: {interfaces: [roce*, 'bond[0-9]']}\npolicy: {disruption: deny, on_unsupported: warn, "
                  "rollback_timeout_s: 90, persist: off}\ndcbx: {peer: {require: fail, match: [pfc, ets]}}\n",
        "tos": "rdma: {cm_default_tos: {dscp: 26, ecn: ect0}, roce_version: v2}\nmtu: {netdev: 9000, ib_min: 4096}\n",
        "extends": "extends: lab\nmtu: {netdev: 9000}\n",
        "vendor": "vendor: {ice: {fw_lldp_agent: off}, mlx5: {}}\ndcbx: {mode: [host, ieee], agent: lldpad}\n",
    }
    return out | {name: (head + text).encode() for name, text in more.items()}


def inventories():
    out = yaml_files("fabric", *sorted(LINT.glob("fabric-*.yaml")), *sorted(pathlib.Path("tests/lab").glob("fabric*.yaml")))
    head = "schema: rocecheck.fabric/1\nname: x\nprofile: lab\n"
    port = "ports: [{interface: roce0}]"
    more = {
        "one": f"hosts: [{{name: a, {port}}}]\n",
        "set": f"failure_group: rack\nhosts:\n  - {{name: 'gpu[01-16]', rack: r1, {port}}}\n"
               f"  - {{name: 'r[1-2]n[1-3]', target: 'root@{{name}}.lab', {port}}}\n",
        "rails": "engine: local\nagent: /opt/rocecheck\nssh: {config: ./ssh_config}\ncapture: full\nhosts:\n  - name: a\n"
                 "    ports:\n      - {interface: e0, rdma: mlx5_0, address: 198.18.0.1, rail: 0}\n"
                 "      - {interface: e1, address: 'fd00::1', rail: 1}\n",
        "thresholds": f"hosts: [{{name: a, {port}}}]\nthresholds:\n  quiet: 1s\n  traffic: 2m\n  load: 50\n  message: 64KiB\n"
                      "  tcp: [{tos: 32, streams: 4, rate: 2G, direction: both}, {}]\n",
        "hosts-twice": f"hosts: [{{name: a, {port}}}]\nhosts: [{{name: b, {port}}}]\n",
        "ports-twice": f"hosts:\n  - name: a\n    {port}\n    ports: [{{interface: e1}}, {{interface: e2}}]\n",
    }
    return out | {name: (head + text).encode() for name, text in more.items()}


def runs():
    """Two hosts as a lab run left them, and less and less of that."""
    out = {}
    for path in sorted(REPORTS.glob("*/run.json")):
        run = json.loads(path.read_text())
        for host in run["hosts"]:
            for port in host["ports"]:
                port["readings"] = {}
                port.pop("capture", None)
            host.pop("after", None)
        out[path.parent.name] = run
    run = json.loads((REPORTS / "mtu/run.json").read_text())
    host = run["hosts"][0]
    host.pop("before", None)
    host.pop("after", None)
    port = host["ports"][0]
    flows = port["capture"]["flows"]
    port["capture"]["flows"] = flows[:1]
    pair = run["pairs"][0]
    for end in ("client", "server"):
        pair[end] |= {"host": host["name"], "netdev": port["netdev"]}
    readings = run | {"hosts": [host], "pairs": [pair]}
    out["readings"] = readings
    plain = json.loads(json.dumps(readings))
    plain["hosts"][0]["ports"][0]["readings"] = {}
    del plain["hosts"][0]["ports"][0]["capture"]
    tcp = json.loads(json.dumps(plain))
    out["plain"] = plain
    lost = json.loads(json.dumps(plain))
    lost["hosts"].append(lost["hosts"][0] | {"name": "h9", "reached": False, "error": "lost: \u00e4"})
    out["lost"] = lost
    out["empty"] = plain | {"hosts": [], "pairs": []}
    tcp["pairs"] *= 3
    out["pairs"] = tcp
    job = json.loads((REPORTS / "mtu/run.json").read_text())
    job |= {"traffic": False, "pairs": [], "job": {"command": "mpirun x", "exit_code": 130, "stopped": True}}
    for host in job["hosts"]:
        host.pop("after", None)
        for port in host["ports"]:
            port.pop("capture", None)
            port["readings"] = {name: port["readings"][name] for name in ("load_before", "load_after")}
            port |= {"users": ["1 queue pair of x (pid 7, user a)"], "users_left": 3}
    out["job"] = job
    return {name: compact(doc) for name, doc in out.items()}


def snapshots():
    out = {p.stem: json.loads(p.read_text()) for p in sorted(SNAPSHOTS.glob("*.json"))}
    for path in sorted(REPORTS.glob("*/run.json")):
        out[path.parent.name] = json.loads(path.read_text())["hosts"][0]["before"]
    least = {"schema": "rocecheck.snapshot/1", "host": "a", "taken_unix_ns": 1, "ports": []}
    port = {"netdev": "e0", "kind": "roce-pf", "ibdev": "mlx5_0", "addresses": ["198.18.0.1"],
            "gids": [{"index": 1, "type": "roce-v2", "gid": "::ffff:198.18.0.1"}], "peer": {"name": "leaf1", "qos": {}}}
    out["least"] = least
    out["one-port"] = least | {"ports": [port]}
    out["two-ports"] = least | {"ports": [port, port | {"netdev": "e1", "qos": {"pfc": {"enabled": [3]}}}]}
    return {name: compact(doc) for name, doc in out.items()}


QOS = {"dcbx": {"mode": ["host", "ieee"]}, "trust": "dscp", "app": {"dscp": {"24": 3, "26": 3, "48": 6},
       "entries": [{"selector": "udp", "protocol": 4791, "prio": 3}]},
       "ets": {"prio_tc": [0, 0, 0, 3, 0, 0, 6, 0], "tc_tx_bw": [50, 0, 0, 50, 0, 0, 0, 0]},
       "pfc": {"enabled": [3]}, "link_pause": {"rx": False}, "mtu": {"netdev": 4200, "ib_min": 4096},
       "rdma": {"roce_version": "v2", "cm_default_tos": {"dscp": 26, "ecn": "ect0"}}}


def step(field, before, after, **more):
    return {"field": field, "from": before, "to": after, "disruption": "none", "readback": "register",
            "cannot": False} | more


def plans():
    profile = {"name": "lab", "path": "profiles/lab.yaml", "intent": "lossless", "on_unsupported": "fail",
               "disruption": "allow", "agent": "none", "peer": "warn", "peer_match": 7, "confirm_within_s": 0,
               "persist": True, "interfaces": ["roce*"], "lines": {"trust": 10, "mtu.netdev": 21}, "qos": QOS}
    port = {"netdev": "roce0", "ibdev": "mlx5_0", "ib_port": 1, "driver": "mlx5_core", "platform": "x86", "agent": "none",
            "tier": "source", "changes": 1, "lost": [], "bare_dscps": 0, "used_by": ["lookout pid 7"], "steps": []}
    steps = [step("dcbx.mode", [], ["host", "ieee"], line=9),
             step("mtu.netdev", 1500, 4200, disruption="port-reset", line=21),
             step("trust", "pcp", "dscp", readback="cache", again=True),
             step("ets.tc_tsa", None, ["ets"] * 8, cannot=True, reason="the driver cannot")]
    plan = {"schema": "rocecheck.plan/1", "changes": 4, "ports": [port | {"steps": steps}], "profile": profile}
    out = {
        "whole": plan,
        "nothing": plan | {"changes": 0, "ports": []},
        "two": plan | {"ports": [port | {"steps": steps[:1]}, port | {"netdev": "roce1", "steps": steps[1:]}]},
        "same": plan | {"ports": [port | {"ibdev": "", "steps": [step("pfc.enabled", [], [3]),
                                                                step("mtu.netdev", 1500, 9000)]}]},
        "agent": {k: v for k, v in plan.items() if k != "profile"},
        "least": {"schema": "rocecheck.plan/1", "ports": [], "profile": {
            "name": "a", "path": "a", "intent": "lossy", "on_unsupported": "fail", "disruption": "ask", "qos": {}}},
    }
    return {name: compact(doc) for name, doc in out.items()}


def journals():
    before = {k: QOS[k] for k in ("trust", "app", "pfc", "mtu")}
    port = {"netdev": "roce0", "ibdev": "mlx5_0", "ib_port": 1, "driver": "mlx5_core", "before": before, "revealed": True}
    agent = port | {"netdev": "roce1", "agent": "lldpad", "live": before}
    del agent["revealed"]
    steps = [{"port": i, "to": to} for i in (0, 1) for to in ({"pfc": {"enabled": [3]}}, {"mtu": {"netdev": 9000}})]
    head = {"schema": "rocecheck.tx/2", "id": "20260101-000000-1", "time": "2026-01-01T00:00:00Z", "boot": "b",
            "confirm_within": 0, "deadline": 123456789, "ports": [port, agent], "plan": steps}
    one = head | {"ports": [port], "plan": steps[:2]}
    guarded = head | {"confirm_within": 60}
    done = {"state": "done", "after": [before | {"mtu": {"netdev": 9000}}, before]}
    asked = done | {"confirm_by": 987654321}
    out = {
        "running": [head],
        "done": [one, done | {"after": [before]}],
        "guarded": [guarded, asked],
        "confirmed": [guarded, asked, asked | {"confirmed": True}],
        "undone": [head, done, {"state": "undone"}],
        "lost": [guarded, {"state": "lost"}],
    }
    docs = {name: b"".join(compact(line) + b"\n" for line in lines) for name, lines in out.items()}
    docs["half-a-line"] = docs["done"][:-9]
    docs["zeroes"] = docs["running"] + bytes(512) + b"\n"
    return docs


CONF = """version = "1.1";
dcbx : { version = 2; };
lldp : {
  common : { tlvid0080c20b : { delay = 7; }; };
  eth1 : { adminStatus = 3; tlvid0080c20b : { willing = 0; enabled = 8; };
    tlvid0080c209 : { willing = 0; tsa = "0:ets,1:ets,2:strict"; up2tc = "0:0,1:0,2:0,3:1"; tcbw = "50,50";
      enableTx = false; };
    tlvid0080c20c : { APP0 = "3,5,   26"; APP7 = "0,1,    0"; };
    tlvid00120f04 : { enableTx = true; }; };
  eth2 : { adminStatus = 2; };
};
"""


def lldpad(advertisements):
    """Answers begin with a 0, the file with a 1. advertisements: names and TLVs."""
    head = b"R00C3010000000202va0000007f"
    out = {f"answer-{name}": b"\0" + head + tlvs.hex().encode() for name, tlvs in advertisements.items()}
    out |= {"answer-empty": b"\0" + head, "answer-status": b"\0R06" + head[3:], "answer-odd": b"\0" + head + b"fe0",
            "answer-other": b"\0R00PPONG7", "conf": b"\1" + CONF.encode(), "conf-empty": b"\1",
            "conf-least": b"\1lldp : { eth1 : { adminStatus = 3; }; };\n", "conf-cut": b"\1" + CONF.encode()[:200],
            "conf-list": b"\1lldp : { eth1 : { tlvid0080c20b : { enabled = [1, 2]; willing = true; }; }; };\n"}
    return out
