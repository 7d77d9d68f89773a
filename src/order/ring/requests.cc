// SPDX-License-Identifier: Apache-2.0
// Requests and retransmissions: which positions a member requests, which member answers, and the
// delay of the token when no member can answer.

#include "order/ring/requests.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/digest.h"
#include "base/hooks.h"

namespace peal::order::ring {
namespace {

using wire::FrameKind;

constexpr std::uint32_t kPaceAfterRounds = 8;
constexpr std::uint32_t kSameRequestsMax = 64;
// After this number of retransmissions of one packet, members take turns to retransmit it.
constexpr std::uint32_t kFairAnswers = 2;
constexpr Seq kNone = std::numeric_limits<Seq>::max();

/// Iterates over the positions of a section, ascending.
class Positions {
 public:
  explicit Positions(const wire::RequestSection& section) : section_(section) { load(); }
  /// The current position, or kNone.
  Seq seq() const {
    return range_ < section_.ranges.size()
               ? section_.ranges[range_].first + static_cast<unsigned>(__builtin_ctzll(bits_))
               : kNone;
  }
  void advance() {
    bits_ &= bits_ - 1;
    while (bits_ == 0 && range_ < section_.ranges.size()) {
      ++range_;
      load();
    }
  }

 private:
  void load() {
    while (range_ < section_.ranges.size()) {
      bits_ = section_.ranges[range_].bitmap;
      if (bits_ != 0) return;
      ++range_;
    }
  }
  const wire::RequestSection& section_;
  std::size_t range_ = 0;
  std::uint64_t bits_ = 0;
};

/// Adds `seq`, which must be above all positions in the section. False if the section is full.
bool push(wire::RequestSection& section, Seq seq) {
  auto& ranges = section.ranges;
  if (!ranges.empty() && seq - ranges.back().first < 64) {
    ranges.back().bitmap |= std::uint64_t{1} << (seq - ranges.back().first);
    return true;
  }
  if (ranges.full()) return false;
  ranges.push_back({seq, 1});
  return true;
}

}  // namespace

void Requests::on_visit() {
  for (std::size_t i = kHistory - 1; i > 0; --i) seq_history_[i] = seq_history_[i - 1];
  seq_history_[0] = p_.token.seq;
}

void Requests::begin_view() {
  seq_history_.fill(first_);
  requested_high_ = first_;
  request_digest_ = 0;
  same_requests_ = 0;
}

wire::RequestSection* Requests::section_of(const ViewId& view) {
  for (wire::RequestSection& section : p_.token.sections) {
    if (section.view == view) return &section;
  }
  return nullptr;
}

/// Retransmits the requested packets that this member has, and removes their positions from the
/// section. Also removes each position for which `settled(seq)` is true, because no retransmission
/// of it is needed or possible.
template <class Settled>
std::uint32_t Requests::answer(wire::RequestSection& section, Settled settled, Effects& out) {
  std::uint32_t answered = 0;
  if (PEAL_MUTANT(rtr_last_ignored) && !section.ranges.empty()) section.ranges.back().bitmap = 0;
  for (wire::RequestRange& range : section.ranges) {
    for (std::uint64_t bits = range.bitmap; bits != 0; bits &= bits - 1) {
      if (PEAL_MUTANT(rtr_never_answered)) break;
      const auto bit = static_cast<unsigned>(__builtin_ctzll(bits));
      const Seq seq = range.first + bit;
      bool done = settled(seq);
      if (!done && view_.stored().has(seq) && answered < p_.options.retransmit_max &&
          may_answer(view_.stored().at(seq))) {
        retransmit(view_.stored().at(seq), out);
        ++answered;
        done = true;
      }
      if (done) range.bitmap &= ~(std::uint64_t{1} << bit);
    }
  }
  return answered;
}

std::uint32_t Requests::answer_in_view(Effects& out) {
  // Requests for packets of another view are needed only in recovery. Recovery is over, because the
  // first member that installed this view knew that no member missed a packet. So erase such
  // requests.
  for (std::size_t i = p_.token.sections.size(); i > 0; --i) {
    if (p_.token.sections[i - 1].view != p_.membership.view()) p_.token.sections.erase_at(i - 1);
  }
  wire::RequestSection* section = section_of(p_.membership.view());
  if (section == nullptr) return 0;
  return answer(
      *section, [this](Seq seq) { return seq <= view_.safe_line(); }, out);
}

void Requests::answer_in_recovery(Effects& out) {
  wire::RequestSection* section = section_of(p_.membership.view());
  if (section == nullptr) return;
  // A packet that no survivor holds is lost, so no member can answer its request.
  answer(
      *section, [this](Seq seq) { return !recovery_.in_union(seq); }, out);
}

// Usually the packet's first holder after the requester answers. But the link from that holder to
// the requester may be dead. Then that holder would answer for ever, and no other member would
// answer. So members take turns after kFairAnswers answers.
bool Requests::may_answer(const Packet& packet) const {
  if (packet.answers < kFairAnswers || PEAL_MUTANT(first_holder_answers)) return true;
  const bool recovering = p_.membership.state() == evs::State::recovery;
  const std::size_t n =
      recovering ? recovery_.agreement().members.size() : p_.membership.members().size();
  const std::uint16_t index = recovering ? recovery_.agreement().index : p_.membership.index();
  return (p_.token.hop / n + index) % n == 0;
}

void Requests::retransmit(Packet& packet, Effects& out) {
  BufferRef copy =
      p_.pool.take(static_cast<std::uint32_t>(wire::kDataHeaderBytes), packet.unit.size());
  if (!copy) {
    ++p_.counts.no_buffer;
    return;
  }
  // Retransmit a copy with its own header. The transport may still send the stored packet, and the
  // header of the stored packet may name another transmitter.
  std::copy_n(packet.unit.data(), packet.unit.size(), copy.data());
  copy.grow_front(static_cast<std::uint32_t>(wire::kDataHeaderBytes));
  wire::Data data = packet.data;
  data.retransmission = true;
  if (PEAL_MUTANT(retransmission_agreed)) data.service = Service::agreed;
  wire::encode_data_in_place(p_.membership.frames().header(FrameKind::data), data,
                             ByteSpan{copy.data(), copy.size()});
  ++packet.answers;
  ++p_.counts.retransmitted;
  if (packet.data.origin == p_.membership.self())
    flow_.accelerated().on_retransmitted(packet.data.post);
  out.multicast(Lane::data, copy);
}

/// Rewrites the section of `view` with the positions that the section already requests and the
/// positions that this member misses. `next_missing(from)`: the first missing position at or above
/// `from`, or kNone. Positions that do not fit must wait for the next rotation. Returns the number
/// of positions that this member requests for the first time.
template <class NextMissing>
std::uint32_t Requests::merge(const ViewId& view, NextMissing next_missing) {
  Seq mine = next_missing(view_.stored().contiguous() + 1);
  wire::RequestSection* section = section_of(view);
  if (section == nullptr) {
    if (mine == kNone || p_.token.sections.full()) return 0;
    p_.token.sections.push_back({});
    section = &p_.token.sections.back();
    section->view = view;
    section->ranges.clear();
  }
  const wire::RequestSection before = *section;
  section->ranges.clear();
  std::uint32_t fresh = 0;
  std::uint64_t added = 0;
  const std::uint64_t most = std::uint64_t{p_.options.request_ranges_max} * 64;
  for (Positions theirs(before); theirs.seq() != kNone || mine != kNone;) {
    const Seq wanted = std::min(theirs.seq(), mine);
    if (!push(*section, wanted)) break;
    if (theirs.seq() == wanted) theirs.advance();
    if (mine != wanted) continue;
    ++p_.counts.requested;
    if (wanted > requested_high_) {
      requested_high_ = wanted;
      ++fresh;
    }
    mine = ++added < most ? next_missing(wanted + 1) : kNone;
  }
  if (section->ranges.empty()) {
    p_.token.sections.erase_at(static_cast<std::size_t>(section - p_.token.sections.begin()));
  }
  return fresh;
}

std::uint32_t Requests::add_in_view() {
  const Seq horizon = seq_history_[std::min<std::size_t>(p_.limits.request_lag, kHistory - 1)];
  return merge(p_.membership.view(), [&](Seq from) {
    while (from <= horizon && view_.stored().has(from)) ++from;
    return from <= horizon ? from : kNone;
  });
}

void Requests::add_in_recovery() {
  const Seq high = recovery_.high();
  merge(p_.membership.view(), [&](Seq from) {
    while (from <= high && (!recovery_.in_union(from) || view_.stored().has(from))) ++from;
    return from <= high ? from : kNone;
  });
}

Duration Requests::pace() {
  const wire::RequestSection* section = section_of(p_.membership.view());
  if (section == nullptr || p_.membership.index() != 0) {
    same_requests_ = 0;
    return {};
  }
  Digest digest;
  for (const wire::RequestRange& range : section->ranges) {
    digest.add(range.first);
    digest.add(range.bitmap);
  }
  digest.add(p_.token.seq);
  const bool same = digest.value() == request_digest_;
  request_digest_ = digest.value();
  same_requests_ = same ? std::min(same_requests_ + 1, kSameRequestsMax) : 0;
  if (same_requests_ < kPaceAfterRounds) return {};
  const unsigned doublings = std::min(same_requests_ - kPaceAfterRounds, 10U);
  return std::min(milliseconds(1) * (std::int64_t{1} << doublings), p_.options.hold);
}

void Requests::check_invariants() const {
  PEAL_ASSERT(requested_high_ >= first_);
  PEAL_ASSERT(same_requests_ <= kSameRequestsMax);
}

}  // namespace peal::order::ring
