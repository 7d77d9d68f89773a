// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "examine.h"
#include "stations.h"

// Once two nodes know each other, nothing is allocated for a packet: not by us, and not by OpenSSL.

namespace {
std::atomic<std::uint64_t> allocations{0};
std::atomic<std::int64_t> live{0};  ///< of those of operator new

void* counted_malloc(std::size_t bytes, const char*, int) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes);
}
void* counted_realloc(void* memory, std::size_t bytes, const char*, int) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::realloc(memory, bytes);
}
void plain_free(void* memory, const char*, int) { std::free(memory); }

// OpenSSL takes this only before it has allocated anything.
const int taken = ::CRYPTO_set_mem_functions(counted_malloc, counted_realloc, plain_free);
}  // namespace

// Not inlined: the compiler would see malloc() meet delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  live.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  std::abort();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }

namespace peal::seal::test {
namespace {

TEST(Allocation, NoneForAPacket) {
  ASSERT_EQ(taken, 1);
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  const Bytes plain(1'400, std::byte{7});
  Bytes longest(plain.size() + overhead(Lane::token));
  std::uint64_t opened = 0;
  const auto exchange = [&](Lane lane, std::size_t bytes) {
    const ByteSpan packet = ByteSpan(longest).first(bytes + overhead(lane));
    ASSERT_TRUE(one.seal(lane, {}, ByteView(plain).first(bytes), packet));
    if (receiver.open(packet).reason == Refusal::none) ++opened;
    // The same once more: replayed. Damaged: a tag that is wrong, and a badge.
    ASSERT_EQ(receiver.open(packet).reason, Refusal::replayed);
    const bool long_header = introduces(lane);
    packet[long_header ? 12 : 7] ^= std::byte{0x40};  // the counter's lowest byte
    const Refusal wrong = receiver.open(packet).reason;
    ASSERT_TRUE(wrong == Refusal::bad_tag || wrong == Refusal::replayed);
    packet[long_header ? 20 : 5] ^= std::byte{1};  // of the badge
    const Refusal unknown = receiver.open(packet).reason;
    ASSERT_EQ(unknown, long_header ? Refusal::bad_badge : Refusal::unknown_incarnation);
  };
  exchange(Lane::token, 100);
  exchange(Lane::data, 1'400);
  const std::uint64_t before = allocations.load();
  for (int i = 0; i < 10'000; ++i) {
    exchange(Lane::token, 100);
    exchange(Lane::data, 1'400);
    exchange(Lane::control, 0);
  }
  EXPECT_EQ(allocations.load(), before);
  EXPECT_EQ(opened, 30'002U);
}

// What an earlier life encrypted with is of no use to anybody, but to whoever reads this memory.
TEST(Allocation, OfASenderThatRestartsNothingIsKeptOfTheLifeBefore) {
  Opener receiver = opener();
  std::vector<Bytes> lives;
  for (std::uint8_t life = 5; life <= 7; ++life) {
    Sealer one = sealer(incarnation(1, life, life));
    lives.push_back(sealed(one, Lane::control, "hello"));
  }
  ASSERT_EQ(receiver.open(lives[0]).reason, Refusal::none);
  const std::int64_t before = live.load();
  ASSERT_EQ(receiver.open(lives[1]).reason, Refusal::none);
  EXPECT_EQ(live.load(), before);
  ASSERT_EQ(receiver.open(lives[2]).reason, Refusal::none);
  EXPECT_EQ(live.load(), before);
  EXPECT_EQ(receiver.derived(), 3U);
}

TEST(Allocation, IsCountedAtAll) {
  std::uint64_t before = allocations.load();
  delete new int(3);
  EXPECT_EQ(allocations.load(), before + 1);
  before = allocations.load();
  const Sealer one = sealer(incarnation(1, 5, 1));
  EXPECT_GT(allocations.load(), before + 2) << "a derivation allocates, inside of OpenSSL too";
}

}  // namespace
}  // namespace peal::seal::test
