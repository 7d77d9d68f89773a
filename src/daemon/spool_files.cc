// SPDX-License-Identifier: Apache-2.0
#include "daemon/spool_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/assert.h"
#include "io/descriptors.h"
#include "io/error.h"

namespace peal::daemon {
namespace {

/// Opens an anonymous file in `folder`. On a file system that does not support O_TMPFILE, the file
/// has a name until it is unlinked.
int open_unnamed(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  std::string name = folder + "/peal-spool-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

Unexpected<Errc> SpoolFiles::fail(const char* what) {
  const int number = errno;
  reason_ = io::system_error(std::string(what) + " in " + folder_, number).message;
  return unexpected(number == EACCES || number == EPERM || number == EROFS ? Errc::not_permitted
                                                                           : Errc::system);
}

Result<SpoolFiles::File*, Errc> SpoolFiles::file_of(session::SpoolId id) {
  const auto found = files_.find(id);
  if (found != files_.end()) return &found->second;
  io::Fd fd(open_unnamed(folder_));
  if (io::is_of_reserve(fd.get())) {
    fd.reset();
    errno = EMFILE;
  }
  if (fd.get() < 0) return fail("a file for messages that wait on disk cannot be made");
  return &files_.emplace(id, File{std::move(fd), 0, {}}).first->second;
}

Result<void, Errc> SpoolFiles::append(session::SpoolId id, ByteView bytes) {
  auto found = file_of(id);
  if (!found) return unexpected(found.error());
  File& file = **found;
  if (file.block.size() + bytes.size() > kBlockBytes) {
    if (const Result<void, Errc> wrote = write_block(file); !wrote) return wrote;
  }
  if (file.block.capacity() == 0 && blocks_bytes_ + kBlockBytes <= kBlocksBytesMax) {
    file.block.reserve(kBlockBytes);
    blocks_bytes_ += kBlockBytes;
  }
  if (file.block.size() + bytes.size() > std::min(kBlockBytes, file.block.capacity())) {
    return write(file, bytes);
  }
  file.block.insert(file.block.end(), bytes.begin(), bytes.end());
  return {};
}

/// Writes the whole block. After an error nothing has changed: the block stays in memory and
/// remains readable.
Result<void, Errc> SpoolFiles::write_block(File& file) {
  const Result<void, Errc> wrote = write(file, file.block);
  if (wrote) file.block.clear();
  return wrote;
}

Result<void, Errc> SpoolFiles::write(File& file, ByteView bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = ::pwrite(file.fd.get(), bytes.data() + written, bytes.size() - written,
                               static_cast<off_t>(file.written + written));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = ENOSPC;
      const auto failed = fail("writing messages that wait on disk");
      // The bytes of a partial write do not count: they are cut off, or overwritten later.
      ignore(::ftruncate(file.fd.get(), static_cast<off_t>(file.written)), "it is written over");
      return failed;
    }
    written += static_cast<std::size_t>(n);
  }
  file.written += bytes.size();
  return {};
}

Result<void, Errc> SpoolFiles::read(session::SpoolId id, std::uint64_t offset, ByteSpan out) {
  const auto found = files_.find(id);
  PEAL_ASSERT(found != files_.end());
  const File& file = found->second;
  PEAL_ASSERT(offset >= file.freed && offset + out.size() <= file.end());
  const std::uint64_t behind = std::max(offset, file.written);  // first offset that is in the block
  if (offset + out.size() > behind) {
    const ByteView tail = ByteView(file.block).subspan(behind - file.written);
    const ByteSpan last = out.subspan(behind - offset);
    std::copy_n(tail.begin(), last.size(), last.begin());
    out = out.first(behind - offset);
  }
  std::size_t got = 0;
  while (got < out.size()) {
    const ssize_t n = ::pread(file.fd.get(), out.data() + got, out.size() - got,
                              static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = EIO;  // the file has lost bytes that were written
      return fail("reading messages that wait on disk");
    }
    got += static_cast<std::size_t>(n);
  }
  return {};
}

void SpoolFiles::remove(session::SpoolId id) {
  const auto found = files_.find(id);
  if (found == files_.end()) return;
  if (found->second.block.capacity() > 0) blocks_bytes_ -= kBlockBytes;
  files_.erase(found);
}

void SpoolFiles::discard(session::SpoolId id, std::uint64_t offset) {
  const auto found = files_.find(id);
  if (found == files_.end()) return;
  File& file = found->second;
  PEAL_ASSERT(offset <= file.end());
  const std::uint64_t pieces = std::min(offset, file.written) / kPieceBytes * kPieceBytes;
  if (pieces <= file.freed) return;
  // If the file system cannot punch holes, the space is freed when the session ends.
  ignore(::fallocate(file.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(file.freed), static_cast<off_t>(pieces - file.freed)),
         "the space comes back later");
  file.freed = pieces;
}

}  // namespace peal::daemon
