// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/fd.h"
#include "session/spool.h"

namespace peal::daemon {

/// Stores spilled events: one anonymous file for each session that has such events. The kernel
/// frees the space of discarded events, and all files when the process ends, even by a crash. The
/// newest bytes wait in memory until they fill a block, because a system call for each event would
/// slow down all clients of the daemon.
class SpoolFiles final : public session::Spool {
 public:
  /// Space is freed in pieces of this size.
  static constexpr std::uint64_t kPieceBytes = 1U << 20;
  /// Limits of memory for bytes that are not written yet: of one session, and of all sessions.
  static constexpr std::size_t kBlockBytes = 64U << 10;
  static constexpr std::size_t kBlocksBytesMax = 16U << 20;

  /// `folder` must exist.
  explicit SpoolFiles(std::string folder) : folder_(std::move(folder)) {}

  Result<void, Errc> append(session::SpoolId id, ByteView bytes) override;
  Result<void, Errc> read(session::SpoolId id, std::uint64_t offset, ByteSpan out) override;
  void discard(session::SpoolId id, std::uint64_t offset) override;
  void remove(session::SpoolId id) override;

  std::size_t files() const { return files_.size(); }
  /// Memory for bytes that are not written yet.
  std::size_t blocks_bytes() const { return blocks_bytes_; }
  /// Why the last failed call failed, in words.
  const std::string& reason() const { return reason_; }

 private:
  struct File {
    io::Fd fd;
    std::uint64_t written = 0;     ///< bytes written to the file so far
    std::vector<std::byte> block;  ///< the bytes after `written`; capacity: kBlockBytes or 0
    std::uint64_t freed = 0;       ///< bytes whose space was freed

    std::uint64_t end() const { return written + block.size(); }
  };
  Result<File*, Errc> file_of(session::SpoolId id);
  Result<void, Errc> write(File& file, ByteView bytes);
  Result<void, Errc> write_block(File& file);
  Unexpected<Errc> fail(const char* what);

  std::string folder_;
  std::map<session::SpoolId, File> files_;
  std::size_t blocks_bytes_ = 0;
  std::string reason_;
};

}  // namespace peal::daemon
