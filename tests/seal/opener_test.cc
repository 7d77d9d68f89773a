// SPDX-License-Identifier: Apache-2.0
#include "seal/opener.h"

#include <gtest/gtest.h>

#include "seal/random.h"
#include "stations.h"

namespace peal::seal::test {
namespace {

TEST(Opener, GivesBackWhatWasSealedAndWhoseItIs) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  for (const Lane lane : {Lane::control, Lane::token, Lane::data}) {
    for (const std::size_t size : {0U, 1U, 16U, 1'400U, 65'000U}) {
      const std::string plain(size, 'p');
      const std::uint32_t to = size % 2 == 0 || lane == Lane::data ? 0 : 9;
      const Answer answer = open_copy(receiver, sealed(one, lane, plain, to));
      EXPECT_EQ(answer.reason, Refusal::none) << refusal_name(answer.reason);
      EXPECT_EQ(answer.plain, plain);
      EXPECT_EQ(answer.sender, (MemberId{{1}, 5}));
    }
  }
  EXPECT_EQ(receiver.count(Refusal::none), 15U);
  EXPECT_EQ(receiver.derived(), 1U);
}

TEST(Opener, OpensDataOnlyOfWhomItHasMet) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  const Bytes data = sealed(one, Lane::data, "data");
  EXPECT_EQ(open_copy(receiver, data).reason, Refusal::unknown_incarnation);
  EXPECT_EQ(open_copy(receiver, sealed(one, Lane::control, "hello")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, data).reason, Refusal::none);
}

TEST(Opener, RefusesAndCountsByReason) {
  Opener receiver = opener();
  const auto expect = [&](const Bytes& packet, Refusal reason) {
    const std::uint64_t before = receiver.count(reason);
    const Answer answer = open_copy(receiver, packet);
    EXPECT_EQ(answer.reason, reason) << refusal_name(answer.reason);
    EXPECT_EQ(receiver.count(reason), before + 1);
    EXPECT_TRUE(answer.plain.empty());
  };
  Sealer one = sealer(incarnation(1, 5, 1));
  const Bytes good = sealed(one, Lane::control, "hello");
  expect({}, Refusal::too_short);
  expect(Bytes(good.begin(), good.begin() + 32), Refusal::too_short);
  expect(Bytes(good.begin(), good.begin() + 65), Refusal::too_short);
  expect(Bytes(100), Refusal::unknown_version);
  Bytes bad = good;
  bad[2] = std::byte{4};
  expect(bad, Refusal::unknown_version);
  for (const std::byte lane : {std::byte{1}, std::byte{3}}) {
    bad = good;
    bad[3] = lane;  // no lane with a long header has this number
    expect(bad, Refusal::unknown_version);
  }
  const Bytes data = sealed(one, Lane::data, "");
  expect(Bytes(data.begin(), data.end() - 1), Refusal::too_short);
  for (const std::byte first : {std::byte{0xd1}, std::byte{0xd3}, std::byte{'P'}}) {
    bad = data;
    bad[0] = first;
    expect(bad, Refusal::unknown_version);
  }

  Sealer five = sealer(incarnation(5, 5, 1));
  expect(sealed(five, Lane::control, "x"), Refusal::unknown_sender);
  expect(sealed(one, Lane::token, "x", 2), Refusal::other_receiver);
  Sealer other_key = sealer(incarnation(1, 5, 1), keys_of({1}));
  expect(sealed(other_key, Lane::control, "x"), Refusal::unknown_key);
  Sealer other_cluster(keys_of({0}), kCluster + 1, incarnation(1, 5, 1));
  expect(sealed(other_cluster, Lane::control, "x"), Refusal::bad_badge);
  bad = good;
  bad.back() ^= std::byte{1};
  expect(bad, Refusal::bad_tag);
  EXPECT_EQ(open_copy(receiver, good).reason, Refusal::none);
  expect(good, Refusal::replayed);
}

