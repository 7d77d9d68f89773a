// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "node/node.h"
#include "oracle/checker.h"
#include "oracle/groups.h"
#include "order/engine.h"
#include "order/registry/registry.h"
#include "sim/world/faults.h"
#include "trace/event.h"
#include "trace/json.h"
#include "trace/names.h"

namespace peal::sim {

/// Something that should not have happened.
struct Violation {
  std::string property;  ///< as sim/README.md lists them: "E1", "G1", "R1", "fatal" ...
  std::string text;
  Instant at{};
};

/// Figures of one run.
struct Figures {
  std::uint64_t events = 0;   ///< happenings of the simulated world
  std::uint64_t packets = 0;  ///< handed to the network; a multicast is one
  std::uint64_t messages_submitted = 0;
  std::uint64_t units_originated = 0;
  std::uint64_t deliveries_checked = 0;  ///< of units and of messages
  std::uint64_t told_early = 0;          ///< messages, before they had their places
  std::uint64_t views_installed = 0;     ///< regular views, at each member
  std::uint64_t view_changes = 0;        ///< distinct regular views
  std::uint64_t recoveries_with_second_failure = 0;
  std::uint64_t group_deliveries = 0;  ///< to clients
  std::uint64_t group_views = 0;       ///< told to clients
  std::uint64_t group_gaps = 0;        ///< the same: messages ordered where their nodes were not
  std::uint64_t group_exchanges = 0;   ///< of tables, begun at each node
  std::uint64_t group_exchanges_interrupted = 0;
  std::uint64_t session_settled = 0;  ///< messages of clients
  std::uint64_t session_resumed = 0;  ///< after a connection broke
  std::uint64_t session_shared = 0;   ///< events that clients read in memory
  std::uint64_t session_gaps = 0;     ///< told to clients that are slow
  std::uint64_t sessions_ended_slow = 0;
  std::uint64_t logs_read = 0;           ///< of acceptors that started again
  std::uint64_t logs_cut = 0;            ///< of these, those whose beginning was let go of
  std::uint64_t votes_read = 0;          ///< in them
  std::uint64_t votes_needed = 0;        ///< of these, for what was not consumed
  std::uint64_t older_votes_needed = 0;  ///< of these, those not in the newest segment
  std::uint64_t promises_read = 0;       ///< logs that promise more than their votes say
  std::uint64_t virtual_ns = 0;
};

/// Writes down what every application saw, and has it judged: both layers of the history go to the
/// oracle as they happen. Also keeps the figures, and, if asked, the history itself.
class HistoryRecorder {
 public:
  struct Options {
    std::uint32_t nodes = 0;  ///< for the majority rule of primary views
    const order::Descriptor* engine = &order::default_engine();
    bool optimistic = false;                     ///< messages are told early, too
    std::vector<std::vector<NodeId>> domains{};  ///< see oracle::Options
    bool sessions = false;       ///< clients are told later than their nodes get so far
    bool lists_change = false;   ///< what a majority is changes
    Seq first_count = 0;         ///< positions begin after it; events count from 1
    bool keep_history = false;   ///< events() holds the layer of messages
    std::FILE* trace = nullptr;  ///< JSON lines of every event; may be null
    std::FILE* echo = nullptr;   ///< the same for a person who reads along; may be null
  };
  explicit HistoryRecorder(const Options& options);
  HistoryRecorder(const HistoryRecorder&) = delete;
  HistoryRecorder& operator=(const HistoryRecorder&) = delete;

  void started(Instant now, MemberId who);
  void crashed(Instant now, MemberId who);
  void left(Instant now, MemberId who);
  void submitted(Instant now, const trace::MessageId& message, std::uint64_t hash,
                 std::uint64_t bytes, Service service, std::uint8_t domain = 0);
  void originated(Instant now, const trace::MessageId& message, const ViewId& view, Seq seq,
                  std::uint32_t index, Service service);
  void delivered(Instant now, MemberId who, const node::Message& message);
  void told_early(Instant now, MemberId who, const node::Message& message);
  void installed(Instant now, MemberId who, const order::View& view);
  void unit_originated(Instant now, MemberId who, const ViewId& view, Seq seq, Service service,
                       ByteView unit);
  void unit_delivered(Instant now, MemberId who, const order::Delivery& delivery);

  /// The judge of what clients of groups see.
  oracle::GroupChecker& groups() { return group_checker_; }

  /// For who reads along only.
  void reported(Instant now, MemberId who, const order::Event& event);
  void sent(Instant now, const std::string& packet);
  bool echoes() const { return options_.echo != nullptr; }

  void violation(Instant now, std::string property, std::string text);
  /// Violations so far, the oracle's included.
  bool broken() const;
  /// Closes the history; afterwards violations() is complete. Call once.
  void finish();
  const std::vector<Violation>& violations() const { return violations_; }

  Figures& figures() { return figures_; }
  FaultCounts& faults() { return faults_; }
  const Figures& figures() const { return figures_; }
  const FaultCounts& faults() const { return faults_; }
  const std::vector<trace::Event>& events() const { return history_; }
  /// The last events as lines of a trace, oldest first.
  std::vector<std::string> last_events() const;
  const trace::Names& names() const { return names_; }
  /// Of everything that was written down.
  std::uint64_t digest() const { return digest_.value(); }

 private:
  struct UnitRecord {
    MemberId origin{};
    std::uint64_t number{};
  };
  /// Which unit has which place in one view, as their originators said.
  struct UnitsOfView {
    std::unordered_map<Seq, UnitRecord> by_seq;
    Seq last = 0;                                             ///< the highest place
    std::map<std::pair<Seq, MemberId>, std::uint64_t> again;  ///< second claims of one place
  };

  trace::Event& fresh(trace::Kind kind, trace::Layer layer, Instant now, MemberId who);
  trace::Event& of_message(trace::Kind kind, Instant now, MemberId who,
                           const node::Message& message);
  void publish(const trace::Event& event);
  std::uint8_t domain_of(Seq seq) const;
  UnitsOfView& units_of(const ViewId& view);
  std::uint64_t unit_number(const order::Delivery& delivery, Seq seq);
  void keep(const oracle::Report& report, const char* layer);

  Options options_;
  trace::Names names_;
  oracle::Checker unit_checker_;
  oracle::Checker order_checker_;
  oracle::GroupChecker group_checker_;
  trace::Event event_;
  std::map<ViewId, UnitsOfView> units_;
  std::pair<ViewId, UnitsOfView*> units_cache_{};
  std::map<MemberId, std::uint64_t> units_originated_;
  std::map<ViewId, bool> views_seen_;
  std::vector<Violation> violations_;
  std::vector<trace::Event> history_;
  std::vector<trace::Event> last_;
  std::size_t last_at_ = 0;
  Figures figures_;
  FaultCounts faults_;
  Digest digest_;
};

}  // namespace peal::sim
