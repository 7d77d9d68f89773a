// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/same_user.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace peal::io::fabric {

bool is_same_user(std::uint32_t uid) { return uid == ::geteuid() || uid == 0; }

Result<void, IoError> is_same_user(const Fd& fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return unexpected(system_error("look who listens", errno));
  }
  if (is_same_user(credentials.uid)) return {};
  return unexpected(IoError{Errc::not_permitted, "uid " + std::to_string(credentials.uid) +
                                                     " listens there, and this process has uid " +
                                                     std::to_string(::geteuid()) +
                                                     ": run both as the same user"});
}

}  // namespace peal::io::fabric
