// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "order/paxos/routes.h"
#include "order/ridge/distributors.h"

namespace peal::order::ridge {

using paxos::Arrival;
using paxos::Instance;
using paxos::Links;
using paxos::Peer;
using paxos::Round;

/// Ridge's routes. A chain is a majority of the acceptors, and begins with the coordinator. Each
/// acceptor of the chain sends a value to the next acceptor, so each of them receives the value
/// once. Votes do not travel along the chain. As soon as an acceptor's vote is durable, the
/// acceptor sends the number of its last vote to the last acceptor of the chain and to the
/// coordinator. So the disks work in parallel. The last acceptor detects decisions, and announces
/// them to the chain. It also sends each decided value to a distributor, and the distributor sends
/// the value to all nodes outside the chain.
class Chain final : public paxos::Routes {
 public:
  explicit Chain(const Links& links);

  std::size_t header_bytes() const override { return wire::kRelayHeaderBytes; }
  bool tells_decided() const override { return true; }
  bool distributes() const override { return true; }
  /// The distributor sends a value directly to all its receivers.
  std::uint32_t hops() const override { return 1; }
  bool choose(Instant now, bool anew) override;
  bool asks(const Peer& acceptor) const override;
  void note_slow(Instant now, NodeId acceptor) override;
  BufferRef pack(const Arrival& proposal, const BufferRef& bytes, bool fresh) override;
  void propose(const BufferRef& packet, Effects& out) override;
  wire::Drop read(const Peer& from, wire::PaxosKind kind, ByteView packet,
                  Arrival& out) const override;
  bool propose_own(const Arrival& proposal, Effects& out) override;
  void pass_on(const Arrival& arrival, const BufferRef& bytes, bool fresh, Effects& out) override;
  void tell_votes(const wire::State& said, const Peer* coordinator, Effects& out) override;
  bool tell_decided(Instant now, const wire::State& said, Effects& out) override;
  void end_turn(const wire::State& /*said*/, Effects& /*out*/) override {}
  void nodes_changed() override;
  void add_to(Digest& digest) const override;

 private:
  /// The acceptors of a chain: bit i is set if the chain contains the acceptor with index i. The
  /// order within a chain is fixed: the coordinator first, then ascending indices, cyclically.
  using Bits = std::uint16_t;
  static constexpr std::size_t kNobody = ~std::size_t{0};

  std::size_t index_of(NodeId node) const;
  /// The acceptor after `at` in the chain that begins with `first`; kNobody if `at` is the last.
  std::size_t next_in(Bits chain, std::size_t first, std::size_t at) const;
  std::size_t last_in(Bits chain, std::size_t first) const;
  static bool is_in(Bits chain, std::size_t index) { return (chain >> index & 1U) != 0; }
  bool has(Bits chain, NodeId node) const;
  const Peer& acceptor(std::size_t index) const;
  /// True if the value is a unit that the present incarnation of `peer` has sent. Then `peer` has
  /// the bytes of the unit.
  static bool is_of(const wire::ValueHead& head, const Peer& peer) {
    return head.kind == wire::ValueKind::unit && head.origin == peer.member;
  }
  bool usable(Instant now, std::size_t index) const;
  bool votes(std::size_t index) const;
  /// Joins the chain of this node's proposals. Returns the header of a packet that proposes a value
  /// along this chain.
  wire::Relay frame_of(const Arrival& proposal);
  /// Makes the chain of `arrival` this node's current chain, unless its round is old.
  void join(const Arrival& arrival);
  bool is_last() const { return self_ != kNobody && last_ == self_; }

  void distribute(Instance instance, const paxos::Slot& slot, const std::vector<NodeId>& nodes,
                  Effects& out);
  void tell_chain(const BufferRef& packet, Effects& out);
  std::vector<NodeId> able(Instant now) const;
  void send_to_rest(Bits chain, const BufferRef& packet, Effects& out);

  Links l_;
  std::size_t self_ = kNobody;  ///< index of this node among the acceptors
  /// For a coordinator: before its time in this array, a slow acceptor is chosen only if there are
  /// too few other acceptors.
  std::array<Instant, wire::kChainMax> avoid_until_{};
  Bits mine_ = 0;  ///< the chain of this node's proposals

  // The last chain in which this node was asked to vote.
  Round round_{};
  Bits chain_ = 0;
  std::size_t first_ = kNobody;
  std::size_t last_ = kNobody;
  Instance told_ = 0;  ///< for the last acceptor: the next instance whose value it distributes
  Distributors distributors_;
};

std::unique_ptr<paxos::Routes> make_chain(const Links& links);

}  // namespace peal::order::ridge
