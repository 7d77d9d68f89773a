// SPDX-License-Identifier: Apache-2.0
#include "io/folder_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace peal::io {
namespace {

constexpr std::size_t kFilesMax = 1U << 17;

/// True if `bytes` can be written from memory to the disk directly (O_DIRECT).
bool whole_blocks(std::uint64_t at, ByteView bytes) {
  const auto memory = reinterpret_cast<std::uintptr_t>(bytes.data());
  return (at | bytes.size() | memory) % port::kDiskBlockBytes == 0;
}

/// Writes `bytes`. Returns the number of bytes written; if fewer than all, errno says why.
std::size_t write_all(int fd, std::uint64_t at, ByteView bytes) {
  std::size_t put = 0;
  while (put < bytes.size()) {
    const ssize_t n =
        ::pwrite(fd, bytes.data() + put, bytes.size() - put, static_cast<off_t>(at + put));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;
    if (n <= 0) break;
    put += static_cast<std::size_t>(n);
  }
  return put;
}

/// Allocates the space of a file. If the file system cannot allocate space, sets only the file's
/// length.
int take_space(int fd, std::uint64_t bytes) {
  const auto length = static_cast<off_t>(bytes);
  if (bytes == 0) return 0;
  int result = 0;
  do {
    result = ::fallocate(fd, 0, 0, length);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) return ::ftruncate(fd, length);
  return result;
}

/// A new folder survives a crash only once its parent is synced.
int sync_parent(int folder) {
  const Fd parent(::openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return parent ? ::fsync(parent.get()) : -1;
}

}  // namespace

Result<std::unique_ptr<FolderDisk>, IoError> FolderDisk::open(const std::string& path) {
  const bool made = ::mkdir(path.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) {
    return unexpected(system_error("make the folder " + quote(path), errno));
  }
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    IoError error = system_error("open the folder " + quote(path), errno);
    if (errno == ENOTDIR) error.code = Errc::invalid_option;
    return unexpected(std::move(error));
  }
  struct stat status {};
  if (::fstat(folder.get(), &status) != 0) {
    return unexpected(system_error("look at the folder " + quote(path), errno));
  }
  if ((status.st_mode & 022) != 0) {
    return unexpected(IoError{Errc::invalid_option, "folder " + quote(path) +
                                                        ": others than its owner may write to it: "
                                                        "chmod 700 it"});
  }
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return unexpected(system_error("lock the folder " + quote(path), errno));
    }
    return unexpected(IoError{
        Errc::address_in_use,
        "folder " + quote(path) + ": another process uses it: stop that one, or take another"});
  }
  // If the folder existed before, a failed sync is no error, because this process may have no right
  // to read the parent folder.
  if (sync_parent(folder.get()) != 0 && made) {
    return unexpected(system_error("sync the folder above " + quote(path), errno));
  }
  return std::unique_ptr<FolderDisk>(new FolderDisk(path, std::move(folder)));
}

std::string FolderDisk::path_of(const std::string& name) const {
  return name.empty() ? path_ : path_ + "/" + name;
}

Unexpected<port::DiskError> FolderDisk::failed(const char* what, const std::string& name) const {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  return unexpected(
      port::DiskError{full ? port::DiskError::Kind::full : port::DiskError::Kind::other,
                      system_error(std::string(what) + " " + path_of(name), number).message});
}

port::DiskResult<std::vector<port::DiskFile>> FolderDisk::list() {
  // The stream gets its own descriptor, because closing the stream closes its descriptor.
  const int fd = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) {
    const auto error = failed("list", "");
    if (fd >= 0) ::close(fd);
    return error;
  }
  std::vector<port::DiskFile> files;
  port::DiskResult<void> good;
  errno = 0;
  for (const dirent* entry = ::readdir(stream); entry != nullptr; entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat status {};
    if (::fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) break;
    files.push_back({std::string(name), static_cast<std::uint64_t>(status.st_size)});
    errno = files.size() > kFilesMax ? E2BIG : 0;
    if (errno != 0) break;
  }
  if (errno != 0) good = failed("list", "");
  ::closedir(stream);
  if (!good) return unexpected(good.error());
  std::sort(files.begin(), files.end(),
            [](const port::DiskFile& a, const port::DiskFile& b) { return a.name < b.name; });
  return files;
}

