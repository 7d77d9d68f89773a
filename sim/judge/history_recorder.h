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

/// A broken property of the run.
struct Violation {
  std::string property;  ///< as listed in sim/README.md: "E1", "G1", "R1", "fatal" ...
  std::string text;
  Instant at{};
};

/// Statistics of one run.
struct Figures {
  std::uint64_t events = 0;   ///< executed events of the simulated world
  std::uint64_t packets = 0;  ///< packets given to the network; a multicast counts once
  std::uint64_t messages_submitted = 0;
  std::uint64_t units_originated = 0;
  std::uint64_t deliveries_checked = 0;  ///< checked deliveries of units and messages
  std::uint64_t told_early = 0;          ///< messages delivered before their positions were known
  std::uint64_t views_installed = 0;     ///< regular views, counted at each member
  std::uint64_t view_changes = 0;        ///< distinct regular views
  std::uint64_t recoveries_with_second_failure = 0;
  std::uint64_t group_deliveries = 0;  ///< messages delivered to clients
  std::uint64_t group_views = 0;       ///< views reported to clients
  /// Gaps reported to clients: messages ordered in a partition without the clients' node.
  std::uint64_t group_gaps = 0;
  std::uint64_t group_exchanges = 0;  ///< exchanges of tables, counted at each node
  std::uint64_t group_exchanges_interrupted = 0;
  std::uint64_t session_settled = 0;  ///< acknowledged messages of clients
  std::uint64_t session_resumed = 0;  ///< sessions resumed after a connection broke
  std::uint64_t session_shared = 0;   ///< events that clients read in shared memory
  std::uint64_t session_gaps = 0;     ///< gaps reported to slow clients
  std::uint64_t sessions_ended_slow = 0;
  std::uint64_t logs_read = 0;           ///< logs that restarted acceptors read
  std::uint64_t logs_cut = 0;            ///< logs of `logs_read` whose beginning was discarded
  std::uint64_t votes_read = 0;          ///< votes in the logs of `logs_read`
  std::uint64_t votes_needed = 0;        ///< votes of `votes_read` in instances not consumed yet
  std::uint64_t older_votes_needed = 0;  ///< votes of `votes_needed` outside the newest segment
  std::uint64_t promises_read = 0;       ///< logs with a promise above all their votes' rounds
  std::uint64_t virtual_ns = 0;
};

/// Records all events that applications see, and passes them to the oracle as they happen. The
/// oracle judges both layers of this history: units and messages. The recorder also keeps
/// statistics and, if requested, the history itself.
class HistoryRecorder {
 public:
  struct Options {
    std::uint32_t nodes = 0;  ///< size of the cluster, for the majority rule of primary views
    const order::Descriptor* engine = &order::default_engine();
    bool optimistic = false;                     ///< nodes also deliver messages optimistically
    std::vector<std::vector<NodeId>> domains{};  ///< see oracle::Options
    bool sessions = false;                       ///< clients have sessions, and receive events late
    bool lists_change = false;   ///< the list of nodes, and so the majority, changes
    Seq first_count = 0;         ///< subtracted from positions before they are recorded
    bool keep_history = false;   ///< events() returns the events of the message layer
    std::FILE* trace = nullptr;  ///< file for all events as JSON lines; may be null
    std::FILE* echo = nullptr;   ///< file for all events as text for people; may be null
  };
  explicit HistoryRecorder(const Options& options);
  HistoryRecorder(const HistoryRecorder&) = delete;
  HistoryRecorder& operator=(const HistoryRecorder&) = delete;

  void started(Instant now, MemberId who);
  void crashed(Instant now, MemberId who);
  void left(Instant now, MemberId who);
  void submitted(Instant now, const trace::MessageId& message, std::uint64_t hash,
                 std::uint64_t bytes, Service service, DomainSet domains = {});
  void originated(Instant now, MemberId who, const node::Origination& placed);
  void delivered(Instant now, MemberId who, const node::Message& message);
  void told_early(Instant now, MemberId who, const node::Message& message);
  void installed(Instant now, MemberId who, const order::View& view);
  void unit_originated(Instant now, MemberId who, const ViewId& view, Seq seq, Service service,
                       DomainSet domains, ByteView unit);
  void unit_delivered(Instant now, MemberId who, const order::Delivery& delivery);

  /// Judges what clients of groups see.
  oracle::GroupChecker& groups() { return group_checker_; }

  /// reported() and sent() only write to `echo`.
  void reported(Instant now, MemberId who, const order::Event& event);
  void sent(Instant now, const std::string& packet);
  bool echoes() const { return options_.echo != nullptr; }

  void violation(Instant now, std::string property, std::string text);
  /// True if there are violations so far, including violations that the oracle found.
  bool broken() const;
  /// Closes the history; afterwards violations() is complete. Call once.
  void finish();
  const std::vector<Violation>& violations() const { return violations_; }

  Figures& figures() { return figures_; }
  FaultCounts& faults() { return faults_; }
  const Figures& figures() const { return figures_; }
  const FaultCounts& faults() const { return faults_; }
  const std::vector<trace::Event>& events() const { return history_; }
  /// The last events as trace lines, oldest first.
  std::vector<std::string> last_events() const;
  const trace::Names& names() const { return names_; }
  /// A digest of all recorded events.
  std::uint64_t digest() const { return digest_.value(); }

 private:
  struct UnitRecord {
    MemberId origin{};
    std::uint64_t number{};
  };
  /// The units of one view by position. The originators report the units; for engines
  /// with acceptors, the first delivery of a unit may come before its originator's report.
  struct UnitsOfView {
    std::unordered_map<Seq, UnitRecord> by_seq;
    Seq last = 0;  ///< the highest position
    /// If several members originated a unit at one position, by_seq has the first unit. For the
    /// others, by position and member: the number of the member's unit.
    std::map<std::pair<Seq, MemberId>, std::uint64_t> again;
  };

  trace::Event& fresh(trace::Kind kind, trace::Layer layer, Instant now, MemberId who);
  trace::Event& of_message(trace::Kind kind, Instant now, MemberId who,
                           const node::Message& message);
  void publish(const trace::Event& event);
  Seq recorded(Seq seq) const;
  UnitsOfView& units_of(const ViewId& view);
  std::uint64_t originated_number(MemberId who, const ViewId& view, Seq seq);
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
