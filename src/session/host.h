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

/// Identifies a region, memory that clients can read; from 1. A Sessions object never uses an id
/// twice.
using RegionId = std::uint64_t;

/// A message that the node delivers.
struct Delivered {
  MemberId sender{};
  /// Number of the message among those that `sender` submitted. If `sender` is this node,
  /// Host::submit() returned this number.
  std::uint64_t number{};
  bool control = false;  ///< sent by Host::replace_control(); `number` is meaningless
  ViewId view{};
  Seq seq{};  ///< position in `view`'s order; 0 if the message has none (order::Traits::causal)
  std::uint32_t index{};
  Service service = Service::agreed;
  ByteView payload;  ///< valid during the call
};

/// The answer to a client's request.
struct Answer {
  wire::ClientCode code = wire::ClientCode::ok;
  std::string text;
};

/// What sessions need from the node below and from their owner. Sessions calls the host on the
/// owner's thread, inside the owner's calls. The host must not call back into Sessions, except that
/// `ask` and `tables_equal` may call status().
class Host {
 public:
  virtual ~Host() = default;

  // The node.

  /// Copies a message, and queues it to be ordered for the nodes of `domains`, as
  /// order::Host::next_domains() allows. Returns the message's number; each message gets the next
  /// number. Errors: would_block, too_large, closed. After would_block the owner calls
  /// Sessions::on_room() when there may be room again.
  virtual Result<std::uint64_t, Errc> submit(ByteView message, Service service,
                                             DomainSet domains) = 0;
  /// Drops the queued control messages that the engine has not taken yet, then queues `message`
  /// unless it is empty. May be called while the node delivers.
  virtual void replace_control(ByteView message, DomainSet domains) = 0;
  /// Holds back messages from submit(), or releases them. May be called while the node delivers.
  /// Returns the number of the last message that the engine has, or had.
  virtual std::uint64_t block(bool blocked) = 0;
  /// Called when this node's group table has become equal to that of every other daemon in the
  /// view. `hash`: the table's hash, for comparison.
  virtual void tables_equal(const ViewId& view, std::uint64_t hash) = 0;

  // The owner.

  /// The name of `node` in private names; it is the same on all nodes. Returns an empty name if the
  /// node is unknown; private names then have the node's number.
  virtual std::string_view node_name(NodeId node) const = 0;
  /// Random bytes that cannot be guessed.
  virtual wire::SessionToken draw_token() = 0;
  /// Returns zeroed memory, aligned to 64 bytes, that stays in place until close_region() or the
  /// end of Sessions. The connections for which Sessions::region_of() returns `id` may read it.
  /// Returns an empty span if no memory is available.
  virtual ByteSpan open_region(RegionId /*id*/, std::uint32_t /*bytes*/) { return {}; }
  virtual void close_region(RegionId /*id*/) {}
  /// Answers a client's question; `admin`: true if the client may ask for everything.
  virtual Answer ask(std::string_view what, bool admin) = 0;
};

}  // namespace peal::session
