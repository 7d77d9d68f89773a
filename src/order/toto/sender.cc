// SPDX-License-Identifier: Apache-2.0
#include "order/toto/sender.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/toto/timers.h"
#include "wire/headroom.h"

namespace peal::order::toto {
namespace {

constexpr std::uint32_t kUnitsPerTurn = 64;
/// Control nodes that may be under way beyond the window: they make what fills it stable.
constexpr std::uint32_t kControlReserve = 16;
/// Of the nodes that this member can keep, those for nodes that state a decision: without them,
/// safe units would wait for ever.
constexpr std::uint32_t kEvidenceReserve = 16;

wire::NodeKind kind_of(Service service) {
  switch (service) {
    case Service::fifo:
    case Service::causal: return wire::NodeKind::causal;
    case Service::safe: return wire::NodeKind::safe;
    case Service::agreed: break;
  }
  return wire::NodeKind::agreed;
}

}  // namespace

void Sender::begin_view() { owes_ = view_in_doubt_ = no_buffer_ = false; }

std::uint32_t Sender::unit_bytes_max() const {
  const std::size_t advances = std::min(p_.graph.members() - 1, wire::kUnitAdvancesMax);
  return p_.limits.packet_bytes_max - static_cast<std::uint32_t>(wire::node_header_bytes(advances));
}

void Sender::on_joined(const Joined& joined) {
  if (joined.node.origin == p_.membership.index()) return;
  if (joined.kind != wire::NodeKind::control) owes_ = true;
}

bool Sender::has_work() const {
  return may_send_unit() || (owes() && p_.options.acks && !p_.timers.armed(kAckTimer));
}

bool Sender::may_send_unit() const {
  return !outlet_.held() && !is_blocked() && !view_in_doubt_ && p_.host.backlog_units() > 0;
}

/// Nodes beyond these would leave no space for the control nodes that the order waits for.
bool Sender::is_blocked() const {
  return p_.graph.unstable() >= p_.options.window || p_.graph.kept() >= 2 * p_.options.window;
}

void Sender::turn(Instant now, Effects& out) {
  Unit unit;
  std::uint32_t sent = 0;
  while (sent < kUnitsPerTurn) {
    // What was stable when the graph looked last may not be all that is stable now.
    if (is_blocked()) p_.graph.discard_stable();
    if (!may_send_unit()) break;
    // A unit has space for few advances. A control node in front of it has space for all.
    if (p_.graph.advances() > wire::kUnitAdvancesMax && !send_control(now, out)) break;
    // That node may have decided units that the application has no space for.
    if (outlet_.held()) break;
    if (!p_.host.next_unit(unit_bytes_max(), unit)) {
      no_buffer_ = true;
      p_.timers.arm(kTurnTimer, now + milliseconds(1));
      break;
    }
    no_buffer_ = false;
    send_unit(std::move(unit), out);
    ++sent;
  }
  if (sent == kUnitsPerTurn) p_.timers.arm(kTurnTimer, now);
  if (owes()) acknowledge(now, out);
}

void Sender::acknowledge(Instant now, Effects& out) {
  if (!p_.options.acks) return;
  if (is_blocked()) p_.graph.discard_stable();
  if (p_.graph.unstable() >= p_.options.window + kControlReserve || !p_.graph.room()) return;
  const bool scarce = p_.graph.kept() + kEvidenceReserve >= p_.graph.stored().capacity();
  if (scarce && !outlet_.owes_evidence()) return;
  if (now < next_ack_) return p_.timers.arm(kAckTimer, next_ack_);
  const Duration gap{1'000'000'000 / p_.options.ack_rate};
  next_ack_ = now + gap;
  const bool sent = send_control(now, out);
  // The node may have decided a safe unit here, which the others have to learn.
  if (owes()) p_.timers.arm(kAckTimer, sent ? next_ack_ : now + milliseconds(1));
}

bool Sender::send_control(Instant /*now*/, Effects& out) {
  if (!p_.graph.room()) return false;
  wire::Node node;
  node.view = p_.membership.view();
  node.decided = outlet_.activations();
  p_.graph.next_node(node, wire::kMembersMax);
  const auto bytes = static_cast<std::uint32_t>(wire::node_header_bytes(node.advances.size()));
  const BufferRef packet = p_.pool.take(0, bytes);
  if (!packet) {
    ++p_.counts.no_buffer;
    no_buffer_ = true;
    return false;
  }
  no_buffer_ = false;
  wire::encode_node_in_place(p_.membership.frames().header(wire::frame_kind(wire::TotoKind::node)),
                             node, ByteSpan{packet.data(), packet.size()});
  ++p_.counts.controls_sent;
  finish(node, packet, out);
  return true;
}

void Sender::send_unit(Unit unit, Effects& out) {
  PEAL_ASSERT(unit.bytes.size() <= unit_bytes_max());
  wire::Node node;
  node.view = p_.membership.view();
  node.kind = kind_of(unit.service);
  node.decided = outlet_.activations();
  p_.graph.next_node(node, wire::kUnitAdvancesMax);
  BufferRef packet = std::move(unit.bytes);
  packet.grow_front(static_cast<std::uint32_t>(wire::node_header_bytes(node.advances.size())));
  wire::encode_node_in_place(p_.membership.frames().header(wire::frame_kind(wire::TotoKind::node)),
                             node, ByteSpan{packet.data(), packet.size()});
  ++p_.counts.units_sent;
  finish(node, packet, out);
}

void Sender::finish(const wire::Node& node, const BufferRef& packet, Effects& out) {
  const Joined joined = p_.graph.append(node, packet);
  owes_ = false;
  outlet_.on_own_node();
  if (!p_.alone()) out.multicast(Lane::data, packet);
  outlet_.on_joined(joined, out);
}

void Sender::check_invariants() const {
  PEAL_ASSERT(p_.graph.unstable() <= p_.options.window + kControlReserve + 1);
}

}  // namespace peal::order::toto
