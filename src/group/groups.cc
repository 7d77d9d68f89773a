// SPDX-License-Identifier: Apache-2.0
#include "group/groups.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

// Views. All members of a transitional view delivered the same messages, so tables that were equal
// before it are equal after it. Daemons that come from different views exchange tables in the new
// view, before anything else is ordered (merging.cc).

namespace peal::group {
namespace {

/// Bytes of an encoded message Tables without its members and groups.
constexpr std::uint64_t kTablesBytes = 1 + 20 + 2 + 4 + 1;
constexpr std::uint64_t kPerMemberBytes = 12;
constexpr std::uint32_t kMessageBytesMin = 1'024;

std::uint64_t share_of(const Options& options) {
  const std::uint64_t traffic = options.message_bytes_max / kTrafficShare;
  return (options.message_bytes_max - kTablesBytes - traffic) / options.nodes - kPerMemberBytes;
}

}  // namespace

std::string validate(const Options& options) {
  const std::string private_name = "#c#" + options.node_name;
  if (!is_target(private_name) || private_name.size() - 1 + kClientNameBytesMax > kNameBytesMax) {
    return "the name of the node is '" + options.node_name + "'; accepted are 1 to " +
           std::to_string(kNameBytesMax - 2 - kClientNameBytesMax) +
           " bytes without '#' and control characters";
  }
  if (options.nodes < 1 || options.nodes > wire::kMembersMax) {
    return "nodes is " + std::to_string(options.nodes) + "; accepted is 1 to " +
           std::to_string(wire::kMembersMax);
  }
  const std::uint64_t least = std::uint64_t{kMessageBytesMin} * options.nodes;
  if (options.message_bytes_max < least) {
    return "message_bytes_max is " + std::to_string(options.message_bytes_max) +
           "; accepted for groups is at least " + std::to_string(least);
  }
  if (options.clients_max < 1) return "clients_max is 0; accepted is at least 1";
  return {};
}

Groups::Groups(const Options& options, Effects& effects)
    : options_(options),
      effects_(effects),
      table_(share_of(options)),
      traffic_(options_.domains.traffic_count()) {
  PEAL_ASSERT(validate(options).empty());
}

void Groups::on_view(const order::View& view, MemberId self) {
  PEAL_ASSERT(order::contains(view.members, self));
  if (view_.number == 0) {  // this daemon was alone until now
    self_ = self;
    synced_ = survivors_ = {self};
  }
  PEAL_ASSERT(self == self_);
  outcome_.add(view.id.number * 2 + (view.transitional ? 1 : 0));
  if (!view.transitional) {
    on_regular(view);
    return;
  }
  survivors_.assign(view.members.begin(), view.members.end());
  next_view_ = view.id;
  if (state_ == State::operational) {
    begin_transition();
  } else {
    PEAL_ASSERT(state_ == State::exchanging);
    state_ = State::interrupted;
    ++counters_.interrupted;
    PEAL_PROBE("group.exchange_interrupted");
  }
}

void Groups::begin_transition() {
  state_ = State::transitional;
  // From now on group ids name the next view, in the branch of `survivors_`: see GroupIds.
  ids_.begin_part(next_view_, survivors_.front().node);
  for (Entry& entry : table_.groups()) {
    Table::Group& group = entry.second;
    if (std::none_of(group.daemons.begin(), group.daemons.end(),
                     [this](const auto& daemon) { return is_partitioned(daemon.id); })) {
      continue;
    }
    tell_transitional(entry);
    group.id = ids_.next(group.id);
    group.changed = true;
  }
  if (!PEAL_MUTANT(gm4_synced_kept)) {
    std::erase_if(synced_,
                  [this](const MemberId& member) { return !order::contains(survivors_, member); });
  }
}

void Groups::on_regular(const order::View& view) {
  const bool exchanged = state_ == State::transitional;
  PEAL_ASSERT(exchanged || state_ == State::interrupted);
  const bool first = view_.number == 0;
  table_.keep_daemons(survivors_);
  if (!exchanged) held_.end_view();
  if (!exchanged && !PEAL_MUTANT(gm4_synced_kept)) {
    std::erase_if(synced_,
                  [this](const MemberId& member) { return !order::contains(survivors_, member); });
  }
  if (!PEAL_MUTANT(gm5_gathered_kept)) exchange_.clear_tables();
  exchange_.clear_traffic();
  traffic_.begin(view.id, exchanged ? synced_ : order::MemberSet{});
  view_ = view.id;
  // Until the tables are equal, ids stay in the branch of those that came together.
  if (!exchanged || first) ids_.begin_part(view_, synced_.front().node);
  members_.assign(view.members.begin(), view.members.end());
  if (exchanged && members_ == survivors_ && members_ == synced_) {
    settle();
  } else {
    start_exchange();
  }
}

/// Makes the view operational without an exchange: all members have equal tables.
void Groups::settle() {
  ids_.begin_view(view_);
  name_changed(table_, ids_);
  state_ = State::operational;
  ++counters_.settled;
  effects_.settled(view_, table_.hash());
  tell_changed([](const ClientKey&) { return 0; });
}

/// Gives each changed group a new id.
void Groups::name_changed(Table& table, GroupIds& ids) {
  for (Entry& entry : table.groups()) {
    if (entry.second.changed) entry.second.id = ids.next(entry.second.id);
  }
}

void Groups::tell_changed(const SetOf& set_of) {
  for (Entry& entry : table_.groups()) {
    if (!entry.second.changed) continue;
    entry.second.changed = false;
    tell_view(entry, Cause::network, nullptr, set_of);
  }
}

void Groups::tell_transitional(const Entry& entry) {
  const Table::Daemon* own = entry.second.at(self_);
  if (own == nullptr) return;
  for (const MemberClient& client : own->clients) {
    if (clients_.has(client.connection)) effects_.transitional(client.connection, entry.first);
  }
}

std::array<order::Counter, 14> Groups::named_counters() const {
  return {{
      {"group_delivered", counters_.delivered},
      {"group_views", counters_.views},
      {"group_changes", counters_.changes},
      {"group_exchanges", counters_.exchanges},
      {"group_interrupted", counters_.interrupted},
      {"group_settled", counters_.settled},
      {"group_bad_messages", counters_.bad_messages},
      {"group_bad_changes", counters_.bad_changes},
      {"group_bad_tables", counters_.bad_tables},
      {"group_outdated_tables", counters_.outdated_tables},
      {"group_gaps", counters_.gaps},
      {"group_held", counters_.held},
      {"group_held_dropped", counters_.held_dropped},
      {"group_out_of_turn", counters_.out_of_turn},
  }};
}

void Groups::check_invariants() const {
  PEAL_ASSERT(order::contains(synced_, self_) || view_.number == 0);
  PEAL_ASSERT(!exchange_.has_tables() || state_ == State::exchanging ||
              state_ == State::interrupted);
  PEAL_ASSERT(held_.empty() || state_ == State::exchanging || state_ == State::interrupted);
  clients_.check_invariants();
  table_.check_invariants();
}

}  // namespace peal::group
