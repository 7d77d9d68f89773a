// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "session/core.h"

// Requests of clients that have a session.

namespace peal::session {
namespace {

/// What each request costs of a quota in addition to its bytes: even an empty one must be ordered.
constexpr std::size_t kRequestBytes = 64;
/// Answers cost the loop time. Limits for one client, and for all clients that are not
/// administrators.
constexpr Duration kAskEvery = milliseconds(250);
constexpr int kAsksAtOnce = 4;
constexpr Duration kAskEveryAll = milliseconds(25);
constexpr int kAsksAtOnceAll = 40;

std::string quota_text(const ClientRule& rule) {
  return "more than " + std::to_string(rule.bytes_per_second) +
         " bytes per second, of which a request takes " + std::to_string(kRequestBytes) +
         " besides its own; send later, or less";
}

std::string of(std::string_view what, wire::Drop drop) {
  return std::string(what) + " is wrong: " + std::string(wire::drop_name(drop));
}

}  // namespace

// ---- messages ----

Sessions::Core::Handled Sessions::Core::on_send(Connection& from, ByteView body) {
  wire::SendRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, of("a send", drop));
  }
  Session& it = *from.session;
  Account& account = it.account;
  if (request.number <= account.received && !PEAL_MUTANT(sm6_taken_twice)) return Handled::done;
  if (request.number > account.received + 1) {
    return bad_record(from, "the number of a message is " + std::to_string(request.number) +
                                ", after " + std::to_string(account.received));
  }
  const bool too_much =
      account.unsettled_messages >= options_.unsettled_messages_max ||
      (account.unsettled_messages > 0 &&
       account.unsettled_bytes + request.payload.size() > options_.unsettled_bytes_max);
  if (too_much) {
    pause(from, Pause::unsettled);
    return Handled::paused;
  }
  const std::size_t cost = kRequestBytes + body.size();
  if (const auto why = why_not(it, request, cost)) {
    refuse(it, request.number, why->first, why->second);
    return Handled::done;
  }
  const group::Outgoing message{{request.targets.begin(), request.targets.size()},
                                request.service,
                                request.type,
                                request.self_discard,
                                request.payload};
  const auto sent = groups_.send(it.id, message);
  if (!sent && sent.error() == group::Refusal::would_block) {
    pause(from, Pause::node);
    return Handled::paused;
  }
  if (!sent) {
    const bool large = sent.error() == group::Refusal::too_large;
    refuse(it, request.number, large ? wire::ClientCode::too_large : wire::ClientCode::shutdown,
           large ? "the message is longer than any may be" : "the node has stopped");
    return Handled::done;
  }
  ++counters_.messages;
  account.received = std::max(account.received, request.number);
  ++account.unsettled_messages;
  account.unsettled_bytes += request.payload.size();
  it.quota_bytes -= static_cast<std::int64_t>(cost);
  account.last_entry = settlement_.add({submitted_, it.id, account.received,
                                        static_cast<std::uint32_t>(request.payload.size()),
                                        is_safe(request.service)});
  return Handled::done;
}

std::optional<std::pair<wire::ClientCode, std::string>> Sessions::Core::why_not(
    Session& it, const wire::SendRequest& request, std::size_t cost) {
  using Why = std::pair<wire::ClientCode, std::string>;
  if (request.payload.size() > payload_bytes_max()) {
    return Why{wire::ClientCode::too_large,
               "the message has " + std::to_string(request.payload.size()) + " bytes, at most " +
                   std::to_string(payload_bytes_max()) + " are allowed"};
  }
  for (const std::string_view target : request.targets) {
    if (!group::is_target(target)) {
      return Why{wire::ClientCode::bad_name, quoted(target) + " is no group and no private name"};
    }
    if (!may(options_, it.person, GroupWish::send, target)) {
      return Why{
          wire::ClientCode::not_permitted,
          "no rule for groups allows " + person_text(it.person) + " to send to " + quoted(target)};
    }
  }
  if (!has_quota(it, cost)) return Why{wire::ClientCode::over_quota, quota_text(it.rule)};
  return std::nullopt;
}

