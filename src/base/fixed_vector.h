// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "base/assert.h"

namespace peal {

/// A vector of at most `Max` elements that lives in place and never allocates. T is trivially
/// destructible and default-constructible.
template <class T, std::size_t Max>
class FixedVector {
 public:
  static constexpr std::size_t max_size() { return Max; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == Max; }
  void clear() { size_ = 0; }
  void push_back(const T& value) {
    PEAL_ASSERT(size_ < Max);
    items_[size_++] = value;
  }
  /// Appends an element for its caller to fill in; it holds whatever was there before.
  T& grow() {
    PEAL_ASSERT(size_ < Max);
    return items_[size_++];
  }
  /// Cuts to `size` elements.
  void truncate(std::size_t size) {
    PEAL_ASSERT(size <= size_);
    size_ = size;
  }
  /// Removes the element at `index`, keeping the order of the others.
  void erase_at(std::size_t index) {
    PEAL_ASSERT(index < size_);
    for (std::size_t i = index + 1; i < size_; ++i) items_[i - 1] = items_[i];
    --size_;
  }
  T& operator[](std::size_t index) {
    PEAL_ASSERT(index < size_);
    return items_[index];
  }
  const T& operator[](std::size_t index) const {
    PEAL_ASSERT(index < size_);
    return items_[index];
  }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  friend bool operator==(const FixedVector& a, const FixedVector& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.items_[i] == b.items_[i])) return false;
    }
    return true;
  }

 private:
  std::array<T, Max> items_{};
  std::size_t size_ = 0;
};

}  // namespace peal
