// SPDX-License-Identifier: Apache-2.0
#include "group_reference.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace peal::oracle::test {
namespace {

using Messages = std::set<GroupMessageId>;

std::set<std::string> set_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

bool is_private(const std::string& name) { return !name.empty() && name[0] == '#'; }

bool well_formed(const std::vector<ClientId>& members) {
  const std::set<ClientId> set(members.begin(), members.end());
  return set.size() == members.size() &&
         std::is_sorted(members.begin(), members.end(),
                        [](const ClientId& a, const ClientId& b) { return a.node < b.node; });
}

// A view of a group that one client received, and what the client received before it.
struct Told {
  ClientId client;
  std::string group;
  GroupView view;
  std::optional<GroupViewId> previous;  // none: the client was no member
  Messages between;                     // the group's messages since `previous`: with a place
  Messages unplaced;                    // and without
  bool listed = false;                  // the same members as at other clients
  bool sound = false;                   // listed, the cause as at other clients, and the id ascends
  bool accepted = false;                // the company is valid (G4)
  std::multiset<ClientId> company;
};

struct Member {
  std::optional<GroupViewId> now;
  Messages since, unplaced;  // messages to the group: with a place, and without
  Messages owed;             // own messages that the client wants back
};

// A node heard of messages that it had missed.
struct Absence {
  ViewId view{};        // the view of the exchange
  std::size_t got = 0;  // messages that the node had before
  std::set<std::string> names;
};

struct Past {
  std::vector<GroupMessageId> got;
  Messages heard;
  std::vector<Absence> absences;
  bool started = false;
  std::optional<std::size_t> before;  // messages before the view whose exchange is not complete

  std::size_t place(const GroupMessageId& message) const {
    const auto at = std::find(got.begin(), got.end(), message);
    return at == got.end() ? 0 : static_cast<std::size_t>(at - got.begin()) + 1;
  }
};

struct Client {
  bool connected = false, gone = false;
  std::string name;
  std::size_t passed = 0;        // absences of its node that were handled
  std::vector<std::size_t> due;  // absences to report before the next event
  std::set<std::pair<std::size_t, std::string>> told;
  std::size_t told_at = 0;
  std::vector<GroupMessageId> delivered, placed, unplaced;
  std::map<std::string, Member> groups;
  std::map<std::string, Messages> awaited;  // by group or private name: what its node has ordered
};

class Slow {
 public:
  explicit Slow(bool at_once) : at_once_(at_once) {}

  std::set<std::string> broken;

  void add(const GroupEvent& event) {
    Client& client = clients_[event.client];
    switch (event.verb) {
      case GroupVerb::connect:
        if (client.connected || client.gone) {
          broken.insert("G6");
          return;
        }
        client.connected = true;
        client.name = event.name;
        if (at_once_) client.passed = nodes_[event.client.node].absences.size();
        return;
      case GroupVerb::gone:
        client.gone = true;
        client.connected = false;
        client.awaited.clear();
        return;
      case GroupVerb::send: return send(event);
      case GroupVerb::exchange:
        exchanges_.push_back(event);
        hear(nodes_[event.client.node], event.in);
        return;
      case GroupVerb::order: expect(event); return order(nodes_[event.client.node], event);
      case GroupVerb::enter: return enter(nodes_[event.client.node], said_[event.in]);
      case GroupVerb::table: tables_[event.client.node] = event; return;
      default: break;
    }
    if (!client.connected) {
      broken.insert("G6");
      return;
    }
    if (event.verb == GroupVerb::reach) return reach(event, client);
    come_past(event.client, client);
    if (event.verb == GroupVerb::gap) return gap(event, client);
    close(event.client, client);
    if (event.verb == GroupVerb::deliver) {
      for (auto& [name, messages] : client.awaited) messages.erase(event.message);
      const std::size_t place = nodes_[event.client.node].place(event.message);
      if (place != 0 && place <= client.told_at) broken.insert("G8");
      return deliver(event, client);
    }
    Member& member = client.groups[event.group];
    if (event.verb == GroupVerb::view) return view(event, member);
    if (!member.now.has_value()) broken.insert("G6");
    if (event.verb == GroupVerb::left) {
      member = Member();
      client.awaited.erase(event.group);
    }
  }

