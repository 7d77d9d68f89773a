// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/baselines/registry.h"
#include "sim/baselines/whitebox/packets.h"
#include "sim/generator/swarm.h"
#include "sim/judge/genuineness_feed.h"
#include "sim/world/world.h"

namespace peal::sim {
namespace {

constexpr Duration kDelay = milliseconds(1);

/// Domains of three nodes each, and one more node, which only sends. Each packet takes kDelay.
WorldOptions domains_of_three(std::string_view engine, std::uint32_t domains) {
  WorldOptions options;
  options.engine = EngineOptions(*find_engine(engine));
  options.nodes = 3 * domains + 1;
  for (std::uint32_t d = 0; d < domains; ++d) {
    options.domains.push_back({{NodeId{3 * d + 1}, NodeId{3 * d + 2}, NodeId{3 * d + 3}}, {}});
  }
  options.limits.message_bytes_max = 1U << 16;
  options.limits.submit_bytes_max = 1U << 20;
  options.limits.submit_small_bytes_max = 1U << 20;
  return options;
}

HistoryRecorder::Options recorder_of(const WorldOptions& options) {
  HistoryRecorder::Options out;
  out.nodes = options.nodes;
  out.engine = &options.engine.engine();
  for (const order::DomainNodes& each : options.domains) out.domains.push_back(each.nodes);
  return out;
}

/// Counts the packets of one message, and notes when each node delivers it.
class Counter final : public Watcher {
 public:
  void on_send(const Packet& packet, MemberId /*from*/) override {
    if (packet_kind_name(packet.kind) != "beat")
      ++packets[std::string(packet_kind_name(packet.kind))];
  }
  void on_event(MemberId /*who*/, const order::Event& /*event*/) override {}
  void on_originate(MemberId who) override { placed = who.node; }
  void on_message(Instant at, MemberId who, const node::Message& /*message*/) override {
    delivered[who.node] = at;
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : packets) sum += count;
    return sum;
  }

  std::map<std::string, std::uint64_t> packets;
  std::map<NodeId, Instant> delivered;
  NodeId placed{};
};

/// One message in a calm cluster.
struct OneMessage {
  /// The last node sends if `from` is 0.
  OneMessage(std::string_view engine, std::uint32_t domains, std::uint32_t from = 0)
      : options(domains_of_three(engine, domains)),
        recorder(recorder_of(options)),
        world(options, recorder) {
    world.network().conditions().delay = kDelay;
    world.network().conditions().tail = Duration{};
    for (std::uint32_t n = 1; n <= options.nodes; ++n) world.start(NodeId{n});
    world.run_until(Instant{} + seconds(3));
    world.watch(&counter);
    sent = world.now();
    world.submit(NodeId{from == 0 ? options.nodes : from}, Service::agreed, "m",
                 DomainSet::up_to(domains));
    world.run_until(world.now() + milliseconds(15));
    world.watch(nullptr);
    recorder.finish();
  }
  /// Packets on the way from the submission to the delivery at this node, one after the other.
  std::int64_t delays(std::uint32_t node) const {
    return (counter.delivered.at(NodeId{node}) - sent).ns / kDelay.ns;
  }

