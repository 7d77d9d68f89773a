// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace peal::io {

/// The reason why the operating system refused an operation, or why a configured value was refused.
/// Callers act on `code`. `message` is one line for a person: the operation, its object and the
/// remedy.
struct IoError {
  Errc code = Errc::system;
  std::string message;
};

/// The error for a failed system call: `what` is the operation ("bind 10.0.0.1:4800"), `number` its
/// errno.
IoError system_error(const std::string& what, int number);

}  // namespace peal::io
