// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/world/packet.h"

namespace peal::sim {

/// Every packet sent, in order, as lines for a person:
///
///   n1 data 1-2
///   n1 token > n2 seq=5 aru=0
///   n1 data 3-5 post
///
/// Consecutive new data packets of one node share a line.
class Transcript {
 public:
  void add(const Packet& packet);
  void clear();
  /// All lines up to now.
  std::vector<std::string> lines() const;

 private:
  void add_data(const Packet& packet);
  void close_run();
  std::string run_text() const;

  std::vector<std::string> lines_;
  std::string run_from_;  ///< sender of the current run of data packets
  std::string run_suffix_;
  std::uint64_t run_first_ = 0;
  std::uint64_t run_last_ = 0;
};

/// Describes the packet in one line.
std::string packet_text(const Packet& packet);

}  // namespace peal::sim
