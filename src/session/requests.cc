// SPDX-License-Identifier: Apache-2.0
#include "session/requests.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::session {
namespace {

/// Each request takes this many bytes of the quota in addition to its own bytes, because even an
/// empty request must be ordered.
constexpr std::size_t kRequestBytes = 64;
/// Answers to questions take time of the event loop. The first two limits apply to each client; the
/// last two apply to all clients together, except administrators.
constexpr Duration kAskEvery = milliseconds(250);
constexpr int kAsksAtOnce = 4;
constexpr Duration kAskEveryAll = milliseconds(25);
constexpr int kAsksAtOnceAll = 40;

std::string quota_text(const ClientRule& rule) {
  return "more than " + std::to_string(rule.bytes_per_second) +
         " bytes per second, of which a request takes " + std::to_string(kRequestBytes) +
         " besides its own; send later, or less";
}

/// Names to follow a text, in brackets: " (n4, n5)". Empty if there are none, or too many to read.
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 15;
  if (names.empty() || names.size() > kMost) return {};
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? " (" : ", ") + name;
  return text + ")";
}

}  // namespace

// ---- messages ----

Sent Requests::send(Session& it, const wire::SendRequest& request, std::size_t cost) {
  using State = Sent::State;
  const Options& options = context_.options;
  Account& account = it.account;
  if (request.number <= account.received && !PEAL_MUTANT(sm6_taken_twice)) return {};
  if (request.number > account.received + 1) {
    return {State::out_of_order, Link::Pause::none, wire::ClientCode::bad_record,
            "the number of a message is " + std::to_string(request.number) + ", after " +
                std::to_string(account.received)};
  }
  const bool too_much =
      account.unsettled_messages >= options.unsettled_messages_max ||
      (account.unsettled_messages > 0 &&
       account.unsettled_bytes + request.payload.size() > options.unsettled_bytes_max);
  if (too_much) return {State::waits, Link::Pause::unsettled, {}, {}};
  cost += kRequestBytes;
  if (auto why = why_not(it, request, cost)) {
    return refuse(it, request.number, why->first, std::move(why->second));
  }
  const group::Outgoing message{{request.targets.begin(), request.targets.size()},
                                request.service,
                                request.type,
                                request.self_discard,
                                request.payload};
  const auto sent = groups_.send(it.id, message);
  if (!sent && sent.error() == group::Refusal::would_block) {
    return {State::waits, Link::Pause::node, {}, {}};
  }
  if (!sent) {
    if (sent.error() == group::Refusal::no_domain) {
      return refuse(it, request.number, wire::ClientCode::not_permitted,
                    no_domain_text(request.targets));
    }
    const bool large = sent.error() == group::Refusal::too_large;
    return refuse(it, request.number,
                  large ? wire::ClientCode::too_large : wire::ClientCode::shutdown,
                  large ? "the message with the names of its targets is longer than any may be"
                        : "the node has stopped");
  }
  ++context_.counters.messages;
  account.received = std::max(account.received, request.number);
  ++account.unsettled_messages;
  account.unsettled_bytes += request.payload.size();
  it.quota_bytes -= static_cast<std::int64_t>(cost);
  account.last_entry = settlement_.add({context_.submitted, it.id, account.received,
                                        static_cast<std::uint32_t>(request.payload.size()),
                                        is_safe(request.service)});
  return {};
}

std::optional<std::pair<wire::ClientCode, std::string>> Requests::why_not(
    Session& it, const wire::SendRequest& request, std::size_t cost) {
  using Why = std::pair<wire::ClientCode, std::string>;
  if (request.payload.size() > context_.payload_bytes_max()) {
    return Why{wire::ClientCode::too_large,
               "the message has " + std::to_string(request.payload.size()) + " bytes, at most " +
                   std::to_string(context_.payload_bytes_max()) + " are allowed"};
  }
  for (const std::string_view target : request.targets) {
    if (!group::is_target(target)) {
      return Why{wire::ClientCode::bad_name, quoted(target) + " is no group and no private name"};
    }
    if (!may(context_.options, it.person, GroupWish::send, target)) {
      return Why{
          wire::ClientCode::not_permitted,
          "no rule for groups allows " + person_text(it.person) + " to send to " + quoted(target)};
    }
  }
  if (!has_quota(it, cost)) return Why{wire::ClientCode::over_quota, quota_text(it.rule)};
  return std::nullopt;
}

/// True if the client's quota is enough for a request of `bytes` bytes. A client can accumulate the
/// quota of one second. A larger request needs all of it, and leaves the client in debt.
bool Requests::has_quota(Session& it, std::size_t bytes) {
  if (it.rule.bytes_per_second == 0) return true;
  const auto rate = static_cast<std::int64_t>(it.rule.bytes_per_second);
  // At most an hour, so that the products below stay under 2^63.
  const std::int64_t elapsed_us =
      std::min<std::int64_t>((context_.now - it.quota_at).ns / 1'000, 3'600'000'000);
  const std::int64_t earned =
      rate / 1'000'000 * elapsed_us + rate % 1'000'000 * elapsed_us / 1'000'000;
  if (earned > 0) {
    it.quota_bytes = std::min(rate, it.quota_bytes + earned);
    it.quota_at = context_.now;
  }
  return it.quota_bytes >= std::min(rate, static_cast<std::int64_t>(bytes));
}

