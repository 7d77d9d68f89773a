// SPDX-License-Identifier: Apache-2.0
#include "config/nodes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/digest.h"
#include "base/text.h"
#include "config/domains.h"
#include "wire/frames.h"

namespace peal::config {
namespace {

using Checked = Result<void, std::string>;

/// The number of nodes in `from` that are missing in `in`.
std::size_t count_missing(const std::vector<NodeEntry>& from, const std::vector<NodeEntry>& in) {
  return static_cast<std::size_t>(
      std::count_if(from.begin(), from.end(),
                    [&](const NodeEntry& each) { return find(in, each.number) == nullptr; }));
}

/// The lowest number that no node of either list has.
std::string free_number(const std::vector<NodeEntry>& a, const std::vector<NodeEntry>& b) {
  std::uint32_t number = 1;
  while (find(a, NodeId{number}) != nullptr || find(b, NodeId{number}) != nullptr) ++number;
  return std::to_string(number);
}

/// A node that stays in the list must keep its number, because the number identifies the node. No
/// new node may get the number of a node in the active list.
Checked validate_numbers(const Settings& settings, const std::vector<NodeEntry>& wanted) {
  for (const NodeEntry& then : wanted) {
    const NodeEntry* now = find(settings.nodes, then.name);
    if (now == nullptr || now->number == then.number) continue;
    const std::string number = std::to_string(now->number.value);
    return unexpected("node " + quote(now->name) + " has number " + number + " and would get " +
                      std::to_string(then.number.value) + ": write number = " + number +
                      " into its [[nodes]], and so for all that stay");
  }
  for (const NodeEntry& then : wanted) {
    const NodeEntry* now = find(settings.nodes, then.number);
    if (now == nullptr || now->name == then.name) continue;
    return unexpected("node " + quote(then.name) + " would get number " +
                      std::to_string(then.number.value) + ", which " + quote(now->name) +
                      " has: write number = " + free_number(settings.nodes, wanted) +
                      " into the [[nodes]] of " + quote(then.name));
  }
  return {};
}

bool collide(const io::HostPort& a, const io::HostPort& b) {
  return a.host == b.host && std::abs(int{a.port} - int{b.port}) <= 1;
}

/// A new node must not have the address of a node that is removed in the same change: packets
/// identify their sender by address, and both lists are in use during the change.
Checked validate_addresses(const Settings& settings, const std::vector<NodeEntry>& wanted) {
  for (const NodeEntry& now : settings.nodes) {
    if (find(wanted, now.number) != nullptr) continue;
    for (const NodeEntry& then : wanted) {
      if (!collide(now.address, then.address)) continue;
      return unexpected("node " + quote(then.name) + " would be at " + to_string(then.address) +
                        ", and " + quote(now.name) + " is at " + to_string(now.address) +
                        ": remove " + quote(now.name) + " first, and add " + quote(then.name) +
                        " when the list without the other counts");
    }
  }
  return {};
}

Checked validate_strangers(const Settings& settings, const std::vector<NodeId>& acceptors,
                           const std::string& where) {
  const auto strangers =
      std::count_if(acceptors.begin(), acceptors.end(),
                    [&settings](NodeId node) { return find(settings.nodes, node) == nullptr; });
  if (static_cast<std::size_t>(strangers) < acceptors.size() / 2 + 1) return {};
  return unexpected(
      std::to_string(strangers) + " of " + std::to_string(acceptors.size()) + " acceptors" + where +
      " would be new: add one node at a time, and wait until that list counts before " +
      "the next");
}

/// Each majority of the new acceptors must contain a node of the old list: new nodes, which know
/// nothing of the order, must not be able to form a majority on their own.
Checked validate_acceptors(const Settings& settings, const Listing& wanted) {
  if (!settings.order->traits.has_acceptors()) return {};
  const Settings then = with(settings, wanted);
  if (votes(then) && !may_vote(settings)) {
    return unexpected(
        "this node would be an acceptor, and has no data_dir: restart it with one and with this "
        "list");
  }
  const order::NodeList all = list_of(then);
  if (auto known = validate_strangers(settings, all.acceptors, ""); !known) return known;
  const std::vector<order::NodeList> parts = domain_parts(then, all);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string where = " of domain " + quote(then.domains[i].name);
    auto known = validate_strangers(settings, parts[i].acceptors, where);
    if (!known) return known;
  }
  return {};
}

}  // namespace

order::NodeList list_of(const std::vector<NodeEntry>& nodes) {
  std::vector<const NodeEntry*> sorted;
  for (const NodeEntry& each : nodes) sorted.push_back(&each);
  std::sort(sorted.begin(), sorted.end(),
            [](const NodeEntry* a, const NodeEntry* b) { return a->number < b->number; });
  order::NodeList list;
  Digest hash;
  for (const NodeEntry* each : sorted) {
    list.nodes.push_back(each->number);
    hash.add(each->number.value);
    hash.add(as_bytes_view(each->name));
  }
  list.hash = std::max<std::uint64_t>(hash.value(), 1);  // 0 means: no list
  return list;
}

