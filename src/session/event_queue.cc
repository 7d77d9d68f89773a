// SPDX-License-Identifier: Apache-2.0
#include "session/event_queue.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::session {
namespace {

/// Header of each record on disk: u32 slot, u64 time in nanoseconds when the event was queued.
constexpr std::size_t kDiskHeaderBytes = 4 + 8;
constexpr std::uint64_t kBlockBytesLeast = 1'024;  ///< least and most bytes read back at once
constexpr std::uint64_t kBlockBytesMost = 256 * 1'024;

}  // namespace

EventQueue::~EventQueue() {
  if (on_disk_) spool_.remove(id_);
}

std::uint32_t EventQueue::add_membership(std::string group, const wire::SlowLimits& limits) {
  auto made = std::make_unique<Membership>();
  made->group = std::move(group);
  made->limits = limits;
  const auto free = std::find(memberships_.begin(), memberships_.end(), nullptr);
  const auto slot = static_cast<std::uint32_t>(free - memberships_.begin());
  if (free == memberships_.end()) {
    memberships_.push_back(std::move(made));
  } else {
    *free = std::move(made);
  }
  return slot;
}

void EventQueue::drop_membership(std::uint32_t slot) {
  const Membership& member = *memberships_[slot];
  if (slot > 0 && member.joins == 0 && member.events == 0) memberships_[slot] = nullptr;
}

Result<void, Errc> EventQueue::push(Instant now, std::uint32_t slot, const ChunkRef& chunk) {
  Membership& member = membership(slot);
  if (spilling_ && !(PEAL_MUTANT(sm3_spill_out_of_order) && pushed_ % 4 == 0)) {
    const Result<void, Errc> pushed = push_disk(now, slot, chunk);
    if (!pushed) return pushed;
  } else {
    push_memory(now, slot, chunk);
  }
  if (member.unwritten == 0) member.oldest = now;
  ++member.events;
  ++member.unwritten;
  ++pushed_;
  return {};
}

void EventQueue::note_successor(const Membership& member, Instant at) {
  if (member.last <= released_) return;
  Event& before = memory_[static_cast<std::size_t>(member.last - released_ - 1)];
  if (before.has_next) return;
  before.has_next = true;
  before.next_at = at;
}

void EventQueue::push_memory(Instant at, std::uint32_t slot, ChunkRef chunk) {
  Membership& member = membership(slot);
  note_successor(member, at);
  const std::uint64_t cost = chunk.cost() + kEventCost;
  memory_.push_back({std::move(chunk), slot, Form::open, false, at, {}});
  member.memory_bytes += cost;
  member.unwritten_bytes += cost;
  member.last = released_ + memory_.size();
  memory_bytes_ += cost;
  unwritten_bytes_ += cost;
}

Result<void, Errc> EventQueue::push_disk(Instant at, std::uint32_t slot, const ChunkRef& chunk) {
  Membership& member = membership(slot);
  block_.resize(kDiskHeaderBytes);
  store(ByteSpan(block_), slot);
  store(ByteSpan(block_).subspan(4), static_cast<std::uint64_t>(at.ns));
  const ByteView record = chunk.view();
  block_.insert(block_.end(), record.begin(), record.end());
  on_disk_ = true;
  const Result<void, Errc> appended = spool_.append(id_, block_);
  if (!appended) return appended;
  note_successor(member, at);
  appended_ += block_.size();
  member.disk_bytes += block_.size();
  return {};
}

void EventQueue::begin_spill(std::uint64_t memory_bytes) {
  spilling_ = true;
  spill_memory_bytes_ = memory_bytes;
}

bool EventQueue::has_room(std::uint64_t memory_bytes_most) const {
  return unwritten_bytes_ <= spill_memory_bytes_ / 2 && memory_bytes_ <= memory_bytes_most / 2 &&
         memory_bytes_ - unwritten_bytes_ <= kUnseenBytesMax;
}

