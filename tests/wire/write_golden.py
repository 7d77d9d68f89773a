#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden packets of protocol version 1 to a folder, or with --check compares them with
those that are there.

A second encoder, written from docs/wire.md and sharing nothing with the C++ one, so that the two
check each other. Each line of a golden file holds the bytes of one field and its name. Golden files
of a released version are never changed: a new version adds new files beside them.
"""
import argparse
import pathlib
import struct
import sys

NO_INDEX = 0xFFFF
KINDS = {"token": 1, "data": 2, "join": 3, "commit": 4, "probe": 5, "hold_cancel": 6,
         "epoch_notice": 7, "trial": 8, "settings": 9, "state": 32, "submit": 33, "propose": 34,
         "prepare": 35, "promise": 36, "fetch": 37, "fetched": 38, "repeat": 39, "decided": 40,
         "checkpoint_get": 41, "checkpoint": 42, "relay": 43, "distribute": 44, "lacks": 45,
         "pass": 46, "lives": 47, "link_check": 48, "recall": 49, "word": 50, "log_heard": 51,
         "node": 64, "toto_lacks": 65, "toto_status": 66, "toto_pass": 67,
         "hello": 68, "takeover": 69, "member_state": 70, "nack": 71, "message_relay": 72,
         "pull": 73, "query": 74, "answer": 75, "backlog_request": 76,
         "backlog": 77, "backlog_view": 78}
CLUSTER = 0xC0FFEE0012345678


def crc32c(data):
    return crc32c_from(0, data)


def crc32c_from(seed, data):
    crc = seed ^ 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Packet:
    """Fields as (name, bytes)."""

    def __init__(self, kind, sender):
        self.fields = []
        self.u16("magic", 0x4C50)
        self.u8("version", 1)
        self.u8("kind", KINDS[kind])
        self.u32("length", 0)
        self.u64("cluster", CLUSTER)
        self.member("sender", sender)
        self.u32("checksum", 0)

    def put(self, name, code, value):
        self.fields.append((name, struct.pack("<" + code, value)))

    def u8(self, name, value):
        self.put(name, "B", value)

    def u16(self, name, value):
        self.put(name, "H", value)

    def u32(self, name, value):
        self.put(name, "I", value)

    def u64(self, name, value):
        self.put(name, "Q", value)

    def raw(self, name, value):
        self.fields.append((name, value))

    def member(self, name, member):
        self.u32(name + " node", member[0])
        self.u64(name + " epoch", member[1])

    def view(self, name, view):
        self.u64(name + " number", view[0])
        self.member(name + " representative", view[1])

    def members(self, name, members):
        for i, member in enumerate(members):
            self.member(f"{name}[{i}]", member)

    def round(self, name, value):
        self.u64(name + " count", value[0])
        self.member(name + " coordinator", value[1])

    def value(self, kind, service, view, origin, number, content):
        self.u8("value kind", kind)
        self.u8("value service", service)
        self.u64("value view", view)
        self.member("value origin", origin)
        self.u64("value number", number)
        if isinstance(content, bytes):
            self.raw("value", content)
            return
        if kind == UNIT:
            self.placed(*content)
            return
        if kind == NEW_NODES:
            self.nodes(*content)
            return
        self.u16("members", len(content))
        for i, (member, came_from) in enumerate(content):
            self.member(f"member[{i}]", member)
            self.u64(f"member[{i}] came_from", came_from)

    def placed(self, stamp, view, number, rest):
        self.u64("placing stamp", stamp)
        self.u64("placing view", view)
        self.u64("placing number", number)
        self.raw("rest of the unit", rest)

    def nodes(self, list_hash, nodes, acceptors, lives=()):
        self.u64("nodes hash", list_hash)
        self.u16("nodes", len(nodes) + (2 ** 15 if lives else 0))
        for i, node in enumerate(nodes):
            self.u32(f"node[{i}]", node + (2 ** 31 if node in acceptors else 0))
        for i, epoch in enumerate(lives):
            self.u64(f"life[{i}]", epoch)

    def domain_view(self, name, number, representative, members, roster):
        self.view(name, (number, representative))
        self.u16(name + " members", members)
        self.u16(name + " roster", len(roster))
        # The samples are of views that follow each other by one clock value of a domain.
        follows = max(number - 16, 0)
        self.u64(name + " follows", follows)
        for i, member in enumerate(roster):
            self.member("%s node[%d]" % (name, i), member)
            self.u64("%s node[%d] last_in" % (name, i), max(follows - 16 * i, 0))

    def message_head(self, name, number, after, to, service):
        self.u64(name + " number", number)
        self.u64(name + " after", after)
        self.u16(name + " to", to)
        self.u8(name + " service", service)

    def indexes(self, name, indexes):
        for i, index in enumerate(indexes):
            self.u64(f"{name} index[{i}]", index)

    def text(self, about):
        body = b"".join(value for _, value in self.fields)
        names = [name for name, _ in self.fields]
        at = names.index("length")
        self.fields[at] = ("length", struct.pack("<I", len(body)))
        body = b"".join(value for _, value in self.fields)
        at = names.index("checksum")
        self.fields[at] = ("checksum", struct.pack("<I", crc32c(body)))
        lines = [f"# {about}", "# SPDX-License-Identifier: Apache-2.0"]
        for name, value in self.fields:
            lines.append(f"{value.hex(' '):<24}# {name}" if value else f"{'':<24}# {name}: empty")
        return "\n".join(lines) + "\n"


class Record(Packet):
    """A record in memory. It has a checksum of all its other bytes, and no header."""

    def __init__(self, seed=0):
        self.fields = []
        self.seed = seed
        self.u32("checksum", 0)

    def finish(self, size=None):
        """Sets the size of the record, and pads it with zeros to a multiple of 8."""
        used = sum(len(value) for _, value in self.fields)
        total = size or (used + 7) // 8 * 8
        if total > used:
            self.raw("zeros", bytes(total - used))
        return self.sized(total)

    def sized(self, total):
        self.fields = [("size", struct.pack("<I", total)) if name == "size" else (name, value)
                       for name, value in self.fields]
        return self

    def text(self, about):
        body = b"".join(value for _, value in self.fields[1:])
        self.fields[0] = ("checksum", struct.pack("<I", crc32c_from(self.seed, body)))
        lines = [f"# {about}", "# SPDX-License-Identifier: Apache-2.0"]
        for name, value in self.fields:
            lines.append(f"{value.hex(' '):<24}# {name}")
        return "\n".join(lines) + "\n"


A = (1, 1000)
B = (2, 2 ** 40 + 5)
B_OLD = (2, 2 ** 40 + 4)
C = (3, 7)
D = (40000, 2 ** 64 - 1)
VIEW = (77, A)
OLD_1 = (70, B)
OLD_2 = (75, C)
BIRTH = (0, D)
LIST = 0x1122334455667788
KEY = 1795573380123456
MORE_NODES = (2 ** 64 - 1, [1, 2, 3, 65535], [1, 3, 65535])
LOG = 2 ** 63 + 0x1d
LIVES = [9, 2 ** 64 - 1, 700]
NO_ROUND = (0, (0, 0))
ROUND = (12, B)
OLD_ROUND = (11, A)
UNIT, NOTHING, NEW_VIEW, NEW_NODES = 1, 2, 3, 4
OWN = 1
AGREED, SAFE = 2, 3
CONTROL_NODE, CAUSAL_NODE, AGREED_NODE, SAFE_NODE = 0, 1, 2, 3
RETRANSMISSION = 1
FULL, ALL_HAVE = 1, 2


def token(view, hop, seq, aru, aru_index, fcc, run, block, flow, credit_index, nodes, sections):
    p = Packet("token", B)
    p.view("view", view)
    p.u64("hop", hop)
    p.u64("seq", seq)
    p.u64("aru", aru)
    p.u16("aru_index", aru_index)
    p.u32("fcc", fcc)
    p.u16("recovery_run", run)
    p.u16("recovery_block", block)
    for name, value in zip(("window", "losses", "limited", "backlog", "credit"), flow):
        p.u32(name, value)
    p.u16("credit_index", credit_index)
    p.u64("list", nodes[0])
    p.u16("list_run", nodes[1])
    p.u16("list_block", nodes[2])
    p.u16("sections", len(sections))
    for i, (section_view, ranges) in enumerate(sections):
        p.view(f"section[{i}] view", section_view)
        p.u16(f"section[{i}] ranges", len(ranges))
        for j, (first, bitmap) in enumerate(ranges):
            p.u64(f"section[{i}] range[{j}] first", first)
            p.u64(f"section[{i}] range[{j}] bitmap", bitmap)
    return p


def data(sender, view, seq, hop, origin, flags, service, unit):
    p = Packet("data", sender)
    p.view("view", view)
    p.u64("seq", seq)
    p.u64("hop", hop)
    p.member("origin", origin)
    p.u8("flags", flags)
    p.u8("service", service)
    p.raw("unit", unit)
    return p


def join(sender, number, committed, view_number_max, nodes, leaving, processes, failed, heard):
    p = Packet("join", sender)
    p.u64("number", number)
    p.view("committed", committed)
    p.u64("view_number_max", view_number_max)
    p.u64("list", nodes)
    p.u8("leaving", leaving)
    p.u16("processes", len(processes))
    p.u16("failed", len(failed))
    p.u16("heard", len(heard))
    p.members("process", processes)
    p.members("failed", failed)
    p.members("heard", heard)
    return p


def commit(view, hops, params, nodes, members, old_views):
    p = Packet("commit", A)
    p.view("view", view)
    p.u32("hops", hops)
    for name, value in zip(("packet_bytes_max", "request_lag", "max_gap"), params):
        p.u32(name, value)
    p.u64("list", nodes)
    p.u16("members", len(members))
    p.members("member", members)
    p.u16("old views", len(old_views))
    for i, (old, base, high, safe, survivors, obligation, have) in enumerate(old_views):
        p.view(f"old[{i}] view", old)
        p.u64(f"old[{i}] base", base)
        p.u64(f"old[{i}] high", high)
        p.u64(f"old[{i}] safe", safe)
        p.u16(f"old[{i}] survivors", len(survivors))
        p.u16(f"old[{i}] obligation", len(obligation))
        p.members(f"old[{i}] survivor", survivors)
        p.members(f"old[{i}] obligation", obligation)
        for j, word in enumerate(have):
            p.u64(f"old[{i}] have[{j}]", word)
    return p


def probe(view, nodes, heard):
    p = Packet("probe", C)
    p.view("view", view)
    p.u64("list", nodes)
    p.u16("heard", len(heard))
    p.members("heard", heard)
    return p


def hold_cancel(view):
    p = Packet("hold_cancel", C)
    p.view("view", view)
    return p


def epoch_notice(newest):
    p = Packet("epoch_notice", A)
    p.member("newest", newest)
    return p


def trial(step, part, index, number, to, padding):
    p = Packet("trial" if part < 2 else "data", C)  # by the lane
    p.u64("zero", 0)
    p.u8("step", step)
    p.u8("part", part)
    p.u8("index", index)
    p.u64("number", number)
    p.member("to", to)
    p.u16("padding", padding)
    p.raw("zeros", bytes(padding))
    return p


def settings(sender, asks, entries):
    p = Packet("settings", sender)
    p.u8("asks", asks)
    p.u8("settings", len(entries))
    for i, (key, value) in enumerate(entries):
        p.u8(f"setting[{i}] key bytes", len(key))
        p.raw(f"setting[{i}] key", key)
        p.u8(f"setting[{i}] value bytes", len(value))
        p.raw(f"setting[{i}] value", value)
    return p


def state(sender, current, flags, voted, voted_upto, decided_upto, following, oldest, view, lists,
          start=0, beat=0, fitness=0, unheard=(0, 0), life=0, log=(0, 0)):
    p = Packet("state", sender)
    p.round("round", current)
    p.u8("flags", flags)
    p.round("voted", voted)
    p.u64("voted_upto", voted_upto)
    p.u64("decided_upto", decided_upto)
    p.u64("next", following)
    p.u64("oldest", oldest)
    p.u64("view", view)
    for name, value in zip(("list", "first_list", "next_list"), lists):
        p.u64(name, value)
    p.u64("from", start)
    p.u32("beat", beat)
    p.u8("fitness", fitness)
    p.u64("life", life)
    p.u64("log", log[0])
    p.u8("log_word", log[1])
    for i, word in enumerate(unheard):
        p.u64(f"unheard[{i}]", word)
    return p


def link_check(number, zeros):
    p = Packet("link_check", D)
    p.u32("number", number)
    p.raw("zeros", bytes(zeros))
    return p


def pass_frame(key):
    p = Packet("pass", C)
    p.u64("key", key)
    return p


def value_frame(kind, sender, count, instance, behind, value):
    p = Packet(kind, sender)
    p.u64("count", count)
    p.u64("instance", instance)
    p.u32("behind", behind)
    p.value(*value)
    return p


def prepare(count, start):
    p = Packet("prepare", B)
    p.u64("count", count)
    p.u64("from", start)
    return p


def promise(promised, following, runs):
    p = Packet("promise", C)
    p.round("round", promised)
    p.u64("next", following)
    p.u16("runs", len(runs))
    for i, (first, length, voted) in enumerate(runs):
        p.u64(f"run[{i}] first", first)
        p.u32(f"run[{i}] length", length)
        p.round(f"run[{i}] round", voted)
    return p


def fetch(voted, instance):
    p = Packet("fetch", B)
    p.round("round", voted)
    p.u64("instance", instance)
    return p


def fetched(voted, instance, value):
    p = Packet("fetched", C)
    p.round("round", voted)
    p.u64("instance", instance)
    p.value(*value)
    return p


def relay(kind, proposed, instance, behind, chain, value, flags=0):
    p = Packet(kind, C)
    p.round("round", proposed)
    p.u64("instance", instance)
    p.u32("behind", behind)
    p.u16("chain", chain)
    p.u8("flags", flags)
    p.value(*value)
    return p


def lacks(view, first, count):
    p = Packet("lacks", B)
    p.u64("view", view)
    p.u64("first", first)
    p.u16("units", count)
    return p


def lives(list_hash, epochs):
    p = Packet("lives", B)
    p.u64("list", list_hash)
    p.u16("lives", len(epochs))
    for i, epoch in enumerate(epochs):
        p.u64(f"life[{i}]", epoch)
    return p


def repeat(first, count, again=0):
    p = Packet("repeat", D)
    p.u64("first", first)
    p.u16("instances", count)
    p.u8("again", again)
    return p


def recall(first, count):
    p = Packet("recall", B)
    p.u64("first", first)
    p.u16("instances", count)
    return p


def log_heard(sender, life, heard):
    p = Packet("log_heard", sender)
    p.u64("asker", 77)
    p.u64("life", life)
    p.u16("heard", len(heard))
    for i, (epoch, position) in enumerate(heard):
        p.u64(f"heard[{i}] epoch", epoch)
        p.u64(f"heard[{i}] position", position)
    return p


def word(instance, vote=None):
    p = Packet("word", C)
    p.u64("instance", instance)
    p.u8("voted", 1 if vote else 0)
    if vote:
        p.round("round", vote[0])
        p.value(*vote[1])
    return p


def checkpoint(following, key, number, first, nodes, view, members):
    p = Packet("checkpoint", A)
    p.u64("next", following)
    p.u64("key", key)
    p.u64("list", number)
    p.u64("first_list", first)
    p.nodes(*nodes)
    p.view("view", view)
    p.u16("members", len(members))
    for i, (member, came_from, number) in enumerate(members):
        p.member(f"member[{i}]", member)
        p.u64(f"member[{i}] came_from", came_from)
        p.u64(f"member[{i}] number", number)
    return p


def node(sender, origin, kind, flags, seq, decided, advances, unit):
    p = Packet("node", sender)
    p.view("view", VIEW)
    p.u16("origin_index", origin)
    p.u8("node kind", kind)
    p.u8("flags", flags)
    p.u64("seq", seq)
    p.u64("decided", decided)
    p.u16("advances", len(advances))
    for i, (member, taken) in enumerate(advances):
        p.u16(f"advance[{i}] member_index", member)
        p.u16(f"advance[{i}] taken", taken)
    if unit:
        p.raw("unit", unit)
    return p


def toto_lacks(ranges):
    p = Packet("toto_lacks", B)
    p.view("view", VIEW)
    p.u16("ranges", len(ranges))
    for i, (origin, first, count) in enumerate(ranges):
        p.u16(f"range[{i}] origin_index", origin)
        p.u64(f"range[{i}] first", first)
        p.u16(f"range[{i}] asked", count)
    return p


def toto_status(sender, flags, nodes, have):
    p = Packet("toto_status", sender)
    p.view("view", VIEW)
    p.u8("flags", flags)
    p.u64("list", nodes)
    p.u16("members", len(have))
    for i, seq in enumerate(have):
        p.u64(f"have[{i}]", seq)
    return p


def toto_pass(sender, hop, run, block, missing):
    p = Packet("toto_pass", sender)
    p.view("view", VIEW)
    p.u64("hop", hop)
    p.u16("run", run)
    p.u16("block_index", block)
    p.u32("missing", missing)
    return p


def toto_commit(view, hops, packet_bytes_max, nodes, members, old_views):
    p = Packet("commit", A)
    p.view("view", view)
    p.u32("hops", hops)
    p.u32("packet_bytes_max", packet_bytes_max)
    p.u64("list", nodes)
    p.u16("members", len(members))
    p.members("member", members)
    p.u16("old views", len(old_views))
    for i, (old, survivors, joined) in enumerate(old_views):
        p.view(f"old[{i}] view", old)
        p.u16(f"old[{i}] survivors", len(survivors))
        p.u16(f"old[{i}] members", len(joined))
        p.members(f"old[{i}] survivor", survivors)
        for j, seq in enumerate(joined):
            p.u64(f"old[{i}] joined[{j}]", seq)
    return p


def hello(sender, heard, message, flags):
    p = Packet("hello", sender)
    p.member("heard", heard)
    p.u64("message", message)
    p.u8("flags", flags)
    return p


def takeover(sender, count, seed, flags, grant, view):
    p = Packet("takeover", sender)
    p.round("round", (count, sender))
    p.u32("seed", seed)
    p.u8("flags", flags)
    p.u64("grant", grant)
    p.domain_view("view", *view)
    return p


def member_state(sender, rounds, grant, clock, delivered, views, part, records):
    p = Packet("member_state", sender)
    p.round("round", rounds[0])
    p.u64("grant", grant)
    p.round("synchronized", rounds[1])
    p.u64("clock", clock)
    p.u64("delivered", delivered)
    p.domain_view("view", *views[0])
    p.domain_view("proposed", *views[1])
    p.u16("part", part[0])
    p.u16("parts", part[1])
    p.u16("records", len(records))
    for i, (origin, number, after, to, service, flags, stamp, key, indexes) in enumerate(records):
        p.member(f"record[{i}] sender", origin)
        p.message_head(f"record[{i}]", number, after, to, service)
        p.u8(f"record[{i}] flags", flags)
        p.u64(f"record[{i}] stamp", stamp)
        p.u64(f"record[{i}] key", key)
        p.indexes(f"record[{i}]", indexes)
    return p


def nack(sender, asked, promised):
    p = Packet("nack", sender)
    p.round("round", asked)
    p.round("promised", promised)
    return p


def message_relay(sender, origin, number, after, to, service, indexes, unit):
    p = Packet("message_relay", sender)
    p.member("sender of the message", origin)
    p.message_head("message", number, after, to, service)
    p.u8("zero", 0)
    p.u32("zeros", 0)
    p.indexes("message", indexes)
    p.raw("unit", unit)
    return p


def backlog_request(sender, delivered):
    p = Packet("backlog_request", sender)
    p.u64("delivered", delivered)
    return p


def backlog(sender, before, key, origin, head, indexes, unit):
    p = Packet("backlog", sender)
    p.u64("before", before)
    p.u64("key", key)
    p.member("sender of the message", origin)
    p.message_head("message", *head)
    p.u8("zero", 0)
    p.u32("zeros", 0)
    p.indexes("message", indexes)
    p.raw("unit", unit)
    return p


def backlog_view(sender, before, view):
    p = Packet("backlog_view", sender)
    p.u64("before", before)
    p.domain_view("view", *view)
    return p


def about_message(kind, sender, origin, number, key, ballot):
    p = Packet(kind, sender)
    p.member("sender of the message", origin)
    p.u64("number", number)
    p.u64("key", key)
    p.round("round", ballot)
    return p


def slot(index, number, after, stable, to, service, indexes, unit):
    r = Record()
    r.u32("size", 0)
    r.u64("index", index)
    r.u64("number", number)
    r.u64("after", after)
    r.u64("stable", stable)
    r.u16("to", to)
    r.u8("service", service)
    r.raw("zeros", bytes(5))
    r.indexes("slot", indexes)
    r.raw("unit", unit)
    return r.sized(sum(len(value) for _, value in r.fields))


def log_entry(number, count, kind, message, stamp, key, unit, size=None):
    origin, message_number, after, to, service, indexes = message
    r = Record(SEED)
    r.u32("size", 0)
    r.u64("entry", number)
    r.round("round", (count, B))
    r.u8("entry kind", kind)
    r.u8("service", service)
    r.u16("to", to)
    r.u32("unit bytes", len(unit))
    r.member("sender", origin)
    r.u64("message number", message_number)
    r.u64("after", after)
    r.u64("stamp", stamp)
    r.u64("key", key)
    r.u32("indexes", len(indexes))
    r.u32("zeros", 0)
    r.indexes("message", indexes)
    if unit:
        r.raw("unit", unit)
    return r.finish(size)


def cell(flags, index, epoch, number, ballot, stamp, digest, key, mark):
    r = Record()
    r.u32("flags", flags)
    r.u64("index", index)
    r.u64("sender epoch", epoch)
    r.u64("number", number)
    r.round("round", ballot)
    r.u64("stamp", stamp)
    r.u64("digest", digest)
    r.u64("key", key)
    r.u64("mark entry", mark[0])
    r.u64("mark clock", mark[1])
    return r.finish(96)


def control(missing, flags, beat, promised, entry, used, grant, delivered, released,
            mark):
    r = Record()
    r.u16("missing", missing)
    r.u16("flags", flags)
    r.u64("beat", beat)
    r.round("promised", promised)
    r.u64("entry", entry)
    r.u64("bytes", used)
    r.u64("grant", grant)
    r.u64("delivered", delivered)
    r.u64("released", released[0])
    r.u64("released in", released[1])
    r.u64("mark entry", mark[0])
    r.u64("mark clock", mark[1])
    return r.finish(112)


def two_numbers(names, values):
    r = Record()
    r.u32("zeros", 0)
    for name, value in zip(names, values):
        r.u64(name, value)
    return r


def golden():
    yield from golden_of_the_ring()
    yield from golden_states()
    yield from golden_of_quorums()
    yield from golden_of_toto()
    yield from golden_of_ramcast()


def golden_of_the_ring():
    yield "v1-token-idle", "A token with nothing to do.", token(
        VIEW, 1, 0, 0, NO_INDEX, 0, 0, NO_INDEX, (0, 0, 0, 0, 0), NO_INDEX, (0, 0, NO_INDEX), [])
    about = "A token under load, with requests for two views and an empty section."
    yield "v1-token-busy", about, token(
        VIEW, 123456, 9000, 8500, 2, 40, 3, 127, (300, 5, 2, 1000, 65536), 0, (LIST, 255, 3),
        [(VIEW, [(8501, 1), (8600, 0x8000000000000001), (8664, 0x15)]),
         (OLD_1, []),
         (OLD_2, [(2 ** 62, 0xFFFFFFFFFFFFFFFF)])])
    yield "v1-data-agreed", "A packet sent after the token.", data(
        B, VIEW, 9001, 123456, B, 1, 2, bytes(range(23)))
    yield "v1-data-safe-again", "A retransmission by another member; the unit is empty.", data(
        C, VIEW, 1, 2, D, 3, 3, b"")
    yield "v1-join-boot", "The first JOIN of a member that knows only itself.", join(
        A, 1, (0, (0, 0)), 0, LIST, 0, [A], [], [])
    yield "v1-join-busy", "A JOIN with every set filled.", join(
        A, 99, VIEW, 80, 2 ** 64 - 1, 0, [A, B_OLD, B, C, D], [B_OLD, D], [B, C])
    yield "v1-join-leaving", "A farewell.", join(
        D, 2 ** 63 - 1, BIRTH, 77, LIST, 1, [A, D], [], [A])
    yield "v1-commit-first", "A commit token as its representative creates it.", commit(
        (81, A), 0, (1472, 1, 4096), LIST, [A, B, C, D], [((77, A), 100, 100, 90, [A], [A], [])])
    about = "A commit token on its second rotation; three old views merge."
    yield "v1-commit-merge", about, commit(
        (82, A), 5, (1400, 2, 2048), 2 ** 64 - 1, [A, B, C, D],
        [(OLD_1, 100, 165, 90, [A, B], [A, B, C], [0x8000000000000001, 1]),
         (BIRTH, 0, 0, 0, [D], [D], []),
         (OLD_2, 7, 71, 7, [C], [], [0xFFFFFFFFFFFFFFFF])])
    yield "v1-probe-alone", "A PROBE of a view that hears nobody else.", probe(VIEW, LIST, [])
    yield "v1-probe-heard", "A PROBE that names what was heard.", probe(VIEW, LIST, [B, D])
    yield "v1-hold-cancel", "A request to let a held token go.", hold_cancel(VIEW)
    yield "v1-epoch-notice", "A hint that a later incarnation is known.", epoch_notice(B)
    yield "v1-trial-ask", "An ASK for a large packet on the lane of data.", trial(1, 3, 19, 6, B, 5)
    yield "v1-trial-passed", "The link works.", trial(3, 0, 0, 6, B, 0)
    yield "v1-settings-asks", "A question about settings; the sender has the defaults.", settings(
        A, 1, [])
    yield "v1-settings-answer", "The settings of a node; the last one is empty.", settings(
        B, 0, [(b"order", b'"ring"'), (b"ring.hold_ms", b"7"), (b"ring.idle", b"")])


def golden_states():
    yield "v1-state-new", "The STATE of a node that has nothing yet.", state(
        D, NO_ROUND, 0, NO_ROUND, 0, 0, 0, 0, 0, (0, LIST, 0))
    yield "v1-state-coordinator", "The STATE of a coordinator that voted in a round before.", state(
        B, ROUND, 5, OLD_ROUND, 8999, 8990, 8950, 7000, 77, (0, LIST, 2 ** 64 - 1))
    yield "v1-state-leaving", "A goodbye of somebody who voted in the round of another.", state(
        C, ROUND, 6, ROUND, 2 ** 63 - 1, 0, 8900, 8900, 77, (2 ** 23 - 1, 2 ** 64 - 1, 0))
    about = "The STATE of a node in a round of the third list."
    yield "v1-state-later-list", about, state(
        C, (2 * 2 ** 40 + 1, B), 4, NO_ROUND, 0, 0, 9004, 9004, 78, (2, LIST, 0))
    about = "The STATE of a node that began at a checkpoint, and is not to come into a view yet."
    yield "v1-state-visiting", about, state(
        C, ROUND, 8, NO_ROUND, 0, 0, 8960, 8950, 0, (0, LIST, 0), KEY)
    yield "v1-state-asks", "The STATE of a member that has asked for what it lacks.", state(
        C, ROUND, 20, NO_ROUND, 0, 0, 9004, 9004, 78, (0, LIST, 0))
    about = "A goodbye with the first flags but that of a coordinator, and the largest key."
    yield "v1-state-visiting-last", about, state(
        C, ROUND, 14, ROUND, 8999, 8999, 8900, 8900, 77, (0, LIST, 0), 2 ** 63 - 1)
    about = "The STATE of an acceptor that misses its coordinator, and whose disk hangs."
    yield "v1-state-misses", about, state(
        C, ROUND, 0xe4, ROUND, 8999, 0, 9004, 9004, 78, (0, LIST, 0), 0, 41, 2, (2, 2 ** 63),
        LOG, (0x1234, 1))


def golden_of_quorums():
    nothing = (NOTHING, AGREED, 0, B, 0, b"")
    members = [(A, 76), (B, 0), (D, 2 ** 63 - 1)]
    begin = [(A, 76, 1000), (B, 0, 0), (C, 2 ** 63 - 1, 40)]
    yield "v1-submit", "A member's unit on its way to the coordinator.", value_frame(
        "submit", C, 0, 0, 0, (UNIT, AGREED, 77, C, 41, bytes(range(9))))
    yield "v1-submit-stamped", "The same with its stamp, for optimistic delivery.", value_frame(
        "submit", C, KEY + 7, 0, 0, (UNIT, AGREED, 77, C, 41, bytes(range(9))))
    yield "v1-submit-placed", "A unit with its placing, to one of several ensembles.", value_frame(
        "submit", C, 0, 0, 0, (UNIT, AGREED, 3, C, 12, (KEY + 7, 77, 41, bytes(range(9)))))
    yield "v1-propose-unit", "The same unit, proposed.", value_frame(
        "propose", B, 12, 9000, 50, (UNIT, AGREED, 77, C, 41, bytes(range(9))))
    yield "v1-propose-nothing", "What fills an instance that nobody voted for.", value_frame(
        "propose", B, 12, 9001, 51, nothing)
    yield "v1-propose-nothing-key", "An ensemble with nothing to order says so.", value_frame(
        "propose", B, 12, 9001, 51, (NOTHING, AGREED, 0, B, KEY, b""))
    yield "v1-propose-view", "A view of three is proposed.", value_frame(
        "propose", B, 12, 9002, 0, (NEW_VIEW, AGREED, 78, B, 0, members))
    yield "v1-propose-view-key", "A view behind all that who comes into it lacks.", value_frame(
        "propose", B, 12, 9002, 0, (NEW_VIEW, AGREED, 78, B, KEY, members))
    yield "v1-propose-nodes", "A list of four, three of them acceptors, is proposed.", value_frame(
        "propose", B, 12, 9003, 0, (NEW_NODES, AGREED, 1, B, 0, MORE_NODES))
    yield "v1-propose-lives", "The same list, with the lives of its acceptors.", value_frame(
        "propose", B, 12, 9003, 0, (NEW_NODES, AGREED, 1, B, 0, MORE_NODES + (LIVES,)))
    yield "v1-prepare", "Phase 1a.", prepare(12, 8950)
    yield "v1-promise-empty", "A promise of an acceptor that never voted.", promise(ROUND, 0, [])
    yield "v1-promise-busy", "A promise with votes of two rounds, and a gap.", promise(
        ROUND, 8950, [(8950, 40, OLD_ROUND), (8990, 1, (10, D)), (8992, 2 ** 20, OLD_ROUND)])
    yield "v1-fetch", "Asks for what was voted for.", fetch(OLD_ROUND, 8950)
    yield "v1-fetched", "The answer: a unit that is empty.", fetched(
        OLD_ROUND, 8950, (UNIT, SAFE, 77, D, 2 ** 63 - 1, b""))
    yield "v1-fetched-view", "The answer: a view of one.", fetched(
        OLD_ROUND, 8951, (NEW_VIEW, AGREED, 78, A, 0, [(A, 77)]))
    yield "v1-fetched-nothing-key", "The answer: nothing, with the largest key.", fetched(
        OLD_ROUND, 8952, (NOTHING, AGREED, 0, A, 2 ** 63 - 1, b""))
    yield "v1-relay", "A unit on its way from acceptor to acceptor.", relay(
        "relay", ROUND, 9000, 50, 5, (UNIT, AGREED, 77, C, 41, bytes(range(9))))
    yield "v1-distribute", "A decided unit for somebody to send to others.", relay(
        "distribute", OLD_ROUND, 8950, 0, 0x8003, (UNIT, SAFE, 77, D, 2 ** 63 - 1, b""))
    yield "v1-relay-own", "A unit on its way to who sent it.", relay(
        "relay", ROUND, 9000, 50, 5, (UNIT, AGREED, 77, D, 41, b""), OWN)
    yield "v1-lacks", "Asks a member for units of its own.", lacks(77, 8191, 64)
    yield "v1-lives", "Whom an acceptor takes for those that begin.", lives(LIST, LIVES)
    yield "v1-repeat", "Asks for decided instances.", repeat(8900, 64)
    yield "v1-repeat-again", "The REPEAT of somebody who has asked in vain.", repeat(8900, 64, 1)
    about = "Asks an acceptor what it has to say of decided instances."
    yield "v1-recall", about, recall(8900, 64)
    yield "v1-word", "The answer: what it voted for.", word(
        8901, (OLD_ROUND, (UNIT, SAFE, 77, B, 7, bytes(range(9)))))
    about = "The answer of an acceptor that did not vote, for the last instance of all."
    yield "v1-word-no-vote", about, word(2 ** 63 - 1)
    about = "What an acceptor heard of another one's log, from two incarnations before."
    yield "v1-log-heard", about, log_heard(B, LOG, [(75, 0x1233), (76, 2 ** 63 - 1)])
    yield "v1-log-unheard", "Nothing.", log_heard(C, 2 ** 64 - 1, [])
    yield "v1-link-check", "The LINK_CHECK of 44 bytes.", link_check(7, 8)
    about = "Asks a coordinator to say how far its ensemble has come."
    yield "v1-pass", about, pass_frame(KEY)
    yield "v1-decided", "One of them.", value_frame(
        "decided", A, 0, 8900, 0, (UNIT, SAFE, 77, B, 7, b"\xff"))
    yield "v1-checkpoint-get", "Asks for a place to begin.", Packet("checkpoint_get", D)
    yield "v1-checkpoint-first", "The place before everything.", checkpoint(
        1, 0, 0, LIST, (LIST, [1], [1]), NO_ROUND, [])
    yield "v1-checkpoint", "A place to begin, with a view of three.", checkpoint(
        8950, 0, 2 ** 23 - 1, LIST, MORE_NODES, VIEW, begin)
    yield "v1-checkpoint-key", "The same of one of several ensembles.", checkpoint(
        8950, KEY, 2 ** 23 - 1, LIST, MORE_NODES, VIEW, begin)
    yield "v1-checkpoint-lives", "The beginning, with the lives of the acceptors.", checkpoint(
        1, 0, 0, LIST, (2 ** 64 - 1, [1, 2], [2], [44]), NO_ROUND, [])


def golden_of_toto():
    about = "A control node with the smallest and the largest advance."
    yield "v1-node-control", about, node(
        B, 1, CONTROL_NODE, 0, 41, 12, [(0, 1), (2, 65535), (127, 3)], b"")
    about = "A node with a causal unit and with as many advances as such a node can have."
    yield "v1-node-causal", about, node(
        D, 127, CAUSAL_NODE, 0, 9000, 8999, [(i, i + 1) for i in range(11)], b"\0")
    yield "v1-node-agreed", "The first node of a member, with an agreed unit.", node(
        C, 2, AGREED_NODE, 0, 1, 0, [(0, 2), (1, 40)], bytes(range(9)))
    yield "v1-node-again", "A node with a safe unit, retransmitted by another member.", node(
        A, 3, SAFE_NODE, RETRANSMISSION, 2 ** 63 - 1, 2 ** 63 - 1, [], b"\xff")
    yield "v1-toto-lacks", "A request for nodes of three members.", toto_lacks(
        [(0, 1, 64), (0, 65, 1), (2, 9000, 3), (127, 2 ** 63 - 65, 64)])
    about = "The STATUS of a member that knows that every member has the pending list."
    yield "v1-toto-status", about, toto_status(A, ALL_HAVE, LIST, [41, 0, 2 ** 63 - 1])
    about = "The STATUS of a member whose application takes nothing now."
    yield "v1-toto-status-full", about, toto_status(D, FULL, 2 ** 64 - 1, [1])
    yield "v1-toto-pass", "The first PASS of a view.", toto_pass(C, 1, 0, NO_INDEX, 0)
    yield "v1-toto-pass-last", "A PASS with the largest numbers.", toto_pass(
        D, 2 ** 63 - 1, 512, 127, 2 ** 32 - 1)
    yield "v1-toto-commit-first", "ToTo's commit token as its representative creates it.", (
        toto_commit((81, A), 0, 1472, LIST, [A, B, C, D], [(VIEW, [A], [41, 0, 9000])]))
    about = "ToTo's commit token on its second rotation; three old views merge."
    yield "v1-toto-commit-merge", about, toto_commit(
        (82, A), 5, 1400, 2 ** 64 - 1, [A, B, C, D],
        [(OLD_1, [A, B], [100, 2 ** 63 - 1, 0]), (BIRTH, [D], [0]), (OLD_2, [C], [])])


NOBODY = (0, 0)
SEED = 0x5EED5EED
NO_VIEW = (0, NOBODY, 0, [])
FIRST_VIEW = (1601, B, 0b101, [A, B, D])
MESSAGE = (A, 7, 1616, 0b110, AGREED, [5, 6])
NO_MESSAGE = (NOBODY, 0, 0, 0, 0, [])


def golden_of_ramcast():
    yield "v1-hello", "The first HELLO of a node.", hello(A, NOBODY, 0, 0)
    yield "v1-hello-answer", "The HELLO of a server to a sender.", hello(D, B, 2 ** 63 - 1, 1)
    yield "v1-takeover-first", "A candidate begins an order.", takeover(
        B, 1, SEED, 1, 1, (0, NOBODY, 0, [A, B, D]))
    yield "v1-takeover", "A candidate takes over.", takeover(C, 2 ** 63 - 1, 0, 0, 3, FIRST_VIEW)
    yield "v1-member-state-empty", "The state of a member that knows nothing.", member_state(
        A, [(1, B), NO_ROUND], 1, 0, 0, [NO_VIEW, NO_VIEW], (0, 1), [])
    about = "A part of a state, with a message that has both timestamps and one that has none."
    yield "v1-member-state", about, member_state(
        D, [(9, C), (8, B)], 2, 103, 1633, [FIRST_VIEW, (1649, B, 0b11, [A, B])], (1, 1024),
        [(A, 7, 1616, 0b110, AGREED, 1, 1634, 1650, [5, 6]),
         (C, 1, 0, 0x8000, SAFE, 0, 0, 0, [2 ** 63 - 1])])
    yield "v1-nack", "A member has promised a higher round.", nack(A, (8, B), (9, C))
    yield "v1-nack-roster", "A member counts in another roster.", nack(A, (8, B), NO_ROUND)
    yield "v1-message-relay", "A message to two domains, by another node.", message_relay(
        B, A, 7, 1616, 0b110, SAFE, [5, 6], bytes(range(9)))
    yield "v1-pull", "A request for a message.", about_message(
        "pull", A, D, 7, 0, NO_ROUND)
    yield "v1-query", "A question about a message.", about_message(
        "query", B, D, 7, 0, NO_ROUND)
    yield "v1-answer", "The key of a message.", about_message(
        "answer", C, D, 7, 1650, (9, B))
    yield "v1-answer-hearsay", "A key that was found in an unknown round.", about_message(
        "answer", C, D, 7, 1650, NO_ROUND)
    yield "v1-backlog-request", "An excluded member asks for what it lacks.", backlog_request(
        B, 1633)
    yield "v1-backlog", "A message that an excluded member lacks.", backlog(
        A, 1633, 1650, D, (7, 1616, 0b110, SAFE), [5, 6], bytes(range(9)))
    yield "v1-backlog-view", "The view that excludes a member.", backlog_view(
        A, 1650, (1665, B, 0b11, [A, B, D]))


def golden_records():
    yield "v1-slot", "A message to two domains, as a server of the second one has it.", slot(
        6, 7, 1616, 3, 0b110, AGREED, [5, 6], bytes(range(9)))
    yield "v1-slot-largest", "A message to all domains, with the largest numbers.", slot(
        2 ** 63 - 1, 2 ** 63 - 1, 2 ** 63 - 1, 2 ** 63 - 1, 0xFFFE, SAFE, [2 ** 63 - 1] * 15,
        b"\xff")
    yield "v1-log-proposal", "A timestamp, without the unit.", log_entry(
        12, 9, 7, MESSAGE, 1634, 0, b"")
    yield "v1-log-proposal-unit", "A timestamp of a message to one domain.", log_entry(
        13, 9, 7, (D, 1, 0, 0b10, SAFE, [1]), 1649, 0, bytes(range(9)))
    yield "v1-log-base", "A message of a round's base.", log_entry(
        1, 9, 2, MESSAGE, 1634, 1650, b"")
    view = bytes.fromhex("01")
    yield "v1-log-base-view", "A view of a round's base.", log_entry(
        2, 9, 3, NO_MESSAGE, 1665, 1665, view)
    yield "v1-log-base-sender", "Where a sender's messages continue.", log_entry(
        3, 9, 4, (D, 0, 0, 0, 0, []), 0, 41, b"")
    yield "v1-log-base-end", "The end of a base.", log_entry(3, 9, 5, NO_MESSAGE, 110, 4, view)
    yield "v1-log-active", "Members may deliver.", log_entry(4, 9, 6, NO_MESSAGE, 0, 0, b"")
    yield "v1-log-view", "A new view.", log_entry(5, 9, 8, NO_MESSAGE, 1665, 0, view)
    yield "v1-log-commit", "Entries have their keys.", log_entry(6, 9, 9, NO_MESSAGE, 0, 5, b"")
    yield "v1-log-pad", "The end of the region is unused.", log_entry(
        7, 9, 1, NO_MESSAGE, 0, 0, b"", 104)
    yield "v1-cell-proposal", "A leader's timestamp.", cell(
        0, 5, 1000, 7, (9, B), 1634, 0, 0, (0, 0))
    yield "v1-cell-ack", "A leader's acknowledgement.", cell(
        1, 5, 1000, 7, (9, B), 1634, 2 ** 64 - 1, 1650, (12, 103))
    yield "v1-cell-committed", "The key of a message, without a timestamp.", cell(
        2, 5, 1000, 7, NO_ROUND, 0, 0, 1650, (0, 0))
    yield "v1-control", "A follower.", control(
        0b100, 1, 77, (9, B), 12, 4096, 2, 1633, (1601, 65),
        (0, 0))
    yield "v1-control-leader", "A leader whose application is full.", control(
        0x7FFF, 7, 2 ** 63 - 1, (9, B), 12, 0, 1, 0, (0, 0), (12, 103))
    yield "v1-control-waits", "A follower that cannot read on in its log.", control(
        0, 9, 78, (9, B), 12, 4096, 2, 1633, (1601, 65), (0, 0))
    yield "v1-release", "What a server has released.", two_numbers(
        ["index", "delivered"], [4, 1633])
    yield "v1-reply", "The key of a sender's message.", two_numbers(["number", "key"], [7, 1650])


def compare(folder, texts):
    there = {path.name: path.read_text() for path in folder.glob("*.hex")}
    wrong = [name for name in sorted(there.keys() | texts.keys())
             if there.get(name) != texts.get(name)]
    for name in wrong:
        print(f"{folder / name} is not what write_golden.py writes")
    return bool(wrong) or not texts


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; name what differs")
    parser.add_argument("folder", type=pathlib.Path, help="such as tests/data/wire")
    options = parser.parse_args()
    everything = {options.folder: golden(), options.folder / "memory": golden_records()}
    failed = False
    for folder, entries in everything.items():
        texts = {f"{name}.hex": entry.text(about) for name, about, entry in entries}
        if options.check:
            failed = compare(folder, texts) or failed
            continue
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
