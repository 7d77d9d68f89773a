// SPDX-License-Identifier: Apache-2.0
// Normal operation: what a member does when the token is there, and with packets in between.

#include <algorithm>
#include <limits>

#include "base/digest.h"
#include "base/hooks.h"
#include "order/ring/engine.h"

namespace peal::order::ring {
namespace {

using evs::State;
using evs::Timer;
using wire::Drop;
using wire::FrameKind;
using wire::kNoIndex;

constexpr std::uint32_t kStallRounds = 50;
constexpr std::uint32_t kPaceAfterRounds = 8;
constexpr std::uint32_t kFairAnswers = 2;  // answers after which others get the turn

std::uint32_t minus(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : 0; }

}  // namespace

// ---- the token arrives ----

void RingEngine::on_token(Instant now, const MemberId& from, Effects& out) {
  // In Gather and Commit every token is dropped, whatever its view: a member that kept an old
  // token moving would keep the old view alive, and others would discard what it lacks.
  const State state = membership_.state();
  if (state == State::recovery && arriving_.view == repair_.agreement.view) {
    const MemberSet& members = repair_.agreement.members;
    const std::size_t before = (repair_.agreement.index + members.size() - 1) % members.size();
    if (from != members[before] && !PEAL_MUTANT(token_wrong_sender)) return drop(Drop::bad_sender);
    if (arriving_.hop <= repair_.last_hop && !PEAL_MUTANT(token_duplicate_accepted)) {
      return drop(Drop::duplicate);
    }
    token_ = arriving_;
    visit_recovery(now, out);
    return;
  }
  if (arriving_.view != membership_.view()) {
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
  if (from != membership_.predecessor() && !PEAL_MUTANT(token_wrong_sender)) {
    return drop(Drop::bad_sender);
  }
  if (arriving_.hop <= r_.last_hop && !PEAL_MUTANT(token_duplicate_accepted)) {
    return drop(Drop::duplicate);
  }
  // Nobody can have ordered beyond a token that has not been here yet.
  if (arriving_.seq < packets_.high()) return drop(Drop::bad_value);
  token_ = arriving_;
  holding_ = pacing_ = false;
  visit(now, out);
}

void RingEngine::visit(Instant now, Effects& out) {
  if (!alone()) {
    membership_.arm_token_loss(now);
    timers_.cancel(Timer::token_retransmit);
    timers_.cancel(Timer::hold_cancel);
    timers_.cancel(Timer::hold);
    timers_.cancel(Timer::pace);
  }
  prefer_ = Lane::data;
  r_.last_hop = token_.hop;
  for (std::size_t i = kHistory - 1; i > 0; --i) r_.seq_history[i] = r_.seq_history[i - 1];
  r_.seq_history[0] = token_.seq;
  ++r_.rotations;
  ++counts_.visits;
  if (r_.rotations > 1) accelerated_.on_rotation(now - r_.last_visit);
  r_.last_visit = now;
  detect_stall(now, out);
  if (membership_.state() != State::operational) return;  // the stall broke the view
  work_on_token(now, out);
}

// Retransmit, order, update, pass on, deliver. Runs once per visit, and again on a token that was
// held and is needed now.
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

// ---- retransmissions ----

wire::RequestSection* RingEngine::section_of(const ViewId& view) {
  for (wire::RequestSection& section : token_.sections) {
    if (section.view == view) return &section;
  }
  return nullptr;
}

std::uint32_t RingEngine::answer_requests(Effects& out) {
  // Requests tagged with another view only mean something in recovery, and that is over: the
  // first to install saw every member complete.
  for (std::size_t i = token_.sections.size(); i > 0; --i) {
    if (token_.sections[i - 1].view != membership_.view()) token_.sections.erase_at(i - 1);
  }
  wire::RequestSection* section = section_of(membership_.view());
  if (section == nullptr) return 0;
  std::uint32_t answered = 0;
  for (wire::RequestRange& range : section->ranges) {
    for (std::uint64_t bits = range.bitmap; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<unsigned>(__builtin_ctzll(bits));
      const Seq seq = range.first + bit;
      const bool settled = seq <= r_.safe_line;  // everyone has it
      bool done = settled;
      if (PEAL_MUTANT(rtr_never_answered)) continue;
      if (!settled && packets_.has(seq) && answered < options_.retransmit_max &&
          may_answer(packets_.at(seq))) {
        retransmit(packets_.at(seq), out);
        ++answered;
        done = true;
      }
      if (done) range.bitmap &= ~(std::uint64_t{1} << bit);
    }
  }
  if (PEAL_MUTANT(rtr_last_ignored) && !section->ranges.empty()) section->ranges.back().bitmap = 0;
  return answered;
}

// The first holder on the ring normally answers. If its link to the requester is dead it would
// answer for ever and nobody else would get the turn; so the turn goes round.
bool RingEngine::may_answer(const Packet& packet) const {
  if (packet.answers < kFairAnswers) return true;
  const bool recovering = membership_.state() == State::recovery;
  const std::size_t n =
      recovering ? repair_.agreement.members.size() : membership_.members().size();
  const std::uint16_t index = recovering ? repair_.agreement.index : membership_.index();
  return (token_.hop / n + index) % n == 0;
}

void RingEngine::retransmit(Packet& packet, Effects& out) {
  BufferRef copy = pool_.take(static_cast<std::uint32_t>(wire::kDataHeaderBytes), packet.unit.size());
  if (!copy) {
    ++counts_.no_buffer;
    return;
  }
  // A copy: the stored packet carries another transmitter in its header, and may be on its way.
  std::copy_n(packet.unit.data(), packet.unit.size(), copy.data());
  copy.grow_front(static_cast<std::uint32_t>(wire::kDataHeaderBytes));
  wire::Data data = packet.data;
  data.retransmission = true;
  wire::encode_data_in_place(membership_.header(FrameKind::data), data,
                             ByteSpan{copy.data(), copy.size()});
  ++packet.answers;
  ++counts_.retransmitted;
  if (packet.data.origin == membership_.self()) accelerated_.on_retransmitted(packet.data.post);
  out.multicast(Lane::data, copy);
}

// ---- new units ----

std::uint32_t RingEngine::allowance(std::uint32_t others, std::uint32_t answered) {
  if (token_.hop <= r_.no_send_before && !alone() && !PEAL_MUTANT(m9_originate_on_install)) return 0;
  const auto n = static_cast<std::uint32_t>(membership_.members().size());
  global_window_ = membership_.index() == 0 ? window_.value()
                   : token_.window != 0     ? token_.window
                                            : 16 * n;
  const std::uint32_t bound = std::max(1U, max_gap_ / (request_lag_ + 3));
  global_window_ = std::min(global_window_, std::max(bound, options_.global_window));
  personal_window_ = options_.personal_window;
  if (personal_window_ == 0) {
    // A share by demand: a lone sender gets the whole window, equal senders equal parts.
    const std::uint64_t mine = host_.backlog_units();
    const std::uint64_t all = std::max<std::uint64_t>(
        std::uint64_t{minus(token_.backlog, r_.backlog_before)} + mine, 1);
    const std::uint64_t share = std::uint64_t{global_window_} * mine / all;
    personal_window_ = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(share, std::max(1U, global_window_ / n), std::max(1U, global_window_)));
  }
  std::uint64_t limit = std::min<std::uint64_t>(personal_window_,
                                                minus(minus(global_window_, others), answered));
  const Seq room_end = r_.safe_line + max_gap_;
  if (!PEAL_MUTANT(max_gap_ignored)) {
    limit = std::min<std::uint64_t>(limit, room_end > token_.seq ? room_end - token_.seq : 0);
  }
  limit = std::min<std::uint64_t>(
      limit, packets_.discarded() + packets_.capacity() > token_.seq
                 ? packets_.discarded() + packets_.capacity() - token_.seq
                 : 0);
  const std::uint32_t room = host_.receive_room_units();
  if (alone()) return static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, room));
  const std::uint32_t credit = token_.credit_index == kNoIndex || token_.credit_index == membership_.index()
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
  wire::encode_data_in_place(membership_.header(FrameKind::data), packet.data,
                             ByteSpan{bytes.data(), bytes.size()});
  ++counts_.sent;
  if (!alone()) out.multicast(Lane::data, bytes);
}

