// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "sim/baselines/whitebox/parts.h"

namespace peal::sim::genuine::whitebox {

/// What every server does: acknowledges the proposals for a message once it has those of all its
/// domains, and follows the order of its leader.
class Follower {
 public:
  explicit Follower(const Parts& parts) : p_(parts) {}

  void on_accept(const MemberId& from, const Accept& accept, order::Effects& out);
  void on_deliver(Instant now, const MemberId& from, const Deliver& deliver, order::Effects& out);
  void on_entry(Instant now, const MemberId& from, const Entry& entry, order::Effects& out);
  void on_fetch(NodeId from, std::uint64_t after, order::Effects& out) const;
  /// Acknowledges what it has, after it has taken the state of another leader.
  void acknowledge_all(order::Effects& out);
  /// Another server's order has so many messages.
  void told(std::uint64_t tip) { told_ = std::max(told_, tip); }
  /// Requests what is missing in the order.
  void tick(Instant now, order::Effects& out);
  bool lags() const { return told_ > p_.store.tip(); }

 private:
  /// A message with its place.
  struct Placed {
    Head head;
    Key stamp = 0;
    Key key = 0;
    Body body;  ///< null if the leader only named the message
  };
  static constexpr std::size_t kEarlyMax = 1'024;
  static constexpr std::uint64_t kEntriesMax = 32;

  void take(Stream& stream, order::Effects& out);
  bool may_acknowledge() const;
  void acknowledge(Message& message, order::Effects& out);
  bool place(const Placed& next, order::Effects& out);
  void place_early(order::Effects& out);
  bool has_room() const;
  void fetch(Instant now, order::Effects& out);

  const Parts& p_;
  std::uint64_t told_ = 0;                 ///< the largest number of messages of any server
  std::map<std::uint64_t, Placed> early_;  ///< by place: an earlier one is missing
  Instant fetch_at_{};
  std::optional<std::uint64_t> fetched_from_;  ///< the last request: what follows this place
  std::size_t asked_ = 0;                      ///< number of requests, to ask servers in turn
};

}  // namespace peal::sim::genuine::whitebox
