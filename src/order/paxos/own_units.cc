// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/own_units.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of units that this node retransmits at a time.
constexpr std::size_t kResentAtOnce = 8;

}  // namespace

OwnUnits::OwnUnits(const Parts& parts, const Election& election, Coordinator* coordinator,
                   EarlyUnits& early)
    : p_(parts),
      election_(election),
      coordinator_(coordinator),
      early_(early),
      patience_(p_.config.options.resend / 4, p_.config.options.suspect * 2,
                p_.config.options.suspect * 4),
      window_(p_.config.options.window_first, p_.config.options.member_window) {}

void OwnUnits::pull(Instant now, Effects& out) {
  if (!p_.joined()) return;
  // A unit must also fit behind the header of a WORD packet, which may be longer than that of a
  // proposal.
  const std::size_t header = std::max(p_.routes.header_bytes(), wire::kWordHeaderBytes);
  const std::uint32_t unit_bytes_max =
      p_.config.options.packet_bytes_max - static_cast<std::uint32_t>(header);
  while (p_.host.backlog_units() > 0 && window_.allows(now, units_.size())) {
    Unit unit;
    if (!p_.host.next_unit(unit_bytes_max, unit)) return;
    Own own;
    own.head.kind = wire::ValueKind::unit;
    own.head.service = unit.service;
    own.head.view = p_.state.view().number;
    own.head.origin = p_.config.self;
    own.head.number = ++number_;
    own.bytes = std::move(unit.bytes);
    own.at = now;
    if (units_.empty()) sent_at_ = now;
    if (early_.is_on()) {
      wire::ValueFrame frame;
      frame.count = own.stamp = early_.stamp(now);
      frame.head = own.head;
      ignore(early_.hear(now, frame, own.bytes), "it is told with its place");
    }
    units_.push_back(std::move(own));
    submit(units_.back(), out);
  }
}

void OwnUnits::submit(Own& own, Effects& out) {
  const Peer* leader = election_.coordinator();
  if (leader == nullptr) return;
  const bool fresh = !own.used;
  if (leader->self && !early_.is_on()) {
    if (coordinator_->submit(own.head, own.bytes, fresh, 0)) own.used = true;
    return;
  }
  const bool first = !own.packet;
  if (first) {
    wire::ValueFrame frame;
    frame.count = own.stamp;
    frame.head = own.head;
    own.packet = fresh ? p_.outbox.wrap(wire::PaxosKind::submit, frame, own.bytes)
                       : p_.outbox.value_packet(wire::PaxosKind::submit, frame, own.bytes.view());
    own.used = true;
  }
  if (leader->self) coordinator_->submit(own.head, own.bytes, false, own.stamp);
  if (!own.packet) return;
  if (early_.is_on() && first) return early_.send(own.packet, *leader, out);
  if (!leader->self) out.send(leader->node, Lane::data, own.packet);
}

void OwnUnits::follow(Instant now, Effects& out) {
  sent_at_ = now;
  vain_ = 0;
  for (Own& own : units_) resend(own, out);
}

void OwnUnits::submit_to_self() {
  for (const Own& own : units_) coordinator_->submit(own.head, own.bytes, false, own.stamp);
}

std::optional<Instant> OwnUnits::resend_at() const {
  if (units_.empty()) return std::nullopt;
  return sent_at_ + patience_.wait(vain_);
}

// If a later unit had reached the coordinator, the coordinator would have requested the oldest
// unit. So no later unit has reached the coordinator, or the coordinator is busy. Only a few units
// are retransmitted, because nothing shows that all are lost.
void OwnUnits::resend_late(Instant now, Effects& out) {
  const std::optional<Instant> at = resend_at();
  if (!at || now < *at) return;
  sent_at_ = resent_at_ = now;
  for (std::size_t i = 0; i < std::min(kResentAtOnce, units_.size()); ++i) resend(units_[i], out);
  ++vain_;
  window_.lost(now);
}

void OwnUnits::resend(Own& own, Effects& out) {
  submit(own, out);
  own.resent = true;
  ++resent_;
}

// The coordinator knows which units are missing; a timer would only guess.
wire::Drop OwnUnits::on_lacks(Instant now, const Peer& from, const BufferRef& packet,
                              Effects& out) {
  wire::Lacks lacks;
  const wire::Drop reason = wire::decode_lacks(packet.view(), lacks);
  if (reason != wire::Drop::none) return reason;
  const Peer* leader = election_.coordinator();
  if (leader == nullptr || leader->member != from.member) return wire::Drop::bad_sender;
  if (lacks.view != p_.state.view().number || units_.empty()) return wire::Drop::stale;
  const std::uint64_t oldest = units_.front().head.number;
  const std::uint64_t end = std::min(lacks.first + lacks.count, oldest + units_.size());
  for (std::uint64_t number = std::max(lacks.first, oldest); number < end; ++number) {
    resend(units_[number - oldest], out);
  }
  sent_at_ = resent_at_ = now;
  window_.lost(now);
  return wire::Drop::none;
}

// A placed unit is not needed here: a node that lacks it requests the decided value.
BufferRef OwnUnits::bytes_of(const wire::ValueHead& head, bool& fresh) {
  const std::uint64_t oldest = units_.empty() ? 0 : units_.front().head.number;
  const std::uint64_t at = head.number - oldest;
  if (head.number < oldest || at >= units_.size() || units_[at].head != head) {
    PEAL_PROBE("paxos.own_gone");
    return {};
  }
  Own& own = units_[PEAL_MUTANT(rd_own_oldest) ? 0 : at];
  if (!early_.is_on()) {
    // The unit reached its coordinator. If it must be sent to another coordinator, its bytes are
    // copied.
    own.packet.reset();
    own.used = true;
  }
  fresh = own.bytes.unique();
  return own.bytes;
}

void OwnUnits::place(Instant now) {
  PEAL_ASSERT(!units_.empty());
  const Own& own = units_.front();
  // A unit that was behind a lost one does not measure its own delay. Until a unit measures its own
  // delay, the number of attempts is not reset: otherwise a node that always retransmits too early
  // would never learn how long units take.
  if (!own.resent && own.at > resent_at_) {
    const Duration time = now - own.at;
    patience_.took(now, time);
    window_.took(now, time);
    vain_ = 0;
  }
  units_.pop_front();
  sent_at_ = now;  // the wait for the other units begins anew
  ++placed_;
}

void OwnUnits::begin_view() {
  units_.clear();
  vain_ = 0;
  number_ = 0;
}

void OwnUnits::check_invariants() const {
  PEAL_ASSERT(units_.size() <= p_.config.options.member_window);
  PEAL_ASSERT(units_.empty() || p_.joined());
  // Numbers have no gaps, and all are of the active view.
  PEAL_ASSERT(units_.empty() || units_.back().head.number == number_);
  PEAL_ASSERT(units_.empty() || units_.front().head.number + units_.size() == number_ + 1);
  PEAL_ASSERT(units_.empty() || units_.front().head.view == p_.state.view().number);
}

void OwnUnits::add_to(Digest& digest) const {
  digest.add(number_);
  digest.add(units_.size());
}

}  // namespace peal::order::paxos
