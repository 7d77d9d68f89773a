// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "group/message.h"
#include "group/table.h"
#include "order/engine.h"
#include "wire/client.h"

namespace peal::group {

/// Why a group has other members than before.
enum class Cause : std::uint8_t { join, leave, disconnect, network };

struct Member {
  ClientKey client;
  std::string_view name;
  std::uint32_t set{};  ///< members with the same number came to this view together
};

/// Tells one member of a group who its members are.
struct GroupView {
  std::string_view group;
  GroupId id{};
  Cause cause{};
  wire::ClientCode reason{};          ///< of a disconnection: goodbye, slow, …; else ok
  const Member* changed = nullptr;    ///< who joined, left or disconnected; null for `network`
  std::span<const Member> members{};  ///< sorted by daemon, then by name; valid during the call
  /// The set of whoever is told: these members saw the same view of the group just before, and the
  /// same messages in it.
  std::uint32_t own_set{};
};

/// A message of a client, as its receivers see it.
struct Received {
  ClientKey sender;
  std::string_view name;  ///< the sender's
  Service service = Service::agreed;
  std::uint16_t type{};
  std::span<const std::string_view> targets;  ///< sorted; valid during the call, as the payload
  ByteView payload;
};

/// Everything that the layer of groups wants done. Calls are carried out in the order made, and do
/// not call back.
class Effects {
 public:
  virtual ~Effects() = default;

  // To clients of this node, by their connections.
  /// Once for each message, to all who get it: at least one, each once.
  virtual void deliver(std::span<const std::uint32_t> connections, const Received& message) = 0;
  /// Once for each set that members here came in: to all who are in `own_set`.
  virtual void view(std::span<const std::uint32_t> connections, const GroupView& view) = 0;
  /// Until the group's next view, what is promised holds among those only that will be in the
  /// receiver's set.
  virtual void transitional(std::uint32_t connection, std::string_view group) = 0;
  /// The client is no longer a member: the last event of that group.
  virtual void left(std::uint32_t connection, std::string_view group) = 0;
  /// Messages of the group (empty: to the private name) were ordered where this node was not:
  /// behind all that these clients got, and ahead of what they get next.
  virtual void gap(std::span<const std::uint32_t> connections, std::string_view group) = 0;

  // To the node.
  /// For those who learn `domain`, one that this node is in. Only inside calls of clients and
  /// work(), never while the node tells something.
  virtual Result<void> submit(ByteView message, Service service, order::Domain domain) = 0;
  /// A control message in the place of those that are not ordered yet; none if it is empty.
  virtual void replace_control(ByteView message) = 0;
  /// Holds back what submit() gave, or no longer.
  virtual void block(bool blocked) = 0;
  /// This node's table is now the same as that of everyone in the view who gets so far; clients are
  /// told of it next.
  virtual void settled(const ViewId& view) = 0;
};

}  // namespace peal::group
