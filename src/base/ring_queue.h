// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace peal {

/// A queue in memory that goes round: in a steady stream it allocates nothing, unlike std::deque.
/// What it grew to beyond kKept elements is given back when it is empty. One thread at a time.
template <class T>
class RingQueue {
 public:
  /// With `least`, the first push_back() allocates nothing; a power of two.
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
  /// One more, as T{} makes it, to be filled where it lies.
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

  std::vector<T> slots_;  ///< a power of two of them
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace peal
