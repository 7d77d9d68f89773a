// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace peal {

/// The page size of a piece of memory.
enum class Pages : std::uint8_t {
  ordinary,  ///< untouched pages cost no memory
  /// 2 MiB, where the operating system has such pages. The processor, and a device that gets the
  /// memory, then need fewer address translations. The constructor touches all of the memory,
  /// because the first touch of such a page may take milliseconds, which would delay a later
  /// caller.
  large,
};

/// A piece of uninitialised memory of a fixed size that begins at a multiple of kAlignment.
class LargeMemory {
 public:
  static constexpr std::size_t kAlignment = 4'096;

  LargeMemory(std::size_t bytes, Pages pages);

  std::byte* data() const { return bytes_.get(); }

 private:
  struct Free {
    std::size_t alignment;
    void operator()(std::byte* bytes) const;
  };
  using Bytes = std::unique_ptr<std::byte, Free>;

  static Bytes take(std::size_t bytes, Pages pages);

  Bytes bytes_;
};

}  // namespace peal
