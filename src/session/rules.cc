// SPDX-License-Identifier: Apache-2.0
#include "session/rules.h"

#include <algorithm>

#include "group/groups.h"

namespace peal::session {
namespace {

/// Compares two secrets. The time depends on their lengths only, so it does not reveal where they
/// differ.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i])) ^
                  static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

std::string bound(const std::string& key, std::uint64_t value, const std::string& accepted) {
  return key + " is " + std::to_string(value) + "; accepted is " + accepted;
}

std::string check_slow(const Options& options) {
  if (options.slow.policy == wire::SlowPolicy::normal) {
    return "slow.policy is not given; accepted is block, spill, drop or evict";
  }
  if (options.slow.memory_bytes < kSlowBytesMin) {
    return bound("slow.memory_bytes", options.slow.memory_bytes,
                 std::to_string(kSlowBytesMin) + " and more");
  }
  if (options.slow.disk_bytes < kSlowBytesMin) {
    return bound("slow.disk_bytes", options.slow.disk_bytes,
                 std::to_string(kSlowBytesMin) + " and more");
  }
  if (options.memory_bytes_max < 4 * kSlowBytesMin) {
    return bound("memory_bytes_max", options.memory_bytes_max,
                 std::to_string(4 * kSlowBytesMin) + " and more");
  }
  return {};
}

bool is_pattern(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  return !pattern.empty() && (star == pattern.npos || star + 1 == pattern.size());
}

}  // namespace

bool same_person(const Person& a, const Person& b) {
  return a.identity.kind == b.identity.kind && a.identity.uid == b.identity.uid &&
         a.identity.name == b.identity.name && same_secret(a.secret, b.secret);
}

std::string person_text(const Person& person) {
  const Identity& identity = person.identity;
  switch (identity.kind) {
    case Identity::Kind::unix_user:
      if (identity.name.empty()) return "user " + std::to_string(identity.uid);
      return "user " + identity.name + " (" + std::to_string(identity.uid) + ")";
    case Identity::Kind::certificate: return "certificate " + identity.name;
    case Identity::Kind::unknown: break;
  }
  return person.secret.empty() ? "nobody known" : "holder of a secret";
}

bool fits(const Who& who, const Person& person) {
  const Identity& identity = person.identity;
  const bool is_user = identity.kind == Identity::Kind::unix_user;
  switch (who.kind) {
    case Who::Kind::everyone: return true;
    case Who::Kind::uid: return is_user && identity.uid == who.id;
    case Who::Kind::gid:
      return is_user && std::binary_search(identity.groups.begin(), identity.groups.end(), who.id);
    case Who::Kind::certificate:
      return identity.kind == Identity::Kind::certificate && fits(who.text, identity.name);
    case Who::Kind::secret: return !who.text.empty() && same_secret(who.text, person.secret);
  }
  return false;
}

const ClientRule* find_rule(const Options& options, const Person& person, std::string_view name) {
  for (const ClientRule& rule : options.clients) {
    if (fits(rule.who, person) && (name.empty() || fits(rule.names, name))) return &rule;
  }
  return nullptr;
}

bool knows_secret(const Options& options, std::string_view secret) {
  bool known = false;
  for (const ClientRule& rule : options.clients) {
    known = (rule.who.kind == Who::Kind::secret && same_secret(rule.who.text, secret)) || known;
  }
  return known;
}

bool may(const Options& options, const Person& person, GroupWish wish, std::string_view target) {
  for (const GroupRule& rule : options.groups) {
    if (!fits(rule.who, person) || !fits(rule.groups, target)) continue;
    switch (wish) {
      case GroupWish::join: return rule.join;
      case GroupWish::send: return rule.send;
      case GroupWish::block: return rule.block;
    }
  }
  return false;
}

group::Options group_options(const Options& options) {
  return {options.node,
          options.nodes,
          std::max(options.message_bytes_max, options.tables_bytes_max),
          options.sessions_max,
          options.domains,
          options.companies};
}

std::string validate(const Options& options) {
  if (options.sessions_max < 1) return bound("sessions_max", options.sessions_max, "1 and more");
  if (std::string wrong = group::validate(group_options(options)); !wrong.empty()) return wrong;
  if (options.cluster.empty() || options.cluster.size() > wire::kClientNameMax) {
    return "the name of the cluster has " + std::to_string(options.cluster.size()) +
           " bytes; accepted are 1 to " + std::to_string(wire::kClientNameMax);
  }
  const std::uint32_t least =
      options.domains.is_disjoint() ? kUnitMessageBytesMin : 2 * kMessageOverheadMax;
  if (options.message_bytes_max < least) {
    return bound("message_bytes_max", options.message_bytes_max,
                 std::to_string(least) + " and more");
  }
  const std::uint64_t record = std::uint64_t{options.message_bytes_max} + wire::kRequestLengthMax;
  if (options.input_bytes_max < record) {
    return bound("input_bytes_max", options.input_bytes_max,
                 std::to_string(record) + " and more: one record of the largest message");
  }
  if (options.unsettled_messages_max < 1 || options.unsettled_bytes_max < 1) {
    return "unsettled_messages_max and unsettled_bytes_max are " +
           std::to_string(options.unsettled_messages_max) + " and " +
           std::to_string(options.unsettled_bytes_max) + "; accepted is 1 and more";
  }
  for (const Duration each : {options.hello_patience, options.ping}) {
    if (each <= Duration{}) return "hello_patience and ping: accepted is more than 0";
  }
  for (const ClientRule& rule : options.clients) {
    if (!is_pattern(rule.names)) {
      return "names of a client rule is '" + rule.names +
             "'; accepted is a name, which may end in '*'";
    }
    if (rule.bytes_per_second > kQuotaBytesMax) {
      return bound("bytes_per_second", rule.bytes_per_second,
                   "0 to " + std::to_string(kQuotaBytesMax));
    }
  }
  for (const GroupRule& rule : options.groups) {
    if (!is_pattern(rule.groups)) {
      return "groups of a group rule is '" + rule.groups +
             "'; accepted is a name, which may end in '*'";
    }
  }
  return check_slow(options);
}

}  // namespace peal::session
