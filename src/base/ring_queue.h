// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace peal {

/// A queue in a circular buffer. Unlike std::deque, it does not allocate while its length stays
/// about the same. If it has grown beyond kKept elements, it frees its memory when it becomes
/// empty. One thread at a time.
template <class T>
class RingQueue {
 public:
  /// `least` is the initial capacity, 0 or a power of two. If it is not 0, the first push_back()
  /// allocates nothing.
  explicit RingQueue(std::size_t least = 0) : slots_(least) {
    PEAL_ASSERT((least & (least - 1)) == 0);
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  T& operator[](std::size_t index) {
    PEAL_ASSERT(index < size_);
    return slots_[(first_ + index) & (slots_.size() - 1)];
  }
  const T& operator[](std::size_t index) const {
    PEAL_ASSERT(index < size_);
    return slots_[(first_ + index) & (slots_.size() - 1)];
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T value) { push_back() = std::move(value); }
  /// Appends T{} and returns a reference to it, so that the caller can fill it in place.
  T& push_back() {
    if (size_ == slots_.size()) grow();
    ++size_;
    return (*this)[size_ - 1];
  }
  void pop_back() {
    (*this)[size_ - 1] = T{};
    --size_;
  }
  void pop_front() {
    front() = T{};
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
    if (size_ == 0 && slots_.size() > kKept) *this = RingQueue{};
  }
  void clear() {
    while (!empty()) pop_front();
  }

 private:
  static constexpr std::size_t kKept = 1'024;
  static constexpr std::size_t kLeast = 8;

  void grow() {
    std::vector<T> larger(slots_.empty() ? kLeast : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  ///< the number of slots is 0 or a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace peal
