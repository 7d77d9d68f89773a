// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "oracle/causal.h"
#include "oracle/checker.h"
#include "oracle/history_judge.h"

namespace peal::oracle {

/// Judges a history with domains: a message of one is for its nodes alone. Nodes that learn the
/// same domains have one history of what all of these order, which keeps all promises. So each set
/// of domains that nodes have in common is judged by itself, as if there were no other nodes and
/// messages; and whatever a node delivers of all sets is in the order of the positions.
class Domains {
 public:
  explicit Domains(const Options& options);

  void add(const trace::Event& event);
  Report finish();
  std::uint64_t violations_total() const;

 private:
  using Set = std::uint32_t;  ///< bit i: domain i
  /// What the nodes see that learn all of a set.
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

  Options options_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::map<MemberId, Last> last_;
  Report own_;
  trace::Event scratch_;
};

}  // namespace peal::oracle
