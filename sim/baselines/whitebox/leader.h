// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "sim/baselines/whitebox/parts.h"

namespace peal::sim::genuine::whitebox {

/// What a server does while it leads its domain: proposes stamps, learns keys from
/// acknowledgements, and gives messages their places.
class Leader {
 public:
  explicit Leader(const Parts& parts) : p_(parts) {}

  /// The server has become the leader: proposes again what may have been acknowledged.
  void begin(Instant now, order::Effects& out);
  /// A unit of this stream has arrived.
  void propose(Instant now, Stream& stream, order::Effects& out);
  /// Proposes what waited until other messages were delivered.
  void propose_all(Instant now, order::Effects& out);
  /// A sender or another leader asks for this message.
  void answer(const Message& message, order::Effects& out) const;
  void on_ack(Instant now, const MemberId& from, const Ack& ack, order::Effects& out);
  /// Sends again what has waited for acknowledgements for long.
  void retry(Instant now, order::Effects& out);
  /// Number of messages with a stamp and without a place.
  std::size_t open_count() const { return stamps_.size() + keys_.size(); }
  /// The message with the lowest stamp that has no key; null if there is none.
  const Message* oldest() const;

 private:
  /// A key or stamp, and the message: its sender, and its index.
  using Place = std::pair<Key, std::pair<MemberId, std::uint64_t>>;

  Place place_of(Key key, const Message& message) const {
    return {key, {message.head.sender, p_.store.index_of(message.head)}};
  }
  bool may_propose(Instant now) const;
  void send_accepts(const Message& message, bool all, order::Effects& out) const;
  bool has_acked(const Message& message, NodeId node) const;
  bool is_settled(const Message& message, const Proposals& proposals) const;
  void order(Instant now, const Place& last, order::Effects& out);
  void place(Message& message, order::Effects& out);

  const Parts& p_;
  std::set<Place> stamps_;  ///< of messages without a key
  std::set<Place> keys_;    ///< of messages without a place
};

}  // namespace peal::sim::genuine::whitebox
