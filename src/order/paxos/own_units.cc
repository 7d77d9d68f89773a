// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/hooks.h"
#include "order/paxos/engine.h"

// This node's own units, until they have their places.

namespace peal::order::paxos {
namespace {

/// Units of this node that are sent again at a time.
constexpr std::size_t kResentAtOnce = 8;

}  // namespace

void PaxosEngine::pull(Effects& out) {
  if (!joined()) return;
  // What was voted for is sent behind a longer header than a proposal.
  const std::size_t header = std::max(routes_->header_bytes(), wire::kWordHeaderBytes);
  const std::uint32_t unit_bytes_max =
      config_.options.packet_bytes_max - static_cast<std::uint32_t>(header);
  while (host_.backlog_units() > 0 && own_window_.allows(now_, own_.size())) {
    Unit unit;
    if (!host_.next_unit(unit_bytes_max, unit)) return;
    Own own;
    own.head.kind = wire::ValueKind::unit;
    own.head.service = unit.service;
    own.head.view = view_.number;
    own.head.origin = config_.self;
    own.head.number = ++own_number_;
    own.bytes = std::move(unit.bytes);
    own.at = now_;
    if (own_.empty()) own_sent_at_ = now_;
    if (early_) {
      wire::ValueFrame frame;
      frame.count = own.stamp = early_->stamp(now_);
      frame.head = own.head;
      ignore(hear_early(now_, frame, own.bytes), "it is told with its place");
    }
    own_.push_back(std::move(own));
    submit(own_.back(), out);
  }
}

void PaxosEngine::submit(Own& own, Effects& out) {
  const Peer* leader = election_.coordinator();
  if (leader == nullptr) return;
  const bool fresh = !own.used;
  if (leader->self && !early_) {
    if (coordinator_->submit(own.head, own.bytes, fresh, 0)) own.used = true;
    return;
  }
  const bool first = !own.packet;
  if (first) {
    wire::ValueFrame frame;
    frame.count = own.stamp;
    frame.head = own.head;
    own.packet = fresh ? outbox_.wrap(wire::PaxosKind::submit, frame, own.bytes)
                       : outbox_.value_packet(wire::PaxosKind::submit, frame, own.bytes.view());
    own.used = true;
  }
  if (leader->self) coordinator_->submit(own.head, own.bytes, false, own.stamp);
  if (!own.packet) return;
  if (early_ && first) return send_early(own.packet, *leader, out);
  if (!leader->self) out.send(leader->node, Lane::data, own.packet);
}

// Nothing behind the first one came there either, or it would be asked for; or its coordinator has
// much to do. Few are sent again, as long as nothing says that all are lost.
void PaxosEngine::resend_late(Instant now, Effects& out) {
  own_sent_at_ = own_resent_at_ = now;
  resend_own(kResentAtOnce, out);
  ++own_vain_;
  own_window_.lost(now);
}

// The bytes of a unit that came back without them; none if it is not this node's, or has its place
// by now: whoever misses it asks for it. `fresh`: a header may be written in front of them.
BufferRef PaxosEngine::own_bytes(const wire::ValueHead& head, bool& fresh) {
  const std::uint64_t oldest = own_.empty() ? 0 : own_.front().head.number;
  const std::uint64_t at = head.number - oldest;
  if (head.number < oldest || at >= own_.size() || own_[at].head != head) {
    PEAL_PROBE("paxos.own_gone");
    return {};
  }
  Own& own = own_[PEAL_MUTANT(rd_own_oldest) ? 0 : at];
  if (!early_) {
    // It came to its coordinator. Should it have to go to another one, it is copied.
    own.packet.reset();
    own.used = true;
  }
  fresh = own.bytes.unique();
  return own.bytes;
}

// What is on its way to the coordinator before is not on its way to this one.
void PaxosEngine::follow(Instant now, const Round& round, Effects& out) {
  election_.follow(round);
  own_sent_at_ = now;
  own_vain_ = 0;
  resend_own(own_.size(), out);
}

void PaxosEngine::resend_own(std::size_t count, Effects& out) {
  for (std::size_t i = 0; i < std::min(count, own_.size()); ++i) {
    resend(own_[i], out);
  }
}

void PaxosEngine::resend(Own& own, Effects& out) {
  submit(own, out);
  own.resent = true;
  ++counts_.resent;
}

// The coordinator knows which units of this node did not come; a timer would only guess.
wire::Drop PaxosEngine::on_lacks(Instant now, const Peer& from, const BufferRef& packet,
                                 Effects& out) {
  wire::Lacks lacks;
  const wire::Drop reason = wire::decode_lacks(packet.view(), lacks);
  if (reason != wire::Drop::none) return reason;
  const Peer* leader = election_.coordinator();
  if (leader == nullptr || leader->member != from.member) return wire::Drop::bad_sender;
  if (lacks.view != view_.number || own_.empty()) return wire::Drop::stale;
  const std::uint64_t oldest = own_.front().head.number;
  const std::uint64_t end = std::min(lacks.first + lacks.count, oldest + own_.size());
  for (std::uint64_t number = std::max(lacks.first, oldest); number < end; ++number) {
    resend(own_[number - oldest], out);
  }
  own_sent_at_ = own_resent_at_ = now;
  own_window_.lost(now);
  return wire::Drop::none;
}

}  // namespace peal::order::paxos
