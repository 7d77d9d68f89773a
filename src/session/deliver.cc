// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "session/core.h"

// What groups tell clients, encoded once for all receivers.

namespace peal::session {
namespace {

/// The membership to which a message counts: the first of its targets that the client is in.
std::uint32_t slot_of(const Session& it, std::span<const std::string_view> targets) {
  for (const std::string_view target : targets) {
    if (target.front() == '#') continue;
    const auto at = it.groups.find(target);
    if (at != it.groups.end()) return at->second;
  }
  return 0;
}

}  // namespace

void Sessions::Core::append_private_name(const group::ClientKey& client, std::string_view name,
                                         std::string& out) const {
  const std::string_view node = host_.node_name(client.daemon.node);
  out += '#';
  out += name;
  out += '#';
  if (node.empty()) {
    out += std::to_string(client.daemon.node.value);
  } else {
    out += node;
  }
}

void Sessions::Core::deliver(std::span<const std::uint32_t> clients,
                             const group::Received& message) {
  PEAL_ASSERT(current_ != nullptr);
  wire::MessageEvent event;
  event.place = {current_->view, current_->seq, current_->index};
  event.service = message.service;
  event.type = message.type;
  sender_.clear();
  append_private_name(message.sender, message.name, sender_);
  event.sender = sender_;
  event.payload = message.payload;
  for (const std::string_view target : message.targets) event.targets.push_back(target);
  head_.clear();
  append_head(head_, event);
  draft_.begin(head_, message.payload);
  for (const std::uint32_t client : clients) {
    Session* it = session(client);
    if (it != nullptr) offer(*it, slot_of(*it, message.targets), chunk_for(*it), &event.place);
  }
  draft_.end();
}

void Sessions::Core::view(std::span<const std::uint32_t> clients, const group::GroupView& view) {
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
  head_.clear();
  append(head_, event);
  draft_.begin(head_, {});
  for (const std::uint32_t client : clients) {
    Session* it = session(client);
    if (it == nullptr) continue;
    const std::string_view group[] = {view.group};
    offer(*it, slot_of(*it, group), chunk_for(*it), nullptr);
  }
  draft_.end();
}

void Sessions::Core::transitional(std::uint32_t client, std::string_view group) {
  Session* it = session(client);
  if (it == nullptr) return;
  const std::string_view groups[] = {group};
  const ChunkRef chunk =
      chunks_.make(wire::kRecordHeaderBytes + 1 + group.size(), [&](std::vector<std::byte>& out) {
        append(out, wire::RecordKind::transitional, wire::GroupEvent{group});
      });
  offer(*it, slot_of(*it, groups), chunk, nullptr);
}

void Sessions::Core::left(std::uint32_t client, std::string_view group) {
  Session* it = session(client);
  if (it == nullptr) return;
  const auto at = it->groups.find(group);
  if (at == it->groups.end()) return;
  const std::uint32_t slot = at->second;
  const ChunkRef chunk =
      chunks_.make(wire::kRecordHeaderBytes + 1 + group.size(), [&](std::vector<std::byte>& out) {
        append(out, wire::RecordKind::left, wire::GroupEvent{group});
      });
  offer(*it, slot, chunk, nullptr);
  Membership& member = it->events.membership(slot);
  if (--member.joins > 0) return;  // the client has asked to join again
  it->groups.erase(at);
  it->gaps.erase(slot);
  it->warned.erase(slot);
  note_block(*it, slot);
  it->events.drop_membership(slot);
}

/// Like a view, this gap is never dropped, and follows the gaps of slow clients.
void Sessions::Core::gap(std::span<const std::uint32_t> clients, std::string_view group) {
  wire::GapEvent event;
  event.group = group;
  event.reason = wire::GapReason::away;
  const ChunkRef chunk = chunks_.make(wire::kRecordHeaderBytes + 2 + group.size(),
                                      [&](std::vector<std::byte>& out) { append(out, event); });
  const std::string_view groups[] = {group};
  for (const std::uint32_t client : clients) {
    Session* it = session(client);
    if (it == nullptr) continue;
    ++counters_.gaps_away;
    offer(*it, group.empty() ? 0 : slot_of(*it, groups), chunk, nullptr);
  }
}

Result<void, Errc> Sessions::Core::submit(ByteView message, Service service, order::Domain domain) {
  const Result<std::uint64_t, Errc> number = host_.submit(message, service, domain);
  if (!number) {
    closed_ = closed_ || number.error() == Errc::closed;
    return unexpected(number.error());
  }
  submitted_ = *number;
  return {};
}

}  // namespace peal::session
