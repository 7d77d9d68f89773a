// SPDX-License-Identifier: Apache-2.0
#include "order/toto/repair.h"

#include <algorithm>

#include "base/hooks.h"
#include "order/toto/timers.h"

namespace peal::order::toto {
namespace {

constexpr std::uint32_t kDoublingsMax = 4;
constexpr std::uint32_t kAnswersMax = 64;  // nodes that one request is answered with

}  // namespace

void Repair::begin_view() {
  gaps_.assign(p_.graph.members(), {});
  wanted_.assign(p_.graph.members(), {});
}

void Repair::look(Instant now) {
  for (Index origin = 0; origin < gaps_.size(); ++origin) {
    Gap& gap = gaps_[origin];
    const Seq joined = p_.graph.joined(origin);
    if (p_.graph.known(origin) == joined || !p_.graph.lacks(origin)) {
      gap.open = false;
      continue;
    }
    if (!gap.open) {
      gap = {.open = true, .tries = 0, .joined = joined, .due = now + p_.options.lacks};
    } else if (gap.joined != joined) {
      gap.joined = joined;
      gap.tries = 0;
    }
    const auto armed = p_.timers.at(kLacksTimer);
    if (!armed || *armed > gap.due) p_.timers.arm(kLacksTimer, gap.due);
  }
}

/// Whom to ask: first the member that proved that the node exists, then the node's origin, then
/// everybody in turn.
Index Repair::target(Index origin, std::uint32_t tries) const {
  const auto members = static_cast<std::uint32_t>(p_.graph.members());
  const Index self = p_.membership.index();
  const Index first = p_.graph.witness(origin);
  if (tries == 0 && first != self) return first;
  if (tries <= 1) return origin;
  const auto next = static_cast<Index>((origin + tries) % members);
  return next == self ? origin : next;
}

void Repair::on_timer(Instant now, Effects& out) {
  for (MemberBits& each : wanted_) each.clear();
  for (Index origin = 0; origin < gaps_.size(); ++origin) {
    Gap& gap = gaps_[origin];
    if (!gap.open || gap.due > now) continue;
    wanted_[target(origin, gap.tries)].set(origin);
    gap.due = now + p_.options.lacks * (std::int64_t{1} << std::min(gap.tries + 1, kDoublingsMax));
    ++gap.tries;
  }
  for (Index member = 0; member < wanted_.size(); ++member) {
    if (!wanted_[member].any() || member == p_.membership.index()) continue;
    request(p_.membership.members()[member], wanted_[member], out);
  }
  look(now);
}

void Repair::request_all(const MemberId& whom, Effects& out) {
  request(whom, MemberBits::first(p_.graph.members()), out);
}

void Repair::request(const MemberId& whom, const MemberBits& origins, Effects& out) {
  wire::TotoLacks lacks;
  lacks.view = p_.membership.view();
  origins.for_each([&](Index origin) { p_.graph.append_lacking(origin, lacks); });
  if (lacks.ranges.empty() || PEAL_MUTANT(tt_never_requests)) return;
  const BufferRef packet = p_.membership.frames().build(wire::frame_kind(wire::TotoKind::lacks),
                                                        lacks, wire::encode_toto_lacks);
  if (!packet) return;
  for (const wire::NodeRange& range : lacks.ranges) p_.counts.requested += range.count;
  out.send(whom.node, Lane::control, packet);
}

void Repair::answer(const MemberId& from, const wire::TotoLacks& lacks, Effects& out) {
  std::uint32_t answered = 0;
  for (const wire::NodeRange& range : lacks.ranges) {
    if (range.origin >= p_.graph.members()) return p_.drop(wire::Drop::bad_value);
    for (Seq seq = range.first; seq < range.first + range.count; ++seq) {
      if (!p_.graph.stored().holds({range.origin, seq})) continue;
      if (answered++ == kAnswersMax || !retransmit({range.origin, seq}, from, out)) return;
    }
  }
}

bool Repair::retransmit(NodeRef node, const MemberId& to, Effects& out) {
  const BufferRef& stored = p_.graph.stored().packet(node);
  BufferRef copy = p_.pool.take(0, stored.size());
  if (!copy || wire::decode_node(stored.view(), sending_) != wire::Drop::none) {
    ++p_.counts.no_buffer;
    return false;
  }
  // A copy: the stored packet may still be in transit, and its header names another transmitter.
  std::copy_n(stored.data(), stored.size(), copy.data());
  sending_.retransmission = true;
  wire::encode_node_in_place(p_.membership.frames().header(wire::frame_kind(wire::TotoKind::node)),
                             sending_, ByteSpan{copy.data(), copy.size()});
  ++p_.counts.retransmitted;
  out.send(to.node, Lane::data, copy);
  return true;
}

}  // namespace peal::order::toto
