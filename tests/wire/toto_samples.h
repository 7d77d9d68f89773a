// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "base/random.h"
#include "samples.h"
#include "wire/toto.h"

// Legal frames of toto.h for tests: plain ones of each kind, and random ones. Also commit tokens
// with ToTo's options and records.

namespace peal::wire::test {

inline Header header_of(TotoKind kind) { return header_of(frame_kind(kind)); }

/// A NODE, with its unit.
struct NodeSample {
  Node frame;
  std::vector<std::byte> unit;  ///< empty if and only if the node is a control node
};

/// The whole packet of the sender kSender.
std::vector<std::byte> packet_of(const NodeSample& sample, Checksum checksum = Checksum::present);

FixedVector<Advance, kMembersMax> advances_of(std::initializer_list<Advance> advances);
FixedVector<NodeRange, kNodeRangesMax> ranges_of(std::initializer_list<NodeRange> ranges);
FixedVector<Seq, kMembersMax> numbers_of(std::initializer_list<Seq> numbers);
/// Advances by one node of each of `count` members, from index 0 on, without `origin`.
FixedVector<Advance, kMembersMax> first_advances(std::size_t count, std::uint16_t origin);

NodeSample plain_control();  ///< a control node of the member with index 2, with three advances
NodeSample plain_node();     ///< an agreed unit of three bytes, with two advances
TotoLacks plain_toto_lacks();
TotoStatus plain_toto_status();
TotoPass plain_toto_pass();
/// The members and old views of plain_commit(). The first old view had four members, the second had
/// one member.
Commit plain_toto_commit();

// Random legal frames, up to the largest sizes; the sender is kSender.
NodeSample random_node(Random& random);
TotoLacks random_toto_lacks(Random& random);
TotoStatus random_toto_status(Random& random);
TotoPass random_toto_pass(Random& random);
Commit random_toto_commit(Random& random);

}  // namespace peal::wire::test
