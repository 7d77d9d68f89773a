// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/gap_judge.h"
#include "oracle/group_verdict.h"
#include "oracle/message_judge.h"

namespace peal::oracle {

/// Judges the connections of clients, and the views of their groups: G2, G4, and G6 except for
/// messages. With GroupChecker::Options::companies, nodes that leave a view apart may give one id
/// to different states, so G2 is judged at the end.
class GroupViewJudge {
 public:
  GroupViewJudge(GroupVerdict& verdict, GapJudge& gaps, MessageJudge& messages)
      : v_(verdict), gaps_(gaps), messages_(messages) {}

  void connected(std::int64_t at, const ClientId& id, std::string_view private_name);
  void gone(std::int64_t at, const ClientId& id);
  void viewed(std::int64_t at, const ClientId& to, const std::string& group, const GroupView& view);
  void transitional(std::int64_t at, const ClientId& to, const std::string& group);
  void left(std::int64_t at, const ClientId& to, const std::string& group);
  void finish();

 private:
  Index agreed_state(Index client, Index group, const GroupView& view, std::int64_t at);
  bool differs_in_a_company(const GroupState& one, const GroupState& other) const;
  void check_cause(Index client, Index previous, Index state, std::int64_t at);
  bool ascends(const Membership& membership, const GroupViewId& id, std::int64_t at);
  void came_together(Index client, Index previous, Index state, std::vector<Index> together,
                     Deliveries messages, std::int64_t at);
  bool plausible(Index client, const GroupState& state, const std::vector<Index>& together,
                 std::int64_t at);
  Index company(Index client, GroupState& state, std::vector<Index> together, std::int64_t at);

  GroupVerdict& v_;
  GapJudge& gaps_;
  MessageJudge& messages_;
};

}  // namespace peal::oracle
