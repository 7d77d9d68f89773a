// SPDX-License-Identifier: Apache-2.0
// The tables [[client]] and [[group]].

#include <grp.h>
#include <pwd.h>

#include <array>
#include <optional>
#include <utility>

#include "config/file/lists.h"

namespace peal::config {
namespace {

using session::ClientRule;
using session::GroupRule;
using session::Who;

std::optional<std::uint32_t> user_id(const std::string& name) {
  if (const auto number = number_in<std::uint32_t>(name, 0, UINT32_MAX)) return number;
  std::array<char, 16'384> space{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->pw_uid;
}

std::optional<std::uint32_t> unix_group_id(const std::string& name) {
  if (const auto number = number_in<std::uint32_t>(name, 0, UINT32_MAX)) return number;
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

/// Parses `text`, which names the clients of a rule. Returns false if `text` is not accepted.
bool read_who(const std::string& text, Who& out) {
  if (text == "everyone") return out = {}, true;
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string name = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (!is_text(name, kind == "secret" ? 4'000 : 255)) return false;
  if (kind == "user" || kind == "group") {
    const auto id = kind == "user" ? user_id(name) : unix_group_id(name);
    if (id) out = {kind == "user" ? Who::Kind::uid : Who::Kind::gid, *id, ""};
    return id.has_value();
  }
  if (kind == "certificate") return out = {Who::Kind::certificate, 0, name}, true;
  if (kind == "secret") return out = {Who::Kind::secret, 0, name}, true;
  return false;
}

/// If `value`, the clients of a rule, names a user or a group that this machine does not have: the
/// reason why it is not accepted. Otherwise empty.
std::string why_nobody(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto colon = text == nullptr ? std::string::npos : text->find(':');
  if (colon == std::string::npos || !is_text(text->substr(colon + 1), 255)) return {};
  const std::string kind = text->substr(0, colon);
  if (kind != "user" && kind != "group") return {};
  return "this machine has no " + kind + " of that name: ";
}

template <class Rule>
Key<Rule> who_key(std::string table) {
  Key<Rule> key{std::move(table), "who", "the clients that the rule is about"};
  key.accepted =
      "\"everyone\", \"user:NAME\", \"group:NAME\", \"certificate:NAME\" or \"secret:FILE\"; NAME "
      "of a user or a group of this machine, or its number";
  key.example = "\"group:staff\"";
  key.absent = "needed";
  key.needed = true;
  key.set = [](const Value& value, Rule& rule) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && read_who(*text, rule.who);
  };
  key.why = &why_nobody;
  return key;
}

template <class Rule, class Field>
Key<Rule> pattern_key(KeyText text, Field field) {
  return text_key<Rule>(
      std::move(text), std::string(kAcceptedPattern), "",
      [](const std::string& typed) { return is_pattern(typed); }, field);
}

std::vector<Key<ClientRule>> make_client_keys() {
  std::vector<Key<ClientRule>> keys{who_key<ClientRule>("client")};
  keys.push_back(pattern_key<ClientRule>(
      {"client", "names",
       "private names that the client may "
       "have"},
      [](auto& rule) -> auto& { return rule.names; }));
  keys.push_back(number_key<ClientRule>(
      {"client", "sessions_max",
       "clients by this rule at one "
       "time"},
      1, 65'536, [](auto& rule) -> auto& { return rule.sessions_max; }));
  keys.push_back(number_key<ClientRule>(
      {"client", "groups_max", "groups that one client may be a member of"}, 0, 1'000'000,
      [](auto& rule) -> auto& { return rule.groups_max; }));
  keys.push_back(number_key<ClientRule>(
      {"client", "bytes_per_second",
       "bytes of messages and joins that one client may send, each with its names and 64 more; 0: "
       "no limit"},
      0, std::int64_t{session::kQuotaBytesMax},
      [](auto& rule) -> auto& { return rule.bytes_per_second; }));
  keys.push_back(flag_key<ClientRule>(
      {"client", "admin", "may change this node: `peal reload`"},
      [](auto& rule) -> auto& { return rule.admin; }));
  return keys;
}

std::vector<Key<GroupRule>> make_group_keys() {
  std::vector<Key<GroupRule>> keys{who_key<GroupRule>("group")};
  keys.push_back(pattern_key<GroupRule>(
      {"group", "groups", "the groups and private names"},
      [](auto& rule) -> auto& { return rule.groups; }));
  keys.back().needed = true;
  keys.back().normal.clear();
  keys.back().example = "\"news-*\"";
  keys.back().absent = "needed";
  keys.push_back(flag_key<GroupRule>(
      {"group", "join", "may be a member"}, [](auto& rule) -> auto& { return rule.join; }));
  keys.back().example = "true";
  keys.push_back(flag_key<GroupRule>(
      {"group", "send", "may send to them"}, [](auto& rule) -> auto& { return rule.send; }));
  keys.push_back(flag_key<GroupRule>(
      {"group", "block",
       "may be a member with the policy block, so that all senders wait for it, for any length of "
       "time. Without this right a client that asks for block is refused. With slow = "
       "\"block\" in [clients] all members have that policy who ask for no other; then slow_age_ms "
       "should be set, which they cannot prolong without the right"},
      [](auto& rule) -> auto& { return rule.block; }));
  return keys;
}

template <class Rule>
Status read_rules(const List<Rule>& list, const toml::key& name, const toml::node& node,
                  std::string_view file, std::vector<Rule>& out) {
  const auto tables = tables_of({file, line_of(name.source())}, list.name, node,
                                accepted_tables(list), list.least, list.most);
  if (!tables) return unexpected(tables.error());
  for (const toml::table* table : *tables) {
    Rule rule;
    Lines lines;
    auto read =
        read_table(file, list, *table, rule, lines, [](const Rule&) { return std::string(); });
    if (!read) return read;
    out.push_back(std::move(rule));
  }
  return {};
}

}  // namespace

bool is_pattern(const std::string& text) {
  return is_text(text, wire::kClientNameMax + 1) &&
         (text.back() == '*' || text.size() <= wire::kClientNameMax) &&
         text.find('*') >= text.size() - 1;
}

const List<ClientRule>& client_list() {
  static const std::vector<Key<ClientRule>> kKeys = make_client_keys();
  static const List<ClientRule> kList{
      "client", 0, kRulesMax, kKeys,
      "Who may connect, and how much each may use; the first that fits decides, and a client that "
      "fits none is refused. Users and groups of this machine are known by the Unix socket, "
      "certificates "
      "are verified by TLS, and a secret is the first line of a file, 16 to 256 bytes, which the "
      "client says when it connects; nobody but its owner may be able to read the file. Without "
      "any rule: the user who runs this node, and root, may do everything on the Unix socket. They "
      "may too where no rule says otherwise"};
  return kList;
}

const List<GroupRule>& group_list() {
  static const std::vector<Key<GroupRule>> kKeys = make_group_keys();
  static const List<GroupRule> kList{
      "group", 0, kRulesMax, kKeys,
      "What may be done with which groups; the first that fits both the client and a group (or a "
      "private name that it sends to) decides, and what fits none is not allowed"};
  return kList;
}

Status read_clients(const toml::key& name, const toml::node& node, File& out) {
  return read_rules(client_list(), name, node, out.path, out.clients.sessions.clients);
}

Status read_groups(const toml::key& name, const toml::node& node, File& out) {
  return read_rules(group_list(), name, node, out.path, out.clients.sessions.groups);
}

}  // namespace peal::config