Result<void, Errc> EventQueue::refill(std::uint64_t memory_bytes_most) {
  if (!spilling_ || !has_room(memory_bytes_most)) return {};
  PEAL_PROBE("session.read_back");
  const std::uint64_t most = std::min(spill_memory_bytes_, memory_bytes_most);
  while (disk_bytes() > 0 && has_room(memory_bytes_most)) {
    const std::uint64_t block = std::clamp(most / 4, kBlockBytesLeast, kBlockBytesMost);
    std::size_t want = static_cast<std::size_t>(std::min(block, disk_bytes()));
    for (;;) {
      block_.resize(want);
      const Result<void, Errc> read = spool_.read(id_, discarded_, block_);
      if (!read) return read;
      const std::size_t taken = take_records(block_);
      if (taken > 0) {
        discarded_ += taken;
        break;
      }
      // The first record alone is longer than the block.
      want = kDiskHeaderBytes + sizeof(std::uint32_t) +
             load<std::uint32_t>(ByteView(block_).subspan(kDiskHeaderBytes));
      PEAL_ASSERT(want > block_.size() && want <= disk_bytes());
    }
    spool_.discard(id_, discarded_);
  }
  if (disk_bytes() == 0) spilling_ = false;
  return {};
}

/// Queues in memory the complete records of `block`, which was read from the disk. Returns the
/// number of bytes of these records.
std::size_t EventQueue::take_records(ByteView block) {
  std::size_t at = 0;
  constexpr std::size_t kHead = kDiskHeaderBytes + sizeof(std::uint32_t);
  while (block.size() - at >= kHead) {
    const ByteView rest = block.subspan(at);
    const auto length = load<std::uint32_t>(rest.subspan(kDiskHeaderBytes));
    const std::size_t bytes = kHead + length;
    if (rest.size() < bytes) break;
    const auto slot = load<std::uint32_t>(rest);
    const Instant since{static_cast<std::int64_t>(load<std::uint64_t>(rest.subspan(4)))};
    const ByteView record = rest.subspan(kDiskHeaderBytes, bytes - kDiskHeaderBytes);
    Membership& member = membership(slot);
    if (member.last <= written_events()) member.oldest = since;
    member.disk_bytes -= bytes;
    push_memory(since, slot, chunks_.make(record.size(), [record](std::vector<std::byte>& out) {
      out.insert(out.end(), record.begin(), record.end());
    }));
    at += bytes;
  }
  return at;
}

// ---- writing ----

/// Chooses how an event is written. If unseen events in shared memory would take more than
/// kSharedUnseenMax bytes, the event is written whole. So the connection of a slow client fills up,
/// and the limits take effect.
void EventQueue::settle_form(Event& event) {
  const std::uint64_t bytes = event.chunk.size();
  const bool fits = places_bytes_ + bytes <= wire::kSharedUnseenMax;
  event.form = shares_ && fits && event.chunk.is_shared() ? Form::place : Form::whole;
  if (event.form == Form::place) places_bytes_ += bytes;
}

void EventQueue::gather(std::vector<ByteView>& out, std::size_t pieces) {
  std::size_t offset = offset_;
  for (std::size_t i = next_; i < memory_.size() && pieces > 0; ++i, --pieces) {
    if (i == formed_) settle_form(memory_[formed_++]);
    out.push_back(bytes_of(memory_[i]).subspan(offset));
    offset = 0;
  }
}

std::size_t EventQueue::unfinished() const {
  return offset_ == 0 ? 0 : bytes_of(memory_[next_]).size() - offset_;
}

void EventQueue::take_places(std::vector<ChunkRef>& out) const {
  for (std::size_t i = 0; i < formed_; ++i) {
    if (memory_[i].form == Form::place) out.push_back(memory_[i].chunk);
  }
}

void EventQueue::written(std::size_t bytes) {
  while (bytes > 0) {
    PEAL_ASSERT(next_ < memory_.size());
    PEAL_ASSERT(next_ < formed_);
    const std::size_t left = bytes_of(memory_[next_]).size() - offset_;
    const std::size_t part = std::min(left, bytes);
    bytes -= part;
    offset_ += part;
    if (part == left) pass();
  }
}

