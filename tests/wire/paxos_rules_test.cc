// SPDX-License-Identifier: Apache-2.0
// Tests each rule of the frames of paxos.h, except STATE and values. A frame at a limit is
// accepted. A frame beyond the limit is dropped, with a useful reason for the counters.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "paxos_outcome.h"
#include "paxos_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

std::string with_promise(const std::function<void(Promise&)>& change) {
  Promise promise = plain_promise();
  change(promise);
  return outcome(promise, frame_kind(PaxosKind::promise), encode_promise, decode_promise);
}

std::string with_runs(std::vector<VoteRun> runs) {
  return with_promise([&](Promise& p) { p.runs = std::move(runs); });
}

std::string with_checkpoint(const std::function<void(Checkpoint&)>& change) {
  Checkpoint checkpoint = plain_checkpoint();
  change(checkpoint);
  return outcome(checkpoint, frame_kind(PaxosKind::checkpoint), encode_checkpoint,
                 decode_checkpoint);
}

std::string with_prepare(const Prepare& prepare) {
  return outcome(prepare, frame_kind(PaxosKind::prepare), encode_prepare, decode_prepare);
}
std::string with_fetch(const Fetch& fetch) {
  return outcome(fetch, frame_kind(PaxosKind::fetch), encode_fetch, decode_fetch);
}
std::string with_pass(std::uint64_t key) {
  return outcome(Pass{key}, frame_kind(PaxosKind::pass), encode_pass, decode_pass);
}

std::string with_lacks(const Lacks& lacks) {
  return outcome(lacks, frame_kind(PaxosKind::lacks), encode_lacks, decode_lacks);
}

std::string with_lives(const Lives& lives) {
  return outcome(lives, frame_kind(PaxosKind::lives), encode_lives, decode_lives);
}

std::string with_repeat(const Repeat& repeat) {
  return outcome(repeat, frame_kind(PaxosKind::repeat), encode_repeat, decode_repeat);
}

std::string with_recall(const Recall& recall) {
  return outcome(recall, frame_kind(PaxosKind::recall), encode_recall, decode_recall);
}

TEST(WirePaxosPrepare, CountsFromOne) {
  expect_from_one([](std::uint64_t count) { return with_prepare({count, 1}); });
  expect_from_one([](Instance from) { return with_prepare({1, from}); });
}

TEST(WirePaxosPromise, IsOfARoundThatHasBegun) {
  expect_begun_round([](const Round& round) {
    return with_promise([&](Promise& p) {
      p.round = round;
      p.runs.clear();
    });
  });
  expect_counter([](Instance next) {
    return with_promise([&](Promise& p) {
      p.next = next;
      p.runs.clear();
    });
  });
}

TEST(WirePaxosPromise, RunsAreOfRoundsUpToThePromisedOne) {
  expect_begun_round([](const Round& round) {
    return with_promise([&](Promise& p) {
      p.round = {kTop, kLastNode};
      p.runs = {{100, 1, round}};
    });
  });
  const MemberId& coordinator = kSomeRound.coordinator;
  EXPECT_EQ(with_runs({{100, 1, kSomeRound}}), "none");
  EXPECT_EQ(with_runs({{100, 1, {kSomeRound.count + 1, {{1}, 10}}}}), "bad_value");
  EXPECT_EQ(with_runs({{100, 1, {kSomeRound.count, {coordinator.node, coordinator.epoch + 1}}}}),
            "bad_value");
}

TEST(WirePaxosPromise, RunsBeginAtNextOrAbove) {
  EXPECT_EQ(with_runs({}), "none");
  EXPECT_EQ(with_runs({{100, 1, kSomeRound}}), "none");
  EXPECT_EQ(with_runs({{99, 5, kSomeRound}}), "not_sorted");
  const auto from_nowhere = [](Instance first) {
    return with_promise([&](Promise& p) {
      p.next = 0;
      p.runs = {{first, 1, kSomeRound}};
    });
  };
  EXPECT_EQ(from_nowhere(1), "none");
  EXPECT_EQ(from_nowhere(0), "bad_value");
}

TEST(WirePaxosPromise, RunsAscendAndAreApart) {
  const Round older{3, {{1}, 10}};
  EXPECT_EQ(with_runs({{100, 5, kSomeRound}, {106, 1, kSomeRound}}), "none");
  EXPECT_EQ(with_runs({{100, 5, kSomeRound}, {105, 1, older}}), "none");
  EXPECT_EQ(with_runs({{100, 5, kSomeRound}, {104, 1, older}}), "not_sorted");
  EXPECT_EQ(with_runs({{100, 5, kSomeRound}, {100, 5, kSomeRound}}), "not_sorted");
  EXPECT_EQ(with_runs({{200, 5, kSomeRound}, {100, 5, kSomeRound}}), "not_sorted");
}

