// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "node/node.h"

namespace peal::node {
namespace {

constexpr std::uint64_t kRingBytesMin = 4'096;
constexpr std::uint64_t kSmallPerRing = 16;
constexpr std::uint64_t kSmallBytesMax = 64 * 1'024;

}  // namespace

std::uint64_t small_ring_bytes(const Limits& limits) {
  return std::max(kRingBytesMin, std::min(limits.submit_small_bytes_max, limits.submit_bytes_max));
}

std::uint32_t small_message_bytes_max(std::uint64_t ring_bytes) {
  return static_cast<std::uint32_t>(std::min(kSmallBytesMax, ring_bytes / kSmallPerRing));
}

std::string validate(const Limits& limits, std::uint32_t nodes) {
  const auto complain = [](std::string_view key, std::uint64_t value, const std::string& accepted) {
    return std::string(key) + " is " + std::to_string(value) + "; accepted is " + accepted;
  };
  if (limits.message_bytes_max < 1 || limits.message_bytes_max > (1U << 30)) {
    return complain("message_bytes_max", limits.message_bytes_max, "1 to 1073741824");
  }
  if (limits.control_bytes_max > (1U << 30)) {
    return complain("control_bytes_max", limits.control_bytes_max, "0 to 1073741824");
  }
  if (limits.submit_messages_max < 1 || limits.submit_messages_max > (1U << 24)) {
    return complain("submit_messages_max", limits.submit_messages_max, "1 to 16777216");
  }
  if (limits.submit_bytes_max < limits.message_bytes_max) {
    return complain(
        "submit_bytes_max", limits.submit_bytes_max,
        "at least message_bytes_max, which is " + std::to_string(limits.message_bytes_max));
  }
  if (limits.submit_small_bytes_max < kRingBytesMin) {
    return complain("submit_small_bytes_max", limits.submit_small_bytes_max, "at least 4096");
  }
  const std::uint64_t worst = std::uint64_t{longest_message_bytes(limits)} * nodes;
  if (limits.reassembly_bytes_max < worst) {
    return complain(
        "reassembly_bytes_max", limits.reassembly_bytes_max,
        "at least message_bytes_max times the number of nodes, which is " + std::to_string(worst));
  }
  return {};
}

}  // namespace peal::node
