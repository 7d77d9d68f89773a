// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "sim/baselines/frame.h"

// What the literal engine writes into the memory of others. A record begins with its checksum and
// its size, and then names a message: its sender, and its number.

namespace peal::sim::genuine::literal {

/// The regions of a process, by what others write there.
enum class Area : std::uint8_t {
  units = 1,  ///< M: a client's units
  acks,       ///< a server's acknowledgements
  stamps,     ///< T, as far as leaders of other domains write it
  replies,    ///< what a server tells a client
  log,        ///< T, as far as the leader of the own domain writes it: nobody else may
};

/// A leader's term: a count, and the leader's node below it. 0: none.
using Round = std::uint64_t;
constexpr Round round_of(std::uint64_t count, NodeId leader) { return count << 16 | leader.value; }
constexpr std::uint64_t count_of(Round round) { return round >> 16; }
constexpr NodeId leader_of(Round round) {
  return NodeId{static_cast<std::uint32_t>(round & 0xffff)};
}

constexpr Key stamp_of(std::uint64_t clock, std::uint32_t low) { return clock << 4 | (low & 15U); }
constexpr std::uint64_t clock_of(Key key) { return key >> 4; }

/// What the leader of a domain proposes for a message.
struct Proposal {
  Round round = 0;  ///< 0: none
  Key stamp = 0;
  friend bool operator==(const Proposal&, const Proposal&) = default;
};
using Proposals = std::array<Proposal, kDomainMax + 1>;  ///< by domain

inline constexpr std::size_t kRecordHead = 8;
inline constexpr std::size_t kCellBytes = 64;  ///< of acknowledgements, stamps and replies
/// A cell of T has a record with the own domain's stamp, and one for each other domain. The first
/// one is written once: if it were torn again, a reader that sees later stamps would miss it.
constexpr std::size_t log_front_bytes(std::size_t domains) { return 88 + 8 * domains; }
inline constexpr std::size_t kForeignBytes = 56;
constexpr std::size_t log_cell_bytes(std::size_t domains) {
  return log_front_bytes(domains) + kForeignBytes * domains;
}

/// Writes a record. Returns its size.
template <class Write>
std::size_t write_record(ByteSpan to, Write write) {
  wire::Writer out(to);
  out.u(std::uint32_t{0});
  out.u(std::uint32_t{0});
  write(out);
  PEAL_ASSERT(!out.failed());
  store(to.subspan(4), static_cast<std::uint32_t>(out.written()));
  store(to, crc32c(to.subspan(4, out.written() - 4)));
  return out.written();
}

/// The body of a whole record; none if the bytes are torn, or were never written.
inline std::optional<wire::ByteReader> open_record(ByteView cell) {
  const auto size = load<std::uint32_t>(cell.subspan(4));
  if (size < kRecordHead || size > cell.size()) return std::nullopt;
  if (crc32c(cell.subspan(4, size - 4)) != load<std::uint32_t>(cell)) return std::nullopt;
  return wire::ByteReader(cell.subspan(kRecordHead, size - kRecordHead));
}

/// The message that a record speaks of.
struct Name {
  MemberId sender{};
  std::uint64_t number = 0;
  std::uint64_t index = 0;  ///< in the domain of the memory's owner
};
inline void write_name(wire::Writer& out, const Name& name) {
  out.member(name.sender);
  out.u(name.number);
  out.u(name.index);
}
inline Name read_name(wire::ByteReader& in) {
  Name name;
  name.sender = wire::read_member(in);
  name.number = in.u<std::uint64_t>();
  name.index = in.u<std::uint64_t>();
  return name;
}

}  // namespace peal::sim::genuine::literal
