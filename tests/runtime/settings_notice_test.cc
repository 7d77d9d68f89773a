// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings_notice.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "order/registry/registry.h"

namespace peal::runtime::test {
namespace {

using wire::Checksum;
using wire::FrameKind;
using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr NodeId kOwn{1};
constexpr NodeId kPeer{2};
constexpr std::uint64_t kOtherRules = 1;  // flips a bit of the hash of settings

config::Settings settings_of(const char* engine = "ring") {
  config::Settings settings;
  settings.cluster = "c";
  settings.name = "a";
  settings.nodes = {{"a", {}, kOwn}, {"b", {}, kPeer}};
  settings.order = order::find_engine(engine);
  return settings;
}

/// The SettingsNotice of node a. Records the packets that it sends and the lines that it reports.
struct NoticeBench {
  struct Sent {
    NodeId to;
    std::vector<std::byte> bytes;
    bool asks;
    Entries entries;
  };

  explicit NoticeBench(const config::Settings& with = settings_of())
      : settings(with), frames(2'048, 4), notice(settings, names, frames, outputs()) {
    names.set(kOwn, "a");
    names.set(kPeer, "b");
  }

  SettingsNotice::Outputs outputs() {
    return {[this] { return self; },
            [this](NodeId to, const BufferRef& packet) { note(to, packet.view()); },
            [this](NodeId node, const std::string& line) {
              if (node == kPeer) reason = line;
            },
            [this](const std::string& line) { told.push_back(line); }};
  }
  void note(NodeId to, ByteView packet) {
    wire::Header header;
    wire::SettingsFrame frame;
    EXPECT_EQ(wire::decode_header(packet, header), wire::Drop::none);
    EXPECT_EQ(header.kind, FrameKind::settings);
    EXPECT_EQ(header.cluster, cluster_id(settings));
    EXPECT_EQ(header.sender, self);
    EXPECT_EQ(wire::decode_settings(packet, frame), wire::Drop::none);
    Sent& added = sent.emplace_back(Sent{to, {packet.begin(), packet.end()}, frame.asks, {}});
    for (const wire::Setting& each : frame.settings)
      added.entries.emplace_back(each.key, each.value);
  }

  std::vector<std::byte> packet(const Entries& entries, bool asks = false, NodeId sender = kPeer) {
    return packet_of(cluster_id(settings) ^ kOtherRules, entries, asks, sender);
  }
  static std::vector<std::byte> packet_of(std::uint64_t cluster, const Entries& entries, bool asks,
                                          NodeId sender) {
    wire::SettingsFrame frame;
    frame.asks = asks;
    for (const auto& [key, value] : entries) frame.settings.push_back({key, value});
    std::vector<std::byte> bytes(wire::kSettingsBytesMax);
    bytes.resize(wire::encode_settings(
        {FrameKind::settings, cluster, {sender, 1}, Checksum::present}, frame, bytes));
    EXPECT_FALSE(bytes.empty());
    return bytes;
  }
  void hear(const Entries& entries, bool asks = false) {
    EXPECT_TRUE(notice.on_packet(now, kPeer, packet(entries, asks)));
  }
  void pass(Duration time) {
    now = now + time;
    if (const auto due = notice.next_deadline(); due && *due <= now) notice.on_timer(now);
  }
  /// The only reported line, without its beginning. If there is not exactly one line, the number of
  /// lines.
  std::string line() const {
    if (told.size() != 1) return std::to_string(told.size()) + " lines";
    const std::string begin = "node b is ignored: ";
    EXPECT_EQ(told[0].substr(0, begin.size()), begin);
    return told[0].substr(begin.size());
  }

