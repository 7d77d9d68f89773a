// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace peal::io {

/// Why the operating system, or a configured value, was refused. `code` is what a caller acts on;
/// `message` is one line for a person: what was tried, on what, and what to do about it.
struct IoError {
  Errc code = Errc::system;
  std::string message;
};

/// The error for a failed system call: `what` says what was tried ("bind 10.0.0.1:4800"), `number`
/// is its errno.
IoError system_error(const std::string& what, int number);

}  // namespace peal::io
