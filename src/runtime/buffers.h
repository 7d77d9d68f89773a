// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.h"
#include "config/settings.h"

namespace peal::runtime {

/// The memory of a node's packets, reserved at start.
struct Buffers {
  explicit Buffers(const config::Settings& settings);

  /// True if buffers are scarce. Then holders of references to buffers should copy the bytes and
  /// release the references.
  bool are_short() const;

  BufferPool received;  ///< received packets
  BufferPool units;     ///< own units, with space for their packet headers
  BufferPool frames;    ///< the engine's own packets, and the values that it reads from its log
};

}  // namespace peal::runtime
