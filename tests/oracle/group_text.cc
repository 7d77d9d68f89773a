// SPDX-License-Identifier: Apache-2.0
#include "group_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/digest.h"

namespace peal::oracle::test {
namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view text, char separator) {
  Words parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

constexpr std::array<std::string_view, 4> kCauses{"join", "leave", "disconnect", "network"};

class GroupReader {
 public:
  explicit GroupReader(GroupText& out) : out_(out) {}

  std::string error;

  void line(std::size_t number, std::string_view text) {
    event_ = GroupEvent();
    event_.at = static_cast<std::int64_t>(number);
    const Words words = split(text, ' ');
    if (words[0] == "breaks") {
      for (std::size_t i = 1; i < words.size(); ++i) out_.breaks.emplace(words[i]);
    } else if (words[0] == "says") {
      out_.says.emplace_back(text.substr(text.find(' ') + 1));
    } else if (words[0] == "sessions") {
      out_.at_once = false;
    } else if (words[0] == "companies") {
      out_.companies = true;
    } else if (words[0] == "crash-stop") {
      out_.crash_stop = true;
    } else if (words[0] == "domains") {
      for (std::size_t i = 1; i < words.size(); ++i) {
        std::vector<NodeId>& nodes = out_.domains.emplace_back();
        for (const std::string_view each : split(words[i], ',')) nodes.push_back(node(each).node);
      }
    } else if (words.size() < 2) {
      fail("a line needs somebody and a verb");
    } else {
      for (const std::string_view who : split(words[0], ',')) act(who, words);
    }
  }

 private:
  void fail(const std::string& what) {
    if (error.empty()) error = what;
  }

  std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) {
      fail("'" + std::string(text) + "' is not a number");
    }
    return value;
  }

  // A node is a letter; a number behind the letter means a later incarnation.
  MemberId node(std::string_view text) {
    const bool fine = !text.empty() && text[0] >= 'a' && text[0] <= 'z';
    if (!fine) fail("'" + std::string(text) + "' is not a node");
    return {out_.names.intern(fine ? text.substr(0, 1) : "x"),
            text.size() > 1 ? number(text.substr(1)) : 1};
  }

  ClientId client(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
      fail("'" + std::string(text) + "' is not a client");
      return {};
    }
    return {node(text.substr(0, slash)),
            static_cast<std::uint32_t>(number(text.substr(slash + 1)))};
  }

  std::vector<ClientId> clients(std::string_view text) {
    std::vector<ClientId> out;
    for (const std::string_view part : split(text, ',')) out.push_back(client(part));
    return out;
  }

  ViewId view(std::string_view text) {
    const std::size_t at = text.find('@');
    return {number(text.substr(0, at)),
            node(at == std::string_view::npos ? "a" : text.substr(at + 1))};
  }

  GroupViewId group_view(std::string_view text) {
    const std::size_t plus = std::min(text.find('+'), text.size());
    return {view(text.substr(0, plus)), number(text.substr(std::min(plus + 1, text.size())))};
  }

  void act(std::string_view who, const Words& words) {
    const std::string_view verb = words[1];
    if (verb == "exchange" || verb == "table" || verb == "enter" || verb == "part") {
      return act_of_node(who, words);
    }
    if (verb == "order") return order(who, words);
    event_.client = client(who);
    if (verb == "connect" || verb == "gone") {
      event_.name.clear();
      if (verb == "connect" && words.size() == 3) event_.name = words[2];
      if (words.size() != (event_.name.empty() ? 2 : 3)) {
        return fail("nothing may follow '" + std::string(verb) + "'");
      }
      return emit(verb == "gone" ? GroupVerb::gone : GroupVerb::connect);
    }
    if (words.size() < 3) return fail("what does it " + std::string(verb) + "?");
    if (verb == "reach") {
      event_.in = view(words[2]);
      return emit(GroupVerb::reach);
    }
    if (verb == "send" || verb == "dlv") return message(words);
    event_.group = words[2];
    if (verb == "gap") {
      if (event_.group == "own") event_.group.clear();
      return emit(GroupVerb::gap);
    }
    if (verb == "trans") return emit(GroupVerb::transitional);
    if (verb == "left") return emit(GroupVerb::left);
    if (verb == "view") return told(words);
    fail("unknown verb '" + std::string(verb) + "'");
  }

  void act_of_node(std::string_view who, const Words& words) {
    event_.client.node = node(who);
    if (words.size() < 3) return fail("in which view?");
    event_.in = view(words[2]);
    if (words[1] == "enter") return emit(GroupVerb::enter);
    if (words[1] == "part") return emit(GroupVerb::part);
    if (words[1] == "exchange") {
      if (words.size() != 4) return fail("exchange needs a view and a hash");
      event_.hash = number(words[3]);
      return emit(GroupVerb::exchange);
    }
    event_.entries.clear();
    for (std::size_t i = 3; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      const std::size_t colon = words[i].find(':');
      if (equals == std::string_view::npos || colon == std::string_view::npos) {
        return fail("'" + std::string(words[i]) + "' is not an entry");
      }
      event_.entries.push_back({std::string(words[i].substr(0, equals)),
                                group_view(words[i].substr(equals + 1, colon - equals - 1)),
                                clients(words[i].substr(colon + 1))});
    }
    emit(GroupVerb::table);
  }

  // Reads `NODE order [unplaced] MESSAGE…`.
  void order(std::string_view who, const Words& words) {
    event_.client.node = node(who);
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "unplaced") {
        event_.placing = Placing::unplaced;
        continue;
      }
      const auto known = messages_.find(words[i]);
      if (known == messages_.end()) return fail("'" + std::string(words[i]) + "' was not sent");
      event_.message = known->second.id;
      event_.groups = known->second.groups;
      emit(GroupVerb::order);
    }
  }

  // Reads `CLIENT view GROUP ID CAUSE MEMBERS [with COMPANY]`.
  void told(const Words& words) {
    if (words.size() < 6) return fail("view needs a group, an id, a cause and members");
    event_.view.id = group_view(words[3]);
    const auto cause = std::find(kCauses.begin(), kCauses.end(), words[4]);
    if (cause == kCauses.end()) return fail("'" + std::string(words[4]) + "' is not a cause");
    event_.view.cause = static_cast<GroupCause>(cause - kCauses.begin());
    event_.view.members = clients(words[5]);
    event_.view.together = event_.view.members;
    if (words.size() == 8 && words[6] == "with") {
      event_.view.together = words[7] == "me" ? std::vector{event_.client} : clients(words[7]);
    } else if (words.size() != 6) {
      return fail("only 'with' and clients may follow the members");
    }
    emit(GroupVerb::view);
  }

  // Reads `CLIENT send MESSAGE… to GROUPS [wanted | unwanted]`, or `CLIENT dlv MESSAGE… [to GROUPS]
  // [from CLIENT] [other bytes]`.
  void message(const Words& words) {
    const bool sends = words[1] == "send";
    Words names;
    std::vector<std::string> groups;
    ClientId from = event_.client;
    std::uint64_t lie = 0;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const bool more = i + 1 < words.size();
      if (words[i] == "to" && more) {
        for (const std::string_view group : split(words[++i], ',')) groups.emplace_back(group);
      } else if (words[i] == "from" && more) {
        from = client(words[++i]);
      } else if (words[i] == "other" && more) {
        ++i;
        lie = 1;
      } else if (words[i] == "wanted" || words[i] == "unwanted") {
        event_.own = words[i] == "wanted" ? OwnCopy::wanted : OwnCopy::unwanted;
      } else {
        names.push_back(words[i]);
      }
    }
    for (const std::string_view name : names) {
      auto known = messages_.find(name);
      if (known == messages_.end()) {
        known = messages_.emplace(name, Message{{from, ++numbers_[from]}, groups}).first;
      }
      event_.message = known->second.id;
      event_.groups = groups.empty() ? known->second.groups : groups;
      event_.hash = digest_of(as_bytes_view(name)) + lie;
      emit(sends ? GroupVerb::send : GroupVerb::deliver);
    }
  }

  void emit(GroupVerb verb) {
    event_.verb = verb;
    if (error.empty()) out_.events.push_back(event_);
  }

  struct Message {
    GroupMessageId id;
    std::vector<std::string> groups;
  };

  GroupText& out_;
  GroupEvent event_;
  std::map<std::string, Message, std::less<>> messages_;
  std::map<ClientId, std::uint64_t> numbers_;
};

}  // namespace

