// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "oracle/history_judge.h"

namespace peal::oracle {

/// Passes the events of processes without a common clock to the judge, in a causally possible
/// order: each process's own order is kept, and a delivery waits for the origination of its
/// message. Memory grows with the number of waiting events. Few events wait if events arrive
/// roughly in real-time order.
class CausalOrder {
 public:
  CausalOrder(HistoryJudge& judge, const Options& options) : judge_(judge), options_(options) {}

  void add(const trace::Event& event);
  /// Passes on the events that still wait: deliveries without an origination, and cycles.
  void finish();

 private:
  struct Queue {
    std::deque<trace::Event> events;
    Index waits_for = kNone;  ///< the message whose origination the member waits for
  };

  bool must_wait(Index member, const trace::Event& event);
  void hand_over(const trace::Event& event);
  void wake(Index message);
  void run();
  void drain(Queue& queue, Index member);
  Index next_to_release() const;
  bool announces(const trace::Event& event) const;
  bool in_a_queue(Index message) const;

  HistoryJudge& judge_;
  Options options_;
  std::vector<Queue> queues_;                              ///< by member
  std::unordered_map<Index, std::vector<Index>> waiters_;  ///< by message
  std::unordered_map<Index, std::uint32_t> queued_;  ///< waiting events that announce the message
  std::vector<Index> runnable_;                      ///< members that no longer wait
};

}  // namespace peal::oracle
