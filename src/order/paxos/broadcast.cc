// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/routes.h"

namespace peal::order::paxos {
namespace {

class Broadcast final : public Routes {
 public:
  explicit Broadcast(const Links& links) : l_(links) {}

  std::size_t header_bytes() const override { return wire::kDataHeaderBytes; }
  bool tells_decided() const override { return false; }
  bool distributes() const override { return false; }
  std::uint32_t hops() const override { return 1; }
  bool choose(Instant /*now*/, bool /*anew*/) override { return false; }
  bool asks(const Peer& /*acceptor*/) const override { return true; }
  void note_slow(Instant /*now*/, NodeId /*acceptor*/) override {}

  BufferRef pack(const Arrival& proposal, const BufferRef& bytes, bool fresh) override {
    wire::ValueFrame frame;
    frame.count = proposal.round.count;
    frame.instance = proposal.instance;
    frame.behind = proposal.behind;
    frame.head = proposal.head;
    return l_.outbox.value(wire::PaxosKind::propose, frame, bytes, fresh);
  }

  void propose(const BufferRef& packet, Effects& out) override {
    const Lane lane = l_.outbox.lane_for(packet);
    out.multicast(lane, packet);
    if (lane == Lane::control) return;
    // A multicast on the data lane reaches only nodes of the view that this node has installed.
    for (const Peer& peer : l_.peers.all()) {
      if (!peer.self && peer.acceptor && !peer.suspected && !l_.state.has(peer.member)) {
        out.send(peer.node, lane, packet);
      }
    }
  }

  wire::Drop read(const Peer& from, wire::PaxosKind kind, ByteView packet,
                  Arrival& out) const override {
    if (kind != wire::PaxosKind::propose) return wire::Drop::unknown_kind;
    wire::ValueFrame frame;
    const wire::Drop reason = wire::decode_value(packet, frame);
    if (reason != wire::Drop::none) return reason;
    out.round = {frame.count, from.member};
    out.instance = frame.instance;
    out.behind = frame.behind;
    out.head = frame.head;
    out.vote = true;
    return wire::Drop::none;
  }

  bool propose_own(const Arrival& /*proposal*/, Effects& /*out*/) override { return false; }
  void pass_on(const Arrival& /*arrival*/, const BufferRef& /*bytes*/, bool /*fresh*/,
               Effects& /*out*/) override {}

  void tell_votes(const wire::State& said, const Peer* coordinator, Effects& out) override {
    const BufferRef packet = l_.outbox.state_packet(said);
    if (!packet) return;
    const Lane lane = said.joined ? Lane::data : Lane::control;
    out.multicast(lane, packet);
    const bool beyond = lane == Lane::data && coordinator != nullptr && !coordinator->self &&
                        !l_.state.has(coordinator->member);
    if (beyond) out.send(coordinator->node, Lane::control, packet);
  }

  bool tell_decided(Instant /*now*/, const wire::State& /*said*/, Effects& /*out*/) override {
    return false;
  }
  void end_turn(const wire::State& /*said*/, Effects& /*out*/) override {}
  void nodes_changed() override {}
  void add_to(Digest& /*digest*/) const override {}

 private:
  Links l_;
};

}  // namespace

std::unique_ptr<Routes> make_broadcast(const Links& links) {
  return std::make_unique<Broadcast>(links);
}

}  // namespace peal::order::paxos
