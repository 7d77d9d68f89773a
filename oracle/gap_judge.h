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

/// G8: clients are told of the messages that were ordered where their node was not, once any node
/// that is in a view with theirs knows of them; and of nothing else.
class GapJudge {
 public:
  explicit GapJudge(GroupVerdict& verdict) : v_(verdict) {}

  /// How many absences the node has heard of, which a client that connects now is not told of.
  std::size_t absences_of(MemberId node) const {
    const auto at = nodes_.find(node);
    return at == nodes_.end() ? 0 : at->second.absences.size();
  }

  void ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
               std::span<const std::string> groups);
  void entered(MemberId node, const ViewId& view);
  void hear(MemberId node, const ViewId& view);
  void reached(std::int64_t at, const ClientId& id, const ViewId& view);
  void gapped(std::int64_t at, const ClientId& to, const std::string& group);
  void close_absences(Index client, std::int64_t at);
  void check_place(Index client, Index message, std::int64_t at);

 private:
  /// A node heard of messages that it had missed.
  struct Absence {
    ViewId view{};            ///< where it did
    std::uint64_t ordered{};  ///< messages that it had got so far as before
    std::set<Index> names;    ///< groups and private names that they were for
  };
  /// One incarnation of a node.
  struct Node {
    std::vector<std::uint64_t> known;                 ///< bits: messages that it got, or heard of
    std::unordered_map<Index, std::uint64_t> places;  ///< of those that it got, from 1
    std::vector<Absence> absences;
    bool started = false;  ///< completed an exchange
  };

  void come_past(GroupClient& record, const Node& node) const;
  bool must_be_told(Index client, Index name) const;
  void close_absence(Index client, std::size_t number, const Absence& absence, std::int64_t at);

  GroupVerdict& v_;
  std::map<MemberId, Node> nodes_;
  std::map<ViewId, std::vector<std::uint64_t>> known_in_;  ///< bits, by view: to who came there
  std::vector<Index> ordered_for_;                         ///< targets, by message
};

}  // namespace peal::oracle