/// Call when the next event was written completely.
void EventQueue::pass() {
  const Event& event = memory_[next_];
  const std::uint64_t cost = cost_of(event);
  Membership& member = membership(event.slot);
  member.unwritten_bytes -= cost;
  unwritten_bytes_ -= cost;
  --member.unwritten;
  // If the time of the membership's next event is not known, that next event is on disk. Events on
  // disk are newer than those in memory, so the newest event in memory gives a lower bound for that
  // time.
  if (member.unwritten > 0) member.oldest = event.has_next ? event.next_at : memory_.back().at;
  if (PEAL_MUTANT(sm7_let_go_when_written) && event.form == Form::place) event.chunk.write_over();
  ++next_;
  offset_ = 0;
}

bool EventQueue::rewind(std::uint64_t number) {
  if (number < released_ || number > written_events()) return false;
  while (next_ > number - released_) {
    const Event& event = memory_[--next_];
    const std::uint64_t cost = cost_of(event);
    Membership& member = membership(event.slot);
    member.unwritten_bytes += cost;
    unwritten_bytes_ += cost;
    ++member.unwritten;
    member.oldest = event.at;
  }
  while (formed_ > next_) {
    Event& event = memory_[--formed_];
    if (event.form == Form::place) places_bytes_ -= event.chunk.size();
    event.form = Form::open;
  }
  if (PEAL_MUTANT(sm2_resume_drops_one) && next_ < memory_.size()) {
    settle_form(memory_[formed_++]);
    pass();
  }
  offset_ = 0;
  return true;
}

bool EventQueue::seen(std::uint64_t number) {
  if (number > written_events()) return false;
  while (released_ < number) pop();
  return true;
}

void EventQueue::pop() {
  PEAL_ASSERT(next_ > 0);
  const Event& event = memory_.front();
  const std::uint32_t slot = event.slot;
  Membership& member = membership(slot);
  const std::uint64_t cost = cost_of(event);
  PEAL_ASSERT(member.memory_bytes >= cost && member.events > 0);
  member.memory_bytes -= cost;
  memory_bytes_ -= cost;
  --member.events;
  if (event.form == Form::place) places_bytes_ -= event.chunk.size();
  memory_.pop_front();
  --next_;
  --formed_;
  ++released_;
  drop_membership(slot);
}

std::optional<Instant> EventQueue::oldest() const {
  if (memory_.empty()) return std::nullopt;
  return memory_.front().at;
}

void EventQueue::check_invariants() const {
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes_sum = 0;
  std::uint64_t events = 0;
  std::uint64_t unwritten = 0;
  std::uint64_t unwritten_bytes = 0;
  for (const auto& member : memberships_) {
    if (member == nullptr) continue;
    memory_bytes += member->memory_bytes;
    unwritten += member->unwritten;
    unwritten_bytes += member->unwritten_bytes;
    PEAL_ASSERT(member->unwritten_bytes <= member->memory_bytes);
    disk_bytes_sum += member->disk_bytes;
    events += member->events;
  }
  PEAL_ASSERT(memory_bytes == memory_bytes_);
  PEAL_ASSERT(unwritten_bytes == unwritten_bytes_);
  PEAL_ASSERT(unwritten == events - next_);
  for (std::size_t i = next_; i < memory_.size(); ++i) unwritten_bytes -= cost_of(memory_[i]);
  PEAL_ASSERT(unwritten_bytes == 0);
  PEAL_ASSERT(disk_bytes_sum == disk_bytes());
  PEAL_ASSERT(events == pushed_ - released_);
  PEAL_ASSERT(next_ <= memory_.size() && memory_.size() <= events);
  PEAL_ASSERT(next_ <= formed_ && formed_ <= memory_.size());
  std::uint64_t places_bytes = 0;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    PEAL_ASSERT((memory_[i].form == Form::open) == (i >= formed_));
    if (memory_[i].form == Form::place) places_bytes += memory_[i].chunk.size();
  }
  PEAL_ASSERT(places_bytes == places_bytes_ && places_bytes_ <= wire::kSharedUnseenMax);
  PEAL_ASSERT(spilling_ || events == memory_.size());
}

}  // namespace peal::session
