// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "golden.h"
#include "wire/frames.h"

// Shared by the tests that compare golden packets with frames.

namespace peal::wire::test {

// The values that the golden files were written from.
inline constexpr MemberId kA{{1}, 1000};
inline constexpr MemberId kB{{2}, (1ULL << 40) + 5};
inline constexpr MemberId kOlderB{{2}, (1ULL << 40) + 4};
inline constexpr MemberId kC{{3}, 7};
inline constexpr MemberId kD{{40'000}, ~0ULL};
inline constexpr ViewId kGoldenView{77, kA};
inline constexpr ViewId kOldOne{70, kB};
inline constexpr ViewId kOldTwo{75, kC};
inline constexpr ViewId kBirth{0, kD};
inline constexpr std::uint64_t kCluster = 0xc0ffee0012345678;
inline constexpr std::uint64_t kList = 0x1122334455667788;
inline constexpr std::uint64_t kKey = 1'795'573'380'123'456;

inline Header golden_header(FrameKind kind, const MemberId& sender) {
  return {kind, kCluster, sender};
}

/// The numbers from 0 on, as bytes.
inline std::vector<std::byte> counting(std::size_t count) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(i));
  return bytes;
}

/// The golden packet must decode to `expected`, and `expected` must encode to the golden packet.
template <class Frame, class Decode, class Encode>
void expect_golden(const std::string& name, FrameKind kind, const MemberId& sender,
                   const Frame& expected, Decode decode, Encode encode) {
  const Golden golden = load_golden(name);
  Header header;
  ASSERT_EQ(drop_name(decode_header(golden.bytes, header)), "none") << name;
  EXPECT_EQ(header.kind, kind);
  EXPECT_EQ(header.cluster, kCluster);
  EXPECT_EQ(header.sender, sender);
  Frame frame;
  ASSERT_EQ(drop_name(decode(golden.bytes, frame)), "none") << name;
  EXPECT_TRUE(frame == expected) << name;
  std::vector<std::byte> out(golden.bytes.size());
  ASSERT_EQ(encode(golden_header(kind, sender), expected, ByteSpan(out)), out.size()) << name;
  EXPECT_EQ(out, golden.bytes) << name;
}

}  // namespace peal::wire::test
