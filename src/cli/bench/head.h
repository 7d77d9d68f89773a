// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "cli/bench/plan.h"

namespace peal::cli {

/// The header of each message. The shortest message is only a header. A message `start` comes from
/// the first node, and contains the time at which the load begins. The sender of `done` sends no
/// more data. The sender of `bye` has delivered the data of all nodes. These messages are ordered
/// like data, so the nodes need no other channel.
struct BenchHead {
  enum Kind : std::uint8_t { data, start, done, bye };
  // The low bytes of a time in nanoseconds. They repeat after three days.
  static constexpr std::size_t kTimeBytes = 6;
  static constexpr std::size_t kRestBytes = 4;
  static constexpr std::size_t kBytes = kTimeBytes + kRestBytes;
  static constexpr unsigned kNumberBits = 30;

  std::int64_t time_ns;  ///< data: when the message was due; start: when to begin
  Kind kind;
  std::uint32_t number;  ///< low bits of the message's number

  static std::uint32_t number_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(number & ((1U << kNumberBits) - 1));
  }
  // In the machine's byte order: sender and receiver are on one machine.
  void write(std::byte* to) const {
    const std::uint32_t rest = static_cast<std::uint32_t>(kind) << kNumberBits | number;
    std::memcpy(to, &time_ns, kTimeBytes);
    std::memcpy(to + kTimeBytes, &rest, kRestBytes);
  }
  /// Only the low bytes of the time are at `from`. The result has the full time that is nearest to
  /// `now`.
  static BenchHead read(const std::byte* from, std::int64_t now) {
    const ByteView bytes{from, kBytes};
    const std::uint64_t time =
        load<std::uint32_t>(bytes) | std::uint64_t{load<std::uint16_t>(bytes.subspan(4))} << 32;
    const auto rest = load<std::uint32_t>(bytes.subspan(kTimeBytes));
    constexpr unsigned kShift = 64 - 8 * kTimeBytes;
    const auto ahead =
        static_cast<std::int64_t>((time - static_cast<std::uint64_t>(now)) << kShift);
    return {now + (ahead >> kShift), static_cast<Kind>(rest >> kNumberBits), number_of(rest)};
  }
};
static_assert(BenchHead::kBytes == kBenchPayloadMin);

}  // namespace peal::cli