  void finish() {
    for (auto& [id, client] : clients_) {
      if (!client.connected || !tables_.contains(id.node)) continue;
      come_past(id, client);
      close(id, client);
      for (const auto& [name, messages] : client.awaited) {
        if (!messages.empty()) broken.insert("G10");
      }
    }
    one_table();
    companies();
    same_messages();
    last_messages();
    last_views();
    one_order();
  }

 private:
  void expect(const GroupEvent& event) {
    const auto sent = sent_.find(event.message);
    const bool wanted = sent != sent_.end() && sent->second.own == OwnCopy::wanted;
    for (auto& [id, client] : clients_) {
      if (id.node != event.client.node || !client.connected) continue;
      if (id == event.message.sender && !wanted) continue;
      if (std::count(client.delivered.begin(), client.delivered.end(), event.message)) continue;
      for (const std::string& name : event.groups) {
        const auto group = client.groups.find(name);
        const bool member = group != client.groups.end() && group->second.now.has_value();
        if (is_private(name) ? name == client.name : member)
          client.awaited[name].insert(event.message);
      }
    }
  }

  void order(Past& node, const GroupEvent& event) {
    names_[event.message] = set_of(event.groups);
    placing_[event.message] = event.placing;
    if (node.place(event.message) == 0) node.got.push_back(event.message);
  }

  static void enter(Past& node, Messages& said) {
    if (!node.before) node.before = node.got.size();
    said.insert(node.got.begin(), node.got.end());
    said.insert(node.heard.begin(), node.heard.end());
  }

  void hear(Past& node, const ViewId& view) {
    Absence absence{view, node.before.value_or(node.got.size()), {}};
    node.before.reset();
    for (const GroupMessageId& message : said_[view]) {
      if (node.place(message) != 0 || !node.heard.insert(message).second) continue;
      absence.names.insert(names_[message].begin(), names_[message].end());
    }
    if (node.started) node.absences.push_back(absence);
    node.started = true;
  }

  void gap(const GroupEvent& event, Client& client) {
    const std::string name = event.group.empty() ? client.name : event.group;
    if (!event.group.empty() && !client.groups[name].now.has_value()) {
      broken.insert("G6");
      return;
    }
    const std::vector<Absence>& all = nodes_[event.client.node].absences;
    for (const std::size_t i : client.due) {
      if (!all[i].names.contains(name) || !client.told.emplace(i, name).second) continue;
      client.told_at = std::max(client.told_at, all[i].got);
      return;
    }
    broken.insert("G8");
  }

  void reach(const GroupEvent& event, Client& client) {
    const std::vector<Absence>& all = nodes_[event.client.node].absences;
    for (std::size_t i = client.passed; i < all.size() && !at_once_; ++i) {
      if (all[i].view != event.in || all[i].names.empty()) continue;
      client.due.push_back(i);
      client.passed = i + 1;
      return;
    }
  }

  // With at_once, gaps for all absences of the node become due now.
  void come_past(const ClientId& id, Client& client) {
    const std::vector<Absence>& all = nodes_[id.node].absences;
    while (at_once_ && client.passed < all.size()) client.due.push_back(client.passed++);
  }

  // The client must have received all due gaps before it receives anything else.
  void close(const ClientId& id, Client& client) {
    const std::vector<Absence>& all = nodes_[id.node].absences;
    for (const std::size_t i : client.due) {
      for (const std::string& name : all[i].names) {
        const auto group = client.groups.find(name);
        const bool member = group != client.groups.end() && group->second.now.has_value();
        if ((member || name == client.name) && !client.told.contains({i, name})) {
          broken.insert("G8");
        }
      }
    }
    client.due.clear();
  }

