// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/ring_queue.h"

namespace peal::io::fabric {

/// A peer that did what no peer of this release does, for the log of this process.
struct Offence {
  enum class Kind : std::uint8_t {
    rule,      ///< it broke a rule: its connection was ended
    memory,    ///< it gave memory that cannot be written safely: nothing is written there
    unmapped,  ///< its memory may be good, and this process could not map it
  };
  Kind kind = Kind::rule;
  MemberId peer{};   ///< node 0: it has not proved which node it is
  std::string from;  ///< where it is, if the node is 0
  std::string what;
};

/// The offences that the log has not said yet. An incarnation of a peer is in it once for each
/// reason, and for some reasons only, so neither a log nor the memory is filled by what a peer
/// repeats. All processes without proof count as one.
class Offences {
 public:
  static constexpr std::size_t kReasonsMax = 8;
  static constexpr std::size_t kWaitingMax = 256;

  void note(Offence offence);
  bool empty() const { return waiting_.empty(); }
  std::optional<Offence> take();

 private:
  struct Noted {
    std::uint64_t epoch{};  ///< of the latest incarnation that did something
    std::vector<std::string> reasons;
  };
  std::map<NodeId, Noted> noted_;  ///< nodes are peers, which are few
  RingQueue<Offence> waiting_;
};

}  // namespace peal::io::fabric
