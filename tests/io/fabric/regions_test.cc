// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/regions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "base/random.h"
#include "io/fabric/atomic_copy.h"
#include "io/fabric/bell.h"
#include "io/fabric/pages.h"
#include "io/fabric/same_user.h"
#include "io/fabric/shm_route.h"
#include "io/stream.h"

namespace peal::io::fabric {
namespace {

using Bytes = std::vector<std::byte>;
using port::Epoch;
using port::Region;

constexpr Region kRegion{{{2}, 20}, 4};

TEST(AtomicCopy, MovesAllBytesAtAnyAddress) {
  std::vector<std::byte> shared(64 + 40, std::byte{0xee});
  for (std::size_t offset = 0; offset < 16; ++offset) {
    for (std::size_t size = 0; size < 40; ++size) {
      Bytes from(size);
      for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<std::byte>(i + 1);
      std::fill(shared.begin(), shared.end(), std::byte{0xee});
      copy_to_shared(shared.data() + 16 + offset, from);
      Bytes to(size);
      copy_from_shared(shared.data() + 16 + offset, to);
      EXPECT_EQ(to, from);
      EXPECT_EQ(shared[15 + offset], std::byte{0xee});
      EXPECT_EQ(shared[16 + offset + size], std::byte{0xee});
    }
  }
}

/// ThreadSanitizer judges this: both sides use the same addresses.
TEST(AtomicCopy, IsNoDataRace) {
  alignas(8) std::array<std::byte, 256> shared{};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    Bytes from(201);
    for (unsigned i = 0; !stop.load(); ++i) {
      std::fill(from.begin(), from.end(), static_cast<std::byte>(i));
      copy_to_shared(shared.data() + i % 50, from);
    }
  });
  Bytes to(199);
  int changes = 0;
  std::byte before{};
  for (int i = 0; i < 1'000 || (changes < 10 && i < 50'000'000); ++i) {
    copy_from_shared(shared.data() + i % 57, to);
    if (to[50] != before) ++changes;
    before = to[50];
  }
  stop = true;
  writer.join();
  EXPECT_GE(changes, 10);
}

/// The writer's side of an exposure.
struct Writing {
  explicit Writing(const Regions& regions, const Region& region = kRegion) {
    Regions::Exposure exposure;
    EXPECT_TRUE(regions.find(region, exposure));
    epoch = exposure.epoch.value;
    auto pages = map_pages_of_peer(Fd(::fcntl(exposure.fd, F_DUPFD_CLOEXEC, 0)),
                                   Regions::kHeaderBytes + exposure.bytes);
    EXPECT_TRUE(pages.has_value()) << pages.error().message;
    mapping = std::move(*pages);
  }
  /// As ShmRoute: true means ok.
  bool write(std::uint64_t offset, ByteView bytes) {
    copy_to_shared(mapping.span().data() + Regions::kHeaderBytes + offset, bytes);
    full_fence();
    return shared_word(mapping.span().data()).load(std::memory_order_seq_cst) == epoch;
  }
  Mapping mapping;
  std::uint64_t epoch = 0;
};

TEST(FabricRegions, LateStoresOfAnOldWriterAreNeverSeen) {
  Regions regions(1 << 20);
  ASSERT_TRUE(regions.expose(kRegion, Epoch{1}, 64));
  Writing old(regions);
  EXPECT_TRUE(old.write(0, Bytes(64, std::byte{1})));
  regions.revoke(kRegion);
  EXPECT_FALSE(old.write(0, Bytes(64, std::byte{2})));
  Bytes found(64);
  ASSERT_TRUE(regions.load(kRegion, 0, found));
  EXPECT_EQ(found, Bytes(64, std::byte{1}));
  ASSERT_TRUE(regions.expose(kRegion, Epoch{2}, 64));
  EXPECT_FALSE(old.write(0, Bytes(64, std::byte{3})));
  ASSERT_TRUE(regions.load(kRegion, 0, found));
  EXPECT_EQ(found, Bytes(64));
  EXPECT_TRUE(Writing(regions).write(0, Bytes(64, std::byte{4})));
  regions.drop(kRegion);
  EXPECT_FALSE(regions.load(kRegion, 0, found));
}

