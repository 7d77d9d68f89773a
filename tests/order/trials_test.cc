// SPDX-License-Identifier: Apache-2.0
// Trials of links: an excluded member returns once a trial has passed. Also the effects of trial
// frames from a faulty member, or from an attacker with old packets.
#include <gtest/gtest.h>

#include "cluster.h"
#include "wire/trial.h"

namespace peal::order::test {
namespace {

using wire::FrameKind;
using Step = wire::Trial::Step;

class Trials : public testing::Test {
 protected:
  Trials() : cluster_(3, {}) {
    cluster_.start_all();
    EXPECT_TRUE(cluster_.run_until([&] { return cluster_.in_view_of(3); }, seconds(5)));
    cluster_.on_sent = [this](const Flight& flight) {
      const bool of_data = flight.kind == FrameKind::data && wire::is_trial_of_data(flight.bytes);
      if (of_data || flight.kind == FrameKind::trial) sent_.push_back(flight);
    };
  }
  void inject(std::uint32_t from, std::uint32_t to, Step step, const MemberId& meant,
              std::uint16_t padding = 0) {
    wire::Trial frame;
    frame.step = step;
    frame.part = 3;
    frame.to = meant;
    frame.padding = padding;
    std::vector<std::byte> packet(2'000);
    packet.resize(wire::encode_trial({FrameKind::trial, 7, self(from)}, frame, packet));
    bytes_ = packet.size();
    cluster_.inject(to, packet);
  }
  MemberId self(std::uint32_t node) { return cluster_.engine(node).self(); }
  /// Cuts node 3 off until the other nodes have a view without it, and accept its packets again.
  void leave_out() {
    cluster_.filter = [](const Flight& flight) { return flight.from != 2 && flight.to != 2; };
    ASSERT_TRUE(cluster_.run_until(
        [&] { return cluster_.log(0).back() == "view ab" && cluster_.log(2).back() == "view c"; },
        seconds(3)));
    cluster_.run(seconds(1));
    sent_.clear();
  }

  Cluster cluster_;
  std::vector<Flight> sent_;
  std::size_t bytes_ = 0;
};

TEST_F(Trials, AnAskIsAnsweredOnceToItsSenderAndAtItsSize) {
  inject(1, 0, Step::ask, self(0), 700);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].from, 0U);
  EXPECT_EQ(sent_[0].to, 1U);
  EXPECT_EQ(sent_[0].bytes.size(), bytes_);
}

TEST_F(Trials, NothingElseIsAnswered) {
  const std::uint64_t digest = cluster_.engine(0).digest();
  inject(1, 0, Step::ask, self(2));  // an ASK for another member
  inject(1, 0, Step::ask, {self(0).node, self(0).epoch - 1});
  EXPECT_EQ(cluster_.counter(0, "stale"), 2U);
  inject(1, 0, Step::echo, self(0));  // an echo of an ASK that no member sent
  inject(1, 0, Step::passed, self(0));
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(cluster_.engine(0).digest(), digest);
  EXPECT_TRUE(cluster_.in_view_of(3));
}

TEST_F(Trials, WhoWasLeftOutComesBackSoonAfterItIsHeard) {
  leave_out();
  cluster_.filter = [](const Flight&) { return true; };
  ASSERT_TRUE(cluster_.run_until([&] { return cluster_.in_view_of(3); }, milliseconds(500)));
  EXPECT_FALSE(sent_.empty());
}

TEST_F(Trials, OnlySmallPacketsLeaveItOut) {
  leave_out();
  cluster_.filter = [](const Flight& flight) {
    return flight.bytes.size() < 600 || (flight.from != 2 && flight.to != 2);
  };
  const std::uint64_t views = cluster_.counter(0, "views_installed");
  cluster_.run(seconds(20));
  EXPECT_EQ(cluster_.counter(0, "views_installed"), views);
  EXPECT_EQ(cluster_.log(0).back(), "view ab");
  // One trial needs four times 32 ASKs. After each failed trial, the pause before the next trial
  // doubles.
  const std::uint64_t trials =
      cluster_.counter(0, "trials") + cluster_.counter(1, "trials") + cluster_.counter(2, "trials");
  EXPECT_GE(trials, 4U);
  EXPECT_LE(trials, 20U);
  EXPECT_LE(sent_.size(), trials * 2 * 4 * 32);
  cluster_.filter = [](const Flight&) { return true; };
  EXPECT_TRUE(cluster_.run_until([&] { return cluster_.in_view_of(3); }, seconds(15)));
}

TEST_F(Trials, OneThatAPauseEndsDoesNotKeepOthersFromBeginning) {
  leave_out();
  cluster_.filter = [](const Flight& flight) {
    return flight.bytes.size() < 600 || (flight.from != 2 && flight.to != 2);
  };
  std::uint32_t tries = 0;
  const auto begun = [&] {
    for (tries = 0; tries < 3; ++tries) {
      if (cluster_.counter(tries, "trials") > 0) return true;
    }
    return false;
  };
  ASSERT_TRUE(cluster_.run_until(begun, seconds(5)));
  const std::uint64_t before = cluster_.counter(tries, "trials");
  cluster_.pause(tries, milliseconds(50));
  ASSERT_TRUE(
      cluster_.run_until([&] { return cluster_.counter(tries, "trials") > before; }, seconds(20)));
}

TEST_F(Trials, AFalsePassedLetsOnlyItsSenderInAndOnce) {
  leave_out();
  // Node 3 reports to node 1 that node 3's own trial has passed. Large packets from and to node 3
  // are lost.
  cluster_.filter = [](const Flight& flight) {
    return flight.bytes.size() < 600 || (flight.from != 2 && flight.to != 2);
  };
  const std::uint64_t views = cluster_.counter(0, "views_installed");
  inject(2, 0, Step::passed, self(0));
  cluster_.run(seconds(20));
  EXPECT_LE(cluster_.counter(0, "views_installed"), views + 2);
  EXPECT_EQ(cluster_.log(0).back(), "view ab");
}

}  // namespace
}  // namespace peal::order::test
