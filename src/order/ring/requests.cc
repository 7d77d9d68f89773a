// SPDX-License-Identifier: Apache-2.0
// Retransmission: which member requests, which answers, and pacing when none can.

#include <algorithm>
#include <limits>

#include "base/digest.h"
#include "base/hooks.h"
#include "order/ring/engine.h"

namespace peal::order::ring {
namespace {

using wire::FrameKind;

constexpr std::uint32_t kPaceAfterRounds = 8;
constexpr std::uint32_t kFairAnswers = 2;  // a member's answers for one packet before members take
                                           // turns
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

/// Adds a position above all others. False if the section is full.
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

wire::RequestSection* RingEngine::section_of(const ViewId& view) {
  for (wire::RequestSection& section : token_.sections) {
    if (section.view == view) return &section;
  }
  return nullptr;
}

/// Retransmits the requested packets that this member has, and removes them from the section.
/// `settled(seq)` is true for pointless requests, which are removed too.
template <class Settled>
std::uint32_t RingEngine::answer(wire::RequestSection& section, Settled settled, Effects& out) {
  std::uint32_t answered = 0;
  if (PEAL_MUTANT(rtr_last_ignored) && !section.ranges.empty()) section.ranges.back().bitmap = 0;
  for (wire::RequestRange& range : section.ranges) {
    for (std::uint64_t bits = range.bitmap; bits != 0; bits &= bits - 1) {
      if (PEAL_MUTANT(rtr_never_answered)) break;
      const auto bit = static_cast<unsigned>(__builtin_ctzll(bits));
      const Seq seq = range.first + bit;
      bool done = settled(seq);
      if (!done && packets_.has(seq) && answered < options_.retransmit_max &&
          may_answer(packets_.at(seq))) {
        retransmit(packets_.at(seq), out);
        ++answered;
        done = true;
      }
      if (done) range.bitmap &= ~(std::uint64_t{1} << bit);
    }
  }
  return answered;
}

std::uint32_t RingEngine::answer_requests(Effects& out) {
  // Requests for another view have a meaning only in recovery, which is over: the first member that
  // installed saw every member complete.
  for (std::size_t i = token_.sections.size(); i > 0; --i) {
    if (token_.sections[i - 1].view != membership_.view()) token_.sections.erase_at(i - 1);
  }
  wire::RequestSection* section = section_of(membership_.view());
  if (section == nullptr) return 0;
  return answer(
      *section, [this](Seq seq) { return seq <= r_.safe_line; }, out);
}

void RingEngine::answer_in_recovery(Effects& out) {
  wire::RequestSection* section = section_of(membership_.view());
  if (section == nullptr) return;
  // No member can have a packet outside the union.
  answer(
      *section, [this](Seq seq) { return !in_union(seq); }, out);
}

// Usually the first holder on the ring answers. If its link to the requester is dead, it would
// answer for ever and no other member would get the turn. So the members take turns.
bool RingEngine::may_answer(const Packet& packet) const {
  if (packet.answers < kFairAnswers || PEAL_MUTANT(first_holder_answers)) return true;
  const bool recovering = membership_.state() == evs::State::recovery;
  const std::size_t n =
      recovering ? repair_.agreement.members.size() : membership_.members().size();
  const std::uint16_t index = recovering ? repair_.agreement.index : membership_.index();
  return (token_.hop / n + index) % n == 0;
}

void RingEngine::retransmit(Packet& packet, Effects& out) {
  BufferRef copy =
      pool_.take(static_cast<std::uint32_t>(wire::kDataHeaderBytes), packet.unit.size());
  if (!copy) {
    ++counts_.no_buffer;
    return;
  }
  // Retransmit a copy: the stored packet may still be in transit, and its header names another
  // transmitter.
  std::copy_n(packet.unit.data(), packet.unit.size(), copy.data());
  copy.grow_front(static_cast<std::uint32_t>(wire::kDataHeaderBytes));
  wire::Data data = packet.data;
  data.retransmission = true;
  if (PEAL_MUTANT(retransmission_agreed)) data.service = Service::agreed;
  wire::encode_data_in_place(membership_.frames().header(FrameKind::data), data,
                             ByteSpan{copy.data(), copy.size()});
  ++packet.answers;
  ++counts_.retransmitted;
  if (packet.data.origin == membership_.self()) accelerated_.on_retransmitted(packet.data.post);
  out.multicast(Lane::data, copy);
}

/// Rewrites the section of `view` with the positions it already requests and those that
/// `next_missing(from)` names (the first missing position at or above `from`, or kNone). Positions
/// that do not fit wait for a rotation. Returns how many were not requested before.
template <class NextMissing>
std::uint32_t RingEngine::merge_requests(const ViewId& view, NextMissing next_missing) {
  Seq mine = next_missing(packets_.contiguous() + 1);
  wire::RequestSection* section = section_of(view);
  if (section == nullptr) {
    if (mine == kNone || token_.sections.full()) return 0;
    token_.sections.push_back({});
    section = &token_.sections.back();
    section->view = view;
    section->ranges.clear();
  }
  const wire::RequestSection before = *section;
  section->ranges.clear();
  std::uint32_t fresh = 0;
  std::uint64_t added = 0;
  const std::uint64_t most = std::uint64_t{options_.request_ranges_max} * 64;
  for (Positions theirs(before); theirs.seq() != kNone || mine != kNone;) {
    const Seq wanted = std::min(theirs.seq(), mine);
    if (!push(*section, wanted)) break;
    if (theirs.seq() == wanted) theirs.advance();
    if (mine != wanted) continue;
    ++counts_.requested;
    if (wanted > r_.requested_high) {
      r_.requested_high = wanted;
      ++fresh;
    }
    mine = ++added < most ? next_missing(wanted + 1) : kNone;
  }
  if (section->ranges.empty()) {
    token_.sections.erase_at(static_cast<std::size_t>(section - token_.sections.begin()));
  }
  return fresh;
}

/// Requests packets that should have arrived by now. Returns how many are new requests.
std::uint32_t RingEngine::add_requests() {
  const Seq horizon = r_.seq_history[std::min<std::size_t>(request_lag_, kHistory - 1)];
  return merge_requests(membership_.view(), [&](Seq from) {
    while (from <= horizon && packets_.has(from)) ++from;
    return from <= horizon ? from : kNone;
  });
}

void RingEngine::request_missing() {
  const Seq high = repair_.old.high;
  merge_requests(membership_.view(), [&](Seq from) {
    while (from <= high && (!in_union(from) || packets_.has(from))) ++from;
    return from <= high ? from : kNone;
  });
}

/// Slows down a token whose requests no member could answer for many rotations: a fast token would
/// only add load.
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

}  // namespace peal::order::ring
