// SPDX-License-Identifier: Apache-2.0
// Normal operation: what a member does while it has the token, and with packets in between.

#include <algorithm>
#include <limits>

#include "base/hooks.h"
#include "order/ring/engine.h"

namespace peal::order::ring {
namespace {

using evs::State;
using wire::Drop;
using wire::FrameKind;
using wire::kNoIndex;

constexpr std::uint32_t kStallRounds = 50;

std::uint32_t minus(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : 0; }

}  // namespace

// ---- the token arrives ----

void RingEngine::on_token(Instant now, const MemberId& from, Effects& out) {
  // In Gather and Commit drop every token, whatever its view. A member that kept an old token
  // moving would keep the old view alive, and others would discard packets that this member lacks.
  const State state = membership_.state();
  if (state == State::recovery && arriving_.view == repair_.agreement.view) {
    const MemberSet& members = repair_.agreement.members;
    const std::size_t before = (repair_.agreement.index + members.size() - 1) % members.size();
    if (from != members[before]) return drop(Drop::bad_sender);
    if (arriving_.hop <= repair_.last_hop && !PEAL_MUTANT(token_duplicate_accepted)) {
      return drop(Drop::duplicate);
    }
    token_ = arriving_;
    visit_recovery(now, out);
    return;
  }
  const bool from_predecessor = !alone() && from == membership_.place().predecessor();
  if (arriving_.view != membership_.view() &&
      !(PEAL_MUTANT(token_of_another_view) && from_predecessor)) {
    if (state == State::operational && !contains(membership_.members(), from)) {
      membership_.on_foreign(now, from, out);
    }
    return drop(Drop::foreign);
  }
  if (PEAL_MUTANT(m11_forward_in_gather) && state == State::gather &&
      contains(membership_.members(), from) && arriving_.hop > r_.last_hop) {
    r_.last_hop = arriving_.hop;
    token_ = arriving_;
    send_token(now, out);
    return;
  }
  if (state != State::operational) return drop(Drop::wrong_state);
  if (!from_predecessor) return drop(Drop::bad_sender);
  if (arriving_.hop <= r_.last_hop && !PEAL_MUTANT(token_duplicate_accepted)) {
    if (PEAL_MUTANT(duplicate_rearms_loss)) membership_.note_life(now);
    // The predecessor retransmits only without a sign of life: the token does not rest, it got
    // lost.
    if (arriving_.hop == r_.last_hop) membership_.tracked().resend_overdue(now, out);
    return drop(Drop::duplicate);
  }
  // No member can have ordered beyond a token that has not been here yet.
  if (arriving_.seq < packets_.high()) return drop(Drop::bad_value);
  token_ = arriving_;
  holding_ = pacing_ = false;
  visit(now, out);
}

void RingEngine::visit(Instant now, Effects& out) {
  if (!alone()) {
    membership_.note_life(now);
    membership_.tracked().arrived();
    timers_.cancel(kHoldCancelTimer);
    timers_.cancel(kHoldTimer);
    timers_.cancel(kPaceTimer);
  }
  prefer_ = Lane::data;
  r_.last_hop = token_.hop;
  for (std::size_t i = kHistory - 1; i > 0; --i) r_.seq_history[i] = r_.seq_history[i - 1];
  r_.seq_history[0] = token_.seq;
  ++counts_.visits;
  accelerated_.on_rotation();
  detect_stall(now);
  note_list(now, out);
  work_on_token(now, out);
}

// Retransmits, orders, updates the token, passes it on, delivers. Runs once per visit, and again on
// a held token that is needed now.
void RingEngine::work_on_token(Instant now, Effects& out) {
  const std::uint32_t answered = answer_requests(out);
  const std::uint32_t others = minus(token_.fcc, r_.fcc_before);
  const std::uint32_t limit = allowance(others, answered);
  const Seq first = token_.seq + 1;
  const std::uint32_t sent = order_units(limit, out);
  const std::uint32_t after = std::min(sent, accelerated_.after_token(sent));
  for (Seq seq = first; seq < first + (sent - after); ++seq) send_own(seq, false, out);
  update_token(now, others, answered, sent, limit);
  const Seq aru_sent = token_.aru;
  pass_on(now, out);
  for (Seq seq = first + (sent - after); seq < first + sent; ++seq) send_own(seq, true, out);
  accelerated_.on_sent(sent - after, after);
  settle(aru_sent, out);
}

// ---- new units ----

std::uint32_t RingEngine::allowance(std::uint32_t others, std::uint32_t answered) {
  const auto n = static_cast<std::uint32_t>(membership_.members().size());
  global_window_ = membership_.index() == 0 ? window_.value()
                   : token_.window != 0     ? token_.window
                                            : 16 * n;
  const std::uint32_t bound = std::max(1U, max_gap_ / (request_lag_ + 3));
  global_window_ = std::min(global_window_, std::max(bound, options_.global_window));
  personal_window_ = options_.personal_window;
  if (personal_window_ == 0) {
    // Share by demand: a lone sender gets the whole window, equal senders get equal parts.
    const std::uint64_t mine = host_.backlog_units();
    const std::uint64_t all =
        std::max<std::uint64_t>(std::uint64_t{minus(token_.backlog, r_.backlog_before)} + mine, 1);
    const std::uint64_t share = std::uint64_t{global_window_} * mine / all;
    personal_window_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        share, std::max(1U, global_window_ / n), std::max(1U, global_window_)));
  }
  std::uint64_t limit =
      std::min<std::uint64_t>(personal_window_, minus(minus(global_window_, others), answered));
  const Seq room_end = r_.safe_line + max_gap_;
  if (!PEAL_MUTANT(max_gap_ignored)) {
    limit = std::min<std::uint64_t>(limit, room_end > token_.seq ? room_end - token_.seq : 0);
  }
  limit =
      std::min<std::uint64_t>(limit, packets_.discarded() + packets_.capacity() > token_.seq
                                         ? packets_.discarded() + packets_.capacity() - token_.seq
                                         : 0);
  const std::uint32_t room = host_.receive_room_units();
  if (alone()) return static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, room));
  const std::uint32_t credit =
      token_.credit_index == kNoIndex || token_.credit_index == membership_.index()
          ? room
          : std::min(token_.credit, room);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, credit));
}

