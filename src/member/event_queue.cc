// SPDX-License-Identifier: Apache-2.0
#include "member/event_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"
#include "io/fork.h"

namespace peal::member {
namespace {

/// The reader reports to the loop only after this many entries, because reporting each entry would
/// cost as much as reading the entry.
constexpr std::uint32_t kShowEvery = 16;

}  // namespace

EventQueue::EventQueue(std::uint32_t units, std::uint32_t reserve_units, std::uint64_t bytes,
                       std::uint32_t unit_bytes, bool signals)
    : units_max_(units),
      bytes_max_(bytes),
      unit_bytes_(unit_bytes),
      show_every_(std::clamp(units / 4, 1U, kShowEvery)),
      signals_(signals),
      fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      ring_(std::bit_ceil(units + reserve_units)),
      mask_(ring_.size() - 1) {
  PEAL_ASSERT(units > 0 && unit_bytes > 0 && bytes >= unit_bytes);
  io::close_in_children(fd_);
}

EventQueue::~EventQueue() {
  if (fd_ < 0) return;
  io::keep_in_children(fd_);
  ::close(fd_);
}

void EventQueue::push(Entry entry) {
  const std::uint64_t before = bytes_in_.load(std::memory_order_relaxed);
  bytes_in_.store(before + entry.bytes_held(), std::memory_order_relaxed);
  if (!overflow_.empty() || !move_in(entry)) overflow_.push_back(std::move(entry));
}

bool EventQueue::move_in(Entry& entry) {
  if (written_ - freed_ == ring_.size()) {
    free_read();
    if (written_ - freed_ == ring_.size()) return false;
  }
  at(written_) = std::move(entry);
  ++written_;
  return true;
}

void EventQueue::free_read() {
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  for (; freed_ < head; ++freed_) {
    Entry& entry = at(freed_);
    entry.unit.unit.reset();
    entry.unit.rare.reset();
    entry.notice.reset();
  }
}

void EventQueue::publish() {
  free_read();
  while (!overflow_.empty() && move_in(overflow_.front())) overflow_.pop_front();
  if (tail_.load(std::memory_order_relaxed) == written_) return;
  // The store and the exchange are in one total order with the reader's clear_signal(): either the
  // reader sees the new tail, or this thread sees that the signal was cleared.
  tail_.store(written_, std::memory_order_seq_cst);
  if (signals_ && !signalled_.exchange(true, std::memory_order_seq_cst)) {
    const std::uint64_t one = 1;
    // write() fails only if the counter is at its maximum. Then the descriptor is readable.
    [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
  }
}

std::uint32_t EventQueue::room_units() {
  std::uint32_t room = room_now();
  if (room == 0 && !room_wanted_.exchange(true, std::memory_order_seq_cst)) room = room_now();
  return room;
}

std::uint32_t EventQueue::room_now() const {
  const std::uint64_t waiting = written_ - head_.load(std::memory_order_seq_cst) + overflow_.size();
  const std::uint64_t bytes = unread_bytes();
  if (waiting >= units_max_ || bytes >= bytes_max_) return 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(units_max_ - waiting, (bytes_max_ - bytes) / unit_bytes_));
}

Entry* EventQueue::front() {
  if (read_ == tail_seen_) {
    tail_seen_ = tail_.load(std::memory_order_acquire);
    if (read_ == tail_seen_) {
      show_read();
      clear_signal();
      tail_seen_ = tail_.load(std::memory_order_seq_cst);
      if (read_ == tail_seen_) return nullptr;
    }
  }
  // The loop's thread wrote the entries and the bytes: this thread's caches have neither.
  if (read_ + 4 < tail_seen_) __builtin_prefetch(&at(read_ + 4));
  if (read_ + 2 < tail_seen_) __builtin_prefetch(at(read_ + 2).unit.bytes().data());
  return &at(read_);
}

void EventQueue::pop() {
  PEAL_ASSERT(read_ != tail_seen_);
  read_bytes_ += at(read_).bytes_held();
  ++read_;
  if (read_ - head_.load(std::memory_order_relaxed) >= show_every_) show_read();
}

void EventQueue::show_read() {
  if (head_.load(std::memory_order_relaxed) == read_) return;
  bytes_out_.store(read_bytes_, std::memory_order_release);
  head_.store(read_, std::memory_order_seq_cst);
  if (!room_wanted_.load(std::memory_order_seq_cst)) return;
  const std::uint64_t waiting = tail_.load(std::memory_order_acquire) - read_;
  if (waiting > units_max_ / 2 || unread_bytes() > bytes_max_ / 2) return;
  if (room_wanted_.exchange(false, std::memory_order_seq_cst)) room_again_ = true;
}

void EventQueue::clear_signal() {
  if (!signalled_.load(std::memory_order_relaxed)) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd_, &count, sizeof count);
  signalled_.store(false, std::memory_order_seq_cst);
}

std::uint64_t EventQueue::unread_bytes() const {
  // Load `bytes_out_` before `bytes_in_`: each byte is counted in `bytes_in_` before it is counted
  // in `bytes_out_`.
  const std::uint64_t out = bytes_out_.load(std::memory_order_seq_cst);
  return bytes_in_.load(std::memory_order_seq_cst) - out;
}

}  // namespace peal::member
