// SPDX-License-Identifier: Apache-2.0
#include "io/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "stream_pair.h"

namespace peal::io {
namespace {

using test::read_some;
using test::StreamPair;

constexpr std::uint32_t kBytes = 64U << 10;

Fd copy_of(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

TEST(SharedMemory, IsSeenByWhoMapsIt) {
  auto memory = SharedMemory::make(kBytes);
  ASSERT_TRUE(memory.has_value()) << memory.error().message;
  const auto seen = map_shared_memory(copy_of(memory->fd()));
  ASSERT_TRUE(seen.has_value()) << seen.error().message;
  EXPECT_EQ(seen->view().size(), kBytes);
  EXPECT_EQ(seen->view()[kBytes - 1], std::byte{0});
  memory->span()[kBytes - 1] = std::byte{7};
  EXPECT_EQ(seen->view()[kBytes - 1], std::byte{7});
}

TEST(SharedMemory, CannotBeWrittenByAnybodyElse) {
  auto memory = SharedMemory::make(kBytes);
  ASSERT_TRUE(memory.has_value());
  const Fd fd = copy_of(memory->fd());
  constexpr int kBoth = PROT_READ | PROT_WRITE;
  EXPECT_EQ(::mmap(nullptr, kBytes, kBoth, MAP_SHARED, fd.get(), 0), MAP_FAILED);
  const char byte = 'x';
  EXPECT_EQ(::pwrite(fd.get(), &byte, 1, 0), -1);
  EXPECT_NE(::ftruncate(fd.get(), 10), 0);
  EXPECT_NE(::ftruncate(fd.get(), 10L * kBytes), 0);
  EXPECT_NE(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  void* pages = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(pages, MAP_FAILED);
  EXPECT_NE(::mprotect(pages, kBytes, kBoth), 0);
  ::munmap(pages, kBytes);
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  const Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(again);
  EXPECT_EQ(::mmap(nullptr, kBytes, kBoth, MAP_SHARED, again.get(), 0), MAP_FAILED);
  memory->span()[0] = std::byte{1};  // only the creator of the memory can write
}

TEST(SharedMemory, IsNotMappedIfItIsNotWhatItShouldBe) {
  const auto message_of = [](const Fd& fd) {
    const auto mapped = map_shared_memory(fd);
    return mapped ? std::string("mapped") : mapped.error().message;
  };
  EXPECT_EQ(message_of(Fd()), "shared memory: it is not sealed");
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(message_of(null), "shared memory: it is not sealed");
  const Fd memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(message_of(memory), "shared memory: it is not sealed");
  ASSERT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(message_of(memory), "shared memory: it has no size");
  ASSERT_EQ(::ftruncate(memory.get(), 4'096), 0);
  EXPECT_EQ(message_of(memory), "mapped");
  ASSERT_EQ(::ftruncate(memory.get(), 1L << 32), 0);
  EXPECT_EQ(message_of(memory), "shared memory: it has no size");
}

// ---- descriptors that are sent with the bytes of a stream ----

void put_text(Stream& stream, std::string_view text) {
  const std::array<ByteView, 1> chunks{as_bytes_view(text)};
  EXPECT_EQ(stream.write(chunks).bytes, text.size());
}

/// A pipe whose write end is sent over a stream. The read end shows when the last copy of the write
/// end is closed.
struct Witness {
  Witness() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0);
    reading = Fd(fds[0]);
    writing = Fd(fds[1]);
  }
  bool is_closed() const {
    pollfd poll{reading.get(), POLLIN, 0};
    return ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLHUP) != 0;
  }
  Fd reading;
  Fd writing;
};

TEST(StreamDescriptors, ComeWithTheFirstByteThatIsWritten) {
  const StreamPair pair;
  Witness witness;
  pair.near->attach(witness.writing.get());
  put_text(*pair.near, "first");
  put_text(*pair.near, "second");
  witness.writing.reset();
  pair.far->expect_descriptor();
  EXPECT_EQ(read_some(*pair.far, 1), "f");
  Fd came = pair.far->take_descriptor();
  EXPECT_TRUE(came);
  EXPECT_FALSE(pair.far->take_descriptor());
  EXPECT_EQ(::fcntl(came.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  std::string rest;
  while (rest.size() < 10) rest += read_some(*pair.far);
  EXPECT_EQ(rest, "irstsecond");
  EXPECT_FALSE(witness.is_closed());
  came.reset();
  EXPECT_TRUE(witness.is_closed());
}

TEST(StreamDescriptors, EndAReadThatIsNotTheLast) {
  const StreamPair pair;
  Witness first;
  Witness second;
  pair.near->attach(first.writing.get());
  put_text(*pair.near, "one");
  pair.near->attach(second.writing.get());
  put_text(*pair.near, "two");
  std::array<std::byte, 64> room{};
  pair.far->expect_descriptor();
  const Transfer got = pair.far->read(room);
  EXPECT_EQ(got.bytes, 3U);
  EXPECT_EQ(got.outcome, StreamOutcome::ok) << "the second text waits";
  EXPECT_TRUE(pair.far->take_descriptor());
  pair.far->expect_descriptor();
  EXPECT_EQ(pair.far->read(room).bytes, 3U);
  EXPECT_TRUE(pair.far->take_descriptor());
}

TEST(StreamDescriptors, AreClosedIfNobodyExpectsThem) {
  const StreamPair pair;
  Witness witness;
  pair.near->attach(witness.writing.get());
  put_text(*pair.near, "hello");
  witness.writing.reset();
  EXPECT_FALSE(witness.is_closed());
  EXPECT_EQ(read_some(*pair.far), "hello");
  EXPECT_TRUE(witness.is_closed());
  EXPECT_FALSE(pair.far->take_descriptor());
}

TEST(StreamDescriptors, AreClosedButTheFirst) {
  const StreamPair pair;
  std::array<Witness, 3> witnesses;
  // One message has two descriptors, and another message has one.
  std::array<int, 2> two{witnesses[0].writing.get(), witnesses[1].writing.get()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof two)> control{};
  char byte = 'a';
  iovec part{&byte, 1};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof two);
  std::memcpy(CMSG_DATA(rights), two.data(), sizeof two);
  ASSERT_EQ(::sendmsg(pair.near->fd(), &header, 0), 1);
  pair.near->attach(witnesses[2].writing.get());
  put_text(*pair.near, "b");
  for (Witness& witness : witnesses) witness.writing.reset();
  pair.far->expect_descriptor();
  std::string text;
  while (text.size() < 2) text += read_some(*pair.far);
  EXPECT_FALSE(witnesses[0].is_closed());
  EXPECT_TRUE(witnesses[1].is_closed());
  EXPECT_TRUE(witnesses[2].is_closed());
  EXPECT_TRUE(pair.far->take_descriptor());
  EXPECT_TRUE(witnesses[0].is_closed());
}

}  // namespace
}  // namespace peal::io
