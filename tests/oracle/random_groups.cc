// SPDX-License-Identifier: Apache-2.0
#include "random_groups.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace peal::oracle::test {
namespace {

constexpr std::uint32_t kNodes = 4;
constexpr std::uint64_t kGroups = 3;

struct Group {
  GroupViewId id;
  std::vector<ClientId> members;  // sorted
  bool changed = false;           // members were lost since the last view
};
using Table = std::map<std::string, Group>;
using Known = std::map<GroupMessageId, std::vector<std::string>>;  // messages and destinations

// What all nodes of a view do at one place of its order.
struct Step {
  std::vector<GroupEvent> events;  // for clients of all nodes
  Table table;                     // after this step
  GroupEvent sent;                 // the message, if there is one
  bool discard = false;            // the sender wants no copy of its message
};

// Nodes that follow one order, each at its own speed.
struct View {
  ViewId id{};
  std::vector<MemberId> nodes;
  std::vector<Step> order;
  Table table;  // after the last step
  std::uint64_t changes = 0;
};

struct Node {
  MemberId id{};
  bool up = false;
  std::shared_ptr<View> view;
  std::size_t done = 0;  // how many steps of the view's order the node has done
  Known known;           // messages that the node got, or heard of
  bool started = false;
};

// Nodes that leave a view together.
struct Band {
  std::vector<MemberId> nodes;
  Table table;
};

// A model of nodes and clients, which keeps the guarantees because it follows the rules of process
// groups.
class World {
 public:
  explicit World(Random& random) : random_(random) {
    for (std::uint32_t i = 1; i <= kNodes; ++i) {
      nodes_.emplace_back().id.node = NodeId{i};
    }
    change_views(true);
  }

