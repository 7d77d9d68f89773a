// SPDX-License-Identifier: Apache-2.0
#include "config/data_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace peal::config {
namespace {

std::string problem_with(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "it is not a folder";
  if (status.st_uid != ::geteuid()) {
    return "it belongs to user " + std::to_string(status.st_uid) + ", and this is user " +
           std::to_string(::geteuid());
  }
  if ((status.st_mode & 022U) != 0) return "others than its owner may write to it: chmod 700 it";
  if (::access(path.c_str(), W_OK | X_OK) != 0) return std::strerror(errno);
  return {};
}

}  // namespace

Result<void, std::string> validate_data_dir(const std::string& path) {
  if (std::string why = problem_with(path); !why.empty()) return unexpected(std::move(why));
  return {};
}

}  // namespace peal::config