  void send(const GroupEvent& event) {
    if (!sent_.try_emplace(event.message, event).second) {
      broken.insert("G6");
    } else if (event.own == OwnCopy::wanted) {
      for (auto& [name, member] : clients_[event.message.sender].groups) {
        if (member.now.has_value() && set_of(event.groups).contains(name) && !is_private(name)) {
          member.owed.insert(event.message);
        }
      }
    }
  }

  void deliver(const GroupEvent& event, Client& client) {
    const auto sent = sent_.find(event.message);
    const bool again =
        std::count(client.delivered.begin(), client.delivered.end(), event.message) != 0;
    if (sent == sent_.end() || again) {
      broken.insert("G6");
      return;
    }
    const std::set<std::string> names = set_of(sent->second.groups);
    if (set_of(event.groups) != names || event.hash != sent->second.hash) broken.insert("G6");
    if (event.client == event.message.sender && sent->second.own == OwnCopy::unwanted) {
      broken.insert("G6");
    }
    client.delivered.push_back(event.message);
    const auto placing = placing_.find(event.message);
    const bool placed = placing == placing_.end() || placing->second == Placing::placed;
    for (const GroupMessageId& earlier : client.unplaced) {
      const bool same_sender = earlier.sender == event.message.sender;
      if (same_sender && event.message < earlier) broken.insert("G7");
    }
    (placed ? client.placed : client.unplaced).push_back(event.message);
    bool member = false;
    for (const std::string& name : names) {
      const auto group = client.groups.find(name);
      if (is_private(name) || group == client.groups.end() || !group->second.now) continue;
      (placed ? group->second.since : group->second.unplaced).insert(event.message);
      member = true;
    }
    if (!member) stranger(event, names);
  }

  void stranger(const GroupEvent& event, const std::set<std::string>& names) {
    std::vector<std::string> own;
    std::copy_if(names.begin(), names.end(), std::back_inserter(own), is_private);
    if (++strangers_[event.message] > own.size()) broken.insert("G6");
    if (own.size() != 1) return;
    for (const ClientId& other : named_[own[0]]) {
      if (other != event.client && clients_[other].connected) broken.insert("G6");
    }
    named_[own[0]].insert(event.client);
  }

  void view(const GroupEvent& event, Member& member) {
    Told told;
    told.client = event.client;
    told.group = event.group;
    told.view = event.view;
    told.previous = member.now;
    told.between = member.since;
    told.unplaced = member.unplaced;
    told.company = {event.view.together.begin(), event.view.together.end()};
    const Told* first = nullptr;
    const Told* listed = nullptr;
    for (const Told& other : told_) {
      if (!same_view(other, told)) continue;
      if (first == nullptr) first = &other;
      if (listed == nullptr && other.listed) listed = &other;
    }
    told.listed = first == nullptr ? well_formed(event.view.members)
                                   : first->view.members == event.view.members;
    const bool one_cause = listed == nullptr || listed->view.cause == event.view.cause;
    told.sound = told.listed && one_cause && ascends(told);
    if (!told.sound || !follows(told)) broken.insert("G2");
    told_.push_back(told);
    member.now = event.view.id;
    member.since.clear();
    member.unplaced.clear();
  }

  // True if the cause describes how the members changed from the previous view.
  bool follows(const Told& told) const {
    if (told.view.cause == GroupCause::network) return true;
    const bool joins = told.view.cause == GroupCause::join;
    if (!told.previous.has_value()) return joins;
    std::multiset<ClientId> before;
    for (const Told& other : told_) {
      if (other.group != told.group || other.view.id != *told.previous) continue;
      before = {other.view.members.begin(), other.view.members.end()};
      break;
    }
    std::multiset<ClientId> now(told.view.members.begin(), told.view.members.end());
    if (!joins) std::swap(before, now);
    return now.size() == before.size() + 1 &&
           std::includes(now.begin(), now.end(), before.begin(), before.end());
  }

