// SPDX-License-Identifier: Apache-2.0
#include "cli/node/cluster_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/text.h"

namespace peal::cli {
namespace {

namespace fs = std::filesystem;

std::string nothing_at(const std::string& to, const std::string& where,
                       const std::error_code& error) {
  if (error == std::errc::permission_denied) {
    return "--to " + quote(where) + ": " + error.message() +
           ": accepted is a socket or a folder that this user may open (`peal up` makes one that "
           "its user alone may)";
  }
  if (to.empty()) {
    return "no cluster runs in " + where + ": start one with `peal up`, or say --to PATH";
  }
  return "--to " + quote(to) +
         ": no node runs there: accepted is the socket of a running node, or a folder with such "
         "sockets (`peal up --dir DIR` makes one)";
}

}  // namespace

std::string default_dir() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/' && ::access(runtime, W_OK | X_OK) == 0) {
    return std::string(runtime) + "/peal";
  }
  return "/tmp/peal-" + std::to_string(::getuid());
}

Result<void, std::string> make_private_dir(const std::string& dir) {
  // The kernel limits the path of a socket to 107 bytes; the longest suffix is /n32.sock.
  constexpr std::size_t kDirBytesMax = 98;
  if (dir.size() > kDirBytesMax) {
    return unexpected("--dir " + quote(dir) + " has " + std::to_string(dir.size()) +
                      " bytes: accepted are up to " + std::to_string(kDirBytesMax) +
                      ", as the sockets of the nodes are in it");
  }
  if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return unexpected("--dir " + quote(dir) + " cannot be made (" + std::strerror(errno) +
                      "): accepted is a folder, or a new name in an existing one");
  }
  struct stat status {};
  if (::lstat(dir.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    // A link of this user is accepted; a link of another user could point anywhere.
    if (status.st_uid != ::getuid())
      status = {};
    else
      ignore(::stat(dir.c_str(), &status), "a broken link is no folder");
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 0022) != 0) {
    return unexpected("--dir " + quote(dir) +
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
  if (found.empty()) return unexpected(nothing_at(to, where, error));
  // Sorted by length first, so that n2 comes before n10: `peal up` numbers its nodes.
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return found;
}

}  // namespace peal::cli