  WorldOptions options;
  HistoryRecorder recorder;
  World world;
  Counter counter;
  Instant sent{};
};

TEST(Baselines, WhiteboxTakesThreeDelaysAtLeadersAndFourElsewhere) {
  for (std::uint32_t domains = 1; domains <= 4; ++domains) {
    const OneMessage run("whitebox", domains);
    ASSERT_EQ(run.counter.delivered.size(), 3 * domains);
    for (std::uint32_t n = 1; n <= 3 * domains; ++n) {
      EXPECT_EQ(run.delays(n), n % 3 == 1 ? 3 : 4) << "n" << n << " of " << domains << " domains";
    }
    EXPECT_EQ(run.counter.placed, NodeId{run.options.nodes});
    EXPECT_TRUE(run.recorder.violations().empty());
  }
}

TEST(Baselines, WhiteboxTakesOneDelayLessIfTheLeaderOfAllSends) {
  const OneMessage run("whitebox", 1, 1);
  EXPECT_EQ(run.delays(1), 2);
  EXPECT_EQ(run.delays(2), 3);
}

// k domains of n nodes: k multicasts, then k (k n - 1) proposals, k n acknowledgements to each of
// k leaders, of which k are a leader's own, n - 1 places in each domain, and a reply of each
// leader.
TEST(Baselines, WhiteboxSendsAsManyPacketsAsPublished) {
  constexpr std::uint64_t n = 3;
  for (std::uint64_t k = 1; k <= 4; ++k) {
    const OneMessage run("whitebox", static_cast<std::uint32_t>(k));
    const std::map<std::string, std::uint64_t> wanted{{"multicast", k},
                                                      {"accept", k * (k * n - 1)},
                                                      {"ack", k * (k * n - 1)},
                                                      {"deliver", k * (n - 1)},
                                                      {"reply", k}};
    EXPECT_EQ(run.counter.packets, wanted) << k << " domains";
  }
}

TEST(Baselines, SkeenTakesTwoDelaysAndAStampOfEachServerForEachOther) {
  for (std::uint32_t domains = 1; domains <= 4; ++domains) {
    const OneMessage run("skeen", domains);
    const std::uint64_t servers = 3ULL * domains;
    ASSERT_EQ(run.counter.delivered.size(), servers);
    for (std::uint32_t n = 1; n <= servers; ++n) EXPECT_EQ(run.delays(n), 2);
    const std::map<std::string, std::uint64_t> wanted{
        {"message", servers}, {"stamp", servers * (servers - 1)}, {"reply", servers}};
    EXPECT_EQ(run.counter.packets, wanted);
    EXPECT_TRUE(run.recorder.violations().empty());
  }
}

// C-26: a domain whose nodes are all paused holds up what is for it, and nothing else.
TEST(Baselines, AStoppedDomainDoesNotTouchMessagesOfOthers) {
  const WorldOptions options = domains_of_three("whitebox", 2);
  HistoryRecorder recorder(recorder_of(options));
  World world(options, recorder);
  for (std::uint32_t n = 1; n <= options.nodes; ++n) world.start(NodeId{n});
  world.run_until(Instant{} + seconds(1));
  for (std::uint32_t n = 4; n <= 6; ++n) world.pause(NodeId{n}, seconds(2));
  world.run_until(world.now() + milliseconds(500));
  world.submit(NodeId{2}, Service::agreed, "m", DomainSet::of(1));
  world.submit(NodeId{7}, Service::agreed, "m", DomainSet::of(1));
  world.run_until(world.now() + milliseconds(10));
  for (std::uint32_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(world.process(NodeId{n})->work.messages_delivered, 2U);
  }
}

TEST(Baselines, ServersThatEndedDoNotComeBackAndSendersDo) {
  const WorldOptions options = domains_of_three("whitebox", 1);
  HistoryRecorder recorder(recorder_of(options));
  World world(options, recorder);
  for (std::uint32_t n = 1; n <= options.nodes; ++n) world.start(NodeId{n});
  world.run_until(Instant{} + seconds(1));
  world.crash(NodeId{1});
  world.crash(NodeId{4});
  world.start(NodeId{1});
  world.start(NodeId{4});
  EXPECT_EQ(world.process(NodeId{1}), nullptr);
  ASSERT_NE(world.process(NodeId{4}), nullptr);
  world.submit(NodeId{4}, Service::agreed, "m", DomainSet::of(1));
  world.run_until(world.now() + seconds(2));
  EXPECT_EQ(world.process(NodeId{3})->work.messages_delivered, 1U);
  EXPECT_EQ(world.process(NodeId{4})->undone(), 0U);
}

// The node takes back what the engine took before its first view, and hands it out again.
TEST(Baselines, MessagesThatWaitForTheFirstViewAreSentOnce) {
  for (const std::string_view engine : {"whitebox", "skeen"}) {
    const WorldOptions options = domains_of_three(engine, 1);
    HistoryRecorder recorder(recorder_of(options));
    World world(options, recorder);
    world.start(NodeId{1});
    world.submit(NodeId{1}, Service::agreed, "early", DomainSet::of(1));
    world.run_until(world.now() + milliseconds(100));
    for (std::uint32_t n = 2; n <= 3; ++n) world.start(NodeId{n});
    world.run_until(world.now() + seconds(3));
    for (std::uint32_t n = 1; n <= 3; ++n) {
      EXPECT_EQ(world.process(NodeId{n})->work.messages_delivered, 1U) << engine;
    }
    recorder.finish();
    EXPECT_TRUE(recorder.violations().empty()) << engine;
  }
}

TEST(Baselines, NothingThatShipsHasThem) {
  for (const order::Descriptor* each : baselines()) {
    EXPECT_EQ(order::find_engine(each->name), nullptr);
    EXPECT_EQ(find_engine(each->name), each);
    ASSERT_NE(find_inspection(each->name), nullptr);
    EXPECT_NE(engine_names().find(each->name), std::string::npos);
  }
}

TEST(GenuinenessFeed, KnowsFromTheHostWhomAUnitConcerns) {
  const WorldOptions options = domains_of_three("whitebox", 2);
  HistoryRecorder recorder(recorder_of(options));
  GenuinenessFeed feed(options, recorder);
  const order::UnitName unit{{NodeId{7}, 1}, 1};
  feed.took(unit, DomainSet::of(1));
  const std::vector<order::UnitName> names{unit};
  feed.wrote(Instant{}, NodeId{7}, NodeId{1}, names);
  feed.wrote(Instant{}, NodeId{1}, NodeId{3}, names);
  feed.wrote(Instant{}, NodeId{4}, NodeId{5}, {});
  EXPECT_TRUE(recorder.violations().empty());
  feed.wrote(Instant{}, NodeId{1}, NodeId{4}, names);
  feed.wrote(Instant{}, NodeId{1}, NodeId{4}, {});
  ASSERT_EQ(recorder.violations().size(), 2U);
  EXPECT_EQ(recorder.violations()[0].property, "genuine");
}

TEST(NodeDomains, GenuineDomainsHaveTheirOwnViewsAndAnyDestinations) {
  const WorldOptions options = domains_of_three("whitebox", 2);
  NodeDomains domains(options);
  EXPECT_EQ(domains.of(NodeId{5}), std::vector<order::Domain>{2});
  EXPECT_FALSE(domains.has_view(NodeId{7}));
  EXPECT_EQ(domains.view_nodes(NodeId{5}), options.domains[1].nodes);
  std::map<DomainSet, int> drawn;
  for (int i = 0; i < 200; ++i) ++drawn[domains.draw(NodeId{7})];
  EXPECT_EQ(drawn.size(), 3U);
  EXPECT_FALSE(drawn.contains(DomainSet()));
  domains.note_place(DomainSet::up_to(2), 40);
  EXPECT_FALSE(domains.is_delivered(2));
  domains.note_delivery(2, 40);
  EXPECT_TRUE(domains.is_delivered(2));
  EXPECT_FALSE(domains.is_delivered(1));
}

// Each seed of genuine engines is a scenario in which all domains keep a majority.
TEST(GenuineSwarm, EverySeedIsALegalStoryWithDisjointDomains) {
  SwarmOptions options;
  options.engine = EngineOptions(*find_engine("whitebox"));
  options.domains = 4;
  std::size_t senders = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Script script = make_swarm_script(seed, options);
    ASSERT_EQ(check_script(script), "") << script.text();
    senders += script.text().find("domain1=") != std::string::npos ? 1U : 0U;
  }
  EXPECT_EQ(senders, 300U);
}

