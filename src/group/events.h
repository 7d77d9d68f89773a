// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/domain_set.h"
#include "base/ids.h"
#include "base/result.h"
#include "group/message.h"
#include "group/table.h"
#include "group/traffic.h"
#include "order/engine.h"
#include "wire/client.h"

namespace peal::group {

/// Where a delivered message comes from, and its place.
struct Ordered {
  MemberId sender{};
  /// Counts the sender's messages. Grows with each message of the sender.
  std::uint64_t number{};
  Service service = Service::agreed;
  /// Grows with each message of a view that has a place. Without Options::companies it is the same
  /// on all nodes. Zero if the message has no place (order::Traits::causal).
  Place place;
  ViewId view{};  ///< in which the message has this place
};

/// Why the members of a group changed.
enum class Cause : std::uint8_t { join, leave, disconnect, network };

struct Member {
  ClientKey client;
  std::string_view name;
  std::uint32_t set{};  ///< members with the same number came to this view together
};

/// A view of a group, as its members at this node get it.
struct GroupView {
  std::string_view group;
  GroupId id{};
  Cause cause{};
  wire::ClientCode reason{};  ///< of a disconnection: goodbye, slow, …; otherwise ok
  /// The client that joined, left or disconnected; null for Cause::network.
  const Member* changed = nullptr;
  std::span<const Member> members{};  ///< sorted by daemon, then by name; valid during the call
  /// The number of the receivers' set (Member::set). Members of one set saw the same previous view
  /// of the group, and delivered the same messages in it.
  std::uint32_t own_set{};
};

/// A message of a client, as receivers get it.
struct Received {
  ClientKey sender;
  std::string_view name;  ///< name of the sender
  Service service = Service::agreed;
  std::uint16_t type{};
  std::span<const std::string_view> targets;  ///< sorted; valid during the call, like the payload
  ByteView payload;
  // As in Ordered.
  ViewId view{};
  Place place;
  std::uint64_t number{};
  /// The message waited for an exchange of tables, and comes at once with others that did.
  bool held = false;
};

/// The actions that the group layer requests. The implementation carries them out in the order of
/// the calls, and must not call the group layer.
class Effects {
 public:
  virtual ~Effects() = default;

  // Events for clients of this node; a connection names its client.
  /// Called once for each message, with all its receivers at this node: at least one receiver, each
  /// receiver once.
  virtual void deliver(std::span<const std::uint32_t> connections, const Received& message) = 0;
  /// Called once for each set that has members at this node. `connections`: the members of the set
  /// `view.own_set` at this node.
  virtual void view(std::span<const std::uint32_t> connections, const GroupView& view) = 0;
  /// Until the group's next view, the delivery guarantees hold only among members that will be in
  /// the receiver's set of that view.
  virtual void transitional(std::uint32_t connection, std::string_view group) = 0;
  /// The client is no longer a member. This is its last event of that group.
  virtual void left(std::uint32_t connection, std::string_view group) = 0;
  /// Messages to `group` were ordered without this node. An empty `group` stands for the private
  /// names of the clients. The gap follows all earlier events of these clients, and precedes all
  /// later events.
  virtual void gap(std::span<const std::uint32_t> connections, std::string_view group) = 0;

  // Messages that wait for an exchange of tables, with disjoint domains.
  /// True if those that clients sent may take `bytes` of memory. Changes of memberships are few:
  /// members send nothing else during an exchange.
  virtual bool may_hold(std::uint64_t bytes) const = 0;
  /// They would take more, so they were dropped. Each client of this node has to be told, and
  /// disconnected; no event may come to it any more.
  virtual void dropped() = 0;

  // Requests to the node.
  /// Orders a message for the nodes of `domains`, as order::Host::next_domains() allows. Called
  /// only inside a client's request or work(), never while the node delivers. Returns the message's
  /// number; numbers ascend.
  virtual Result<std::uint64_t, Errc> submit(ByteView message, Service service,
                                             DomainSet domains) = 0;
  /// Drops the queued control messages that the engine has not taken yet. Then queues `message` for
  /// the nodes of `domains`, unless `message` is empty.
  virtual void replace_control(ByteView message, DomainSet domains) = 0;
  /// Holds back messages from submit(), or releases them.
  /// Returns the number of the last message that the engine has, or had: messages up to this number
  /// get their places nevertheless.
  virtual std::uint64_t block(bool blocked) = 0;
  /// This node's table now equals the table of every daemon that reaches this point of the view.
  /// `hash`: Table::hash() of the table. Group views for clients follow.
  virtual void settled(const ViewId& view, std::uint64_t hash) = 0;
};

}  // namespace peal::group
