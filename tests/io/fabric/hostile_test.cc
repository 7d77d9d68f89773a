// SPDX-License-Identifier: Apache-2.0
// A process with the cluster's key that breaks the rules harms itself only.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "in_child.h"
#include "io/fabric/atomic_copy.h"
#include "raw.h"

namespace peal::io::fabric::test {
namespace {

class HostileFabric : public testing::TestWithParam<Choice> {
 protected:
  bool is_shm() const { return GetParam() == Choice::shm; }
  Options raw_options() const {
    Options options = world_.site().options(kWriter);
    return options;
  }
  Peer peer_of(const MemberId& member) const {
    return {member.node, world_.site().at(member.node), world_.site().socket(member.node)};
  }
  /// An honest writer can still write to the owner.
  void expect_service() {
    if (!has_other_) world_.start(kOther);
    has_other_ = true;
    ASSERT_TRUE(world_.of(kOwner).expose({kOther, 1}, {++epoch_}, 64));
    world_.of(kOther).write({kOwner, 1, {epoch_}, 0}, filled(8, 5), epoch_);
    world_.flush(kOther);
    WriteDone done;
    world_.wait_for([&] { return world_.of(kOther).next_done(done); });
    EXPECT_EQ(done.end, WriteEnd::ok);
  }

  FabricWorld world_{GetParam()};
  bool has_other_ = false;
  std::uint64_t epoch_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Fabrics, HostileFabric, testing::Values(Choice::shm, Choice::tcp),
                         [](const auto& made) {
                           return made.param == Choice::shm ? "shm" : "tcp";
                         });

// ---- hostile writers ----

TEST_P(HostileFabric, ARecordThatMakesNoSenseEndsTheConnection) {
  world_.start(kOwner);
  std::uint64_t expected = 0;
  const auto after = [&](const auto& harm) {
    RawWriter raw(raw_options(), peer_of(kOwner));
    raw.connect(world_);
    harm(raw.channel());
    raw.channel().write();
    raw.wait_for_end(world_);
    world_.wait_for([&] { return world_.fabric(kOwner).counters().bad_input == expected + 1; });
    ++expected;
    expect_service();
  };
  const auto send_bytes = [](Channel& channel, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), channel.begin_frame(bytes.size()).begin());
    channel.end_frame(bytes.size());
  };
  after([&](Channel& channel) { send_bytes(channel, filled(24, 0xff)); });
  after([&](Channel& channel) { send_bytes(channel, filled(1, 1)); });
  after([&](Channel& channel) { send_record(channel, record_of(Record::Kind::ready)); });
  after([&](Channel& channel) {
    Record answer = record_of(Record::Kind::answer);
    answer.count = 1;
    send_record(channel, answer);
  });
  after([&](Channel& channel) {
    Record expose = record_of(Record::Kind::expose);
    expose.value = 64;
    send_record(channel, expose);
  });
  after([&](Channel& channel) {
    const Bytes bytes = filled(8, 1);
    Record write = record_of(is_shm() ? Record::Kind::write : Record::Kind::ask);
    if (is_shm()) write.bytes = bytes;
    send_record(channel, write);
  });
  // Longer than any frame.
  after([&](Channel& channel) { send_bytes(channel, filled(kFrameBytesMax + 1, 1)); });
}

TEST_P(HostileFabric, ForgedFramesEndTheConnection) {
  world_.start(kOwner);
  RawWriter raw(raw_options(), peer_of(kOwner));
  raw.connect(world_);
  raw.channel().use(seal::derive_channel(keys_of(9).all[0], filled(8, 1)), Channel::Side::caller);
  send_record(raw.channel(), record_of(Record::Kind::wake));
  raw.wait_for_end(world_);
  world_.wait_for([&] { return world_.fabric(kOwner).counters().bad_input == 1; });
  expect_service();
}

