// SPDX-License-Identifier: Apache-2.0
// RDMA, as far as it can be tested without a device: what processes tell each other, the order of
// completions, and which fabric is next. What a device does is tested by the tests of all fabrics,
// which tools/rdma_guest runs with one.
#include "io/fabric/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <deque>
#include <utility>

#include "base/random.h"
#include "fabrics.h"
#include "io/fabric/send_buffer.h"
#include "io/fabric/verbs_flights.h"

namespace peal::io::fabric::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- what processes tell each other ----

VerbsOffer sample_offer() {
  VerbsOffer offer;
  offer.address = 0x1122'3344'5566'7788;
  offer.bell_address = 0x99aa'bbcc'ddee'ff00;
  offer.key = 0xffff'ffff;
  offer.bell_key = 7;
  offer.end = {0xff'ffff, 0xff'fffe, 0xffff, 5, VerbsEnd::Link::infiniband};
  return offer;
}

TEST(VerbsEnds, AreReadAsTheyWereWritten) {
  std::array<std::byte, kVerbsOfferBytes> bytes{};
  encode_offer(sample_offer(), bytes);
  EXPECT_EQ(decode_offer(bytes), sample_offer());
  VerbsEnd end = sample_offer().end;
  end.link = VerbsEnd::Link::roce;
  end.lid = 0;
  std::array<std::byte, kVerbsEndBytes> small{};
  encode_end(end, small);
  EXPECT_EQ(decode_end(small), end);
}

TEST(VerbsEnds, AnyBytesAreReadAsWhatWritesThemOrRefused) {
  std::array<std::byte, kVerbsOfferBytes> bytes{};
  encode_offer(sample_offer(), bytes);
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto changed = bytes;
      changed[at] ^= static_cast<std::byte>(1U << bit);
      const auto read = decode_offer(changed);
      if (!read) {
        ++refused;
        continue;
      }
      std::array<std::byte, kVerbsOfferBytes> again{};
      encode_offer(*read, again);
      EXPECT_EQ(again, changed) << at << " " << bit;
    }
  }
  EXPECT_GT(refused, 16);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_offer(ByteView(bytes).first(size)));
    EXPECT_TRUE(size == kVerbsEndBytes || !decode_end(ByteView(bytes).first(size)));
  }
}

TEST(VerbsEnds, ValuesThatNoDeviceHasAreRefused) {
  const auto is_good = [](const auto& change) {
    VerbsEnd end = sample_offer().end;
    change(end);
    std::array<std::byte, kVerbsEndBytes> bytes{};
    encode_end(end, bytes);
    return decode_end(bytes).has_value();
  };
  EXPECT_TRUE(is_good([](VerbsEnd&) {}));
  EXPECT_FALSE(is_good([](VerbsEnd& end) { end.pair = 1U << 24; }));
  EXPECT_FALSE(is_good([](VerbsEnd& end) { end.first_packet = 1U << 24; }));
  EXPECT_FALSE(is_good([](VerbsEnd& end) { end.mtu = 0; }));
  EXPECT_FALSE(is_good([](VerbsEnd& end) { end.mtu = 6; }));
  EXPECT_FALSE(is_good([](VerbsEnd& end) { end.link = VerbsEnd::Link{}; }));
  EXPECT_FALSE(is_good([](VerbsEnd& end) { end.link = VerbsEnd::Link::roce; })) << "it has a lid";
}

// ---- the memory that a device reads ----

