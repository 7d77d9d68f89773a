// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/error.h"

// Unix sockets of nodes: how to make one, reach one, and find those of a cluster.

namespace peal::cli {

/// Listens on `path`, mode 0600; replaces a socket file that nobody listens on. The caller closes
/// the descriptor. Errors: address_in_use, invalid_option (the path is too long, its folder cannot
/// be used, or something else is there), system. Each begins with the path in quotes.
Result<int, io::IoError> listen_local(const std::string& path);

/// A connected descriptor, blocking. Errors: closed (nobody listens there), invalid_option,
/// not_permitted, system.
Result<int, io::IoError> connect_local(const std::string& path);

/// The folder that `peal up` uses if none is named: one for each user.
std::string default_dir();

/// Makes `dir` if it is missing, for its owner only, and checks that it belongs to this user.
/// Parents must exist. The error is one line.
Result<void, std::string> make_private_dir(const std::string& dir);

/// The sockets that `to` means: itself, or NAME.sock files in it if it is a folder, sorted. The
/// error is one line.
Result<std::vector<std::string>, std::string> find_sockets(const std::string& to);

}  // namespace peal::cli
