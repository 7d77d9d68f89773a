// SPDX-License-Identifier: Apache-2.0
// Connections between memories: which fabric, who is let in, and what waits for what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "fabrics.h"
#include "in_child.h"
#include "raw.h"

namespace peal::io::fabric::test {
namespace {

using testing::HasSubstr;

/// The completions that come during some turns: "1ok 2down ".
std::string ends_now(FabricWorld& world, const MemberId& writer) {
  std::string text;
  WriteDone done;
  while (world.of(writer).next_done(done)) {
    const char* name = done.end == WriteEnd::ok ? "ok " : "down ";
    text += std::to_string(done.token) + (done.end == WriteEnd::denied ? "denied " : name);
  }
  return text;
}
std::string ends(FabricWorld& world, std::size_t count, const MemberId& writer = kWriter) {
  std::string text;
  world.wait_for([&] {
    text += ends_now(world, writer);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) >= count;
  });
  return text;
}

void write_at(FabricWorld& world, const MemberId& owner, Epoch epoch, std::uint64_t token,
              std::size_t bytes = 8, const MemberId& writer = kWriter) {
  world.of(writer).write({owner, kNumber, epoch, 0}, filled(bytes, 5), token);
  world.flush(writer);
}

void expose_to(FabricWorld& world, const MemberId& writer = kWriter, Epoch epoch = {7},
               std::size_t bytes = 1'024) {
  ASSERT_TRUE(world.of(kOwner).expose({writer, kNumber}, epoch, bytes));
}

void start_pair(FabricWorld& world) {
  world.start(kOwner);
  world.start(kWriter);
}

TEST(FabricLinks, PeersOnOneMachineUseShm) {
  FabricWorld world(Choice::automatic);
  start_pair(world);
  world.wait_for([&] { return world.status(kWriter, kOwner.node).kind != Kind::none; });
  world.wait_for([&] { return world.status(kWriter, kOwner.node).incoming != Kind::none; });
  const PeerStatus status = world.status(kWriter, kOwner.node);
  EXPECT_EQ(status.kind, Kind::shm);
  EXPECT_EQ(status.incoming, Kind::shm);
  EXPECT_EQ(status.owner, kOwner);
  EXPECT_EQ(status.problem, "");
}

TEST(FabricLinks, WithoutASocketTheyUseTcpAndSayWhy) {
  FabricWorld world(Choice::automatic);
  Options owner = world.site().options(kOwner);
  owner.socket.clear();
  world.start_with(owner);
  world.start(kWriter);
  world.wait_for([&] { return world.status(kWriter, kOwner.node).kind != Kind::none; });
  const PeerStatus status = world.status(kWriter, kOwner.node);
  EXPECT_EQ(status.kind, Kind::tcp);
  EXPECT_EQ(status.problem, "node 1 at " + world.site().socket(kOwner.node) +
                                ": nobody listens at \"" + world.site().socket(kOwner.node) + "\"");
  // In the other direction, it works.
  world.wait_for([&] { return world.status(kWriter, kOwner.node).incoming == Kind::shm; });
}

TEST(FabricLinks, ShmAloneDoesNotFallBack) {
  FabricWorld world(Choice::automatic);
  Options owner = world.site().options(kOwner);
  owner.socket.clear();
  world.start_with(owner);
  Options writer = world.site().options(kWriter);
  writer.choice = Choice::shm;
  world.start_with(writer);
  world.wait_for([&] { return world.fabric(kWriter).counters().connects > 3; });
  EXPECT_EQ(world.status(kWriter, kOwner.node).kind, Kind::none);
  EXPECT_THAT(world.status(kWriter, kOwner.node).problem, HasSubstr("nobody listens at"));
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1down ");
}

TEST(FabricLinks, OptionsThatCannotWorkAreRefused) {
  const Site site(Choice::automatic);
  const auto refusal = [&](const auto& change) {
    Options options = site.options(kOwner);
    change(options);
    const auto opened = Fabric::open(options);
    return opened ? std::string("opened") : opened.error().message;
  };
  EXPECT_THAT(refusal([](Options& options) {
                options.choice = Choice::shm;
                options.socket.clear();
              }),
              HasSubstr("fabric = \"shm\": no Unix socket is configured"));
  EXPECT_THAT(refusal([](Options& options) {
                options.choice = Choice::tcp;
                options.at = {};
              }),
              HasSubstr("fabric = \"tcp\": this node has no address"));
  EXPECT_THAT(refusal([](Options& options) {
                options.socket.clear();
                options.at = {};
              }),
              HasSubstr("no address and no Unix socket"));
  EXPECT_THAT(refusal([](Options& options) {
                options.choice = Choice::shm;
                options.socket = "/no/such/folder/s";
              }),
              AllOf(HasSubstr("fabric: no shared memory: "), HasSubstr("/no/such"),
                    HasSubstr("or set fabric = \"tcp\"")));
  EXPECT_THAT(refusal([](Options& options) { options.at = Endpoint::v4(192, 0, 2, 1, 4'900); }),
              HasSubstr("192.0.2.1:4900"));
  const auto first = Fabric::open(site.options(kOwner));
  ASSERT_TRUE(first);
  EXPECT_THAT(refusal([](Options&) {}), HasSubstr("another process listens there"));
}

TEST(FabricLinks, WithoutASocketTheOtherFabricsGoOn) {
  const Site site(Choice::automatic);
  Options options = site.options(kOwner);
  options.socket = "/no/such/folder/s";
  const auto opened = Fabric::open(options);
  ASSERT_TRUE(opened);
  EXPECT_THAT((*opened)->problem(), HasSubstr("no shared memory: "));
}

// ---- who is let in ----

/// The writer's problem with an owner that differs from it by `change`.
std::string problem_with(Choice choice, const std::function<void(Options&)>& change) {
  FabricWorld world(choice);
  Options owner = world.site().options(kOwner);
  change(owner);
  world.start_with(owner);
  world.start(kWriter);
  world.wait_for([&] {
    return !world.status(kWriter, kOwner.node).problem.empty() ||
           world.status(kWriter, kOwner.node).kind != Kind::none;
  });
  EXPECT_EQ(world.status(kWriter, kOwner.node).kind, Kind::none);
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1down ");
  EXPECT_GE(world.fabric(owner.self).counters().refused, 1U);
  return world.status(kWriter, kOwner.node).problem;
}

class FabricHandshake : public testing::TestWithParam<Choice> {};
INSTANTIATE_TEST_SUITE_P(Fabrics, FabricHandshake,
                         testing::ValuesIn(with_verbs({Choice::shm, Choice::tcp})),
                         [](const auto& made) { return std::string(choice_name(made.param)); });

TEST_P(FabricHandshake, RefusesOtherClustersAndKeysAndSaysSo) {
  EXPECT_THAT(problem_with(GetParam(), [](Options& owner) { owner.cluster += 1ULL << 32; }),
              HasSubstr("it belongs to another cluster: give both nodes the same `cluster`"));
  EXPECT_THAT(problem_with(GetParam(), [](Options& owner) { owner.cluster += 1; }),
              HasSubstr("its cluster-wide settings differ: the logs of both nodes name them"));
  EXPECT_THAT(problem_with(GetParam(), [](Options& owner) { owner.keys = keys_of(2); }),
              HasSubstr("it does not have key " + seal::to_text(keys_of(1).sending) +
                        ": give both nodes the same key_file"));
  EXPECT_THAT(problem_with(GetParam(), [](Options& owner) { owner.keys.reset(); }),
              HasSubstr("it has no key, and this node has one"));
  EXPECT_THAT(problem_with(GetParam(), [](Options& owner) { owner.self.node = {3}; }),
              HasSubstr("it is another node"));
  EXPECT_THAT(problem_with(GetParam(),
                           [](Options& owner) {
                             std::erase_if(owner.peers, [](const Peer& peer) {
                               return peer.node == kWriter.node;
                             });
                             owner.peers.push_back({{4}, Site(Choice::tcp).at({2}), ""});
                           }),
              HasSubstr("it does not know node 2"));
}

TEST_P(FabricHandshake, KeysCanBeChangedWithoutAStop) {
  FabricWorld world(GetParam());
  start_pair(world);
  expose_to(world);
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1ok ");
  seal::Keys both = keys_of(1);
  both.all.push_back(keys_of(2).all[0]);
  for (const MemberId& member : {kOwner, kWriter}) {
    world.fabric(member).set_keys(Clock::now(), both);
  }
  EXPECT_EQ(std::string(kind_name(world.status(kWriter, kOwner.node).kind)),
            choice_name(GetParam()))
      << "the connection goes on";
  both.sending = keys_of(2).sending;
  for (const MemberId& member : {kOwner, kWriter}) {
    world.fabric(member).set_keys(Clock::now(), both);
    world.fabric(member).set_keys(Clock::now(), keys_of(2));
  }
  EXPECT_EQ(world.status(kWriter, kOwner.node).kind, Kind::none) << "its key is gone";
  std::uint64_t token = 1;
  std::string text;
  while (text.find("ok") == std::string::npos) {
    ASSERT_TRUE(world.may_wait());
    write_at(world, kOwner, {7}, ++token);
    text = ends(world, 1);
    world.turn();
  }
  EXPECT_NE(world.status(kWriter, kOwner.node).kind, Kind::none);
}

TEST_P(FabricHandshake, AnEarlierIncarnationOfTheWriterIsRefused) {
  FabricWorld world(GetParam());
  start_pair(world);
  expose_to(world);
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1ok ");
  // Another process with the number of the writer, which started earlier.
  Options options = world.site().options({kWriter.node, kWriter.epoch - 1});
  options.socket += "2";
  options.at.port = 4'977;
  world.start_with(options);
  world.wait_for([&] { return world.fabric(kOwner).counters().refused > 0; });
  write_at(world, kOwner, {7}, 2);
  EXPECT_EQ(ends(world, 1), "2ok ");
}

TEST_P(FabricHandshake, TheSameWriterMayConnectAgain) {
  FabricWorld world(GetParam());
  start_pair(world);
  expose_to(world);
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1ok ");
  world.stop(kWriter);
  world.start(kWriter);
  write_at(world, kOwner, {7}, 2);
  EXPECT_EQ(ends(world, 1), "2ok ");
  Bytes found(8);
  ASSERT_TRUE(world.of(kOwner).load({kWriter, kNumber}, 0, found));
  EXPECT_EQ(found, filled(8, 5));
}

// ---- what waits ----

TEST_P(FabricHandshake, AWriteWaitsForTheConnectionAndItsRegion) {
  FabricWorld world(GetParam());
  start_pair(world);
  expose_to(world);
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1ok ") << "there was no connection yet";
  // The engine's packet may overtake the message that says where the region is.
  for (std::uint64_t epoch = 8; epoch < 40; ++epoch) {
    expose_to(world, kWriter, {epoch});
    write_at(world, kOwner, {epoch}, epoch);
    EXPECT_EQ(ends(world, 1), std::to_string(epoch) + "ok ");
    write_at(world, kOwner, {epoch - 1}, 100);
    EXPECT_EQ(ends(world, 1), "100denied ");
  }
  EXPECT_EQ(world.fabric(kWriter).counters().expired, 0U);
}

TEST_P(FabricHandshake, WritesBehindOneThatWaitsKeepTheirOrder) {
  FabricWorld world(GetParam());
  start_pair(world);
  expose_to(world);
  ASSERT_TRUE(world.of(kOwner).expose({kWriter, 9}, {1}, 64));
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1ok ");
  const auto write = [&](std::uint8_t number, std::uint64_t epoch, std::uint64_t token) {
    world.of(kWriter).write({kOwner, number, {epoch}, 0}, filled(8, 5), token);
  };
  write(9, 1, 2);
  write(kNumber, 6, 3);
  write(9, 1, 4);
  write(kNumber, 7, 5);
  write(9, 2, 6);
  write(kNumber, 7, 7);
  world.flush(kWriter);
  EXPECT_EQ(ends(world, 6), "2ok 3denied 4ok 5ok 6denied 7ok ");
}

TEST_P(FabricHandshake, ARefusalIsNoAnswerToLaterWrites) {
  FabricWorld world(GetParam());
  start_pair(world);
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1denied ");
  expose_to(world);
  write_at(world, kOwner, {7}, 2);
  EXPECT_EQ(ends(world, 1), "2ok ");
  world.of(kOwner).drop({kWriter, kNumber});
  world.turn();
  write_at(world, kOwner, {7}, 3);
  EXPECT_EQ(ends(world, 1), "3denied ");
}

TEST_P(FabricHandshake, AWriteThatWaitsTooLongEndsAsDown) {
  FabricWorld world(GetParam());
  world.start(kOwner);
  Options options = world.site().options(kWriter);
  options.limits.hold = milliseconds(20);
  world.start_with(options);
  // This incarnation of the owner does not run: the connection is to an earlier one.
  const MemberId later{kOwner.node, kOwner.epoch + 1};
  world.wait_for([&] { return world.status(kWriter, kOwner.node).kind != Kind::none; });
  const Instant begin = Clock::now();
  write_at(world, later, {7}, 1);
  EXPECT_EQ(ends_now(world, kWriter), "");
  const auto deadline = world.fabric(kWriter).next_deadline();
  ASSERT_TRUE(deadline);
  EXPECT_LE(*deadline, Clock::now() + milliseconds(20));
  EXPECT_EQ(ends(world, 1), "1down ");
  EXPECT_GE(Clock::now() - begin, milliseconds(20));
  EXPECT_EQ(world.fabric(kWriter).counters().expired, 1U);
  // The connection goes on. A slow machine needs longer until it knows the region.
  expose_to(world);
  std::string end;
  std::uint64_t token = 1;
  do {
    ASSERT_TRUE(world.may_wait());
    write_at(world, kOwner, {7}, ++token);
    end = ends(world, 1);
  } while (end == std::to_string(token) + "down ");
  EXPECT_EQ(end, std::to_string(token) + "ok ");
  EXPECT_EQ(world.fabric(kWriter).counters().connected, 1U);
}

/// It accepts the connection, and dies: nothing of the handshake can be written.
TEST(FabricLinks, AnOwnerThatDiesBeforeTheHandshakeIsNotWaitedFor) {
  const Site site(Choice::shm);
  Options options = site.options(kWriter);
  options.limits.patience = seconds(60);
  auto listener = StreamListener::unix_socket(site.socket(kOwner.node), 0600);
  ASSERT_TRUE(listener);
  Counters counters;
  VerbsUse verbs;
  const auto peer = std::find_if(options.peers.begin(), options.peers.end(),
                                 [](const Peer& each) { return each.node == kOwner.node; });
  Dialer dialer(options, *peer, counters, verbs);
  ASSERT_TRUE(dialer.hurry(Clock::now()));
  EXPECT_EQ((*listener)->accept().answer, StreamListener::Answer::taken);
  listener->reset();
  EXPECT_FALSE(dialer.work(Clock::now()));
  EXPECT_FALSE(dialer.is_busy());
  EXPECT_THAT(dialer.problem(), HasSubstr("Broken pipe"));
}

TEST_P(FabricHandshake, WithoutAPeerWritesEndAtOnce) {
  FabricWorld world(GetParam());
  world.start(kWriter);
  world.wait_for([&] { return !world.status(kWriter, kOwner.node).problem.empty(); });
  // hold is 20 s here: an attempt that has failed is not waited for.
  const Instant begin = Clock::now();
  for (std::uint64_t token = 1; token <= 5; ++token) {
    write_at(world, kOwner, {7}, token);
    EXPECT_EQ(ends(world, 1), std::to_string(token) + "down ");
  }
  EXPECT_LT(Clock::now() - begin, seconds(10));
  EXPECT_THAT(world.status(kWriter, kOwner.node).problem, HasSubstr("nobody listens"));
  // The peer starts: it connects, and so does this process.
  world.start(kOwner);
  world.wait_for([&] { return world.status(kWriter, kOwner.node).kind != Kind::none; });
}

TEST_P(FabricHandshake, CountersAddUp) {
  FabricWorld world(GetParam());
  start_pair(world);
  expose_to(world);
  write_at(world, kOwner, {7}, 1, 100);
  write_at(world, kOwner, {8}, 2, 50);
  EXPECT_EQ(ends(world, 2), "1ok 2denied ");
  world.stop(kOwner);
  world.wait_for([&] { return world.status(kWriter, kOwner.node).kind == Kind::none; });
  world.wait_for([&] { return !world.status(kWriter, kOwner.node).problem.empty(); });
  write_at(world, kOwner, {7}, 3, 10);
  EXPECT_EQ(ends(world, 1), "3down ");
  const WriteCounters counters = world.status(kWriter, kOwner.node).writes;
  EXPECT_EQ(counters.writes, 3U);
  EXPECT_EQ(counters.bytes, 160U);
  EXPECT_EQ(counters.ok, 1U);
  EXPECT_EQ(counters.denied, 1U);
  EXPECT_EQ(counters.down, 1U);
  EXPECT_EQ(world.fabric(kWriter).counters().broken, 1U);
  EXPECT_EQ(world.fabric(kWriter).counters().bad_input, 0U);
}

// ---- limits ----

TEST(FabricLimits, AnOwnerThatTakesNothingIsGivenUp) {
  FabricWorld world(Choice::tcp);
  world.start(kOwner);
  Options options = world.site().options(kWriter);
  options.limits.queue_bytes_max = 1U << 20;
  world.start_with(options);
  expose_to(world, kWriter, {7}, 1 << 16);
  write_at(world, kOwner, {7}, 0);
  EXPECT_EQ(ends(world, 1), "0ok ");
  // The owner has no more turns.
  std::uint64_t token = 0;
  std::string text;
  while (world.fabric(kWriter).counters().overflows == 0) {
    ASSERT_LT(token, 10'000U) << "64 kB each";
    write_at(world, kOwner, {7}, ++token, 1 << 16);
    text += ends_now(world, kWriter);
  }
  std::string expected;
  for (std::uint64_t i = 1; i <= token; ++i) expected += std::to_string(i) + "down ";
  EXPECT_EQ(text, expected);
  // Once it has turns again, it works again.
  while (text.find("ok") == std::string::npos) {
    ASSERT_TRUE(world.may_wait());
    write_at(world, kOwner, {7}, ++token);
    text = ends(world, 1);
  }
}

TEST(FabricLimits, MoreMemoryThanThePeerMayUseIsNotMapped) {
  FabricWorld world(Choice::shm);
  world.start(kOwner);
  Options options = world.site().options(kWriter);
  options.limits.mapped_bytes_max = 1'500;
  world.start_with(options);
  expose_to(world, kWriter, {7}, 1'000);
  ASSERT_TRUE(world.of(kOwner).expose({kWriter, 9}, {7}, 1'000));
  write_at(world, kOwner, {7}, 1);
  world.of(kWriter).write({kOwner, 9, {7}, 0}, filled(8, 5), 2);
  world.flush(kWriter);
  EXPECT_EQ(ends(world, 2), "1ok 2denied ");
  EXPECT_EQ(world.fabric(kWriter).counters().refused_memory, 1U);
  world.of(kOwner).drop({kWriter, kNumber});
  ASSERT_TRUE(world.of(kOwner).expose({kWriter, 9}, {8}, 1'400));
  world.of(kWriter).write({kOwner, 9, {8}, 0}, filled(8, 5), 3);
  world.flush(kWriter);
  EXPECT_EQ(ends(world, 1), "3ok ");
}

TEST(FabricLimits, OldRegionsLeaveNoDescriptorsAndMappings) {
  FabricWorld world(Choice::shm);
  start_pair(world);
  expose_to(world);
  write_at(world, kOwner, {7}, 1);
  EXPECT_EQ(ends(world, 1), "1ok ");
  const int before = descriptors_of_kind("/memfd:");
  for (std::uint64_t epoch = 8; epoch < 200; ++epoch) {
    expose_to(world, kWriter, {epoch});
    write_at(world, kOwner, {epoch}, epoch);
    EXPECT_EQ(ends(world, 1), std::to_string(epoch) + "ok ");
  }
  EXPECT_EQ(descriptors_of_kind("/memfd:"), before);
}

TEST(FabricLimits, OnlyThisUserReachesTheSocket) {
  FabricWorld world(Choice::shm);
  world.start(kOwner);
  struct stat status {};
  ASSERT_EQ(::stat(world.site().socket(kOwner.node).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace peal::io::fabric::test
