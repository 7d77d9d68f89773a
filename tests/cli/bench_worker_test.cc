// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "cli/bench/worker.h"

namespace peal::cli {
namespace {

/// The link of a cluster of one node. Every second call of take() delivers one waiting message; the
/// other calls deliver nothing.
class SlowLink {
 public:
  BenchSent submit(ByteView payload, Service service) {
    const auto kind = BenchHead::read(payload.data(), now_ns()).kind;
    services[kind].insert(service);
    if (kind == BenchHead::data) {
      under_way_max = std::max(under_way_max, ++under_way);
      ++data;
    }
    const bool has_place = !causal || (is_ordered(service) && !drops_places);
    waiting_.push_back({{payload.begin(), payload.end()}, has_place});
    return BenchSent::taken;
  }
  template <class W>
  bool take(W& worker) {
    if (!viewed_) {
      viewed_ = true;
      worker.on_view("v", 1);
      return true;
    }
    ready_ = !ready_;
    if (!ready_ || waiting_.empty()) return false;
    const Waiting message = std::move(waiting_.front());
    waiting_.pop_front();
    if (BenchHead::read(message.payload.data(), now_ns()).kind == BenchHead::data) --under_way;
    ++delivered_;
    const std::uint64_t position = message.has_place ? delivered_ : 0;
    worker.on_message(BenchMessage{"n1", delivered_, position, message.payload, true});
    return true;
  }
  template <class W>
  void wait(W&, std::int64_t) {}
  void begin(std::int64_t, std::int64_t) {}
  void poll(std::int64_t) {}
  void finish(BenchResult&) {}
  static std::uint64_t placed() { return 0; }
  double cpu_seconds() const { return 1; }
  static std::string waits_for() { return "the test"; }

  std::uint64_t under_way = 0;
  std::uint64_t under_way_max = 0;
  std::uint64_t data = 0;
  bool causal = false;        ///< fifo and causal messages have no place
  bool drops_places = false;  ///< with `causal`: no message has a place
  std::map<BenchHead::Kind, std::set<Service>> services;  ///< of the submitted messages

 private:
  struct Waiting {
    std::vector<std::byte> payload;
    bool has_place;
  };
  std::deque<Waiting> waiting_;
  bool viewed_ = false;
  bool ready_ = false;
  std::uint64_t delivered_ = 0;
};

BenchPlan plan_of(std::uint64_t under_way) {
  BenchPlan plan;
  plan.nodes = 1;
  plan.payload_bytes = BenchHead::kBytes;
  plan.under_way = under_way;
  plan.seconds = 0.02;
  return plan;
}

TEST(BenchWorker, SendsWithTheServiceOfThePlanAndLeavesWithASafeMessage) {
  for (const Service service : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
    SCOPED_TRACE(static_cast<int>(service));
    SlowLink link;
    BenchPlan plan = plan_of(3);
    plan.service = service;
    EXPECT_EQ(BenchWorker(link, plan, 0).run().problem, "");
    EXPECT_EQ(link.services.size(), 4U);
    for (const auto& [kind, used] : link.services) {
      EXPECT_EQ(used, std::set{kind == BenchHead::bye ? Service::safe : service});
    }
  }
}

TEST(BenchWorker, MessagesWithoutAPlaceAreComparedApart) {
  for (const bool causal : {false, true}) {
    SCOPED_TRACE(causal);
    SlowLink link;
    link.causal = causal;
    BenchPlan plan = plan_of(3);
    plan.service = Service::causal;
    const BenchResult result = BenchWorker(link, plan, 0).run();
    EXPECT_EQ(result.problem, "");
    ASSERT_EQ(result.views.size(), 1U);
    const BenchView& view = result.views.front();
    EXPECT_EQ(view.messages(), link.data + 2) << "also the first and the last but one";
    EXPECT_EQ(view.unplaced_messages, causal ? view.messages() : 0U);
    // All messages are this node's own, and without a place it delivers them at once.
    EXPECT_EQ(result.latency.ns.total() == 0, causal);
  }
}

TEST(BenchWorker, NoticesAnOrderedMessageWithoutAPlace) {
  for (const Service service : {Service::causal, Service::agreed, Service::safe}) {
    SlowLink link;
    link.causal = link.drops_places = true;
    BenchPlan plan = plan_of(3);
    plan.service = service;
    EXPECT_EQ(BenchWorker(link, plan, 0).run().problem,
              "an agreed or safe message was delivered without a place");
  }
}

TEST(BenchWorker, KeepsSoManyUnderWayAndNoMore) {
  for (const std::uint64_t most : {1U, 3U, 64U, 200U}) {
    SCOPED_TRACE(most);
    SlowLink link;
    const BenchResult result = BenchWorker(link, plan_of(most), 0).run();
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(link.under_way_max, most);
    EXPECT_GT(link.data, most) << "what was delivered makes room for others";
    EXPECT_EQ(link.under_way, 0U);
    EXPECT_GT(result.sent, 0U);
  }
}

/// The link of a node in no domain: each message gets its place at the second look.
class OutsideLink {
 public:
  BenchSent submit(ByteView payload, Service) {
    if (BenchHead::read(payload.data(), now_ns()).kind == BenchHead::data) {
      ++data;
      under_way_max = std::max(under_way_max, submitted_ + 1 - placed_);
    }
    ++submitted_;
    return BenchSent::taken;
  }
  template <class W>
  bool take(W&) {
    looked_ = !looked_;
    if (looked_) placed_ = submitted_;
    return false;
  }
  template <class W>
  void wait(W&, std::int64_t) {}
  void begin(std::int64_t, std::int64_t) {}
  void poll(std::int64_t) {}
  void finish(BenchResult&) {}
  std::uint64_t placed() const { return placed_; }
  double cpu_seconds() const { return 1; }
  static std::string waits_for() { return "the test"; }

  std::uint64_t data = 0;
  std::uint64_t under_way_max = 0;

 private:
  std::uint64_t submitted_ = 0, placed_ = 0;
  bool looked_ = false;
};

TEST(BenchWorker, ANodeInNoDomainSendsUntilAllHasItsPlace) {
  BenchPlan plan = plan_of(3);
  plan.nodes = 2;
  plan.outside = true;
  plan.senders = BenchSenders::last;
  plan.seconds = 0.3;
  OutsideLink link;
  const BenchResult result = BenchWorker(link, plan, 1).run();
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.domain, 0U);
  EXPECT_EQ(result.delivered, 0U);
  EXPECT_GT(result.sent, 0U);
  EXPECT_EQ(result.own.ns.total(), result.sent);
  EXPECT_LE(link.under_way_max, 3U);
}

}  // namespace
}  // namespace peal::cli
