#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the first inputs of the fuzz targets; what a fuzzer found is under tests/fuzz/corpus.

    make build/fuzz/seeds/made

runs it as `tests/fuzz/seeds.py build/fuzz/seeds`. OUT/frame, OUT/file and so on are made from the
golden captures, which hold the frames of the unit tests, and from small captures of
build/tools/capgen. The same comes out every time.
"""
import gzip
import hashlib
import hmac
import json
import pathlib
import struct
import subprocess
import sys

import document_seeds as documents
import variants

LINKS = {1: 0, 113: 1, 276: 2, 12: 3, 101: 4, 228: 5, 229: 6}  # by place in frame_input.h
TRUST = 0x80
GOLDEN = pathlib.Path("tests/golden/capture")
CAPGEN = "build/tools/capgen"
ALL = ("lost lost_after selective reordered rnr timeout ack_lost fatal bad_icrc missed read_retry "
       "copied").split()
MIXES = "rc uc ud xrc ops nets cm pauses all".split()


def frames(pcap):
    """(link, [(time in ns, frame, length on the wire)]) of a pcap of this machine's byte order."""
    magic, link = struct.unpack_from("<I", pcap)[0], struct.unpack_from("<I", pcap, 20)[0]
    unit, at, out = 1000 if magic == 0xa1b2c3d4 else 1, 24, []
    while at + 16 <= len(pcap):
        seconds, fraction, captured, wire = struct.unpack_from("<IIII", pcap, at)
        data = pcap[at + 16:at + 16 + captured]
        out.append((seconds * 10**9 + fraction * unit, data, wire))
        at += 16 + captured
    return link, out


def first(pcap, count):
    """The capture's first packets."""
    at = 24
    while count and at + 16 <= len(pcap):
        count -= 1
        at += 16 + struct.unpack_from("<I", pcap, at + 8)[0]
    return pcap[:at]


def step_of(ns):
    return min(max(ns, 0).bit_length(), 62)


def without_data(data):
    """As a recording has it: what is no datagram, which may be a management one, loses its data.
    The opcode is looked for where IPv4, GRH and IPv6 have it, with a tag and without."""
    return data if any(data[at:at + 1] == b"\x64" for at in (42, 46, 54, 58, 62, 66)) else data[:104]


def frame_input(pcap, trust=0, cut=bytes):
    link, packets = frames(pcap)
    out, last = bytes([LINKS[link] | trust]), packets[0][0] if packets else 0
    for time, data, wire in packets:
        data = cut(data)
        missing = min(wire - len(data), 254)
        out += struct.pack("<BBBH", step_of(time - last), missing, 128, len(data)) + data
        last = time
    return out


def pcap_of(frames_input):
    """A capture of the frames of a frame input."""
    link = next(link for link, place in LINKS.items() if place == frames_input[0] & 0x7f)
    out = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link)
    for i, record in enumerate(variants.records(frames_input)):
        out += struct.pack("<IIII", 1, i, len(record) - 5, len(record) - 5 + record[1]) + record[5:]
    return out


def tlv_input(pcap):
    """The LLDP frames of a capture without their headers."""
    tlvs = [d[14:] for _, d, _ in frames(pcap)[1] if d[12:14] == b"\x88\xcc"]
    return b"".join(struct.pack("<H", len(t)) + t for t in tlvs)


def generated(out, name, *settings):
    path = out / name
    path.unlink(missing_ok=True)
    subprocess.run([CAPGEN, *settings, str(path)], check=True, stdout=subprocess.DEVNULL)
    data = path.read_bytes()
    path.unlink()
    return data


def organisation(oui, subtype, value):
    body = bytes.fromhex(oui) + bytes([subtype]) + value
    return struct.pack(">H", 127 << 9 | len(body)) + body


def basic(kind, value):
    return struct.pack(">H", kind << 9 | len(value)) + value


