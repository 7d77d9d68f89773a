// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "session/core.h"

// The first record of a connection, which begins or resumes a session.

namespace peal::session {
/// The largest payload whose message fits, whatever its targets are.
std::uint32_t Sessions::Core::payload_bytes_max() const {
  return options_.message_bytes_max - kMessageOverheadMax;
}

Sessions::Core::Handled Sessions::Core::turn_away(Connection& from, wire::ClientCode code,
                                                  std::string_view text) {
  ++counters_.turned_away;
  close_connection(from, code, text);
  return Handled::closed;
}

Sessions::Core::Handled Sessions::Core::on_hello(Connection& from, ByteView body) {
  wire::Hello hello;
  const wire::Drop drop = decode(body, hello);
  if (drop == wire::Drop::bad_version) {
    return turn_away(from, wire::ClientCode::bad_version,
                     "the client speaks version " + std::to_string(hello.version) +
                         ", this daemon version " + std::to_string(wire::kClientVersion));
  }
  if (drop != wire::Drop::none) {
    return bad_record(from, "the hello is wrong: " + std::string(wire::drop_name(drop)));
  }
  Person person{from.identity, std::string(hello.secret)};
  if (!hello.secret.empty() && !knows_secret(options_, hello.secret)) {
    return turn_away(from, wire::ClientCode::bad_secret,
                     "the secret is not one of those in the daemon's configuration");
  }
  if (closed_) return turn_away(from, wire::ClientCode::shutdown, "the node has stopped");
  if (hello.session != wire::SessionToken{}) return go_on(from, hello, person);
  return begin(from, hello, std::move(person));
}

Sessions::Core::Handled Sessions::Core::go_on(Connection& from, const wire::Hello& hello,
                                              const Person& person) {
  const auto at = tokens_.find(hello.session);
  Session* it = at == tokens_.end() ? nullptr : at->second;
  const bool lost = it == nullptr || !same_person(it->person, person) || it->leaving ||
                    it->ending != wire::ClientCode::ok;
  if (lost) {
    if (const Ended* ended = find_ended(hello.session, person)) {
      return turn_away(from, ended->code, ended->text);
    }
    return turn_away(from, wire::ClientCode::session_lost,
                     "the session is not known here (any more); begin a new one");
  }
  if (it->connection != nullptr) {
    close_connection(*it->connection, wire::ClientCode::replaced,
                     "the session goes on through another connection");
  }
  if (!it->events.rewind(hello.events_seen)) {
    detach(*it);
    return turn_away(from, wire::ClientCode::bad_record,
                     "events_seen is " + std::to_string(hello.events_seen) + "; the client said " +
                         std::to_string(it->events.released()) + " before, and was told " +
                         std::to_string(it->events.written_events()));
  }
  due(now_);  // the ages of events that are written again still count
  ++counters_.resumed;
  attach(*it, from, hello.events_seen, hello.shares);
  const bool known = release_events(*it, hello.events_seen);
  PEAL_ASSERT(known);  // rewind() accepted it
  return Handled::done;
}

const Ended* Sessions::Core::find_ended(const wire::SessionToken& token,
                                        const Person& person) const {
  const auto found = std::find_if(ended_.begin(), ended_.end(),
                                  [&](const Ended& each) { return each.token == token; });
  return found != ended_.end() && same_person(found->person, person) ? &*found : nullptr;
}

Sessions::Core::Handled Sessions::Core::begin(Connection& from, const wire::Hello& hello,
                                              Person person) {
  std::string name(hello.name);
  const ClientRule* rule = find_rule(options_, person, name);
  if (rule == nullptr) {
    return turn_away(from, wire::ClientCode::not_permitted,
                     "no rule for clients allows " + person_text(person) +
                         (name.empty() ? "" : " the name " + quoted(name)) +
                         "; see [[client]] in the daemon's configuration");
  }
  const std::uint32_t by_rule = by_rule_[static_cast<std::size_t>(rule - options_.clients.data())];
  if (by_rule >= rule->sessions_max || sessions_.size() >= options_.sessions_max) {
    return turn_away(from, wire::ClientCode::too_many,
                     std::to_string(by_rule) + " sessions by this rule and " +
                         std::to_string(sessions_.size()) + " in sum are as many as may be");
  }
  const auto connected = connect_name(*rule, name);
  if (!connected) {
    switch (connected.error()) {
      case group::Refusal::bad_name:
        return turn_away(from, wire::ClientCode::bad_name,
                         quoted(name) +
                             " is no name of a client: 1 to 32 bytes without '#' and "
                             "control characters are");
      case group::Refusal::name_in_use:
        return turn_away(from, wire::ClientCode::name_in_use,
                         "another client of this node has the name " + quoted(name));
      default: return turn_away(from, wire::ClientCode::too_many, "too many clients");
    }
  }
  auto made = std::make_unique<Session>(spool_, *connected, chunks_);
  Session& it = *made;
  it.id = *connected;
  it.name = name;
  it.private_name = "#" + name + "#" + options_.node;
  it.person = std::move(person);
  count_rule(it, rule);
  it.keep = std::min(milliseconds(hello.keep_ms), options_.keep_max);
  it.quota_bytes = static_cast<std::int64_t>(rule->bytes_per_second);
  it.quota_at = now_;
  const std::uint32_t own = it.events.add_membership({}, limits_of({}));
  PEAL_ASSERT(own == 0);
  it.events.membership(0).joins = 1;
  if (it.keep > Duration{}) {
    it.token = host_.draw_token();
    const bool fresh = tokens_.emplace(it.token, &it).second;
    PEAL_ASSERT(fresh);
  }
  sessions_.emplace(it.id, std::move(made));
  note_block(it, 0);
  ++counters_.sessions;
  attach(it, from, std::nullopt, hello.shares);
  return Handled::done;
}

/// Connects a client to the groups; makes up a name if the client asks for none.
Result<std::uint32_t, group::Refusal> Sessions::Core::connect_name(const ClientRule& rule,
                                                                   std::string& name) {
  if (!name.empty()) return groups_.connect(name);
  const std::string_view pattern = rule.names;
  if (pattern.back() != '*') {
    name = pattern;
    return groups_.connect(name);
  }
  const std::string stem(pattern.substr(0, pattern.size() - 1));
  for (;;) {
    name = (stem.empty() ? "c" : stem) + std::to_string(++next_name_);
    const auto connected = groups_.connect(name);
    if (connected || connected.error() != group::Refusal::name_in_use) return connected;
  }
}

void Sessions::Core::attach(Session& it, Connection& to, std::optional<std::uint64_t> events_seen,
                            bool shares) {
  it.connection = &to;
  to.session = &it;
  to.state = State::open;
  Account& account = it.account;
  account.window = std::max(account.window, options_.unsettled_messages_max);
  share(it, to, shares);
  wire::Welcome welcome;
  welcome.session = it.token;
  welcome.resumed = events_seen.has_value();
  welcome.name = it.private_name;
  welcome.node = options_.node;
  welcome.cluster = options_.cluster;
  welcome.message_bytes_max = payload_bytes_max();
  welcome.unsettled_messages_max = options_.unsettled_messages_max;
  welcome.unsettled_bytes_max = options_.unsettled_bytes_max;
  welcome.received = account.received;
  welcome.events_next = events_seen.value_or(0) + 1;
  welcome.keep_ms = milliseconds_of(it.keep);
  welcome.ping_ms = to.identity.local ? 0 : milliseconds_of(options_.ping);
  welcome.shared_bytes = to.region == 0 ? 0 : it.shelf->region.bytes();
  // Refusals precede the acknowledgement that covers them. So the welcome acknowledges only
  // messages before the first refusal; `acked` follows later.
  welcome.acked = account.settled;
  if (!account.refusals.empty()) {
    welcome.acked = std::min(welcome.acked, account.refusals.front().first - 1);
  }
  to.acked_told = welcome.acked;
  append(to.control, welcome);
  to.repeat = account.refusals.empty() ? 0 : account.refusals.front().first;
  if (!to.identity.local) due(now_ + options_.ping);
  want_write(to);
}

}  // namespace peal::session
