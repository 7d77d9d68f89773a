// SPDX-License-Identifier: Apache-2.0
#include "session/registry.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::session {

Session* Registry::find(std::uint32_t id) const {
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? nullptr : at->second.get();
}

Session* Registry::find(const wire::SessionToken& token) const {
  const auto at = tokens_.find(token);
  return at == tokens_.end() ? nullptr : at->second;
}

Session* Registry::find(std::string_view private_name) const {
  for (const auto& [id, it] : sessions_) {
    if (it->private_name == private_name) return it.get();
  }
  return nullptr;
}

const Ended* Registry::find_ended(const wire::SessionToken& token, const Person& person) const {
  const auto found = std::find_if(ended_.begin(), ended_.end(),
                                  [&](const Ended& each) { return each.token == token; });
  return found != ended_.end() && same_person(found->person, person) ? &*found : nullptr;
}

void Registry::add(std::unique_ptr<Session> session) {
  if (session->keep > Duration{}) {
    const bool fresh = tokens_.emplace(session->token, session.get()).second;
    PEAL_ASSERT(fresh);
  }
  const std::uint32_t id = session->id;
  const bool added = sessions_.emplace(id, std::move(session)).second;
  PEAL_ASSERT(added);
}

void Registry::remove(Session& it, wire::ClientCode code, std::string_view text) {
  if (it.keep > Duration{}) {
    note_ended(it, code, text);
    tokens_.erase(it.token);
  }
  if (it.rule_index) --by_rule_[*it.rule_index];
  sessions_.erase(it.id);
}

void Registry::note_ended(const Session& it, wire::ClientCode code, std::string_view text) {
  // After a goodbye the client does not resume. After a silence, the answer session_lost is enough.
  if (code == wire::ClientCode::goodbye || code == wire::ClientCode::silent) return;
  if (ended_.size() == kEndedMax) ended_.pop_front();
  ended_.push_back({it.token, it.person, code, std::string(text)});
}

void Registry::end_later(Session& it, wire::ClientCode code, std::string text) {
  PEAL_ASSERT(code != wire::ClientCode::ok);
  if (it.is_ending()) return;
  it.ending = code;
  it.ending_text = std::move(text);
  ending_.push_back(it.id);
}

void Registry::set_rule(Session& it, const ClientRule* rule) {
  it.rule_index.reset();
  if (rule == nullptr) return;
  it.rule = *rule;
  it.rule_index = index_of(*rule);
  ++by_rule_[*it.rule_index];
}

void Registry::check_invariants() const {
  PEAL_ASSERT(ended_.size() <= kEndedMax);
  std::vector<std::uint32_t> by_rule(options_.clients.size());
  std::size_t kept = 0;
  for (const auto& [id, it] : sessions_) {
    PEAL_ASSERT(it->id == id);
    PEAL_ASSERT(it->account.settled <= it->account.received);
    PEAL_ASSERT(it->link == nullptr || it->link->session == it.get());
    PEAL_ASSERT((it->keep > Duration{}) == tokens_.contains(it->token));
    if (it->keep > Duration{}) ++kept;
    if (it->rule_index) ++by_rule[*it->rule_index];
    const bool listed = std::find(ending_.begin(), ending_.end(), id) != ending_.end();
    PEAL_ASSERT(it->is_ending() == listed);
  }
  PEAL_ASSERT(kept == tokens_.size());
  PEAL_ASSERT(by_rule == by_rule_);
}

}  // namespace peal::session
