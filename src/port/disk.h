// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace peal::port {

/// Why a disk operation failed. `message` is for a person: the operation, the file and the reason.
struct DiskError {
  enum class Kind : std::uint8_t {
    full,   ///< no space, or a quota is reached; freeing space helps
    other,  ///< anything else
  };
  Kind kind = Kind::other;
  std::string message;
};

template <class T>
using DiskResult = Result<T, DiskError>;

struct DiskFile {
  std::string name;
  std::uint64_t bytes{};
};

/// Block size of disks and file systems, in bytes.
inline constexpr std::size_t kDiskBlockBytes = 4'096;

/// A write of at least this many bytes costs less if it goes directly to the disk than if it is
/// copied into the cache.
inline constexpr std::size_t kLargeWriteBytes = 64U << 10;

/// The result of a read.
struct DiskRead {
  std::size_t bytes{};
  std::uint64_t file_bytes{};  ///< the file's length at the time of the read
};

/// The files of one folder, which nothing else uses. io/ implements this interface with system
/// calls. The simulator implements it with a disk that loses unsynced writes. Names contain no
/// slash. Calls block until the disk is done, and come from one thread at a time. After an error,
/// the content of the file is unknown.
class Disk {
 public:
  virtual ~Disk() = default;

  /// The file's path, for messages to a person. An empty name stands for the folder.
  virtual std::string path_of(const std::string& name) const = 0;
  /// All files, sorted by name. Errors: system, and too many files.
  virtual DiskResult<std::vector<DiskFile>> list() = 0;
  /// Fills `to` with the file's bytes from offset `at` on; reads fewer only at the end of the file.
  virtual DiskResult<DiskRead> read(const std::string& name, std::uint64_t at, ByteSpan to) = 0;
  /// Creates a file of `bytes` zeros and allocates its space. Error: the file exists.
  virtual DiskResult<void> create(const std::string& name, std::uint64_t bytes) = 0;
  /// Writes all of `bytes` at offset `at`. The bytes survive a crash only once sync() has returned.
  /// Large writes cost least if their offset, length and memory are multiples of a block.
  virtual DiskResult<void> write(const std::string& name, std::uint64_t at, ByteView bytes) = 0;
  /// Makes the file's content and length survive a crash. Never retry it after an error: the
  /// operating system may have dropped the bytes that it could not write.
  virtual DiskResult<void> sync(const std::string& name) = 0;
  /// Renames `from` to `to`; replaces an existing `to` atomically. The rename survives a crash only
  /// after sync_folder().
  virtual DiskResult<void> rename(const std::string& from, const std::string& to) = 0;
  virtual DiskResult<void> remove(const std::string& name) = 0;
  /// Makes the folder's entries survive a crash: the names, and the file that each name stands for.
  virtual DiskResult<void> sync_folder() = 0;
};

}  // namespace peal::port
