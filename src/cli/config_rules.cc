// SPDX-License-Identifier: Apache-2.0
#include "cli/config_rules.h"

#include <grp.h>
#include <pwd.h>

#include <array>
#include <charconv>
#include <functional>
#include <optional>

#include "cli/config_text.h"

namespace peal::cli {
namespace {

using session::ClientRule;
using session::GroupRule;
using session::Who;

constexpr std::string_view kAcceptedWho =
    "\"everyone\", \"user:NAME\", \"group:NAME\", \"certificate:NAME\" or \"secret:FILE\"; NAME of "
    "a user or a group of this machine, or its number";

/// A number, if the text is one.
std::optional<std::uint32_t> number_of(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> user_id(const std::string& name) {
  if (const auto number = number_of(name)) return number;
  std::array<char, 16'384> space{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->pw_uid;
}

std::optional<std::uint32_t> unix_group_id(const std::string& name) {
  if (const auto number = number_of(name)) return number;
  std::array<char, 65'536> space{};
  struct group entry {};
  struct group* found = nullptr;
  ::getgrnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->gr_gid;
}

bool is_text(std::string_view text, std::size_t bytes_max) {
  if (text.empty() || text.size() > bytes_max) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

/// Why `text` names nobody; empty if it does.
std::string read_who(const std::string& text, Who& out) {
  if (text == "everyone") return out = {}, "";
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string name = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (!is_text(name, kind == "secret" ? 4'000 : 255)) return "accepted is";
  if (kind == "user" || kind == "group") {
    const auto id = kind == "user" ? user_id(name) : unix_group_id(name);
    if (!id) return "this machine has no " + kind + " of that name: accepted is";
    out = {kind == "user" ? Who::Kind::uid : Who::Kind::gid, *id, ""};
    return "";
  }
  if (kind == "certificate") return out = {Who::Kind::certificate, 0, name}, "";
  if (kind == "secret") return out = {Who::Kind::secret, 0, name}, "";
  return "accepted is";
}

template <class Rule>
struct RuleKey {
  std::string_view name;
  std::string_view accepted;
  bool needed;
  std::function<bool(const Value&, Rule&)> set;
};

template <class Rule>
std::function<bool(const Value&, Rule&)> pattern_of(std::string Rule::*field) {
  return [field](const Value& value, Rule& rule) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || !is_pattern(*text)) return false;
    rule.*field = *text;
    return true;
  };
}

template <class Rule>
std::function<bool(const Value&, Rule&)> truth_of(bool Rule::*field) {
  return [field](const Value& value, Rule& rule) {
    const auto* truth = std::get_if<bool>(&value);
    if (truth != nullptr) rule.*field = *truth;
    return truth != nullptr;
  };
}

template <class Rule, class T>
std::function<bool(const Value&, Rule&)> number_of_range(T Rule::*field, std::int64_t minimum,
                                                         std::int64_t maximum) {
  return [=](const Value& value, Rule& rule) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < minimum || *number > maximum) return false;
    rule.*field = static_cast<T>(*number);
    return true;
  };
}

std::vector<RuleKey<ClientRule>> client_rule_keys() {
  return {
      {"names", kAcceptedPattern, false, pattern_of(&ClientRule::names)},
      {"sessions_max", "a whole number from 1 to 65536", false,
       number_of_range(&ClientRule::sessions_max, 1, 65'536)},
      {"groups_max", "a whole number from 0 to 1000000", false,
       number_of_range(&ClientRule::groups_max, 0, 1'000'000)},
      {"bytes_per_second", "a whole number from 0 to 1000000000000; 0: no limit", false,
       number_of_range(&ClientRule::bytes_per_second, 0, std::int64_t{session::kQuotaBytesMax})},
      {"admin", "true or false", false, truth_of(&ClientRule::admin)}};
}

std::vector<RuleKey<GroupRule>> group_rule_keys() {
  return {{"groups", kAcceptedPattern, true, pattern_of(&GroupRule::groups)},
          {"join", "true or false", false, truth_of(&GroupRule::join)},
          {"send", "true or false", false, truth_of(&GroupRule::send)},
          {"block", "true or false", false, truth_of(&GroupRule::block)}};
}

/// One table [[client]] or [[group]].
template <class Rule>
Status read_rule(std::string_view file, const std::string& kind,
                 const std::vector<RuleKey<Rule>>& keys, const toml::table& table,
                 std::vector<Rule>& out) {
  Rule rule;
  std::vector<std::string> known{"who"};
  for (const auto& key : keys) known.emplace_back(key.name);
  for (auto&& [name, node] : table) {
    const Place place{file, line_of(name.source())};
    const std::string path = kind + "." + std::string(name.str());
    if (name == "who") {
      const auto* text = node.as_string();
      const std::string why = text == nullptr ? "accepted is" : read_who(text->get(), rule.who);
      if (why.empty()) continue;
      return refuse(place, path + " = " + shown(value_of(node)) + ": " + why + " " +
                               std::string(kAcceptedWho));
    }
    const RuleKey<Rule>* found = nullptr;
    for (const auto& key : keys) {
      if (key.name == name.str()) found = &key;
    }
    if (found == nullptr) return refuse(place, unknown_key(kind + ".", name.str(), node, known));
    if (!found->set(value_of(node), rule)) {
      return refuse(place, not_accepted(path, node, found->accepted));
    }
  }
  const Place place{file, line_of(table.source())};
  if (!table.contains("who")) {
    return refuse(place, kind + ".who is missing: accepted is " + std::string(kAcceptedWho));
  }
  for (const auto& key : keys) {
    if (!key.needed || table.contains(key.name)) continue;
    return refuse(place, kind + "." + std::string(key.name) + " is missing: accepted is " +
                             std::string(key.accepted));
  }
  out.push_back(std::move(rule));
  return {};
}

}  // namespace

bool is_pattern(const std::string& text) {
  return is_text(text, wire::kClientNameMax + 1) &&
         (text.back() == '*' || text.size() <= wire::kClientNameMax) &&
         text.find('*') >= text.size() - 1;
}

Result<void, std::string> read_rules(std::string_view file, const toml::key& kind,
                                     const toml::node& node, session::Options& out) {
  const Place place{file, line_of(kind.source())};
  const std::string name(kind.str());
  const auto* list = node.as_array();
  if (list == nullptr || (!list->empty() && !list->is_homogeneous<toml::table>())) {
    return refuse(place, not_accepted(name, node, "tables [[" + name + "]], each with who"));
  }
  if (list->size() > kRulesMax) {
    return refuse(place, name + " has " + std::to_string(list->size()) +
                             " entries: accepted are 0 to " + std::to_string(kRulesMax));
  }
  for (const auto& entry : *list) {
    auto done = name == "client"
                    ? read_rule(file, name, client_rule_keys(), *entry.as_table(), out.clients)
                    : read_rule(file, name, group_rule_keys(), *entry.as_table(), out.groups);
    if (!done) return done;
  }
  return {};
}

std::string rules_help() {
  return R"(# Who may connect, and how much each may use; the first that fits decides, and who fits
# none is turned away. who: everyone, user:NAME or group:NAME of this machine (a name or a
# number, known by the Unix socket), certificate:NAME (verified by TLS), or secret:FILE (a file
# whose first line the client knows; nobody but its owner may read it). Without any rule: the user
# who runs this node, and root, may do everything on the Unix socket. They may too where no rule
# says otherwise.
# names: private names that they may have, '*' at the end stands for any rest; default "*".
# sessions_max: clients by this rule, default 1024. groups_max: groups of one client, default 10000.
# bytes_per_second: that one client may send, default 0: no limit.
# admin: may change this node (`peal reload`), default false.
#[[client]]
#who = "group:staff"
#names = "*"
#sessions_max = 1024
#groups_max = 10000
#bytes_per_second = 0
#admin = false

# What may be done with which groups; the first that fits both who and groups decides, and what fits
# none is not allowed. groups: a name, or its beginning and '*'. join, send: default false.
# block: as a member, may make everybody who sends wait for it (JoinOptions), default false.
#[[group]]
#who = "group:staff"
#groups = "news-*"
#join = true
#send = false
#block = false

)";
}

}  // namespace peal::cli
