// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/udp.h"

namespace peal::io {

/// Names a peer by its place in a PeerTable.
using PeerIndex = std::uint16_t;
inline constexpr std::size_t kPeersMax = 127;

/// Where each peer went when the list of nodes changed, by its old place; nothing: it is no peer
/// any more.
using PeerMap = std::vector<std::optional<PeerIndex>>;

/// The other configured nodes, sorted by number, with the addresses that the kernel wants.
class PeerTable {
 public:
  explicit PeerTable(const UdpConfig& config);

  struct Entry {
    NodeId node{};
    Endpoint at;               ///< unspecified: nobody knows yet where it is
    sockaddr_storage token{};  ///< of no family then, as is `data`
    sockaddr_storage data{};
    bool known() const { return !at.is_unspecified(); }
  };
  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](PeerIndex index) const { return entries_[index]; }
  socklen_t address_bytes() const { return address_bytes_; }

  std::optional<PeerIndex> find(NodeId node) const;
  /// The peer that sends from this source: from either of its two ports.
  std::optional<PeerIndex> find(const Endpoint& source) const;
  /// The node is there from now on, and not where it was. Nothing is allocated.
  void set_address(PeerIndex index, const Endpoint& at);
  /// These are the nodes from now on, this one among them, which stays where it is.
  PeerMap set_nodes(std::span<const Peer> nodes);
  /// Where this node's own data comes from.
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
