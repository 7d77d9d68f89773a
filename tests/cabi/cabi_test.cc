// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_daemon.h"
#include "in_child.h"
#include "talk.h"

// A C program, talk.c, uses the C interface with a fake daemon.

namespace peal::client::test {
namespace {

TEST(C, AMessageGoesOutAndComesBack) {
  FakeDaemon daemon;
  EXPECT_STREQ(talk(daemon.path().c_str()), nullptr);
  daemon.with([](ModelDaemon& model) { EXPECT_TRUE(model.goodbye); });
}

TEST(C, FifoAndCausalMessagesMayHaveNoPlace) {
  for (const bool causal : {false, true}) {
    FakeDaemon daemon;
    daemon.with([&](ModelDaemon& model) { model.causal = causal; });
    EXPECT_STREQ(talk_of_services(daemon.path().c_str(), causal ? 1 : 0), nullptr);
  }
}

TEST(C, NonsenseIsRefused) {
  FakeDaemon daemon;
  EXPECT_STREQ(talk_nonsense(daemon.path().c_str()), nullptr);
}

TEST(C, AnotherVersionIsRefusedByBothNumbers) {
  FakeDaemon daemon;
  EXPECT_STREQ(talk_across_versions(daemon.path().c_str()), nullptr);
}

TEST(C, StructsOfOtherHeadersAreWrittenAsFarAsTheyGo) {
  FakeDaemon daemon;
  EXPECT_STREQ(talk_of_sizes(daemon.path().c_str()), nullptr);
}

TEST(C, AClientStaysTheParents) {
  PEAL_NEEDS_FORK();
  FakeDaemon daemon;
  EXPECT_STREQ(talk_across_fork(daemon.path().c_str()), nullptr);
  daemon.with([](ModelDaemon& model) { EXPECT_EQ(model.hellos, 1U); });
}

TEST(C, AGapSaysWhy) {
  FakeDaemon daemon;
  const auto miss = [](void* context) {
    static_cast<FakeDaemon*>(context)->with([](ModelDaemon& model) { model.tell_gap("chat"); });
  };
  EXPECT_STREQ(talk_of_a_gap(daemon.path().c_str(), miss, &daemon), nullptr);
}

TEST(C, TheEndSaysWhy) {
  FakeDaemon daemon;
  const auto end = [](void* context) {
    static_cast<FakeDaemon*>(context)->with(
        [](ModelDaemon& model) { model.close(wire::ClientCode::evicted, "enough"); });
  };
  EXPECT_STREQ(talk_to_the_end(daemon.path().c_str(), end, &daemon), nullptr);
}

}  // namespace
}  // namespace peal::client::test
