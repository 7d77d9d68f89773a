// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oracle/groups.h"
#include "oracle/index.h"

// The data that the checker of groups keeps: clients, groups, messages, memberships and states of
// groups. The items of each kind are numbered from 0, without holes.

namespace peal::oracle {

/// A set of messages, in pages. The indexes of the messages that a client delivers lie close
/// together, so pages are few.
class MessageSet {
 public:
  /// Returns false if the message was in the set already.
  bool insert(Index message) {
    std::uint64_t& word = pages_[message / kPageBits][message % kPageBits / 64];
    const std::uint64_t bit = std::uint64_t{1} << (message % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }
  bool contains(Index message) const {
    const auto page = pages_.find(message / kPageBits);
    return page != pages_.end() &&
           (page->second[message % kPageBits / 64] >> (message % 64) & 1) != 0;
  }

 private:
  static constexpr Index kPageBits = 512;
  std::unordered_map<Index, std::array<std::uint64_t, kPageBits / 64>> pages_;
};

enum class Presence : std::uint8_t { named, connected, gone };

struct GroupClient {
  ClientId id;
  Presence presence = Presence::named;
  Index last = kNone;  ///< the last message delivered
  std::int64_t last_at = 0;
  MessageSet delivered;
  Index private_name = kNone;
  std::size_t absences = 0;      ///< number of its node's absences (GapJudge) that are due or past
  std::vector<std::size_t> due;  ///< absences whose gaps the client must get before other events
  /// Gaps that the client got: pairs of an element of `due` and a name.
  std::set<std::pair<std::size_t, Index>> told_of;
  std::uint64_t told_at = 0;  ///< how many messages the node had delivered before the last gap
  /// By sender: the highest number of its delivered messages without a place.
  std::unordered_map<Index, std::uint64_t> unplaced_of;
};

/// The names that a message is sent to, as a set.
struct GroupTargets {
  std::vector<std::string> names;  ///< sorted, without duplicates
  std::vector<Index> groups;       ///< the groups among `names`
  std::uint32_t private_names = 0;
  Index private_name = kNone;  ///< the only private name in `names`; kNone: none or several
};

struct GroupMessage {
  std::uint64_t number = 0;
  std::uint64_t hash = 0;
  Index sender = kNone;
  Index targets = kNone;  ///< kNone: sent() was not called for the message
  OwnCopy own = OwnCopy::unknown;
  Placing placing = Placing::placed;
  ViewId view{};                ///< in which nodes deliver the message; zero: not known yet
  std::uint32_t strangers = 0;  ///< number of receivers that are in none of the message's groups
};

/// Messages to a group that one client delivered after a view.
struct Deliveries {
  std::vector<Index> placed;
  std::vector<Index> unplaced;
};

/// Messages that several clients must all deliver.
struct CommonMessages {
  Index first = kNone;  ///< the client that delivered `messages`
  std::uint32_t clients = 0;
  std::vector<Index> messages;
};

/// The messages that clients delivered between the same two views.
struct Stretch {
  Index previous = kNone;  ///< the state before these messages
  CommonMessages placed;
  std::map<MemberId, CommonMessages> unplaced;  ///< by node: those of its clients
};

/// Clients that came together to a state of a group. A view at one of these clients lists them
/// (GroupView::together).
struct Company {
  std::vector<Index> together;  ///< sorted
  Index told = kNone;           ///< the first of these clients that got the view
  Index previous = kNone;       ///< the previous state of client `told`; kNone: it was no member
  std::vector<Stretch> stretches;
};

/// One state of one group, with one id.
struct GroupState {
  Index group = kNone;
  GroupViewId id;
  std::vector<Index> members;      ///< as in the view
  std::vector<Index> sorted;       ///< `members`, sorted
  std::vector<Index> company_of;   ///< by index in `sorted`: index in `companies`; kNone: not known
  std::vector<Company> companies;  ///< no two companies have a client in common
  GroupCause cause{};
  Index told = kNone;  ///< first client that got this state; kNone: only a table has it
  MemberId table_of{};
  // With GroupChecker::Options::companies, several companies may have given one id to different
  // states.
  Index variant = kNone;        ///< another state with this id; kNone: there is none
  std::vector<MemberId> nodes;  ///< nodes whose clients got this state
};

/// The events of one group at one client.
struct Membership {
  Index client = kNone;
  Index group = kNone;
  Index state = kNone;       ///< the state in the last view; kNone: not a member now
  ViewId begun{};            ///< the nodes' view in which the client became a member
  Deliveries since;          ///< messages to the group after the last view
  std::vector<Index> owed;   ///< own messages to the group that the client must get back
  Index last_state = kNone;  ///< like `state`, but kept when the client leaves
  std::map<ViewId, std::uint64_t> highest;  ///< by the nodes' view: highest GroupViewId::index
};

/// The clients, names, messages, states and memberships of a history, and the number of each id.
class GroupHistory {
 public:
  std::vector<GroupClient> clients;
  std::vector<std::string> names;  ///< names of groups, and private names of clients
  std::vector<GroupTargets> targets;
  std::vector<GroupMessage> messages;
  std::vector<GroupState> states;
  std::vector<Membership> memberships;

  Index client(const ClientId& id);
  /// The clients' numbers, in the given order.
  std::vector<Index> clients_of(const std::vector<ClientId>& ids);
  Index name(std::string_view text);
  Index message(const GroupMessageId& id);
  Index targets_of(std::span<const std::string> given);
  /// The client's membership in the group, or kNone.
  Index find_membership(Index client, Index group) const;
  Index membership(Index client, Index group);
  /// The first state with this id, or kNone.
  Index find_state(Index group, const GroupViewId& id) const;
  /// The state with this id and these members, or kNone.
  Index find_variant(Index group, const GroupViewId& id, const std::vector<Index>& members) const;
  /// Adds a state. If there is one with this id, the new state is a variant of it.
  Index add_state(Index group, const GroupViewId& id, std::vector<Index> members);

 private:
  struct Hash {
    std::size_t operator()(const ClientId& id) const;
    std::size_t operator()(const GroupMessageId& id) const;
  };

  std::unordered_map<ClientId, Index, Hash> client_of_;
  std::unordered_map<GroupMessageId, Index, Hash> message_of_;
  std::map<std::string, Index, std::less<>> name_of_;
  std::map<std::vector<std::string>, Index> targets_;
  std::unordered_map<std::uint64_t, Index> membership_of_;
  std::vector<std::map<GroupViewId, Index>> states_of_;  ///< by group
};

bool is_private_name(std::string_view name);
/// The names as a set: sorted, without duplicates.
std::vector<std::string> target_set(std::span<const std::string> given);

}  // namespace peal::oracle