TEST(WirePaxosPromise, NeighboursOfOneRoundAreOneRun) {
  EXPECT_EQ(with_runs({{100, 5, kSomeRound}, {105, 1, kSomeRound}}), "bad_value");
  EXPECT_EQ(with_runs({{100, kVotesMax, kSomeRound}, {100 + kVotesMax, 1, kSomeRound}}),
            "bad_value");
}

TEST(WirePaxosPromise, RunsHaveALengthAndEndBelowTheLastInstance) {
  const auto length = [](std::uint32_t value) { return with_runs({{100, value, kSomeRound}}); };
  EXPECT_EQ(length(0), "bad_value");
  EXPECT_EQ(length(1), "none");
  EXPECT_EQ(length(kVotesMax), "none");
  EXPECT_EQ(length(kVotesMax + 1), "bad_value");
  EXPECT_EQ(length(0xffff'ffff), "bad_value");
  EXPECT_EQ(with_runs({{kTop - 5, 5, kSomeRound}}), "none");
  EXPECT_EQ(with_runs({{kTop - 5, 6, kSomeRound}}), "bad_value");
  EXPECT_EQ(with_runs({{kTop, 1, kSomeRound}}), "bad_value");
  EXPECT_EQ(with_runs({{kTop + 1, 1, kSomeRound}}), "bad_value");
}

TEST(WirePaxosPromise, HoldsUpToKVoteRunsMax) {
  std::vector<VoteRun> runs;
  for (Instance i = 0; i < kVoteRunsMax; ++i) runs.push_back({100 + 2 * i, 1, kSomeRound});
  EXPECT_EQ(with_runs(runs), "none");
  runs.push_back({1 << 20, 1, kSomeRound});
  EXPECT_EQ(with_runs(runs), "not encodable");
  const auto count = [](std::uint16_t value) {
    return with_count(plain_promise(), frame_kind(PaxosKind::promise), encode_promise,
                      decode_promise, 28, value);
  };
  EXPECT_EQ(count(2), "trailing_bytes");
  EXPECT_EQ(count(4), "truncated");
  EXPECT_EQ(count(kVoteRunsMax), "truncated");
  EXPECT_EQ(count(kVoteRunsMax + 1), "count_too_large");
  EXPECT_EQ(count(0xffff), "count_too_large");
}

TEST(WirePaxosFetch, NamesARoundAndAnInstance) {
  expect_begun_round([](const Round& round) { return with_fetch({round, 1}); });
  expect_from_one([](Instance instance) { return with_fetch({kSomeRound, instance}); });
}

TEST(WirePaxosPass, AsksForAKeyThatAStampMayHave) {
  EXPECT_EQ(with_pass(0), "bad_value");
  EXPECT_EQ(with_pass(1), "none");
  EXPECT_EQ(with_pass(kStampMax), "none");
  EXPECT_EQ(with_pass(kStampMax + 1), "bad_value");
  EXPECT_EQ(with_pass(~std::uint64_t{0}), "bad_value");
}

TEST(WirePaxosLives, AreOfOneToKMembersMaxAcceptorsOfAList) {
  EXPECT_EQ(with_lives({0, {1}}), "bad_value");
  EXPECT_EQ(with_lives({1, {1}}), "none");
  EXPECT_EQ(with_lives({~0ULL, {~0ULL}}), "none");
  EXPECT_EQ(with_lives({1, {}}), "bad_value");
  EXPECT_EQ(with_lives({1, {1, 0}}), "bad_value");
  EXPECT_EQ(with_lives({1, std::vector<std::uint64_t>(kMembersMax, 1)}), "none");
}

TEST(WirePaxosLives, ACountIsBelievedIfItsBytesAreThere) {
  const auto count = [](std::uint16_t value) {
    Bytes packet(kPacketBytesMax);
    packet.resize(encode_lives(header_of(PaxosKind::lives), {1, {1, 2, 3}}, packet));
    packet[kHeaderBytes + 8] = static_cast<std::byte>(value & 0xff);
    packet[kHeaderBytes + 9] = static_cast<std::byte>(value >> 8);
    complete(packet);
    Lives decoded;
    return std::string(drop_name(decode_lives(packet, decoded)));
  };
  EXPECT_EQ(count(0), "bad_value");
  EXPECT_EQ(count(2), "trailing_bytes");
  EXPECT_EQ(count(3), "none");
  EXPECT_EQ(count(4), "truncated");
  EXPECT_EQ(count(kMembersMax), "truncated");
  EXPECT_EQ(count(kMembersMax + 1), "count_too_large");
  EXPECT_EQ(count(0xffff), "count_too_large");
}

TEST(WirePaxosLacks, AsksForOneToKLacksMaxUnitsOfAView) {
  EXPECT_EQ(with_lacks({0, 1, 1}), "bad_value");
  EXPECT_EQ(with_lacks({1, 0, 1}), "bad_value");
  EXPECT_EQ(with_lacks({1, 1, 0}), "bad_value");
  EXPECT_EQ(with_lacks({1, 1, 1}), "none");
  EXPECT_EQ(with_lacks({kTop, 1, kLacksMax}), "none");
  EXPECT_EQ(with_lacks({kTop + 1, 1, 1}), "bad_value");
  EXPECT_EQ(with_lacks({1, 1, kLacksMax + 1}), "bad_value");
  EXPECT_EQ(with_lacks({1, kTop - kLacksMax, kLacksMax}), "none");
  EXPECT_EQ(with_lacks({1, kTop - kLacksMax + 1, kLacksMax}), "bad_value");
  EXPECT_EQ(with_lacks({1, ~std::uint64_t{0}, 1}), "bad_value");
}

TEST(WirePaxosRepeat, AsksForOneToKRepeatMax) {
  EXPECT_EQ(with_repeat({1, 1, true}), "none");
  EXPECT_EQ(with_repeat({1, 0}), "bad_value");
  EXPECT_EQ(with_repeat({1, 1}), "none");
  EXPECT_EQ(with_repeat({1, kRepeatMax}), "none");
  EXPECT_EQ(with_repeat({1, kRepeatMax + 1}), "bad_value");
  EXPECT_EQ(with_repeat({1, 0xffff}), "bad_value");
}

TEST(WirePaxosRepeat, EndsBelowTheLastInstance) {
  EXPECT_EQ(with_repeat({0, 1}), "bad_value");
  EXPECT_EQ(with_repeat({kTop - 1, 1}), "none");
  EXPECT_EQ(with_repeat({kTop, 1}), "bad_value");
  EXPECT_EQ(with_repeat({kTop - kRepeatMax, kRepeatMax}), "none");
  EXPECT_EQ(with_repeat({kTop - kRepeatMax + 1, kRepeatMax}), "bad_value");
  EXPECT_EQ(with_repeat({kTop + 1, 1}), "bad_value");
}

std::string with_log(const LogAnswer& answer) {
  return outcome(answer, frame_kind(PaxosKind::log_heard), encode_log_answer, decode_log_answer);
}

TEST(WirePaxosLog, IsAnsweredToAnIncarnationWithALogOnDisk) {
  EXPECT_EQ(with_log({0, kLogBit, {}}), "bad_value");
  EXPECT_EQ(with_log({1, kLogBit, {}}), "none");
  EXPECT_EQ(with_log({1, kLogBit - 1, {}}), "bad_value");
  EXPECT_EQ(with_log({~0ULL, ~0ULL, {}}), "none");
}

TEST(WirePaxosLog, WasHeardOfFromIncarnationsBefore) {
  EXPECT_EQ(with_log({9, kLogBit, {{8, 1}}}), "none");
  EXPECT_EQ(with_log({9, kLogBit, {{9, 1}}}), "bad_value");
  EXPECT_EQ(with_log({9, kLogBit, {{0, 1}}}), "bad_value");
  EXPECT_EQ(with_log({9, kLogBit, {{8, 0}}}), "bad_value");
  EXPECT_EQ(with_log({9, kLogBit, {{8, kTop}}}), "none");
  EXPECT_EQ(with_log({9, kLogBit, {{8, kTop + 1}}}), "bad_value");
  EXPECT_EQ(with_log({9, kLogBit, {{7, 5}, {8, 1}}}), "none");
  EXPECT_EQ(with_log({9, kLogBit, {{8, 5}, {8, 6}}}), "bad_value");
  EXPECT_EQ(with_log({9, kLogBit, {{8, 5}, {7, 6}}}), "bad_value");
}

TEST(WirePaxosRecall, AsksForOneToKRecallMax) {
  EXPECT_EQ(with_recall({1, 0}), "bad_value");
  EXPECT_EQ(with_recall({1, 1}), "none");
  EXPECT_EQ(with_recall({1, kRecallMax}), "none");
  EXPECT_EQ(with_recall({1, kRecallMax + 1}), "bad_value");
  EXPECT_EQ(with_recall({1, 0xffff}), "bad_value");
}

TEST(WirePaxosRecall, EndsBelowTheLastInstance) {
  EXPECT_EQ(with_recall({0, 1}), "bad_value");
  EXPECT_EQ(with_recall({kTop - 1, 1}), "none");
  EXPECT_EQ(with_recall({kTop, 1}), "bad_value");
  EXPECT_EQ(with_recall({kTop - kRecallMax, kRecallMax}), "none");
  EXPECT_EQ(with_recall({kTop - kRecallMax + 1, kRecallMax}), "bad_value");
  EXPECT_EQ(with_recall({kTop + 1, 1}), "bad_value");
  EXPECT_EQ(with_recall({~0ULL, 1}), "bad_value");
}

TEST(WirePaxosRecall, HasNoOtherContent) {
  constexpr std::size_t kSize = kHeaderBytes + 8 + 2;
  Bytes packet(kSize);
  const Recall recall{7, kRecallMax};
  ASSERT_EQ(encode_recall(header_of(PaxosKind::recall), recall, packet), kSize);
  Recall decoded;
  EXPECT_EQ(drop_name(decode_recall(packet, decoded)), "none");
  EXPECT_EQ(decoded, recall);
  EXPECT_EQ(drop_name(decode_recall(ByteView(packet).first(kSize - 1), decoded)), "truncated");
  EXPECT_EQ(drop_name(decode_recall(ByteView(packet).first(kHeaderBytes), decoded)), "truncated");
  packet.push_back(std::byte{0});
  EXPECT_EQ(drop_name(decode_recall(packet, decoded)), "trailing_bytes");
}

TEST(WirePaxosCheckpointGet, HasNoContent) {
  Bytes packet(kHeaderBytes);
  ASSERT_EQ(encode_checkpoint_get(header_of(PaxosKind::checkpoint_get), packet), kHeaderBytes);
  EXPECT_EQ(drop_name(decode_checkpoint_get(packet)), "none");
  packet.push_back(std::byte{0});
  EXPECT_EQ(drop_name(decode_checkpoint_get(packet)), "trailing_bytes");
}

TEST(WirePaxosCheckpoint, HasAnInstanceToBeginAt) {
  expect_from_one(
      [](Instance next) { return with_checkpoint([&](Checkpoint& c) { c.next = next; }); });
}

TEST(WirePaxosCheckpoint, HasTheKeyOfTheValueBefore) {
  const auto with = [](std::uint64_t key) {
    return with_checkpoint([&](Checkpoint& c) { c.key = key; });
  };
  EXPECT_EQ(with(0), "none");
  EXPECT_EQ(with(kKeyMax), "none");
  // The keys of later values must be larger than this key, so a key above kKeyMax is refused.
  EXPECT_EQ(with(kKeyMax + 1), "bad_value");
  EXPECT_EQ(with(~0ULL), "bad_value");
}

TEST(WirePaxosCheckpoint, HasAViewOfMembersOrNeither) {
  const auto with = [](const ViewId& view, std::uint32_t members) {
    return with_checkpoint([&](Checkpoint& c) {
      c.view = view;
      c.members = first_view_members(members);
      c.numbers.assign(members, 1);
    });
  };
  EXPECT_EQ(with(kSomeView, 1), "none");
  EXPECT_EQ(with(kSomeView, 0), "bad_value");
  EXPECT_EQ(with({}, 0), "none");
  EXPECT_EQ(with({}, 1), "bad_value");
  EXPECT_EQ(with({0, kSender}, 0), "bad_value");
  EXPECT_EQ(with({1, {}}, 1), "bad_value");
  EXPECT_EQ(with({kTop, kLastNode}, 1), "none");
  EXPECT_EQ(with({kTop + 1, kLastNode}, 1), "bad_value");
  EXPECT_EQ(with({1, kNodeTooLarge}, 1), "bad_value");
}

TEST(WirePaxosCheckpoint, MembersAreSortedAndOfDistinctNodes) {
  EXPECT_EQ(with_checkpoint([](Checkpoint& c) { std::swap(c.members[0], c.members[1]); }),
            "not_sorted");
  EXPECT_EQ(with_checkpoint([](Checkpoint& c) { c.members[1] = c.members[0]; }), "not_sorted");
  EXPECT_EQ(with_checkpoint([](Checkpoint& c) {
              c.members[1].member = c.members[0].member;
              ++c.members[1].member.epoch;
            }),
            "not_sorted");
  EXPECT_EQ(with_checkpoint([](Checkpoint& c) { c.members[2].member = kLastNode; }), "none");
  EXPECT_EQ(with_checkpoint([](Checkpoint& c) { c.members[2].member = kNodeTooLarge; }),
            "bad_value");
  EXPECT_EQ(with_checkpoint([](Checkpoint& c) { c.members[0].member = kNobody; }), "bad_value");
  expect_counter([](std::uint64_t came_from) {
    return with_checkpoint([&](Checkpoint& c) { c.members[1].came_from = came_from; });
  });
  expect_counter([](std::uint64_t number) {
    return with_checkpoint([&](Checkpoint& c) { c.numbers[1] = number; });
  });
}

TEST(WirePaxosCheckpoint, HoldsUpToKMembersMax) {
  const auto with = [](std::uint32_t members) {
    return with_checkpoint([&](Checkpoint& c) {
      c.members = first_view_members(members);
      c.numbers.assign(members, 1);
    });
  };
  EXPECT_EQ(with(kMembersMax), "none");
  EXPECT_EQ(with(kMembersMax + 1), "not encodable");
  constexpr std::size_t kBefore = 8 + 8 + 8 + 8 + 8 + 2 + 4 * 4 + 20;
  const auto count = [](std::uint16_t value) {
    return with_count(plain_checkpoint(), frame_kind(PaxosKind::checkpoint), encode_checkpoint,
                      decode_checkpoint, kBefore, value);
  };
  EXPECT_EQ(count(2), "trailing_bytes");
  EXPECT_EQ(count(4), "truncated");
  EXPECT_EQ(count(kMembersMax), "truncated");
  EXPECT_EQ(count(kMembersMax + 1), "count_too_large");
  EXPECT_EQ(count(0xffff), "count_too_large");
}

TEST(WirePaxosViewMembers, AreOneToKMembersMaxSortedAndOfDistinctNodes) {
  const auto with = [](const std::vector<ViewMember>& members) {
    std::vector<ViewMember> decoded;
    return std::string(drop_name(decode_view_members(view_bytes(members), decoded)));
  };
  EXPECT_EQ(with({}), "bad_value");
  EXPECT_EQ(with(first_view_members(1)), "none");
  EXPECT_EQ(with(first_view_members(kMembersMax)), "none");
  EXPECT_EQ(with({{{{2}, 20}, 1}, {{{1}, 10}, 1}}), "not_sorted");
  EXPECT_EQ(with({{{{2}, 20}, 1}, {{{2}, 21}, 1}}), "not_sorted");
  EXPECT_EQ(with({{{{2}, 20}, 1}, {{{2}, 20}, 1}}), "not_sorted");
  EXPECT_EQ(with({{kNobody, 1}}), "bad_value");
  EXPECT_EQ(with({{kNodeTooLarge, 1}}), "bad_value");
  expect_counter([&](std::uint64_t came_from) { return with({{kSender, came_from}}); });
}

TEST(WirePaxosViewMembers, CountsAreLimitedBeforeTheyAreUsed) {
  const auto count = [](std::uint16_t value) {
    Bytes bytes = view_bytes(first_view_members(3));
    Writer out(bytes);
    out.u(value);
    std::vector<ViewMember> decoded;
    return std::string(drop_name(decode_view_members(bytes, decoded)));
  };
  EXPECT_EQ(count(2), "trailing_bytes");
  EXPECT_EQ(count(3), "none");
  EXPECT_EQ(count(4), "truncated");
  EXPECT_EQ(count(kMembersMax), "truncated");
  EXPECT_EQ(count(kMembersMax + 1), "count_too_large");
  std::vector<ViewMember> decoded;
  EXPECT_EQ(drop_name(decode_view_members({}, decoded)), "truncated");
}

TEST(WirePaxosRules, LinkChecksHaveANumberAndZeros) {
  const auto with = [](std::uint32_t number, std::byte last) {
    std::vector<std::byte> packet(kPacketBytesMax);
    packet.resize(encode_link_check(header_of(PaxosKind::link_check), {number, 100}, packet));
    EXPECT_EQ(packet.size(), 100U);
    packet.back() = last;
    complete(packet);
    LinkCheck decoded;
    return std::string(drop_name(decode_link_check(packet, decoded)));
  };
  EXPECT_EQ(with(1, std::byte{0}), "none");
  EXPECT_EQ(with(~0U, std::byte{0}), "none");
  EXPECT_EQ(with(0, std::byte{0}), "bad_value");
  EXPECT_EQ(with(1, std::byte{1}), "bad_value");
}

}  // namespace
}  // namespace peal::wire::test
