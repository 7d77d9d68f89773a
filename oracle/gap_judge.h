// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "oracle/group_verdict.h"

namespace peal::oracle {

/// G8: in the exchange of a view, a node hears of messages that were ordered without it. If such
/// messages were for a client of the node, the client is notified of a gap. The client is notified
/// of no other gaps.
class GapJudge {
 public:
  explicit GapJudge(GroupVerdict& verdict) : v_(verdict) {}

  /// The node's number of absences (see Absence). A client that connects now is not notified of
  /// these absences.
  std::size_t absences_of(MemberId node) const {
    const auto at = nodes_.find(node);
    return at == nodes_.end() ? 0 : at->second.absences.size();
  }

  /// True if the node heard of the message, and never ordered it. With genuine multicast that may
  /// be a message of the node's own clients.
  bool is_gap(MemberId node, Index message) const;
  void ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
               std::span<const std::string> groups);
  void entered(MemberId node, const ViewId& view);
  void hear(MemberId node, const ViewId& view);
  void reached(std::int64_t at, const ClientId& id, const ViewId& view);
  void gapped(std::int64_t at, const ClientId& to, const std::string& group);
  void close_absences(Index client, std::int64_t at);
  void check_place(Index client, Index message, std::int64_t at);

 private:
  /// Messages that a node missed, and heard of in one exchange.
  struct Absence {
    ViewId view{};            ///< the view in which the node heard of the messages
    std::uint64_t ordered{};  ///< number of messages that the node had delivered before the gap
    std::set<Index> names;    ///< groups and private names to which the messages were sent
  };
  /// One incarnation of a node.
  struct Node {
    std::vector<std::uint64_t> known;                 ///< bits: messages delivered or heard of
    std::unordered_map<Index, std::uint64_t> places;  ///< by message: rank of its delivery, from 1
    std::vector<Absence> absences;
    bool started = false;  ///< the node has completed an exchange
    /// A view has begun, and its exchange is not complete. Messages that the node orders now come
    /// behind the gaps of that exchange.
    bool exchanges = false;
    std::uint64_t ordered_before = 0;  ///< number of messages ordered before that view
  };

  void come_past(GroupClient& record, const Node& node) const;
  bool must_be_told(Index client, Index name) const;
  void close_absence(Index client, std::size_t number, const Absence& absence, std::int64_t at);

  GroupVerdict& v_;
  std::map<MemberId, Node> nodes_;
  std::map<ViewId, std::vector<std::uint64_t>> known_in_;  ///< by view: messages known to its nodes
  std::vector<Index> ordered_for_;  ///< by message: index in GroupHistory::targets
};

}  // namespace peal::oracle
