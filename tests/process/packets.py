# SPDX-License-Identifier: Apache-2.0
"""Peal's packets as bytes: cut out of captured frames, damaged, sealed again, put into new frames.

Only the header of 32 bytes is known here (docs/wire.md): magic, version, kind, length, cluster,
sender's node and epoch, checksum.
"""

import struct

HEADER_BYTES = 32
MAGIC = 0x4C50
VERSION_AT, KIND_AT, LENGTH_AT, CLUSTER_AT, CHECKSUM_AT = 2, 3, 4, 8, 28
TOKEN, DATA, JOIN, COMMIT, PROBE, HOLD_CANCEL, EPOCH_NOTICE = range(1, 8)
KIND_NAMES = ("", "token", "data", "join", "commit", "probe", "hold_cancel", "epoch_notice",
              "trial", "settings")


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data):
    """CRC-32C (Castagnoli)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def sealed(packet):
    """The packet with the length and the checksum that its bytes should have."""
    out = bytearray(packet)
    if len(out) < HEADER_BYTES:
        return bytes(out)
    struct.pack_into("<I", out, LENGTH_AT, len(out))
    struct.pack_into("<I", out, CHECKSUM_AT, 0)
    struct.pack_into("<I", out, CHECKSUM_AT, crc32c(out))
    return bytes(out)


def kind_of(packet):
    """The kind of one of our packets; 0 if it is none."""
    if len(packet) < HEADER_BYTES or struct.unpack_from("<H", packet)[0] != MAGIC:
        return 0
    return packet[KIND_AT]


def cut(payload):
    """The packets in one UDP payload: several, of one size, where the kernel was to cut it."""
    packets = []
    while kind_of(payload):
        length = struct.unpack_from("<I", payload, LENGTH_AT)[0]
        if length < HEADER_BYTES or length > len(payload):
            break
        packets.append(bytes(payload[:length]))
        payload = payload[length:]
    return packets


class Datagram:
    """One UDP datagram in a frame: where from, where to, and what."""

    def __init__(self, source, target, payload):
        self.source, self.target, self.payload = source, target, payload  # (address, port)

    @staticmethod
    def parse(frame):
        """The datagram in an Ethernet frame; None if there is no whole one."""
        if len(frame) < 42 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
            return None
        ip_bytes = (frame[14] & 15) * 4
        fragment = struct.unpack_from("!H", frame, 20)[0] & 0x3FFF
        udp = 14 + ip_bytes
        if fragment or len(frame) < udp + 8:
            return None
        source_port, target_port = struct.unpack_from("!HH", frame, udp)
        address = ".".join
        return Datagram((address(map(str, frame[26:30])), source_port),
                        (address(map(str, frame[30:34])), target_port), bytes(frame[udp + 8:]))

    def is_multicast(self):
        """True if it goes to a group."""
        return 224 <= int(self.target[0].partition(".")[0]) < 240

    def frame(self, hardware_address):
        """An Ethernet frame to the interface with that address. The UDP checksum is left out."""
        source = bytes(map(int, self.source[0].split(".")))
        target = bytes(map(int, self.target[0].split(".")))
        if 224 <= target[0] < 240:
            hardware_address = b"\x01\x00\x5e" + bytes([target[1] & 127]) + target[2:]
        udp = struct.pack("!HHHH", self.source[1], self.target[1], 8 + len(self.payload), 0)
        header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(self.payload), 0, 0x4000, 1, 17, 0,
                             source, target)
        header = header[:10] + struct.pack("!H", _internet_checksum(header)) + header[12:]
        return (hardware_address + b"\x02\x00\x00\x00\x00\x01" + b"\x08\x00" + header + udp +
                self.payload)


def _internet_checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


# Packets that no node may take for good. Each gets a real packet and a random.Random.

def random_bytes(_packet, rng):
    """Bytes that mean nothing, of any length that a datagram may have without being cut up."""
    return rng.randbytes(rng.choice((0, 1, 2, 3, 31, 32, 33, 81, 82, rng.randrange(1400))))


def random_body(packet, rng):
    """A right header, and then bytes that mean nothing; the checksum does not fit."""
    return packet[:HEADER_BYTES] + rng.randbytes(rng.randrange(1, 1200))


def flipped(packet, rng):
    """One to three bits are wrong: CRC-32C finds all of these, whatever the length."""
    out = bytearray(packet)
    for bit in rng.sample(range(len(out) * 8), rng.randrange(1, 4)):
        out[bit // 8] ^= 1 << (bit % 8)
    return bytes(out)


def shortened(packet, rng):
    """The end is missing."""
    return packet[:rng.randrange(len(packet))]


def lengthened(packet, rng):
    """There is something behind the end, or behind the middle of a packet that fills its frame."""
    return packet[:1_400] + rng.randbytes(rng.randrange(1, 64))


def of_version(packet, rng):
    """Another protocol version, or another magic, sealed."""
    out = bytearray(packet)
    at = rng.choice((0, 1, VERSION_AT))
    out[at] ^= rng.randrange(1, 256)
    return sealed(out)


def of_kind(packet, rng):
    """A kind that there is not, sealed."""
    out = bytearray(packet)
    out[KIND_AT] = rng.choice((0, *range(len(KIND_NAMES), 256)))
    return sealed(out)


def of_cluster(packet, rng):
    """Another cluster name or other settings, sealed."""
    out = bytearray(packet)
    out[CLUSTER_AT + rng.randrange(8)] ^= rng.randrange(1, 256)
    return sealed(out)


DAMAGE = (random_bytes, random_body, flipped, shortened, lengthened, of_version, of_kind,
          of_cluster)


def damaged(packet, rng):
    """A packet that every node must drop, made of a real one."""
    return rng.choice(DAMAGE)(packet, rng)
