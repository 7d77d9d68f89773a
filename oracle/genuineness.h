// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/domain_set.h"
#include "base/ids.h"
#include "oracle/domain_map.h"
#include "trace/event.h"
#include "trace/names.h"

// Genuine multicast: only the sender of a message and the nodes of its domains take part in
// ordering it. Traces cannot show this. The simulator sees what nodes send to each other, and knows
// of which messages it speaks.

namespace peal::oracle {

/// A packet, or a write into another node's memory.
struct Transfer {
  std::int64_t at_ns = 0;
  NodeId from{};
  NodeId to{};
  /// The messages that the bytes speak of: their contents, places, votes, or questions about them.
  /// Empty for the work of a domain that concerns no message, such as heartbeats and views.
  std::span<const trace::MessageId> messages;
};

struct GenuinenessViolation {
  std::string text;  ///< names both nodes, and the message with its destinations
  std::int64_t at_ns = 0;
};

/// Checks the transfers of one history. Thread: one.
class GenuinenessChecker {
 public:
  struct Options {
    std::vector<std::vector<NodeId>> domains;  ///< see oracle::Options::domains
    std::uint32_t violations_max = 100;        ///< violations kept with their text; all are counted
    const trace::Names* names = nullptr;       ///< for texts; may be null, must outlive the checker
  };
  explicit GenuinenessChecker(const Options& options);

  /// The destinations of a message. Must come before the transfers that name the message.
  void add_message(const trace::MessageId& id, DomainSet domains);
  /// Both nodes must be the sender or a destination of each message that the transfer names. If it
  /// names none, both nodes must be in one domain. A node's transfers to itself are its own affair.
  void add(const Transfer& transfer);

  std::uint64_t transfers() const { return transfers_; }
  /// Transfers that name messages.
  std::uint64_t naming() const { return naming_; }
  std::uint64_t violations_total() const { return violations_total_; }
  const std::vector<GenuinenessViolation>& violations() const { return violations_; }

 private:
  void check_message(const Transfer& transfer, const trace::MessageId& id);
  void violate(const Transfer& transfer, const std::string& what);
  std::string name(NodeId node) const;

  const Options options_;
  const DomainMap domains_;
  std::map<trace::MessageId, DomainSet> messages_;
  std::uint64_t transfers_ = 0;
  std::uint64_t naming_ = 0;
  std::uint64_t violations_total_ = 0;
  std::vector<GenuinenessViolation> violations_;
};

}  // namespace peal::oracle
