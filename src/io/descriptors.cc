// SPDX-License-Identifier: Apache-2.0
#include "io/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace peal::io {
namespace {

rlim_t limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

bool is_of_reserve(int fd) {
  const rlim_t most = limit();
  if (fd < 0 || most == RLIM_INFINITY) return false;
  // A process with very few descriptors must still serve some clients.
  const rlim_t reserve = std::min<rlim_t>(kDescriptorsReserved, most / 8);
  return static_cast<rlim_t>(fd) + reserve >= most;
}

std::string descriptor_limit_text(int number) {
  if (number == ENFILE) {
    return "the system has as many files open as fs.file-max allows: raise it, or end what has "
           "them open";
  }
  if (number != EMFILE) return {};
  return "this process may have " + std::to_string(limit()) +
         " descriptors (RLIMIT_NOFILE): raise that (ulimit -n, or LimitNOFILE of systemd), or have "
         "fewer clients";
}

}  // namespace peal::io
