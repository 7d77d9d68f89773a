// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sim/baselines/whitebox/packets.h"

namespace peal::sim::genuine::whitebox {

/// A message at a server.
struct Message {
  Head head;
  Body body;              ///< null: the unit is not here
  Proposals proposals{};  ///< of each domain, the one with the highest ballot
  Key stamp = 0;          ///< the own domain's, accepted in the current ballot; 0: none
  Key key = 0;            ///< 0: unknown
  bool asked = false;     ///< a sender outside its domains has asked this server for its key
  // At a leader:
  std::map<NodeId, Proposals> acks;
  Instant retry_at{};
  Duration wait{};
};

/// The messages of one incarnation of a sender, by their index for this domain.
struct Stream {
  std::uint64_t ordered = 0;   ///< number of messages in the order
  std::uint64_t accepted = 0;  ///< all messages up to this index have a stamp, or are in the order
  std::map<std::uint64_t, Message> open;  ///< not in the order yet
  std::deque<std::uint64_t> places;       ///< in the order, of the last messages up to `ordered`
};

/// What a server knows of its domain's messages: the order, of which it retains the end, and the
/// messages without a place.
class Store {
 public:
  /// Open messages of one stream: further ones are dropped, and sent again.
  static constexpr std::uint64_t kOpenMax = 4'096;

  Store(DomainId domain, std::uint64_t clock, std::uint32_t retain)
      : domain_(domain), clock_(clock), retain_(retain) {}

  DomainId domain() const { return domain_; }
  std::uint64_t clock() const { return clock_; }
  void raise(Key key) { clock_ = std::max(clock_, clock_of(key)); }
  Key next_stamp() { return stamp_of(++clock_, domain_); }
  bool is_far(Key key) const { return clock_of(key) > clock_ + kClockAhead; }

  std::map<MemberId, Stream>& streams() { return streams_; }
  const std::map<MemberId, Stream>& streams() const { return streams_; }
  Stream& stream_of(const Head& head) { return streams_[head.sender]; }
  std::uint64_t index_of(const Head& head) const { return head.index[domain_]; }
  /// The message, in the order or open; null if it is unknown here, or was not retained.
  Message* find(const Head& head);
  /// The message, which becomes known; null if it was not retained, or is too far ahead.
  Message* know(const Head& head);
  bool is_ordered(const Head& head) { return index_of(head) <= stream_of(head).ordered; }

  /// Forgets all stamps, then takes `base`: the messages that have stamps at the leader of
  /// `ballot`.
  void adopt(Ballot ballot, const std::vector<Message>& base);

  /// Number of messages in the order.
  std::uint64_t tip() const { return first_ + order_.size() - 1; }
  std::uint64_t first() const { return first_; }  ///< of the places retained
  const Message& at(std::uint64_t place) const { return order_[place - first_]; }
  /// The message gets the next place. It leaves the open messages.
  void append(Message message);
  std::uint64_t applied() const { return applied_; }
  void apply_one() { ++applied_; }
  /// Drops what is not to be retained. All messages behind the place `needed` are.
  void trim(std::uint64_t needed);
  std::size_t retained() const { return order_.size(); }
  std::uint32_t retain() const { return retain_; }

 private:
  DomainId domain_;
  std::uint64_t clock_;
  std::uint32_t retain_;
  std::map<MemberId, Stream> streams_;
  std::uint64_t first_ = 1;
  std::deque<Message> order_;
  std::uint64_t applied_ = 0;
};

}  // namespace peal::sim::genuine::whitebox
