#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""DCBX TLVs as lines that can be compared, from three sources that know nothing of each other:

  tlvs.py config TOPOLOGY.yaml PORT SETTINGS.json DIALECT    what a port of the switch should state
  tlvs.py tshark MIRROR.pcapng PORT DIALECT                  what tshark reads from its last LLDP frame
  tlvs.py lldptool FILE DIALECT                              what lldptool -t -n printed

DIALECT is ieee or cee. SETTINGS are keys that were set at the port on top of the file.
"""
import json
import re
import subprocess
import sys

import yaml

SELECTOR = {"ethertype": 1, "tcp": 2, "udp": 3, "any": 4, "dscp": 5}


def row(name, values):
    return f"{name}: {' '.join(str(v) for v in values)}"


def merged(base, over):
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    both = {str(k): v for k, v in base.items()}
    for key, value in over.items():
        both[str(key)] = merged(both.get(str(key)), value)
    return both


def dscp_entries(ranges):
    prio_of = {}
    for key, prio in ranges.items():
        first, _, last = str(key).partition("-")
        prio_of.update({dscp: prio for dscp in range(int(first), int(last or first) + 1)})
    return [(prio, SELECTOR["dscp"], dscp) for dscp, prio in prio_of.items() if prio]


def from_config(topology, name, settings, dialect):
    with open(topology, encoding="ascii") as f:
        box = yaml.safe_load(f)["switches"][0]
    port = next(p for p in box["ports"] if p["name"] == name)
    with open(settings, encoding="ascii") as f:
        port = merged(merged(box.get("defaults", {}), port), json.load(f))
    prio_tc = [int(port.get("prio", {}).get(str(n), {}).get("tc", 0)) for n in range(8)]
    tcs = [port.get("tc", {}).get(str(n), {}) for n in range(8)]
    ets = [n in prio_tc and not tcs[n].get("strict", False) for n in range(8)]
    percent = [tcs[n].get("dwrr", 1) if ets[n] else 0 for n in range(8)]  # files here add up to 100
    apps = [(a["prio"], SELECTOR[a["selector"]], a["protocol"]) for a in port["lldp"]["app"]]
    if dialect == "cee":
        yield row("group of prio", [tc if ets[tc] else 15 for tc in prio_tc])
        yield row("percent", percent)
        apps = [a for a in apps if a[1] in (1, 3)]
    else:
        for tlv in ("config", "recommendation"):
            yield row(f"{tlv} tc of prio", prio_tc)
            yield row(f"{tlv} percent", percent)
            yield row(f"{tlv} tsa", ["ets" if e else "strict" for e in ets])
        apps += dscp_entries(port["dscp"])
    yield row("pfc", port["pfc"])
    for app in sorted(apps):
        yield row("app prio selector protocol", app)


def pairs_of(tree):
    """All (key, text) of a tree of pairs, in order."""
    for key, value in tree:
        if isinstance(value, list):
            yield from pairs_of(value)
        else:
            yield key, value


def numbered(pairs, prefix):
    found = {int(k[-1]): int(v) for k, v in pairs if k[:-1] == prefix}
    return [found[n] for n in range(8)]


def apps_of(pairs):
    entry = {}
    for key, value in pairs:
        if ".app." not in key or key.endswith("reserved"):
            continue
        entry[key.rpartition(".")[2]] = int(value, 0)
        if {"prio", "sf", "proto"} <= entry.keys():
            yield entry["prio"], entry["sf"], entry["proto"]
            entry = {}


def from_tshark(path, port, dialect):
    out = subprocess.run(
        ["tshark", "-r", path, "-T", "json", "-Y", f'lldp.tlv.system.name == "leaf1" && lldp.port.id == "{port}"'],
        check=True, capture_output=True).stdout
    last = dict(json.loads(out, object_pairs_hook=list)[-1])
    tlvs = dict(dict(last["_source"])["layers"])["lldp"]
    if dialect == "cee":
        tlvs = next(v for k, v in tlvs if "CEE" in k)
    found = {k: list(pairs_of(v)) for k, v in tlvs if isinstance(v, list)}
    groups = "lldp.dcbx.feature.pg.pgid_prio", "lldp.dcbx.feature.pg.per"
    if dialect == "cee":
        pfc, app = found["Priority-Based Flow Control TLV"], found["Application Protocol TLV"]
        yield row("group of prio", numbered(found["Priority Groups TLV"], groups[0]))
        yield row("percent", numbered(found["Priority Groups TLV"], groups[1]))
    else:
        pfc = found["IEEE - Priority Flow Control Configuration"]
        app = found["IEEE - Application Protocol"]
        for tlv, title in ("config", "IEEE - ETS Configuration"), ("recommendation", "IEEE - ETS Recommendation"):
            yield row(f"{tlv} tc of prio", numbered(found[title], groups[0]))
            yield row(f"{tlv} percent", numbered(found[title], groups[1]))
            tsa = numbered(found[title], "lldp.dcbx.ieee.ets.tsa")
            yield row(f"{tlv} tsa", [{0: "strict", 2: "ets"}[t] for t in tsa])
    yield row("pfc", [n for n, on in enumerate(numbered(pfc, "lldp.dcbx.feature.pfc.prio")) if on])
    for prio, selector, protocol in sorted(apps_of(app)):
        # CEE has one bit for all ports; the switch uses it for UDP.
        yield row("app prio selector protocol", (prio, (1, 3)[selector] if dialect == "cee" else selector, protocol))


def lldptool_apps(text, dialect):
    if dialect == "cee":
        for kind, protocol, prios in re.findall(r"(Ethertype|TCP/UDP Port): (0x\w+), Priority Map: (0x\w+)", text):
            yield int(prios, 0).bit_length() - 1, 1 if kind == "Ethertype" else 3, int(protocol, 0)
        return
    for prio, selector, protocol in re.findall(r"App#\s+\d+\s+Prio (\d)\s+Sel (\d)\s+P-ID\s.*?(\w+)\s*$", text, re.M):
        yield int(prio), int(selector), int(protocol, 16 if selector == "1" else 0)
    for prio, dscps in re.findall(r"Prio:(\d)\s+dscp:\s*([\d, ]+)", text):
        for dscp in re.findall(r"\d+", dscps):
            yield int(prio), SELECTOR["dscp"], int(dscp)


def from_lldptool(path, dialect):
    with open(path, encoding="ascii") as f:
        text = f.read()
    if dialect == "cee":
        groups = re.findall(r"(\d+):\[([\d,]+)\]", text)
        of_prio = {int(p): int(g) for g, prios in groups for p in prios.split(",")}
        yield row("group of prio", [of_prio[n] for n in range(8)])
        yield row("percent", [int(v) for v in re.findall(r"\d+:(\d+)%", text)])
        pfc = re.search(r"PFC enabled priorities:(.*)", text)[1]
    else:
        for tlv, title in ("config", "ETS Configuration TLV"), ("recommendation", "ETS Recommendation TLV"):
            part = text[text.index(title):]
            for name, key, form in ("tc of prio", "PRIO_MAP", r"\d:(\d)"), ("percent", "TC Bandwidth", r"(\d+)%"), \
                    ("tsa", "TSA_MAP", r"\d:(\w+)"):
                yield row(f"{tlv} {name}", re.findall(form, re.search(key + ":(.*)", part)[1]))
        pfc = re.search(r"PFC enabled:(.*)", text)[1]
    yield row("pfc", re.findall(r"\d", pfc))
    for app in sorted(lldptool_apps(text, dialect)):
        yield row("app prio selector protocol", app)


def main():
    sources = {"config": from_config, "tshark": from_tshark, "lldptool": from_lldptool}
    if len(sys.argv) < 4 or sys.argv[1] not in sources:
        sys.exit(__doc__)
    for line in sources[sys.argv[1]](*sys.argv[2:]):
        print(line)


main()
