// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "order/incompatible_peers.h"
#include "order/ramcast/area.h"
#include "order/ramcast/bad_records.h"
#include "order/ramcast/parts.h"

namespace peal::order::ramcast {

/// The connections of this process with others: which incarnation each node has, whether it has
/// exposed its memory to this process, and the writes that are under way.
class Links {
 public:
  explicit Links(const Parts& parts) : parts_(parts), links_(parts.layout.nodes()), bad_(parts) {}

  /// This process may write to the node.
  bool open(NodeIndex node) const { return links_[node].open; }
  /// The incarnation of the node that was heard last; none if it was never heard.
  const MemberId& peer(NodeIndex node) const { return links_[node].peer; }

  void start(Instant now);
  /// This process has something to write to the node, which concerns its own message `message`, or
  /// one of the node (0 between nodes of one domain).
  void need(Instant now, NodeIndex node, std::uint64_t message);
  enum class Change : std::uint8_t { none, opened, renewed };
  /// `renewed`: a new incarnation of the node; all earlier ones are gone.
  Change on_hello(Instant now, const MemberId& from, NodeIndex node, const wire::MemoryHello& hello,
                  Effects& out);
  /// Reports once that packets of this process are ignored. `view`: the last one that was
  /// installed.
  void refuse(const MemberId& from, wire::Drop reason, const ViewId& view, Effects& out);
  void on_timer(Instant now, Effects& out);
  std::optional<Instant> deadline() const;
  /// What others have written here and should not have.
  BadRecords& bad() { return bad_; }

  /// Copies bytes that the node wrote. False if its region is not exposed.
  bool load(Area area, NodeIndex from, std::uint64_t offset, ByteSpan to) const;
  /// Writes to an open node. `value` (40 bits) comes back with the completion. For all areas but
  /// the log, of which `epoch` is the grant.
  void write(NodeIndex to, Area area, std::uint64_t offset, ByteView bytes, std::uint64_t value,
             port::Epoch epoch = kStaticEpoch);
  struct Done {
    NodeIndex node{};
    Area area{};
    std::uint64_t value{};
    port::WriteEnd end{};
  };
  /// The next completion of a write to a link that was not closed since. A write that failed closes
  /// the link, except if the log denied it.
  bool next_done(Instant now, Done& out);

  static constexpr port::Epoch kStaticEpoch{1};

 private:
  struct Link {
    MemberId peer{};
    bool exposed = false;  ///< the peer may write here
    bool open = false;
    std::uint8_t generation = 0;  ///< counts how often the link was closed
    std::uint64_t message = 0;    ///< why a node of another domain is needed
    bool needed = false;
    Instant next{};  ///< when to send the next HELLO; valid if the link is needed and not open
    Duration gap{};
  };

  bool is_near(NodeIndex node) const {
    return parts_.serves() && parts_.layout.role(node).domain == parts_.domain;
  }
  void close(Instant now, NodeIndex node);
  void expose(Link& link, NodeIndex node);
  void say_hello(NodeIndex node, std::uint64_t message, Effects& out) const;

  const Parts& parts_;
  std::vector<Link> links_;
  BadRecords bad_;
  IncompatiblePeers incompatible_;
};

/// Bytes of the regions.
std::size_t slot_stride(const Options& options);
std::size_t base_bytes_max(const Options& options, const Layout& layout);
std::size_t bytes_of(Area area, const Options& options, const Layout& layout);

}  // namespace peal::order::ramcast
