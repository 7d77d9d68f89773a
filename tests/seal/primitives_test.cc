// SPDX-License-Identifier: Apache-2.0
#include "seal/primitives.h"

#include <gtest/gtest.h>

#include "stations.h"

namespace peal::seal::test {
namespace {

Secret secret_of(std::string_view hex) {
  Secret secret;
  EXPECT_TRUE(from_hex(hex, secret.bytes));
  return secret;
}

TEST(Hkdf, GivesTheAnswersOfRfc5869) {
  const struct {
    std::string_view secret, salt, info, out;
  } rows[] = {
      {"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "000102030405060708090a0b0c",
       "f0f1f2f3f4f5f6f7f8f9",
       "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"},
      {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223242526272829"
       "2a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f",
       "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f80818283848586878889"
       "8a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
       "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9"
       "dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
       "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb"
       "41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"},
      {"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
       "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"},
  };
  for (const auto& row : rows) {
    Bytes out(row.out.size() / 2);
    hkdf_sha256(bytes_of_hex(row.secret), bytes_of_hex(row.salt), bytes_of_hex(row.info), out);
    EXPECT_EQ(to_hex(out), row.out);
  }
}

/// Test cases 13 to 16 of the GCM specification that NIST SP 800-38D refers to.
TEST(Gcm, GivesTheAnswersOfItsSpecification) {
  const std::string zero(64, '0');
  const std::string key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
  const std::string plain =
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
  const std::string cipher =
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
      "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";
  const std::string short_plain = plain.substr(0, 120);
  const std::string short_cipher = cipher.substr(0, 120);
  const struct {
    std::string key, nonce, header, plain, cipher, tag;
  } rows[] = {
      {zero, zero.substr(0, 24), "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
      {zero, zero.substr(0, 24), "", zero.substr(0, 32), "cea7403d4d606b6e074ec5d3baf39d18",
       "d0d1c8a799996bf0265b98b5d48ab919"},
      {key, "cafebabefacedbaddecaf888", "", plain, cipher, "b094dac5d93471bdec1a502270e3cc6c"},
      {key, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", short_plain,
       short_cipher, "76fc6ece0f4e1768cddf8853bb2d551b"},
  };
  for (const auto& row : rows) {
    Nonce nonce{};
    ASSERT_TRUE(from_hex(row.nonce, nonce));
    const Bytes header = bytes_of_hex(row.header);
    Bytes text = bytes_of_hex(row.plain);
    Bytes tag(kTagBytes);
    GcmSealer(secret_of(row.key)).seal(nonce, header, text, text, tag);
    EXPECT_EQ(to_hex(text), row.cipher);
    EXPECT_EQ(to_hex(tag), row.tag);
    GcmOpener opener(secret_of(row.key));
    EXPECT_TRUE(opener.open(nonce, header, text, tag));
    EXPECT_EQ(to_hex(text), row.plain);
    // The same context opens the text again, after it refused a wrong tag.
    text = bytes_of_hex(row.cipher);
    tag.back() ^= std::byte{1};
    EXPECT_FALSE(opener.open(nonce, header, text, tag));
    EXPECT_EQ(text, Bytes(text.size())) << "nothing of it is left to be used by mistake";
    text = bytes_of_hex(row.cipher);
    tag.back() ^= std::byte{1};
    EXPECT_TRUE(opener.open(nonce, header, text, tag));
  }
}

/// Uses the ECB examples of NIST SP 800-38A, F.1.5. `image` is the encryption of `first`. The
/// second input block is `image` XOR `second`, so the chained value is `second`, whose encryption
/// is known too.
TEST(ShortMac, IsTheCbcMacOfAes256) {
  ShortMac mac(secret_of("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"));
  const Bytes first = bytes_of_hex("6bc1bee22e409f96e93d7e117393172a");
  const Bytes image = bytes_of_hex("f3eed1bdb5d2a03c064b5a7e3db181f8");
  const Bytes second = bytes_of_hex("ae2d8a571e03ac9c9eb76fac45af8e51");
  std::array<std::byte, ShortMac::kInputBytes> input{};
  for (std::size_t i = 0; i < 16; ++i) {
    input[i] = first[i];
    input[16 + i] = image[i] ^ second[i];
  }
  const Bytes expected = bytes_of_hex("591ccb10d410ed26");
  EXPECT_EQ(mac.of(input), load<std::uint64_t>(expected));
  EXPECT_EQ(mac.of(input), load<std::uint64_t>(expected)) << "and again with the same context";
}

}  // namespace
}  // namespace peal::seal::test
