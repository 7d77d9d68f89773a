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

/// All packets that were ever sent. Each has a number; equal packets have the same number.
class Mail {
 public:
  struct Packet {
    std::uint32_t from = 0, to = 0;  ///< numbers of nodes; `to` 0: all other nodes
    wire::PaxosKind kind{};
    std::uint64_t epoch = 0;  ///< the sender's epoch
    std::vector<std::byte> bytes;
  };
  /// `votes_only`: STATE packets of one sender that have the same votes are equal, whatever else
  /// they contain. Only learners receive these packets then.
  explicit Mail(bool votes_only) : votes_only_(votes_only) {}

  std::uint32_t number_of(Packet packet);
  const Packet& at(std::uint32_t number) const { return packets_[number]; }
  std::string text(std::uint32_t number) const;

 private:
  bool votes_only_;
  std::vector<Packet> packets_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> numbers_;
};

/// Sets of numbers. Each set has a number; equal sets have the same number.
class Sets {
 public:
  std::uint32_t number_of(const std::vector<std::uint32_t>& sorted);
  const std::vector<std::uint32_t>& at(std::uint32_t number) const { return *sets_[number]; }

 private:
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  std::vector<const std::vector<std::uint32_t>*> sets_;
};

/// The votes, or the decisions, of an exploration. A decision has no round. Each fact has a bit in
/// a mask.
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
  /// Describes two facts of the mask that have different values for one instance and round. Empty
  /// if there are none.
  std::string contradiction(Mask mask) const;

 private:
  std::vector<Fact> all_;
};

/// Data that all nodes of an exploration share.
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
