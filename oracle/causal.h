// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "oracle/history_judge.h"

namespace peal::oracle {

/// Passes events to the judge in a causally possible order, for processes without a common clock.
/// Each process's own order is kept. A delivery waits for the origination of its message. With
/// Options::companies, it waits for the submission, and until the sender has installed the view:
/// two members may each originate a message after they deliver the other's message. With
/// Options::genuine, it waits for the submission, since the sender may be in no view. Memory grows
/// with the number of waiting events. Few events wait if events arrive roughly in real-time order.
class CausalOrder {
 public:
  CausalOrder(HistoryJudge& judge, const Options& options) : judge_(judge), options_(options) {}

  void add(const trace::Event& event);
  /// Passes on the events that still wait because their originations never come, or because the
  /// waits form a cycle.
  void finish();

 private:
  struct Queue {
    std::deque<trace::Event> events;
    Index waits_for = kNone;  ///< the message that the member's next event delivers
  };

  bool must_wait(Index member, const trace::Event& event);
  bool can_be_judged(Index message, const trace::Event& event);
  void hand_over(const trace::Event& event);
  void wake(Index message);
  void wake_all();
  void run();
  void drain(Queue& queue, Index member);
  Index next_to_release() const;
  bool announces(const trace::Event& event) const;
  bool in_a_queue(Index message) const;

  HistoryJudge& judge_;
  Options options_;
  std::vector<Queue> queues_;                              ///< by member
  std::unordered_map<Index, std::vector<Index>> waiters_;  ///< by message: members that wait for it
  std::unordered_map<Index, std::uint32_t> queued_;  ///< by message: queued events that announce it
  std::vector<Index> runnable_;                      ///< members that no longer wait
};

}  // namespace peal::oracle