TEST_P(HostileFabric, ARecordedHandshakeLetsNobodyIn) {
  world_.start(kOwner);
  // Says hello with bytes that it heard before. It does not know the key.
  const Hello hello = make_hello(raw_options(), kOwner.node, is_shm() ? Kind::shm : Kind::tcp);
  Bytes frame(4 + kHelloBytes);
  store(ByteSpan(frame), static_cast<std::uint32_t>(kHelloBytes));
  encode_hello(hello, ByteSpan(frame).subspan(4));
  const Bytes proof = filled(4 + kRecordBytes + 16, 7);
  auto fd = is_shm() ? connect_unix(peer_of(kOwner).socket)
                     : connect_tcp(peer_of(kOwner).at, raw_options().at.with_port(0));
  ASSERT_TRUE(fd);
  const auto stream = make_plain_stream(std::move(*fd), {});
  world_.wait_for([&] { return stream->advance() == StreamOutcome::ok; });
  std::array<ByteView, 1> chunks{frame};
  EXPECT_EQ(stream->write(chunks).bytes, frame.size());
  Bytes answer(4'096);
  std::size_t got = 0;
  world_.wait_for([&] {
    got += stream->read(answer).bytes;
    return got >= 4 + kWelcomeBytes;
  });
  EXPECT_EQ(got, 4 + kWelcomeBytes) << "the welcome, and no descriptor";
  Bytes forged = proof;
  store(ByteSpan(forged), static_cast<std::uint32_t>(kRecordBytes + 16));
  chunks = {forged};
  EXPECT_EQ(stream->write(chunks).bytes, forged.size());
  world_.wait_for([&] { return stream->read(answer).outcome >= StreamOutcome::end; });
  EXPECT_EQ(world_.fabric(kOwner).counters().bad_input, 1U);
  EXPECT_EQ(world_.status(kOwner, kWriter.node).incoming, Kind::none);
  expect_service();
}

TEST_P(HostileFabric, ConnectionsWithoutProofAreFewAndHaveLittleTime) {
  Options options = world_.site().options(kOwner);
  options.limits.patience = milliseconds(30);
  world_.start_with(options);
  std::vector<Fd> silent;
  for (std::size_t i = 0; i < IncomingLinks::kHandshakesMax + 20; ++i) {
    auto fd = is_shm() ? connect_unix(peer_of(kOwner).socket)
                       : connect_tcp(peer_of(kOwner).at, raw_options().at.with_port(0));
    ASSERT_TRUE(fd);
    silent.push_back(std::move(*fd));
    world_.turn();
  }
  world_.wait_for(
      [&] { return world_.fabric(kOwner).counters().late >= IncomingLinks::kHandshakesMax + 20; });
  expect_service();
}

using HostileTcp = HostileFabric;
INSTANTIATE_TEST_SUITE_P(Fabrics, HostileTcp, testing::Values(Choice::tcp));
using HostileShm = HostileFabric;
INSTANTIATE_TEST_SUITE_P(Fabrics, HostileShm, testing::Values(Choice::shm));

TEST_P(HostileTcp, StrangersFromOtherMachinesAreNotEvenRead) {
  world_.start(kOwner);
  auto fd = connect_tcp(peer_of(kOwner).at, Endpoint::v4(127, 201, 3, 4, 0));
  ASSERT_TRUE(fd);
  world_.wait_for([&] { return world_.fabric(kOwner).counters().refused == 1; });
  EXPECT_EQ(world_.fabric(kOwner).counters().accepted, 0U);
  expect_service();
}

TEST_P(HostileFabric, RandomRecordsAreSurvived) {
  world_.start(kOwner);
  ASSERT_TRUE(world_.of(kOwner).expose({kWriter, 1}, {1}, 64));
  Random random(17);
  for (int i = 0; i < 60; ++i) {
    RawWriter raw(raw_options(), peer_of(kOwner));
    raw.connect(world_);
    for (int j = 0; j < 30 && !raw.channel().is_broken(); ++j) {
      const Bytes bytes = filled(1 + random.below(40), 3);
      Record record = record_of(static_cast<Record::Kind>(1 + random.below(8)));
      record.number = static_cast<std::uint8_t>(random.below(3));
      if (record.kind == Record::Kind::write) {
        record.bytes = bytes;
        record.last = random.chance(0.5);
        record.value = random.chance(0.3) ? ~0ULL - random.below(10) : random.below(70);
      }
      if (record.kind == Record::Kind::answer || record.kind == Record::Kind::ask) {
        record.count = static_cast<std::uint32_t>(random.below(1ULL << 32));
      }
      if (record.kind == Record::Kind::expose) record.value = random.below(1ULL << 40);
      record.epoch = record.kind == Record::Kind::answer || record.kind == Record::Kind::wake ||
                             record.kind == Record::Kind::ready
                         ? 0
                         : random.below(3);
      if (record.kind == Record::Kind::wake || record.kind == Record::Kind::ready ||
          record.kind == Record::Kind::answer) {
        record.number = 0;
      }
      send_record(raw.channel(), record, is_shm() && random.chance(0.1) ? 1 : -1);
      world_.turn();
      raw.channel().read();
      while (raw.channel().next()) {
      }
    }
  }
  expect_service();
  Bytes found(64);
  EXPECT_TRUE(world_.of(kOwner).load({kWriter, 1}, 0, found));
}

TEST_P(HostileTcp, AWriterThatReadsNoAnswersIsNotReadEither) {
  world_.start(kOwner);
  RawWriter raw(raw_options(), peer_of(kOwner));
  raw.connect(world_);
  const Bytes bytes = filled(1, 1);
  while (raw.channel().unsent() < (4U << 20)) {
    ASSERT_TRUE(world_.may_wait());
    const ByteSpan frame = raw.channel().begin_frame(kFrameBytesMax);
    std::size_t used = 0;
    // Good and bad epochs in turns: each write has an answer of its own.
    ASSERT_TRUE(world_.of(kOwner).expose({kWriter, 1}, {1}, 64));
    for (std::uint64_t i = 0; frame.size() - used > 2 * kRecordBytes; ++i) {
      Record write = record_of(Record::Kind::write);
      write.number = 1;
      write.epoch = i % 2;
      write.bytes = bytes;
      used += encode_record(write, frame.subspan(used));
    }
    raw.channel().end_frame(used);
    raw.channel().write();
    world_.turn();
  }
  const std::uint64_t before = world_.fabric(kOwner).counters().arrived;
  for (int i = 0; i < 10; ++i) world_.turn();
  EXPECT_EQ(world_.fabric(kOwner).counters().arrived, before);
  expect_service();
}

TEST_P(HostileShm, AWriterThatDoesNotReadWhereItsRegionsAreIsGivenUp) {
  world_.start(kOwner);
  RawWriter raw(raw_options(), peer_of(kOwner));
  raw.connect(world_);
  for (std::uint64_t epoch = 1; world_.status(kOwner, kWriter.node).incoming != Kind::none;
       ++epoch) {
    ASSERT_LT(epoch, 20'000U);
    ASSERT_TRUE(world_.of(kOwner).expose({kWriter, 1}, {epoch}, 64));
    if (epoch % 16 == 0) world_.flush(kOwner);
  }
  expect_service();
}

// ---- hostile owners ----

TEST_P(HostileFabric, AnOwnerThatAnswersWhatWasNotAskedIsGivenUp) {
  RawOwner raw(world_.site().options(kOwner));
  Options options = world_.site().options(kWriter);
  options.peers.erase(options.peers.begin() + 1);
  world_.start_with(options);
  const auto after = [&](const Record& record) {
    raw.admit(world_);
    world_.wait_for([&] { return world_.status(kWriter, kOwner.node).kind != Kind::none; });
    const std::uint64_t before = world_.fabric(kWriter).counters().bad_input;
    send_record(raw.channel(), record);
    world_.wait_for([&] { return world_.fabric(kWriter).counters().bad_input == before + 1; });
    raw.hang_up();
  };
  Record answer = record_of(Record::Kind::answer);
  answer.count = 1;
  after(answer);
  Record expose = record_of(Record::Kind::expose);
  expose.value = 64;
  after(expose);  // without its descriptor, or by tcp
  after(record_of(Record::Kind::wake));
  after(record_of(Record::Kind::ready));
}

TEST_P(HostileTcp, AnswersBeyondTheWritesAreRefused) {
  RawOwner raw(world_.site().options(kOwner));
  Options options = world_.site().options(kWriter);
  options.peers.erase(options.peers.begin() + 1);
  world_.start_with(options);
  raw.admit(world_);
  world_.wait_for([&] { return world_.status(kWriter, kOwner.node).kind != Kind::none; });
  for (std::uint64_t token = 1; token <= 3; ++token) {
    world_.of(kWriter).write({kOwner, kNumber, {1}, 0}, filled(8, 1), token);
  }
  world_.flush(kWriter);
  raw.next_frame(world_);
  Record answer = record_of(Record::Kind::answer);
  answer.count = 2;
  send_record(raw.channel(), answer);
  std::vector<WriteDone> ends;
  const auto take = [&] {
    WriteDone done;
    while (world_.of(kWriter).next_done(done)) ends.push_back(done);
  };
  world_.wait_for([&] {
    take();
    return ends.size() == 2;
  });
  EXPECT_EQ(ends[1].end, WriteEnd::ok);
  answer.count = 0xffff'ffff;
  send_record(raw.channel(), answer);
  world_.wait_for([&] {
    take();
    return ends.size() == 3;
  });
  EXPECT_EQ(ends[2].token, 3U);
  EXPECT_EQ(ends[2].end, WriteEnd::down);
  EXPECT_EQ(world_.fabric(kWriter).counters().bad_input, 1U);
}

}  // namespace

// ---- memory of hostile owners ----

namespace {

class HostileMemory : public testing::Test {
 protected:
  explicit HostileMemory(Duration hold = seconds(20)) : raw_(world_.site().options(kOwner)) {
    Options options = world_.site().options(kWriter);
    options.limits.hold = hold;
    options.limits.patience = seconds(20);  // processors may be busy elsewhere
    options.peers.erase(options.peers.begin() + 1);
    world_.start_with(options);
    raw_.admit(world_);
  }
  std::string write_to(Epoch epoch) {
    world_.of(kWriter).write({kOwner, kNumber, epoch, 0}, filled(8, 1), 1);
    world_.flush(kWriter);
    WriteDone done;
    world_.wait_for([&] { return world_.of(kWriter).next_done(done); });
    if (done.end == WriteEnd::ok) return "ok";
    return done.end == WriteEnd::denied ? "denied" : "down";
  }
  std::uint64_t refused() { return world_.fabric(kWriter).counters().refused_memory; }
  static Fd memory(std::size_t bytes, int seals) {
    Fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    return fd;
  }
  static constexpr int kGood = F_SEAL_SHRINK | F_SEAL_GROW;
  static constexpr std::size_t kAll = Regions::kHeaderBytes + 64;

  FabricWorld world_{Choice::shm};
  RawOwner raw_;
};

TEST_F(HostileMemory, ThatCouldShrinkIsRefused) {
  const Fd fd = memory(kAll, F_SEAL_GROW);
  raw_.expose({1}, 64, fd.get());
  EXPECT_EQ(write_to({1}), "denied");
  EXPECT_EQ(refused(), 1U);
}

TEST_F(HostileMemory, OfAnotherSizeIsRefused) {
  const Fd fd = memory(kAll, kGood);
  raw_.expose({1}, 1'024, fd.get());
  EXPECT_EQ(write_to({1}), "denied");
  raw_.expose({2}, ~std::size_t{0}, fd.get());
  EXPECT_EQ(write_to({2}), "denied");
  raw_.expose({3}, ~std::size_t{0} - Regions::kHeaderBytes, fd.get());
  EXPECT_EQ(write_to({3}), "denied");
  EXPECT_EQ(refused(), 3U);
}

TEST_F(HostileMemory, ThatIsNoMemoryIsRefused) {
  const Fd null(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  raw_.expose({1}, 64, null.get());
  EXPECT_EQ(write_to({1}), "denied");
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const Fd reading(pipe[0]);
  const Fd writing(pipe[1]);
  raw_.expose({2}, 64, writing.get());
  EXPECT_EQ(write_to({2}), "denied");
  EXPECT_EQ(refused(), 2U);
}

TEST_F(HostileMemory, ThatCannotBeWrittenIsRefused) {
  const Fd fd = memory(kAll, kGood | F_SEAL_WRITE);
  raw_.expose({1}, 64, fd.get());
  EXPECT_EQ(write_to({1}), "denied");
  EXPECT_EQ(refused(), 1U);
}

TEST_F(HostileMemory, WithAGuardOfItsOwnDecidesOnlyHowWritesEnd) {
  const Fd fd = memory(kAll, kGood);
  raw_.expose({1}, 64, fd.get());
  EXPECT_EQ(write_to({1}), "denied") << "its guard is 0";
  const std::uint64_t guard = 1;
  ASSERT_EQ(::pwrite(fd.get(), &guard, sizeof guard, 0), 8);
  EXPECT_EQ(write_to({1}), "ok");
  EXPECT_EQ(refused(), 0U);
}

class ImpatientWriter : public HostileMemory {
 protected:
  ImpatientWriter() : HostileMemory(milliseconds(50)) {}
};

TEST_F(ImpatientWriter, QuestionsThatAreNotAnsweredEnd) {
  EXPECT_EQ(write_to({5}), "down") << "after Limits::hold";
  EXPECT_EQ(world_.fabric(kWriter).counters().expired, 1U);
  // An answer to another question says nothing.
  Record unknown = record_of(Record::Kind::unknown);
  unknown.number = kNumber;
  unknown.epoch = 6;
  unknown.count = 77;
  send_record(raw_.channel(), unknown);
  EXPECT_EQ(write_to({6}), "down");
}

TEST_F(HostileMemory, DescriptorsWithoutARegionEndTheConnection) {
  const Fd fd = memory(kAll, kGood);
  Record withdraw = record_of(Record::Kind::withdraw);
  for (int i = 0; i < 5; ++i) send_record(raw_.channel(), withdraw, fd.get());
  world_.wait_for([&] { return world_.fabric(kWriter).counters().bad_input == 1; });
  EXPECT_LE(descriptors_of_kind("/memfd:test"), 2) << "the test's own, and the queue's";
}

}  // namespace
}  // namespace peal::io::fabric::test
