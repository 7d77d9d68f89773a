// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace peal {

/// An array whose elements are undefined until they are written. For large arrays that would take
/// long to fill.
template <class T>
class RawArray {
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_copyable_v<T>);

 public:
  RawArray() = default;
  RawArray(const RawArray& other) { *this = other; }
  RawArray& operator=(const RawArray& other) {
    if (this == &other) return *this;
    grow(other.size_);
    std::copy_n(other.data_.get(), other.size_, data_.get());
    return *this;
  }

  /// Makes the array at least `size` long. All elements are undefined if it was shorter.
  void grow(std::size_t size) {
    if (size <= size_) return;
    data_ = std::make_unique_for_overwrite<T[]>(size);
    size_ = size;
  }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0;
};

}  // namespace peal
