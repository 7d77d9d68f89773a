// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "wire/frames.h"

namespace peal::wire {

/// Writes little-endian fields one after another. Once a field does not fit, the writer has failed
/// and writes nothing more.
class Writer {
 public:
  explicit Writer(ByteSpan out) : out_(out) {}

  template <std::unsigned_integral T>
  void u(T value) {
    if (failed_ || out_.size() - written_ < sizeof value) return fail();
    store(out_.subspan(written_), value);
    written_ += sizeof value;
  }
  void bytes(ByteView bytes) {
    if (failed_ || out_.size() - written_ < bytes.size()) return fail();
    if (!bytes.empty()) std::memcpy(out_.data() + written_, bytes.data(), bytes.size());
    written_ += bytes.size();
  }
  /// Writes the length of a list in 16 bits. Fails if the list is longer than `count_max`.
  void count(std::size_t count, std::size_t count_max) {
    if (count > count_max) return fail();
    u(static_cast<std::uint16_t>(count));
  }
  void member(const MemberId& member) {
    u(member.node.value);
    u(member.epoch);
  }
  void members(const std::vector<MemberId>& members) {
    for (const MemberId& each : members) member(each);
  }
  void view(const ViewId& view) {
    u(view.number);
    member(view.representative);
  }

  void fail() { failed_ = true; }
  bool failed() const { return failed_; }
  std::size_t written() const { return written_; }

 private:
  ByteSpan out_;
  std::size_t written_ = 0;
  bool failed_ = false;
};

}  // namespace peal::wire
