// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges E9, and the parts of E3, E6 and E7 about submissions and originations.
class OriginJudge {
 public:
  explicit OriginJudge(Verdict& verdict) : v_(verdict) {}

  void submit(Index member, const trace::Event& event);
  void originate(Index member, const trace::Event& event);
  /// E6: a member's messages are originated in the order of their numbers, and no submitted message
  /// is skipped. `event` originates `message`, or delivers it before its sender originates it. With
  /// Options::genuine, AcrossJudge judges this.
  void check_submitted(Index member, Index message, const trace::Event& event);
  void check_order(Index message, const trace::Event& event);
  /// Adds `message` to View::order of `view`. E7: a position has one message. With
  /// Options::companies: only notes the first known place.
  void place(Index message, View& view, const trace::Event& event);
  /// E7, with Options::companies: fifo and causal messages, and only these, have position 0.
  void check_has_place(Index member, Index message, const trace::Event& event);
  /// E9: no member originates before all members have installed the view.
  void check_barrier(Index message, Index in, const trace::Event& event);

 private:
  /// Submitted messages that the order of originations may skip.
  enum class Skips : std::uint8_t { no_message, messages_with_delivery };
  void check_own_order(Index message, const trace::Event& event);
  void check_sequence(Index message, const trace::Event& event, std::uint64_t& last, Skips skips);
  void confirm(Index member, Index message, const trace::Event& event);

  Verdict& v_;
};

}  // namespace peal::oracle