// If the header did not name the receiver, an attacker could replay a token to another node.
TEST(Opener, ATokenIsForItsReceiverAlone) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  const Bytes for_two = sealed(one, Lane::token, "token", 2);
  EXPECT_EQ(open_copy(receiver, for_two).reason, Refusal::other_receiver);
  for (const std::byte to : {std::byte{0}, std::byte{9}}) {
    Bytes changed = for_two;
    changed[6] = to;
    EXPECT_EQ(open_copy(receiver, changed).reason, Refusal::bad_tag);
  }
}

TEST(Opener, LanesCountApart) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  const Bytes control = sealed(one, Lane::control, "c");
  const Bytes token = sealed(one, Lane::token, "t", 9);
  const Bytes data = sealed(one, Lane::data, "d");
  for (const Bytes& packet : {control, token, data}) {
    EXPECT_EQ(open_copy(receiver, packet).reason, Refusal::none);
  }
  for (const Bytes& packet : {control, token, data}) {
    EXPECT_EQ(open_copy(receiver, packet).reason, Refusal::replayed);
  }
}

TEST(Opener, WindowEndsWhereItSays) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  ASSERT_EQ(open_copy(receiver, sealed(one, Lane::control, "hello")).reason, Refusal::none);
  const Bytes first = sealed(one, Lane::data, "1");
  const Bytes second = sealed(one, Lane::data, "2");
  one.skip_to(Lane::data, ReplayWindow::kWidth);
  const Bytes later = sealed(one, Lane::data, "later");
  EXPECT_EQ(open_copy(receiver, later).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, first).reason, Refusal::too_old);
  EXPECT_EQ(open_copy(receiver, second).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, second).reason, Refusal::replayed);
}

// Multicast probes are sealed as control, but arrive on data sockets. The data sockets may be read
// much earlier than the control socket.
TEST(Opener, ControlThatCameWithDataMakesNothingTooOld) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  const Bytes waits = sealed(one, Lane::control, "waits in its socket");
  one.skip_to(Lane::control, ReplayWindow::kWidth + 10);
  const Bytes probe = sealed(one, Lane::control, "probe");
  EXPECT_EQ(open_copy(receiver, probe, Way::data).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, probe, Way::data).reason, Refusal::replayed);
  EXPECT_EQ(open_copy(receiver, waits).reason, Refusal::none);
  for (const Way way : {Way::tokens, Way::data}) {
    EXPECT_EQ(open_copy(receiver, waits, way).reason, Refusal::replayed);
    EXPECT_EQ(open_copy(receiver, probe, way).reason, Refusal::replayed);
  }
  const Bytes next = sealed(one, Lane::control, "next");
  EXPECT_EQ(open_copy(receiver, next).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, next, Way::data).reason, Refusal::replayed);
  // A packet of another lane is opened only once, even if a copy arrives on the other socket.
  const Bytes data = sealed(one, Lane::data, "d");
  EXPECT_EQ(open_copy(receiver, data, Way::data).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, data).reason, Refusal::replayed);
}

TEST(Opener, ACounterFromNobodyMovesNoWindow) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  ASSERT_EQ(open_copy(receiver, sealed(one, Lane::control, "hello")).reason, Refusal::none);
  const Bytes data = sealed(one, Lane::data, "data");
  Bytes far = data;
  far[12] = std::byte{0xff};  // the counter's highest byte
  EXPECT_EQ(open_copy(receiver, far).reason, Refusal::bad_tag);
  EXPECT_EQ(open_copy(receiver, data).reason, Refusal::none);
}

