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

/// G8: in the exchange of a view, a node hears of messages that were ordered without it. Its
/// clients are then notified of gaps in place of the messages to them, and of no other gaps.
class GapJudge {
 public:
  explicit GapJudge(GroupVerdict& verdict) : v_(verdict) {}

  /// How many absences the node has heard of. A client that connects now is not notified of them.
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
  /// Messages that a node missed, and heard of in one exchange.
  struct Absence {
    ViewId view{};            ///< the view in which the node heard of the messages
    std::uint64_t ordered{};  ///< how many messages the node had got before
    std::set<Index> names;    ///< groups and private names to which the messages were sent
  };
  /// One incarnation of a node.
  struct Node {
    std::vector<std::uint64_t> known;                 ///< bits: messages delivered or heard of
    std::unordered_map<Index, std::uint64_t> places;  ///< delivered messages: rank of each, from 1
    std::vector<Absence> absences;
    bool started = false;  ///< has completed an exchange
  };

  void come_past(GroupClient& record, const Node& node) const;
  bool must_be_told(Index client, Index name) const;
  void close_absence(Index client, std::size_t number, const Absence& absence, std::int64_t at);

  GroupVerdict& v_;
  std::map<MemberId, Node> nodes_;
  std::map<ViewId, std::vector<std::uint64_t>> known_in_;  ///< by view: messages known to its nodes
  std::vector<Index> ordered_for_;  ///< by message: element of GroupHistory::targets
};

}  // namespace peal::oracle
