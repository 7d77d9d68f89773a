// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/options.h"

#include <algorithm>
#include <array>

namespace peal::order::paxos {
namespace {

constexpr std::uint32_t kWindowMax = 4'096;
constexpr std::size_t kFewAcceptors = 3;
constexpr std::size_t kManyAcceptors = 5;

struct Range {
  const char* name;
  std::uint64_t value, low, high;
};

}  // namespace

std::string validate(const Options& options) {
  const auto us = [](Duration time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(time.ns, 0)) / 1'000;
  };
  const std::array ranges{
      Range{"heartbeat (µs)", us(options.heartbeat), 100, 10'000'000},
      Range{"suspect (µs)", us(options.suspect), us(options.heartbeat) * 3, 60'000'000},
      Range{"suspect_max (µs)", us(options.suspect_max), us(options.suspect), 600'000'000},
      Range{"resend (µs)", us(options.resend), 100, 60'000'000},
      Range{"gap (µs)", us(options.gap), 10, 60'000'000},
      Range{"early_wait_max (µs)", us(options.early_wait_max), 10, 1'000'000},
      Range{"window", options.window, 1, kWindowMax},
      Range{"window_first", options.window_first, 1, kWindowMax},
      Range{"member_window", options.member_window, 1, 4'096},
      Range{"max_gap", options.max_gap, 1, 8'192},
      Range{"checkpoint_every", options.checkpoint_every, 1, options.max_gap},
      Range{"history_bytes_max", options.history_bytes_max, 1U << 16, 1ULL << 40},
      Range{"packet_bytes_max", options.packet_bytes_max, 256, wire::kPacketBytesMax},
  };
  for (const Range& each : ranges) {
    if (each.value >= each.low && each.value <= each.high) continue;
    return std::string(each.name) + " = " + std::to_string(each.value) + ": accepted is " +
           std::to_string(each.low) + " to " + std::to_string(each.high);
  }
  return {};
}

wire::Instance gap_max(const Options& options) {
  constexpr std::uint64_t kSpare = 4;  // a full ring of bytes has gaps
  const std::uint64_t held = options.history_bytes_max / options.packet_bytes_max;
  return std::clamp<std::uint64_t>(held, kSpare + 1, kSpare + options.max_gap) - kSpare;
}

std::vector<NodeId> default_acceptors(const std::vector<NodeId>& universe) {
  std::size_t count = universe.size();
  if (count > kFewAcceptors) count = count < kManyAcceptors ? kFewAcceptors : kManyAcceptors;
  return {universe.begin(), universe.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace peal::order::paxos
