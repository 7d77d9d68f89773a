// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/engine.h"

// Optimistic delivery: units that are told to the application before they have their places.

namespace peal::order::paxos {
namespace {

/// What one call tells at most before it lets others have their turn.
constexpr std::size_t kToldAtOnce = 64;

}  // namespace

/// A unit came from its sender, for all; `frame.count` is what see() made of its stamp.
wire::Drop PaxosEngine::hear_early(Instant now, const wire::ValueFrame& frame,
                                   const BufferRef& bytes) {
  if (!joined() || frame.head.view != view_.number) return wire::Drop::stale;
  const std::size_t index = state_.index_of(frame.head.origin);
  if (index == OrderState::kNobody) return wire::Drop::stale;
  const bool own = frame.head.origin == config_.self;
  return early_->take(now, index, frame.head.number, {frame.count, frame.head.service, bytes}, own);
}

/// To all, the coordinator among them. Whoever it does not reach learns of the unit with its place.
void PaxosEngine::send_early(const BufferRef& packet, const Peer& leader, Effects& out) {
  out.multicast(Lane::data, packet);
  // Data reach the view that this node has installed only.
  if (!leader.self && !state_.has(leader.member)) out.send(leader.node, Lane::data, packet);
}

void PaxosEngine::tell_early(Effects& out) {
  early_at_.reset();
  if (!early_ || life_ != Life::running) return;
  for (std::size_t i = 0; joined() && host_.receive_room_units() > 0; ++i) {
    const std::optional<std::size_t> index = early_->next(now_);
    if (!index) break;
    if (i == kToldAtOnce) {
      early_at_ = now_;
      return;
    }
    const Early::Unit unit = early_->take_next(*index);
    tell(*index, unit, out);
  }
  // What is due already waits for room, and that comes as work.
  const auto consider = [this](std::optional<Instant> at) {
    if (at && *at > now_ && (!early_at_ || *at < *early_at_)) early_at_ = at;
  };
  consider(early_->next_at());
  if (coordinator_) consider(coordinator_->next_due());
}

void PaxosEngine::tell(std::size_t index, const Early::Unit& unit, Effects& out) {
  Delivery early;
  early.view = view_;
  early.seq = early.guess = early_->tell(index, unit.stamp);
  early.origin = state_.members()[index].member;
  early.service = unit.service;
  early.unit = unit.bytes;
  if (PEAL_MUTANT(op_not_told) && early.guess % 16 == 0) return;
  out.opt_deliver(early);
  if (PEAL_MUTANT(op_told_twice) && early.guess % 16 == 0) out.opt_deliver(early);
}

/// A unit has its place `seq`: who was not told of it is told first. Returns the guess.
Seq PaxosEngine::placed_early(const Value& value, Seq seq, Effects& out) {
  const std::size_t index = state_.index_of(value.head.origin);
  PEAL_ASSERT(index != OrderState::kNobody);
  if (!early_->is_told(index, value.head.number)) {
    PEAL_PROBE("early.told_with_its_place");
    const std::uint64_t stamp = early_->take_next(index).stamp;
    tell(index, {stamp, value.head.service, value.bytes}, out);
  }
  const Seq guess = early_->placed(index, seq);
  return PEAL_MUTANT(op_guess_claimed) ? seq : guess;
}

}  // namespace peal::order::paxos
