// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "order/toto/parts.h"

namespace peal::order::toto {

/// Requests nodes that this member lacks, and sends nodes that others lack (README.md (g)).
class Repair {
 public:
  explicit Repair(const Parts& parts) : p_(parts) {}

  void begin_view();
  /// Looks for gaps, and arms the timer of their requests.
  void look(Instant now);
  /// Requests what is overdue.
  void on_timer(Instant now, Effects& out);
  /// The old view is being repaired: requests everything that is missing from `whom`.
  void request_all(const MemberId& whom, Effects& out);
  /// Sends the requested nodes that are here to `from`.
  void answer(const MemberId& from, const wire::TotoLacks& lacks, Effects& out);

 private:
  /// The requests for nodes of one origin.
  struct Gap {
    bool open = false;
    std::uint32_t tries = 0;
    Seq joined{};   ///< CausalGraph::joined() when the gap was last looked at
    Instant due{};  ///< of the next request
  };
  Index target(Index origin, std::uint32_t tries) const;
  void request(const MemberId& whom, const MemberBits& origins, Effects& out);
  bool retransmit(NodeRef node, const MemberId& to, Effects& out);

  Parts p_;
  std::vector<Gap> gaps_;           // by origin
  std::vector<MemberBits> wanted_;  // by member: origins whose nodes it is asked for
  wire::Node sending_;
};

}  // namespace peal::order::toto
