// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wire/shared.h"

namespace peal::fuzz {

/// Memory that a daemon shares, with one event and one record that is not an event.
class SharedPage {
 public:
  static constexpr std::uint32_t kBytes = 4'096;
  static constexpr std::uint64_t kGeneration = 7;

  SharedPage() {
    std::vector<std::byte> record;
    append(record, wire::RecordKind::left, wire::GroupEvent{"chat"});
    event_ = {64, static_cast<std::uint32_t>(record.size()), kGeneration};
    wire::write_shared(at(64), kGeneration, record, {});
    record.clear();
    append(record, wire::RecordKind::acked, wire::Acked{0});
    other_ = {128, static_cast<std::uint32_t>(record.size()), kGeneration};
    wire::write_shared(at(128), kGeneration, record, {});
  }
  ByteView view() const { return std::as_bytes(std::span(words_)); }
  const wire::Shared& event() const { return event_; }
  const wire::Shared& other() const { return other_; }

 private:
  ByteSpan at(std::size_t offset) {
    return std::as_writable_bytes(std::span(words_)).subspan(offset);
  }
  std::array<std::uint64_t, kBytes / 8> words_{};
  wire::Shared event_;
  wire::Shared other_;
};

}  // namespace peal::fuzz