namespace wb = genuine::whitebox;

// What the network brings is dropped, or is a valid packet: each prefix, and each changed byte.
TEST(WhiteboxPackets, AnyBytesAreReadOrRefused) {
  order::Setup setup;
  setup.self = {NodeId{1}, 1};
  for (std::uint32_t n = 1; n <= 3; ++n) setup.list.nodes.push_back(NodeId{n});
  const genuine::Layout layout(setup);
  const genuine::Roster roster(layout, setup.self);
  genuine::Head head;
  head.sender = {NodeId{2}, 7};
  head.number = 3;
  head.to = DomainSet::of(1);
  head.index[1] = 3;
  const std::vector<std::byte> unit(5);
  std::array<std::byte, 512> bytes{};
  const auto try_all = [&](const auto& packet, auto read_it) {
    wire::Writer out(bytes);
    wb::write(out, packet);
    ASSERT_FALSE(out.failed());
    const std::vector<std::byte> whole(bytes.begin(),
                                       bytes.begin() + static_cast<std::ptrdiff_t>(out.written()));
    EXPECT_TRUE(read_it(wire::ByteReader(whole)));
    std::size_t refused = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      refused += read_it(wire::ByteReader(ByteView(whole).first(size))) ? 0U : 1U;
    }
    EXPECT_GT(refused, whole.size() / 2);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::vector<std::byte> damaged = whole;
      damaged[at] = std::byte{0xff};
      static_cast<void>(read_it(wire::ByteReader(damaged)));
    }
  };
  const auto with_layout = [&layout](auto packet) {
    return [&layout, packet](wire::ByteReader in) mutable { return wb::read(in, layout, packet); };
  };
  const auto alone = [](auto packet) {
    return [packet](wire::ByteReader in) mutable { return wb::read(in, packet); };
  };
  const wb::Ballot ballot = wb::ballot_of(1, NodeId{1});
  const genuine::Key stamp = wb::stamp_of(9, 1);
  wb::Ack ack{head, {}};
  ack.proposals[1] = {ballot, stamp};
  try_all(wb::Multicast{head, false, unit}, with_layout(wb::Multicast{}));
  try_all(wb::Accept{head, {ballot, stamp}, true, unit}, with_layout(wb::Accept{}));
  try_all(ack, with_layout(wb::Ack{}));
  try_all(wb::Deliver{head, ballot, 1, stamp, stamp}, with_layout(wb::Deliver{}));
  try_all(wb::Entry{head, 1, stamp, stamp, unit}, with_layout(wb::Entry{}));
  try_all(wb::Reply{head.sender, 3, stamp}, alone(wb::Reply{}));
  try_all(wb::NewLeader{ballot, 4}, alone(wb::NewLeader{}));
  try_all(wb::Part{ballot, wb::State::base, 100, 10, unit}, alone(wb::Part{}));
  try_all(wb::Get{ballot, wb::State::answer, 10}, alone(wb::Get{}));
  wb::Beat beat;
  beat.promised = beat.current = ballot;
  try_all(beat, [&](wire::ByteReader in) {
    wb::Beat read;
    return wb::read(in, roster, read);
  });
}

}  // namespace
}  // namespace peal::sim
