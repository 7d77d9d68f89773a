// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "config/settings.h"
#include "io/address_book.h"
#include "io/udp.h"
#include "order/engine.h"
#include "trace/names.h"

namespace peal::runtime {

/// The nodes of the cluster: the active list of nodes, the pending list, and the names and
/// addresses of the nodes of both lists. Thread: the loop's.
class NodeTable {
 public:
  /// `own_at` is this node's address.
  NodeTable(const config::Settings& settings, const io::Endpoint& own_at);

  /// This node's settings, with the active nodes and acceptors.
  const config::Settings& settings() const { return settings_; }
  const std::vector<config::NodeEntry>& active() const { return settings_.nodes; }
  config::Listing listing() const;
  /// The pending list, until it is active.
  const std::optional<config::Listing>& pending() const { return pending_; }
  const trace::Names& names() const { return names_; }
  const io::AddressBook& addresses() const { return addresses_; }
  /// The nodes of both lists with their addresses, as far as the addresses are known; this node is
  /// the first.
  std::vector<io::Peer> peers() const;
  bool has(NodeId node) const;

  /// Checks that this node can change to this list. The error is one line that says why the node
  /// cannot, and what to do.
  Result<void, std::string> validate(const config::Listing& listing) const;
  /// Makes a valid list the pending list. A list that differs from the active list only in
  /// addresses becomes active at once; then no list is pending.
  void set_pending(Instant now, const config::Listing& listing);
  /// Call it when the engine uses the pending list: makes that list active. If no list is pending,
  /// the active list stays active.
  void adopt(Instant now);

  // The addresses, as in io::AddressBook.
  std::optional<Instant> next_deadline() const { return addresses_.next_deadline(); }
  void on_timer(Instant now, const io::AddressBook::OnChange& on_change) {
    addresses_.on_timer(now, on_change);
  }
  void look_up_names(Instant now) { addresses_.ask_all(now); }
  void set_present(Instant now, std::span<const MemberId> members) {
    addresses_.set_present(now, members);
  }
  /// `packets` is the number of packets from unknown addresses so far. If this number has grown, a
  /// node may have moved to another address.
  void on_strangers(Instant now, std::uint64_t packets);

 private:
  std::vector<config::NodeEntry> known() const;
  void update(Instant now);

  config::Settings settings_;
  std::optional<config::Listing> pending_;
  io::Endpoint own_at_;
  trace::Names names_;
  io::AddressBook addresses_;
  std::uint64_t strangers_ = 0;  ///< packets from unknown addresses, at the last on_strangers()
};

}  // namespace peal::runtime