std::uint32_t RingEngine::order_units(std::uint32_t limit, Effects& out) {
  std::uint32_t sent = 0;
  Unit unit;
  while (sent < limit && host_.next_unit(unit_bytes_max(), unit)) {
    PEAL_ASSERT(unit.bytes.size() <= unit_bytes_max());
    ++token_.seq;
    wire::Data data;
    data.view = membership_.view();
    data.seq = token_.seq;
    data.hop = token_.hop;
    data.origin = membership_.self();
    data.service = is_safe(unit.service) ? Service::safe : Service::agreed;
    packets_.put(data, std::move(unit.bytes));
    out.originate(data.view, data.seq);
    ++sent;
    ++counts_.originated;
  }
  return sent;
}

void RingEngine::send_own(Seq seq, bool post, Effects& out) {
  Packet& packet = packets_.at(seq);
  packet.data.post = post;
  BufferRef bytes = packet.unit;
  bytes.grow_front(static_cast<std::uint32_t>(wire::kDataHeaderBytes));
  wire::encode_data_in_place(membership_.frames().header(FrameKind::data), packet.data,
                             ByteSpan{bytes.data(), bytes.size()});
  ++counts_.sent;
  if (!alone()) out.multicast(Lane::data, bytes);
}

// ---- the token's fields ----

