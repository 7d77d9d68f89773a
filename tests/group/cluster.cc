// SPDX-License-Identifier: Apache-2.0
#include "cluster.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::group::test {
namespace {

std::string letter_of(const MemberId& daemon) {
  return std::string(1, static_cast<char>('a' + daemon.node.value - 1));
}

std::string member_text(const Member& member) {
  return std::string(member.name) + "@" + letter_of(member.client.daemon);
}

std::string_view cause_text(Cause cause) {
  switch (cause) {
    case Cause::join: return "join";
    case Cause::leave: return "leave";
    case Cause::disconnect: return "disconnect";
    case Cause::network: return "network";
  }
  return "?";
}

}  // namespace

Daemon::Daemon(char its_letter, std::uint32_t nodes, std::uint32_t message_bytes_max,
               bool companies, Domains::Kind kind)
    : letter(its_letter), id{NodeId{static_cast<std::uint32_t>(its_letter - 'a' + 1)}, 100} {
  Options options;
  options.node_name = name();
  options.nodes = nodes;
  options.message_bytes_max = message_bytes_max;
  options.companies = companies;
  if (kind == Domains::Kind::disjoint) options.domains = Domains({}, id.node, kind);
  groups = std::make_unique<Groups>(options, *this);
}

Result<void, Refusal> Daemon::send(std::uint32_t connection, std::string_view targets,
                                   std::string_view payload, bool self_discard) {
  std::vector<std::string_view> list;
  while (true) {
    const std::size_t comma = targets.find(',');
    list.push_back(targets.substr(0, comma));
    if (comma == targets.npos) break;
    targets.remove_prefix(comma + 1);
  }
  return groups->send(connection, {list, Service::agreed, 7, self_discard, as_bytes_view(payload)});
}

void Daemon::deliver(std::span<const std::uint32_t> connections, const Received& message) {
  got_type = message.type;
  got_service = message.service;
  got_targets.assign(message.targets.begin(), message.targets.end());
  for (const std::uint32_t connection : connections) {
    log.push_back(std::to_string(connection) + " got " + std::string(as_text(message.payload)) +
                  " from " + std::string(message.name) + "@" + letter_of(message.sender.daemon));
  }
}

/// Logs a text such as "1 sees g by join of y@b: [x@a] | y@b". A bar separates members that did not
/// come together. The brackets mark the set of members that came together with the receiver.
void Daemon::view(std::span<const std::uint32_t> connections, const GroupView& view) {
  std::string text =
      " sees " + std::string(view.group) + " by " + std::string(cause_text(view.cause));
  if (view.reason != wire::ClientCode::ok && view.reason != wire::ClientCode::goodbye) {
    text += " (" + std::string(wire::client_code_name(view.reason)) + ")";
  }
  if (view.changed != nullptr) text += " of " + member_text(*view.changed);
  text += ":";
  std::uint32_t sets = 0;
  for (const Member& each : view.members) sets = std::max(sets, each.set + 1);
  for (std::uint32_t set = 0; set < sets; ++set) {
    std::string members;
    for (const Member& each : view.members) {
      if (each.set == set) members += (members.empty() ? "" : " ") + member_text(each);
    }
    text += set == view.own_set ? " [" + members + "]" : " " + members;
    if (set + 1 < sets) text += " |";
  }
  for (const std::uint32_t connection : connections) {
    log.push_back(std::to_string(connection) + text);
  }
}

void Daemon::transitional(std::uint32_t connection, std::string_view group) {
  log.push_back(std::to_string(connection) + " loses members of " + std::string(group));
}

void Daemon::left(std::uint32_t connection, std::string_view group) {
  log.push_back(std::to_string(connection) + " left " + std::string(group));
}

void Daemon::gap(std::span<const std::uint32_t> connections, std::string_view group) {
  for (const std::uint32_t connection : connections) {
    log.push_back(std::to_string(connection) + " missed some of " +
                  (group.empty() ? "its own" : std::string(group)));
  }
}

Result<std::uint64_t, Errc> Daemon::submit(ByteView message, Service service,
                                           DomainSet /*domains*/) {
  if (waiting.size() >= room) return unexpected(Errc::would_block);
  waiting.push_back({service, {message.begin(), message.end()}});
  return ++submitted;
}

void Daemon::replace_control(ByteView message, DomainSet /*domains*/) {
  control.clear();
  if (!message.empty()) control.push_back({Service::agreed, {message.begin(), message.end()}});
}

void Daemon::settled(const ViewId& view, std::uint64_t hash) {
  PEAL_ASSERT(view == in);
  settled_hashes[view] = hash;
}

Cluster::Cluster(std::uint32_t nodes, std::uint32_t message_bytes_max, bool companies,
                 Domains::Kind kind) {
  for (std::uint32_t n = 0; n < nodes; ++n) {
    daemons.push_back(std::make_unique<Daemon>(static_cast<char>('a' + n), nodes, message_bytes_max,
                                               companies, kind));
  }
}

bool Cluster::order_one(char from, std::string_view to) {
  Daemon& sender = (*this)[from];
  Daemon::Waiting message;
  if (!sender.control.empty()) {
    message = std::move(sender.control.front());
    sender.control.clear();
  } else if (!sender.blocked && !sender.waiting.empty()) {
    message = std::move(sender.waiting.front());
    sender.waiting.pop_front();
  } else {
    return false;
  }
  order(sender, message, to);
  return true;
}

bool Cluster::order_under_way(char from, std::string_view to) {
  Daemon& sender = (*this)[from];
  if (sender.waiting.empty()) return false;
  const Daemon::Waiting message = std::move(sender.waiting.front());
  sender.waiting.pop_front();
  order(sender, message, to);
  return true;
}

void Cluster::order(Daemon& sender, const Daemon::Waiting& message, std::string_view to) {
  const ViewId in = to.empty() ? sender.in : (*this)[to.front()].in;
  const Ordered ordered{sender.id, ++numbered_[sender.id], message.service, {++placed_[in], 0}, in};
  for (const auto& daemon : daemons) {
    const bool chosen = to.empty() ? daemon->in == sender.in : to.find(daemon->letter) != to.npos;
    if (chosen) daemon->groups->on_message(ordered, message.bytes);
  }
}

void Cluster::order_all(std::string_view members) {
  bool any = true;
  while (any) {
    any = false;
    for (const char member : members) any = order_one(member) || any;
  }
}

std::vector<MemberId> Cluster::ids(std::string_view letters) const {
  std::vector<MemberId> found;
  for (const char letter : letters) {
    found.push_back(daemons[static_cast<std::size_t>(letter - 'a')]->id);
  }
  return found;
}

void Cluster::install(std::string_view members, const std::function<void()>& remains) {
  const ViewId next{++views_, (*this)[members.front()].id};
  for (const char member : members) {
    Daemon& daemon = (*this)[member];
    if (daemon.in.number == 0) continue;
    std::string together;
    for (const char other : members) {
      if ((*this)[other].in == daemon.in) together += other;
    }
    const std::vector<MemberId> survivors = ids(together);
    daemon.groups->on_view({true, next, daemon.in, survivors, {}}, daemon.id);
  }
  if (remains) remains();
  const std::vector<MemberId> all = ids(members);
  for (const char member : members) {
    Daemon& daemon = (*this)[member];
    daemon.in = next;
    daemon.groups->on_view({false, next, {}, all, {}}, daemon.id);
    daemon.groups->check_invariants();
  }
}

void Cluster::settle(std::string_view members) {
  install(members);
  order_all(members);
}

}  // namespace peal::group::test
