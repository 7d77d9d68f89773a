// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace peal::port {

/// Why a disk refused. `message` is for a person: what was tried, on which file, and the reason.
struct DiskError {
  enum class Kind : std::uint8_t {
    full,   ///< no space, or a quota: free some
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

/// Of how many bytes disks and file systems are made.
inline constexpr std::size_t kDiskBlockBytes = 4'096;

/// From so many bytes on it costs less to wait for a disk than to copy to a cache.
inline constexpr std::size_t kLargeWriteBytes = 64U << 10;

/// What was read of a file.
struct DiskRead {
  std::size_t bytes{};
  std::uint64_t file_bytes{};  ///< so long was the file then
};

/// The files of one folder, which has one user. io/ implements it with system calls, the simulator
/// with a disk that forgets what was not synced. Names have no slash. Calls block as long as the
/// disk does; they come from one thread at a time. After an error the caller cannot know what the
/// file holds.
class Disk {
 public:
  virtual ~Disk() = default;

  /// How a person finds the file: its path. An empty name stands for the folder.
  virtual std::string path_of(const std::string& name) const = 0;
  /// All there is, sorted by name. Errors: system, and too many files.
  virtual DiskResult<std::vector<DiskFile>> list() = 0;
  /// Fills `to` with the file's bytes from offset `at` on; with fewer only where the file ends.
  virtual DiskResult<DiskRead> read(const std::string& name, std::uint64_t at, ByteSpan to) = 0;
  /// A new file of so many zeros, for which the space is taken. Error: it is there already.
  virtual DiskResult<void> create(const std::string& name, std::uint64_t bytes) = 0;
  /// All of `bytes`, from offset `at` on. Kept over a crash only once sync() came back. Large ones
  /// cost least if their place, their length and their memory are whole blocks.
  virtual DiskResult<void> write(const std::string& name, std::uint64_t at, ByteView bytes) = 0;
  /// What was written to the file, and its length, are kept over a crash. Never to be tried again
  /// after an error: the operating system may have forgotten what it could not write.
  virtual DiskResult<void> sync(const std::string& name) = 0;
  /// `to` is replaced if it is there, at once. Kept over a crash only after sync_folder().
  virtual DiskResult<void> rename(const std::string& from, const std::string& to) = 0;
  virtual DiskResult<void> remove(const std::string& name) = 0;
  /// Which names there are, and for which files, is kept over a crash.
  virtual DiskResult<void> sync_folder() = 0;
};

}  // namespace peal::port
