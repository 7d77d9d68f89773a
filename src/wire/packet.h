// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "wire/byte_reader.h"
#include "wire/frames.h"
#include "wire/writer.h"

// Helpers for whole packets, shared by the codecs of this module.

namespace peal::wire {

inline constexpr std::size_t kMemberBytes = 12;
inline constexpr std::size_t kViewBytes = 20;
inline constexpr std::size_t kLengthOffset = 4;
inline constexpr std::size_t kSenderOffset = 16;
inline constexpr std::size_t kClusterOffset = 8;
inline constexpr std::size_t kChecksumOffset = kHeaderBytes - 4;

/// CRC-32C of `packet` with its checksum field taken as zero. `packet` has at least kHeaderBytes.
std::uint32_t packet_checksum(ByteView packet);
/// Writes the length and then the checksum of a packet whose other bytes are complete. `packet` has
/// at least kHeaderBytes.
void complete(ByteSpan packet, Checksum checksum = Checksum::present);

/// A reader of the bytes after the header. If `packet` is shorter than a header, the reader has
/// already failed.
ByteReader body_of(ByteView packet);
/// The sender of a packet whose header has been checked.
MemberId sender_of(ByteView packet);

/// Writes the header. Its length and checksum are zero until complete() writes them.
void write_header(Writer& out, FrameKind kind, const Header& header);
/// Completes the packet that the writer `written` wrote to the front of `packet`. Returns the size
/// of the written packet in bytes; 0 if the writer failed or the size is above kPacketBytesMax.
std::size_t finish(const Writer& written, ByteSpan packet, Checksum checksum);

}  // namespace peal::wire
