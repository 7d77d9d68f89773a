// SPDX-License-Identifier: Apache-2.0
#include "session/lifecycle.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.h"

namespace peal::session {
namespace {

std::optional<Denial> deny(wire::ClientCode code, std::string text) {
  return Denial{code, std::move(text)};
}

}  // namespace

// ---- the beginning ----

std::optional<Denial> Lifecycle::enter(Link& link, const wire::Hello& hello) {
  Person person{link.identity, std::string(hello.secret)};
  if (!hello.secret.empty() && !knows_secret(context_.options, hello.secret)) {
    return deny(wire::ClientCode::bad_secret,
                "the secret is not one of those in the daemon's configuration");
  }
  if (context_.node_closed) return deny(wire::ClientCode::shutdown, "the node has stopped");
  if (hello.session != wire::SessionToken{}) return resume(link, hello, person);
  return begin(link, hello, std::move(person));
}

std::optional<Denial> Lifecycle::resume(Link& link, const wire::Hello& hello,
                                        const Person& person) {
  Session* it = registry_.find(hello.session);
  const bool lost =
      it == nullptr || !same_person(it->person, person) || it->leaving || it->is_ending();
  if (lost) {
    if (const Ended* ended = registry_.find_ended(hello.session, person)) {
      return deny(ended->code, ended->text);
    }
    return deny(wire::ClientCode::session_lost,
                "the session is not known here (any more); begin a new one");
  }
  if (it->link != nullptr) {
    it->link->close(wire::ClientCode::replaced, "the session goes on through another connection");
  }
  if (!it->events.rewind(hello.events_seen)) {
    detach(*it);
    return deny(wire::ClientCode::bad_record,
                "events_seen is " + std::to_string(hello.events_seen) + "; the client said " +
                    std::to_string(it->events.released()) + " before, and was told " +
                    std::to_string(it->events.written_events()));
  }
  context_.due(context_.now);  // check the ages of events that are written again
  ++context_.counters.resumed;
  attach(*it, link, hello.events_seen, hello.shares);
  const bool known = backlog_.release_events(*it, hello.events_seen);
  PEAL_ASSERT(known);  // rewind() accepted events_seen
  return std::nullopt;
}

std::optional<Denial> Lifecycle::begin(Link& link, const wire::Hello& hello, Person person) {
  const Options& options = context_.options;
  std::string name(hello.name);
  const ClientRule* rule = find_rule(options, person, name);
  if (rule == nullptr) {
    return deny(wire::ClientCode::not_permitted,
                "no rule for clients allows " + person_text(person) +
                    (name.empty() ? "" : " the name " + quoted(name)) +
                    "; see [[client]] in the daemon's configuration");
  }
  const std::uint32_t by_rule = registry_.count_of(*rule);
  if (by_rule >= rule->sessions_max || registry_.size() >= options.sessions_max) {
    return deny(wire::ClientCode::too_many,
                std::to_string(by_rule) + " sessions by this rule and " +
                    std::to_string(registry_.size()) + " in all are the most that are allowed");
  }
  const auto connected = connect_name(*rule, name);
  if (!connected) {
    switch (connected.error()) {
      case group::Refusal::bad_name:
        return deny(wire::ClientCode::bad_name,
                    quoted(name) +
                        " is no name of a client: 1 to 32 bytes without '#' and "
                        "control characters are");
      case group::Refusal::name_in_use:
        return deny(wire::ClientCode::name_in_use,
                    "another client of this node has the name " + quoted(name));
      default: return deny(wire::ClientCode::too_many, "too many clients");
    }
  }
  auto made = std::make_unique<Session>(spool_, *connected, chunks_);
  Session& it = *made;
  it.id = *connected;
  it.name = name;
  it.private_name = "#" + name + "#" + options.node;
  it.person = std::move(person);
  registry_.set_rule(it, rule);
  it.keep = std::min(milliseconds(hello.keep_ms), options.keep_max);
  it.quota_bytes = static_cast<std::int64_t>(rule->bytes_per_second);
  it.quota_at = context_.now;
  const std::uint32_t own = it.events.add_membership({}, backlog_.limits_of({}));
  PEAL_ASSERT(own == 0);
  it.events.membership(0).joins = 1;
  if (it.keep > Duration{}) it.token = context_.host.draw_token();
  registry_.add(std::move(made));
  backlog_.note_block(it, 0);
  ++context_.counters.sessions;
  attach(it, link, std::nullopt, hello.shares);
  return std::nullopt;
}

/// Connects a client to the groups. If `name` is empty, first sets it to a name that the rule
/// allows.
Result<std::uint32_t, group::Refusal> Lifecycle::connect_name(const ClientRule& rule,
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

void Lifecycle::attach(Session& it, Link& to, std::optional<std::uint64_t> events_seen,
                       bool shares) {
  const Options& options = context_.options;
  PEAL_ASSERT(it.link == nullptr && to.session == nullptr);
  it.link = &to;
  to.session = &it;
  Account& account = it.account;
  account.window = std::max(account.window, options.unsettled_messages_max);
  regions_.attach(it, to, shares);
  wire::Welcome welcome;
  welcome.session = it.token;
  welcome.resumed = events_seen.has_value();
  welcome.name = it.private_name;
  welcome.node = options.node;
  welcome.cluster = options.cluster;
  welcome.message_bytes_max = context_.payload_bytes_max();
  welcome.unsettled_messages_max = options.unsettled_messages_max;
  welcome.unsettled_bytes_max = options.unsettled_bytes_max;
  welcome.received = account.received;
  welcome.events_next = events_seen.value_or(0) + 1;
  welcome.keep_ms = milliseconds_of(it.keep);
  welcome.ping_ms = to.identity.local ? 0 : milliseconds_of(options.ping);
  welcome.shared_bytes = to.region == 0 ? 0 : it.shared->region.bytes();
  // A refusal must be written before the acknowledgement that covers it. So the welcome
  // acknowledges only messages before the first refusal that the client may have missed; later
  // messages are acknowledged once the refusals were repeated.
  const std::uint64_t refusal = account.refusals.empty() ? 0 : account.refusals.front().first;
  welcome.acked = account.settled;
  if (refusal > 0) welcome.acked = std::min(welcome.acked, refusal - 1);
  to.welcome(welcome, refusal);
}

std::string_view Lifecycle::map_region(Session& it) {
  if (it.link->region == 0) return "no memory was shared with the client";
  if (it.events.shares()) return "a second mapped";
  it.events.set_shares(true);
  return {};
}

// ---- the end ----

void Lifecycle::detach(Session& it) {
  it.link = nullptr;
  it.detached_at = context_.now;
  if (it.leaving) return;  // the session ends once all its messages are acknowledged
  if (it.keep == Duration{}) {
    registry_.end_later(it, wire::ClientCode::silent, "the connection is gone");
  } else {
    context_.due(context_.now + it.keep);
  }
}

void Lifecycle::end(Session& it, wire::ClientCode code, std::string_view text) {
  if (it.link != nullptr) {
    regions_.keep_places(it);
    it.link->close(code, text);
  }
  groups_.disconnect(it.id, code);
  backlog_.forget(it);
  regions_.leave(it);
  registry_.remove(it, code, text);
}

void Lifecycle::end_due() {
  registry_.end_due([this](Session& it) {
    if (it.ending == wire::ClientCode::slow) ++context_.counters.evicted;
    if (it.ending == wire::ClientCode::silent) ++context_.counters.silent;
    end(it, it.ending, it.ending_text);
  });
}

bool Lifecycle::evict(std::string_view private_name) {
  Session* it = registry_.find(private_name);
  if (it == nullptr) return false;
  registry_.end_later(*it, wire::ClientCode::evicted, "an administrator ended the session");
  return true;
}

void Lifecycle::check() {
  for (const auto& [id, it] : registry_.all()) check(*it);
}

void Lifecycle::check(Session& it) {
  if (it.link == nullptr && !it.leaving) {  // a session with keep 0 is already ending
    const Instant deadline = it.detached_at + it.keep;
    if (deadline > context_.now) {
      context_.due(deadline);
    } else {
      registry_.end_later(it, wire::ClientCode::silent, "the client did not come back in time");
    }
  }
  backlog_.check_ages(it);
}

void Lifecycle::stop() {
  while (registry_.size() > 0) {
    Session& it = *registry_.all().begin()->second;
    end(it, wire::ClientCode::shutdown, "the daemon stops");
  }
}

}  // namespace peal::session