def dialects():
    """Advertisements of each dialect, and of all at once."""
    head = basic(1, b"\x04\x02\0\0\0\0\x01") + basic(2, b"\x05swp1") + basic(3, b"\0\x78")
    ieee = (organisation("0080c2", 9, b"\x82\0\x01\x23\x45" + bytes(range(0, 24, 2))[:8].ljust(8, b"\0") +
                         bytes([2] * 8)) +
            organisation("0080c2", 10, bytes(5) + bytes([12, 12, 12, 12, 13, 13, 13, 13]) + bytes(8)) +
            organisation("0080c2", 11, b"\x88\x08") +
            organisation("0080c2", 12, b"\0" + b"\x65\0\x1a" + b"\x62\x12\xb7" + b"\x61\x89\x15"))
    pfc = struct.pack(">H", 3 << 9 | 6) + b"\0\0\xc0\0\x08\x08"
    control = struct.pack(">H", 1 << 9 | 10) + bytes(6) + b"\0\0\0\x01"
    cee = organisation("001b21", 2, control + pfc)
    cin = organisation("001b21", 1, control)
    frame = organisation("00120f", 4, b"\x24\0")
    end = b"\0\0"
    return {
        "ieee": [head + ieee + frame + end],
        "cee": [head + cee + end],
        "cin": [head + cin + end],
        "all": [head + cee + ieee + cin + frame + basic(5, b"leaf1") + end],
        "lldpad": [ieee, cee, cin, frame],
        "two": [head + end, basic(1, b"\x07other") + head[9:] + ieee + end, head[:-2] + b"\0\0" + end],
    }


def swapped(pcap):
    """The same capture of a machine of the other byte order."""
    out, at = struct.pack(">IHHIIII", *struct.unpack_from("<IHHIIII", pcap)), 24
    while at + 16 <= len(pcap):
        fields = struct.unpack_from("<IIII", pcap, at)
        out += struct.pack(">IIII", *fields) + pcap[at + 16:at + 16 + fields[2]]
        at += 16 + fields[2]
    return out


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def two_interfaces():
    """A pcapng of two interfaces with statistics of both, a simple packet, and a second section."""
    section = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    interface = block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0))
    packet = block(6, struct.pack("<IIIII", 1, 1, 2, 20, 60) + bytes(20))
    simple = block(3, struct.pack("<I", 8) + bytes(8))
    stats = b"".join(block(5, struct.pack("<III", i, 0, 0) + struct.pack("<HHQHHQHH", 5, 8, 3, 7, 8, 4, 0, 0))
                     for i in (0, 1))
    return section + interface * 2 + packet + simple + stats + section + interface + stats


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def odd_files(loss):
    """What the reader leaves to libpcap, whose paths a fuzzer does not see."""
    section = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    packet = block(6, struct.pack("<IIIII", 0, 0x60000, 2, 20, 60) + bytes(range(20)))
    old = block(2, struct.pack("<HHIIII", 0, 1, 1, 2, 20, 60) + bytes(range(20)))

    def interface(options=b"", snap=0, link=1):
        return block(1, struct.pack("<HHI", link, 0, snap) + options)

    return {
        "resolution-binary": section + interface(option(9, b"\x8a") + option(0, b"")) + packet,
        "resolution-pico": section + interface(option(9, b"\x0c")) + packet,
        "resolution-coarse": section + interface(option(9, b"\x00")) + packet,
        "time-offset": section + interface(option(9, b"\x09") + option(14, struct.pack("<q", -5))) + packet,
        "old-block": section + interface() + old + packet,
        "snap-ng": section + interface(snap=16) + packet,
        "links-ng": section + interface() + interface(link=113) + packet,
        "unknown-blocks": section + block(0x0bad, bytes(8)) + interface() + block(4, bytes(4)) + packet,
        "sections": (section + interface() + packet) * 2,
        "modified": struct.pack("<I", 0xa1b2cd34) + loss[4:24] + loss[24:40] + bytes(8) + loss[40:200],
        "version-2.3": loss[:6] + struct.pack("<H", 3) + loss[8:],
        "snap-0": loss[:16] + bytes(4) + loss[20:],
        "snap-32": loss[:16] + struct.pack("<I", 32) + loss[20:],
        "link-flags": loss[:20] + struct.pack("<I", 1 | 5 << 28 | 1 << 26) + loss[24:],
        "early-time": loss[:24] + struct.pack("<I", 0xffffffff) + loss[28:],
        "fraction": loss[:28] + struct.pack("<I", 0x7fffffff) + loss[32:],
    }


def kind_class(tos, verb, **more):
    return {"tos": tos, "sl": tos >> 5, "transport": "rc", "verb": verb, "direction": "forward", "check": "sampled",
            "probe": False, "qps": 2, "message_bytes": 65536, "window": 16, "rate_bytes_per_s": 0, "count": 0} | more