void RingEngine::update_token(Instant now, std::uint32_t others, std::uint32_t answered,
                              std::uint32_t sent, std::uint32_t limit) {
  const std::uint16_t me = membership_.index();
  const Seq aru = packets_.contiguous();
  const bool may_raise =
      token_.aru_index == me || token_.aru_index == kNoIndex || PEAL_MUTANT(aru_raised_by_anyone);
  const bool must_lower = aru < token_.aru && !PEAL_MUTANT(aru_never_lowered);
  if (must_lower || may_raise) {
    token_.aru = PEAL_MUTANT(aru_never_lowered) ? token_.seq : std::min(aru, token_.seq);
    token_.aru_index = token_.aru == token_.seq ? kNoIndex : me;
  }
  const std::uint64_t rotation_packets = std::uint64_t{others} + answered + sent;
  token_.fcc = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(rotation_packets, std::numeric_limits<std::uint32_t>::max() / 2));
  r_.fcc_before = answered + sent;

  const std::uint32_t first_requests = add_requests();
  token_.losses = minus(token_.losses, r_.losses_before) + first_requests;
  r_.losses_before = first_requests;
  const std::uint32_t waiting = host_.backlog_units();
  const std::uint32_t limited = sent == limit && waiting > 0 ? 1 : 0;
  token_.limited = minus(token_.limited, r_.limited_before) + limited;
  r_.limited_before = limited;
  const std::uint32_t backlog = std::min(waiting + sent, 1U << 20);
  token_.backlog = std::min(minus(token_.backlog, r_.backlog_before), 1U << 28) + backlog;
  r_.backlog_before = backlog;

  const std::uint32_t room = host_.receive_room_units();
  if (token_.credit_index == kNoIndex || token_.credit_index == me || room < token_.credit) {
    token_.credit = room;
    token_.credit_index = me;
  }
  r_.last_credit = token_.credit;
  r_.last_credit_index = token_.credit_index;
  if (me == 0) {
    window_.on_rotation(now, rotation_packets, token_.losses, token_.limited > 0);
    token_.window = window_.value();
  }
  r_.quiet = token_.fcc == 0 && token_.aru == token_.seq && token_.sections.empty();
}

// A member that receives tokens but no data blocks all others. If nothing advances because of it
// for many rotations, the view excludes it. It never excludes itself. A member that misses the same
// packet does not blame it, but looks for a member that has the packet and cannot send it.
void RingEngine::detect_stall(Instant now) {
  const bool blocked = token_.aru == r_.stalled_aru && token_.aru_index == r_.stalled_index &&
                       token_.aru_index != kNoIndex && token_.aru_index != membership_.index();
  r_.stalled_aru = token_.aru;
  r_.stalled_index = token_.aru < token_.seq ? token_.aru_index : kNoIndex;
  if (!blocked) {
    r_.stall_rounds = 0;
    r_.stall_since = now;
    return;
  }
  if (++r_.stall_rounds < kStallRounds || now - r_.stall_since < options_.stall) return;
  if (token_.aru_index >= membership_.members().size() || membership_.is_trying()) return;
  const MemberSet& members = membership_.members();
  const MemberId blocker = members[token_.aru_index];
  if (packets_.received(token_.aru + 1) || PEAL_MUTANT(stall_without_trial)) {
    ++counts_.stalls;
    PEAL_PROBE("ring.stall_excludes");
    membership_.suspect(now, blocker, true);
    return;
  }
  const MemberId& other = members[(membership_.index() + 1U + r_.suspects++) % members.size()];
  if (other != blocker) membership_.suspect(now, other, false);
}

// ---- passing the token on ----

bool RingEngine::should_hold() const {
  if (membership_.index() != 0 || alone()) return false;
  return r_.idle_rounds >= options_.idle_rounds;
}

void RingEngine::pass_on(Instant now, Effects& out) {
  if (alone()) {
    ++token_.hop;
    return;
  }
  const bool blocked = token_.credit == 0 && token_.credit_index != kNoIndex;
  // Nobody asks for what all are known to have.
  const bool idle = token_.fcc == 0 && token_.aru == token_.seq && r_.safe_line == token_.seq &&
                    (!can_originate() || blocked) && !list_moves_;
  r_.idle_rounds = idle ? r_.idle_rounds + 1 : 0;
  if (should_hold()) return rest(now);
  r_.rests = 0;
  const Duration pace = pace_of_requests();
  if (pace > Duration{}) {
    PEAL_PROBE("ring.requests_paced");
    pacing_ = true;
    timers_.arm(kPaceTimer, now + pace);
    return;
  }
  send_token(now, out);
}

void RingEngine::rest(Instant now) {
  // A slow rotation means that the token got lost on its way, which has used up the time of a long
  // rest.
  if (now - r_.sent_at > options_.token_retransmit) r_.rests = 0;
  holding_ = true;
  ++counts_.held;
  window_.spoil();
  const Duration grown = options_.hold * (std::int64_t{1} << std::min(r_.rests++, 10U));
  timers_.arm(kHoldTimer, now + std::min(grown, rest_max(options_)));
}

