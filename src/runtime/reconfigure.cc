// SPDX-License-Identifier: Apache-2.0
// Going over to another list of nodes. The engine decides when; until then the sockets, the names
// and the addresses know the nodes of both lists, and afterwards those of the new one.

#include <algorithm>
#include <utility>

#include "config/nodes.h"
#include "runtime/runtime.h"

namespace peal::runtime {

Result<void, std::string> Runtime::validate(const config::Listing& listing) const {
  if (auto change = config::validate(settings_, listing); !change) return change;
  const std::vector<config::NodeEntry>& nodes = listing.nodes;
  std::vector<io::Peer> peers{{settings_.self(), own_at_}};
  const auto add = [&](const config::NodeEntry& node) {
    if (node.number == settings_.self()) return;
    const auto known =
        std::find_if(addresses_->entries().begin(), addresses_->entries().end(),
                     [&](const io::AddressBook::Entry& each) { return each.node == node.number; });
    const bool found = known != addresses_->entries().end() && known->name == node.address;
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

void Runtime::set_nodes(Instant now, const config::Listing& listing) {
  take_adopted(now);
  if (listing == next_.value_or(listing_of(settings_))) return;  // as in most reloads
  // The active list may have changed since the request.
  if (const auto change = validate(listing); !change) {
    application_.on_warning("the new list of nodes is not gone over to: " + change.error());
    return;
  }
  const order::NodeList list = list_of(with(settings_, listing));
  next_.reset();
  if (list.hash == list_of(settings_).hash) {
    settings_ = with(settings_, listing);  // addresses may differ
  } else {
    next_ = listing;
  }
  know_nodes(now);
  node_->set_nodes(now, list);
}

void Runtime::take_adopted(Instant now) {
  if (!std::exchange(nodes_adopted_, false)) return;
  // If none is pending, this node's configured list is active.
  if (next_) settings_ = with(settings_, *std::exchange(next_, std::nullopt));
  know_nodes(now);
  application_.on_nodes();
}

/// Includes the nodes of both lists; the newer one has the right addresses.
void Runtime::know_nodes(Instant now) {
  std::vector<config::NodeEntry> known = next_ ? next_->nodes : settings_.nodes;
  for (const config::NodeEntry& node : settings_.nodes) {
    if (find(known, node.number) == nullptr) known.push_back(node);
  }
  std::vector<io::AddressBook::Entry> others;
  for (const config::NodeEntry& node : known) {
    names_.replace(node.number, node.name);
    if (node.number != settings_.self()) others.push_back({node.number, node.address, {}, {}});
  }
  addresses_->set_nodes(now, std::move(others));
  std::vector<io::Peer> peers{{settings_.self(), own_at_}};
  for (const io::AddressBook::Entry& entry : addresses_->entries()) {
    peers.push_back({entry.node, entry.at});
  }
  udp_->set_nodes(peers);
  std::erase_if(refused_said_,
                [&](const auto& said) { return find(known, said.first) == nullptr; });
}

}  // namespace peal::runtime
