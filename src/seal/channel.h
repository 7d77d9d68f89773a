// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "seal/key.h"
#include "seal/primitives.h"

// Sealing of the frames of one connection. A connection has a secret of its own for each direction,
// so that a frame of another connection, or of the other direction, is never opened.

namespace peal::seal {

/// The secrets of one connection.
struct ChannelSecrets {
  Secret from_caller;  ///< for frames of the side that called connect()
  Secret to_caller;    ///< for frames of the side that accepted the connection
};

/// Most bytes of a transcript.
inline constexpr std::size_t kTranscriptBytesMax = 192;

/// Derives the secrets of a connection from the cluster's key. `transcript` is all that both sides
/// have sent in clear; it must contain fresh random bytes of each side. Then a side that opens a
/// frame knows that the other side has the key, saw the same transcript, and is no recording.
ChannelSecrets derive_channel(const Key& key, ByteView transcript);

/// Seals the frames of one direction, which arrive in the order in which they were sealed.
class ChannelSealer {
 public:
  explicit ChannelSealer(const Secret& secret) : cipher_(secret) {}
  /// Encrypts `text` in place. `header` is authenticated only; `tag` has kTagBytes.
  void seal(ByteView header, ByteSpan text, ByteSpan tag);

 private:
  GcmSealer cipher_;
  std::uint64_t sealed_ = 0;
};

/// Opens the frames of one direction.
class ChannelOpener {
 public:
  explicit ChannelOpener(const Secret& secret) : cipher_(secret) {}
  /// Decrypts `text` in place. False if this is not the next frame of the sealer.
  [[nodiscard]] bool open(ByteView header, ByteSpan text, ByteView tag);

 private:
  GcmOpener cipher_;
  std::uint64_t opened_ = 0;
};

}  // namespace peal::seal
