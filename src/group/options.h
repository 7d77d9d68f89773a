// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "group/domains.h"
#include "order/engine.h"

namespace peal::group {

/// The traffic in Tables may take 1/kTrafficShare of the largest message.
inline constexpr std::uint32_t kTrafficShare = 4;

/// `message_bytes_max` and `nodes` must be the same on all nodes.
struct Options {
  std::string node_name;                        ///< as in private names: without '#'
  std::uint32_t nodes = 1;                      ///< maximum number of nodes, now and later
  std::uint32_t message_bytes_max = 64U << 20;  ///< of one ordered message
  std::uint32_t clients_max = 65'536;           ///< connected at the same time
  Domains domains;                              ///< groups whose messages only some nodes learn
  /// order::Traits::companies of the engine: members that leave a view apart may have delivered its
  /// messages in different orders.
  bool companies = false;
};

/// Returns an empty text if the options are valid. Otherwise returns one line that names the key,
/// the value and what is accepted.
std::string validate(const Options& options);

/// Why a client's request was refused. The request had no effect.
enum class Refusal : std::uint8_t {
  would_block,  ///< too many messages wait to be ordered: retry later
  too_large,    ///< the message exceeds the limit
  closed,       ///< the node has stopped
  bad_name,     ///< invalid name of a group, client or target; or too many targets
  name_in_use,  ///< another client of this node has the name
  no_client,    ///< no such connection
  member_already,
  no_member,
  other_nodes,  ///< this node does not learn messages to that group
  no_domain,    ///< no domain has that group or client: see Domains::Kind::disjoint
  no_room,      ///< too many clients, or this node's clients are in too many groups
};

/// A message that a client sends.
struct Outgoing {
  std::span<const std::string_view> targets;  ///< groups and private names, in any order
  Service service = Service::agreed;
  std::uint16_t type{};       ///< set by the application
  bool self_discard = false;  ///< do not deliver the message to its sender
  ByteView payload;
};

}  // namespace peal::group
