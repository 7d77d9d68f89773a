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

// The messages of process groups. They are the payloads of ordered messages: who joins, leaves and
// disconnects has one place in the order, the same at every node. The node that submitted a message
// is known from the order; a message names its client only.
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
//   traffic:     domains u8 of {domain u8, forgotten, views u16 of {view, place, every name u8,
//                then digest u64 if that is 1, else names u16 of {name, messages u64} and late u16
//                of {place, name}}}
//   forgotten:   any u8, then if that is 1: view, digest u64, every name u8, and if that is 0 names
//                u16 (at least 1) of name
//   place:       position u64, index u32
//
// Integers are little-endian; members, views and sets are written as in wire/frames.h, and sets are
// sorted without repetition. Decoders are total, as those of frames are: any bytes give a message
// or a reason to drop them, and every message has exactly one encoding.

namespace peal::group {

inline constexpr std::size_t kNameBytesMax = 128;
inline constexpr std::size_t kClientNameBytesMax = 32;  ///< so that a private name is a name
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

/// A name of a group: 1 to kNameBytesMax bytes, none of them a control character, the first not
/// '#'.
bool is_group_name(std::string_view name);
/// A name that a client may ask for: as of a group, without '#', at most kClientNameBytesMax bytes.
bool is_client_name(std::string_view name);
/// A group, or the private name of one client: '#', its name, '#', the name of its node.
bool is_target(std::string_view name);

/// One connection of a client to the node that submits its messages.
struct Client {
  std::uint32_t connection{};  ///< never used twice by one incarnation of a node; from 1
  std::string_view name;
};

/// A client asks to be a member of a group, or to be one no longer.
struct Join {
  Client client;
  std::string_view group;
};
struct Leave {
  Client client;
  std::string_view group;
};

/// A client is gone, from all groups.
struct Disconnect {
  Client client;
  wire::ClientCode reason = wire::ClientCode::goodbye;  ///< not ok
};

/// Means nothing but its place: whoever sent it learns that all that it sent before is known to
/// all, once this is.
struct Marker {};

/// What a client sends, delivered once to every client that one of the targets names.
struct Data {
  Client client;
  std::uint16_t type{};       ///< the application's own
  bool self_discard = false;  ///< not to its sender
  FixedVector<std::string_view, kTargetsMax> targets;
  ByteView payload;
};

/// Of an index: below it, it counts; above it stands the branch, a node, or the view itself.
inline constexpr unsigned kBranchShift = 40;
inline constexpr std::uint64_t kViewBranch = std::uint64_t{1} << 56;

/// Names one state of one group: a place in the history that all its members share.
struct GroupId {
  ViewId view{};
  std::uint64_t index{};  ///< counts the changes in that view from 1, in each branch of it
  friend constexpr auto operator<=>(const GroupId&, const GroupId&) = default;
};

struct MemberClient {
  std::uint32_t connection{};
  std::string name;
  friend bool operator==(const MemberClient&, const MemberClient&) = default;
};
/// The members of a group that one daemon serves: at least one.
struct DaemonMembers {
  MemberId daemon{};
  std::vector<MemberClient> clients;  ///< sorted by name
  friend bool operator==(const DaemonMembers&, const DaemonMembers&) = default;
};
struct GroupState {
  std::string name;
  GroupId id{};
  bool changed = false;                ///< lost members that its clients were not told about
  std::vector<DaemonMembers> daemons;  ///< sorted, at least one
  friend bool operator==(const GroupState&, const GroupState&) = default;
};
/// What daemons that come together tell each other: all groups of those whose tables are equal.
struct Tables {
  ViewId view{};                   ///< the regular view in which they exchange them
  std::vector<MemberId> synced;    ///< whose table this is; all daemons in `groups` are among them
  std::vector<GroupState> groups;  ///< sorted by name
  std::vector<Traffic> traffic;    ///< of domains that the sender speaks for; sorted, none empty
  friend bool operator==(const Tables&, const Tables&) = default;
};

/// The traffic of domains that the sender of the tables is not in, from one of those who are.
struct DomainTraffic {
  ViewId view{};                 ///< as in Tables
  std::vector<Traffic> traffic;  ///< as in Tables
  friend bool operator==(const DomainTraffic&, const DomainTraffic&) = default;
};

/// The kind that a message says it is; 0 if it is empty. Not checked.
std::uint8_t kind_of(ByteView message);

/// Each decodes a message of its kind. Views and strings point into `message`. If the result is not
/// Drop::none, `out` is unspecified. Reasons: truncated, trailing_bytes, unknown_kind (another
/// one), count_too_large, not_sorted, bad_value (a name that is none, a flag that does not exist,
/// an empty list, a daemon that is not synced).
[[nodiscard]] wire::Drop decode(ByteView message, Join& out);
[[nodiscard]] wire::Drop decode(ByteView message, Leave& out);
[[nodiscard]] wire::Drop decode(ByteView message, Disconnect& out);
[[nodiscard]] wire::Drop decode(ByteView message, Data& out);
[[nodiscard]] wire::Drop decode(ByteView message, Tables& out);
[[nodiscard]] wire::Drop decode(ByteView message, Marker& out);
[[nodiscard]] wire::Drop decode(ByteView message, DomainTraffic& out);

/// Each replaces `out` by the one encoding of a message, which decode() must accept.
void encode(const Join& message, std::vector<std::byte>& out);
void encode(const Leave& message, std::vector<std::byte>& out);
void encode(const Disconnect& message, std::vector<std::byte>& out);
void encode(const Data& message, std::vector<std::byte>& out);
void encode(const Tables& message, std::vector<std::byte>& out);
void encode(const Marker& message, std::vector<std::byte>& out);
void encode(const DomainTraffic& message, std::vector<std::byte>& out);

}  // namespace peal::group
