// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/time.h"
#include "order/descriptor.h"
#include "order/field.h"
#include "order/setup.h"

namespace peal::order::ramcast {

/// Tunables of RamCast. The defaults suit processes of one host, or of one rack with RDMA.
struct Options {
  std::uint32_t slots = 64;  ///< messages that one node may have under way
  std::uint32_t log_bytes = 1U << 18;
  std::uint32_t inline_bytes = 1'024;  ///< larger units do not travel in the leader's log
  bool fast = true;   ///< a completed write to a majority commits a message to one domain
  bool lazy = false;  ///< followers learn the keys of messages to one domain from the log
  Needs::Fabric fabric = Needs::Fabric::automatic;
  Needs::Polls poll = Needs::Polls::adaptive;
  bool verbs_in_clear = false;
  Duration beat = milliseconds(1);
  Duration suspect = milliseconds(30);
  Duration repair = milliseconds(2);
  std::uint32_t packet_bytes_max = 1'472;

  // Times that follow from the others.
  Duration hello() const { return beat * 5; }
  Duration takeover() const { return suspect / 4; }  ///< until an answer is asked for again
  Duration exclude() const { return suspect * 2; }   ///< silence after which a view excludes
  /// Delivered messages that a member keeps behind what its slots have, until it knows that all
  /// members have delivered them.
  std::size_t overwritten_max(std::size_t nodes) const { return 2 * nodes * slots; }
};

Options options_of(const OptionValues& values);
/// All options with their ranges and texts, in the order in which documentation lists them.
std::span<const Field<Options>> fields();
/// The same options without the mapping to the struct.
std::span<const Option> all_options();
/// Checks each value against its range. Empty if all is well; else one line that names the key, the
/// value and the accepted range.
std::string validate(const Options& options);

}  // namespace peal::order::ramcast
