// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "base/hooks.h"
#include "order/field.h"
#include "sim/baselines/whitebox/store.h"

// What the classes of a server share.

namespace peal::sim::genuine::whitebox {

struct Options {
  Duration beat = milliseconds(5);
  Duration suspect = milliseconds(100);
  Duration retry = milliseconds(20);
  std::uint32_t window = 64;
  std::uint32_t retain = 65'536;
  std::uint32_t packet_bytes_max = 1'400;
  std::uint32_t max_gap = 1'024;
};

/// The ballots of a server.
struct Rounds {
  Ballot promised = 0;
  Ballot current = 0;    ///< the state here is the one of this ballot; 0: no view yet
  bool leading = false;  ///< this server leads in `current`, whose state a majority has

  /// The server takes part in `current`: it has not promised another ballot.
  bool in_step() const { return current != 0 && promised == current; }
};

/// What a server heard of another server of its domain.
struct Peer {
  std::optional<Instant> heard;
  Beat said;
};

/// Who is heard.
class Hearing {
 public:
  Hearing(const Roster& roster, Duration suspect) : roster_(roster), suspect_(suspect) {
    for (const NodeId node : roster.nodes()) peers_[node];
  }
  bool is_live(Instant now, NodeId node) const {
    const Peer& peer = peers_.at(node);
    return peer.heard && now - *peer.heard < suspect_;
  }
  void hear(Instant now, NodeId node, Beat said) { peers_[node] = {now, std::move(said)}; }
  /// This process did not run: silence until now means nothing.
  void excuse_all(Instant now) {
    for (auto& [node, peer] : peers_) {
      if (peer.heard) peer.heard = now;
    }
  }
  const std::map<NodeId, Peer>& peers() const { return peers_; }
  const Peer& peer(NodeId node) const { return peers_.at(node); }
  /// Number of servers that are heard, and this one.
  std::size_t live_count(Instant now, NodeId self) const {
    std::size_t count = 1;
    for (const auto& [node, peer] : peers_) count += node != self && is_live(now, node) ? 1U : 0U;
    return count;
  }
  const Roster& roster() const { return roster_; }

 private:
  const Roster& roster_;
  Duration suspect_;
  std::map<NodeId, Peer> peers_;
};

struct Parts {
  const Layout& layout;
  const Options& options;
  Post& post;
  Roster& roster;
  Store& store;
  Rounds& rounds;
  Hearing& hearing;

  DomainId domain() const { return store.domain(); }
  NodeId self() const { return post.self().node; }
  std::size_t majority() const { return layout.majority(domain()); }
  template <class Packet>
  void send(order::Effects& out, NodeId to, Kind kind, Lane lane, const Packet& packet) const {
    post.send(out, to, number(kind), lane, [&](wire::Writer& in) { write(in, packet); });
  }
  /// A sender outside the message's domains learns its key by this.
  void reply(order::Effects& out, const Message& message) const {
    const NodeId sender = message.head.sender.node;
    if (message.head.to.has(layout.domain_of(sender))) return;
    const Reply packet{message.head.sender, message.head.number, message.key};
    send(out, sender, Kind::reply, Lane::control, packet);
  }
  /// Calls visit(node) for the servers of the domain other than this one.
  template <class Visit>
  void for_others(Visit visit) const {
    for (const NodeId node : roster.nodes()) {
      if (node != self()) visit(node);
    }
  }
};

}  // namespace peal::sim::genuine::whitebox
