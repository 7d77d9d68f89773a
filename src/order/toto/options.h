// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/common_options.h"
#include "order/engine.h"
#include "order/field.h"
#include "order/toto/total_order.h"
#include "wire/frames.h"

namespace peal::order::toto {

/// Tunables of ToTo. The defaults suit a data centre; none needs to be set.
struct Options {
  std::uint32_t win = 500;  ///< thousandths of the members; see win_of()
  Rule delivery = Rule::toto;
  std::uint32_t ack_rate = 20'000;  ///< acknowledgements per second at most
  bool acks = true;  ///< false: none, as in the paper; the order then advances only with
                     ///< messages
  Duration fault = milliseconds(300);
  std::uint32_t window = 128;
  Duration lacks = milliseconds(1);
  std::uint32_t packet_bytes_max = 1'472;
  PrimaryRule primary = PrimaryRule::none;

  /// Nodes of one origin that a member stores; a power of two. Members learn at different times
  /// what is stable, so it is twice the window, and space for some control nodes.
  std::uint32_t capacity() const { return std::bit_ceil(2 * window + 64); }

  // The membership's times follow from `fault`.
  Duration resend() const { return fault / 12; }
  Duration join() const { return fault / 10; }
  Duration consensus() const { return fault; }
  Duration status() const { return fault / 6; }
  Duration probe() const { return fault / 2; }
  Duration guard() const { return fault * 2; }
  Duration damping() const { return fault / 2; }
  Duration damping_max() const { return fault * 4; }
};

/// W in a view of `members`: a unit that so many members vote for cannot be beaten any more.
constexpr Index win_of(std::uint32_t win, std::size_t members) {
  const std::size_t share = (std::size_t{win} * members + 999) / 1'000;
  const std::size_t majority = members / 2 + 1;
  return static_cast<Index>(share > majority ? share : majority);
}

/// All options with their ranges and texts, in the order in which documentation lists them.
std::span<const Field<Options>> fields();
/// The same options without the mapping to the struct.
std::span<const Option> all_options();

/// Checks each value against its range. Empty if all is well; else one line that names the key, the
/// value and the accepted range.
std::string validate(const Options& options);

/// The arguments of a ToTo engine.
struct Config {
  MemberId self{};
  std::vector<NodeId> universe;  ///< every configured node, sorted, this one included; 1 to 128
  std::uint64_t list = 1;        ///< see NodeList::hash
  std::uint64_t cluster{};       ///< see wire::Header; equal on all nodes
  wire::Checksum checksum = wire::Checksum::present;  ///< whether packets carry one; equal on all
                                                      ///< nodes
  Options options;
  std::uint64_t seed{};  ///< for the jitter
  /// Node numbers, hops, view numbers and JOIN numbers begin after this; see ring::Config.
  std::uint64_t first_count = 0;
};

/// The engine builds control nodes and retransmissions in `packets`, whose slabs must have at least
/// Options::packet_bytes_max bytes. Each unit that the host hands over must have
/// wire::kUnitHeadroomBytes free bytes in front of it.
std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host);

}  // namespace peal::order::toto
