// SPDX-License-Identifier: Apache-2.0
// The work of a member while it has the token: in a view, and during the repair of the old view.

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ring/engine.h"

namespace peal::order::ring {
namespace {

using evs::State;
using wire::FrameKind;
using wire::kNoIndex;

/// The token of a new view, before its first visit.
wire::Token first_token(const ViewId& view, std::uint64_t first) {
  wire::Token token;
  token.view = view;
  token.hop = token.seq = token.aru = first;
  return token;
}

}  // namespace

// ---- in a view ----

void RingEngine::visit(Instant now, Effects& out) {
  if (!parts_.alone()) {
    membership_.note_life(now);
    membership_.tracked().arrived();
    rest_.on_visit();
  }
  prefer_ = Lane::data;
  hops_.last = token_.hop;
  requests_.on_visit();
  ++counts_.visits;
  flow_.accelerated().on_rotation();
  stall_.on_token(now);
  list_.on_token(now, out);
  work_on_token(now, out);
}

// Retransmits packets, orders units, updates the token, passes on the token, and delivers. Runs
// once per visit, and once more if a resting token is released.
void RingEngine::work_on_token(Instant now, Effects& out) {
  PEAL_ASSERT(membership_.state() == State::operational);
  PEAL_ASSERT(token_.view == membership_.view() || PEAL_MUTANT(token_of_another_view));
  FlowControl::Visit done;
  done.answered = requests_.answer_in_view(out);
  done.limit = flow_.allowance(done.answered, view_.room());
  const Seq first = token_.seq + 1;
  done.sent = view_.order_units(done.limit, out);
  const std::uint32_t after = std::min(done.sent, flow_.accelerated().after_token(done.sent));
  const Seq post = first + (done.sent - after);
  for (Seq seq = first; seq < post; ++seq) view_.send_own(seq, false, out);
  update_aru();
  done.requested = requests_.add_in_view();
  flow_.update_token(now, done);
  const Seq aru_sent = token_.aru;
  pass_on(now, out);
  for (Seq seq = post; seq < first + done.sent; ++seq) view_.send_own(seq, true, out);
  flow_.accelerated().on_sent(done.sent - after, after);
  view_.settle(aru_sent, out);
}

void RingEngine::update_aru() {
  const std::uint16_t me = membership_.index();
  const Seq aru = view_.stored().contiguous();
  const bool may_raise =
      token_.aru_index == me || token_.aru_index == kNoIndex || PEAL_MUTANT(aru_raised_by_anyone);
  const bool must_lower = aru < token_.aru && !PEAL_MUTANT(aru_never_lowered);
  if (must_lower || may_raise) {
    token_.aru = PEAL_MUTANT(aru_never_lowered) ? token_.seq : std::min(aru, token_.seq);
    token_.aru_index = token_.aru == token_.seq ? kNoIndex : me;
  }
}

void RingEngine::pass_on(Instant now, Effects& out) {
  if (parts_.alone()) {
    ++token_.hop;
    return;
  }
  const bool quiet = token_.fcc == 0 && token_.aru == token_.seq && token_.sections.empty();
  // If safe_line() is the token's seq, all members have all packets, so there are no requests.
  const bool idle = token_.fcc == 0 && token_.aru == token_.seq &&
                    view_.safe_line() == token_.seq &&
                    (!parts_.can_originate() || flow_.is_blocked()) && !list_.moves();
  if (rest_.rests(now, quiet, idle, hops_.sent_at)) return;
  const Duration pace = requests_.pace();
  if (pace > Duration{}) return rest_.pace(now, pace);
  send_token(now, out);
}

void RingEngine::send_token(Instant now, Effects& out) {
  const bool recovering = membership_.state() == State::recovery;
  const MemberSet& members = recovering ? recovery_.agreement().members : membership_.members();
  const std::uint16_t index = recovering ? recovery_.agreement().index : membership_.index();
  ++token_.hop;
  // If no buffer is free, the token is lost: the predecessor retransmits it, or the view ends.
  const BufferRef packet = membership_.frames().build(FrameKind::token, token_, wire::encode_token);
  if (!packet) return;
  hops_.sent_at = now;
  hops_.sent = token_.hop;
  token_seq_ = token_.seq;
  const bool may_rest = !recovering && rest_.is_expected();
  membership_.send_tracked(now, members[(index + 1U) % members.size()], packet, out,
                           may_rest ? rest_max(options_) : Duration{});
}

// ---- a view with one member ----

void RingEngine::visit_alone(Instant now, Effects& out) {
  token_.view = membership_.view();
  const std::uint64_t ordered = counts_.originated;
  visit(now, out);
  const bool moves = counts_.originated > ordered || view_.safe_line() < token_.seq;
  if (moves) {
    timers_.arm(kVisitTimer, now);
  } else if (parts_.can_originate()) {
    timers_.arm(kVisitTimer, now + options_.hold);  // no buffer or no space: try again later
  }
}

// ---- recovery ----

void RingEngine::lead_recovery(Instant now, Effects& out) {
  // Called once per attempt, because an attempt must not have two tokens.
  PEAL_ASSERT(recovery_.last_hop() == first_);
  token_ = first_token(recovery_.agreement().view, first_);
  token_.hop = first_ + 1;
  visit_recovery(now, out);
}

void RingEngine::install_alone(Instant now, Effects& out) {
  PEAL_ASSERT(recovery_.active() && recovery_.done());
  install(now, out);
}

void RingEngine::visit_recovery(Instant now, Effects& out) {
  recovery_.on_visit(now);
  membership_.note_life(now);
  membership_.tracked().arrived();
  requests_.answer_in_recovery(out);
  requests_.add_in_recovery();
  if (recovery_.mark_token()) {
    install(now, out);
    hops_.last = token_.hop;
  } else if (recovery_.is_overdue(now)) {
    recovery_.on_guard(now, out);
    if (membership_.state() != State::recovery) return;
  }
  if (PEAL_MUTANT(m9_originate_on_install) && !recovery_.active()) {
    work_on_token(now, out);
    return;
  }
  send_token(now, out);
}

void RingEngine::install(Instant now, Effects& out) {
  const evs::Agreement agreement = recovery_.agreement();
  const auto announce = [&] {
    View view;
    view.id = agreement.view;
    view.members = agreement.members;
    view.primary = membership_.lists().primary_of(agreement.members);
    out.install(view);
  };
  if (PEAL_MUTANT(install_before_deliver)) announce();
  recovery_.finish_old_view(out);
  recovery_.end();
  // Zone 4, after zones 1 to 3 in recovery.cc: the new regular view.
  limits_ = decode_options(agreement.options);
  limits_.request_lag = std::min<std::uint32_t>(limits_.request_lag, Requests::kHistory - 1);
  hops_ = Hops(first_);
  token_seq_ = first_;
  view_.begin_view();
  membership_.installed(now, agreement, out);
  if (!parts_.alone()) membership_.note_life(now);
  recovery_.begin_view();
  requests_.begin_view();
  stall_.begin_view();
  flow_.begin_view();
  rest_.begin_view();
  if (!PEAL_MUTANT(install_before_deliver)) announce();
  list_.begin_view(now, out);
  if (!parts_.alone()) return;
  token_ = first_token(agreement.view, first_);
  if (parts_.can_originate()) timers_.arm(kVisitTimer, now);
}

}  // namespace peal::order::ring