TEST(SendBuffer, PiecesUnderWayNeverOverlap) {
  Bytes memory(1'000);
  SendBuffer buffer(memory);
  std::deque<SendBuffer::Piece> under_way;
  Random random(3);
  std::size_t taken = 0;
  std::size_t around = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t bytes = 1 + random.below(400);
    if (bytes <= buffer.space()) {
      const SendBuffer::Piece piece = buffer.take(bytes);
      ASSERT_EQ(piece.memory.size(), bytes);
      ASSERT_GE(piece.memory.data(), memory.data());
      ASSERT_LE(piece.memory.data() + bytes, memory.data() + memory.size());
      for (const SendBuffer::Piece& other : under_way) {
        ASSERT_TRUE(other.memory.data() + other.memory.size() <= piece.memory.data() ||
                    piece.memory.data() + bytes <= other.memory.data());
      }
      if (piece.cost > bytes) ++around;
      under_way.push_back(piece);
      ++taken;
    } else {
      ASSERT_FALSE(under_way.empty()) << "an empty buffer has space for " << bytes;
      buffer.release(under_way.front().cost);
      under_way.pop_front();
    }
  }
  EXPECT_GT(taken, 9'000U);
  EXPECT_GT(around, 500U);
  while (!under_way.empty()) {
    buffer.release(under_way.front().cost);
    under_way.pop_front();
  }
  EXPECT_EQ(buffer.space(), memory.size());
}

// ---- the order of completions ----

class Flights : public testing::Test {
 protected:
  std::uint64_t part(std::uint64_t write, std::uint32_t pair = 1) {
    return flights_.start({VerbsFlights::Task::data, 4, pair, write, 10});
  }
  void finish(std::uint64_t operation, WriteEnd end = WriteEnd::ok) {
    VerbsFlights::Operation* const found = flights_.find(operation);
    ASSERT_NE(found, nullptr);
    flights_.finish(*found, end);
  }
  std::string ends(bool all = false) {
    flights_.end_writes(ends_, counters_, all);
    std::string text;
    WriteDone done;
    while (ends_.next(done)) {
      const char* name = done.end == WriteEnd::ok ? "ok " : "down ";
      text += std::to_string(done.token) + (done.end == WriteEnd::denied ? "denied " : name);
    }
    return text;
  }
  std::size_t freed() {
    std::size_t bytes = 0;
    flights_.sweep([&](std::size_t each) { bytes += each; });
    return bytes;
  }

  VerbsFlights flights_;
  Ends ends_;
  WriteCounters counters_;
};

TEST_F(Flights, WritesEndInTheOrderOfTheCalls) {
  const std::uint64_t first = part(flights_.begin(1));
  flights_.complete_last();
  const std::uint64_t second = part(flights_.begin(2), 2);
  flights_.complete_last();
  finish(second);
  EXPECT_EQ(ends(), "");
  EXPECT_EQ(freed(), 0U);
  finish(first);
  EXPECT_EQ(ends(), "1ok 2ok ");
  EXPECT_EQ(freed(), 20U);
  EXPECT_TRUE(flights_.is_idle());
  EXPECT_EQ(flights_.find(first), nullptr);
}

TEST_F(Flights, AWriteEndsWithItsLastPart) {
  const std::uint64_t write = flights_.begin(1);
  const std::uint64_t first = part(write);
  finish(first);
  EXPECT_EQ(ends(), "") << "more parts are to leave";
  const std::uint64_t second = part(write);
  flights_.complete_last();
  EXPECT_EQ(ends(), "");
  EXPECT_EQ(flights_.find(first), nullptr) << "it is over";
  finish(second);
  EXPECT_EQ(ends(), "1ok ");
}

TEST_F(Flights, OneDeniedPartDeniesTheWrite) {
  const std::uint64_t write = flights_.begin(1);
  finish(part(write), WriteEnd::denied);
  finish(part(write));
  flights_.complete_last();
  EXPECT_EQ(ends(), "1denied ");
}

TEST_F(Flights, ARegionThatIsGoneDeniesItsWritesAlone) {
  part(flights_.begin(1), 1);
  flights_.complete_last();
  const std::uint64_t other = part(flights_.begin(2), 2);
  flights_.complete_last();
  flights_.start({VerbsFlights::Task::look, 4, 1, 0, 0});
  flights_.finish_pair(1, WriteEnd::denied);
  EXPECT_EQ(ends(), "1denied ");
  finish(other);
  EXPECT_EQ(ends(), "2ok ");
  freed();
  EXPECT_TRUE(flights_.is_idle());
}

TEST_F(Flights, WhatIsNotOverAtTheEndIsDown) {
  const std::uint64_t first = part(flights_.begin(1));
  flights_.complete_last();
  part(flights_.begin(2));
  flights_.complete_last();
  flights_.begin(3);
  flights_.deny_last();
  flights_.complete_last();
  finish(first);
  EXPECT_EQ(ends(true), "1ok 2down 3denied ");
}

// ---- which fabric is next ----

/// A device that is there. What it does is never asked.
class SomeDevice final : public Verbs {
 public:
  static Result<std::unique_ptr<Verbs>, VerbsProblem> open(const Endpoint& /*at*/) {
    return std::make_unique<SomeDevice>();
  }
  Result<void, IoError> attach(Loop& /*loop*/) override { return {}; }
  Result<std::unique_ptr<Route>, std::string> make_route(const MemberId& /*owner*/,
                                                         const Endpoint& /*peer*/,
                                                         Counters& /*counters*/,
                                                         WriteCounters& /*writes*/) override {
    return unexpected(std::string("none"));
  }
  Result<std::unique_ptr<VerbsGrants>, std::string> make_grants(const Endpoint& /*peer*/,
                                                                ByteSpan /*bell*/) override {
    return unexpected(std::string("none"));
  }
};

Result<std::unique_ptr<Verbs>, VerbsProblem> no_device(const Endpoint& /*at*/) {
  return unexpected(verbs_missing("this machine has no RDMA device"));
}

Result<std::unique_ptr<Verbs>, VerbsProblem> no_right(const Endpoint& /*at*/) {
  return unexpected(no_right_to_devices(unopened_device_text("rxe0", EACCES)));
}

TEST(FabricVerbs, AreNotUsedInClearWithoutPermission) {
  const Site site(Choice::automatic);
  Options options = site.options(kOwner);
  EXPECT_TRUE(open_verbs(options, &SomeDevice::open).is_usable());
  options.verbs_in_clear = false;
  const auto automatic = Fabric::open(options, &SomeDevice::open);
  ASSERT_TRUE(automatic);
  EXPECT_THAT((*automatic)->verbs_problem(), HasSubstr("set verbs_in_clear = true"));
  EXPECT_FALSE(open_verbs(options, &SomeDevice::open).has_failed) << "it is not wanted";
  options = site.options(kWriter);
  options.verbs_in_clear = false;
  options.choice = Choice::verbs;
  const auto refused = Fabric::open(options, &SomeDevice::open);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("set verbs_in_clear = true"));
  options.keys.reset();
  EXPECT_TRUE(open_verbs(options, &SomeDevice::open).is_usable());
  options.at = {};
  EXPECT_THAT(Fabric::open(options).error().message, HasSubstr("no address"));
}