order::NodeList list_of(const Settings& settings) {
  order::NodeList list = list_of(settings.nodes);
  if (!settings.order->traits.has_acceptors()) return list;
  list.acceptors = acceptors_of(settings);
  Digest hash;
  hash.add(list.hash);
  for (const NodeId node : list.acceptors) hash.add(node.value);
  list.hash = std::max<std::uint64_t>(hash.value(), 1);
  return list;
}

Listing listing_of(const Settings& settings) { return {settings.nodes, settings.acceptors}; }

Settings with(const Settings& settings, const Listing& listing) {
  Settings other = settings;
  other.nodes = listing.nodes;
  other.acceptors = listing.acceptors;
  return other;
}

Checked validate(const Settings& settings, const Listing& listing) {
  const std::vector<NodeEntry>& wanted = listing.nodes;
  if (settings.order->traits.genuine && list_of(wanted).hash != list_of(settings.nodes).hash) {
    return unexpected(
        "the list of nodes is another one, and with order = " + quote(settings.order->name) +
        " it cannot change while nodes run: stop all nodes, and start them with the "
        "new list");
  }
  const NodeEntry* self = find(wanted, settings.name);
  if (self == nullptr) {
    return unexpected(
        "node " + quote(settings.name) +
        ", which this is, is not in the list: to remove it, stop it and reload the others");
  }
  if (wanted.size() > settings.nodes_max) {
    return unexpected("the list has " + std::to_string(wanted.size()) +
                      " nodes: accepted are up to nodes_max, which is " +
                      std::to_string(settings.nodes_max) + " as long as this cluster runs");
  }
  if (auto numbers = validate_numbers(settings, wanted); !numbers) return numbers;
  if (!(self->address == settings.own().address)) {
    return unexpected("node " + quote(settings.name) + ", which this is, is at " +
                      to_string(settings.own().address) +
                      ", and that cannot change while it runs: restart it, or take " +
                      to_string(self->address) + " back");
  }
  const std::size_t apart =
      count_missing(settings.nodes, wanted) + count_missing(wanted, settings.nodes);
  if (apart > 1 && needs_of(settings).one_node_at_a_time) {
    return unexpected(
        "the list differs from the one that counts by " + std::to_string(apart) +
        " nodes: with primary = \"majority\", add or remove one node at a time, and wait until "
        "that list counts before the next");
  }
  const std::size_t together = settings.nodes.size() + count_missing(wanted, settings.nodes);
  if (together > wire::kMembersMax) {
    return unexpected("the list and the one that counts have " + std::to_string(together) +
                      " nodes together: accepted are " + std::to_string(wire::kMembersMax) +
                      "; remove nodes first, and add others when the list without them counts");
  }
  if (auto acceptors = validate_acceptors(settings, listing); !acceptors) return acceptors;
  return validate_addresses(settings, wanted);
}

std::string nodes_wait_text(const order::NodesWait& wait, const trace::Names& names) {
  using Kind = order::NodesWait::Kind;
  const std::string who = names.name(wait.who.node);
  switch (wait.kind) {
    case Kind::nothing: return {};
    case Kind::view: return "a view: members are looking for each other";
    case Kind::member: return who + ", which does not have this list yet: run peal reload there";
    case Kind::running:
      return who +
             ", which is not in this list and still runs: stop it, or if the list here is "
             "outdated, "
             "bring it up to date and run peal reload here";
    case Kind::outdated:
      return "a list with " + who +
             ", which runs: this node alone has been given one without it; if it is outdated, "
             "bring "
             "it up to date and run peal reload here, else give it to the others too";
    case Kind::too_many:
      return "a list that differs by one node, as primary = \"majority\" wants it: add or remove "
             "one at a time";
    case Kind::majority:
      return "a view with most of the nodes of both lists: start those that are missing";
    case Kind::acceptor:
      return who +
             ", an acceptor of this list, which is not heard, is behind, or does not have the "
             "list: start it, or run peal reload there";
    case Kind::strangers: return "a list with fewer new acceptors: add or remove one at a time";
  }
  return {};
}

std::vector<std::string> names_in(std::vector<NodeEntry> nodes) {
  std::sort(nodes.begin(), nodes.end(),
            [](const NodeEntry& a, const NodeEntry& b) { return a.number < b.number; });
  std::vector<std::string> names;
  for (NodeEntry& each : nodes) names.push_back(std::move(each.name));
  return names;
}

}  // namespace peal::config
