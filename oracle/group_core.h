// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oracle/cycles.h"
#include "oracle/group_history.h"
#include "oracle/groups.h"

// The judge of what clients of groups saw.

namespace peal::oracle {

class GroupCore {
 public:
  explicit GroupCore(const GroupChecker::Options& options) : options_(options) {}

  // group_views.cc
  void connected(std::int64_t at, const ClientId& id, std::string_view private_name);
  void gone(std::int64_t at, const ClientId& id);
  void viewed(std::int64_t at, const ClientId& to, const std::string& group, const GroupView& view);
  void transitional(std::int64_t at, const ClientId& to, const std::string& group);
  void left(std::int64_t at, const ClientId& to, const std::string& group);

  // group_messages.cc
  void sent(std::int64_t at, const GroupMessageId& id, std::span<const std::string> groups,
            std::uint64_t hash, OwnCopy own);
  void delivered(std::int64_t at, const ClientId& to, const GroupMessageId& id,
                 std::span<const std::string> groups, std::uint64_t hash);

  // group_gaps.cc
  void ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
               std::span<const std::string> groups);
  void entered(MemberId node, const ViewId& view);
  void reached(std::int64_t at, const ClientId& id, const ViewId& view);
  void gapped(std::int64_t at, const ClientId& to, const std::string& group);

  // group_ending.cc
  void exchanged(std::int64_t at, MemberId node, const ViewId& view, std::uint64_t table_hash);
  void final_table(MemberId node, const ViewId& view, std::span<const GroupTableEntry> entries);
  GroupReport finish();

  std::uint64_t violations_total() const { return report_.violations_total; }

 private:
  struct Exchange {
    MemberId node{};
    std::uint64_t hash = 0;
  };
  struct TableGroup {
    GroupViewId id;
    std::vector<Index> members;  ///< as given
    std::vector<Index> sorted;   ///< the same
  };
  struct Table {
    ViewId view{};
    std::map<Index, TableGroup> groups;
  };
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
  struct Follower {
    Index message = kNone;
    Index client = kNone;
  };

  // group_views.cc
  bool listens(Index client, std::int64_t at);
  Index agreed_state(Index client, Index group, const GroupView& view, std::int64_t at);
  void check_cause(Index client, Index previous, Index state, std::int64_t at);
  bool well_formed(const std::vector<Index>& members) const;
  bool ascends(const Membership& membership, const GroupViewId& id, std::int64_t at);
  void came_together(Index client, Index previous, Index state, std::vector<Index> together,
                     std::vector<Index> messages, std::int64_t at);
  bool plausible(Index client, const GroupState& state, const std::vector<Index>& together,
                 std::int64_t at);
  Index company(Index client, GroupState& state, std::vector<Index> together, std::int64_t at);

  // group_messages.cc
  void check_content(Index client, Index message, std::span<const std::string> groups,
                     std::uint64_t hash, std::int64_t at);
  bool collect(Index client, Index message);
  void check_stranger(Index client, Index message, std::int64_t at);
  void follow(Index client, Index message);
  bool may_lack(Index client, Index message) const;

  // group_gaps.cc
  void hear(MemberId node, const ViewId& view);
  void come_past(GroupClient& record, const Node& node) const;
  bool must_be_told(Index client, Index name) const;
  void close_absence(Index client, std::size_t number, const Absence& absence, std::int64_t at);
  void close_absences(Index client, std::int64_t at);
  void check_place(Index client, Index message, std::int64_t at);
  void finish_absences();

  // group_stretches.cc
  void check_stretch(Stretch& stretch, Index client, std::vector<Index> messages,
                     const std::string& where, std::int64_t at);

  // group_ending.cc
  void finish_tables();
  void check_entry(MemberId node, Index group, const TableGroup& entry);
  void compare_tables(MemberId node, MemberId first);
  void finish_member(MemberId node, Index group, const GroupViewId& id, Index client);
  const TableGroup* entry_of(const Membership& membership) const;
  void finish_memberships();
  void finish_owed(const Membership& membership);
  void finish_order();

  // group_texts.cc
  std::string name(MemberId node) const;
  std::string name(Index client) const;
  std::string view_text(const ViewId& view) const;
  std::string id_text(const GroupViewId& id) const;
  std::string state_text(Index state) const;
  std::string group_text(Index group) const;
  std::string message_text(Index message) const;
  std::string clients_text(const std::vector<Index>& clients) const;
  std::string source_text(const GroupState& state) const;

  template <class Text>
  void violate(GroupProperty property, std::int64_t at_ns, Text&& text) {
    ++report_.violations_total;
    ++report_.violations_of[static_cast<std::size_t>(property)];
    if (report_.violations.size() < options_.violations_max) {
      report_.violations.push_back({property, text(), at_ns});
    }
  }

  GroupChecker::Options options_;
  GroupHistory history_;
  GroupReport report_;
  std::int64_t last_at_ = 0;
  std::map<ViewId, Exchange> exchanges_;  ///< the first one in each view
  std::map<MemberId, Table> tables_;      ///< final ones
  std::map<MemberId, Node> nodes_;
  std::map<ViewId, std::vector<std::uint64_t>> known_in_;  ///< bits, by view: to who came there
  std::vector<Index> ordered_for_;                         ///< targets, by message
  std::unordered_map<Index, Index> private_names_;  ///< the client that got messages to it alone
  std::vector<Follower> next_;  ///< by message: what the first client that went on got after it
  std::vector<Edge> edges_;     ///< what others got after it, where that is something else
};

}  // namespace peal::oracle
