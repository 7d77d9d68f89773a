// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include "sim/baselines/literal/links.h"
#include "sim/baselines/literal/store.h"
#include "sim/baselines/roster.h"

// What the classes of a server share.

namespace peal::sim::genuine::literal {

/// How a server stands towards the rounds of its domain.
struct Standing {
  Round promised = 0;
  Round current = 0;    ///< this server has what the round began with; 0: no view yet
  bool leads = false;   ///< it is the round's leader
  bool active = false;  ///< a majority has what the round began with: this server may deliver
  Key delivered = 0;    ///< the largest key delivered here

  bool in_step() const { return current != 0 && promised == current; }
};

struct Beat {
  std::vector<MemberId> members;  ///< of the domain; empty: not known yet
  Round promised = 0;
  Round current = 0;
  bool leading = false;  ///< the sender leads in `current`, and is active
  Key delivered = 0;
};

/// What a server heard of another one of its domain.
struct Peer {
  std::optional<Instant> heard;
  Beat said;
};

struct Parts {
  const Layout& layout;
  const Options& options;
  const Places& places;
  Post& post;
  Links& links;
  Roster& roster;
  Store& store;
  Standing& standing;
  std::map<NodeId, Peer>& peers;

  DomainId domain() const { return store.domain(); }
  NodeId self() const { return post.self().node; }
  std::size_t majority() const { return layout.majority(domain()); }
  bool is_live(Instant now, NodeId node, Duration silence) const {
    const auto peer = peers.find(node);
    return peer != peers.end() && peer->second.heard && now - *peer->second.heard < silence;
  }
  /// The incarnation of a server of this domain.
  MemberId member(NodeId node) const {
    for (const MemberId& each : roster.members()) {
      if (each.node == node) return each;
    }
    return {};
  }
  template <class Visit>
  void for_others(Visit visit) const {
    for (const NodeId node : roster.nodes()) {
      if (node != self()) visit(node);
    }
  }
  /// Calls visit(node, domain) for all servers of the message's domains.
  template <class Visit>
  void for_servers(const Head& head, Visit visit) const {
    for (const DomainId domain : head.to) {
      for (const NodeId node : layout.nodes(domain)) visit(node, domain);
    }
  }
  /// The name of the message for a server of `domain`.
  static Name name_for(const Head& head, DomainId domain) {
    return {head.sender, head.number, head.index[domain]};
  }
};

}  // namespace peal::sim::genuine::literal