port::DiskResult<port::DiskRead> FolderDisk::read(const std::string& name, std::uint64_t at,
                                                  ByteSpan to) {
  const Fd fd(
      ::openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return failed("read", name);
  errno = S_ISREG(status.st_mode) ? 0 : EINVAL;
  if (errno != 0) return failed("read", name);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const ByteSpan bytes = to.first(
      static_cast<std::size_t>(std::min<std::uint64_t>(size - std::min(at, size), to.size())));
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n =
        ::pread(fd.get(), bytes.data() + got, bytes.size() - got, static_cast<off_t>(at + got));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;  // the file got shorter meanwhile
    if (n <= 0) return failed("read", name);
    got += static_cast<std::size_t>(n);
  }
  return port::DiskRead{bytes.size(), size};
}

port::DiskResult<void> FolderDisk::create(const std::string& name, std::uint64_t bytes) {
  Fd fd(::openat(folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                 0600));
  if (!fd) return failed("create", name);
  if (take_space(fd.get(), bytes) != 0) return failed("take space for", name);
  set_open(name, std::move(fd));
  length_is_new_ = true;
  return {};
}

void FolderDisk::set_open(const std::string& name, Fd fd) {
  open_ = std::move(fd);
  open_name_ = name;
  around_cache_.reset();
  length_is_new_ = false;
}

port::DiskResult<int> FolderDisk::writable(const std::string& name) {
  if (!open_ || open_name_ != name) {
    Fd fd(::openat(folder_.get(), name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return failed("open", name);
    set_open(name, std::move(fd));
  }
  return open_.get();
}

/// Opens the open file once more with O_DIRECT, for writes that bypass the page cache. False if
/// that fails, as on a file system without O_DIRECT.
bool FolderDisk::open_around_cache() {
  if (!around_cache_ && has_way_around_) {
    around_cache_ = Fd(
        ::openat(folder_.get(), open_name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECT));
    if (!around_cache_ && (errno == EINVAL || errno == EOPNOTSUPP)) has_way_around_ = false;
  }
  return static_cast<bool>(around_cache_);
}

port::DiskResult<void> FolderDisk::write(const std::string& name, std::uint64_t at,
                                         ByteView bytes) {
  const auto fd = writable(name);
  if (!fd) return unexpected(fd.error());
  std::size_t put = 0;
  if (bytes.size() >= port::kLargeWriteBytes && whole_blocks(at, bytes) && open_around_cache()) {
    put = write_all(around_cache_.get(), at, bytes);
    if (put == 0 && errno == EINVAL) {
      // O_DIRECT works here, but not for blocks of this size.
      has_way_around_ = false;
      around_cache_.reset();
    } else if (put < bytes.size()) {
      return failed("write", name);
    }
  }
  put += write_all(*fd, at + put, bytes.subspan(put));
  if (put < bytes.size()) return failed("write", name);
  return {};
}

port::DiskResult<void> FolderDisk::sync(const std::string& name) {
  const auto fd = writable(name);
  if (!fd) return unexpected(fd.error());
  // create() may have set a length beyond the bytes written, and fdatasync() need not make that
  // length durable.
  if ((length_is_new_ ? ::fsync(*fd) : ::fdatasync(*fd)) != 0) return failed("sync", name);
  length_is_new_ = false;
  return {};
}

port::DiskResult<void> FolderDisk::rename(const std::string& from, const std::string& to) {
  if (::renameat(folder_.get(), from.c_str(), folder_.get(), to.c_str()) != 0) {
    return failed("rename", from);
  }
  if (open_name_ == from) {
    open_name_ = to;
  } else if (open_name_ == to) {
    set_open({}, {});
  }
  return {};
}

port::DiskResult<void> FolderDisk::remove(const std::string& name) {
  if (::unlinkat(folder_.get(), name.c_str(), 0) != 0) return failed("remove", name);
  if (open_name_ == name) set_open({}, {});
  return {};
}

port::DiskResult<void> FolderDisk::sync_folder() {
  if (::fsync(folder_.get()) != 0) return failed("sync", "");
  return {};
}

}  // namespace peal::io
