// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "order/engine.h"
#include "wire/client.h"

namespace peal::session {

/// Names memory that clients can read, from 1 on; never used twice by one Sessions.
using RegionId = std::uint64_t;

/// What the node delivers to its sessions: a message at its place in the order.
struct Delivered {
  MemberId sender{};
  /// Counts what `sender` submitted; what Host::submit() gave, if it was this node.
  std::uint64_t number{};
  bool control = false;  ///< came from Host::replace_control(); `number` means nothing then
  ViewId view{};
  Seq seq{};
  std::uint32_t index{};
  Service service = Service::agreed;
  ByteView payload;  ///< valid during the call
};

/// The answer to what a client asked its daemon.
struct Answer {
  wire::ClientCode code = wire::ClientCode::ok;
  std::string text;
};

/// What sessions ask of whoever runs them: the node below, and the owner. Called on the thread of
/// Sessions, inside its calls; never calls back into it, but for `ask` and `tables_equal`, which
/// may call status().
class Host {
 public:
  virtual ~Host() = default;

  // The node.
  /// Queues a message to be ordered for those who learn `domain`; copies it. Returns its number,
  /// which grows by one each time, or would_block, too_large, closed. After would_block the owner
  /// calls Sessions::on_room() when there may be room again.
  virtual Result<std::uint64_t> submit(ByteView message, Service service, order::Domain domain) = 0;
  /// A control message in the place of those that are not ordered yet; none if it is empty. May be
  /// called while the node delivers.
  virtual void replace_control(ByteView message) = 0;
  /// Holds back what submit() gave, or no longer. May be called while the node delivers.
  virtual void block(bool blocked) = 0;
  /// This node's table of groups now equals that of all in the view: its hash, for who compares.
  virtual void tables_equal(const ViewId& view, std::uint64_t hash) = 0;

  // The owner.
  /// The name of a node, as it stands in private names; empty if it is not known (then its number
  /// does). The same on all nodes.
  virtual std::string_view node_name(NodeId node) const = 0;
  /// Bytes that nobody can guess.
  virtual wire::SessionToken draw_token() = 0;
  /// Memory, zero, that begins at a multiple of 64 and stays where it is until close_region(), or
  /// until Sessions is gone. Those connections that Sessions::region_of() says may read it. Empty
  /// if there is none.
  virtual ByteSpan open_region(RegionId /*id*/, std::uint32_t /*bytes*/) { return {}; }
  virtual void close_region(RegionId /*id*/) {}
  /// A client asks; `admin` says whether it may know and do everything.
  virtual Answer ask(std::string_view what, bool admin) = 0;
};

}  // namespace peal::session
