// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "golden_examine.h"
#include "golden_frames.h"
#include "samples.h"
#include "wire/frames.h"
#include "wire/packet.h"
#include "wire/paxos.h"
#include "wire/settings.h"
#include "wire/trial.h"

namespace peal::wire::test {
namespace {

RequestSection section(const ViewId& view, std::initializer_list<RequestRange> ranges) {
  RequestSection result;
  result.view = view;
  for (const RequestRange& range : ranges) result.ranges.push_back(range);
  return result;
}

TEST(WireGolden, Tokens) {
  Token idle;
  idle.view = kGoldenView;
  idle.hop = 1;
  expect_golden("v1-token-idle", FrameKind::token, kB, idle, decode_token, encode_token);

  Token busy;
  busy.view = kGoldenView;
  busy.hop = 123'456;
  busy.seq = 9'000;
  busy.aru = 8'500;
  busy.aru_index = 2;
  busy.fcc = 40;
  busy.recovery_run = 3;
  busy.recovery_block = 127;
  busy.window = 300;
  busy.losses = 5;
  busy.limited = 2;
  busy.backlog = 1'000;
  busy.credit = 65'536;
  busy.credit_index = 0;
  busy.list = kList;
  busy.list_run = 255;
  busy.list_block = 3;
  busy.sections.push_back(
      section(kGoldenView, {{8'501, 1}, {8'600, (1ULL << 63) | 1}, {8'664, 0x15}}));
  busy.sections.push_back(section(kOldOne, {}));
  busy.sections.push_back(section(kOldTwo, {{1ULL << 62, ~0ULL}}));
  expect_golden("v1-token-busy", FrameKind::token, kB, busy, decode_token, encode_token);
}

TEST(WireGolden, Data) {
  const auto encode_with_unit = [](std::size_t unit_bytes) {
    return [unit_bytes](const Header& header, const Data& data, ByteSpan out) {
      for (std::size_t i = 0; i < unit_bytes; ++i) {
        out[kDataHeaderBytes + i] = static_cast<std::byte>(i);
      }
      encode_data_in_place(header, data, out);
      return kDataHeaderBytes + unit_bytes;
    };
  };
  const Data agreed{kGoldenView, 9'001, 123'456, kB, true, false, Service::agreed};
  expect_golden("v1-data-agreed", FrameKind::data, kB, agreed, decode_data, encode_with_unit(23));
  const Data again{kGoldenView, 1, 2, kD, true, true, Service::safe};
  expect_golden("v1-data-safe-again", FrameKind::data, kC, again, decode_data, encode_with_unit(0));
}

TEST(WireGolden, Joins) {
  const Join boot{1, {}, 0, false, {kA}, {}, {}, kList};
  expect_golden("v1-join-boot", FrameKind::join, kA, boot, decode_join, encode_join);
  const Join busy{99,       kGoldenView, 80, false, {kA, kOlderB, kB, kC, kD}, {kOlderB, kD},
                  {kB, kC}, ~0ULL};
  expect_golden("v1-join-busy", FrameKind::join, kA, busy, decode_join, encode_join);
  const Join leaving{kCounterMax, kBirth, 77, true, {kA, kD}, {}, {kA}, kList};
  expect_golden("v1-join-leaving", FrameKind::join, kD, leaving, decode_join, encode_join);
}

TEST(WireGolden, Commits) {
  const OldView only{kGoldenView, {kA}, encode(OldViewRecord{100, 100, 90, {}, {kA}})};
  const Commit first{{81, kA}, {kA, kB, kC, kD}, 0, encode(ViewOptions{1'472, 1, 4'096}), {only},
                     kList};
  expect_golden("v1-commit-first", FrameKind::commit, kA, first, decode_commit, encode_commit);

  const OldView one{
      kOldOne, {kA, kB}, encode(OldViewRecord{100, 165, 90, {(1ULL << 63) | 1, 1}, {kA, kB, kC}})};
  const OldView birth{kBirth, {kD}, encode(OldViewRecord{0, 0, 0, {}, {kD}})};
  const OldView two{kOldTwo, {kC}, encode(OldViewRecord{7, 71, 7, {~0ULL}, {}})};
  const Commit merge{
      {82, kA}, {kA, kB, kC, kD}, 5, encode(ViewOptions{1'400, 2, 2'048}), {one, birth, two},
      ~0ULL};
  expect_golden("v1-commit-merge", FrameKind::commit, kA, merge, decode_commit, encode_commit);
}

TEST(WireGolden, SmallFrames) {
  expect_golden("v1-probe-alone", FrameKind::probe, kC, ProbeFrame{kGoldenView, {}, kList},
                decode_probe, encode_probe);
  expect_golden("v1-probe-heard", FrameKind::probe, kC, ProbeFrame{kGoldenView, {kB, kD}, kList},
                decode_probe, encode_probe);
  expect_golden("v1-hold-cancel", FrameKind::hold_cancel, kC, HoldCancel{kGoldenView},
                decode_hold_cancel, encode_hold_cancel);
  expect_golden("v1-epoch-notice", FrameKind::epoch_notice, kA, EpochNotice{kB},
                decode_epoch_notice, encode_epoch_notice);
  expect_golden("v1-trial-ask", FrameKind::data, kC, Trial{Trial::Step::ask, 3, 19, 6, kB, 5},
                decode_trial, encode_trial);
  expect_golden("v1-trial-passed", FrameKind::trial, kC, Trial{Trial::Step::passed, 0, 0, 6, kB, 0},
                decode_trial, encode_trial);
  SettingsFrame settings;
  settings.asks = true;
  expect_golden("v1-settings-asks", FrameKind::settings, kA, settings, decode_settings,
                encode_settings);
  settings.asks = false;
  settings.settings.push_back({"order", "\"ring\""});
  settings.settings.push_back({"ring.hold_ms", "7"});
  settings.settings.push_back({"ring.idle", ""});
  expect_golden("v1-settings-answer", FrameKind::settings, kB, settings, decode_settings,
                encode_settings);
}

// The rounds in the golden packets of engines on quorums.
constexpr Round kRound{12, kB};
constexpr Round kOldRound{11, kA};

void expect_golden_value(const std::string& name, PaxosKind kind, const MemberId& sender,
                         const ValueFrame& expected, const std::vector<std::byte>& bytes) {
  expect_golden(name, static_cast<FrameKind>(kind), sender, expected, decode_value,
                [&](const Header& header, const ValueFrame& frame, ByteSpan out) {
                  std::copy(bytes.begin(), bytes.end(), out.begin() + kDataHeaderBytes);
                  encode_value_in_place(header, kind, frame, out);
                  return kDataHeaderBytes + bytes.size();
                });
}

void expect_golden_fetched(const std::string& name, const Fetched& expected,
                           const std::vector<std::byte>& bytes) {
  expect_golden(name, static_cast<FrameKind>(PaxosKind::fetched), kC, expected, decode_fetched,
                [&](const Header& header, const Fetched& frame, ByteSpan out) {
                  std::copy(bytes.begin(), bytes.end(), out.begin() + kFetchedHeaderBytes);
                  encode_fetched_in_place(header, frame, out);
                  return kFetchedHeaderBytes + bytes.size();
                });
}

void expect_golden_word(const std::string& name, const Word& expected,
                        const std::vector<std::byte>& bytes) {
  expect_golden(name, static_cast<FrameKind>(PaxosKind::word), kC, expected, decode_word,
                [&](const Header& header, const Word& frame, ByteSpan out) {
                  std::copy(bytes.begin(), bytes.end(), out.begin() + kWordHeaderBytes);
                  encode_word_in_place(header, frame, out);
                  return kWordHeaderBytes + bytes.size();
                });
}

void expect_golden_relay(const std::string& name, PaxosKind kind, const Relay& expected,
                         const std::vector<std::byte>& bytes) {
  expect_golden(name, static_cast<FrameKind>(kind), kC, expected, decode_relay,
                [&](const Header& header, const Relay& frame, ByteSpan out) {
                  std::copy(bytes.begin(), bytes.end(), out.begin() + kRelayHeaderBytes);
                  encode_relay_in_place(header, kind, frame, out);
                  return kRelayHeaderBytes + bytes.size();
                });
}

std::vector<std::byte> bytes_of_view(const std::vector<ViewMember>& members) {
  std::vector<std::byte> bytes(2 + members.size() * kViewMemberBytes);
  EXPECT_EQ(encode_view_members(members, bytes), bytes.size());
  return bytes;
}

/// A list of four nodes, three of them acceptors.
Nodes more_nodes() {
  return {kListMax, kList, ~0ULL, {{1}, {2}, {3}, {kNodeMax}}, {{1}, {3}, {kNodeMax}}};
}

/// The same list with incarnations of its acceptors, as for votes in memory.
Nodes more_lives() {
  Nodes nodes = more_nodes();
  nodes.lives = {9, ~0ULL, 700};
  return nodes;
}

std::vector<std::byte> bytes_of_nodes(const Nodes& nodes) {
  std::vector<std::byte> bytes(10 + 4 * nodes.all.size() + 8 * nodes.lives.size());
  EXPECT_EQ(encode_nodes(nodes, bytes), bytes.size());
  return bytes;
}

TEST(WireGolden, States) {
  const auto expect = [](const std::string& name, const MemberId& sender, const State& state) {
    expect_golden(name, static_cast<FrameKind>(PaxosKind::state), sender, state, decode_state,
                  encode_state);
  };
  State fresh;
  fresh.first_list = kList;
  expect("v1-state-new", kD, fresh);
  expect("v1-state-coordinator", kB,
         {kRound, true, false, true, false, 0, kOldRound, 8'999, 8'990, 8'950, 7'000, 77, 0, kList,
          ~0ULL});
  expect("v1-state-leaving", kC,
         {kRound, false, true, true, false, 0, kRound, kCounterMax, 0, 8'900, 8'900, 77, kListMax,
          ~0ULL, 0});
  const Round later{first_count(2), kB};
  expect("v1-state-later-list", kC,
         {later, false, false, true, false, 0, {}, 0, 0, 9'004, 9'004, 78, 2, kList, 0});
  expect("v1-state-visiting", kC,
         {kRound, false, false, false, true, kKey, {}, 0, 0, 8'960, 8'950, 0, 0, kList, 0});
  expect("v1-state-visiting-last", kC,
         {kRound, false, true, true, true, kCounterMax, kRound, 8'999, 8'999, 8'900, 8'900, 77, 0,
          kList, 0});
  expect("v1-state-asks", kC,
         {kRound, false, false, true, false, 0, {}, 0, 0, 9'004, 9'004, 78, 0, kList, 0, true});
  State misses{kRound, false, false, true, false, 0, kRound, 8'999, 0, 9'004, 9'004, 78, 0, kList};
  misses.misses = misses.disk_hangs = misses.app_full = true;
  misses.beat = 41;
  misses.fitness = Fitness::connected;
  misses.life = kLogBit | 0x1d;
  misses.log = 0x1234;
  misses.log_word = LogWord::asks;
  misses.unheard.add(1);
  misses.unheard.add(127);
  expect("v1-state-misses", kC, misses);
}

TEST(WireGolden, Values) {
  const ValueHead unit{ValueKind::unit, Service::agreed, 77, kC, 41};
  expect_golden_value("v1-submit", PaxosKind::submit, kC, {0, 0, 0, unit}, counting(9));
  expect_golden_value("v1-propose-unit", PaxosKind::propose, kB, {12, 9'000, 50, unit},
                      counting(9));
  expect_golden_value("v1-submit-stamped", PaxosKind::submit, kC, {kKey + 7, 0, 0, unit},
                      counting(9));
  const ValueHead nothing{ValueKind::nothing, Service::agreed, 0, kB, 0};
  expect_golden_value("v1-propose-nothing", PaxosKind::propose, kB, {12, 9'001, 51, nothing}, {});
  const ValueHead view{ValueKind::view, Service::agreed, 78, kB, 0};
  expect_golden_value("v1-propose-view", PaxosKind::propose, kB, {12, 9'002, 0, view},
                      bytes_of_view({{kA, 76}, {kB, 0}, {kD, kCounterMax}}));
  const ValueHead list{ValueKind::nodes, Service::agreed, 1, kB, 0};
  expect_golden_value("v1-propose-nodes", PaxosKind::propose, kB, {12, 9'003, 0, list},
                      bytes_of_nodes(more_nodes()));
  expect_golden_value("v1-propose-lives", PaxosKind::propose, kB, {12, 9'003, 0, list},
                      bytes_of_nodes(more_lives()));
  const ValueHead safe{ValueKind::unit, Service::safe, 77, kB, 7};
  expect_golden_value("v1-decided", PaxosKind::decided, kA, {0, 8'900, 0, safe}, {std::byte{0xff}});
  const ValueHead empty{ValueKind::unit, Service::safe, 77, kD, kCounterMax};
  expect_golden_fetched("v1-fetched", {kOldRound, 8'950, empty}, {});
  const ValueHead alone{ValueKind::view, Service::agreed, 78, kA, 0};
  expect_golden_relay("v1-relay", PaxosKind::relay, {kRound, 9'000, 50, 5, unit}, counting(9));
  expect_golden_relay("v1-distribute", PaxosKind::distribute, {kOldRound, 8'950, 0, 0x8003, empty},
                      {});
  const ValueHead back{ValueKind::unit, Service::agreed, 77, kD, 41};
  expect_golden_relay("v1-relay-own", PaxosKind::relay, {kRound, 9'000, 50, 5, back, true}, {});
  expect_golden_fetched("v1-fetched-view", {kOldRound, 8'951, alone}, bytes_of_view({{kA, 77}}));
}

TEST(WireGolden, ValuesOfSeveralEnsembles) {
  const Placing placing{kKey + 7, 77, 41};
  std::vector<std::byte> placed(kPlacingBytes);
  encode_placing_in_place(placing, placed);
  const std::vector<std::byte> rest = counting(9);
  placed.insert(placed.end(), rest.begin(), rest.end());
  const ValueHead unit{ValueKind::unit, Service::agreed, 3, kC, 12};
  expect_golden_value("v1-submit-placed", PaxosKind::submit, kC, {0, 0, 0, unit}, placed);
  Placing decoded;
  const Golden golden = load_golden("v1-submit-placed");
  ASSERT_EQ(drop_name(decode_placing(ByteView(golden.bytes).subspan(kDataHeaderBytes), decoded)),
            "none");
  EXPECT_EQ(decoded, placing);

  const ValueHead nothing{ValueKind::nothing, Service::agreed, 0, kB, kKey};
  expect_golden_value("v1-propose-nothing-key", PaxosKind::propose, kB, {12, 9'001, 51, nothing},
                      {});
  const ValueHead view{ValueKind::view, Service::agreed, 78, kB, kKey};
  expect_golden_value("v1-propose-view-key", PaxosKind::propose, kB, {12, 9'002, 0, view},
                      bytes_of_view({{kA, 76}, {kB, 0}, {kD, kCounterMax}}));
  const ValueHead last{ValueKind::nothing, Service::agreed, 0, kA, kCounterMax};
  expect_golden_fetched("v1-fetched-nothing-key", {kOldRound, 8'952, last}, {});
}

TEST(WireGolden, PhaseOneAndCatchingUp) {
  expect_golden("v1-prepare", static_cast<FrameKind>(PaxosKind::prepare), kB, Prepare{12, 8'950},
                decode_prepare, encode_prepare);
  const auto promise_kind = static_cast<FrameKind>(PaxosKind::promise);
  expect_golden("v1-promise-empty", promise_kind, kC, Promise{kRound, 0, {}}, decode_promise,
                encode_promise);
  const Promise busy{
      kRound, 8'950, {{8'950, 40, kOldRound}, {8'990, 1, {10, kD}}, {8'992, kVotesMax, kOldRound}}};
  expect_golden("v1-promise-busy", promise_kind, kC, busy, decode_promise, encode_promise);
  expect_golden("v1-fetch", static_cast<FrameKind>(PaxosKind::fetch), kB, Fetch{kOldRound, 8'950},
                decode_fetch, encode_fetch);
  expect_golden("v1-repeat", static_cast<FrameKind>(PaxosKind::repeat), kD,
                Repeat{8'900, kRepeatMax}, decode_repeat, encode_repeat);
  expect_golden("v1-repeat-again", static_cast<FrameKind>(PaxosKind::repeat), kD,
                Repeat{8'900, kRepeatMax, true}, decode_repeat, encode_repeat);
  expect_golden("v1-recall", static_cast<FrameKind>(PaxosKind::recall), kB,
                Recall{8'900, kRecallMax}, decode_recall, encode_recall);
  const ValueHead voted{ValueKind::unit, Service::safe, 77, kB, 7};
  expect_golden_word("v1-word", {8'901, kOldRound, voted}, counting(9));
  expect_golden("v1-word-no-vote", static_cast<FrameKind>(PaxosKind::word), kC, Word{kCounterMax},
                decode_word, encode_no_vote);
  expect_golden("v1-link-check", static_cast<FrameKind>(PaxosKind::link_check), kD,
                LinkCheck{7, 44}, decode_link_check, encode_link_check);
  expect_golden("v1-lacks", static_cast<FrameKind>(PaxosKind::lacks), kB,
                Lacks{77, 8'191, kLacksMax}, decode_lacks, encode_lacks);
  expect_golden("v1-pass", static_cast<FrameKind>(PaxosKind::pass), kC, Pass{kKey}, decode_pass,
                encode_pass);
  expect_golden("v1-lives", static_cast<FrameKind>(PaxosKind::lives), kB,
                Lives{kList, {9, ~0ULL, 700}}, decode_lives, encode_lives);
  expect_golden("v1-log-heard", static_cast<FrameKind>(PaxosKind::log_heard), kB,
                LogAnswer{77, kLogBit | 0x1d, {{75, 0x1233}, {76, kCounterMax}}}, decode_log_answer,
                encode_log_answer);
  expect_golden("v1-log-unheard", static_cast<FrameKind>(PaxosKind::log_heard), kC,
                LogAnswer{77, ~0ULL, {}}, decode_log_answer, encode_log_answer);
  struct Nothing {
    bool operator==(const Nothing&) const = default;
  };
  expect_golden(
      "v1-checkpoint-get", static_cast<FrameKind>(PaxosKind::checkpoint_get), kD, Nothing{},
      [](ByteView packet, Nothing&) { return decode_checkpoint_get(packet); },
      [](const Header& header, const Nothing&, ByteSpan out) {
        return encode_checkpoint_get(header, out);
      });
  const auto checkpoint_kind = static_cast<FrameKind>(PaxosKind::checkpoint);
  const Nodes alone{0, kList, kList, {{1}}, {{1}}};
  expect_golden("v1-checkpoint-first", checkpoint_kind, kA, Checkpoint{1, 0, alone, {}, {}, {}},
                decode_checkpoint, encode_checkpoint);
  const std::vector<ViewMember> members{{kA, 76}, {kB, 0}, {kC, kCounterMax}};
  Checkpoint later{8'950, 0, more_nodes(), kGoldenView, members, {1'000, 0, 40}};
  expect_golden("v1-checkpoint", checkpoint_kind, kA, later, decode_checkpoint, encode_checkpoint);
  const Checkpoint lives{1, 0, {0, kList, ~0ULL, {{1}, {2}}, {{2}}, {44}}, {}, {}, {}};
  expect_golden("v1-checkpoint-lives", checkpoint_kind, kA, lives, decode_checkpoint,
                encode_checkpoint);
  later.key = kKey;
  expect_golden("v1-checkpoint-key", checkpoint_kind, kA, later, decode_checkpoint,
                encode_checkpoint);
}

TEST(WireGolden, EveryFileIsAcceptedAndEveryKindHasOne) {
  std::set<int> kinds;
  for (const std::string& name : golden_names()) {
    const Golden golden = load_golden(name);
    const Verdict verdict = examine_golden(golden, golden.bytes);
    EXPECT_EQ(drop_name(verdict.header), "none") << name;
    EXPECT_EQ(drop_name(verdict.body), "none") << name;
    EXPECT_STREQ(verdict.wrong, nullptr) << name;
    kinds.insert(std::to_integer<int>(golden.bytes[3]));
  }
  std::set<int> all{1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (int kind = kPaxosKindFirst; kind <= kPaxosKindLast; ++kind) {
    if (is_paxos_kind(static_cast<FrameKind>(kind))) all.insert(kind);
  }
  for (int kind = kTotoKindFirst; kind <= kTotoKindLast; ++kind) all.insert(kind);
  for (int kind = kRamcastKindFirst; kind <= kRamcastKindLast; ++kind) all.insert(kind);
  EXPECT_EQ(kinds, all);
}

TEST(WireGolden, TheExampleOfTheDescriptionIsAPacket) {
  std::ifstream description("docs/wire.md");
  std::vector<std::byte> packet;
  bool inside = false;
  for (std::string line; std::getline(description, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      continue;
    }
    constexpr std::size_t kDigits = 23;  // the columns that have the bytes
    std::istringstream digits(line.substr(0, kDigits));
    for (std::string pair; inside && digits >> pair;) {
      packet.push_back(static_cast<std::byte>(std::stoul(pair, nullptr, 16)));
    }
  }
  EXPECT_EQ(packet.size(), 74U);
  const Verdict verdict = examine(packet);
  EXPECT_EQ(drop_name(verdict.header), "none");
  EXPECT_EQ(drop_name(verdict.body), "none");
  EXPECT_STREQ(verdict.wrong, nullptr);
}

}  // namespace
}  // namespace peal::wire::test