def traffic_spec(*classes, **more):
    return {"role": "client", "mode": "observe", "bringup": "raw", "ibdev": "mlx5_0", "ib_port": 1, "gid_index": 3,
            "duration_ms": 2000, "seed": 99, "timeout": 14, "mtu_bytes": 4096, "threads": 2, "pin": False,
            "huge_pages": False, "classes": list(classes)} | more


def latency(*buckets):
    count = sum(n for _, n in buckets)
    return {"count": count, "min_ns": buckets[0][0] if count else 0, "max_ns": buckets[-1][0] if count else 0,
            "sum_ns": sum(i * n for i, n in buckets), "buckets": [list(b) for b in buckets]}


def class_result(**more):
    return {"messages": 40, "bytes": 2621440, "arrived": 0, "arrived_bytes": 0, "checked_bytes": 0, "mismatches": 0,
            "gaps": 0, "reordered": 0, "losses": 0, "tos_read": 0, "tos_other": 0, "tos_found": 0,
            "goodput": {"start_ns": 1000, "end_ns": 200001000, "width_ns": 100000000, "bytes": [1310720, 1310720, 0],
                        "exact": True, "whole": 2, "least": 1310720, "most": 1310720, "least_at": 0},
            "latency": latency((5, 3), (20, 1))} | more


MEMORY = {"bytes": 2097152, "huge_bytes": 0, "registration_ns": 120000, "dmabuf": True, "gpu": "xe 0000:03:00.0",
          "gpu_path": "not tested"}


def report(*classes, failures=(), **more):
    return {"messages": 40, "bytes": 2621440, "duration_ns": 200000000, "checked_bytes": 0, "mismatches": 0,
            "mtu": 4096, "cause": "none", "detail": "", "memory": MEMORY, "classes": list(classes), "failures": list(failures)} | more


def echo_result(sent, came, tos):
    def record(n):
        return [n, 0, 0, 0, 0] + ([tos, 63, n] if n else [])

    flow = {"sent": sent, "here": record(came), "there": record(came)}
    return {"detail": "", "mtu": 4096, "foreign": 0, "ports": [49153, 49214], "flows": [flow] * 13}


def proof(role):
    """Of the one talk of fuzz_control.c."""
    text = b"rocecheck.probe/3 " + role.encode() + b"\nclient\nserver\n"
    return {"proof": hmac.new(b"0123456789abcdef" * 2, text, "sha256").hexdigest()}


def control_lines():
    """Documents of a probe, in the order in which they are told."""
    dead = {"class": 0, "qp": 1, "cause": "retry-exceeded", "status": 12, "vendor_err": 129, "sequence": 381,
            "when_ns": 1200000000, "recovered": True}
    greeting = {"probe": "rocecheck.probe/3", "build": "0.1.0", "nonce": "00" * 31 + "01",
                "client": "198.18.0.1 port 40000", "server": "198.18.0.2 port 18515"}
    peer = {"gid": "00000000000000000000ffffc6120001", "mtu": 4096, "cm_port": 0,
            "qps": [{"qpn": 17, "psn": 1193046, "addr": 140737488355328, "rkey": 4660}] * 2}
    echo = {"role": "client", "ibdev": "mlx5_0", "ib_port": 1, "gid_index": 3, "seed": 99, "duration_ms": 30000,
            "count": 16, "paths": 1, "sweep": 2, "gap_us": 50, "sizes": True,
            "classes": [{"tos": 106, "sl": 3}, {"tos": 2, "sl": 0}]}
    prios = [7, None, 0, 500, 0, 0, 0, 0]

    def counters(when, n, **more):
        return {"when_ns": when, "out_of_sequence": 0, "seq_nak_rx": 0, "rdma_rx_packets": n, "rdma_tx_packets": n,
                "prio_rx_packets": [p and p * n for p in prios], "rx_bytes": 9 * n, "tx_bytes": 9 * n,
                "sources": {"out_of_sequence": "rdma out_of_seq_request"}} | more

    quiet = [counters(t, 1) for t in (10, 10, 20, 20, 30, 30)]
    write = traffic_spec(kind_class(104, "write"), kind_class(0, "send", qps=1))
    count = traffic_spec(kind_class(104, "send", transport="ud", message_bytes=2048), mode="count")
    strict = traffic_spec(kind_class(104, "read"), mode="strict")
    two = (class_result(), class_result(arrived=9))
    return {
        "gate": [greeting, proof("client"), proof("server")],
        "gate-wrong": [{"probe": "rocecheck.probe/1", "token": "0123456789abcdee"}, {"probe": 1},
                       greeting | {"client": "10.0.0.1 port 40000"}, {"proof": "00" * 32}],
        "peer": [peer],
        "clean": [write, *quiet, counters(900, 700), counters(900, 700), report(*two), report(*two)],
        "gaps": [count, *quiet, counters(900, 700), counters(900, 690, out_of_sequence=3),
                 report(class_result()), report(class_result(gaps=3, reordered=1))],
        "losses": [strict, report(class_result(losses=2), failures=[dead]), report(class_result())],
        "dead": [write, *quiet, counters(900, 700, retry_exceeded=1), counters(9, 1),
                 report(*two, cause="retry-exceeded", detail="RETRY_EXC_ERR after 1.2 s", failures=[dead])],
        "echo": [write, echo, echo_result(8, 8, 106), echo_result(8, 8, 106)],
        "echo-lost": [write, echo, echo_result(8, 8, 40), echo_result(8, 5, 107)],
    }


