// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "order/ring/flow_control.h"
#include "order/ring/parts.h"
#include "order/ring/recovery.h"
#include "order/ring/view_packets.h"

namespace peal::order::ring {

/// Writes this member's requests for missing packets on the token, and answers the requests of
/// other members.
class Requests {
 public:
  /// The token's seq of this number of last rotations is stored.
  static constexpr std::size_t kHistory = 8;

  Requests(const Parts& parts, ViewPackets& view, const Recovery& recovery, FlowControl& flow,
           Seq first)
      : p_(parts), view_(view), recovery_(recovery), flow_(flow), first_(first) {
    begin_view();
  }

  void on_visit();
  void begin_view();
  /// Retransmits requested packets. Returns their number.
  std::uint32_t answer_in_view(Effects& out);
  void answer_in_recovery(Effects& out);
  /// Requests packets that should have arrived by now. Returns the number of positions that this
  /// member requests for the first time.
  std::uint32_t add_in_view();
  void add_in_recovery();
  /// The time for which this member delays the token. It is above 0 only at the representative, if
  /// the token has carried the same unanswered requests for many rotations. Then a fast token would
  /// only add load.
  Duration pace();

  void check_invariants() const;

 private:
  wire::RequestSection* section_of(const ViewId& view);
  template <class Settled>
  std::uint32_t answer(wire::RequestSection& section, Settled settled, Effects& out);
  bool may_answer(const Packet& packet) const;
  void retransmit(Packet& packet, Effects& out);
  template <class NextMissing>
  std::uint32_t merge(const ViewId& view, NextMissing next_missing);

  Parts p_;
  ViewPackets& view_;
  const Recovery& recovery_;
  FlowControl& flow_;
  const Seq first_;
  std::array<Seq, kHistory> seq_history_{};  ///< token.seq as received; [0] is this rotation
  Seq requested_high_{};                     ///< highest position that this member ever requested
  // state of pace()
  std::uint64_t request_digest_ = 0;
  std::uint32_t same_requests_ = 0;
};

}  // namespace peal::order::ring
