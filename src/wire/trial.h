// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "wire/frames.h"

// The frame with which two members test the link between them, in both directions, with small and
// large packets on the data lane and on the control lane.
//
// A sealed packet of the data lane does not carry the kind of its frame: among members of a ring,
// this kind is always DATA (docs/wire.md). So a TRIAL on that lane has the kind DATA, and 0 where a
// DATA frame has its view number.

namespace peal::wire {

/// A trial has four parts, one for each combination of packet size and lane. Bit 0 of a part's
/// number is set for large packets, bit 1 for the data lane.
inline constexpr std::uint8_t kTrialParts = 4;
inline constexpr std::uint8_t kTrialAsksMax = 32;  ///< number of ASKs in one part
constexpr bool is_large(std::uint8_t part) { return (part & 1U) != 0; }
constexpr Lane lane_of(std::uint8_t part) { return part < 2 ? Lane::control : Lane::data; }
constexpr FrameKind kind_of(std::uint8_t part) {
  return lane_of(part) == Lane::data ? FrameKind::data : FrameKind::trial;
}

struct Trial {
  enum class Step : std::uint8_t {
    ask = 1,     ///< requests an echo with the same part, index and padding
    echo = 2,    ///< answers an ASK
    passed = 3,  ///< the sender got enough echoes: the link works
  };
  Step step = Step::ask;
  std::uint8_t part = 0;      ///< below kTrialParts
  std::uint8_t index = 0;     ///< below kTrialAsksMax
  std::uint64_t number = 1;   ///< number of the trial; grows with every trial of an incarnation
  MemberId to{};              ///< the receiver
  std::uint16_t padding = 0;  ///< count of zero bytes that follow
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// Size of the frame without padding, header included.
inline constexpr std::size_t kTrialBytes = kHeaderBytes + 8 + 3 + 8 + 12 + 2;

/// True if a packet of kind DATA, with a correct header, is a TRIAL.
[[nodiscard]] bool is_trial_of_data(ByteView packet);

// The rules of frames.h apply. encode_trial() ignores the kind in `header`.
[[nodiscard]] Drop decode_trial(ByteView packet, Trial& out);
[[nodiscard]] std::size_t encode_trial(const Header& header, const Trial& in, ByteSpan out);

}  // namespace peal::wire
