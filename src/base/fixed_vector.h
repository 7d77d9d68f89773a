// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "base/assert.h"

namespace peal {

/// A vector of at most `Max` elements, which are stored in the object itself. It never allocates.
/// It does not touch the memory of absent elements, because each message creates vectors and Max
/// may be large.
template <class T, std::size_t Max>
class FixedVector {
 public:
  static_assert(std::is_trivially_destructible_v<T> && std::is_default_constructible_v<T>);

  // NOLINTNEXTLINE(modernize-use-equals-default): a default would be deleted or touch all elements
  FixedVector() {}
  FixedVector(const FixedVector& other) : size_(other.size_) {
    std::uninitialized_copy(other.begin(), other.end(), items_);
  }
  FixedVector& operator=(const FixedVector& other) {
    if (this == &other) return *this;
    std::uninitialized_copy(other.begin(), other.end(), items_);
    size_ = other.size_;
    return *this;
  }

  static constexpr std::size_t max_size() { return Max; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == Max; }
  void clear() { size_ = 0; }
  void push_back(const T& value) {
    PEAL_ASSERT(size_ < Max);
    std::construct_at(&items_[size_++], value);
  }
  /// Appends an element for the caller to fill in. Fields without an initial value are undefined.
  T& grow() {
    PEAL_ASSERT(size_ < Max);
    return *::new (static_cast<void*>(&items_[size_++])) T;
  }
  /// Keeps only the first `size` elements.
  void truncate(std::size_t size) {
    PEAL_ASSERT(size <= size_);
    size_ = size;
  }
  /// Removes the element at `index`; the other elements keep their order.
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
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
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
  union {
    T items_[Max];
  };
  std::size_t size_ = 0;
};

}  // namespace peal
