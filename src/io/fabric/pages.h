// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/error.h"
#include "io/fd.h"
#include "io/shared_memory.h"

namespace peal::io::fabric {

/// Memory of this process, which one other process may map and write.
struct SharedPages {
  Fd fd;  ///< to be passed to the other process
  Mapping pages;
};

/// Makes zero bytes that never change their size. All pages exist when the call returns, so that no
/// store ever finds that the machine has no memory left. Errors: too_large (too little memory),
/// system (no descriptors).
Result<SharedPages, IoError> make_shared_pages(std::size_t bytes);

/// Maps memory of another process for writing, without trusting that process: a store to it never
/// fails. Errors: invalid_option (it is no memfd, is not sealed, has not `bytes`, or cannot be
/// written), system. The message continues a line that names the process.
Result<Mapping, IoError> map_pages_of_peer(const Fd& fd, std::size_t bytes);

}  // namespace peal::io::fabric
