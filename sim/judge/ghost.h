// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "order/engine.h"
#include "order/paxos/records.h"
#include "order/ridge/layout.h"
#include "sim/judge/ghost_acceptors.h"
#include "sim/judge/ghost_ring.h"
#include "sim/judge/log_witness.h"
#include "sim/world/packet.h"

namespace peal::sim {

/// Observes what all nodes write to logs, send and hold, so it knows more than any of them. It
/// finds at once errors that deliveries would show late or never, since a new incarnation delivers
/// only from its first view on. It reads records and packets only, and nothing inside engines.
///
/// ghost_order.h: what was decided. ghost_acceptors.h: what acceptors promised and voted for.
/// ghost_ring.h: the same for rings.
class Ghost final : public LogWitness {
 public:
  struct Options {
    bool ring = false;
    bool on_disk = false;       ///< acceptors have logs
    std::uint64_t cluster = 0;  ///< cluster field of packets
    std::uint32_t ensembles = 1;
    std::uint32_t domains = 0;
    Seq first_count = 0;
  };

  Ghost(const Options& options, GhostReport report);

  void sent(MemberId from, const Packet& packet);
  /// A packet reached a process.
  void received(MemberId who, const Packet& packet);
  void delivered(MemberId who, const order::Delivery& delivery);
  void installed(MemberId who, const order::View& view);

  // Logs. `first`: first position of the newest segment, before the log is opened.
  void note_newest_segment(NodeId node, LogPosition first) { newest_segment_[node] = first; }
  void on_log_opened(MemberId self, std::uint64_t id, bool put_back) override;
  void on_log_read(NodeId node, LogPosition position, ByteView record) override;
  void on_log_replayed(NodeId node, LogPosition last) override;
  void on_log_appended(NodeId node, LogPosition position, ByteView first, ByteView rest) override;
  void on_log_checkpoint(NodeId node, LogPosition keep_from) override;
  void on_log_durable(NodeId node, LogPosition upto) override;

  GhostAcceptors::Figures figures() const;

 private:
  struct Ensemble {
    std::uint64_t cluster = 0;
    std::unique_ptr<GhostOrders> orders;
    std::unique_ptr<GhostAcceptors> acceptors;
  };

  GhostAcceptors* of_packet(ByteView packet);
  GhostAcceptors* of_record(ByteView& record);
  void heard_of_log(MemberId who, const Packet& packet);
  void sent_on_quorums(MemberId from, const Packet& packet);

  const bool labelled_;  ///< records begin with the number of their ensemble
  std::optional<GhostRing> ring_;
  std::vector<Ensemble> ensembles_;
  std::map<NodeId, LogPosition> newest_segment_;
  std::unique_ptr<wire::Token> token_;  ///< reused for every token
  order::paxos::Record record_;         ///< reused for every record
};

}  // namespace peal::sim