void RingEngine::send_token(Instant now, Effects& out) {
  const bool recovering = membership_.state() == State::recovery;
  const MemberSet& members = recovering ? repair_.agreement.members : membership_.members();
  const std::uint16_t index = recovering ? repair_.agreement.index : membership_.index();
  ++token_.hop;
  // Without a buffer the token is lost: the predecessor retransmits it, or the view ends.
  const BufferRef packet = membership_.frames().build(FrameKind::token, token_, wire::encode_token);
  if (!packet) return;
  r_.sent_at = now;
  r_.sent_hop = token_.hop;
  r_.token_seq = token_.seq;
  // A token that rests at the representative shows no sign of life meanwhile.
  const bool may_rest = !recovering && index != 0 && r_.idle_rounds >= options_.idle_rounds;
  membership_.send_tracked(now, members[(index + 1U) % members.size()], packet, out,
                           may_rest ? rest_max(options_) : Duration{});
}

void RingEngine::release_held(Instant now, Effects& out) {
  if (!holding_) return;
  holding_ = false;
  timers_.cancel(kHoldTimer);
  r_.idle_rounds = r_.rests = 0;
  work_on_token(now, out);
}

void RingEngine::cancel_hold(Instant now, Effects& out) {
  // A member with units to order wants the token, unless all wait for another member's application.
  // The member whose application has just read its messages wants the token too.
  const bool mine_to_lift = r_.last_credit_index == membership_.index();
  const bool useful =
      r_.last_credit == 0 ? mine_to_lift && host_.receive_room_units() > 0 : can_originate();
  const bool wanted =
      membership_.state() == State::operational && !alone() && r_.quiet && (useful || list_wanted_);
  if (!wanted || membership_.index() == 0) return;
  const wire::HoldCancel cancel{membership_.view()};
  const BufferRef packet =
      membership_.frames().build(FrameKind::hold_cancel, cancel, wire::encode_hold_cancel);
  if (!packet) return;
  timers_.arm(kHoldCancelTimer, now + options_.token_retransmit / 2);
  membership_.tracked().end_extra(now);
  out.send(membership_.members().front().node, Lane::token, packet);
}

// ---- delivery ----

void RingEngine::settle(Seq aru_sent, Effects& out) {
  Seq line = std::min(aru_sent, r_.aru_sent_before);
  if (PEAL_MUTANT(m4_safe_from_one_rotation)) line = aru_sent;
  if (line < r_.safe_line) {
    ++counts_.safe_line_fell;
    line = r_.safe_line;
  }
  r_.safe_line = line;
  r_.aru_sent_before = aru_sent;
  deliver_ready(out);
  Seq discard = std::min(r_.safe_line, r_.delivered);
  if (PEAL_MUTANT(discard_too_early)) discard = r_.delivered;
  if (discard > packets_.discarded()) packets_.discard_to(discard);
}

void RingEngine::deliver_ready(Effects& out) {
  while (r_.delivered < packets_.contiguous() ||
         (PEAL_MUTANT(deliver_out_of_order) && r_.delivered < packets_.high())) {
    const Seq next = r_.delivered + 1;
    if (!packets_.has(next)) {
      r_.delivered = next;  // only with the mutant
      continue;
    }
    const Packet& packet = packets_.at(next);
    // A safe packet that is not stable blocks all later packets, agreed ones too: there is one
    // order.
    if (is_safe(packet.data.service) && next > r_.safe_line && !PEAL_MUTANT(deliver_safe_early))
      return;
    r_.delivered = next;
    packets_.prefetch(next + 1);
    deliver(packet, false, out);
  }
}

void RingEngine::deliver(const Packet& packet, bool transitional, Effects& out) {
  Delivery delivery;
  delivery.view = membership_.view();
  delivery.transitional = transitional;
  delivery.seq = packet.data.seq;
  delivery.origin = packet.data.origin;
  delivery.service = packet.data.service;
  delivery.unit = packet.unit;
  ++counts_.delivered;
  out.deliver(delivery);
}

// ---- a view of one ----

void RingEngine::visit_alone(Instant now, Effects& out) {
  token_.view = membership_.view();
  const std::uint64_t ordered = counts_.originated;
  visit(now, out);
  const bool moves = counts_.originated > ordered || r_.safe_line < token_.seq;
  if (moves) {
    timers_.arm(kVisitTimer, now);
  } else if (can_originate()) {
    timers_.arm(kVisitTimer, now + options_.hold);  // no buffer or no space: try again later
  }
}

}  // namespace peal::order::ring
