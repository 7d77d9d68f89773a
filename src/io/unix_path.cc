// SPDX-License-Identifier: Apache-2.0
#include "io/unix_path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "io/stream.h"

namespace peal::io {
namespace {

constexpr std::size_t kPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;
constexpr int kUnixBacklog = 1'024;

Unexpected<IoError> refuse_path(const std::string& path, const std::string& why) {
  return unexpected(IoError{Errc::invalid_option, quote(path) + ": " + why});
}

std::string mode_text(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Users who may connect need the right to pass through the folder.
mode_t folder_mode(mode_t mode) {
  mode_t result = 0700;
  if ((mode & 0060) != 0) result |= 0050;
  if ((mode & 0006) != 0) result |= 0005;
  return result;
}

/// Only one process at a time makes a socket in a folder, because daemons of one machine may start
/// together. A daemon holds the lock only for a few system calls. So a process that holds the lock
/// for more than a second is not a daemon.
Result<void, IoError> lock_folder(const Fd& fd, const std::string& folder) {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return unexpected(system_error("lock folder " + quote(folder), errno));
    }
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return unexpected(
      IoError{Errc::address_in_use, quote(folder) + ": another process holds its lock: try again"});
}

/// Opens and locks the folder; the lock lasts until the descriptor is closed.
Result<Fd, IoError> open_folder(const std::string& folder, mode_t mode) {
  const bool made = ::mkdir(folder.c_str(), folder_mode(mode)) == 0;
  if (!made && errno != EEXIST) {
    const int number = errno;
    if (number != ENOENT && number != ENOTDIR) {
      return unexpected(system_error("make folder " + quote(folder), number));
    }
    return refuse_path(folder, "accepted is a folder, or a new name in a folder that exists");
  }
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd && errno == ENOTDIR) return refuse_path(folder, "is no folder");
  if (!fd) return unexpected(system_error("open folder " + quote(folder), errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return unexpected(system_error("look at folder " + quote(folder), errno));
  }
  // The umask may have removed rights that clients need.
  if (made && ::fchmod(fd.get(), folder_mode(mode)) != 0) {
    return unexpected(system_error("give rights to folder " + quote(folder), errno));
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return refuse_path(folder, "belongs to uid " + std::to_string(status.st_uid) +
                                   ": accepted is a folder of this user or of root");
  }
  if ((status.st_mode & 0022) != 0 && (status.st_mode & S_ISVTX) == 0) {
    return refuse_path(folder, "others can replace what is in it (mode " +
                                   mode_text(status.st_mode) + "): chmod go-w " + folder);
  }
  const auto locked = lock_folder(fd, folder);
  if (!locked) return unexpected(locked.error());
  return fd;
}

/// Removes the socket at `path` if no process listens there. A missing file is no error. A
/// listening process and another kind of file are errors.
Result<void, IoError> remove_stale(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return unexpected(system_error("look at " + quote(path), errno));
  }
  if (!S_ISSOCK(status.st_mode)) {
    return refuse_path(path, "is there and is no socket: accepted is a new path");
  }
  const auto other = connect_unix(path);
  if (other || other.error().code == Errc::would_block) {
    return unexpected(
        IoError{Errc::address_in_use, quote(path) + ": another process listens there: stop it, or "
                                                    "choose another path"});
  }
  if (other.error().code != Errc::closed) return unexpected(other.error());
  if (::unlink(path.c_str()) != 0) {
    return unexpected(system_error("remove the old socket " + quote(path), errno));
  }
  return {};
}

}  // namespace

Result<sockaddr_un, IoError> unix_address(const std::string& path) {
  if (path.empty() || path.size() > kPathBytesMax || path.find('\0') != std::string::npos) {
    return refuse_path(path, "has " + std::to_string(path.size()) +
                                 " bytes: accepted is a path of 1 to " +
                                 std::to_string(kPathBytesMax) + " bytes, none of them 0");
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<UnixSocket, IoError> listen_unix(const std::string& path, mode_t mode) {
  const auto address = unix_address(path);
  if (!address) return unexpected(address.error());
  if (path.back() == '/') return refuse_path(path, "is a folder: accepted is the path of a socket");
  const auto folder = open_folder(folder_of(path), mode);
  if (!folder) return unexpected(folder.error());
  if (auto removed = remove_stale(path); !removed) return unexpected(removed.error());

  UnixSocket socket;
  socket.fd = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.fd) return unexpected(system_error("open a Unix socket", errno));
  // The file inherits the socket's mode, so the file never has more rights than intended.
  if (::fchmod(socket.fd.get(), 0600) != 0) {
    return unexpected(system_error("give rights to a socket", errno));
  }
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  if (::bind(socket.fd.get(), generic, sizeof *address) != 0) {
    return unexpected(system_error("make the socket " + quote(path), errno));
  }
  struct stat status {};
  const bool known = ::lstat(path.c_str(), &status) == 0;
  socket.device = status.st_dev;
  socket.inode = status.st_ino;
  if (!known || ::chmod(path.c_str(), mode) != 0 || ::listen(socket.fd.get(), kUnixBacklog) != 0) {
    const int number = errno;
    ::unlink(path.c_str());
    return unexpected(system_error("listen at " + quote(path), number));
  }
  return socket;
}

void remove_unix_socket(const std::string& path, const UnixSocket& socket) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (status.st_dev == socket.device && status.st_ino == socket.inode) ::unlink(path.c_str());
}

}  // namespace peal::io
