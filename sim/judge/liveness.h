// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/world/world.h"

namespace peal::sim {

/// True if `members` are incarnations of exactly `nodes`, in the same order.
bool consists_of(const std::vector<MemberId>& members, const std::vector<NodeId>& nodes);
/// True if every running node is in a view, has nothing to order, and has delivered as much as the
/// other members of its view.
bool cluster_is_idle(const World& world);
/// Describes which nodes wait, and the reasons.
std::string waiting_text(const World& world);

/// The end of a run: faults stop, the network heals into parts, and then the cluster must recover
/// in bounded time. Reports violations of E10 (liveness), E11 (a view that ended without a reason),
/// R1 (memory), R2 (bytes on the wire) and R3 (useless work).
class Liveness {
 public:
  /// The nodes of one part can reach each other, and no other node. If `parts` is empty, all nodes
  /// are in one part. Otherwise, a node that is in no part is alone. `patience` is the timeout for
  /// a part to install a view of exactly its running nodes.
  Liveness(World& world, std::vector<std::vector<NodeId>> parts, Duration patience);

  /// Stops early if `stopped` returns true. `quick` skips the load, and the checks of traffic,
  /// idleness and stable views.
  void run(bool quick, const std::function<bool()>& stopped);

 private:
  struct Part {
    std::vector<NodeId> all;
    std::vector<NodeId> alive;
  };

  void stop_faults();
  bool one_view(const Part& part) const;
  bool in_one_view(const std::vector<NodeId>& nodes) const;
  bool all_in_one_view() const;
  bool wait_for_views();
  bool wait_for_links();
  std::uint64_t failing_links() const;
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
  Instant strays_{};        ///< arrival of the last packet sent before the faults ended
  bool restarted_ = false;  ///< all nodes were restarted
  /// A stopped node was restarted, and the cluster has not recovered yet.
  bool started_again_ = false;
  /// By node: number of views that the node had installed when the cluster had recovered.
  std::vector<std::uint64_t> views_;
};

}  // namespace peal::sim