/// A client can save up the quota of one second. A longer message needs all of it, and leaves a
/// debt.
bool Sessions::Core::has_quota(Session& it, std::size_t bytes) {
  if (it.rule.bytes_per_second == 0) return true;
  const auto rate = static_cast<std::int64_t>(it.rule.bytes_per_second);
  // In microseconds, at most an hour: the products stay below 2^63.
  const std::int64_t elapsed_us =
      std::min<std::int64_t>((now_ - it.quota_at).ns / 1'000, 3'600'000'000);
  const std::int64_t earned =
      rate / 1'000'000 * elapsed_us + rate % 1'000'000 * elapsed_us / 1'000'000;
  if (earned > 0) {
    it.quota_bytes = std::min(rate, it.quota_bytes + earned);
    it.quota_at = now_;
  }
  return it.quota_bytes >= std::min(rate, static_cast<std::int64_t>(bytes));
}

void Sessions::Core::refuse(Session& it, std::uint64_t number, wire::ClientCode code,
                            const std::string& text) {
  ++counters_.refused;
  Account& account = it.account;
  account.received = number;
  account.note_refusal(number, code);
  append(it.connection->control, wire::Refused{number, code, text});
  if (account.unsettled_messages == 0) {
    account.settled = number;
  } else {
    settlement_.extend(account.last_entry, number);
  }
  want_write(*it.connection);
}

// ---- groups ----

Sessions::Core::Handled Sessions::Core::reply(Connection& to, std::uint32_t request,
                                              wire::ClientCode code, std::string_view text) {
  append(to.control, wire::Reply{request, code, text});
  want_write(to);
  return Handled::done;
}

Sessions::Core::Handled Sessions::Core::refused_by_groups(Connection& from, std::uint32_t request,
                                                          group::Refusal why,
                                                          std::string_view group) {
  using wire::ClientCode;
  const std::string name = quoted(group);
  switch (why) {
    case group::Refusal::would_block: pause(from, Pause::node); return Handled::paused;
    case group::Refusal::member_already:
      return reply(from, request, ClientCode::member_already, "a member of " + name + " already");
    case group::Refusal::no_member:
      return reply(from, request, ClientCode::no_member, "no member of " + name);
    case group::Refusal::bad_name:
      return reply(from, request, ClientCode::bad_name,
                   name +
                       " is no name of a group: 1 to 128 bytes without control characters are, "
                       "the first not '#'");
    case group::Refusal::other_nodes: {
      const group::Domains& domains = options_.domains;
      return reply(from, request, ClientCode::not_permitted,
                   name + " is a group of the domain " +
                       quoted(domains.at(domains.of_group(group)).name) +
                       ", and this node is in none of it: join at a node of the domain");
    }
    case group::Refusal::closed:
      return reply(from, request, ClientCode::shutdown, "the node has stopped");
    default:
      return reply(from, request, ClientCode::too_many,
                   "the clients of this node are in as many groups as there is room for: leave "
                   "some, or have limits.message_bytes_max raised, or limits.nodes_max lowered, on "
                   "all nodes");
  }
}

/// Why the client may not be a member with such limits; nothing if it may.
std::optional<std::string> Sessions::Core::why_not(const Session& it, std::string_view group,
                                                   const wire::SlowLimits& asked) const {
  if (!may(options_, it.person, GroupWish::join, group)) {
    return "no rule for groups allows " + person_text(it.person) + " to join " + quoted(group);
  }
  if (limits_of(asked).policy != wire::SlowPolicy::block) return std::nullopt;
  // All senders to the group wait for a member with policy `block`. So that policy needs a right,
  // unless it is the configured default and lasts no longer than the default allows.
  const wire::SlowLimits& normal = options_.slow;
  const std::uint32_t age_ms = limits_of(asked).age_ms;
  const bool by_default = normal.policy == wire::SlowPolicy::block &&
                          (normal.age_ms == 0 || (age_ms > 0 && age_ms <= normal.age_ms));
  if (by_default || may(options_, it.person, GroupWish::block, group)) return std::nullopt;
  return "no rule for groups lets " + person_text(it.person) + " make those who send to " +
         quoted(group) +
         " wait: ask for spill, drop or evict instead of block, or have block = true set in the "
         "[[group]] of the daemon's configuration";
}

