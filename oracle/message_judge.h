// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "oracle/cycles.h"
#include "oracle/gap_judge.h"
#include "oracle/group_verdict.h"

namespace peal::oracle {

/// Judges messages to groups: G3, G6 and G7. G3: clients that went together from one view of a
/// group to the next delivered the same messages to the group between the two views. G7: the union
/// of all clients' delivery orders has no cycle. With GroupChecker::Options::companies, G7 holds
/// for each company. For messages without a place, G3 holds among the clients of one node, and G7
/// means that such a message comes after the earlier messages of its sender.
class MessageJudge {
 public:
  MessageJudge(GroupVerdict& verdict, GapJudge& gaps) : v_(verdict), gaps_(gaps) {}

  void sent(std::int64_t at, const GroupMessageId& id, std::span<const std::string> groups,
            std::uint64_t hash, OwnCopy own);
  void ordered(MemberId node, const GroupMessageId& id, Placing placing);
  void delivered(std::int64_t at, const ClientId& to, const GroupMessageId& id,
                 std::span<const std::string> groups, std::uint64_t hash);
  void check_stretch(Stretch& stretch, Index client, Deliveries messages, const std::string& where,
                     std::int64_t at);
  void finish_order();

 private:
  struct Follower {
    Index message = kNone;
    Index client = kNone;
  };

  void check_content(Index client, Index message, std::span<const std::string> groups,
                     std::uint64_t hash, std::int64_t at);
  bool collect(Index client, Index message);
  void check_stranger(Index client, Index message, std::int64_t at);
  void follow(Index client, Index message);
  void check_overtaken(Index client, Index message, std::int64_t at);
  void compare(CommonMessages& common, Index client, std::vector<Index> messages,
               const std::string& where, std::int64_t at);
  bool may_lack(Index client, Index message) const;
  std::vector<Step> find_cycle_in_companies() const;

  GroupVerdict& v_;
  GapJudge& gaps_;
  std::unordered_map<Index, Index> private_names_;  ///< by private name: the client with this name
  std::vector<Follower> next_;  ///< by message: the first successor seen at a client
  /// Successors that differ from the successor in `next_`; with Options::companies, all.
  std::vector<Edge> edges_;
};

}  // namespace peal::oracle
