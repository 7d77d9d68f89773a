// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.h"
#include "base/ring_queue.h"
#include "wire/client.h"

namespace peal::session {

/// What one client sent, and what became of it. Numbers are the client's.
struct Account {
  std::uint64_t received = 0;  ///< the last message that came
  std::uint64_t settled = 0;   ///< up to this one all are settled
  std::uint64_t unsettled_messages = 0;
  std::uint64_t unsettled_bytes = 0;
  std::uint64_t last_entry = 0;  ///< in Settlement, of the last message that is not settled

  /// Messages that were refused for one reason, one after the other.
  struct Refusals {
    std::uint64_t first;
    std::uint64_t last;
    wire::ClientCode code;
  };
  std::deque<Refusals> refusals;  ///< that the client may not have been told yet
  /// The most messages that the client was ever allowed to have unsettled.
  std::uint32_t window = 0;
  void note_refusal(std::uint64_t number, wire::ClientCode code);
};

/// The messages of clients that the node was given, in their order, until they are settled. A
/// message is settled when it came back at its place and every daemon of the view has it. A daemon
/// knows that of all it sent before a safe message of its own, once that is back; and of all that
/// came back, when the view ends: whoever goes on to the next one together has delivered the same.
class Settlement {
 public:
  struct Entry {
    std::uint64_t number{};   ///< what the node gave it
    std::uint32_t session{};  ///< 0: a marker
    std::uint64_t up_to{};    ///< the client's number, or that of refusals right behind it
    std::uint32_t bytes{};
    bool safe{};
  };

  /// Returns the entry's place, for extend().
  std::uint64_t add(const Entry& entry);
  /// The message at that place, which is not settled, also stands for refusals up to a number.
  void extend(std::uint64_t place, std::uint64_t up_to);
  /// Own message `number` came back. True if it settles all before it, and itself.
  bool came_back(std::uint64_t number);
  /// True if something came back that nothing under way will settle.
  bool needs_marker() const { return back_ > settled_ && safe_under_way_ == 0; }

  /// Calls `each` for every entry that came back and is not settled, which it then is.
  template <class Each>
  void settle(Each each) {
    for (; settled_ < back_; ++settled_) {
      const Entry entry = entries_.front();
      entries_.pop_front();
      each(entry);
    }
  }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  bool is_open(std::uint64_t place) const { return place > settled_; }

 private:
  RingQueue<Entry> entries_;
  std::uint64_t added_ = 0;    ///< entries, ever
  std::uint64_t back_ = 0;     ///< of these, those that came back
  std::uint64_t settled_ = 0;  ///< and were settled
  std::uint64_t safe_under_way_ = 0;
};

}  // namespace peal::session