TEST(FabricVerbs, NobodyIsToldToWriteInClearWithoutADeviceThatCouldDoIt) {
  const Site site(Choice::automatic);
  Options options = site.options(kOwner);
  options.verbs_in_clear = false;
  const VerbsUse none = open_verbs(options, &no_device);
  EXPECT_THAT(none.problem, HasSubstr("this machine has no RDMA device"));
  EXPECT_THAT(none.problem, Not(HasSubstr("in_clear")));
  EXPECT_FALSE(none.has_failed);
  const VerbsUse closed = open_verbs(options, &no_right);
  EXPECT_THAT(closed.problem, HasSubstr("/dev/infiniband/uverbs*"));
  EXPECT_THAT(closed.problem, Not(HasSubstr("in_clear")));
  EXPECT_TRUE(closed.has_failed);
}

TEST(FabricVerbs, NoDeviceWithThisAddressIsOneLineWithTheRemedy) {
  // An address that no device has, on any machine.
  const auto opened = Verbs::open(Endpoint::v4(192, 0, 2, 1, 0));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, HasSubstr("RDMA: "));
  EXPECT_THAT(opened.error().text, HasSubstr("fabric = \"tcp\""));
  EXPECT_THAT(opened.error().text, Not(HasSubstr("\n")));
}