  std::vector<GroupEvent> run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) step();
    change_views(true);
    for (Node& node : nodes_) {
      while (node.done < node.view->order.size()) advance(node);
      GroupEvent event = make(GroupVerb::table, {node.id, 0});
      event.in = node.view->id;
      for (const auto& [name, group] : node.view->table) {
        event.entries.push_back({name, group.id, group.members});
      }
      out_.push_back(event);
    }
    return std::move(out_);
  }

 private:
  void step() {
    const std::uint64_t dice = random_.below(100);
    Node& node = nodes_[random_.below(nodes_.size())];
    if (dice < 4) return change_views(false);
    if (!node.up) return;
    if (dice < 5) return crash(node);
    if (dice < 10) return connect(node);
    if (dice < 50) return advance(node);
    if (clients_.empty()) return;
    const ClientId client = clients_[random_.below(clients_.size())];
    if (dice < 65) return join(client);
    if (dice < 70) return leave(client);
    if (dice < 72) return disconnect(client);
    send(client);
  }

  Node& node_of(const ClientId& client) { return nodes_[client.node.node.value - 1]; }
  bool here(const ClientId& client) const {
    return std::find(clients_.begin(), clients_.end(), client) != clients_.end();
  }
  std::string group_name() {
    return std::string(1, static_cast<char>('f' + random_.below(kGroups)));
  }

  GroupEvent make(GroupVerb verb, const ClientId& client) {
    GroupEvent event;
    event.verb = verb;
    event.client = client;
    return event;
  }

  void connect(Node& node) {
    if (clients_.size() >= 10) return;
    const ClientId client{node.id, ++connections_};
    clients_.push_back(client);
    out_.push_back(make(GroupVerb::connect, client));
    out_.back().name = private_name(client);
  }

  void forget(const ClientId& client) {
    std::erase(clients_, client);
    out_.push_back(make(GroupVerb::gone, client));
  }

  void crash(Node& node) {
    node.up = false;
    const std::vector<ClientId> all = clients_;
    for (const ClientId& client : all) {
      if (client.node == node.id) forget(client);
    }
  }

  static std::string private_name(const ClientId& client) {
    return "#" + std::to_string(client.connection);
  }

  void advance(Node& node) {
    if (!node.up || node.done == node.view->order.size()) return;
    const Step& step = node.view->order[node.done];
    get(node, step);
    for (const GroupEvent& event : step.events) {
      if (event.client.node != node.id) continue;
      const bool exchange = event.verb == GroupVerb::exchange;
      if (exchange || here(event.client)) out_.push_back(event);
      if (exchange) hear(node, step.table);
    }
    ++node.done;
  }

  // The node reaches this step. If the step is a message, the node receives it.
  void get(Node& node, const Step& step) {
    if (step.sent.verb != GroupVerb::send) return;
    out_.push_back(step.sent);
    out_.back().verb = GroupVerb::order;
    out_.back().client = {node.id, 0};
    node.known[step.sent.message] = step.sent.groups;
  }

  // The node learns which messages the other nodes know. Its clients get gaps for messages that the
  // node did not know.
  void hear(Node& node, const Table& table) {
    std::set<std::string> missed;
    for (const auto& [message, names] : said_[node.view->id]) {
      if (node.known.emplace(message, names).second) missed.insert(names.begin(), names.end());
    }
    if (!std::exchange(node.started, true)) return;
    for (const ClientId& client : clients_) {
      if (client.node != node.id) continue;
      for (const std::string& name : missed) {
        const auto group = table.find(name);
        const bool member =
            group != table.end() &&
            std::binary_search(group->second.members.begin(), group->second.members.end(), client);
        if (!member && name != private_name(client)) continue;
        out_.push_back(make(GroupVerb::gap, client));
        out_.back().group = member ? name : std::string();
      }
    }
  }

  void append(View& view, Step step) {
    step.table = view.table;
    view.order.push_back(std::move(step));
  }

  void tell(Step& step, const std::string& name, const Group& group, GroupCause cause,
            const std::vector<ClientId>& company) {
    for (const ClientId& client : company) {
      GroupEvent event = make(GroupVerb::view, client);
      event.group = name;
      event.view = {group.id, cause, group.members, company};
      step.events.push_back(event);
    }
  }

  void join(const ClientId& client) {
    View& view = *node_of(client).view;
    const std::string name = group_name();
    Group& group = view.table[name];
    const std::vector<ClientId> old = group.members;
    if (std::find(old.begin(), old.end(), client) != old.end()) return;
    group.members.push_back(client);
    std::sort(group.members.begin(), group.members.end());
    group.id = {view.id, ++view.changes};
    Step step;
    tell(step, name, group, GroupCause::join, old);
    tell(step, name, group, GroupCause::join, {client});
    append(view, std::move(step));
  }

  void remove(View& view, const std::string& name, const ClientId& client, GroupCause cause) {
    Group& group = view.table[name];
    if (std::erase(group.members, client) == 0) return;
    group.id = {view.id, ++view.changes};
    Step step;
    if (cause == GroupCause::leave) {
      step.events.push_back(make(GroupVerb::left, client));
      step.events.back().group = name;
    }
    tell(step, name, group, cause, group.members);
    if (group.members.empty()) view.table.erase(name);
    append(view, std::move(step));
  }

  void leave(const ClientId& client) {
    View& view = *node_of(client).view;
    const std::string name = group_name();
    if (view.table.contains(name)) remove(view, name, client, GroupCause::leave);
  }

  void disconnect(const ClientId& client) {
    forget(client);
    View& view = *node_of(client).view;
    for (std::uint64_t i = 0; i < kGroups; ++i) {
      const std::string name(1, static_cast<char>('f' + i));
      if (view.table.contains(name)) remove(view, name, client, GroupCause::disconnect);
    }
  }

  void send(const ClientId& client) {
    GroupEvent sent = make(GroupVerb::send, client);
    sent.message = {client, ++numbers_[client]};
    sent.hash = random_.next();
    if (random_.below(4) == 0) sent.placing = Placing::unplaced;
    View& view = *node_of(client).view;
    std::vector<ClientId> to;
    for (std::uint64_t n = 1 + random_.below(2); n > 0; --n) {
      sent.groups.push_back(group_name());
      const auto group = view.table.find(sent.groups.back());
      if (group == view.table.end()) continue;
      to.insert(to.end(), group->second.members.begin(), group->second.members.end());
    }
    if (random_.below(6) == 0) {
      to.push_back(clients_[random_.below(clients_.size())]);
      const ClientId& other = to.back();
      sent.groups.push_back(private_name(other));
      // A client of a node in another view cannot be reached.
      if (node_of(other).view.get() != &view) to.pop_back();
    }
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    Step step;
    step.sent = sent;
    step.discard = random_.below(8) == 0;
    if (step.discard) std::erase(to, client);
    if (random_.below(3) != 0) sent.own = step.discard ? OwnCopy::unwanted : OwnCopy::wanted;
    for (const ClientId& receiver : to) {
      step.events.push_back(sent);
      step.events.back().verb = GroupVerb::deliver;
      step.events.back().client = receiver;
    }
    out_.push_back(sent);
    append(view, std::move(step));
  }

  // The nodes of each view split into bands. Then the bands form new views: one view if `merge`,
  // otherwise up to three.
  void change_views(bool merge) {
    std::vector<std::pair<std::shared_ptr<View>, std::vector<std::vector<Node*>>>> parts;
    std::vector<Band> bands;
    for (Node& node : nodes_) {
      if (node.view == nullptr || (!node.up && (merge || random_.below(2) == 0))) {
        node.id.epoch += 1;
        node.up = true;
        node.known.clear();
        node.started = false;
        bands.push_back({{node.id}, {}});
      } else if (node.up) {
        auto known = std::find_if(parts.begin(), parts.end(),
                                  [&](const auto& entry) { return entry.first == node.view; });
        if (known == parts.end()) known = parts.insert(known, {node.view, {}});
        auto& bands_of = known->second;
        if (bands_of.empty() || random_.below(3) == 0) bands_of.emplace_back();
        bands_of[random_.below(bands_of.size())].push_back(&node);
      }
    }
    for (auto& [view, all] : parts) {
      for (const std::vector<Node*>& some : all) {
        if (!some.empty()) bands.push_back(part(*view, some));
      }
    }
    const std::uint64_t views = merge ? 1 : 1 + random_.below(3);
    std::vector<std::vector<Band>> chosen(views);
    for (Band& band : bands) chosen[random_.below(views)].push_back(std::move(band));
    for (const std::vector<Band>& some : chosen) {
      if (!some.empty()) install(some);
    }
  }

  // The nodes of a band go to one place of the old order, and their clients receive the
  // transitional view there. Then the nodes deliver the remaining messages of the band's own
  // clients, and some messages of other clients.
  Band part(View& view, const std::vector<Node*>& nodes) {
    std::size_t cut = 0;
    for (const Node* node : nodes) cut = std::max(cut, node->done);
    cut += random_.below(view.order.size() - cut + 1);
    Band band;
    band.table = view.order[cut - 1].table;
    for (Node* node : nodes) {
      while (node->done < cut) advance(*node);
      band.nodes.push_back(node->id);
    }
    for (auto& [name, group] : band.table) {
      const std::size_t lost = std::erase_if(group.members, [&](const ClientId& client) {
        return !here(client) || !contains(band.nodes, client.node);
      });
      if (lost == 0) continue;
      group.changed = true;
      for (const ClientId& client : group.members) {
        out_.push_back(make(GroupVerb::transitional, client));
        out_.back().group = name;
      }
    }
    std::erase_if(band.table, [](const auto& entry) { return entry.second.members.empty(); });
    for (std::size_t i = cut; i < view.order.size(); ++i) {
      const bool own = contains(band.nodes, view.order[i].sent.client.node);
      if (!own && random_.below(3) == 0) continue;
      for (Node* node : nodes) get(*node, view.order[i]);
      deliver_late(band, view.order[i]);
    }
    return band;
  }

  static bool contains(const std::vector<MemberId>& nodes, const MemberId& node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }

  void deliver_late(const Band& band, const Step& step) {
    std::vector<ClientId> to;
    for (const std::string& name : step.sent.groups) {
      const auto group = band.table.find(name);
      if (group == band.table.end()) continue;
      for (const ClientId& client : group->second.members) {
        if (std::find(to.begin(), to.end(), client) == to.end()) to.push_back(client);
      }
    }
    for (const ClientId& client : clients_) {
      const std::vector<std::string>& names = step.sent.groups;
      const bool named = std::find(names.begin(), names.end(), private_name(client)) != names.end();
      const bool known = std::find(to.begin(), to.end(), client) != to.end();
      if (named && !known && contains(band.nodes, client.node)) to.push_back(client);
    }
    if (step.discard) std::erase(to, step.sent.client);
    for (const ClientId& client : to) {
      out_.push_back(step.sent);
      out_.back().verb = GroupVerb::deliver;
      out_.back().client = client;
    }
  }

  // The bands exchange their tables. A group keeps its id if only one band has members of the
  // group, and no member was lost.
  void install(const std::vector<Band>& bands) {
    auto view = std::make_shared<View>();
    for (const Band& band : bands) {
      view->nodes.insert(view->nodes.end(), band.nodes.begin(), band.nodes.end());
    }
    view->id = {++view_numbers_, *std::min_element(view->nodes.begin(), view->nodes.end())};
    Step step;
    for (const MemberId& node : view->nodes) {
      step.events.push_back(make(GroupVerb::exchange, {node, 0}));
      step.events.back().in = view->id;
      step.events.back().hash = view->id.number;
    }
    std::map<std::string, std::vector<const Group*>> parts;
    for (const Band& band : bands) {
      for (const auto& [name, group] : band.table) parts[name].push_back(&group);
    }
    for (const auto& [name, some] : parts) {
      Group& group = view->table[name];
      group = *some[0];
      if (some.size() == 1 && !group.changed) continue;
      group = {{view->id, ++view->changes}, {}, false};
      for (const Group* one : some) {
        group.members.insert(group.members.end(), one->members.begin(), one->members.end());
      }
      std::sort(group.members.begin(), group.members.end());
      for (const Group* one : some) tell(step, name, group, GroupCause::network, one->members);
    }
    append(*view, std::move(step));
    for (const MemberId& id : view->nodes) {
      out_.push_back(make(GroupVerb::enter, {id, 0}));
      out_.back().in = view->id;
      const Known& known = nodes_[id.node.value - 1].known;
      said_[view->id].insert(known.begin(), known.end());
    }
    for (const MemberId& id : view->nodes) {
      Node& node = nodes_[id.node.value - 1];
      node.view = view;
      node.done = 0;
      advance(node);
    }
  }

  Random& random_;
  std::vector<Node> nodes_;
  std::vector<ClientId> clients_;  // the connected clients
  std::map<ClientId, std::uint64_t> numbers_;
  std::uint32_t connections_ = 0;
  std::uint64_t view_numbers_ = 0;
  std::map<ViewId, Known> said_;  // what nodes knew when they entered the view
  std::vector<GroupEvent> out_;
};

