// SPDX-License-Identifier: Apache-2.0
// The golden packets of toto.h, and the commit tokens of ToTo. As in golden_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "golden_frames.h"
#include "order/toto/commit_record.h"
#include "toto_samples.h"

namespace peal::wire::test {
namespace {

void expect_golden_node(const std::string& name, const MemberId& sender, const Node& expected,
                        const std::vector<std::byte>& unit) {
  expect_golden(name, frame_kind(TotoKind::node), sender, expected, decode_node,
                [&](const Header& header, const Node& frame, ByteSpan out) {
                  const std::size_t front = node_header_bytes(frame.advances.size());
                  std::copy(unit.begin(), unit.end(), out.subspan(front).begin());
                  encode_node_in_place(header, frame, out);
                  return front + unit.size();
                });
}

TEST(WireTotoGolden, Nodes) {
  expect_golden_node("v1-node-control", kB,
                     {kGoldenView, 1, NodeKind::control, false, 41, 12,
                      advances_of({{0, 1}, {2, 0xffff}, {127, 3}})},
                     {});
  FixedVector<Advance, kMembersMax> most;
  for (std::uint16_t index = 0; index < kUnitAdvancesMax; ++index) {
    most.push_back({index, static_cast<std::uint16_t>(index + 1)});
  }
  expect_golden_node("v1-node-causal", kD,
                     {kGoldenView, 127, NodeKind::causal, false, 9'000, 8'999, most}, counting(1));
  expect_golden_node(
      "v1-node-agreed", kC,
      {kGoldenView, 2, NodeKind::agreed, false, 1, 0, advances_of({{0, 2}, {1, 40}})}, counting(9));
  expect_golden_node("v1-node-again", kA,
                     {kGoldenView, 3, NodeKind::safe, true, kCounterMax, kCounterMax, {}},
                     {std::byte{0xff}});
}

TEST(WireTotoGolden, OtherFrames) {
  const TotoLacks lacks{
      kGoldenView,
      ranges_of({{0, 1, kNodeRangeMax}, {0, 65, 1}, {2, 9'000, 3}, {127, kCounterMax - 64, 64}})};
  expect_golden("v1-toto-lacks", frame_kind(TotoKind::lacks), kB, lacks, decode_toto_lacks,
                encode_toto_lacks);
  const TotoStatus status{kGoldenView, false, true, kList, numbers_of({41, 0, kCounterMax})};
  expect_golden("v1-toto-status", frame_kind(TotoKind::status), kA, status, decode_toto_status,
                encode_toto_status);
  const TotoStatus full{kGoldenView, true, false, ~0ULL, numbers_of({1})};
  expect_golden("v1-toto-status-full", frame_kind(TotoKind::status), kD, full, decode_toto_status,
                encode_toto_status);
  const TotoPass first{kGoldenView, 1, 0, kNoIndex, 0};
  expect_golden("v1-toto-pass", frame_kind(TotoKind::pass), kC, first, decode_toto_pass,
                encode_toto_pass);
  const TotoPass last{kGoldenView, kCounterMax, kPassRunMax, 127, 0xffff'ffff};
  expect_golden("v1-toto-pass-last", frame_kind(TotoKind::pass), kD, last, decode_toto_pass,
                encode_toto_pass);
}

TEST(WireTotoGolden, Commits) {
  namespace toto = order::toto;
  const OldView only{kGoldenView, {kA}, toto::encode(numbers_of({41, 0, 9'000}))};
  const Commit first{{81, kA}, {kA, kB, kC, kD}, 0, encode(toto::ViewOptions{1'472}), {only},
                     kList};
  expect_golden("v1-toto-commit-first", FrameKind::commit, kA, first, toto::decode_commit,
                toto::encode_commit);

  const OldView one{kOldOne, {kA, kB}, toto::encode(numbers_of({100, kCounterMax, 0}))};
  const OldView birth{kBirth, {kD}, toto::encode(numbers_of({0}))};
  const OldView two{kOldTwo, {kC}, toto::encode(numbers_of({}))};
  const Commit merge{
      {82, kA}, {kA, kB, kC, kD}, 5, encode(toto::ViewOptions{1'400}), {one, birth, two}, ~0ULL};
  expect_golden("v1-toto-commit-merge", FrameKind::commit, kA, merge, toto::decode_commit,
                toto::encode_commit);
}

}  // namespace
}  // namespace peal::wire::test