TEST(FabricRegions, AWriterThatOverwritesItsGuardHarmsItselfOnly) {
  Regions regions(1 << 20);
  ASSERT_TRUE(regions.expose(kRegion, Epoch{1}, 64));
  Writing writer(regions);
  shared_word(writer.mapping.span().data()).store(99);
  EXPECT_FALSE(writer.write(0, Bytes(8, std::byte{1})));
  EXPECT_TRUE(regions.is_exposed(kRegion, Epoch{1}));
  EXPECT_TRUE(regions.apply(kRegion, Epoch{1}, 0, Bytes(8, std::byte{2})));
  regions.revoke(kRegion);
  Bytes found(8);
  ASSERT_TRUE(regions.load(kRegion, 0, found));
  shared_word(writer.mapping.span().data()).store(1);  // it lets itself in again, and in vain
  EXPECT_TRUE(writer.write(0, Bytes(8, std::byte{3})));
  EXPECT_FALSE(regions.is_exposed(kRegion, Epoch{1}));
  EXPECT_FALSE(regions.apply(kRegion, Epoch{1}, 0, Bytes(8, std::byte{3})));
  Bytes again(8);
  ASSERT_TRUE(regions.load(kRegion, 0, again));
  EXPECT_EQ(again, found);
}

TEST(FabricRegions, AppliedWritesAreChecked) {
  Regions regions(1 << 20);
  const Bytes bytes(8, std::byte{1});
  EXPECT_FALSE(regions.apply(kRegion, Epoch{1}, 0, bytes));
  ASSERT_TRUE(regions.expose(kRegion, Epoch{1}, 64));
  EXPECT_FALSE(regions.apply(kRegion, Epoch{2}, 0, bytes));
  EXPECT_FALSE(regions.apply({kRegion.writer, 5}, Epoch{1}, 0, bytes));
  EXPECT_FALSE(regions.apply({{{2}, 21}, 4}, Epoch{1}, 0, bytes));
  EXPECT_FALSE(regions.apply(kRegion, Epoch{1}, 57, bytes));
  EXPECT_FALSE(regions.apply(kRegion, Epoch{1}, ~0ULL, bytes));
  EXPECT_FALSE(regions.apply(kRegion, Epoch{1}, ~0ULL - 7, bytes));
  Bytes found(64);
  ASSERT_TRUE(regions.load(kRegion, 0, found));
  EXPECT_EQ(found, Bytes(64));
  EXPECT_TRUE(regions.apply(kRegion, Epoch{1}, 56, bytes));
}

TEST(FabricRegions, ListsWhatAWriterMayWrite) {
  Regions regions(1 << 20);
  for (std::uint8_t number = 0; number < 5; ++number) {
    ASSERT_TRUE(regions.expose({kRegion.writer, number}, Epoch{number + 1U}, 64));
    ASSERT_TRUE(regions.expose({{{3}, 20}, number}, Epoch{9}, 64));
  }
  regions.revoke({kRegion.writer, 2});
  regions.drop({kRegion.writer, 3});
  std::vector<Regions::Exposure> all;
  regions.list(kRegion.writer, all);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].epoch, Epoch{1});
  EXPECT_EQ(all[1].epoch, Epoch{2});
  EXPECT_EQ(all[2].epoch, Epoch{5});
}

