// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "order/paxos/routes.h"

namespace peal::order::ridge {

/// The routes of a ring of all nodes, for comparison with Ridge's routes. The coordinator sends a
/// value to the next node of the ring, and each node sends the value to the next node, until all
/// nodes have the value. So each node except the last sends a value once, and with n nodes a value
/// takes n - 1 steps. The ring begins with the coordinator. The other acceptors follow, then the
/// other nodes. A sender skips nodes that seem dead.
///
/// Votes do not travel along the ring: acceptors send the numbers of their votes to the
/// coordinator. The coordinator announces decisions to all nodes. If it proposes the next value at
/// once, the packet of this value carries the announcement. Otherwise the coordinator sends packets
/// without a value.
class RingRoutes final : public paxos::Routes {
 public:
  explicit RingRoutes(const paxos::Links& links);

  std::size_t header_bytes() const override { return wire::kRelayHeaderBytes; }
  bool tells_decided() const override { return true; }
  bool distributes() const override { return false; }
  std::uint32_t hops() const override;
  bool choose(Instant now, bool anew) override;
  bool asks(const paxos::Peer& /*acceptor*/) const override { return true; }
  void note_slow(Instant /*now*/, NodeId /*acceptor*/) override {}
  BufferRef pack(const paxos::Arrival& proposal, const BufferRef& bytes, bool fresh) override;
  void propose(const BufferRef& packet, Effects& out) override;
  wire::Drop read(const paxos::Peer& from, wire::PaxosKind kind, ByteView packet,
                  paxos::Arrival& out) const override;
  /// Always false: as in Ring Paxos, the bytes of all units travel along the ring.
  bool propose_own(const paxos::Arrival& /*proposal*/, Effects& /*out*/) override { return false; }
  void pass_on(const paxos::Arrival& arrival, const BufferRef& bytes, bool fresh,
               Effects& out) override;
  void tell_votes(const wire::State& said, const paxos::Peer* coordinator, Effects& out) override;
  bool tell_decided(Instant now, const wire::State& said, Effects& out) override;
  void end_turn(const wire::State& said, Effects& out) override;
  void nodes_changed() override;
  void add_to(Digest& digest) const override;

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  /// More values than a coordinator ever has in progress.
  static constexpr std::size_t kUnderWayMax = 8'192;

  /// Index of `node` in the ring of `coordinator`. kNowhere if `coordinator` is not an acceptor, or
  /// if `node` is not in the list.
  std::size_t place_of(NodeId coordinator, NodeId node) const;
  NodeId at(NodeId coordinator, std::size_t place) const;
  /// The next live node after this node in the current ring; null if there is none.
  const paxos::Peer* next() const;
  bool mine() const { return round_.count != 0 && round_.coordinator == l_.config.self; }
  /// Makes ring `number` of `round` this node's current ring, if it is newer. False: this node is
  /// in a later round.
  bool join(const paxos::Round& round, std::uint16_t number);
  /// Notes that this node sends the value of `instance` along its current ring. False: it has
  /// already sent this value along the ring.
  bool note_sent(paxos::Instance instance);

  paxos::Links l_;
  std::vector<NodeId> others_;  ///< nodes that are not acceptors, sorted

  paxos::Round round_{};
  /// Number of the current ring in its round. If a node fails, the coordinator begins a new ring.
  std::uint16_t number_ = 0;
  /// Element i is for the instances that are i modulo kUnderWayMax: the last of them whose value
  /// this node has sent along the current ring.
  std::array<paxos::Instance, kUnderWayMax> sent_{};

  // For a coordinator.
  std::vector<MemberId> ring_;   ///< members of the ring at the last choose()
  paxos::Instance base_ = 0;     ///< the first instance of this coordinator's round
  paxos::Instance decided_ = 0;  ///< last instance that is decided by votes in this round
  paxos::Instance told_ = 0;     ///< last instance whose decision is announced
};

std::unique_ptr<paxos::Routes> make_ring(const paxos::Links& links);

}  // namespace peal::order::ridge
