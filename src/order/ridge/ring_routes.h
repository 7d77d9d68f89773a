// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "order/paxos/routes.h"

namespace peal::order::ridge {

/// The routes of a ring of learners, for comparison with Ridge's. The coordinator sends a value to
/// the node behind it, which sends it to the next, until all nodes have it. So each node but the
/// last sends a value once, and a value takes one step less than there are nodes. The ring has the
/// acceptors first, from the coordinator on, and then the other nodes; a sender skips nodes that
/// seem dead.
///
/// Votes do not travel along the ring: acceptors send the numbers of their votes to the
/// coordinator. The coordinator announces decisions to all nodes, with the next value if one is
/// proposed at once, else in packets without a value.
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
  /// As in Ring Paxos, all bytes travel around the ring.
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
  /// More values than a coordinator has in progress.
  static constexpr std::size_t kUnderWayMax = 8'192;

  /// Index of `node` in the ring of `coordinator`; kNowhere if the node, or the ring, does not
  /// exist.
  std::size_t place_of(NodeId coordinator, NodeId node) const;
  NodeId at(NodeId coordinator, std::size_t place) const;
  /// The next live node behind this one in the current ring; null if there is none.
  const paxos::Peer* next() const;
  bool mine() const { return round_.count != 0 && round_.coordinator == l_.config.self; }
  /// Makes the ring that a packet names the current ring of this node. False: this node is in a
  /// later round.
  bool join(const paxos::Round& round, std::uint16_t number);
  /// True if this node sends this value along its ring for the first time.
  bool note_sent(paxos::Instance instance);

  paxos::Links l_;
  std::vector<NodeId> others_;  ///< nodes that are not acceptors, sorted

  paxos::Round round_{};
  std::uint16_t number_ = 0;  ///< number of the current ring in its round; a missing node leads to
                              ///< a new ring
  /// By instance modulo kUnderWayMax: the last instance sent along the current ring.
  std::array<paxos::Instance, kUnderWayMax> sent_{};

  // For a coordinator.
  std::vector<MemberId> ring_;   ///< members of the ring at the last choose()
  paxos::Instance base_ = 0;     ///< the first instance of this coordinator's round
  paxos::Instance decided_ = 0;  ///< instances up to here are decided by votes in that round
  paxos::Instance told_ = 0;     ///< decisions are announced up to here
};

std::unique_ptr<paxos::Routes> make_ring(const paxos::Links& links);

}  // namespace peal::order::ridge
