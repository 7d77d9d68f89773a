// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/reception.h"

#include <algorithm>
#include <bit>

#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// The unit is Options::suspect. If a node is merely silent, the link to it counts as broken only
/// after this time, because the node may have paused for a moment.
constexpr std::int64_t kFailsFor = 3;
/// The unit is Options::suspect. A lane fails after this time without a packet. On a working link,
/// each lane carries several packets in that time.
constexpr std::int64_t kLaneSilence = 8;
/// The data lane counts as silent only once at least this many link checks in a row are lost.
constexpr std::int64_t kChecksOfSilence = 4;
/// The unit is Options::suspect. A link works again once it has been good for this time. The time
/// doubles with each relapse.
constexpr std::int64_t kGoodFor = 1;
constexpr unsigned kRelapsesMax = 5;
/// The unit is Options::suspect. A failure within this time after the link worked again is a
/// relapse.
constexpr std::int64_t kRelapseWithin = 100;

/// A link fails if it loses kBeatsLost of 64 heartbeats (20 %) or kChecksLost of 24 link checks (29
/// %). It is good again if it loses at most kBeatsGood (9 %) and kChecksGood (12 %). A working link
/// loses less than 5 %.
constexpr unsigned kBeatsLost = 13;
constexpr unsigned kBeatsGood = 6;
constexpr unsigned kChecksLost = 7;
constexpr unsigned kChecksGood = 3;

}  // namespace

void Arrivals::note(std::uint32_t number) {
  if (count_ == 0) {
    newest_ = number;
    seen_ = 1;
    count_ = 1;
  } else if (number > newest_) {
    const unsigned step = std::min<std::uint32_t>(number - newest_, silence_max_ + 1);
    seen_ = (step < 64 ? seen_ << step : 0) | 1;
    count_ = std::min(64U, count_ + step);
    newest_ = number;
  } else if (newest_ - number < 64) {
    seen_ |= std::uint64_t{1} << (newest_ - number);
  }
}

unsigned Arrivals::lost(unsigned window) const {
  const unsigned width = std::min({window, count_, 64U});
  if (width == 0) return 0;
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  return width - static_cast<unsigned>(std::popcount(seen_ & mask));
}

void Reception::begin(Instant now) {
  *this = Reception{};
  beat_at_ = data_at_ = changed_at_ = now;
}

void Reception::forgive(Instant now) {
  beats_ = Arrivals{8};
  checks_ = Arrivals{3};
  rounds_ = last_round_ = 0;
  beat_at_ = data_at_ = changed_at_ = now;
}

// Packets that wait in a stream come late, but in order. So the time since the last large check
// does not show whether large checks are lost. The number of large checks sent so far shows their
// loss. Small checks carry that number, too.
void Reception::check(std::uint32_t number, std::uint32_t rounds, bool large) {
  checks_.note(number);
  if (rounds_ == 0) last_round_ = rounds;
  rounds_ = std::max(rounds_, rounds);
  if (large) last_round_ = std::max(last_round_, rounds);
}

bool Reception::loses() {
  beats_lost_ = beats_.lost(kBeats) >= (beats_lost_ ? kBeatsGood + 1 : kBeatsLost);
  checks_lost_ = checks_.lost(kChecks) >= (checks_lost_ ? kChecksGood + 1 : kChecksLost);
  return (beats_lost_ || checks_lost_) && !PEAL_MUTANT(px_loss_not_seen);
}

void Reception::look(Instant now, bool silent, const Options& options, const LinkRhythm& rhythm) {
  const bool loses_much = loses();
  const Duration quiet = options.suspect * kLaneSilence;
  const Duration checks = options.heartbeat * (std::int64_t{rhythm.every} * (kChecksOfSilence + 1));
  const bool no_large = loses_large() && !PEAL_MUTANT(px_large_not_checked);
  lacks_data_ = no_large || now - data_at_ >= std::max(quiet, checks);
  lacks_beats_ = now - beat_at_ >= quiet;
  const bool lane_fails = lacks_data_ || lacks_beats_;
  const bool fails = silent || loses_much || lane_fails;
  if (fails != fails_) changed_at_ = now;
  fails_ = fails;
  if (works_ && fails) {
    // Heavy loss, or a failing lane, is detected only after a long time. So then the link stops
    // working at once. If the node is merely silent, it may have paused, so the link stops working
    // only after kFailsFor.
    const bool shown = loses_much || lane_fails;
    if (!shown && now - changed_at_ < options.suspect * kFailsFor) return;
    works_ = false;
    const bool relapse =
        worked_again_at_ != Instant{} && now - worked_again_at_ < options.suspect * kRelapseWithin;
    relapses_ = relapse ? std::min(relapses_ + 1, kRelapsesMax) : 0;
    PEAL_PROBE("paxos.link_fails");
  } else if (!works_ && !fails) {
    const Duration needed = options.suspect * (kGoodFor << relapses_);
    if (now - changed_at_ < needed) return;
    works_ = true;
    worked_again_at_ = now;
    PEAL_PROBE("paxos.link_works_again");
  }
}

}  // namespace peal::order::paxos
