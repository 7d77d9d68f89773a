// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "wire/frames.h"

namespace peal::wire {

/// Reads little-endian fields one after another and remembers the first error, so that a decoder
/// can read a whole block and check once. After an error every read gives zero. No input makes the
/// reader read outside its bytes, or fail an assertion.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

  template <std::unsigned_integral T>
  T u() {
    if (bytes_.size() < sizeof(T)) {
      reject(Drop::truncated);
      return T{};
    }
    const T value = load<T>(bytes_);
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }

  void skip(std::size_t bytes) {
    if (bytes > bytes_.size()) return reject(Drop::truncated);
    bytes_ = bytes_.subspan(bytes);
  }
  /// The next `bytes` bytes, in place. If fewer are left, notes `truncated` and returns no bytes.
  ByteView bytes(std::size_t bytes) {
    const ByteView found = bytes_.first(bytes <= bytes_.size() ? bytes : 0);
    skip(bytes);
    return found;
  }

  /// Notes `reason`, unless a reason is noted already, and stops reading.
  void reject(Drop reason) {
    if (failure_ == Drop::none) failure_ = reason;
    bytes_ = {};
  }
  void require(bool condition, Drop reason) {
    if (!condition) reject(reason);
  }
  /// Returns true if at least count * each bytes are left; otherwise notes `truncated`. Returns
  /// false after any earlier error.
  bool holds(std::uint64_t count, std::uint64_t each) {
    // Counts are at most 32 bits wide and `each` is a small constant: their product fits into 64
    // bits.
    require(count * each <= bytes_.size(), Drop::truncated);
    return !failed();
  }

  bool failed() const { return failure_ != Drop::none; }
  std::size_t remaining() const { return bytes_.size(); }
  /// The result for a whole packet: the first error; else trailing_bytes if bytes are left; else
  /// none.
  Drop finish() const {
    if (failed()) return failure_;
    return bytes_.empty() ? Drop::none : Drop::trailing_bytes;
  }

 private:
  ByteView bytes_;
  Drop failure_ = Drop::none;
};

// Fields shared by several frames. Each function notes an error in the reader.

/// A counter or position: at most kCounterMax.
std::uint64_t read_counter(ByteReader& in);
/// An incarnation of a node: the node is 1 to kNodeMax, but need not be configured.
MemberId read_member(ByteReader& in);
/// A view that was formed: number >= 1, and a representative.
ViewId read_formed_view(ByteReader& in);
/// A formed view, a member's birth view (number 0: the view in which the member starts, alone), or
/// no view (all fields zero).
ViewId read_any_view(ByteReader& in);
/// Replaces the content of `out` with `count` members from the reader. Notes not_sorted if the
/// members do not ascend, and count_too_large if `count` is above `count_max`.
void read_members(ByteReader& in, std::uint64_t count, std::size_t count_max,
                  std::vector<MemberId>& out);
/// As read_members(), but does not store the members.
void check_members(ByteReader& in, std::uint64_t count, std::size_t count_max);

}  // namespace peal::wire