Sessions::Core::Handled Sessions::Core::on_join(Connection& from, ByteView body) {
  wire::JoinRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, of("a join", drop));
  }
  Session& it = *from.session;
  const auto too_far = [](std::uint64_t asked, std::uint64_t most) {
    return most > 0 && asked > most;
  };
  const wire::SlowLimits& asked = request.limits;
  const wire::SlowLimits& most = options_.slow_max;
  if (too_far(asked.memory_bytes, most.memory_bytes) ||
      too_far(asked.disk_bytes, most.disk_bytes) || too_far(asked.age_ms, most.age_ms)) {
    return reply(from, request.request, wire::ClientCode::not_permitted,
                 "the limits of a membership may be " + std::to_string(most.memory_bytes) +
                     " bytes in memory, " + std::to_string(most.disk_bytes) +
                     " on disk and an age of " + std::to_string(most.age_ms) +
                     " ms (0: any) at most");
  }
  if (const auto why = why_not(it, request.group, asked)) {
    return reply(from, request.request, wire::ClientCode::not_permitted, *why);
  }
  if (it.groups.size() >= it.rule.groups_max && !it.groups.contains(request.group)) {
    return reply(from, request.request, wire::ClientCode::too_many,
                 "in " + std::to_string(it.groups.size()) +
                     " groups, as many as this client may be; leave some");
  }
  const std::size_t cost = kRequestBytes + body.size();
  if (!has_quota(it, cost)) {
    return reply(from, request.request, wire::ClientCode::over_quota, quota_text(it.rule));
  }
  const auto joined = groups_.join(it.id, request.group);
  if (!joined) return refused_by_groups(from, request.request, joined.error(), request.group);
  it.quota_bytes -= static_cast<std::int64_t>(cost);
  const wire::SlowLimits limits = limits_of(request.limits);
  auto at = it.groups.find(request.group);
  if (at == it.groups.end()) {
    const std::uint32_t slot = it.events.add_membership(std::string(request.group), limits);
    at = it.groups.emplace(request.group, slot).first;
  }
  Membership& member = it.events.membership(at->second);
  member.limits = limits;
  ++member.joins;
  note_block(it, at->second);
  return reply(from, request.request, wire::ClientCode::ok, {});
}

Sessions::Core::Handled Sessions::Core::on_leave(Connection& from, ByteView body) {
  wire::LeaveRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, of("a leave", drop));
  }
  const auto left = groups_.leave(from.session->id, request.group);
  if (!left) return refused_by_groups(from, request.request, left.error(), request.group);
  return reply(from, request.request, wire::ClientCode::ok, {});
}

// ---- the rest ----

/// Allows one question per `every`, and bursts of `at_once`. `next` is when the next one would be
/// due.
bool Sessions::Core::may_ask(Instant& next, Duration every, int at_once) const {
  next = std::max(next, now_);
  if (next - now_ > every * (at_once - 1)) return false;
  next = next + every;
  return true;
}

Sessions::Core::Handled Sessions::Core::on_ask(Connection& from, ByteView body) {
  wire::AskRequest request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, of("an ask", drop));
  }
  const bool admin = from.session->rule.admin;
  if (!may_ask(from.session->next_ask, kAskEvery, kAsksAtOnce) ||
      (!admin && !may_ask(next_ask_, kAskEveryAll, kAsksAtOnceAll))) {
    return reply(from, request.request, wire::ClientCode::over_quota,
                 "asked too often: one question in 250 ms is answered, and of all clients together "
                 "one in 25 ms; ask again later");
  }
  if (!admin && request.what != "status" && request.what.rfind("status ", 0) != 0) {
    return reply(from, request.request, wire::ClientCode::not_permitted,
                 "no rule makes " + person_text(from.session->person) +
                     " an administrator: it may ask for 'status' only");
  }
  const Answer answer = host_.ask(request.what, admin);
  if (answer.text.size() > wire::kReplyTextBytesMax) {
    return reply(from, request.request, wire::ClientCode::too_large,
                 "the answer has " + std::to_string(answer.text.size()) + " bytes, at most " +
                     std::to_string(wire::kReplyTextBytesMax) + " can be told");
  }
  return reply(from, request.request, answer.code, answer.text);
}

Sessions::Core::Handled Sessions::Core::on_seen(Connection& from, ByteView body) {
  wire::Acked request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, of("a seen", drop));
  }
  Session& it = *from.session;
  if (!release_events(it, request.number)) {
    return bad_record(from, "event " + std::to_string(request.number) + " was seen, but only " +
                                std::to_string(it.events.written_events()) + " were told");
  }
  return Handled::done;
}

Sessions::Core::Handled Sessions::Core::on_ping(Connection& from, ByteView body) {
  wire::Acked request;
  if (const wire::Drop drop = decode(body, request); drop != wire::Drop::none) {
    return bad_record(from, of("a ping", drop));
  }
  append(from.control, wire::RecordKind::pong, request);
  want_write(from);
  return Handled::done;
}

Sessions::Core::Handled Sessions::Core::on_goodbye(Connection& from) {
  from.session->leaving = true;
  finish_goodbye(*from.session);
  return Handled::done;
}

}  // namespace peal::session
