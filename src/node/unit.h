// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "node/node.h"
#include "wire/frames.h"

// A unit holds a run of chunks of one sender's messages, in the order submitted.
//
//   unit:   number u64 (of the first chunk's message), then 1 to kChunksMax chunks
//   chunk:  flags u8 (bit 0 first, bit 1 last, bits 2-3 service, the rest 0), length u16,
//           then total u32 if first but not last, or offset u32 if not first, then `length` bytes
//
// Each chunk's message has the number after that of the previous chunk. Only the first chunk of a
// unit may be the rest of a message, and only the last chunk may leave its message unfinished.
// Integers are little-endian. Every unit has exactly one encoding.

namespace peal::node {

inline constexpr std::size_t kUnitHeaderBytes = 8;
inline constexpr std::size_t kWholeHeaderBytes = 3;  ///< header of a chunk that is a whole message
inline constexpr std::size_t kPartHeaderBytes = 7;   ///< header of a chunk that is a part
inline constexpr std::size_t kChunksMax = 256;
static_assert(kMessageInUnitBytes == kUnitHeaderBytes + kWholeHeaderBytes);
inline constexpr std::size_t kUnitBytesMax = wire::kPacketBytesMax - wire::kDataHeaderBytes;

/// A message, or a part of a message.
struct Chunk {
  std::uint64_t number{};
  bool first = false;
  bool last = false;
  Service service = Service::agreed;
  std::uint32_t total{};   ///< bytes of the whole message; 0 if not `first`
  std::uint32_t offset{};  ///< where `bytes` begins in the message
  ByteView bytes;

  bool whole() const { return first && last; }
};
using Chunks = FixedVector<Chunk, kChunksMax>;

/// The service of the unit into which a message goes. `causal`: see order::Traits::causal.
constexpr Service unit_service(Service message, bool causal) {
  if (is_safe(message)) return Service::safe;
  return causal && message != Service::agreed ? Service::causal : Service::agreed;
}

/// Decodes a unit that was ordered with service `service`. Any bytes are legal: either all chunks
/// are valid, or none is used and the reason is returned (`out` is then unspecified). The result
/// depends on the arguments alone, so that all members get the same result.
[[nodiscard]] wire::Drop decode_unit(ByteView unit, Service service,
                                     std::uint32_t message_bytes_max, Chunks& out);

/// Writes one unit into memory that the caller provides.
class UnitWriter {
 public:
  /// `out` holds at least kUnitHeaderBytes; `number` is the number of the first chunk's message.
  UnitWriter(ByteSpan out, std::uint64_t number);

  std::size_t room() const { return out_.size() - size_; }
  std::size_t size() const { return size_; }
  std::size_t chunks() const { return chunks_; }

  /// Each adds one chunk, whose header and bytes must fit into room().
  void add_whole(Service service, ByteView message);
  void add_first(Service service, std::uint32_t total, ByteView part);
  void add_rest(Service service, std::uint32_t offset, bool last, ByteView part);

 private:
  void add(std::uint8_t flags, const std::uint32_t* extra, ByteView bytes);

  ByteSpan out_;
  std::size_t size_ = 0;
  std::size_t chunks_ = 0;
};

}  // namespace peal::node
