// SPDX-License-Identifier: Apache-2.0
#include "io/peers.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::io {
namespace {

Endpoint data_endpoint(const Endpoint& at) {
  return at.with_port(static_cast<std::uint16_t>(at.port + 1));
}

}  // namespace

PeerTable::PeerTable(const UdpConfig& config) : self_(config.self) { fill(config.nodes); }

PeerMap PeerTable::set_nodes(std::span<const Peer> nodes) {
  const std::vector<Entry> before = std::exchange(entries_, {});
  fill(nodes);
  PeerMap map;
  for (const Entry& entry : before) map.push_back(find(entry.node));
  return map;
}

void PeerTable::fill(std::span<const Peer> nodes) {
  std::vector<Peer> peers(nodes.begin(), nodes.end());
  std::sort(peers.begin(), peers.end(),
            [](const Peer& a, const Peer& b) { return a.node < b.node; });
  for (const Peer& peer : peers) {
    if (peer.node == self_) {
      own_data_ = data_endpoint(peer.at);
      continue;
    }
    Entry& entry = entries_.emplace_back();
    entry.node = peer.node;
    put(entry, peer.at);
  }
  PEAL_ASSERT(entries_.size() <= kPeersMax);
  sources_.reserve(2 * entries_.size());
  list_sources();
}

void PeerTable::set_address(PeerIndex index, const Endpoint& at) {
  put(entries_[index], at);
  list_sources();
}

void PeerTable::put(Entry& entry, const Endpoint& at) {
  entry.at = at;
  entry.token = entry.data = {};
  if (!entry.known()) return;
  const socklen_t bytes = to_sockaddr(at, entry.token);
  PEAL_ASSERT(address_bytes_ == 0 || bytes == address_bytes_);  // all addresses are of one family
  address_bytes_ = bytes;
  to_sockaddr(data_endpoint(at), entry.data);
}

void PeerTable::list_sources() {
  sources_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].known()) continue;
    const auto index = static_cast<PeerIndex>(i);
    sources_.push_back({entries_[i].at, index});
    sources_.push_back({data_endpoint(entries_[i].at), index});
  }
  std::sort(sources_.begin(), sources_.end(),
            [](const Source& a, const Source& b) { return a.at < b.at; });
}

std::optional<PeerIndex> PeerTable::find(NodeId node) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), node,
                       [](const Entry& entry, NodeId wanted) { return entry.node < wanted; });
  if (found == entries_.end() || found->node != node) return std::nullopt;
  return static_cast<PeerIndex>(found - entries_.begin());
}

std::optional<PeerIndex> PeerTable::find(const Endpoint& source) const {
  const auto before = [](const Source& entry, const Endpoint& wanted) { return entry.at < wanted; };
  const auto found = std::lower_bound(sources_.begin(), sources_.end(), source, before);
  if (found == sources_.end() || found->at != source) return std::nullopt;
  return found->index;
}

}  // namespace peal::io
