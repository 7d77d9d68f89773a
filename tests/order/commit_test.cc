// SPDX-License-Identifier: Apache-2.0
// Commit tokens that are changed in transit, members that leave, pauses, and requests on the token.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "cluster.h"
#include "order/ring/commit_record.h"

namespace peal::order::test {
namespace {

using wire::FrameKind;

wire::Commit commit_of(const Flight& flight) {
  wire::Commit commit;
  EXPECT_EQ(ring::decode_commit(flight.bytes, commit), wire::Drop::none);
  return commit;
}

/// The packet of `flight`, with `commit` in place of its commit token.
std::vector<std::byte> with(const Flight& flight, const wire::Commit& commit) {
  wire::Header header;
  EXPECT_EQ(wire::decode_header(flight.bytes, header), wire::Drop::none);
  std::vector<std::byte> packet(60'000);
  packet.resize(ring::encode_commit(header, commit, packet));
  return packet;
}

/// Three nodes form their first view. hold() keeps back the first commit token that has `hops`
/// hops.
class Commits : public testing::Test {
 protected:
  Commits() : cluster_(3, {}) {}
  void hold(std::uint32_t hops) {
    cluster_.filter = [this, hops](const Flight& flight) {
      if (held_ || flight.kind != FrameKind::commit || commit_of(flight).hops != hops) return true;
      held_ = flight;
      return false;
    };
    cluster_.start_all();
    ASSERT_TRUE(cluster_.run_until([this] { return held_.has_value(); }, seconds(5)));
    cluster_.run(microseconds(200));  // packets that were sent before the token arrive first
  }
  /// Delivers the commit token that was kept back, after `change`.
  void hand_on(const std::function<void(wire::Commit&)>& change) {
    wire::Commit commit = commit_of(*held_);
    change(commit);
    cluster_.inject(held_->to, with(*held_, commit));
  }
  std::uint64_t counter(std::string_view name) const { return cluster_.counter(held_->to, name); }

  Cluster cluster_;
  std::optional<Flight> held_;
};

TEST_F(Commits, ATokenThatIsAnothersTurnIsDropped) {
  hold(1);
  hand_on([](wire::Commit& commit) { commit.hops = 2; });
  EXPECT_EQ(counter("bad_sender"), 1U);
  hand_on([](wire::Commit&) {});
  EXPECT_EQ(counter("commits"), 1U);
}

TEST_F(Commits, ItsSecondTripIsNotTakenForTheFirst) {
  hold(1);
  hand_on([](wire::Commit& commit) { commit.hops = 4; });
  EXPECT_EQ(counter("commits"), 0U);
  EXPECT_EQ(counter("wrong_state"), 1U);
}

TEST_F(Commits, ItBringsTheLeastLimitsAndTheGreatestLag) {
  hold(1);
  wire::Commit next;
  cluster_.on_sent = [&](const Flight& flight) {
    if (flight.kind == FrameKind::commit && flight.from == 1) next = commit_of(flight);
  };
  hand_on([](wire::Commit& commit) { commit.options = encode(ring::ViewOptions{1'000, 3, 100}); });
  EXPECT_EQ(ring::decode_options(next.options), (ring::ViewOptions{1'000, 3, 100}));
}

TEST_F(Commits, ItsOwnLimitsCountWhereTheyAreLess) {
  hold(1);
  wire::Commit next;
  cluster_.on_sent = [&](const Flight& flight) {
    if (flight.kind == FrameKind::commit && flight.from == 1) next = commit_of(flight);
  };
  const ring::Options own;
  hand_on([](wire::Commit& commit) {
    commit.options = encode(ring::ViewOptions{9'000, 0, 8'000});
  });
  EXPECT_EQ(ring::decode_options(next.options),
            (ring::ViewOptions{own.packet_bytes_max, own.request_lag, own.max_gap}));
}

// A member refuses a commit token from which its own entries in the record of its old view were
// removed.
TEST(Commit, ARecordThatLostWhatAMemberHasIsRefused) {
  for (const bool intact : {true, false}) {
    const auto made = formed(3);
    Cluster& cluster = *made;
    // Node 0 sends two messages and crashes. No node gets the first message; only node 1 gets the
    // second one.
    cluster.filter = [&](const Flight& flight) {
      wire::Data data;
      if (flight.kind != FrameKind::data) return true;
      EXPECT_EQ(wire::decode_data(flight.bytes, data), wire::Drop::none);
      return data.seq == 2 && flight.to == 1;
    };
    cluster.preload(0, "none");
    cluster.preload(0, "one");
    bool sent = false;
    cluster.on_sent = [&](const Flight& flight) {
      sent = sent || (flight.kind == FrameKind::data && flight.from == 0);
    };
    cluster.poke(0);
    ASSERT_TRUE(cluster.run_until([&] { return sent; }, seconds(1)));
    cluster.run(microseconds(200));
    cluster.crash(0);
    std::optional<Flight> held;
    cluster.filter = [&](const Flight& flight) {
      if (held || flight.kind != FrameKind::commit || flight.to != 1) return true;
      if (commit_of(flight).hops != 2) return true;
      held = flight;
      return false;
    };
    ASSERT_TRUE(cluster.run_until([&] { return held.has_value(); }, seconds(5)));
    wire::Commit commit = commit_of(*held);
    for (wire::OldView& old : commit.old_views) {
      ring::OldViewRecord record = ring::decode_record(old.record);
      ASSERT_EQ(record.base, 0U);
      ASSERT_EQ(record.high, 2U);
      if (intact) continue;
      record.high = 1;
      record.have = {0};
      old.record = encode(record);
    }
    const std::uint64_t recoveries = cluster.events(1, &event::recovery_started);
    cluster.inject(1, with(*held, commit));
    EXPECT_EQ(cluster.events(1, &event::recovery_started), recoveries + (intact ? 1 : 0));
  }
}

// A member that has agreed waits for the commit token. Repeated JOINs with the same sets do not
// make the member agree again.
TEST(Commit, WhoHasAgreedDoesNotAgreeAgain) {
  Cluster cluster(3, {});
  std::uint64_t joins = 0;
  cluster.filter = [&](const Flight& flight) {
    if (flight.kind == FrameKind::join && flight.to == 1) ++joins;
    return flight.kind != FrameKind::commit;
  };
  cluster.start_all();
  const auto agreed = [&] { return cluster.events(1, &event::consensus_reached); };
  ASSERT_TRUE(cluster.run_until([&] { return agreed() == 1; }, seconds(5)));
  const std::uint64_t gathers = cluster.counter(1, "gathers");
  joins = 0;
  ASSERT_TRUE(cluster.run_until([&] { return joins > 2; }, seconds(5)));
  cluster.run(microseconds(200));
  ASSERT_EQ(cluster.counter(1, "gathers"), gathers);
  EXPECT_EQ(agreed(), 1U);
}

TEST(Commit, AGoodbyeOfOneThatWasToBeInTheViewEndsTheAttempt) {
  Cluster cluster(3, {});
  cluster.filter = [&](const Flight& flight) {
    return flight.kind != FrameKind::commit || flight.to != 2;
  };
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until(
      [&] { return cluster.counter(0, "commits") + cluster.counter(1, "commits") == 2; },
      seconds(5)));
  const std::uint64_t gathers = cluster.counter(0, "gathers");
  cluster.leave(2);
  cluster.run(microseconds(500));
  EXPECT_EQ(cluster.counter(0, "gathers"), gathers + 1) << "at once";
}

TEST(Ring, ANodeAloneSendsItselfNothing) {
  Cluster cluster(2, {});
  bool to_itself = false;
  cluster.on_sent = [&](const Flight& flight) {
    to_itself = to_itself || flight.from == flight.to;
  };
  cluster.start(0);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(1); }, seconds(5)));
  cluster.submit(0, "x");
  cluster.run(seconds(1));
  EXPECT_FALSE(to_itself);
}

TEST(Ring, SaysGoodbyeToWhomeverItLooksForOrHas) {
  for (const bool gathering : {true, false}) {
    Cluster cluster(2, {});
    std::uint64_t joins = 0;
    cluster.start(0);
    if (!gathering) {
      ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(1); }, seconds(5)));
    }
    cluster.on_sent = [&](const Flight& flight) { joins += flight.kind == FrameKind::join; };
    cluster.leave(0);
    EXPECT_EQ(joins, gathering ? 3U : 0U);
  }
}

// A pause of the process may extend the deadline for the token, but never shortens it.
TEST(Ring, APauseTakesNoTimeFromTheToken) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  bool held = false;
  cluster.filter = [&](const Flight& flight) { return !held || flight.kind != FrameKind::token; };
  cluster.run(milliseconds(100));
  held = true;
  for (std::uint32_t node = 0; node < 3; ++node) cluster.pause(node, milliseconds(1));
  cluster.run(milliseconds(150));
  held = false;
  cluster.run(seconds(1));
  EXPECT_EQ(cluster.counter(0, "views_installed"), 1U);
}

TEST(RingRequests, AMemberAddsItsOwnToThoseThatItDoesNotAnswerNow) {
  ring::Options options;
  options.retransmit_max = 1;
  const auto made = formed(4, options);
  Cluster& cluster = *made;
  bool lossy = true;
  cluster.filter = [&](const Flight& flight) {
    if (!lossy || flight.kind != FrameKind::data) return true;
    wire::Data data;
    EXPECT_EQ(wire::decode_data(flight.bytes, data), wire::Drop::none);
    const bool of_one = flight.to == 1 && data.seq >= 3 && data.seq <= 5;
    const bool of_two = flight.to == 2 && data.seq >= 8 && data.seq <= 9;
    return !of_one && !of_two;
  };
  std::set<Seq> wanted;
  cluster.on_sent = [&](const Flight& flight) {
    wire::Token token;
    if (flight.kind != FrameKind::token || flight.from != 2 || !wanted.empty()) return;
    ASSERT_EQ(wire::decode_token(flight.bytes, token), wire::Drop::none);
    for (const wire::RequestSection& section : token.sections) {
      for (const wire::RequestRange& range : section.ranges) {
        for (unsigned bit = 0; bit < 64; ++bit) {
          if ((range.bitmap >> bit & 1U) != 0) wanted.insert(range.first + bit);
        }
      }
    }
    lossy = lossy && wanted.empty();
  };
  for (int i = 0; i < 12; ++i) cluster.preload(0, "m");
  cluster.poke(0);
  cluster.run(milliseconds(500));
  EXPECT_EQ(wanted, (std::set<Seq>{4, 5, 8, 9}));
  EXPECT_EQ(cluster.log(1).size(), 13U);
  EXPECT_EQ(cluster.log(1), cluster.log(2));
}

TEST(RingRequests, OfOneVisitABoundedNumberIsAnswered) {
  ring::Options options;
  options.retransmit_max = 2;
  const auto made = formed(3, options);
  Cluster& cluster = *made;
  bool lossy = true;
  std::vector<std::uint64_t> answers(3, 0);
  std::uint64_t most = 0;
  cluster.filter = [&](const Flight& flight) {
    return !lossy || flight.kind != FrameKind::data || flight.to != 1;
  };
  cluster.on_sent = [&](const Flight& flight) {
    if (flight.kind == FrameKind::token) answers[flight.from] = 0;
    if (flight.kind != FrameKind::data || flight.to != 1) return;
    wire::Data data;
    ASSERT_EQ(wire::decode_data(flight.bytes, data), wire::Drop::none);
    if (!data.retransmission) return;
    lossy = false;
    most = std::max(most, ++answers[flight.from]);
  };
  for (int i = 0; i < 10; ++i) cluster.preload(0, "m");
  cluster.poke(0);
  cluster.run(milliseconds(500));
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(cluster.log(1).size(), 11U);
}

}  // namespace
}  // namespace peal::order::test
