// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace peal::port {

/// Identifies one exposure of a region. The owner chooses it, and never gives two exposures of one
/// region the same epoch.
struct Epoch {
  std::uint64_t value{};
  friend constexpr auto operator<=>(Epoch, Epoch) = default;
};

/// A region of the owner's memory, as the owner names it. One process writes to it: `writer`. A
/// writer can have several regions, with different numbers.
struct Region {
  MemberId writer{};
  std::uint8_t number{};
  friend constexpr auto operator<=>(const Region&, const Region&) = default;
};

/// A place in another process's memory, as its writer names it.
struct Place {
  MemberId owner{};
  std::uint8_t number{};  ///< the region is the one that `owner` exposed to the writing process
  Epoch epoch{};
  std::uint64_t offset{};
};

/// How a write ended.
enum class WriteEnd : std::uint8_t {
  ok,      ///< all bytes are in the region, and were there before the region was revoked
  denied,  ///< the region is not exposed to this writer under this epoch, or it is too short
  down,    ///< the owner is gone or cannot be reached; nobody knows how many bytes arrived
};

struct WriteDone {
  std::uint64_t token{};
  WriteEnd end = WriteEnd::ok;
};

/// One-sided memory: other processes write into regions of this process's memory, without help of
/// its processor, and this process writes into regions of theirs. io/ implements this interface
/// with shared memory, streams and RDMA, the simulator with a memory that tears, delays and fails.
///
/// Writes of one process to one region are applied in the order of their calls. Writes to different
/// regions are applied in any order. The bytes of one write appear in any order, and a reader may
/// see some of them only: records need a checksum.
///
/// Thread: the engine's only. No call blocks.
class Memory {
 public:
  virtual ~Memory() = default;

  // The owner's side.

  /// Exposes `bytes` zero bytes to `region.writer`, under `epoch`. An earlier exposure of the
  /// region is revoked first, and its bytes are dropped: the new ones have never been exposed to
  /// anybody. Errors: too_large (too little memory that the fabric can expose); the region is not
  /// exposed.
  virtual Result<void, Errc> expose(const Region& region, Epoch epoch, std::size_t bytes) = 0;
  /// Ends the writer's right. After this call no byte of the region changes any more, and a write
  /// that the bytes do not contain does not end as `ok`. The bytes can still be loaded. Does
  /// nothing to a region that is not exposed.
  virtual void revoke(const Region& region) = 0;
  /// Revokes the region and drops its bytes.
  virtual void drop(const Region& region) = 0;
  /// Copies bytes of the region, once: what was copied does not change while it is checked.
  /// False if the region was never exposed or was dropped, or if the range is not inside it.
  virtual bool load(const Region& region, std::uint64_t offset, ByteSpan to) const = 0;

  // The writer's side.

  /// Writes `bytes` to `place`. The bytes are copied before the call returns. The write leaves at
  /// the end of the engine's turn, behind the turn's events in the trace. It ends once, and its
  /// completion has `token`. A write to a process that is not known yet ends as `down`.
  virtual void write(const Place& place, ByteView bytes, std::uint64_t token) = 0;
  /// The next completion, or false if there is none. Completions of writes to one region come in
  /// the order of the writes.
  virtual bool next_done(WriteDone& out) = 0;
};

}  // namespace peal::port
