// SPDX-License-Identifier: Apache-2.0
// Tests each rule of STATE. A frame at a limit is accepted. A frame beyond the limit is dropped,
// with a useful reason for the counters.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "paxos_outcome.h"
#include "paxos_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

std::string with_state(const std::function<void(State&)>& change) {
  State state = plain_state();
  change(state);
  return outcome(state, frame_kind(PaxosKind::state), encode_state, decode_state);
}

TEST(WirePaxosState, SaysNothingOfALogWithoutOne) {
  const auto with = [](std::uint64_t life, std::uint64_t log, LogWord word) {
    return with_state([&](State& state) {
      state.life = life;
      state.log = log;
      state.log_word = word;
    });
  };
  EXPECT_EQ(with(kLogBit, 7, LogWord::asks), "none");
  EXPECT_EQ(with(kLogBit, kTop + 1, LogWord::sure), "bad_value");
  EXPECT_EQ(with(kLogBit, 7, LogWord::put_back), "none");
  EXPECT_EQ(with(kLogBit, 7, static_cast<LogWord>(3)), "bad_value");
  EXPECT_EQ(with(5, 0, LogWord::sure), "none");
  EXPECT_EQ(with(5, 7, LogWord::sure), "bad_value");
  EXPECT_EQ(with(5, 0, LogWord::asks), "bad_value");
}

TEST(WirePaxosState, RoundsHaveBegunOrAreNone) {
  const auto round = [](const Round& value) {
    return with_state([&](State& s) {
      s.round = value;
      s.leading = false;
      s.voted_round = {};
      s.voted_upto = 0;
      s.decided_upto = 0;
    });
  };
  const auto voted = [](const Round& value) {
    return with_state([&](State& s) {
      s.round = {kTop, {{kNodeMax}, ~0ULL}};
      s.leading = false;
      s.voted_round = value;
      s.voted_upto = 0;
      s.decided_upto = 0;
    });
  };
  for (const std::function<std::string(const Round&)>& with :
       {std::function<std::string(const Round&)>(round),
        std::function<std::string(const Round&)>(voted)}) {
    EXPECT_EQ(with({}), "none");
    EXPECT_EQ(with({1, {{1}, 0}}), "none");
    EXPECT_EQ(with({kTop, kLastNode}), "none");
    EXPECT_EQ(with({kTop + 1, kLastNode}), "bad_value");
    EXPECT_EQ(with({0, {{1}, 0}}), "bad_value");
    EXPECT_EQ(with({0, {{0}, 1}}), "bad_value");
    EXPECT_EQ(with({1, {}}), "bad_value");
    EXPECT_EQ(with({1, kNodeTooLarge}), "bad_value");
  }
}

TEST(WirePaxosState, VotesAreInNoHigherRound) {
  const auto with = [](const Round& voted, const Round& round) {
    return with_state([&](State& s) {
      s.leading = false;
      s.voted_round = voted;
      s.round = round;
    });
  };
  EXPECT_EQ(with({6, kSender}, {6, kSender}), "none");
  EXPECT_EQ(with({7, {{1}, 10}}, {6, kSender}), "bad_value");
  EXPECT_EQ(with({6, {kSender.node, kSender.epoch + 1}}, {6, kSender}), "bad_value");
  EXPECT_EQ(with({6, {{kSender.node.value + 1}, 0}}, {6, kSender}), "bad_value");
  EXPECT_EQ(with({6, {{kSender.node.value - 1}, ~0ULL}}, {6, kSender}), "none");
}

TEST(WirePaxosState, WhoNeverVotedSaysForNoInstance) {
  expect_counter([](Instance upto) {
    return with_state([&](State& s) {
      s.voted_upto = upto;
      s.decided_upto = 0;
    });
  });
  const auto without = [](Instance upto) {
    return with_state([&](State& s) {
      s.voted_round = {};
      s.voted_upto = upto;
      s.decided_upto = 0;
    });
  };
  EXPECT_EQ(without(0), "none");
  EXPECT_EQ(without(1), "bad_value");
}

TEST(WirePaxosState, WhatIsDecidedByVotesIsNotAboveThem) {
  const auto with = [](Instance decided, Instance voted) {
    return with_state([&](State& s) {
      s.decided_upto = decided;
      s.voted_upto = voted;
    });
  };
  EXPECT_EQ(with(0, 0), "none");
  EXPECT_EQ(with(kTop, kTop), "none");
  EXPECT_EQ(with(1, 0), "bad_value");
  EXPECT_EQ(with(kTop + 1, kTop), "bad_value");
}

TEST(WirePaxosState, TheOldestIsAtMostTheNext) {
  const auto with = [](Instance oldest, Instance next) {
    return with_state([&](State& s) {
      s.joined = false;
      s.list = 0;
      s.oldest = oldest;
      s.next = next;
    });
  };
  EXPECT_EQ(with(0, 0), "none");
  EXPECT_EQ(with(1, 0), "bad_value");
  EXPECT_EQ(with(0, kTop), "none");
  EXPECT_EQ(with(kTop, kTop), "none");
  EXPECT_EQ(with(91, 90), "bad_value");
  EXPECT_EQ(with(0, kTop + 1), "bad_value");
  EXPECT_EQ(with(kTop + 1, kTop), "bad_value");
}