Sent Requests::refuse(Session& it, std::uint64_t number, wire::ClientCode code, std::string text) {
  ++context_.counters.refused;
  Account& account = it.account;
  account.received = number;
  account.note_refusal(number, code);
  if (account.unsettled_messages == 0) {
    account.settled = number;
  } else {
    settlement_.extend(account.last_entry, number);
  }
  return {Sent::State::refused, Link::Pause::none, code, std::move(text)};
}

/// Names the first target that no domain has.
std::string Requests::no_domain_text(std::span<const std::string_view> targets) const {
  const auto is_nowhere = [this](std::string_view target) {
    return context_.options.domains.of_group(target) == 0;
  };
  const auto at = std::find_if(targets.begin(), targets.end(), is_nowhere);
  PEAL_ASSERT(at != targets.end());
  if (at->front() == '#') {
    return quoted(*at) + " names no node of a domain: private names end in the name of one";
  }
  return quoted(*at) +
         " is a group of no domain: name it in groups of a [[domain]], where \"*\" "
         "stands for all that no other domain names";
}

// ---- groups ----

std::optional<Answer> Requests::answer_of(group::Refusal why, std::string_view group) const {
  using wire::ClientCode;
  const std::string name = quoted(group);
  switch (why) {
    case group::Refusal::would_block: return std::nullopt;
    case group::Refusal::member_already:
      return Answer{ClientCode::member_already, "a member of " + name + " already"};
    case group::Refusal::no_member: return Answer{ClientCode::no_member, "no member of " + name};
    case group::Refusal::bad_name:
      return Answer{ClientCode::bad_name,
                    name +
                        " is no name of a group: 1 to 128 bytes without control characters are, "
                        "the first not '#'"};
    case group::Refusal::no_domain:
      return Answer{ClientCode::not_permitted, no_domain_text({&group, 1})};
    case group::Refusal::other_nodes: {
      const group::Domains& domains = context_.options.domains;
      const group::GroupDomain& domain = domains.at(domains.of_group(group));
      return Answer{ClientCode::not_permitted,
                    name + " is a group of the domain " + quoted(domain.name) +
                        ", which this node is not in: join at a node of the domain" +
                        names_text(domain.node_names)};
    }
    case group::Refusal::closed: return Answer{ClientCode::shutdown, "the node has stopped"};
    default:
      return Answer{
          ClientCode::too_many,
          "the clients of this node are in as many groups as there is room for: leave some, or "
          "have limits.message_bytes_max raised, or limits.nodes_max lowered, on all nodes"};
  }
}

std::optional<std::string> Requests::why_not(const Session& it, std::string_view group,
                                             const wire::SlowLimits& asked) const {
  if (!may(context_.options, it.person, GroupWish::join, group)) {
    return "no rule for groups allows " + person_text(it.person) + " to join " + quoted(group);
  }
  if (backlog_.limits_of(asked).policy != wire::SlowPolicy::block) return std::nullopt;
  // All senders to the group wait for a member with policy `block`. So `block` needs a permission,
  // unless `block` is the default policy and `asked` does not exceed the default age limit.
  const wire::SlowLimits& normal = context_.options.slow;
  const std::uint32_t age_ms = backlog_.limits_of(asked).age_ms;
  const bool by_default = normal.policy == wire::SlowPolicy::block &&
                          (normal.age_ms == 0 || (age_ms > 0 && age_ms <= normal.age_ms));
  if (by_default || may(context_.options, it.person, GroupWish::block, group)) return std::nullopt;
  return "no rule for groups lets " + person_text(it.person) + " make those who send to " +
         quoted(group) +
         " wait: ask for spill, drop or evict instead of block, or have block = true set in the "
         "[[group]] of the daemon's configuration";
}