// Delays the events of clients, as sessions do.
class Delay {
 public:
  explicit Delay(Random& random) : random_(random) {}

  std::vector<GroupEvent> run(const std::vector<GroupEvent>& events) {
    for (const GroupEvent& event : events) {
      add(event);
      if (waiting_.empty() || random_.below(3) != 0) continue;
      const auto any =
          std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(random_.below(waiting_.size())));
      tell(any->second, 1 + random_.below(8));
    }
    return std::move(out_);
  }

 private:
  using Queue = std::deque<GroupEvent>;

  void add(const GroupEvent& event) {
    switch (event.verb) {
      case GroupVerb::connect: waiting_[event.client].push_back(event); return;
      case GroupVerb::gone:
        // A client that is gone may never read its last events, or any event at all.
        if (random_.below(2) == 0) tell(waiting_[event.client], ~std::uint64_t{0});
        waiting_.erase(event.client);
        if (connected_.contains(event.client)) out_.push_back(event);
        return;
      case GroupVerb::send:
        tell(waiting_[event.client], 1);  // a client that sends has read its welcome
        out_.push_back(event);
        return;
      case GroupVerb::table:
        for (auto& [client, queue] : waiting_) tell(queue, ~std::uint64_t{0});
        out_.push_back(event);
        return;
      case GroupVerb::order:
      case GroupVerb::enter: out_.push_back(event); return;
      case GroupVerb::exchange:
        out_.push_back(event);
        for (auto& [client, queue] : waiting_) {
          if (client.node != event.client.node) continue;
          queue.push_back(event);
          queue.back().verb = GroupVerb::reach;
          queue.back().client = client;
        }
        return;
      default: waiting_[event.client].push_back(event); return;
    }
  }

  void tell(Queue& queue, std::uint64_t count) {
    for (; count > 0 && !queue.empty(); --count) {
      if (queue.front().verb == GroupVerb::connect) connected_.insert(queue.front().client);
      out_.push_back(queue.front());
      queue.pop_front();
    }
  }

  Random& random_;
  std::map<ClientId, Queue> waiting_;  // the unread events of each client
  std::set<ClientId> connected_;
  std::vector<GroupEvent> out_;
};

}  // namespace

std::vector<GroupEvent> told_later(const std::vector<GroupEvent>& events, Random& random) {
  return Delay(random).run(events);
}

std::vector<GroupEvent> random_groups(Random& random) {
  return World(random).run(100 + random.below(400));
}

}  // namespace peal::oracle::test
