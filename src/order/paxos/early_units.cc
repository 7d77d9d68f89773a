// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/early_units.h"

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of units announced in one call, before other work gets its turn.
constexpr std::size_t kToldAtOnce = 64;

}  // namespace

wire::Drop EarlyUnits::hear(Instant now, const wire::ValueFrame& frame, const BufferRef& bytes) {
  if (!p_.joined() || frame.head.view != p_.state.view().number) return wire::Drop::stale;
  const std::size_t index = p_.state.index_of(frame.head.origin);
  if (index == OrderState::kNobody) return wire::Drop::stale;
  const bool own = frame.head.origin == p_.config.self;
  return p_.early->take(now, index, frame.head.number, {frame.count, frame.head.service, bytes},
                        own);
}

// A member that does not receive the packet learns of the unit only when the unit gets its place.
void EarlyUnits::send(const BufferRef& packet, const Peer& leader, Effects& out) {
  out.multicast(Lane::data, packet);
  // A multicast on the data lane reaches only nodes of the view that this node has installed.
  if (!leader.self && !p_.state.has(leader.member)) out.send(leader.node, Lane::data, packet);
}

void EarlyUnits::tell_due(Instant now, Effects& out) {
  at_.reset();
  for (std::size_t i = 0; p_.joined() && p_.host.receive_room_units() > 0; ++i) {
    const std::optional<std::size_t> index = p_.early->next(now);
    if (!index) break;
    if (i == kToldAtOnce) {
      at_ = now;
      return;
    }
    const Early::Unit unit = p_.early->take_next(*index);
    tell(*index, unit, out);
  }
  // A unit that is due now can only be waiting for space in the application. It needs no timer:
  // work() is called once there is space.
  const auto consider = [&](std::optional<Instant> at) {
    if (at && *at > now && (!at_ || *at < *at_)) at_ = at;
  };
  consider(p_.early->next_at());
  if (coordinator_ != nullptr) consider(coordinator_->next_due());
}

void EarlyUnits::tell(std::size_t index, const Early::Unit& unit, Effects& out) {
  Delivery early;
  early.view = p_.state.view();
  early.seq = early.guess = p_.early->tell(index, unit.stamp);
  early.origin = p_.state.members()[index].member;
  early.service = unit.service;
  early.unit = unit.bytes;
  if (PEAL_MUTANT(op_not_told) && early.guess % 16 == 0) return;
  out.opt_deliver(early);
  if (PEAL_MUTANT(op_told_twice) && early.guess % 16 == 0) out.opt_deliver(early);
}

Seq EarlyUnits::place(const Value& value, Seq seq, Effects& out) {
  const std::size_t index = p_.state.index_of(value.head.origin);
  PEAL_ASSERT(index != OrderState::kNobody && p_.joined());
  if (!p_.early->is_told(index, value.head.number)) {
    PEAL_PROBE("early.told_with_its_place");
    const std::uint64_t stamp = p_.early->take_next(index).stamp;
    tell(index, {stamp, value.head.service, value.bytes}, out);
  }
  const Seq guess = p_.early->placed(index, seq);
  return PEAL_MUTANT(op_guess_claimed) ? seq : guess;
}

void EarlyUnits::begin_view() { p_.early->begin_view(p_.joined() ? p_.state.members().size() : 0); }

}  // namespace peal::order::paxos
