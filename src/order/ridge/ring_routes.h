// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "order/paxos/routes.h"

namespace peal::order::ridge {

/// The ways of a ring of learners, to compare Ridge's with: the coordinator sends a value to the
/// node behind it, which sends it to the next, until it has been everywhere. So each node sends a
/// value once, and it takes as many steps as there are nodes. The order in the ring is the
/// acceptors', from the coordinator on, and then that of the other nodes; who seems dead is passed
/// over by whoever is to send to it.
///
/// Votes do not travel along: acceptors tell the coordinator their numbers, and it tells all nodes
/// what is decided: with the next value, if there is one to propose at once, else by itself.
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
  /// As the pattern that it is here to compare with, it sends all bytes round.
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
  /// More than a coordinator has under way.
  static constexpr std::size_t kUnderWayMax = 8'192;

  /// Where a node stands in the ring of this coordinator; kNowhere if there is no such ring.
  std::size_t place_of(NodeId coordinator, NodeId node) const;
  NodeId at(NodeId coordinator, std::size_t place) const;
  /// Who comes behind this node in the ring that it is in, and seems alive. Null: nobody.
  const paxos::Peer* next() const;
  bool mine() const { return round_.count != 0 && round_.coordinator == l_.config.self; }
  /// This node works in a ring that a packet named. False: it is in a later round.
  bool join(const paxos::Round& round, std::uint16_t number);
  /// The first time that this node sends this value along the ring that it is in?
  bool note_sent(paxos::Instance instance);

  paxos::Links l_;
  std::vector<NodeId> others_;  ///< nodes that are no acceptors, sorted

  paxos::Round round_{};
  std::uint16_t number_ = 0;  ///< of the ring: another one each time that somebody is missing
  /// By instance, modulo: the last one that was sent on along this ring.
  std::array<paxos::Instance, kUnderWayMax> sent_{};

  // For a coordinator.
  std::vector<MemberId> ring_;   ///< who was in it at the last look
  paxos::Instance base_ = 0;     ///< the first instance of its round
  paxos::Instance decided_ = 0;  ///< a majority voted in its round, up to there
  paxos::Instance told_ = 0;     ///< of it, what the others were told
};

std::unique_ptr<paxos::Routes> make_ring(const paxos::Links& links);

}  // namespace peal::order::ridge
