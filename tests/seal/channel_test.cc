// SPDX-License-Identifier: Apache-2.0
#include "seal/channel.h"

#include <gtest/gtest.h>

#include <vector>

namespace peal::seal {
namespace {

using Bytes = std::vector<std::byte>;

Key key_of(unsigned char first) {
  Secret secret;
  secret.bytes[0] = static_cast<std::byte>(first);
  return make_key(secret, "2026-11-29T09:00:00Z");
}

Bytes transcript(unsigned char fresh) { return Bytes(90, static_cast<std::byte>(fresh)); }

struct Sealed {
  Bytes header = Bytes(4, std::byte{1});
  Bytes text = Bytes(100, std::byte{2});
  Bytes tag = Bytes(kTagBytes);
};

Sealed sealed_by(ChannelSealer& sealer) {
  Sealed frame;
  sealer.seal(frame.header, frame.text, frame.tag);
  return frame;
}

TEST(SealChannel, FramesAreOpenedInTheirOrder) {
  const ChannelSecrets secrets = derive_channel(key_of(1), transcript(5));
  ChannelSealer sealer(secrets.from_caller);
  ChannelOpener opener(secrets.from_caller);
  Bytes last;
  for (int i = 0; i < 100; ++i) {
    Sealed frame = sealed_by(sealer);
    EXPECT_NE(frame.text, Bytes(100, std::byte{2}));
    EXPECT_NE(frame.text, last) << "each frame has a nonce of its own";
    last = frame.text;
    EXPECT_TRUE(opener.open(frame.header, frame.text, frame.tag));
    EXPECT_EQ(frame.text, Bytes(100, std::byte{2}));
  }
}

TEST(SealChannel, ChangedRepeatedAndMissingFramesAreNotOpened) {
  const ChannelSecrets secrets = derive_channel(key_of(1), transcript(5));
  for (int harm = 0; harm < 5; ++harm) {
    ChannelSealer sealer(secrets.from_caller);
    ChannelOpener opener(secrets.from_caller);
    Sealed first = sealed_by(sealer);
    Sealed again = first;
    EXPECT_TRUE(opener.open(first.header, first.text, first.tag));
    Sealed frame = sealed_by(sealer);
    switch (harm) {
      case 0: frame.text[50] ^= std::byte{1}; break;
      case 1: frame.header[0] ^= std::byte{1}; break;
      case 2: frame.tag[15] ^= std::byte{1}; break;
      case 3: frame = again; break;
      default: frame = sealed_by(sealer); break;
    }
    EXPECT_FALSE(opener.open(frame.header, frame.text, frame.tag)) << harm;
    EXPECT_EQ(frame.text, Bytes(100)) << "nothing of it is shown";
  }
}

TEST(SealChannel, EachConnectionDirectionAndKeyHasItsOwnSecret) {
  const ChannelSecrets secrets = derive_channel(key_of(1), transcript(5));
  ChannelSealer sealer(secrets.from_caller);
  const Sealed frame = sealed_by(sealer);
  const auto opens = [&](const Secret& secret) {
    Sealed copy = frame;
    ChannelOpener opener(secret);
    return opener.open(copy.header, copy.text, copy.tag);
  };
  EXPECT_TRUE(opens(derive_channel(key_of(1), transcript(5)).from_caller));
  EXPECT_FALSE(opens(secrets.to_caller));
  EXPECT_FALSE(opens(derive_channel(key_of(1), transcript(6)).from_caller));
  EXPECT_FALSE(opens(derive_channel(key_of(2), transcript(5)).from_caller));
  EXPECT_FALSE(opens(derive_channel(key_of(1), Bytes(89, std::byte{5})).from_caller));
}

}  // namespace
}  // namespace peal::seal
