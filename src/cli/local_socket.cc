// SPDX-License-Identifier: Apache-2.0
#include "cli/local_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "cli/text.h"

namespace peal::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

std::optional<sockaddr_un> address_of(const std::string& path) {
  if (path.empty() || path.size() > kPathBytesMax) return std::nullopt;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

io::IoError bad_path(const std::string& path) {
  return {Errc::invalid_option, quote(path) + " has " + std::to_string(path.size()) +
                                    " bytes: accepted is a path of 1 to " +
                                    std::to_string(kPathBytesMax) + " bytes"};
}

/// Why no socket can be made at `path`; what is there stays.
io::IoError cannot_listen(const std::string& path, int number) {
  if (number == EADDRINUSE) {
    return {Errc::invalid_option,
            quote(path) +
                " is there and is not the socket of a node: accepted is a new path, or "
                "one that a node left behind"};
  }
  const bool ours = number == ENOENT || number == ENOTDIR || number == EACCES || number == EROFS;
  return {ours ? Errc::invalid_option : Errc::system,
          quote(path) + " (" + std::strerror(number) +
              "): accepted is a path in a folder that exists and that can be written to"};
}

int new_socket(int flags) { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0); }

bool bind_privately(int fd, const sockaddr_un& address) {
  // The mode of the file comes from the mask at the time of bind: no moment with more rights.
  const mode_t mask = ::umask(0177);
  const int done = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(mask);
  errno = error;
  return done == 0;
}

}  // namespace

Result<int, io::IoError> listen_local(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(bad_path(path));
  // The server takes connections until there are none left, and must not wait for the next one.
  const int fd = new_socket(SOCK_NONBLOCK);
  if (fd < 0) return tl::unexpected(io::system_error("open a Unix socket", errno));
  bool bound = bind_privately(fd, *address);
  if (!bound && errno == EADDRINUSE) {
    const auto other = connect_local(path);
    if (other) {
      ::close(*other);
      ::close(fd);
      return tl::unexpected(io::IoError{
          Errc::address_in_use,
          quote(path) + " is in use: accepted is a path that no running node listens on"});
    }
    struct stat status {};
    const bool stale = other.error().code == Errc::closed && ::lstat(path.c_str(), &status) == 0 &&
                       S_ISSOCK(status.st_mode);
    bound = stale && ::unlink(path.c_str()) == 0 && bind_privately(fd, *address);
    if (!stale) errno = EADDRINUSE;
  }
  if (!bound || ::listen(fd, 64) != 0) {
    auto error = cannot_listen(path, errno);
    ::close(fd);
    return tl::unexpected(std::move(error));
  }
  return fd;
}

Result<int, io::IoError> connect_local(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(bad_path(path));
  const int fd = new_socket(0);
  if (fd < 0) return tl::unexpected(io::system_error("open a Unix socket", errno));
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return fd;
  const int number = errno;
  ::close(fd);
  if (number == ECONNREFUSED || number == ENOENT) {
    return tl::unexpected(io::IoError{Errc::closed, "no node runs at " + path});
  }
  return tl::unexpected(io::system_error("connect to " + path, number));
}

std::string default_dir() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/' && ::access(runtime, W_OK | X_OK) == 0) {
    return std::string(runtime) + "/peal";
  }
  return "/tmp/peal-" + std::to_string(::getuid());
}

Result<void, std::string> make_private_dir(const std::string& dir) {
  if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return tl::unexpected("--dir " + quote(dir) + " cannot be made (" + std::strerror(errno) +
                          "): accepted is a folder, or a new name in an existing one");
  }
  struct stat status {};
  if (::lstat(dir.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    // A link of one's own is fine; somebody else's could point anywhere.
    if (status.st_uid != ::getuid())
      status = {};
    else
      ignore(::stat(dir.c_str(), &status), "a broken link is no folder");
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 0022) != 0) {
    return tl::unexpected("--dir " + quote(dir) +
                          ": accepted is a folder that belongs to you and that others cannot "
                          "write to");
  }
  return {};
}

Result<std::vector<std::string>, std::string> find_sockets(const std::string& to) {
  const std::string where = to.empty() ? default_dir() : to;
  std::error_code error;
  const fs::file_status status = fs::status(where, error);
  if (fs::is_socket(status)) return std::vector<std::string>{where};
  std::vector<std::string> found;
  if (fs::is_directory(status)) {
    for (fs::directory_iterator at(where, error), end; !error && at != end; at.increment(error)) {
      if (at->path().extension() == ".sock") found.push_back(at->path().string());
    }
  }
  if (found.empty()) {
    const std::string what =
        to.empty() ? "no cluster runs in " + where + ": start one with `peal up`, or say --to PATH"
                   : "--to " + quote(to) +
                         ": no node runs there: accepted is the socket of a running node, or a "
                         "folder with such sockets (`peal up --dir DIR` makes one)";
    return tl::unexpected(what);
  }
  // n2 before n10: by length first, as `peal up` counts its names.
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return found;
}

}  // namespace peal::cli
