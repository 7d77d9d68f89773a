// SPDX-License-Identifier: Apache-2.0
#include "runtime/node_table.h"

#include <algorithm>
#include <utility>

#include "config/nodes.h"

namespace peal::runtime {
namespace {

std::vector<io::AddressBook::Entry> entries_of(const std::vector<config::NodeEntry>& nodes,
                                               NodeId self) {
  std::vector<io::AddressBook::Entry> entries;
  for (const config::NodeEntry& node : nodes) {
    if (node.number != self) entries.push_back({node.number, node.address, {}, {}});
  }
  return entries;
}

}  // namespace

NodeTable::NodeTable(const config::Settings& settings, const io::Endpoint& own_at)
    : settings_(settings),
      own_at_(own_at),
      names_(config::names_of(settings)),
      addresses_(own_at, entries_of(settings.nodes, settings.self()), settings.question) {}

config::Listing NodeTable::listing() const { return config::listing_of(settings_); }

std::vector<io::Peer> NodeTable::peers() const {
  std::vector<io::Peer> peers{{settings_.self(), own_at_}};
  for (const io::AddressBook::Entry& entry : addresses_.entries()) {
    peers.push_back({entry.node, entry.at});
  }
  return peers;
}

bool NodeTable::has(NodeId node) const {
  return find(settings_.nodes, node) != nullptr ||
         (pending_ && find(pending_->nodes, node) != nullptr);
}

Result<void, std::string> NodeTable::validate(const config::Listing& listing) const {
  if (auto change = config::validate(settings_, listing); !change) return change;
  const std::vector<config::NodeEntry>& nodes = listing.nodes;
  std::vector<io::Peer> peers{{settings_.self(), own_at_}};
  const auto add = [&](const config::NodeEntry& node) {
    if (node.number == settings_.self()) return;
    const auto known =
        std::find_if(addresses_.entries().begin(), addresses_.entries().end(),
                     [&](const io::AddressBook::Entry& each) { return each.node == node.number; });
    const bool found = known != addresses_.entries().end() && known->name == node.address;
    peers.push_back(
        {node.number, io::endpoint_of(node.address).value_or(found ? known->at : io::Endpoint{})});
  };
  for (const config::NodeEntry& node : nodes) add(node);
  for (const config::NodeEntry& node : settings_.nodes) {
    if (find(nodes, node.number) == nullptr) add(node);
  }
  const auto checked = io::check_peers(settings_.self(), peers);
  if (!checked) return unexpected(checked.error().message);
  return {};
}

void NodeTable::set_pending(Instant now, const config::Listing& listing) {
  pending_.reset();
  if (list_of(with(settings_, listing)).hash == list_of(settings_).hash) {
    settings_ = with(settings_, listing);  // addresses may differ
  } else {
    pending_ = listing;
  }
  update(now);
}

void NodeTable::adopt(Instant now) {
  if (pending_) settings_ = with(settings_, *std::exchange(pending_, std::nullopt));
  update(now);
}

void NodeTable::on_strangers(Instant now, std::uint64_t packets) {
  if (!addresses_.has_names()) return;
  if (std::exchange(strangers_, packets) != packets) addresses_.on_strangers(now);
}

/// The nodes of both lists. A node that is in both has the address of the pending list.
std::vector<config::NodeEntry> NodeTable::known() const {
  std::vector<config::NodeEntry> known = pending_ ? pending_->nodes : settings_.nodes;
  for (const config::NodeEntry& node : settings_.nodes) {
    if (find(known, node.number) == nullptr) known.push_back(node);
  }
  return known;
}

void NodeTable::update(Instant now) {
  const std::vector<config::NodeEntry> nodes = known();
  for (const config::NodeEntry& node : nodes) names_.replace(node.number, node.name);
  addresses_.set_nodes(now, entries_of(nodes, settings_.self()));
}

}  // namespace peal::runtime
