// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "io/error.h"
#include "io/fd.h"

namespace peal::io {

/// Pages of a memfd in this process. Thread: any, one at a time; the bytes are whoever's.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* at, std::size_t bytes) : at_(at), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  ByteView view() const { return {static_cast<const std::byte*>(at_), bytes_}; }
  ByteSpan span() const { return {static_cast<std::byte*>(at_), bytes_}; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Memory that this process writes and others may read. Nobody else can ever write it, and its size
/// stays: it is sealed so. Pages are taken as they are touched, and given back with all of it.
class SharedMemory {
 public:
  /// All zero. Errors: system, not_permitted.
  static Result<SharedMemory, IoError> make(std::uint32_t bytes);
  ByteSpan span() const { return pages_.span(); }
  /// What others map.
  int fd() const { return fd_.get(); }

 private:
  SharedMemory(Fd fd, Mapping pages) : fd_(std::move(fd)), pages_(std::move(pages)) {}
  Fd fd_;
  Mapping pages_;
};

/// Maps, for reading, memory that another process made; it is believed nothing. Errors:
/// invalid_option (it is no memfd, it could shrink, or it has 0 or 4 GiB and more), system,
/// not_permitted.
Result<Mapping, IoError> map_shared_memory(const Fd& fd);

}  // namespace peal::io