// ---- the token's fields ----

void RingEngine::update_token(Instant now, std::uint32_t others, std::uint32_t answered,
                              std::uint32_t sent, std::uint32_t limit) {
  const std::uint16_t me = membership_.index();
  const Seq aru = packets_.contiguous();
  const bool may_raise = token_.aru_index == me || token_.aru_index == kNoIndex ||
                         PEAL_MUTANT(aru_raised_by_anyone);
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

/// Requests what should have arrived by now; returns how many are asked for the first time.
std::uint32_t RingEngine::add_requests() {
  const std::size_t lag = std::min<std::size_t>(request_lag_, kHistory - 1);
  const Seq horizon = r_.seq_history[lag];
  Seq seq = packets_.contiguous() + 1;
  wire::RequestSection* section = section_of(membership_.view());
  if (section == nullptr) {
    if (seq > horizon || token_.sections.full()) return 0;
    token_.sections.push_back({});
    section = &token_.sections.back();
    section->view = membership_.view();
  }
  // What others still want and what I want, in one pass over both, ascending.
  const wire::RequestSection before = *section;
  section->ranges.clear();
  std::uint32_t added = 0, fresh = 0;
  std::size_t next = 0;
  std::uint64_t pending = before.ranges.empty() ? 0 : before.ranges[0].bitmap;
  const auto theirs = [&]() -> Seq {
    while (next < before.ranges.size() && pending == 0) {
      if (++next < before.ranges.size()) pending = before.ranges[next].bitmap;
    }
    if (next >= before.ranges.size()) return std::numeric_limits<Seq>::max();
    return before.ranges[next].first + static_cast<unsigned>(__builtin_ctzll(pending));
  };
  const auto mine = [&]() -> Seq {
    while (seq <= horizon && packets_.has(seq)) ++seq;
    return seq > horizon || added >= options_.request_ranges_max * 64
               ? std::numeric_limits<Seq>::max()
               : seq;
  };
  const auto push = [&](Seq wanted) {
    auto& ranges = section->ranges;
    if (!ranges.empty() && wanted - ranges.back().first < 64) {
      ranges.back().bitmap |= std::uint64_t{1} << (wanted - ranges.back().first);
      return true;
    }
    if (ranges.full()) return false;  // the rest waits for a rotation
    ranges.push_back({wanted, 1});
    return true;
  };
  for (Seq a = theirs(), b = mine(); a != b || a != std::numeric_limits<Seq>::max();) {
    const Seq wanted = std::min(a, b);
    if (!push(wanted)) break;
    if (b == wanted) {
      ++added;
      ++counts_.requested;
      if (wanted > r_.requested_high) {
        r_.requested_high = wanted;
        ++fresh;
      }
      ++seq;
      b = mine();
    }
    if (a == wanted) {
      pending &= pending - 1;
      a = theirs();
    }
  }
  if (section->ranges.empty()) {
    token_.sections.erase_at(static_cast<std::size_t>(section - token_.sections.begin()));
  }
  return fresh;
}

// A member that receives tokens but no data blocks everyone: after many rotations in which nothing
// moved because of it, it is left out. It never leaves itself out.
void RingEngine::detect_stall(Instant now, Effects& out) {
  const bool blocked = token_.aru < token_.seq && token_.aru == r_.stalled_aru &&
                       token_.aru_index == r_.stalled_index && token_.aru_index != kNoIndex &&
                       token_.aru_index != membership_.index();
  r_.stalled_aru = token_.aru;
  r_.stalled_index = token_.aru < token_.seq ? token_.aru_index : kNoIndex;
  if (!blocked) {
    r_.stall_rounds = 0;
    r_.stall_since = now;
    return;
  }
  if (++r_.stall_rounds < kStallRounds || now - r_.stall_since < options_.stall) return;
  if (token_.aru_index >= membership_.members().size()) return;
  const MemberId blocker = membership_.members()[token_.aru_index];
  ++counts_.stalls;
  PEAL_PROBE("ring.stall_excludes");
  out.report({EventCode::stall_excluded, membership_.view(), blocker, token_.aru, 0});
  membership_.accuse(now, blocker, GatherReason::stall, out);
}

// ---- passing the token on ----

bool RingEngine::should_hold() const {
  if (membership_.index() != 0 || alone()) return false;
  return r_.idle_rounds >= options_.idle_rounds;
}

/// A token whose requests nobody could answer for many rotations slows down: more speed would only
/// add load.
Duration RingEngine::pace_of_requests() {
  const wire::RequestSection* section = section_of(membership_.view());
  if (section == nullptr || membership_.index() != 0) {
    r_.same_requests = 0;
    return {};
  }
  Digest digest;
  for (const wire::RequestRange& range : section->ranges) {
    digest.add(range.first);
    digest.add(range.bitmap);
  }
  digest.add(token_.seq);
  const bool same = digest.value() == r_.request_digest;
  r_.request_digest = digest.value();
  r_.same_requests = same ? std::min(r_.same_requests + 1, 64U) : 0;
  if (r_.same_requests < kPaceAfterRounds) return {};
  const unsigned doublings = std::min(r_.same_requests - kPaceAfterRounds, 10U);
  return std::min(milliseconds(1) * (std::int64_t{1} << doublings), options_.hold);
}

void RingEngine::pass_on(Instant now, Effects& out) {
  if (alone()) {
    ++token_.hop;
    return;
  }
  const bool blocked = token_.credit == 0 && token_.credit_index != kNoIndex;
  const bool idle = token_.fcc == 0 && token_.aru == token_.seq && token_.sections.empty() &&
                    r_.safe_line == token_.seq && (!can_originate() || blocked) &&
                    token_.hop > r_.no_send_before;
  r_.idle_rounds = idle ? r_.idle_rounds + 1 : 0;
  if (should_hold()) {
    holding_ = true;
    ++counts_.held;
    window_.spoil();
    timers_.arm(Timer::hold, now + options_.hold);
    return;
  }
  const Duration pace = pace_of_requests();
  if (pace > Duration{}) {
    PEAL_PROBE("ring.requests_paced");
    pacing_ = true;
    timers_.arm(Timer::pace, now + pace);
    return;
  }
  send_token(now, out);
}

void RingEngine::send_token(Instant now, Effects& out) {
  const bool recovering = membership_.state() == State::recovery;
  const MemberSet& members = recovering ? repair_.agreement.members : membership_.members();
  const std::uint16_t index = recovering ? repair_.agreement.index : membership_.index();
  ++token_.hop;
  BufferRef packet = membership_.take_control_buffer();
  if (!packet) {
    ++counts_.no_buffer;  // as good as lost: the predecessor sends it again, or the view ends
    return;
  }
  const std::size_t bytes = wire::encode_token(membership_.header(FrameKind::token), token_,
                                               ByteSpan{packet.data(), packet.size()});
  PEAL_ASSERT(bytes > 0);
  packet.truncate(static_cast<std::uint32_t>(bytes));
  r_.sent_hop = token_.hop;
  r_.token_seq = token_.seq;
  membership_.send_tracked(now, members[(index + 1U) % members.size()], packet, out);
}

void RingEngine::release_held(Instant now, Effects& out) {
  if (!holding_) return;
  holding_ = false;
  timers_.cancel(Timer::hold);
  r_.idle_rounds = 0;
  work_on_token(now, out);
}

void RingEngine::cancel_hold(Instant now, Effects& out) {
  // Who has something to order wants the token, unless another member's application is what
  // everybody waits for; and so does the member whose application has taken its messages.
  const bool mine_to_lift = r_.last_credit_index == membership_.index();
  const bool useful = r_.last_credit == 0 ? mine_to_lift && host_.receive_room_units() > 0
                                          : can_originate();
  const bool wanted =
      membership_.state() == State::operational && !alone() && r_.quiet && useful;
  if (!wanted || membership_.index() == 0) return;
  BufferRef packet = membership_.take_control_buffer();
  if (!packet) return;
  const std::size_t bytes = wire::encode_hold_cancel(membership_.header(FrameKind::hold_cancel),
                                                     wire::HoldCancel{membership_.view()},
                                                     ByteSpan{packet.data(), packet.size()});
  packet.truncate(static_cast<std::uint32_t>(bytes));
  timers_.arm(Timer::hold_cancel, now + options_.token_retransmit / 2);
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
      r_.delivered = next;  // only the mutant gets here
      continue;
    }
    const Packet& packet = packets_.at(next);
    // A safe packet that is not stable blocks what follows, agreed or not: the order is one.
    if (is_safe(packet.data.service) && next > r_.safe_line && !PEAL_MUTANT(deliver_safe_early)) return;
    r_.delivered = next;
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

// ---- data ----

void RingEngine::on_data(Instant now, const MemberId& from, const BufferRef& packet, Effects& out) {
  wire::Data data;
  const Drop reason = wire::decode_data(packet.view(), data);
  if (reason != Drop::none) return drop(reason);
  const State state = membership_.state();
  if (data.view != membership_.view() || !contains(membership_.members(), data.origin)) {
    if (state == State::recovery && data.view == repair_.agreement.view) ++counts_.data_in_recovery;
    // Foreign is whose transmitter is no member, not what names another view: retransmissions of
    // the old view by slower members are still on their way after an installation.
    if (!contains(membership_.members(), from)) membership_.on_foreign(now, from, out);
    return drop(Drop::foreign);
  }
  ++counts_.data_received;
  switch (state) {
    case State::operational: {
      const bool fresh = store(data, packet);
      const bool from_predecessor = !alone() && from == membership_.predecessor();
      if (from_predecessor && !data.retransmission && data.hop > r_.last_hop &&
          (data.post || options_.priority == PriorityMethod::aggressive)) {
        prefer_ = Lane::token;
      }
      // Somebody downstream has visited: the token that I sent is alive.
      if (!data.retransmission && data.hop >= r_.sent_hop && r_.sent_hop > 0 &&
          timers_.armed(Timer::token_retransmit)) {
        timers_.arm(Timer::token_retransmit, now + options_.token_retransmit);
      }
      if (fresh) deliver_ready(out);
      return;
    }
    case State::gather: store(data, packet); return;  // late packets are welcome, not delivered
    case State::commit:
      // Frozen: what I hold is on the commit token.
      if (PEAL_MUTANT(m5_accept_in_commit)) {
        store(data, packet);
        return;
      }
      return drop(Drop::wrong_state);
    case State::recovery:
      if (!in_union(data.seq) && !PEAL_MUTANT(m6_accept_outside_union)) return drop(Drop::wrong_state);
      if (store(data, packet)) recovery_check();
      return;
  }
}

bool RingEngine::store(const wire::Data& data, const BufferRef& packet) {
  if (packets_.received(data.seq)) {
    ++counts_.duplicates;
    drop(Drop::duplicate);
    return false;
  }
  if (!packets_.in_window(data.seq) || packet.size() > packet_bytes_max_) {
    drop(Drop::out_of_window);
    return false;
  }
  const auto header = static_cast<std::uint32_t>(wire::kDataHeaderBytes);
  packets_.put(data, packet.slice(header, packet.size() - header));
  return true;
}

// ---- a view of one ----

void RingEngine::visit_alone(Instant now, Effects& out) {
  token_.view = membership_.view();
  visit(now, out);
  const bool progress = counts_.visits > 0 && can_originate() && host_.receive_room_units() > 0;
  if (progress || r_.safe_line < token_.seq) timers_.arm(Timer::visit, now);
}

}  // namespace peal::order::ring