TEST(Opener, ARestartedSenderIsAcceptedAtOnceAndItsPastIsOver) {
  Opener receiver = opener();
  Sealer before = sealer(incarnation(1, 5, 1));
  const Bytes old_control = sealed(before, Lane::control, "old");
  const Bytes old_data = sealed(before, Lane::data, "old");
  const Bytes old_late = sealed(before, Lane::control, "late");
  EXPECT_EQ(open_copy(receiver, old_control).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, old_data).reason, Refusal::none);

  Sealer after = sealer(incarnation(1, 6, 2));
  const Answer answer = open_copy(receiver, sealed(after, Lane::control, "new"));
  EXPECT_EQ(answer.reason, Refusal::none);
  EXPECT_EQ(answer.sender, (MemberId{{1}, 6}));
  EXPECT_EQ(open_copy(receiver, sealed(after, Lane::data, "new")).reason, Refusal::none);

  const Answer late = open_copy(receiver, old_late);
  EXPECT_EQ(late.reason, Refusal::old_incarnation);
  EXPECT_EQ(late.sender, (MemberId{{1}, 5})) << "so that it can be told of a newer one";
  EXPECT_EQ(open_copy(receiver, old_control).reason, Refusal::old_incarnation);
  EXPECT_EQ(open_copy(receiver, old_data).reason, Refusal::unknown_incarnation);
  EXPECT_EQ(receiver.derived(), 2U);
}

TEST(Opener, OneEpochWithAnotherSaltIsNotTakenForTheSame) {
  Opener receiver = opener();
  Sealer one = sealer(incarnation(1, 5, 1));
  Sealer twin = sealer(incarnation(1, 5, 2));
  EXPECT_EQ(open_copy(receiver, sealed(one, Lane::control, "x")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, sealed(twin, Lane::control, "x")).reason, Refusal::old_incarnation);
}

TEST(Opener, InventedIncarnationsCostNoSubkeyAndPushNobodyOut) {
  Opener receiver = opener();
  Sealer one = sealer(incarnation(1, 5, 1));
  const Bytes control = sealed(one, Lane::control, "hello");
  ASSERT_EQ(open_copy(receiver, control).reason, Refusal::none);
  for (int i = 0; i < 1'000; ++i) {
    Bytes invented = control;
    const Salt salt = random_salt();
    invented[26] = std::byte{200};  // the epoch
    std::copy(salt.begin(), salt.end(), invented.begin() + 34);
    std::copy_n(salt.begin(), 8, invented.begin() + 18);  // the incarnation tag
    ASSERT_EQ(open_copy(receiver, invented).reason, Refusal::bad_badge);
  }
  EXPECT_EQ(receiver.derived(), 1U);
  EXPECT_EQ(open_copy(receiver, sealed(one, Lane::data, "x")).reason, Refusal::none);
}

// An attacker recorded a real packet of a newer incarnation, and sends it damaged.
TEST(Opener, ANewIncarnationReplacesTheOldOneOnlyWithAPacketThatOpens) {
  Opener receiver = opener();
  Sealer before = sealer(incarnation(1, 5, 1));
  ASSERT_EQ(open_copy(receiver, sealed(before, Lane::control, "x")).reason, Refusal::none);
  Sealer after = sealer(incarnation(1, 6, 2));
  const Bytes good = sealed(after, Lane::control, "new");
  Bytes damaged = good;
  damaged.back() ^= std::byte{1};
  for (int i = 0; i < 100; ++i) {
    const Answer answer = open_copy(receiver, damaged);
    ASSERT_EQ(answer.reason, Refusal::bad_tag);
    ASSERT_EQ(answer.sender, MemberId{}) << "nobody knows whose it is";
  }
  EXPECT_EQ(receiver.derived(), 2U) << "derived once, whatever comes";
  EXPECT_EQ(open_copy(receiver, sealed(before, Lane::data, "x")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, good).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, sealed(before, Lane::data, "x")).reason,
            Refusal::unknown_incarnation);
}

