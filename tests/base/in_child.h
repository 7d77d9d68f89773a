// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

// PEAL_NEEDS_FORK() begins a test that forks while other threads run. With a sanitizer it skips the
// test. The sanitizers of clang 14 and GCC 12 do not hold the locks of their allocators over fork()
// (the C library does, and LLVM does since 2024). If another thread holds such a lock at fork(),
// the child waits for this lock for ever.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PEAL_FORK_MAY_HANG 1
#elif defined(__has_feature)
#define PEAL_FORK_MAY_HANG (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define PEAL_FORK_MAY_HANG 0
#endif
#if PEAL_FORK_MAY_HANG
#define PEAL_NEEDS_FORK() \
  GTEST_SKIP() << "a sanitizer's allocator may hang in a child of fork(): see in_child.h"
#else
#define PEAL_NEEDS_FORK() static_cast<void>(0)
#endif

namespace peal {

/// Runs `what` in a child by fork(). Returns the text that `what` returned, or the signal that
/// ended the child. A child that hangs is killed.
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

/// The number of open descriptors of this process whose links begin with `kind`, like "socket:".
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