def control_talks():
    """What an agent says to a client, in order."""
    hello = {"hello": "rocecheck.agent/1", "build": "0.1.0", "pid": 7}
    progress = {"event": "progress", "handle": 0, "progress": {"messages": 1, "bytes": 2, "mismatches": 0, "losses": 0}}
    refused = {"error": {"code": -13, "text": "the token is not that of the server", "hint": "copy it"}}
    return {
        "answers": [hello, {"id": 1, "ports": []}, progress, {"id": 2}, {"id": 0}, {"id": 3}, {"id": 4}],
        "refused": [refused],
        "error": [hello, {"id": 1, **refused}, {"id": 2}],
        "error-without-words": [hello, {"id": 1, "error": {"text": "", "hint": 1}}],
        "refused-without-words": [{"error": {"text": "", "hint": 1}}],
        "unasked": [hello, {"id": 9}],
        "no-hello": [{"hello": "rocecheck.agent/2", "build": "9"}],
    }


def event(kind, text, which=0):
    body = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<BH", kind | which << 3, len(body)) + body


def said(*docs):
    return "".join(json.dumps(d, separators=(",", ":")) + "\n" for d in docs)


def agent_talks():
    """What happens to an agent: (flags, events). Kinds: 0 engine, 1 process (5: its stderr), 2 its end, 3 a timer."""
    peer = {"gid": "00000000000000000000ffffc6120001", "mtu": 4096, "cm_port": 0,
            "qps": [{"qpn": 17, "psn": 1193046, "addr": 140737488355328, "rkey": 4660}]}
    spec = traffic_spec(kind_class(104, "write"))
    echo = control_lines()["echo"][1]
    plan = {"schema": "rocecheck.plan/1", "ports": []}
    ready = event(1, said({"peer": peer}))
    ran = event(1, said({"connected": True})) + event(0, said({"id": 3, "op": "traffic_run", "handle": 0,
                                                              "progress_ms": 500}))
    begun = event(0, said({"id": 1, "op": "traffic_open", "spec": spec})) + ready
    linked = begun + event(0, said({"id": 2, "op": "traffic_connect", "handle": 0, "peer": peer})) + ran
    end = event(0, said({"id": 9, "op": "traffic_close", "handle": 0})) + event(2, b"\0\x09")
    progress = {"progress": {"messages": 1, "bytes": 65536, "mismatches": 0, "losses": 0}}
    changes = {"id": 5, "op": "apply", "plan": plan, "unproven": True, "disruption": False, "confirm_within_s": 60,
               "wait_link_s": 10, "settle_ms": 500}
    return {
        "ping": (0, event(0, said({"id": 1, "op": "ping", "lease_ms": 3000}, {"id": 2, "op": "quit"}))),
        "words": (0, event(0, "{}\n[]\nx\n" + said({"id": -1}, {"id": 3, "op": "no"}, {"id": 4, "op": "a" * 31 + "\u00e9"}))),
        "pieces": (4 * 5, event(0, said({"id": 1, "op": "ping"}, {"id": 2, "op": "no"}))),
        "reading": (0, event(0, said({"id": 1, "op": "counters", "ports": [{"netdev": "n0", "ibdev": "mlx5_0", "ib_port": 1}]},
                                     {"id": 2, "op": "collect", "ports": ["n0"]}))),
        "probe-only": (1, event(0, said({"id": 1, "op": "apply"}, {"id": 2, "op": "counters", "ports": []}))),
        "traffic": (0, linked + event(1, said(progress, {"result": report(class_result()), "late_ns": 7})) + end),
        "traffic-stop": (0, linked + event(0, said({"id": 4, "op": "traffic_stop", "handle": 0})) + event(3, "")),
        "traffic-error": (0, linked + event(1, said({"error": {"code": -5, "text": "gone", "hint": "see"}}))),
        "traffic-error-without-words": (0, linked + event(1, said({"error": {"code": -5, "text": ""}}))),
        "traffic-ends": (0, begun + event(2, b"\3\0")),
        "traffic-late": (0, begun + event(0, said({"id": 2, "op": "traffic_connect", "handle": 0, "peer": peer}))
                         + event(3, "")),
        "no-process": (2, event(0, said({"id": 1, "op": "traffic_open", "spec": spec}, changes))),
        "echo": (0, event(0, said({"id": 1, "op": "echo_open", "spec": echo})) + ready + end),
        "plan": (0, event(0, said({"id": 5, "op": "plan", "profile": {"name": "x"}})) + event(1, said(plan))
                 + event(2, b"\0\0")),
        "apply": (0, event(0, said(changes, changes | {"id": 6})) + event(5, b"roce0: error: G\xc3\n")
                  + event(2, b"\1\0")),
        "settled": (0, event(0, said({"id": 5, "op": "confirm", "tx": "20260101-1"})) + event(2, b"\0\0")
                    + event(0, said({"id": 6, "op": "rollback", "tx": "--list"}, {"id": 7, "op": "transactions"}))
                    + event(1, "[]\n", 1) + event(2, b"\0\0", 1)),
        "capture": (0, event(0, said({"id": 1, "op": "capture_start", "netdev": "nonesuch", "full": False, "max_bytes": 0},
                                     {"id": 2, "op": "capture_stop", "handle": 0},
                                     {"id": 3, "op": "capture_read", "handle": 0, "offset": 0}))),
    }