TEST(VerbsProblem, WithoutRightsNamesEachDeviceAndTheRight) {
  const std::string devices =
      unopened_device_text("mlx5_0", EACCES) + ", " + unopened_device_text("mlx5_1", ENOENT);
  const VerbsProblem problem = no_right_to_devices(devices);
  EXPECT_EQ(problem.text,
            "RDMA: cannot open mlx5_0 (Permission denied), mlx5_1 (No such file or directory): "
            "give this user the right to read and write /dev/infiniband/uverbs* (with systemd also "
            "PrivateDevices=no), or set fabric = \"tcp\"");
  EXPECT_TRUE(problem.has_device);
}

TEST(VerbsProblem, WithTooLittleLockedMemoryNamesTheLimit) {
  const std::string doing = "lock 1048576 bytes of memory";
  for (const int number : {ENOMEM, EAGAIN, EPERM}) {
    EXPECT_THAT(device_failure_text(doing, number, 65'536),
                HasSubstr(", RLIMIT_MEMLOCK is 65536: raise that (ulimit -l, or LimitMEMLOCK of "
                          "systemd), or lower `slots`, or set fabric = \"tcp\""));
  }
  EXPECT_EQ(device_failure_text(doing, ENOMEM, 65'536)
                .find("RDMA: cannot lock 1048576 bytes of memory (Cannot allocate memory)"),
            0U);
  // Without a limit, or with another error, it is the device that lacks something.
  EXPECT_THAT(device_failure_text(doing, ENOMEM, std::nullopt), HasSubstr("ibv_devinfo -v"));
  EXPECT_THAT(device_failure_text(doing, EINVAL, 65'536), HasSubstr("ibv_devinfo -v"));
}

TEST(FabricVerbs, WithoutThemNothingIsSaidOfThem) {
  for (const Choice choice : {Choice::shm, Choice::tcp}) {
    const Site site(choice);
    const auto opened = Fabric::open(site.options(kOwner));
    ASSERT_TRUE(opened);
    EXPECT_EQ((*opened)->verbs_problem(), "");
  }
}

/// Regions that no device knows.
class IdleGrants final : public VerbsGrants {
 public:
  Result<VerbsOffer, std::string> offer(const Regions::Exposure& /*exposure*/) override {
    return sample_offer();
  }
  Joined join(std::uint8_t /*number*/, port::Epoch /*epoch*/, const VerbsEnd& /*end*/) override {
    return Joined::unusable;
  }
  bool revoke(std::uint8_t /*number*/) override { return true; }
  void drop(std::uint8_t /*number*/) override {}
};

/// A device that can be opened. Then there is too little locked memory for what it needs, in
/// processes that write or also in those that are written to.
class PoorDevice final : public Verbs {
 public:
  explicit PoorDevice(bool may_grant) : may_grant_(may_grant) {}
  static VerbsUse use(bool may_grant) { return {std::make_unique<PoorDevice>(may_grant), ""}; }
  Result<void, IoError> attach(Loop& /*loop*/) override { return {}; }
  Result<std::unique_ptr<Route>, std::string> make_route(const MemberId& /*owner*/,
                                                         const Endpoint& /*peer*/,
                                                         Counters& /*counters*/,
                                                         WriteCounters& /*writes*/) override {
    return unexpected(std::string("RDMA: the writer cannot lock memory"));
  }
  Result<std::unique_ptr<VerbsGrants>, std::string> make_grants(const Endpoint& /*peer*/,
                                                                ByteSpan /*bell*/) override {
    if (may_grant_) return std::make_unique<IdleGrants>();
    return unexpected(std::string("RDMA: the owner cannot lock memory"));
  }

 private:
  bool may_grant_;
};

/// A writer that may use a device, and writes until a write ends as ok.
class HopefulWriter {
 public:
  explicit HopefulWriter(const Options& options)
      : options_(options),
        link_(options_, options_.peers.front(), counters_, offences_, ends_, verbs_) {}

  void turn() {
    const Instant now = Clock::now();
    link_.receive(now);
    WriteDone done;
    while (ends_.next(done)) last_ = done.end;
    if (last_ == WriteEnd::ok) return;
    link_.write({kOwner, kNumber, {7}, 0}, filled(8, 5), ++token_);
    link_.flush(now);
  }
  bool has_written() const { return last_ == WriteEnd::ok; }
  PeerStatus status() const {
    PeerStatus status;
    link_.fill(status);
    return status;
  }
  const VerbsUse& verbs() const { return verbs_; }

 private:
  Options options_;
  Counters counters_;
  Offences offences_;
  Ends ends_;
  VerbsUse verbs_ = PoorDevice::use(true);
  OutgoingLink link_;
  std::uint64_t token_ = 0;
  WriteEnd last_ = WriteEnd::down;
};

TEST(FabricVerbs, APeerWithoutADeviceIsReachedByTcp) {
  FabricWorld world(Choice::tcp);
  world.start(kOwner);
  ASSERT_TRUE(world.of(kOwner).expose({kWriter, kNumber}, {7}, 64));
  Options options = world.site().options(kWriter);
  options.choice = Choice::automatic;
  options.peers.resize(1);
  HopefulWriter writer(options);
  world.wait_for([&] {
    writer.turn();
    return writer.has_written();
  });
  EXPECT_EQ(writer.status().kind, Kind::tcp);
  EXPECT_THAT(writer.status().problem, HasSubstr("it does not use RDMA"));
  EXPECT_EQ(world.fabric(kOwner).counters().refused, 1U);
}

/// An owner that may use a device.
class HopefulOwner {
 public:
  HopefulOwner(const Options& options, bool may_grant)
      : options_(options), verbs_(PoorDevice::use(may_grant)) {
    EXPECT_TRUE(links_.listen().has_value());
    EXPECT_TRUE(regions_.expose({kWriter, kNumber}, {7}, 64).has_value());
  }
  void turn() {
    links_.receive(Clock::now());
    links_.flush();
  }
  const VerbsUse& verbs() const { return verbs_; }

 private:
  Options options_;
  Counters counters_;
  Offences offences_;
  VerbsUse verbs_;
  Regions regions_{1 << 20};
  IncomingLinks links_{options_, regions_, counters_, offences_, verbs_};
};

/// What the owner and the writer say of RDMA, once a write has ended as ok.
std::pair<std::string, std::string> said(bool may_grant) {
  const Site site(Choice::automatic);
  Options options = site.options(kOwner);
  options.socket.clear();
  HopefulOwner owner(options, may_grant);
  options = site.options(kWriter);
  options.peers.resize(1);
  HopefulWriter writer(options);
  const Instant limit = Clock::now() + seconds(60);
  while (!writer.has_written() && Clock::now() < limit) {
    owner.turn();
    writer.turn();
  }
  EXPECT_TRUE(writer.has_written());
  EXPECT_EQ(writer.status().kind, Kind::tcp);
  EXPECT_EQ(owner.verbs().has_failed, !owner.verbs().problem.empty());
  EXPECT_EQ(writer.verbs().has_failed, !writer.verbs().problem.empty());
  return {owner.verbs().problem, writer.verbs().problem};
}

TEST(FabricVerbs, AnOwnerWithTooLittleMemorySaysSoAndIsReachedByTcp) {
  const auto [owner, writer] = said(false);
  EXPECT_EQ(owner, "RDMA: the owner cannot lock memory");
  EXPECT_EQ(writer, "");
}

TEST(FabricVerbs, AWriterWithTooLittleMemorySaysSoAndUsesTcp) {
  const auto [owner, writer] = said(true);
  EXPECT_EQ(owner, "");
  EXPECT_EQ(writer, "RDMA: the writer cannot lock memory");
}

}  // namespace
}  // namespace peal::io::fabric::test
