// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "config/data_dir.h"
#include "config/file/file.h"
#include "seal/key_file.h"

namespace peal::config {
namespace {

enum class Kind : std::uint8_t { missing, folder, file };

/// The kind of object at `path`. `problem` gets the reason why the kind cannot be determined, or
/// why the object cannot be written; otherwise `problem` is empty.
Kind look(const std::string& path, std::string& problem) {
  problem.clear();
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    problem = std::strerror(errno);
    return Kind::missing;
  }
  const bool folder = S_ISDIR(status.st_mode);
  if (::access(path.c_str(), folder ? W_OK | X_OK : W_OK) != 0) problem = std::strerror(errno);
  return folder ? Kind::folder : Kind::file;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Why no file can be written at the path; empty if a file can be written.
std::string why_no_file(const std::string& path) {
  std::string problem;
  const Kind kind = look(path, problem);
  if (kind == Kind::folder) return "it is a folder";
  if (kind == Kind::file) return problem;
  const std::string folder = folder_of(path);
  if (look(folder, problem) == Kind::file) return quote(folder) + " is not a folder";
  return problem.empty() ? "" : quote(folder) + ": " + problem;
}

bool is_missing(const std::string& path) {
  std::string problem;
  return look(path, problem) == Kind::missing;
}

std::string make_key(const std::string& path) {
  return ": bring it here from another node; `peal keygen " + path + "` makes the first one";
}

std::string why_no_folder(const std::string& path) {
  std::string problem;
  if (look(path, problem) == Kind::file) return "it is not a folder";
  return problem;
}

}  // namespace

Result<void, std::string> check_paths(const File& file) {
  const Settings& config = file.settings;
  if (!config.key_file.empty()) {
    const auto keys = seal::load_keys(config.key_file);
    if (!keys) {
      return unexpected(file.place_of("key_file") + " = " + keys.error() +
                        (is_missing(config.key_file) ? make_key(config.key_file) : ""));
    }
  }
  if (!config.trace.empty()) {
    if (const std::string why = why_no_file(config.trace); !why.empty()) {
      return unexpected(file.place_of("trace") + " = " + quote(config.trace) + " (" + why +
                        "): accepted is a file that can be written, in a folder that exists");
    }
  }
  if (!config.data_dir.empty()) {
    if (const auto usable = validate_data_dir(config.data_dir); !usable) {
      return unexpected(file.place_of("data_dir") + " = " + quote(config.data_dir) + " (" +
                        usable.error() +
                        "): accepted is a folder that exists, belongs to this user, and that "
                        "others cannot write to");
    }
  }
  if (!config.state_dir.empty()) {
    if (const std::string why = why_no_folder(config.state_dir); !why.empty()) {
      return unexpected(file.place_of("state_dir") + " = " + quote(config.state_dir) + " (" + why +
                        "): accepted is a folder that exists and can be written to");
    }
  }
  return {};
}

Result<File, std::string> read_usable_file(const std::string& path, const std::string& name,
                                           const std::string& trace) {
  auto file = read_file(path, name);
  if (!file) return file;
  if (!trace.empty()) {
    file->settings.trace = trace;
    file->lines["trace"] = 0;
  }
  const auto usable = check_paths(*file);
  if (!usable) return unexpected(usable.error());
  return file;
}

}  // namespace peal::config
