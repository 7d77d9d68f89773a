// SPDX-License-Identifier: Apache-2.0
#include "session/delivery.h"

#include <utility>
#include <vector>

#include "base/assert.h"
#include "session/shared_regions.h"

namespace peal::session {
namespace {

/// Smaller events are written to each connection: a region would not be cheaper.
constexpr std::size_t kSharedBytesMin = 512;
/// A client that lags by more than 1/kBehindPart of a region gets events on its connection, so that
/// the region has room for faster clients.
constexpr std::uint64_t kBehindPart = 8;

/// The slot of the membership for which an event counts: the slot of the first target group that
/// the client is in. Slot 0, for the private name, if the client is in no target group.
std::uint32_t slot_of(const Session& it, std::span<const std::string_view> targets) {
  for (const std::string_view target : targets) {
    if (target.front() == '#') continue;
    const auto at = it.groups.find(target);
    if (at != it.groups.end()) return at->second;
  }
  return 0;
}

}  // namespace

const ChunkRef& Delivery::chunk_for(const Session& it) {
  const bool shared = it.events.shares() && it.link != nullptr && !it.events.spills() &&
                      encoder_.size() >= kSharedBytesMin &&
                      it.events.memory_bytes() <= it.shared->region.bytes() / kBehindPart;
  return shared ? encoder_.shared(it.shared->region) : encoder_.plain();
}

void Delivery::append_private_name(const group::ClientKey& client, std::string_view name,
                                   std::string& out) const {
  const std::string_view node = context_.host.node_name(client.daemon.node);
  out += '#';
  out += name;
  out += '#';
  if (node.empty()) {
    out += std::to_string(client.daemon.node.value);
  } else {
    out += node;
  }
}

void Delivery::deliver(std::span<const std::uint32_t> clients, const group::Received& message) {
  wire::MessageEvent event;
  event.place.view = message.view;
  if (message.place.seq != 0) {
    event.place.position = message.place.seq;
    event.place.index = message.place.index;
  } else {
    event.number = message.number;
  }
  event.service = message.service;
  event.type = message.type;
  sender_.clear();
  append_private_name(message.sender, message.name, sender_);
  event.sender = sender_;
  event.payload = message.payload;
  for (const std::string_view target : message.targets) event.targets.push_back(target);
  encoder_.begin(event);
  for (const std::uint32_t client : clients) {
    Session* it = registry_.find(client);
    if (it != nullptr)
      backlog_.offer(*it, slot_of(*it, message.targets), chunk_for(*it), &event.place,
                     message.held);
  }
  encoder_.end();
}

void Delivery::view(std::span<const std::uint32_t> clients, const group::GroupView& view) {
  std::string names;
  std::vector<std::size_t> ends;
  for (const group::Member& member : view.members) {
    append_private_name(member.client, member.name, names);
    ends.push_back(names.size());
  }
  std::string changed;
  if (view.changed != nullptr) {
    append_private_name(view.changed->client, view.changed->name, changed);
  }
  wire::GroupViewEvent event;
  event.group = view.group;
  event.view = view.id.view;
  event.index = view.id.index;
  event.cause = static_cast<wire::ViewCause>(view.cause);
  event.reason = view.reason;
  event.changed = changed;
  event.own_set = view.own_set;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::string_view name = std::string_view(names).substr(begin, ends[i] - begin);
    event.members.push_back({name, view.members[i].set});
    begin = ends[i];
  }
  encoder_.begin(event);
  for (const std::uint32_t client : clients) {
    Session* it = registry_.find(client);
    if (it == nullptr) continue;
    const std::string_view group[] = {view.group};
    backlog_.offer(*it, slot_of(*it, group), chunk_for(*it), nullptr);
  }
  encoder_.end();
}

void Delivery::transitional(std::uint32_t client, std::string_view group) {
  Session* it = registry_.find(client);
  if (it == nullptr) return;
  const std::string_view groups[] = {group};
  backlog_.offer(*it, slot_of(*it, groups), encoder_.transitional(group), nullptr);
}

void Delivery::left(std::uint32_t client, std::string_view group) {
  Session* it = registry_.find(client);
  if (it == nullptr) return;
  const auto at = it->groups.find(group);
  if (at == it->groups.end()) return;
  const std::uint32_t slot = at->second;
  backlog_.offer(*it, slot, encoder_.left(group), nullptr);
  Membership& member = it->events.membership(slot);
  if (--member.joins > 0) return;  // the client has asked to join again
  it->groups.erase(at);
  it->gaps.erase(slot);
  it->warned.erase(slot);
  backlog_.note_block(*it, slot);
  it->events.drop_membership(slot);
}

/// Like a view, a gap with reason `away` is never dropped. It is queued behind the gaps of policy
/// `drop`.
void Delivery::gap(std::span<const std::uint32_t> clients, std::string_view group) {
  wire::GapEvent event;
  event.group = group;
  event.reason = wire::GapReason::away;
  const ChunkRef chunk = encoder_.gap(event);
  const std::string_view groups[] = {group};
  for (const std::uint32_t client : clients) {
    Session* it = registry_.find(client);
    if (it == nullptr) continue;
    ++context_.counters.gaps_away;
    backlog_.offer(*it, group.empty() ? 0 : slot_of(*it, groups), chunk, nullptr);
  }
}

void Delivery::dropped() {
  for (auto& [id, it] : registry_.all()) {
    registry_.end_later(*it, wire::ClientCode::dropped,
                        "messages were dropped: more than " + std::to_string(held_bytes_max()) +
                            " bytes waited while the domain's nodes exchanged their group tables");
  }
}

Result<std::uint64_t, Errc> Delivery::submit(ByteView message, Service service, DomainSet domains) {
  const Result<std::uint64_t, Errc> number = context_.host.submit(message, service, domains);
  if (!number) {
    context_.node_closed = context_.node_closed || number.error() == Errc::closed;
    return unexpected(number.error());
  }
  context_.submitted = *number;
  return *number;
}

void Delivery::settled(const ViewId& view, std::uint64_t hash) {
  context_.host.tables_equal(view, hash);
}

}  // namespace peal::session
