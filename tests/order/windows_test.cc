// SPDX-License-Identifier: Apache-2.0
#include "order/ring/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/random.h"

// The windows of a simulated ring. A rotation takes at least `idle`, and each packet takes
// `service` at the bottleneck. Packets that do not fit the buffer of the switch are lost. In
// addition, a share `loss` of all packets is lost.

namespace peal::order::ring {
namespace {

struct Plant {
  Duration idle = microseconds(200);
  Duration service = microseconds(2);
  std::uint32_t buffer = 100'000;  ///< in one rotation, packets beyond this number are lost
  std::uint32_t demand = 1'000'000;
  double loss = 0;
  double token_loss = 0;  ///< probability; each lost token costs 20 ms
  bool serial = false;    ///< no member works while the token travels
};

class WindowTest : public testing::Test {
 protected:
  WindowTest() { window_.reset(3, 1, 1'024, 0); }

  void run(const Plant& plant, Duration time) {
    const Instant end = now_ + time;
    packets_ = losses_ = 0;
    while (now_ < end) {
      const std::uint32_t sent = std::min(window_.value(), plant.demand);
      const Duration work{plant.service.ns * sent};
      now_ = now_ + (plant.serial ? plant.idle + work : std::max(plant.idle, work));
      while (random_.chance(plant.token_loss)) now_ = now_ + milliseconds(20);
      std::uint64_t lost = sent > plant.buffer ? sent - plant.buffer : 0;
      for (std::uint32_t i = 0; i < sent; ++i) lost += random_.chance(plant.loss) ? 1U : 0U;
      window_.on_rotation(now_, sent, lost, sent == window_.value());
      packets_ += sent;
      losses_ += lost;
    }
  }
  double packets_per_s(Duration time) const {
    return static_cast<double>(packets_) * 1e9 / static_cast<double>(time.ns);
  }

  GlobalWindow window_;
  Instant now_{};
  Random random_{1};
  std::uint64_t packets_ = 0, losses_ = 0;
};

TEST_F(WindowTest, ClimbsToTheKneeAndStaysNear) {
  run({}, seconds(1));
  run({}, seconds(1));
  EXPECT_GT(packets_per_s(seconds(1)), 450'000);  // of at most 500,000
  EXPECT_LT(window_.value(), 400U);               // above 100 there is no gain
}

TEST_F(WindowTest, GivesWayToASmallBuffer) {
  Plant plant;
  plant.buffer = 60;
  run(plant, seconds(1));
  run(plant, seconds(1));
  EXPECT_LE(window_.value(), 80U);
  EXPECT_GE(packets_per_s(seconds(1)), 0.7 * 60 / 200e-6);
  EXPECT_LT(losses_ * 50, packets_);
}

class LossTest : public WindowTest, public testing::WithParamInterface<int> {};

TEST_P(LossTest, LossThatASmallerWindowDoesNotCureCostsNoThroughput) {
  Plant plant;
  plant.loss = GetParam() / 1'000.0;
  run(plant, seconds(2));
  run(plant, seconds(2));
  EXPECT_GT(packets_per_s(seconds(2)), 400'000) << "window " << window_.value();
}
INSTANTIATE_TEST_SUITE_P(Permille, LossTest, testing::Values(1, 3, 5, 10, 20, 50, 100, 250, 500));

TEST_F(WindowTest, ToleratedLossDoesNotHideAFullBuffer) {
  Plant plant;
  plant.loss = 0.02;
  run(plant, seconds(2));
  plant.buffer = 60;
  run(plant, seconds(2));
  run(plant, seconds(2));
  EXPECT_LE(window_.value(), 90U);
}

TEST_F(WindowTest, AFewLostPacketsOfASlowStreamSayNothing) {
  Plant plant;
  plant.demand = 1;
  plant.loss = 0.01;
  const std::uint32_t before = window_.value();
  run(plant, seconds(5));
  EXPECT_GE(window_.value(), before);
}

TEST_F(WindowTest, GrowsAsLongAsItBringsMore) {
  Plant plant;
  plant.serial = true;  // each doubling of the window gains less than the previous doubling
  run(plant, seconds(2));
  run(plant, seconds(2));
  EXPECT_GT(packets_per_s(seconds(2)), 0.95 * 1'024 / (200e-6 + 1'024 * 2e-6));
}

TEST_F(WindowTest, LostTokensAskForMorePackets) {
  run({}, seconds(1));
  Plant plant;
  plant.loss = 0.1;
  plant.token_loss = 0.3;
  run(plant, seconds(10));
  EXPECT_GE(window_.value(), 512U);
}

TEST_F(WindowTest, LossThatEndsIsForgotten) {
  Plant plant;
  plant.buffer = 30;
  run(plant, seconds(1));
  EXPECT_LE(window_.value(), 45U);
  run({}, seconds(5));
  run({}, seconds(1));
  EXPECT_GT(packets_per_s(seconds(1)), 400'000);
}

class ShareTest : public testing::Test {
 protected:
  ShareTest() { share_.reset(AcceleratedWindow::kAuto); }

  /// In each rotation one visit sends `sent` packets. Of the packets that it sends before it passes
  /// the token on, the share `before_lost` is lost; of the later packets, the share `after_lost`.
  void run(int rotations, std::uint32_t sent, double before_lost, double after_lost) {
    for (int i = 0; i < rotations; ++i) {
      const std::uint32_t after = share_.after_token(sent);
      share_.on_sent(sent - after, after);
      lose(sent - after, before_lost, false);
      lose(after, after_lost, true);
      share_.on_rotation();
    }
  }
  void lose(std::uint32_t sent, double loss, bool was_after) {
    for (std::uint32_t i = 0; i < sent; ++i) {
      if (random_.chance(loss)) share_.on_retransmitted(was_after);
    }
  }

  AcceleratedWindow share_;
  Random random_{1};
};

TEST_F(ShareTest, AllFollowTheTokenWhereNothingIsLost) {
  run(1'000, 20, 0, 0);
  EXPECT_EQ(share_.share_percent(), 100U);
}

TEST_F(ShareTest, LossThatMeetsAllAlikeLeavesItAlone) {
  for (const double loss : {0.001, 0.01, 0.1, 0.3}) {
    run(5'000, 20, loss, loss);
    EXPECT_GE(share_.share_percent(), 82U) << loss;
  }
}

TEST_F(ShareTest, FallsWhereWhatFollowsTheTokenIsLostMoreOften) {
  run(1'000, 20, 0, 0);
  run(5'000, 20, 0.001, 0.1);
  EXPECT_LE(share_.share_percent(), 50U);
}

}  // namespace
}  // namespace peal::order::ring
