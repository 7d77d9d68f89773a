// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "oracle/causal.h"
#include "oracle/checker.h"
#include "oracle/history_judge.h"

namespace peal::oracle {

/// Judges a history with domains. Only the nodes of a domain learn its messages. For each set of
/// domains that some nodes have in common, the messages of these domains at these nodes form a
/// history with all promised properties. Each such history is judged separately, without other
/// nodes and messages. In addition, each node must deliver the messages of all its domains in the
/// order of their positions, and no other messages.
class Domains {
 public:
  explicit Domains(const Options& options);

  void add(const trace::Event& event);
  Report finish();
  std::uint64_t violations_total() const;

 private:
  using Set = std::uint32_t;  ///< bit i: domain i; bit 0: messages for all nodes
  static Set set_of(DomainSet domains) { return domains.empty() ? 1 : domains.bits(); }
  /// Judges one history: the messages of a set of domains, at the nodes that learn all of these
  /// domains.
  struct Part {
    Part(const Options& options, Set domains)
        : learned(domains), core(options), causal(core, options) {}
    Set learned;
    HistoryJudge core;
    CausalOrder causal;
  };
  /// The last delivery of a member.
  struct Last {
    ViewId view{};
    Seq seq = 0;
    std::uint32_t index = 0;
  };

  Set set_of(NodeId node) const;
  bool learns(NodeId node, const Part& part) const;
  void add_sets(const Options& options);
  void feed(Part& part, const trace::Event& event);
  void check_order(const trace::Event& event);
  void check_destinations(const trace::Event& event);
  void violate(Property property, const trace::Event& event, std::string text);

  Options options_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::map<MemberId, Last> last_;
  Report own_;
  trace::Event scratch_;
};

}  // namespace peal::oracle
