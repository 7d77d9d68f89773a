// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "group/groups.h"

// Applies clients' messages in their order, and notifies clients.

namespace peal::group {
namespace {

enum : std::uint64_t { kTogether = 0, kAlone = 1, kOfNode = 2 };

/// How a message is counted in the traffic of its view.
enum class Counting : std::uint8_t {
  in_order,    ///< all messages up to its place are known
  late,        ///< it is delivered in a transitional view
  of_senders,  ///< Options::companies
};

/// Records that a message was sent to a name. Daemons outside the view miss the message. When such
/// a daemon returns, it learns that it missed the message.
void note(std::string_view target, const Ordered& from, Counting counting, TrafficLog& traffic,
          TrafficMark* mark) {
  switch (counting) {
    case Counting::in_order: traffic.note(target, from.place, mark); return;
    case Counting::late: traffic.note_late(target, from.place); return;
    case Counting::of_senders: traffic.note_of(from.sender, from.number, target); return;
  }
}

}  // namespace

void Groups::on_message(const Ordered& from, ByteView message) {
  const MemberId sender = from.sender;
  outcome_.add(message.size());
  const auto kind = static_cast<Kind>(kind_of(message));
  if (kind == Kind::tables) {
    on_tables(sender, message);
    return;
  }
  if (kind == Kind::domain_traffic) {
    on_domain_traffic(sender, message);
    return;
  }
  if (state_ == State::exchanging || state_ == State::interrupted) {
    if (options_.domains.is_disjoint()) return hold(from, message);
    // Cannot happen: the sender completed the exchange before it sent this message, so every daemon
    // that delivers the message has completed the exchange too.
    ++counters_.out_of_turn;
    return;
  }
  apply(from, message);
}

/// Keeps a message until the exchange is complete: nodes of other domains do not know of the
/// exchange, and what this domain's nodes had sent before the view keeps its place.
void Groups::hold(const Ordered& from, ByteView message) {
  const bool is_data = static_cast<Kind>(kind_of(message)) == Kind::data;
  // What others than members change has no effect: counts_as_member().
  if (!is_data && !order::contains(members_, from.sender)) return;
  ++counters_.held;
  PEAL_PROBE("group.held");
  Data data;
  if (is_data) {
    if (decode(message, data) != wire::Drop::none || from.number > wire::kCounterMax) {
      ++counters_.bad_messages;
      return;
    }
    note_traffic(data, from);
  }
  if (PEAL_MUTANT(gm25_held_dropped)) return;
  const std::uint64_t cost = HeldMessages::data_cost_of(message);
  if (is_data && !effects_.may_hold(held_.data_bytes() + cost)) {
    counters_.held_dropped += held_.drop_data() + 1;
    PEAL_PROBE("group.held_dropped");
    if (!PEAL_MUTANT(gm27_drop_not_told)) effects_.dropped();
    return;
  }
  held_.add(from, message, state_ == State::interrupted);
}

void Groups::apply_held(const HeldMessages::List& messages) {
  replays_ = true;
  for (const HeldMessages::Held& each : messages) apply(each.from, each.bytes);
  replays_ = false;
}

void Groups::apply(const Ordered& from, ByteView message) {
  const MemberId sender = from.sender;
  switch (static_cast<Kind>(kind_of(message))) {
    case Kind::join: on_join(sender, message); return;
    case Kind::leave: on_leave(sender, message); return;
    case Kind::disconnect: on_disconnect(sender, message); return;
    case Kind::data: on_data(from, message); return;
    case Kind::marker: {
      Marker marker;
      if (decode(message, marker) != wire::Drop::none) ++counters_.bad_messages;
      return;
    }
    case Kind::tables:
    case Kind::domain_traffic: return;
  }
  ++counters_.bad_messages;
}

void Groups::on_join(MemberId sender, ByteView message) {
  Join join;
  if (decode(message, join) != wire::Drop::none) {
    ++counters_.bad_messages;
    return;
  }
  const ClientKey client{sender, join.client.connection};
  if (sender == self_) clients_.on_joined(join.client.name, join.group);
  if (!counts_as_member(sender)) return;
  if (table_.join(client, join.client.name, join.group) != Table::Outcome::done) {
    ++counters_.bad_changes;
    return;
  }
  Entry& entry = *table_.find(join.group);
  if (is_partitioned(sender)) {
    entry.second.changed = true;
    PEAL_PROBE("group.join_from_outside");
  }
  tell_change(entry, {Cause::join, {}, {client, join.client.name, 0}});
}

void Groups::on_leave(MemberId sender, ByteView message) {
  Leave leave;
  if (decode(message, leave) != wire::Drop::none) {
    ++counters_.bad_messages;
    return;
  }
  if (!counts_as_member(sender)) return;
  const Member member{{sender, leave.client.connection}, leave.client.name, 0};
  remove(leave.group, {Cause::leave, {}, member});
}

void Groups::on_disconnect(MemberId sender, ByteView message) {
  Disconnect disconnect;
  if (decode(message, disconnect) != wire::Drop::none) {
    ++counters_.bad_messages;
    return;
  }
  if (!counts_as_member(sender)) return;
  const ClientKey client{sender, disconnect.client.connection};
  std::vector<std::string> groups;
  for (const Entry* entry : table_.groups_of(client, disconnect.client.name)) {
    groups.push_back(entry->first);
  }
  for (const std::string& group : groups) {
    remove(group, {Cause::disconnect, disconnect.reason, {client, disconnect.client.name, 0}});
  }
}

void Groups::remove(std::string_view group, const Change& change) {
  const ClientKey& client = change.member.client;
  if (table_.leave(client, change.member.name, group) != Table::Outcome::done) {
    ++counters_.bad_changes;
    return;
  }
  if (change.cause == Cause::leave && client.daemon == self_ && clients_.has(client.connection) &&
      !PEAL_MUTANT(gm9_left_not_told)) {
    effects_.left(client.connection, group);
  }
  Entry* entry = table_.find(group);
  if (entry != nullptr) {
    tell_change(*entry, change);
  } else {
    ++counters_.changes;
  }
}

/// With disjoint domains, messages keep their places in any view. So a daemon may have sent a
/// change before it left the view, and all others have removed its clients. Until the exchange is
/// complete, this daemon's table has only those that came together.
bool Groups::counts_as_member(MemberId sender) const {
  const bool merged = state_ == State::operational || state_ == State::transitional;
  return order::contains(merged ? members_ : synced_, sender);
}

bool Groups::is_partitioned(MemberId daemon) const {
  return state_ == State::transitional && !order::contains(survivors_, daemon);
}

/// Notifies the members at this node that one client joined, left or disconnected.
void Groups::tell_change(Entry& entry, const Change& change) {
  ++counters_.changes;
  Table::Group& group = entry.second;
  group.id = ids_.next(group.id);
  const auto joined = [&](const ClientKey& client) {
    return change.cause == Cause::join && client == change.member.client &&
           !PEAL_MUTANT(gm12_joiner_together);
  };
  if (!group.changed) {
    tell_view(entry, change.cause, &change,
              [&](const ClientKey& client) { return joined(client) ? kAlone : kTogether; });
    return;
  }
  // Some members are outside the transitional view. Whether they will reach the next view is
  // unknown.
  tell_view(entry, Cause::network, nullptr, [&](const ClientKey& client) {
    if (joined(client)) return std::uint64_t{kAlone};
    return is_partitioned(client.daemon) ? kOfNode + client.daemon.node.value
                                         : std::uint64_t{kTogether};
  });
  tell_transitional(entry);
}

void Groups::tell_view(const Entry& entry, Cause cause, const Change* change, const SetOf& set_of) {
  const Table::Daemon* own = entry.second.at(self_);
  if (own == nullptr) return;
  told_.clear();
  std::vector<std::uint64_t> sets;
  std::size_t own_first = 0;
  for (const Table::Daemon& daemon : entry.second.daemons) {
    if (&daemon == own) own_first = told_.size();
    for (const MemberClient& client : daemon.clients) {
      const ClientKey key{daemon.id, client.connection};
      const auto at = std::find(sets.begin(), sets.end(), set_of(key));
      const auto set = static_cast<std::uint32_t>(at - sets.begin());
      if (at == sets.end()) sets.push_back(set_of(key));
      told_.push_back({key, client.name, set});
    }
  }
  GroupView view{entry.first, entry.second.id, cause, {}, nullptr, told_, 0};
  if (change != nullptr) {
    view.reason = change->reason;
    view.changed = &change->member;
  }
  for (std::uint32_t set = 0; set < sets.size(); ++set) {
    receivers_.clear();
    for (std::size_t i = 0; i < own->clients.size(); ++i) {
      const std::uint32_t connection = own->clients[i].connection;
      if (told_[own_first + i].set == set && clients_.has(connection)) {
        receivers_.push_back(connection);
        outcome_.add(view.id.index ^ std::uint64_t{connection} << 32);
      }
    }
    if (receivers_.empty()) continue;
    view.own_set = set;
    counters_.views += receivers_.size();
    effects_.view(receivers_, view);
  }
}

// ---- data ----

void Groups::on_data(const Ordered& from, ByteView message) {
  Data data;
  // Tables name messages by their numbers. Only a node that does not keep the rules sends data with
  // a number beyond the counters: those of control messages are.
  if (decode(message, data) != wire::Drop::none || from.number > wire::kCounterMax) {
    ++counters_.bad_messages;
    return;
  }
  if (PEAL_MUTANT(gm11_last_data_dropped) && state_ == State::transitional) return;
  receivers_.clear();
  const std::span<const std::string_view> targets{data.targets.begin(), data.targets.size()};
  TrafficLog* traffic =
      replays_ ? nullptr : &traffic_.of(options_.domains.traffic_of(targets, from.sender.node));
  for (const std::string_view target : targets) {
    if (options_.domains.knows(target)) collect_receivers(target, from, traffic);
  }
  if (data.targets.size() > 1 && !PEAL_MUTANT(gm10_once_per_target)) {  // each client only once
    std::sort(receivers_.begin(), receivers_.end());
    receivers_.erase(std::unique(receivers_.begin(), receivers_.end()), receivers_.end());
  }
  if (data.self_discard && from.sender == self_) {
    const auto own = std::find(receivers_.begin(), receivers_.end(), data.client.connection);
    if (own != receivers_.end()) receivers_.erase(own);
  }
  if (PEAL_MUTANT(gm22_unplaced_misses_last) && from.place.seq == 0 && receivers_.size() > 1) {
    receivers_.pop_back();
  }
  if (receivers_.empty()) return;
  const Received received{{from.sender, data.client.connection},
                          data.client.name,
                          from.service,
                          data.type,
                          {data.targets.begin(), data.targets.size()},
                          data.payload,
                          from.view,
                          from.place,
                          from.number,
                          replays_};
  counters_.delivered += receivers_.size();
  effects_.deliver(receivers_, received);
}

/// Records a message that is held.
void Groups::note_traffic(const Data& data, const Ordered& from) {
  const std::span<const std::string_view> targets{data.targets.begin(), data.targets.size()};
  TrafficLog& traffic = traffic_.of(options_.domains.traffic_of(targets, from.sender.node));
  const Counting counting = state_ == State::interrupted ? Counting::late : Counting::in_order;
  for (const std::string_view target : targets) {
    if (options_.domains.knows(target)) note(target, from, counting, traffic, nullptr);
  }
}

/// Adds to receivers_ the clients of this node that `target` names, and records the message in
/// `traffic`, unless that is null.
void Groups::collect_receivers(std::string_view target, const Ordered& from, TrafficLog* traffic) {
  const Counting counting = options_.companies              ? Counting::of_senders
                            : state_ == State::transitional ? Counting::late
                                                            : Counting::in_order;
  if (target.front() == '#') {
    if (traffic != nullptr) note(target, from, counting, *traffic, nullptr);
    const std::size_t middle = target.find('#', 1);
    if (target.substr(middle + 1) != options_.node_name) return;
    const std::uint32_t* named = clients_.find(target.substr(1, middle - 1));
    if (named != nullptr) receivers_.push_back(*named);
    return;
  }
  Entry* entry = table_.find(target);
  if (traffic != nullptr) {
    note(target, from, counting, *traffic, entry == nullptr ? nullptr : &entry->second.traffic);
  }
  const Table::Daemon* own = entry == nullptr ? nullptr : entry->second.at(self_);
  if (own == nullptr) return;
  for (const MemberClient& client : own->clients) {
    if (clients_.has(client.connection)) receivers_.push_back(client.connection);
  }
}

}  // namespace peal::group
