// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "trace/event.h"
#include "trace/names.h"

// Decides whether a history of events has the properties that Peal promises. The checker sees what
// applications see, and does not know the protocols. oracle/README.md states the properties.

namespace peal::oracle {

/// The properties, named as in oracle/README.md.
enum class Property : std::uint8_t {
  e1_view_sequence,
  e2_view_agreement,
  e3_integrity,
  e4_self_delivery,
  e5_failure_atomicity,
  e6_causality,
  e7_total_order,
  e8_safe,
  e9_barrier,
  acyclic,
  primary,
  uniform,  ///< judged only with Options::quorum, like `chain`
  chain,
  early,       ///< optimistic delivery
  activation,  ///< with Options::companies: a company decides messages in equal sets
  told,        ///< a member's views show whether it may have missed messages
};
inline constexpr std::size_t kPropertyCount = 16;

/// "E1" to "E9", "acyclic", "primary", "uniform", "chain", "early", "activation", "told".
std::string_view property_id(Property property);

struct Options {
  /// The layer to check. Events of the other layer are ignored. Events of kind start, crash and
  /// leave count for both layers.
  trace::Layer layer = trace::Layer::order;
  /// Events come in real-time order, as from the simulator. If false, only each process's events
  /// are in order; properties that need a common clock are then judged by view ids or not at all.
  bool live_order = true;
  /// A process's last events, or all its events, may be missing. The process then counts as
  /// crashed after its last known event; its later originations are known from deliveries only.
  bool truncated_ok = false;
  /// The engine orders on a quorum. A message may be ordered before its sender learns the message's
  /// place. If any member delivers a message in a regular view, every member that goes on from this
  /// view to another view delivers the message, too. See oracle/README.md.
  bool quorum = false;
  /// A message has its place only in a company: the members that leave a view together, or end in
  /// it. Other members may deliver the last messages of the view in another order. Fifo and causal
  /// messages have no place; their position is 0. Not with `quorum`. See oracle/README.md.
  bool companies = false;
  /// The engine multicasts to sets of domains, which have no nodes in common. Any node may send to
  /// any set; each domain has views of its own; a message has one place, the same in all its
  /// domains. Without `domains`, all nodes are one domain. With `quorum`. See oracle/README.md.
  bool genuine = false;
  /// Domains of the engine: for each domain its sorted nodes; domain 1 is the first. Only a
  /// domain's nodes deliver the domain's messages. Unless `genuine`, one total order at these nodes
  /// contains the domain's messages and the messages for all nodes.
  std::vector<std::vector<NodeId>> domains;
  /// Positions ascend but may have holes: the checker does not see all ordered messages.
  bool sparse = false;
  /// Number of configured nodes, for the majority rule of primary views; 0 if unknown.
  std::uint32_t universe = 0;
  /// How many violations are kept with their text; all are counted.
  std::uint32_t violations_max = 100;
  /// Names of nodes for texts; may be null. Must outlive the checker.
  const trace::Names* names = nullptr;
};

struct Violation {
  Property property{};
  std::string text;      ///< names the processes, views, messages and positions
  std::int64_t at_ns{};  ///< time of the violation, or of the nearest known event
  MemberId node{};       ///< the member at which the violation was noticed
};

struct Figures {
  std::uint64_t events = 0;  ///< events of the checked layer, and start, crash and leave events
  std::uint64_t submitted = 0;
  std::uint64_t messages = 0;  ///< originated messages
  std::uint64_t deliveries = 0;
  std::uint64_t told_early = 0;
  std::uint64_t views = 0;                  ///< distinct regular views
  std::uint64_t installs = 0;               ///< installations of regular views, over all members
  std::uint64_t transitional_views = 0;     ///< distinct transitional views
  std::uint64_t transitional_installs = 0;  ///< of transitional views, over all members
  std::uint64_t transitional_deliveries = 0;
  std::uint64_t safe_deliveries = 0;
  std::uint64_t members = 0;  ///< incarnations with an event
  /// Incarnations with a crash event. With truncated_ok, also incarnations without a leave event.
  std::uint64_t crashed = 0;
  std::uint64_t left = 0;
  std::uint64_t unwitnessed = 0;  ///< messages without an origination event; known from deliveries
};

struct Report {
  std::vector<Violation> violations;  ///< the first ones, at most Options::violations_max
  std::uint64_t violations_total = 0;
  std::array<std::uint64_t, kPropertyCount> violations_of{};  ///< by Property
  Figures figures;
  bool ok() const { return violations_total == 0; }
};

/// Checks one layer of one history. Any sequence of events is legal input. Thread: one.
class Checker {
 public:
  explicit Checker(const Options& options = {});
  ~Checker();
  Checker(Checker&&) noexcept;
  Checker& operator=(Checker&&) noexcept;

  void add(const trace::Event& event);
  /// Number of violations so far, without violations that only finish() can find.
  std::uint64_t violations_total() const;
  /// Judges the properties that need the whole history. Call it once, and add() no event after it.
  Report finish();

 private:
  class Judge;
  std::unique_ptr<Judge> judge_;
};

}  // namespace peal::oracle