  static bool same_view(const Told& a, const Told& b) {
    return a.group == b.group && a.view.id == b.view.id;
  }

  bool ascends(const Told& told) const {
    std::uint64_t last = 0;
    for (const Told& other : told_) {
      if (other.client != told.client || other.group != told.group) continue;
      const GroupViewId& before = other.view.id;
      if (before.view == told.view.id.view && before.index >= told.view.id.index) return false;
      last = before.view.number;
    }
    return last <= told.view.id.view.number;
  }

  void companies() {
    for (std::size_t i = 0; i < told_.size(); ++i) {
      Told& told = told_[i];
      if (!told.sound) continue;
      const std::vector<ClientId>& list = told.view.members;
      const std::multiset<ClientId> members(list.begin(), list.end());
      told.accepted =
          members.contains(told.client) && told.company.contains(told.client) &&
          std::includes(members.begin(), members.end(), told.company.begin(), told.company.end());
      for (std::size_t k = 0; k < i && told.accepted; ++k) {
        const Told& other = told_[k];
        told.accepted = !other.accepted || !same_view(other, told) ||
                        other.company == told.company || disjoint(other, told);
      }
      if (!told.accepted) broken.insert("G4");
    }
    for_companions([&](const Told& a, const Told& b) {
      if (!a.previous.has_value() || a.previous != b.previous) broken.insert("G4");
    });
  }

  static bool disjoint(const Told& a, const Told& b) {
    return std::none_of(a.company.begin(), a.company.end(),
                        [&](const ClientId& client) { return b.company.contains(client); });
  }

  template <class Action>
  void for_companions(Action&& action) const {
    for (const Told& a : told_) {
      for (const Told& b : told_) {
        if (&a != &b && a.accepted && b.accepted && same_view(a, b) && a.company == b.company) {
          action(a, b);
        }
      }
    }
  }

  void compare(const Messages& some, const Messages& others, const ClientId& other) {
    for (const GroupMessageId& message : some) {
      const bool wanted = sent_.at(message).own == OwnCopy::wanted;
      if (!others.contains(message) && (message.sender != other || wanted)) broken.insert("G3");
    }
  }

  void same_messages() {
    for_companions([&](const Told& a, const Told& b) {
      if (a.previous.has_value() && a.previous == b.previous) {
        compare(a.between, b.between, b.client);
        if (a.client.node == b.client.node) compare(a.unplaced, b.unplaced, b.client);
      }
    });
  }

  // The entry for a client's group in the table of its own node.
  const GroupTableEntry* entry_of(const ClientId& client, const std::string& group) const {
    const auto table = tables_.find(client.node);
    if (table == tables_.end()) return nullptr;
    for (const GroupTableEntry& entry : table->second.entries) {
      if (entry.group == group && std::count(entry.members.begin(), entry.members.end(), client)) {
        return &entry;
      }
    }
    return nullptr;
  }

  void last_messages() {
    using Key = std::tuple<std::string, GroupViewId, ViewId>;
    std::map<Key, std::vector<std::pair<ClientId, const Member*>>> together;
    for (const auto& [id, client] : clients_) {
      for (const auto& [group, member] : client.groups) {
        if (!client.connected || !member.now.has_value() || !tables_.contains(id.node)) continue;
        for (const GroupMessageId& message : member.owed) {
          Past& node = nodes_[id.node];
          const bool gap = node.heard.contains(message) && node.place(message) == 0;
          if (!gap && !std::count(client.delivered.begin(), client.delivered.end(), message)) {
            broken.insert("G5");
          }
        }
        const GroupTableEntry* entry = entry_of(id, group);
        if (entry == nullptr) broken.insert("G5");
        if (entry == nullptr || entry->id != *member.now) continue;
        together[{group, entry->id, tables_.at(id.node).in}].push_back({id, &member});
      }
    }
    for (const auto& [key, members] : together) {
      for (const auto& a : members) {
        for (const auto& b : members) {
          compare(a.second->since, b.second->since, b.first);
          if (a.first.node == b.first.node)
            compare(a.second->unplaced, b.second->unplaced, b.first);
        }
      }
    }
  }

