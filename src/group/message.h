// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "group/traffic.h"
#include "wire/client.h"
#include "wire/frames.h"

// The messages of process groups, which are payloads of ordered messages. So each join, leave and
// disconnect has one place in the order, the same at every node. The order tells which node
// submitted a message; the message names only the client.
//
//   name:        length u8 (1 to 128; a client's 1 to 32), then so many bytes
//   client:      connection u32, name
//   join, leave: kind u8, client, name of the group
//   disconnect:  kind u8, client, reason u8
//   data:        kind u8, client, type u16, self-discard u8, targets u8 (1 to 64) of names, and the
//                payload
//   tables:      kind u8, view, synced u16 of members, groups u32 of {name, view, index u64,
//                changed u8, daemons u16 of {member, clients u32 of client}}, traffic
//   marker:      kind u8
//   traffic of domains: kind u8, view, traffic
//
//   traffic:     domains u8 of {domain u8, forgotten, views u16 of {view, place, every-name u8,
//                then digest u64 if every-name is 1, else names u16 of {name, messages u64} and
//                late u16 of {place, name}}}
//   forgotten:   any u8, then if any is 1: view, digest u64, every-name u8, then names u16 (at
//                least 1) of name if every-name is 0
//   place:       position u64, index u32
//
// Integers are little-endian. Members, views and sets are written as in wire/frames.h. Sets are
// sorted without repetition. Decoders are total, like the decoders of frames: for any bytes, they
// return a message or the reason for a drop. Every message has exactly one encoding.

namespace peal::group {

inline constexpr std::size_t kNameBytesMax = 128;
inline constexpr std::size_t kClientNameBytesMax = 32;  ///< so that private names fit kNameBytesMax
inline constexpr std::size_t kTargetsMax = 64;

enum class Kind : std::uint8_t {
  join = 1,
  leave = 2,
  disconnect = 3,
  data = 4,
  tables = 5,
  marker = 6,
  domain_traffic = 7,
};

/// True for a group's name: 1 to kNameBytesMax bytes, no control characters, first byte not '#'.
bool is_group_name(std::string_view name);
/// True for a client's name: like a group's name, but without '#' and with at most
/// kClientNameBytesMax bytes.
bool is_client_name(std::string_view name);
/// True for the name of a group, and for a client's private name: '#', the client's name, '#', the
/// node's name.
bool is_target(std::string_view name);

/// A client's connection to the node that submits its messages.
struct Client {
  std::uint32_t connection{};  ///< from 1; an incarnation of a node never uses a number twice
  std::string_view name;
};

/// A client asks to join or to leave a group.
struct Join {
  Client client;
  std::string_view group;
};
struct Leave {
  Client client;
  std::string_view group;
};

/// A client has disconnected, and leaves all its groups.
struct Disconnect {
  Client client;
  wire::ClientCode reason = wire::ClientCode::goodbye;  ///< any code but ok
};

/// A message without content. Once the daemon that sent the marker delivers it as a safe message,
/// every daemon of the view has all earlier messages of that daemon.
struct Marker {};

/// A client's message. Each client that `targets` names, itself or by its group, gets the message
/// once.
struct Data {
  Client client;
  std::uint16_t type{};       ///< set by the application
  bool self_discard = false;  ///< do not deliver the message to its sender
  FixedVector<std::string_view, kTargetsMax> targets;
  ByteView payload;
};

/// Layout of GroupId::index: the bits below kBranchShift count changes. The higher bits name the
/// branch: a node, or kViewBranch.
inline constexpr unsigned kBranchShift = 40;
inline constexpr std::uint64_t kViewBranch = std::uint64_t{1} << 56;

/// Identifies one state of a group: wherever the id occurs, the group has the same members.
struct GroupId {
  ViewId view{};
  std::uint64_t index{};  ///< counts changes from 1, in each branch of the view
  friend constexpr auto operator<=>(const GroupId&, const GroupId&) = default;
};

struct MemberClient {
  std::uint32_t connection{};
  std::string name;
  friend bool operator==(const MemberClient&, const MemberClient&) = default;
};
/// The members of a group at one daemon: at least one.
struct DaemonMembers {
  MemberId daemon{};
  std::vector<MemberClient> clients;  ///< sorted by name
  friend bool operator==(const DaemonMembers&, const DaemonMembers&) = default;
};
struct GroupState {
  std::string name;
  GroupId id{};
  /// True if a view change affects the group, and the clients are not notified yet.
  bool changed = false;
  std::vector<DaemonMembers> daemons;  ///< sorted, at least one
  friend bool operator==(const GroupState&, const GroupState&) = default;
};
/// A message of the exchange: all groups of a set of daemons with equal tables.
struct Tables {
  ViewId view{};                   ///< the regular view of the exchange
  std::vector<MemberId> synced;    ///< the daemons with this table; includes those in `groups`
  std::vector<GroupState> groups;  ///< sorted by name
  std::vector<Traffic> traffic;    ///< of domains that the sender reports on; sorted, none empty
  friend bool operator==(const Tables&, const Tables&) = default;
};

/// Traffic of domains to which the sender of Tables does not belong. The sender of this message
/// belongs to these domains.
struct DomainTraffic {
  ViewId view{};                 ///< as in Tables
  std::vector<Traffic> traffic;  ///< as in Tables
  friend bool operator==(const DomainTraffic&, const DomainTraffic&) = default;
};

/// The kind of a message, unchecked; 0 if the message is empty.
std::uint8_t kind_of(ByteView message);

/// Each decodes a message of one kind. Views and strings point into `message`. Unless the result is
/// Drop::none, `out` is unspecified. Reasons: truncated, trailing_bytes, unknown_kind (another
/// kind), count_too_large, not_sorted, bad_value (an invalid name or flag, an empty list, a daemon
/// that is not in `synced`).
[[nodiscard]] wire::Drop decode(ByteView message, Join& out);
[[nodiscard]] wire::Drop decode(ByteView message, Leave& out);
[[nodiscard]] wire::Drop decode(ByteView message, Disconnect& out);
[[nodiscard]] wire::Drop decode(ByteView message, Data& out);
[[nodiscard]] wire::Drop decode(ByteView message, Tables& out);
[[nodiscard]] wire::Drop decode(ByteView message, Marker& out);
[[nodiscard]] wire::Drop decode(ByteView message, DomainTraffic& out);

/// Each replaces `out` by the only encoding of the message. decode() must accept this encoding.
void encode(const Join& message, std::vector<std::byte>& out);
void encode(const Leave& message, std::vector<std::byte>& out);
void encode(const Disconnect& message, std::vector<std::byte>& out);
void encode(const Data& message, std::vector<std::byte>& out);
void encode(const Tables& message, std::vector<std::byte>& out);
void encode(const Marker& message, std::vector<std::byte>& out);
void encode(const DomainTraffic& message, std::vector<std::byte>& out);

}  // namespace peal::group
