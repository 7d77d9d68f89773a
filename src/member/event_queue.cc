// SPDX-License-Identifier: Apache-2.0
#include "member/event_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::member {

EventQueue::EventQueue(std::uint32_t units, std::uint32_t reserve_units, std::uint64_t bytes,
                       std::uint32_t unit_bytes)
    : units_max_(units),
      bytes_max_(bytes),
      unit_bytes_(unit_bytes),
      fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      ring_(units + reserve_units) {
  PEAL_ASSERT(units > 0 && unit_bytes > 0 && bytes >= unit_bytes);
}

EventQueue::~EventQueue() {
  if (fd_ >= 0) ::close(fd_);
}

void EventQueue::push(Entry entry) {
  bytes_in_.fetch_add(entry.bytes_held(), std::memory_order_relaxed);
  if (!overflow_.empty() || !move_in(entry)) overflow_.push_back(std::move(entry));
}

bool EventQueue::move_in(Entry& entry) {
  if (written_ - head_.load(std::memory_order_acquire) == ring_.size()) return false;
  ring_[written_ % ring_.size()] = std::move(entry);
  ++written_;
  return true;
}

void EventQueue::publish() {
  while (!overflow_.empty() && move_in(overflow_.front())) overflow_.pop_front();
  if (tail_.load(std::memory_order_relaxed) == written_) return;
  // Both in one total order with the reader's clear_signal(): either it sees the new tail, or this
  // sees that the signal was taken back.
  tail_.store(written_, std::memory_order_seq_cst);
  if (!signalled_.exchange(true, std::memory_order_seq_cst)) {
    const std::uint64_t one = 1;
    // Fails only if the counter is full, and then the descriptor is readable.
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

std::optional<Entry> EventQueue::pop() {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  if (head == tail_.load(std::memory_order_acquire)) {
    clear_signal();
    if (head == tail_.load(std::memory_order_seq_cst)) return std::nullopt;
  }
  std::optional<Entry> entry(std::move(ring_[head % ring_.size()]));
  head_.store(head + 1, std::memory_order_seq_cst);
  return entry;
}

void EventQueue::clear_signal() {
  if (!signalled_.load(std::memory_order_relaxed)) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd_, &count, sizeof count);
  signalled_.store(false, std::memory_order_seq_cst);
}

bool EventQueue::released(std::uint64_t bytes) {
  bytes_out_.fetch_add(bytes, std::memory_order_seq_cst);
  if (!room_wanted_.load(std::memory_order_seq_cst)) return false;
  const std::uint64_t waiting =
      tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_relaxed);
  if (waiting > units_max_ / 2 || unread_bytes() > bytes_max_ / 2) return false;
  return room_wanted_.exchange(false, std::memory_order_seq_cst);
}

std::uint64_t EventQueue::unread_bytes() const {
  // Out before in: what is out was in before.
  const std::uint64_t out = bytes_out_.load(std::memory_order_seq_cst);
  return bytes_in_.load(std::memory_order_seq_cst) - out;
}

}  // namespace peal::member
