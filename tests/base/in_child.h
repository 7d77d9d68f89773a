// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace peal {

/// Runs `what` in a child by fork(), and returns what it returned, or how the child ended instead.
/// A child that hangs is ended.
inline std::string in_child(const std::function<std::string()>& what) {
  constexpr unsigned kPatienceS = 60;
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kPatienceS);
    const std::string text = what();
    const ssize_t put = ::write(ends[1], text.data(), text.size());
    ::_exit(put == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char part[4'096];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return "no child";
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  return text;
}

/// The open descriptors of this process that are of one kind, such as "socket:".
inline int descriptors_of_kind(std::string_view kind) {
  int count = 0;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto to = std::filesystem::read_symlink(each.path(), error);
    if (!error && to.string().starts_with(kind)) ++count;
  }
  return count;
}

}  // namespace peal
