// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace peal {

/// How a piece of memory is divided where processors look up where it lies.
enum class Pages : std::uint8_t {
  ordinary,  ///< what is never used takes no room
  /// Of two megabytes, where the operating system has such: fewer lookups, for the processor and
  /// for whoever hands the memory to a device. All of it is taken at once: to be given such a page
  /// may take milliseconds, which would else be missing somewhere later.
  large,
};

/// A piece of memory of a fixed size, uninitialised, that begins at a multiple of kAlignment.
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
