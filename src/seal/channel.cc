// SPDX-License-Identifier: Apache-2.0
#include "seal/channel.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/assert.h"

namespace peal::seal {
namespace {

Secret derive_direction(const Key& key, std::string_view purpose, ByteView transcript) {
  std::array<std::byte, kTranscriptBytesMax + 32> info{};
  PEAL_ASSERT(transcript.size() <= kTranscriptBytesMax && purpose.size() <= 32);
  const auto behind = std::copy_n(as_bytes_view(purpose).begin(), purpose.size(), info.begin());
  const auto end = std::copy(transcript.begin(), transcript.end(), behind);
  Secret out;
  hkdf_sha256(key.secret.bytes, {},
              ByteView(info).first(static_cast<std::size_t>(end - info.begin())), out.bytes);
  return out;
}

/// A direction has a key of its own, so the counter of its frames is a nonce.
Nonce nonce_of_frame(std::uint64_t counter) {
  Nonce nonce{};
  store(ByteSpan(nonce).last(sizeof counter), counter);
  return nonce;
}

}  // namespace

ChannelSecrets derive_channel(const Key& key, ByteView transcript) {
  return {derive_direction(key, "peal seal 1 channel, caller", transcript),
          derive_direction(key, "peal seal 1 channel, callee", transcript)};
}

void ChannelSealer::seal(ByteView header, ByteSpan text, ByteSpan tag) {
  cipher_.seal(nonce_of_frame(++sealed_), header, text, text, tag);
}

bool ChannelOpener::open(ByteView header, ByteSpan text, ByteView tag) {
  return cipher_.open(nonce_of_frame(++opened_), header, text, tag);
}

}  // namespace peal::seal
