// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "allocations.h"
#include "examine.h"
#include "stations.h"

// After two nodes exchanged their first packets, no packet needs an allocation in Peal or in
// OpenSSL.

namespace {
std::atomic<std::uint64_t> inside_openssl{0};

void* counted_malloc(std::size_t bytes, const char*, int) {
  inside_openssl.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes);
}
void* counted_realloc(void* memory, std::size_t bytes, const char*, int) {
  inside_openssl.fetch_add(1, std::memory_order_relaxed);
  return std::realloc(memory, bytes);
}
void plain_free(void* memory, const char*, int) { std::free(memory); }

// OpenSSL accepts these functions only before its first allocation.
const int taken = ::CRYPTO_set_mem_functions(counted_malloc, counted_realloc, plain_free);
}  // namespace

namespace peal::seal::test {
namespace {

std::uint64_t all_allocations() { return allocations() + inside_openssl.load(); }

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
    // The packet is refused if it comes again, if its tag is wrong, and if its incarnation tag is
    // wrong.
    ASSERT_EQ(receiver.open(packet).reason, Refusal::replayed);
    const bool long_header = introduces(lane);
    packet[long_header ? 12 : 7] ^= std::byte{0x40};  // the counter's lowest byte
    const Refusal wrong = receiver.open(packet).reason;
    ASSERT_TRUE(wrong == Refusal::bad_tag || wrong == Refusal::replayed);
    packet[long_header ? 20 : 5] ^= std::byte{1};  // a byte of the incarnation tag
    const Refusal unknown = receiver.open(packet).reason;
    ASSERT_EQ(unknown, long_header ? Refusal::bad_badge : Refusal::unknown_incarnation);
  };
  exchange(Lane::token, 100);
  exchange(Lane::data, 1'400);
  const std::uint64_t before = all_allocations();
  for (int i = 0; i < 10'000; ++i) {
    exchange(Lane::token, 100);
    exchange(Lane::data, 1'400);
    exchange(Lane::control, 0);
  }
  EXPECT_EQ(all_allocations(), before);
  EXPECT_EQ(opened, 30'002U);
}

// The receiver frees the subkeys of earlier incarnations: only an attacker who reads the memory
// could use them.
TEST(Allocation, OfASenderThatRestartsNothingIsKeptOfTheLifeBefore) {
  Opener receiver = opener();
  std::vector<Bytes> lives;
  for (std::uint8_t life = 5; life <= 7; ++life) {
    Sealer one = sealer(incarnation(1, life, life));
    lives.push_back(sealed(one, Lane::control, "hello"));
  }
  ASSERT_EQ(receiver.open(lives[0]).reason, Refusal::none);
  const std::int64_t before = live_allocations();
  ASSERT_EQ(receiver.open(lives[1]).reason, Refusal::none);
  EXPECT_EQ(live_allocations(), before);
  ASSERT_EQ(receiver.open(lives[2]).reason, Refusal::none);
  EXPECT_EQ(live_allocations(), before);
  EXPECT_EQ(receiver.derived(), 3U);
}

TEST(Allocation, IsCountedAtAll) {
  std::uint64_t before = all_allocations();
  ::operator delete(::operator new(3));  // a call, because compilers may remove an expression
  EXPECT_EQ(all_allocations(), before + 1);
  before = all_allocations();
  const Sealer one = sealer(incarnation(1, 5, 1));
  EXPECT_GT(all_allocations(), before + 2) << "a derivation allocates, inside of OpenSSL too";
}

}  // namespace
}  // namespace peal::seal::test
