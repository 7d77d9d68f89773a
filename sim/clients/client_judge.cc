// SPDX-License-Identifier: Apache-2.0
#include "sim/clients/client_judge.h"

#include <cstring>
#include <utility>

#include "base/digest.h"
#include "sim/world/world.h"

namespace peal::sim {

HistoryRecorder& ClientJudge::recorder() const { return process_.world.recorder(); }
oracle::GroupChecker& ClientJudge::checker() const { return recorder().groups(); }
std::int64_t ClientJudge::now() const { return process_.world.now().ns; }

void ClientJudge::violation(const std::string& client, const std::string& text) const {
  if (recorder().broken()) return;
  recorder().violation(process_.world.now(), "sessions",
                       private_name(client, process_.self.node) + ": " + text);
}

void ClientJudge::note(const SimClient& client, const std::string& text) const {
  if (!recorder().echoes()) return;
  recorder().sent(process_.world.now(),
                  private_name(client.name(), process_.self.node) + " " + text);
}

oracle::ClientId ClientJudge::id_of(std::string_view name) const {
  const oracle::ClientId* id = names_.find(name);
  // Events may name a client that has not read its welcome; such a client has no id yet.
  return id != nullptr ? *id : oracle::ClientId{};
}

// ---- what the node and its daemon do ----

void ClientJudge::doom(Account& account) const {
  if (account.is_reported()) checker().gone(now(), account.id);
  account.doomed = true;
}

void ClientJudge::doom(const std::string& client) { doom(accounts_.at(client)); }

void ClientJudge::sent(const std::string& client, std::uint64_t number,
                       std::vector<std::string> targets, std::uint64_t hash, oracle::OwnCopy own) {
  const Account& account = accounts_.at(client);
  if (!account.is_reported()) return;
  checker().sent(now(), {account.id, number}, targets, hash, own);
  if (process_.status.views == 0) {
    early_.push_back({account.id.connection, number, std::move(targets), hash, own});
  }
}

void ClientJudge::ordered(const std::string& client, std::uint64_t number) {
  const auto at = accounts_.find(client);
  if (at == accounts_.end() || at->second.ordered.insert(number).second) return;
  violation(client, "message " + std::to_string(number) + " is ordered twice");
}

void ClientJudge::mark(const std::string& client, std::uint64_t events, const ViewId& view) {
  const auto at = accounts_.find(client);
  if (at != accounts_.end()) at->second.marks.push_back({events, view});
}

/// Called when the client has received `events` events. For each mark that the client has passed,
/// reports the mark's view to the oracle.
void ClientJudge::come_past_marks(Account& account, std::uint64_t events) const {
  while (!account.marks.empty() && account.marks.front().events <= events) {
    const ViewId view = account.marks.front().view;
    account.marks.pop_front();
    if (account.is_reported()) checker().reached(now(), account.id, view);
  }
}

void ClientJudge::renamed(MemberId before) {
  names_.renamed(before, process_.self);
  for (auto& [client, account] : accounts_) {
    if (!account.is_reported()) continue;
    checker().gone(now(), {before, account.id.connection});
    account.id.node = process_.self;
    checker().connected(now(), account.id, private_name(client, process_.self.node));
  }
  for (const SentEarly& sent : early_) {
    checker().sent(now(), {{process_.self, sent.connection}, sent.number}, sent.targets, sent.hash,
                   sent.own);
  }
}

void ClientJudge::end() {
  for (const auto& [client, account] : accounts_) {
    if (account.id.connection != 0) checker().gone(now(), account.id);
  }
  accounts_.clear();
}

// ---- what clients receive ----

void ClientJudge::started(SimClient& client) {
  Account& account = of(client);
  account.id = {process_.self, next_number()};
  names_.set(client.private_name(), account.id);
  note(client, "is there");
  checker().connected(now(), account.id, client.private_name());
}

void ClientJudge::resumed(SimClient& client) {
  ++recorder().figures().session_resumed;
  note(client, "is back");
}

ClientJudge::Account& ClientJudge::told(const SimClient& client) {
  Account& account = of(client);
  come_past_marks(account, client.events() - 1);
  return account;
}

void ClientJudge::message(SimClient& client, const wire::MessageEvent& event) {
  const Account& account = told(client);
  ++recorder().figures().group_deliveries;
  if (!account.is_reported()) return;
  if (event.payload.size() < kNumberBytes)
    return violation(client.name(), "is given what nobody sent");
  std::uint64_t number = 0;
  std::memcpy(&number, event.payload.data(), kNumberBytes);
  const std::vector<std::string> targets(event.targets.begin(), event.targets.end());
  checker().delivered(now(), account.id, {id_of(event.sender), number}, targets,
                      digest_of(event.payload));
}

void ClientJudge::view(SimClient& client, const wire::GroupViewEvent& event) {
  const Account& account = told(client);
  ++recorder().figures().group_views;
  if (!account.is_reported()) return;
  oracle::GroupView shown;
  shown.id = {event.view, event.index};
  shown.cause = static_cast<oracle::GroupCause>(event.cause);
  for (const wire::GroupMember& member : event.members) {
    shown.members.push_back(id_of(member.name));
    if (member.set == event.own_set) shown.together.push_back(shown.members.back());
  }
  checker().viewed(now(), account.id, std::string(event.group), shown);
}

void ClientJudge::transitional(SimClient& client, std::string_view group) {
  const Account& account = told(client);
  if (!account.is_reported()) return;
  checker().transitional(now(), account.id, std::string(group));
}

void ClientJudge::left(SimClient& client, std::string_view group) {
  const Account& account = told(client);
  if (!account.is_reported()) return;
  checker().left(now(), account.id, std::string(group));
}

void ClientJudge::gap(SimClient& client, const wire::GapEvent& event) {
  Account& account = told(client);
  if (event.reason == wire::GapReason::away) {
    ++recorder().figures().group_gaps;
    note(client,
         "missed messages to " + (event.group.empty() ? "itself" : std::string(event.group)));
    if (!account.is_reported()) return;
    checker().gapped(now(), account.id, std::string(event.group));
    return;
  }
  ++recorder().figures().session_gaps;
  note(client, "missed " + std::to_string(event.messages) + " of " + std::string(event.group));
  doom(account);
  client.goodbye();
}

void ClientJudge::shared(SimClient& /*client*/) { ++recorder().figures().session_shared; }

void ClientJudge::settled(SimClient& client, std::uint64_t number) {
  const Account& account = of(client);
  ++recorder().figures().session_settled;
  if (!account.ordered.contains(number)) {
    violation(client.name(),
              "message " + std::to_string(number) + " is settled and was never ordered");
  }
}

void ClientJudge::ended(SimClient& client, wire::ClientCode code) {
  Account& account = of(client);
  note(client, "ends: " + std::string(wire::client_code_name(code)));
  if (code == wire::ClientCode::slow) ++recorder().figures().sessions_ended_slow;
  doom(account);
}

void ClientJudge::wrong(SimClient& client, const std::string& text) {
  violation(client.name(), text);
}

}  // namespace peal::sim
