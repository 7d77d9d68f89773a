// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "wire/frames.h"

// The frame with which two members find out whether a link works, both ways, for all that goes over
// it: small packets and large ones, on the lane of data and on that of tokens.
//
// Sealed packets of lane data say nothing about the kind of their frame, which is DATA for the ring
// (docs/wire.md). So a TRIAL of that lane has the kind DATA, and where a frame of data has the
// number of its view, it has 0.

namespace peal::wire {

/// Which packets an ASK stands for.
inline constexpr std::uint8_t kTrialParts = 4;
inline constexpr std::uint8_t kTrialAsksMax = 32;  ///< of one part
constexpr bool is_large(std::uint8_t part) { return (part & 1U) != 0; }
constexpr Lane lane_of(std::uint8_t part) { return part < 2 ? Lane::control : Lane::data; }
constexpr FrameKind kind_of(std::uint8_t part) {
  return lane_of(part) == Lane::data ? FrameKind::data : FrameKind::trial;
}

struct Trial {
  enum class Step : std::uint8_t {
    ask = 1,     ///< to be echoed: the same part, index and padding
    echo = 2,    ///< of an ASK
    passed = 3,  ///< enough echoes came: the link works, says the sender
  };
  Step step = Step::ask;
  std::uint8_t part = 0;      ///< below kTrialParts
  std::uint8_t index = 0;     ///< below kTrialAsksMax
  std::uint64_t number = 1;   ///< of the trial; grows with every trial of an incarnation
  MemberId to{};              ///< whom the sender means
  std::uint16_t padding = 0;  ///< so many zero bytes follow
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// What the frame takes without padding, header included.
inline constexpr std::size_t kTrialBytes = kHeaderBytes + 8 + 3 + 8 + 12 + 2;

/// Whether a packet of kind DATA, with a correct header, is a TRIAL.
[[nodiscard]] bool is_trial_of_data(ByteView packet);

// As the other frames (frames.h). The kind in `header` does not matter.
[[nodiscard]] Drop decode_trial(ByteView packet, Trial& out);
[[nodiscard]] std::size_t encode_trial(const Header& header, const Trial& in, ByteSpan out);

}  // namespace peal::wire