def add_variants(out, put):
    """What is one place away from the seeds, many places an input where a target takes several things."""
    for name, parts in dialects().items():
        others = [o for part in parts for o in [*variants.of_bytes(part), *variants.cuts(part)]]
        for i in range(0, len(others), 32):
            put("tlv", f"{name}-{i}", b"".join(struct.pack("<H", len(o)) + o for o in others[i:i + 32]))
    for path in sorted((out / "frame").iterdir()):
        data = path.read_bytes()
        put("flow", path.name, data)
        for name, other in variants.of_talk(data):
            put("flow", f"{path.name}-{name}", other)
        for link in range(7):
            put("frame", f"{path.name}-link-{link}", bytes([link]) + data[1:])
        for name, other in (*zip(("spoilt", "cut"), variants.of_frames(data)), ("options", variants.with_options(data))):
            if len(other) == 1:
                continue
            put("frame", f"{path.name}-{name}", other)
            put("flow", f"{path.name}-{name}", other)
            put("file", f"{path.name}-{name}", pcap_of(other))
    small = {name: (out / "pcapng" / name).read_bytes()[:500] for name in
             ("two-interfaces", "sections", "time-offset", "resolution-pico", "old-block", "unknown-blocks", "gen")}
    small |= {name: (out / "pcap" / name).read_bytes()[:160] for name in ("loss", "swapped", "snap-32", "modified")}
    small |= {"gzip": gzip.compress(small["loss"], mtime=0), "zstd-ng": pathlib.Path("tests/fuzz/corpus/file/zstd-ng").read_bytes()}
    for name, data in small.items():
        others = [*list(variants.of_bytes(data, 3, 120))[::2], *list(variants.cuts(data))[::9]]
        for i, other in enumerate(others):
            put("file", f"{name}-{i}", other)
    summary = json.loads((out / "summary/loss").read_text())
    heard = {name: json.loads(path.read_text())["lldp"] for path in sorted((out / "summary").iterdir())
             for name in [path.name] if json.loads(path.read_text())["lldp"]}
    for i, doc in enumerate(variants.of_document(summary, 3)):
        put("summary", f"loss-{i}", variants.compact(doc).encode())
    few = summary | {"flows": summary["flows"][:1]}
    whole = documents.QOS | {"ets": documents.QOS["ets"] | {"tc_tsa": ["ets", "strict"] * 4}}
    for name, lldp in (*heard.items(), ("qos", next(iter(heard.values())) | {"qos": whole})):
        for i, doc in enumerate(variants.of_document(lldp, 6)):
            put("summary", f"{name}-{i}", variants.compact(few | {"lldp": doc}).encode())
    for name, text in (("round", "h1,h10;h2:roce1,h1\n"), ("many", "h1,h10\nh10,h1\n" * 20), ("empty", ""),
                       ("comment", "# x\n\n h1 , h10 ; h10,h1 # y\nnode-3.example,a:b"), ("fan-in", "h1,a:b;h10,a:a;h1,a:bb"),
                       ("unknown", "h1,h3\n"), ("several", "h1,h2\n"), ("no-port", "h1,h2:roce9\n"), ("same", "a:a,a:b\n"),
                       ("end", "h1,h10;\n"), ("half", "h1,\n"), ("twice", "h1,h10;h1,a:a\n"), ("nul", "h1\0,h10\n"),
                       ("long", "h" * 2000 + ",h1\n"), ("bytes", "h1,\xff\n")):
        for fan_in in (0, 1):
            put("schedule", f"{name}-{fan_in}", bytes([fan_in]) + text.encode("latin-1"))
    for kind, inputs in ((0, control_lines()), (1, control_talks())):
        for name, docs in inputs.items():
            for n, doc in enumerate(docs):
                others = [said(other).encode() for other in variants.of_document(doc, 2)]
                text = said(doc).encode()
                others += list(variants.of_bytes(text, 1, 200))[::5] + [text[:cut] + b"\n" for cut in range(0, min(len(text), 60), 7)]
                before, behind = said(*docs[:n]).encode(), said(*docs[n + 1:]).encode()
                step = 1 if kind else 24
                for i in range(0, len(others), step):
                    talk = before + b"".join(others[i:i + step]) + behind
                    put("control", f"{name}-{n}-{i}", bytes([kind]) + talk)