TEST(FabricRegions, SayWhatIsTooMuch) {
  Regions regions(1'000);
  EXPECT_TRUE(regions.expose(kRegion, Epoch{1}, 600));
  const auto refused = regions.expose({kRegion.writer, 5}, Epoch{1}, 600);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::too_large);
  EXPECT_EQ(regions.problem(),
            "exposed memory: 600 bytes more than the 600 in 1 regions: accepted are 1000 bytes in "
            "4096 regions: lower `slots` or the size of messages");
  EXPECT_EQ(regions.bytes(), 600U);
  EXPECT_TRUE(regions.expose(kRegion, Epoch{2}, 1'000));
  EXPECT_EQ(regions.problem(), "");
  Regions endless(~std::size_t{0});
  EXPECT_FALSE(endless.expose(kRegion, Epoch{1}, std::size_t{1} << 60));
  EXPECT_NE(endless.problem().find("bytes: the machine has "), std::string::npos)
      << endless.problem();
}

TEST(FabricPages, NeverShrinkOrGrow) {
  const auto made = make_shared_pages(4'096);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_NE(::ftruncate(made->fd.get(), 10), 0);
  EXPECT_NE(::ftruncate(made->fd.get(), 10'000), 0);
  // Nor can the other process forbid this one to write.
  EXPECT_NE(::fcntl(made->fd.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
}

TEST(FabricPages, MemoryThatCouldShrinkIsRefused) {
  const auto message_of = [](const Fd& fd, std::size_t bytes) {
    const auto mapped = map_pages_of_peer(fd, bytes);
    return mapped ? std::string("mapped") : mapped.error().message;
  };
  EXPECT_EQ(message_of(Fd(), 4'096), "its memory could shrink");
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(message_of(null, 4'096), "its memory could shrink");
  const Fd memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(memory.get(), 4'096), 0);
  EXPECT_EQ(message_of(memory, 4'096), "its memory could shrink");
  ASSERT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(message_of(memory, 4'096), "its memory could shrink");
  ASSERT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  EXPECT_EQ(message_of(memory, 4'096), "mapped");
  EXPECT_EQ(message_of(memory, 8'192), "its memory has 4096 bytes and not 8192");
  ASSERT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  EXPECT_EQ(message_of(memory, 4'096), "its memory cannot be written");
}

TEST(FabricUser, OnlyThisUserAndRootGetMemory) {
  EXPECT_TRUE(is_same_user(::geteuid()));
  EXPECT_TRUE(is_same_user(0));
  EXPECT_FALSE(is_same_user(::geteuid() + 12'345));
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  const Fd near(fds[0]);
  const Fd far(fds[1]);
  EXPECT_TRUE(is_same_user(near));
  const auto refused = is_same_user(Fd());
  EXPECT_FALSE(refused) << "no socket at all";
}

// ---- revocation, with the writer on another thread ----

/// A writer with a connection to an owner, both without sockets' addresses.
struct RouteWriter {
  RouteWriter() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    const auto channel_on = [](int fd) {
      return std::make_unique<Channel>(make_plain_stream(Fd(fd), {}), Kind::shm,
                                       kSmallFrameBytesMax);
    };
    owner_channel = channel_on(fds[0]);
    channel = channel_on(fds[1]);
    auto page = make_shared_pages(kBellBytes);
    EXPECT_TRUE(page.has_value());
    route = std::make_unique<ShmRoute>(kMember, WriterBell(std::move(page->pages)), limits,
                                       counters, offences, writes);
  }
  /// Tells the writer where the region is.
  void expose(const Regions& regions) {
    Regions::Exposure exposure;
    EXPECT_TRUE(regions.find(kRegion, exposure));
    Record record;
    record.kind = Record::Kind::expose;
    record.number = kRegion.number;
    record.epoch = exposure.epoch.value;
    record.value = exposure.bytes;
    owner_channel->end_frame(encode_record(record, owner_channel->begin_frame(kRecordBytes)),
                             exposure.fd);
    owner_channel->write();
    channel->read();
    const auto frame = channel->next();
    ASSERT_TRUE(frame);
    route->on_record(*RecordReader(*frame).next(), *channel);
    epoch = exposure.epoch;
  }
  bool write(std::uint64_t offset, ByteView bytes) {
    staged.push({kMember, kRegion.number, epoch, offset}, bytes, 1);
    staged.release({});
    route->pump(staged, *channel, ends);
    port::WriteDone done;
    return ends.next(done) && done.end == port::WriteEnd::ok;
  }

  static constexpr MemberId kMember{{1}, 10};
  Limits limits;
  Counters counters;
  Offences offences;
  WriteCounters writes;
  std::unique_ptr<Channel> owner_channel;
  std::unique_ptr<Channel> channel;
  std::unique_ptr<ShmRoute> route;
  StagedWrites staged;
  Ends ends;
  Epoch epoch{};
};

/// The writer stores numbers to slots in turn and notes the last one that ended as ok. The owner
/// revokes at random times. Each number that ended as ok must be in the copy, or a later one of its
/// slot.
TEST(FabricRegions, AWriteThatEndsAsOkIsInTheCopyOfARevokedRegion) {
  constexpr std::uint64_t kSlots = 64;
  constexpr std::uint64_t kSlotBytes = 64;
  constexpr int kRevocations = 500;
  Regions regions(1 << 20);
  RouteWriter to;
  std::atomic<bool> writing{false};
  std::atomic<std::uint64_t> last_ok{0};
  std::atomic<bool> over{false};
  std::thread writer([&] {
    Bytes slot(kSlotBytes);
    while (!over.load()) {
      if (!writing.load()) {
        ::sched_yield();
        continue;
      }
      std::uint64_t number = 0;
      do {
        ++number;
        for (std::size_t at = 0; at < kSlotBytes; at += 8) {
          store(ByteSpan(slot).subspan(at), number);
        }
      } while (to.write(number % kSlots * kSlotBytes, slot));
      last_ok = number - 1;
      writing = false;
    }
  });
  Random random(9);
  std::uint64_t written = 0;
  for (int i = 1; i <= kRevocations; ++i) {
    ASSERT_TRUE(regions.expose(kRegion, Epoch{static_cast<std::uint64_t>(i)}, kSlots * kSlotBytes));
    to.expose(regions);
    writing = true;
    Bytes first(8);
    // Waits until the writer has come round some times, and for a random time.
    const std::uint64_t least = 1 + random.below(8) * kSlots;
    while (peal::load<std::uint64_t>(first) < least) {
      ASSERT_TRUE(regions.load(kRegion, kSlotBytes, first));
      ::sched_yield();
    }
    for (std::uint64_t spins = random.below(2'000); spins > 0; --spins) full_fence();
    regions.revoke(kRegion);
    Bytes copy(kSlots * kSlotBytes);
    ASSERT_TRUE(regions.load(kRegion, 0, copy));
    while (writing.load()) ::sched_yield();
    const std::uint64_t last = last_ok.load();
    written += last;
    for (std::uint64_t number = last < kSlots ? 1 : last - kSlots + 1; number <= last; ++number) {
      for (std::size_t at = 0; at < kSlotBytes; at += 8) {
        const auto found =
            peal::load<std::uint64_t>(ByteView(copy).subspan(number % kSlots * kSlotBytes + at));
        ASSERT_GE(found, number) << "revocation " << i << ", word " << at;
      }
    }
    Bytes again(kSlots * kSlotBytes);
    ASSERT_TRUE(regions.load(kRegion, 0, again));
    ASSERT_TRUE(again == copy);
  }
  over = true;
  writer.join();
  EXPECT_GT(written, 10U * kRevocations);
}

// ---- bells ----

/// Two threads that hand a number back and forth as an owner and a writer do: a wake-up that is
/// lost would leave the owner asleep for ever.
TEST(FabricBell, NoArrivalIsMissed) {
  auto page = make_shared_pages(kBellBytes);
  ASSERT_TRUE(page.has_value());
  auto mapped = map_pages_of_peer(Fd(::fcntl(page->fd.get(), F_DUPFD_CLOEXEC, 0)), kBellBytes);
  ASSERT_TRUE(mapped.has_value());
  OwnerBell owner(std::move(*page));
  constexpr int kRounds = 20'000;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const Fd reading(pipe[0]);
  const Fd writing(pipe[1]);
  std::atomic<int> seen{0};
  std::atomic<int> rings{0};
  std::thread writer([&, bell = WriterBell(std::move(*mapped))]() mutable {
    for (int round = 1; round <= kRounds; ++round) {
      bell.count();
      full_fence();
      if (bell.must_wake()) {
        ++rings;
        const char byte = 1;
        EXPECT_EQ(::write(writing.get(), &byte, 1), 1);
      }
      while (seen.load() < round) ::sched_yield();
    }
  });
  int sleeps = 0;
  while (seen.load() < kRounds) {
    if (owner.take()) {
      ++seen;
      continue;
    }
    owner.arm();
    full_fence();
    if (!owner.has_arrivals()) {
      ++sleeps;
      char byte = 0;
      EXPECT_EQ(::read(reading.get(), &byte, 1), 1);  // for ever, if nobody rings
    }
    owner.disarm();
  }
  writer.join();
  EXPECT_GE(rings.load(), sleeps);
  EXPECT_LE(rings.load(), kRounds);
}

TEST(FabricBell, RingsOncePerSleepAndNotWhileTheOwnerIsAwake) {
  auto page = make_shared_pages(kBellBytes);
  ASSERT_TRUE(page.has_value());
  auto mapped = map_pages_of_peer(Fd(::fcntl(page->fd.get(), F_DUPFD_CLOEXEC, 0)), kBellBytes);
  ASSERT_TRUE(mapped.has_value());
  OwnerBell owner(std::move(*page));
  WriterBell writer(std::move(*mapped));
  EXPECT_FALSE(owner.has_arrivals());
  writer.count();
  EXPECT_FALSE(writer.must_wake());
  EXPECT_TRUE(owner.has_arrivals());
  EXPECT_TRUE(owner.take());
  EXPECT_FALSE(owner.take());
  owner.arm();
  writer.count();
  EXPECT_TRUE(writer.must_wake());
  EXPECT_FALSE(writer.must_wake());
  owner.disarm();
  owner.arm();
  owner.disarm();
  EXPECT_FALSE(writer.must_wake());
}

}  // namespace
}  // namespace peal::io::fabric
