// SPDX-License-Identifier: Apache-2.0
// What the log learns of peers that break the rules.
#include "io/fabric/offences.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "raw.h"

namespace peal::io::fabric::test {
namespace {

std::string all_of(Offences& offences) {
  std::string text;
  while (const auto next = offences.take()) {
    text += std::to_string(next->peer.node.value) + "/" + std::to_string(next->peer.epoch) + " " +
            next->what + "; ";
  }
  return text;
}

Offence by(std::uint32_t node, std::uint64_t epoch, std::string what) {
  return {Offence::Kind::rule, {{node}, epoch}, {}, std::move(what)};
}

TEST(Offences, OfAnIncarnationAreSaidOnceForEachReason) {
  Offences offences;
  offences.note(by(2, 7, "a"));
  offences.note(by(2, 7, "a"));
  offences.note(by(2, 7, "b"));
  offences.note(by(3, 7, "a"));
  EXPECT_EQ(all_of(offences), "2/7 a; 2/7 b; 3/7 a; ");
  offences.note(by(2, 7, "b"));
  EXPECT_EQ(all_of(offences), "");
  offences.note(by(2, 8, "b"));
  EXPECT_EQ(all_of(offences), "2/8 b; ");
  // What an earlier incarnation still does is nothing new.
  offences.note(by(2, 7, "b"));
  EXPECT_EQ(all_of(offences), "");
}

TEST(Offences, OfOneIncarnationHaveABound) {
  Offences offences;
  for (int i = 0; i < 10'000; ++i) offences.note(by(2, 7, std::to_string(i)));
  std::size_t count = 0;
  while (offences.take()) ++count;
  EXPECT_EQ(count, Offences::kReasonsMax);
}

TEST(Offences, ThatNobodyTakesHaveABound) {
  Offences offences;
  for (std::uint64_t epoch = 1; epoch < 10'000; ++epoch) offences.note(by(2, epoch, "a"));
  std::size_t count = 0;
  while (offences.take()) ++count;
  EXPECT_EQ(count, Offences::kWaitingMax);
}

// ---- where they come from ----

class Offenders : public testing::TestWithParam<Choice> {
 protected:
  FabricWorld world_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Fabrics, Offenders, testing::Values(Choice::shm, Choice::tcp),
                         [](const auto& made) { return std::string(choice_name(made.param)); });

TEST_P(Offenders, AWriterThatBreaksARuleIsNamedOnce) {
  world_.start(kOwner);
  const Peer owner{kOwner.node, world_.site().at(kOwner.node), world_.site().socket(kOwner.node)};
  for (std::uint64_t i = 1; i <= 3; ++i) {
    RawWriter raw(world_.site().options(kWriter), owner);
    raw.connect(world_);
    send_record(raw.channel(), record_of(Record::Kind::ready));
    raw.wait_for_end(world_);
    world_.wait_for([&] { return world_.fabric(kOwner).counters().bad_input == i; });
  }
  const auto offence = world_.fabric(kOwner).take_offence();
  ASSERT_TRUE(offence);
  EXPECT_EQ(offence->kind, Offence::Kind::rule);
  EXPECT_EQ(offence->peer, kWriter);
  EXPECT_EQ(offence->what, "a record that only owners send");
  EXPECT_FALSE(world_.fabric(kOwner).take_offence());
}

TEST_P(Offenders, AProcessWithoutProofIsNotTakenForTheNodeThatItNames) {
  world_.start(kOwner);
  Options options = world_.site().options(kWriter);
  options.keys = keys_of(1);
  const bool is_local = GetParam() == Choice::shm;
  // Says hello as a node would, and cannot seal what has to come next.
  const Hello hello = make_hello(options, kOwner.node, is_local ? Kind::shm : Kind::tcp);
  auto fd = is_local ? connect_unix(world_.site().socket(kOwner.node))
                     : connect_tcp(world_.site().at(kOwner.node), options.at.with_port(0));
  ASSERT_TRUE(fd);
  Channel channel(make_plain_stream(std::move(*fd), {}), is_local ? Kind::shm : Kind::tcp,
                  kHandshakeBytesMax);
  world_.wait_for([&] { return channel.advance() == StreamOutcome::ok; });
  encode_hello(hello, channel.begin_frame(kHelloBytes));
  channel.end_frame(kHelloBytes);
  const Bytes forged = filled(kRecordBytes + 16, 7);
  std::copy(forged.begin(), forged.end(), channel.begin_frame(forged.size()).begin());
  channel.end_frame(forged.size());
  channel.write();
  world_.wait_for([&] { return world_.fabric(kOwner).counters().bad_input == 1; });
  const auto offence = world_.fabric(kOwner).take_offence();
  ASSERT_TRUE(offence);
  EXPECT_EQ(offence->peer, MemberId{});
  EXPECT_NE(offence->from, "");
  EXPECT_EQ(offence->what, "a frame that was not sealed with the cluster's key");
}

TEST_P(Offenders, AnOwnerThatBreaksARuleIsNamedOnce) {
  RawOwner raw(world_.site().options(kOwner));
  Options options = world_.site().options(kWriter);
  options.peers.resize(1);
  world_.start_with(options);
  for (std::uint64_t i = 1; i <= 2; ++i) {
    raw.admit(world_);
    world_.wait_for([&] { return world_.status(kWriter, kOwner.node).kind != Kind::none; });
    send_record(raw.channel(), record_of(Record::Kind::wake));
    world_.wait_for([&] { return world_.fabric(kWriter).counters().bad_input == i; });
    raw.hang_up();
  }
  const auto offence = world_.fabric(kWriter).take_offence();
  ASSERT_TRUE(offence);
  EXPECT_EQ(offence->kind, Offence::Kind::rule);
  EXPECT_EQ(offence->peer, kOwner);
  EXPECT_FALSE(world_.fabric(kWriter).take_offence());
}

TEST(FabricMemory, ThatIsRefusedIsSaidOnceWithItsOwnerAndTheReason) {
  FabricWorld world(Choice::shm);
  RawOwner raw(world.site().options(kOwner));
  Options options = world.site().options(kWriter);
  options.peers.resize(1);
  world.start_with(options);
  raw.admit(world);
  const Fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(fd.get(), 128), 0);
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    raw.expose({epoch}, 64, fd.get());
    world.wait_for([&] { return world.fabric(kWriter).counters().refused_memory == epoch; });
  }
  const auto offence = world.fabric(kWriter).take_offence();
  ASSERT_TRUE(offence);
  EXPECT_EQ(offence->kind, Offence::Kind::memory);
  EXPECT_EQ(offence->peer, kOwner);
  EXPECT_EQ(offence->what, "its memory could shrink");
  EXPECT_FALSE(world.fabric(kWriter).take_offence());
}

TEST(FabricMemory, OfAWriterThatWasDeposedIsNoOffence) {
  FabricWorld world(Choice::tcp);
  world.start(kOwner);
  world.start(kWriter);
  ASSERT_TRUE(world.of(kOwner).expose({kWriter, kNumber}, {8}, 64));
  world.of(kWriter).write({kOwner, kNumber, {7}, 0}, filled(8, 5), 1);
  world.flush(kWriter);
  WriteDone done;
  world.wait_for([&] { return world.of(kWriter).next_done(done); });
  EXPECT_EQ(done.end, WriteEnd::denied);
  EXPECT_EQ(world.fabric(kOwner).counters().turned_down, 1U);
  EXPECT_FALSE(world.fabric(kOwner).take_offence());
  EXPECT_FALSE(world.fabric(kWriter).take_offence());
}

}  // namespace
}  // namespace peal::io::fabric::test
