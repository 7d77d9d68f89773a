// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/udp.h"

namespace peal::io {

/// Identifies a peer by its index in a PeerTable.
using PeerIndex = std::uint16_t;
inline constexpr std::size_t kPeersMax = 127;

/// Maps the old index of each peer to its new index after a change of the list of nodes. The new
/// index of a node that is no longer a peer is empty.
using PeerMap = std::vector<std::optional<PeerIndex>>;

/// The other configured nodes, sorted by number, with their addresses in the kernel's format.
class PeerTable {
 public:
  explicit PeerTable(const UdpConfig& config);

  struct Entry {
    NodeId node{};
    Endpoint at;               ///< unspecified if not known yet
    sockaddr_storage token{};  ///< no address family while `at` is unspecified
    sockaddr_storage data{};   ///< no address family while `at` is unspecified
    bool known() const { return !at.is_unspecified(); }
  };
  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](PeerIndex index) const { return entries_[index]; }
  socklen_t address_bytes() const { return address_bytes_; }

  std::optional<PeerIndex> find(NodeId node) const;
  /// The peer whose address, with either of its two ports, is `source`.
  std::optional<PeerIndex> find(const Endpoint& source) const;
  /// Sets the peer's address to `at`. Allocates nothing.
  void set_address(PeerIndex index, const Endpoint& at);
  /// Replaces the list of nodes. `nodes` includes this node, whose address must not change.
  PeerMap set_nodes(std::span<const Peer> nodes);
  /// The address from which this node sends data.
  const Endpoint& own_data() const { return own_data_; }

 private:
  struct Source {
    Endpoint at;
    PeerIndex index{};
  };
  void fill(std::span<const Peer> nodes);
  void put(Entry& entry, const Endpoint& at);
  void list_sources();

  NodeId self_;
  std::vector<Entry> entries_;
  std::vector<Source> sources_;  ///< sorted by address
  socklen_t address_bytes_{};
  Endpoint own_data_;
};

}  // namespace peal::io
