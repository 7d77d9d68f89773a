// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// fork() copies a process without its threads: what a client or a member was made of is then of no
// use to the child. A thread that is not there may have been changing it, and its sockets are the
// parent's.

namespace peal::io {

/// How often this process was made by fork(): of itself and of those before it. Whatever was made
/// while forks() was another number belongs to a parent. One load, so that each call can ask.
std::uint64_t forks();

/// A child by fork() closes this descriptor before fork() returns there: else a connection would
/// outlive its process, and so would the lock of a folder. Above 65,535 they stay open in the
/// child, until it ends or runs another program.
void close_in_children(int fd);
/// The same no more; call it before `fd` is closed, or another one may have its number.
void keep_in_children(int fd);

/// What this process has of its parent's and must neither use nor destroy: it stays where it is.
void leave_to_parent(void* what);

}  // namespace peal::io
