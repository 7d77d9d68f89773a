// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/links.h"

#include <utility>

namespace peal::sim::genuine::literal {

void Links::need(Instant now, NodeId node) {
  Peer& peer = peers_[node];
  if (peer.needed || peer.open || node == post_.self().node) return;
  peer.needed = true;
  peer.next = now;
}

void Links::expose(const MemberId& to) {
  const bool server = serves(post_.self().node);
  for (const Area area : {Area::units, Area::acks, Area::stamps, Area::replies}) {
    const bool fits = area == Area::units     ? server
                      : area == Area::replies ? serves(to.node)
                                              : server && serves(to.node);
    // As published, only the own domain's leader may write to T.
    const bool closed = area == Area::stamps && options_.has(Published::x13);
    if (!fits || closed) continue;
    const port::Region region{to, static_cast<std::uint8_t>(area)};
    const bool done = memory_.expose(region, {1}, places_.region_bytes(area)).has_value();
    PEAL_ASSERT(done);
  }
}

void Links::on_hello(Instant now, const Frame& frame, order::Effects& out) {
  wire::ByteReader in = frame.body;
  MemberId heard;  // none: the other process was not heard yet
  heard.node = NodeId{in.u<std::uint32_t>()};
  heard.epoch = in.u<std::uint64_t>();
  const bool answer = in.u<std::uint8_t>() != 0;
  const MemberId& from = frame.sender;
  Peer& peer = peers_[from.node];
  if (in.failed() || from.epoch < peer.id.epoch) return;
  if (from != peer.id) {
    // What waits was for an earlier incarnation, unless none was heard.
    if (peer.id != MemberId{}) peer.waiting.clear();
    peer.id = from;
    peer.exposed = peer.open = false;
  }
  if (!peer.exposed) {
    expose(from);
    peer.exposed = true;
  }
  if (heard == post_.self() && !peer.open) {
    peer.open = true;
    for (const Waiting& each : std::exchange(peer.waiting, {})) {
      write(now, from.node, each.area, each.offset, each.bytes);
    }
  }
  if (!answer) say_hello(from.node, out);
}

void Links::say_hello(NodeId node, order::Effects& out) {
  const Peer& peer = peers_[node];
  post_.send(out, node, number(Kind::hello), Lane::control, [&](wire::Writer& in) {
    in.member(peer.exposed ? peer.id : MemberId{});
    in.u(static_cast<std::uint8_t>(peer.open && peer.exposed));
  });
}

void Links::tick(Instant now, order::Effects& out) {
  for (auto& [node, peer] : peers_) {
    if (!peer.needed || peer.open || peer.next > now) continue;
    say_hello(node, out);
    peer.next = now + options_.retry;
  }
}

std::optional<Instant> Links::next_deadline() const {
  std::optional<Instant> next;
  for (const auto& [node, peer] : peers_) {
    if (peer.needed && !peer.open && (!next || peer.next < *next)) next = peer.next;
  }
  return next;
}

void Links::write(Instant now, NodeId to, Area area, std::uint64_t offset, ByteView bytes) {
  Peer& peer = peers_[to];
  if (!peer.open) {
    need(now, to);
    peer.waiting.push_back({area, offset, {bytes.begin(), bytes.end()}});
    return;
  }
  memory_.write({peer.id, static_cast<std::uint8_t>(area), {1}, offset}, bytes, 0);
}

bool Links::load(Area area, NodeId from, std::uint64_t offset, ByteSpan to) const {
  const auto found = peers_.find(from);
  if (found == peers_.end()) return false;
  return memory_.load({found->second.id, static_cast<std::uint8_t>(area)}, offset, to);
}

}  // namespace peal::sim::genuine::literal
