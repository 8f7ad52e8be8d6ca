# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs from a seed in one place, for each of its places in turn: of seeds.py."""
import copy
import json
import struct

GONE = object()
# In the place of a value: in turn, each kind and each end of a range somewhere.
VALUES = (GONE, None, -1, 0, 1, 255, 65536, 2**32, 2**63 - 1, 1.5, True, "", "x" * 300, "\u00e4\x01", [], {}, [{}], [1, 2])
BYTES = (lambda b: 0, lambda b: 0xff, lambda b: b ^ 1, lambda b: b ^ 0x80, lambda b: (b + 1) & 0xff, lambda b: (b - 1) & 0xff)


def places(doc, path=()):
    """Paths of all members, of a list those of its first and last."""
    if isinstance(doc, dict):
        members = list(doc.items())
    elif isinstance(doc, list):
        members = [(i, doc[i]) for i in sorted({0, len(doc) - 1}) if doc]
    else:
        return
    for key, value in members:
        yield path + (key,)
        yield from places(value, path + (key,))


def placed(doc, path, value):
    out = copy.deepcopy(doc)
    at = out
    for key in path[:-1]:
        at = at[key]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return out


def of_document(doc, turns=len(VALUES)):
    """Each place with some of the values, another set in each place."""
    for n, path in enumerate(places(doc)):
        for turn in range(turns):
            yield placed(doc, path, VALUES[(n + turn * (len(VALUES) // turns)) % len(VALUES)])


def of_bytes(data, most=len(BYTES), end=None):
    """Each byte up to end with `most` others in its place."""
    for at in range(min(len(data), end or len(data))):
        for turn in range(most):
            yield data[:at] + bytes([BYTES[(at + turn) % len(BYTES)](data[at])]) + data[at + 1:]


def cuts(data, end=None):
    for at in range(min(len(data), end or len(data))):
        yield data[:at]


def records(data):
    """Those of a frame input behind its first byte."""
    at, out = 1, []
    while at + 5 <= len(data):
        length = struct.unpack_from("<H", data, at + 3)[0]
        out.append(data[at:at + 5 + length])
        at += 5 + length
    return out


def of_talk(data):
    """Names and frame inputs in which frames are missing, come twice, late, or at odd times."""
    head, all_ = data[:1], records(data)
    yield "third-gone", head + b"".join(r for i, r in enumerate(all_) if i % 3 != 1)
    yield "fifth-gone", head + b"".join(r for i, r in enumerate(all_) if i % 5 != 2)
    yield "twice", head + b"".join(r * (2 if i % 4 == 1 else 1) for i, r in enumerate(all_))
    yield "swapped", head + b"".join(b for a in range(0, len(all_), 2) for b in reversed(all_[a:a + 2]))
    yield "backward", head + b"".join(reversed(all_))
    yield "slow", head + b"".join(bytes([30 + i % 12]) + r[1:] for i, r in enumerate(all_))
    yield "still", head + b"".join(bytes([0]) + r[1:] for r in all_)
    yield "spare", head + b"".join(r[:2] + bytes([i * 37 & 0xff]) + r[3:] for i, r in enumerate(all_))
    yield "time-back", head + b"".join(bytes([0x80 + i % 40 if i % 6 == 5 else r[0]]) + r[1:] for i, r in enumerate(all_))
    yield "repaired", bytes([data[0] ^ 0x80]) + data[1:]
    for link in range(7):
        yield f"link-{link}", bytes([link]) + data[1:]


def of_frames(data, turns=2, end=110):
    """A frame input of which each different frame is spoilt in each place, and cut."""
    head, seen = data[:1], set()
    spoilt, cut = [], []
    for record in records(data):
        prefix, frame = record[:5], record[5:]
        kind = (len(frame), frame[12:14], frame[42:43], frame[46:47])
        if kind in seen:
            continue
        seen.add(kind)
        spoilt += [prefix + other for other in of_bytes(frame, turns, end)]
        cut += [prefix[:1] + bytes([min(len(frame) - len(c), 254)]) + prefix[2:3] + struct.pack("<H", len(c)) + c
                for c in cuts(frame, end)]
    return head + b"".join(spoilt), head + b"".join(cut)


def with_options(data):
    """The frames of IPv6 with headers of options and a fragment's in front of what they hold, as they are and cut."""
    out = b""
    for record in records(data):
        frame = record[5:]
        at = frame.find(b"\x86\xdd") + 2
        if at < 14 or len(frame) < at + 48:
            continue
        upper = frame[at + 6]
        for chain in ((0,), (43,), (60,), (0, 43, 60), (0,) * 9, (44,), (0, 44), (51,), (135,), (59,)):
            headers = b""
            for n, _ in enumerate(chain):
                then = chain[n + 1] if n + 1 < len(chain) else upper
                headers += bytes([then, 0, 0, 0]) + bytes(4)
            for fragment in (0, 1, 8) if 44 in chain else (0,):
                told = headers[:-8] + headers[-8:-6] + struct.pack(">H", fragment) + headers[-4:] if 44 in chain else headers
                length = struct.unpack_from(">H", frame, at + 4)[0] + len(told)
                whole = (frame[:at + 4] + struct.pack(">H", length & 0xffff) + bytes([chain[0]]) + frame[at + 7:at + 40] + told
                         + frame[at + 40:])
                for cut in (len(whole), at + 41, at + 40 + len(told) - 1, at + 40 + len(told) + 4):
                    part = whole[:cut]
                    out += record[:1] + bytes([min(len(whole) - len(part), 254)]) + record[2:3] + struct.pack("<H", len(part)) + part
    return data[:1] + out


def compact(doc):
    return json.dumps(doc, separators=(",", ":"))