std::optional<Answer> Requests::join(Session& it, const wire::JoinRequest& request,
                                     std::size_t cost) {
  const auto too_far = [](std::uint64_t asked, std::uint64_t most) {
    return most > 0 && asked > most;
  };
  const wire::SlowLimits& asked = request.limits;
  const wire::SlowLimits& most = context_.options.slow_max;
  if (too_far(asked.memory_bytes, most.memory_bytes) ||
      too_far(asked.disk_bytes, most.disk_bytes) || too_far(asked.age_ms, most.age_ms)) {
    return Answer{wire::ClientCode::not_permitted,
                  "the limits of a membership may be " + std::to_string(most.memory_bytes) +
                      " bytes in memory, " + std::to_string(most.disk_bytes) +
                      " on disk and an age of " + std::to_string(most.age_ms) +
                      " ms (0: any) at most"};
  }
  if (const auto why = why_not(it, request.group, asked)) {
    return Answer{wire::ClientCode::not_permitted, *why};
  }
  if (it.groups.size() >= it.rule.groups_max && !it.groups.contains(request.group)) {
    return Answer{wire::ClientCode::too_many,
                  "in " + std::to_string(it.groups.size()) +
                      " groups, as many as this client may be; leave some"};
  }
  cost += kRequestBytes;
  if (!has_quota(it, cost)) {
    return Answer{wire::ClientCode::over_quota, quota_text(it.rule)};
  }
  const auto joined = groups_.join(it.id, request.group);
  if (!joined) return answer_of(joined.error(), request.group);
  it.quota_bytes -= static_cast<std::int64_t>(cost);
  const wire::SlowLimits limits = backlog_.limits_of(request.limits);
  auto at = it.groups.find(request.group);
  if (at == it.groups.end()) {
    const std::uint32_t slot = it.events.add_membership(std::string(request.group), limits);
    at = it.groups.emplace(request.group, slot).first;
  }
  Membership& member = it.events.membership(at->second);
  member.limits = limits;
  ++member.joins;
  backlog_.note_block(it, at->second);
  return Answer{wire::ClientCode::ok, {}};
}

std::optional<Answer> Requests::leave(Session& it, std::string_view group) {
  const auto left = groups_.leave(it.id, group);
  if (!left) return answer_of(left.error(), group);
  return Answer{wire::ClientCode::ok, {}};
}

// ---- the rest ----

/// Returns true if a question is allowed now. Allowed are one question per `every`, and bursts of
/// `at_once` questions. `next` is the earliest time of the next question at this rate; this
/// function updates it.
bool Requests::may_ask(Instant& next, Duration every, int at_once) const {
  next = std::max(next, context_.now);
  if (next - context_.now > every * (at_once - 1)) return false;
  next = next + every;
  return true;
}

Answer Requests::ask(Session& it, std::string_view what) {
  const bool admin = it.rule.admin;
  if (!may_ask(it.next_ask, kAskEvery, kAsksAtOnce) ||
      (!admin && !may_ask(next_ask_, kAskEveryAll, kAsksAtOnceAll))) {
    return {wire::ClientCode::over_quota,
            "asked too often: one question in 250 ms is answered, and of all clients together "
            "one in 25 ms; ask again later"};
  }
  if (!admin && what != "status" && what.rfind("status ", 0) != 0) {
    return {wire::ClientCode::not_permitted, "no rule makes " + person_text(it.person) +
                                                 " an administrator: it may ask for 'status' only"};
  }
  Answer answer = context_.host.ask(what, admin);
  if (answer.text.size() > wire::kReplyTextBytesMax) {
    return {wire::ClientCode::too_large,
            "the answer has " + std::to_string(answer.text.size()) + " bytes, at most " +
                std::to_string(wire::kReplyTextBytesMax) + " can be told"};
  }
  return answer;
}

void Requests::goodbye(Session& it) {
  it.leaving = true;
  finish_goodbye(it);
}

// ---- acknowledgements ----

void Requests::on_delivered(std::uint64_t number) {
  if (settlement_.came_back(number)) settle();
}

/// With disjoint domains the engine knows the place of a message once enough nodes of each of its
/// domains have it for good.
void Requests::on_placed(std::uint64_t number) {
  settlement_.came_back(number);
  settle();
}

void Requests::settle() {
  settlement_.settle([this](const Settlement::Entry& entry) {
    if (entry.session != 0) acknowledge(entry);
  });
}

void Requests::acknowledge(const Settlement::Entry& entry) {
  ++context_.counters.settled;
  Session* it = registry_.find(entry.session);
  if (it == nullptr) return;
  Account& account = it->account;
  account.settled = entry.up_to;
  --account.unsettled_messages;
  account.unsettled_bytes -= entry.bytes;
  context_.outcome.add(entry.up_to ^ std::uint64_t{it->id} << 32);
  if (it->link != nullptr) {
    it->link->want_write();
    if (it->link->pause == Link::Pause::unsettled) it->link->resume();
  }
  if (it->leaving) finish_goodbye(*it);
}

void Requests::finish_goodbye(Session& it) {
  if (it.account.settled != it.account.received) return;
  registry_.end_later(it, wire::ClientCode::goodbye, "everything that was sent is acknowledged");
}

void Requests::mark() {
  if (!settlement_.needs_marker() || !groups_.mark()) return;
  settlement_.add({context_.submitted, 0, 0, 0, true});
  ++context_.counters.markers;
}

void Requests::check_invariants() const {
  std::uint64_t unsettled = 0;
  for (const auto& [id, it] : registry_.all()) unsettled += it->account.unsettled_messages;
  PEAL_ASSERT(unsettled <= settlement_.size());
}

}  // namespace peal::session
