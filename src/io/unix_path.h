// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/un.h>

#include <string>

#include "io/error.h"
#include "io/fd.h"

// Unix sockets in the file system: their addresses, their folders, and files that exist already.

namespace peal::io {

/// The socket address of `path`. Errors: invalid_option (the path is empty, too long, or has a zero
/// byte).
Result<sockaddr_un, IoError> unix_address(const std::string& path);

/// A socket file that this process made.
struct UnixSocket {
  Fd fd;  ///< listening, non-blocking
  dev_t device{};
  ino_t inode{};
};

/// Listens at `path` with `mode` (like 0660; write permission lets a user connect). Creates the
/// folder if its parent exists. The folder must be safe: it belongs to root or to this user, and no
/// other user can remove files there. Replaces a socket file at which no process listens. Blocks:
/// up to a second, while another process makes a socket in the folder. Errors: address_in_use
/// (another process listens there, or is about to listen), invalid_option (no path; the folder is
/// missing or not safe; another kind of file is there), not_permitted, system.
Result<UnixSocket, IoError> listen_unix(const std::string& path, mode_t mode);

/// Removes the file of `socket` if `path` still names that file.
void remove_unix_socket(const std::string& path, const UnixSocket& socket);

}  // namespace peal::io
