// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "io/error.h"
#include "io/fd.h"

namespace peal::io {

/// Pages of a memfd, mapped in this process. Thread: any, one at a time; access to the mapped bytes
/// has its own rules.
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

/// Memory that this process writes and other processes may read. The memfd's seals ensure that no
/// other process can ever write the memory and that its size never changes. A page is allocated
/// when it is first touched; all pages are freed together.
class SharedMemory {
 public:
  /// Creates memory of zeros. Errors: system, not_permitted.
  static Result<SharedMemory, IoError> make(std::uint32_t bytes);
  ByteSpan span() const { return pages_.span(); }
  /// The descriptor that other processes map.
  int fd() const { return fd_.get(); }

 private:
  SharedMemory(Fd fd, Mapping pages) : fd_(std::move(fd)), pages_(std::move(pages)) {}
  Fd fd_;
  Mapping pages_;
};

/// Maps memory of another process for reading, without trusting that process. Errors:
/// invalid_option (`fd` is no memfd, could shrink, or has a size of 0 or at least 4 GiB), system,
/// not_permitted.
Result<Mapping, IoError> map_shared_memory(const Fd& fd);

}  // namespace peal::io
