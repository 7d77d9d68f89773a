#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/client/records.txt from docs/client-protocol.md, without any code of Peal:
the bytes of each sample of client_samples.cc, as the page says they are."""

import struct
import sys

TOKEN = bytes(range(0xA0, 0xB0))


def u8(value):
    return struct.pack("<B", value)


def u16(value):
    return struct.pack("<H", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def name(text):
    return u8(len(text)) + text.encode()


VIEW = u64(7) + u32(2) + u64(1000)


def place(position, index):
    return VIEW + u64(position) + u32(index)


def hello(text, session, seen, keep, shares, secret):
    return 1, u16(1) + session + u64(seen) + u32(keep) + u8(shares) + name(text) + secret


def join(request, policy, memory, disk, age):
    return 2, u32(request) + u8(policy) + u64(memory) + u64(disk) + u32(age) + name("bids")


def send(service, discard, targets, payload):
    listed = b"".join(name(each) for each in targets)
    return 4, (u64(9) + u8(service) + u16(0x1234) + u8(discard) +
               u8(len(targets)) + listed + payload)


def message(payload):
    return 64, (place(44, 3) + u8(3) + u16(0x1234) + name("#feed#a") + u8(2) + name("asks") +
                name("bids") + payload)


def unplaced(payload):
    return 64, (place(0, 0) + u64(21) + u8(1) + u16(0x1234) + name("#feed#a") + u8(2) +
                name("asks") + name("bids") + payload)


def gap(first, last):
    return 68, name("bids") + u8(0) + u64(4) + u64(400) + first + last


def view(cause, reason, changed):
    return 65, (name("bids") + VIEW + u64(12) + u8(cause) + u8(reason) + name(changed) + u32(1) +
                u32(2) + u32(0) + name("#feed#a") + u32(1) + name("#x#b"))


RECORDS = [
    ("hello", hello("", bytes(16), 0, 0, 0, b"")),
    ("hello, resuming", hello("feed", TOKEN, 17, 60000, 1, b"open sesame")),
    ("join", join(1, 0, 0, 0, 0)),
    ("join, with limits", join(2, 2, 1000, 2000000, 500)),
    ("leave", (3, u32(3) + name("bids"))),
    ("send", send(2, 0, ["bids"], b"payload")),
    ("send, several targets, any order", send(2, 0, ["bids", "#x#b", "bids"], b"payload")),
    ("send, empty, not to itself", send(3, 1, ["#x#b"], b"")),
    ("seen", (5, u64(18))),
    ("goodbye", (6, b"")),
    ("ask", (7, u32(4) + name("status"))),
    ("ping", (8, u64(5))),
    ("mapped", (9, b"")),
    ("message", message(b"payload")),
    ("message, empty", message(b"")),
    ("message, without a place", unplaced(b"payload")),
    ("group_view, join", view(0, 0, "#x#b")),
    ("group_view, disconnect", view(2, 13, "#y#b")),
    ("group_view, network", view(3, 0, "")),
    ("transitional", (66, name("bids"))),
    ("left", (67, name("bids"))),
    ("gap", gap(place(41, 0), place(44, 3))),
    ("gap, without a place", gap(place(0, 0), place(0, 0))),
    ("gap, away", (68, name("bids") + u8(1))),
    ("gap, away, private name", (68, name("") + u8(1))),
    ("shared", (69, u32(128) + u32(1400) + u64(77))),
    ("welcome", (80, u16(1) + TOKEN + u8(1) + name("#feed#a") + name("a") + name("demo") +
                 u32(1000000) + u32(100) + u64(5000000) + u64(3) + u64(5) + u64(8) + u32(60000) +
                 u32(5000) + u32(64 << 20))),
    ("acked", (81, u64(6))),
    ("refused", (82, u64(7) + u8(12) + b"too fast")),
    ("reply", (83, u32(8) + u8(0) + b"fine")),
    ("warning", (84, u8(3) + u64(500) + u64(1000) + u32(20) + u32(0) + name("bids"))),
    ("closing", (85, u8(15) + b"went on elsewhere")),
    ("pong", (86, u64(5))),
]


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("# SPDX-License-Identifier: Apache-2.0\n")
        out.write("# Records of clients; written by tests/wire/write_client_golden.py.\n")
        for text, (kind, body) in RECORDS:
            record = u32(1 + len(body)) + u8(kind) + body
            out.write(f"{text}: {record.hex()}\n")


if __name__ == "__main__":
    main()
