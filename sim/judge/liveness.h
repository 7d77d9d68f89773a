// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/world/world.h"

namespace peal::sim {

/// True if `members` are nodes of exactly this list.
bool consists_of(const std::vector<MemberId>& members, const std::vector<NodeId>& nodes);
/// True if every running node is in a view, has nothing to order, and has delivered what the other
/// members of its view have.
bool cluster_is_idle(const World& world);
/// Who still waits, and for what.
std::string waiting_text(const World& world);

/// The end of a run: faults stop, the network heals into parts, and then things must get well in
/// bounded time. What does not is violation E10 (liveness), E11 (a view given up for no reason), R1
/// (memory), R2 (bytes on the wire) or R3 (work for nothing).
class Liveness {
 public:
  /// `parts`: nodes that can reach each other; none: all of them. Nodes in no part are alone.
  /// `patience`: the time that a part may take to install a view of itself.
  Liveness(World& world, std::vector<std::vector<NodeId>> parts, Duration patience);

  /// Stops early if `stopped` says so. `quick` leaves out the load and the watch over idleness.
  void run(bool quick, const std::function<bool()>& stopped);

 private:
  struct Part {
    std::vector<NodeId> all;
    std::vector<NodeId> alive;
  };

  void stop_faults();
  bool one_view(const Part& part) const;
  bool all_in_one_view() const;
  bool wait_for_views();
  bool wait_for_links();
  std::uint64_t failing_links() const;
  bool votes_are_lost() const;
  void restart_all();
  bool drain();
  std::uint64_t progress() const;
  void submit_more();
  void lose_a_little();
  void remember_views();
  void check_views();
  void check_agreement();
  void check_traffic();
  void check_idleness();
  std::string state_text() const;
  void advance(Duration length);
  void start_again();

  World& world_;
  std::vector<Part> parts_;
  Duration patience_;
  std::function<bool()> stopped_;
  Instant strays_{};                  ///< when the last packet from before the end arrives
  bool restarted_ = false;            ///< all nodes were
  bool started_again_ = false;        ///< one was that had to stop, and not all was well since
  std::vector<std::uint64_t> views_;  ///< by node: views installed when all was well
};

}  // namespace peal::sim