  void one_table() {
    for (const GroupEvent& a : exchanges_) {
      for (const GroupEvent& b : exchanges_) {
        if (a.in == b.in && a.hash != b.hash) broken.insert("G1");
      }
    }
    for (const auto& [a_node, a] : tables_) {
      for (const auto& [b_node, b] : tables_) {
        if (a.in == b.in && ids_of(a) != ids_of(b)) broken.insert("G1");
        for (const GroupTableEntry& x : a.entries) {
          for (const GroupTableEntry& y : b.entries) {
            if (x.group == y.group && x.id == y.id && x.members != y.members) broken.insert("G2");
          }
        }
      }
      for (const GroupTableEntry& entry : a.entries) {
        if (!well_formed(entry.members)) broken.insert("G2");
        for (const Told& told : told_) {
          if (told.group == entry.group && told.view.id == entry.id &&
              told.view.members != entry.members) {
            broken.insert("G2");
          }
        }
      }
    }
  }

  static std::map<std::string, GroupViewId> ids_of(const GroupEvent& table) {
    std::map<std::string, GroupViewId> ids;
    for (const GroupTableEntry& entry : table.entries) ids[entry.group] = entry.id;
    return ids;
  }

  void last_views() {
    for (const auto& [node, table] : tables_) {
      for (const GroupTableEntry& entry : table.entries) {
        for (const ClientId& id : entry.members) {
          const auto other = tables_.find(id.node);
          const auto client = clients_.find(id);
          const bool elsewhere = other != tables_.end() && other->second.in != table.in;
          if (client == clients_.end() || !client->second.connected || elsewhere) {
            broken.insert("G5");
          } else if (id.node == node) {
            const auto group = client->second.groups.find(entry.group);
            const bool told = group != client->second.groups.end();
            if (!told || group->second.now != entry.id) broken.insert("G5");
          }
        }
      }
    }
  }

  // Finds a cycle in the clients' orders of messages with a place: removes, repeatedly, a message
  // that no other message precedes.
  void one_order() {
    std::map<GroupMessageId, Messages> before;
    for (const auto& [id, client] : clients_) {
      for (std::size_t i = 0; i < client.placed.size(); ++i) {
        Messages& earlier = before[client.placed[i]];
        for (std::size_t k = 0; k < i; ++k) earlier.insert(client.placed[k]);
      }
    }
    while (!before.empty()) {
      const auto first = std::find_if(before.begin(), before.end(),
                                      [](const auto& entry) { return entry.second.empty(); });
      if (first == before.end()) {
        broken.insert("G7");
        return;
      }
      const GroupMessageId message = first->first;
      before.erase(first);
      for (auto& [other, earlier] : before) earlier.erase(message);
    }
  }

  bool at_once_;
  std::map<ClientId, Client> clients_;
  std::map<GroupMessageId, GroupEvent> sent_;
  std::map<GroupMessageId, std::size_t> strangers_;
  // For each private name, the clients that received messages to it.
  std::map<std::string, std::set<ClientId>> named_;
  std::vector<Told> told_;
  std::vector<GroupEvent> exchanges_;
  std::map<MemberId, GroupEvent> tables_;
  std::map<MemberId, Past> nodes_;
  std::map<ViewId, Messages> said_;  // what nodes knew when they entered the view
  std::map<GroupMessageId, std::set<std::string>> names_;
  std::map<GroupMessageId, Placing> placing_;
};

}  // namespace

std::set<std::string> judge_groups_slowly(const std::vector<GroupEvent>& events, bool at_once) {
  Slow judge(at_once);
  for (const GroupEvent& event : events) judge.add(event);
  judge.finish();
  return judge.broken;
}

}  // namespace peal::oracle::test