  config::Settings settings;
  MemberId self{settings.self(), 7};
  trace::Names names;
  BufferPool frames;
  std::vector<Sent> sent;
  std::string reason;  ///< the reason that the status shows
  std::vector<std::string> told;
  Instant now{seconds(100).ns};
  SettingsNotice notice;
};

/// The line that node a reports about a node with these settings.
std::string line_about(const Entries& entries, const config::Settings& settings = settings_of()) {
  NoticeBench bench(settings);
  bench.hear(entries);
  return bench.line();
}

TEST(SettingsNotice, NamesASettingAndBothValues) {
  config::Settings settings = settings_of();
  settings.options.set("ring.hold_ms", milliseconds(5).ns);
  EXPECT_EQ(line_about({{"ring.hold_ms", "7"}}, settings),
            "ring.hold_ms is 7 there and 5 here; it must be the same on all nodes");
  EXPECT_EQ(line_about({}, settings).find("ring.hold_ms is "), 0U) << "its default there";
  EXPECT_EQ(line_about({{"primary", "\"majority\""}}),
            "primary is \"majority\" there and \"none\" here; it must be the same on all nodes");
}

TEST(SettingsNotice, NamesUpToEightSettings) {
  EXPECT_EQ(line_about({{"limits.message_bytes_max", "100000"}, {"limits.nodes_max", "8"}}),
            "limits.message_bytes_max is 100000 there and 67108864 here, limits.nodes_max is 8 "
            "there and 32 here; they must be the same on all nodes");
  Entries many;
  for (char last = 'a'; last <= 'i'; ++last) many.emplace_back(std::string("x.") + last, "1");
  const std::string line = line_about(many);
  EXPECT_NE(line.find("x.h is 1 there and unknown here, and 1 more; they must"), std::string::npos)
      << line;
  EXPECT_EQ(line.find("x.i"), std::string::npos) << line;
  many.pop_back();
  EXPECT_EQ(line_about(many).find(" more"), std::string::npos);
}

TEST(SettingsNotice, IfTheOrderDiffersNothingElseIsNamed) {
  EXPECT_EQ(line_about({{"limits.nodes_max", "8"},
                        {"network.packet_bytes", "1472"},
                        {"order", "\"paxos\""},
                        {"paxos.unknown", "8"}}),
            "order is \"paxos\" there and \"ring\" here; it must be the same on all nodes");
  EXPECT_EQ(line_about({}, settings_of("paxos")),
            "order is \"ring\" there and \"paxos\" here; it must be the same on all nodes");
}

TEST(SettingsNotice, PacketBytesAndDomainsAreSettingsToo) {
  config::Settings settings = settings_of("ridge");
  settings.packet_bytes = 9'000;
  settings.domains = {{"east", {NodeId{2}, NodeId{1}}, {}, {"e-*"}}};
  const Entries order{{"order", "\"ridge\""}};
  Entries other = order;
  other.insert(other.begin(), {"network.packet_bytes", "1472"});
  EXPECT_EQ(line_about(other, settings),
            "[[domain]] is none there and \"east: nodes 1 2, groups e-*\" here, "
            "network.packet_bytes is 1472 there and 9000 here; they must be the same on all nodes");
  other = {{"[[domain]]", "west: nodes 2"}, {"network.packet_bytes", "1472"}, order[0]};
  EXPECT_EQ(
      line_about(other, settings_of("ridge")),
      "[[domain]] is \"west: nodes 2\" there and none here; it must be the same on all nodes");
  // Two long descriptions of domains may differ only behind the part that a line shows.
  const std::string begin(100, 'x');
  settings.domains = {{begin, {NodeId{2}}, {}, {}}};
  other = {{"[[domain]]", begin + ": nodes 1"}, {"network.packet_bytes", "9000"}, order[0]};
  EXPECT_EQ(line_about(other, settings), "[[domain]] differs; it must be the same on all nodes");
}

TEST(SettingsNotice, SaysSoIfNoKnownSettingDiffers) {
  EXPECT_EQ(line_about({}),
            "its cluster-wide settings differ, though not in those that both nodes know: run the "
            "same version of Peal on all nodes");
}

TEST(SettingsNotice, TextsOfOthersAreEscapedAndCut) {
  const std::string line = line_about({{"a\nb\x1b", std::string(255, '\r')},
                                       {"ring.hold_ms", "\"7\n\""},
                                       {std::string(64, 'z'), "a b"}});
  for (const char c : line) EXPECT_TRUE(c >= 0x20 || c < 0) << line;
  EXPECT_NE(line.find("\"a\\x0ab\\x1b\" is \"\\x0d"), std::string::npos) << line;
  EXPECT_NE(line.find("ring.hold_ms is \"7\\x0a\" there"), std::string::npos) << line;
  EXPECT_NE(line.find("zz…\" is \"a b\" there and unknown here"), std::string::npos) << line;
  EXPECT_LT(line.size(), 1'000U);
}

TEST(SettingsNotice, AsksTwiceThenTellsWhatIsKnown) {
  NoticeBench bench;
  bench.notice.on_other_settings(bench.now, kPeer);
  bench.notice.on_other_settings(bench.now, kPeer);
  ASSERT_EQ(bench.sent.size(), 1U);
  EXPECT_EQ(bench.sent[0].to, kPeer);
  EXPECT_TRUE(bench.sent[0].asks);
  bench.pass(milliseconds(999));
  EXPECT_EQ(bench.sent.size(), 1U);
  bench.pass(milliseconds(1));
  EXPECT_EQ(bench.sent.size(), 2U);
  EXPECT_TRUE(bench.told.empty());
  bench.pass(seconds(1));
  EXPECT_EQ(bench.line().find("its cluster-wide settings differ; compare"), 0U);
  EXPECT_FALSE(bench.notice.next_deadline());
  bench.notice.on_other_settings(bench.now, kPeer);
  bench.pass(seconds(1));
  bench.pass(seconds(1));
  EXPECT_EQ(bench.sent.size(), 4U);
  EXPECT_EQ(bench.told.size(), 1U) << "the same line";
}

TEST(SettingsNotice, AnAnswerEndsTheQuestions) {
  NoticeBench bench;
  bench.notice.on_other_settings(bench.now, kPeer);
  bench.hear({{"ring.hold_ms", "7"}});
  EXPECT_FALSE(bench.notice.next_deadline());
  bench.pass(seconds(60));
  EXPECT_EQ(bench.sent.size(), 1U);
  EXPECT_EQ(bench.line().find("ring.hold_ms is 7 there and "), 0U);
}

TEST(SettingsNotice, TheReasonStaysTheOneThatNamesTheSettings) {
  // The question of node b arrives before a packet of node b's engine.
  NoticeBench bench;
  bench.hear({{"ring.hold_ms", "7"}}, true);
  const std::string named = bench.reason;
  EXPECT_NE(named.find("ring.hold_ms is 7 there"), std::string::npos) << named;
  bench.notice.on_other_settings(bench.now, kPeer);
  EXPECT_EQ(bench.reason, named);
  bench.hear({{"ring.hold_ms", "7"}});
  EXPECT_EQ(bench.reason, named);
  // The reason also stays if the other node does not answer.
  bench.notice.on_other_settings(bench.now, kPeer);
  for (int second = 0; second < 30; ++second) bench.pass(seconds(1));
  EXPECT_EQ(bench.reason, named);
  EXPECT_EQ(bench.told.size(), 1U);
}

TEST(SettingsNotice, TheReasonIsTheNewestEvenIfItsLineWaits) {
  NoticeBench bench;
  bench.notice.on_other_settings(bench.now, kPeer);
  EXPECT_NE(bench.reason.find("compare"), std::string::npos) << bench.reason;
  bench.hear({{"ring.hold_ms", "7"}});
  bench.hear({{"ring.hold_ms", "9"}});
  EXPECT_NE(bench.reason.find("ring.hold_ms is 9 there"), std::string::npos) << bench.reason;
  EXPECT_EQ(bench.told.size(), 1U);
}

TEST(SettingsNotice, AnswersQuestionsOnceASecondAndNeverAnswers) {
  NoticeBench bench;
  bench.hear({{"ring.hold_ms", "7"}});
  EXPECT_TRUE(bench.sent.empty());
  bench.hear({{"ring.hold_ms", "7"}}, true);
  bench.hear({{"ring.hold_ms", "7"}}, true);
  ASSERT_EQ(bench.sent.size(), 1U);
  EXPECT_FALSE(bench.sent[0].asks);
  bench.pass(milliseconds(999));
  bench.hear({{"ring.hold_ms", "7"}}, true);
  EXPECT_EQ(bench.sent.size(), 1U);
  bench.pass(milliseconds(1));
  bench.hear({{"ring.hold_ms", "7"}}, true);
  EXPECT_EQ(bench.sent.size(), 2U);
  EXPECT_EQ(bench.told.size(), 1U);
}

TEST(SettingsNotice, LinesAboutANodeAreTenSecondsApart) {
  NoticeBench bench;
  bench.hear({{"ring.hold_ms", "7"}});
  bench.hear({{"ring.hold_ms", "8"}});
  bench.hear({{"ring.hold_ms", "9"}});
  EXPECT_EQ(bench.told.size(), 1U);
  bench.pass(milliseconds(9'999));
  EXPECT_EQ(bench.told.size(), 1U);
  bench.pass(milliseconds(1));
  ASSERT_EQ(bench.told.size(), 2U);
  EXPECT_NE(bench.told[1].find("ring.hold_ms is 9 there"), std::string::npos);
  // The newest line equals the last reported line, so no line waits.
  bench.hear({{"ring.hold_ms", "8"}});
  bench.hear({{"ring.hold_ms", "9"}});
  EXPECT_FALSE(bench.notice.next_deadline());
}

TEST(SettingsNotice, ANodeHasEightLinesUntilAViewHasIt) {
  NoticeBench bench;
  for (int value = 0; value < 20; ++value) {
    bench.hear({{"ring.hold_ms", std::to_string(100 + value)}});
    bench.pass(seconds(10));
  }
  EXPECT_EQ(bench.told.size(), 8U);
  EXPECT_FALSE(bench.notice.next_deadline());
  bench.notice.forget(kPeer);
  bench.hear({{"ring.hold_ms", "100"}});
  EXPECT_EQ(bench.told.size(), 9U);
}

TEST(SettingsNotice, RecordsAreAsManyAsTwoListsHaveNodes) {
  NoticeBench bench;
  for (std::uint32_t node = 1'000; node < 1'500; ++node) {
    EXPECT_EQ(bench.notice.on_packet(bench.now, NodeId{node}, bench.packet({}, true, NodeId{node})),
              node < 1'256);
  }
  EXPECT_EQ(bench.sent.size(), 256U);
  EXPECT_EQ(bench.told.size(), 256U);
}

TEST(SettingsNotice, PacketsThatProveNoDifferenceAreIgnored) {
  NoticeBench bench;
  const std::uint64_t own = cluster_id(bench.settings);
  const Entries entries{{"ring.hold_ms", "7"}};
  std::size_t taken = 0;
  const auto hear = [&](const std::vector<std::byte>& bytes) {
    if (bench.notice.on_packet(bench.now, kPeer, bytes)) ++taken;
  };
  hear(NoticeBench::packet_of(own ^ (1ULL << 40), entries, true, kPeer));  // another cluster
  hear(bench.packet(entries, true, NodeId{3}));                            // another sender
  std::vector<std::byte> bytes = bench.packet(entries, true);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    hear({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    hear(bytes);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  EXPECT_EQ(taken, 0U) << "the engine counts them";
  EXPECT_TRUE(bench.sent.empty());
  EXPECT_TRUE(bench.told.empty());
  EXPECT_FALSE(bench.notice.next_deadline());
  hear(bytes);
  EXPECT_EQ(taken, 1U);
  EXPECT_EQ(bench.told.size(), 1U);
}

TEST(SettingsNotice, WithoutABufferItAsksAgain) {
  NoticeBench bench;
  std::vector<BufferRef> taken;
  while (bench.frames.free_count() > 0) taken.push_back(bench.frames.take());
  bench.notice.on_other_settings(bench.now, kPeer);
  EXPECT_TRUE(bench.sent.empty());
  taken.clear();
  bench.pass(seconds(1));
  EXPECT_EQ(bench.sent.size(), 1U);
}

TEST(SettingsNotice, SendsWhatDiffersFromDefaults) {
  config::Settings settings = settings_of();
  settings.nodes_max = 9;
  settings.options.set("ring.hold_ms", milliseconds(5).ns);
  settings.options.set("ring.max_gap", 100);  // not compared: each node may choose it
  NoticeBench bench(settings);
  bench.notice.on_other_settings(bench.now, kPeer);
  ASSERT_EQ(bench.sent.size(), 1U);
  EXPECT_EQ(bench.sent[0].entries, (Entries{{"limits.nodes_max", "9"}, {"ring.hold_ms", "5"}}));
}

// No configuration may make a packet that is too large.
TEST(SettingsNotice, AllSettingsOfEachEngineFitAPacket) {
  for (const order::Descriptor* engine : order::engines()) {
    config::Settings settings = settings_of();
    settings.order = engine;
    for (const order::Option& option : engine->options()) {
      if (option.internal || option.kind == order::Option::Kind::acceptors) continue;
      settings.options.set(option.key, option.normal == option.most ? option.least : option.most);
    }
    settings.nodes_max = 128;
    settings.limits.message_bytes_max = 1U << 30;
    settings.streams = true;
    settings.packet_bytes = 65'507;
    settings.domains = {{std::string(300, 'x'), {}, {}, {}}};
    NoticeBench bench(settings);
    bench.notice.on_other_settings(bench.now, kPeer);
    ASSERT_EQ(bench.sent.size(), 1U);
    EXPECT_GT(bench.sent[0].entries.size(), 4U) << engine->name;
    EXPECT_LT(bench.sent[0].bytes.size(), 1'000U) << engine->name;
  }
}

// Two nodes have different settings. Each reports the difference once, and then they stop sending.
TEST(SettingsNotice, TwoNodesTellEachOtherAndStop) {
  config::Settings other = settings_of();
  other.name = "b";
  other.options.set("ring.token_loss_ms", milliseconds(999).ns);
  NoticeBench a;
  NoticeBench b(other);
  const auto carry = [](NoticeBench& from, NoticeBench& to) {
    for (const NoticeBench::Sent& each : std::exchange(from.sent, {})) {
      EXPECT_EQ(each.to, to.self.node);
      EXPECT_TRUE(to.notice.on_packet(to.now, from.self.node, each.bytes));
    }
  };
  a.notice.on_other_settings(a.now, kPeer);
  b.notice.on_other_settings(b.now, kOwn);
  std::size_t packets = 0;
  for (int round = 0; round < 20; ++round) {
    packets += a.sent.size() + b.sent.size();
    carry(a, b);
    carry(b, a);
    a.pass(seconds(1));
    b.pass(seconds(1));
  }
  EXPECT_LE(packets, 8U);
  ASSERT_EQ(a.told.size(), 1U);
  ASSERT_EQ(b.told.size(), 1U);
  EXPECT_NE(a.told[0].find("ring.token_loss_ms is 999 there and "), std::string::npos);
  EXPECT_NE(b.told[0].find(" there and 999 here; it must"), std::string::npos);
}

// A packet under the name of node b had other settings, but was not of node b: a program forged it,
// or it is of an earlier run of node b. Node b answers the question, and neither node reports
// anything.
TEST(SettingsNotice, ANodeWithTheSameSettingsAnswersAndIsNotReported) {
  config::Settings same = settings_of();
  same.name = "b";
  NoticeBench a;
  NoticeBench b(same);
  a.notice.on_other_settings(a.now, kPeer);
  ASSERT_EQ(a.sent.size(), 1U);
  EXPECT_TRUE(b.notice.on_packet(b.now, kOwn, a.sent[0].bytes)) << "no engine counts it";
  EXPECT_TRUE(b.notice.on_packet(b.now, kOwn, a.sent[0].bytes));
  ASSERT_EQ(b.sent.size(), 1U) << "one answer a second";
  EXPECT_FALSE(b.sent[0].asks);
  EXPECT_TRUE(a.notice.on_packet(a.now, kPeer, b.sent[0].bytes));
  for (NoticeBench* each : {&a, &b}) {
    for (int second = 0; second < 30; ++second) each->pass(seconds(1));
    EXPECT_TRUE(each->told.empty());
    EXPECT_FALSE(each->notice.next_deadline());
  }
  EXPECT_EQ(a.sent.size(), 1U);
}

}  // namespace
}  // namespace peal::runtime::test
