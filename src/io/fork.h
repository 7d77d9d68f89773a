// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// fork() copies a process without its other threads. So a child cannot use a copied client or
// member: at the fork, another thread may have been changing the object. The object's sockets
// belong to the parent.

namespace peal::io {

/// The number of fork() calls between the first process and this one. An object made while forks()
/// returned another number belongs to a parent. Costs one load, so that each call of the library
/// can check the number.
std::uint64_t forks();

/// From now on, a child of fork() closes `fd` before fork() returns in the child. Otherwise the
/// child would keep a connection, or the lock of a folder, after this process ended. Descriptors
/// above 65,535 stay open in the child until the child ends or runs another program.
void close_in_children(int fd);
/// Undoes close_in_children(). Call it before closing `fd`, because another descriptor may get the
/// same number.
void keep_in_children(int fd);

/// `what` is an object of the parent, which this process must neither use nor destroy. Keeps the
/// object reachable for leak checkers.
void leave_to_parent(void* what);

}  // namespace peal::io
