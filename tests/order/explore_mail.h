// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "explore.h"
#include "wire/paxos.h"

namespace peal::order::test {

std::string text_of(const wire::Round& round);
std::string text_of(const wire::ValueHead& head);

/// All packets that were ever sent, each once and with a number.
class Mail {
 public:
  struct Packet {
    std::uint32_t from = 0, to = 0;  ///< nodes; to 0: all others
    wire::PaxosKind kind{};
    std::uint64_t epoch = 0;  ///< of the sender
    std::vector<std::byte> bytes;
  };
  /// For learners, all packets with the same votes are one packet, whatever else they contain.
  explicit Mail(bool votes_only) : votes_only_(votes_only) {}

  std::uint32_t number_of(Packet packet);
  const Packet& at(std::uint32_t number) const { return packets_[number]; }
  std::string text(std::uint32_t number) const;

 private:
  bool votes_only_;
  std::vector<Packet> packets_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> numbers_;
};

/// Sets of numbers, each once and with a number.
class Sets {
 public:
  std::uint32_t number_of(const std::vector<std::uint32_t>& sorted);
  const std::vector<std::uint32_t>& at(std::uint32_t number) const { return *sets_[number]; }

 private:
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  std::vector<const std::vector<std::uint32_t>*> sets_;
};

/// Votes, or decisions (of no round), as bits of a mask.
class Facts {
 public:
  using Mask = std::uint64_t;
  struct Fact {
    wire::Instance instance = 0;
    wire::Round round{};
    std::string value;
    friend bool operator==(const Fact&, const Fact&) = default;
  };
  Mask bit_of(const Fact& fact);
  const std::vector<Fact>& all() const { return all_; }
  /// Two of these with different values of one instance and round; empty: none.
  std::string contradiction(Mask mask) const;

 private:
  std::vector<Fact> all_;
};

/// Shared by all nodes of an exploration.
struct Shared {
  explicit Shared(const Limits& in)
      : limits(in), mail(!in.learns[0] && !in.learns[1] && !in.learns[2]) {}
  Limits limits;
  Mail mail;
  Sets sets;
  Facts votes;
  Facts decisions;
};

}  // namespace peal::order::test
