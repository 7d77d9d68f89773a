// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/baselines/frame.h"
#include "sim/baselines/roster.h"

namespace peal::sim::genuine::whitebox {

enum class Kind : std::uint8_t {
  beat = 240,
  multicast,   ///< a sender's unit, to a leader
  accept,      ///< the stamp that a domain's leader proposes
  ack,         ///< a server has the stamps of all domains of a message
  deliver,     ///< the next message of a domain's order
  entry,       ///< a message of the order, with its unit
  fetch,       ///< requests entries
  reply,       ///< a message's key, for a sender outside its domains
  new_leader,  ///< asks for a promise
  part,        ///< bytes of a state
  get,         ///< requests bytes of a state
};
constexpr std::uint8_t number(Kind kind) { return static_cast<std::uint8_t>(kind); }

/// A leader's term: a count, and the leader's node below it. 0: none.
using Ballot = std::uint64_t;
constexpr Ballot ballot_of(std::uint64_t count, NodeId leader) {
  return count << 16 | leader.value;
}
constexpr std::uint64_t count_of(Ballot ballot) { return ballot >> 16; }
constexpr NodeId leader_of(Ballot ballot) {
  return NodeId{static_cast<std::uint32_t>(ballot & 0xffff)};
}

constexpr Key stamp_of(std::uint64_t clock, DomainId domain) { return clock << 4 | domain; }
constexpr std::uint64_t clock_of(Key key) { return key >> 4; }
constexpr DomainId domain_of(Key key) { return static_cast<DomainId>(key & 15); }
/// How far a key may be ahead of a receiver's clock.
inline constexpr std::uint64_t kClockAhead = 1ULL << 48;

/// What the leader of one domain proposes for a message.
struct Proposal {
  Ballot ballot = 0;  ///< 0: none
  Key stamp = 0;
  friend bool operator==(const Proposal&, const Proposal&) = default;
};
/// The proposals of a message's domains, by domain.
using Proposals = std::array<Proposal, kDomainMax + 1>;

struct Beat {
  std::vector<MemberId> members;  ///< of the domain; empty: not known yet
  Ballot promised = 0;
  Ballot current = 0;         ///< the ballot whose state the sender has
  bool fit = false;           ///< the sender hears a majority
  bool leading = false;       ///< the sender leads in `current`
  std::uint64_t tip = 0;      ///< number of messages in the sender's order
  std::uint64_t applied = 0;  ///< of these, delivered to its application
};
struct Multicast {
  Head head;
  bool forwarded = false;
  ByteView body;
};
struct Accept {
  Head head;
  Proposal proposal;
  bool has_body = false;
  ByteView body;
};
struct Ack {
  Head head;
  Proposals proposals{};
};
struct Deliver {
  Head head;
  Ballot ballot = 0;
  std::uint64_t place = 0;  ///< in the domain's order, from 1
  Key stamp = 0;            ///< of the domain
  Key key = 0;
};
struct Entry {
  Head head;
  std::uint64_t place = 0;
  Key stamp = 0;
  Key key = 0;
  ByteView body;
};
struct Reply {
  MemberId sender{};
  std::uint64_t number = 0;
  Key key = 0;
};
struct NewLeader {
  Ballot ballot = 0;
  std::uint64_t tip = 0;  ///< number of messages in the candidate's order
};
/// Which of two states a part belongs to.
enum class State : std::uint8_t {
  answer,  ///< a member's, for the candidate
  base,    ///< the new leader's, for the members
};
struct Part {
  Ballot ballot = 0;
  State state = State::answer;
  std::uint32_t total = 0;
  std::uint32_t offset = 0;
  ByteView bytes;
};
struct Get {
  Ballot ballot = 0;
  State state = State::answer;
  std::uint32_t offset = 0;
};
inline constexpr std::uint32_t kStateBytesMax = 256U << 20;

/// Most bytes of a packet beside a unit.
constexpr std::uint32_t beside_unit(std::size_t domains) {
  return static_cast<std::uint32_t>(wire::kHeaderBytes) + head_bytes(domains) + 24;
}
/// Bytes of the largest packet without a unit.
constexpr std::uint32_t without_unit(std::size_t domains, std::size_t members) {
  const auto header = static_cast<std::uint32_t>(wire::kHeaderBytes);
  const auto ack = header + head_bytes(domains) + 16 * static_cast<std::uint32_t>(domains);
  const auto beat = header + 2 + 12 * static_cast<std::uint32_t>(members) + 8 * 4 + 2;
  return ack > beat ? ack : beat;
}

void write(wire::Writer& out, const Beat& in);
void write(wire::Writer& out, const Multicast& in);
void write(wire::Writer& out, const Accept& in);
void write(wire::Writer& out, const Ack& in);
void write(wire::Writer& out, const Deliver& in);
void write(wire::Writer& out, const Entry& in);
void write(wire::Writer& out, const Reply& in);
void write(wire::Writer& out, const NewLeader& in);
void write(wire::Writer& out, const Part& in);
void write(wire::Writer& out, const Get& in);

// Each function fills `out` from the body of a packet. False: the packet is to be dropped.
[[nodiscard]] bool read(wire::ByteReader in, const Roster& roster, Beat& out);
[[nodiscard]] bool read(wire::ByteReader in, const Layout& layout, Multicast& out);
[[nodiscard]] bool read(wire::ByteReader in, const Layout& layout, Accept& out);
[[nodiscard]] bool read(wire::ByteReader in, const Layout& layout, Ack& out);
[[nodiscard]] bool read(wire::ByteReader in, const Layout& layout, Deliver& out);
[[nodiscard]] bool read(wire::ByteReader in, const Layout& layout, Entry& out);
[[nodiscard]] bool read_fetch(wire::ByteReader in, std::uint64_t& after);
[[nodiscard]] bool read(wire::ByteReader in, Reply& out);
[[nodiscard]] bool read(wire::ByteReader in, NewLeader& out);
[[nodiscard]] bool read(wire::ByteReader in, Part& out);
[[nodiscard]] bool read(wire::ByteReader in, Get& out);

}  // namespace peal::sim::genuine::whitebox
