// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/error.h"
#include "io/fd.h"

namespace peal::io::fabric {

/// Descriptors of memory are passed only to processes of this user or of root: another user in
/// between could keep them. Errors: not_permitted (the process at the other end of the Unix socket
/// belongs to another user).
Result<void, IoError> is_same_user(const Fd& fd);
bool is_same_user(std::uint32_t uid);

}  // namespace peal::io::fabric
