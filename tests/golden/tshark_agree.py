#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares, packet by packet and field by field, what tshark and rocecheck say of one capture.

  tshark_agree.py fields                   the fields to ask tshark for, one a line
  tshark_agree.py names                    the names of what is compared
  tshark_agree.py compare TSHARK OURS [-v] its lines, and those of `capture decode --json`; -v counts by name

Every packet that one of the two takes for RoCE, PFC or PAUSE is compared, in every field that both
have a name for; a field that only one of them found is a difference. What tshark 4.0 has wrong is in
EXCEPTIONS by name: an exception is counted where it excuses a difference, and nowhere else.
"""
import json
import sys

HEADERS = ("deth", "reth", "atomiceth", "aeth", "atomicacketh", "immdt", "ieth")
AETH = {"ack": 0, "rnr": 32, "reserved": 64, "nak": 96}
CM = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP",
      0x17: "SIDR_REQ", 0x18: "SIDR_REP", 0x19: "LAP", 0x1a: "APR"}
NETWORKS = {"ip": "ipv4", "ipv6": "ipv6"}
MTU = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}


def number(text):
    if text in ("True", "False"):
        return int(text == "True")
    return int(text, 16 if text.startswith("0x") else 10)


def big(text):
    """Eight bytes, which ours prints as a string."""
    return f"0x{number(text):016x}"


def seconds(text):
    whole, _, rest = text.partition(".")
    return int(whole) * 10**9 + int(rest.ljust(9, "0"))


def same(text):
    return text


def key(*path):
    """The value in ours at that path, None where there is none."""
    def get(p):
        for name in path:
            p = p.get(name) if p else None
        return int(p) if isinstance(p, bool) else p
    return get


def cm(message, name):
    get = key("cm", name)
    return lambda p: get(p) if p.get("cm") and p["cm"]["message"] == message else None


def syndrome(p):
    return AETH[p["aeth"]["kind"]] + p["aeth"]["value"] if "aeth" in p else None


def quanta(prio):
    """tshark names the time of each priority; 802.3x has one for all."""
    return lambda p: p["quanta"][prio] if p["encap"] == "pfc" else None


def of(encap, name):
    get = key(name)
    return lambda p: get(p) if p["encap"].startswith(encap) else None


# Name, tshark's field, ours, how to read tshark's. Of a field that occurs more than once, as in a
# tunnel, the last counts.
FIELDS = [
    ("time", "frame.time_epoch", key("time_ns"), seconds),
    ("source", "ip.src", of("rocev2-ipv4", "src"), same),
    ("destination", "ip.dst", of("rocev2-ipv4", "dst"), same),
    ("source", "ipv6.src", of("rocev2-ipv6", "src"), same),
    ("destination", "ipv6.dst", of("rocev2-ipv6", "dst"), same),
    ("source", "infiniband.grh.sgid", of("rocev1", "src"), same),
    ("destination", "infiniband.grh.dgid", of("rocev1", "dst"), same),
    ("dscp", "ip.dsfield.dscp", of("rocev2-ipv4", "dscp"), number),
    ("ecn", "ip.dsfield.ecn", of("rocev2-ipv4", "ecn"), number),
    ("dscp", "ipv6.tclass.dscp", of("rocev2-ipv6", "dscp"), number),
    ("ecn", "ipv6.tclass.ecn", of("rocev2-ipv6", "ecn"), number),
    ("port", "udp.srcport", key("sport"), number),
    ("opcode", "infiniband.bth.opcode", key("opcode"), number),
    ("solicited", "infiniband.bth.se", key("se"), number),
    ("migreq", "infiniband.bth.m", key("migreq"), number),
    ("pad", "infiniband.bth.padcnt", key("pad"), number),
    ("pkey", "infiniband.bth.p_key", key("pkey"), number),
    ("qpn", "infiniband.bth.destqp", key("dest_qpn"), number),
    ("ackreq", "infiniband.bth.a", key("ackreq"), number),
    ("psn", "infiniband.bth.psn", key("psn"), number),
    ("deth.qkey", "infiniband.deth.q_key", key("deth", "qkey"), number),
    ("deth.src_qpn", "infiniband.deth.srcqp", key("deth", "src_qpn"), number),
    ("reth.va", "infiniband.reth.va", lambda p: key("reth", "va")(p) or key("atomiceth", "va")(p), big),
    ("reth.rkey", "infiniband.reth.r_key",
     lambda p: p["reth"]["rkey"] if "reth" in p else key("atomiceth", "rkey")(p), number),
    ("reth.dma_len", "infiniband.reth.dmalen", key("reth", "dma_len"), number),
    ("atomiceth.swap_add", "infiniband.atomiceth.swapdt", key("atomiceth", "swap_add"), big),
    ("atomiceth.compare", "infiniband.atomiceth.cmpdt", key("atomiceth", "compare"), big),
    ("aeth.syndrome", "infiniband.aeth.syndrome", syndrome, number),
    ("aeth.msn", "infiniband.aeth.msn", key("aeth", "msn"), number),
    ("atomicacketh", "infiniband.atomicacketh.origremdt", key("atomicacketh", "original"), big),
    ("immdt", "infiniband.immdt", key("immdt", "data"), lambda text: int(text, 16)),
    ("ieth", "infiniband.ieth", key("ieth", "rkey"), lambda text: int(text, 16)),
    ("cm.tid", "infiniband.mad.transactionid", key("cm", "tid"), big),
    ("cm.message", "infiniband.mad.attributeid", key("cm", "message"), lambda text: CM.get(number(text))),
    ("pfc.enable", "macc.cbfc.enbv", of("pfc", "enable"), number),
    ("pause.quanta", "macc.pause_time", lambda p: p["quanta"][0] if p["encap"] == "pause" else None, number),
] + [(f"pfc.quanta{n}", f"macc.cbfc.pause_time.c{n}", quanta(n), number) for n in range(8)]

# Of the connection manager: message, ours: tshark's.
MESSAGES = {
    "REQ": {"local_id": "localcommid", "service_id": "serviceid", "qpn": "localqpn",
            "responder_resources": "responderres", "initiator_depth": "initdepth",
            "cm_timeout": "remoteresptout", "transport": "transpsvctype", "starting_psn": "startpsn",
            "retry_count": "retrcount", "pkey": "pkey", "path_mtu": "pppmtu",
            "rnr_retry": "rnrretrcount", "traffic_class": "prim_tfcclass", "sl": "prim_sl",
            "ack_timeout": "prim_localacktout"},
    "REP": {"remote_id": "remotecommid", "qkey": "localqkey", "qpn": "localqpn",
            "starting_psn": "startpsn", "responder_resources": "respres",
            "initiator_depth": "initdepth", "ack_delay": "tgtackdelay", "rnr_retry": "rnrretrcount"},
    "RTU": {"local_id": "localcommid", "remote_id": "remotecommid"},
    "REJ": {"local_id": "localcommid", "remote_id": "remotecommid", "rejected": "msgrej",
            "reason": "reason"},
    "DREQ": {"local_id": "localcommid", "remote_id": "remotecommid"},
    "DREP": {"local_id": "drsp.localcommid", "remote_id": "drsp.remotecommid"},
}
READ = {"service_id": big, "path_mtu": lambda text: MTU.get(number(text), 0)}
for message, fields in MESSAGES.items():
    for ours, theirs in fields.items():
        theirs = theirs if "." in theirs else f"{message.lower()}.{theirs}"
        if theirs != "req.localcommid":
            FIELDS.append((f"cm.{message}.{ours}", f"infiniband.cm.{theirs}", cm(message, ours),
                           READ.get(ours, number)))

# What the comparison needs besides, in columns of their own.
EXTRA = ["frame.number", "frame.len", "frame.cap_len", "frame.protocols", "vlan.id", "vlan.priority",
         "ieee8021ad.id", "ieee8021ad.priority", "udp.length", "infiniband.grh.paylen",
         "infiniband.grh.tclass", "eth.src", "eth.dst"] + [f"infiniband.{h}" for h in HEADERS]


def transport(*classes):
    return lambda p: p["opcode"] is not None and p["opcode"] >> 5 in classes


# Name, the packets, the fields: BTH is what all opcodes have in common.
EXTENSION = {"payload", "immdt", "ieth", "atomicacketh"} | {
    name for name, *_ in FIELDS if name.split(".")[0] in ("reth", "aeth", "deth", "atomiceth", "cm")}
EXCEPTIONS = [
    ("CNP is not known (0x80 is)", lambda p: p["opcode"] == 0x81, EXTENSION),
    ("XRC: BTH alone", transport(5), EXTENSION),
    ("RD is taken for DC", transport(2), EXTENSION),
    ("FLUSH and ATOMIC WRITE are not known", lambda p: p["opcode"] in (0x1c, 0x1d), EXTENSION),
    ("opcodes that nobody knows", lambda p: p["payload_len"] is None, EXTENSION),
    ("headers that the capture cut", lambda p: p["cut"], EXTENSION),
]


def last(text):
    return text.rsplit(";", 1)[-1]


def tag(t, field):
    """Of the innermost VLAN tag: tshark gives the two kinds of tags fields of their own."""
    kinds = [k for k in t["frame.protocols"].rsplit(":gre:", 1)[-1].split(":") if k in ("vlan", "ieee8021ad")]
    return number(last(t[f"{kinds[-1]}.{field}"])) if kinds else None


def payload_len(t):
    """The payload as tshark's lengths and headers leave it; of an atomic, RETH is not a header."""
    whole = number(last(t["udp.length"])) - 8 if t["udp.length"] else number(t["infiniband.grh.paylen"])
    headers = sum(len(t[f"infiniband.{h}"].split(";")[-1]) // 2 for h in HEADERS)
    return whole - 12 - headers - number(last(t["infiniband.bth.padcnt"])) - 4


class Comparison:
    def __init__(self):
        self.packets = {"RoCE": 0, "PFC and PAUSE": 0}
        self.fields = 0
        self.by_name = {}
        self.excused = {}
        self.differences = []

    def differ(self, frame, name, theirs, ours):
        self.differences.append(f"frame {frame} {name}: tshark {theirs}, rocecheck {ours}")

    def field(self, p, name, theirs, ours):
        if theirs is None and ours is None:
            return
        if theirs == ours:
            self.fields += 1
            self.by_name[name] = self.by_name.get(name, 0) + 1
            return
        for exception, packets, fields in EXCEPTIONS:
            if name in fields and packets(p):
                self.excused.setdefault(exception, [set(), 0])
                self.excused[exception][0].add(p["frame"])
                self.excused[exception][1] += 1
                return
        self.differ(p["frame"], name, theirs, ours)

    def roce(self, t, p):
        self.packets["RoCE"] += 1
        for name, field, ours, read in FIELDS:
            text = last(t[field])
            if field.split(".")[0] in NETWORKS and not p["encap"].endswith(NETWORKS[field.split(".")[0]]):
                text = "" # of the tunnel around it
            self.field(p, name, read(text) if text else None, ours(p))
        if t["infiniband.grh.tclass"]:
            tclass = number(t["infiniband.grh.tclass"])
            self.field(p, "dscp", tclass >> 2, p["dscp"])
            self.field(p, "ecn", tclass & 3, p["ecn"])
        self.tag(t, p)
        self.field(p, "payload", payload_len(t), p["payload_len"])

    def tag(self, t, p):
        self.field(p, "vlan", tag(t, "id"), p["vid"])
        self.field(p, "pcp", tag(t, "priority"), p["pcp"])

    def pause(self, t, p):
        self.packets["PFC and PAUSE"] += 1
        for name, field, ours, read in FIELDS:
            if field.startswith(("macc.", "frame.")):
                self.field(p, name, read(t[field]) if t[field] else None, ours(p))
        self.tag(t, p)
        self.field(p, "source", t["eth.src"], p["src"])
        self.field(p, "destination", t["eth.dst"], p["dst"])

    def packet(self, frame, t, p):
        if t and p:
            p["cut"] = t["frame.cap_len"] != t["frame.len"]
        if t and p and (p["encap"] in ("pfc", "pause")) == (not t["infiniband.bth.opcode"]):
            (self.roce if t["infiniband.bth.opcode"] else self.pause)(t, p)
        else:
            self.differ(frame, "is RoCE or PFC", bool(t), bool(p))

    def tell(self, verbose):
        packets = ", ".join(f"{n} {what}" for what, n in self.packets.items() if n)
        if not self.packets["RoCE"] and not self.differences:
            print("no RoCE packet to compare")
            return 1
        for line in self.differences[:20]:
            print(line)
        if self.differences:
            print(f"{len(self.differences)} differences in {packets} packets")
            return 1
        print(f"{packets} packets agree, {self.fields} values of {len(self.by_name)} fields")
        for name, (frames, values) in self.excused.items():
            print(f"but for {values} values of {len(frames)} packets: {name}")
        for name in sorted(self.by_name) if verbose else ():
            print(f"{self.by_name[name]:9} {name}")
        return 0


def asked():
    return EXTRA + list(dict.fromkeys(field for _, field, *_ in FIELDS))


def theirs(path):
    names = asked()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            t = dict(zip(names, line.rstrip("\n").split("\t"), strict=True))
            yield int(t["frame.number"]), t


def ours(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            p = json.loads(line)
            if p["encap"] in ("pfc", "pause") or p.get("opcode") is not None:
                p.setdefault("opcode", None)
                yield p["frame"], p


def compare(a, b, verbose):
    """Walks both files side by side, by frame number."""
    comparison, end = Comparison(), (float("inf"), None)
    a, b = theirs(a), ours(b)
    t, p = next(a, end), next(b, end)
    while t[1] or p[1]:
        frame = min(t[0], p[0])
        comparison.packet(frame, t[1] if t[0] == frame else None, p[1] if p[0] == frame else None)
        t, p = next(a, end) if t[0] == frame else t, next(b, end) if p[0] == frame else p
    return comparison.tell(verbose)


def main():
    if sys.argv[1:] == ["fields"]:
        print("\n".join(asked()))
        return 0
    if sys.argv[1:] == ["names"]:
        print("\n".join(sorted({name for name, *_ in FIELDS} | {"vlan", "pcp", "payload"})))
        return 0
    if len(sys.argv) in (4, 5) and sys.argv[1] == "compare":
        return compare(*sys.argv[2:4], sys.argv[4:] == ["-v"])
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main())
