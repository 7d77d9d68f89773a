// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "stations.h"

namespace peal::seal::test {
namespace {

Keys sending(Keys keys, std::uint8_t number) {
  keys.sending = test_key(number).id;
  return keys;
}

/// A node: a Sealer and an Opener with the same keys.
struct Station {
  Station(std::uint32_t node, const Keys& keys)
      : sender(keys, kCluster, incarnation(node, 5, static_cast<std::uint8_t>(node))),
        receiver(keys, kCluster, {{node}, 5}, std::vector<NodeId>{{1}, {2}, {3}}) {}
  void set_keys(const Keys& keys) {
    sender.set_keys(keys);
    receiver.set_keys(keys);
  }
  Sealer sender;
  Opener receiver;
};

TEST(Rotation, InThreeStepsNothingIsLost) {
  std::vector<Station> stations;
  for (const std::uint32_t node : {1U, 2U, 3U}) stations.emplace_back(node, keys_of({0}));
  int opened = 0;
  const auto all_hear_all = [&] {
    for (Station& from : stations) {
      for (const Lane lane : {Lane::control, Lane::data, Lane::token}) {
        const Bytes packet = sealed(from.sender, lane, "x");
        for (Station& to : stations) {
          if (&from == &to) continue;
          ASSERT_EQ(open_copy(to.receiver, packet).reason, Refusal::none);
          ++opened;
        }
      }
    }
  };
  all_hear_all();
  const Keys both = keys_of({0, 1});
  for (const Keys& step : {both, sending(both, 1), keys_of({1})}) {
    for (Station& station : stations) {  // the nodes take each step one after the other
      station.set_keys(step);
      all_hear_all();
    }
  }
  EXPECT_EQ(opened, 10 * 18);
  for (Station& station : stations) {
    EXPECT_EQ(station.receiver.derived(), 4U) << "two senders, two keys";
  }
}

TEST(Rotation, DataUnderANewKeyNeedsNoNewIntroduction) {
  Sealer a = sealer(incarnation(1, 5, 1), keys_of({0, 1}));
  Opener receiver = opener(keys_of({0, 1}));
  ASSERT_EQ(open_copy(receiver, sealed(a, Lane::control, "x")).reason, Refusal::none);
  a.set_keys(sending(keys_of({0, 1}), 1));
  EXPECT_EQ(open_copy(receiver, sealed(a, Lane::data, "x")).reason, Refusal::none);
}

TEST(Rotation, WhatWasOpenedUnderOneKeyIsRememberedUnderAll) {
  Sealer a = sealer(incarnation(1, 5, 1), keys_of({0, 1}));
  Opener receiver = opener(keys_of({0, 1}));
  const Bytes under_old = sealed(a, Lane::control, "x");
  a.set_keys(sending(keys_of({0, 1}), 1));
  const Bytes under_new = sealed(a, Lane::control, "x");
  EXPECT_EQ(open_copy(receiver, under_new).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, under_old).reason, Refusal::none) << "still under way";
  receiver.set_keys(keys_of({1, 2}));
  receiver.set_keys(keys_of({2, 1, 0}));
  EXPECT_EQ(open_copy(receiver, under_new).reason, Refusal::replayed);
  EXPECT_EQ(open_copy(receiver, under_old).reason, Refusal::replayed);
}

TEST(Rotation, GoingBackToAKeyRepeatsNoCounter) {
  Sealer a = sealer(incarnation(1, 5, 1), keys_of({0}));
  const Bytes first = sealed(a, Lane::data, "x");
  a.set_keys(keys_of({1}));
  const Bytes second = sealed(a, Lane::data, "x");
  a.set_keys(keys_of({0}));
  const Bytes third = sealed(a, Lane::data, "x");
  EXPECT_EQ(first[7], std::byte{1});
  EXPECT_EQ(second[7], std::byte{2});
  EXPECT_EQ(third[7], std::byte{3});
  EXPECT_NE(first, third);
}

TEST(Rotation, ARemovedKeyIsUnknown) {
  Sealer a = sealer(incarnation(1, 5, 1), keys_of({0}));
  Opener receiver = opener(keys_of({1, 0}));
  EXPECT_EQ(open_copy(receiver, sealed(a, Lane::control, "x")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, sealed(a, Lane::data, "x")).reason, Refusal::none);
  receiver.set_keys(keys_of({1}));
  EXPECT_EQ(open_copy(receiver, sealed(a, Lane::control, "x")).reason, Refusal::unknown_key);
  EXPECT_EQ(open_copy(receiver, sealed(a, Lane::data, "x")).reason, Refusal::unknown_incarnation)
      << "data does not name its key";
}

}  // namespace
}  // namespace peal::seal::test