def main():
    out = pathlib.Path(sys.argv[1])
    docs = {"profile": documents.profiles(), "inventory": documents.inventories(), "run": documents.runs(),
            "snapshot": documents.snapshots(), "plan": documents.plans(), "journal": documents.journals(),
            "lldpad": documents.lldpad({name: b"".join(parts) for name, parts in dialects().items()})}
    for target in ("frame", "flow", "file", "pcap", "pcapng", "tlv", "summary", "filter", "control", "agent", "schedule", *docs):
        (out / target).mkdir(parents=True, exist_ok=True)

    def put(target, name, data):
        (out / target / name).write_bytes(data)

    for target, inputs in docs.items():
        for name, data in inputs.items():
            put(target, name, data)
    for path in sorted(GOLDEN.glob("*.pcap")):
        pcap = path.read_bytes()
        put("pcap", path.stem, first(pcap, 12))
        put("frame", path.stem, frame_input(pcap))
        put("file", path.stem, pcap)
        if tlv_input(pcap):
            put("tlv", path.stem, tlv_input(pcap))
        run = subprocess.run(["build/rocecheck", "capture", "stats", "--json", str(path)],
                             capture_output=True, check=False)
        summary = json.loads(run.stdout)
        if len(summary["flows"]) < 6:
            put("summary", path.stem, json.dumps(summary, separators=(",", ":")).encode())
    for fault in ALL:
        pcap = generated(out, "x.pcap", f"only={fault}", "fault_rate=900", "frames=30", "pmtu=256",
                         "snap=90", "ce_rate=100")
        put("frame", f"gen-{fault}", frame_input(pcap, TRUST))
    for mix in MIXES:
        pcap = generated(out, "x.pcap", f"mix={mix}", "frames=30", "pmtu=256")
        put("frame", f"mix-{mix}", frame_input(pcap, TRUST, without_data))
    put("file", "drops-ng", (GOLDEN / "drops.pcapng").read_bytes())
    loss = (GOLDEN / "loss.pcap").read_bytes()
    put("file", "swapped", swapped(loss))
    put("file", "two-interfaces", two_interfaces())
    put("pcap", "swapped", swapped(first(loss, 6)))
    put("pcapng", "drops", (GOLDEN / "drops.pcapng").read_bytes()[:4000])
    put("pcapng", "two-interfaces", two_interfaces())
    for name, data in odd_files(first(loss, 3)).items():
        put("file", name, data)
        put("pcapng" if data[:4] == b"\x0a\x0d\x0d\x0a" else "pcap", name, data)
    small = generated(out, "x.pcap", "frames=20", "pmtu=256")
    whole = generated(out, "x.pcapng", "frames=20", "pmtu=256", "pcapng=1")
    put("frame", "gen-whole", frame_input(small))
    put("file", "gen-ng", whole)
    put("pcapng", "gen", generated(out, "x.pcapng", "frames=6", "pmtu=256", "pcapng=1"))
    run = ("frames=60", "snap=90", "fault_rate=0", "ce_rate=0")
    for seed in (2, 5):  # of sizes that choose the one way and the other
        put("file", f"run-{seed}", generated(out, "x.pcap", *run, f"seed={seed}"))
    put("file", "run-ng", generated(out, "x.pcapng", *run, "seed=5", "pcapng=1"))
    put("file", "gzip", gzip.compress(loss, mtime=0))
    put("file", "gzip-two", gzip.compress(loss[:500], mtime=0) + gzip.compress(loss[500:], mtime=0))
    put("file", "gzip-ng", gzip.compress(two_interfaces(), mtime=0))
    for name, parts in dialects().items():
        put("tlv", name, b"".join(struct.pack("<H", len(p)) + p for p in parts))
        whole = [bytes.fromhex("0180c200000e02000000000188cc") + p for p in parts]
        put("frame", f"lldp-{name}", b"\0" + b"".join(struct.pack("<BBBH", 20, 0, 128, len(p)) + p
                                                     for p in whole))
    for name, text in (("qp", "q0x17\nq23"), ("opcode", "oRC_ACK\no0x81\no17"),
                       ("address", "a198.18.0.1\nafe80::1"), ("verdict", "vpsn_gap\nvcopy\nvce\nvmalformed"),
                       ("all", "q1\noCNP\na::1\nvcnp"), ("bad", "qx"), ("bad-verdict", "vno"), ("empty", "q\no\na\nv"),
                       ("unlike", "oCNQ\no0x1ff\no256"), ("hint", "oRC_SEND_MIDDEL"), ("hint-address", "a198.18.0"),
                       ("hint-verdict", "vpsn_gab"), ("many", "\n".join(f"q{i}\no{i}\na10.0.0.{i}" for i in range(80))),
                       *((f"text-{i}", f"o{bad}\n") for i, bad in enumerate(
                           ("\u00e4", "\u20ac", "\U0001f600", "\x01", "\x7f", "\u0085", "\u200b", "\ufeff", "x" * 200)))):
        put("filter", name, text.encode())
    for i, bad in enumerate((b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
                             b"\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xef\xbf\xbe", b"\xc2\x9b", b"\xe2\x80\xae")):
        for letter in b"qoav":
            put("filter", f"bytes-{i}-{letter:c}", bytes([letter]) + bad + b"A")
    for name, text in (("round", "h1,h10;h2:roce1,h1\n"), ("many", "h1,h10\nh10,h1\n" * 20), ("empty", ""),
                       ("comment", "# x\n\n h1 , h10 ; h10,h1 # y\nnode-3.example,a:b"), ("fan-in", "h1,a:b;h10,a:a;h1,a:bb"),
                       ("unknown", "h1,h3\n"), ("several", "h1,h2\n"), ("no-port", "h1,h2:roce9\n"), ("same", "a:a,a:b\n"),
                       ("end", "h1,h10;\n"), ("half", "h1,\n"), ("twice", "h1,h10;h1,a:a\n"), ("nul", "h1\0,h10\n"),
                       ("long", "h" * 2000 + ",h1\n"), ("bytes", "h1,\xff\n")):
        for fan_in in (0, 1):
            put("schedule", f"{name}-{fan_in}", bytes([fan_in]) + text.encode("latin-1"))
    for kind, inputs in ((0, control_lines()), (1, control_talks())):
        for name, docs in inputs.items():
            put("control", name, bytes([kind]) + said(*docs).encode())
    for name, (flags, events) in agent_talks().items():
        put("agent", name, bytes([flags]) + events)
    put("control", "pieces", bytes([2 * 7]) + b'{"probe":"rocecheck.probe/1"}\n{"mtu":4096}\n[]\n')
    put("control", "talk-pieces", bytes([2 * 9 + 1]) + b'{"hello":"rocecheck.agent/1","build":"1"}\n{"id":1}\nx\n')
    add_variants(out, put)


if __name__ == "__main__":
    main()
