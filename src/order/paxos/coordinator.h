// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "order/paxos/headway.h"
#include "order/paxos/pace.h"
#include "order/paxos/parts.h"
#include "order/paxos/phase1.h"
#include "order/paxos/waiting_units.h"
#include "order/paxos/window.h"

namespace peal::order::paxos {

/// Proposes values. A coordinator takes over with Phase 1 for all instances at once. It proposes
/// again, unchanged, each value that may have been decided according to the votes of a majority.
/// Then it proposes members' units, views and lists of nodes.
///
/// coordinator.cc: Phase 1 and the takeover. phase2.cc: Phase 2.
class Coordinator {
 public:
  enum class Phase : std::uint8_t { idle, prepare, recover, lead };

  explicit Coordinator(const Parts& parts)
      : p_(parts),
        headway_(parts.config.options, parts.routes.distributes()),
        phase1_(parts),
        waiting_(parts, tip_),
        pace_(parts.config.options.resend, parts.config.options.suspect * 2),
        window_(parts.config.options.window_first, parts.config.options.window) {}
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  Phase phase() const { return phase_; }
  bool leads() const { return phase_ == Phase::lead; }
  const Round& round() const { return round_; }

  /// Begins Phase 1 of a round of this node. `count`: the round's count. If the state of the order
  /// is unknown, Phase 1 begins at instance 1.
  void prepare(Instant now, std::uint64_t count, Effects& out);
  void step_down();
  void on_promise(Instant now, const Peer& from, const wire::Promise& promise, Effects& out);
  void on_fetched(const wire::Fetched& frame, const BufferRef& bytes);
  /// Takes a member's unit. `fresh`: nothing else uses the headroom in front of the bytes. `stamp`:
  /// the unit's timestamp, with optimistic delivery. False: the unit is refused, because it is for
  /// another view, too far ahead, or a duplicate. If earlier units of the same member are missing,
  /// work() requests them from that member.
  bool submit(const wire::ValueHead& head, const BufferRef& bytes, bool fresh, std::uint64_t stamp);
  /// Proposes as much as possible. Call it whenever anything changed.
  void work(Instant now, Effects& out);
  void tick(Instant now, Effects& out);
  /// With optimistic delivery: the time at which the next waiting unit is to be proposed.
  std::optional<Instant> next_due() const;
  /// Proposes an empty value whose key is at least `key`. False: not possible now.
  bool pass(Instant now, std::uint64_t key, Effects& out);
  /// Retransmits to the node `to` the proposals of these instances, if they are still in progress.
  /// `again`: an earlier retransmission was lost, so this retransmission takes the control lane.
  void repeat(NodeId to, Instance first, std::uint32_t count, bool again, Effects& out);
  /// A node requested lost values from this instance on.
  void note_lost(Instant now, Instance first);

  /// Key of the last proposed value.
  std::uint64_t tip_key() const { return tip_.key(); }
  /// The number of instances that are proposed, and not consumed by this node yet.
  std::uint64_t under_way() const { return leads() ? next_ - p_.state.next() : 0; }
  /// Limit of under_way().
  std::uint32_t window() const { return window_.size(); }
  /// A member that is too far behind: the coordinator proposes no more units until that member has
  /// made progress.
  std::optional<MemberId> too_far_behind() const;
  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Flight {
    /// The packet that proposes the value. Empty if no buffer was free for it, or if the acceptor
    /// that is asked first has the bytes.
    BufferRef packet;
    Value value;
    Instant at{};  ///< when the value was proposed
    /// The packet was retransmitted, so an answer does not measure the round trip.
    bool resent = false;
  };

  // Defined in coordinator.cc.
  void answer_self(Instant now, Effects& out);
  void begin_to_lead(Instant now, Effects& out);

  // Defined in phase2.cc.
  void propose(Value value, bool fresh, Effects& out);
  Arrival proposal_of(Instance instance, const Value& value) const;
  BufferRef packet_again(Instance instance, const Value& value);
  void propose_again(Effects& out);
  bool somebody_asked();
  bool forget_consumed();
  bool has_room();
  bool may_propose() const;
  bool propose_units(Effects& out);
  bool propose_by_stamp(Effects& out);
  void propose_unit(std::size_t index, Effects& out);
  void propose_view(Instant now, Effects& out);
  bool wants_list() const;
  bool wants_lives() const;
  void propose_list(const wire::Nodes& nodes, Effects& out);
  void resend(Instant now, Effects& out);
  void add_flight(Digest& digest) const;

  Parts p_;
  Headway headway_;
  Phase phase_ = Phase::idle;
  Round round_{};
  Instant since_{};  ///< when this phase began, or last made progress

  Phase1 phase1_;

  // State of Phase 2.
  Instance next_ = 0;  ///< the next instance to be proposed
  OrderState tip_;     ///< state after all proposed values
  /// The instance of the view of tip_. If an earlier coordinator proposed that view: the last
  /// instance before this node led.
  Instance view_at_ = 0;
  std::deque<Flight> flight_;  ///< the proposals in progress, from flight_first_ on
  Instance flight_first_ = 0;
  Instance passed_ = 0;  ///< instance for which pass() last proposed an empty value; 0: none
  WaitingUnits waiting_;
  struct Progress {
    Instance voted_upto{};
    Instant since{};
    unsigned vain = 0;  ///< retransmissions since the last progress
  };
  std::map<NodeId, Progress> progress_;
  Pace pace_;
  Window window_;
  Instant now_{};  ///< time of the current call
};

}  // namespace peal::order::paxos