TEST(Opener, ItsOwnPacketsAreNobodysElse) {
  Opener receiver = opener();
  Sealer self = sealer(incarnation(9, 1, 3));
  EXPECT_EQ(open_copy(receiver, sealed(self, Lane::control, "x")).reason, Refusal::own);
  EXPECT_EQ(open_copy(receiver, sealed(self, Lane::data, "x")).reason, Refusal::own);
  receiver.set_self({{9}, 4});
  Sealer earlier = sealer(incarnation(9, 3, 4));
  EXPECT_EQ(open_copy(receiver, sealed(earlier, Lane::control, "x")).reason, Refusal::own);
  Sealer impostor = sealer(incarnation(9, 8, 5));
  const Answer answer = open_copy(receiver, sealed(impostor, Lane::control, "x"));
  EXPECT_EQ(answer.reason, Refusal::none) << "another process really has this node's id";
  EXPECT_EQ(answer.sender, (MemberId{{9}, 8}));
}

// A restarted receiver has forgotten which packets it opened. So the protocols must detect packets
// of earlier views, as the README says.
TEST(Opener, AfterItsOwnRestartItOpensWhatWasRecordedBefore) {
  Sealer one = sealer(incarnation(1, 5, 1));
  const Bytes recorded = sealed(one, Lane::control, "x");
  Opener first = opener();
  EXPECT_EQ(open_copy(first, recorded).reason, Refusal::none);
  Opener second = opener();
  EXPECT_EQ(open_copy(second, recorded).reason, Refusal::none);
  EXPECT_EQ(open_copy(second, recorded).reason, Refusal::replayed);
}

TEST(Opener, RemembersWhoStaysAndWhoComesBackWhenTheSendersChange) {
  Opener receiver = opener();
  Sealer two = sealer(incarnation(2, 5, 1)), three = sealer(incarnation(3, 5, 2));
  const Bytes of_two = sealed(two, Lane::control, "two"),
              of_three = sealed(three, Lane::control, "3");
  EXPECT_EQ(open_copy(receiver, of_two).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, of_three).reason, Refusal::none);

  const std::vector<NodeId> without{{1}, {3}, {7}};
  receiver.set_senders(without);
  EXPECT_EQ(open_copy(receiver, of_three).reason, Refusal::replayed);
  EXPECT_EQ(open_copy(receiver, sealed(three, Lane::data, "data")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, sealed(two, Lane::control, "x")).reason, Refusal::unknown_sender);
  Sealer seven = sealer(incarnation(7, 1, 3));
  EXPECT_EQ(open_copy(receiver, sealed(seven, Lane::control, "x")).reason, Refusal::none);
  receiver.set_keys(keys_of({0, 1}));

  const std::vector<NodeId> back{{1}, {2}, {3}};
  receiver.set_senders(back);
  EXPECT_EQ(open_copy(receiver, of_two).reason, Refusal::replayed);
  EXPECT_EQ(open_copy(receiver, sealed(two, Lane::data, "late")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, sealed(seven, Lane::control, "y")).reason, Refusal::unknown_sender);
  Sealer again = sealer(incarnation(2, 6, 4));
  EXPECT_EQ(open_copy(receiver, sealed(again, Lane::control, "again")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, sealed(two, Lane::control, "old")).reason,
            Refusal::old_incarnation);
}

TEST(Opener, RemembersOnlySoManyWhoAreGone) {
  Opener receiver = opener();
  Sealer one = sealer(incarnation(1, 5, 1));
  const Bytes packet = sealed(one, Lane::control, "one");
  EXPECT_EQ(open_copy(receiver, packet).reason, Refusal::none);
  std::vector<NodeId> others;
  for (std::uint32_t i = 0; i < Opener::kGoneMax + 1; ++i) others.push_back({100 + i});
  receiver.set_senders(others);
  receiver.set_senders({});  // forgets the node with the lowest number
  const std::vector<NodeId> back{{1}, {228}};
  receiver.set_senders(back);
  EXPECT_EQ(open_copy(receiver, packet).reason, Refusal::none);
}

}  // namespace
}  // namespace peal::seal::test
