// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/common_options.h"
#include "order/engine.h"
#include "order/field.h"
#include "wire/frames.h"

namespace peal::order::ring {

enum class PriorityMethod : std::uint8_t { aggressive = 1, careful = 2 };
/// The options of the ring. The defaults suit a data centre, so users need to set none of them.
struct Options {
  Duration token_loss = milliseconds(220);
  Duration token_retransmit = milliseconds(20);
  Duration hold = milliseconds(8);
  Duration join = milliseconds(25);
  Duration consensus = milliseconds(220);
  Duration probe = milliseconds(500);
  Duration recovery_guard = seconds(5);
  Duration stall = milliseconds(500);
  Duration damping = milliseconds(500);
  Duration damping_max = seconds(10);

  std::uint32_t personal_window = 0;  ///< packets per visit; 0 means automatic
  std::uint32_t global_window = 0;    ///< packets per rotation; 0 means automatic
  std::uint32_t accelerated_window =
      kAutoWindow;  ///< packets after the token; 0 is the original ring
  /// Maximum distance of a new packet from the position up to which all members have all packets.
  std::uint32_t max_gap = 4'096;
  std::uint32_t retransmit_max = 64;      ///< retransmissions per visit
  std::uint32_t request_ranges_max = 64;  ///< request ranges added per visit
  std::uint32_t request_lag = 1;          ///< rotations before a missing packet is requested
  std::uint32_t idle_rounds = 3;          ///< idle rotations before the token rests
  /// Size of the largest datagram. A view uses the minimum of its members' values.
  std::uint32_t packet_bytes_max = 1'472;

  PriorityMethod priority = PriorityMethod::careful;
  PrimaryRule primary = PrimaryRule::none;

  static constexpr std::uint32_t kAutoWindow = 0xffff'ffff;
};

/// All options with their ranges and texts, in the order in which documentation lists them.
/// `internal` options are for tests and the simulator only.
std::span<const Field<Options>> fields();
/// The same options without the mapping to the struct.
std::span<const Option> all_options();

/// Checks each value against its range, and the rules between values. Empty if all values are
/// accepted; otherwise one line that names the key, the value and the accepted range.
std::string validate(const Options& options);

/// The longest time for which the token of an idle view rests. This time begins with `hold`, and
/// grows with every idle rotation. The limit is below the token timeout, so that time remains for
/// retransmissions if the token is lost.
Duration rest_max(const Options& options);

/// The arguments of a ring engine.
struct Config {
  MemberId self{};
  std::vector<NodeId> universe;  ///< all configured nodes, sorted, including this node; 1 to 128
  std::uint64_t list = 1;        ///< see NodeList::hash
  std::uint64_t cluster{};       ///< see wire::Header; equal on all nodes
  /// Whether packets carry a checksum; equal on all nodes.
  wire::Checksum checksum = wire::Checksum::present;
  Options options;
  std::uint64_t seed{};  ///< for the jitter of timers
  /// Positions, hops, view numbers and JOIN numbers begin after this number. It is 0, except in
  /// tests of numbers near a power of two. Equal on all nodes. It is so far below wire::kCounterMax
  /// that no number reaches that limit.
  std::uint64_t first_count = 0;
};

/// The engine builds retransmissions in `packets`, whose slabs must have at least
/// Options::packet_bytes_max bytes. Each unit that the host hands over must have
/// wire::kDataHeaderBytes free bytes in front of it.
std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host);

}  // namespace peal::order::ring