TEST(WirePaxosState, OnlyTheRoundsOwnCoordinatorLeads) {
  const auto with = [](const Round& round, bool leading) {
    return with_state([&](State& s) {
      s.round = round;
      s.leading = leading;
      s.voted_round = {};
      s.voted_upto = 0;
      s.decided_upto = 0;
    });
  };
  EXPECT_EQ(with({6, kSender}, true), "none");
  EXPECT_EQ(with({6, kSender}, false), "none");
  EXPECT_EQ(with({6, {kSender.node, kSender.epoch - 1}}, true), "bad_value");
  EXPECT_EQ(with({6, {{2}, 20}}, true), "bad_value");
  EXPECT_EQ(with({6, {{2}, 20}}, false), "none");
  EXPECT_EQ(with({}, true), "bad_value");
}

TEST(WirePaxosState, WhoJoinedHasAViewAndAPlace) {
  EXPECT_EQ(with_state([](State& s) { s.view = 0; }), "bad_value");
  EXPECT_EQ(with_state([](State& s) { s.next = s.oldest = s.list = 0; }), "bad_value");
  EXPECT_EQ(with_state([](State& s) {
              s.joined = false;
              s.view = s.next = s.oldest = s.list = 0;
            }),
            "none");
  EXPECT_EQ(with_state([](State& s) { s.view = s.next = kTop; }), "none");
  EXPECT_EQ(with_state([](State& s) { s.view = kTop + 1; }), "bad_value");
}

TEST(WirePaxosState, WhoBeganNowhereHasNoListThatCounts) {
  const auto with = [](std::uint64_t list, Instance next) {
    return with_state([&](State& s) {
      s.joined = false;
      s.list = list;
      s.next = next;
      s.oldest = 0;
    });
  };
  EXPECT_EQ(with(0, 0), "none");
  EXPECT_EQ(with(1, 0), "bad_value");
  EXPECT_EQ(with(1, 1), "none");
  EXPECT_EQ(with(kListMax, 1), "none");
  EXPECT_EQ(with(kListMax + 1, 1), "bad_value");
  EXPECT_EQ(with(~0ULL, kTop), "bad_value");
}

TEST(WirePaxosState, HashesOfListsAreAny) {
  for (const std::uint64_t hash : {0ULL, 1ULL, ~0ULL}) {
    EXPECT_EQ(with_state([&](State& s) { s.first_list = hash; }), "none");
    EXPECT_EQ(with_state([&](State& s) { s.next_list = hash; }), "none");
  }
}

TEST(WirePaxosState, EveryFlagIsOne) {
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_state(header_of(PaxosKind::state), plain_state(), packet));
  std::vector<unsigned> flags;
  for (unsigned value = 0; value < 256; ++value) flags.push_back(value);
  expect_bytes_accepted(packet, kHeaderBytes + 20, flags, [](ByteView bytes) {
    State decoded;
    return decode_state(bytes, decoded);
  });
}

TEST(WirePaxosState, FitnessIsOneOfFour) {
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_state(header_of(PaxosKind::state), plain_state(), packet));
  expect_bytes_accepted(packet, packet.size() - 34, {0, 1, 2, 3}, [](ByteView bytes) {
    State decoded;
    return decode_state(bytes, decoded);
  });
}

TEST(WirePaxosState, SaysWhomItDoesNotHearOnlyOfAList) {
  EXPECT_EQ(with_state([](State& s) { s.unheard.add(127); }), "none");
  const auto fresh = [](bool unheard) {
    return with_state([&](State& s) {
      s = {};
      if (unheard) s.unheard.add(0);
    });
  };
  EXPECT_EQ(fresh(false), "none");
  EXPECT_EQ(fresh(true), "bad_value");
}

TEST(WirePaxosState, AnybodyMayVisitWhateverItIs) {
  const auto visiting = [](const std::function<void(State&)>& change) {
    return with_state([&](State& s) {
      s.visiting = true;
      change(s);
    });
  };
  EXPECT_EQ(visiting([](State&) {}), "none");
  EXPECT_EQ(visiting([](State& s) { s.leaving = true; }), "none");
  EXPECT_EQ(visiting([](State& s) { s = {}; }), "none");
}

TEST(WirePaxosState, SaysFromWhichKeyOnItHasAll) {
  expect_counter([](std::uint64_t from) { return with_state([&](State& s) { s.from = from; }); });
  // The rule is the same if the STATE has no other field.
  expect_counter([](std::uint64_t from) {
    return with_state([&](State& s) {
      s = {};
      s.from = from;
    });
  });
}

}  // namespace
}  // namespace peal::wire::test
