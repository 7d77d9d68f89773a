// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

// The folder of a cluster on this machine, and the sockets of its nodes.

namespace peal::cli {

/// The default folder of `peal up`: one for each user.
std::string default_dir();

/// Creates `dir` if it is missing, with access only for its owner. Checks that `dir` belongs to
/// this user, and that no other user may write to it. The parent folder must exist. The error is
/// one line.
Result<void, std::string> make_private_dir(const std::string& dir);

/// The sockets that `to` names: `to` itself or, if it is a folder, the NAME.sock files in it,
/// sorted. The error is one line.
Result<std::vector<std::string>, std::string> find_sockets(const std::string& to);

}  // namespace peal::cli
