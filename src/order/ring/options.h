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
#include "order/engine.h"
#include "order/field.h"
#include "wire/frames.h"

namespace peal::order::ring {

enum class PriorityMethod : std::uint8_t { aggressive = 1, careful = 2 };
enum class PrimaryRule : std::uint8_t { none, majority };

/// Tunables of the ring. The defaults suit a data centre; none needs to be set.
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

  std::uint32_t personal_window = 0;  ///< packets per visit; 0 tunes itself
  std::uint32_t global_window = 0;    ///< packets per rotation; 0 tunes itself
  std::uint32_t accelerated_window =
      kAutoWindow;                         ///< packets after the token; 0 is the original ring
  std::uint32_t max_gap = 4'096;           ///< packets between the safe line and a new packet
  std::uint32_t retransmit_max = 64;       ///< packets answered per visit
  std::uint32_t request_ranges_max = 64;   ///< request ranges added per visit
  std::uint32_t request_lag = 1;           ///< rotations before a missing packet is requested
  std::uint32_t idle_rounds = 3;           ///< idle rotations before the token is held
  std::uint32_t packet_bytes_max = 1'472;  ///< largest datagram; the view uses the members' least

  PriorityMethod priority = PriorityMethod::careful;
  PrimaryRule primary = PrimaryRule::none;

  static constexpr std::uint32_t kAutoWindow = 0xffff'ffff;
};

/// All options with their ranges and texts, in the order in which a person reads them. What is
/// `internal` is no key of the table [ring].
std::span<const Field<Options>> fields();
/// The same without their places in the struct.
std::span<const Option> all_options();

/// Checks each value against its range, and the rules between them; empty if all is well, else one
/// line that names the key, the value and what is accepted.
std::string validate(const Options& options);

/// How long the token of an idle view rests at most: the time grows from `hold` with every rotation
/// in which nothing happens. The rest of the token timeout is for tokens that get lost then.
Duration rest_max(const Options& options);

/// What one ring engine is made from.
struct Config {
  MemberId self{};
  std::vector<NodeId> universe;  ///< every configured node, sorted, self included; 1 to 128
  std::uint64_t list = 1;        ///< see NodeList::hash
  std::uint64_t cluster{};       ///< see wire::Header; equal on all nodes
  wire::Checksum checksum = wire::Checksum::present;  ///< of packets; equal on all nodes
  Options options;
  std::uint64_t seed{};  ///< of the jitter
  /// Where positions, hops, view numbers and JOIN numbers begin: 0, except in tests that begin near
  /// a power of two. Equal on all nodes, and far enough below wire::kCounterMax for what is to
  /// come.
  std::uint64_t first_count = 0;
};

/// `packets` is where the engine builds its own packets; slabs of at least 64 KiB are not needed:
/// a control frame that does not fit one slab is not sent, and counted. Slabs must hold
/// wire::kDataHeaderBytes of headroom in front of each unit that the host hands over.
std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host);

}  // namespace peal::order::ring
