// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "order/inspection/inspection.h"
#include "order/paxos/inspection/ghost_acceptors.h"

namespace peal::order::paxos {

/// The ghost (observer of all nodes) for engines with acceptors. The engine has one ensemble, or
/// several ensembles that share a log.
///
/// ghost_order.h: the decided values. ghost_acceptors.h: the promises and votes of acceptors.
class GhostEnsembles final : public Ghost {
 public:
  /// `clusters`: for each ensemble, the cluster that its packets name. `labelled`: log records
  /// begin with the number of their ensemble.
  GhostEnsembles(const std::vector<std::uint64_t>& clusters, bool labelled, bool on_disk,
                 const GhostReport& report);

  void sent(MemberId from, const InspectedPacket& packet) override;
  void received(MemberId who, const InspectedPacket& packet) override;

  void note_newest_segment(NodeId node, LogPosition first) override {
    newest_segment_[node] = first;
  }
  void on_log_opened(MemberId self, std::uint64_t id, bool put_back) override;
  void on_log_read(NodeId node, LogPosition position, ByteView record) override;
  void on_log_replayed(NodeId node, LogPosition last) override;
  void on_log_appended(NodeId node, LogPosition position, ByteView first, ByteView rest) override;
  void on_log_checkpoint(NodeId node, LogPosition keep_from) override;
  void on_log_durable(NodeId node, LogPosition upto) override;

  LogFigures figures() const override;

 private:
  struct Ensemble {
    std::uint64_t cluster = 0;
    std::unique_ptr<GhostOrders> orders;
    std::unique_ptr<GhostAcceptors> acceptors;
  };

  GhostAcceptors* of_packet(ByteView packet);
  GhostAcceptors* of_record(ByteView& record);

  const bool labelled_;
  std::vector<Ensemble> ensembles_;
  std::map<NodeId, LogPosition> newest_segment_;
  Record record_;  ///< reused for every record
};

}  // namespace peal::order::paxos
