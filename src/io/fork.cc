// SPDX-License-Identifier: Apache-2.0
#include "io/fork.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace peal::io {
namespace {

constexpr int kFdMax = 1 << 16;
constexpr std::size_t kWordBits = 64;

std::atomic<std::uint64_t> fork_count{0};
/// One bit for each descriptor that children close. In static memory, because code that runs in a
/// child before fork() returns may neither allocate nor lock.
std::array<std::atomic<std::uint64_t>, kFdMax / kWordBits> noted{};

struct Left {
  void* what;
  Left* next;
};
/// Keeps the objects of leave_to_parent() reachable for leak checkers.
std::atomic<Left*> left_behind{nullptr};

void in_child() {
  fork_count.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t word = 0; word < noted.size(); ++word) {
    if (noted[word].load(std::memory_order_relaxed) == 0) continue;
    const std::uint64_t bits = noted[word].exchange(0, std::memory_order_relaxed);
    for (std::size_t bit = 0; bit < kWordBits; ++bit) {
      if ((bits >> bit & 1U) != 0) ::close(static_cast<int>(word * kWordBits + bit));
    }
  }
}

/// Registers the handler once per process; children inherit the handler.
void listen_for_forks() {
  static const int listening = ::pthread_atfork(nullptr, nullptr, in_child);
  static_cast<void>(listening);
}

bool is_noted(int fd) { return fd >= 0 && fd < kFdMax; }
std::uint64_t bit_of(int fd) { return std::uint64_t{1} << static_cast<unsigned>(fd) % kWordBits; }
std::atomic<std::uint64_t>& word_of(int fd) {
  return noted[static_cast<std::size_t>(fd) / kWordBits];
}

}  // namespace

std::uint64_t forks() {
  listen_for_forks();
  return fork_count.load(std::memory_order_relaxed);
}

void close_in_children(int fd) {
  if (!is_noted(fd)) return;
  listen_for_forks();
  word_of(fd).fetch_or(bit_of(fd), std::memory_order_relaxed);
}

void keep_in_children(int fd) {
  if (is_noted(fd)) word_of(fd).fetch_and(~bit_of(fd), std::memory_order_relaxed);
}

void leave_to_parent(void* what) {
  auto* entry = new Left{what, left_behind.load()};
  while (!left_behind.compare_exchange_weak(entry->next, entry)) {
  }
}

}  // namespace peal::io
