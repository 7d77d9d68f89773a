// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.h"
#include "samples.h"
#include "wire/paxos.h"

// Legal frames of paxos.h for tests: a plain one of each kind, and random ones.

namespace peal::wire::test {

constexpr FrameKind frame_kind(PaxosKind kind) { return static_cast<FrameKind>(kind); }
inline Header header_of(PaxosKind kind) { return header_of(frame_kind(kind)); }

inline constexpr Round kSomeRound{6, {{2}, 20}};

/// A SUBMIT, PROPOSE or DECIDED, and the bytes of its value.
struct ValueSample {
  PaxosKind kind = PaxosKind::propose;
  ValueFrame frame;
  std::vector<std::byte> bytes;
};
struct FetchedSample {
  Fetched frame;
  std::vector<std::byte> bytes;
};
/// A WORD with a vote, and the bytes of the value.
struct WordSample {
  Word frame;
  std::vector<std::byte> bytes;
};

struct RelaySample {
  PaxosKind kind = PaxosKind::relay;
  Relay frame;
  std::vector<std::byte> bytes;
};

/// The whole packet of a sample. Its sender is kSender.
std::vector<std::byte> packet_of(const ValueSample& sample, Checksum checksum = Checksum::present);
std::vector<std::byte> packet_of(const FetchedSample& sample,
                                 Checksum checksum = Checksum::present);
std::vector<std::byte> packet_of(const WordSample& sample, Checksum checksum = Checksum::present);

std::vector<std::byte> packet_of(const RelaySample& sample, Checksum checksum = Checksum::present);

/// The bytes of a view with these members.
std::vector<std::byte> view_bytes(const std::vector<ViewMember>& members);
/// Members 1 to `count`. Member n came from view n.
std::vector<ViewMember> first_view_members(std::uint32_t count);

/// The first list of an order: nodes 1 to `count`, of which the first `acceptors` are acceptors.
Nodes first_nodes(std::uint32_t count, std::uint32_t acceptors);
/// The bytes of a list as a value.
std::vector<std::byte> nodes_bytes(const Nodes& nodes);

/// A unit that begins with its placing.
std::vector<std::byte> placed_unit(const Placing& placing, const std::vector<std::byte>& rest);

ValueSample plain_submit();
ValueSample plain_propose();  ///< PROPOSE of a unit of three bytes
ValueSample plain_decided();
ValueSample plain_view();   ///< PROPOSE of a view of three members
ValueSample plain_nodes();  ///< PROPOSE of a list of four nodes, three of them acceptors
State plain_state();        ///< STATE of a coordinator that voted
Promise plain_promise();    ///< two adjacent runs, and a separate run
FetchedSample plain_fetched();
WordSample plain_word();
RelaySample plain_relay(PaxosKind kind);
Checkpoint plain_checkpoint();  ///< with a view of three members, and the list of plain_nodes()

// Random legal frames, up to the largest sizes; the sender is kSender.
ValueSample random_value(Random& random);
State random_state(Random& random);
Prepare random_prepare(Random& random);
Promise random_promise(Random& random);
Fetch random_fetch(Random& random);
FetchedSample random_fetched(Random& random);
Repeat random_repeat(Random& random);
Recall random_recall(Random& random);
WordSample random_word(Random& random);
Word random_no_vote(Random& random);
LinkCheck random_link_check(Random& random);
Lacks random_lacks(Random& random);
Pass random_pass(Random& random);
Lives random_lives(Random& random);
LogAnswer random_log_answer(Random& random);
RelaySample random_relay(Random& random);
Placing random_placing(Random& random);
Checkpoint random_checkpoint(Random& random);
std::vector<ViewMember> random_view_members(Random& random);  ///< at least one member
Nodes random_nodes(Random& random);                           ///< also sets `number` and `first`

}  // namespace peal::wire::test
