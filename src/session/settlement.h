// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.h"
#include "base/ring_queue.h"
#include "wire/client.h"

namespace peal::session {

/// The messages that one client sent, and which of these messages are acknowledged. The client has
/// numbered the messages.
struct Account {
  std::uint64_t received = 0;  ///< number of the last message received
  std::uint64_t settled = 0;   ///< all messages up to this number are acknowledged
  std::uint64_t unsettled_messages = 0;
  std::uint64_t unsettled_bytes = 0;
  std::uint64_t last_entry = 0;  ///< place in Settlement of the client's last entry

  /// Consecutive messages that were refused for the same reason.
  struct Refusals {
    std::uint64_t first;
    std::uint64_t last;
    wire::ClientCode code;
  };
  std::deque<Refusals> refusals;  ///< refusals that the client may have missed
  /// The largest number of unacknowledged messages that the client was ever allowed.
  std::uint32_t window = 0;
  void note_refusal(std::uint64_t number, wire::ClientCode code);
};

/// Clients' messages that were submitted to the node, in order, until they are acknowledged. A
/// message is acknowledged when it was delivered here and every daemon of the view has it. A daemon
/// knows in two cases that all daemons have a message. First, when the daemon delivers a safe
/// message of its own, all daemons have the messages that this daemon submitted earlier. Second,
/// when the view ends, all members that move together to the next view have delivered the same
/// messages.
class Settlement {
 public:
  struct Entry {
    std::uint64_t number{};   ///< as returned by Host::submit()
    std::uint32_t session{};  ///< 0: the entry is a marker
    /// Number of the client's message, or of the last refused message behind it.
    std::uint64_t up_to{};
    std::uint32_t bytes{};
    bool safe{};
  };

  /// Returns the entry's place, for extend().
  std::uint64_t add(const Entry& entry);
  /// Makes the entry at `place` also acknowledge the refused messages up to number `up_to`. The
  /// entry must not be acknowledged yet.
  void extend(std::uint64_t place, std::uint64_t up_to);
  /// Call when message `number` of this node was delivered. Returns true if this delivery
  /// acknowledges all delivered entries.
  bool came_back(std::uint64_t number);
  /// True if delivered entries wait to be acknowledged and no safe message is under way that will
  /// acknowledge them.
  bool needs_marker() const { return back_ > settled_ && safe_under_way_ == 0; }

  /// Acknowledges every delivered entry: removes the entry, and calls `each` for it.
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
  std::uint64_t added_ = 0;    ///< number of entries added so far
  std::uint64_t back_ = 0;     ///< number of delivered entries so far
  std::uint64_t settled_ = 0;  ///< number of acknowledged entries so far
  std::uint64_t safe_under_way_ = 0;
};

}  // namespace peal::session