void play(GroupChecker& checker, const GroupEvent& event) {
  switch (event.verb) {
    case GroupVerb::connect: return checker.connected(event.at, event.client, event.name);
    case GroupVerb::gone: return checker.gone(event.at, event.client);
    case GroupVerb::send:
      return checker.sent(event.at, event.message, event.groups, event.hash, event.own);
    case GroupVerb::deliver:
      return checker.delivered(event.at, event.client, event.message, event.groups, event.hash);
    case GroupVerb::view: return checker.viewed(event.at, event.client, event.group, event.view);
    case GroupVerb::transitional: return checker.transitional(event.at, event.client, event.group);
    case GroupVerb::left: return checker.left(event.at, event.client, event.group);
    case GroupVerb::exchange:
      return checker.exchanged(event.at, event.client.node, event.in, event.hash);
    case GroupVerb::order:
      return checker.ordered(event.at, event.client.node, event.message, event.groups,
                             event.placing);
    case GroupVerb::enter: return checker.entered(event.at, event.client.node, event.in);
    case GroupVerb::part: return checker.parted(event.at, event.client.node, event.in);
    case GroupVerb::gap: return checker.gapped(event.at, event.client, event.group);
    case GroupVerb::reach: return checker.reached(event.at, event.client, event.in);
    case GroupVerb::table: return checker.final_table(event.client.node, event.in, event.entries);
  }
}

