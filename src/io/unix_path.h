// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/un.h>

#include <string>

#include "io/error.h"
#include "io/fd.h"

// Unix sockets in the file system: their addresses, their folders, and what lies there already.

namespace peal::io {

/// Errors: invalid_option (the path is empty or too long).
Result<sockaddr_un, IoError> unix_address(const std::string& path);

/// A socket file that this process made.
struct UnixSocket {
  Fd fd;  ///< listens, and does not block
  dev_t device{};
  ino_t inode{};
};

/// Listens at `path` with `mode` (like 0660; who may write may connect). The folder is made if only
/// it is missing, and must be safe: its owner is root or this user, and nobody else can put files
/// of others away there. A socket file that nobody listens at is replaced. Blocks: never.
/// Errors: address_in_use (somebody listens there, or is about to), invalid_option (no path; the
/// folder is missing or not safe; something else is there), not_permitted, system.
Result<UnixSocket, IoError> listen_unix(const std::string& path, mode_t mode);

/// Removes the file of `socket` if it is still there and still this one.
void remove_unix_socket(const std::string& path, const UnixSocket& socket);

}  // namespace peal::io
