// SPDX-License-Identifier: Apache-2.0
#include "node/reassembly.h"

#include <gtest/gtest.h>

#include <string>

#include "fake_engine.h"

namespace peal::node {
namespace {

using Fed = Reassembly::Fed;
using test::pattern;

const MemberId kA{NodeId{1}, 1};
const MemberId kB{NodeId{2}, 1};

Chunk first(std::uint64_t number, std::uint32_t total, std::string_view bytes) {
  return {number, true, false, Service::agreed, total, 0, as_bytes_view(bytes)};
}
Chunk rest(std::uint64_t number, std::uint32_t offset, bool last, std::string_view bytes) {
  return {number, false, last, Service::agreed, 0, offset, as_bytes_view(bytes)};
}
Chunk whole(std::uint64_t number, std::string_view bytes) {
  return {number, true, true, Service::agreed, 0, 0, as_bytes_view(bytes)};
}

TEST(Reassembly, PutsTheMessagesOfSeveralOriginsTogether) {
  Reassembly all;
  EXPECT_EQ(all.feed(kB, first(1, 6, "abc")), Fed::open);
  EXPECT_EQ(all.feed(kA, first(9, 4, "w")), Fed::open);
  EXPECT_EQ(all.feed(kB, rest(1, 3, false, "de")), Fed::open);
  EXPECT_EQ(all.feed(kA, rest(9, 1, true, "xyz")), Fed::complete);
  Gathered done = all.take();
  EXPECT_EQ(as_text({done.bytes.get(), done.size}), "wxyz");
  EXPECT_EQ(all.feed(kB, rest(1, 5, true, "f")), Fed::complete);
  done = all.take();
  EXPECT_EQ(as_text({done.bytes.get(), done.size}), "abcdef");
  EXPECT_EQ(all.bytes(), 0U);
  EXPECT_EQ(all.drops(), 0U);
  all.check_invariants(6);
}

TEST(Reassembly, TakesMessagesOfAnyNumberOfIncarnations) {
  Reassembly all;
  for (std::uint64_t epoch = 1; epoch <= 500; ++epoch) {
    const MemberId origin{NodeId{1}, epoch};
    ASSERT_EQ(all.feed(origin, first(1, 4, "w")), Fed::open) << epoch;
    if (epoch % 2 == 0) continue;  // it crashes
    ASSERT_EQ(all.feed(origin, rest(1, 1, true, "xyz")), Fed::complete) << epoch;
    const Gathered done = all.take();
    EXPECT_EQ(all.bytes(), 0U) << "what the former incarnation had begun is gone";
  }
  all.check_invariants(4);
}

TEST(Reassembly, UsesMemoryAgainForMessagesOfTheSameLength) {
  Reassembly all;
  EXPECT_EQ(all.feed(kA, first(1, 4, "w")), Fed::open);
  EXPECT_EQ(all.feed(kA, rest(1, 1, true, "xyz")), Fed::complete);
  Gathered done = all.take();
  const std::byte* memory = done.bytes.get();
  all.give_back(std::move(done));
  EXPECT_EQ(all.feed(kA, first(2, 5, "w")), Fed::open);
  EXPECT_EQ(all.feed(kB, first(1, 4, "a")), Fed::open);
  EXPECT_EQ(all.feed(kB, rest(1, 1, true, "bcd")), Fed::complete);
  done = all.take();
  EXPECT_EQ(done.bytes.get(), memory);
  EXPECT_EQ(as_text({done.bytes.get(), done.size}), "abcd");
  all.check_invariants(5);
}

TEST(Reassembly, DropsAnUnfinishedMessageOnAnythingUnexpected) {
  const Chunk unexpected[] = {
      rest(2, 3, false, "x"),    // another number
      rest(1, 2, false, "x"),    // a smaller offset
      rest(1, 4, false, "x"),    // a larger offset
      rest(1, 3, false, "xyz"),  // reaches the end without the flag of the end
      rest(1, 3, true, "x"),     // has the flag of the end, but is not the end
      rest(1, 3, true, "xyzw"),  // past the end
      {1, false, false, Service::fifo, 0, 3, as_bytes_view("x")},  // another service
  };
  for (const Chunk& chunk : unexpected) {
    Reassembly all;
    EXPECT_EQ(all.feed(kA, first(1, 6, "abc")), Fed::open);
    EXPECT_EQ(all.feed(kA, chunk), Fed::ignored);
    EXPECT_EQ(all.drops(), 1U);
    EXPECT_EQ(all.bytes(), 0U);
    EXPECT_EQ(all.feed(kA, rest(1, 3, true, "def")), Fed::ignored);
    all.check_invariants(6);
  }
}

TEST(Reassembly, AWholeOrANewMessageReplacesAnUnfinishedOne) {
  Reassembly all;
  EXPECT_EQ(all.feed(kA, first(1, 6, "abc")), Fed::open);
  EXPECT_EQ(all.feed(kA, whole(2, "q")), Fed::whole);
  EXPECT_EQ(all.drops(), 1U);
  EXPECT_EQ(all.feed(kA, first(1, 6, "abc")), Fed::open);
  EXPECT_EQ(all.feed(kA, first(1, 3, "x")), Fed::open);
  EXPECT_EQ(all.drops(), 2U);
  EXPECT_EQ(all.feed(kA, rest(1, 1, true, "yz")), Fed::complete);
  const Gathered done = all.take();
  EXPECT_EQ(as_text({done.bytes.get(), done.size}), "xyz");
}

TEST(Reassembly, TakesMemoryForBytesThatCameNotForLengthsThatAreClaimed) {
  Reassembly all;
  for (std::uint32_t node = 1; node <= wire::kMembersMax; ++node) {
    EXPECT_EQ(all.feed({NodeId{node}, 1}, first(1, 1U << 30, "x")), Fed::open);
  }
  EXPECT_LE(all.bytes(), wire::kMembersMax * 16 * 1'024);
  // A view cannot have more members than that, so one more origin gets no memory.
  EXPECT_EQ(all.feed({NodeId{9'999}, 1}, first(1, 100, "x")), Fed::ignored);
  const std::string part = pattern(60'000, 1);
  std::uint32_t offset = 1;
  for (int i = 0; i < 50; ++i, offset += 60'000) {
    EXPECT_EQ(all.feed(kA, rest(1, offset, false, part)), Fed::open);
  }
  EXPECT_LE(all.bytes(), wire::kMembersMax * 16 * 1'024 + 2 * offset);
  all.check_invariants(1U << 30);
  all.clear();
  EXPECT_EQ(all.bytes(), 0U);
  EXPECT_EQ(all.feed(kA, rest(1, offset, false, part)), Fed::ignored);
}

}  // namespace
}  // namespace peal::node
