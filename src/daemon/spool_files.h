// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "io/fd.h"
#include "session/spool.h"

namespace peal::daemon {

/// What waits on disk: one file without a name for each session that has any. The kernel frees the
/// blocks of what was discarded, and everything when the process ends, however it ends.
class SpoolFiles final : public session::Spool {
 public:
  /// Space is given back in pieces of so many bytes.
  static constexpr std::uint64_t kPieceBytes = 1U << 20;

  /// `folder` exists.
  explicit SpoolFiles(std::string folder) : folder_(std::move(folder)) {}

  Result<void> append(session::SpoolId id, ByteView bytes) override;
  Result<void> read(session::SpoolId id, std::uint64_t offset, ByteSpan out) override;
  void discard(session::SpoolId id, std::uint64_t offset) override;
  void remove(session::SpoolId id) override { files_.erase(id); }

  std::size_t files() const { return files_.size(); }
  /// Why the last call that failed did, in words.
  const std::string& reason() const { return reason_; }

 private:
  struct File {
    io::Fd fd;
    std::uint64_t end = 0;    ///< bytes ever appended
    std::uint64_t freed = 0;  ///< bytes whose space was given back
  };
  Result<File*> file_of(session::SpoolId id);
  tl::unexpected<Errc> fail(const char* what);

  std::string folder_;
  std::map<session::SpoolId, File> files_;
  std::string reason_;
};

}  // namespace peal::daemon
