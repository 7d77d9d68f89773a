// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "cli/bench/worker.h"

namespace peal::cli {
namespace {

/// The link of a cluster of one node. Every second call of take() delivers one waiting message; the
/// other calls deliver nothing.
class SlowLink {
 public:
  BenchSent submit(ByteView payload, Service) {
    if (BenchHead::read(payload.data(), now_ns()).kind == BenchHead::data) {
      under_way_max = std::max(under_way_max, ++under_way);
      ++data;
    }
    waiting_.emplace_back(payload.begin(), payload.end());
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
    const std::vector<std::byte> payload = std::move(waiting_.front());
    waiting_.pop_front();
    if (BenchHead::read(payload.data(), now_ns()).kind == BenchHead::data) --under_way;
    worker.on_message("n1", ++delivered_, payload, true);
    return true;
  }
  template <class W>
  void wait(W&, std::int64_t) {}
  void begin(std::int64_t, std::int64_t) {}
  void poll(std::int64_t) {}
  void finish(BenchResult&) {}
  double cpu_seconds() const { return 1; }
  static std::string waits_for() { return "the test"; }

  std::uint64_t under_way = 0;
  std::uint64_t under_way_max = 0;
  std::uint64_t data = 0;

 private:
  std::deque<std::vector<std::byte>> waiting_;
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

}  // namespace
}  // namespace peal::cli