GroupDomains domains_of(const GroupText& history) {
  if (history.domains.empty()) return {};
  const auto domain_with = [&history](const auto& fits) {
    for (std::size_t i = 0; i < history.domains.size(); ++i) {
      const std::vector<NodeId>& nodes = history.domains[i];
      if (std::any_of(nodes.begin(), nodes.end(), fits)) return static_cast<DomainId>(i + 1);
    }
    return DomainId{0};
  };
  return {[domain_with](NodeId node) {
            return domain_with([node](NodeId each) { return each == node; });
          },
          [domain_with, &history](std::string_view name) {
            if (!name.starts_with('#')) return static_cast<DomainId>(name.back() - '0');
            const std::string_view node = name.substr(name.rfind('#') + 1);
            return domain_with([&](NodeId each) { return history.names.name(each) == node; });
          }};
}

Result<std::vector<GroupText>, std::string> parse_groups(std::string_view text,
                                                         std::string_view file) {
  std::vector<GroupText> histories;
  std::vector<GroupReader> readers;
  std::size_t number = 0;
  // Readers keep references to their histories, so the vector must not move them.
  histories.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = std::string(file) + ":" + std::to_string(number) + ": ";
    if (line.starts_with("history ")) {
      GroupText& history = histories.emplace_back();
      history.title = line.substr(8);
      history.file = file;
      history.line = number;
      readers.emplace_back(history);
    } else if (histories.empty()) {
      return unexpected(where + "no history yet");
    } else {
      readers.back().line(number, line);
      if (!readers.back().error.empty()) return unexpected(where + readers.back().error);
    }
  }
  return histories;
}

}  // namespace peal::oracle::test
