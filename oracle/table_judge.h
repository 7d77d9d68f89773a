// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "oracle/gap_judge.h"
#include "oracle/group_verdict.h"
#include "oracle/message_judge.h"

namespace peal::oracle {

/// Judges the tables of nodes (G1), and the end of a history (G5).
class TableJudge {
 public:
  TableJudge(GroupVerdict& verdict, GapJudge& gaps, MessageJudge& messages)
      : v_(verdict), gaps_(gaps), messages_(messages) {}
  void finish();

  void exchanged(std::int64_t at, MemberId node, const ViewId& view, std::uint64_t table_hash);
  void final_table(MemberId node, const ViewId& view, std::span<const GroupTableEntry> entries);

 private:
  struct Exchange {
    MemberId node{};
    std::uint64_t hash = 0;
  };
  struct TableGroup {
    GroupViewId id;
    std::vector<Index> members;  ///< in the order in which the node lists them
    std::vector<Index> sorted;   ///< `members`, sorted
  };
  struct Table {
    ViewId view{};
    std::map<Index, TableGroup> groups;
  };

  void finish_tables();
  void check_entry(MemberId node, Index group, const TableGroup& entry);
  void compare_tables(MemberId node, MemberId first);
  void finish_member(MemberId node, Index group, const GroupViewId& id, Index client);
  const TableGroup* entry_of(const Membership& membership) const;
  void finish_memberships();
  void finish_owed(const Membership& membership);
  void finish_absences();

  GroupVerdict& v_;
  GapJudge& gaps_;
  MessageJudge& messages_;
  std::map<ViewId, Exchange> exchanges_;  ///< the first exchange in each view
  std::map<MemberId, Table> tables_;      ///< final tables
};

}  // namespace peal::oracle
